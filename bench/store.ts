import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ClickHouseClient } from '@clickhouse/client'
import { DuckDBInstance } from '@duckdb/node-api'
import { ThreadPool } from '../src/core/folds/thread-pool.ts'
import type { ListSource } from '../src/core/lists/ports.ts'
import { ProjectLists } from '../src/core/lists/project-lists.ts'
import type { QueryProject } from '../src/engine/execution/query-context.ts'
import { duckdbEngine } from '../src/engine/storage/duckdb/engine.ts'
import { openInstance, projectDatabase } from '../src/engine/storage/duckdb/instance.ts'
import { unscheduled } from '../src/lib/flow/statement-scheduler.ts'
import type { MemoryShare } from '../src/lib/memory/memory-share.ts'
import type { ProjectSettings } from '../src/queries/kind.ts'
import { openChdb } from '../test/clickhouse/chdb.ts'

// A project's store of generated events, and the same events in ClickHouse inside this process, ordered as product analytics orders them there.

export const days = 90
export const start = '2026-01-01 00:00:00'
const now = new Date('2026-04-01T12:00:00Z')
const rowsPerInsert = 2_000_000

export interface BenchStore {
  /** Where the store is: another process can open it too once this one is closed. */
  readonly directory: string
  remove(): void
}

/** Writes the store, and beside it the file that ClickHouse reads; without properties and that file where only our own columns matter. */
export async function fillBenchStore(count: number, { isSlim = false } = {}): Promise<BenchStore> {
  const people = Math.max(10, Math.round(count / 50))
  const directory = mkdtempSync(join(tmpdir(), 'waymark-bench-'))
  mkdirSync(join(directory, 'projects', '1'), { recursive: true })
  const empty = await openInstance({ dataDir: directory })
  await empty.attachProject(1)
  await empty.close()
  // Our own instance may touch nothing outside of its directory; this one also writes the file that ClickHouse reads.
  const filler = await DuckDBInstance.create(join(directory, 'projects', '1', 'store.duckdb'))
  const connection = await filler.connect()

  // The same row number makes the same event. A tenth of the people make half of the events.
  const drawn = (salt: number) => `(hash(i * 16 + ${salt}) % 1000003)::BIGINT`
  const pick = (salt: number, ...texts: string[]) => `[${texts.map((t) => `'${t}'`).join(', ')}][1 + ${drawn(salt)} % ${texts.length}]`
  await connection.run(`INSERT INTO main.event_names (event_id, name, count)
    VALUES (1, '$pageview', 0), (2, '$autocapture', 0), (3, 'signed up', 0), (4, 'purchase', 0)`)
  const properties = isSlim
    ? `'{}'`
    : `'{"country":"' || country || '","plan":"' || plan || '","amount":' || amount || ',"$browser":"' || ${pick(2, 'Chrome', 'Safari', 'Firefox', 'Edge')}
        || '","$os":"' || ${pick(3, 'Windows', 'Mac OS X', 'Linux', 'iOS', 'Android')} || '","$current_url":"https://app.example.com/section/'
        || (${drawn(4)} % 200) || '","$lib":"web","$screen_width":1440,"is_trial":false,"items":' || (${drawn(5)} % 9) || ',"note":"' || repeat('x', 160) || '"}'`
  // In parts: a statement of all rows would hold them until it ends.
  for (let from = 0; from < count; from += rowsPerInsert)
    await connection.run(`INSERT INTO main.events
      (uuid, event_id, timestamp, person_no, distinct_id, session_id, created_at, log_seq, person_mode, properties, s1, n1)
    SELECT uuid(), [1, 1, 2, 3, 4][1 + ${drawn(1)} % 5], happened, person, 'user-' || person, 'session-' || (i // 10), happened, i + 1, 0,
      ${properties},
      country, amount
    FROM (
      SELECT i, TIMESTAMP '${start}' + to_microseconds((i * ${days * 86400}000000::HUGEINT // ${count})::BIGINT) AS happened,
        1 + CASE WHEN i % 2 = 0 THEN ${drawn(6)} % ${Math.ceil(people / 10)} ELSE ${drawn(7)} % ${people} END AS person,
        ${pick(8, 'DE', 'US', 'FR', 'IN', 'BR', 'JP', 'GB', 'NG')} AS country, ${pick(9, 'free', 'pro', 'enterprise')} AS plan,
        (${drawn(10)} % 10000) / 100.0 AS amount
      FROM range(${from}, ${Math.min(count, from + rowsPerInsert)}) t(i))`)
  await connection.run(`INSERT INTO main.persons (person_no, uuid, has_record, created_at, is_identified, version, updated_at, properties)
    SELECT i, uuid(), true, TIMESTAMP '${start}', true, 1, TIMESTAMP '${start}', '{}' FROM range(1, ${people + 1}) t(i)`)
  await connection.run(`INSERT INTO main.property_keys
      (scope, name, slots, ready_slots, count_numeric, count_string, count_boolean, count_datetime, count_other, count_numeric_string)
    VALUES ('event', 'country', 's1', 's1', 0, ${count}, 0, 0, 0, 0), ('event', 'amount', 'n1', 'n1', ${count}, 0, 0, 0, 0, 0)`)

  if (!isSlim)
    await connection.run(`COPY (SELECT e.uuid::VARCHAR AS uuid, n.name AS event, e.timestamp, e.distinct_id, p.uuid::VARCHAR AS person_id, e.properties
      FROM main.events e JOIN main.event_names n USING (event_id) JOIN main.persons p USING (person_no))
      TO '${parquetIn(directory)}' (FORMAT parquet)`)
  connection.closeSync()
  filler.closeSync()
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) }
}

const parquetIn = (directory: string) => join(directory, 'events.parquet')

export async function openBenchProject(
  directory: string,
  zone: string,
  memoryLimit?: string,
  listMemory?: string,
): Promise<{ project: QueryProject; lists: MemoryShare; source: ListSource; close(): Promise<void> }> {
  const instance = await openInstance({ dataDir: directory, memoryLimit, listMemory })
  await instance.attachProject(1)
  const settings: ProjectSettings = {
    id: 1,
    timezone: zone,
    weekStartDay: 0,
    testAccountFilters: [],
    personDisplayNameProperties: [],
    pathCleaningFilters: [],
  }
  const engine = duckdbEngine(instance, projectDatabase(1))
  const { dialect, limits, facts } = engine
  const statements = engine.statements(unscheduled())
  const lists = new ProjectLists(engine.lists!.memory)
  const fold: QueryProject['fold'] = async (seq, columns, loop) =>
    (await lists.use(engine.lists!.source(statements), seq, columns, loop)) !== null
  const threads = new ThreadPool(instance.threads)
  const project: QueryProject = { settings, now, dialect, limits, facts, isAlone: () => true, fold, threads, ...statements }
  const source = engine.lists!.source(statements)
  return { project, lists: engine.lists!.memory, source, close: () => threads.close().then(() => instance.close()) }
}

export async function openBenchClickHouse(directory: string): Promise<ClickHouseClient> {
  const clickhouse = await openChdb()
  await clickhouse.command({
    query: `CREATE TABLE events (uuid UUID, event String, timestamp DateTime64(6, 'UTC'), distinct_id String, person_id UUID, properties String,
        mat_country String MATERIALIZED JSONExtractString(properties, 'country'),
        mat_amount Nullable(Float64) MATERIALIZED JSONExtract(properties, 'amount', 'Nullable(Float64)'))
      ENGINE = MergeTree ORDER BY (toDate(timestamp), event, cityHash64(distinct_id), cityHash64(uuid))`,
  })
  await clickhouse.command({
    query: `INSERT INTO events SELECT toUUID(uuid), event, timestamp, distinct_id, toUUID(person_id), properties FROM file('${parquetIn(directory)}', Parquet)`,
  })
  return clickhouse
}

/** The numbers of a statement's last column. */
export async function clickHouseNumbers(clickhouse: ClickHouseClient, query: string): Promise<number[]> {
  const answer = await clickhouse.query({ query, format: 'JSONCompactEachRow' })
  return ((await answer.json()) as unknown[][]).map((row) => Number(row.at(-1)))
}
