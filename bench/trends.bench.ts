import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createClient } from '@clickhouse/client'
import { DuckDBInstance } from '@duckdb/node-api'
import { createChdbConnection } from 'chdb/connection'
import { answerQuery, type QueryProject } from '../src/answer.ts'
import type { ProjectSettings } from '../src/queries/kind.ts'
import type { TrendsResponse } from '../src/queries/trends/index.ts'
import { queryEnv } from '../src/query-env.ts'
import { readFacts } from '../src/storage/duckdb/facts.ts'
import { openInstance, projectDatabase } from '../src/storage/duckdb/instance.ts'
import { statementRunner } from '../src/storage/duckdb/run.ts'
import { machine, median, rounded } from './measure.ts'

// How long does a chart take on five million events, beside ClickHouse with the same events in the same process? ClickHouse's table is ordered
// as product analytics orders events there, and has a column for the property; its statements are the plainest exact ones. Both answers are
// compared before anything is timed.

const { values } = parseArgs({ options: { events: { type: 'string', default: '5000000' }, runs: { type: 'string', default: '5' } } })
const count = Number(values.events)
const runs = Number(values.runs)
const people = Math.max(10, Math.round(count / 50))
const days = 90
const start = '2026-01-01 00:00:00'
const zone = 'America/New_York' // its clocks change on 8 March, inside the range
const now = new Date('2026-04-01T12:00:00Z')

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
await connection.run(`INSERT INTO main.events
    (uuid, event_id, timestamp, person_no, distinct_id, session_id, created_at, log_seq, person_mode, properties, s1, n1)
  SELECT uuid(), [1, 1, 2, 3, 4][1 + ${drawn(1)} % 5], happened, person, 'user-' || person, 'session-' || (i // 10), happened, i + 1, 0,
    '{"country":"' || country || '","plan":"' || plan || '","amount":' || amount || ',"$browser":"' || ${pick(2, 'Chrome', 'Safari', 'Firefox', 'Edge')}
      || '","$os":"' || ${pick(3, 'Windows', 'Mac OS X', 'Linux', 'iOS', 'Android')} || '","$current_url":"https://app.example.com/section/'
      || (${drawn(4)} % 200) || '","$lib":"web","$screen_width":1440,"is_trial":false,"items":' || (${drawn(5)} % 9) || ',"note":"' || repeat('x', 160) || '"}',
    country, amount
  FROM (
    SELECT i, TIMESTAMP '${start}' + to_microseconds((i * ${days * 86400}000000::HUGEINT // ${count})::BIGINT) AS happened,
      1 + CASE WHEN i % 2 = 0 THEN ${drawn(6)} % ${Math.ceil(people / 10)} ELSE ${drawn(7)} % ${people} END AS person,
      ${pick(8, 'DE', 'US', 'FR', 'IN', 'BR', 'JP', 'GB', 'NG')} AS country, ${pick(9, 'free', 'pro', 'enterprise')} AS plan,
      (${drawn(10)} % 10000) / 100.0 AS amount
    FROM range(${count}) t(i))`)
await connection.run(`INSERT INTO main.persons (person_no, uuid, has_record, created_at, is_identified, version, updated_at, properties)
  SELECT i, uuid(), true, TIMESTAMP '${start}', true, 1, TIMESTAMP '${start}', '{}' FROM range(1, ${people + 1}) t(i)`)
await connection.run(`INSERT INTO main.property_keys
    (scope, name, property_type, is_defined, slot, slot_ready, count_numeric, count_string, count_boolean, count_datetime, count_other)
  VALUES ('event', 'country', 'String', true, 's1', true, 0, 0, 0, 0, 0), ('event', 'amount', 'Numeric', true, 'n1', true, 0, 0, 0, 0, 0)`)

const parquet = join(directory, 'events.parquet')
await connection.run(`COPY (SELECT e.uuid::VARCHAR AS uuid, n.name AS event, e.timestamp, e.distinct_id, p.uuid::VARCHAR AS person_id, e.properties
  FROM main.events e JOIN main.event_names n USING (event_id) JOIN main.persons p USING (person_no))
  TO '${parquet}' (FORMAT parquet)`)
connection.closeSync()
filler.closeSync()

const instance = await openInstance({ dataDir: directory })
await instance.attachProject(1)
const settings: ProjectSettings = {
  id: 1,
  timezone: zone,
  weekStartDay: 0,
  testAccountFilters: [],
  personDisplayNameProperties: [],
  pathCleaningFilters: [],
}
const project: QueryProject = {
  settings,
  facts: () => instance.use((connection) => readFacts(connection, projectDatabase(1))),
  env: (facts) => queryEnv(settings, now, facts),
  ...statementRunner(instance),
}

const clickhouse = createClient({ connection: createChdbConnection({ path: ':memory:' }) as never })
await clickhouse.command({
  query: `CREATE TABLE events (uuid UUID, event String, timestamp DateTime64(6, 'UTC'), distinct_id String, person_id UUID, properties String,
      mat_country String MATERIALIZED JSONExtractString(properties, 'country'),
      mat_amount Nullable(Float64) MATERIALIZED JSONExtract(properties, 'amount', 'Nullable(Float64)'))
    ENGINE = MergeTree ORDER BY (toDate(timestamp), event, cityHash64(distinct_id), cityHash64(uuid))`,
})
await clickhouse.command({
  query: `INSERT INTO events SELECT toUUID(uuid), event, timestamp, distinct_id, toUUID(person_id), properties FROM file('${parquet}', Parquet)`,
})
interface Question {
  readonly what: string
  readonly query: object
  /** Rows of (key, number) in the order of the chart. */
  readonly clickhouse: string
}

const range = { dateRange: { date_from: '2026-01-02', date_to: '2026-03-31' } }
const local = `toDate(timestamp, '${zone}')`
const inRange = `timestamp >= toDateTime64('2026-01-02 00:00:00', 6, '${zone}') AND timestamp < toDateTime64('2026-04-01 00:00:00', 6, '${zone}')`
const node = (parts: object = {}) => [{ kind: 'EventsNode', event: '$pageview', ...parts }]
const byDay = (what: string, value: string, series: object[]): Question => ({
  what,
  query: { series, ...range },
  clickhouse: `SELECT ${local} AS k, ${value} AS n FROM events WHERE event = '$pageview' AND ${inRange} GROUP BY k ORDER BY k`,
})
const byValue = (what: string, property: string, read: string): Question => ({
  what,
  query: { series: node(), ...range, breakdownFilter: { breakdown: property, breakdown_type: 'event' } },
  clickhouse: `SELECT v AS k, sum(n) AS n FROM (SELECT ${local} AS d, ${read} AS v, count() AS n FROM events
    WHERE event = '$pageview' AND ${inRange} GROUP BY d, v) GROUP BY k ORDER BY n DESC, k`,
})
const questions: readonly Question[] = [
  byDay('count per day', 'count()', node()),
  byDay('unique people per day', 'count(DISTINCT person_id)', node({ math: 'dau' })),
  {
    what: 'weekly active people, 89 days',
    query: { series: node({ math: 'weekly_active' }), ...range },
    clickhouse: `SELECT k, count(DISTINCT person_id) AS n FROM (SELECT DISTINCT ${local} AS d, person_id FROM events
        WHERE event = '$pageview' AND timestamp >= toDateTime64('2025-12-27 00:00:00', 6, '${zone}') AND timestamp < toDateTime64('2026-04-01 00:00:00', 6, '${zone}'))
      ARRAY JOIN arrayMap(i -> d + i, range(7)) AS k WHERE k BETWEEN '2026-01-02' AND '2026-03-31' GROUP BY k ORDER BY k`,
  },
  byValue('breakdown by a property with a column', 'country', 'mat_country'),
  byValue('breakdown by a property in the text', 'plan', "JSONExtractString(properties, 'plan')"),
  byDay('sum of a number', 'sum(mat_amount)', node({ math: 'sum', math_property: 'amount' })),
]

const ours = async ({ query }: Question): Promise<number[]> => {
  const { results } = (await answerQuery({ kind: 'TrendsQuery', ...query }, project)) as TrendsResponse
  return 'breakdownFilter' in query ? results.map((row) => row.count) : results[0]!.data!
}
const theirs = async ({ clickhouse: sql }: Question): Promise<number[]> => {
  const answer = await clickhouse.query({ query: sql, format: 'JSONCompactEachRow' })
  return ((await answer.json()) as [unknown, unknown][]).map(([, n]) => Number(n))
}
const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const from = performance.now()
  await work()
  return performance.now() - from
}

for (const question of questions) {
  const [a, b] = [await ours(question), await theirs(question)]
  const isSame = a.length === b.length && a.every((n, i) => Math.abs(n - b[i]!) <= 1e-6 * Math.max(1, Math.abs(n)))
  if (!isSame) throw new Error(`${question.what}: ${a.slice(0, 5)} … (${a.length}) is not ${b.slice(0, 5)} … (${b.length})`)
  const [mine, other]: [number[], number[]] = [[], []]
  for (let i = 0; i < runs; i++) {
    mine.push(await timed(() => ours(question)))
    other.push(await timed(() => theirs(question)))
  }
  const [ms, clickhouseMs] = [median(mine), median(other)]
  console.log(
    JSON.stringify({
      bench: 'trends',
      what: question.what,
      events: count,
      zone,
      ms: rounded(ms),
      clickhouse_ms: rounded(clickhouseMs),
      ratio: rounded(ms / clickhouseMs),
      spread_ms: [rounded(Math.min(...mine)), rounded(Math.max(...mine))],
      ...machine(),
    }),
  )
}
await clickhouse.close()
await instance.close()
rmSync(directory, { recursive: true, force: true })
