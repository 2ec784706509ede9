import { fitTogether } from '../properties/property-size.ts'
import type { PersonImport } from '../work.ts'
import type { Arrival } from './identify.ts'
import type { People } from './people.ts'
import { mergedProperties, type Person, write } from './person.ts'

/** Creates a person with all its ids in one step. Persons of existing ids are merged into one; `merged` lists the merged ones. */
export function importPerson(people: People, row: PersonImport, arrival: Arrival): { person: Person; merged: Person[] } {
  const first = row.distinct_ids[0]!
  const known = row.distinct_ids.flatMap((id) => people.find(id) ?? [])
  let person = known.find((one) => one.hasRecord) ?? people.find(first)
  const isNew = !person?.hasRecord
  if (!person) {
    const empty = { hasRecord: true, createdAt: row.created_at, isIdentified: row.is_identified, properties: {}, times: null }
    person = people.add(first, empty, arrival.receivedAt)
  } else if (isNew) people.promote(first, person)

  const merged: Person[] = []
  for (const id of row.distinct_ids) {
    const other = people.find(id)
    if (!other) people.addId(id, person)
    else if (other !== person) {
      if (other.hasRecord) {
        const isRoom = fitTogether(person, other)
        if (!isRoom) people.refusedWrites++
        Object.assign(person, isRoom ? mergedProperties(person, other) : {}, {
          createdAt: Math.min(person.createdAt, other.createdAt),
          isIdentified: person.isIdentified || other.isIdentified,
          length: undefined,
        })
      }
      people.merge(other, person)
      merged.push(other)
    }
  }

  const length = JSON.stringify(row.properties).length
  const isRoom = people.large.has(person, length)
  if (!isRoom) people.refusedWrites++
  const before = write(person.properties, { set: isRoom ? row.properties : null, setOnce: null, unset: null })
  const createdAt = isNew ? row.created_at : Math.min(person.createdAt, row.created_at)
  const isIdentified = person.isIdentified || row.is_identified
  const isChanged = merged.length > 0 || before.size > 0 || createdAt !== person.createdAt || isIdentified !== person.isIdentified
  person.length = undefined
  if (isNew || before.size > 0) people.addVersion(person, arrival.seq)
  Object.assign(person, { createdAt, isIdentified, updatedAt: arrival.receivedAt, importedAt: arrival.receivedAt })
  if (isChanged && !isNew) person.version++
  people.change(person)
  return { person, merged }
}
