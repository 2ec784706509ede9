import type { Table } from 'apache-arrow'
import { alias, call, callWith, field, from, groupBy, literal, select } from '../../ast/build.ts'
import type { Expr } from '../../ast/nodes.ts'
import { bucketNumber } from '../bucket-number.ts'
import { bucketDay, bucketLabel } from '../buckets.ts'
import { type PeriodLabel, periodLabel } from '../comparison.ts'
import type { QueryContext, StatementAsk } from '../kind.ts'
import { at, eventsTable } from '../scope.ts'
import { allOf, nodeName } from '../series-condition.ts'
import { doubles, integers } from '../vectors.ts'
import { numberOf } from './aggregate-math.ts'
import { displayOf, type TrendsQuery } from './schema.ts'
import { eventsOf, timeFilter, type Unit } from './unit.ts'

/** The spread of a property in one bucket. Buckets without a number are left out. */
export interface BoxPlotDatum extends PeriodLabel {
  readonly day: string
  readonly label: string
  readonly min: number
  readonly q1: number
  readonly median: number
  readonly q3: number
  readonly max: number
  readonly mean: number
  readonly series_index: number
  readonly series_label: string
}

const measures = ['min', 'q1', 'median', 'q3', 'max', 'mean'] as const
const quartile = (level: number, number: Expr) => callWith('quantile', { params: [literal(level)], args: [number] })

/** A box is about the numbers of the events, whatever its series would count. */
export const plainBoxes = (query: TrendsQuery): TrendsQuery =>
  displayOf(query) === 'BoxPlot'
    ? { ...query, series: query.series.map((node) => ({ ...node, math: 'avg' as const, math_group_type_index: null })) }
    : query

/** The events whose number is in a box. */
export const isInBox = (unit: Unit, env: QueryContext): Expr => call('isNotNull', numberOf(unit, env))

export function boxPlotOf(unit: Unit, query: TrendsQuery, env: QueryContext): StatementAsk {
  const number = field('number')
  const values: Readonly<Record<(typeof measures)[number], Expr>> = {
    min: call('min', number),
    q1: quartile(0.25, number),
    median: quartile(0.5, number),
    q3: quartile(0.75, number),
    max: call('max', number),
    mean: call('avg', number),
  }
  const numbers = select({
    columns: [alias(bucketNumber(at, unit.edges!), 'bucket'), alias(numberOf(unit, env), 'number')],
    from: eventsTable(query.samplingFactor),
    where: allOf(timeFilter(unit), eventsOf(unit, query, env)),
  })
  return {
    kind: 'statement',
    label: `box plot of series ${unit.order}`,
    query: select({
      columns: [field('bucket'), ...measures.map((name) => alias(values[name], `${name}_value`))],
      from: from(numbers, 'numbers_found'),
      where: call('isNotNull', number),
      groupBy: groupBy(field('bucket')),
    }),
  }
}

export function readBoxPlot(
  table: Table,
  { order, period, edges, range, node }: Unit,
  query: TrendsQuery,
  env: QueryContext,
): BoxPlotDatum[] {
  const buckets = integers(table, 'bucket')
  const columns = measures.map((name) => doubles(table, `${name}_value`))
  return Array.from(buckets, (bucket, row) => ({ bucket, row }))
    .sort((a, b) => a.bucket - b.bucket)
    .map(({ bucket, row }) => ({
      day: bucketDay(edges![bucket]!, range),
      label: bucketLabel(edges![bucket]!, range),
      ...(Object.fromEntries(measures.map((name, i) => [name, columns[i]![row]!])) as Record<(typeof measures)[number], number>),
      series_index: order,
      series_label: nodeName(node, env) ?? 'All events',
      ...periodLabel(period, query.compareFilter?.compare === true),
    }))
}
