import type { QueryContext } from '../kind.ts'
import { goalAction } from '../series/conversion-goal.ts'
import type { SeriesNode } from '../series/series.ts'
import type { CalendarHeatmap } from './heatmap.ts'
import { displayOf, type TrendsQuery } from './schema.ts'
import type { Unit } from './unit.ts'

// With a conversion goal, each series is also asked of the events of the goal: with its math, and the filters of the query. A heat map counts these.

type Goal = NonNullable<TrendsQuery['conversionGoal']>

/** The filters of a series are about its own events. */
function goalNode(node: SeriesNode, goal: Goal): SeriesNode {
  const { math, math_multiplier, math_property, math_property_type, math_hogql, math_group_type_index, name, custom_name } = node
  const shared = { math, math_multiplier, math_property, math_property_type, math_hogql, math_group_type_index, name, custom_name }
  return goal.customEventName == null
    ? { kind: 'ActionsNode', id: goal.actionId!, ...shared }
    : { kind: 'EventsNode', event: goal.customEventName, ...shared }
}

/** The query of the conversions; null without a goal. */
export function conversionsOf(query: TrendsQuery, env: Pick<QueryContext, 'action'>): TrendsQuery | null {
  const { conversionGoal: goal, series, ...rest } = query
  if (!goal) return null
  if (goal.customEventName == null) goalAction(goal, env)
  return { ...rest, series: series.map((node) => goalNode(node, goal)) }
}

/** What the persons of a number did: in a heat map they have converted. */
export const countedQuery = (query: TrendsQuery, env: Pick<QueryContext, 'action'>): TrendsQuery =>
  displayOf(query) === 'CalendarHeatmap' ? (conversionsOf(query, env) ?? query) : query

export const unitIn = (query: TrendsQuery, unit: Unit): Unit => ({ ...unit, node: query.series[unit.order]! })

const rateOf = (converted: number, all: number): number => (all === 0 ? 0 : converted / all)
export const ratesOf = (converted: readonly number[], all: readonly number[]): readonly number[] =>
  converted.map((number, i) => rateOf(number, all[i] ?? 0))

/** The cells of the conversions, with their share of what the series counts there. */
export function withRates(converted: CalendarHeatmap, all: CalendarHeatmap): CalendarHeatmap {
  const rated = <Cell extends { readonly row?: number; readonly column?: number; readonly value: number }>(
    cells: readonly Cell[],
    others: readonly Cell[],
  ): Cell[] => {
    const keyOf = ({ row, column }: Cell) => `${row} ${column}`
    const byKey = new Map(others.map((cell) => [keyOf(cell), cell.value]))
    return cells.map((cell) => ({ ...cell, rate: rateOf(cell.value, byKey.get(keyOf(cell)) ?? 0) }))
  }
  return {
    data: rated(converted.data, all.data),
    rowAggregations: rated(converted.rowAggregations, all.rowAggregations),
    columnAggregations: rated(converted.columnAggregations, all.columnAggregations),
    allAggregations: converted.allAggregations,
    rate: rateOf(converted.allAggregations, all.allAggregations),
  }
}
