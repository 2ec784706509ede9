import type { Chart } from './chart.ts'
import { funnelsChart } from './charts/funnels.ts'
import { correlationChart, lifecycleChart, pathsChart, stickinessChart, tableChart } from './charts/others.ts'
import { retentionChart } from './charts/retention.ts'
import { trendsChart } from './charts/trends.ts'
import { type Fields, fieldsOf } from './charts/values.ts'

const readers: Readonly<Record<string, (query: Fields, answer: Fields, timezone: string) => Chart>> = {
  TrendsQuery: trendsChart,
  FunnelsQuery: funnelsChart,
  RetentionQuery: retentionChart,
  StickinessQuery: stickinessChart,
  LifecycleQuery: lifecycleChart,
  PathsQuery: pathsChart,
  FunnelCorrelationQuery: correlationChart,
}

/** The query whose answer it is: others only say how it is shown. */
export function shownQuery(query: unknown): Fields {
  let fields = fieldsOf(query)
  for (let depth = 0; depth < 5 && /^(DataTable|DataVisualization|InsightViz)Node$/.test(String(fields.kind)); depth++)
    fields = fieldsOf(fields.source)
  return fields
}

/** What a picture of an answer shows. Kinds without a picture of their own are tables. */
export function readChart(query: unknown, answer: unknown, timezone: string): Chart {
  const fields = shownQuery(query)
  const kind = String(fields.kind)
  const reader = Object.hasOwn(readers, kind) ? readers[kind]! : tableChart
  return reader(fields, fieldsOf(answer), timezone)
}
