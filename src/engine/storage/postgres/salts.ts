import { randomBytes } from 'node:crypto'
import type { Postgres } from './client.ts'
import { unreachable } from './errors.ts'

// The salts of visitors without cookies: the same at every server, so that a visitor is one whichever server an event comes to.

const saltBytes = 32
const dayMs = 86_400_000
/** Days from today for which there are salts: more than any time zone accepts events of. */
const days = { before: 3, after: 2 } as const
const lookMs = 600_000

export interface SharedSalts {
  of(day: number): Buffer
  /** Creates those of new days, and erases old ones, at intervals. Returns what ends it. */
  sweepRegularly(report: (error: unknown) => void): () => void
}

export async function openSharedSalts(postgres: Postgres, clock: () => Date): Promise<SharedSalts> {
  const table = `${postgres.schema}.cluster_salts`
  let salts: ReadonlyMap<number, Buffer> = new Map()
  const look = async (): Promise<void> => {
    const today = Math.floor(clock().getTime() / dayMs)
    const wanted = Array.from({ length: days.before + days.after + 1 }, (_, i) => today - days.before + i)
    for (const day of wanted)
      if (!salts.has(day))
        await postgres.run(`INSERT INTO ${table} (day, salt) VALUES ($1, $2) ON CONFLICT (day) DO NOTHING`, [day, randomBytes(saltBytes)])
    await postgres.run(`DELETE FROM ${table} WHERE day < $1`, [today - days.before])
    salts = await readSalts(postgres)
  }
  await look()
  return {
    of(day) {
      const salt = salts.get(day)
      if (!salt) throw unreachable('the salts of visitors without cookies could not be read')
      return salt
    },
    sweepRegularly(report) {
      const timer = setInterval(() => void look().catch(report), lookMs)
      timer.unref()
      return () => clearInterval(timer)
    },
  }
}

/** By day. */
export async function readSalts({ schema, rows }: Postgres): Promise<ReadonlyMap<number, Buffer>> {
  const found = await rows<{ day: number; salt: Buffer }>(`SELECT day, salt FROM ${schema}.cluster_salts`)
  return new Map(found.map(({ day, salt }) => [day, salt]))
}

/** Those of a directory that is moved here. */
export async function putSalts({ schema, run }: Postgres, salts: ReadonlyMap<number, Buffer>): Promise<void> {
  for (const [day, salt] of salts)
    await run(`INSERT INTO ${schema}.cluster_salts (day, salt) VALUES ($1, $2) ON CONFLICT (day) DO UPDATE SET salt = EXCLUDED.salt`, [
      day,
      salt,
    ])
}
