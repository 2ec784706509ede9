import type { Table } from 'apache-arrow'
import { alias, call, equals, field, groupBy, literal, select } from '../../language/ast/build.ts'
import type { Expr } from '../../language/ast/nodes.ts'
import { print } from '../../language/ast/print.ts'
import { columnValues } from '../answers/rows.ts'
import { integers } from '../answers/vectors.ts'
import type { StatementAsk } from '../kind.ts'
import { eventsTable } from '../scope.ts'
import { type Breakdown, noBreakdown } from '../series/breakdown.ts'
import { allOf } from '../series/series-condition.ts'
import { type Group, toNumber } from './groups.ts'
import { mathOf } from './maths.ts'
import type { PlanContext } from './plan-context.ts'
import type { TrendsQuery } from './schema.ts'
import { scaleSample } from './transforms.ts'
import { timeFilter, type Unit } from './unit.ts'

/** Numbers by day of the week (Monday is 1) and hour of the day, in the project's time zone. Cells without events are left out. */
export interface CalendarHeatmap {
  readonly data: readonly { readonly row: number; readonly column: number; readonly value: number; readonly rate?: number }[]
  readonly rowAggregations: readonly { readonly row: number; readonly value: number; readonly rate?: number }[]
  readonly columnAggregations: readonly { readonly column: number; readonly value: number; readonly rate?: number }[]
  readonly allAggregations: number
  /** With a conversion goal: the share of conversions, as in each cell. */
  readonly rate?: number
}

type Parts = Readonly<Record<'row' | 'column', Expr>>
/** Of each event; or of the beginning of its session, so that a person counts once for a session that goes on for hours. */
function partsOf({ calendarHeatmapFilter: filter }: Pick<TrendsQuery, 'calendarHeatmapFilter'>, { node }: Pick<Unit, 'node'>): Parts {
  const isOfSession = filter?.bucketBySessionStart === true && node.math === 'dau'
  const at = isOfSession ? call('coalesce', field('session', '$start_timestamp'), field('timestamp')) : field('timestamp')
  return { row: call('toDayOfWeek', at), column: call('toHour', at) }
}
/** Uniques do not add up, so each sum is a statement of its own. */
const groupings: readonly (readonly (keyof Parts)[])[] = [['row', 'column'], ['row'], ['column'], []]
const hoursOfWeek = 7 * 24
const names = { row: 'row_number', column: 'column_number' } as const

/** The events of a cell, of its row or of its column. */
export function isInCell(
  { row, column }: { readonly row?: number | null | undefined; readonly column?: number | null | undefined },
  query: TrendsQuery,
  unit: Unit,
): Expr {
  const parts = partsOf(query, unit)
  return allOf(
    row == null ? literal(true) : equals(parts.row, literal(row)),
    column == null ? literal(true) : equals(parts.column, literal(column)),
  )
}

export function heatmapOf(context: PlanContext): readonly StatementAsk[] {
  const { unit, events } = context
  const { value, condition } = mathOf(unit).aggregate!({ ...context, size: hoursOfWeek })
  const parts = partsOf(context.query, unit)
  return groupings.map((keys) => ({
    kind: 'statement',
    label: `heat map of series ${unit.order}${keys.length > 0 ? ` by ${keys.join(' and ')}` : ''}`,
    query: select({
      columns: [...keys.map((key) => alias(parts[key], names[key])), alias(value, 'value')],
      from: eventsTable(context.query.samplingFactor),
      where: allOf(timeFilter(unit), events, condition),
      groupBy: groupBy(...keys.map((key) => field(names[key]))),
    }),
  }))
}

/** The same as breakdowns of a series with one number: one for each sum. */
export function heatmapBreakdowns(query: TrendsQuery, unit: Unit): readonly Breakdown[] {
  const parts = partsOf(query, unit)
  return groupings.map((keys) => ({
    ...noBreakdown,
    parts: keys.map((key) => ({
      property: print(parts[key]),
      type: 'hogql',
      groupTypeIndex: null,
      normalizeUrl: false,
      binCount: null,
      attr: 'trendsFilter__display',
    })),
  }))
}

interface Cell {
  /** The numbers of its row and its column, of those that it has. */
  readonly at: readonly number[]
  readonly value: number
}

export function readHeatmap(tables: readonly Table[], unit: Unit, query: TrendsQuery): CalendarHeatmap {
  return heatmapOfCells(
    groupings.map((keys, i) => {
      const columns = keys.map((key) => integers(tables[i]!, names[key]))
      const values = columnValues(tables[i]!.getChild('value')!, 'UTC').map(toNumber)
      return values.map((value, row) => ({ at: columns.map((column) => column[row]!), value }))
    }),
    unit,
    query,
  )
}

export const heatmapOfGroups = (groups: readonly (readonly Group[])[], unit: Unit, query: TrendsQuery): CalendarHeatmap =>
  heatmapOfCells(
    groups.map((found) => found.map(({ parts, data }) => ({ at: parts.map(Number), value: data[0]! }))),
    unit,
    query,
  )

function heatmapOfCells(found: readonly (readonly Cell[])[], { node }: Unit, query: TrendsQuery): CalendarHeatmap {
  const [cells, rows, columns, all] = found.map((some) => {
    const values = scaleSample(
      some.map(({ value }) => value),
      query.samplingFactor,
      node.math ?? 'total',
    )
    return some.map(({ at }, i) => ({ at, value: values[i]! })).sort((a, b) => a.at[0]! - b.at[0]! || a.at[1]! - b.at[1]!)
  })
  return {
    data: cells!.map(({ at: [row, column], value }) => ({ row: row!, column: column!, value })),
    rowAggregations: rows!.map(({ at: [row], value }) => ({ row: row!, value })),
    columnAggregations: columns!.map(({ at: [column], value }) => ({ column: column!, value })),
    allAggregations: all![0]?.value ?? 0,
  }
}
