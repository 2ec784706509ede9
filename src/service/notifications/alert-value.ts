import { type Line, type Lines, linesOf, type NumberAsked } from './alert-lines.ts'

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

export interface Checked {
  /** Of the series, or of the breakdown value that is outside the bounds. */
  readonly value: number | null
  readonly breaches: readonly string[]
}

/** What is compared: the last interval that is over, or the change from the one before it. Null: there are not enough intervals. */
function comparedValue(
  { data, total }: Line,
  { condition, threshold, config }: AlertRule,
  { isNumber, isWhole = false }: Pick<Lines, 'isNumber' | 'isWhole'>,
): number | null {
  const last = isWhole || config.check_ongoing_interval ? data.length - 1 : data.length - 2
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

const shown = (value: number, isShare: boolean, unit: Lines['unit']): string => {
  if (Math.abs(value) === Number.MAX_VALUE) return value > 0 ? 'infinite' : 'infinitely negative'
  return isShare ? `${Number((value * 100).toFixed(2))}%` : `${Number(value.toPrecision(unit === '' ? 12 : 6))}${unit}`
}

const words: Readonly<Record<ConditionType, string>> = {
  absolute_value: 'The value',
  relative_increase: 'The increase',
  relative_decrease: 'The decrease',
}

/** That a notice names: a statement may have thousands of rows. */
const mostBreaches = 100

/** Compares each line of the number: with a breakdown, one outside the bounds is enough. */
export function checkAnswer(answer: unknown, rule: AlertRule, query: NumberAsked['query']): Checked {
  const { config, condition, threshold } = rule
  const found = linesOf(answer, { query, index: config.series_index, isOngoing: config.check_ongoing_interval })
  const isShare = threshold.type === 'percentage' && condition !== 'absolute_value'
  const subject = condition === 'absolute_value' ? (found.subject ?? words[condition]) : words[condition]
  const text = (number: number) => shown(number, isShare, found.unit)
  const { lower, upper } = threshold.bounds
  let value: number | null = null
  let more = 0
  const breaches: string[] = []
  for (const line of found.lines) {
    const compared = comparedValue(line, rule, found)
    if (compared === null) continue
    const about = `${subject}${line.label ? ` of ${line.label}` : ''} is ${text(compared)}`
    const below = typeof lower === 'number' && compared < lower ? `${about}, below the lower threshold of ${text(lower)}.` : null
    const above = typeof upper === 'number' && compared > upper ? `${about}, above the upper threshold of ${text(upper)}.` : null
    const breach = below ?? above
    if (breach && breaches.length === 0) value = compared
    if (breach && breaches.length < mostBreaches) breaches.push(breach)
    else if (breach) more++
    value ??= compared
  }
  return { value, breaches: more === 0 ? breaches : [...breaches, `And ${more} more outside the bounds.`] }
}
