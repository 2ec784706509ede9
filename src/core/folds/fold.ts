import type { ActorOrder } from '../lists/actor-order.ts'
import type { SomeColumn } from '../lists/columns.ts'
import type { EventLists } from '../lists/event-lists.ts'
import type { ListColumn } from '../lists/list-column.ts'
import type { PagesView } from '../lists/pages/page.ts'
import type { Listed } from '../lists/project-lists.ts'
import type { SelectionPart } from '../lists/selections.ts'

/** What folds read of the lists. Worker threads get it without a copy. */
export interface ListView extends Pick<EventLists, 'start' | 'end' | 'time' | 'event' | 'seq' | 'persons' | 'used'> {
  /** Where the persons are other actors: `start` and `end` are places here, where the entry of each event is. Null: they are entries. */
  readonly entry: Int32Array | null
  /** The times of the first and the last event of each of these other actors. Null: the lists themselves have them in order. */
  readonly extent: Pick<ActorOrder, 'firstTime' | 'lastTime'> | null
  /** The events that meet the conditions of the fold, of the persons that it goes through. Null: it has to find them. */
  readonly selection: SelectionPart | null
  /** Further events, in files: of the same persons, too. Null: there are none. */
  readonly pages: PagesView | null
}

export interface ColumnView {
  /** Of a column that is kept between queries. */
  readonly id?: number
  readonly values: ListColumn['values']
  /** For codes: the number of texts. */
  readonly size: number
  /** For coded numbers: the numbers by code. */
  readonly numbers: Float64Array | null
}

/** A column of events or of persons. */
export interface PlacedColumn {
  readonly column: ColumnView
  readonly of: 'event' | 'person'
}

/** Conditions as bits. */
export interface EventBits {
  /** By number of the event's name, the bits of the conditions that it may meet; names behind the end may meet those of `others`. */
  readonly byEvent: Int32Array
  readonly others: number
  /** Bits that need more than the name. */
  readonly flags: readonly BitFlag[]
}
/** The bits may hold where the column is 1. */
export interface BitFlag extends PlacedColumn {
  readonly bits: number
}

export interface Matching {
  /** Microseconds, both included. */
  readonly from: number
  readonly to: number
  /** Events that do not meet bit 0 are skipped, whatever else they meet. Null: none. */
  readonly scope: EventBits | null
  readonly bits: EventBits
  /** Further bits of each event; null: none. */
  readonly further: EventBits | null
  /** Also takes events that meet nothing. */
  readonly takesAll: boolean
}

/** A loop over events that may run in several threads, each over some of the persons, or of the entries. `P` and `R` can be sent to other threads. */
export interface Fold<P, R> {
  readonly name: string
  /** What is divided among the threads. Entries are those of the columns, in no order; a free one has NaN as its time. */
  readonly over: 'persons' | 'entries'
  /** How it finds its events, if they can be selected once for several queries. */
  conditions?(params: P): Matching
  /** A fold with the same result that is faster without a selection, if the parameters allow one. */
  fasterFor?(params: P): Fold<P, R> | null
  /** Over the persons or entries with numbers from `from` up to `to`. Yields often, so that it can be stopped. */
  run(lists: ListView, params: P, from: number, to: number): Generator<void, R, void>
  /** Joins the results over different persons or entries. */
  join(results: readonly R[], params: P): R
}

export const columnView = ({ id, values, texts, numbers }: SomeColumn): ColumnView => ({
  id,
  values,
  size: texts.length,
  numbers,
})
export function listView({ lists, order, pages = null }: Pick<Listed, 'lists' | 'order' | 'pages'>): ListView {
  const { time, event, seq, used } = lists
  const { start, end } = order ?? lists
  return {
    start,
    end,
    time,
    event,
    seq,
    persons: order ? order.actors : lists.persons,
    used,
    entry: order ? order.entry : null,
    extent: order && { firstTime: order.firstTime, lastTime: order.lastTime },
    selection: null,
    pages,
  }
}
/** The number of persons or entries that a fold goes through. */
export const extentOf = ({ over }: Pick<Fold<unknown, unknown>, 'over'>, { persons, used }: ListView): number =>
  over === 'persons' ? persons : used
