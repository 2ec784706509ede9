import { createHash } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { eventNames, identify, latestHours, peopleOf, productEvents, type ResolvedEvent } from '../../../bench/product/generator.ts'

// The data set of the product benchmark: the same on every machine, and shaped as the data of a product is.

const data = { events: 12_000, seed: 1 }
let made: readonly ResolvedEvent[]
beforeAll(() => {
  made = [...productEvents(data)]
})

const checksum = (events: Iterable<ResolvedEvent>) => {
  const hash = createHash('sha256')
  for (const one of events) hash.update(JSON.stringify(one))
  return hash.digest('hex').slice(0, 16)
}
const countsOf = <T>(values: Iterable<T>): ReadonlyMap<T, number> => {
  const counts = new Map<T, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return counts
}
const share = (part: number) => part / made.length

test('a seed makes the same events each time, and another seed other ones', () => {
  expect(checksum(made)).toBe('327f51966f5c2532')
  expect(checksum(productEvents({ ...data, seed: 2 }))).not.toBe(checksum(made))
})

test('the number of events is the one that was asked for', () => {
  expect(made).toHaveLength(data.events)
  expect([...productEvents({ events: 1, seed: 1 })]).toHaveLength(1)
})

test('some persons are heavy: a hundredth makes a quarter of the events, and a tenth more than a half', () => {
  const perPerson = [...countsOf(made.map(({ person }) => person)).values()].sort((a, b) => b - a)
  const ofTop = (part: number) => share(perPerson.slice(0, Math.ceil(peopleOf(data) * part)).reduce((sum, n) => sum + n, 0))
  expect(ofTop(0.01)).toBeGreaterThan(0.2)
  expect(ofTop(0.1)).toBeGreaterThan(0.5)
  expect(ofTop(0.1)).toBeLessThan(0.8)
})

test('there are forty names of events, and the first one is half of what the second one is more', () => {
  const names = countsOf(made.map(({ event }) => event.event))
  expect([...names.keys()].sort()).toEqual([...eventNames, identify].sort())
  expect(names.size).toBe(40)
  expect(names.get(eventNames[0])! / names.get(eventNames[1])!).toBeCloseTo(2, 0)
})

test('properties are fourteen, of several types, one of them rare', () => {
  const counts = countsOf(made.flatMap(({ event }) => Object.keys(event.properties).filter((name) => name !== '$anon_distinct_id')))
  expect(counts.size).toBe(14)
  expect(share(counts.get('campaign')!)).toBeCloseTo(0.02, 2)
  expect([...new Set(Object.values(made[0]!.event.properties).map((value) => typeof value))].sort()).toEqual([
    'boolean',
    'number',
    'string',
  ])
  const distinct = (name: string) => new Set(made.map(({ event }) => event.properties[name])).size
  expect(distinct('plan')).toBe(3)
  expect(distinct('$current_url')).toBeGreaterThan(10_000)
})

test('a tenth of the events arrive late, by less than a day', () => {
  const late = made.filter(({ isLate }) => isLate)
  expect(share(late.length)).toBeCloseTo(0.1, 1)
  let newest = 0
  const behind = made.map(({ event }) => {
    const at = Date.parse(event.timestamp)
    newest = Math.max(newest, at)
    return (newest - at) / 3_600_000
  })
  expect(Math.max(...behind)).toBeGreaterThan(latestHours / 2)
  expect(Math.max(...behind)).toBeLessThan(latestHours + 1)
})

test('what Waymark has to merge: each distinct id belongs to one person, and an $identify joins the two of a person', () => {
  const persons = new Map<string, Set<number>>()
  const ids = new Map<number, Set<string>>()
  const joined = new Set<number>()
  for (const { event, person } of made) {
    persons.set(event.distinct_id, (persons.get(event.distinct_id) ?? new Set()).add(person))
    ids.set(person, (ids.get(person) ?? new Set()).add(event.distinct_id))
    if (event.event === identify) {
      expect(event.properties.$anon_distinct_id).toBe(`visitor-${person}`)
      joined.add(person)
    }
  }
  expect([...persons.values()].every(({ size }) => size === 1)).toBe(true)
  const withTwo = [...ids].flatMap(([person, { size }]) => (size > 1 ? [person] : []))
  expect(withTwo.length).toBeGreaterThan(peopleOf(data) / 10)
  expect(withTwo.filter((person) => !joined.has(person))).toEqual([])
})

test('no two events have the same moment or the same uuid', () => {
  expect(new Set(made.map(({ event }) => event.timestamp)).size).toBe(made.length)
  expect(new Set(made.map(({ event }) => event.uuid)).size).toBe(made.length)
})

test('events are made one by one: the first ones of a hundred million are there at once', () => {
  const some = productEvents({ events: 100_000_000, seed: 1 })
  const first = Array.from({ length: 1000 }, () => some.next().value!)
  expect(new Set(first.map(({ event }) => event.timestamp)).size).toBe(1000)
})
