import type { ChangedRow, ChangedTable } from '../catalog/changed-tables.ts'
import type { SlotKind } from '../catalog/slots.ts'
import type { Texts } from '../lib/texts.ts'

/** What ingestion asks of a project's log. `storage/log` fills it. */
export interface IngestLog {
  /** Resolves when the batch is durable. */
  append(batch: LogRecords): Promise<{ firstSeq: number }>
  read(fromSeq: number): AsyncIterable<LogRecords & { readonly firstSeq: number }>
  readonly lastSeq: number
  markApplied(seq: number): void
  /** Of a log that another process writes: records up to `seq` are processed. */
  markTaken?(seq: number): void
  /** Of such a log: true when there are records after `seq`, false when it is closed. */
  grown?(seq: number): Promise<boolean>
}

export interface LogRecords {
  readonly kind: 'event' | 'persons' | 'groups' | 'property_types' | 'records'
  /** Milliseconds. */
  readonly receivedAt: number
  readonly sentAt: string | null
  readonly historical: boolean
  readonly ip: string | null
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

/** What one group will change. */
export interface StagedGroup {
  /** How many events it has. */
  readonly events: number
  pushEvent(row: EventRow): void
  put<T extends ChangedTable>(table: T, row: ChangedRow<T>, isNew: boolean): void
  /** Hands over the bulk of what was put so far, which is in memory until then. */
  drain(): Promise<void>
  setMeta(key: string, value: string): void
  /** `merged` and everything that points to it belongs to `survivor` from now on. The survivor must not be merged itself in this group. */
  merge(merged: number, survivor: number): void
  /** What is stored for this number is void: it is merged into `current`, which has a new row if it is the number itself. */
  rewrite(no: number, current: number): void
  /** The id belongs to another number than before. */
  moveId(distinctId: string, no: number): void
  removeFamily(family: number): void
  remove(table: 'actions' | 'cohorts' | 'cohort_members', id: number): void
  commit(slots: Readonly<Record<'event' | 'person', readonly SlotUse[]>>): Promise<void>
}

/** A project's store as the apply stage sees it: it alone writes there. */
export interface EventWriter {
  /** Events of one transaction that the store takes best. */
  readonly groupRows: number
  /** Persons whose state is cached besides. */
  readonly groupPeople: number
  /** The state before the first group. */
  state(): Promise<WriterState>
  /** Whether an error means that a group was too large. */
  isTooMuch(error: unknown): boolean
  personsOfIds(distinctIds: readonly string[]): Promise<(FoundPerson & { distinctId: string })[]>
  personsByNo(numbers: readonly number[]): Promise<FoundPerson[]>
  /** The distinct ids of numbers. */
  idsOf(numbers: readonly number[]): Promise<{ personNo: number; distinctId: string }[]>
  /** The numbers that were merged into these. */
  mergedInto(numbers: readonly number[]): Promise<{ merged: number; survivor: number }[]>
  /** The families of imported people that these numbers are of. */
  families(numbers: readonly number[]): Promise<{ family: number; state: string }[]>
  personNosOfUuids(uuids: readonly string[]): Promise<{ uuid: string; personNo: number }[]>
  groups(keys: readonly (readonly [index: number, key: string])[]): Promise<FoundGroup[]>
  /**
   * Small statements that give the rows of a scope's table the values of `slots` (events: those up to `toSeq`). To be run one by one, never
   * concurrently with a commit.
   */
  fillSteps(scope: 'event' | 'person', slots: readonly SlotUse[], toSeq: number): Promise<(() => Promise<void>)[]>
  /** Uuids of the events of a range of the log, some at a time. */
  uuids(fromSeq: number, toSeq: number): AsyncIterable<{ readonly uuids: readonly string[]; readonly toSeq: number }>
  /** A random id created with the store, for cache files that belong to this store only. */
  identity(): Promise<number>
  /** A group may be staged while the one before is being committed; commits follow one another. */
  openGroup(): Promise<StagedGroup>
  close(): Promise<void>
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

/** Replaces the rows of a table, as far as they are cached in memory. */
export interface WriterState {
  readonly appliedSeq: number
  readonly hasFamilies: boolean
  readonly nextPersonNo: number
  readonly retiredSlots: readonly string[]
  readonly groupTypes: string[]
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
