import { type Chart, clipped, type Series } from '../chart.ts'
import { cellText, plainNumbers } from '../format.ts'
import { overTime } from './over-time.ts'
import { type Fields, fieldsOf, listOf, numberOf, objectsOf, textOf, textsOf } from './values.ts'

// Columns of a statement as a chart, as the node around it says. Null: it is a table.

const kinds: Readonly<Record<string, { readonly kind: 'lines' | 'bars'; readonly isFilled?: true; readonly isStacked?: true }>> = {
  ActionsLineGraph: { kind: 'lines' },
  ActionsAreaGraph: { kind: 'lines', isFilled: true },
  ActionsBar: { kind: 'bars' },
  ActionsStackedBar: { kind: 'bars', isStacked: true },
}

/** Numbers of statements may be texts: those that JSON cannot hold exactly. */
const cell = (value: unknown): number | null => {
  if (typeof value !== 'string') return numberOf(value)
  return /^-?\d{1,40}(\.\d{1,40})?$/.test(value) ? numberOf(Number(value)) : null
}

export function statementChart(node: Fields, answer: Fields, timezone: string): Chart | null {
  const columns = textsOf(answer.columns)
  const rows = listOf(answer.results).filter(Array.isArray) as readonly (readonly unknown[])[]
  const display = textOf(node.display)
  if (display === 'BoldNumber' && rows.length > 0)
    return { kind: 'number', label: clipped(columns[0] ?? ''), value: cell(rows[0]![0]), previous: null, format: plainNumbers, leftOut: [] }
  const kind = Object.hasOwn(kinds, display) ? kinds[display] : undefined
  const settings = fieldsOf(node.chartSettings)
  const x = columns.indexOf(textOf(fieldsOf(settings.xAxis).column))
  const named = objectsOf(settings.yAxis).map(({ column }) => columns.indexOf(textOf(column)))
  const lines = named.filter((index) => index >= 0)
  if (!kind || x < 0 || lines.length === 0 || rows.length === 0) return null
  const series = lines.map(
    (index, color): Series => ({
      label: columns[index]!,
      values: rows.map((row) => cell(row[index])),
      color,
      isPrevious: false,
      row: color,
    }),
  )
  return overTime(
    rows.map((row) => cellText(row[x], timezone)),
    series,
    { ...kind, format: plainNumbers },
  )
}
