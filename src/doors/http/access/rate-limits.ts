import { failures } from '../errors.ts'
import type { RequestCounts } from './request-counts.ts'

export interface Limit {
  readonly count: number
  readonly seconds: number
}
export type LimitName = 'api' | 'query' | 'draft' | 'shared' | 'session' | 'test' | 'scim'
/** Without limits for public links, for signed-in people, for tests and for identity providers, those of `defaultRateLimits` apply. */
export type RateLimits = Readonly<Record<Exclude<LimitName, 'shared' | 'session' | 'test' | 'scim'>, readonly Limit[]>> & {
  readonly shared?: readonly Limit[]
  readonly session?: readonly Limit[]
  readonly test?: readonly Limit[]
  readonly scim?: readonly Limit[]
}

const minute = 60
const hour = 3600
const day = 86_400
export const perHour = (count: number): readonly Limit[] => (count === 0 ? [] : [{ count, seconds: hour }])
/** Limits for queries, for servers with customers. */
export const hostedQueriesPerHour = 120
export const defaultRateLimits: Required<RateLimits> = {
  api: [
    { count: 480, seconds: minute },
    { count: 4800, seconds: hour },
  ],
  query: [],
  draft: [
    { count: 10, seconds: minute },
    { count: 40, seconds: day },
  ],
  // Per address that reads public links.
  shared: [{ count: 120, seconds: minute }],
  // Of one user, in all browsers: pages ask much at once.
  session: [{ count: 3000, seconds: minute }],
  // Of one token of SCIM: providers send 25 requests a second when they begin.
  scim: [{ count: 3000, seconds: minute }],
  // Of one project, for all its callers together: each test sends to servers outside.
  test: [
    { count: 10, seconds: minute },
    { count: 60, seconds: hour },
  ],
}

/** The identity that each limit counts. */
export type Callers = Readonly<Record<LimitName, string>>

/** One identity for all limits. */
export const asOne = (caller: string): Callers => ({
  api: caller,
  draft: caller,
  query: caller,
  shared: caller,
  session: caller,
  test: caller,
  scim: caller,
})
/** Without the limit that counts projects, not callers. */
export const ofCallers = (names: readonly LimitName[]): readonly LimitName[] => names.filter((name) => name !== 'test')

/** Sliding windows per caller. */
export const createThrottle = (limits: () => RateLimits, clock: () => Date, counts: RequestCounts) => {
  /** Counts one request in all windows, or refuses. Returns the headers with the remaining requests. */
  return async (names: readonly LimitName[], callers: Callers): Promise<Record<string, string>> => {
    const windows = names.flatMap((name) =>
      (limits()[name] ?? defaultRateLimits[name] ?? []).map(({ count, seconds }) => ({ name, caller: callers[name], count, seconds })),
    )
    if (windows.length === 0) return {}
    const rooms = await counts.take(windows, clock().getTime())
    let tightest = { window: windows[0]!, ...rooms[0]! }
    for (const [i, room] of rooms.entries())
      if (room.remaining < tightest.remaining || (room.remaining === 0 && room.reset >= tightest.reset))
        tightest = { window: windows[i]!, ...room }
    const { window, remaining, reset } = tightest
    const policy = `"${names.at(-1)}";q=${window.count};w=${window.seconds}`
    const headers = (left: number, until: number) => ({
      'ratelimit-policy': policy,
      ratelimit: `"${names.at(-1)}";r=${left};t=${until}`,
      'ratelimit-limit': String(window.count),
      'ratelimit-remaining': String(left),
      'ratelimit-reset': String(until),
    })
    if (remaining === 0) throw failures.throttled(reset, headers(0, reset))
    return headers(remaining - 1, reset || window.seconds)
  }
}
