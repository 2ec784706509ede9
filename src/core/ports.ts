// What the core asks of a store.

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
  /** How many events each person has, with the numbers of their time. */
  counts(): Promise<{ readonly person: Int32Array; readonly events: Int32Array }>
  /** Hands over the events after a record of the log, with the persons' numbers of their time. Resolves with the last record. */
  eventsAfter(seq: number, take: (batch: EventBatch) => void): Promise<number>
  /** Changes with the merges. */
  mergesMark(): Promise<string>
  /** All merges that hold: from a person's number to that of its survivor. */
  merges(): Promise<ReadonlyMap<number, number>>
}
