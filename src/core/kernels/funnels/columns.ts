// The input of a funnel: one row per relevant event.

export const maxSteps = 32

export interface FunnelColumns {
  /** Dense codes from 0. */
  readonly actor: Int32Array
  /** Microseconds since 1970, exact in a double. */
  readonly time: Float64Array
  /** Bit k: the event matches step k. */
  readonly steps: Int32Array
  /** Bit k: the event excludes an attempt that has reached step k but not the next. Null if the funnel has no exclusions. */
  readonly exclusions: Int32Array | null
  /** Codes of the breakdown value; null without a breakdown. */
  readonly breakdown: Int32Array | null
}

/** The events of some actors, grouped by actor and ordered by time. */
export interface ActorColumns extends Omit<FunnelColumns, 'actor'> {
  readonly actors: number
  /** The events of actor `a` are `offsets[a]` to `offsets[a + 1]`. */
  readonly offsets: Int32Array
  /** The arrival index of each event, from 0, which identifies its row. Null if it is not needed. */
  readonly origin: Int32Array | null
}
