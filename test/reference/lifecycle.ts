import { bucketOfDay, bucketsOf, dayNumber, dayText, localDay, type ReferenceQuery } from './trends.ts'

// The answer to a lifecycle query by loops over an array of events, written from the description of the feature.

export interface LifecycleEvent {
  readonly person: number
  /** Microseconds. */
  readonly at: number
}

export interface ReferenceLifecycle {
  readonly zone: string
  readonly weekStartDay: 0 | 1
  readonly interval: 'day' | 'week' | 'month'
  /** Local dates, both included; their intervals count whole. */
  readonly from: string
  readonly to: string
}

export const statuses = ['new', 'returning', 'resurrecting', 'dormant'] as const

/** For each status its numbers; `created` is when each person was. */
export function referenceLifecycle(
  events: readonly LifecycleEvent[],
  created: ReadonlyMap<number, number>,
  query: ReferenceLifecycle,
): readonly (readonly number[])[] {
  const bucketOf = (at: number) => bucketOfDay(localDay(at, query.zone), query)
  const isActive = (person: number, bucket: string) => events.some((e) => e.person === person && bucketOf(e.at) === bucket)
  const statusOf = (person: number, bucket: string) => {
    const before = isActive(person, bucketOfDay(dayText(dayNumber(bucket) - 1), query))
    if (!isActive(person, bucket)) return before ? 'dormant' : null
    if (bucketOf(created.get(person)!) === bucket) return 'new'
    return before ? 'returning' : 'resurrecting'
  }
  return statuses.map((status) =>
    bucketsOf(query as unknown as ReferenceQuery).map((bucket) => {
      const count = [...created.keys()].filter((person) => statusOf(person, bucket) === status).length
      return status === 'dormant' && count > 0 ? -count : count
    }),
  )
}
