import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { ClickHouseClient, Settings } from './client.ts'
import { clickHouseSettings } from './schema.ts'

/** Everything that is asked of a server for one project. */
export interface Connection {
  readonly project: number
  /** A statement that answers no rows. `rows`: those of an INSERT. */
  run(query: string, rows?: string, params?: Readonly<Record<string, unknown>>): Promise<void>
  /** All rows, each an array of values. */
  rows<T extends readonly unknown[]>(query: string): Promise<T[]>
  /** The bytes of an answer. When the signal aborts, the statement is stopped on the server too. */
  stream(query: string, options: StreamOptions): Promise<AsyncIterable<Uint8Array>>
}
interface StreamOptions {
  readonly params: Readonly<Record<string, unknown>>
  readonly settings: Settings
  readonly signal?: AbortSignal
}

const { readonly: _, ...readingSettings } = clickHouseSettings
/** Of our own statements: lists of ids make them long. */
const ownSettings: Settings = { ...readingSettings, max_query_size: 2 ** 28, output_format_json_quote_64bit_integers: 0 }

export const connectionOf = (client: ClickHouseClient, project: number): Connection => ({
  project,
  async run(query, rows = '', params) {
    const request = { query, clickhouse_settings: ownSettings, query_params: params && { ...params } }
    if (rows === '') await client.command(request)
    else await drained((await client.exec({ ...request, values: Readable.from([rows], { objectMode: false }) })).stream)
  },
  async rows<T extends readonly unknown[]>(query: string): Promise<T[]> {
    const { stream } = await client.exec({ query: `${query} FORMAT JSONCompactEachRow`, clickhouse_settings: ownSettings })
    const text = Buffer.concat(await collected(stream)).toString()
    return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as T]))
  },
  async stream(query, { params, settings, signal }) {
    const id = randomUUID()
    // Asked for in the open: closing the connection stops a statement only where a proxy passes it on.
    const kill = () => client.command({ query: `KILL QUERY WHERE query_id = '${id}' ASYNC` }).catch(() => undefined)
    signal?.addEventListener('abort', kill, { once: true })
    const leave = () => signal?.removeEventListener('abort', kill)
    try {
      const { stream } = await client.exec({
        query,
        query_id: id,
        query_params: { ...params },
        clickhouse_settings: settings,
        abort_signal: signal,
      })
      return leaving(stream, leave)
    } catch (error) {
      leave()
      throw error
    }
  },
})

const drained = async (stream: AsyncIterable<Uint8Array>): Promise<void> => {
  for await (const _ of stream);
}
const collected = async (stream: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> => {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}
async function* leaving(stream: AsyncIterable<Uint8Array>, leave: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* stream
  } finally {
    leave()
  }
}
