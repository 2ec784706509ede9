import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import type { WebOverviewResponse, WebTableResponse } from '../../../src/index.ts'
import type { LocalProject } from '../../../src/project.ts'

// Two days of a small site in New York. Cases that generated queries do not cover: shapes, every breakdown, orders, pages, goals, vitals and errors.

let waymark: LocalWaymark
let project: LocalProject

const session = (n: number) => `0190b0f0-0000-7000-8000-00000000000${n}`
const minute = (day: number, minutes: number) => new Date(Date.UTC(2026, 2, day, 17, minutes)).toISOString()
const seen = (who: string, n: number, at: string, event: string, properties: object = {}) => ({
  event,
  distinct_id: who,
  timestamp: at,
  properties: { $session_id: session(n), ...properties },
})
const page = (path: string, more: object = {}) => ({
  $pathname: path,
  $current_url: `https://shop.example${path}?a=1`,
  $host: 'shop.example',
  $browser: 'Firefox',
  $os: 'Linux',
  $device_type: 'Desktop',
  $screen_name: 'Home',
  $viewport_width: 1280,
  $viewport_height: 720,
  $geoip_country_code: 'DE',
  $geoip_subdivision_1_code: 'NW',
  $geoip_subdivision_1_name: 'North',
  $geoip_city_name: 'Bonn',
  $browser_language: 'en-US',
  $timezone_offset: -90,
  ...more,
})
const campaign = { utm_source: 'news', utm_medium: 'email', utm_campaign: 'spring', utm_term: 't', utm_content: 'c' }

beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:', clock: () => new Date('2026-03-05T20:00:00Z') })
  project = await waymark.createProject({
    name: 'web',
    timezone: 'America/New_York',
    path_cleaning_filters: [{ regex: '/\\d+', alias: '/:id' }],
  })
  await project.ingest({
    batch: [
      seen('ana', 1, minute(4, 0), '$pageview', page('/', { ...campaign, $referring_domain: 'mail.example', $set: { plan: 'pro' } })),
      seen(
        'ana',
        1,
        minute(4, 2),
        '$pageview',
        page('/item/1', { $prev_pageview_pathname: '/', $prev_pageview_max_scroll_percentage: 0.5 }),
      ),
      seen('ana', 1, minute(4, 3), 'buy', page('/item/1', { price: 3 })),
      seen('ana', 1, minute(4, 4), '$autocapture', {
        $event_type: 'click',
        $host: 'shop.example',
        $external_click_url: 'https://other.example/x?y=1',
      }),
      seen('ben', 2, minute(4, 0), '$pageview', page('/item/2', { $referring_domain: '$direct', $browser_language: 'en-GB' })),
      seen('cid', 3, minute(5, 0), '$pageview', page('/', { $referrer: 'https://google.com/', $browser: 'Safari' })),
      seen('cid', 3, minute(5, 1), '$autocapture', {
        $event_type: 'click',
        $host: 'www.shop.example',
        $external_click_url: 'https://shop.example/own',
      }),
      seen('cid', 3, minute(5, 1), '$rageclick', page('/')),
      seen('cid', 3, minute(5, 1), '$web_vitals', page('/', { $web_vitals_LCP_value: 900, $web_vitals_CLS_value: 0.3 })),
      seen('ana', 4, minute(2, 0), '$pageview', page('/')),
      seen('dan', 0, minute(4, 0), '$pageview', page('/')),
      { ...seen('eve', 0, minute(4, 0), '$pageview', page('/')), properties: page('/') },
    ],
  })
  await project.createAction({ name: 'Bought', steps: [{ event: 'buy' }] })
  await project.createAction({ name: 'Saw an item', steps: [{ event: '$pageview', url: '/item/' }] })
})
afterAll(() => waymark.close())

const range = { dateRange: { date_from: '2026-03-04', date_to: '2026-03-05' } }
const overview = async (more: object = {}) =>
  (await project.answer({ kind: 'WebOverviewQuery', ...range, ...more })) as unknown as WebOverviewResponse
const table = async (more: object) =>
  (await project.answer({ kind: 'WebStatsTableQuery', ...range, ...more })) as unknown as WebTableResponse
const numbers = async (more: object = {}) => (await overview(more)).results.map(({ value }) => value)

describe('an overview', () => {
  test('has five numbers, with their changes', async () => {
    expect(await overview({ compareFilter: { compare: true } })).toMatchObject({
      results: [
        { key: 'visitors', kind: 'unit', value: 5, previous: 1, changeFromPreviousPct: 400, isIncreaseBad: null },
        { key: 'views', kind: 'unit', value: 6, previous: 1, changeFromPreviousPct: 500, isIncreaseBad: null },
        { key: 'sessions', kind: 'unit', value: 5, previous: 1, changeFromPreviousPct: 400, isIncreaseBad: null },
        { key: 'session duration', kind: 'duration_s', value: 60, previous: 0, changeFromPreviousPct: null, isIncreaseBad: null },
        { key: 'bounce rate', kind: 'percentage', value: 60, previous: 100, changeFromPreviousPct: -40, isIncreaseBad: true },
      ],
      samplingRate: { numerator: 1 },
      dateFrom: '2026-03-04T00:00:00-05:00',
      dateTo: '2026-03-05T23:59:59.999999-05:00',
      resolved_compare_date_range: { date_from: '2026-03-02T00:00:00-05:00' },
    })
  })

  test('of conversions has other numbers', async () => {
    const { results } = await overview({ conversionGoal: { customEventName: 'buy' } })
    expect(results.map(({ key, value }) => [key, value])).toEqual([
      ['visitors', 5],
      ['total conversions', 1],
      ['unique conversions', 1],
      ['conversion rate', 20],
    ])
    expect(await numbers({ conversionGoal: { actionId: 2 } })).toEqual([5, 2, 2, 40])
  })

  const filters: readonly (readonly [string, object, readonly (number | null)[]])[] = [
    ['a property of the event', { type: 'event', key: '$browser', value: 'Safari' }, [1, 1, 1, 60, 0]],
    ['a property of the person', { type: 'person', key: 'plan', value: 'pro' }, [1, 2, 1, 240, 0]],
    ['a property of the session', { type: 'session', key: '$entry_utm_source', value: 'news' }, [1, 2, 1, 240, 0]],
    ['nothing that exists', { type: 'event', key: '$browser', value: 'Opera' }, [0, 0, 0, null, null]],
  ]
  test.each(filters)('filtered by %s', async (_, filter, expected) => {
    expect(await numbers({ properties: [{ operator: 'exact', ...filter }] })).toEqual(expected)
  })

  test('of an empty project has no visitors', async () => {
    const empty = await waymark.createProject({ name: 'empty' })
    const { results } = (await empty.query({
      kind: 'WebOverviewQuery',
      dateRange: { date_from: 'all' },
      compareFilter: { compare: true },
    })) as WebOverviewResponse
    expect(results.map(({ value, previous }) => [value, previous])).toEqual([
      [0, 0],
      [0, 0],
      [0, 0],
      [null, null],
      [null, null],
    ])
    const nothing = (await empty.query({ kind: 'WebStatsTableQuery', breakdownBy: 'Language' })) as WebTableResponse
    expect(nothing).toMatchObject({ results: [], hasMore: false, limit: 100, offset: 0 })
  })

  test('shorter sessions are no bounces if the project says so', async () => {
    expect((await numbers({ modifiers: { bounceRateDurationSeconds: 0 } }))[4]).toBe(0)
  })
})

describe('a table', () => {
  const breakdowns: readonly (readonly [string, readonly unknown[]])[] = [
    ['Page', ['/', '/item/1', '/item/2']],
    ['InitialPage', ['/', '/item/2']],
    ['ExitPage', ['/', '/item/1', '/item/2']],
    ['ExitClick', ['https://other.example/x?y=1', 'https://shop.example/own']],
    ['PreviousPage', ['/', 'https://google.com/']],
    ['ScreenName', ['Home']],
    ['InitialChannelType', ['Unknown', 'Email', 'Direct']],
    ['InitialReferringDomain', ['mail.example', '$direct']],
    ['InitialUTMSource', [null, 'news']],
    ['InitialUTMCampaign', [null, 'spring']],
    ['InitialUTMMedium', [null, 'email']],
    ['InitialUTMTerm', [null, 't']],
    ['InitialUTMContent', [null, 'c']],
    ['InitialUTMSourceMediumCampaign', ['(none) / (none) / (none)', 'news / email / spring', '$direct / (none) / (none)']],
    ['Browser', ['Firefox', 'Safari']],
    ['OS', ['Linux']],
    ['Viewport', [[1280, 720]]],
    ['DeviceType', ['Desktop']],
    ['Country', ['DE']],
    ['Region', [['DE', 'NW', 'North']]],
    ['City', [['DE', 'Bonn']]],
    ['Timezone', [1.5]],
    ['Language', ['en-US']],
    ['FrustrationMetrics', ['/', '/item/1', '/item/2']],
  ]
  test.each(breakdowns)('by %s', async (breakdownBy, values) => {
    const { results, columns } = await table({ breakdownBy })
    expect(results.map(([value]) => value)).toEqual(values)
    expect(columns[0]).toBe('context.columns.breakdown_value')
    expect(results.every((row) => row.length === columns.length)).toBe(true)
  })

  test('has pairs, the share of its order, and the columns that are asked for', async () => {
    const { columns, results } = await table({ breakdownBy: 'Page', includeScrollDepth: true, compareFilter: { compare: true } })
    expect(columns).toEqual(
      [
        'breakdown_value',
        'visitors',
        'views',
        'bounce_rate',
        'average_scroll_percentage',
        'scroll_gt80_percentage',
        'ui_fill_fraction',
        'cross_sell',
      ].map((name) => `context.columns.${name}`),
    )
    expect(results).toEqual([
      ['/', [4, 1], [4, 1], [1 / 2, 1], [0.5, null], [null, null], 4 / 6, ''],
      ['/item/1', [1, 0], [1, 0], [null, null], [null, null], [null, null], 1 / 6, ''],
      ['/item/2', [1, 0], [1, 0], [1, null], [null, null], [null, null], 1 / 6, ''],
    ])
  })

  test('of conversions', async () => {
    const { columns, results } = await table({ breakdownBy: 'Browser', conversionGoal: { customEventName: 'buy' } })
    expect(columns.slice(1, 5)).toEqual(
      ['visitors', 'total_conversions', 'unique_conversions', 'conversion_rate'].map((name) => `context.columns.${name}`),
    )
    expect(results).toEqual([
      ['Firefox', [4, null], [1, null], [1, null], [1 / 4, null], 1, ''],
      ['Safari', [1, null], [0, null], [0, null], [0, null], 0, ''],
    ])
  })

  test('with cleaned paths, in another order, page by page', async () => {
    const asked = { breakdownBy: 'Page', doPathCleaning: true, orderBy: ['Views', 'ASC'], limit: 1 }
    expect(await table(asked)).toMatchObject({ results: [['/item/:id', [2, null], [2, null], 2 / 6, '']], hasMore: true, limit: 1 })
  })

  test('of pages keeps the bounces of a page when it is filtered by its path', async () => {
    const properties = [{ type: 'event', key: '$pathname', operator: 'exact', value: ['/', '/item/1'] }]
    const { results } = await table({ breakdownBy: 'Page', includeBounceRate: true, properties })
    expect(results.map((row) => [row[0], row[3]])).toEqual([
      ['/', [1 / 2, null]],
      ['/item/1', [null, null]],
    ])
  })

  test('pages do not overlap', async () => {
    const pages = []
    for (const offset of [0, 1, 2, 3]) pages.push(await table({ breakdownBy: 'Page', limit: 1, offset }))
    expect(pages.map(({ results, hasMore }) => [results[0]?.[0] ?? null, hasMore])).toEqual([
      ['/', true],
      ['/item/1', true],
      ['/item/2', false],
      [null, false],
    ])
  })
})

test('the actions of a project are its goals', async () => {
  const answer = (more = {}) => project.answer({ kind: 'WebGoalsQuery', ...range, ...more })
  expect(await answer()).toMatchObject({
    columns: ['action_name', 'converting_users', 'total_conversions', 'conversion_rate'].map((name) => `context.columns.${name}`),
    results: [
      ['Bought', [1, null], [1, null], [0.2, null]],
      ['Saw an item', [2, null], [2, null], [0.4, null]],
    ],
    hasMore: false,
    limit: 5,
  })
  expect(await answer({ orderBy: ['ConversionRate', 'DESC'], compareFilter: { compare: true } })).toMatchObject({
    results: [
      ['Saw an item', [2, 0], [2, 0], [0.4, 0]],
      ['Bought', [1, 0], [1, 0], [0.2, 0]],
    ],
  })
  expect(await answer({ limit: 1 })).toMatchObject({ results: [['Bought', [1, null], [1, null], [0.2, null]]], hasMore: true })
})

test('clicks that leave the site', async () => {
  const clicks = (more = {}) => project.answer({ kind: 'WebExternalClicksTableQuery', ...range, ...more })
  expect(await clicks()).toMatchObject({ results: [['https://other.example/x?y=1', [1, null], [1, null]]], hasMore: false })
  expect(await clicks({ stripQueryParams: true, compareFilter: { compare: true } })).toMatchObject({
    columns: ['url', 'visitors', 'clicks'].map((name) => `context.columns.${name}`),
    results: [['https://other.example/x', [1, 0], [1, 0]]],
  })
})

test('web vitals by path, and over time', async () => {
  const paths = (metric: string, thresholds: readonly number[]) =>
    project.answer({ kind: 'WebVitalsPathBreakdownQuery', ...range, metric, percentile: 'p75', thresholds })
  expect(await paths('LCP', [2500, 4000])).toMatchObject({
    results: [{ good: [{ path: '/', value: 900 }], needs_improvements: [], poor: [] }],
  })
  expect(await paths('CLS', [0.1, 0.25])).toMatchObject({
    results: [{ good: [], needs_improvements: [], poor: [{ path: '/', value: 0.3 }] }],
  })
  const source = {
    kind: 'TrendsQuery',
    ...range,
    series: [{ kind: 'EventsNode', event: '$web_vitals', custom_name: 'LCP', math: 'p75', math_property: '$web_vitals_LCP_value' }],
  }
  const { results } = (await project.answer({ kind: 'WebVitalsQuery', source, properties: [] })) as { results: { data: unknown }[] }
  expect(results[0]!.data).toEqual([0, 900])
})

test('addresses with a text', async () => {
  const search = (more: object) => project.answer({ kind: 'WebPageURLSearchQuery', ...more })
  expect(await search({ searchTerm: 'ITEM/', stripQueryParams: true })).toMatchObject({
    results: [
      { url: 'https://shop.example/item/1', count: 1 },
      { url: 'https://shop.example/item/2', count: 1 },
    ],
    hasMore: false,
  })
  expect(await search({ searchTerm: '%', limit: 1 })).toMatchObject({ results: [], limit: 1 })
  expect(await search({ limit: 1 })).toMatchObject({ results: [{ url: 'https://shop.example/?a=1', count: 5 }], hasMore: true })
})

test.each([
  ['an unknown breakdown', { kind: 'WebStatsTableQuery', breakdownBy: 'Planet' }, 'breakdownBy'],
  ['a table without a breakdown', { kind: 'WebStatsTableQuery' }, 'breakdownBy'],
  ['a limit of 0', { kind: 'WebStatsTableQuery', breakdownBy: 'Page', limit: 0 }, 'limit'],
  ['an offset before the first row', { kind: 'WebStatsTableQuery', breakdownBy: 'Page', offset: -1 }, 'offset'],
  ['an order without a direction', { kind: 'WebStatsTableQuery', breakdownBy: 'Page', orderBy: ['Views'] }, 'orderBy'],
  ['a goal that is two', { kind: 'WebOverviewQuery', conversionGoal: { actionId: 1, customEventName: 'buy' } }, 'conversionGoal'],
  ['a goal that does not exist', { kind: 'WebOverviewQuery', conversionGoal: { actionId: 99 } }, 'conversionGoal__actionId'],
  ['revenue', { kind: 'WebOverviewQuery', includeRevenue: true }, 'includeRevenue'],
  ['more than everything', { kind: 'WebOverviewQuery', sampling: { forceSamplingRate: { numerator: 2 } } }, 'sampling__forceSamplingRate'],
  ['an unknown vital', { kind: 'WebVitalsPathBreakdownQuery', metric: 'XYZ', percentile: 'p75', thresholds: [1, 2] }, 'metric'],
  ['a date that is none', { kind: 'WebOverviewQuery', dateRange: { date_from: 'soon' } }, 'dateRange__date_from'],
])('%s is refused by name', async (_, wrong, attr) => {
  await expect(project.answer(wrong)).rejects.toMatchObject({ code: 'validation-failed', attr })
})

test('as columns, each number has its own', async () => {
  const rowsOf = async (query: object) => {
    const asked = await project.queryArrow({ ...range, compareFilter: { compare: true }, ...query } as never)
    return [asked.schema.fields.map(({ name }) => name), asked.toArray().map((row) => Object.values(row.toJSON()))]
  }
  expect(await rowsOf({ kind: 'WebStatsTableQuery', breakdownBy: 'Viewport' })).toEqual([
    ['breakdown_value', 'visitors', 'previous_visitors', 'views', 'previous_views'],
    [['[1280,720]', 5, 1, 6, 1]],
  ])
  expect(await rowsOf({ kind: 'WebGoalsQuery', limit: 1 })).toEqual([
    [
      'action_name',
      'converting_users',
      'previous_converting_users',
      'total_conversions',
      'previous_total_conversions',
      'conversion_rate',
      'previous_conversion_rate',
    ],
    [['Bought', 1, 0, 1, 0, 0.2, 0]],
  ])
  const [columns, [first]] = (await rowsOf({ kind: 'WebOverviewQuery' })) as [string[], unknown[][]]
  expect([columns, first]).toEqual([
    ['key', 'kind', 'value', 'previous', 'changeFromPreviousPct'],
    ['visitors', 'unit', 5, 1, 400],
  ])
  const vitals = { kind: 'WebVitalsPathBreakdownQuery', compareFilter: null, metric: 'LCP', percentile: 'p75', thresholds: [2500, 4000] }
  expect(await rowsOf(vitals)).toEqual([['band', 'path', 'value'], [['good', '/', 900]]])
  const nothing = { kind: 'WebStatsTableQuery', breakdownBy: 'Browser', dateRange: { date_from: '2020-01-01', date_to: '2020-01-02' } }
  expect(await rowsOf(nothing)).toEqual([['breakdown_value', 'visitors', 'views'], []])
})

describe('the interval decides how the ends of the range are rounded', () => {
  const range = async (interval: string | null, dateRange: object, kind = 'WebOverviewQuery') => {
    const answer = await project.query({ kind, interval, dateRange, properties: [] } as never)
    const { dateFrom, dateTo } = answer as unknown as WebOverviewResponse
    return [dateFrom, dateTo]
  }
  const day = { date_from: '2026-03-04', date_to: '2026-03-05' }
  // It is 15:00 on 5 March in New York.
  test.each([
    [null, day, '2026-03-04T00:00:00-05:00', '2026-03-05T23:59:59.999999-05:00'],
    ['day', day, '2026-03-04T00:00:00-05:00', '2026-03-05T23:59:59.999999-05:00'],
    ['month', day, '2026-03-04T00:00:00-05:00', '2026-03-05T23:59:59.999999-05:00'],
    ['hour', { date_from: '-24h' }, '2026-03-04T15:00:00-05:00', '2026-03-05T15:59:59.999999-05:00'],
    [
      'hour',
      { date_from: '2026-03-04T10:00:00', date_to: '2026-03-05T10:30:00' },
      '2026-03-04T10:00:00-05:00',
      '2026-03-05T10:30:00-05:00',
    ],
  ])('%s, %j', async (interval, dateRange, from, to) => {
    expect(await range(interval, dateRange)).toEqual([from, to])
  })

  test('a month counts from the start of the range on', async () => {
    const views = async (interval: string) => {
      const query = { kind: 'WebOverviewQuery', properties: [], dateRange: { date_from: '2026-03-05', date_to: '2026-03-05' } }
      return ((await project.query({ ...query, interval } as never)) as unknown as WebOverviewResponse).results
    }
    expect(await views('month')).toEqual(await views('day'))
  })
})

test.each([
  [{ includeAvgTimeOnPage: false, includeHost: null, aggregation_group_type_index: null }, null],
  [{ includeAvgTimeOnPage: true }, 'includeAvgTimeOnPage'],
  [{ includeHost: true }, 'includeHost'],
  [{ aggregation_group_type_index: 0 }, 'aggregation_group_type_index'],
])('fields of clients that are off are accepted, and what is not supported is refused: %j', async (parts, attr) => {
  const asked = project.query({ kind: 'WebStatsTableQuery', breakdownBy: 'Page', properties: [], ...parts } as never)
  if (attr === null) await expect(asked).resolves.toHaveProperty('results')
  else await expect(asked).rejects.toMatchObject({ attr })
})
