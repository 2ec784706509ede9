/** A page of the history of a person. */
export interface HistoryAsked {
  /** Its uuid. */
  readonly person: string
  /** The last version of the page before. */
  readonly after: VersionPlace | null
  readonly limit: number
}

/** A record of the log, and the number under which the person was stored then. */
export interface VersionPlace {
  readonly seq: number
  readonly personNo: number
}

/** The properties of a person from a record of the log on. */
export interface PersonVersion extends VersionPlace {
  /** Arrival of the event that made it; null: a change by a user, or an import of persons. */
  readonly changedAt: Date | null
  /** JSON text. */
  readonly properties: string
}
