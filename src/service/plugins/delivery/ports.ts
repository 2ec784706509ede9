// What deliveries need of the events of a project. The backend implements it, in the process that has the store.

/** An event as it is stored. JSON columns are texts. */
export interface StoredEvent {
  /** Its position in the log. */
  readonly position: number
  readonly uuid: string
  readonly event: string
  readonly distinct_id: string
  /** ISO 8601. */
  readonly timestamp: string
  readonly properties: string
  readonly elements_chain: string
  readonly person_id: string
  readonly person_properties: string
}

/** At most so many events, and of more than one so many characters. */
export interface EventRange {
  readonly after: number
  readonly to: number
  readonly events: number
  readonly characters: number
}

export interface StoredEvents {
  readonly events: readonly StoredEvent[]
  /** The range is read up to this position. */
  readonly through: number
}

/** What arrived before the call is applied before the events are read. */
export interface EventReader {
  /** In the order of arrival. */
  range(range: EventRange): Promise<StoredEvents>
  /** Those that are still stored. */
  at(positions: readonly number[]): Promise<readonly StoredEvent[]>
}
