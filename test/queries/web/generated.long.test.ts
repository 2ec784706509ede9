import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answerQuery } from '../../../src/engine/execution/answer.ts'
import { isObject } from '../../../src/lib/is-object.ts'
import type { WebOverviewAnswer } from '../../../src/queries/web/overview.ts'
import type { WebTableAnswer } from '../../../src/queries/web/stats-table.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'
import { type ClickHouse, hasClickHouse, openClickHouse } from '../../harness/clickhouse.ts'
import { answerOnClickHouse } from '../../harness/clickhouse-answer.ts'
import { type TestProject, withoutLists } from '../../harness/duckdb.ts'
import { projectPool } from '../../harness/projects.ts'
import { afterMerges, mergesArb } from '../../reference/trends-cases.ts'
import {
  type ReferenceTable,
  type ReferenceWeb,
  referenceClicks,
  referenceGoals,
  referenceOverview,
  referenceTable,
  referenceViews,
  referenceVitals,
} from '../../reference/web.ts'
import {
  asOther,
  asTrendOfViews,
  asWeb,
  goalActions,
  goalNames,
  overviewArb,
  pathRules,
  tableArb,
  thresholds,
  visitBreakdowns,
  visitFilters,
  webAxes,
  webEventsArb,
} from '../../reference/web-cases.ts'

// Overviews and tables over generated sessions equal loops over the events, on both engines.

const pool = projectPool(new Date('2020-06-01T00:00:00Z'))
let clickhouse: ClickHouse
beforeAll(async () => {
  clickhouse = await openClickHouse()
})
afterAll(async () => {
  await pool.close()
  await clickhouse.close()
})

const runs = Number(process.env.WAYMARK_RUNS ?? 40)
const overviewsArb = fc.array(overviewArb, { minLength: 1, maxLength: 3, size: 'max' })
const tablesArb = fc.array(tableArb, { minLength: 1, maxLength: 4, size: 'max' })
type Query = ReferenceWeb | ReferenceTable
type Events = Parameters<typeof referenceOverview>[0]

/** Sums of fractions differ in their last digits, by the order of the sum. */
const rounded = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(rounded)
  if (typeof value === 'number') return Number(value.toFixed(9))
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, rounded(one)])) : value
}

const withRules = (project: TestProject): TestProject => ({
  ...project,
  settings: { ...project.settings, pathCleaningFilters: pathRules },
})

function right(events: Events, query: Query): unknown {
  return rounded('breakdown' in query ? referenceTable(events, query) : Object.entries(referenceOverview(events, query)))
}

function given(answer: object, query: Query): unknown {
  if (!('breakdown' in query))
    return rounded((answer as WebOverviewAnswer).results.map(({ key, value, previous }) => [key, [value, previous]]))
  const { columns, results, hasMore } = answer as WebTableAnswer
  expect(hasMore).toBe(false)
  expect(results.every((row) => row.length === columns.length)).toBe(true)
  const pairs = columns.filter((name) => !/ui_fill_fraction|cross_sell/.test(name)).length
  return rounded(results.map((row) => row.slice(0, pairs)))
}

const exact = (value: unknown) => rounded(JSON.parse(JSON.stringify(value)))

const met = new Map<string, number>()

test.each([
  ['overviews', overviewsArb],
  ['tables', tablesArb],
] as readonly (readonly [string, fc.Arbitrary<Query[]>])[])('%s answer what loops over the events answer', async (_, queriesArb) => {
  await assertGenerated(
    fc.asyncProperty(webEventsArb, mergesArb, queriesArb, async (events, merges, queries) => {
      for (const query of queries) {
        const project = withRules(await pool.filled(query, events, { merges }))
        const wanted = right(afterMerges(events, merges), query)
        expect(given(await answerQuery(asWeb(query), project), query)).toEqual(wanted)
        if (!('breakdown' in query)) expect(given(await answerQuery(asWeb(query), withoutLists(project)), query)).toEqual(wanted)
        for (const value of new Set(webAxes(query))) met.set(value, (met.get(value) ?? 0) + 1)
      }
    }),
    { numRuns: runs },
  )
})

const others = {
  WebGoalsQuery: (events: Events, query: ReferenceWeb) => referenceGoals(events, query, goalNames),
  WebExternalClicksTableQuery: referenceClicks,
  WebVitalsPathBreakdownQuery: (events: Events, query: ReferenceWeb) => [referenceVitals(events, query, thresholds)],
} as const
const kinds = Object.keys(others) as (keyof typeof others)[]
// A vital is an event of its own, whatever its session.
const askedOf = (kind: keyof typeof others, query: ReferenceWeb) =>
  kind === 'WebVitalsPathBreakdownQuery' ? { ...query, visit: undefined } : query

test.each(kinds)('a %s answers what loops over the events answer', async (kind) => {
  await assertGenerated(
    fc.asyncProperty(webEventsArb, mergesArb, overviewsArb, async (events, merges, queries) => {
      for (const drawn of queries) {
        const query = askedOf(kind, drawn)
        const project = withRules(await pool.filled(query, events, { merges, actions: goalActions }))
        const { results } = (await answerQuery(asOther(kind, query), project)) as { results: unknown }
        const wanted = exact(others[kind](afterMerges(events, merges), query))
        expect(exact(results)).toEqual(wanted)
        if (/[1-9]/.test(JSON.stringify(wanted))) met.set(kind, (met.get(kind) ?? 0) + 1)
      }
    }),
    { numRuns: 3 * runs }, // few have a value at all
  )
})

test.each(visitBreakdowns)('visits by %s, with and without session ids, on both engines', async (breakdown) => {
  await assertGenerated(
    fc.asyncProperty(webEventsArb, mergesArb, tableArb, async (events, merges, drawn) => {
      const query = { ...drawn, breakdown, cleans: false }
      const project = await pool.filled(query, events, { merges })
      const wanted = right(afterMerges(events, merges), query)
      expect(given(await answerQuery(asWeb(query), project), query)).toEqual(wanted)
      if (!hasClickHouse) return
      await clickhouse.load(project)
      expect(given(await answerOnClickHouse(clickhouse, asWeb(query), project), query)).toEqual(wanted)
    }),
    { numRuns: Math.ceil(runs / 2) },
  )
})

test('a trend filtered by the sessions of events without an id, on both engines', async () => {
  await assertGenerated(
    fc.asyncProperty(webEventsArb, mergesArb, overviewArb, fc.constantFrom(...visitFilters), async (all, merges, drawn, visit) => {
      const events = all.map((event) => ({ ...event, session: '' }))
      const query = { ...drawn, visit, sample: undefined, cleans: false }
      const project = await pool.filled(query, events, { merges })
      const numberOf = (answer: object) => (answer as { results: { aggregated_value: number }[] }).results[0]!.aggregated_value
      const wanted = referenceViews(afterMerges(events, merges), query)
      expect(numberOf(await answerQuery(asTrendOfViews(query), project))).toBe(wanted)
      if (!hasClickHouse) return
      await clickhouse.load(project)
      expect(numberOf(await answerOnClickHouse(clickhouse, asTrendOfViews(query), project))).toBe(wanted)
    }),
    { numRuns: 2 * runs },
  )
})

test('the queries met the values of all axes', () => {
  const all = [...new Set(fc.sample(tableArb, { numRuns: 2_000, seed: 1 }).flatMap(webAxes))].sort()
  console.log(all.map((value) => `${value} ${met.get(value) ?? 0}`).join(', '))
  for (const kind of kinds) expect(met.get(kind) ?? 0, kind).toBeGreaterThan(0)
  expect(all.length).toBe(40)
  if (runs >= 40) expect(all.filter((value) => met.has(value)).length).toBeGreaterThan(all.length * 0.75)
})

test.skipIf(!hasClickHouse)('and so does ClickHouse', async () => {
  const all: fc.Arbitrary<Query[]> = fc.tuple(overviewsArb, tablesArb).map(([one, other]) => [...one, ...other])
  await assertGenerated(
    fc.asyncProperty(webEventsArb, mergesArb, all, async (events, merges, [first, ...further]) => {
      const project = await pool.filled(first!, events, { merges, actions: goalActions })
      await clickhouse.load(project)
      for (const drawn of [first!, ...further]) {
        // One load serves all queries, so they share a zone.
        const query = { ...drawn, zone: first!.zone, weekStartDay: first!.weekStartDay, cleans: false }
        const answer = await answerOnClickHouse(clickhouse, asWeb(query), project)
        expect(given(answer, query)).toEqual(right(afterMerges(events, merges), query))
        if ('breakdown' in query) continue
        for (const kind of kinds) {
          const asked = askedOf(kind, query)
          const { results } = (await answerOnClickHouse(clickhouse, asOther(kind, asked), project)) as { results: unknown }
          expect(exact(results)).toEqual(exact(others[kind](afterMerges(events, merges), asked)))
        }
      }
    }),
    { numRuns: Math.ceil(runs / 4) },
  )
})
