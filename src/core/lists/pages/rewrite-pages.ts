import { mkdir } from 'node:fs/promises'
import { setImmediate as turn } from 'node:timers/promises'
import type { EventLists } from '../event-lists.ts'
import type { Values } from '../list-column.ts'
import { sharedArray } from '../shared-array.ts'
import { copyJoined, joinEntries } from './joined.ts'
import { PageWriter, rangesOf } from './make-pages.ts'
import { type Page, type PageColumn, recordsFile, whatFile } from './page.ts'
import { readStretch, StretchWriter } from './page-files.ts'
import { type ColumnsInMemory, ofWidth, PagedEvents, viewOf } from './paged-events.ts'

// Writes all pages anew, together with the events that have moved into memory.

/** The events of some persons: entries of their page, and `~entry` of those in memory. */
interface Sources {
  /** By person minus the first one. */
  readonly counts: Int32Array
  readonly entries: Int32Array
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
      const old = page && oldArrays(paged, page)
      const all = sourcesOf(paged, lists, staying, first, last, old?.time ?? noTimes)
      let behind = 0
      for (const [from, to] of rangesOf(all.counts, eventsOfPage)) {
        const events = all.counts.subarray(from, to).reduce((sum, count) => sum + count, 0)
        const entries = all.entries.subarray(behind, behind + events)
        behind += events
        const gathered = (inPage: Values | Uint32Array | null, inMemory: Values | Uint32Array): Values | Uint32Array => {
          const values = ofWidth(Math.max(inPage?.BYTES_PER_ELEMENT ?? 1, inMemory.BYTES_PER_ELEMENT), events)
          copyJoined(entries, inPage ?? noTimes, inMemory, values, 0)
          return values
        }
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

const noTimes = new Float64Array(0)

/** `time`: of the page. */
function sourcesOf(
  { start, end }: PagedEvents,
  lists: EventLists,
  staying: Uint8Array,
  first: number,
  behind: number,
  time: Float64Array,
): Sources {
  const counts = new Int32Array(behind - first)
  const isHere = (person: number) => person < lists.persons && staying[person] === 0
  for (let person = first; person < behind; person++) {
    const inPage = person < start.length ? end[person]! - start[person]! : 0
    counts[person - first] = inPage + (isHere(person) ? lists.end[person]! - lists.start[person]! : 0)
  }
  const entries = new Int32Array(counts.reduce((sum, count) => sum + count, 0))
  let at = 0
  for (let person = first; person < behind; person++) {
    const page = person < start.length ? { time, first: start[person]!, end: end[person]! } : { time, first: 0, end: 0 }
    const memory = isHere(person) ? { time: lists.time, first: lists.start[person]!, end: lists.end[person]! } : { time, first: 0, end: 0 }
    at = joinEntries(page, memory, entries, at)
  }
  return { counts, entries }
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
