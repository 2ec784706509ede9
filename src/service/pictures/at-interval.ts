import type { Series } from './chart.ts'
import { numberText, percentages } from './format.ts'
import { isPercentStack, isStack, type TimeChart } from './intervals.ts'

// What there is to say about one interval of a chart.

export interface IntervalValue {
  readonly label: string
  readonly color: number
  readonly isPrevious: boolean
  readonly text: string
  /** Beside the same series of the period before; empty: there is none, or nothing to compare. */
  readonly change: string
  /** 1: more than before, -1: less. */
  readonly direction: -1 | 0 | 1
}
export interface IntervalWords {
  /** `Saturday, 14-Nov-2026` */
  readonly title: string
  /** The largest first; those of the period before stand behind their own. */
  readonly values: readonly IntervalValue[]
  /** Of those that were left out. */
  readonly more: number
  /** The sum of a stack; null: the values of the series are not parts of one. */
  readonly total: string | null
}

/** A list of more is not read. */
const mostValues = 25

const weekdayOf = new Intl.DateTimeFormat('en-GB', { weekday: 'long', timeZone: 'UTC' })

/** Days and parts of days have a weekday. */
function titleOf({ labels, begins, interval, step }: TimeChart, index: number): string {
  const label = labels[index] ?? ''
  const day = /^\d{4}-\d{2}-\d{2}/.exec(begins[index] ?? '')?.[0]
  return day && step === 1 && /^(day|hour|minute)$/.test(interval) ? `${weekdayOf.format(new Date(`${day}T12:00:00Z`))}, ${label}` : label
}

function changeText(value: number | null, before: number | null): Pick<IntervalValue, 'change' | 'direction'> {
  if (value === null || before === null || before === 0 || value === before) return { change: '', direction: 0 }
  const share = ((value - before) / Math.abs(before)) * 100
  return { change: numberText(Math.abs(share), { ...percentages, decimals: 1 }), direction: share > 0 ? 1 : -1 }
}

export function atInterval(chart: TimeChart, index: number): IntervalWords {
  const valueAt = ({ values }: Series) => values[index] ?? null
  const own = chart.series.filter(({ isPrevious }) => !isPrevious)
  const before = new Map(chart.series.filter(({ isPrevious }) => isPrevious).map((one) => [one.color, one]))
  const sorted = own.toSorted((a, b) => (valueAt(b) ?? Number.NEGATIVE_INFINITY) - (valueAt(a) ?? Number.NEGATIVE_INFINITY))
  const all = own.reduce((sum, one) => sum + Math.abs(valueAt(one) ?? 0), 0)
  const textOf = (one: Series) => {
    const text = numberText(valueAt(one), chart.format)
    const isShare = isPercentStack(chart) && all > 0 && valueAt(one) !== null
    return isShare ? `${text} (${numberText((100 * valueAt(one)!) / all, { ...percentages, decimals: 1 })})` : text
  }
  const told = (one: Series, change: Pick<IntervalValue, 'change' | 'direction'>): IntervalValue => ({
    label: one.label,
    color: one.color,
    isPrevious: one.isPrevious,
    text: textOf(one),
    ...change,
  })
  const values = sorted.flatMap((one) => {
    const earlier = before.get(one.color)
    if (!earlier) return [told(one, { change: '', direction: 0 })]
    return [told(one, changeText(valueAt(one), valueAt(earlier))), told(earlier, { change: '', direction: 0 })]
  })
  const alone = chart.series.filter(({ isPrevious, color }) => isPrevious && !own.some((one) => one.color === color))
  const listed = [...values, ...alone.map((one) => told(one, { change: '', direction: 0 }))]
  const sum = own.reduce((sum, one) => sum + (valueAt(one) ?? 0), 0)
  return {
    title: titleOf(chart, index),
    values: listed.slice(0, mostValues),
    more: Math.max(0, listed.length - mostValues),
    total: isStack(chart) && own.length > 1 ? numberText(sum, chart.format) : null,
  }
}
