import { mathFacts } from '../../queries/series/maths.ts'
import type { Whole } from '../answers/answer-in-words.ts'
import type { Answer, Query } from '../lib/api.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { isTotal } from './choices.ts'
import { type AnswerRow, rowsOf } from './people-of.ts'
import { listIn, objectIn, type SeriesNode, textIn, withField } from './query.ts'
import { addsUp, formulasIn, isOther, keyOf } from './sums.ts'

// One number for the whole range beside the numbers of its intervals. Those of events and sums add up; people and averages do not, and are asked once
// for the range.

/** How the total of a row comes about. */
type Source = 'added' | 'asked' | 'none'

function sourceOf(query: Query, row: AnswerRow): Source {
  const filter = objectIn(query, 'trendsFilter')
  const series = listIn<SeriesNode>(query, 'series')
  const own = formulasIn(query) > 0 ? series : series.slice(Number(row.order ?? 0), Number(row.order ?? 0) + 1)
  if (own.some(({ math }) => mathFacts(math).counts === 'recent actors')) return 'none' // a range has no such number
  const isPlain = filter.display !== 'SlopeGraph' && Number(filter.smoothingIntervals ?? 1) <= 1
  return isPlain && formulasIn(query) === 0 && own.every(addsUp) ? 'added' : 'asked'
}

const clockTime = /^\d{4}-\d{2}-\d{2}T/
/** When the first interval begins to count, as a date of a query. */
function beginOf(query: Query, from: string, days: readonly unknown[]): string {
  const { date_from: given, explicitDate } = objectIn(query, 'dateRange')
  const interval = textIn(query, 'interval') || 'day'
  if (explicitDate === true || !clockTime.test(from)) return from
  if (['month', 'quarter', 'year'].includes(interval) && typeof days[0] === 'string') return days[0].slice(0, 10)
  const isInDays = interval === 'week' || (interval === 'day' && !/^-?\d*[hH]/.test(String(given ?? '')))
  return isInDays ? from.slice(0, 10) : from
}

interface Asked {
  readonly period: 'current' | 'previous'
  readonly query: Query
}

const periodOf = (row: AnswerRow) => (row.compare_label === 'previous' ? 'previous' : 'current')

/** The same question for the whole range of each period. Empty: all totals are known, or there are none. `isWhole`: of what is split, all together. */
function totalsAsked(of: Query, answer: Answer, isWhole = false): readonly Asked[] {
  const rows = rowsOf(answer)
  const query = isWhole ? withField(of, 'breakdownFilter', undefined) : of
  if (query.kind !== 'TrendsQuery' || isTotal(textIn(objectIn(query, 'trendsFilter'), 'display'))) return []
  const { compareFilter: _, interval: __, ...plain } = query
  return (['current', 'previous'] as const).flatMap((period): Asked[] => {
    const own = rows.filter((row) => periodOf(row) === period)
    const range = answer[period === 'current' ? 'resolved_date_range' : 'resolved_compare_date_range'] as
      | { readonly date_from?: unknown; readonly date_to?: unknown }
      | undefined
    if (typeof range?.date_from !== 'string' || typeof range.date_to !== 'string') return []
    if (!own.some((row) => sourceOf(query, row) === 'asked' || (isWhole && sourceOf(query, row) === 'added'))) return []
    const dateRange = {
      date_from: beginOf(query, range.date_from, Array.isArray(own[0]!.days) ? own[0]!.days : []),
      date_to: range.date_to,
      explicitDate: true,
    }
    const trendsFilter = { ...objectIn(query, 'trendsFilter'), display: 'ActionsTable', smoothingIntervals: undefined }
    return [{ period, query: { ...plain, kind: query.kind, dateRange, trendsFilter } }]
  })
}

/** Null: it has none. */
function totalOf(query: Query, row: AnswerRow, rows: readonly AnswerRow[], asked: readonly AnswerRow[] | undefined): number | null {
  const source = sourceOf(query, row)
  const number = (value: unknown) => (typeof value === 'number' ? value : null)
  if (source !== 'asked') return source === 'added' ? number(row.count) : null
  const found = asked?.find((one) => keyOf(one) === keyOf(row))
  if (found === undefined) return null
  if (isOther(row)) {
    // Of people it is a sum over the values; and it can be of other values than beside the intervals.
    const valuesOf = (all: readonly AnswerRow[]) =>
      all
        .filter((one) => one.order === row.order && !isOther(one))
        .map(keyOf)
        .sort()
        .join()
    const own = rows.filter((one) => periodOf(one) === periodOf(row))
    if (!listIn<SeriesNode>(query, 'series').every(addsUp) || valuesOf(own) !== valuesOf(asked!)) return null
  }
  return number(found.aggregated_value)
}

/** The totals of the rows, as long as they are looked at. Undefined: it is still asked. */
export function useTotals(query: Query, answer: Answer, isLookedAt: boolean): readonly (number | null | undefined)[] {
  const rows = rowsOf(answer)
  const asked = totalsAsked(query, answer)
  const { answered, isFailed } = useAsked(asked, answer, isLookedAt)
  return rows.map((row) => {
    if (row.aggregated_value !== undefined) return typeof row.aggregated_value === 'number' ? row.aggregated_value : null
    const at = asked.findIndex(({ period }) => period === periodOf(row))
    if (sourceOf(query, row) === 'asked' && at >= 0 && !answered) return isFailed ? null : undefined
    return totalOf(query, row, rows, answered?.[at])
  })
}

/** The rows of each question; null: not known yet. */
function useAsked(asked: readonly Asked[], answer: Answer, isLookedAt: boolean) {
  const { ask } = useProject()
  const { value, error } = useLoaded(
    async (signal) => {
      if (!isLookedAt) return null
      const refresh = answer.is_cached === false ? 'force_blocking' : 'blocking'
      const answers = await Promise.all(asked.map(({ query: one }) => ask(one, signal, refresh)))
      return { of: asked, rows: answers.map(rowsOf) }
    },
    [JSON.stringify(asked), isLookedAt, answer.last_refresh],
  )
  const isCurrent = JSON.stringify(value?.of) === JSON.stringify(asked)
  return { answered: isCurrent && value ? value.rows : null, isFailed: error !== null }
}

const ordersOf = (rows: readonly AnswerRow[]) => [...new Set(rows.map(({ order }) => Number(order ?? 0)))].sort((a, b) => a - b)
const numberOf = (value: unknown) => (typeof value === 'number' ? value : null)

/** Each series over the whole range: its total, or where it is split that of all together, which is asked. */
export function useWholes(
  query: Query,
  answer: Answer,
  totals: readonly (number | null | undefined)[],
  isLookedAt: boolean,
): readonly Whole[] {
  const rows = rowsOf(answer)
  const isSplit = query.breakdownFilter != null
  const asked = isSplit ? totalsAsked(query, answer, true) : []
  const { answered, isFailed } = useAsked(asked, answer, isLookedAt && asked.length > 0)
  if (query.kind !== 'TrendsQuery' || (isSplit && asked.length === 0)) return []
  const at = (order: number, period: 'current' | 'previous') => {
    if (!isSplit) return totals[rows.findIndex((row) => Number(row.order ?? 0) === order && periodOf(row) === period)]
    const which = asked.findIndex((one) => one.period === period)
    if (which < 0) return undefined
    if (answered) return numberOf(answered[which]?.find((row) => Number(row.order ?? 0) === order)?.aggregated_value)
    return isFailed ? null : undefined
  }
  return ordersOf(rows).map((order) => ({ order, now: at(order, 'current'), before: at(order, 'previous') }))
}
