import { DuckDBInstance } from '@duckdb/node-api'
import { describe, expect, test } from 'vitest'
import { type CompileOptions, compile } from '../../../src/engine/execution/compile.ts'
import type { Budgeted } from '../../../src/errors/codes.ts'
import { QueryError } from '../../../src/errors/errors.ts'
import { PlanningBudget, statementLimits } from '../../../src/language/ast/planning-budget.ts'
import { clickhouse } from '../../../src/language/dialects/clickhouse/dialect.ts'
import { duckdb } from '../../../src/language/dialects/duckdb/dialect.ts'
import { macroUses } from '../../../src/language/dialects/duckdb/planning-load.ts'
import { parseQuery } from '../../../src/language/parser/parse.ts'

const project = { id: 7, timezone: 'UTC', weekStartDay: 0 as const }
const resolve = { project, now: new Date(0), propertyType: () => null, cohort: () => ({ id: 1 }) }
const store = { hasMerges: true, eventId: () => 1, slot: () => undefined }

const compiled = (statement: string, settings: Partial<CompileOptions> = {}, budget = new PlanningBudget()) =>
  compile(parseQuery(statement, budget), { context: { ...resolve, ...store }, dialect: duckdb, planningBudget: budget, ...settings })

const list = (count: number, write: (i: number) => string, between = ', ') =>
  Array.from({ length: count }, (_, i) => write(i)).join(between)
const chain = (count: number, write: (before: string, i: number) => string, first: string) => {
  let text = first
  for (let i = 1; i <= count; i++) text = write(text, i)
  return text
}

/** Statements that grow: what they are refused for when they are large, and how large they may be at least. */
const growing: readonly {
  readonly name: string
  readonly of: (size: number) => string
  readonly refused: readonly [number, Budgeted]
  readonly passes: number
}[] = [
  { name: 'text', of: (n) => `select '${'x'.repeat(n)}'`, refused: [1_100_000, 'text'], passes: 1_000_000 },
  { name: 'a list', of: (n) => `select 1 in (${list(n, () => '1', ',')})`, refused: [150_000, 'tokens'], passes: 30_000 },
  {
    name: 'the subject of nested CASEs',
    of: (n) => `select ${chain(n, (before) => `case ${before} when 1 then 2 when 3 then 4 end`, 'event')} from events`,
    refused: [24, 'tree'],
    passes: 10,
  },
  { name: 'columns of many *', of: (n) => `select ${list(n, () => '*')} from events`, refused: [2_000, 'columns'], passes: 100 },
  {
    name: 'lambdas that use aliases of lambdas',
    of: (n) => `select [1] as a0, ${list(n, (i) => `arrayMap(x -> x + length(a${i}), a${i}) as a${i + 1}`)}, a${n}`,
    refused: [40, 'expressions'],
    passes: 4,
  },
  {
    name: 'a tuple of tuples',
    of: (n) => `select 1 as a0, ${list(n, (i) => `(a${i}, a${i}) as a${i + 1}`)}`,
    refused: [30, 'types'],
    passes: 8,
  },
  {
    name: 'aliases that double',
    of: (n) => `select 1 as a0, ${list(n, (i) => `a${i} + a${i} as a${i + 1}`)}, arrayJoin([a${n}])`,
    refused: [25, 'sql'],
    passes: 10,
  },
  {
    name: 'tables',
    of: (n) => `select 1 where ${list(n, () => '1 in (select 1 from numbers(1) a cross join numbers(1) b)', ' or ')}`,
    refused: [600, 'sources'],
    passes: 150,
  },
  {
    name: 'subqueries',
    of: (n) => `select ${list(n, () => '(select 1)')}`,
    refused: [1_001, 'selects'],
    passes: 300,
  },
  {
    name: 'tables in one FROM',
    of: (n) => `select count() from ${list(n, (i) => `events e${i}`, ' cross join ')}`,
    refused: [60, 'joins'],
    passes: 30,
  },
  {
    name: 'groupings inside each other',
    of: (n) => `select count() from ${chain(n, (before, i) => `(select count() as x${i} from ${before})`, 'events')}`,
    refused: [14, 'groupings'],
    passes: 8,
  },
  {
    name: 'windows inside each other',
    of: (n) => `select x from ${chain(n, (before) => `(select sum(x) over (order by x) as x from ${before})`, '(select 1 as x)')}`,
    refused: [17, 'levels'],
    passes: 16,
  },
  {
    name: 'correlated subqueries',
    of: (n) =>
      `select ${list(n, (i) => `exists (select 1 from events f where f.event = e.event and f.distinct_id = '${i}')`)} from events e`,
    refused: [41, 'correlated'],
    passes: 40,
  },
  {
    name: 'an alias of a correlated subquery',
    of: (n) =>
      `select exists (select 1 from events f where f.event = e.event) as a0, ${list(n, (i) => `(a${i} or not a${i}) as a${i + 1}`)} from events e`,
    refused: [10, 'correlated'],
    passes: 4,
  },
  {
    name: 'conditions above groupings',
    of: (n) =>
      `select count() from ${chain(4, (before) => `(select x from ${before} group by x)`, '(select event as x from events)')} where ${list(n, (i) => `x != '${i}'`, ' and ')}`,
    refused: [5_000, 'conditions'],
    passes: 1_000,
  },
  {
    name: 'aggregates with a condition',
    of: (n) => `select ${list(n, (i) => `countIf(event = '${i}')`)} from events`,
    refused: [201, 'aggregates'],
    passes: 199,
  },
  {
    name: 'windows',
    of: (n) => `select ${list(n, (i) => `sum(1) over (partition by concat(event, '${i}'))`)} from events`,
    refused: [101, 'windows'],
    passes: 99,
  },
  {
    name: 'lambdas inside each other',
    of: (n) => `select ${chain(n, (before, i) => `arrayMap(x${i} -> length(${before}), [1])`, '[1]')}`,
    refused: [22, 'nesting'],
    passes: 8,
  },
  {
    name: 'patterns that leave much open',
    of: (n) => `select ${list(n, (i) => `match(event, '[ab]*a[ab]{12}${i}')`)} from events`,
    refused: [65, 'patterns'],
    passes: 60,
  },
]

const refusalOf = (work: () => unknown): unknown => {
  try {
    work()
    return null
  } catch (error) {
    if (error instanceof QueryError && error.code === 'too-large') return (error.data as { budget: Budgeted }).budget
    throw error
  }
}

describe('a statement that grows without end is refused by what it is too large in', () => {
  test.each(growing)('$name', ({ of, refused: [size, budget], passes }) => {
    expect(refusalOf(() => compiled(of(passes)))).toBeNull()
    expect(refusalOf(() => compiled(of(size)))).toBe(budget)
    // The refusal comes while it grows: a statement a thousand times as large is no more work.
    const budgetSpent = new PlanningBudget()
    expect(refusalOf(() => compiled(of(size), {}, budgetSpent))).toBe(budget)
    expect(budgetSpent.spentOn('expressions')).toBeLessThan(2 * statementLimits.expressions)
  })

  test('every limit has a statement that reaches it', () => {
    const reached = new Set(growing.map(({ refused }) => refused[1]))
    expect(Object.keys(statementLimits).filter((name) => !reached.has(name as Budgeted))).toEqual([])
  })
})

test('lambdas that use aliases of lambdas are refused before they take long', () => {
  const statement = `select [1] as a0, ${list(40, (i) => `arrayMap(x -> x + length(a${i}), a${i}) as a${i + 1}`)}, a40`
  const before = process.cpuUsage().user
  expect(refusalOf(() => compiled(statement))).toBe('expressions')
  expect((process.cpuUsage().user - before) / 1e6).toBeLessThan(4)
})

test('names of WITH that each read the one before twice are computed once each', () => {
  const names = list(60, (i) => `c${i + 1} as (select count() as x from c${i} a join c${i} b on a.x = b.x)`)
  const { sql } = compiled(`with c0 as (select count() as x from events), ${names} select x from c60`).printed
  expect(sql.match(/AS MATERIALIZED/g)?.length).toBe(60)
})

describe('planning looks at the clock', () => {
  const statement = `select ${list(3000, (i) => `concat(event, '${i}')`)} from events`

  test.each(['DuckDB', 'ClickHouse'])('often, for %s', (name) => {
    let looks = 0
    const budget = new PlanningBudget(() => void looks++)
    compiled(statement, { dialect: name === 'DuckDB' ? duckdb : clickhouse }, budget)
    expect(looks).toBeGreaterThan(5)
  })

  test.each([2, 3, 5, 8])('and stops at look %i with what it says', (stopAt) => {
    let looks = 0
    const over = new QueryError('query-timeout', { seconds: 1, waited: 0, ran: 1 })
    const budget = new PlanningBudget(() => {
      if (++looks === stopAt) throw over
    })
    expect(() => compiled(statement, {}, budget)).toThrow(over)
    expect(looks).toBe(stopAt)
  })
})

test('macros of DuckDB name their arguments no more often than is counted', async () => {
  const database = await DuckDBInstance.create()
  const connection = await database.connect()
  const rows = (
    await connection.runAndReadAll(
      "select function_name, parameters, macro_definition from duckdb_functions() where function_type = 'macro' and schema_name = 'main'",
    )
  ).getRowObjects() as unknown as { function_name: string; parameters: { items: string[] }; macro_definition: string }[]
  const named = new Map<string, number>()
  for (const { function_name, parameters, macro_definition } of rows) {
    const uses = parameters.items.map((name) => macro_definition.match(new RegExp(`\\b${name}\\b`, 'g'))?.length ?? 0)
    named.set(function_name, Math.max(0, named.get(function_name) ?? 0, ...uses))
  }
  const { sql } = compiled(
    "select nullIf(event, ''), arrayStringConcat(splitByChar(',', event), ','), splitByString(',', event)[1], round(2.5), roundBankers(2.5, 1), arraySum([1]), arrayAvg([1]) from events",
  ).printed
  expect([...named].filter(([name, uses]) => uses > 1 && sql.includes(`${name}(`) && (macroUses[name] ?? 1) < uses)).toEqual([])
  expect(Object.keys(macroUses).filter((name) => !named.has(name))).toEqual([])
  connection.closeSync()
  database.closeSync()
})

test('nested nullIf stands in the SQL once for each', () => {
  const nested = (n: number) =>
    compiled(`select ${chain(n, (before, i) => `nullIf(${before}, ${i})`, 'number')} from numbers(3)`).printed.sql.length
  expect(nested(24)).toBeLessThan(3 * nested(12))
})
