import { parseArgs } from 'node:util'
import { compile } from '../src/engine/execution/compile.ts'
import { print } from '../src/language/ast/print.ts'
import { clickhouse } from '../src/language/dialects/clickhouse/dialect.ts'
import { duckdb } from '../src/language/dialects/duckdb/dialect.ts'
import { parseQuery } from '../src/language/parser/parse.ts'
import { machine, median, rounded } from './measure.ts'

// How long does a statement take from text to tree, and from text to an engine's SQL, warm?

const { values } = parseArgs({ options: { runs: { type: 'string', default: '2000' }, events: { type: 'string' } } })
const runs = Number(values.runs)

const branches = Array.from(
  { length: 8 },
  (_, i) => `    countIf(event = 'step ${i}' and e.properties.plan in ('a', 'b', 'c')) as step_${i},`,
)
const statements = {
  simple: "select event, count() from events where event = '$pageview' and timestamp > now() - interval 7 day group by event limit 10",
  thirtyLines: `
with visits as (
  select e.person_id as person_id, toStartOfDay(timestamp) as day,
${branches.join('\n')}
    argMax(e.properties.$current_url, timestamp) as last_url
  from events e
  left join persons p on e.person_id = p.id
  where timestamp between toDateTime('2024-01-01') and now()
    and e.person.properties.email not ilike '%@example.com'
    and (e.properties.$browser =~* 'chrome|safari' or e.properties.$os is not null)
  group by person_id, day
  having step_0 > 0
)
select
  day,
  case when step_1 > 10 then 'many' when step_1 > 0 then 'some' else 'none' end as class,
  count(distinct person_id) as people,
  quantile(0.9)(step_2 / (step_3 ?? 1)) as p90,
  sum(people) over (partition by class order by day rows between 6 preceding and current row) as rolling,
  arrayMap(x -> x * 2 + 1, groupArray(step_4))[1] as first,
  f'{class}: {people}' as label
from visits
group by day, class
order by day desc, people desc
limit 100 offset 10`,
}

const repeated = (count: number, write: (i: number) => string, between: string) =>
  Array.from({ length: count }, (_, i) => write(i)).join(between)
/** Asked a hundredth as often. */
const large = {
  '1,000 columns with aliases that others use': `select ${repeated(1000, (i) => (i % 10 ? `a${i - 1} + 1 as a${i}` : `${i} as a${i}`), ', ')}`,
  'IN of 10,000 texts': `select count() from events where event in (${repeated(10_000, (i) => `'e${i}'`, ', ')})`,
  'CASE of 10,000 branches': `select case ${repeated(10_000, (i) => `when event = 'e${i}' then ${i}`, ' ')} end from events`,
  'AND of 10,000 conditions': `select count() from events where ${repeated(10_000, (i) => `event != 'e${i}'`, ' and ')}`,
}

const context = {
  project: { id: 1, timezone: 'America/New_York', weekStartDay: 1 as const },
  now: new Date('2024-06-01T12:00:00Z'),
  propertyType: () => null,
  cohort: () => undefined,
  hasMerges: true,
  eventId: (name: string) => name.length,
  slot: () => undefined,
}

const ways: Readonly<Record<string, (statement: string) => unknown>> = {
  parse: parseQuery,
  'parse, resolve, plan and print for DuckDB': (statement) => compile(parseQuery(statement), { context, dialect: duckdb }),
  'parse, resolve, plan and print for ClickHouse': (statement) => compile(parseQuery(statement), { context, dialect: clickhouse }),
}

const asked = [
  ...Object.entries(statements).map(([name, statement]) => ({ name, statement, times: runs })),
  ...Object.entries(large).map(([name, statement]) => ({ name, statement, times: Math.max(8, Math.ceil(runs / 100)) })),
]

for (const { name, statement, times: count } of asked) {
  // Printed, a large one has more tokens than a statement may have.
  const printed = name in large ? statement : print(parseQuery(statement))
  if (!(name in large) && print(parseQuery(printed)) !== printed) throw new Error(`${name} does not come back from its text`)
  for (const [way, work] of Object.entries(ways)) {
    const times: number[] = []
    for (let i = 0; i < count; i++) {
      const start = performance.now()
      work(statement)
      times.push(performance.now() - start)
    }
    const warm = times.slice(Math.floor(count / 4)).sort((a, b) => a - b)
    console.log(
      JSON.stringify({
        bench: 'compile',
        what: `${way}, ${name}`,
        lines: statement.trim().split('\n').length,
        median_ms: rounded(median(warm)),
        p95_ms: rounded(warm[Math.floor(warm.length * 0.95)]!),
        ...machine(),
      }),
    )
  }
}
