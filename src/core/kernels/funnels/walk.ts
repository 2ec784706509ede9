/** Bounds on one walk over an actor's events. */
export interface Walk {
  readonly start: number
  readonly end: number
  /** Attempts may start only at times in [enterFrom, enterTo). */
  readonly enterFrom: number
  readonly enterTo: number
  /** With step attribution: at this step only events with the breakdown code `stepValue` count; -1: no such step. */
  readonly valueStep: number
  readonly stepValue: number
}
