import type { Readable } from 'node:stream'
import { WaymarkError } from '../../errors/errors.ts'

export type Settings = Readonly<Record<string, string | number>>

interface Request {
  readonly query: string
  readonly query_params?: Record<string, unknown>
  readonly clickhouse_settings?: Settings
  readonly abort_signal?: AbortSignal
  readonly query_id?: string
}

/** What is used of a client that `createClient` of `@clickhouse/client` answers. */
export interface ClickHouseClient {
  exec(request: Request & { readonly values?: Readable }): Promise<{ readonly stream: AsyncIterable<Uint8Array> }>
  command(request: Request): Promise<unknown>
  close(): Promise<void>
}

export interface ClickHouseServer {
  /** `http://host:8123` */
  readonly url: string
  /** Made when it is not there. Default: `waymark`. */
  readonly database?: string
  readonly username?: string
  readonly password?: string
}

/** Connects by `@clickhouse/client`, which is installed by those who have a server. */
export async function connectToClickHouse({ url, database = 'waymark', username, password }: ClickHouseServer): Promise<ClickHouseClient> {
  const name = '@clickhouse/client' // not an import that a bundler should look for
  const module = (await import(name).catch((error: unknown) => {
    const message = 'A ClickHouse server needs the package @clickhouse/client: npm install @clickhouse/client'
    throw new WaymarkError('wrong-usage', { message }, { cause: error })
  })) as { createClient(options: object): ClickHouseClient }
  const options = { url, username, password, request_timeout: 3_600_000 } // statements have limits of their own
  const client = module.createClient(options)
  try {
    await client.command({ query: `CREATE DATABASE IF NOT EXISTS \`${database.replaceAll('`', '\\`')}\`` })
  } catch (error) {
    const reason = error instanceof Error ? error.message || String((error as { code?: unknown }).code) : String(error)
    const message = `ClickHouse at ${new URL(url).host} cannot be used: ${reason}. Check the URL, the username and the password.`
    throw new WaymarkError('command-failed', { message }, { cause: error })
  } finally {
    await client.close()
  }
  return module.createClient({ ...options, database })
}
