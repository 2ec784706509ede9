import { expect, test } from 'vitest'
import { PersonStates } from '../../../../../src/events/ingestion/persons/known/person-states.ts'

test('persons by number: merged in chains, parted again, gone', () => {
  const persons = new PersonStates()
  persons.set(3, { hasRecord: true, size: 700 })
  persons.set(70_000, { hasRecord: false, size: 2 ** 31 })
  expect([persons.get(3), persons.get(70_000), persons.get(4), persons.get(9_000_000)]).toEqual([
    { hasRecord: true, size: 700 },
    { hasRecord: false, size: 2 ** 30 - 1 },
    null,
    null,
  ])
  for (let no = 1; no < 1_000; no++) persons.merge(no, no + 1)
  expect([persons.current(1), persons.current(500), persons.current(1_000), persons.current(8_000_000)]).toEqual([
    1_000, 1_000, 1_000, 8_000_000,
  ])
  persons.merge(500, 500)
  expect(persons.current(500)).toBe(500)
  persons.remove(3)
  expect(persons.get(3)).toBeNull()
  expect(persons.bytes).toBeLessThan(400_000)
})
