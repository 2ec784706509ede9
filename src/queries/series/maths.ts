import { own } from '../../lib/own.ts'

// What each math of a series counts. Plain data, which the web interface reads, too; how each road counts it is in `trends/maths.ts`.

/** What a number of a chart is made of. */
export type Counted =
  | 'events'
  | 'actors'
  /** Of the days that end with an interval. */
  | 'recent actors'
  | 'sessions'
  /** The first one of each actor. */
  | 'first events'
  /** A property of each event. */
  | 'numbers'
  | 'events per actor'
  | 'expression'

/** What becomes of many numbers; a number is the level of a quantile. */
export type NumberOf = 'sum' | 'avg' | 'min' | 'max' | number

export interface MathFacts {
  readonly counts: Counted
  readonly of?: NumberOf
  /** Of recent actors. */
  readonly days?: number
  /** The first event is searched among all events of the name, whatever the filters. */
  readonly ignoresFilters?: true
  /** The numbers of the intervals add up to that of the range. */
  readonly addsUp?: true
}

const rows = {
  total: { counts: 'events', addsUp: true },
  dau: { counts: 'actors' },
  weekly_active: { counts: 'recent actors', days: 7 },
  monthly_active: { counts: 'recent actors', days: 30 },
  unique_session: { counts: 'sessions' },
  unique_group: { counts: 'actors' },
  first_time_for_user: { counts: 'first events', ignoresFilters: true, addsUp: true },
  first_matching_event_for_user: { counts: 'first events', addsUp: true },
  first_time_for_user_with_filters: { counts: 'first events', addsUp: true },
  sum: { counts: 'numbers', of: 'sum', addsUp: true },
  avg: { counts: 'numbers', of: 'avg' },
  min: { counts: 'numbers', of: 'min' },
  max: { counts: 'numbers', of: 'max' },
  median: { counts: 'numbers', of: 0.5 },
  p75: { counts: 'numbers', of: 0.75 },
  p90: { counts: 'numbers', of: 0.9 },
  p95: { counts: 'numbers', of: 0.95 },
  p99: { counts: 'numbers', of: 0.99 },
  avg_count_per_actor: { counts: 'events per actor', of: 'avg' },
  min_count_per_actor: { counts: 'events per actor', of: 'min' },
  max_count_per_actor: { counts: 'events per actor', of: 'max' },
  median_count_per_actor: { counts: 'events per actor', of: 0.5 },
  p75_count_per_actor: { counts: 'events per actor', of: 0.75 },
  p90_count_per_actor: { counts: 'events per actor', of: 0.9 },
  p95_count_per_actor: { counts: 'events per actor', of: 0.95 },
  p99_count_per_actor: { counts: 'events per actor', of: 0.99 },
  hogql: { counts: 'expression' },
} as const satisfies Readonly<Record<string, MathFacts>>

export type Math = keyof typeof rows
export const maths = Object.keys(rows) as [Math, ...Math[]]

export type MathsOf<C extends Counted> = { [M in Math]: (typeof rows)[M]['counts'] extends C ? M : never }[Math]

/** Without a math, events are counted. A request has no unknown one; the web interface may have read it in a link. */
export const mathFacts = (math: string | null | undefined): MathFacts => own(rows, math ?? 'total') ?? rows.hogql
