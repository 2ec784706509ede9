import type { SomeColumn } from '../lists/columns.ts'
import type { Values } from '../lists/list-column.ts'
import { madeColumn } from '../lists/made-columns.ts'
import { copyJoined, joinEntries } from '../lists/pages/joined.ts'
import { type Page, type PagesView, recordsFile, whatFile } from '../lists/pages/page.ts'
import { readStretch } from '../lists/pages/page-files.ts'
import { viewOf } from '../lists/pages/paged-events.ts'
import { extentOf, type Fold, type ListView } from './fold.ts'
import type { FoldPart } from './worker-messages.ts'

// What a fold reads of lists in files: one page after the other, in memory that the next page reuses.

/** A page as a fold reads lists, and the parameters of the fold with the values of that page. */
export interface OpenPage {
  readonly lists: ListView
  readonly params: unknown
}

/** What a fold reads of all pages, but for the records of events, which few need. */
export function bytesRead({ pages, columns }: PagesView): { readonly pages: number; readonly bytes: number } {
  let bytes = 0
  for (const { what } of pages) bytes += what.bytes
  for (const one of columns) if (one.from === 'file') for (const { stretch } of one.column.parts) bytes += stretch.bytes
  return { pages: pages.length, bytes }
}

/** A page as one part of a fold. */
export const partOfPage = (over: 'persons' | 'entries', { first, end, events }: Page, page: number): FoldPart =>
  over === 'persons' ? { from: first, to: end, selection: null, page } : { from: 0, to: events, selection: null, page }

/** A fold of all persons, page by page and then those in memory, in the calling thread. */
export function* foldHere<P, R>(fold: Fold<P, R>, lists: ListView, params: P): Generator<void, R, void> {
  const results: R[] = []
  const reader = new PageReader()
  for (const [i, one] of (lists.pages?.pages ?? []).entries()) {
    const { from, to } = partOfPage(fold.over, one, i)
    const open = reader.open(lists, i, params, fold.over)
    results.push(yield* fold.run(open.lists, open.params as P, from, to))
    yield
  }
  const [from, to] = [0, extentOf(fold, lists)]
  results.push(yield* fold.run(reader.inMemory(lists, from, to, fold.over), params, from, to))
  return fold.join(results, params)
}

/** What a reader finds in a page. */
interface Found {
  readonly lists: ListView
  /** Behind the events of the page: all events of persons who have further ones in memory, as entries of the page and `~entry` of those in memory. */
  readonly joined: Int32Array
}

const nobody = new Int32Array(0)

/** Whether a person has events in a page, and further ones in memory. */
const isJoined = ({ start, end, pages, persons }: ListView, person: number): boolean =>
  pages!.start[person] !== pages!.end[person] && person < persons && start[person] !== end[person]

function eventsOfJoined(all: ListView, { first, end: behind }: Page): number {
  const { start, end, pages } = all
  let events = 0
  for (let person = first; person < behind; person++)
    if (isJoined(all, person)) events += pages!.end[person]! - pages!.start[person]! + end[person]! - start[person]!
  return events
}

export class PageReader {
  private readonly buffers: ArrayBuffer[] = []
  private used = 0
  /** By person, where the events are that a fold reads now. */
  private start = new Int32Array(0)
  private end = new Int32Array(0)

  /** Valid until the next page is opened. */
  open(all: ListView, index: number, params: unknown, over: 'persons' | 'entries'): OpenPage {
    this.used = 0
    const view = all.pages!
    const page = view.pages[index]!
    const { lists, joined } = this.listsOf(all, index, page, over)
    const columns: SomeColumn[] = []
    const ofPage = new Map<ArrayBufferLike, Values>()
    for (const [i, column] of view.columns.entries()) {
      const texts = view.texts.get(i) ?? []
      if (column.from === 'memory') columns.push({ ...column.column, texts })
      else if (column.from === 'file') {
        const { width, stretch } = column.column.parts[index]!
        const bytes = this.buffer(width * lists.used)
        readStretch(view.folder, column.column.file, stretch, new Uint8Array(bytes))
        const values = this.withJoined(viewOf(bytes, 0, width, page.events), column.values, joined)
        columns.push({ values, texts, numbers: column.numbers })
      } else columns.push(completed(madeColumn(column.make, columns, { ...lists, first: page.first })))
      if (column.from !== 'memory') ofPage.set(column.values.buffer, columns[i]!.values)
    }
    return { lists, params: ofPage.size > 0 ? exchanged(params, ofPage) : params }
  }

  /** The lists in memory of some persons, without those that belong to a page. */
  inMemory(all: ListView, from: number, to: number, over: 'persons' | 'entries'): ListView {
    if (over === 'entries' || !all.pages) return all
    const { pages, persons } = all
    this.reserve(Math.max(persons, pages.start.length))
    const { start, end } = this
    start.set(all.start.subarray(from, to), from)
    end.set(all.end.subarray(from, to), from)
    for (let person = from; person < Math.min(to, pages.start.length); person++)
      if (pages.start[person] !== pages.end[person]) end[person] = start[person]!
    return { ...all, start, end }
  }

  private listsOf(all: ListView, index: number, page: Page, over: 'persons' | 'entries'): Found {
    const view = all.pages!
    const { folder, gone } = view
    const { events, what, records, nameBytes } = page
    const further = over === 'entries' ? 0 : eventsOfJoined(all, page)
    const bytes = this.buffer(Math.max(what.bytes, 8 * (events + further)))
    readStretch(folder, whatFile, what, new Uint8Array(bytes))
    const pageTime = new Float64Array(bytes, 0, events)
    const moved = gone[index]
    if (moved) for (let i = 0; i < moved.length; i += 2) pageTime.fill(Number.NaN, moved[i]!, moved[i + 1]!)
    const { start, end, joined } = further === 0 ? { ...view, joined: nobody } : this.joinedOf(all, page, pageTime, further)
    const event = this.withJoined(viewOf(bytes, 8 * events, nameBytes, events), all.event, joined) as ListView['event']
    const time = this.withJoined(pageTime, all.time, joined) as Float64Array // where the names were
    let seq: Uint32Array | null = null
    const readSeq = () => {
      const read = this.buffer(4 * (events + further))
      readStretch(folder, recordsFile, records, new Uint8Array(read))
      return this.withJoined(new Uint32Array(read, 0, events), all.seq, joined) as Uint32Array
    }
    const lists: ListView = {
      start,
      end,
      time,
      event,
      /** Few folds read them. */
      get seq() {
        seq ??= readSeq()
        return seq
      },
      persons: page.end,
      used: events + further,
      entry: null,
      extent: null,
      selection: null,
      pages: null,
    }
    return { lists, joined }
  }

  /** Persons with further events in memory have all of theirs behind those of the page. */
  private joinedOf(all: ListView, { first, end: behind, events }: Page, time: Float64Array, further: number) {
    const view = all.pages!
    this.reserve(view.start.length)
    const { start, end } = this
    start.set(view.start.subarray(first, behind), first)
    end.set(view.end.subarray(first, behind), first)
    const joined = new Int32Array(this.buffer(4 * further), 0, further)
    let at = 0
    for (let person = first; person < behind && at < further; person++) {
      if (!isJoined(all, person)) continue
      const inPage = { time, first: view.start[person]!, end: view.end[person]! }
      const next = joinEntries(inPage, { time: all.time, first: all.start[person]!, end: all.end[person]! }, joined, at)
      start[person] = events + at
      end[person] = events + next
      at = next
    }
    return { start, end, joined }
  }

  /** The values of a page, and behind them those of the joined events: in the same memory where it is long enough. */
  private withJoined<V extends Values | Uint32Array>(ofPage: V, inMemory: V, joined: Int32Array): V {
    if (joined.length === 0) return ofPage
    const length = ofPage.length + joined.length
    const isWide = ofPage.BYTES_PER_ELEMENT >= inMemory.BYTES_PER_ELEMENT
    const isInPlace = isWide && ofPage.byteOffset === 0 && ofPage.buffer.byteLength >= length * ofPage.BYTES_PER_ELEMENT
    const wide = isWide ? ofPage : inMemory
    const make = wide.constructor as new (buffer: ArrayBufferLike, at: number, length: number) => V
    const all = new make(isInPlace ? ofPage.buffer : this.buffer(wide.BYTES_PER_ELEMENT * length), 0, length)
    if (!isInPlace) all.set(ofPage as never)
    copyJoined(joined, ofPage, inMemory, all, ofPage.length)
    return all
  }

  private reserve(persons: number): void {
    if (this.start.length >= persons) return
    this.start = new Int32Array(persons)
    this.end = new Int32Array(persons)
  }

  private buffer(bytes: number): ArrayBuffer {
    const slot = this.used++
    const known = this.buffers[slot]
    if (known && known.byteLength >= bytes) return known
    const made = new ArrayBuffer(Math.ceil(bytes / 8) * 8)
    this.buffers[slot] = made
    return made
  }
}

function completed<R>(steps: Generator<void, R, void>): R {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** The same with other arrays in place of those with certain buffers. */
function exchanged(value: unknown, by: ReadonlyMap<ArrayBufferLike, Values>): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (ArrayBuffer.isView(value)) return by.get(value.buffer) ?? value
  if (Array.isArray(value)) return typeof value[0] === 'object' ? value.map((one) => exchanged(one, by)) : value
  if (value instanceof Map) return new Map(Array.from(value, ([key, one]) => [key, exchanged(one, by)]))
  const copy = Object.create(Object.getPrototypeOf(value) as object) as Record<string, unknown>
  for (const [key, one] of Object.entries(value)) copy[key] = exchanged(one, by)
  return copy
}
