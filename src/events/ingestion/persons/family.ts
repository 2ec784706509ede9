import { fitTogether } from '../properties/property-size.ts'
import { type PropertyTimes, readTimes, timesText } from '../properties/property-times.ts'
import { mergeOutcome, type Side } from './merge-outcome.ts'
import { makePerson, mergedProperties, ownCopy, type Person } from './person.ts'

// Persons that an import of past events has merged. Whether two ids are one person depends on which merge event happened first, and
// an import may contain merge events in any order. So merge events are kept, and those of a family are all decided again when one is added.

/** The properties of one number before any merge of the family. */
export interface Member {
  readonly person: Person
  readonly ids: string[]
  /** The numbers that were permanently merged into this one. */
  readonly numbers: number[]
}

export interface MergeEvent {
  /** Microseconds. */
  readonly at: number
  readonly uuid: string
  readonly event: string
  readonly target: string
  readonly source: string
  readonly isForced: boolean
  /** The merge was refused before, and a warning was given. */
  isRefused: boolean
}

export interface Family {
  readonly id: number
  readonly members: Member[]
  readonly merges: MergeEvent[]
  /** Its members by their ids. */
  readonly byId: Map<string, Member>
  /** Characters of its text, about. */
  length: number
  /** Those that are counted as large. */
  large: number
}

/** Characters of names and times in the text of a member, and of a merge event. */
const headOfMember = 200
const headOfMerge = 180
const headOfId = 3
const lengthOfNumber = 11

const lengthOfMember = ({ person, ids, numbers }: Member): number =>
  headOfMember +
  (person.length ?? JSON.stringify(person.properties).length) +
  (person.times ? timesText(person.times).length : 0) +
  ids.reduce((sum, id) => sum + id.length + headOfId, 0) +
  numbers.length * lengthOfNumber

export const lengthOfMerge = ({ event, target, source }: MergeEvent): number => headOfMerge + event.length + target.length + source.length

export function familyOf(id: number, members: Member[], merges: MergeEvent[], length?: number): Family {
  const byId = new Map(members.flatMap((member) => member.ids.map((one) => [one, member] as const)))
  return { id, members, merges, byId, length: length ?? members.reduce((sum, member) => sum + lengthOfMember(member), 0), large: 0 }
}

export interface Decided {
  /** The visible person: merged from all members. */
  readonly person: Person
  readonly members: readonly Member[]
  /** The merge that added each member; null for the one whose number and id remain. */
  readonly causes: readonly (MergeEvent | null)[]
}

/** Members that are one person by the merges so far. The number and id of the first member remain. */
interface Group {
  members: Member[]
  causes: (MergeEvent | null)[]
  isIdentified: boolean
  /** When its person was created, in microseconds. */
  since: number
}

const sideAt = (group: Group, at: number): Side => (group.since >= at ? 'unknown' : group.isIdentified ? 'identified' : 'anonymous')

/** Decides the merges in the order in which they happened, by the rules for live events. */
export function decideFamily(family: Family): { people: Decided[]; refused: Set<MergeEvent> } {
  const groups = new Map<string, Group>()
  for (const member of family.members) {
    const { hasRecord, createdAt, isIdentified } = member.person
    const group: Group = { members: [member], causes: [null], isIdentified, since: hasRecord ? createdAt : Number.POSITIVE_INFINITY }
    for (const id of member.ids) groups.set(id, group)
  }
  const refused = new Set<MergeEvent>()
  const inTime = [...family.merges].sort((a, b) => a.at - b.at || (a.uuid < b.uuid ? -1 : 1))
  for (const merge of inTime) {
    const [target, source] = [groups.get(merge.target)!, groups.get(merge.source)!]
    const outcome = mergeOutcome({
      isSameId: false,
      isLegal: true,
      target: sideAt(target, merge.at),
      source: sideAt(source, merge.at),
      isSamePerson: target === source,
      isForced: merge.isForced,
    })
    const [stays, goes] = outcome === 'add-target' ? [source, target] : [target, source]
    stays.isIdentified = true
    stays.since = Number.NEGATIVE_INFINITY // exists for every later merge, also for one with the same time
    if (outcome === 'refuse') refused.add(merge)
    if (outcome === 'refuse' || target === source) continue
    for (const member of goes.members) stays.members.push(member)
    for (const cause of goes.causes) stays.causes.push(cause ?? merge)
    for (const id of goes.members.flatMap((member) => member.ids)) groups.set(id, stays)
  }
  return { people: [...new Set(groups.values())].map(decided), refused }
}

function decided({ members, causes, isIdentified }: Group): Decided {
  const [first] = members
  // An order independent of arrival, for merges with equal times.
  const inOrder = [...members].sort((a, b) => (a.person.uuid < b.person.uuid ? -1 : 1))
  let whole = ownCopy(inOrder[0]!.person)
  for (const { person } of inOrder.slice(1)) {
    const createdAt = Math.min(whole.createdAt, person.createdAt)
    whole = Object.assign(whole, fitTogether(whole, person) ? mergedProperties(whole, person) : {}, {
      length: undefined,
      // A number without a person has no creation time.
      createdAt: whole.hasRecord === person.hasRecord ? createdAt : (whole.hasRecord ? whole : person).createdAt,
      hasRecord: whole.hasRecord || person.hasRecord,
      version: Math.max(whole.version, person.version),
      updatedAt: Math.max(whole.updatedAt, person.updatedAt),
    })
  }
  return { person: makePerson({ ...whole, no: first!.person.no, uuid: first!.person.uuid, isIdentified }), members, causes }
}

type FamilyText = Pick<Family, 'merges'> & {
  members: (Omit<Member, 'person'> & { person: Omit<Person, 'times'> & { times: unknown } })[]
}

export const familyText = ({ members, merges }: Family): string =>
  JSON.stringify({
    members: members.map((member) => ({
      ...member,
      person: { ...member.person, times: member.person.times && timesText(member.person.times) },
    })),
    merges,
  } satisfies FamilyText)

export function readFamily(id: number, text: string): Family {
  const { members, merges } = JSON.parse(text) as FamilyText
  const timesOf = (times: unknown): PropertyTimes | null =>
    times === null ? null : readTimes(typeof times === 'string' ? times : JSON.stringify(times))
  const read = members.map(
    (member): Member => ({ ...member, person: makePerson({ ...member.person, times: timesOf(member.person.times) }) }),
  )
  return familyOf(id, read, merges, text.length)
}
