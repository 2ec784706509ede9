import { z } from 'zod'
import { queryExamples } from '../../../src/queries/examples.ts'
import { queryKinds } from '../../../src/queries/registry.ts'
import type { HttpInput, Probe } from '../probe.ts'
import { growths, growthsOf, type Place, placesOf, type Schema, withValue } from './json-growth.ts'
import { fill } from './shapes.ts'

// Every kind of query: by its schema, place for place, and by what its schema leaves open (filters, formulas, groups in groups).

/** A kind without one is named by a test. */
export const examples: Readonly<Record<string, Readonly<Record<string, unknown>>>> = queryExamples

export const schemaOf = (kind: string): Schema =>
  z.toJSONSchema(queryKinds[kind]!.schema, { io: 'input', unrepresentable: 'any', target: 'draft-2020-12' }) as Schema

const asked = (query: unknown): HttpInput => {
  const body = JSON.stringify({ query, refresh: 'force_blocking' })
  return {
    to: 'server',
    method: 'POST',
    path: '/api/projects/1/query/',
    headers: { 'content-type': 'application/json' },
    body,
    bytes: body.length,
    as: 'key',
  }
}

const mostBody = 9 * 1024 * 1024
const placeProbe = (kind: string, place: Place, growth: string): Probe => {
  const base = examples[kind]!
  const at = place.path.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key as string], base)
  return {
    name: `query ${kind} ${place.path.join('.') || 'whole'}: ${growth}`,
    door: 'ask',
    grows: 'input',
    from: 2_048,
    most: mostBody,
    step: 8,
    make: (size) => asked(withValue(base, place.path, growths[growth]!.grow(size, at))),
  }
}

const times = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i))
const event = (i = 0) => ({ kind: 'EventsNode', event: i % 2 ? 'purchase' : '$pageview' })
const condition = (i = 0) => ({ type: 'event', key: `p${i}`, operator: 'exact', value: ['a'] })
const nestedGroups = (depth: number, width: number): object => {
  let inner: object = { type: 'AND', values: [condition()] }
  for (let i = 0; i < depth; i++) inner = { type: i % 2 ? 'AND' : 'OR', values: times(width, () => inner) }
  return inner
}
const trend = (fields: object) => ({ ...examples.TrendsQuery, ...fields })
const funnel = (fields: object) => ({ ...examples.FunnelsQuery, ...fields })

interface Rule {
  readonly grows?: Probe['grows']
  readonly from: number
  readonly most: number
  readonly query: (parts: number) => object
}
const wide = { from: 4, most: 8_192 } as const

/** What anybody may give any number of, filters of each type and operator among them. */
const table: Readonly<Record<string, Rule>> = {
  'series of a trend': { ...wide, query: (n) => trend({ series: times(n, event) }) },
  'series with a math each': {
    ...wide,
    query: (n) =>
      trend({
        series: times(n, (i) => ({
          ...event(i),
          math: ['dau', 'weekly_active', 'avg', 'p90', 'first_time_for_user'][i % 5],
          math_property: 'price',
        })),
      }),
  },
  'series with filters each': {
    from: 4,
    most: 512,
    query: (n) => trend({ series: times(n, (i) => ({ ...event(i), properties: times(n, condition) })) }),
  },
  'series broken down': {
    ...wide,
    most: 1_024,
    query: (n) => trend({ series: times(n, event), breakdownFilter: { breakdown: '$browser', breakdown_type: 'event' } }),
  },
  formulas: { ...wide, query: (n) => trend({ trendsFilter: { formulas: times(n, () => 'A + A') } }) },
  'formulas over series': {
    from: 4,
    most: 512,
    query: (n) => trend({ series: times(n, event), trendsFilter: { formulas: times(n, () => 'A + B') } }),
  },
  'a long formula': { from: 64, most: 4_000_000, query: (n) => trend({ trendsFilter: { formula: `${fill('A+', n)}A` } }) },
  'a deep formula': { from: 64, most: 1_000_000, query: (n) => trend({ trendsFilter: { formula: `${'('.repeat(n)}A${')'.repeat(n)}` } }) },
  'a formula of powers': { from: 64, most: 1_000_000, query: (n) => trend({ trendsFilter: { formula: `${fill('A^', n)}A` } }) },
  'a formula of blanks': { from: 1_024, most: 4_000_000, query: (n) => trend({ trendsFilter: { formula: `A${fill(' ', n)}+ A` } }) },
  'a formula of letters': { from: 64, most: 4_000_000, query: (n) => trend({ trendsFilter: { formula: fill('A', n) } }) },
  'a long smoothing': { grows: 'data', from: 4, most: 1e9, query: (n) => trend({ trendsFilter: { smoothingIntervals: n } }) },
  'buckets of a trend': {
    grows: 'data',
    from: 4,
    most: 4_000_000,
    query: (n) => trend({ interval: 'minute', dateRange: { date_from: `-${n}M` } }),
  },
  'days of a trend': {
    grows: 'data',
    from: 4,
    most: 4_000_000,
    query: (n) => trend({ interval: 'day', dateRange: { date_from: `-${n}d` } }),
  },
  'days of a trend broken down': {
    grows: 'data',
    from: 4,
    most: 400_000,
    query: (n) =>
      trend({
        dateRange: { date_from: `-${n}d` },
        breakdownFilter: { breakdown: 'distinct_id', breakdown_type: 'event_metadata', breakdown_limit: 100_000 },
      }),
  },
  'days of active users': {
    grows: 'data',
    from: 4,
    most: 400_000,
    query: (n) => trend({ series: [{ ...event(), math: 'monthly_active' }], dateRange: { date_from: `-${n}d` } }),
  },
  'days of a lifecycle': {
    grows: 'data',
    from: 4,
    most: 400_000,
    query: (n) => ({ ...examples.LifecycleQuery, dateRange: { date_from: `-${n}d` } }),
  },
  'days of a stickiness': {
    grows: 'data',
    from: 4,
    most: 200_000,
    query: (n) => ({ ...examples.StickinessQuery, dateRange: { date_from: `-${n}d` } }),
  },
  'intervals of a retention': {
    grows: 'data',
    from: 4,
    most: 1_000,
    query: (n) => ({ ...examples.RetentionQuery, dateRange: { date_from: '-7d' }, retentionFilter: { totalIntervals: n } }),
  },
  'steps of paths': {
    grows: 'data',
    from: 2,
    most: 100,
    query: (n) => ({ ...examples.PathsQuery, pathsFilter: { stepLimit: n } }),
  },
  'days of a funnel': {
    grows: 'data',
    from: 4,
    most: 400_000,
    query: (n) => funnel({ dateRange: { date_from: `-${n}d` }, funnelsFilter: { funnelVizType: 'trends' } }),
  },
  'bins of a funnel': {
    grows: 'data',
    from: 4,
    most: 100_000_000,
    query: (n) => funnel({ funnelsFilter: { funnelVizType: 'time_to_convert', binCount: n } }),
  },
  'bins of a histogram': {
    grows: 'data',
    from: 4,
    most: 10_000,
    query: (n) =>
      trend({ breakdownFilter: { breakdowns: times(3, () => ({ property: 'price', type: 'event', histogram_bin_count: n })) } }),
  },
  'cohorts of a breakdown': {
    ...wide,
    query: (n) => trend({ breakdownFilter: { breakdown_type: 'cohort', breakdown: times(n, () => 1) } }),
  },
  'a limit of breakdowns': {
    grows: 'data',
    from: 4,
    most: 1e9,
    query: (n) => trend({ breakdownFilter: { breakdown: 'distinct_id', breakdown_type: 'event_metadata', breakdown_limit: n } }),
  },
  'steps of a funnel': { from: 2, most: 128, query: (n) => funnel({ series: times(n, event) }) },
  'steps of an unordered funnel': {
    from: 2,
    most: 128,
    query: (n) => funnel({ series: times(n, event), funnelsFilter: { funnelOrderType: 'unordered' } }),
  },
  'steps of a strict funnel broken down': {
    from: 2,
    most: 128,
    query: (n) =>
      funnel({
        series: times(n, event),
        funnelsFilter: { funnelOrderType: 'strict', breakdownAttributionType: 'all_events' },
        breakdownFilter: { breakdown: '$browser' },
      }),
  },
  'exclusions of a funnel': {
    ...wide,
    query: (n) =>
      funnel({
        funnelsFilter: { exclusions: times(n, (i) => ({ kind: 'EventsNode', event: `x${i}`, funnelFromStep: 0, funnelToStep: 1 })) },
      }),
  },
  'exclusions with filters each': {
    from: 4,
    most: 512,
    query: (n) =>
      funnel({
        funnelsFilter: {
          exclusions: times(n, (i) => ({
            kind: 'EventsNode',
            event: `x${i}`,
            properties: times(n, condition),
            funnelFromStep: 0,
            funnelToStep: 1,
          })),
        },
      }),
  },
  'a window of a funnel': {
    grows: 'data',
    from: 4,
    most: 1e12,
    query: (n) => funnel({ funnelsFilter: { funnelWindowInterval: n, funnelWindowIntervalUnit: 'second' } }),
  },
  'an expression that a funnel is counted by': {
    from: 64,
    most: 200_000,
    query: (n) => funnel({ funnelsFilter: { funnelAggregateByHogQL: `concat(${times(n / 4, () => 'event').join(',')})` } }),
  },
  filters: { ...wide, most: 40_000, query: (n) => trend({ properties: times(n, condition) }) },
  'filters of people': { ...wide, query: (n) => trend({ properties: times(n, (i) => ({ ...condition(i), type: 'person' })) }) },
  'filters of groups': {
    ...wide,
    query: (n) => trend({ properties: times(n, (i) => ({ ...condition(i), type: 'group', group_type_index: i % 5 })) }),
  },
  'filters of sessions': {
    from: 4,
    most: 1_024,
    query: (n) => trend({ properties: times(n, () => ({ type: 'session', key: '$session_duration', operator: 'gt', value: 1 })) }),
  },
  'filters of cohorts': { ...wide, query: (n) => trend({ properties: times(n, () => ({ type: 'cohort', key: 'id', value: 1 })) }) },
  'filters of elements': {
    ...wide,
    query: (n) => trend({ properties: times(n, (i) => ({ type: 'element', key: 'selector', operator: 'exact', value: [`a.c${i} > b`] })) }),
  },
  'filters that are expressions': {
    ...wide,
    query: (n) => trend({ properties: times(n, () => ({ type: 'hogql', key: "event != 'x'" })) }),
  },
  'filters by date': {
    ...wide,
    query: (n) => trend({ properties: times(n, () => ({ type: 'event', key: 'd', operator: 'is_date_before', value: '-7d' })) }),
  },
  'filters by version': {
    ...wide,
    query: (n) => trend({ properties: times(n, () => ({ type: 'event', key: 'v', operator: 'semver_gt', value: '1.2.3' })) }),
  },
  'filters by pattern': {
    ...wide,
    query: (n) => trend({ properties: times(n, (i) => ({ type: 'event', key: 'v', operator: 'regex', value: `(a|b)*${i}` })) }),
  },
  'values of a filter': {
    ...wide,
    most: 400_000,
    query: (n) => trend({ properties: [{ ...condition(), value: times(n, (i) => `v${i}`) }] }),
  },
  'values that a filter contains': {
    ...wide,
    most: 40_000,
    query: (n) => trend({ properties: [{ ...condition(), operator: 'icontains', value: times(n, (i) => `v${i}`) }] }),
  },
  'values that a filter does not contain': {
    ...wide,
    most: 40_000,
    query: (n) => trend({ properties: [{ ...condition(), operator: 'not_icontains', value: times(n, (i) => `v${i}`) }] }),
  },
  'a long value of a filter': {
    from: 1_024,
    most: 8_000_000,
    query: (n) => trend({ properties: [{ ...condition(), operator: 'icontains', value: fill('abc', n) }] }),
  },
  'a long version': {
    from: 1_024,
    most: 4_000_000,
    query: (n) => trend({ properties: [{ ...condition(), operator: 'semver_gt', value: fill('1.', n) }] }),
  },
  'a long pattern of a filter': {
    from: 1_024,
    most: 1_000_000,
    query: (n) => trend({ properties: [{ ...condition(), operator: 'regex', value: fill('(a|b)*', n) }] }),
  },
  'a long selector': {
    from: 1_024,
    most: 1_000_000,
    query: (n) => trend({ properties: [{ type: 'element', key: 'selector', operator: 'exact', value: [fill('a.b > ', n)] }] }),
  },
  'a selector of brackets': {
    from: 1_024,
    most: 1_000_000,
    query: (n) => trend({ properties: [{ type: 'element', key: 'selector', operator: 'exact', value: [`a${fill('[b="', n)}`] }] }),
  },
  'groups of filters in groups': { from: 2, most: 2_000, query: (n) => trend({ properties: nestedGroups(n, 1) }) },
  'groups of filters side by side': {
    ...wide,
    query: (n) => trend({ properties: { type: 'AND', values: times(n, (i) => ({ type: 'OR', values: [condition(i)] })) } }),
  },
  'groups in pairs': { from: 2, most: 14, query: (n) => trend({ properties: nestedGroups(n, 2) }) },
  'columns of events': { ...wide, query: (n) => ({ ...examples.EventsQuery, select: times(n, (i) => `properties.p${i}`) }) },
  'conditions of events': { ...wide, query: (n) => ({ ...examples.EventsQuery, where: times(n, (i) => `event != 'e${i}'`) }) },
  'orders of events': { ...wide, query: (n) => ({ ...examples.EventsQuery, orderBy: times(n, (i) => `properties.p${i}`) }) },
  'names of events': { ...wide, most: 100_000, query: (n) => ({ ...examples.EventsQuery, events: times(n, (i) => `e${i}`) }) },
  'steps of an action of events': {
    ...wide,
    query: (n) => ({ ...examples.EventsQuery, actionSteps: times(n, (i) => ({ event: `e${i}`, url: '/x', url_matching: 'regex' })) }),
  },
  'stars of events': { from: 2, most: 512, query: (n) => ({ ...examples.EventsQuery, select: times(n, () => '*') }) },
  'an offset of events': { grows: 'data', from: 4, most: 1e12, query: (n) => ({ ...examples.EventsQuery, offset: n }) },
  'columns of actors': { ...wide, query: (n) => ({ ...examples.ActorsQuery, select: times(n, (i) => `properties.p${i}`) }) },
  'a search of actors': { from: 64, most: 4_000_000, query: (n) => ({ ...examples.ActorsQuery, search: fill('a%', n) }) },
  'sources in sources': {
    from: 2,
    most: 1_000,
    query: (n) => {
      let source: object = examples.TrendsQuery!
      for (let i = 0; i < n; i++) source = { kind: 'ActorsQuery', source: { kind: 'InsightActorsQuery', source } }
      return source
    },
  },
  wrappers: {
    from: 2,
    most: 100_000,
    query: (n) => {
      let source: object = examples.TrendsQuery!
      for (let i = 0; i < Math.min(n, 4_000); i++) source = { kind: 'InsightVizNode', source }
      return source
    },
  },
  'a long date': { from: 64, most: 4_000_000, query: (n) => trend({ dateRange: { date_from: `-${fill('1', n)}d` } }) },
  'a date of blanks': { from: 64, most: 4_000_000, query: (n) => trend({ dateRange: { date_from: `2024-01-01${fill(' ', n)}x` } }) },
}

export function* queryProbes(draw: () => number): Generator<Probe> {
  const ruled = Object.entries(table).map(
    ([name, { query, ...sizes }]): Probe => ({
      name: `query: ${name}`,
      door: 'ask',
      grows: 'input',
      ...sizes,
      make: (size) => asked(query(size)),
    }),
  )
  const placed = Object.keys(queryKinds).flatMap((kind) =>
    placesOf(schemaOf(kind)).flatMap((place) => growthsOf(place).map((growth) => placeProbe(kind, place, growth))),
  )
  const shuffled = (of: readonly Probe[]) =>
    of
      .map((one) => [draw(), one] as const)
      .sort(([a], [b]) => a - b)
      .map(([, one]) => one)
  yield* shuffled(ruled)
  yield* shuffled(placed)
}
