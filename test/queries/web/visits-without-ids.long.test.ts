import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { open, type Project, type Waymark } from '../../../src/index.ts'
import { sessionFields } from '../../../src/language/catalog/sessions.ts'

// The same visits in three projects: all of them name their session, none does, and some do. How a visit began and ended is known of each in the same way.

interface Seen {
  readonly at: string
  readonly event?: string
  readonly path?: string
  readonly [property: string]: unknown
}
type Visit = readonly [who: string, ...Seen[]]
const visits: readonly Visit[] = [
  [
    'ann',
    {
      at: '10:00:00',
      path: '/a',
      utm_source: 'google',
      utm_medium: 'cpc',
      utm_campaign: 'spring',
      utm_term: 'shoes',
      utm_content: 'red',
      gclid: 'g1',
      $referring_domain: 'www.google.com',
    },
    { at: '10:05:00', path: '/b', utm_source: 'late' },
    { at: '10:06:00', event: '$autocapture', path: '/b', $event_type: 'click', $external_click_url: 'https://out.example/1' },
  ],
  [
    'ben',
    // Not a page: what the first page says comes first.
    { at: '10:59:30', event: '$identify', path: '/before', utm_source: 'other' },
    {
      at: '11:00:00',
      path: '/c',
      utm_source: 'news',
      utm_medium: 'email',
      utm_campaign: 'june',
      utm_term: 'hats',
      utm_content: 'blue',
      $referring_domain: 'mail.example',
    },
    { at: '11:05:00', path: '/d' },
    // Thirty minutes later to the microsecond.
    { at: '11:35:00', event: '$autocapture', path: '/d', $event_type: 'click', $external_click_url: 'https://out.example/2' },
  ],
  // A microsecond longer than thirty minutes after that: another visit of ben's.
  ['ben', { at: '12:05:00.000001', path: '/a', $referring_domain: '$direct' }],
  ['cid', { at: '11:02:00', path: '/c', $referring_domain: 'www.facebook.com' }, { at: '11:02:05', event: 'buy', path: '/c' }],
  ['dan', { at: '09:00:00', event: '$screen', path: '/app' }, { at: '09:20:00', event: '$screen', path: '/app/2' }],
  // No page: it counts with the goal alone.
  ['eve', { at: '13:00:00', event: 'buy', path: '/shop', utm_source: 'news' }],
]
const sessionId = (i: number) => `0190b0f0-0000-7000-8000-00000000000${i}`
/** Whether the visit of this number names its session. */
type Named = (visit: number) => boolean
const batchOf = (isNamed: Named) =>
  visits.flatMap(([distinct_id, ...events], i) =>
    events.map(({ at, event = '$pageview', path, ...more }) => ({
      event,
      distinct_id,
      timestamp: `2026-03-04T${at}Z`,
      properties: {
        $pathname: path,
        $current_url: `https://shop.example${path}?q=1`,
        $host: 'shop.example',
        $set: { name: distinct_id },
        ...more,
        ...(isNamed(i) ? { $session_id: sessionId(i) } : i === 3 && { $session_id: 'no-uuid' }),
      },
    })),
  )
const projects = { 'none of them': () => false, 'every second one': (i) => i % 2 === 0 } as const satisfies Record<string, Named>
type Name = keyof typeof projects

const isNotNews = { type: 'session', key: '$entry_utm_source', operator: 'is_not', value: 'news' }

let waymark: Waymark
let named: Project
const others = new Map<Name, Project>()
beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:', clock: () => new Date('2026-03-05T20:00:00Z') })
  const made = async (name: string, isNamed: Named) => {
    const project = await waymark.createProject({ name, test_account_filters: [isNotNews] })
    await project.createAction({ name: 'Bought', steps: [{ event: 'buy' }] })
    await project.createAction({
      name: 'Bought after news',
      steps: [{ event: 'buy', properties: [{ type: 'session', key: '$entry_utm_source', value: 'news', operator: 'exact' }] }],
    })
    await project.ingest({ batch: batchOf(isNamed) })
    return project
  }
  named = await made('named', () => true)
  for (const [name, isNamed] of Object.entries(projects)) others.set(name as Name, await made(name, isNamed))
})
afterAll(() => waymark.close())

const range = { dateRange: { date_from: '2026-03-04', date_to: '2026-03-04' } }
const resultsOf = async (project: Project, query: object) =>
  ((await project.query({ ...range, ...query } as never)) as unknown as { results: unknown }).results
const rowsOf = async (project: Project, breakdownBy: string, more: object = {}) =>
  ((await resultsOf(project, { kind: 'WebStatsTableQuery', breakdownBy, includeBounceRate: true, ...more })) as unknown[][]).map((row) =>
    row.slice(0, 4).map((one, i) => (i === 0 ? one : (one as unknown[])[0])),
  )
/** With all kinds of the web: what is filtered, in any of them. */
const answersOf = async (project: Project, properties: readonly object[], kinds = allKinds): Promise<unknown[]> => {
  const answers: unknown[] = []
  for (const query of kinds) answers.push(await resultsOf(project, { ...query, properties }))
  return answers
}
const overview = { kind: 'WebOverviewQuery' }
const allKinds: readonly object[] = [
  overview,
  { ...overview, conversionGoal: { customEventName: 'buy' } },
  { kind: 'WebStatsTableQuery', breakdownBy: 'Page', includeBounceRate: true },
  { kind: 'WebStatsTableQuery', breakdownBy: 'InitialChannelType' },
  { kind: 'WebGoalsQuery' },
  { kind: 'WebExternalClicksTableQuery' },
  { kind: 'WebPageURLSearchQuery' },
]
/** Bounces are of visits with a page or a click, of which those of ben and of cid are short. */
const breakdowns: Readonly<
  Record<string, readonly (readonly [value: unknown, visitors: number, views: number, bounces: number | null])[]>
> = {
  InitialPage: [
    ['/a', 2, 3, 0.5],
    ['/c', 2, 3, 0.5],
    ['/app', 1, 2, 0],
  ],
  ExitPage: [
    ['/app/2', 1, 2, 0],
    ['/b', 1, 2, 0],
    ['/d', 1, 2, 0],
    ['/a', 1, 1, 1],
    ['/c', 1, 1, 1],
  ],
  ExitClick: [
    ['https://out.example/1', 1, 2, 0],
    ['https://out.example/2', 1, 2, 0],
  ],
  InitialChannelType: [
    ['Email', 1, 2, 0],
    ['Paid Search', 1, 2, 0],
    ['Unknown', 1, 2, 0],
    ['Direct', 1, 1, 1],
    ['Organic Social', 1, 1, 1],
  ],
  InitialReferringDomain: [
    ['mail.example', 1, 2, 0],
    ['www.google.com', 1, 2, 0],
    ['$direct', 1, 1, 1],
    ['www.facebook.com', 1, 1, 1],
  ],
  InitialUTMSource: [
    [null, 3, 4, 2 / 3],
    ['google', 1, 2, 0],
    ['news', 1, 2, 0],
  ],
  InitialUTMCampaign: [
    [null, 3, 4, 2 / 3],
    ['june', 1, 2, 0],
    ['spring', 1, 2, 0],
  ],
  InitialUTMMedium: [
    [null, 3, 4, 2 / 3],
    ['cpc', 1, 2, 0],
    ['email', 1, 2, 0],
  ],
  InitialUTMTerm: [
    [null, 3, 4, 2 / 3],
    ['hats', 1, 2, 0],
    ['shoes', 1, 2, 0],
  ],
  InitialUTMContent: [
    [null, 3, 4, 2 / 3],
    ['blue', 1, 2, 0],
    ['red', 1, 2, 0],
  ],
  InitialUTMSourceMediumCampaign: [
    ['(none) / (none) / (none)', 1, 2, 0],
    ['google / cpc / spring', 1, 2, 0],
    ['news / email / june', 1, 2, 0],
    ['$direct / (none) / (none)', 1, 1, 1],
    ['www.facebook.com / (none) / (none)', 1, 1, 1],
  ],
  Page: [
    ['/a', 2, 2, 0.5],
    ['/c', 2, 2, 0.5],
    ['/app', 1, 1, 0],
    ['/app/2', 1, 1, null],
    ['/b', 1, 1, null],
    ['/d', 1, 1, null],
  ],
}

// An id is the one thing that a made session does not share with the visit of the same events; when an event arrived is not the same in two projects.
const fields = Object.keys(sessionFields).filter(
  (key) =>
    !/^id$|^session_id|^person_id$|^team_id$|inserted|_(?!gclid)[a-z]*clid|gad_|gclsrc|braid|li_fat|mc_cid|igshid|_kx|epik|sccid/.test(key),
)
test.each(fields)('of which every second one names its session, filtered by %s', async (key) => {
  const { results } = (await named.query({
    kind: 'HogQLQuery',
    query: `select distinct ${key} from sessions order by 1`,
  })) as unknown as {
    results: unknown[][]
  }
  const found = results.flat().filter((value) => value !== null && !Array.isArray(value)) as (string | number | boolean)[]
  const filter = (operator: string, value?: unknown) => ({ type: 'session', key, operator, ...(value !== undefined && { value }) })
  const [first = 'x'] = found
  const filters =
    typeof first === 'number'
      ? [filter('gt', first), filter('exact', first)]
      : /timestamp/.test(key)
        ? [filter('is_date_after', '2026-03-04T11:01:00Z')]
        : key === '$urls'
          ? [filter('is_set', 'is_set')]
          : typeof first === 'boolean'
            ? [filter('exact', ['true']), filter('is_not', ['true'])]
            : [filter('exact', first), filter('is_not', first), filter('is_set', 'is_set')]
  for (const one of filters)
    expect(await answersOf(others.get('every second one')!, [one], [overview]), one.operator).toEqual(
      await answersOf(named, [one], [overview]),
    )
})

describe.each(Object.keys(projects) as Name[])('of visits that name their session: %s', (name) => {
  test.each(Object.entries(breakdowns))('by %s', async (by, rows) => {
    expect(await rowsOf(others.get(name)!, by)).toEqual(rows)
    expect(await rowsOf(named, by)).toEqual(rows)
  })

  test.each(Object.keys(breakdowns))('by %s, with a goal', async (breakdownBy) => {
    const query = { kind: 'WebStatsTableQuery', breakdownBy, conversionGoal: { customEventName: 'buy' } }
    expect(await resultsOf(others.get(name)!, query)).toEqual(await resultsOf(named, query))
  })

  const all = { type: 'session', key: '$entry_pathname', operator: 'exact', value: '/c' } as const
  const cases: readonly (readonly [string, readonly object[]])[] = [
    ['one', [all]],
    ['two of them', [all, { type: 'session', key: '$channel_type', operator: 'exact', value: ['Email', 'Direct'] }]],
    ['one that is not', [{ ...all, operator: 'is_not' }]],
    ['the length', [{ type: 'session', key: '$session_duration', operator: 'gt', value: 60 }]],
    ['bounces', [{ type: 'session', key: '$is_bounce', operator: 'exact', value: ['true'] }]],
    ['with one of an event', [all, { type: 'event', key: '$pathname', operator: 'exact', value: '/d' }]],
  ]
  test.each(cases)('every kind, filtered by %s', async (_, filters) => {
    expect(await answersOf(others.get(name)!, filters)).toEqual(await answersOf(named, filters))
  })

  test('filters on sessions in groups, of test accounts, and in the steps of an action', async () => {
    const project = others.get(name)!
    const group = { type: 'OR', values: [all, { type: 'session', key: '$end_pathname', operator: 'exact', value: '/b' }] }
    for (const query of [
      ...allKinds.map((kind) => ({ ...kind, filterTestAccounts: true })),
      ...allKinds.map((kind) => ({ ...kind, properties: { type: 'AND', values: [group] } })),
      { ...overview, conversionGoal: { actionId: 2 } },
    ])
      expect(await resultsOf(project, query), JSON.stringify(query)).toEqual(await resultsOf(named, query))
  })

  test('a trend and its persons, where it is asked to', async () => {
    const project = others.get(name)!
    const trend = (filter: object, more: object = { madeSessions: true }) => ({
      kind: 'TrendsQuery',
      series: [{ kind: 'EventsNode', event: '$pageview', math: 'dau' }],
      interval: 'hour',
      properties: [filter],
      dateRange: { date_from: '2026-03-04 00:00:00', date_to: '2026-03-04 23:59:59' },
      ...more,
    })
    const dataOf = async (one: Project, query: object) =>
      ((await one.query(query as never)).results as unknown as { data: number[] }[])[0]!.data
    for (const filter of [all, { ...all, operator: 'is_not' }, { ...all, key: '$channel_type', value: 'Paid Search' }]) {
      const wanted = await dataOf(named, trend(filter))
      expect(wanted.some((count) => count > 0)).toBe(true)
      expect(await dataOf(project, trend(filter)), JSON.stringify(filter)).toEqual(wanted)
      expect(wanted).toEqual(await dataOf(named, trend(filter, {})))
    }
    const source = { kind: 'InsightActorsQuery', source: trend(all), day: '2026-03-04 11:00:00' }
    const persons = async (one: Project) =>
      (
        (
          (await one.query({ kind: 'ActorsQuery', source, select: ['person_display_name'] } as never)) as unknown as {
            results: { display_name: string }[][]
          }
        ).results.map(([who]) => who!.display_name) as string[]
      ).sort()
    expect(await persons(project)).toEqual(['ben', 'cid'])
    expect(await persons(named)).toEqual(['ben', 'cid'])
    await expect(project.query(trend(all, { madeSessions: true, modifiers: { road: 'core' } }) as never)).rejects.toThrow(
      /only a statement computes/,
    )
  })

  test('web vitals', async () => {
    const project = await waymark.createProject({ name: 'vitals' })
    const page = (distinct_id: string, event: string, path: string, more: object) => ({
      event,
      distinct_id,
      timestamp: '2026-03-04T10:00:00Z',
      properties: { $pathname: path, $current_url: `https://shop.example${path}`, ...more },
    })
    await project.ingest({
      batch: [
        page('ann', '$pageview', '/a', {}),
        page('ann', '$web_vitals', '/a', { $web_vitals_LCP_value: 900 }),
        page('ben', '$web_vitals', '/b', { $web_vitals_LCP_value: 900, $session_id: sessionId(1) }),
        page('cid', '$web_vitals', '/c', { $web_vitals_LCP_value: 900 }),
      ],
    })
    const query = { kind: 'WebVitalsPathBreakdownQuery', metric: 'LCP', percentile: 'p75', thresholds: [2500, 4000] }
    const pathsOf = async (value: readonly string[]) => {
      const [bands] = (await resultsOf(project, { ...query, properties: [{ ...all, value }] })) as { good: { path: string }[] }[]
      return bands!.good.map(({ path }) => path)
    }
    expect(await pathsOf(['/a'])).toEqual(['/a'])
    expect(await pathsOf(['/b', '/c'])).toEqual(['/b', '/c'])
  })
})

test('a goal by a session that is made, where all pages name theirs', async () => {
  const project = await waymark.createProject({ name: 'goals' })
  const action = { event: 'buy', properties: [{ ...isNotNews, operator: 'exact' }] }
  await project.createAction({ name: 'Bought after news', steps: [action as never] })
  const seen = (distinct_id: string, event: string, properties: object) => ({
    event,
    distinct_id,
    timestamp: '2026-03-04T10:00:00Z',
    properties: { $current_url: 'https://shop.example/', ...properties },
  })
  await project.ingest({
    batch: [seen('ann', '$pageview', { $session_id: sessionId(1) }), seen('ben', 'buy', { utm_source: 'news' }), seen('cid', 'buy', {})],
  })
  const numbers = (await resultsOf(project, { ...overview, conversionGoal: { actionId: 1 } })) as { value: number }[]
  expect(numbers.map(({ value }) => value)).toEqual([2, 1, 1, 50])
  expect(await resultsOf(project, { kind: 'WebGoalsQuery' })).toEqual([['Bought after news', [1, null], [1, null], [0.5, null]]])
})

test('a visit of which a server tells neither a session nor an address has no channel', async () => {
  const project = await waymark.createProject({ name: 'server' })
  const page = (distinct_id: string, more: object) => ({
    event: '$pageview',
    distinct_id,
    timestamp: '2026-03-04T10:00:00Z',
    properties: { utm_source: 'google', ...more },
  })
  await project.ingest({
    batch: [page('ann', {}), page('ben', { $session_id: sessionId(1) }), page('cid', { $current_url: 'https://shop.example/' })],
  })
  expect(await rowsOf(project, 'InitialChannelType')).toEqual([['Organic Search', 2, 2, 1]])
  expect(await rowsOf(project, 'InitialUTMSource')).toEqual([['google', 3, 3, 1]])
  const visitorsBy = async (operator: string, value: unknown) => {
    const filtered = await resultsOf(project, { ...overview, properties: [{ type: 'session', key: '$channel_type', operator, value }] })
    return (filtered as { value: number }[])[0]!.value
  }
  expect(await visitorsBy('exact', ['Organic Search'])).toBe(2)
  expect(await visitorsBy('is_not_set', 'is_not_set')).toBe(1)
})
