const firstWait = 30_000
const longestWait = 60 * 60_000
/** Some ten hours of attempts. */
export const mostAttempts = 16

/** How long to wait after the nth failure, from 1. */
export const retryWait = (failures: number): number => Math.min(longestWait, firstWait * 2 ** (failures - 1))
