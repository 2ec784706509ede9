// What the core needs of a store.

/** Some events by column, in any order. */
export interface EventBatch {
  /** The person's number; merges are resolved. */
  readonly person: Int32Array
  /** Microseconds since 1970, exact in a double. */
  readonly time: Float64Array
  /** Number of the event's name. */
  readonly event: Int32Array
  /** The event's record of the log. */
  readonly seq: Float64Array
}

/** With other ones, what was read before and what is read now are of two states. */
export interface ListMarks {
  /** Changes with the merges. */
  readonly mergesMark: string
  /** The last record that changed or removed older events. */
  readonly changedSeq: number
}

/** Reads the events of a project from its store. */
export interface ListSource {
  /** The number of events per person number, as stored: merges are not resolved. */
  counts(): Promise<{ readonly person: Int32Array; readonly events: Int32Array }>
  /** The last record whose event is stored, and how many are, beside the marks. */
  state(): Promise<ListMarks & { readonly seq: number; readonly events: number }>
  /** The same without a look at the events. */
  marks(): Promise<ListMarks>
  /** Passes the events after a record of the log, up to another, to `take`, with person numbers as stored. Their memory is reused once it returns. */
  events(after: number, last: number, take: (batch: EventBatch) => void): Promise<void>
  /** Of the events up to a record: other events have another one. */
  fingerprint(seq: number): Promise<string>
  /** All merges that hold: from a person's number to that of its survivor. */
  merges(): Promise<Map<number, number>>
}

/** The latest events of a project, of which the store may lack some. */
export interface RecentEvents {
  /** All events behind this record are here, and nothing but events and merges has changed since. */
  readonly from: number
  /** Their last record. */
  readonly seq: number
  /** A number that changes when the store may get others instead of those that it lacked. */
  readonly losses: number
  /** Those behind a record, which is not before `from`. Merges are not resolved. */
  events(after: number): EventBatch
  /** For each of these events, a text of its values of some properties, behind its name if that counts: equal texts have equal values. Null: they are not known. */
  values(after: number, properties: readonly string[], isOfName?: boolean): readonly (string | null)[]
  /** The merges behind a record, and perhaps some before it, in their order: numbers of merged persons and of their survivors. */
  merges(after: number): readonly (readonly [merged: number, survivor: number])[]
  /** The last record that the store has. */
  readonly stored: number
  /** Resolves when the store has everything up to a record. */
  untilStored(seq: number): Promise<void>
}

/** The lists as they are written to disk. */
export interface ListImage {
  /** Plain data. */
  readonly about: unknown
  readonly arrays: readonly (Uint8Array | Uint16Array | Int32Array | Uint32Array | Float64Array)[]
}

/** Where the lists of a project are kept between two processes. They are rebuilt when there are none, or when in doubt. */
export interface ListFiles {
  /** `open` returns the arrays to fill, or null: the image is of no use. False: there is no complete image. */
  read(open: (about: unknown) => ListImage['arrays'] | null): Promise<boolean>
  write(image: ListImage): Promise<void>
}

/** Whether a condition holds (0 or 1), a text, a text of which only matters which events have the same one, or a number (NaN: none). */
export type ColumnType = 'flags' | 'codes' | 'ids' | 'numbers'

/** What reading costs differently: the lists themselves, columns by their type, and ids of actors, of which most are different. */
export type ReadKind = 'lists' | ColumnType | 'actors'
/** How many values of each kind. */
export type LackingValues = Readonly<Partial<Record<ReadKind, number>>>

/** The values of one column in some rows. */
export interface ColumnPart {
  readonly values: Uint8Array | Int32Array | Float64Array
  /** For codes and ids: the texts that `values` are indexes of. */
  readonly texts?: readonly string[]
}

/** A value of each event, or of each person. Values of events are kept and only read of new events. */
export type ReadSpec = EventSpec | PersonSpec
interface EventSpec {
  /** Equal for equal values. */
  readonly key: string
  readonly type: ColumnType
  readonly of: 'event'
  /** The value depends on these properties of the event alone, and perhaps on its name. Absent: on more than that. */
  readonly properties?: readonly string[]
  readonly isOfName?: boolean
  /** Makes the value from the text of them, as `RecentEvents.values` has it. Undefined: it has to be read. */
  readonly plain?: ((text: string) => string | number | undefined) | undefined
}
/** With a key they are kept, and only read again of persons who have changed; with '' they are read for each query. */
export interface PersonSpec extends Omit<EventSpec, 'of' | 'properties' | 'isOfName' | 'plain'> {
  readonly of: 'person'
}
/** A value of each text of a column of events, such as a property of groups. */
export interface KeySpec {
  readonly key: string
  readonly type: ColumnType
  readonly of: 'key'
  /** Index of the column of texts. */
  readonly keys: number
  /** The value depends on the events that have the text: it is kept, and read again once there are new ones. Otherwise it is read for each query. */
  readonly isOfEvents: boolean
}
/** How a column is computed. Columns are indexes in the list that has this one, of earlier ones. */
export type Make =
  /** A value of persons, for each of their events. */
  | { readonly from: 'persons'; readonly column: number }
  /** A value of the texts of a column of events, for each event. */
  | { readonly from: 'keys'; readonly column: number; readonly keys: number }
  /** 1 where one of the flags is, or where all of them are. */
  | { readonly from: 'any' | 'all'; readonly columns: readonly number[] }
  /** 1 where the text is one of these, or none of them. */
  | { readonly from: 'texts'; readonly column: number; readonly texts: readonly string[]; readonly isNot: boolean }
  /** Texts of half-open ranges of numbers, one fewer than there are edges; `none` for all other numbers. */
  | {
      readonly from: 'ranges'
      readonly column: number
      readonly edges: readonly number[]
      readonly texts: readonly string[]
      readonly none: string
    }

/** A column that is computed from those before it, for one query. */
export interface MadeSpec {
  readonly type: ColumnType
  readonly of: 'made'
  readonly make: Make
}
export type ColumnSpec = ReadSpec | KeySpec | MadeSpec

/** Each text of a column of events is an actor, except one. */
export interface ActorSpec {
  readonly column: ReadSpec
  readonly except: string | null
  /** Only whose they are is asked for, not their events in order. */
  readonly isOwned?: boolean
}

export type TakeColumns = (keys: Float64Array, parts: readonly ColumnPart[]) => void | Promise<void>

/** Reads columns of events and persons from the store. */
export interface ColumnSource {
  readonly columns: readonly ColumnSpec[]
  /** Absent: the actors are persons. */
  readonly actors?: ActorSpec | null
  /**
   * Passes the values of some columns of events to `take`, with the records of the events: those after a record, up to another. Their memory is
   * reused once it returns, or its promise is settled.
   */
  ofEvents(columns: readonly ReadSpec[], after: number, last: number, take: TakeColumns): Promise<void>
  /**
   * The same for a column of persons, with their numbers: of those that have changed after a record of the log, or of all (0). Of all, flags may lack rows: they
   * are 0 there.
   */
  ofPersons(column: ReadSpec, after: number, take: TakeColumns): Promise<void>
  /** Passes texts and their values as two parts: of some texts, of all (null), or one row with the value of a text that has none of its own. */
  ofKeys(column: KeySpec, asked: readonly string[] | 'absent' | null, take: TakeColumns): Promise<void>
}
