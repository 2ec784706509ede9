import type { ListView } from '../fold.ts'
import type { Matches } from '../matches.ts'

/** Counts the rows of a series. Cells are numbered by group, then by bucket. `S` is what it has counted, in a form that can be sent. */
export interface Accumulator<S = unknown> {
  /** Chooses among the matches, in place. */
  select?(lists: ListView, matches: Matches): void
  /** Enough cells for the next rows. */
  grow(groups: number): void
  /** Rows with a negative bucket do not count. */
  add(matches: Matches, bucketOf: Int32Array, groupOf: Int32Array, lists: ListView): void
  /** Of this many groups. */
  state(groups: number): S
  /** Goes on from what was counted elsewhere, instead of from nothing. The state is not read again by others. */
  restore(state: S): void
  /** Adds what was counted of other events. `groupOf`: for each of their groups its number here. */
  absorb(state: S, groupOf: Int32Array): void
  /** What takes long, with pauses; before `finish`. */
  prepare?(groups: number): Generator<void, void, void>
  /** The number of each cell. */
  finish(groups: number): Float64Array
  /** Numbers that are kept until the end. */
  readonly kept: number
}
