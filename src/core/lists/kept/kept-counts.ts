import { mustHold } from '../../../errors/invariants.ts'
import type { SomeColumn } from '../columns.ts'
import type { EventLists } from '../event-lists.ts'
import type { EventBatch } from '../ports.ts'
import type { KeptNumber, SplitCounts } from './day-counts.ts'
import type { ListChange, ListNews } from './list-news.ts'

/** Conditions on an event: its name, and columns that must be 1. */
export interface EventCondition {
  /** By number of the name, 1 if it may be; names behind the end are as `others`. */
  readonly byEvent: Uint8Array
  readonly others: number
  readonly columns: readonly Pick<SomeColumn, 'values'>[]
  /** A column of codes that splits the events; null: none does. */
  readonly split: Pick<SomeColumn, 'values'> | null
  /** A column of numbers that are looked at; null: none are. */
  readonly number: (Pick<SomeColumn, 'values' | 'numbers'> & { readonly kept: KeptNumber }) | null
}

/** Columns with more codes do not split what is kept. */
export const mostCodes = 64

/** Null: it was asked for, or it is not worth its memory. */
interface Kept {
  counts: SplitCounts | null
  bytes: number
  /** Changes of the lists that it has. */
  at: number
}

/** What keeps counts between queries. */
export interface KeptDayCounts {
  /** `isWanted`: it was asked for before. */
  find(key: string, condition: EventCondition): { readonly counts: SplitCounts | null; readonly isWanted: boolean }
  /** Keeps it if memory is unused. */
  keep(key: string, counts: SplitCounts): void
  /** It cannot be kept: nobody need try again. */
  leave(key: string): void
}

/** Keys that are remembered: the others count as new. */
const mostKeys = 256
/** Of the memory of the lists; small lists get more. */
const memoryShare = 1 / 4
const leastMemory = 1 << 20

/**
 * The counts of a project. The first query with a condition reads its events, the second one counts them by day, further ones read these counts. New events
 * and merges join the counts before the next query reads them.
 */
export class KeptCounts {
  bytes = 0
  private readonly lists: EventLists
  private readonly news: ListNews
  private readonly sizeOf: () => number
  private readonly eventsOf: () => number
  /** By key, in order of last use. */
  private readonly known = new Map<string, Kept>()
  private readonly useless = new Set<string>()

  /** `sizeOf`: bytes that all events take, or would take in memory; `eventsOf`: how many there are. */
  constructor(lists: EventLists, sizeOf = () => lists.bytes, eventsOf = () => lists.events) {
    this.eventsOf = eventsOf
    this.lists = lists
    this.sizeOf = sizeOf
    this.news = lists.news
  }

  find(key: string, condition: EventCondition): { readonly counts: SplitCounts | null; readonly isWanted: boolean } {
    const known = this.known.get(key)
    const kept = known ?? { counts: null, bytes: 0, at: 0 }
    this.known.delete(key)
    this.known.set(key, kept)
    if (kept.counts) this.follow(key, kept, kept.counts, condition)
    if (this.known.size > mostKeys) this.forget(this.known.keys().next().value!)
    return { counts: kept.counts, isWanted: known !== undefined && kept.counts === null && !this.useless.has(key) }
  }

  /** Keeps it if it fits: into its share, and into `unused` bytes. Returns the bytes that were dropped for it. */
  keep(key: string, counts: SplitCounts, unused: number): number {
    const { bytes } = counts
    const most = Math.min(Math.max(leastMemory, this.sizeOf() * memoryShare), this.bytes + unused)
    if (bytes > most) {
      this.useless.add(key)
      return 0
    }
    this.drop(this.known.get(key))
    let dropped = 0
    for (const kept of this.known.values()) {
      if (this.bytes + bytes <= most) break
      dropped += kept.bytes
      this.drop(kept)
    }
    this.known.delete(key)
    this.known.set(key, { counts, bytes, at: this.news.length })
    this.bytes += bytes
    this.news.isOff = false
    return dropped
  }

  /** Takes what others have kept of the same events, unless they lack something. */
  takeOver(others: KeptCounts): void {
    for (const [key, { counts, bytes, at }] of others.known) {
      const isComplete = counts !== null && at === others.news.length
      this.known.set(key, { counts: isComplete ? counts : null, bytes: isComplete ? bytes : 0, at: 0 })
      if (!isComplete) continue
      this.bytes += bytes
      this.news.isOff = false
    }
    for (const key of others.useless) this.useless.add(key)
  }

  leave(key: string): void {
    this.useless.add(key)
  }

  /** Returns the bytes that they had. */
  clear(): number {
    const { bytes } = this
    for (const kept of this.known.values()) this.drop(kept)
    this.useless.clear()
    return bytes
  }

  private forget(key: string): void {
    this.drop(this.known.get(key))
    this.known.delete(key)
    this.useless.delete(key)
  }

  private drop(kept: Kept | undefined): void {
    if (!kept) return
    this.bytes -= kept.bytes
    kept.bytes = 0
    kept.counts = null
    this.news.isOff = [...this.known.values()].every(({ counts }) => counts === null)
  }

  /** The lists do not change while they are read, so nobody reads counts that are behind them. */
  private follow(key: string, kept: Kept, counts: SplitCounts, condition: EventCondition): void {
    const { news } = this
    if (kept.at < news.first) {
      this.drop(kept)
      return
    }
    if (kept.at === news.length) return
    const changes = news.after(kept.at)
    const now = readsColumns(condition) ? whereNow(changes) : null
    for (const [i, change] of changes.entries())
      if (change.kind === 'merge') counts.merge(change.merged, change.survivor)
      else this.add(change.batch, counts, condition, (person) => now!(person, i))
    kept.at = news.length
    mustHold('counts within lists', counts.events <= this.eventsOf(), () => ({ counted: counts.events, lists: this.eventsOf() }))
    if (counts.byCode.length > mostCodes) {
      this.useless.add(key)
      this.drop(kept)
      return
    }
    this.bytes -= kept.bytes
    kept.bytes = counts.bytes
    this.bytes += kept.bytes
    let oldest = news.length
    for (const one of this.known.values()) if (one.counts && one.at < oldest) oldest = one.at
    if (oldest > news.first) news.forget(oldest)
  }

  /** `now`: what a person of the batch is now. */
  private add(
    { person, time, event, seq }: EventBatch,
    counts: SplitCounts,
    condition: EventCondition,
    now: (person: number) => number,
  ): void {
    const { byEvent, others, columns, split, number } = condition
    const isFound = readsColumns(condition)
    for (let i = 0; i < person.length; i++) {
      const id = event[i]!
      if ((id < byEvent.length ? byEvent[id]! : others) === 0) continue
      const index = isFound ? this.lists.indexOf(now(person[i]!), time[i]!, seq[i]!) : -1
      if (columns.some(({ values }) => values[index] !== 1)) continue
      counts.of(split ? split.values[index]! : 0).add(person[i]!, time[i]!, number ? numberAt(number, index) : undefined)
    }
  }
}

const readsColumns = ({ columns, split, number }: EventCondition): boolean => columns.length > 0 || split !== null || number !== null

/** What `DayCounts.add` takes: the number of an event, or its code. */
export const numberAt = ({ values, numbers, kept }: NonNullable<EventCondition['number']>, index: number): number =>
  numbers === null || kept === 'codes' ? values[index]! : numbers[values[index]!]!

/** In whose list the events of a person are now, who was not merged before a change. */
function whereNow(changes: readonly ListChange[]): (person: number, after: number) => number {
  const merges = new Map<number, { readonly at: number; readonly survivor: number }[]>()
  for (const [at, change] of changes.entries()) {
    if (change.kind !== 'merge') continue
    const known = merges.get(change.merged)
    if (known) known.push({ at, survivor: change.survivor })
    else merges.set(change.merged, [{ at, survivor: change.survivor }])
  }
  return (person, after) => {
    let [current, since] = [person, after]
    for (;;) {
      const next = merges.get(current)?.find(({ at }) => at > since)
      if (!next) return current
      current = next.survivor
      since = next.at
    }
  }
}
