import { expect, test } from 'vitest'
import { random } from '../../../bench/random.ts'
import { WaymarkError } from '../../../src/errors/errors.ts'
import { DailySalts } from '../../../src/events/ingestion/cookieless/salts.ts'
import type { EventSource } from '../../../src/events/ingestion/decoding/event-source.ts'
import type { BatchFacts } from '../../../src/events/ingestion/intake.ts'
import { openWorld, type World } from './harness.ts'

// Small requests of one turn of the event loop become one batch of the log. Each must be treated as if it had come alone.

interface Sent {
  readonly events: readonly unknown[]
  readonly facts: BatchFacts
}

const uuid = (n: number) => `018a0000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`
const sourceOf = (events: readonly unknown[]): EventSource => ({
  count: events.length,
  bytes: JSON.stringify(events).length,
  [Symbol.iterator]: () => events[Symbol.iterator](),
})
const send = (world: World, { events, facts }: Sent) => world.pipeline.ingestEvents(sourceOf(events), facts)

/** The answer, or the refusal, without what is only in one of the worlds. */
const outcomeOf = async (sending: Promise<unknown>) => {
  try {
    return await sending
  } catch (error) {
    const { code, data } = error as WaymarkError
    return { code, data }
  }
}

/** What arrives together: up to 60 requests. A large one comes alone, as its preparation may be overtaken by small ones. */
function turnsOf(sent: readonly Sent[]): Sent[][] {
  const turns: Sent[][] = [[]]
  for (const one of sent) {
    const isLarge = sourceOf(one.events).bytes > 1 << 16
    if (isLarge || turns.at(-1)!.length === 60) turns.push([])
    turns.at(-1)!.push(one)
    if (isLarge) turns.push([])
  }
  return turns
}

const uuidsOf = (world: World) => world.log.batches.flatMap(({ uuids }) => uuids)

const drawSent = (seed: number, count: number): Sent[] => {
  const draw = random(seed)
  const pick = <T>(values: readonly T[]): T => values[Math.floor(draw() * values.length)]!
  let uuids = 0
  const drawEvent = () => ({
    event: pick(['view', 'view', 'buy', '$identify', '$create_alias', 'x'.repeat(300)]),
    distinct_id: pick(['ada', 'bob', 'eve', '$posthog_cookieless']),
    uuid: uuid(draw() < 0.1 && uuids > 0 ? Math.floor(draw() * uuids) : uuids++),
    properties: {
      n: uuids,
      ...pick([{}, { $set: { plan: uuids } }, { $browser: 'Firefox', $current_url: 'https://a.example/' }, { $set: 3 }, { alias: 'bob' }]),
      ...(draw() < 0.2 && { $cookieless_mode: true, $host: 'a.example', $raw_user_agent: 'Firefox' }),
    },
    ...pick([{}, { timestamp: '2026-01-14T10:00:00Z' }, { timestamp: 'never' }, { offset: 5_000 }, { timestamp: '2026-01-19T10:00:00Z' }]),
    ...pick([{}, {}, {}, { sent_at: '2026-01-14T11:00:00Z' }, { sent_at: 'noon' }, { sent_at: '' }, { odd_field: 1 }]),
  })
  const wrong = [
    { distinct_id: 'ada' },
    { event: 'view' },
    { event: 'view', distinct_id: 'ada', uuid: 'none' },
    { event: 'view', distinct_id: 'ada', properties: [1] },
    { event: 'view', distinct_id: 'ada', properties: { deep: JSON.parse(`${'['.repeat(300)}${']'.repeat(300)}`) as unknown } },
    'text',
  ]
  return Array.from({ length: count }, () => {
    const events: unknown[] = Array.from({ length: pick([1, 1, 1, 1, 2, 5, 0]) }, drawEvent)
    if (draw() < 0.15) events.splice(Math.floor(draw() * (events.length + 1)), 0, pick(wrong))
    if (draw() < 0.02) events.push({ ...drawEvent(), properties: { large: 'y'.repeat(1_000_001) } })
    const facts: BatchFacts = {
      sentAt: pick([undefined, null, '2026-01-15T11:59:00Z', 'noon', 1_768_478_400_000, '2026-01-15T12:00:30+02:00', '']),
      ip: pick([null, '192.0.2.1', '192.0.2.7']),
      sender: { address: pick([null, '192.0.2.1']), claimedAddress: '192.0.2.9', userAgent: pick(['Firefox', null]) },
      ...(draw() < 0.1 && { countsDuplicates: true }),
      ...(draw() < 0.1 && { strangeFields: [{ field: 'odd' }] }),
      ...(draw() < 0.2 && { onRefused: () => undefined }),
    }
    return { events, facts }
  })
}

const stored = (world: World) =>
  world.rows(`SELECT uuid::VARCHAR AS uuid, name, distinct_id, timestamp::VARCHAR AS at, created_at::VARCHAR AS created_at, properties, elements_chain
              FROM events JOIN event_names USING (event_id) ORDER BY uuid`)

for (const seed of [1, 2, 3, 4])
  test(`requests of one turn are treated as if each had come alone, also when the store is made again from the log (seed ${seed})`, async () => {
    const sent = drawSent(seed, 300)
    const salts = new DailySalts(() => new Date('2026-01-15T12:00:00Z'))
    const [together, alone] = [await openWorld({ salts }), await openWorld({ salts })]
    try {
      const expected: unknown[] = []
      for (const one of sent) expected.push(await outcomeOf(send(alone, one)))
      const found: unknown[] = []
      for (const turn of turnsOf(sent)) found.push(...(await Promise.all(turn.map((one) => outcomeOf(send(together, one))))))
      expect(found).toEqual(expected)
      expect(found.filter((one) => (one as { code?: string }).code !== undefined).length).toBeGreaterThan(10)
      expect(together.log.batches.length).toBeLessThan(alone.log.batches.length / 2)
      expect(uuidsOf(together)).toEqual(uuidsOf(alone))
      const rows = await stored(alone)
      expect(rows.length).toBeGreaterThan(100)
      expect(await stored(together)).toEqual(rows)
      const warnings = together.pipeline.warnings()
      await together.rebuild()
      expect(await stored(together)).toEqual(rows)
      expect(together.pipeline.warnings().map(({ type, count }) => [type, count])).toEqual(warnings.map(({ type, count }) => [type, count]))
    } finally {
      await together.close()
      await alone.close()
    }
  })

const events = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({ event: 'view', distinct_id: 'ada', uuid: uuid(from + i), properties: {} }))
test('what is written at once does not overtake what waits for the end of the turn', async () => {
  const world = await openWorld()
  const sending = [
    send(world, { events: events(0, 1), facts: {} }),
    world.pipeline.ingest({ batch: events(1, 1) }),
    send(world, { events: events(2, 2), facts: {} }),
    world.pipeline.definePropertyTypes([{ type: 'event', name: 'price', property_type: 'Numeric' }]),
    send(world, { events: events(4, 1), facts: {} }),
  ]
  await Promise.all(sending)
  expect(world.log.batches.map(({ kind, uuids }) => [kind, uuids.length])).toEqual([
    ['event', 1],
    ['event', 1],
    ['event', 2],
    ['property_types', 1],
    ['event', 1],
  ])
  expect(uuidsOf(world).filter((one) => one.startsWith('018a'))).toEqual([0, 1, 2, 3, 4].map(uuid))
  await world.close()
})

test('a batch holds a limited number of events', async () => {
  const world = await openWorld()
  await Promise.all(Array.from({ length: 50 }, (_, i) => send(world, { events: events(i * 100, 100), facts: {} })))
  expect(world.log.batches.map(({ uuids }) => uuids.length)).toEqual(Array.from({ length: 10 }, () => 500))
  await world.close()
})

test('requests of any size never make a batch larger than that, and stay in order', async () => {
  const world = await openWorld()
  const draw = random(5)
  let from = 0
  const sending = Array.from({ length: 80 }, () => {
    const count = 1 + Math.floor(draw() * 100)
    from += count
    return send(world, { events: events(from - count, count), facts: {} })
  })
  await Promise.all(sending)
  const sizes = world.log.batches.map(({ uuids }) => uuids.length)
  expect(Math.max(...sizes)).toBeLessThanOrEqual(500)
  expect(Math.min(...sizes.slice(0, -1))).toBeGreaterThan(400) // the next request did not fit
  expect(uuidsOf(world)).toEqual(Array.from({ length: from }, (_, i) => uuid(i)))
  await world.close()
})

test('what waits for the end of the turn is still taken when the project is closed, and nothing after that', async () => {
  const world = await openWorld()
  const before = send(world, { events: events(0, 1), facts: {} })
  const closing = world.pipeline.close()
  await expect(send(world, { events: events(1, 1), facts: {} })).rejects.toMatchObject({ code: 'closed' })
  expect(await before).toMatchObject({ accepted: 1 })
  await closing
  expect(uuidsOf(world)).toEqual([uuid(0)])
})

test('if the log refuses the batch, each of its requests is refused, but an invalid one for its own reason', async () => {
  const world = await openWorld()
  world.log.failure = new WaymarkError('disk-full', { free: 1, floor: 2 })
  const outcomes = await Promise.all(
    [events(0, 1), [{ event: 'view' }], [], events(1, 2)].map((one) => outcomeOf(send(world, { events: one, facts: {} }))),
  )
  expect(outcomes).toMatchObject([{ code: 'disk-full' }, { code: 'bad-event' }, { accepted: 0 }, { code: 'disk-full' }])
  world.log.failure = null
  expect(await send(world, { events: events(0, 1), facts: {} })).toMatchObject({ accepted: 1 })
  await world.close()
})
