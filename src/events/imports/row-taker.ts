import { nameUuid } from '../../lib/ids/name-uuid.ts'
import { identified, idNamespace, type RowPlace } from './identity.ts'
import type { Recipe } from './open.ts'
import type { Converted, ImportedEvent } from './record.ts'

/** Problems that a summary shows. */
export const problemsKept = 20

/** What a summary says about consecutive rows. */
export interface Counts {
  readonly lastRow: number
  readonly rows: number
  /** Of them, rows that an earlier run has stored. */
  readonly skipped: number
  readonly unreadable: number
  /** The first of them. */
  readonly problems: readonly { readonly row: number; readonly problem: string }[]
  /** Numbers of events by their names. */
  readonly events: ReadonlyMap<string, number>
  /** The range of their times, in milliseconds. */
  readonly from: number
  readonly to: number
}

type Counting = { -readonly [K in keyof Counts]: Counts[K] } & {
  readonly problems: Counts['problems'][number][]
  readonly events: Map<string, number>
}

const nothing = (lastRow: number): Counting => ({
  lastRow,
  rows: 0,
  skipped: 0,
  unreadable: 0,
  problems: [],
  events: new Map(),
  from: Number.POSITIVE_INFINITY,
  to: Number.NEGATIVE_INFINITY,
})

/** Collects the events of consecutive rows, gives ids to those that have none, and counts. */
export class RowTaker {
  private readonly fingerprint: string
  private readonly done: number
  private counts = nothing(0)
  /** Those that have not been taken. */
  events: ImportedEvent[] = []
  private rowsOfEvents: number[] = []

  /** `done`: rows that an earlier run has stored. */
  constructor({ fingerprint }: Pick<Recipe, 'fingerprint'>, done: number) {
    this.fingerprint = fingerprint
    this.done = done
  }

  /** Null: an empty line, or a row that is skipped. */
  take(converted: Converted | null, row: number): void {
    const { counts } = this
    counts.lastRow = row
    if (row <= this.done) counts.skipped++
    if (converted !== null || row <= this.done) counts.rows++
    if (converted === null) return
    if ('problem' in converted) {
      this.refuse(converted.line ?? row, converted.problem)
      return
    }
    for (let i = 0; i < converted.length; i++) {
      const event = converted[i]!
      this.note(event)
      this.events.push(withId(event, { fingerprint: this.fingerprint, row, index: i }))
      this.rowsOfEvents.push(row)
    }
  }

  /** Counts a row that is not stored. */
  refuse(row: number, problem: string): void {
    const { counts } = this
    counts.unreadable++
    if (counts.problems.length < problemsKept) counts.problems.push({ row, problem })
  }

  private note({ event, timestamp }: ImportedEvent): void {
    const { counts } = this
    counts.events.set(event, (counts.events.get(event) ?? 0) + 1)
    const time = Date.parse(timestamp)
    if (time < counts.from) counts.from = time
    if (time > counts.to) counts.to = time
  }

  get count(): number {
    return this.events.length
  }

  /** The row of one of `events`. */
  rowOf(index: number): number {
    return this.rowsOfEvents[index] ?? 0
  }

  takeEvents(): readonly ImportedEvent[] {
    const { events } = this
    this.events = []
    this.rowsOfEvents = []
    return events
  }

  takeCounts(): Counts {
    const { counts } = this
    this.counts = nothing(counts.lastRow)
    return counts
  }
}

function withId(event: ImportedEvent, place: RowPlace): ImportedEvent {
  const { event: plain, name } = identified(event, place)
  return name === null ? plain : ({ ...plain, uuid: nameUuid(idNamespace, name) } as ImportedEvent)
}
