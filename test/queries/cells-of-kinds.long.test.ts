import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { open, type Project, type Waymark } from '../../src/index.ts'
import { mostCells } from '../../src/queries/answers/cells.ts'
import { queryExamples } from '../../src/queries/examples.ts'
import { queryKinds } from '../../src/queries/registry.ts'

// No kind of query has an answer that grows without a bound by what is asked: either too many numbers are refused before anything is computed, or there is
// a largest answer, or the range and its intervals do not matter.

let waymark: Waymark
let project: Project
beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:', memoryLimit: '128MiB', clock: () => new Date('2026-01-06T00:00:00Z') })
  project = await waymark.createProject({ name: 'Kinds' })
  const event = (i: number, name: string, more: object = {}) => ({
    event: name,
    distinct_id: `u${Math.floor(i / 15)}`,
    timestamp: new Date(Date.UTC(2026, 0, 1) + i * 60_000).toISOString(),
    properties: {
      value: `v${i % 30}`,
      number: i,
      $current_url: `https://a.test/p${i % 20}`,
      $session_id: session(Math.floor(i / 15)),
      ...more,
    },
  })
  const batch = Array.from({ length: 600 }, (_, i) => event(i, ['$pageview', 'purchase', 'seen'][i % 3]!))
  await project.ingest({ batch })
})
afterAll(() => waymark.close())
const session = (i: number) => `019b7654-0000-7000-8000-${i.toString(16).padStart(12, '0')}`

type Body = Readonly<Record<string, unknown>>
const asked = (body: Body) => project.query(body as never)

/** Numbers, texts and nulls of an answer. */
const cellsIn = (value: unknown): number => {
  if (value === null || typeof value !== 'object') return 1
  return Object.values(value).reduce<number>((sum, one) => sum + cellsIn(one), 0)
}
const answered = async (body: Body): Promise<number> => cellsIn(((await asked(body)) as unknown as { results?: unknown }).results ?? [])

const seen = { kind: 'EventsNode', event: 'seen' }
const series = (count: number) => Array.from({ length: count }, () => seen)
/** 199,000 minutes. */
const minutes = { dateRange: { date_from: '2025-08-21', date_to: '2026-01-06' }, interval: 'minute' }
const years = { dateRange: { date_from: '1500-01-01', date_to: '2026-01-06' } }
const weeks = { dateRange: { date_from: '2025-12-01', date_to: '2026-01-06' } }
const trend = (more: Body): Body => ({ kind: 'TrendsQuery', ...minutes, series: series(1), ...more })
const byValue = { breakdownFilter: { breakdown: 'value', breakdown_type: 'event', breakdown_limit: 1000 } }
const funnel = (more: Body): Body => ({ kind: 'FunnelsQuery', series: [{ kind: 'EventsNode', event: '$pageview' }, seen], ...more })

interface Bounds {
  /** Refused, by the numbers that it would have. */
  readonly refused?: Readonly<Record<string, Body>>
  /** The largest answers, and what they have at most. */
  readonly largest?: Readonly<Record<string, readonly [Body, number]>>
  /** The answer has what the data have: the same for a long range as for a short one. */
  readonly ofData?: (range: Body) => Body
}

const list = (kind: keyof typeof queryExamples) => (range: Body) => ({ ...queryExamples[kind], ...range }) as Body
/** Not of a range: rows, names and suggestions, up to the limits of lists. */
const plain = (kind: keyof typeof queryExamples) => () => queryExamples[kind] as unknown as Body

const kinds: Readonly<Record<string, Bounds>> = {
  TrendsQuery: {
    refused: {
      values: trend(byValue),
      series: trend({ series: series(20) }),
      'a comparison': trend({ series: series(7), compareFilter: { compare: true } }),
      boxes: trend({ series: series(3).map((one) => ({ ...one, math_property: 'number' })), trendsFilter: { display: 'BoxPlot' } }),
    },
    largest: {
      'a calendar heat map': [trend({ trendsFilter: { display: 'CalendarHeatmap' } }), 1_000],
      'a calendar heat map of many years': [{ ...trend({ trendsFilter: { display: 'CalendarHeatmap' } }), ...years }, mostCells],
      'heat maps of many years': [{ ...trend({ series: series(20), trendsFilter: { display: 'CalendarHeatmap' } }), ...years }, 20_000],
      'one number': [trend({ trendsFilter: { display: 'BoldNumber' } }), 1_000],
      'a table of values': [trend({ ...byValue, trendsFilter: { display: 'ActionsTable' } }), 10_000],
      'a table of values of many years': [{ ...trend({ ...byValue, trendsFilter: { display: 'ActionsTable' } }), ...years }, mostCells],
      'a table of many values of many years': [
        {
          ...trend({ breakdownFilter: { ...byValue.breakdownFilter, breakdown: 'number' }, trendsFilter: { display: 'ActionsTable' } }),
          ...years,
        },
        20_000,
      ],
      'a slope': [
        trend({
          ...byValue,
          dateRange: { date_from: '2025-12-31', date_to: '2026-01-01' },
          interval: 'day',
          trendsFilter: { display: 'SlopeGraph' },
        }),
        5_000,
      ],
    },
  },
  FunnelsQuery: {
    refused: { 'values over time': funnel({ ...minutes, ...byValue, funnelsFilter: { funnelVizType: 'trends' } }) },
    largest: {
      'time to convert': [funnel({ ...minutes, funnelsFilter: { funnelVizType: 'time_to_convert', binCount: 90 } }), 200],
      'time to convert in many years': [funnel({ ...years, funnelsFilter: { funnelVizType: 'time_to_convert' } }), 200],
      'steps by value': [funnel({ ...minutes, ...byValue }), 5_000],
    },
  },
  LifecycleQuery: { largest: { minutes: [{ kind: 'LifecycleQuery', series: series(1), ...minutes }, mostCells] } },
  StickinessQuery: {
    refused: {
      series: { kind: 'StickinessQuery', series: series(20), ...minutes },
      'a comparison': { kind: 'StickinessQuery', series: series(7), compareFilter: { compare: true }, ...minutes },
      cumulative: { kind: 'StickinessQuery', series: series(20), stickinessFilter: { computedAs: 'cumulative' }, ...minutes },
      'several intervals together': { kind: 'StickinessQuery', series: series(40), intervalCount: 2, ...minutes },
    },
    largest: { 'a series': [{ kind: 'StickinessQuery', series: series(1), ...minutes }, mostCells] },
  },
  RetentionQuery: {
    refused: {
      values: {
        kind: 'RetentionQuery',
        ...weeks,
        retentionFilter: { period: 'Day', totalIntervals: 400 },
        ...byValue,
      },
    },
  },
  PathsQuery: {
    largest: {
      'many edges': [{ kind: 'PathsQuery', ...years, pathsFilter: { stepLimit: 100, edgeLimit: 10_000 } }, 10_000 * 10],
    },
    ofData: (range) => ({ kind: 'PathsQuery', ...range }),
  },
  FunnelCorrelationQuery: {
    ofData: (range) => ({ ...queryExamples.FunnelCorrelationQuery, source: { kind: 'FunnelsActorsQuery', source: funnel(range) } }),
  },
  WebOverviewQuery: { ofData: list('WebOverviewQuery') },
  WebStatsTableQuery: { ofData: list('WebStatsTableQuery') },
  WebGoalsQuery: { ofData: list('WebGoalsQuery') },
  WebExternalClicksTableQuery: { ofData: list('WebExternalClicksTableQuery') },
  WebVitalsPathBreakdownQuery: { ofData: list('WebVitalsPathBreakdownQuery') },
  WebPageURLSearchQuery: { ofData: list('WebPageURLSearchQuery') },
  ...Object.fromEntries(
    (
      [
        'SqlLikeQuery',
        'HogQLQuery',
        'HogQLMetadata',
        'HogQLAutocomplete',
        'DatabaseSchemaQuery',
        'TeamTaxonomyQuery',
        'EventTaxonomyQuery',
        'ActorsPropertyTaxonomyQuery',
        'EventsQuery',
        'ActorsQuery',
        'InsightActorsQueryOptions',
      ] as const
    ).map((kind): [string, Bounds] => [kind, { ofData: plain(kind) }]),
  ),
}

test('every kind is in the table', () => {
  expect(Object.keys(kinds).sort()).toEqual(Object.keys(queryKinds).sort())
  for (const [kind, bounds] of Object.entries(kinds)) expect(Object.keys(bounds).length, kind).toBeGreaterThan(0)
})

const each = <T>(of: (bounds: Bounds) => Readonly<Record<string, T>> | undefined) =>
  Object.entries(kinds).flatMap(([kind, bounds]) => Object.entries(of(bounds) ?? {}).map(([name, value]) => [kind, name, value] as const))

describe('too many numbers are refused', () => {
  test.each(each(({ refused }) => refused))('%s: %s', async (_, _name, body) => {
    for (const modifiers of [{}, { modifiers: { road: 'sql' } }]) {
      const error = await asked({ ...body, ...modifiers }).catch((found: unknown) => found)
      expect(error).toMatchObject({ code: 'validation-failed' })
      expect(String(error)).toMatch(/would have [\d,]+ numbers \(.+\); the limit is 2,500,000\. Choose a longer interval/)
    }
  })
})

describe('there is a largest answer', () => {
  test.each(each(({ largest }) => largest))('%s: %s', async (_, _name, [body, most]) => {
    expect(most).toBeLessThanOrEqual(mostCells)
    const found = await answered(body)
    expect(found).toBeGreaterThan(0)
    expect(found).toBeLessThanOrEqual(most)
  })
})

describe('the range does not matter', () => {
  test.each(Object.entries(kinds).flatMap(([kind, { ofData }]) => (ofData ? [[kind, ofData] as const] : [])))('%s', async (_, of) => {
    const short = await answered(of({ dateRange: { date_from: '2026-01-01', date_to: '2026-01-06' } }))
    expect(await answered(of(years))).toBeLessThanOrEqual(short * 1.1 + 20)
  })
})
