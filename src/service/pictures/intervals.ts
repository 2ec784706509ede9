import { type Axis, axisOf, besideAxes, type Plot, rangeOf } from './axes.ts'
import type { Chart, Series } from './chart.ts'
import { percentages } from './format.ts'
import { bands, linear, logarithmic, points, type Scale, stacked } from './scales.ts'
import { type Area, type Drawn, legend } from './sheet.ts'

export type TimeChart = Extract<Chart, { kind: 'lines' | 'bars' }>

export const isStack = (chart: TimeChart): boolean => (chart.kind === 'lines' ? chart.isFilled : chart.isStacked)
export const isPercentStack = (chart: TimeChart): boolean => isStack(chart) && chart.look.isPercent

/** Values as shares of all that stand above each other with them. */
function sharesOf(rows: readonly (readonly (number | null)[])[]): readonly (readonly (number | null)[])[] {
  const totals: number[] = []
  for (const row of rows) for (const [i, value] of row.entries()) totals[i] = (totals[i] ?? 0) + Math.abs(value ?? 0)
  return rows.map((row) => row.map((value, i) => (value === null || totals[i] === 0 ? null : (100 * value) / totals[i]!)))
}

type Spans = readonly (readonly (readonly [from: number, to: number])[])[]

/** From where to where each value of a stack reaches. Null: they do not stand on top of each other. */
export function spansOf(chart: TimeChart): Spans | null {
  if (!isStack(chart)) return null
  const rows = chart.series.map(({ values }) => values)
  return stacked(isPercentStack(chart) ? sharesOf(rows) : rows)
}

export interface TimePlot extends Plot {
  readonly names: Drawn
  readonly spans: Spans | null
  /** The axis of the series that are not those of the left one. */
  readonly right: Axis | null
  scaleOf(series: Series): Scale
}

function scaleFor(values: readonly (number | null)[], isLogarithmic: boolean, area: Area): Scale {
  return (isLogarithmic ? logarithmic(values, rangeOf(area)) : null) ?? linear(values, rangeOf(area))
}

/** Where the axes are, and the names above them. */
export function timePlot(chart: TimeChart, { left, top, right: edge, bottom }: Area): TimePlot {
  const names = legend(chart.series, { left, top, right: edge, bottom }, chart.isNamedApart)
  const area = { left, top: top + names.height + (chart.look.hasValues ? 16 : 6), right: edge - 8, bottom }
  const spans = spansOf(chart)
  const isRight = (series: Series) => !spans && series.isRight === true
  const numbers = (side: boolean) => chart.series.filter((one) => isRight(one) === side).flatMap(({ values }) => values)
  const goals = chart.look.goals.map(({ value }) => value)
  const isLogarithmic = chart.look.isLogarithmic && !spans
  const own = spans ? spans.flat(2) : numbers(false)
  const format = isPercentStack(chart) ? percentages : chart.format
  const axis = axisOf(scaleFor([...own, ...goals], isLogarithmic, area), format)
  const hasRight = chart.series.some(isRight)
  const right = hasRight ? axisOf(scaleFor(numbers(true), isLogarithmic, area), chart.format) : null
  return {
    area: besideAxes(area, axis, right),
    scale: axis.scale,
    marks: axis.marks,
    names,
    spans,
    right,
    scaleOf: (series) => (right && isRight(series) ? right.scale : axis.scale),
  }
}

/** Where the middle of each interval is. */
export function placesOf(chart: TimeChart, { area }: Plot): (index: number) => number {
  const range = [area.left, area.right] as const
  return chart.kind === 'lines' ? points(chart.labels.length, range) : bands(chart.labels.length, range).centre
}

/** The intervals of a chart as the drawings place them. */
export function intervalPlaces(chart: TimeChart, area: Area): { readonly plot: TimePlot; at(index: number): number } {
  const plot = timePlot(chart, area)
  return { plot, at: placesOf(chart, plot) }
}
