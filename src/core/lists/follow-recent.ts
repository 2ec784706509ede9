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
function joinPersons({ lists, merges: { survivorOf } }: LoadedLists, merges: Iterable<readonly [number, number]>): void {
  for (const [merged, survivor] of merges) {
    const current = survivorIn(survivorOf, survivor)
    if (current === merged || survivorIn(survivorOf, merged) === current) continue
    lists.merge(merged, current)
    survivorOf.set(merged, current)
  }
}

/** Whether nothing but events and merges lies between the lists and a record. */
export const canFollow = ({ upTo }: LoadedLists, recent: RecentEvents): boolean => upTo >= recent.from

/** Adds what the lists lack. */
export function followRecent(loaded: LoadedLists, recent: RecentEvents): void {
  joinPersons(loaded, recent.merges(loaded.upTo))
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
export const hasAll = ({ columns, ofPersons, seq, upTo }: LoadedLists, wanted: Pick<ColumnSource, 'columns'>): boolean =>
  wanted.columns.every((spec) => {
    if (spec.of === 'event') return (columns.get(spec.key)?.seq ?? -1) >= seq
    return spec.of === 'person' ? (ofPersons.get(spec.key)?.seq ?? -1) >= upTo : spec.of === 'made'
  })
