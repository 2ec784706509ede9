import { type Decided, decideFamily, type Family, familyText, type Member, type MergeEvent, readFamily } from './family.ts'
import type { People } from './people.ts'
import { ownCopy, type Person } from './person.ts'
import type { EventWriter, StagedGroup } from './ports.ts'

/** The changes of one decision about a family. */
export interface Decision {
  readonly merged: readonly { readonly source: Person; readonly target: Person; readonly cause: MergeEvent }[]
  readonly refused: readonly MergeEvent[]
}

/** The families of a project. Those that a group touches are in memory. A live change of one of its persons ends a family permanently. */
export class Families {
  private readonly store: EventWriter
  private readonly people: People
  private readonly byNumber = new Map<number, Family>()
  private readonly changed = new Set<Family>()
  /** Families that have changed since they were last decided. */
  private readonly undecided = new Set<Family>()
  private readonly ended = new Set<number>()
  private readonly stored = new Set<number>()
  private decisions: Decision[] = []
  /** False if the project has no imports, so there is nothing to look up. */
  private isEmpty: boolean

  constructor(store: EventWriter, people: People, isEmpty: boolean) {
    this.store = store
    this.people = people
    this.isEmpty = isEmpty
  }

  async load(numbers: readonly number[]): Promise<void> {
    if (this.isEmpty) return
    const unknown = numbers.filter((no) => !this.byNumber.has(no))
    for (const { family, state } of await this.store.families(unknown)) {
      if (this.ended.has(family)) continue
      const read = readFamily(family, state)
      if (read.members.some((member) => this.byNumber.has(member.person.no))) continue
      this.stored.add(family)
      for (const member of read.members) this.byNumber.set(member.person.no, read)
    }
  }

  /** The member whose number the events of an id have, if its person is in a family. */
  memberOf(distinctId: string): { family: Family; member: Member } | null {
    const no = this.people.numberOf(distinctId)
    const family = no === undefined ? undefined : this.byNumber.get(no)
    const member = family?.members.find(({ ids }) => ids.includes(distinctId))
    return family && member ? { family, member } : null
  }

  touch(family: Family): void {
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

  /** Adds a past merge. Both ids must have a number. */
  link(merge: MergeEvent): void {
    this.isEmpty = false
    const target = this.familyOf(merge.target)
    const source = this.familyOf(merge.source)
    if (target !== source) {
      for (const member of source.members) target.members.push(member)
      for (const one of source.merges) target.merges.push(one)
      for (const { person } of source.members) this.byNumber.set(person.no, target)
      this.changed.delete(source)
      this.undecided.delete(source)
      this.ended.add(source.id)
    }
    target.merges.push(merge)
    this.touch(target)
  }

  private familyOf(distinctId: string): Family {
    const known = this.memberOf(distinctId)
    if (known) return known.family
    const person = this.people.find(distinctId)!
    const member: Member = { person: ownCopy(person), ids: this.people.idsOf(person.no), numbers: this.people.mergedInto(person.no) }
    const family: Family = { id: person.no, members: [member], merges: [] }
    this.ended.delete(family.id)
    this.byNumber.set(person.no, family)
    return family
  }

  /** Call it before a live change: fixes the persons of the family, so that no past merge changes them later. */
  end(distinctId: string): void {
    const no = this.isEmpty ? undefined : this.people.numberOf(distinctId)
    const family = no === undefined ? undefined : this.byNumber.get(no)
    if (!family) return
    if (this.undecided.has(family)) this.decide(family)
    for (const { person } of family.members) this.byNumber.delete(person.no)
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

  stage(group: StagedGroup): void {
    for (const id of this.ended) if (this.stored.has(id)) group.removeFamily(id)
    for (const family of this.changed) {
      group.removeFamily(family.id)
      group.put('import_families', { family: family.id, state: familyText(family) }, true)
      for (const { person } of family.members) group.put('import_members', { person_no: person.no, family: family.id }, true)
      this.stored.add(family.id)
    }
    this.changed.clear()
  }

  /** Call it only when every group is committed. */
  forget(): void {
    this.byNumber.clear()
    this.ended.clear()
    this.stored.clear()
  }

  get size(): number {
    return this.byNumber.size
  }
}
