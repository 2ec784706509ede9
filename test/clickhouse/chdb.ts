import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ClickHouseClient, createClient } from '@clickhouse/client'
import { onShards } from '../../src/engine/storage/clickhouse/shards.ts'

// ClickHouse inside this process, where it is installed. It has a package file and a lock of its own, because it takes more room than all else together.

/** A bench is built into a folder of its own, two levels from here. */
const directory = [import.meta.dirname, join(import.meta.dirname, '../test/clickhouse')].find((place) =>
  existsSync(join(place, 'node_modules/chdb')),
)
export const hasClickHouse = directory !== undefined
export const howToInstallClickHouse = '`npm run setup:clickhouse` installs it (550 MB).'

/** Servers that this process stands for: each row of `events_local` in a database of theirs is on one of the shards. */
export interface Shards {
  readonly cluster: string
  readonly count: number
  readonly databases: readonly string[]
}

const ofCluster = ['fencing_1', 'fencing_2', 'fencing_3', 'resting', 'moving', 'killed', 'homeward', 'plugged']
const numbered = Array.from({ length: 100 }, (_, i) => `db_${i + 1}`)
export const twoShards: Shards = {
  cluster: 'shop',
  count: 2,
  databases: ['default', 'waymark', 'currencies', 'records', ...ofCluster, ...numbered],
}
/** `WAYMARK_TEST_SHARDS`: all tests of ClickHouse have their events on two shards. */
export const testShards = process.env.WAYMARK_TEST_SHARDS ? twoShards : null
/** The same for the options of a server. */
export const testLayout = testShards ? { cluster: testShards.cluster, sharded: true } : {}

/**
 * The engine reads the configuration in the folder that the process is in. All shards are this process, and read the same table: a filter leaves each of them the
 * rows that are its own. Which ones has nothing to do with persons, as it is after many merges.
 */
function standFor({ cluster, count, databases }: Shards): void {
  const folder = mkdtempSync(join(tmpdir(), 'waymark-shards-'))
  const shard = '<shard><replica><host>localhost</host><port>9000</port></replica></shard>'
  const servers = `<remote_servers><${cluster}>${shard.repeat(count)}</${cluster}></remote_servers>`
  writeFileSync(
    join(folder, 'config.xml'),
    `<clickhouse><tcp_port>9000</tcp_port><users_config>users.xml</users_config>${servers}</clickhouse>`,
  )
  const filter = `<events_local><filter>cityHash64(uuid) % ${count} + 1 = shardNum()</filter></events_local>`
  const filters = databases.map((database) => `<${database}>${filter}</${database}>`).join('')
  const user = `<password></password><networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota>`
  writeFileSync(
    join(folder, 'users.xml'),
    `<clickhouse><users><default>${user}<databases>${filters}</databases></default></users><profiles><default/></profiles><quotas><default/></quotas></clickhouse>`,
  )
  process.chdir(folder)
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
}

/** What servers with Keeper would do by themselves, this process has done as soon as it has it once. */
const onOneProcess = (query: string): string =>
  query
    .replace(/ ON CLUSTER `\w+`/, '')
    .replace(/ENGINE = Replicated(\w+)\('[^']*', '[^']*'(?:, )?/, 'ENGINE = $1(')
    .replace(/replicated_deduplication_window = (\d+), replicated_\w+ = \d+/, 'non_replicated_deduplication_window = $1')

/** One per process: a test file that needs it opens it once. */
export async function openChdb(path = ':memory:'): Promise<ClickHouseClient> {
  if (directory === undefined) throw new Error(`This needs ClickHouse. ${howToInstallClickHouse}`)
  const { createChdbConnection } = createRequire(join(directory, 'chdb.ts'))('chdb/connection') as {
    createChdbConnection(options: { path: string }): object
  }
  if (testShards) standFor(testShards)
  const client = createClient({ connection: writable(createChdbConnection({ path })) as never }) // its types are of another copy of the client's
  return testShards ? sharded(client, testShards) : client
}

type Plain = Parameters<typeof onShards>[0]
const plainClients = new WeakMap<object, Plain>()

/** Requests of Waymark go to all shards. */
function sharded(client: ClickHouseClient, shards: Shards): ClickHouseClient {
  const [exec, command, close] = [client.exec.bind(client), client.command.bind(client), client.close.bind(client)]
  const plain: Plain = {
    exec: (request) => exec({ ...request, query: onOneProcess(request.query) } as never),
    command: (request) => command({ ...request, query: onOneProcess(request.query) } as never),
    close,
  }
  const made = Object.assign(client, onShards(plain, shards))
  plainClients.set(made, plain)
  return made
}

/** The client with something between it and the server, under what divides its requests among shards. */
export function within(client: Plain, put: (plain: Plain) => Plain): Plain {
  const plain = plainClients.get(client)
  return plain && testShards ? onShards(put(plain), testShards) : put(client)
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
export async function openStatements(path = ':memory:', shards: Shards | null = testShards): Promise<Statements> {
  if (directory === undefined) throw new Error(`This needs ClickHouse. ${howToInstallClickHouse}`)
  if (shards) standFor(shards)
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
      const { stream } = await connection.exec({ query: `${before.join('; ')}; ${shards ? onOneProcess(query) : query}`, query_params })
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
