import { type Chart, clipped, cut, type Item, type Look, type MapValue, most, nothing, type Series } from '../chart.ts'
import { type NumberFormat, numberText } from '../format.ts'
import { readableSeries } from '../readable.ts'
import { boxChart } from './boxes.ts'
import { colorsOf } from './colors.ts'
import { overTime } from './over-time.ts'
import { intervalOf, unfinishedOf } from './unfinished.ts'
import { breakdownText, type Fields, fieldsOf, isPreviousRow, numberOf, numbersOf, objectsOf, textOf, textsOf } from './values.ts'

const styles: readonly NumberFormat['style'][] = ['numeric', 'percentage', 'percentage_scaled', 'duration', 'duration_ms', 'short']

/** How the numbers of the axis are written. */
function axisFormat(filter: Fields): NumberFormat {
  const style = styles.find((one) => one === filter.aggregationAxisFormat) ?? 'numeric'
  const affix = (value: unknown) => clipped(textOf(value), 8)
  return {
    style,
    prefix: affix(filter.aggregationAxisPrefix),
    postfix: affix(filter.aggregationAxisPostfix),
    decimals: numberOf(filter.decimalPlaces),
  }
}

/** How values are placed, and what is drawn beside them. */
export function lookOf(filter: Fields): Look {
  const goals = objectsOf(filter.goalLines).flatMap(({ label, value }) => {
    const number = numberOf(value)
    return number === null ? [] : [{ label: clipped(textOf(label)), value: number }]
  })
  return {
    isLogarithmic: filter.yAxisScaleType === 'log10',
    isPercent: filter.showPercentStackView === true,
    hasValues: filter.showValuesOnSeries === true,
    hasTrend: filter.showTrendLines === true,
    movingAverage: filter.showMovingAverage === true ? Math.max(2, numberOf(filter.movingAverageIntervals) ?? 7) : 0,
    goals: goals.slice(0, most.goals),
  }
}

/** With a second axis the first series has the left one. */
function onRightAxis(rows: readonly Fields[], filter: Fields): (row: Fields) => boolean {
  const first = Math.min(...rows.map(({ order }) => numberOf(order) ?? 0))
  return filter.showMultipleYAxes === true ? ({ order }) => (numberOf(order) ?? 0) > first : () => false
}

/** The value of the breakdown that a row is of. Null: it has none. Cohorts are named by answers only. */
function valueIn(row: Fields): string | null {
  const { breakdown_value: value } = row
  if (value === undefined || value === null) return null
  return textOf(row.breakdown_label) || breakdownText(value)
}

/** The number of a formula has no action. */
const isFormula = (row: Fields): boolean => row.action === null

/** What a series was renamed to is in its node; a value of a breakdown has its name in front where there are several series, or formulas. */
function nameOf(row: Fields, hasFormulas: boolean): string {
  const { name, custom_name, math, math_property } = fieldsOf(row.action)
  const label = textOf(row.label)
  const value = valueIn(row)
  const spoken = (name: string) => textOf(custom_name) || readableSeries(name, textOf(math), textOf(math_property))
  if (value === null) return isFormula(row) ? label : spoken(label)
  if (isFormula(row)) return hasFormulas ? `${label} - ${value}` : value
  const stored = [row.breakdown_value].flat().map(textOf).join('::')
  if (label === stored || label === value) return value
  const prefix = `${textOf(name)} - `
  if (!label.startsWith(prefix)) return typeof row.breakdown_value === 'number' ? label : value
  // Answers without the name of the cohort have it in their label.
  const split = typeof row.breakdown_value === 'number' && !row.breakdown_label ? label.slice(prefix.length) : value
  return `${spoken(textOf(name))} - ${split}`
}

/** The names of all rows of an answer, as people read them. */
export function labelsOf(rows: readonly Fields[]): readonly string[] {
  const hasFormulas = new Set(rows.filter(isFormula).map(({ order }) => order)).size > 1
  return rows.map((row) => `${nameOf(row, hasFormulas) || 'All events'}${isPreviousRow(row) ? ' (previous)' : ''}`)
}

export function seriesOf(rows: readonly Fields[], filter: Fields = {}): Series[] {
  const [colors, labels] = [colorsOf(rows), labelsOf(rows)]
  const isRight = onRightAxis(rows, filter)
  return rows.map((row, i) => ({
    label: labels[i]!,
    values: numbersOf(row.data),
    color: colors[i]!,
    isPrevious: isPreviousRow(row),
    row: i,
    ...(isRight(row) && { isRight: true }),
  }))
}

const itemsOf = (rows: readonly Fields[]): Item[] => {
  const [colors, labels] = [colorsOf(rows), labelsOf(rows)]
  return rows.map((row, i) => ({
    label: clipped(labels[i]!),
    value: numberOf(row.aggregated_value) ?? numberOf(row.count) ?? 0,
    color: colors[i]!,
    isPrevious: isPreviousRow(row),
    row: i,
  }))
}

export function trendsChart(query: Fields, answer: Fields, timezone: string): Chart {
  const filter = fieldsOf(query.trendsFilter)
  const format = axisFormat(filter)
  if (filter.display === 'BoxPlot') return boxChart(query, answer, timezone, format)
  const rows = objectsOf(answer.results)
  if (rows.length === 0) return nothing()
  const labels = [...rows].map((row) => textsOf(row.labels)).sort((a, b) => b.length - a.length)[0]!
  const begins = textsOf(rows[0]!.days)
  const interval = intervalOf(textOf(query.interval), begins)
  const unfinished = unfinishedOf(begins, interval, textOf(answer.last_refresh), timezone)
  const time = { begins, interval, format, unfinished, look: lookOf(filter) }
  const isByDefaultStacked = filter.display === 'ActionsBar' || filter.display === 'ActionsStackedBar'
  switch (filter.display) {
    case 'BoldNumber':
    case 'Metric':
      return numberChart(rows, format)
    case 'ActionsPie':
      return pieChart(itemsOf(rows), format)
    case 'ActionsBarValue': {
      const { kept, leftOut } = cut(itemsOf(rows), most.items, 'bar', 'bars')
      return { kind: 'totals', items: kept, format, leftOut }
    }
    case 'WorldMap':
      return mapChart(rows, format) ?? totalsTable(itemsOf(rows), format)
    case 'ActionsTable':
    case 'RegionMap':
      return totalsTable(itemsOf(rows), format)
    case 'CalendarHeatmap':
      return weekChart(rows, format)
    case 'ActionsBar':
    case 'ActionsStackedBar':
    case 'ActionsUnstackedBar':
      return overTime(labels, seriesOf(rows, filter), { kind: 'bars', isStacked: isByDefaultStacked && !rows.some(isPreviousRow), ...time })
    default:
      return labels.length === 0 && rows.some((row) => numberOf(row.aggregated_value) !== null)
        ? totalsTable(itemsOf(rows), format)
        : overTime(labels, seriesOf(rows, filter), {
            kind: 'lines',
            isFilled: filter.display === 'ActionsAreaGraph',
            isSlope: filter.display === 'SlopeGraph',
            ...time,
          })
  }
}

function numberChart(rows: readonly Fields[], format: NumberFormat): Chart {
  const value = (row: Fields | undefined) => (row ? (numberOf(row.aggregated_value) ?? numberOf(row.count)) : null)
  const current = rows.find((row) => !isPreviousRow(row))
  const more = rows.filter((row) => !isPreviousRow(row)).length - 1
  return {
    kind: 'number',
    label: clipped(current ? labelsOf(rows)[rows.indexOf(current)]! : ''),
    value: value(current),
    previous: value(rows.find(isPreviousRow)),
    format,
    leftOut: more > 0 ? [`${more} more ${more === 1 ? 'number' : 'numbers'}`] : [],
  }
}

/** A share needs numbers above zero. */
function pieChart(all: readonly Item[], format: NumberFormat): Chart {
  const shares = all.filter(({ value, isPrevious }) => value > 0 && !isPrevious).sort((a, b) => b.value - a.value)
  if (shares.length === 0) return nothing()
  if (shares.length <= most.slices) return { kind: 'pie', items: shares, format, leftOut: [] }
  // The answer may have such a row of its own.
  const named = shares.filter(({ label }) => label !== 'Other')
  const { kept, leftOut } = cut(named, most.slices, 'slice', 'slices')
  const rest = shares.filter((one) => !kept.includes(one)).reduce((sum, { value }) => sum + value, 0)
  const other: Item[] = rest > 0 ? [{ label: 'Other', value: rest, color: -1, isPrevious: false, row: null }] : []
  return { kind: 'pie', items: [...kept, ...other], format, leftOut: leftOut.map((text) => `${text} in “Other”`) }
}

function totalsTable(all: readonly Item[], format: NumberFormat): Chart {
  const { kept, leftOut } = cut(all, most.rows, 'row', 'rows')
  return { kind: 'table', columns: ['Series', 'Total'], rows: kept.map(({ label, value }) => [label, numberText(value, format)]), leftOut }
}

const countries = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })

/** Values by country. Null: no value is the code of a country. */
function mapChart(rows: readonly Fields[], format: NumberFormat): Chart | null {
  const labels = labelsOf(rows)
  const all = rows.flatMap((row, i): (MapValue & { readonly order: unknown })[] => {
    if (isPreviousRow(row)) return []
    const [value] = [row.breakdown_value].flat()
    const code = typeof value === 'string' && /^[A-Z]{2}$/.test(value) ? value : null
    const name = code === null ? undefined : countries.of(code)
    const number = numberOf(row.aggregated_value) ?? numberOf(row.count) ?? 0
    return [
      {
        code: name === undefined ? null : code,
        label: name ?? clipped(labels[i]!),
        value: number,
        row: i,
        order: row.order,
      },
    ]
  })
  const places = all.filter(({ order }) => order === all[0]?.order).map(({ order: _, ...place }) => place)
  if (!places.some(({ code }) => code !== null)) return null
  const { kept, leftOut } = cut(
    [...places].sort((a, b) => b.value - a.value),
    most.places,
    'country',
    'countries',
  )
  const others = new Set(all.map(({ order }) => order)).size - 1
  return { kind: 'map', places: kept, format, leftOut: [...leftOut, ...(others > 0 ? [`${others} more series`] : [])] }
}

export const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

/** The same as a query of its own. */
export const calendarHeatmapChart = (query: Fields, answer: Fields, timezone: string): Chart =>
  trendsChart(
    { ...query, trendsFilter: { display: 'CalendarHeatmap' } },
    { ...answer, results: [{ calendar_heatmap_data: answer.results }] },
    timezone,
  )

/** Hours of the week, of a comparison of both periods: one below the other, in the same shades. */
function weekChart(rows: readonly Fields[], format: NumberFormat): Chart {
  const weeks = weeksOf(rows).map(({ row, isPrevious }) => {
    const cells = objectsOf(fieldsOf(row.calendar_heatmap_data).data)
    return { isPrevious, values: new Map(cells.map((cell) => [`${cell.row} ${cell.column}`, numberOf(cell.value) ?? 0])) }
  })
  const largest = Math.max(0, ...weeks.flatMap(({ values }) => [...values.values()]))
  const others = rows.filter((row) => !isPreviousRow(row)).length - 1
  return {
    kind: 'grid',
    columns: Array.from({ length: 24 }, (_, hour) => String(hour)),
    rows: weeks.flatMap(({ isPrevious, values }) =>
      weekdays.map((name, day) => ({
        label: `${name}${isPrevious ? ' (previous)' : ''}`,
        note: '',
        cells: Array.from({ length: 24 }, (_, hour) => {
          const value = values.get(`${day + 1} ${hour}`)
          return value === undefined
            ? null
            : {
                text: numberText(value, { ...format, style: format.style === 'numeric' ? 'short' : format.style }),
                shade: largest > 0 ? Math.max(0, value / largest) : 0,
              }
        }),
      })),
    ),
    leftOut: others > 0 ? [`${others} more series`] : [],
  }
}

/** The rows of the answer whose weeks are shown: the first series, and with a comparison the same one of the period before. */
function weeksOf(rows: readonly Fields[]): readonly { readonly row: Fields; readonly isPrevious: boolean }[] {
  const [row] = rows
  const previous = rows.find((one) => isPreviousRow(one) && one.order === row?.order)
  return row ? [{ row, isPrevious: false }, ...(previous ? [{ row: previous, isPrevious: true }] : [])] : []
}

/** Which of these rows a row of the grid is of, and its day of the week: Monday is 1. */
export function weekOfGrid(rows: readonly Fields[], gridRow: number): { readonly row: Fields; readonly weekday: number } | null {
  const week = weeksOf(rows)[Math.floor(gridRow / weekdays.length)]
  return week ? { row: week.row, weekday: (gridRow % weekdays.length) + 1 } : null
}
