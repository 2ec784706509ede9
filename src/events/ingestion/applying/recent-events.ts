import { mustHold } from '../../../errors/invariants.ts'
import { jsonTokens } from '../../../lib/text/json-tokens.ts'
import type { EventRow, StagedGroup } from '../ports.ts'
import { CommitWaiters } from './commit-waiters.ts'
import { RecentWaits } from './recent-waits.ts'

/** More of them are what the store is for. */
const mostEvents = 1 << 16
const mostMerges = 1 << 12
const firstEvents = 1 << 10
/** Of the properties of the latest events. */
const mostBytes = 1 << 20
/** Dashboards ask again after half a minute. */
const followedMs = 60_000

/** Numbers of a person who became part of another one, and of that one. */
type Merge = readonly [merged: number, survivor: number]

/** Some events by column, in the order of their records. */
export interface RecentBatch {
  readonly person: Int32Array
  readonly time: Float64Array
  readonly event: Int32Array
  readonly seq: Float64Array
}

/**
 * The latest events that are processed, whether the store has them or not: a query that follows them does not wait for their transaction. They are noted
 * while such queries come.
 */
export class RecentEvents {
  /** All events behind this record are here, and nothing but events and merges has changed since. */
  from: number
  /** The last record that is processed. */
  seq: number
  /** Processed records were read again after an error: what was taken from here may differ from the store. */
  losses = 0
  /** Changes with the names and types of events, properties and groups, and with the definitions. */
  version = 0
  /** The last record that the store has, and at least its version. */
  stored: number
  storedVersion = 0
  private readonly followers = new RecentWaits(followedMs)
  private readonly waiters: CommitWaiters
  private batch = batchOf(0)
  /** The properties of the last rows, as JSON. */
  private properties: Uint8Array[] = []
  private bytes = 0
  /** Rows, and those of processed records among them. */
  private rows = 0
  private shown = 0
  private known: readonly (readonly [seq: number, merged: number, survivor: number])[] = []
  private facts: number

  /** `untilStored` resolves when the store has everything up to a record. */
  constructor(
    seq: number,
    facts: number,
    readonly untilStored: (seq: number) => Promise<void>,
  ) {
    this.from = this.seq = this.stored = seq
    this.facts = facts
    this.waiters = new CommitWaiters(seq)
  }

  /** For a query that follows the events: resolves when everything up to a record is processed. */
  until(seq: number): Promise<void> {
    this.followers.note()
    return this.waiters.until(seq)
  }

  reject(error: unknown): void {
    this.waiters.reject(error)
  }

  /** The same group, whose events are noted. */
  noting(group: StagedGroup): StagedGroup {
    if (!this.followers.areThere) return group
    return Object.create(group, {
      events: { get: () => group.events },
      pushEvent: {
        value: (row: EventRow) => {
          this.add(row)
          group.pushEvent(row)
        },
      },
    }) as StagedGroup
  }

  /**
   * A batch of events is processed, up to a record. `merges`: null if its persons have changed otherwise too. `isNoted`: its group has noted the events.
   * `facts`: a number that grows with what `version` stands for.
   */
  processed(seq: number, merges: readonly Merge[] | null, isNoted: boolean, facts: number): void {
    if (facts !== this.facts) this.version++
    this.facts = facts
    if (!merges || !isNoted || !this.followers.areThere || this.known.length + merges.length > mostMerges) {
      this.restart(seq)
      return
    }
    this.seq = seq
    this.shown = this.rows
    if (merges.length > 0) this.known = [...this.known, ...merges.map(([merged, survivor]) => [seq, merged, survivor] as const)]
    this.waiters.reached(seq)
  }

  committed(seq: number, version: number): void {
    this.stored = seq
    this.storedVersion = version
  }

  /** Something else than events was processed. `facts`: as above. */
  changed(seq: number, facts: number): void {
    this.version++
    this.facts = facts
    this.restart(seq)
  }

  /** What is not in the store is processed again from a record on. */
  lost(seq: number, facts: number): void {
    this.losses++
    this.changed(seq, facts)
  }

  /** Those behind a record, which is not before `from`. */
  events(after: number): RecentBatch {
    const { batch, shown } = this
    const first = this.firstAfter(after)
    const part = <V extends Int32Array | Float64Array>(values: V) => values.slice(first, shown) as V
    return { person: part(batch.person), time: part(batch.time), event: part(batch.event), seq: part(batch.seq) }
  }

  /** For each of these events, a text of its values of some properties, behind its name if that counts: equal texts have equal values. Null: they are not known. */
  values(after: number, properties: readonly string[], isOfName = false): readonly (string | null)[] {
    const { batch, rows, shown } = this
    const first = this.firstAfter(after)
    const kept = rows - this.properties.length
    return Array.from({ length: shown - first }, (_, i) => {
      const row = first + i
      const text = properties.length === 0 ? '' : row < kept ? null : valuesText(this.properties[row - kept]!, properties)
      return isOfName && text !== null ? `${batch.event[row]}\n${text}` : text
    })
  }

  /** The merges of batches behind a record, in their order. */
  merges(after: number): readonly Merge[] {
    return this.known.filter(([seq]) => seq > after).map(([, merged, survivor]) => [merged, survivor])
  }

  private firstAfter(seq: number): number {
    const { batch, shown } = this
    let first = 0
    for (let end = shown; first < end; ) {
      const middle = (first + end) >> 1
      if (batch.seq[middle]! > seq) end = middle
      else first = middle + 1
    }
    return first
  }

  private add({ personNo, time, eventId, seq, bytes, from, to }: EventRow): void {
    if (this.rows === this.batch.seq.length) this.makeRoom()
    const { batch, rows } = this
    const before = rows > 0 ? batch.seq[rows - 1]! : this.from
    mustHold('recent in order', seq > before, () => ({ record: seq, before }))
    batch.person[rows] = personNo
    batch.time[rows] = time
    batch.event[rows] = eventId
    batch.seq[rows] = seq
    this.rows++
    this.properties.push(Uint8Array.prototype.slice.call(bytes, from, to)) // that of a Buffer copies nothing
    this.bytes += to - from
    if (this.bytes <= mostBytes) return
    let [gone, left] = [0, this.bytes]
    while (left > mostBytes / 2) left -= this.properties[gone++]!.length
    this.forgetProperties(gone)
  }

  /** Of the oldest rows that have them. */
  private forgetProperties(count: number): void {
    if (count <= 0) return
    for (const { length } of this.properties.splice(0, count)) this.bytes -= length
  }

  private restart(seq: number): void {
    this.from = this.seq = seq
    this.batch = batchOf(0)
    this.rows = this.shown = 0
    this.properties = []
    this.bytes = 0
    this.known = []
    this.waiters.reached(seq)
  }

  private makeRoom(): void {
    const { batch, rows } = this
    const dropped = rows >= mostEvents ? rows >> 1 : 0
    if (dropped > 0) this.from = Math.max(this.from, batch.seq[dropped - 1]!)
    this.batch = batchOf(dropped > 0 ? rows : Math.max(firstEvents, rows * 2))
    for (const name of columnNames) this.batch[name].set(batch[name].subarray(dropped, rows))
    this.rows -= dropped
    this.forgetProperties(this.properties.length - this.rows)
    this.shown = Math.max(0, this.shown - dropped)
    const { from } = this
    if (dropped > 0) this.known = this.known.filter(([seq]) => seq > from)
  }
}

const decoder = new TextDecoder()

/** Null: JSON that can be read in several ways, or values that are compared better by the engine. Numbers as they are written: 1 and 1.0 are two texts. */
const valuesText = (bytes: Uint8Array, keys: readonly string[]): string | null =>
  jsonTokens(decoder.decode(bytes), keys)?.join('\n') ?? null

const columnNames = ['person', 'time', 'event', 'seq'] as const

const batchOf = (rows: number): RecentBatch => ({
  person: new Int32Array(rows),
  time: new Float64Array(rows),
  event: new Int32Array(rows),
  seq: new Float64Array(rows),
})
