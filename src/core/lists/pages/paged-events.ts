import type { EventLists } from '../event-lists.ts'
import type { ListColumn, Values } from '../list-column.ts'
import { sharedArray } from '../shared-array.ts'
import { DamagedPages, type Page, type PageColumn, recordsFile, type Stretch, whatFile } from './page.ts'
import { isChecked, readPart, readStretch } from './page-files.ts'

/** A page of which more persons than this are wanted is read as a whole. */
const fewPersons = 64

export interface PagesShape {
  readonly folder: string
  readonly pages: readonly Page[]
  readonly persons: number
  readonly gone: readonly (readonly number[])[]
  readonly columns: readonly (readonly [key: string, column: PageColumn])[]
  readonly lastColumn: number
}

/** Columns of the events in memory, by key. */
export type ColumnsInMemory = ReadonlyMap<string, { readonly column: ListColumn }>

/** The events that lie in files. Further events of the same persons are in memory. Those of persons who are merged into others move there. */
export class PagedEvents {
  readonly folder: string
  readonly pages: readonly Page[]
  /** By person, relative to the first event of the page. Equal: none are here. */
  readonly start: Int32Array
  readonly end: Int32Array
  readonly columns = new Map<string, PageColumn>()
  /** Numbers of files of columns. */
  lastColumn = 0
  /** By page, events that have moved into memory: pairs of first and end. */
  readonly gone: number[][]
  /** Events that have moved. */
  moved = 0

  constructor(folder: string, pages: readonly Page[], start: Int32Array, end: Int32Array) {
    this.folder = folder
    this.pages = pages
    this.start = start
    this.end = end
    this.gone = pages.map(() => [])
  }

  get shape(): PagesShape {
    const { folder, pages, gone, lastColumn } = this
    return { folder, pages, persons: this.start.length, gone, columns: [...this.columns], lastColumn }
  }

  /** Pages of that shape, and their arrays, which are still to be filled. */
  static ofShape({ folder, pages, persons, gone, columns, lastColumn }: PagesShape): PagedEvents {
    const paged = new PagedEvents(folder, pages, sharedArray(Int32Array, persons), sharedArray(Int32Array, persons))
    for (const [i, pairs] of gone.entries()) {
      paged.gone[i]!.push(...pairs)
      for (let at = 0; at < pairs.length; at += 2) paged.moved += pairs[at + 1]! - pairs[at]!
    }
    for (const [key, column] of columns) paged.columns.set(key, column)
    paged.lastColumn = lastColumn
    return paged
  }

  /** Bytes of memory. */
  get bytes(): number {
    return this.start.byteLength + this.end.byteLength + 8 * this.gone.reduce((sum, pairs) => sum + pairs.length, 0)
  }

  /** Those that are still in files. */
  get events(): number {
    return this.pages.reduce((sum, { events }) => sum + events, 0) - this.moved
  }

  /** Moves the events of persons into memory, with the values of all columns. */
  move(persons: Iterable<number>, lists: EventLists, columns: ColumnsInMemory): void {
    const { start, end, pages } = this
    const wanted = [...new Set(persons)].filter((person) => person < start.length && start[person] !== end[person]).sort((a, b) => a - b)
    for (let from = 0, page = 0; from < wanted.length; page++) {
      const until = pages[page]!.end
      let to = from
      while (to < wanted.length && wanted[to]! < until) to++
      if (to > from) this.moveOf(page, wanted.slice(from, to), lists, columns)
      from = to
    }
  }

  private moveOf(index: number, persons: readonly number[], lists: EventLists, columns: ColumnsInMemory): void {
    const page = this.pages[index]!
    const { what, records, events, nameBytes } = page
    const isWhole = persons.length > fewPersons
    const reader = (name: string, stretch: Stretch, from: number, width: number) => this.reader(name, stretch, from, width, isWhole)
    const time = reader(whatFile, what, 0, 8)
    const name = reader(whatFile, what, 8 * events, nameBytes)
    const seq = reader(recordsFile, records, 0, 4)
    const values = Array.from(this.columns, ([key, { file, parts }]) => {
      const { width, stretch } = parts[index]!
      return { column: columns.get(key)!.column, read: reader(file, stretch, 0, width) }
    })
    for (const person of persons) {
      const [first, last] = [this.start[person]!, this.end[person]!]
      lists.adopt(person, time(first, last) as Float64Array, name(first, last), new Uint32Array(seq(first, last).buffer), (at) => {
        for (const { column, read } of values) column.adopt(read(first, last), at)
      })
      this.gone[index]!.push(first, last)
      this.moved += last - first
      this.end[person] = first
    }
  }

  /** Reads values from an index up to another, into an array of their own. */
  private reader(name: string, stretch: Stretch, from: number, width: number, isWhole: boolean) {
    const { folder } = this
    if (!isWhole && isChecked(folder, name, stretch))
      return (first: number, last: number) => {
        const values = ofWidth(width, last - first)
        readPart(folder, name, stretch.at + from + first * width, new Uint8Array(values.buffer))
        return values
      }
    const whole = new Uint8Array(stretch.bytes)
    readStretch(folder, name, stretch, whole)
    return (first: number, last: number) => {
      const values = ofWidth(width, last - first)
      new Uint8Array(values.buffer).set(whole.subarray(from + first * width, from + last * width))
      return values
    }
  }

  /** The values of a column page by page, with the persons of each page. Their memory is reused for the next page. */
  *valuesByPage(key: string): Generator<{ readonly page: Page; readonly values: Values }, void, void> {
    const { file, parts } = this.columnOf(key)
    let bytes = new ArrayBuffer(0)
    for (const [i, page] of this.pages.entries()) {
      const { width, stretch } = parts[i]!
      if (bytes.byteLength < stretch.bytes) bytes = new ArrayBuffer(stretch.bytes)
      readStretch(this.folder, file, stretch, new Uint8Array(bytes))
      yield { page, values: viewOf(bytes, 0, width, page.events) }
    }
  }

  /** The least and the greatest time of all events that were written. */
  get extent(): readonly [least: number, greatest: number] {
    let [least, greatest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
    for (const page of this.pages) {
      least = Math.min(least, page.least)
      greatest = Math.max(greatest, page.greatest)
    }
    return [least, greatest]
  }

  columnOf(key: string): PageColumn {
    const column = this.columns.get(key)
    if (!column) throw new DamagedPages(`No file of the column ${key}`)
    return column
  }
}

/** An array of values of so many bytes, which is not shared. */
export const ofWidth = (width: number, length: number): Values =>
  width === 1
    ? new Uint8Array(length)
    : width === 2
      ? new Uint16Array(length)
      : width === 4
        ? new Int32Array(length)
        : new Float64Array(length)

/** Values of so many bytes in a buffer. */
export const viewOf = (buffer: ArrayBuffer, at: number, width: number, length: number): Values =>
  width === 1
    ? new Uint8Array(buffer, at, length)
    : width === 2
      ? new Uint16Array(buffer, at, length)
      : width === 4
        ? new Int32Array(buffer, at, length)
        : new Float64Array(buffer, at, length)
