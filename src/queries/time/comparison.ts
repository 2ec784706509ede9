import type { Interval } from '../../lib/time/calendar.ts'
import type { Choice } from '../actor-source.ts'
import type { QueryContext, QueryRun } from '../kind.ts'
import type { CompareFilter } from '../schemas.ts'
import { type DateRange, isoInstant, previousRange, type RangeOptions, type ResolvedRange, resolveDateRange } from './dates.ts'
import { earliestFor } from './earliest.ts'

// What all kinds share that can answer a query for two periods.

export const periods = ['current', 'previous'] as const
export type Period = (typeof periods)[number]

export interface PeriodRange {
  readonly period: Period
  readonly range: ResolvedRange
}

/** The range of a query, and the one to compare it with. */
export function* periodRanges(
  query: { readonly dateRange?: DateRange | null | undefined; readonly compareFilter?: CompareFilter | null | undefined },
  interval: Interval,
  env: QueryContext,
  options: Pick<RangeOptions, 'isExact'> = {},
): QueryRun<readonly PeriodRange[]> {
  const earliest = yield* earliestFor(query.dateRange)
  const current: PeriodRange = { period: 'current', range: resolveDateRange(query.dateRange, interval, env, { ...options, earliest }) }
  if (!query.compareFilter?.compare) return [current]
  return [current, { period: 'previous', range: previousRange(current.range, query.compareFilter.compare_to) }]
}

/** Where the actors of the previous period are asked for without a comparison. */
export const noComparison = 'There is no comparison period. Set compareFilter to {"compare": true} in the source, or leave compare out.'

/** Options of actors. */
export const periodChoices: readonly Choice[] = [
  { label: 'Current', value: 'current' },
  { label: 'Previous', value: 'previous' },
]

/** Says of which period a row is, if there are two. */
export interface PeriodLabel {
  readonly compare?: true
  readonly compare_label?: Period
}
export const periodLabel = (period: Period, isCompared: boolean): PeriodLabel =>
  isCompared ? { compare: true, compare_label: period } : {}

export interface ShownRange {
  readonly date_from: string
  readonly date_to: string
}
export const shownRange = ({ from, to, calendar }: Pick<ResolvedRange, 'from' | 'to' | 'calendar'>): ShownRange => ({
  date_from: isoInstant(from, calendar.zone),
  date_to: isoInstant(to, calendar.zone),
})

/** The ranges of one or two periods as an answer shows them. */
export interface ShownRanges {
  readonly resolved_date_range: ShownRange
  readonly resolved_compare_date_range?: ShownRange
}
export const shownRanges = ([current, previous]: readonly Pick<PeriodRange, 'range'>[]): ShownRanges => ({
  resolved_date_range: shownRange(current!.range),
  ...(previous && { resolved_compare_date_range: shownRange(previous.range) }),
})
