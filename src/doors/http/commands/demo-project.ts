import type { LocalWaymark } from '../../../engine.ts'
import type { ActingMember } from '../../../service/accounts/acting-member.ts'
import type { ProjectRecord } from '../../../service/accounts/records.ts'
import { demoEvents } from './demo-events.ts'

// What a demo project begins with: the events of a shop, a dashboard that tells of them, and an action, cohorts, a flag, annotations and a view.

const event = (name: string, more: object = {}) => ({ kind: 'EventsNode', event: name, name, ...more })
const lastMonth = { dateRange: { date_from: '-30d' } }
const steps = ['$pageview', 'product added', 'checkout started', 'purchase']

const compared = { compareFilter: { compare: true } }
const number = (series: object, format: object = {}) => ({
  kind: 'TrendsQuery',
  series: [series],
  ...lastMonth,
  ...compared,
  trendsFilter: { display: 'BoldNumber', ...format },
})

/** A saved statement, which others read as a table. */
const view = {
  name: 'orders',
  query: {
    kind: 'HogQLQuery',
    query: `select
  timestamp,
  person_id,
  person.properties.email as customer,
  properties.product as product,
  properties.category as category,
  toFloat(properties.items) as items,
  toFloat(properties.$revenue) as revenue
from events
where event = 'purchase'`,
  },
}
/** Reads the view; dates and filters of a dashboard hold for it. */
const statement = (query: string, display: object) => ({
  kind: 'DataVisualizationNode',
  source: { kind: 'HogQLQuery', query, filters: lastMonth },
  ...display,
})

interface DemoInsight {
  readonly name: string
  readonly query: object
}
/** A third of the width each. */
const numbers: readonly DemoInsight[] = [
  { name: 'Visitors', query: number(event('$pageview', { math: 'dau' })) },
  { name: 'Sign-ups', query: number(event('signed up')) },
  {
    name: 'Revenue',
    query: number(event('purchase', { math: 'sum', math_property: '$revenue' }), { aggregationAxisPrefix: '€', decimalPlaces: 0 }),
  },
]
/** Half of the width each. */
const charts: readonly DemoInsight[] = [
  {
    name: 'Visitors per day',
    query: {
      kind: 'TrendsQuery',
      series: [event('$pageview', { math: 'dau' })],
      interval: 'day',
      ...lastMonth,
      ...compared,
    },
  },
  {
    name: 'From a visit to a purchase',
    query: { kind: 'FunnelsQuery', series: steps.map((step) => event(step)), ...lastMonth, funnelsFilter: { funnelWindowInterval: 14 } },
  },
  {
    name: 'Revenue by plan',
    query: {
      kind: 'TrendsQuery',
      series: [event('purchase', { math: 'sum', math_property: '$revenue' })],
      interval: 'week',
      dateRange: { date_from: '-8w' },
      breakdownFilter: { breakdown: 'plan', breakdown_type: 'person' },
      trendsFilter: { display: 'ActionsBar' },
    },
  },
  {
    name: 'Who comes back',
    query: {
      kind: 'RetentionQuery',
      dateRange: { date_from: '-7w' },
      retentionFilter: {
        period: 'Week',
        totalIntervals: 7,
        retentionType: 'retention_first_time',
        targetEntity: { id: '$pageview', name: '$pageview', type: 'events' },
        returningEntity: { id: '$pageview', name: '$pageview', type: 'events' },
      },
    },
  },
  {
    name: 'Countries',
    query: {
      kind: 'TrendsQuery',
      series: [event('$pageview', { math: 'dau' })],
      ...lastMonth,
      breakdownFilter: { breakdown: '$geoip_country_code', breakdown_type: 'event' },
      trendsFilter: { display: 'WorldMap' },
    },
  },
  {
    name: 'Paths through the shop',
    query: {
      kind: 'PathsQuery',
      dateRange: { date_from: '-7d' },
      pathsFilter: { includeEventTypes: ['$pageview'], stepLimit: 4, edgeLimit: 20 },
    },
  },
  {
    name: 'Revenue by category',
    query: statement(
      `select category, round(sum(revenue)) as revenue
from orders
where {filters}
group by category
order by revenue desc`,
      { display: 'ActionsBar', chartSettings: { xAxis: { column: 'category' }, yAxis: [{ column: 'revenue' }] } },
    ),
  },
  {
    name: 'Best customers',
    query: statement(
      `select customer, count() as orders, sum(items) as items, round(sum(revenue), 2) as revenue
from orders
where {filters}
group by customer
order by revenue desc
limit 10`,
      { display: 'ActionsTable' },
    ),
  },
]

const columns = 12
/** So many in a row, from a height on. */
const inRows = (all: readonly DemoInsight[], inRow: number, h: number, from: number) =>
  all.map((one, i) => {
    const w = columns / inRow
    return { ...one, layout: { x: (i % inRow) * w, y: from + Math.floor(i / inRow) * h, w, h } }
  })
/** Names for what is asked for often, in lists that would be empty otherwise. */
const actions = [
  {
    name: 'Opened the cart',
    description: 'Looked at the cart, or began to check out.',
    steps: [{ event: '$pageview', url: '/cart', url_matching: 'contains' }, { event: 'checkout started' }],
  },
]
const condition = (value: object) => ({ properties: { type: 'AND', values: [{ type: 'AND', values: [value] }] } })
const cohorts = [
  {
    name: 'Customers',
    description: 'Bought something in the last 90 days.',
    filters: condition({
      type: 'behavioral',
      value: 'performed_event',
      key: 'purchase',
      event_type: 'events',
      time_value: 90,
      time_interval: 'day',
    }),
  },
  {
    name: 'Paying plans',
    description: 'On the plan pro or team.',
    filters: condition({ type: 'person', key: 'plan', value: ['pro', 'team'], operator: 'exact' }),
  },
]
const flags = [
  {
    key: 'express-checkout',
    name: 'Checkout on one page, for half of the people on a paying plan.',
    filters: {
      groups: [{ properties: [{ type: 'person', key: 'plan', operator: 'exact', value: ['pro', 'team'] }], rollout_percentage: 50 }],
    },
  },
]
/** So many days ago. */
const notes = [
  { content: 'Newsletter: autumn campaign', daysAgo: 21 },
  { content: 'New product page', daysAgo: 9 },
]
const dayMs = 86_400_000

const insights = [...inRows(numbers, 3, 2, 0), ...inRows(charts, 2, 5, 2)]

export async function fillDemo(waymark: LocalWaymark, record: ProjectRecord, by: ActingMember): Promise<void> {
  const project = await waymark.project(record.id)
  await project.ingest({ batch: demoEvents(waymark.clock()), historical_migration: true })
  const { saved } = waymark
  const place = { by, project: record }
  const { primary_dashboard: id } = record.settings as { readonly primary_dashboard?: number | null }
  const about = { name: 'The shop', pinned: true }
  const { dashboard } = await (id ? saved.dashboards.update(place, id, about) : saved.dashboards.create(place, about))
  await saved.views.create(place, view, { name: `user ${by.user.id}` })
  for (const { name, query } of insights) {
    const isStatement = 'kind' in query && query.kind === 'DataVisualizationNode'
    await saved.insights.create(place, {
      name,
      query: isStatement ? query : { kind: 'InsightVizNode', source: query },
      dashboards: [dashboard.id],
    })
  }
  for (const action of actions) await project.actions.create(action, by.user.id)
  for (const cohort of cohorts) await project.cohorts.create(cohort, by.user.id)
  for (const flag of flags) await waymark.flags.records.create(place, flag)
  for (const { content, daysAgo } of notes)
    await saved.annotations.create(place, { content, date_marker: new Date(waymark.clock().getTime() - daysAgo * dayMs).toISOString() })
  const { tiles } = await saved.dashboards.whole(dashboard)
  await saved.dashboards.update(place, dashboard.id, {
    tiles: tiles.map(({ tile: { id } }, i) => ({ id, layouts: { sm: insights[i]!.layout } })),
  })
}
