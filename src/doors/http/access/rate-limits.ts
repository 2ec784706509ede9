import { failures } from '../errors.ts'

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

/** The times of the last `count` requests. The oldest decides when the next one is allowed. */
class Window {
  private readonly times: number[] = []
  private next = 0
  constructor(readonly limit: Limit) {}

  /** The number of requests that are allowed now, and the seconds until the oldest one expires. */
  room(now: number): { remaining: number; reset: number } {
    const { count, seconds } = this.limit
    let used = 0
    let oldest = now
    for (const time of this.times)
      if (time > now - seconds * 1000 && time <= now) {
        used++
        if (time < oldest) oldest = time
      }
    return { remaining: Math.max(0, count - used), reset: used === 0 ? 0 : Math.max(1, Math.ceil((oldest + seconds * 1000 - now) / 1000)) }
  }

  take(now: number): void {
    this.times[this.next] = now
    this.next = (this.next + 1) % this.limit.count
  }
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

const maxCallers = 10_000

/** Sliding windows per caller, in memory: a restart resets them. */
export const createThrottle = (limits: () => RateLimits, clock: () => Date) => {
  const windows = new Map<string, Window>()

  const windowOf = (key: string, limit: Limit): Window => {
    const known = windows.get(key)
    windows.delete(key)
    const window = known?.limit.count === limit.count && known.limit.seconds === limit.seconds ? known : new Window(limit)
    windows.set(key, window)
    if (windows.size > maxCallers) windows.delete(windows.keys().next().value!)
    return window
  }

  /** Counts one request in all windows, or refuses. Returns the headers with the remaining requests. */
  return (names: readonly LimitName[], callers: Callers): Record<string, string> => {
    const now = clock().getTime()
    const all = names.flatMap((name) =>
      (limits()[name] ?? defaultRateLimits[name] ?? []).map((limit) => windowOf(`${name} ${limit.seconds} ${callers[name]}`, limit)),
    )
    let tightest: { window: Window; remaining: number; reset: number } | undefined
    for (const window of all) {
      const { remaining, reset } = window.room(now)
      if (!tightest || remaining < tightest.remaining) tightest = { window, remaining, reset }
      if (remaining === 0 && reset >= (tightest?.reset ?? 0)) tightest = { window, remaining, reset }
    }
    if (!tightest) return {}
    const { window, remaining, reset } = tightest
    const policy = `"${names.at(-1)}";q=${window.limit.count};w=${window.limit.seconds}`
    const headers = (left: number, until: number) => ({
      'ratelimit-policy': policy,
      ratelimit: `"${names.at(-1)}";r=${left};t=${until}`,
      'ratelimit-limit': String(window.limit.count),
      'ratelimit-remaining': String(left),
      'ratelimit-reset': String(until),
    })
    if (remaining === 0) throw failures.throttled(reset, headers(0, reset))
    for (const one of all) one.take(now)
    return headers(remaining - 1, reset || window.limit.seconds)
  }
}
export type Throttle = ReturnType<typeof createThrottle>
