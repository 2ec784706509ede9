import { queryAsked } from '../../queries/asked-query.ts'
import type { Alert, Dashboard, Insight, ProjectRecord, Subscription } from '../accounts/records.ts'
import { chartRows } from '../pictures/chart-rows.ts'
import { drawChart } from '../pictures/picture.ts'
import { readChart } from '../pictures/read-chart.ts'
import type { Checked } from './alert-value.ts'
import { type NoticeContent, type NoticeItem, recurrenceOf, thresholdOf } from './records.ts'
import { summaryOf } from './recurrence.ts'

// What a mail or a webhook says. Pure: answers come in.

export interface AnsweredInsight {
  readonly insight: Insight
  /** The JSON of the answer; null: there is none. */
  readonly answer: object | null
  readonly error: string | null
}

export interface ContentPlace {
  readonly project: ProjectRecord
  readonly siteUrl: string
  readonly now: Date
}

export const nameOf = (insight: Pick<Insight, 'name' | 'derived_name' | 'id'>): string =>
  insight.name || insight.derived_name || `Insight ${insight.id}`

const insightUrl = ({ siteUrl, project }: ContentPlace, insight: Insight) =>
  `${siteUrl}/#/project/${project.id}/insights/${insight.short_id}`

function itemOf({ insight, answer, error }: AnsweredInsight, place: ContentPlace): NoticeItem {
  const { timezone } = place.project
  const title = nameOf(insight)
  const chart = answer ? readChart(insight.query, answer, timezone) : null
  const { columns, rows, leftOut } = chart ? chartRows(chart) : { columns: [], rows: [], leftOut: [] }
  return {
    title,
    description: insight.description,
    insight: { id: insight.id, short_id: insight.short_id, name: title },
    url: insightUrl(place, insight),
    kind: queryAsked(insight.query).kind,
    columns,
    rows,
    leftOut,
    svg: chart ? drawChart(chart, { title, description: insight.description, timezone, asOf: place.now }) : null,
    error,
  }
}

export function alertContent(alert: Alert, checked: Checked, answered: AnsweredInsight, place: ContentPlace): NoticeContent {
  const name = alert.name || nameOf(answered.insight)
  const url = insightUrl(place, answered.insight)
  const source = {
    id: alert.id,
    name: alert.name,
    state: answered.error === null ? 'Firing' : 'Errored',
    calculated_value: checked.value,
    breaches: checked.breaches,
    condition: alert.condition,
    threshold: { type: thresholdOf(alert).type, bounds: { ...thresholdOf(alert).bounds } },
  }
  return {
    type: answered.error === null ? 'alert.firing' : 'alert.errored',
    subject: answered.error === null ? `Alert: ${name}` : `Alert could not be checked: ${name}`,
    lines: answered.error === null ? checked.breaches.slice(0, 20) : [answered.error],
    url,
    timezone: place.project.timezone,
    items: [itemOf(answered, place)],
    source,
  }
}

/** Without numbers: a test is of the way, not of the alert. */
/** As a notice of the alert looks, with the chart as it is now; null: its insight was deleted. */
export function alertTestContent(alert: Alert, answered: AnsweredInsight | null, place: ContentPlace): NoticeContent {
  const insight = answered?.insight ?? null
  const name = alert.name || (insight ? nameOf(insight) : `Alert ${alert.id}`)
  return {
    type: 'alert.test',
    subject: `Test: Alert: ${name}`,
    lines: ['This is a test. No value is outside its bounds: somebody checked whether notices of this alert arrive.'],
    url: insight ? insightUrl(place, insight) : place.siteUrl,
    timezone: place.project.timezone,
    items: answered ? [itemOf(answered, place)] : [],
    source: { id: alert.id, name: alert.name, state: alert.state, is_test: true },
  }
}

export function subscriptionContent(
  record: Subscription,
  dashboard: Dashboard | null,
  answered: readonly AnsweredInsight[],
  more: number,
  isTest: boolean,
  place: ContentPlace,
): NoticeContent {
  const first = answered[0]?.insight
  const name = record.title || (dashboard ? dashboard.name || `Dashboard ${dashboard.id}` : first ? nameOf(first) : 'Subscription')
  const rule = recurrenceOf(record, place.project.timezone)
  const url = dashboard
    ? `${place.siteUrl}/#/project/${place.project.id}/dashboards/${dashboard.id}`
    : first
      ? insightUrl(place, first)
      : place.siteUrl
  return {
    type: isTest ? 'subscription.test' : 'subscription.due',
    subject: `${isTest ? 'Test: ' : ''}${name} (${place.project.name})`,
    lines: [
      `You get this ${summaryOf(rule)}.`,
      ...(answered.length === 0 ? ['The dashboard has no insights.'] : []),
      ...(more > 0 ? [`The dashboard has ${more} more ${more === 1 ? 'insight' : 'insights'}.`] : []),
    ],
    url,
    timezone: place.project.timezone,
    items: answered.map((one) => itemOf(one, place)),
    source: { id: record.id, title: record.title, frequency: record.frequency, insight: record.insight_id, dashboard: record.dashboard_id },
  }
}
