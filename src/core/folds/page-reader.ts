import type { SomeColumn } from '../lists/columns.ts'
import type { Values } from '../lists/list-column.ts'
import { madeColumn } from '../lists/made-columns.ts'
import { type Page, type PagesView, recordsFile, whatFile } from '../lists/pages/page.ts'
import { readStretch } from '../lists/pages/page-files.ts'
import { viewOf } from '../lists/pages/rewrite-pages.ts'
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
    const open = reader.open(lists.pages!, i, params)
    results.push(yield* fold.run(open.lists, open.params as P, from, to))
    yield
  }
  results.push(yield* fold.run(lists, params, 0, extentOf(fold, lists)))
  return fold.join(results, params)
}

export class PageReader {
  private readonly buffers: ArrayBuffer[] = []
  private used = 0

  /** Valid until the next page is opened. */
  open(view: PagesView, index: number, params: unknown): OpenPage {
    this.used = 0
    const page = view.pages[index]!
    const lists = this.listsOf(view, index, page)
    const columns: SomeColumn[] = []
    const ofPage = new Map<ArrayBufferLike, Values>()
    for (const [i, column] of view.columns.entries()) {
      const texts = view.texts.get(i) ?? []
      if (column.from === 'memory') columns.push({ ...column.column, texts })
      else if (column.from === 'file') {
        const { width, stretch } = column.column.parts[index]!
        const bytes = this.buffer(stretch.bytes)
        readStretch(view.folder, column.column.file, stretch, new Uint8Array(bytes))
        const values = viewOf(bytes, 0, width, page.events)
        columns.push({ values, texts, numbers: column.numbers })
      } else columns.push(completed(madeColumn(column.make, columns, { ...lists, first: page.first })))
      if (column.from !== 'memory') ofPage.set(column.values.buffer, columns[i]!.values)
    }
    return { lists, params: ofPage.size > 0 ? exchanged(params, ofPage) : params }
  }

  private listsOf(view: PagesView, index: number, page: Page): ListView {
    const { folder, start, end, gone } = view
    const { events, what, records, nameBytes } = page
    const bytes = this.buffer(what.bytes)
    readStretch(folder, whatFile, what, new Uint8Array(bytes))
    const time = new Float64Array(bytes, 0, events)
    const moved = gone[index]
    if (moved) for (let i = 0; i < moved.length; i += 2) time.fill(Number.NaN, moved[i]!, moved[i + 1]!)
    let seq: Uint32Array | null = null
    const readSeq = () => {
      const read = this.buffer(records.bytes)
      readStretch(folder, recordsFile, records, new Uint8Array(read))
      return new Uint32Array(read, 0, events)
    }
    return {
      start,
      end,
      time,
      event: viewOf(bytes, 8 * events, nameBytes, events) as ListView['event'],
      /** Few folds read them. */
      get seq() {
        seq ??= readSeq()
        return seq
      },
      persons: page.end,
      used: events,
      entry: null,
      extent: null,
      selection: null,
      pages: null,
    }
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
