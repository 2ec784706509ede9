import { isObject } from '../../lib/is-object.ts'
import { labelsOf } from '../pictures/charts/trends.ts'
import { isNumberPerRange } from './alert-display.ts'

// What an alert compares. Pure: the answer comes in, a decision goes out.

export const conditionTypes = ['absolute_value', 'relative_increase', 'relative_decrease'] as const
export type ConditionType = (typeof conditionTypes)[number]

export interface Bounds {
  readonly lower?: number | null
  readonly upper?: number | null
}
export interface Threshold {
  readonly type: 'absolute' | 'percentage'
  readonly bounds: Bounds
}
export interface AlertConfig {
  readonly series_index: number
  /** Also the interval that is not over yet. */
  readonly check_ongoing_interval: boolean
}
export interface AlertRule {
  readonly condition: ConditionType
  readonly threshold: Threshold
  readonly config: AlertConfig
}

interface Row {
  readonly label: string
  readonly order: number
  readonly data: readonly number[]
  readonly days: readonly string[]
  readonly total: number | null
}

const rowsOf = (answer: unknown): readonly Row[] => {
  const results = isObject(answer) && Array.isArray(answer.results) ? answer.results : []
  const rows = results.filter(isObject)
  const labels = labelsOf(rows)
  return rows.flatMap((row, i) => {
    if (row.compare_label === 'previous') return []
    const numbers = Array.isArray(row.data) ? row.data.map((one) => (typeof one === 'number' && Number.isFinite(one) ? one : 0)) : []
    return [
      {
        label: typeof row.label === 'string' && row.label !== '' ? labels[i]! : '',
        order: typeof row.order === 'number' ? row.order : 0,
        data: numbers,
        days: Array.isArray(row.days) ? row.days.map(String) : [],
        total: typeof row.aggregated_value === 'number' ? row.aggregated_value : null,
      },
    ]
  })
}

export interface Checked {
  /** Of the series, or of the breakdown value that is outside the bounds. */
  readonly value: number | null
  readonly breaches: readonly string[]
}

/** What is compared: the last interval that is over, or the change from the one before it. Null: there are not enough intervals. */
function comparedValue({ data, total }: Row, { condition, threshold, config }: AlertRule, isNumber: boolean): number | null {
  const last = config.check_ongoing_interval ? data.length - 1 : data.length - 2
  const current = isNumber ? total : data[last]
  if (current === undefined || current === null) return null
  if (condition === 'absolute_value') return current
  const previous = data[last - 1]
  if (isNumber || previous === undefined) return null
  const change = condition === 'relative_increase' ? current - previous : previous - current
  if (threshold.type === 'absolute') return change
  if (previous !== 0) return change / Math.abs(previous)
  return change === 0 ? 0 : change > 0 ? Number.MAX_VALUE : -Number.MAX_VALUE
}

const shown = (value: number, isShare: boolean): string => {
  if (Math.abs(value) === Number.MAX_VALUE) return value > 0 ? 'infinite' : 'infinitely negative'
  return isShare ? `${Number((value * 100).toFixed(2))}%` : String(Number(value.toPrecision(12)))
}

const words: Readonly<Record<ConditionType, string>> = {
  absolute_value: 'The value',
  relative_increase: 'The increase',
  relative_decrease: 'The decrease',
}

/** Compares each line of the series: with a breakdown, one outside the bounds is enough. */
export function checkAnswer(answer: unknown, rule: AlertRule, display: string | null): Checked {
  const rows = rowsOf(answer).filter(({ order }) => order === rule.config.series_index)
  const isNumber = isNumberPerRange(display)
  const isShare = rule.threshold.type === 'percentage' && rule.condition !== 'absolute_value'
  const { lower, upper } = rule.threshold.bounds
  let value: number | null = null
  const breaches: string[] = []
  for (const row of rows) {
    const found = comparedValue(row, rule, isNumber)
    if (found === null) continue
    const about = `${words[rule.condition]}${row.label ? ` of ${row.label}` : ''} is ${shown(found, isShare)}`
    const below = typeof lower === 'number' && found < lower ? `${about}, below the lower threshold of ${shown(lower, isShare)}.` : null
    const above = typeof upper === 'number' && found > upper ? `${about}, above the upper threshold of ${shown(upper, isShare)}.` : null
    const breach = below ?? above
    if (breach && breaches.length === 0) value = found
    if (breach) breaches.push(breach)
    value ??= found
  }
  return { value, breaches }
}
