/** What a plugin may use. Times are in milliseconds, sizes in bytes. */
export interface Limits {
  /** Code that does not await anything. */
  readonly runMs: number
  /** A call with everything that it awaits. */
  readonly awaitMs: number
  /** A thread that a plugin occupies for this long is ended. */
  readonly threadMs: number
  readonly memory: number
  readonly stack: number
  /** Of one value that a plugin returns or passes to the server. */
  readonly value: number
  /** Lines that one call may write to the log before it awaits something. */
  readonly logLines: number
  /** Calls of the server that one plugin may wait for at once. */
  readonly openCalls: number
}

export const defaultLimits: Limits = {
  runMs: 1_000,
  awaitMs: 30_000,
  threadMs: 10_000,
  memory: 64 * 1024 * 1024,
  stack: 256 * 1024,
  value: 4 * 1024 * 1024,
  logLines: 100,
  openCalls: 100,
}
