import fc from 'fast-check'
import type { ReferenceEvent } from './trends.ts'
import type { ReferenceTable, ReferenceWeb, VisitFilter } from './web.ts'

// Sessions around midnights, some longer than a range and some across its ends; queries along the axes that change how they are planned.

const zones = ['UTC', 'America/New_York', 'Asia/Kathmandu', 'Pacific/Auckland'] as const
const firstDay = Date.parse('2020-03-01T00:00:00Z')
const dayText = (offset: number) => new Date(firstDay + offset * 86_400_000).toISOString().slice(0, 10)
const minute = 60_000_000

const paths = ['/', '/a', '/b/1', '/b/22'] as const
const pathArb = fc.constantFrom(...paths)
const propertiesArb = fc
  .record(
    {
      path: pathArb,
      $browser: fc.constantFrom<string | null>('Firefox', 'Safari', '', null),
      $viewport_width: fc.constantFrom<number | string>(0, 800, '1024'),
      $viewport_height: fc.constantFrom(0, 600),
      $geoip_country_code: fc.constantFrom('DE', 'FR'),
      $geoip_city_name: fc.constantFrom<string | null>('Bonn', 'Caen', null),
      $timezone_offset: fc.constantFrom(0, -60, -345),
      utm_source: fc.constantFrom('google', 'email', 'newsletter', ''),
      utm_medium: fc.constantFrom('m1'),
      utm_campaign: fc.constantFrom('spring', ''),
      utm_term: fc.constantFrom('t1', 't2'),
      utm_content: fc.constantFrom('c1', ''),
      $referring_domain: fc.constantFrom('other.org', ''),
      f: fc.constantFrom('yes', 'no'),
      $browser_language: fc.constantFrom('en-US', 'en-GB', 'de', 'de-DE'),
      $referrer: fc.constantFrom('https://example.com/before/1', 'https://other.org/'),
      $external_click_url: fc.constantFrom('https://other.org/x?y=1', 'https://www.example.com/own', 'https://a.third.org/'),
      $event_type: fc.constantFrom('click', 'click', 'submit'),
      $host: fc.constantFrom('example.com', 'shop.example.com'),
      $web_vitals_LCP_value: fc.constantFrom<number | null>(-1, 0, 1, 2.5, 4, 8, null),
      $prev_pageview_pathname: pathArb,
      $prev_pageview_max_scroll_percentage: fc.constantFrom(0, 0.25, 1),
      $prev_pageview_max_content_percentage: fc.constantFrom(0.5, 0.8, 1),
    },
    { requiredKeys: [] },
  )
  .map(({ path, ...rest }) => ({ ...rest, ...(path && { $pathname: path, $current_url: `https://example.com${path}?q=1` }) }))

const names = [
  '$pageview',
  '$pageview',
  '$screen',
  '$autocapture',
  '$pageleave',
  'buy',
  '$rageclick',
  '$exception',
  '$dead_click',
  '$web_vitals',
] as const
const visitArb = fc.record({
  id: fc.integer({ min: 0, max: 6 }),
  start: fc.oneof(
    fc.integer({ min: 0, max: 20 * 24 * 60 }),
    fc.integer({ min: 0, max: 20 * 24 }).map((hours) => hours * 60 - 3),
  ),
  person: fc.integer({ min: 1, max: 4 }),
  events: fc.array(
    fc.record({
      event: fc.constantFrom(...names),
      after: fc.oneof(
        fc.integer({ min: 0, max: 9 }).map((seconds) => seconds / 60),
        fc.integer({ min: 0, max: 300 }),
        fc.integer({ min: 0, max: 3000 }),
      ),
      // Microseconds since the event before: the longest pause within a session without an id, less and more.
      pause: fc.option(
        fc.constantFrom(-1, 0, 1).map((more) => 30 * minute + more),
        { freq: 3 },
      ),
      other: fc.constantFrom(0, 0, 0, 1),
      properties: propertiesArb,
    }),
    { minLength: 1, maxLength: 5 },
  ),
})

const sessionId = (n: number) => (n === 0 ? '' : n === 1 ? 'no-uuid' : `0190b0f0-0000-7000-8000-00000000000${n}`)

/** No two events have the same time, so that each session has one first page. */
export const webEventsArb: fc.Arbitrary<readonly ReferenceEvent[]> = fc.array(visitArb, { maxLength: 10 }).map((visits) => {
  const times = new Set<number>()
  const free = (wanted: number) => {
    let at = wanted
    while (times.has(at)) at++
    times.add(at)
    return at
  }
  return visits.flatMap(({ id, start, person, events }) => {
    let before: number | null = null
    return events.map(({ event, after, pause, other, properties }) => {
      const at = free(before !== null && pause !== null ? before + pause : firstDay * 1000 + Math.round((start + after) * minute))
      before = at
      return { event, person: person + other, at, session: sessionId(id), group: '', properties }
    })
  })
})

/** How visits began and ended. */
export const visitBreakdowns = [
  'InitialPage',
  'ExitPage',
  'ExitClick',
  'InitialChannelType',
  'InitialReferringDomain',
  'InitialUTMSource',
  'InitialUTMCampaign',
  'InitialUTMMedium',
  'InitialUTMTerm',
  'InitialUTMContent',
  'InitialUTMSourceMediumCampaign',
] as const

export const visitFilters: readonly VisitFilter[] = [
  ['$entry_pathname', 'exact', '/a'],
  ['$end_pathname', 'is_not', '/b/1'],
  ['$channel_type', 'exact', 'Organic Search'],
  ['$channel_type', 'is_not', 'Unknown'],
  ['$session_duration', 'gt', 60],
  ['$is_bounce', 'exact', 'true'],
  ['$entry_utm_campaign', 'exact', 'spring'],
  ['$pageview_count', 'gt', 1],
]

const shape = {
  zone: fc.constantFrom(...zones),
  weekStartDay: fc.constantFrom<0 | 1>(0, 1),
  start: fc.integer({ min: 0, max: 20 }),
  length: fc.integer({ min: 0, max: 9 }),
  compares: fc.boolean(),
  filter: fc.constantFrom<readonly [string, string] | undefined>(undefined, undefined, ['f', 'yes']),
  visit: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 2, arbitrary: fc.constantFrom(...visitFilters) }),
  goal: fc.constantFrom(undefined, undefined, 'buy', '$pageview'),
  sample: fc.constantFrom(undefined, undefined, undefined, 0.5),
  cleans: fc.boolean(),
}
const ranged = <T extends { readonly start: number; readonly length: number }>({ start, length, ...rest }: T) => ({
  ...rest,
  from: dayText(start),
  to: dayText(start + length),
})

export const overviewArb: fc.Arbitrary<ReferenceWeb> = fc.record(shape).map(ranged)
export const tableArb: fc.Arbitrary<ReferenceTable> = fc
  .record({
    ...shape,
    breakdown: fc.constantFrom<ReferenceTable['breakdown']>(
      'Page',
      'Page',
      'Page',
      'InitialPage',
      'ExitPage',
      'Browser',
      'InitialUTMSource',
      'InitialUTMCampaign',
      'InitialUTMMedium',
      'InitialUTMTerm',
      'InitialUTMContent',
      'InitialReferringDomain',
      'InitialChannelType',
      'Viewport',
      'City',
      'Timezone',
      'FrustrationMetrics',
      'PreviousPage',
      'ExitClick',
      'InitialUTMSourceMediumCampaign',
      'Language',
    ),
    bounces: fc.boolean(),
    scrolls: fc.boolean(),
  })
  .map(ranged)
  .map((query) => (query.breakdown === 'FrustrationMetrics' ? { ...query, goal: undefined } : query))

export const webAxes = (query: ReferenceWeb | ReferenceTable): string[] => [
  query.compares ? 'compared' : 'not compared',
  query.filter ? 'filtered' : 'all events',
  query.visit ? `filtered by ${query.visit[0]}` : 'all sessions',
  query.goal ? `goal ${query.goal}` : 'no goal',
  query.sample ? 'sampled' : 'not sampled',
  ...('breakdown' in query
    ? [query.breakdown, `${query.bounces ? 'bounces' : 'no bounces'}, ${query.scrolls ? 'scrolls' : 'no scrolls'}`]
    : []),
]

/** The rules of the project that a query with `cleans` applies. */
export const pathRules = [{ regex: '\\d+', alias: ':id' }]

const goalNames = ['buy', '$rageclick']
/** As they are stored. */
export const goalActions = goalNames.map((event, i) => ({ id: i + 1, definition: JSON.stringify({ name: event, steps: [{ event }] }) }))
export { goalNames }
export const thresholds = [1, 4] as const

/** Other questions about the same sessions. */
export function asOther(kind: 'WebGoalsQuery' | 'WebExternalClicksTableQuery' | 'WebVitalsPathBreakdownQuery', query: ReferenceWeb) {
  const { compareFilter, conversionGoal: _, ...common } = asWeb(query)
  if (kind !== 'WebVitalsPathBreakdownQuery') return { ...common, compareFilter, kind }
  return { ...common, kind, metric: 'LCP', percentile: 'p75', thresholds: [...thresholds] }
}

/** A trend with the same filters. */
export function asTrendOfViews(query: ReferenceWeb) {
  const { dateRange, properties } = asWeb(query)
  const series = [{ kind: 'EventsNode', event: '$pageview', math: 'total' }]
  return { kind: 'TrendsQuery', series, dateRange, properties, madeSessions: true, trendsFilter: { display: 'ActionsPie' } }
}

export function asWeb(query: ReferenceWeb | ReferenceTable): { readonly kind: string; readonly [field: string]: unknown } {
  return {
    kind: 'breakdown' in query ? 'WebStatsTableQuery' : 'WebOverviewQuery',
    dateRange: { date_from: query.from, date_to: query.to },
    properties: [
      ...(query.filter ? [{ type: 'event', key: query.filter[0], value: query.filter[1], operator: 'exact' }] : []),
      ...(query.visit ? [{ type: 'session', key: query.visit[0], operator: query.visit[1], value: query.visit[2] }] : []),
    ],
    compareFilter: { compare: query.compares },
    ...(query.goal && { conversionGoal: { customEventName: query.goal } }),
    ...(query.sample && { sampling: { enabled: true, forceSamplingRate: { numerator: 1, denominator: 1 / query.sample } } }),
    doPathCleaning: query.cleans,
    ...('breakdown' in query && {
      breakdownBy: query.breakdown,
      includeBounceRate: query.bounces,
      includeScrollDepth: query.scrolls,
    }),
  }
}
