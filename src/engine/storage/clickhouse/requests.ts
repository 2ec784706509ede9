import type { Readable } from 'node:stream'
import type { Layout } from './layout.ts'

export type Settings = Readonly<Record<string, string | number>>

interface Request {
  readonly query: string
  readonly query_params?: Record<string, unknown>
  readonly clickhouse_settings?: Settings
  readonly abort_signal?: AbortSignal
  readonly query_id?: string
}

/** The methods of a `@clickhouse/client` that are used. */
export interface ClickHouseClient {
  exec(
    request: Request & { readonly values?: Readable; readonly http_headers?: Record<string, string> },
  ): Promise<{ readonly stream: AsyncIterable<Uint8Array> }>
  command(request: Request): Promise<unknown>
  close(): Promise<void>
  /** Default: one server. */
  readonly layout?: Layout
}
