import { mkdir } from 'node:fs/promises'
import { EventLists } from '../event-lists.ts'
import type { EventBatch, ListSource } from '../ports.ts'
import { sharedArray } from '../shared-array.ts'
import { type Page, recordsFile, whatFile } from './page.ts'
import { StretchWriter } from './page-files.ts'
import { PagedEvents } from './paged-events.ts'

// Reads the events of a store into pages: as many persons at a time as memory holds.

export interface MakePages {
  readonly folder: string
  readonly source: Pick<ListSource, 'events'>
  /** With the numbers of survivors. */
  readonly resolve: (batch: EventBatch) => EventBatch
  /** The number of events of each person, at least. */
  readonly byPerson: Int32Array
  /** The last record whose event is read. */
  readonly seq: number
  readonly recordsPerStatement: number
  /** Bytes of memory. */
  readonly memory: number
  /** If no person has more. */
  readonly eventsOfPage: number
}

/** While they are sorted. */
const bytesPerEvent = EventLists.bytesOfEvents(1000) / 1000

/** Persons with numbers from one up to another. */
type Range = readonly [first: number, end: number]

/** Consecutive persons, with at most so many events or one person each. */
export function rangesOf(byPerson: Int32Array, most: number): readonly Range[] {
  const ranges: Range[] = []
  let first = 0
  let events = 0
  for (let person = 0; person < byPerson.length; person++) {
    if (events > 0 && events + byPerson[person]! > most) {
      ranges.push([first, person])
      first = person
      events = 0
    }
    events += byPerson[person]!
  }
  if (first < byPerson.length) ranges.push([first, byPerson.length])
  return ranges
}

export async function makePages(make: MakePages): Promise<PagedEvents> {
  const { folder, source, resolve, byPerson, seq, recordsPerStatement, memory, eventsOfPage } = make
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const start = sharedArray(Int32Array, byPerson.length)
  const end = sharedArray(Int32Array, byPerson.length)
  const pages: Page[] = []
  const writer = await PageWriter.create(folder)
  let isWhole = false
  try {
    for (const [first, behind] of rangesOf(byPerson, Math.max(eventsOfPage, memory / bytesPerEvent))) {
      const counts = byPerson.subarray(first, behind)
      const lists = new EventLists()
      lists.expect(counts)
      for (let from = 0; from < seq; from += recordsPerStatement)
        await source.events(from, Math.min(seq, from + recordsPerStatement), (batch) => {
          const some = between(resolve(batch), first, behind)
          if (some.person.length > 0) lists.add(some)
        })
      for (const [from, to] of rangesOf(counts, eventsOfPage)) pages.push(await writer.page(lists, from, to, first, start, end))
    }
    isWhole = true
  } finally {
    await writer.close(isWhole)
  }
  return new PagedEvents(folder, pages, start, end)
}

/** The events of some persons, whose numbers then begin with 0. */
function between({ person, time, event, seq }: EventBatch, first: number, end: number): EventBatch {
  let count = 0
  for (let i = 0; i < person.length; i++) if (person[i]! >= first && person[i]! < end) count++
  const some = { person: new Int32Array(count), time: new Float64Array(count), event: new Int32Array(count), seq: new Float64Array(count) }
  let at = 0
  for (let i = 0; i < person.length; i++) {
    if (person[i]! < first || person[i]! >= end) continue
    some.person[at] = person[i]! - first
    some.time[at] = time[i]!
    some.event[at] = event[i]!
    some.seq[at++] = seq[i]!
  }
  return some
}

/** Writes pages one after the other. */
export class PageWriter {
  private constructor(
    private readonly what: StretchWriter,
    private readonly records: StretchWriter,
  ) {}

  static async create(folder: string): Promise<PageWriter> {
    return new PageWriter(await StretchWriter.create(folder, whatFile), await StretchWriter.create(folder, recordsFile))
  }

  /** The events of the persons from one up to another, whose numbers are higher by `shift` in the page. */
  async page(
    lists: Pick<EventLists, 'start' | 'end' | 'time' | 'event' | 'seq'>,
    from: number,
    to: number,
    shift: number,
    start: Int32Array,
    end: Int32Array,
  ): Promise<Page> {
    let events = 0
    for (let person = from; person < to; person++) events += lists.end[person]! - lists.start[person]!
    const time = new Float64Array(events)
    const event = new (lists.event.constructor as Uint8ArrayConstructor)(events)
    const seq = new Uint32Array(events)
    let at = 0
    for (let person = from; person < to; person++) {
      const [first, last] = [lists.start[person]!, lists.end[person]!]
      start[person + shift] = at
      end[person + shift] = at + last - first
      if (first === last) continue
      copy(lists.time, time, first, last, at)
      copy(lists.event, event, first, last, at)
      copy(lists.seq, seq, first, last, at)
      at += last - first
    }
    return this.add({ first: from + shift, end: to + shift, time, event, seq })
  }

  async add({ first, end, time, event, seq }: PageArrays): Promise<Page> {
    let [least, greatest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
    for (const one of time) {
      if (one < least) least = one
      if (one > greatest) greatest = one
    }
    const what = await this.what.add(time, event)
    const records = await this.records.add(seq)
    return { first, end, events: time.length, nameBytes: event.BYTES_PER_ELEMENT, what, records, least, greatest }
  }

  async close(isWhole: boolean): Promise<void> {
    try {
      await this.what.close(isWhole)
    } finally {
      await this.records.close(isWhole)
    }
  }
}

export interface PageArrays {
  readonly first: number
  readonly end: number
  readonly time: Float64Array
  readonly event: EventLists['event']
  readonly seq: Uint32Array
}

/** Few values are copied faster one by one. */
const fewValues = 32

function copy(from: { readonly [i: number]: number }, to: { [i: number]: number }, first: number, last: number, at: number): void {
  if (last - first > fewValues) (to as Float64Array).set((from as Float64Array).subarray(first, last), at)
  else for (let i = first; i < last; i++) to[at + i - first] = from[i]!
}
