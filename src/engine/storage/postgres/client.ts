import type { Client, Pool, PoolClient } from 'pg'
import { WaymarkError } from '../../../errors/errors.ts'
import { isConnectionLost, postgresError } from './errors.ts'

// Connections to the PostgreSQL that several servers share, through the package pg.

export interface PostgresServer {
  /** `postgres://user:password@host:5432/database` */
  readonly url: string
  /** Created if it does not exist. Default: `waymark`. */
  readonly schema?: string
}

export type Param = string | number | bigint | boolean | null | Buffer | readonly (string | number)[]
export type Row = Record<string, unknown>

export interface Statements {
  rows<R extends Row = Row>(text: string, params?: readonly Param[]): Promise<R[]>
  /** Returns the number of changed rows. */
  run(text: string, params?: readonly Param[]): Promise<number>
}

export interface Postgres extends Statements {
  /** A plain name, which needs no quotes. */
  readonly schema: string
  /** All or nothing. */
  transaction<T>(work: (on: Statements) => Promise<T>): Promise<T>
  /** A connection of its own. The caller ends it. */
  connect(): Promise<Client>
  close(): Promise<void>
}

type Pg = { readonly default: { readonly Client: typeof Client; readonly Pool: typeof Pool } }

const connectMs = 5_000
/** A server that says nothing for so long is as good as gone. */
const silentMs = 30_000
const mostConnections = 10
/** Beside the pool: one that listens, and one for work that is done alone. */
export const connectionsOfServer = mostConnections + 2

async function loadPg(): Promise<Pg> {
  const name = 'pg' // not an import that a bundler should look for
  return (await import(name).catch((error: unknown) => {
    const message = 'PostgreSQL needs the package pg: npm install pg'
    throw new WaymarkError('wrong-usage', { message }, { cause: error })
  })) as Pg
}

const schemaName = /^[a-z_][a-z0-9_]{0,62}$/

/** Opens connections when they are first needed. */
export async function connectToPostgres({ url, schema = 'waymark' }: PostgresServer): Promise<Postgres> {
  if (!schemaName.test(schema))
    throw new WaymarkError('wrong-usage', { message: `The schema must be lower-case letters, digits and _, but got ${schema}.` })
  const { default: pg } = await loadPg()
  const common = { connectionString: url, application_name: 'waymark', connectionTimeoutMillis: connectMs, keepAlive: true }
  const pool = new pg.Pool({ ...common, max: mostConnections, query_timeout: silentMs })
  pool.on('error', () => undefined) // of a connection at rest: the next statement opens another one
  const open = async (): Promise<PoolClient> => {
    const client = await pool.connect()
    client.on('error', ignored)
    return client
  }
  const explained = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      throw postgresError(error)
    }
  }
  /** A statement of its own on a connection that was lost meanwhile is sent once more, if that changes nothing. */
  const query = async (text: string, params: readonly Param[], isRepeatable: boolean) => {
    try {
      return await pool.query(text, [...params])
    } catch (error) {
      if (!isRepeatable || !isConnectionLost(error)) throw error
      return pool.query(text, [...params])
    }
  }
  return {
    schema,
    rows: (text, params = []) => explained(async () => (await query(text, params, /^\s*SELECT\b/i.test(text) && !/\bpg_/.test(text))).rows),
    run: (text, params = []) => explained(async () => (await query(text, params, false)).rowCount ?? 0),
    transaction: (work) =>
      explained(async () => {
        const client = await open()
        let failure: unknown
        try {
          await client.query('BEGIN')
          const answer = await work(statementsOn(client))
          await client.query('COMMIT')
          return answer
        } catch (error) {
          failure = error
          if (!isConnectionLost(error)) await client.query('ROLLBACK').then(() => (failure = undefined), ignored)
          throw error
        } finally {
          client.off('error', ignored)
          client.release(failure !== undefined)
        }
      }),
    connect: () =>
      explained(async () => {
        const client = new pg.Client(common)
        client.on('error', ignored)
        await client.connect()
        return client
      }),
    close: () => pool.end(),
  }
}

const ignored = () => undefined

const statementsOn = (client: PoolClient): Statements => ({
  rows: async (text, params = []) => (await client.query(text, [...params])).rows,
  run: async (text, params = []) => (await client.query(text, [...params])).rowCount ?? 0,
})
