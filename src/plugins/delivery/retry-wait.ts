const firstWaitMs = 10_000
const growth = 3
const longestWaitMs = 4 * 3_600_000
/** Then an event becomes a dead letter: after a day and a half. */
export const mostAttempts = 15

/** How long to wait after the nth failure, from 1. `random`: from 0 to 1, so that not all events of an outage come back at once. */
export const retryWait = (failures: number, random: number): number =>
  Math.min(longestWaitMs, firstWaitMs * growth ** (failures - 1)) * (0.75 + random / 2)

const longestPauseMs = 5 * 60_000
/** How long a config rests after the nth step in a row in which nothing was delivered. */
export const pauseAfter = (steps: number, random: number): number =>
  Math.min(longestPauseMs, 1000 * 2 ** Math.min(steps - 1, 20)) * (0.75 + random / 2)
