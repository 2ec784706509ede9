import { createHash, randomUUID } from 'node:crypto'
import type { NextState, States } from '../../../lib/flow/states.ts'
import { otherLimits } from '../../../limits/limits.ts'
import type { Postgres } from './client.ts'

// States that all servers change. A change names the version that it was made of, and is made again of the newer one if another server was faster.

/** A state as it was left. Each change gives it another version. */
export interface StoredState {
  readonly version: string
  readonly state: unknown
}

/** Where states are kept. */
export interface StateRows {
  read(key: string): Promise<StoredState | null>
  /** Replaces a version (null: none) by another one; false: there is another version. */
  replace(key: string, before: string | null, after: StoredState & Pick<NextState, 'keptMs'>): Promise<boolean>
}

export interface SharedStates extends States {
  /** Removes at intervals what means nothing any more. Returns what ends it. */
  sweepRegularly(report: (error: unknown) => void): () => void
}

const mostKnown = 2_000
/** A refusal is looked at again if what it follows from is older. Who sends without pause is refused from memory. */
const trustedMs = 250

/** Names are of any length, and some are addresses of people. */
const keyOf = (name: string) => createHash('sha256').update(name).digest('base64url').slice(0, 22)

interface Known extends StoredState {
  readonly seenAt: number
}

/** Of several processes. `now`: milliseconds of a clock that is never set back. */
export function sharedStates(rows: StateRows, now: () => number = () => performance.now()): States {
  /** As this server left or found them: mostly nobody else changes them, and one statement is enough. */
  const known = new Map<string, Known>()
  const turns = new Map<string, Promise<void>>()

  const note = (key: string, found: StoredState | null) => {
    known.delete(key)
    if (found) known.set(key, { ...found, seenAt: now() })
    if (known.size > mostKnown) known.delete(known.keys().next().value!)
  }

  async function change(key: string, next: (state: unknown) => NextState | null): Promise<void> {
    let isRead = false
    for (;;) {
      const before = known.get(key)
      const made = next(before?.state ?? null)
      if (made === null) {
        if (isRead || (before && now() - before.seenAt < trustedMs)) return
      } else {
        const after = { version: randomUUID(), ...made }
        if (await rows.replace(key, before?.version ?? null, after)) {
          note(key, { version: after.version, state: after.state })
          return
        }
      }
      note(key, await rows.read(key))
      isRead = true
    }
  }

  return {
    /** Those of one name in turn: this server must not compete with itself. */
    change(name, next) {
      const key = keyOf(name)
      const turn = (turns.get(key) ?? Promise.resolve()).then(() => change(key, next))
      const over = turn
        .catch(() => undefined)
        .then(() => {
          if (turns.get(key) === over) turns.delete(key)
        })
      turns.set(key, over)
      return turn
    },
  }
}

const sweepMs = 60_000

export function statesInPostgres(postgres: Postgres): SharedStates {
  const table = `${postgres.schema}.cluster_states`
  const rows: StateRows = {
    async read(key) {
      const [row] = await postgres.rows<{ version: string; state: string }>(`SELECT version::text, state FROM ${table} WHERE key = $1`, [
        key,
      ])
      return row ? { version: row.version, state: JSON.parse(row.state) } : null
    },
    async replace(key, before, { version, state, keptMs }) {
      const values = [key, version, JSON.stringify(state), Math.ceil(keptMs / 1000)]
      const until = "clock_timestamp() + $4 * interval '1 second'"
      const changed =
        before === null
          ? await postgres.run(
              `INSERT INTO ${table} (key, version, state, until) VALUES ($1, $2, $3, ${until}) ON CONFLICT (key) DO NOTHING`,
              values,
            )
          : await postgres.run(`UPDATE ${table} SET version = $2, state = $3, until = ${until} WHERE key = $1 AND version = $5`, [
              ...values,
              before,
            ])
      return changed === 1
    },
  }
  return {
    ...sharedStates(rows),
    sweepRegularly(report) {
      const timer = setInterval(() => void sweepStates(postgres).catch(report), sweepMs)
      timer.unref()
      return () => clearInterval(timer)
    },
  }
}

/** Removes what is over, and of too many those that end soonest. */
export async function sweepStates({ schema, run }: Postgres, most: number = otherLimits.sharedStates.number): Promise<void> {
  const table = `${schema}.cluster_states`
  await run(`DELETE FROM ${table} WHERE until < clock_timestamp()`)
  await run(
    `DELETE FROM ${table} WHERE key IN (SELECT key FROM ${table} ORDER BY until LIMIT greatest(0, (SELECT count(*) FROM ${table}) - $1))`,
    [most],
  )
}
