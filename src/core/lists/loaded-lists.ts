import { type ActorOrder, KeptOrder, orderBytes } from './actor-order.ts'
import type { ChangedLists } from './changed-lists.ts'
import { EventLists, type ListShape } from './event-lists.ts'
import { KeptCounts } from './kept/kept-counts.ts'
import { KeptOwners, ownerBytes, type SurvivorOf } from './kept-owners.ts'
import type { KeyValues } from './key-values.ts'
import { ListColumn, type ListColumnShape } from './list-column.ts'
import { PagedEvents, type PagesShape } from './pages/paged-events.ts'
import type { EventBatch, ListImage } from './ports.ts'
import { Selections } from './selections.ts'
import { survivorIn } from './survivor.ts'

export interface Merges {
  readonly mark: string
  /** Of persons who were merged into somebody who was merged later, perhaps that one. */
  readonly survivorOf: Map<number, number>
}

export interface LoadedColumn {
  readonly column: ListColumn
  /** The last record whose event has a value. */
  seq: number
  /** The value of each text that the latest events had for what it depends on. Null: it depends on more. */
  memo: Map<string, string | number> | null
  /** The events in order of the column's texts, as of a version of the lists. */
  order?: Following<KeptOrder>
  /** The persons whose the column's texts are. */
  owners?: Following<KeptOwners>
}

/** As of a version of the lists, and what has changed since. */
interface Following<T> {
  readonly version: number
  readonly of: T
  readonly changes: ChangedLists
}

/** The lists of a project in memory, and their columns. */
export class LoadedLists {
  readonly lists: EventLists
  /** Further events, in files. Null: all are in memory. */
  readonly pages: PagedEvents | null
  /** The last record whose event is in the lists. */
  seq: number
  /** The lists are complete up to this record, which may be none of an event. */
  upTo = 0
  merges: Merges
  /** The last record that changed or removed older events. */
  readonly changedSeq: number
  /** By key, in order of last use. */
  readonly columns = new Map<string, LoadedColumn>()
  /** Values of persons, by key, in order of last use. `seq`: the last record whose changes they have. */
  readonly ofPersons = new Map<string, { readonly column: ListColumn; seq: number }>()
  /** Values of the texts of a column, by key, in order of last use. */
  readonly keyValues = new Map<string, KeyValues>()
  readonly selections: Selections
  readonly counts: KeptCounts

  constructor(lists: EventLists, seq: number, merges: Merges, changedSeq: number, pages: PagedEvents | null = null) {
    this.lists = lists
    this.pages = pages
    this.selections = new Selections(lists)
    lists.elsewhere = pages?.events ?? 0
    const bytesOf = () => (pages ? EventLists.bytesOf(this.events, lists.persons) : lists.bytes)
    this.counts = new KeptCounts(lists, bytesOf, () => this.events)
    this.seq = seq
    this.merges = merges
    this.changedSeq = changedSeq
  }

  get bytes(): number {
    const { lists, selections, counts, pages } = this
    let bytes = lists.bytes + lists.news.bytes + selections.bytes + counts.bytes + (pages?.bytes ?? 0)
    for (const { column, order, owners } of this.columns.values()) bytes += column.bytes + (order?.of.bytes ?? 0) + (owners?.of.bytes ?? 0)
    for (const values of this.keyValues.values()) bytes += values.bytes
    for (const { column } of this.ofPersons.values()) bytes += column.bytes
    return bytes
  }

  /** All of them, wherever they are. */
  get events(): number {
    return this.lists.events + (this.pages?.events ?? 0)
  }

  /** Adds events whose persons are resolved. */
  add(batch: EventBatch): void {
    this.lists.add(batch)
  }

  /** Moves the events of one person into the list of another. */
  merge(merged: number, survivor: number): void {
    this.pages?.move([merged], this.lists, this.columns)
    this.lists.merge(merged, survivor)
  }

  addColumn(key: string, column: ListColumn, seq: number): void {
    this.lists.attach(column)
    this.columns.set(key, { column, seq, memo: new Map() })
  }

  /** Returns the bytes that it had. */
  dropColumn(key: string): number {
    const dropped = this.columns.get(key)
    if (!dropped) return 0
    this.lists.detach(dropped.column)
    this.columns.delete(key)
    this.pages?.columns.delete(key)
    return dropped.column.bytes + this.drop(dropped, 'order') + this.drop(dropped, 'owners')
  }

  touchColumn(key: string): void {
    const used = this.columns.get(key)!
    this.columns.delete(key)
    this.columns.set(key, used)
  }

  private drop(column: LoadedColumn, what: 'order' | 'owners'): number {
    const kept = column[what]
    if (!kept) return 0
    this.lists.leave(kept.changes)
    delete column[what]
    return kept.of.bytes
  }

  /** As of now. */
  private following<T>(of: T): Following<T> {
    const changes = this.lists.watch()
    changes.take()
    return { version: this.lists.version, of, changes }
  }

  /** Bytes that `orderBy` will add. */
  orderBytes(key: string): number {
    const { column, order } = this.columns.get(key)!
    return order ? 0 : orderBytes(this.lists.events, column.texts.length)
  }

  /** The events of the actors that a column names. A loop with pauses. */
  *orderBy(key: string, except: string | null): Generator<void, ActorOrder, void> {
    const known = this.columns.get(key)!
    const { lists } = this
    const { column, order } = known
    const skipped = except === null ? -1 : column.codeOf(except)
    if (order?.version === lists.version) return order.of
    this.drop(known, 'order') // what follows or makes it may be stopped, and two at once may not fit
    const changed = order?.changes.take()
    const isFollowed = order && changed && (yield* order.of.follow(lists, column, changed, skipped))
    known.order = this.following(isFollowed ? order.of : yield* KeptOrder.of(lists, column, this.seq, skipped))
    return known.order.of
  }

  /** Bytes that `ownersBy` will add. */
  ownersBytes(key: string): number {
    const { column, owners } = this.columns.get(key)!
    return owners ? 0 : ownerBytes(column.codesUsed)
  }

  /** Whose the actors are that a column names. A loop with pauses. */
  *ownersBy(key: string, except: string | null): Generator<void, KeptOwners, void> {
    const known = this.columns.get(key)!
    const { lists, pages, merges } = this
    const { column, owners } = known
    if (owners?.version === lists.version) return owners.of
    const skipped = except === null ? -1 : column.codeOf(except)
    const survivorOf: SurvivorOf = (person) => survivorIn(merges.survivorOf, person)
    const changed = owners?.changes.take() ?? null
    this.drop(known, 'owners') // what follows or makes them may be stopped
    const of = owners?.of ?? (yield* KeptOwners.of(lists, column, pages && { pages, key }, skipped, survivorOf))
    if (owners) yield* of.follow(lists, column, changed, skipped, survivorOf)
    known.owners = this.following(of)
    return of
  }

  /** Takes over whose the actors of a column are from lists with the same events in other places. */
  takeOwners(key: string, from: LoadedLists): void {
    const owners = from.columns.get(key)?.owners
    if (owners?.version === from.lists.version) this.columns.get(key)!.owners = this.following(owners.of)
  }

  /** Everything, as it is written to disk. `fingerprint`: of the events in the store. */
  image(fingerprint: string): ListImage {
    const { lists, seq, merges, changedSeq, columns, pages } = this
    const { shape, arrays } = lists.image()
    const about: ImageHeader = {
      version: imageVersion,
      fingerprint,
      seq,
      changedSeq,
      mark: merges.mark,
      merges: merges.survivorOf.size,
      shape,
      pages: pages?.shape ?? null,
      columns: Array.from(columns, ([key, { column, seq: columnSeq }]) => ({ key, seq: columnSeq, shape: column.shape })),
    }
    const merged = Int32Array.from(merges.survivorOf.keys())
    const survivor = Int32Array.from(merges.survivorOf.values())
    const ofColumns = Array.from(columns.values(), ({ column }) => [column.values.subarray(0, shape.used), ...column.codeArrays])
    return { about, arrays: [merged, survivor, ...arrays, ...(pages ? [pages.start, pages.end] : []), ...ofColumns.flat()] }
  }

  /** The lists of an image, whose arrays are still to be filled; `finish` comes after that. Null: another version has written it. */
  static ofImage(about: unknown): {
    readonly arrays: ListImage['arrays']
    readonly fingerprint: string
    readonly seq: number
    readonly changedSeq: number
    readonly pages: PagedEvents | null
    finish(): LoadedLists
  } | null {
    const header = about as ImageHeader
    if (header.version !== imageVersion) return null
    const { lists, arrays } = EventLists.ofShape(header.shape)
    const [merged, survivor] = [new Int32Array(header.merges), new Int32Array(header.merges)]
    const pages = header.pages && PagedEvents.ofShape(header.pages)
    const columns = header.columns.map((one) => ({ ...one, ...ListColumn.ofShape(one.shape, lists.capacity) }))
    return {
      fingerprint: header.fingerprint,
      seq: header.seq,
      changedSeq: header.changedSeq,
      pages,
      arrays: [
        merged,
        survivor,
        ...arrays,
        ...(pages ? [pages.start, pages.end] : []),
        ...columns.flatMap(({ column, arrays: ofCodes }) => [column.values.subarray(0, header.shape.used), ...ofCodes]),
      ],
      finish() {
        const survivorOf = new Map(Array.from(merged, (from, i) => [from, survivor[i]!]))
        const loaded = new LoadedLists(lists, header.seq, { mark: header.mark, survivorOf }, header.changedSeq, pages)
        for (const { key, seq, column, finish } of columns) {
          finish()
          loaded.addColumn(key, column, seq)
        }
        return loaded
      },
    }
  }
}

const imageVersion = 6

interface ImageHeader {
  readonly version: number
  readonly fingerprint: string
  readonly seq: number
  readonly changedSeq: number
  readonly mark: string
  readonly merges: number
  readonly shape: ListShape
  readonly pages: PagesShape | null
  readonly columns: readonly { readonly key: string; readonly seq: number; readonly shape: ListColumnShape }[]
}
