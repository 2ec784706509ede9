import { parseArgs } from 'node:util'
import { answerQuery } from '../src/engine/execution/answer.ts'
import type { TrendsResponse } from '../src/queries/trends/index.ts'
import { machine, median, rounded } from './measure.ts'
import { clickHouseNumbers, fillBenchStore, openBenchClickHouse, openBenchProject } from './store.ts'

// How long does a chart take on five million events, beside ClickHouse with the same events in the same process? ClickHouse's table is ordered
// as product analytics orders events there, and has a column for the property; its statements are the plainest exact ones. Both answers are
// compared before anything is timed.

const { values } = parseArgs({ options: { events: { type: 'string', default: '5000000' }, runs: { type: 'string', default: '5' } } })
const count = Number(values.events)
const runs = Number(values.runs)
const zone = 'America/New_York' // its clocks change on 8 March, inside the range

const store = await fillBenchStore(count)
const { project, close } = await openBenchProject(store.directory, zone)
const clickhouse = await openBenchClickHouse(store.directory)

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
const theirs = ({ clickhouse: sql }: Question): Promise<number[]> => clickHouseNumbers(clickhouse, sql)
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
await close()
store.remove()
