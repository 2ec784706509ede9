import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type ClickHouseClient, createClient } from '@clickhouse/client'

// ClickHouse inside this process, where it is installed. It has a package file and a lock of its own, because it takes more room than all else together.

/** A bench is built into a folder of its own, two levels from here. */
const directory = [import.meta.dirname, join(import.meta.dirname, '../test/clickhouse')].find((place) =>
  existsSync(join(place, 'node_modules/chdb')),
)
export const hasClickHouse = directory !== undefined
export const howToInstallClickHouse = '`npm run setup:clickhouse` installs it (550 MB).'

/** One per process: a test file that needs it opens it once. */
export async function openChdb(path = ':memory:'): Promise<ClickHouseClient> {
  if (directory === undefined) throw new Error(`This needs ClickHouse. ${howToInstallClickHouse}`)
  const { createChdbConnection } = createRequire(join(directory, 'chdb.ts'))('chdb/connection') as {
    createChdbConnection(options: { path: string }): object
  }
  return createClient({ connection: writable(createChdbConnection({ path })) as never }) // its types are of another copy of the client's
}

interface Request {
  readonly clickhouse_settings?: Readonly<Record<string, unknown>>
}

/** A server forgets the settings of a request after it. This engine has one session, which would be read-only from then on. */
const writable = (connection: object): object =>
  new Proxy(connection, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return (request?: Request, ...more: unknown[]) => {
        const { readonly: _, ...settings } = request?.clickhouse_settings ?? {}
        return member.call(target, request?.clickhouse_settings ? { ...request, clickhouse_settings: settings } : request, ...more)
      }
    },
  })

export interface Statements {
  /** The bytes of the answer. Parameters are texts as the HTTP interface takes them. */
  run(query: string, about: { params: Strings; settings: Strings; database: string }): Promise<Buffer>
  close(): Promise<void>
}
type Strings = Readonly<Record<string, string>>

/** Of the HTTP interface, and none of the engine inside this process. */
const httpOnly = /^(wait_end_of_query|buffer_size|enable_http_compression|default_format|readonly|http_.*|send_progress_in_http_headers)$/

const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

const escapes: Strings = { t: '\t', n: '\n', r: '\r', b: '\b', f: '\f', 0: '\0' }
/** This engine escapes parameters by itself. */
const unescaped = (text: string) => text.replace(/\\(.)/gs, (_, letter: string) => escapes[letter] ?? letter)

/** The same ClickHouse as a server sees it: each statement with a database, parameters and settings of its own. */
export async function openStatements(path = ':memory:'): Promise<Statements> {
  if (directory === undefined) throw new Error(`This needs ClickHouse. ${howToInstallClickHouse}`)
  const { createChdbConnection } = createRequire(join(directory, 'chdb.ts'))('chdb/connection') as {
    createChdbConnection(options: { path: string }): {
      exec(request: { query: string; query_params: object }): Promise<{ stream: AsyncIterable<Buffer> }>
      close(): Promise<void>
    }
  }
  const connection = createChdbConnection({ path })
  /** There is one session: what earlier statements set goes back to its default. */
  const changed = new Set<string>()
  let turn: Promise<unknown> = Promise.resolve()
  const run: Statements['run'] = async (query, { params, settings, database }) => {
    const wanted = Object.entries(settings).filter(([name]) => !httpOnly.test(name))
    const names = new Set(wanted.map(([name]) => name))
    const before = [
      `USE \`${database}\``,
      ...[...changed].filter((name) => !names.has(name)).map((name) => `SET ${name} = DEFAULT`),
      ...wanted.map(([name, value]) => `SET ${name} = ${quoted(value)}`),
    ]
    for (const name of names) changed.add(name)
    try {
      const query_params = Object.fromEntries(
        Object.entries(params).map(([name, value]) => [name, value === '\\N' ? null : unescaped(value)]),
      )
      const { stream } = await connection.exec({ query: `${before.join('; ')}; ${query}`, query_params })
      const chunks: Buffer[] = []
      for await (const chunk of stream) chunks.push(chunk)
      return Buffer.concat(chunks)
    } catch (error) {
      // chdb 3.4.0 leaves what a failed statement had written to the answer of the next one.
      await connection.exec({ query: 'SELECT 1 FORMAT Null', query_params: {} }).catch(() => undefined)
      const { cause } = error as { cause?: unknown }
      throw cause instanceof Error ? cause : error
    }
  }
  return {
    run: (query, about) => {
      const next = turn.then(() => run(query, about))
      turn = next.catch(() => undefined)
      return next
    },
    close: () => turn.then(() => connection.close()),
  }
}
