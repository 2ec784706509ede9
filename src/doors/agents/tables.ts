import { chartTable, isSiteTable } from '../../queries/answers/chart-table.ts'
import { cellText } from './recorded.ts'

// An answer as a table of few columns: a chart over time has a row for each interval and a column for each series.

export interface Table {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
}

type Row = Readonly<Record<string, unknown>>

/** What names a series, in the order of a reader. */
const naming = ['label', 'status', 'breakdown_value', 'compare_label'] as const

/** A column for each value of one field: its names are in the order of their first row. */
function pivoted(rows: readonly Row[], across: (row: Row) => string, down: (row: Row) => string, first: string, value: string): Table {
  const columns = [...new Set(rows.map(across))]
  const byRow = new Map<string, Map<string, unknown>>()
  for (const row of rows) {
    const key = down(row)
    const cells = byRow.get(key) ?? new Map<string, unknown>()
    byRow.set(key, cells.set(across(row), row[value]))
  }
  return {
    columns: [first, ...columns],
    rows: [...byRow].map(([key, cells]) => [key, ...columns.map((column) => cells.get(column) ?? null)]),
  }
}

/** How series are called where the answer has only the name of their event. */
export interface SeriesNames {
  /** By the order of the series. */
  readonly names: readonly string[]
  /** What the rows of a chart over time are. */
  readonly first: string
}
const noNames: SeriesNames = { names: [], first: 'date' }

/** `Signed up, Chrome (previous)`. A label that already ends with the value of the breakdown does not repeat it. */
function seriesName(row: Row, own?: string): string {
  const [given, status, value, compare] = naming.map((name) => (row[name] === null || row[name] === undefined ? '' : String(row[name])))
  const label = own !== undefined && value === '' ? own : given
  const parts = [status || label, value === '' || label === value || label?.endsWith(` ${value}`) ? '' : value].filter(Boolean)
  return `${parts.join(', ') || 'value'}${compare === 'previous' ? ' (previous)' : ''}`
}

const share = (part: unknown, whole: unknown): string | null =>
  typeof part === 'number' && typeof whole === 'number' && whole > 0 ? `${Math.round((part / whole) * 10_000) / 100} %` : null

const seconds: Readonly<Record<string, string>> = { average_conversion_time: 'average_seconds', median_conversion_time: 'median_seconds' }

/** Beside each step how many of the first one got there, and of the one before. */
function funnelTable(names: readonly string[], rows: readonly Row[]): Table {
  let first: Row | undefined
  const shown = names.filter((name) => name !== 'order')
  return {
    columns: [...shown.map((name) => seconds[name] ?? name), 'of first step', 'of step before'],
    rows: rows.map((row, i) => {
      const isFirst = row.order === 0
      if (isFirst) first = row
      const counts = [share(row.count, first?.count), isFirst ? null : share(row.count, rows[i - 1]?.count)]
      return [...shown.map((name) => row[name]), ...counts]
    }),
  }
}

export function tableOf(answer: Row, { names: series, first }: SeriesNames = noNames): Table {
  const { columns, results } = answer as { readonly columns?: unknown; readonly results?: unknown }
  if (Array.isArray(columns) && Array.isArray(results) && !isSiteTable(columns))
    return { columns: (columns as unknown[]).map(String), rows: results as readonly (readonly unknown[])[] }
  const chart = chartTable(answer)
  if (chart) {
    const names = chart.schema.fields.map(({ name }) => name)
    const rows = chart.toArray().map((row): Row => Object.fromEntries(names.map((name) => [name, row[name] as unknown])))
    if (names.includes('date') && names.includes('interval'))
      return pivoted(
        rows,
        (row) => String(row.interval),
        (row) => [row.date, seriesName({ ...row, label: '' })].filter((part) => part && part !== 'value').join(' '),
        'began',
        names.includes('aggregation_value') ? 'aggregation_value' : 'count',
      )
    if (names.includes('count') && names.includes('average_conversion_time')) return funnelTable(names, rows)
    const named = (row: Row) => seriesName(row, typeof row.order === 'number' ? series[row.order] : undefined)
    if (names.includes('order') && names.includes('value') && !names.includes('date') && !names.includes('row'))
      return { columns: ['series', 'value'], rows: rows.map((row) => [named(row), row.value]) }
    if (names.includes('date') && names.includes('value')) return pivoted(rows, named, (row) => String(row.date), first, 'value')
    if (names.includes('row') && names.includes('column'))
      return pivoted(
        rows,
        (row) => String(row.column),
        (row) => `${seriesName(row)} ${row.row}`,
        'weekday',
        'value',
      )
    return { columns: names, rows: rows.map((row) => names.map((name) => row[name])) }
  }
  const list = (Array.isArray(results) ? results.flat() : [results ?? {}]) as Row[]
  const names = [...new Set(list.flatMap((row) => Object.keys(row)))]
  return { columns: names, rows: list.map((row) => names.map((name) => row[name] ?? null)) }
}

/** A line for each row, cells apart by tabs. */
export const tableText = ({ columns, rows }: Table): string => [columns, ...rows].map((row) => row.map(cellText).join('\t')).join('\n')
