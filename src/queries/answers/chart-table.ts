import { type DataType, Float64, Int32, Table, Utf8, type Vector, vectorFromArray } from 'apache-arrow'

// The results of a chart as rows for a sheet or a data frame: a row for each point, step or bin, with one value in each cell.

type Fields = Readonly<Record<string, unknown>>
interface Column {
  readonly name: string
  readonly type: DataType
  readonly of: (row: Fields) => unknown
  /** Included only if a row has it. */
  readonly isOptional?: true
}

const isFields = (value: unknown): value is Fields => value !== null && typeof value === 'object' && !Array.isArray(value)

/** Several breakdowns are one text, as JSON. */
const shown = (value: unknown): unknown => {
  if (value === null || value === undefined) return null
  if (Array.isArray(value)) return value.length === 1 ? shown(value[0]) : JSON.stringify(value)
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

const number = (name: string, from = name): Column => ({ name, type: new Float64(), of: (row) => row[from] ?? null })
const text = (name: string): Column => ({ name, type: new Utf8(), of: (row) => shown(row[name]) })
const optional = (name: string): Column => ({ ...text(name), isOptional: true })
const order: Column = { name: 'order', type: new Int32(), of: (row) => row.order, isOptional: true }

const series = [order, optional('label'), optional('status'), optional('breakdown_value'), optional('compare_label')]
const points = [...series, text('date'), number('value')]
const totals = [...series, number('value', 'aggregated_value')]
const steps = [
  optional('breakdown_value'),
  optional('compare_label'),
  order,
  text('name'),
  optional('custom_name'),
  number('count'),
  number('average_conversion_time'),
  number('median_conversion_time'),
]
const retained = [
  optional('breakdown_value'),
  optional('compare_label'),
  text('label'),
  text('date'),
  text('interval'),
  number('count'),
  { ...number('aggregation_value'), isOptional: true as const },
]
const cells = [order, text('label'), optional('compare_label'), number('row'), number('column'), number('value')]
const boxes = [
  number('series_index'),
  text('series_label'),
  optional('compare_label'),
  text('day'),
  ...['min', 'p25', 'median', 'p75', 'max', 'mean', 'count'].map((name) => number(name)),
]
const edges = [optional('compare_label'), text('source'), text('target'), number('value'), number('average_conversion_time')]
const odds = [
  text('name'),
  number('success_count'),
  number('failure_count'),
  number('odds_ratio'),
  text('correlation_type'),
  number('p_value'),
  text('significance'),
]
const change = (name: string): Column => ({ ...number(name), isOptional: true })
const ofSite = [text('key'), text('kind'), number('value'), change('previous'), change('changeFromPreviousPct')]
const vitals = [text('band'), text('path'), number('value')]
const bins = [optional('compare_label'), number('from_seconds'), number('people')]

const tableOf = (columns: readonly Column[], rows: readonly Fields[]): Table => {
  const kept = columns.filter((column) => !column.isOptional || rows.some((row) => (column.of(row) ?? null) !== null))
  const vectors = kept.map(({ name, type, of }): [string, Vector] => [name, vectorFromArray(rows.map(of), type)])
  return new Table(Object.fromEntries(vectors))
}

const isSeries = (row: unknown): row is Fields & { data: readonly unknown[]; days: readonly unknown[] } =>
  isFields(row) && Array.isArray(row.data) && Array.isArray(row.days)
/** Of a formula there are no points beside it. */
const isTotal = (row: unknown): row is Fields =>
  isFields(row) && 'aggregated_value' in row && (row.data === null || (Array.isArray(row.data) && row.data.length === 0))
const isHeatmap = (row: unknown): row is Fields & { calendar_heatmap_data: { data: readonly Fields[] } } =>
  isFields(row) && isFields(row.calendar_heatmap_data)
const isStep = (row: unknown): row is Fields => isFields(row) && 'action_id' in row && 'average_conversion_time' in row
const isEdge = (row: unknown): row is Fields => isFields(row) && 'source' in row && 'target' in row

const isOfSite = (row: unknown): row is Fields => isFields(row) && 'changeFromPreviousPct' in row
const vitalBands = ['good', 'needs_improvements', 'poor']
const isVitals = (row: unknown): row is Readonly<Record<string, readonly Fields[]>> =>
  isFields(row) && vitalBands.every((band) => Array.isArray(row[band]))

const siteColumn = 'context.columns.'
/** Tables of web analytics: a value, then pairs of numbers. */
export const isSiteTable = (columns: unknown): columns is readonly string[] =>
  Array.isArray(columns) && columns.length > 0 && columns.every((name) => typeof name === 'string' && name.startsWith(siteColumn))

/** Columns that only serve to draw a row. */
const drawn = new Set(['ui_fill_fraction', 'cross_sell'])

function siteTable(columns: readonly string[], rows: readonly (readonly unknown[])[]): Table {
  const [value, ...pairs] = columns.map((name) => name.slice(siteColumn.length)).filter((name) => !drawn.has(name))
  const fields = rows.map((row): Fields => {
    const numbers = pairs.flatMap((name, i) => {
      const [now, before] = row[i + 1] as readonly unknown[]
      return [[name, now] as const, [`previous_${name}`, before] as const]
    })
    return { [value!]: row[0], ...Object.fromEntries(numbers) }
  })
  return tableOf([text(value!), ...pairs.flatMap((name) => [number(name), change(`previous_${name}`)])], fields)
}

const hasBins = (value: unknown): value is { readonly bins: readonly (readonly [number, number])[] } =>
  isFields(value) && Array.isArray(value.bins)
const binRows = (bins: readonly (readonly [number, number])[], compare_label?: string): readonly Fields[] =>
  bins.map(([from_seconds, people]) => ({ compare_label, from_seconds, people }))

const isRetention = (row: unknown): row is Fields & { values: readonly Fields[] } =>
  isFields(row) && Array.isArray(row.values) && row.values.every(isFields)

/** The rows of a box plot. */
export const boxTable = (rows: readonly Fields[]): Table => tableOf(boxes, rows)

interface ChartAnswer {
  readonly results?: unknown
  readonly columns?: unknown
  readonly compare_results?: unknown
}

/** Null if the results are not a chart. */
export function chartTable({ results, columns, compare_results: previous }: ChartAnswer): Table | null {
  if (isSiteTable(columns)) return siteTable(columns, results as readonly (readonly unknown[])[])
  if (hasBins(results)) {
    if (!hasBins(previous)) return tableOf(bins, binRows(results.bins))
    return tableOf(bins, [...binRows(results.bins, 'current'), ...binRows(previous.bins, 'previous')])
  }
  if (isFields(results) && Array.isArray(results.events))
    return tableOf(
      odds,
      (results.events as readonly (Fields & { event: Fields })[]).map((one) => ({ ...one, name: one.event.event })),
    )
  if (!Array.isArray(results) || results.length === 0) return null
  if (results.every(isHeatmap))
    return tableOf(
      cells,
      results.flatMap((row) => row.calendar_heatmap_data.data.map((cell) => ({ ...row, ...cell }))),
    )
  if (results.every(isTotal)) return tableOf(totals, results)
  if (results.every(isSeries)) {
    return tableOf(
      points,
      results.flatMap((row) => row.data.map((value, i) => ({ ...row, date: row.days[i], value }))),
    )
  }
  if (results.every(isRetention))
    return tableOf(
      retained,
      results.flatMap((row) => row.values.map((value) => ({ ...row, ...value, label: row.label, interval: value.label }))),
    )
  if (results.every(isOfSite)) return tableOf(ofSite, results)
  if (results.every(isVitals))
    return tableOf(
      vitals,
      results.flatMap((row) => vitalBands.flatMap((band) => row[band]!.map((one) => ({ band, ...one })))),
    )
  if (results.every(isEdge)) return tableOf(edges, results)
  const flat = results.flat()
  return flat.every(isStep) ? tableOf(steps, flat) : null
}
