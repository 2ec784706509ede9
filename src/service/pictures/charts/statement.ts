import { type Chart, clipped, type Look, type Series } from '../chart.ts'
import { cellText, plainNumbers } from '../format.ts'
import { overTime } from './over-time.ts'
import { lookOf } from './trends.ts'
import { breakdownText, type Fields, fieldsOf, listOf, numberOf, objectsOf, textOf, textsOf } from './values.ts'

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

/** Settings of such a node in the words of trends. */
const statementLook = (settings: Fields): Look =>
  lookOf({
    goalLines: settings.goalLines,
    showPercentStackView: settings.stackBars100,
    showValuesOnSeries: settings.showValuesOnSeries,
    yAxisScaleType: fieldsOf(settings.leftYAxisSettings).scale === 'logarithmic' ? 'log10' : 'linear',
  })

const isOnRight = ({ settings }: Fields): boolean => fieldsOf(fieldsOf(settings).display).yAxisPosition === 'right'

export function statementChart(node: Fields, answer: Fields, timezone: string): Chart | null {
  const columns = textsOf(answer.columns)
  const look = statementLook(fieldsOf(node.chartSettings))
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
  const onRight = new Set(
    objectsOf(settings.yAxis)
      .filter(isOnRight)
      .map(({ column }) => columns.indexOf(textOf(column))),
  )
  const split = columns.indexOf(textOf(settings.seriesBreakdownColumn))
  if (split >= 0) {
    const [labels, series] = pivoted(rows, { x, split, lines, columns }, timezone)
    return overTime(labels, series, { ...kind, format: plainNumbers, look, begins: timesOf(labels) })
  }
  const series = lines.map(
    (index, color): Series => ({
      label: columns[index]!,
      values: rows.map((row) => cell(row[index])),
      color,
      isPrevious: false,
      row: color,
      ...(onRight.has(index) && { isRight: true }),
    }),
  )
  const labels = rows.map((row) => cellText(row[x], timezone))
  return overTime(labels, series, { ...kind, format: plainNumbers, look, begins: timesOf(labels) })
}

const time = /^\d{4}-\d{2}-\d{2}( \d{2}:\d{2}(:\d{2})?)?$/
/** Labels that are times, one after the other; else none. */
const timesOf = (labels: readonly string[]): readonly string[] =>
  labels.every((label, i) => time.test(label) && (i === 0 || labels[i - 1]! < label)) ? labels : []

interface Pivot {
  readonly x: number
  readonly split: number
  readonly lines: readonly number[]
  readonly columns: readonly string[]
}

/** A series for each value of a column; rows of the same place and value are added up. */
function pivoted(
  rows: readonly (readonly unknown[])[],
  { x, split, lines, columns }: Pivot,
  timezone: string,
): [labels: readonly string[], series: readonly Series[]] {
  const places = new Map<string, number>()
  const named = new Map<string, { readonly label: string; readonly values: (number | null)[] }>()
  for (const row of rows) {
    const place = cellText(row[x], timezone)
    if (!places.has(place)) places.set(place, places.size)
    const at = places.get(place)!
    const value = breakdownText(row[split] === null ? '' : cellText(row[split], timezone))
    for (const index of lines) {
      const label = lines.length > 1 ? `${value} - ${columns[index]!}` : value
      const known = named.get(label) ?? { label, values: [] }
      named.set(label, known)
      const number = cell(row[index])
      if (number !== null) known.values[at] = (known.values[at] ?? 0) + number
    }
  }
  // A value that begins late does not move its times to the end.
  const labels = [...places.keys()]
  if (labels.every((label) => time.test(label))) labels.sort()
  const series = [...named.values()].map(({ label, values }, i) => ({
    label,
    values: labels.map((place) => values[places.get(place)!] ?? null),
    color: i,
    isPrevious: false,
    row: i,
  }))
  return [labels, series]
}
