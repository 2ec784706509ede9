/** When work that failed is tried again. */
export interface Retry {
  /** With so many failures it is given up. */
  readonly attempts: number
  readonly firstMs: number
  /** How much longer each wait is than the one before. */
  readonly growth: number
  readonly longestMs: number
  /** The part of a wait by which it may be shorter or longer, so that not everything of an outage comes back at once. */
  readonly jitter: number
}

/** How long to wait after the nth failure, from 1. `random`: from 0 to 1. */
export const retryWait = ({ firstMs, growth, longestMs, jitter }: Retry, failures: number, random: number): number =>
  Math.min(longestMs, firstMs * growth ** Math.min(failures - 1, 100)) * (1 + jitter * (2 * random - 1))

/** When to try again after the nth failure; null: not any more. */
export const nextAttempt = (retry: Retry, failures: number, now: Date, random: () => number): Date | null =>
  failures >= retry.attempts ? null : new Date(now.getTime() + retryWait(retry, failures, random()))
