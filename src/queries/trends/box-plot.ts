import type { Table } from 'apache-arrow'
import { ofBox } from '../../core/folds/series/spread.ts'
import { alias, call, callWith, field, from, groupBy, literal, select } from '../../language/ast/build.ts'
import type { Expr, Query } from '../../language/ast/nodes.ts'
import { doubles, integers } from '../answers/vectors.ts'
import { alongAll, folded, type QueryContext, type QueryRun } from '../kind.ts'
import { Refusal, refuse } from '../refusals.ts'
import { at, eventsTable } from '../scope.ts'
import { noBreakdown } from '../series/breakdown.ts'
import { allOf, nodeName } from '../series/series-condition.ts'
import { bucketNumber } from '../time/bucket-number.ts'
import { bucketDay, bucketLabel } from '../time/buckets.ts'
import { type PeriodLabel, periodLabel } from '../time/comparison.ts'
import { numberOf } from './aggregate-math.ts'
import type { Measure } from './expression-measures.ts'
import { listedUnit, measuring } from './listed.ts'
import { displayOf, type TrendsQuery } from './schema.ts'
import { eventsOf, timeFilter, type Unit } from './unit.ts'

/** The spread of a property in one bucket; all zero without a number. */
export interface BoxPlotDatum extends PeriodLabel {
  readonly day: string
  readonly label: string
  readonly min: number
  readonly p25: number
  readonly median: number
  readonly p75: number
  readonly max: number
  readonly mean: number
  /** How many numbers there are. */
  readonly count: number
  readonly series_index: number
  readonly series_label: string
}

const measures = ['min', 'p25', 'median', 'p75', 'max', 'mean', 'count'] as const
/** Numbers of each box. */
export const boxNumbers = measures.length
type MeasureName = (typeof measures)[number]
type Box = Readonly<Record<MeasureName, number>> & { readonly bucket: number }

/** A number is the level of a quantile. */
const reductions: Readonly<Record<MeasureName, string | number>> = {
  min: 'min',
  p25: 0.25,
  median: 0.5,
  p75: 0.75,
  max: 'max',
  mean: 'avg',
  count: 'count',
}
const reduced = (reduction: string | number, number: Expr): Expr =>
  typeof reduction === 'number' ? callWith('quantile', { params: [literal(reduction)], args: [number] }) : call(reduction, number)

/** A box is about the numbers of the events, whatever its series would count. */
export const plainBoxes = (query: TrendsQuery): TrendsQuery =>
  displayOf(query) === 'BoxPlot'
    ? { ...query, series: query.series.map((node) => ({ ...node, math: 'avg' as const, math_group_type_index: null })) }
    : query

/** The events whose number is in a box. */
export const isInBox = (unit: Unit, env: QueryContext): Expr => call('isNotNull', numberOf(unit, env))

/** The boxes of each unit. */
export function* boxPlots(units: readonly Unit[], query: TrendsQuery, env: QueryContext): QueryRun<readonly BoxPlotDatum[]> {
  const found = yield* alongAll(
    units.map((unit) => ({
      label: labelOf(unit),
      lists: () => listedBoxes(unit, query, env),
      statement: () => ({ query: boxStatement(unit, query, env), read: readBoxes }),
    })),
  )
  return units.flatMap((unit, i) => withEmptyBoxes(found[i]!, unit).map((box) => datumOf(box, unit, query, env)))
}

const labelOf = ({ order, period }: Unit): string => `box plot of series ${order}, ${period} period`

/** The numbers of a bucket as the fold writes them. */
const foldedNumbers = ['min', 'p25', 'median', 'p75', 'max', 'count', 'mean'] as const

function* listedBoxes(unit: Unit, query: TrendsQuery, env: QueryContext): QueryRun<readonly Box[] | Refusal> {
  if (query.madeSessions) return refuse('sessions-made')
  const measure: Measure = { condition: literal(true), value: { number: numberOf(unit, env), reduction: ofBox } }
  const groups = yield* folded(labelOf(unit), listedUnit(unit, query, noBreakdown, [], env, measuring(measure)))
  if (groups instanceof Refusal) return groups
  const data = groups[0]?.data ?? []
  const numberAt = (bucket: number, name: (typeof foldedNumbers)[number]) =>
    data[bucket * foldedNumbers.length + foldedNumbers.indexOf(name)]!
  const buckets = Array.from({ length: data.length / foldedNumbers.length }, (_, bucket) => bucket)
  return buckets.filter((bucket) => numberAt(bucket, 'count') > 0).map((bucket) => boxOf(bucket, (name) => numberAt(bucket, name)))
}

function withEmptyBoxes(boxes: readonly Box[], { edges }: Unit): readonly Box[] {
  const byBucket = new Map(boxes.map((box) => [box.bucket, box]))
  return Array.from({ length: edges!.length - 1 }, (_, bucket) => byBucket.get(bucket) ?? boxOf(bucket, () => 0))
}

const boxOf = (bucket: number, value: (name: MeasureName) => number): Box => ({
  bucket,
  ...(Object.fromEntries(measures.map((name) => [name, value(name)])) as Record<MeasureName, number>),
})

function boxStatement(unit: Unit, query: TrendsQuery, env: QueryContext): Query {
  const number = field('number')
  const numbers = select({
    columns: [alias(bucketNumber(at, unit.edges!), 'bucket'), alias(numberOf(unit, env), 'number')],
    from: eventsTable(query.samplingFactor),
    where: allOf(timeFilter(unit), eventsOf(unit, query, env)),
  })
  return select({
    columns: [field('bucket'), ...measures.map((name) => alias(reduced(reductions[name], number), `${name}_value`))],
    from: from(numbers, 'numbers_found'),
    where: call('isNotNull', number),
    groupBy: groupBy(field('bucket')),
  })
}

function readBoxes(table: Table): readonly Box[] {
  const columns = Object.fromEntries(measures.map((name) => [name, doubles(table, `${name}_value`)])) as Record<MeasureName, Float64Array>
  return Array.from(integers(table, 'bucket'), (bucket, row) => boxOf(bucket, (name) => columns[name][row]!)).sort(
    (a, b) => a.bucket - b.bucket,
  )
}

const datumOf = (
  { bucket, ...values }: Box,
  { order, period, edges, range, node }: Unit,
  query: TrendsQuery,
  env: QueryContext,
): BoxPlotDatum => ({
  day: bucketDay(edges![bucket]!, range),
  label: bucketLabel(edges![bucket]!, range),
  ...values,
  series_index: order,
  series_label: nodeName(node, env) ?? 'All events',
  ...periodLabel(period, query.compareFilter?.compare === true),
})
