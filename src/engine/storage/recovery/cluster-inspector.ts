import { WaymarkError } from '../../../errors/errors.ts'
import { type ClickHouseClient, connectToClickHouse } from '../clickhouse/client.ts'
import { shardTable } from '../clickhouse/layout.ts'
import { knownBlocks } from '../clickhouse/schema.ts'
import { type ReplicaFacts, readReplicaFacts, readTableFacts, rowsWithin, type TableFacts } from '../clickhouse/server-facts.ts'
import { literal } from '../clickhouse/sql.ts'
import { noProject } from '../clickhouse-stores.ts'
import type { Aside } from '../files/attempts-file.ts'
import type { EngineChoice } from '../open-stores.ts'
import { allSetAside } from '../postgres/attempts.ts'
import { connectionsOfServer, connectToPostgres, type Postgres } from '../postgres/client.ts'
import { type LogFacts, readLogFacts } from '../postgres/server-facts.ts'
import { tablesVersion } from '../postgres/tables.ts'

// PostgreSQL and ClickHouse of several servers, as they are. Nothing is changed.

/** Why an engine says nothing. */
interface Unreachable {
  readonly reason: string
}

export interface PostgresFindings {
  readonly version: string
  readonly major: number
  readonly settings: Readonly<Record<'fsync' | 'synchronous_commit' | 'full_page_writes', string>>
  readonly connections: { readonly most: number; readonly used: number }
  /** Servers that listen at the moment. */
  readonly servers: number
  /** Milliseconds by which its clock is ahead of this host's. */
  readonly clockMs: number
  /** Null: no server has started with this schema yet. */
  readonly shared: SharedFindings | null
}

export interface SharedFindings {
  readonly id: string
  /** Of the tables; `known`: of this version of Waymark. */
  readonly format: number
  readonly knownFormat: number
  readonly log: LogFacts
  readonly names: Readonly<Record<number, string>>
  /** Blocks that two servers have begun, of the last day. */
  readonly repeated: readonly { readonly project: number; readonly blocks: number }[]
  /** Blocks that a server has begun whose lease is over. The next one that applies the project finishes them. */
  readonly unfinished: readonly number[]
  /** Records that ended each server which applied them. */
  readonly aside: readonly Aside[]
}

export interface ClickHouseFindings {
  readonly version: string
  readonly clockMs: number
  /** Inserts that are known again; null: there is no table yet. */
  readonly knownBlocks: number | null
  readonly leastKnownBlocks: number
  /** The cluster, or the directory, that the database belongs to. */
  readonly owner: string | null
  readonly tables: readonly TableFacts[]
  /** Parts of a partition from which on inserts are slowed down. */
  readonly partsToDelay: number | null
  readonly disks: readonly { readonly name: string; readonly free: number; readonly total: number }[]
  readonly replicas: readonly ReplicaFacts[]
}

export interface ClusterFindings {
  readonly postgres: PostgresFindings | Unreachable
  readonly clickhouse: ClickHouseFindings | Unreachable
  /** Connections to PostgreSQL that a server may have. */
  readonly connectionsOfServer: number
}

const askMs = 10_000
/** Older tables have no place for records that are set aside. */
const formatWithAside = 3

const orReason = async <T>(read: () => Promise<T>): Promise<T | Unreachable> => {
  try {
    return await read()
  } catch (error) {
    if (error instanceof WaymarkError) return { reason: error.message }
    throw error
  }
}

/** By how much the other clock is ahead: it was asked between two looks at this one. */
async function aheadMs(ask: () => Promise<number>): Promise<number> {
  await ask() // opens a connection
  const before = Date.now()
  const there = await ask()
  return Math.round(there - (before + Date.now()) / 2)
}

async function sharedIn(postgres: Postgres): Promise<SharedFindings | null> {
  const { schema } = postgres
  const [table] = await postgres.rows<{ name: string | null }>('SELECT to_regclass($1)::text AS name', [`${schema}.cluster_facts`])
  if (!table?.name) return null
  const rows = await postgres.rows<{ key: string; value: string }>(`SELECT key, value FROM ${schema}.cluster_facts`)
  const facts = new Map(rows.map(({ key, value }) => [key, value]))
  const names = await postgres.rows<{ id: number; name: string }>(`SELECT id, name FROM ${schema}.projects`)
  const repeated = await postgres.rows<{ project: number; blocks: number }>(
    `SELECT project, count(*)::integer AS blocks FROM ${schema}.cluster_repeated_blocks GROUP BY project ORDER BY project`,
  )
  const unfinished = await postgres.rows<{ project: number }>(
    `SELECT b.project FROM ${schema}.cluster_blocks AS b JOIN ${schema}.cluster_partitions AS p USING (project)
     WHERE b.epoch <> p.epoch OR p.holder IS NULL OR p.until < clock_timestamp() ORDER BY b.project`,
  )
  const format = Number(facts.get('version') ?? 0)
  return {
    id: facts.get('id') ?? '',
    format,
    knownFormat: tablesVersion,
    log: await readLogFacts(postgres),
    names: Object.fromEntries(names.map(({ id, name }) => [id, name])),
    repeated,
    unfinished: unfinished.map(({ project }) => project),
    aside: format < formatWithAside ? [] : await allSetAside(postgres),
  }
}

async function inspectPostgres(postgres: Postgres): Promise<PostgresFindings> {
  const setting = async (name: string) => (await postgres.rows<{ value: string }>('SELECT current_setting($1) AS value', [name]))[0]!.value
  const [used] = await postgres.rows<{ used: number; servers: number }>(
    `SELECT count(*)::integer AS used, (count(*) FILTER (WHERE query = $1))::integer AS servers FROM pg_stat_activity WHERE backend_type = 'client backend'`,
    [`LISTEN waymark_${postgres.schema}`],
  )
  const now = async () =>
    (await postgres.rows<{ ms: number }>('SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms'))[0]!.ms
  const reserved = Number(await setting('superuser_reserved_connections'))
  return {
    version: await setting('server_version'),
    major: Math.floor(Number(await setting('server_version_num')) / 10_000),
    settings: {
      fsync: await setting('fsync'),
      synchronous_commit: await setting('synchronous_commit'),
      full_page_writes: await setting('full_page_writes'),
    },
    connections: { most: Number(await setting('max_connections')) - reserved, used: used!.used },
    servers: used!.servers,
    clockMs: await aheadMs(now),
    shared: await sharedIn(postgres),
  }
}

/** What a user may not read is left out. */
const readable = <T>(read: Promise<T>, otherwise: T): Promise<T> => read.catch(() => otherwise)

async function inspectClickHouse(client: ClickHouseClient): Promise<ClickHouseFindings> {
  const rows = <T extends readonly unknown[]>(query: string) => rowsWithin<T>(client, query, askMs)
  const [[version]] = (await rows<[string]>('SELECT version()')) as [[string]]
  const clockMs = await aheadMs(async () => (await rows<[number]>('SELECT toUnixTimestamp64Milli(now64(3))'))[0]![0])
  const [table] = await rows<[string]>(
    `SELECT engine_full FROM system.tables WHERE database = currentDatabase() AND name IN ('events', ${literal(shardTable)}) AND engine != 'Distributed'`,
  )
  const window = table && /replicated_deduplication_window = (\d+)/.exec(table[0])?.[1]
  const [[owner] = [null]] = table
    ? await rows<[string | null]>(`SELECT value FROM meta FINAL WHERE project_id = ${noProject} AND key = 'directory'`)
    : []
  const delay = readable(rows<[string]>("SELECT value FROM system.merge_tree_settings WHERE name = 'parts_to_delay_insert'"), [])
  const disks = readable(rows<[string, number, number]>('SELECT name, free_space, total_space FROM system.disks'), [])
  const [[partsToDelay] = []] = await delay
  return {
    version,
    clockMs,
    knownBlocks: table ? Number(window ?? 0) : null,
    leastKnownBlocks: knownBlocks,
    owner,
    tables: await readable(readTableFacts(client, askMs), []),
    partsToDelay: partsToDelay === undefined ? null : Number(partsToDelay),
    disks: (await disks).map(([name, free, total]) => ({ name, free, total })),
    replicas: await readable(readReplicaFacts(client, askMs), []),
  }
}

export async function inspectCluster({ clickhouse, postgres }: EngineChoice): Promise<ClusterFindings> {
  const ofPostgres = await orReason(async () => {
    const connection = await connectToPostgres(typeof postgres === 'string' ? { url: postgres } : postgres!)
    try {
      return await inspectPostgres(connection)
    } finally {
      await connection.close()
    }
  })
  const ofClickHouse = await orReason(async () => {
    const client = 'client' in clickhouse ? clickhouse.client : await connectToClickHouse(clickhouse, false)
    try {
      return await inspectClickHouse(client)
    } finally {
      if (!('client' in clickhouse)) await client.close()
    }
  })
  return { postgres: ofPostgres, clickhouse: ofClickHouse, connectionsOfServer }
}
