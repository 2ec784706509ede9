import type { Choice } from './actor-source.ts'
import { isoInstant, type ResolvedRange } from './dates.ts'

// What all kinds share that can answer a query for two periods.

export const periods = ['current', 'previous'] as const
export type Period = (typeof periods)[number]

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
export const shownRanges = ([current, previous]: readonly ResolvedRange[]): ShownRanges => ({
  resolved_date_range: shownRange(current!),
  ...(previous && { resolved_compare_date_range: shownRange(previous) }),
})
