import type { Chart, FunnelGroup } from '../../service/pictures/chart.ts'
import { stepShares } from '../../service/pictures/draw/funnel.ts'
import { numberText, plainNumbers } from '../../service/pictures/format.ts'
import { type AnswerRow, rowsOf } from '../insights/people-of.ts'
import { listIn, objectIn } from '../insights/query.ts'
import { isOther, isSum, keyOf } from '../insights/sums.ts'
import type { Answer, Query } from '../lib/api.ts'
import { aboutOf, changeOf, lastOver, nameAt, type Saying, shares, type TimeChart } from './answer-in-words.ts'

// What is split by a value, in words, without asking anything more: all together where the values add up to it, and the largest value.

/** Of each row over the whole range, as far as it is known. */
export type Totals = readonly (number | null | undefined)[]
/** A value of the breakdown: of each row there is one number, and that of the same row in the period before. */
interface Valued {
  readonly row: AnswerRow
  readonly label: string
  readonly now: number
  readonly before: number | null
}

const isPrevious = (row: AnswerRow): boolean => row.compare_label === 'previous'

/** Whether each event is in one of the rows. Cohorts overlap, and bins are of numbers only. */
function hasAll(query: Query): boolean {
  const filter = objectIn(query, 'breakdownFilter')
  const parts = listIn<{ readonly type?: unknown; readonly histogram_bin_count?: unknown }>(filter, 'breakdowns')
  const isCohorts = filter.breakdown_type === 'cohort' || parts.some(({ type }) => type === 'cohort')
  const hasBins = filter.breakdown_histogram_bin_count != null || parts.some((part) => part.histogram_bin_count != null)
  return !isCohorts && !hasBins && filter.breakdown_hide_other_aggregation !== true
}

const labelsIn = (chart: Chart): ReadonlyMap<number, string> =>
  new Map(
    chart.kind === 'lines' || chart.kind === 'bars'
      ? chart.series.map(({ row, label }) => [row, label])
      : chart.kind === 'totals' || chart.kind === 'pie'
        ? chart.items.flatMap(({ row, label }) => (row === null ? [] : [[row, label] as const]))
        : [],
  )

/** Each value of a series; empty: a number is missing. `numbers`: of the rows of the answer. */
function valuesOf(rows: readonly AnswerRow[], order: number, numbers: Totals, labels: ReadonlyMap<number, string>): readonly Valued[] {
  const ofSeries = [...rows.entries()].filter(([, row]) => Number(row.order ?? 0) === order)
  const earlier = new Map(ofSeries.filter(([, row]) => isPrevious(row)).map(([i, row]) => [keyOf(row), numbers[i]]))
  const own = ofSeries.filter(([, row]) => !isPrevious(row))
  if (own.some(([i]) => numbers[i] == null)) return []
  return own.map(([i, row]) => ({ row, label: labels.get(i) ?? '', now: numbers[i]!, before: earlier.get(keyOf(row)) ?? null }))
}

const sum = (all: readonly Valued[], of: 'now' | 'before'): number => all.reduce((total, one) => total + (one[of] ?? 0), 0)

function ofSeries(
  query: Query,
  order: number,
  values: readonly Valued[],
  chart: TimeChart | TotalsChart,
  when: string,
  isOne: boolean,
): readonly Saying[] {
  const named = values.filter(({ row, label }) => !isOther(row) && label !== '')
  const [first, ...others] = named
  if (!first) return []
  const largest = others.reduce((a, b) => (b.now > a.now ? b : a), first)
  if (largest.now <= 0) return []
  const { format } = chart
  const change = changeOf(largest.now, largest.before, format)
  const isWhole = when === '' && hasAll(query) && isSum(query, order)
  const share = `${numberText((100 * largest.now) / sum(values, 'now'), shares)} of all`
  const about = [isOne && !isWhole ? aboutOf(query, order) : '', largest.label, isWhole ? share : '', when].filter((text) => text !== '')
  const saying: Saying = { value: numberText(largest.now, format), about: about.join(', '), change }
  if (!isWhole || !isOne) return [saying]
  const before = values.some((one) => one.before !== null) ? sum(values, 'before') : null
  const whole = sum(values, 'now')
  return [{ value: numberText(whole, format), about: aboutOf(query, order), change: changeOf(whole, before, format) }, saying]
}

type TotalsChart = Extract<Chart, { kind: 'totals' | 'pie' }>

function ofTrend(query: Query, answer: Answer, chart: TimeChart | TotalsChart, totals: Totals): readonly Saying[] {
  const rows = rowsOf(answer)
  const orders = [...new Set(rows.map(({ order }) => Number(order ?? 0)))].sort((a, b) => a - b)
  const labels = labelsIn(chart)
  return orders.flatMap((order) => {
    const values = valuesOf(rows, order, totals, labels)
    if (values.length > 0 || !('series' in chart)) return ofSeries(query, order, values, chart, '', orders.length === 1)
    // A range has no number of its people that is known already; its last interval has.
    const at = lastOver(chart)
    const numbers = rows.map((_, i) => chart.series.find(({ row }) => row === i)?.values[at] ?? null)
    return ofSeries(query, order, valuesOf(rows, order, numbers, labels), chart, nameAt(chart, at), orders.length === 1)
  })
}

/** The values with the most people at their first step. Somebody may be in several, so they do not add up. */
function ofFunnel({ groups }: Extract<Chart, { kind: 'funnel' }>): readonly Saying[] {
  const converted = ({ steps }: FunnelGroup) => 100 * stepShares(steps).at(-1)!.share
  return groups
    .flatMap((group, i) => (group.isPrevious || group.color < 0 || group.steps.length < 2 ? [] : [{ group, next: groups[i + 1] }]))
    .sort((a, b) => b.group.steps[0]!.count - a.group.steps[0]!.count)
    .map(({ group, next }) => {
      const before = next?.isPrevious ? converted(next) : undefined
      return {
        value: numberText(converted(group), shares),
        about: `${group.label} converted, of ${numberText(group.steps[0]!.count, plainNumbers)}`,
        change: changeOf(converted(group), before, shares),
      }
    })
}

/** Empty: it is not split, or the answer says nothing about its values in a few words. */
export function splitInWords(query: Query, answer: Answer, chart: Chart, totals: Totals): readonly Saying[] {
  if (query.breakdownFilter == null) return []
  if (query.kind === 'FunnelsQuery') return chart.kind === 'funnel' ? ofFunnel(chart) : []
  if (query.kind !== 'TrendsQuery') return []
  return chart.kind === 'lines' || chart.kind === 'bars' || chart.kind === 'totals' || chart.kind === 'pie'
    ? ofTrend(query, answer, chart, totals)
    : []
}
