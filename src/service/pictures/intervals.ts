import { type Plot, plotOf, valuesOf } from './axes.ts'
import type { Chart } from './chart.ts'
import { bands, points, stacked } from './scales.ts'
import { type Area, legend } from './sheet.ts'

export type TimeChart = Extract<Chart, { kind: 'lines' | 'bars' }>

export const isStack = (chart: TimeChart): boolean => (chart.kind === 'lines' ? chart.isFilled : chart.isStacked)

/** Where the values of an interval stand, as the drawings place them. */
export function intervalPlaces(chart: TimeChart, area: Area): { readonly plot: Plot; at(index: number): number } {
  const names = legend(chart.series, area.left, area.top, area.right - area.left)
  const all = isStack(chart) ? stacked(chart.series.map(({ values }) => values)).flat(2) : valuesOf(chart.series)
  const plot = plotOf(all, { left: area.left, top: area.top + names.height + 6, right: area.right - 8, bottom: area.bottom }, chart.format)
  const range = [plot.area.left, plot.area.right] as const
  const at = chart.kind === 'lines' ? points(chart.labels.length, range) : bands(chart.labels.length, range).centre
  return { plot, at }
}
