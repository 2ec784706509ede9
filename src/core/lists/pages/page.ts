import type { SomeColumn } from '../columns.ts'
import type { Make } from '../ports.ts'

// Lists that do not fit into memory lie in files, in pages: the events of some persons after each other, in order of person and time. A page never changes.
// Further events of these persons are in memory, until all pages are rewritten.

/** Where one array of a page is in a file. */
export interface Stretch {
  readonly at: number
  readonly bytes: number
  readonly checksum: number
}

export interface Page {
  /** Numbers of its persons: from the first one up to another. */
  readonly first: number
  readonly end: number
  readonly events: number
  /** Bytes of the number of an event's name. */
  readonly nameBytes: number
  /** Times, then numbers of names. */
  readonly what: Stretch
  /** Records of the log. */
  readonly records: Stretch
  readonly least: number
  readonly greatest: number
}

/** A column of all pages, in a file of its own. */
export interface PageColumn {
  readonly file: string
  readonly parts: readonly { readonly width: number; readonly stretch: Stretch }[]
}

/** Names of files in the folder of the pages. */
export const whatFile = 'events'
export const recordsFile = 'records'

/** Columns of a query, as they are found for each page. */
export type PageColumnView =
  /** `values`: of the events in memory. A fold that has them gets those of the page instead. */
  | { readonly from: 'file'; readonly column: PageColumn; readonly values: SomeColumn['values']; readonly numbers: Float64Array | null }
  /** The same for all pages. */
  | { readonly from: 'memory'; readonly column: SomeColumn }
  | { readonly from: 'made'; readonly make: Make; readonly values: SomeColumn['values'] }

/** What folds read of pages. It can be sent to other threads. */
export interface PagesView {
  readonly folder: string
  readonly pages: readonly Page[]
  /** By person, relative to the first event of the page. */
  readonly start: Int32Array
  readonly end: Int32Array
  /** By page, events that have moved into memory, since their persons were merged: pairs of first and end. Null: none have. */
  readonly gone: readonly (Int32Array | null)[]
  readonly columns: readonly PageColumnView[]
  /** Texts of columns that others are made from, by index. */
  readonly texts: ReadonlyMap<number, readonly string[]>
}

/** A page cannot be read, or has other bytes than were written. */
export class DamagedPages extends Error {}

/** Pages cannot be written: on a full disk, mostly. Those that are there stay. */
export class PagesNotWritten extends Error {}
