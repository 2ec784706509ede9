import type { QueryContext } from '../kind.ts'
import { bucketEdges } from '../time/buckets.ts'
import { micros, type ResolvedRange } from '../time/dates.ts'
import type { Group } from './groups.ts'
import { displayOf, type TrendsQuery } from './schema.ts'

// A slope graph shows the first and the last bucket of a line chart, and nothing in between.

export const isSlope = (query: TrendsQuery): boolean => displayOf(query) === 'SlopeGraph'

/** Its two ends are the comparison, and a mean of the last buckets would read those in between: charts that change their display keep these fields. */
export const plainSlope = (query: TrendsQuery): TrendsQuery =>
  isSlope(query) ? { ...query, compareFilter: null, trendsFilter: { ...query.trendsFilter, smoothingIntervals: null } } : query

/** One bucket stays one. */
export const endsOf = <T>(buckets: readonly T[]): T[] => (buckets.length > 2 ? [buckets[0]!, buckets.at(-1)!] : [...buckets])

/** A value that only counts between the ends has no line. */
export const slopeGroups = (groups: readonly Group[]): Group[] =>
  groups
    .map(({ parts, data }) => ({ parts, data: endsOf(data) }))
    .filter(({ parts, data }) => parts.length === 0 || data.some((n) => n !== 0))

/** Whether now is in the last bucket. */
export function endsNow(range: ResolvedRange, env: Pick<QueryContext, 'now'>): boolean {
  const [start, end] = bucketEdges(range).slice(-2)
  const now = micros(env.now)
  return start !== undefined && end !== undefined && start <= now && now < end
}
