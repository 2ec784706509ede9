import { QueryError } from '../../errors/errors.ts'
import type { Interval } from '../../lib/time/calendar.ts'

// The numbers of a chart are cells: buckets times series times values of a breakdown. They are counted before anything is asked, from what the query says,
// and again when the values of the breakdown are known: a bucket without an event takes as much memory as one with events.

/** The most cells of an answer: some hundred megabytes of JSON. */
export const mostCells = 2_500_000
/** The most cells before the values of a breakdown are limited, of one series. */
export const mostFoundCells = 16_000_000

const count = (n: number): string => n.toLocaleString('en-US')

export interface AskedCells {
  readonly buckets: number
  readonly interval: Interval
  /** Lines, whatever they are split by: series times periods times cohorts, or numbers of each bucket. */
  readonly series: number
  /** Of the breakdown, Other included; 1 without one. */
  readonly values?: number
}

/** Throws if the answer would have too many cells. */
export function allowCells({ buckets, interval, series, values = 1 }: AskedCells): void {
  const cells = buckets * series * values
  if (cells <= mostCells) return
  const parts = [
    `${count(buckets)} buckets of one ${interval}`,
    `${count(series)} series`,
    ...(values > 1 ? [`${count(values)} values of the breakdown`] : []),
  ]
  const smaller = values > 1 ? ', a shorter range or a smaller breakdown_limit' : ', a shorter range or fewer series'
  throw new QueryError('validation-failed', {
    message: `The answer would have ${count(cells)} numbers (${parts.join(' × ')}); the limit is ${count(mostCells)}. Choose a longer interval${smaller}.`,
    attr: 'interval',
  })
}

/** Throws if the values that were found, more than are shown, take too much memory. */
export function allowFound(values: number, buckets: number): void {
  if (values * buckets <= mostFoundCells) return
  throw new QueryError('validation-failed', {
    message: `The breakdown has ${count(values)} values in ${count(buckets)} buckets, ${count(values * buckets)} numbers; the limit is ${count(mostFoundCells)}. Choose a longer interval or a shorter range, or filter the values.`,
    attr: 'breakdownFilter',
  })
}
