import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { mustHold } from '../../../errors/invariants.ts'
import type { SomeColumn } from '../columns.ts'
import { EventLists } from '../event-lists.ts'
import { arrayOfWidth, ListColumn, type Values } from '../list-column.ts'
import { LoadedLists, type Merges } from '../loaded-lists.ts'
import type { ColumnSource, ColumnSpec, ListSource, ReadSpec } from '../ports.ts'
import { type MakePages, makePages } from './make-pages.ts'
import { type PageColumnView, PagesNotWritten, type PagesView, recordsFile, whatFile } from './page.ts'
import { isOfCodes, makeColumns } from './page-columns.ts'
import type { PagedEvents } from './paged-events.ts'
import { rewritePages } from './rewrite-pages.ts'

// The lists of a project in files: made, read column by column, rewritten, and removed.

/** Lists that take more of the memory are kept in files. */
const inMemoryShare = 0.7
/** Events of a page, and its share of the memory: each thread has one. */
const mostEvents = 1 << 19
const fewestEvents = 256
const pageShare = 1 / 64
/** Of the memory, while pages or columns are made. */
const makingShare = 1 / 2
const leastMaking = 1 << 16
/** Events that are in memory go to the files when they take more of it. */
const movedShare = 1 / 4
/** Columns that lack more records are not rewritten: they are read again when they are asked for. */
const mostLacked = 2_000_000
/** The least used ones give way. */
const mostColumns = 64
/** After a failure, nothing is written for so long. */
const restMs = 60_000
/** Of each event: time, name, record. */
const widthOfEvent = 13

export class PageStore {
  /** Keys of numbers with too many different values for codes. */
  private readonly plain = new Set<string>()

  private readonly eventsOfPage: number
  private failedAt = Number.NEGATIVE_INFINITY

  constructor(
    private readonly folder: string,
    /** Bytes. */
    private readonly memory: number,
    private readonly recordsPerStatement: number,
  ) {
    this.eventsOfPage = Math.min(
      mostEvents,
      Math.max(fewestEvents, Math.floor((memory * pageShare * 1000) / EventLists.bytesOfEvents(1000))),
    )
  }

  /** Whether so many events are kept in files. */
  isFor(events: number, persons: number): boolean {
    return EventLists.bytesOf(events, persons) > this.memory * inMemoryShare
  }

  /** Writing has failed a moment ago. */
  get isResting(): boolean {
    return performance.now() - this.failedAt < restMs
  }

  /** Bytes that making takes. */
  get making(): number {
    return Math.floor(this.memory * makingShare)
  }

  async make(
    source: Pick<ListSource, 'events'>,
    resolve: MakePages['resolve'],
    byPerson: Int32Array,
    seq: number,
    merges: Merges,
    changedSeq: number,
  ): Promise<LoadedLists> {
    const { recordsPerStatement, eventsOfPage, making: memory } = this
    const events = byPerson.reduce((sum, count) => sum + count, 0)
    const pages = await this.inNewFolder(widthOfEvent * events, (folder) =>
      makePages({ folder, source, resolve, byPerson, seq, recordsPerStatement, memory, eventsOfPage }),
    )
    return new LoadedLists(emptyLists(byPerson.length), seq, merges, changedSeq, pages)
  }

  /** What fails, on a full disk for instance, leaves nothing behind. */
  private async inNewFolder<T>(bytes: number, work: (folder: string) => Promise<T>): Promise<T> {
    const folder = join(this.folder, randomUUID())
    try {
      return await this.writing(bytes, () => work(folder))
    } catch (error) {
      await rm(folder, { recursive: true, force: true }).catch(() => undefined) // the first error counts
      throw error
    }
  }

  /** Twice as many bytes must be free: events that arrive need room, too. */
  private async writing<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    try {
      await mkdir(this.folder, { recursive: true, mode: 0o700 })
      const { bavail, bsize } = await statfs(this.folder)
      if (bavail * bsize < 2 * bytes) {
        const [needed, free] = [bytes, bavail * bsize].map((one) => Math.ceil(one / 2 ** 20))
        throw new PagesNotWritten(`${needed} MiB are needed, and twice that must be free on the disk, but ${free} MiB are`)
      }
      return await work()
    } catch (error) {
      const isOfFiles = error instanceof Error && 'syscall' in error
      if (!isOfFiles && !(error instanceof PagesNotWritten)) throw error
      this.failedAt = performance.now()
      throw isOfFiles ? new PagesNotWritten((error as Error).message, { cause: error }) : error
    }
  }

  /** A column of the events in memory that is still to be read. */
  newColumn({ key, type }: ReadSpec, length: number): ListColumn {
    return new ListColumn(type, length, type === 'numbers' && !this.plain.has(key))
  }

  /** Reads the columns that the pages lack, of all events. */
  async readColumns(
    wanted: Pick<ColumnSource, 'ofEvents'>,
    asked: readonly ReadSpec[],
    loaded: LoadedLists,
    memory: number,
    mustFit: () => void,
  ): Promise<void> {
    const { lists, columns, pages, seq } = loaded
    for (;;) {
      const specs = asked.filter(({ key }) => !pages!.columns.has(key))
      if (specs.length === 0) return
      const bytes = specs.length * 2 * loaded.events
      const make = {
        paged: pages!,
        lists,
        wanted,
        specs,
        columns: specs.map(({ key }) => columns.get(key)!.column),
        seq,
        recordsPerStatement: this.recordsPerStatement,
        memory: Math.max(memory, leastMaking),
        mustFit,
      }
      const mixed = await this.writing(bytes, () => makeColumns(make))
      for (const { key } of specs) columns.get(key)!.seq = seq
      for (const index of mixed) {
        const spec = specs[index]!
        this.plain.add(spec.key)
        loaded.dropColumn(spec.key)
        loaded.addColumn(spec.key, this.newColumn(spec, lists.capacity), 0)
      }
    }
  }

  /** Drops columns whose new numbers have become too many for codes, and those that were not used for the longest time. True if one of `keys` is gone. */
  dropColumns(loaded: LoadedLists, keys: ReadonlySet<string>): boolean {
    const { columns, pages } = loaded
    let isGone = false
    for (const [key, { column }] of [...columns]) {
      const part = pages!.columns.get(key)
      if (part && isOfCodes(column, part.parts) && (columns.size <= mostColumns || keys.has(key))) continue
      if (part && !isOfCodes(column, part.parts)) this.plain.add(key)
      isGone ||= keys.has(key)
      loaded.dropColumn(key)
    }
    return isGone
  }

  /** Whether the events in memory are too many. */
  isFull({ lists, columns }: LoadedLists): boolean {
    return !this.isResting && movedBytes(lists, columns) > this.memory * movedShare
  }

  /** Whether they have to leave at once. */
  isOverfull({ lists, columns }: LoadedLists): boolean {
    return movedBytes(lists, columns) > 2 * this.memory * movedShare
  }

  /** The same lists, with as few events in memory as possible. Nobody reads or changes them meanwhile. */
  async rewrite(loaded: LoadedLists): Promise<LoadedLists> {
    const { lists, seq, columns, pages } = loaded
    const most = this.isOverfull(loaded) ? 0 : mostLacked
    for (const [key, column] of [...columns])
      if (seq - column.seq > most || !pages!.columns.has(key) || !isOfCodes(column.column, pages!.columnOf(key).parts))
        loaded.dropColumn(key)
    const complete = Math.min(seq, ...Array.from(columns.values(), (column) => column.seq))
    const staying = personsAfter(lists, complete)
    const width = Array.from(columns.values(), ({ column }) => column.values.BYTES_PER_ELEMENT).reduce(
      (sum, one) => sum + one,
      widthOfEvent,
    )
    const rewritten = await this.inNewFolder(width * loaded.events, (folder) =>
      rewritePages(pages!, lists, columns, staying, folder, this.eventsOfPage),
    )
    const left = emptyLists(lists.persons)
    const moved = new LoadedLists(left, seq, loaded.merges, loaded.changedSeq, rewritten)
    moved.upTo = loaded.upTo
    const before = Array.from(columns.values(), ({ column }) => column.values)
    for (const [key, { column, seq: its, memo }] of columns) {
      column.values = arrayOfWidth(column.values.BYTES_PER_ELEMENT, left.capacity)
      moved.addColumn(key, column, its)
      moved.columns.get(key)!.memo = memo
    }
    for (let person = 0; person < staying.length; person++) {
      if (staying[person] === 0) continue
      const [first, last] = [lists.start[person]!, lists.end[person]!]
      const part = <V extends Values | Uint32Array>(values: V) => values.subarray(first, last) as V
      left.adopt(person, part(lists.time), part(lists.event), part(lists.seq), (at) => {
        for (const [i, { column }] of [...columns.values()].entries()) column.adopt(part(before[i]!), at)
      })
    }
    for (const key of columns.keys()) moved.takeOwners(key, loaded)
    for (const [key, values] of loaded.ofPersons) moved.ofPersons.set(key, values)
    moved.counts.takeOver(loaded.counts)
    mustHold('pages have every event', moved.events === loaded.events, () => ({ before: loaded.events, now: moved.events }))
    return moved
  }

  /** Removes what is not part of the pages that are kept. */
  async tidy(kept: PagedEvents | null): Promise<void> {
    for (const name of await readdir(this.folder).catch(() => [])) {
      const path = join(this.folder, name)
      if (kept?.folder !== path) await rm(path, { recursive: true, force: true })
    }
    if (!kept) return
    const files = new Set([whatFile, recordsFile, ...Array.from(kept.columns.values(), ({ file }) => file)])
    for (const name of await readdir(kept.folder)) if (!files.has(name)) await rm(join(kept.folder, name), { force: true })
  }
}

const emptyLists = (persons: number): EventLists => {
  const lists = new EventLists()
  lists.expect(new Int32Array(persons))
  return lists
}

const movedBytes = (lists: EventLists, columns: LoadedLists['columns']): number => {
  let width = 12 + lists.event.BYTES_PER_ELEMENT
  for (const { column } of columns.values()) width += column.values.BYTES_PER_ELEMENT
  return lists.capacity * width
}

/** By person, 1 if one of the events in memory is after a record. */
function personsAfter({ start, end, seq, persons }: EventLists, record: number): Uint8Array {
  const found = new Uint8Array(persons)
  for (let person = 0; person < persons; person++)
    for (let i = start[person]!; i < end[person]!; i++)
      if (seq[i]! > record) {
        found[person] = 1
        break
      }
  return found
}

/** What folds read of pages, with the columns of a query in their order. */
export function pagesView(pages: PagedEvents, specs: readonly ColumnSpec[], found: readonly SomeColumn[]): PagesView {
  const texts = new Map<number, readonly string[]>()
  for (const spec of specs)
    if (spec.of === 'made' && spec.make.from === 'texts') texts.set(spec.make.column, found[spec.make.column]!.texts)
  const columns = specs.map((spec, i): PageColumnView => {
    const { values, numbers } = found[i]!
    if (spec.of === 'event') return { from: 'file', column: pages.columnOf(spec.key), values, numbers }
    if (spec.of === 'made') return { from: 'made', make: spec.make, values }
    return { from: 'memory', column: { values, numbers, texts: [] } }
  })
  const { folder, start, end } = pages
  return {
    folder,
    pages: pages.pages,
    start,
    end,
    gone: pages.gone.map((pairs) => (pairs.length > 0 ? Int32Array.from(pairs) : null)),
    columns,
    texts,
  }
}
