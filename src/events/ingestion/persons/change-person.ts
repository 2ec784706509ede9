import type { StagedGroup } from '../ports.ts'
import { fits, fitTogether, noteWritten } from '../properties/property-size.ts'
import type { PersonChange } from '../work.ts'
import type { Families } from './families.ts'
import type { Arrival } from './identify.ts'
import type { People } from './people.ts'
import { mergedProperties, type Person, write, writtenTimes } from './person.ts'

// Changes of persons by users. What arrived before a change is changed by it, and what arrives later is not.

interface Parts {
  readonly people: People
  readonly families: Families
  readonly group: StagedGroup
  readonly arrival: Arrival
  /** A person by its uuid. All its ids are loaded. */
  find(uuid: string): Person | undefined
}

export interface Changed {
  readonly person: Person
  readonly merged: readonly Person[]
  /** The number of distinct ids that a deleted person had. */
  readonly ids?: number
}

/** Null: there is no such person. */
export function changePerson(change: PersonChange, parts: Parts): Changed | null {
  const person = current(change.person, parts)
  if (!person) return null
  switch (change.change) {
    case 'write':
      writeProperties(person, change, parts)
      return { person, merged: [] }
    case 'merge':
      return { person, merged: mergeInto(person, change.sources, parts) }
    case 'split':
      split(person, change.ids, parts)
      return { person, merged: [] }
    case 'delete':
      return { person, merged: [], ids: remove(person, change.withEvents, parts) }
  }
}

/** From here on past events change nothing about who this person is. */
function current(uuid: string, { people, families, find }: Parts): Person | undefined {
  const person = find(uuid)
  if (person) families.endOf(people.current(person.no))
  return find(uuid)
}

function writeProperties(person: Person, { set, unset }: Extract<PersonChange, { change: 'write' }>, { people, arrival }: Parts): void {
  const length = JSON.stringify(set).length
  const isRoom = fits(person, length) && people.large.has(person, length)
  if (!isRoom) people.refusedWrites++
  const before = write(person.properties, { set: isRoom ? set : null, setOnce: null, unset })
  if (before.size === 0) return
  noteWritten(person, length)
  people.large.count(person)
  people.noteWritten(length)
  if (person.times) person.times = writtenTimes(person, before, arrival.receivedAt)
  changed(person, arrival, people)
}

function changed(person: Person, arrival: Arrival, people: People): void {
  person.version++
  person.updatedAt = arrival.receivedAt
  people.addVersion(person, arrival.seq)
  people.change(person)
}

function mergeInto(person: Person, sources: readonly string[], parts: Parts): Person[] {
  const { people, arrival } = parts
  const merged: Person[] = []
  for (const uuid of sources) {
    const source = current(uuid, parts)
    if (!source || source === person) continue
    const isRoom = fitTogether(person, source)
    if (!isRoom) people.refusedWrites++
    Object.assign(person, isRoom ? mergedProperties(person, source) : {}, {
      createdAt: Math.min(person.createdAt, source.createdAt),
      isIdentified: true,
      version: Math.max(person.version, source.version),
      length: undefined,
    })
    people.merge(source, person)
    merged.push(source)
  }
  if (merged.length > 0) changed(person, arrival, people)
  return merged
}

function split(person: Person, wanted: readonly string[] | null, { people, group, arrival }: Parts): void {
  const ids = people.idsOf(person.no).sort()
  const kept = people.ownIdOf(person, ids) ?? ids[0]
  const chosen = new Set(wanted ?? ids)
  const leaving = ids.filter((id) => chosen.has(id))
  if (leaving.length === ids.length) leaving.splice(leaving.indexOf(kept!), 1)
  if (leaving.length === 0) return
  const from = [person.no, ...people.mergedInto(person.no)]
  people.removeIds(leaving, person)
  const made = leaving.map((id) => {
    const nobody = { hasRecord: true, createdAt: arrival.receivedAt, isIdentified: false, properties: {}, times: null }
    const own = people.add(id, nobody, arrival.receivedAt)
    people.addVersion(own, arrival.seq)
    return [id, own.no] as const
  })
  group.moveEvents(made, from)
  if (wanted === null) Object.assign(person, { properties: {}, times: null, length: undefined })
  changed(person, arrival, people)
}

function remove(person: Person, withEvents: boolean, { people, group, arrival }: Parts): number {
  const ids = new Set(people.idsOf(person.no))
  const { size } = ids
  // The id that the uuid is made from stays with it: a person that it gets later has the same uuid.
  const kept = withEvents ? undefined : people.ownIdOf(person, ids)
  if (kept !== undefined) ids.delete(kept)
  group.removePeople([person.no, ...people.mergedInto(person.no)], withEvents)
  people.forgetIds(ids, person)
  if (withEvents) people.drop(person)
  else {
    people.empty(person, kept)
    person.version++
    person.updatedAt = arrival.receivedAt
  }
  return size
}
