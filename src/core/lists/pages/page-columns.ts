import { setImmediate as turn } from 'node:timers/promises'
import type { EventLists } from '../event-lists.ts'
import type { ListColumn, Values } from '../list-column.ts'
import type { ColumnSource, ReadSpec } from '../ports.ts'
import { type PageColumn, recordsFile } from './page.ts'
import { readStretch, StretchWriter } from './page-files.ts'
import type { PagedEvents } from './paged-events.ts'

// Reads columns of all events from the store: into files for the pages, and into memory for the others.

export interface MakeColumns {
  readonly paged: PagedEvents
  readonly lists: EventLists
  readonly wanted: Pick<ColumnSource, 'ofEvents'>
  readonly specs: readonly ReadSpec[]
  /** Of the events in memory, one of each specification. */
  readonly columns: readonly ListColumn[]
  readonly seq: number
  readonly recordsPerStatement: number
  /** Bytes of memory. */
  readonly memory: number
  /** Throws if the columns have become too large. */
  readonly mustFit: () => void
}

/** Some pages, and perhaps the events in memory behind them. */
interface Group {
  readonly first: number
  readonly end: number
  readonly events: number
  readonly isLast: boolean
}

/** Bytes of a value, before it is known how many different ones there are. */
const bytesPerValue = { flags: 1, codes: 2, ids: 4, numbers: 8 }
const fewestRecords = 1 << 22

/** Returns the columns that begin with codes and end without: they have to be made again, without codes from the first one on. */
export async function makeColumns(make: MakeColumns): Promise<readonly number[]> {
  const { paged, lists, wanted, specs, columns, seq, recordsPerStatement, memory, mustFit } = make
  const names = specs.map(() => `column-${++paged.lastColumn}`)
  const writers: StretchWriter[] = []
  const parts: PageColumn['parts'][number][][] = specs.map(() => [])
  let isWhole = false
  try {
    for (const name of names) writers.push(await StretchWriter.create(paged.folder, name))
    const width = specs.reduce((sum, { type }) => sum + bytesPerValue[type], 0)
    const records = Math.max(fewestRecords, Math.floor(memory / 4 / 4 / recordsPerStatement) * recordsPerStatement)
    for (const group of groupsOf(paged, memory / 2 / width)) {
      const length = group.events + (group.isLast ? lists.capacity : 0)
      const read = async () => {
        for (let after = 0; after < seq; after += records) {
          const last = Math.min(seq, after + records)
          const indexOf = await indexesOf(paged, lists, group, after, last)
          for (let from = after; from < last; from += recordsPerStatement)
            await wanted.ofEvents(specs, from, Math.min(last, from + recordsPerStatement), (found, given) => {
              const indexes = new Int32Array(found.length)
              for (let row = 0; row < found.length; row++) indexes[row] = indexOf[found[row]! - after - 1]!
              for (const [i, part] of given.entries()) columns[i]!.write(part, indexes)
              mustFit()
            })
        }
      }
      const all = await elsewhere(columns, length, read)
      for (const [i, values] of all.entries()) {
        let at = 0
        for (const { events } of paged.pages.slice(group.first, group.end)) {
          const stretch = await writers[i]!.add(values.subarray(at, at + events))
          parts[i]!.push({ width: values.BYTES_PER_ELEMENT, stretch })
          at += events
        }
        if (group.isLast) columns[i]!.adopt(values.subarray(group.events, length), 0)
      }
    }
    isWhole = true
  } finally {
    for (const writer of writers) await writer.close(isWhole)
  }
  const mixed: number[] = []
  for (const [i, { key }] of specs.entries())
    if (isOfCodes(columns[i]!, parts[i]!)) paged.columns.set(key, { file: names[i]!, parts: parts[i]! })
    else mixed.push(i)
  return mixed
}

/** Whether the values of the pages have the codes of the column, or are numbers if it has none. */
export const isOfCodes = ({ type, numbers }: Pick<ListColumn, 'type' | 'numbers'>, parts: PageColumn['parts']): boolean =>
  type !== 'numbers' || numbers !== null || parts.every(({ width }) => width === 8)

/** Runs `work` while the values of all columns are others. Returns those. */
async function elsewhere(columns: readonly ListColumn[], length: number, work: () => Promise<void>): Promise<Values[]> {
  const [first, ...others] = columns
  if (!first) {
    await work()
    return []
  }
  let found: Values[] = []
  const values = await first.elsewhere(length, async () => {
    found = await elsewhere(others, length, work)
  })
  return [values, ...found]
}

/** As many pages at once as have so many events. */
function groupsOf({ pages }: PagedEvents, most: number): readonly Group[] {
  const groups: Group[] = []
  let [first, events] = [0, 0]
  for (const [i, page] of pages.entries()) {
    if (events > 0 && events + page.events > most) {
      groups.push({ first, end: i, events, isLast: false })
      ;[first, events] = [i, 0]
    }
    events += page.events
  }
  return [...groups, { first, end: pages.length, events, isLast: true }]
}

/** Where the event of each record after one is in the group; -1: elsewhere. */
async function indexesOf(paged: PagedEvents, lists: EventLists, group: Group, after: number, last: number): Promise<Int32Array> {
  const indexes = new Int32Array(last - after).fill(-1)
  let buffer = new Uint8Array(0)
  let base = 0
  for (const { events, records } of paged.pages.slice(group.first, group.end)) {
    if (buffer.length < records.bytes) buffer = new Uint8Array(records.bytes)
    readStretch(paged.folder, recordsFile, records, buffer)
    const seq = new Uint32Array(buffer.buffer, 0, events)
    for (let i = 0; i < events; i++) if (seq[i]! > after && seq[i]! <= last) indexes[seq[i]! - after - 1] = base + i
    base += events
    await turn()
  }
  if (!group.isLast) return indexes
  const { start, end, seq, persons } = lists
  for (let person = 0; person < persons; person++)
    for (let i = start[person]!; i < end[person]!; i++) if (seq[i]! > after && seq[i]! <= last) indexes[seq[i]! - after - 1] = base + i
  return indexes
}
