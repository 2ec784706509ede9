import { mostCells } from '../answers/cells.ts'
import type { QueryContext } from '../kind.ts'
import { nodeName } from '../series/series-condition.ts'
import { bucketDay, bucketEdges, bucketLabel } from '../time/buckets.ts'
import { type Period, type PeriodLabel, periodLabel, shownRange } from '../time/comparison.ts'
import { isoInstant, type ResolvedRange } from '../time/dates.ts'
import type { CalendarHeatmap } from './heatmap.ts'
import { isCumulative, isTotal, type TrendsQuery } from './schema.ts'

/** One line of a chart, or one number. */
export interface TrendsRow extends PeriodLabel {
  data: number[] | null
  days: string[]
  labels: string[]
  count: number
  aggregated_value?: number
  label: string
  action: TrendsAction | null
  filter: Readonly<Record<string, unknown>>
  order: number
  breakdown_value?: BreakdownValue
  /** The same as people read it: `(none)`, `Other`, the name of a cohort. */
  breakdown_label?: string
  /** Of a slope graph: its last bucket is not over yet. */
  incomplete_end?: boolean
  /** With a conversion goal: the number over the events of the goal, and its share of `data`, by interval. */
  conversions?: readonly number[]
  conversion_rates?: readonly number[]
  /** Of a calendar heat map. */
  calendar_heatmap_data?: CalendarHeatmap
}
export type BreakdownValue = string | number | readonly string[]

export interface TrendsAction {
  readonly days: readonly string[]
  readonly id: string | null
  readonly type: 'events'
  readonly order: number
  readonly name: string
  readonly custom_name: string | null
  readonly math: string | null
  readonly math_property: string | null
  readonly math_hogql: string | null
  readonly math_group_type_index: number | null
  readonly properties: Readonly<Record<string, never>>
}

export interface Axis {
  readonly days: string[]
  readonly labels: string[]
  /** Starts of the buckets as instants, also where a row is one number. */
  readonly instants: string[]
}

/** `rows`: how many have this axis. Those of one number repeat only the times of the range, which are left out where that is too much. */
export function axisOf(range: ResolvedRange, isNumber: boolean, rows: number): Axis {
  const starts = bucketEdges(range).slice(0, -1)
  if (isNumber && starts.length * rows > mostCells) return { days: [], labels: [], instants: [] }
  return {
    days: isNumber ? [] : starts.map((start) => bucketDay(start, range)),
    labels: isNumber ? [] : starts.map((start) => bucketLabel(start, range)),
    instants: starts.map((start) => isoInstant(start, range.calendar.zone)),
  }
}

export interface Line {
  readonly order: number
  readonly period: Period
  readonly data: readonly number[]
  /** null without a breakdown. */
  readonly breakdown: {
    readonly value: BreakdownValue
    readonly label: string
    /** As people read it. */
    readonly name: string
    /** The label has the name of the series in front, as it has with several series. */
    readonly namesSeries?: boolean
  } | null
}

export function rowOf(line: Line, query: TrendsQuery, env: QueryContext, axis: Axis, filter: TrendsRow['filter']): TrendsRow {
  const node = query.series[line.order]!
  const name = nodeName(node, env)
  const label = name ?? 'All events'
  const isNumber = isTotal(query)
  const sum = line.data.reduce((total, value) => total + value, 0)
  const namesSeries = query.series.length > 1 || line.breakdown?.namesSeries
  return {
    data: isNumber ? [] : (line.data as number[]), // nobody else has it: a copy of a long line takes its memory again
    days: axis.days,
    labels: axis.labels,
    count: isNumber ? 0 : isCumulative(query) ? (line.data.at(-1) ?? 0) : sum,
    ...(isNumber && { aggregated_value: line.data[0] ?? 0 }),
    label: line.breakdown ? (namesSeries ? `${label} - ${line.breakdown.label}` : line.breakdown.label) : label,
    action: {
      days: axis.instants,
      id: name,
      type: 'events',
      order: line.order,
      name: label,
      custom_name: node.custom_name ?? null,
      math: node.math ?? null,
      math_property: node.math_property ?? null,
      math_hogql: node.math_hogql ?? null,
      math_group_type_index: node.math_group_type_index ?? null,
      properties: {},
    },
    filter,
    order: line.order,
    ...(line.breakdown && { breakdown_value: line.breakdown.value, breakdown_label: line.breakdown.name }),
    ...periodLabel(line.period, query.compareFilter?.compare === true),
  }
}

/** The query as saved charts described it before query objects. */
export function filterOf(query: TrendsQuery, range: ResolvedRange): TrendsRow['filter'] {
  const all: Record<string, unknown> = {
    insight: 'TRENDS',
    properties: query.properties,
    filter_test_accounts: query.filterTestAccounts,
    ...shownRange(range),
    entity_type: 'events',
    sampling_factor: query.samplingFactor,
    aggregation_group_type_index: query.aggregation_group_type_index,
    interval: query.interval ?? range.interval,
    ...query.trendsFilter,
    ...query.breakdownFilter,
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null && value !== undefined))
}
