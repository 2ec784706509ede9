import { mkdir } from 'node:fs/promises'
import { setImmediate as turn } from 'node:timers/promises'
import type { EventLists } from '../event-lists.ts'
import type { Values } from '../list-column.ts'
import { sharedArray } from '../shared-array.ts'
import { copy, PageWriter, rangesOf } from './make-pages.ts'
import { type Page, type PageColumn, recordsFile, whatFile } from './page.ts'
import { readStretch, StretchWriter } from './page-files.ts'
import { type ColumnsInMemory, ofWidth, PagedEvents } from './paged-events.ts'

// Writes all pages anew, together with the events that have moved into memory.

/** Persons of a page, and where the events of each are: there, or in memory. */
interface Sources {
  readonly first: number
  /** By person minus the first one. */
  readonly counts: Int32Array
  readonly start: Int32Array
  readonly isInMemory: Uint8Array
}

/** `staying`: by person, 1 if the events stay in memory. */
export async function rewritePages(
  paged: PagedEvents,
  lists: EventLists,
  columns: ColumnsInMemory,
  staying: Uint8Array,
  folder: string,
  eventsOfPage: number,
): Promise<PagedEvents> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const persons = Math.max(lists.persons, paged.start.length)
  const start = sharedArray(Int32Array, persons)
  const end = sharedArray(Int32Array, persons)
  const pages: Page[] = []
  const keys = [...paged.columns.keys()]
  const parts = new Map<string, PageColumn['parts'][number][]>(keys.map((key) => [key, []]))
  const writer = await PageWriter.create(folder)
  const writers = new Map<string, StretchWriter>()
  let isWhole = false
  try {
    for (const [i, key] of keys.entries()) writers.set(key, await StretchWriter.create(folder, `column-${i + 1}`))
    const behind = { first: paged.start.length, end: persons, page: null }
    for (const { first, end: last, page } of [...paged.pages.map((one) => ({ ...one, page: one })), behind]) {
      const all = sourcesOf(paged, lists, staying, first, last)
      const old = page && oldArrays(paged, page)
      for (const [from, to] of rangesOf(all.counts, eventsOfPage)) {
        const events = all.counts.subarray(from, to).reduce((sum, count) => sum + count, 0)
        const gathered = (inPage: Values | Uint32Array | null, inMemory: Values | Uint32Array): Values | Uint32Array =>
          gather(all, from, to, events, inPage, inMemory)
        const time = gathered(old?.time ?? null, lists.time) as Float64Array
        const event = gathered(old?.event ?? null, lists.event) as EventLists['event']
        const seq = new Uint32Array(gathered(old?.seq ?? null, lists.seq).buffer)
        pages.push(await writer.add({ first: first + from, end: first + to, time, event, seq }))
        for (const key of keys) {
          const index = page && paged.pages.indexOf(page)
          const values = gathered(index === null ? null : oldColumn(paged, key, index), columns.get(key)!.column.values) as Values
          parts.get(key)!.push({ width: values.BYTES_PER_ELEMENT, stretch: await writers.get(key)!.add(values) })
          await turn()
        }
        let at = 0
        for (let person = from; person < to; person++) {
          start[first + person] = at
          at += all.counts[person]!
          end[first + person] = at
        }
      }
    }
    isWhole = true
  } finally {
    await writer.close(isWhole)
    for (const one of writers.values()) await one.close(isWhole)
  }
  const rewritten = new PagedEvents(folder, pages, start, end)
  for (const [i, key] of keys.entries()) rewritten.columns.set(key, { file: `column-${i + 1}`, parts: parts.get(key)! })
  rewritten.lastColumn = keys.length
  return rewritten
}

function sourcesOf(paged: PagedEvents, lists: EventLists, staying: Uint8Array, first: number, end: number): Sources {
  const counts = new Int32Array(end - first)
  const start = new Int32Array(end - first)
  const isInMemory = new Uint8Array(end - first)
  for (let person = first; person < end; person++) {
    const inPage = person < paged.start.length ? paged.end[person]! - paged.start[person]! : 0
    const inMemory = person < lists.persons && staying[person] === 0 ? lists.end[person]! - lists.start[person]! : 0
    isInMemory[person - first] = inPage > 0 ? 0 : 1
    counts[person - first] = inPage || inMemory
    start[person - first] = inPage > 0 ? paged.start[person]! : inMemory > 0 ? lists.start[person]! : 0
  }
  return { first, counts, start, isInMemory }
}

function gather(
  { counts, start, isInMemory }: Sources,
  from: number,
  to: number,
  events: number,
  inPage: Values | Uint32Array | null,
  inMemory: Values | Uint32Array,
): Values | Uint32Array {
  const all = ofWidth(Math.max(inPage?.BYTES_PER_ELEMENT ?? 1, inMemory.BYTES_PER_ELEMENT), events)
  let at = 0
  for (let person = from; person < to; person++) {
    const count = counts[person]!
    if (count === 0) continue
    copy(isInMemory[person] === 1 ? inMemory : inPage!, all, start[person]!, start[person]! + count, at)
    at += count
  }
  return all
}

function oldArrays({ folder }: PagedEvents, { what, records, events, nameBytes }: Page) {
  const whole = new Uint8Array(what.bytes)
  readStretch(folder, whatFile, what, whole)
  const seq = new Uint32Array(events)
  readStretch(folder, recordsFile, records, new Uint8Array(seq.buffer))
  return { time: new Float64Array(whole.buffer, 0, events), event: viewOf(whole.buffer, 8 * events, nameBytes, events), seq }
}

function oldColumn(paged: PagedEvents, key: string, page: number): Values {
  const { file, parts } = paged.columnOf(key)
  const { width, stretch } = parts[page]!
  const bytes = new Uint8Array(stretch.bytes)
  readStretch(paged.folder, file, stretch, bytes)
  return viewOf(bytes.buffer, 0, width, stretch.bytes / width)
}

/** Values of so many bytes in a buffer. */
export const viewOf = (buffer: ArrayBuffer, at: number, width: number, length: number): Values =>
  width === 1
    ? new Uint8Array(buffer, at, length)
    : width === 2
      ? new Uint16Array(buffer, at, length)
      : width === 4
        ? new Int32Array(buffer, at, length)
        : new Float64Array(buffer, at, length)
