import { describe, expect, test } from 'vitest'
import { slotCount } from '../../../src/events/ingestion/properties/property-keys.ts'
import { valueTypeOf } from '../../../src/events/ingestion/properties/property-types.ts'
import { valueTypes } from '../../../src/language/catalog/property-counts.ts'
import { openWorld, type World } from './harness.ts'

test.each<[unknown, string | undefined]>([
  [1, 'Numeric'],
  [-0.5, 'Numeric'],
  ['1', 'NumericString'],
  ['01234', 'NumericString'],
  ['-1.5e3', 'NumericString'],
  ['.5', 'NumericString'],
  ['+5', 'NumericString'],
  [' 1', 'String'],
  ['1e999', 'String'],
  ['1_000', 'String'],
  ['0x10', 'String'],
  ['nan', 'String'],
  ['Infinity', 'String'],
  ['-', 'String'],
  ['', 'String'],
  ['true', 'String'],
  [true, 'Boolean'],
  ['2026-01-05', 'DateTime'],
  ['2026-01-05T10:00:00Z', 'DateTime'],
  ['2026-01-05 10:00:00.123456+02:00', 'DateTime'],
  ['2026-01-05 and more', 'String'],
  ['2026-99-99', 'String'],
  ['2026-01-05T25:00:00Z', 'String'],
  ['1234-5678-9012', 'String'],
  [new Date('2026-01-05'), 'DateTime'],
  [Object('7'), 'NumericString'],
  [Object(7), 'Numeric'],
  [{ toJSON: () => 1.5 }, 'Numeric'],
  [[1], 'Other'],
  [{}, 'Other'],
  [null, undefined],
  [undefined, undefined],
  [Number.NaN, undefined],
])('%j counts as %s', (value, type) => expect(valueTypes[valueTypeOf(value)]).toBe(type))

const many = (count: number, properties: (i: number) => object) =>
  Array.from({ length: count }, (_, i) => ({ event: 'e', distinct_id: `d${i % 3}`, timestamp: '2026-01-10', properties: properties(i) }))

const key = async (world: World, name: string, scope = 'event') => {
  const [row] = await world.rows(
    `SELECT property_type AS type, slots, ready_slots AS ready, count_numeric::INTEGER AS n, count_string::INTEGER AS s, count_boolean::INTEGER AS b,
       count_datetime::INTEGER AS t, count_other::INTEGER AS o, count_numeric_string::INTEGER AS ns FROM property_keys WHERE scope = '${scope}' AND name = '${name.replaceAll("'", "''")}'`,
  )
  return row
}

/** Waits until every assigned slot is filled. */
async function filled(world: World): Promise<void> {
  for (;;) {
    const [row] = await world.rows('SELECT count(*)::INTEGER AS n FROM property_keys WHERE slots <> ready_slots')
    if (row!.n === 0) return
    await new Promise(setImmediate)
  }
}

describe('definitions', () => {
  test('count values by their type', async () => {
    const world = await openWorld()
    await world.pipeline.ingest(many(7, (i) => ({ mixed: [1, 'x', true, '2026-01-01', [1], null, '1'][i], always: i })))
    expect(await key(world, 'mixed')).toEqual({ type: null, slots: '', ready: '', n: 1, s: 1, b: 1, t: 1, o: 1, ns: 1 })
    expect(await key(world, 'always')).toMatchObject({ type: null, n: 7 })
    await world.close()
  })

  test('do not count duplicates and dropped events', async () => {
    const world = await openWorld()
    const event = { event: 'e', distinct_id: 'd', uuid: '018a0000-0000-7000-8000-000000000001', properties: { a: 1 } }
    await world.pipeline.ingest([event, event, { ...event, event: '$performance_event' }])
    expect(await key(world, 'a')).toMatchObject({ n: 1 })
    await world.close()
  })

  test('types do not depend on the number of values', async () => {
    const world = await openWorld()
    for (const count of [slotCount - 1, 1, 1, 3000]) {
      await world.pipeline.ingest(many(count, (i) => ({ n: i, s: `x${i}`, b: true })))
      for (const name of ['n', 's', 'b']) expect(await key(world, name)).toMatchObject({ type: null })
    }
    await world.close()
  })

  test('are the same after a restart, and in a store that is rebuilt from the log', async () => {
    const world = await openWorld({ limits: { groupRows: 300 } })
    for (let i = 0; i < 5; i++) await world.pipeline.ingest(many(250, (k) => ({ a: k, b: k % 2 ? 'x' : 1 })))
    const keys = 'SELECT * EXCLUDE ready_slots FROM property_keys ORDER BY ALL'
    const before = await world.rows(keys)
    expect(before).toHaveLength(2)
    await world.restart()
    expect(await world.rows(keys)).toEqual(before)
    await world.rebuild()
    expect(await world.rows(keys)).toEqual(before)
    await world.close()
  })

  test('that were declared apply to all values, until they are declared again', async () => {
    const world = await openWorld()
    await world.pipeline.definePropertyTypes([
      { name: 'price', property_type: 'Numeric' },
      { type: 'person', name: 'joined', property_type: 'DateTime' },
      { type: 'group', group_type_index: 2, name: 'size', property_type: 'Numeric' },
    ])
    await world.pipeline.ingest(many(1200, () => ({ price: 'text', $set: { joined: '2026-01-01' } })))
    expect(await key(world, 'price')).toMatchObject({ type: 'Numeric', slots: 'n1', s: 1200 })
    expect(await key(world, 'joined', 'person')).toMatchObject({ type: 'DateTime', slots: 's1' })
    expect(await key(world, 'size', 'group_2')).toMatchObject({ type: 'Numeric' })
    await world.pipeline.definePropertyTypes([{ name: 'price', property_type: 'String' }])
    expect(await key(world, 'price')).toMatchObject({ type: 'String', slots: 'n1 s1' })
    await world.close()
  })

  test.each([
    [[{ type: 'session', name: 'a', property_type: 'Numeric' }], '0__type'],
    [[{ type: 'group', name: 'a', property_type: 'Numeric' }], '0__type'],
    [[{ name: 'a', property_type: 'Integer' }], '0__property_type'],
    [[{ name: '', property_type: 'Numeric' }], '0__name'],
    ['x', null],
  ])('%j is refused', async (rows, attr) => {
    const world = await openWorld()
    await expect(world.pipeline.definePropertyTypes(rows)).rejects.toMatchObject({ code: 'validation-failed', data: { attr } })
    await world.close()
  })

  test('100,000 keys in one event are dropped by their size, many small ones by the limit of keys', async () => {
    const world = await openWorld()
    const wide = (count: number, name: string) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`${name}${i}`, 1]))
    const answer = await world.pipeline.ingest([
      { event: 'e', distinct_id: 'd', properties: wide(100_000, 'some_key_') },
      { event: 'e', distinct_id: 'd', properties: wide(30_000, 'k') },
    ])
    expect(answer).toMatchObject({ accepted: 1, dropped: 1, warnings: [{ type: 'message_size_too_large' }] })
    expect(await world.rows('SELECT count(*)::INTEGER AS n FROM property_keys')).toEqual([{ n: 20_000 }])
    expect(world.pipeline.warnings().map(({ type }) => type)).toEqual(['message_size_too_large', 'too_many_property_keys'])
    await world.close()
  })
})

describe('slots', () => {
  const nasty = [
    'text',
    '',
    'null',
    'quote " and \\ and \u{1F600}',
    'line\nbreak\u0001',
    '2026-01-05T10:00:00+02:00',
    1,
    -0,
    1.5,
    1e21,
    1e-7,
    123456789012345680000,
    0.1 + 0.2,
    true,
    false,
    null,
    undefined,
    [],
    [1, 'a', null],
    {},
    { a: { b: 1 } },
    'NaN',
    '12',
    ' 12 ',
    '1e5',
  ]

  test.each(['plain', 'with space', 'quo"te', "apo'strophe", 'sla/sh', 'til~de', '$dollar', 'dot.ted', '', 'ключ', '*', '[0]'])(
    'hold what reading the JSON of %j says, for old rows and for new ones',
    async (name) => {
      const world = await openWorld()
      await world.pipeline.ingest(many(slotCount - nasty.length, (i) => ({ [name]: nasty[i % nasty.length], other: i })))
      await world.restart()
      await world.pipeline.ingest(many(500, (i) => ({ [name]: nasty[i % nasty.length] })))
      await filled(world)
      expect(await key(world, name)).toMatchObject({ type: null, slots: 's1', ready: 's1' })
      const pointer = `/${name.replaceAll('~', '~0').replaceAll('/', '~1').replaceAll("'", "''")}`
      expect(
        await world.rows(`SELECT s1, json_extract_string(properties, '${pointer}') AS read FROM events WHERE s1 IS DISTINCT FROM read`),
      ).toEqual([])
      const [counts] = await world.rows('SELECT count(s1)::INTEGER AS filled, count(*)::INTEGER AS all FROM events')
      expect(counts!.filled).toBeGreaterThan((counts!.all as number) * 0.9)
      await world.close()
    },
  )

  test('of numbers and booleans are empty for other values, and never fail', async () => {
    const world = await openWorld()
    await world.pipeline.definePropertyTypes([
      { name: 'n', property_type: 'Numeric' },
      { name: 'b', property_type: 'Boolean' },
    ])
    await world.pipeline.ingest(many(1100, (i) => ({ n: nasty[i % nasty.length], b: nasty[i % nasty.length] })))
    await filled(world)
    const read = async (column: string, value: unknown) =>
      (await world.rows(`SELECT DISTINCT ${column} AS v FROM events WHERE properties ->> '$.n' = '${String(value)}'`)).map(({ v }) => v)
    expect(await read('n1', '1.5')).toEqual([1.5])
    expect(await read('n1', '12')).toEqual([12])
    for (const text of ['text', ' 12 ', 'NaN', '', 'true']) expect(await read('n1', text)).toEqual([null])
    expect(await read('b1', 'true')).toEqual([true])
    expect(await read('b1', '12')).toEqual([null])
    await world.close()
  })

  test.each<[what: string, values: (i: number) => unknown, slots: string]>([
    ['numbers', (i) => i, 'n1'],
    ['truth values', (i) => i % 2 === 0, 'b1'],
    ['texts', (i) => `x${i}`, 's1'],
    ['times', () => '2026-01-01', 's1'],
    ['texts that are numbers', (i) => `${i}`, 's1'],
    ['lists', () => [1], ''],
    ['mostly numbers', (i) => (i % 3 ? i : 'x'), 's1 n1'],
    ['mostly texts', (i) => (i % 3 ? 'x' : i), 's1'],
    ['texts after numbers', (i) => (i < 1050 ? i : 'x'), 'n1 s1'],
    ['numbers after truth values', (i) => (i < 1050 ? true : i), 'b1 s1'],
  ])('of %s', async (_, values, slots) => {
    const world = await openWorld({ limits: { groupRows: 400 } })
    for (let i = 0; i < 3; i++) await world.pipeline.ingest(many(400, (k) => ({ a: values(i * 400 + k) })))
    expect(await key(world, 'a')).toMatchObject({ slots })
    await filled(world)
    for (const slot of slots.split(' ').filter(Boolean)) {
      const text = "json_extract_string(properties, '/a')"
      const value = { s: text, n: `TRY_CAST(${text} AS DOUBLE)`, b: `TRY_CAST(${text} AS BOOLEAN)` }[slot[0] as 's']
      expect(await world.rows(`SELECT ${slot}, ${text} FROM events WHERE ${slot} IS DISTINCT FROM ${value}`)).toEqual([])
    }
    await world.close()
  })

  test('of persons follow their properties', async () => {
    const world = await openWorld()
    await world.pipeline.ingest(many(1000, (i) => ({ $set: { plan: `p${i}` } })))
    await filled(world)
    await world.pipeline.ingest([{ event: 'e', distinct_id: 'd0', properties: { $set: { plan: 'new' } } }])
    expect(await key(world, 'plan', 'person')).toMatchObject({ slots: 's1', ready: 's1' })
    expect(await world.rows(`SELECT s1, properties ->> '$.plan' AS plan FROM persons WHERE s1 IS DISTINCT FROM plan`)).toEqual([])
    expect(await world.rows('SELECT count(s1)::INTEGER AS n FROM persons')).toEqual([{ n: 3 }])
    await world.close()
  })

  test.each([1, 4])('are filled although memory is too little %i times, which is said once', async (times) => {
    const world = await openWorld()
    await world.pipeline.ingest(many(slotCount - 1, (i) => ({ a: `x${i}` })))
    await world.pipeline.caughtUp()
    world.shortSteps = times
    await world.pipeline.ingest(many(1000, (i) => ({ a: `x${i}` })))
    const said: Error[] = []
    const ready = async () => {
      said.push(...(world.errors.splice(0) as Error[]))
      return (await key(world, 'a'))?.ready
    }
    await expect.poll(ready).toBe('s1')
    const [error, ...others] = said
    expect(others).toEqual([])
    expect(error!.message).toBe(
      'Not enough memory to fill new property columns in stored events and persons. Queries read the JSON until then. It is retried.',
    )
    expect(error!.cause).toMatchObject({ message: expect.stringContaining('Out of Memory Error') })
    expect(await world.rows("SELECT count(*)::INTEGER AS n FROM events WHERE s1 = (properties ->> '$.a')")).toEqual([
      { n: 1000 + slotCount - 1 },
    ])
    await world.close()
  })

  test('more keys than slots are only slower', async () => {
    const world = await openWorld()
    await world.pipeline.ingest(many(1000, (i) => Object.fromEntries(Array.from({ length: 40 }, (_, k) => [`k${k}`, `v${i}`]))))
    expect(
      await world.rows(
        "SELECT count(DISTINCT slots)::INTEGER AS slots, count(*) FILTER (slots = '')::INTEGER AS without, count(*)::INTEGER AS keys FROM property_keys",
      ),
    ).toEqual([{ slots: 33, without: 8, keys: 40 }])
    await world.close()
  })

  test('of other keys are not assigned to keys without one from an older store', async () => {
    const world = await openWorld()
    await world.pipeline.ingest(many(1000, (i) => ({ a: `${i}`, b: `x${i}` })))
    await filled(world)
    await world.rows("UPDATE property_keys SET slots = CASE name WHEN 'a' THEN '' ELSE 's1' END, ready_slots = ''")
    await world.restart()
    await world.pipeline.ingest(many(10, (i) => ({ a: `${i}`, b: `x${i}` })))
    await filled(world)
    expect([await key(world, 'a'), await key(world, 'b')]).toMatchObject([{ slots: 's2' }, { slots: 's1' }])
    expect(
      await world.rows(
        "SELECT s1, s2 FROM events WHERE s1 IS DISTINCT FROM (properties ->> '$.b') OR s2 IS DISTINCT FROM (properties ->> '$.a')",
      ),
    ).toEqual([])
    await world.close()
  })

  test('are added for a declared type, beside the existing ones', async () => {
    const world = await openWorld()
    await world.pipeline.ingest(many(1000, (i) => ({ a: `${i}` })))
    await filled(world)
    await world.pipeline.definePropertyTypes([{ name: 'a', property_type: 'Numeric' }])
    await filled(world)
    expect(await key(world, 'a')).toMatchObject({ type: 'Numeric', slots: 's1 n1', ready: 's1 n1' })
    expect(await world.rows('SELECT count(n1)::INTEGER AS n, max(n1) AS top FROM events')).toEqual([{ n: 1000, top: 999 }])
    await world.restart()
    await world.pipeline.ingest(many(1000, (i) => ({ b: `${i}` })))
    expect(await key(world, 'b')).toMatchObject({ slots: 's2' })
    await world.close()
  })
})

test('fields beside the properties of an event have the same effect as inside them', async () => {
  const world = await openWorld()
  const send = (event: object) => world.pipeline.ingest({ batch: [{ event: 'e', distinct_id: 'u', ...event }] })
  await send({ $set: { a: 1, b: 2, c: 3, d: 4 } })
  const { warnings } = await send({ $unset: ['a'], properties: { $unset: ['b'] } })
  await send({ $unset: { c: 1 } })
  await send({ elements: [{ tag_name: 'button', text: 'Buy' }] })
  await world.pipeline.caughtUp()
  expect(warnings).toEqual([])
  const facts = async () => [
    await world.rows('SELECT json_keys(properties) AS keys FROM persons'),
    await world.rows("SELECT elements_chain FROM events WHERE elements_chain <> ''"),
  ]
  const before = await facts()
  expect(before).toEqual([[{ keys: ['$creator_event_uuid', 'd'] }], [{ elements_chain: expect.stringContaining('button') }]])
  await world.rebuild()
  expect(await facts()).toEqual(before)
  await world.close()
})
