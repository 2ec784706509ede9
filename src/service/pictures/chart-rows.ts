import type { Box, Chart } from './chart.ts'
import { durationText, type NumberFormat, numberText } from './format.ts'

/** The numbers of a picture as a small table, for mails and for those who cannot see it. */
export interface ChartRows {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
  readonly leftOut: readonly string[]
}

/** Of mails. */
const few = { rows: 31, series: 6 }

const percent = (share: number) => numberText(share * 100, { style: 'percentage', prefix: '', postfix: '', decimals: 1 })

export const boxColumns = ['Min', '25%', 'Median', '75%', 'Max', 'Mean'] as const
export const boxNumbers = ({ min, p25, median, p75, max, mean }: Box, format: NumberFormat): readonly string[] =>
  [min, p25, median, p75, max, mean].map((value) => numberText(value, format))

export function chartRows(chart: Chart, { rows: mostRows, series: mostSeries } = few): ChartRows {
  const leftOut = [...chart.leftOut]
  switch (chart.kind) {
    case 'lines':
    case 'bars': {
      const series = chart.series.slice(0, mostSeries)
      const first = Math.max(0, chart.labels.length - mostRows)
      if (first > 0) leftOut.push(`${first} earlier intervals`)
      if (chart.series.length > mostSeries) leftOut.push(`${chart.series.length - mostSeries} series of the picture`)
      return {
        columns: ['Interval', ...series.map(({ label }) => label)],
        rows: chart.labels
          .slice(first)
          .map((label, i) => [label, ...series.map(({ values }) => numberText(values[first + i] ?? null, chart.format))]),
        leftOut,
      }
    }
    case 'totals':
    case 'pie':
      return {
        columns: ['Series', 'Total'],
        rows: chart.items.map(({ label, value }) => [label, numberText(value, chart.format)]),
        leftOut,
      }
    case 'number': {
      const previous = chart.previous === null ? [] : [['Previous', numberText(chart.previous, chart.format)]]
      return { columns: ['Series', 'Total'], rows: [[chart.label, numberText(chart.value, chart.format)], ...previous], leftOut }
    }
    case 'table':
      return { columns: chart.columns, rows: chart.rows, leftOut }
    case 'funnel':
      return {
        columns: ['Step', ...(chart.groups.length > 1 ? ['Group'] : []), 'Count', 'Of the first step', 'Median time'],
        rows: chart.groups.flatMap(({ label, steps }) =>
          steps.map(({ name, count, time }) => [
            name,
            ...(chart.groups.length > 1 ? [label ?? 'Current'] : []),
            numberText(count),
            steps[0]!.count > 0 ? percent(count / steps[0]!.count) : '–',
            time === null ? '' : durationText(time),
          ]),
        ),
        leftOut,
      }
    case 'grid':
      return {
        columns: ['', ...(chart.rows.some(({ note }) => note) ? ['Size'] : []), ...chart.columns],
        rows: chart.rows.map(({ label, note, cells }) => [
          label,
          ...(chart.rows.some((row) => row.note) ? [note] : []),
          ...chart.columns.map((_, i) => cells[i]?.text ?? ''),
        ]),
        leftOut,
      }
    case 'flow': {
      const isCompared = chart.edges.some(({ previous }) => previous !== null)
      return {
        columns: ['From', 'To', 'Paths', ...(isCompared ? ['Previous'] : [])],
        rows: chart.edges
          .slice(0, mostRows)
          .map(({ from, to, value, previous }) => [from, to, numberText(value), ...(isCompared ? [numberText(previous)] : [])]),
        leftOut,
      }
    }
    case 'boxes': {
      const isNamed = new Set(chart.boxes.map(({ label }) => label)).size > 1
      const first = Math.max(0, chart.boxes.length - mostRows)
      if (first > 0) leftOut.push(`${first} earlier boxes`)
      return {
        columns: [...(isNamed ? ['Series'] : []), 'Interval', ...boxColumns],
        rows: chart.boxes.slice(first).map((box) => [...(isNamed ? [box.label] : []), box.when, ...boxNumbers(box, chart.format)]),
        leftOut,
      }
    }
    case 'map':
      return {
        columns: ['Country', 'Total'],
        rows: chart.places.slice(0, mostRows).map(({ label, value }) => [label, numberText(value, chart.format)]),
        leftOut: chart.places.length > mostRows ? [...leftOut, `${chart.places.length - mostRows} more countries`] : leftOut,
      }
    case 'nothing':
      return { columns: [chart.reason], rows: [], leftOut }
  }
}
