import type { ActingMember } from '../accounts/acting-member.ts'
import type { ProjectRecord } from '../accounts/records.ts'
import type { Waymark } from '../engine.ts'
import { demoEvents } from './demo-events.ts'

// What a demo project begins with: the events of a shop, and a dashboard that tells of them.

const event = (name: string, more: object = {}) => ({ kind: 'EventsNode', event: name, name, ...more })
const lastMonth = { dateRange: { date_from: '-30d' } }
const steps = ['$pageview', 'product added', 'checkout started', 'purchase']

/** Half of the width each, two in a row. */
const insights: readonly { readonly name: string; readonly query: object }[] = [
  {
    name: 'Visitors per day',
    query: {
      kind: 'TrendsQuery',
      series: [event('$pageview', { math: 'dau' })],
      interval: 'day',
      ...lastMonth,
      compareFilter: { compare: true },
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
]
const [width, height] = [6, 5]

export async function fillDemo(waymark: Waymark, record: ProjectRecord, by: ActingMember): Promise<void> {
  const project = await waymark.project(record.id)
  await project.ingest({ batch: demoEvents(waymark.clock()), historical_migration: true })
  const { saved } = waymark
  const place = { by, project: record }
  const { primary_dashboard: id } = record.settings as { readonly primary_dashboard?: number | null }
  const about = { name: 'The shop', pinned: true }
  const { dashboard } = await (id ? saved.dashboards.update(place, id, about) : saved.dashboards.create(place, about))
  for (const { name, query } of insights)
    await saved.insights.create(place, { name, query: { kind: 'InsightVizNode', source: query }, dashboards: [dashboard.id] })
  const { tiles } = await saved.dashboards.whole(dashboard)
  await saved.dashboards.update(place, dashboard.id, {
    tiles: tiles.map(({ tile: { id } }, i) => ({
      id,
      layouts: { sm: { x: (i % 2) * width, y: Math.floor(i / 2) * height, w: width, h: height } },
    })),
  })
}
