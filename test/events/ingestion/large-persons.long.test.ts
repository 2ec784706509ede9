import { afterEach, describe, expect, test } from 'vitest'
import { propertiesLimit } from '../../../src/events/ingestion/properties/property-size.ts'
import { openWorld, type World } from './harness.ts'

// What a transaction loads is known before it is loaded, and what a project keeps of large properties has a largest size.

let world: World
afterEach(() => world.close())

const people = 60
const length = 200_000
const numbers = Array.from({ length: people }, (_, i) => i)
const person = (i: number, set: object) => ({ event: 'a', distinct_id: `p${i}`, properties: { $set: set } })
const group = (i: number, set: object) => ({
  event: '$groupidentify',
  distinct_id: 'd',
  properties: { $group_type: 't', $group_key: `g${i}`, $group_set: set },
})
const long = 'x'.repeat(length)
const rowsOf = async (table: 'persons' | 'groups') =>
  (await world.rows(`SELECT properties FROM ${table}`)).map(({ properties }) => JSON.parse(properties as string) as Record<string, unknown>)

describe('with memory for about 3 MB of them at a time', () => {
  /** About sixteen of them, and one more. */
  const most = 5_000 * 640 + length + 1_000
  const store = async (of: (i: number, set: object) => object) => {
    world = await openWorld({ limits: { groupPeople: 5_000 } })
    for (let i = 0; i < people; i += 10) await world.pipeline.ingest({ batch: numbers.slice(i, i + 10).map((j) => of(j, { long, i: j })) })
    await world.pipeline.caughtUp()
    await world.restart()
  }

  test.each([
    ['persons', person],
    ['groups', group],
  ] as const)('one batch that touches all %s', async (table, of) => {
    await store(of)
    await world.pipeline.ingest({ batch: numbers.map((i) => of(i, { again: i })) })
    await world.pipeline.caughtUp()
    const rows = (await rowsOf(table)).filter((row) => 'long' in row)
    expect(rows.map(({ i, again, long }) => [i === again, (long as string).length])).toEqual(numbers.map(() => [true, length]))
    expect(world.mostLoaded).toBeLessThanOrEqual(most)
    expect(await world.rows('SELECT count(*)::INTEGER AS n FROM events')).toEqual([{ n: 2 * people }])
  })

  test('a batch of merges', async () => {
    await store(person)
    const merges = numbers
      .filter((i) => i % 2 === 0)
      .map((i) => ({ event: '$merge_dangerously', distinct_id: `p${i}`, properties: { alias: `p${i + 1}` } }))
    await world.pipeline.ingest({ batch: merges })
    await world.pipeline.caughtUp()
    expect(world.mostLoaded).toBeLessThanOrEqual(most + length)
    expect((await rowsOf('persons')).map(({ i }) => i)).toEqual(numbers.filter((i) => i % 2 === 0))
  })

  test('one import of persons, whose uuids come back in order', async () => {
    await store(person)
    const before = await world.rows('SELECT distinct_id, uuid::VARCHAR AS uuid FROM distinct_ids JOIN persons USING (person_no)')
    const { ids } = await world.pipeline.importPersons(numbers.map((i) => ({ distinct_ids: [`p${i}`], properties: { imported: i } })))
    const uuidOf = new Map(before.map(({ distinct_id, uuid }) => [distinct_id, uuid]))
    expect(ids).toEqual(numbers.map((i) => uuidOf.get(`p${i}`)))
    expect(world.mostLoaded).toBeLessThanOrEqual(most)
    expect((await rowsOf('persons')).every(({ i, imported }) => i === imported)).toBe(true)
  })
})

describe('the room for large properties', () => {
  const memoryLimit = 64 * 1024 ** 2
  const room = memoryLimit / 4

  test.each([
    ['persons', 'person_properties_too_large', person],
    ['groups', 'group_properties_too_large', group],
  ] as const)('is shared by %s: what exceeds it is not written, the events are, and removals free it', async (table, warning, of) => {
    world = await openWorld({ memoryLimit })
    const huge = 'x'.repeat(450_000)
    for (let i = 0; i < people; i += 10) await world.pipeline.ingest({ batch: numbers.slice(i, i + 10).map((j) => of(j, { huge, i: j })) })
    const sizes = async () => (await rowsOf(table)).map((row) => JSON.stringify(row).length)
    const sum = (await sizes()).reduce((a, b) => a + b, 0)
    expect(sum).toBeGreaterThan(room * 0.9)
    expect(sum).toBeLessThan(room + people * 10_000)
    expect(world.pipeline.warnings().some(({ type }) => type === warning)).toBe(true)
    expect(await world.rows('SELECT count(*)::INTEGER AS n FROM events')).toEqual([{ n: people }])
    await world.restart() // it is known without reading them
    await world.pipeline.ingest({ batch: [of(1_000, { huge }), of(1_001, { small: 1 })] })
    const after = await rowsOf(table)
    expect(after.filter((row) => 'small' in row)).toHaveLength(1)
    expect((await sizes()).reduce((a, b) => a + b, 0)).toBeLessThan(room + people * 10_000)
  })

  test('persons that become one stay within the limit of one', async () => {
    world = await openWorld()
    const half = 'x'.repeat(propertiesLimit * 0.4)
    await world.pipeline.ingest({ batch: numbers.slice(0, 5).map((i) => person(i, { [`half${i}`]: half })) })
    await world.pipeline.ingest({
      batch: numbers.slice(1, 5).map((i) => ({ event: '$merge_dangerously', distinct_id: 'p0', properties: { alias: `p${i}` } })),
    })
    const [whole] = await rowsOf('persons')
    expect(JSON.stringify(whole).length).toBeLessThanOrEqual(propertiesLimit)
    expect(Object.keys(whole!)).toEqual(expect.arrayContaining(['half0', 'half1']))
    expect(world.pipeline.warnings().some(({ type }) => type === 'person_properties_too_large')).toBe(true)
  })
})
