import { afterEach, describe, expect, test } from 'vitest'
import { EventNames, nameLimit } from '../../../src/events/ingestion/applying/event-names.ts'
import { propertiesLimit } from '../../../src/events/ingestion/properties/property-size.ts'
import { openWorld, type World } from './harness.ts'

// Properties of persons and groups are stored up to a size limit, and the memory for earlier versions grows only with the events.

let world: World
afterEach(() => world.close())

const event = (name: string, properties: object, more: object = {}) => ({ event: name, distinct_id: 'd', properties, ...more })
const stored = async (table: 'persons' | 'groups') => {
  await world.pipeline.caughtUp()
  const rows = await world.rows(`SELECT properties FROM ${table}`)
  return rows.map(({ properties }) => JSON.parse(properties as string) as Record<string, unknown>)
}
const warned = (type: string) => world.pipeline.warnings().filter((warning) => warning.type === type).length > 0
const half = propertiesLimit * 0.6

describe.each([false, true])('a person has so much room (past events: %s)', (isPast) => {
  const ingest = (...batch: object[]) => world.pipeline.ingest({ historical_migration: isPast, batch })

  test('properties beyond the limit are not written, the event is, and removals free space', async () => {
    world = await openWorld()
    await ingest(event('a', { $set: { first: 'x'.repeat(half) } }, { timestamp: '2026-01-01T00:00:01Z' }))
    await ingest(event('b', { $set: { second: 'x'.repeat(half), small: 1 } }, { timestamp: '2026-01-01T00:00:02Z' }))
    expect(Object.keys((await stored('persons'))[0]!).sort()).toEqual(['$creator_event_uuid', 'first'])
    expect(await world.rows('SELECT count(*)::INTEGER AS n FROM events')).toEqual([{ n: 2 }])
    expect(warned('person_properties_too_large')).toBe(true)
    await ingest(event('c', { $unset: ['first'] }, { timestamp: '2026-01-01T00:00:03Z' }))
    await ingest(event('d', { $set: { third: 'x'.repeat(half) } }, { timestamp: '2026-01-01T00:00:04Z' }))
    expect(Object.keys((await stored('persons'))[0]!).sort()).toEqual(['$creator_event_uuid', 'third'])
  })

  test('a value that is written repeatedly counts once', async () => {
    world = await openWorld()
    for (let i = 0; i < 20; i++) await ingest(event('a', { $set: { long: `${i}${'x'.repeat(propertiesLimit / 8)}` } }))
    expect(String((await stored('persons'))[0]!.long).slice(0, 3)).toMatch(isPast ? /^9x/ : /^19x/) // at one time the greater text counts
    expect(warned('person_properties_too_large')).toBe(false)
  })
})

test('a group has a size limit', async () => {
  world = await openWorld()
  const group = (set: object) => event('$groupidentify', { $group_type: 't', $group_key: 'k', $group_set: set })
  await world.pipeline.ingest({ batch: [group({ first: 'x'.repeat(half) }), group({ second: 'x'.repeat(half) }), group({ small: 1 })] })
  expect(Object.keys((await stored('groups'))[0]!)).toEqual(['first', 'small'])
  expect(warned('group_properties_too_large')).toBe(true)
})

test('two persons are merged whichever is longer', async () => {
  for (const [a, b] of [
    ['x', 'x'.repeat(10_000)],
    ['x'.repeat(10_000), 'x'],
  ] as const) {
    // biome-ignore format: a table
    world = await openWorld()
    await world.pipeline.ingest({
      batch: [
        event('a', { $set: { of: a, both: 'target' } }),
        { ...event('a', { $set: { by: b, both: 'source' } }), distinct_id: 'other' },
        event('$merge_dangerously', { alias: 'other' }),
        event('e', { $set: { after: 1 } }),
      ],
    })
    await world.pipeline.caughtUp()
    const [whole] = await world.rows("SELECT properties FROM persons WHERE contains(properties, 'after')")
    expect(JSON.parse(whole!.properties as string)).toMatchObject({ of: a, by: b, both: 'target', after: 1 })
    await world.close()
  }
  world = await openWorld()
})

test('versions of a person take no more than eight times the events that make them', async () => {
  world = await openWorld()
  const long = event('a', { $set: { long: 'x'.repeat(400_000) } })
  const changes = Array.from({ length: 1_000 }, (_, i) => event('$set', { $set: { i } }))
  await world.pipeline.ingest({ batch: [long, ...changes] })
  await world.pipeline.caughtUp()
  const [{ bytes }] = (await world.rows('SELECT sum(length(properties))::DOUBLE AS bytes FROM person_versions')) as [{ bytes: number }]
  const sent = JSON.stringify([long, ...changes]).length
  expect(bytes).toBeLessThan(8 * (sent + 100 * 1_001) + 8_000_000) // 400 MB without an end to it
  expect((await stored('persons'))[0]).toMatchObject({ i: 999 })
  expect(warned('person_history_too_large')).toBe(true)
})

test('ordinary persons keep all their versions', async () => {
  world = await openWorld()
  const facts = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`fact_${i}`, `a value of usual length ${i}`]))
  const changes = Array.from({ length: 3_000 }, (_, i) => event('$set', { $set: { i, plan: 'pro', page: 'https://shop.example.com/' } }))
  await world.pipeline.ingest({ batch: [event('a', { $set: facts }), ...changes] })
  await world.pipeline.caughtUp()
  expect(await world.rows('SELECT count(*)::INTEGER AS n FROM person_versions')).toEqual([{ n: 3_001 }])
})

describe('many persons with large properties', () => {
  const people = 300
  const long = (i: number) => ({ ...event('a', { $set: { long: 'x'.repeat(200_000), i } }), distinct_id: `p${i}` })

  test('are processed in groups that fit in memory, and none is lost', async () => {
    world = await openWorld({ limits: { groupPeople: 5_000 } }) // so about 3 MB of them at once
    for (let i = 0; i < people; i += 50) await world.pipeline.ingest({ batch: Array.from({ length: 50 }, (_, j) => long(i + j)) })
    await world.pipeline.caughtUp()
    await world.restart()
    const again = Array.from({ length: people }, (_, i) => ({ ...event('b', { $set: { again: i } }), distinct_id: `p${i}` }))
    await world.pipeline.ingest({ batch: [...again, ...again.map((one) => ({ ...one, uuid: '0190a000-0000-7000-8000-000000000001' }))] })
    const written = (await stored('persons')).map(({ i, again, long }) => [i === again, (long as string).length])
    expect(written).toEqual(Array.from({ length: people }, () => [true, 200_000]))
    expect(await world.rows('SELECT count(*)::INTEGER AS n FROM events')).toEqual([{ n: 2 * people + 1 }])
    expect(world.errors).toEqual([])
  })
})

test('the number of event names in memory is limited', () => {
  const names = new EventNames(
    Array.from({ length: nameLimit }, (_, i) => ({ id: i + 1, name: `n${i}`, firstSeen: 0, lastSeen: 0, count: 1 })),
  )
  world = { close: async () => {} } as World
  expect([names.count('n5', 1), names.count('new', 1), names.count('newer', 1), names.renamed]).toEqual([
    6,
    nameLimit + 1,
    nameLimit + 1,
    2,
  ])
})
