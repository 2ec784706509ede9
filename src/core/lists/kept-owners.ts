import type { Place } from './changed-lists.ts'
import type { EventLists } from './event-lists.ts'
import type { ListColumn } from './list-column.ts'
import type { PagedEvents } from './pages/paged-events.ts'
import { sharedArray } from './shared-array.ts'

// Whose the actors of a column are: nearly all sessions are of one person, so a fold finds their events where those of the person lie, in memory or in files.

const noOwner = -1
const severalOwners = -2

const withSpare = (actors: number): number => actors + (actors >> 3) + 4096
const eventsBetweenPauses = 1 << 19

export const ownerBytes = (actors: number): number => (4 + 1 / 8) * withSpare(actors)

/** What a fold needs to know: the events of a person are of its own actors, but for these. */
export interface ActorOwners {
  /** By code of the actor a bit: 1 if its events are of several persons. */
  readonly several: Uint8Array
  /** The code of what is no actor; -1: there is none. */
  readonly none: number
}

export const isOfSeveral = (several: Uint8Array, actor: number): boolean => ((several[actor >> 3]! >> (actor & 7)) & 1) === 1

/** The latest number of a person, after all merges. */
export type SurvivorOf = (person: number) => number

export class KeptOwners {
  /** By code of the actor: a person, or one of the numbers above. */
  private owner = new Int32Array(0)
  several = sharedArray(Uint8Array, 0)

  get bytes(): number {
    return this.owner.byteLength + this.several.byteLength
  }

  /** `skipped`: the code of a text that is no actor; -1: none. A loop with pauses. */
  static *of(
    lists: EventLists,
    column: Pick<ListColumn, 'values' | 'codesUsed'>,
    paged: { readonly pages: PagedEvents; readonly key: string } | null,
    skipped: number,
    survivorOf: SurvivorOf,
  ): Generator<void, KeptOwners, void> {
    const owners = new KeptOwners()
    owners.reserve(column.codesUsed)
    if (paged)
      for (const { page, values } of paged.pages.valuesByPage(paged.key)) {
        const { start, end } = paged.pages
        for (let person = page.first; person < page.end; person++)
          owners.note(values, start[person]!, end[person]!, person, skipped, survivorOf)
        yield
      }
    yield* owners.ofMemory(lists, column, skipped, survivorOf)
    return owners
  }

  private *ofMemory(
    { persons, start, end }: EventLists,
    { values }: Pick<ListColumn, 'values'>,
    skipped: number,
    survivorOf: SurvivorOf,
  ): Generator<void, void, void> {
    let unpaused = 0
    for (let person = 0; person < persons; person++) {
      this.note(values, start[person]!, end[person]!, person, skipped, survivorOf)
      unpaused += end[person]! - start[person]!
      if (unpaused < eventsBetweenPauses) continue
      unpaused = 0
      yield
    }
  }

  /** Takes over what has changed: the events of some persons in memory, or of all (null). A loop with pauses. */
  *follow(
    lists: EventLists,
    column: Pick<ListColumn, 'values' | 'codesUsed'>,
    changed: ReadonlyMap<number, Place> | null,
    skipped: number,
    survivorOf: SurvivorOf,
  ): Generator<void, void, void> {
    this.reserve(column.codesUsed)
    if (!changed) yield* this.ofMemory(lists, column, skipped, survivorOf)
    else
      for (const person of changed.keys()) this.note(column.values, lists.start[person]!, lists.end[person]!, person, skipped, survivorOf)
  }

  private note(actors: ListColumn['values'], first: number, last: number, person: number, skipped: number, survivorOf: SurvivorOf): void {
    const { owner, several } = this
    for (let index = first; index < last; index++) {
      const actor = actors[index]!
      const known = owner[actor]!
      if (known === person || known === severalOwners || actor === skipped) continue
      // Who has merged into this person is the same one.
      if (known === noOwner || survivorOf(known) === person) owner[actor] = person
      else {
        owner[actor] = severalOwners
        several[actor >> 3]! |= 1 << (actor & 7)
      }
    }
  }

  private reserve(actors: number): void {
    if (actors <= this.owner.length) return
    const most = withSpare(actors)
    const owner = new Int32Array(most).fill(noOwner)
    owner.set(this.owner)
    const several = sharedArray(Uint8Array, (most >> 3) + 1)
    several.set(this.several)
    Object.assign(this, { owner, several })
  }
}
