import type { Query } from '../lib/api.ts'
import type { Column } from './columns.ts'

// Which columns of an answer are drawn, and how.

export interface ChartChoice {
  readonly display: string
  readonly x: string
  readonly y: readonly string[]
  /** A column each of whose values is a series of its own. */
  readonly split?: string
}

const mostSeries = 6

/** What fits the columns. Null: there is no number among them. */
export function guessChart(columns: readonly Column[], rows: readonly (readonly unknown[])[]): ChartChoice | null {
  const numbers = columns.filter(({ kind }) => kind === 'number').map(({ name }) => name)
  if (numbers.length === 0 || rows.length === 0) return null
  const time = columns.find(({ kind }) => kind === 'time')
  const axis = time ?? columns.find(({ kind }) => kind === 'text' || kind === 'other')
  if (!axis) {
    if (rows.length === 1 || numbers.length === 1) return { display: 'BoldNumber', x: '', y: numbers.slice(0, 1) }
    return { display: 'ActionsLineGraph', x: numbers[0]!, y: numbers.slice(1, 1 + mostSeries) }
  }
  const split = time && splitOf(columns, rows, time)
  return { display: time ? 'ActionsLineGraph' : 'ActionsBar', x: axis.name, y: numbers.slice(0, mostSeries), ...(split && { split }) }
}

/** Times that come more than once are distinguished by the only text beside them. */
function splitOf(columns: readonly Column[], rows: readonly (readonly unknown[])[], time: Column): string | undefined {
  const texts = columns.filter(({ kind }) => kind === 'text')
  const at = columns.indexOf(time)
  const isRepeated = new Set(rows.map((row) => String(row[at]))).size < rows.length
  return isRepeated && texts.length === 1 ? texts[0]!.name : undefined
}

/** The node that says how a statement is drawn, as insights and dashboards keep it. */
export const chartNode = (source: Query, { display, x, y, split }: ChartChoice): Query => ({
  kind: 'DataVisualizationNode',
  source,
  display,
  ...(display !== 'BoldNumber' && {
    chartSettings: { xAxis: { column: x }, yAxis: y.map((column) => ({ column })), ...(split && { seriesBreakdownColumn: split }) },
  }),
})

/** The chosen columns that the answer still has. */
export function fittingChart(
  choice: ChartChoice | null,
  columns: readonly Column[],
  rows: readonly (readonly unknown[])[],
): ChartChoice | null {
  const names = new Set(columns.map(({ name }) => name))
  const y = choice?.y.filter((name) => names.has(name)) ?? []
  const isFit = choice !== null && y.length > 0 && (choice.display === 'BoldNumber' || names.has(choice.x))
  if (!isFit) return guessChart(columns, rows)
  const { split, ...plain } = choice
  return { ...plain, y, ...(split !== undefined && names.has(split) && split !== choice.x && { split }) }
}
