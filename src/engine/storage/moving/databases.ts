import { WaymarkError } from '../../../errors/errors.ts'
import { type ClickHouseClient, connectToClickHouse } from '../clickhouse/client.ts'
import { projectStore } from '../clickhouse/project-store.ts'
import { literal } from '../clickhouse/sql.ts'
import { noProject } from '../clickhouse-stores.ts'
import type { EngineChoice } from '../open-stores.ts'
import { connectToPostgres, type Postgres } from '../postgres/client.ts'
import { type Moving, moveLock, readMoving } from '../postgres/moving.ts'

// The databases of a cluster, as a move in either direction meets them.

const urlOf = (postgres: EngineChoice['postgres']) => (typeof postgres === 'string' ? postgres : postgres!.url)

/** The addresses of both databases, without users and passwords. */
export function addressOf({ clickhouse, postgres }: EngineChoice): string {
  const { host, pathname } = new URL(urlOf(postgres))
  const at = 'url' in clickhouse ? `${new URL(clickhouse.url).host}/${clickhouse.database ?? 'waymark'}` : 'a client'
  return `ClickHouse at ${at} and PostgreSQL at ${host}${pathname}`
}

type ClickHouse = EngineChoice['clickhouse']

/** Null: the database does not exist. */
export async function connectToExisting(server: ClickHouse): Promise<ClickHouseClient | null> {
  if ('client' in server) return server.client
  const client = await connectToClickHouse({ ...server, database: 'system' }, false)
  try {
    const name = literal(server.database ?? 'waymark')
    const [[found] = [0]] = await projectStore(client, noProject).rows<[number]>(
      `SELECT count() FROM system.databases WHERE name = ${name}`,
    )
    return found === 0 ? null : await connectToClickHouse(server, false)
  } finally {
    await client.close()
  }
}

export const connectTo = (server: ClickHouse) => ('client' in server ? server.client : connectToClickHouse(server))

export async function connect<C extends ClickHouseClient | null>(
  { clickhouse, postgres: given }: EngineChoice,
  client: (server: ClickHouse) => C | Promise<C>,
) {
  const postgres = await connectToPostgres(typeof given === 'string' ? { url: given } : given!)
  try {
    await postgres.rows('SELECT 1')
    const connected = await client(clickhouse)
    const close = async () => {
      if (!('client' in clickhouse)) await connected?.close()
      await postgres.close()
    }
    return { postgres, client: connected, close }
  } catch (error) {
    await postgres.close()
    throw error
  }
}

export const movingIn = async (postgres: Postgres): Promise<Moving | null> => {
  const facts = `${postgres.schema}.cluster_facts`
  const [row] = await postgres.rows<{ found: string | null }>('SELECT to_regclass($1) AS found', [facts])
  return row?.found ? readMoving(postgres, postgres.schema) : null
}

/** Does the work while no other move does, and while no server starts. */
export async function whileMoving<T>(postgres: Postgres, work: () => Promise<T>): Promise<T> {
  const client = await postgres.connect()
  try {
    const [lock] = (await client.query('SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS taken', [moveLock(postgres.schema)])).rows
    if (!lock.taken) throw new WaymarkError('command-failed', { message: 'Another `waymark move` of these databases is running.' })
    return await work()
  } finally {
    await client.end().catch(() => undefined) // and with it the lock
  }
}
