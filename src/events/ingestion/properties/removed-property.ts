import { familyText, readFamily } from '../persons/family.ts'
import type { WithoutProperty } from '../ports.ts'
import { readTimes, timesText } from './property-times.ts'

// JSON texts of a store without a property. A text that does not have it stays as it is.

const without = (record: Record<string, unknown>, name: string): boolean => Object.hasOwn(record, name) && delete record[name]

function ofProperties(text: string, name: string): string {
  const properties = JSON.parse(text) as Record<string, unknown>
  return without(properties, name) ? JSON.stringify(properties) : text
}

/** Of `property_times`. */
function ofTimes(text: string, name: string): string {
  if (text === '') return text
  const times = readTimes(text)
  return without(times, name) ? timesText(times) : text
}

/** Of a family of imported persons. */
function ofFamily(text: string, name: string): string {
  const family = readFamily(0, text)
  let has = false
  for (const { person } of family.members) {
    has = without(person.properties, name) || has
    if (person.times) has = without(person.times, name) || has
  }
  return has ? familyText(family) : text
}

export const withoutProperty: WithoutProperty = { ofProperties, ofTimes, ofFamily }
