import { type Chart, clipped, cut, type FunnelGroup, type FunnelStep, most, nothing } from '../chart.ts'
import { durationText, percentages, plainNumbers } from '../format.ts'
import { readableEvent } from '../readable.ts'
import { colorsByValue } from './colors.ts'
import { overTime } from './over-time.ts'
import { intervalOf, unfinishedOf } from './unfinished.ts'
import { breakdownText, type Fields, fieldsOf, isPreviousRow, listOf, numberOf, numbersOf, objectsOf, textOf, textsOf } from './values.ts'

const stepOf = (row: Fields): FunnelStep => ({
  name: clipped(textOf(row.custom_name) || readableEvent(textOf(row.name)) || 'All events'),
  count: Math.max(0, numberOf(row.count) ?? 0),
  time: numberOf(row.median_conversion_time),
})

/** Of a breakdown: its value, to choose a color by. */
const keyedValue = ({ breakdown_value: value }: Fields) => (value === undefined ? [] : [{ key: JSON.stringify(value), value }])

const splitByPeriod = (rows: readonly Fields[]): readonly (readonly Fields[])[] => [
  rows.filter((row) => !isPreviousRow(row)),
  rows.filter(isPreviousRow),
]

/** The name of all together, beside the values of a breakdown. */
const baseline = 'Baseline'

/** The answer to the same funnel without its breakdown, in front of the values. */
export const withBaseline = (results: readonly unknown[], whole: readonly unknown[]): readonly (readonly Fields[])[] => [
  ...stepGroups(whole).map((steps) => steps.map((row) => ({ ...row, breakdown_value: undefined, baseline: true }))),
  ...stepGroups(results),
]

/** For each value of the breakdown its list of steps, and beside it that of the period before. */
function valuesOf(results: readonly unknown[]): readonly (readonly (readonly Fields[])[])[] {
  const all = results.some(Array.isArray) ? results.map(objectsOf) : splitByPeriod(objectsOf(results))
  const values = new Map<string, (readonly Fields[])[]>()
  for (const steps of all) {
    const [first] = steps
    if (!first) continue
    const key = first.baseline === true ? baseline : JSON.stringify(first.breakdown_value ?? null)
    values.set(key, [...(values.get(key) ?? []), steps])
  }
  return [...values.values()]
}

/** The lists of steps, in the order of the chart. */
export const stepGroups = (results: readonly unknown[]): readonly (readonly Fields[])[] => valuesOf(results).flat()

function stepsChart(results: readonly unknown[]): Chart {
  const values = valuesOf(results)
  const isWhole = (steps: readonly Fields[] | undefined) => steps?.[0]?.baseline === true
  const { kept, leftOut } = cut(values, most.groups + (values.some(([steps]) => isWhole(steps)) ? 1 : 0), 'group', 'groups')
  if (kept.length === 0) return nothing()
  const colors = colorsByValue(kept.flat().flatMap(([first]) => keyedValue(first!)))
  const groups = kept.flat().map((steps, row): FunnelGroup => {
    const [first] = steps
    const value = first?.breakdown_value
    const label = isWhole(steps) ? baseline : value === undefined ? null : clipped(breakdownText(value))
    const isPrevious = isPreviousRow(first!)
    const color = isWhole(steps) ? -1 : (colors.get(JSON.stringify(value)) ?? 0)
    return {
      label: isPrevious ? `${label ?? 'Previous'}${label === null ? '' : ' (previous)'}` : label,
      color,
      isPrevious,
      steps: steps.slice(0, most.steps).map(stepOf),
      row,
    }
  })
  const longest = Math.max(...kept.flat().map((steps) => steps.length))
  const steps = longest > most.steps ? [`${longest - most.steps} more steps`] : []
  return { kind: 'funnel', groups, leftOut: [...leftOut, ...steps] }
}

const binsOf = (results: Fields) => listOf(results.bins).filter(Array.isArray) as readonly (readonly unknown[])[]

/** How many took how long; of a comparison in the previous period too. Both have the same bins, except that a period without conversions has none. */
function timesChart(results: Fields, previous: Fields | null): Chart {
  const periods = [binsOf(results), ...(previous ? [binsOf(previous)] : [])]
  const bins = periods.find(({ length }) => length > 0)
  if (!bins) return nothing('Nobody converted in this range')
  const labels = bins.map(([from]) => durationText(numberOf(from) ?? 0))
  const series = periods.map((own, row) => ({
    label: row === 0 ? 'Conversions' : 'Conversions (previous)',
    values: bins.map((_, i) => (own.length === 0 ? 0 : numberOf(own[i]?.[1]))),
    color: 0,
    isPrevious: row > 0,
    row,
  }))
  return overTime(labels, series, { kind: 'bars', format: plainNumbers })
}

const ofValue = ({ breakdown_value: value }: Fields) => (value === undefined ? 'Conversion' : breakdownText(value))
/** Of a row of conversion over time. */
export const shareName = (row: Fields): string => `${ofValue(row)}${isPreviousRow(row) ? ' (previous)' : ''}`

/** The rates of a row of conversion over time. Null: nobody entered, which is no rate. */
export function sharesOf(row: Fields): readonly (number | null)[] {
  const entered = listOf(row.reached_from_step_count)
  return numbersOf(row.data).map((rate, i) => (entered[i] === 0 ? null : rate))
}

function shareChart(query: Fields, results: readonly Fields[], answer: Fields, timezone: string): Chart {
  const [first] = results
  if (!first) return nothing()
  const colors = colorsByValue(results.flatMap(keyedValue))
  const series = results.map((row, i) => {
    const color = colors.get(JSON.stringify(row.breakdown_value)) ?? 0
    return { label: shareName(row), values: sharesOf(row), color, isPrevious: isPreviousRow(row), row: i }
  })
  const days = textsOf(first.days)
  const interval = intervalOf(textOf(query.interval), days)
  const unfinished = unfinishedOf(days, interval, textOf(answer.last_refresh), timezone)
  return overTime(textsOf(first.labels), series, { kind: 'lines', format: percentages, unfinished, begins: days, interval })
}

export function funnelsChart(query: Fields, answer: Fields, timezone: string): Chart {
  const { results, compare_results: previous } = answer
  if (!Array.isArray(results)) return timesChart(fieldsOf(results), previous === undefined ? null : fieldsOf(previous))
  const rows = objectsOf(results)
  return rows.some((row) => Array.isArray(row.data)) ? shareChart(query, rows, answer, timezone) : stepsChart(results)
}
