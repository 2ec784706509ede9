import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import type { LocalProject } from '../../../src/project.ts'
import { queryKinds } from '../../../src/queries/registry.ts'
import { displays } from '../../../src/queries/trends/schema.ts'
import { chartRows } from '../../../src/service/pictures/chart-rows.ts'
import { pictureOf } from '../../../src/service/pictures/picture.ts'
import { readChart } from '../../../src/service/pictures/read-chart.ts'
import { parseXml } from '../../harness/xml.ts'

// Pictures of what the engine answers: a kind of query that is not asked here fails the last test.

let waymark: LocalWaymark
let project: LocalProject
const asked = new Set<string>()
const steps = ['visit', 'signup', 'purchase'].map((event) => ({ kind: 'EventsNode', event }))
const dateRange = { date_from: '2026-01-01', date_to: '2026-01-07' }
const browsers = { breakdown: 'browser', breakdown_type: 'event' }

beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:', threads: 1, clock: () => new Date('2026-01-07T18:00:00Z') })
  project = await waymark.createProject({ timezone: 'Europe/Berlin' })
  const sessionAt = (time: string) => {
    const hex = Date.parse(time).toString(16).padStart(12, '0')
    return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
  }
  const batch = Array.from({ length: 120 }, (_, i) => {
    const at = (minutes: number) =>
      new Date(Date.parse('2026-01-01T08:00:00Z') + (i % 6) * 86_400_000 + i * 600_000 + minutes * 60_000).toISOString()
    const properties = {
      browser: ['Chrome', 'Firefox', '<b>"&'][i % 3],
      price: i,
      $current_url: `https://a.test/${i % 4}`,
      $pathname: `/${i % 4}`,
      $session_id: sessionAt(at(0)),
    }
    const one = (event: string, minutes: number) => ({ event, distinct_id: `u${i % 20}`, timestamp: at(minutes), properties })
    return [
      one('visit', 0),
      one('$pageview', 1),
      ...(i % 2 ? [one('signup', 5)] : []),
      ...(i % 4 === 1 ? [one('purchase', 9), one('$pageview', 10)] : []),
    ]
  }).flat()
  const sent = (event: string, properties: object) => ({ event, distinct_id: 'u1', timestamp: '2026-01-03T10:00:00Z', properties })
  const click = { $event_type: 'click', $external_click_url: 'https://other.test/x?q=1', $session_id: sessionAt('2026-01-03T10:00:00Z') }
  await project.ingest({
    batch: [
      ...batch,
      sent('$groupidentify', { $group_type: 'company', $group_key: 'acme', $group_set: { name: 'Acme' } }),
      sent('$web_vitals', { $web_vitals_LCP_value: 1200, $pathname: '/1' }),
      sent('$autocapture', click),
    ],
  })
  await project.createAction({ name: 'Paid', steps: [{ event: 'purchase' }] })
})
afterAll(() => waymark.close())

const queries: Readonly<Record<string, readonly [kind: string, query: object]>> = {
  ...Object.fromEntries(
    displays.map((display) => {
      const series =
        display === 'BoxPlot' ? [{ kind: 'EventsNode', event: 'purchase', math: 'avg', math_property: 'price' }] : steps.slice(0, 2)
      const wanted: Record<string, string> = {
        ActionsBar: 'bars',
        ActionsStackedBar: 'bars',
        ActionsUnstackedBar: 'bars',
        BoldNumber: 'number',
        Metric: 'number',
        ActionsPie: 'pie',
        ActionsBarValue: 'totals',
        ActionsTable: 'table',
        WorldMap: 'table',
        RegionMap: 'table',
        CalendarHeatmap: 'grid',
        BoxPlot: 'boxes',
      }
      return [`trend as ${display}`, [wanted[display] ?? 'lines', { kind: 'TrendsQuery', series, dateRange, trendsFilter: { display } }]]
    }),
  ),
  'a breakdown': ['lines', { kind: 'TrendsQuery', series: steps, dateRange, breakdownFilter: browsers }],
  'a comparison': [
    'lines',
    { kind: 'TrendsQuery', series: steps, dateRange: { date_from: '2026-01-04', date_to: '2026-01-06' }, compareFilter: { compare: true } },
  ],
  'a compared number': [
    'number',
    { kind: 'TrendsQuery', series: [steps[0]], dateRange, compareFilter: { compare: true }, trendsFilter: { display: 'BoldNumber' } },
  ],
  ...Object.fromEntries(
    (
      [
        ['CalendarHeatmap', 'grid'],
        ['BoxPlot', 'boxes'],
      ] as const
    ).map(([display, kind]) => {
      const series = [{ kind: 'EventsNode', event: 'purchase', math: 'avg', math_property: 'price' }]
      const query = {
        kind: 'TrendsQuery',
        series,
        dateRange: { date_from: '2026-01-04', date_to: '2026-01-06' },
        trendsFilter: { display },
      }
      return [`a compared ${display}`, [kind, { ...query, compareFilter: { compare: true } }]]
    }),
  ),
  'a formula': ['lines', { kind: 'TrendsQuery', series: steps, dateRange, trendsFilter: { formula: 'B / A' } }],
  'a minute': ['lines', { kind: 'TrendsQuery', series: steps, dateRange, interval: 'minute' }],
  'no event': ['lines', { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'never' }], dateRange }],
  funnel: ['funnel', { kind: 'FunnelsQuery', series: steps, dateRange }],
  'an empty funnel': ['nothing', { kind: 'FunnelsQuery', series: [{ kind: 'EventsNode', event: 'never' }, steps[0]], dateRange }],
  'a split funnel': ['funnel', { kind: 'FunnelsQuery', series: steps, dateRange, breakdownFilter: browsers }],
  'a compared funnel': [
    'funnel',
    {
      kind: 'FunnelsQuery',
      series: steps,
      dateRange: { date_from: '2026-01-04', date_to: '2026-01-06' },
      compareFilter: { compare: true },
    },
  ],
  'a funnel over time': ['lines', { kind: 'FunnelsQuery', series: steps, dateRange, funnelsFilter: { funnelVizType: 'trends' } }],
  'time to convert': ['bars', { kind: 'FunnelsQuery', series: steps, dateRange, funnelsFilter: { funnelVizType: 'time_to_convert' } }],
  'compared time to convert': [
    'bars',
    {
      kind: 'FunnelsQuery',
      series: steps,
      dateRange: { date_from: '2026-01-04', date_to: '2026-01-06' },
      funnelsFilter: { funnelVizType: 'time_to_convert' },
      compareFilter: { compare: true },
    },
  ],
  retention: [
    'grid',
    {
      kind: 'RetentionQuery',
      dateRange,
      retentionFilter: { totalIntervals: 7, targetEntity: { id: 'visit' }, returningEntity: { id: 'visit' } },
    },
  ],
  'a compared retention': [
    'grid',
    {
      kind: 'RetentionQuery',
      dateRange: { date_from: '2026-01-04', date_to: '2026-01-06' },
      compareFilter: { compare: true },
      retentionFilter: { totalIntervals: 3, targetEntity: { id: 'visit' }, returningEntity: { id: 'visit' } },
    },
  ],
  'split retention': [
    'grid',
    {
      kind: 'RetentionQuery',
      dateRange,
      breakdownFilter: browsers,
      retentionFilter: { totalIntervals: 4, targetEntity: { id: 'visit' }, returningEntity: { id: 'signup' } },
    },
  ],
  stickiness: ['lines', { kind: 'StickinessQuery', series: steps, dateRange }],
  'stickiness in bars': ['bars', { kind: 'StickinessQuery', series: steps, dateRange, stickinessFilter: { display: 'ActionsBar' } }],
  lifecycle: ['bars', { kind: 'LifecycleQuery', series: [steps[0]], dateRange }],
  paths: ['flow', { kind: 'PathsQuery', dateRange, pathsFilter: { includeEventTypes: ['$pageview', 'custom_event'] } }],
  'compared paths': [
    'flow',
    {
      kind: 'PathsQuery',
      dateRange: { date_from: '2026-01-04', date_to: '2026-01-06' },
      compareFilter: { compare: true },
      pathsFilter: { includeEventTypes: ['$pageview', 'custom_event'] },
    },
  ],
  correlation: [
    'table',
    {
      kind: 'FunnelCorrelationQuery',
      funnelCorrelationType: 'events',
      source: { kind: 'FunnelsActorsQuery', source: { kind: 'FunnelsQuery', series: steps, dateRange } },
    },
  ],
  actors: ['table', { kind: 'ActorsQuery', select: ['id', 'created_at'] }],
  events: ['table', { kind: 'EventsQuery', select: ['event', 'timestamp', 'properties.browser'], after: '2026-01-01' }],
  'hours of the week': ['grid', { kind: 'CalendarHeatmapQuery', series: steps.slice(0, 1), dateRange }],
  sessions: ['table', { kind: 'SessionsQuery', select: ['session_id', '$start_timestamp', '$pageview_count'], after: 'all' }],
  timeline: ['table', { kind: 'SessionsTimelineQuery', after: 'all' }],
  groups: ['table', { kind: 'GroupsQuery', group_type_index: 0 }],
  statement: ['table', { kind: 'SqlLikeQuery', query: 'select event, count() as n, max(timestamp) from events group by event' }],
  'web overview': ['table', { kind: 'WebOverviewQuery', dateRange, properties: [], compareFilter: { compare: true } }],
  'web table': ['table', { kind: 'WebStatsTableQuery', dateRange, properties: [], breakdownBy: 'Page', includeBounceRate: true }],
  'web goals': ['table', { kind: 'WebGoalsQuery', dateRange, properties: [] }],
  'web vitals': [
    'table',
    { kind: 'WebVitalsPathBreakdownQuery', dateRange, properties: [], metric: 'LCP', percentile: 'p75', thresholds: [2500, 4000] },
  ],
  'external clicks': ['table', { kind: 'WebExternalClicksTableQuery', dateRange, properties: [], stripQueryParams: true }],
  'searched addresses': ['table', { kind: 'WebPageURLSearchQuery', dateRange, properties: [], searchTerm: 'a' }],
  'a statement with bars': [
    'bars',
    {
      kind: 'DataVisualizationNode',
      display: 'ActionsBar',
      chartSettings: { xAxis: { column: 'event' }, yAxis: [{ column: 'n' }] },
      source: { kind: 'HogQLQuery', query: 'select event, count() as n from events group by event order by event' },
    },
  ],
  'a statement as a number': [
    'number',
    { kind: 'DataVisualizationNode', display: 'BoldNumber', source: { kind: 'HogQLQuery', query: 'select count() from events' } },
  ],
}

test.each(Object.entries(queries))('%s', async (_, [kind, query]) => {
  const answer = await project.answer(query, { refresh: 'force_blocking' })
  const inner = (query as { source?: { kind: string } }).source
  asked.add((query as { kind: string }).kind)
  if (inner && /Node$/.test((query as { kind: string }).kind)) asked.add(inner.kind)
  const chart = readChart(query, answer, 'Europe/Berlin')
  expect(chart.kind).toBe(kind)
  expect(parseXml(pictureOf(query, answer, { title: 'x', timezone: 'Europe/Berlin' })).name).toBe('svg')
  const { columns, rows } = chartRows(chart)
  for (const row of rows) expect(row).toHaveLength(columns.length)
  if (kind !== 'nothing') expect(rows.length).toBeGreaterThan(0)
})

const rowsOf = async (name: string) => {
  const [, query] = queries[name]!
  return chartRows(readChart(query, await project.answer(query), 'Europe/Berlin'))
}

test('a compared retention names the period of each row, and both have the same cells', async () => {
  const { rows } = await rowsOf('a compared retention')
  expect(rows.map(([label, , ...cells]) => [label, cells.map((text) => text !== '')])).toEqual([
    ['4 Jan', [true, true, true]],
    ['5 Jan', [true, true, false]],
    ['6 Jan', [true, false, false]],
    ['1 Jan (previous)', [true, true, true]],
    ['2 Jan (previous)', [true, true, false]],
    ['3 Jan (previous)', [true, false, false]],
  ])
})

test('a split retention names the values without a row of their own, and no value', async () => {
  const [, query] = queries['split retention']!
  const labels = async (limit: number) => {
    const breakdownFilter = { ...(query as { breakdownFilter: object }).breakdownFilter, breakdown_limit: limit }
    const { rows } = chartRows(readChart(query, await project.answer({ ...query, breakdownFilter }), 'Europe/Berlin'))
    return new Set(rows.map(([label]) => String(label).replace(/ \d+ \w+$/, '')))
  }
  expect(await labels(1)).toContain('Other')
  expect([...(await labels(25))].join()).not.toMatch(/\$\$/)
})

test('compared paths have the numbers of both periods', async () => {
  const { columns, rows } = await rowsOf('compared paths')
  expect(columns).toEqual(['From', 'To', 'Paths', 'Previous'])
  expect(rows.length).toBeGreaterThan(0)
  for (const [, , value, previous] of rows)
    expect([value, previous]).toEqual([expect.stringMatching(/^\d/), expect.stringMatching(/^\d|–/)])
})

/** Their answers are for programs. */
const withoutPicture = new Set([
  'InsightActorsQueryOptions',
  'HogQLMetadata',
  'HogQLAutocomplete',
  'DatabaseSchemaQuery',
  'TeamTaxonomyQuery',
  'EventTaxonomyQuery',
  'ActorsPropertyTaxonomyQuery',
  'ViewerQuery', // its answer is that of its source
])

test('every kind of query was asked', () => {
  expect(Object.keys(queryKinds).filter((kind) => !asked.has(kind) && !withoutPicture.has(kind))).toEqual([])
})
