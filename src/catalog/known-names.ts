/** An event name that has been seen. */
export interface KnownEvent {
  readonly name: string
  readonly count: number
  readonly first_seen: Date | null
  readonly last_seen: Date | null
}

/** A property that has been seen or declared. */
export interface KnownProperty {
  /** event, person, or group_0 to group_4 */
  readonly scope: string
  readonly name: string
  /** The declared type; null: each value keeps its own type. */
  readonly property_type: 'Numeric' | 'String' | 'Boolean' | 'DateTime' | null
  /** How many values of each kind were sent. */
  readonly counts: {
    readonly numeric: number
    /** Texts that read as a number. */
    readonly numeric_text: number
    /** All other texts except times. */
    readonly text: number
    readonly boolean: number
    readonly time: number
    readonly other: number
  }
  readonly first_seen: Date | null
  readonly last_seen: Date | null
}
