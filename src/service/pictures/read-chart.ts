import type { Chart } from './chart.ts'
import { funnelsChart } from './charts/funnels.ts'
import { correlationChart, lifecycleChart, pathsChart, stickinessChart, tableChart, timelineChart } from './charts/others.ts'
import { retentionChart } from './charts/retention.ts'
import { statementChart } from './charts/statement.ts'
import { calendarHeatmapChart, trendsChart } from './charts/trends.ts'
import { type Fields, fieldsOf } from './charts/values.ts'
import { overviewChart, vitalsPathsChart, webTableChart } from './charts/web.ts'

const readers: Readonly<Record<string, (query: Fields, answer: Fields, timezone: string) => Chart>> = {
  TrendsQuery: trendsChart,
  FunnelsQuery: funnelsChart,
  RetentionQuery: retentionChart,
  StickinessQuery: stickinessChart,
  LifecycleQuery: lifecycleChart,
  PathsQuery: pathsChart,
  FunnelCorrelationQuery: correlationChart,
  CalendarHeatmapQuery: calendarHeatmapChart,
  SessionsTimelineQuery: timelineChart,
  WebOverviewQuery: overviewChart,
  WebStatsTableQuery: webTableChart,
  WebGoalsQuery: webTableChart,
  WebExternalClicksTableQuery: webTableChart,
  WebVitalsPathBreakdownQuery: vitalsPathsChart,
}

/** The query whose answer it is: others only say how it is shown. */
function shownQuery(query: unknown): Fields {
  let fields = fieldsOf(query)
  for (let depth = 0; depth < 5 && /^(DataTable|DataVisualization|InsightViz)Node$/.test(String(fields.kind)); depth++)
    fields = fieldsOf(fields.source)
  return fields
}

/** The node around a statement, which may say that its columns are a chart. */
function visualization(query: unknown): Fields | null {
  const fields = fieldsOf(query)
  if (fields.kind === 'DataVisualizationNode') return fields
  return /^(DataTable|InsightViz)Node$/.test(String(fields.kind)) ? visualization(fields.source) : null
}

/** What a picture of an answer shows. Kinds without a picture of their own are tables. */
export function readChart(query: unknown, answer: unknown, timezone: string): Chart {
  const shown = visualization(query)
  const columns = shown && statementChart(shown, fieldsOf(answer), timezone)
  if (columns) return columns
  const fields = shownQuery(query)
  const kind = String(fields.kind)
  const reader = Object.hasOwn(readers, kind) ? readers[kind]! : tableChart
  return reader(fields, fieldsOf(answer), timezone)
}
