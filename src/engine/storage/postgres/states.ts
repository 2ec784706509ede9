import { createHash, randomUUID } from 'node:crypto'
import type { NextState, States } from '../../../lib/flow/states.ts'
import type { Postgres } from './client.ts'

// States that all servers change. A change names the version that it was made of, and is made again of the newer one if another server was faster.

interface Known {
  readonly version: string
  readonly state: unknown
}

export interface SharedStates extends States {
  /** Removes at intervals what means nothing any more. Returns what ends it. */
  sweepRegularly(report: (error: unknown) => void): () => void
}

const mostKnown = 10_000
const sweepMs = 60_000

/** Names are of any length, and some are addresses of people. */
const keyOf = (name: string) => createHash('sha256').update(name).digest('base64url').slice(0, 22)

export function statesInPostgres(postgres: Postgres): SharedStates {
  const table = `${postgres.schema}.cluster_states`
  /** As this server left or found them: mostly nobody else changes them, and one statement is enough. */
  const known = new Map<string, Known>()
  const turns = new Map<string, Promise<void>>()

  const note = (key: string, found: Known | null) => {
    known.delete(key)
    if (found) known.set(key, found)
    if (known.size > mostKnown) known.delete(known.keys().next().value!)
  }

  async function read(key: string): Promise<void> {
    const [row] = await postgres.rows<{ version: string; state: string }>(
      `SELECT version::text AS version, state FROM ${table} WHERE key = $1`,
      [key],
    )
    note(key, row ? { version: row.version, state: JSON.parse(row.state) } : null)
  }

  /** False: another server has changed it meanwhile. */
  async function write(key: string, before: Known | null, { state, keptMs }: NextState): Promise<boolean> {
    const version = randomUUID()
    const values = [key, version, JSON.stringify(state), Math.ceil(keptMs / 1000)]
    const until = "clock_timestamp() + $4 * interval '1 second'"
    const changed = before
      ? await postgres.run(`UPDATE ${table} SET version = $2, state = $3, until = ${until} WHERE key = $1 AND version = $5`, [
          ...values,
          before.version,
        ])
      : await postgres.run(
          `INSERT INTO ${table} (key, version, state, until) VALUES ($1, $2, $3, ${until}) ON CONFLICT (key) DO NOTHING`,
          values,
        )
    if (changed === 1) note(key, { version, state })
    return changed === 1
  }

  async function change(key: string, next: (state: unknown) => NextState | null): Promise<void> {
    let isRead = false
    for (;;) {
      const before = known.get(key) ?? null
      const made = next(before?.state ?? null)
      if (made === null ? isRead : await write(key, before, made)) return
      await read(key)
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
    sweepRegularly(report) {
      const sweep = () => postgres.run(`DELETE FROM ${table} WHERE until < clock_timestamp()`)
      const timer = setInterval(() => void sweep().catch(report), sweepMs)
      timer.unref()
      return () => clearInterval(timer)
    },
  }
}
