import type { EventLists } from './event-lists.ts'
import type { LoadedLists, Merges } from './loaded-lists.ts'
import type { ColumnSource, EventBatch, RecentEvents } from './ports.ts'

// Lists that follow the latest events from memory, whether the store has them or not.

/** What joined persons are now. Those who were joined to somebody who was joined later are found through that one. */
export function survivorIn(survivorOf: ReadonlyMap<number, number>, person: number): number {
  let current = person
  for (let next = survivorOf.get(current); next !== undefined; next = survivorOf.get(current)) current = next
  return current
}

/** Joins the lists of persons. Merges that the lists have already change nothing. */
export function joinPersons(lists: EventLists, { mark, survivorOf }: Merges, merges: Iterable<readonly [number, number]>): Merges {
  const joined = new Map(survivorOf)
  for (const [merged, survivor] of merges) {
    const current = survivorIn(joined, survivor)
    if (current === merged || survivorIn(joined, merged) === current) continue
    lists.merge(merged, current)
    joined.set(merged, current)
  }
  return { mark, survivorOf: joined }
}

/** Whether nothing but events and merges lies between the lists and a record. */
export const canFollow = ({ upTo }: LoadedLists, recent: RecentEvents): boolean => upTo >= recent.from

/** Adds what the lists lack. */
export function followRecent(loaded: LoadedLists, recent: RecentEvents): void {
  const merges = recent.merges(loaded.upTo)
  if (merges.length > 0) loaded.merges = joinPersons(loaded.lists, loaded.merges, merges)
  const batch = recent.events(loaded.upTo)
  loaded.seq = batch.seq.at(-1) ?? loaded.seq
  loaded.upTo = recent.seq
  if (batch.seq.length > 0) loaded.lists.add(resolved(batch, loaded.merges))
}

/** With the numbers of survivors. */
function resolved(batch: EventBatch, { survivorOf }: Merges): EventBatch {
  return survivorOf.size === 0 ? batch : { ...batch, person: batch.person.map((person) => survivorIn(survivorOf, person)) }
}

/** Whether the lists have all that a query reads. */
export const hasAll = ({ columns, seq }: LoadedLists, wanted: Pick<ColumnSource, 'columns'>): boolean =>
  wanted.columns.every((spec) => spec.of === 'made' || (spec.of === 'event' && (columns.get(spec.key)?.seq ?? -1) >= seq))
