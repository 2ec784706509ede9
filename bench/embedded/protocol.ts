import type { Query } from 'waymark'

/** Of one batch. */
export const batchSize = 100
/** Of the events that are stored, and of those that arrive. */
export const people = 20_000

export interface HostStart {
  /** Null: without Waymark. */
  readonly isolate: boolean | null
  readonly dataDir: string
  readonly memoryLimit: string
}

export type HostCommand =
  | { readonly kind: 'condition'; readonly rate: number; readonly asks: boolean }
  | { readonly kind: 'figures' }
  | { readonly kind: 'run'; readonly query: string; readonly times: number }

export interface HostFigures {
  readonly pid: number
  readonly url: string
  /** From opening the directory to the first answer. */
  readonly openMs: number
  readonly ingested: number
  readonly answered: number
  readonly failed: number
  readonly chartMs: readonly number[]
}

/** Times are milliseconds of the wall clock: they are compared with those of another process. */
export interface RunFigures {
  /** What became of it, of each of several at a time. */
  readonly code: string
  readonly begunAt: number
  readonly endedAt: number
  /** Until a small query after it was answered. */
  readonly backMs: number
}
export type HostAnswer = HostFigures | RunFigures

export interface LoadCommand {
  readonly url: string
  readonly rate: number
  readonly seconds: number
}

export interface LoadFigures {
  /** When the first request was due, in milliseconds of the wall clock. */
  readonly begunAt: number
  /** From when each request was due to the end of its answer; null: it failed. */
  readonly ms: readonly (number | null)[]
  /** How late each was sent. */
  readonly lateMs: readonly number[]
}

const dateRange = { date_from: '2026-01-01', date_to: '2026-03-31' }
const node = (event: string) => ({ kind: 'EventsNode', event })
/** A dashboard. */
export const charts: readonly Query[] = [
  { kind: 'TrendsQuery', series: [node('$pageview')], dateRange },
  { kind: 'TrendsQuery', series: [{ ...node('purchase'), math: 'dau' }], dateRange },
  { kind: 'TrendsQuery', series: [node('$autocapture')], dateRange, breakdownFilter: { breakdown: 'plan', breakdown_type: 'event' } },
  { kind: 'FunnelsQuery', series: [node('$pageview'), node('added to cart'), node('purchase')], dateRange },
  {
    kind: 'RetentionQuery',
    retentionFilter: {
      period: 'Week',
      totalIntervals: 8,
      targetEntity: { id: '$pageview', type: 'events' },
      returningEntity: { id: '$pageview', type: 'events' },
    },
  },
  {
    kind: 'SqlLikeQuery',
    query: 'select properties.country as country, count(), uniq(person_id) from events group by country order by country',
  },
] as never

export interface Exhausting {
  readonly name: string
  readonly query: string
  /** How often it is asked at a time. */
  readonly times: number
}

/** Each wants more memory than the store, or the heap of a process, may have. */
export const exhausting: readonly Exhausting[] = [
  {
    name: 'values that the engine counts',
    query: 'select length(groupArray(repeat(toString(number), 20))) from numbers(20000000)',
    times: 1,
  },
  { name: 'values that the engine does not count', query: 'select median(number) from numbers(300000000)', times: 1 },
  {
    name: 'all pairs of events in one array',
    query: 'select length(groupArray(concat(toString(a.uuid), toString(b.uuid)))) from events a join events b on a.event = b.event',
    times: 1,
  },
  // Each is a little smaller than the largest answer that a query may have.
  { name: 'eight large answers at a time', query: 'select range(380 + number % 2) from numbers(10000) limit 10000', times: 8 },
]
