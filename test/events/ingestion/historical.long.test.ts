import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { personUuid } from '../../../src/events/ingestion/decoding/uuid.ts'
import { type PastState, writeInThePast } from '../../../src/events/ingestion/persons/person.ts'
import { readTimes, timesText } from '../../../src/events/ingestion/properties/property-times.ts'
import type { PersonChange } from '../../../src/events/ingestion/work.ts'
import { nameUuid } from '../../../src/lib/ids/name-uuid.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'
import { IdentityModel } from '../../reference/identity-model.ts'
import { openWorld, type World } from './harness.ts'

const uuid = (n: number) => nameUuid('6ba7b810-9dad-11d1-80b4-00c04fd430c8', String(n))
const start = Date.parse('2025-03-01T00:00:00Z')

interface Past {
  event: string
  distinct_id: string
  minutes: number
  other?: string
  set?: Record<string, unknown>
  setOnce?: Record<string, unknown>
  unset?: string[]
  isPersonless?: boolean
}

const asEvent = (past: Past, n: number) => ({
  event: past.event,
  distinct_id: past.distinct_id,
  uuid: uuid(n),
  timestamp: new Date(start + past.minutes * 60_000).toISOString(),
  properties: {
    ...(past.set && { $set: past.set }),
    ...(past.setOnce && { $set_once: past.setOnce }),
    ...(past.unset && { $unset: past.unset }),
    ...(past.other && { [past.event === '$identify' ? '$anon_distinct_id' : 'alias']: past.other }),
    ...(past.isPersonless && { $process_person_profile: false }),
  },
})

const importBatch = (world: World, batch: object[]) => world.pipeline.ingest({ historical_migration: true, batch })

async function state(world: World) {
  const persons = await world.rows(
    `SELECT uuid::VARCHAR AS uuid, has_record, properties, is_identified, epoch_us(created_at)::DOUBLE AS created_at,
       (SELECT list(distinct_id ORDER BY distinct_id) FROM distinct_ids d WHERE d.person_no = p.person_no) AS ids FROM persons p ORDER BY uuid`,
  )
  const events = await world.rows(
    `SELECT e.uuid::VARCHAR AS event, epoch_us(timestamp)::DOUBLE AS at, e.properties, p.uuid::VARCHAR AS person FROM events e
     LEFT JOIN person_merges m ON m.merged = e.person_no JOIN persons p ON p.person_no = coalesce(m.survivor, e.person_no) ORDER BY event`,
  )
  const merges = await world.rows('SELECT count(*)::INTEGER AS n FROM person_merges a JOIN person_merges b ON b.merged = a.survivor')
  expect(merges, 'merges are flat').toEqual([{ n: 0 }])
  const sorted = (text: unknown) => Object.fromEntries(Object.entries(JSON.parse(text as string) as object).sort())
  return {
    persons: persons.map((person) => ({
      uuid: person.uuid as string,
      has_record: person.has_record as boolean,
      is_identified: person.is_identified as boolean,
      created_at: person.created_at as number,
      ids: person.ids as string[] | null,
      properties: sorted(person.properties),
    })),
    events,
  }
}

const id = fc.constantFrom('a', 'b', 'c', 'd', 'e')
const values = fc.dictionary(fc.constantFrom('p', 'q'), fc.constantFrom(1, 2, 'x', null, false, 0, ''), { maxKeys: 2 })
const past: fc.Arbitrary<Past> = fc.record(
  {
    event: fc.constantFrom('visit', '$identify', '$identify', '$create_alias', '$merge_dangerously'),
    distinct_id: id,
    minutes: fc.nat(12),
    other: id,
    set: values,
    setOnce: values,
    unset: fc.subarray(['p', 'q']),
    isPersonless: fc.constantFrom(false, false, false, true),
  },
  { requiredKeys: ['event', 'distinct_id', 'minutes'] },
)

/** The events in any order, in batches of any size, with restarts in between. */
const arrivals = <T>(events: readonly T[]) =>
  fc.record({
    order: fc.shuffledSubarray([...events], { minLength: events.length, maxLength: events.length }),
    sizes: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 4 }),
    restarts: fc.boolean(),
  })

async function arrive(world: World, { order, sizes, restarts }: { order: object[]; sizes: number[]; restarts: boolean }): Promise<void> {
  for (let at = 0, i = 0; at < order.length; i++) {
    const size = sizes[i % sizes.length]!
    await importBatch(world, order.slice(at, at + size))
    if (restarts) await world.restart()
    at += size
  }
}

test('an import in any order gives the same persons and events', async () => {
  const cases = fc.array(past, { minLength: 2, maxLength: 10 }).chain((pasts) => {
    const events = pasts.map(asEvent)
    return fc.record({ first: arrivals(events), second: arrivals(events) })
  })
  await assertGenerated(
    fc.asyncProperty(cases, async ({ first, second }) => {
      const [one, two] = [await openWorld(), await openWorld()]
      await arrive(one, first)
      await arrive(two, second)
      const result = await state(one)
      expect(await state(two)).toEqual(result)
      await one.rebuild()
      expect(await state(one)).toEqual(result)
      await one.close()
      await two.close()
    }),
    { numRuns: 15 },
  )
})

test('an import gives the same persons as the events would live, in order of their times', async () => {
  const cases = fc.array(past, { minLength: 2, maxLength: 12 }).chain((pasts) => {
    const apart = pasts.map((each, n) => ({ ...each, minutes: each.minutes * 20 + n })) // no two at once
    return fc.record({ pasts: fc.constant(apart), arrival: arrivals(apart.map(asEvent)) })
  })
  await assertGenerated(
    fc.asyncProperty(cases, async ({ pasts, arrival }) => {
      const world = await openWorld()
      await arrive(world, arrival)
      const model = new IdentityModel()
      const inTime = pasts.map((each, n) => ({ ...each, uuid: uuid(n), time: (start + each.minutes * 60_000) * 1000 }))
      for (const each of inTime.sort((a, b) => a.time - b.time)) model.apply(each)
      const people = (await state(world)).persons.filter(({ has_record }) => has_record)
      expect(people.map(({ uuid, ids, is_identified, created_at }) => ({ uuid, ids, is_identified, created_at }))).toEqual(
        model
          .persons()
          .map((person) => ({
            uuid: personUuid(1, person.name),
            ids: person.ids,
            is_identified: person.isIdentified,
            created_at: person.createdAt,
          }))
          .sort((a, b) => (a.uuid < b.uuid ? -1 : 1)),
      )
      await world.close()
    }),
    { numRuns: 15 },
  )
})

describe('a past merge', () => {
  const visit = (distinct_id: string, n: number) => asEvent({ event: 'visit', distinct_id, minutes: 0 }, n)
  const identify = (target: string, other: string, minutes: number): Past => ({ event: '$identify', distinct_id: target, other, minutes })

  test('is undone when an earlier one arrives later', async () => {
    const world = await openWorld()
    await importBatch(world, [...['shared', 'first', 'second'].map(visit), asEvent(identify('second', 'shared', 20), 11)])
    const ids = async () => (await state(world)).persons.map(({ ids }) => ids).sort()
    expect(await ids()).toEqual([['first'], ['second', 'shared']])
    await importBatch(world, [asEvent(identify('first', 'shared', 10), 12)])
    expect(await ids()).toEqual([['first', 'shared'], ['second']])
    expect(world.pipeline.warnings()).toMatchObject([{ type: 'cannot_merge_already_identified', count: 1 }])
    await world.close()
  })

  test('is final once a live event changes one of its persons', async () => {
    const world = await openWorld()
    await importBatch(world, [...['shared', 'first', 'second'].map(visit), asEvent(identify('second', 'shared', 20), 11)])
    await world.pipeline.ingest([{ event: 'visit', distinct_id: 'second', uuid: uuid(5), properties: { $set: { a: 1 } } }])
    await importBatch(world, [asEvent(identify('first', 'shared', 10), 12)])
    expect((await state(world)).persons.map(({ ids, properties }) => [ids, properties.a]).sort()).toEqual([
      [['first'], undefined],
      [['second', 'shared'], 1],
    ])
    expect(await world.rows('SELECT count(*)::INTEGER AS n FROM events')).toEqual([{ n: 6 }])
    await world.close()
  })
})

describe('what is kept of past merges has a largest size', () => {
  const most = 2_000_000
  const long = 'x'.repeat(100_000)
  const visit = (n: number): Past => ({ event: 'visit', distinct_id: `v${n}`, minutes: n, set: { [`p${n}`]: `${n}${long}` } })
  const merge = (n: number): Past => ({ event: '$identify', distinct_id: 'user', other: `v${n}`, minutes: 100 + n })
  const families = (world: World) =>
    world.rows('SELECT max(length(state))::INTEGER AS longest, count(*)::INTEGER AS n FROM import_families')

  test.each([1, 7])('of one family, in batches of %s: then merges count in order of arrival, and nobody is lost', async (size) => {
    const world = await openWorld()
    const numbers = Array.from({ length: 40 }, (_, n) => n)
    const pasts = numbers.flatMap((n) => [visit(n), merge(n)]).map(asEvent)
    for (let at = 0; at < pasts.length; at += size) await importBatch(world, pasts.slice(at, at + size))
    const [{ longest, n }] = (await families(world)) as [{ longest: number; n: number }]
    expect(longest).toBeLessThanOrEqual(most)
    expect(n).toBeLessThanOrEqual(1)
    const { persons, events } = await state(world)
    expect(persons.map(({ ids }) => ids?.length)).toEqual([41])
    expect(new Set(events.map(({ person }) => person))).toEqual(new Set([persons[0]!.uuid]))
    expect(world.pipeline.warnings().map(({ type }) => type)).toContain('past_merge_in_order_of_arrival')
    await world.rebuild()
    expect((await state(world)).persons.map(({ ids }) => ids?.length)).toEqual([41])
    await world.close()
  })

  test('by what its members are told later', async () => {
    const world = await openWorld()
    const numbers = Array.from({ length: 10 }, (_, n) => n)
    await importBatch(
      world,
      numbers.map((n) => asEvent(merge(n), n)),
    )
    for (const part of [1, 2, 3])
      await importBatch(
        world,
        numbers.map((n) => asEvent({ ...visit(n), set: { [`${part}`]: `${n}${long}` } }, part * 100 + n)),
      )
    expect(await families(world)).toEqual([{ longest: null, n: 0 }])
    expect((await state(world)).persons.map(({ ids }) => ids?.length)).toEqual([11])
    await world.close()
  })

  test('of all families: they share the room of large texts, and a transaction loads no more than fits', async () => {
    const memoryLimit = 64 * 1024 ** 2
    const world = await openWorld({ memoryLimit, limits: { groupPeople: 5_000 } })
    const numbers = Array.from({ length: 120 }, (_, n) => n)
    const pairOf = (n: number): Past[] => [
      { ...visit(n), set: { p: `${n}${long}` } },
      { event: '$identify', distinct_id: `u${n}`, other: `v${n}`, minutes: 100 + n, set: { q: `${n}${long}` } },
    ]
    for (const n of numbers)
      await importBatch(
        world,
        pairOf(n).map((past, i) => asEvent(past, 2 * n + i)),
      )
    const sum = async () => Number((await world.rows('SELECT coalesce(sum(length(state)), 0)::INTEGER AS n FROM import_families'))[0]!.n)
    expect(await sum()).toBeLessThanOrEqual(memoryLimit / 4 + numbers.length * 8_192)
    await world.restart()
    await importBatch(
      world,
      numbers.map((n) => asEvent({ event: 'visit', distinct_id: `u${n}`, minutes: 300, set: { r: n } }, 1_000 + n)),
    )
    expect(world.mostLoaded).toBeLessThanOrEqual(5_000 * 640 + 4 * long.length)
    // Properties of persons have the same room: what is beyond it is not stored, and said.
    const { persons } = await state(world)
    expect(persons.map(({ ids }) => ids?.length)).toEqual(numbers.map(() => 2))
    const left = persons.filter(({ properties }) => !('r' in properties)).length
    expect([left > 0, world.pipeline.warnings().map(({ type }) => type)]).toEqual([true, ['person_properties_too_large']])
    await world.close()
  })

  test('a small one, with any events: identities stay consistent', async () => {
    await assertGenerated(
      fc.asyncProperty(
        fc.array(fc.record({ batch: fc.array(past, { minLength: 1, maxLength: 6 }), isPast: fc.boolean() }), {
          minLength: 2,
          maxLength: 8,
        }),
        fc.integer({ min: 0, max: 2_500 }),
        async (steps, pastFamily) => {
          const world = await openWorld({ limits: { pastFamily } })
          let n = 0
          for (const { batch, isPast } of steps)
            await world.pipeline.ingest({ historical_migration: isPast, batch: batch.map((each) => asEvent(each, n++)) })
          const { persons, events } = await state(world)
          const ids = persons.flatMap((person) => person.ids ?? [])
          expect(new Set(ids).size).toBe(ids.length)
          expect(new Set(persons.map(({ uuid }) => uuid)).size).toBe(persons.length)
          const [{ n: stored }] = (await world.rows('SELECT count(*)::INTEGER AS n FROM events')) as [{ n: number }]
          expect(events).toHaveLength(stored)
          expect(Number((await families(world))[0]!.longest ?? 0)).toBeLessThanOrEqual(pastFamily)
          await world.close()
        },
      ),
      { numRuns: 25 },
    )
  })
})

test('identities stay consistent when mixed with live events and changes by users', async () => {
  const change = fc.record({
    change: fc.constantFrom('write', 'merge', 'split', 'delete', 'delete events'),
    of: fc.nat(5),
    other: fc.nat(5),
  })
  const step = fc.record({
    batch: fc.array(past, { minLength: 1, maxLength: 4 }),
    isPast: fc.boolean(),
    restart: fc.boolean(),
    changes: fc.array(change, { maxLength: 2 }),
  })
  await assertGenerated(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
      const world = await openWorld()
      let n = 0
      for (const { batch, isPast, restart, changes } of steps) {
        await world.pipeline.ingest({ historical_migration: isPast, batch: batch.map((each) => asEvent(each, n++)) })
        for (const { change, of, other } of changes) {
          const people = (await state(world)).persons.filter(({ has_record }) => has_record)
          if (people.length === 0) continue
          const [person, source] = [of, other].map((at) => people[at % people.length]!.uuid as string) as [string, string]
          const ids = [people[of % people.length]!.ids![0] as string]
          const sent: Record<string, PersonChange> = {
            write: { change: 'write', person, set: { a: of }, unset: ['b'] },
            merge: { change: 'merge', person, sources: [source] },
            split: { change: 'split', person, ids: other > 2 ? ids : null },
            delete: { change: 'delete', person, withEvents: false },
            'delete events': { change: 'delete', person, withEvents: true },
          }
          expect(await world.pipeline.changePersons([sent[change]!])).toEqual([true])
        }
        if (restart) await world.restart()
      }
      const before = await state(world)
      const accepted = await world.rows('SELECT count(*)::INTEGER AS n FROM events')
      const uuids = before.persons.map((person) => person.uuid)
      expect(new Set(uuids).size, 'a uuid is that of one person').toBe(uuids.length)
      expect(before.events).toHaveLength(accepted[0]!.n as number)
      const ids = before.persons.flatMap((person) => person.ids ?? [])
      expect(new Set(ids).size).toBe(ids.length)
      expect(await world.rows('SELECT count(*)::INTEGER AS n, count(DISTINCT distinct_id)::INTEGER AS ids FROM distinct_ids')).toEqual([
        { n: ids.length, ids: ids.length },
      ])
      await world.rebuild()
      expect(await state(world)).toEqual(before)
      await world.close()
    }),
    { numRuns: 12 },
  )
})

test.each<[string, [at: number, writes: Partial<Parameters<typeof writeInThePast>[1]>][], object]>([
  [
    'the latest $set',
    [
      [5, { set: { a: 1 } }],
      [3, { set: { a: 2 } }],
    ],
    { a: 1 },
  ],
  [
    'the earliest $set_once',
    [
      [5, { setOnce: { a: 1 } }],
      [3, { setOnce: { a: 2 } }],
    ],
    { a: 2 },
  ],
  [
    'any $set before a $set_once',
    [
      [1, { setOnce: { a: 1 } }],
      [3, { set: { a: 2 } }],
      [2, { setOnce: { a: 3 } }],
    ],
    { a: 2 },
  ],
  [
    'a later $unset',
    [
      [5, { unset: ['a'] }],
      [3, { set: { a: 2 } }],
    ],
    {},
  ],
  [
    'a $set after an $unset',
    [
      [5, { set: { a: 1 } }],
      [3, { unset: ['a'] }],
    ],
    { a: 1 },
  ],
  [
    'a $set_once after an $unset',
    [
      [5, { setOnce: { a: 1 } }],
      [3, { unset: ['a'] }],
      [1, { set: { a: 9 } }],
    ],
    { a: 1 },
  ],
])('of properties of the past counts %s', (_, writes, expected) => {
  for (const order of [writes, [...writes].reverse()]) {
    const person: PastState = { properties: {}, times: null }
    for (const [at, one] of order) writeInThePast(person, { set: null, setOnce: null, unset: null, ...one }, at, 0)
    expect(person.properties).toEqual(expected)
  }
})

test('property times are read as they were written, also in the format of older versions', () => {
  const at = fc.integer({ min: -3, max: 3 })
  const time = fc.record(
    { written: at, isUnset: fc.constant(true as const), once: fc.record({ at, value: fc.jsonValue() }) },
    { requiredKeys: [] },
  )
  const times = fc.dictionary(
    fc.oneof(fc.constantFrom('constructor', '1', ''), fc.string()).filter((key) => key !== '__proto__'),
    time.filter(({ written, isUnset, once }) => (isUnset ? written !== undefined : written !== undefined || once !== undefined)),
  )
  assertGenerated(
    fc.property(times, (one) => {
      const byProperty = JSON.stringify(one)
      const read = readTimes(byProperty)
      const flat = (times: typeof read) =>
        Object.entries(times).map(([key, { once, ...time }]) => [
          key,
          { ...time, ...(once && { once: { at: once.at, value: once.values[key] } }) },
        ])
      expect(Object.fromEntries(flat(read))).toEqual(JSON.parse(byProperty))
      expect(Object.fromEntries(flat(readTimes(timesText(read))))).toEqual(JSON.parse(byProperty))
    }),
  )
})
