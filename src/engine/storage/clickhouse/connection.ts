import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { ClickHouseClient, Settings } from './client.ts'
import { connectionError, serverCode } from './connection-errors.ts'
import { clickHouseSettings } from './schema.ts'
import { type Params, sentStatement } from './sent-statement.ts'

/** The requests to a server for one project. */
export interface Connection {
  readonly project: number
  /** A statement without result rows. `rows`: those of an INSERT. */
  run(query: string, rows?: string, params?: Params, settings?: Settings): Promise<void>
  /** All rows, each an array of values. */
  rows<T extends readonly unknown[]>(query: string): Promise<T[]>
  /** The bytes of an answer. If the signal aborts, the statement is also stopped on the server. */
  stream(query: string, options: StreamOptions): Promise<AsyncIterable<Uint8Array>>
  /** Stops the statement of a failed request if it is still running: otherwise it could take effect after the retry. */
  stopWrites(): Promise<void>
}
interface StreamOptions {
  readonly params: Params
  readonly settings: Settings
  readonly signal: AbortSignal
}

const { readonly: _, ...readingSettings } = clickHouseSettings
/** Lists of ids and values make statements long. */
export const longStatements: Settings = { max_query_size: 2 ** 28, max_ast_elements: 10_000_000, max_expanded_ast_elements: 10_000_000 }
const ownSettings: Settings = { ...readingSettings, ...longStatements, output_format_json_quote_64bit_integers: 0 }

export function connectionOf(client: ClickHouseClient, project: number): Connection {
  const writes = `waymark-write-${project}-`
  return {
    project,
    run: (query, rows = '', params, settings = {}) =>
      explained(async () => {
        const values = rows === '' ? sentStatement(query, params) : { query, values: Readable.from([rows], { objectMode: false }) }
        const about = { query_id: `${writes}${randomUUID()}`, clickhouse_settings: { ...ownSettings, ...settings } }
        const { stream } = await client.exec({ ...values, ...about })
        for await (const _ of stream);
      }),
    rows: <T extends readonly unknown[]>(query: string) =>
      explained(async () => {
        const { stream } = await client.exec({
          query: `${query} FORMAT JSONCompactEachRow`,
          query_id: `waymark-read-${project}-${randomUUID()}`,
          clickhouse_settings: { ...ownSettings, wait_end_of_query: 1 },
        })
        const text = Buffer.concat(await collected(stream)).toString()
        return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as T]))
      }),
    async stream(query, { params, settings, signal }) {
      const id = `waymark-query-${project}-${randomUUID()}`
      let bytes: (AsyncIterable<Uint8Array> & { destroy?(): void }) | null = null
      // Explicitly: closing the connection stops a statement only where a proxy passes it on.
      const stop = () => {
        bytes?.destroy?.()
        client.command({ query: `KILL QUERY WHERE query_id = '${id}' ASYNC` }).catch(() => undefined)
      }
      signal.addEventListener('abort', stop, { once: true })
      const leave = () => signal.removeEventListener('abort', stop)
      try {
        const sent = { ...sentStatement(query, params), query_id: id, clickhouse_settings: settings, abort_signal: signal }
        bytes = (await client.exec(sent)).stream
        return leaving(bytes, leave)
      } catch (error) {
        leave()
        throw connectionError(error)
      }
    },
    stopWrites: () =>
      explained(async () => {
        const condition = `startsWith(query_id, '${writes}') AND current_database = currentDatabase()`
        try {
          await client.command({ query: `KILL QUERY WHERE ${condition} SYNC` })
        } catch (error) {
          if (serverCode(error) === null) throw error // else the user may not look at what runs
        }
      }),
  }
}

async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw connectionError(error)
  }
}

const collected = async (stream: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> => {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}
async function* leaving(stream: AsyncIterable<Uint8Array>, leave: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* stream
  } catch (error) {
    throw connectionError(error)
  } finally {
    leave()
  }
}
