/** Failures weigh against successes: a plugin is switched off when it fails more often than not for a while, or keeps exceeding its limits. */
const weights = { success: -1, failure: 1, limit: 20 } as const
const mostWeight = 60
const offMs = 10 * 60_000

export interface Breaker {
  /** False while the plugin is switched off. */
  isClosed(now: Date): boolean
  /** Returns true if this switches the plugin off. */
  note(what: keyof typeof weights, now: Date): boolean
}

export function createBreaker(): Breaker {
  let weight = 0
  let offUntil = 0
  return {
    isClosed: (now) => now.getTime() >= offUntil,
    note(what, now) {
      weight = Math.max(0, weight + weights[what])
      if (weight < mostWeight || now.getTime() < offUntil) return false
      offUntil = now.getTime() + offMs
      weight = mostWeight - weights.limit // one more limit switches it off again
      return true
    },
  }
}

/** For messages. */
export const breakerMinutes = offMs / 60_000
