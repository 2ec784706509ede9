import { setImmediate } from 'node:timers/promises'
import { excessOf } from '../../../limits/large-texts.ts'
import { otherLimits } from '../../../limits/limits.ts'
import type { EventWriter, SizedFamily, StagedGroup, WriterState } from '../ports.ts'
import { LargeRoom } from '../properties/property-size.ts'
import {
  type Decided,
  decideFamily,
  type Family,
  familyOf,
  familyText,
  lengthOfMerge,
  type Member,
  type MergeEvent,
  readFamily,
} from './family.ts'
import type { People } from './people.ts'
import { ownCopy, type Person } from './person.ts'

const familiesKept = 50_000
/** At most. */
const bytesOfCharacter = 4
/** Numbers of one look. */
const numbersOfLook = 1_024
/** Characters that are staged before the event loop gets a turn. */
const lengthOfSlice = 4_000_000

/** The changes of one decision about a family. */
export interface Decision {
  readonly merged: readonly { readonly source: Person; readonly target: Person; readonly cause: MergeEvent }[]
  readonly refused: readonly MergeEvent[]
}

/**
 * The families of a project. Those that a group touches are in memory. A live change of one of its persons ends a family permanently, and so does a merge
 * that would make it larger than a family may be.
 */
export class Families {
  private readonly store: EventWriter
  private readonly people: People
  private readonly mostLength: number
  private readonly byNumber = new Map<number, Family>()
  private readonly changed = new Set<Family>()
  /** Families that have changed since they were last decided. */
  private readonly undecided = new Set<Family>()
  private readonly ended = new Set<number>()
  private readonly stored = new Set<number>()
  private decisions: Decision[] = []
  /** False if the project has no imports, so there is nothing to look up. */
  private isEmpty: boolean
  /** Located families that are not loaded, and the numbers that they contain. */
  private readonly sizes = new Map<number, SizedFamily>()
  private readonly located = new Map<number, number>()
  /** Characters of the families in memory, and of those that the group has changed. */
  private keptLength = 0
  private changedLength = 0
  readonly large: LargeRoom

  constructor(
    store: EventWriter,
    people: People,
    { hasFamilies, large }: Pick<WriterState, 'hasFamilies' | 'large'>,
    mostLength: number = otherLimits.pastFamily.number,
  ) {
    this.store = store
    this.people = people
    this.isEmpty = !hasFamilies
    this.large = new LargeRoom(large.families, store.largeRoom)
    this.mostLength = mostLength
  }

  /** Finds the families of these numbers, and the sizes of those that `load` would read. */
  async locate(numbers: Iterable<number>): Promise<void> {
    this.sizes.clear()
    this.located.clear()
    if (this.isEmpty) return
    const unknown = [...new Set(numbers)].filter((no) => !this.byNumber.has(no))
    for (const some of portions(unknown))
      for (const { personNo, family, size } of await this.store.familySizes(some)) {
        if (this.ended.has(family)) continue
        this.sizes.set(family, { family, size })
        this.located.set(personNo, family)
      }
    // Written when families had no largest size.
    for (const { family, size } of [...this.sizes.values()])
      if (size > bytesOfCharacter * this.mostLength) {
        this.sizes.delete(family)
        this.stored.add(family)
        this.ended.add(family)
      }
  }

  /** The located family of a number, if `load` would read it. */
  locatedOf(no: number): SizedFamily | undefined {
    const family = this.located.get(no)
    return family === undefined ? undefined : this.sizes.get(family)
  }

  /** Bytes that `load` would read for all located families. */
  get locatedLength(): number {
    let sum = 0
    for (const { size } of this.sizes.values()) sum += size
    return sum
  }

  /** Loads located families: all of them, or those among these. */
  async load(among: ReadonlySet<number> | null): Promise<void> {
    const wanted = [...this.sizes.values()].filter(({ family }) => !among || among.has(family))
    this.sizes.clear()
    for (const some of portions(wanted))
      for (const { family, state } of await this.store.families(some)) {
        const read = readFamily(family, state)
        if (read.members.some((member) => this.byNumber.has(member.person.no))) continue
        read.large = excessOf(state.length)
        this.stored.add(family)
        this.keep(read)
      }
  }

  private keep(family: Family): void {
    this.keptLength += family.length
    for (const { person } of family.members) this.byNumber.set(person.no, family)
  }

  /** The member whose number the events of an id have, if its person is in a family. */
  memberOf(distinctId: string): { family: Family; member: Member } | null {
    if (this.byNumber.size === 0) return null
    const no = this.people.numberOf(distinctId)
    const family = no === undefined ? undefined : this.byNumber.get(no)
    const member = family?.byId.get(distinctId)
    return family && member ? { family, member } : null
  }

  /** `length`: characters that were written, at most. */
  touch(family: Family, length: number): void {
    family.length += length
    this.keptLength += length
    this.changedLength += this.changed.has(family) ? length : family.length
    this.changed.add(family)
    this.undecided.add(family)
  }

  /** Call it before looking up the person of an id: decides the families that this group has changed so far. */
  bringUpToDate(distinctId: string): void {
    if (this.undecided.size === 0) return
    const no = this.people.numberOf(distinctId)
    const family = no === undefined ? undefined : this.byNumber.get(no)
    if (family && this.undecided.has(family)) this.decide(family)
  }

  /**
   * Adds a past merge. Both ids must have a number. False: the family would be too large. Then both persons are fixed as they are, and the merge is one of
   * the order of arrival.
   */
  link(merge: MergeEvent): boolean {
    this.isEmpty = false
    const target = this.familyOf(merge.target)
    const source = this.familyOf(merge.source)
    const more = lengthOfMerge(merge)
    const length = more + target.length + (target === source ? 0 : source.length)
    if (length > this.mostLength || !this.large.takes(excessOf(length) - target.large - (target === source ? 0 : source.large))) {
      this.end(merge.target)
      this.end(merge.source)
      return false
    }
    if (target !== source) {
      for (const member of source.members) target.members.push(member)
      for (const one of source.merges) target.merges.push(one)
      for (const [id, member] of source.byId) target.byId.set(id, member)
      for (const { person } of source.members) this.byNumber.set(person.no, target)
      target.length += source.length
      this.large.free(source)
      this.changed.delete(source)
      this.undecided.delete(source)
      this.ended.add(source.id)
    }
    target.merges.push(merge)
    this.touch(target, more)
    return true
  }

  private familyOf(distinctId: string): Family {
    const known = this.memberOf(distinctId)
    if (known) return known.family
    const person = this.people.find(distinctId)!
    const member: Member = { person: ownCopy(person), ids: this.people.idsOf(person.no), numbers: this.people.mergedInto(person.no) }
    const family = familyOf(person.no, [member], [])
    this.ended.delete(family.id)
    this.keep(family)
    return family
  }

  /** Call it before a live change: fixes the persons of the family, so that no past merge changes them later. */
  end(distinctId: string): void {
    const no = this.isEmpty ? undefined : this.people.numberOf(distinctId)
    if (no !== undefined) this.endOf(no)
  }

  /** The same for the number of a person. */
  endOf(no: number): void {
    const family = this.byNumber.get(no)
    if (family) this.endFamily(family)
  }

  private endFamily(family: Family): void {
    if (this.undecided.has(family)) this.decide(family)
    for (const { person } of family.members) this.byNumber.delete(person.no)
    this.keptLength -= family.length
    this.large.free(family)
    this.changed.delete(family)
    this.ended.add(family.id)
  }

  private decide(family: Family): void {
    this.undecided.delete(family)
    const { people, refused } = decideFamily(family)
    const newlyRefused = [...refused].filter((merge) => !merge.isRefused)
    for (const merge of family.merges) merge.isRefused = refused.has(merge)
    const merged = people.flatMap(({ person, members, causes }: Decided) =>
      members.flatMap((member, i) => {
        const cause = causes[i]
        return cause && this.people.current(member.person.no) !== person.no ? [{ source: member.person, target: person, cause }] : []
      }),
    )
    for (const { person, members } of people) this.people.rewrite(person, members)
    this.decisions.push({ merged, refused: newlyRefused })
  }

  /** Decides the merges that the group has changed. Returns each decision once. */
  settle(): Decision[] {
    for (const family of this.undecided) this.decide(family)
    const decisions = this.decisions
    this.decisions = []
    return decisions
  }

  async stage(group: StagedGroup): Promise<void> {
    let staged = 0
    for (const family of [...this.changed]) {
      const state = familyText(family)
      this.keptLength += state.length - family.length
      family.length = state.length
      // What its members were told may have made it too large since its last merge.
      if (state.length > this.mostLength || !this.large.takes(excessOf(state.length) - family.large)) {
        this.endFamily(family)
        continue
      }
      this.large.count(family)
      staged += state.length
      if (staged > lengthOfSlice) {
        staged = 0
        await group.drain()
        await setImmediate()
      }
      group.removeFamily(family.id)
      group.put('import_families', { family: family.id, state }, true)
      for (const { person } of family.members) group.put('import_members', { person_no: person.no, family: family.id }, true)
      this.stored.add(family.id)
    }
    for (const id of this.ended) if (this.stored.has(id)) group.removeFamily(id)
    this.changed.clear()
    this.changedLength = 0
  }

  /** All merges of the past that the group has are decided and taken over. */
  get isSettled(): boolean {
    return this.undecided.size === 0 && this.decisions.length === 0
  }

  /** True if the group should end because of what it has changed. */
  get isHeavy(): boolean {
    return this.changedLength > this.people.room
  }

  get isFull(): boolean {
    return this.byNumber.size > familiesKept || this.keptLength > this.people.room
  }

  /** Call it only when every group is committed. */
  forget(): void {
    this.byNumber.clear()
    this.ended.clear()
    this.stored.clear()
    this.keptLength = 0
  }
}

function* portions<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < all.length; from += numbersOfLook) yield all.slice(from, from + numbersOfLook)
}
