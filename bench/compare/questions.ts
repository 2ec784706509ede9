// What two revisions are asked. Only what the library promises is used: a path inside of src/ may be another one at the revision.

export interface Question {
  readonly what: string
  readonly query: { readonly kind: string } & Readonly<Record<string, unknown>>
  /** `first`: the directory is opened anew before each time. `arriving`: events are ingested before each time. Absent: asked before, at rest. */
  readonly when?: 'first' | 'arriving'
}

const range = { dateRange: { date_from: '2026-01-02', date_to: '2026-03-31' } }
const series = (...events: string[]) => events.map((event) => ({ kind: 'EventsNode', event }))
const trend = (what: string, more: Readonly<Record<string, unknown>> = {}): Question => ({
  what: `trends: ${what}`,
  query: { kind: 'TrendsQuery', series: series('$pageview'), ...range, ...more },
})
const counted = (math: Readonly<Record<string, unknown>>) => ({ series: [{ kind: 'EventsNode', event: '$pageview', ...math }] })
const funnel = (what: string, steps: readonly string[], more: Readonly<Record<string, unknown>> = {}): Question => ({
  what: `funnels: ${what}`,
  query: {
    kind: 'FunnelsQuery',
    series: series(...steps),
    ...range,
    funnelsFilter: { funnelWindowInterval: 7, funnelWindowIntervalUnit: 'day', ...more },
  },
})
const insight = (what: string, kind: string, more: Readonly<Record<string, unknown>>): Question => ({
  what,
  query: { kind, ...range, ...more },
})
const retention = (period: string, totalIntervals: number): Question => {
  const entity = { id: '$pageview', type: 'events' }
  const retentionFilter = { period, totalIntervals, targetEntity: entity, returningEntity: entity }
  return insight(`retention: by ${period.toLowerCase()}`, 'RetentionQuery', { retentionFilter })
}
const web = (what: string, kind: string, more: Readonly<Record<string, unknown>> = {}): Question =>
  insight(`web: ${what}`, kind, { properties: [], ...more })
const when = (moment: 'first' | 'arriving', { what, query }: Question): Question => ({
  what: `${moment === 'first' ? 'asked first' : 'while events arrive'}: ${what}`,
  query,
  when: moment,
})
const sql = (what: string, query: string): Question => ({ what, query: { kind: 'SqlLikeQuery', query } })

const repeated = (count: number, write: (i: number) => string, between: string) =>
  Array.from({ length: count }, (_, i) => write(i)).join(between)
/** No row is read: what is measured is the way from the text to the engine. */
const compiled = (what: string, statement: string): Question => sql(`compile: ${what}`, statement)
const perRow = (what: string, value: string): Question =>
  sql(
    `functions: ${what}`,
    `select max(length(toString(${value}))) from (select number as n, toString(number * 7919) as t from numbers(20000))`,
  )

const countPerDay = trend('count per day')
const uniquePeople = trend('unique people per day', counted({ math: 'dau' }))
const funnelOfThree = funnel('3 steps', ['$pageview', 'signed up', 'purchase'])
const retentionByWeek = retention('Week', 12)
const webOverview = web('overview', 'WebOverviewQuery')

export const questions: readonly Question[] = [
  countPerDay,
  uniquePeople,
  trend('weekly active people', counted({ math: 'weekly_active' })),
  trend('breakdown by a property', { breakdownFilter: { breakdown: 'country', breakdown_type: 'event' } }),
  trend('sum of a number', counted({ math: 'sum', math_property: 'amount' })),
  funnelOfThree,
  funnel('5 steps', ['$pageview', '$autocapture', 'signed up', 'added to cart', 'purchase']),
  funnel('3 steps, unordered', ['$pageview', 'signed up', 'purchase'], { funnelOrderType: 'unordered' }),
  funnel('3 steps by day', ['$pageview', 'signed up', 'purchase'], { funnelVizType: 'trends' }),
  {
    ...funnelOfThree,
    what: 'funnels: 3 steps by a property',
    query: { ...funnelOfThree.query, breakdownFilter: { breakdown: 'country', breakdown_type: 'event' } },
  },
  retentionByWeek,
  retention('Day', 30),
  insight('stickiness', 'StickinessQuery', counted({})),
  insight('lifecycle', 'LifecycleQuery', counted({})),
  insight('paths: of pages', 'PathsQuery', { pathsFilter: { includeEventTypes: ['$pageview'], stepLimit: 5 } }),
  {
    what: 'actors: of a day of a trend',
    query: {
      kind: 'ActorsQuery',
      source: { kind: 'InsightActorsQuery', source: uniquePeople.query, day: '2026-02-10', series: 0 },
      limit: 100,
    },
  },
  {
    what: 'actors: of a step of a funnel',
    query: { kind: 'ActorsQuery', source: { kind: 'FunnelsActorsQuery', source: funnelOfThree.query, funnelStep: 2 }, limit: 100 },
  },
  webOverview,
  web('pages', 'WebStatsTableQuery', { breakdownBy: 'Page', limit: 100 }),
  {
    what: 'events: the latest 100',
    query: {
      kind: 'EventsQuery',
      select: ['*', 'event', 'timestamp'],
      after: '2026-01-01',
      before: '2026-04-01',
      orderBy: ['timestamp DESC'],
      limit: 100,
    },
  },
  ...[countPerDay, funnelOfThree, webOverview].map((question) => when('first', question)),
  ...[countPerDay, uniquePeople, funnelOfThree, retentionByWeek].map((question) => when('arriving', question)),
  compiled(
    'a small statement',
    "select event, count() from events where event = 'none' and timestamp > now() - interval 7 day group by event limit 10",
  ),
  compiled(
    '500 columns with aliases that others use',
    `select ${repeated(500, (i) => (i % 10 ? `a${i - 1} + 1 as a${i}` : `${i} as a${i}`), ', ')}`,
  ),
  compiled('IN of 2,000 texts', `select count() from events where event in (${repeated(2000, (i) => `'e${i}'`, ', ')})`),
  compiled(
    'CASE of 300 branches',
    `select case ${repeated(300, (i) => `when event = 'e${i}' then ${i}`, ' ')} end from events where event = 'none'`,
  ),
  perRow('text', "concat(upper(t), substring(t, 2, 3), replaceAll(t, '7', 'x'))"),
  perRow('dates', "formatDateTime(toStartOfWeek(toDateTime('2024-01-01') + toIntervalHour(n)), '%Y-%m-%d')"),
  perRow('arrays', 'arraySum(arrayMap(x -> x * 2, range(n % 20)))'),
  perRow('JSON', `JSONExtractString(concat('{"a":"', t, '"}'), 'a')`),
]
