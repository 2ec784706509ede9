// What the core needs of a store.

/** Some events by column, in any order. */
export interface EventBatch {
  /** The person's number; merges are resolved. */
  readonly person: Int32Array
  /** Microseconds since 1970, exact in a double. */
  readonly time: Float64Array
  /** Number of the event's name. */
  readonly event: Int32Array
}

/** Reads the events of a project from its store. */
export interface ListSource {
  /** The number of events per person number, as stored: merges are not resolved. */
  counts(): Promise<{ readonly person: Int32Array; readonly events: Int32Array }>
  /** Passes the events after a record of the log to `take`, with person numbers as stored. Resolves with the last record. */
  eventsAfter(seq: number, take: (batch: EventBatch) => void): Promise<number>
  /** A version that changes with the merges. */
  mergesMark(): Promise<string>
  /** All merges that hold: from a person's number to that of its survivor. */
  merges(): Promise<ReadonlyMap<number, number>>
}
