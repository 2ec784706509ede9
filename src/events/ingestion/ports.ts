import type { ChangedRow, ChangedTable } from '../../language/catalog/changed-tables.ts'
import type { KeptFrom, Removal, RemovalCounts } from '../../language/catalog/removals.ts'
import type { SlotKind } from '../../language/catalog/slots.ts'
import type { Texts } from '../../lib/text/texts.ts'

/** What ingestion needs of a project's log. Implemented by `storage/log`. */
export interface IngestLog {
  /** Resolves when the batch is durable. */
  append(batch: LogRecords): Promise<{ firstSeq: number }>
  read(fromSeq: number): AsyncIterable<LogRecords & { readonly firstSeq: number }>
  readonly lastSeq: number
  markApplied(seq: number): void
  /** For a log that another process writes: reports that records up to `seq` are processed. */
  markTaken?(seq: number): void
  /** For such a log: resolves with true when it has records after `seq`, with false when it is closed. */
  grown?(seq: number): Promise<boolean>
  /** For a log that several processes write: what became of changes, by their first record, before their transaction commits. */
  noteOutcome?(firstSeq: number, outcome: readonly string[]): void
}

export interface LogRecords {
  readonly kind: 'event' | 'persons' | 'groups' | 'property_types' | 'records' | 'person_changes' | 'removals'
  /** Milliseconds. */
  readonly receivedAt: number
  readonly sentAt: string | null
  readonly historical: boolean
  readonly ip: string | null
  /** The import that the events are of. */
  readonly importId?: string
  readonly uuids: readonly string[]
  readonly payloads: Texts
}

/** A column that holds a property. */
export interface SlotUse {
  readonly column: string
  readonly kind: SlotKind
  readonly key: string
}

/** Times are microseconds. */
export interface EventRow {
  readonly uuid: string
  readonly eventId: number
  readonly time: number
  readonly personNo: number
  readonly distinctId: string
  readonly sessionId: string
  readonly windowId: string
  readonly groups: readonly string[]
  readonly createdAt: number
  readonly seq: number
  readonly personMode: number
  readonly elementsChain: string
  /** JSON text: bytes `from` to `to` of `bytes`. */
  readonly bytes: Uint8Array
  readonly from: number
  readonly to: number
}

/** Where the person of an id is, and what loading it takes. */
export interface FoundOwner {
  personNo: number
  hasRecord: boolean
  /** Bytes of its texts. */
  size: number
}

/** A person to load, with its size. */
export type SizedPerson = Pick<FoundOwner, 'personNo' | 'size'>

export interface FoundPerson {
  personNo: number
  uuid: string
  hasRecord: boolean
  createdAt: number
  isIdentified: boolean
  version: number
  updatedAt: number
  properties: string
  propertyTimes: string
  importedAt: number | null
}

/** The changes of one group. */
export interface StagedGroup {
  /** Number of its events. */
  readonly events: number
  pushEvent(row: EventRow): void
  put<T extends ChangedTable>(table: T, row: ChangedRow<T>, isNew: boolean): void
  /** Writes the bulk of the changes so far, which are in memory until then. */
  drain(): Promise<void>
  setMeta(key: string, value: string): void
  /** Moves `merged` and everything that points to it to `survivor`. The survivor must not be merged itself in this group. */
  merge(merged: number, survivor: number): void
  /** Replaces the stored person of this number: it is merged into `current`, or has a new row if `current` is the number itself. */
  rewrite(no: number, current: number): void
  /** Moves the id to another number. */
  moveId(distinctId: string, no: number): void
  removeFamily(family: number): void
  /** Stores the events of these ids, as far as they belong to numbers in `from`, under other numbers. */
  moveEvents(ids: readonly (readonly [distinctId: string, no: number])[], from: readonly number[]): void
  /** Removes ids, before those of this group are added. */
  removeIds(distinctIds: readonly string[]): void
  /** Removes what is known about numbers: earlier properties and cohorts; `withEvents`: also the numbers themselves and their events. */
  removePeople(numbers: readonly number[], withEvents: boolean): void
  /** Removes what visitors without cookies have done before a day (days since 1970). */
  removeVisits(beforeDay: number): void
  remove(table: 'actions' | 'cohorts' | 'cohort_members', id: number): void
  /** Rows that the store had before this group have changed or are gone: what was computed from them is computed again. */
  noteRemoved(): void
  commit(slots: Readonly<Record<'event' | 'person', readonly SlotUse[]>>): Promise<void>
}

/** Texts of a store without a property. A text that does not have it stays as it is. */
export interface WithoutProperty {
  ofProperties(text: string, name: string): string
  ofTimes(text: string, name: string): string
  ofFamily(text: string, name: string): string
}

/** What an index of ids is made from: rows of records beyond `afterSeq` (0: all), in chunks. */
export interface StoredIdentities {
  /** Number of all ids. */
  count(): Promise<number>
  ids(afterSeq: number, take: (ids: readonly string[], numbers: readonly number[]) => void): Promise<void>
  persons(afterSeq: number, take: (persons: readonly FoundPerson[]) => void): Promise<void>
  /** The same without their texts, but for the bytes of these. */
  personSizes(
    afterSeq: number,
    take: (numbers: readonly number[], haveRecord: readonly boolean[], sizes: readonly number[]) => void,
  ): Promise<void>
  /** In the order in which they happened. */
  merges(afterSeq: number, take: (merged: readonly number[], survivors: readonly number[]) => void): Promise<void>
}

/** A project's store as seen by the apply stage, its only writer. */
export interface EventWriter {
  /** The best number of events per transaction. */
  readonly groupRows: number
  /** Persons that one transaction changes, and that stay cached after it. */
  readonly groupPeople: number
  /** Characters of large properties that a table may have: more of them cannot be read, or written to the file, at a time. */
  readonly largeRoom: number
  /** Characters of large events that one transaction may have. */
  readonly largeEvents: number
  /** The state before the first group. */
  state(): Promise<WriterState>
  /** True if an error means that a group was too large. */
  isTooMuch(error: unknown): boolean
  /** Reads no properties: what a transaction must load is known before it is loaded. */
  ownersOfIds(distinctIds: readonly string[]): Promise<(FoundOwner & { distinctId: string })[]>
  sizesOf(numbers: readonly number[]): Promise<FoundOwner[]>
  personsByNo(persons: readonly SizedPerson[]): Promise<FoundPerson[]>
  /** The distinct ids of numbers. */
  idsOf(numbers: readonly number[]): Promise<{ personNo: number; distinctId: string }[]>
  /** The numbers that were merged into these. */
  mergedInto(numbers: readonly number[]): Promise<{ merged: number; survivor: number }[]>
  /** The families of imported persons that contain these numbers, and what loading each takes. */
  familySizes(numbers: readonly number[]): Promise<(SizedFamily & { personNo: number })[]>
  families(families: readonly SizedFamily[]): Promise<{ family: number; state: string }[]>
  /** Absent: ids are looked up in the store. */
  readonly identities?: StoredIdentities
  personNosOfUuids(uuids: readonly string[]): Promise<{ uuid: string; personNo: number }[]>
  groupSizes(keys: readonly (readonly [index: number, key: string])[]): Promise<SizedGroup[]>
  groups(groups: readonly SizedGroup[]): Promise<FoundGroup[]>
  /** What visitors without cookies have done. */
  visits(keys: readonly string[]): Promise<StoredVisit[]>
  /**
   * Small statements that fill `slots` in the rows of a scope's table (events: those up to `toSeq`). Run them one by one, never
   * concurrently with a commit.
   */
  fillSteps(scope: 'event' | 'person', slots: readonly SlotUse[], toSeq: number): Promise<(() => Promise<void>)[]>
  /** Uuids of the events in a range of the log, in chunks; also of events that were removed, so that they stay so. */
  uuids(fromSeq: number, toSeq: number): AsyncIterable<{ readonly uuids: readonly string[]; readonly toSeq: number }>
  /**
   * Transactions that take something from the store, each with what it changed. Run them one by one, never concurrently
   * with a commit, and open the state again afterwards. When they are repeated, they take what is left.
   */
  removalSteps(removal: Removal, seq: number, without: WithoutProperty): Promise<readonly (() => Promise<Partial<RemovalCounts>>)[]>
  /** A random id created with the store, for cache files that belong to this store only. */
  identity(): Promise<number>
  /** Work of up to a second that a later commit would do: called where the next query is likely furthest away. */
  tidy?(): Promise<void>
  /** A group may be staged while the previous one is being committed. Commits are serialized. */
  openGroup(): Promise<StagedGroup>
  close(): Promise<void>
}

export interface SizedFamily {
  family: number
  /** Bytes of its text. */
  size: number
}

export interface SizedGroup {
  index: number
  key: string
  /** Bytes of its texts. */
  size: number
}

export interface FoundGroup {
  index: number
  key: string
  createdAt: number
  updatedAt: number
  version: number
  properties: string
  propertyTimes: string
}

/** Where the salts of visitors without cookies survive the process, by day. */
export interface SaltStore {
  read(): ReadonlyMap<number, Buffer>
  /** Replaces all of them. They are durable when it returns. */
  write(salts: ReadonlyMap<number, Buffer>): void
}

/** What a visitor without cookies has done on one day. */
export interface StoredVisit {
  readonly key: string
  readonly day: number
  readonly state: string
}

/** Replaces the cached rows of a table. */
export interface WriterState {
  readonly appliedSeq: number
  /** Position of the record that last changed ids or persons in another way than adding and merging them. */
  readonly rewrittenSeq: number
  readonly hasFamilies: boolean
  readonly nextPersonNo: number
  /** Uuids that persons kept when the id that they were made from left them. */
  readonly keptUuids: readonly string[]
  readonly retiredSlots: readonly string[]
  readonly keptFrom: KeptFrom
  /** Where the events of imports are in the log: values of `meta`, by their keys. */
  readonly imports: ReadonlyMap<string, string>
  /** Characters of large texts, by the table that has them; `events`: of all that were ever written. */
  readonly large: Readonly<Record<'persons' | 'versions' | 'groups' | 'families' | 'events', number>>
  readonly groupTypes: string[]
  /** Numbers of visitors without cookies. */
  readonly visitsOfDays: readonly (readonly [day: number, count: number])[]
  readonly eventNames: readonly {
    readonly id: number
    readonly name: string
    readonly firstSeen: number
    readonly lastSeen: number
    readonly count: number
  }[]
  readonly propertyKeys: readonly {
    readonly scope: string
    readonly name: string
    readonly type: 'String' | 'Numeric' | 'Boolean' | 'DateTime' | null
    readonly slots: readonly { readonly column: string; readonly isReady: boolean }[]
    readonly counts: readonly number[]
    readonly firstSeen: number
    readonly lastSeen: number
  }[]
  readonly warnings: readonly { readonly type: string; readonly count: number; readonly samples: string; readonly lastSeen: number }[]
}

/** Records `from` to `to` are being applied. */
export interface AttemptNote {
  readonly from: number
  readonly to: number
  /** How much speaks against the record, if it is one: see `attempts.ts`. */
  readonly weight: number
  /** Milliseconds for which it has been applied alone. */
  readonly lasted: number
}

/** What is kept of attempts, beside a project's store. */
export interface AttemptStore {
  readonly found: AttemptNote | null
  /** Written at once; null: nothing is being applied. */
  note(attempt: AttemptNote | null): void
  /** Numbers of the records that are set aside. */
  readonly aside: ReadonlySet<number>
  /** Keeps a record that is not applied. Returns the path of its file. */
  setAside(record: AsideRecord): Promise<string>
  close(): void
}

export interface AsideRecord {
  readonly seq: number
  readonly kind: string
  readonly uuid: string
  /** Milliseconds. */
  readonly receivedAt: number
  readonly sentAt: string | null
  readonly payload: string
}
