// What a funnel reads: one row per event that matters.

export const maxSteps = 32

export interface FunnelColumns {
  /** Dense codes from 0. */
  readonly actor: Int32Array
  /** Microseconds since 1970, exact in a double. */
  readonly time: Float64Array
  /** Bit k: the event matches step k. */
  readonly steps: Int32Array
  /** Bit k: the event excludes an attempt that stands at step k. Null when the funnel has no exclusions. */
  readonly exclusions: Int32Array | null
  /** Codes of the breakdown value; null without a breakdown. */
  readonly breakdown: Int32Array | null
}

/** The events of some actors, grouped by actor and ordered by time. */
export interface ActorColumns extends Omit<FunnelColumns, 'actor'> {
  readonly actors: number
  /** The events of actor `a` are `offsets[a]` to `offsets[a + 1]`. */
  readonly offsets: Int32Array
  /** Index of each event by arrival, from 0: leads back to its row. Null when it is not needed. */
  readonly origin: Int32Array | null
}
