import { describe, expect, test } from 'vitest'
import { settlingCount } from '../../src/ingestion/property-keys.ts'
import { valueTypeOf, valueTypes } from '../../src/ingestion/property-types.ts'
import { openWorld, type World } from './harness.ts'

test.each<[unknown, string | undefined]>([
  [1, 'Numeric'],
  [-0.5, 'Numeric'],
  ['1', 'String'],
  ['01234', 'String'],
  ['true', 'String'],
  [true, 'Boolean'],
  ['2026-01-05', 'DateTime'],
  ['2026-01-05T10:00:00Z', 'DateTime'],
  ['2026-01-05 10:00:00.123456+02:00', 'DateTime'],
  ['2026-01-05 and more', 'String'],
  ['2026-99-99', 'String'],
  ['1234-5678-9012', 'String'],
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
    `SELECT property_type AS type, is_defined AS defined, slot, slot_ready AS ready, count_numeric::INTEGER AS n, count_string::INTEGER AS s, count_boolean::INTEGER AS b,
       count_datetime::INTEGER AS t, count_other::INTEGER AS o FROM property_keys WHERE scope = '${scope}' AND name = '${name.replaceAll("'", "''")}'`,
  )
  return row
}

/** Waits until every slot that was given out is filled. */
async function filled(world: World): Promise<void> {
  for (;;) {
    const [row] = await world.rows('SELECT count(*)::INTEGER AS n FROM property_keys WHERE slot IS NOT NULL AND NOT slot_ready')
    if (row!.n === 0) return
    await new Promise(setImmediate)
  }
}

describe('definitions', () => {
  test('count values by their type', async () => {
    const world = await openWorld()
    await world.pipeline.ingest(many(6, (i) => ({ mixed: [1, 'x', true, '2026-01-01', [1], null][i], always: i })))
    expect(await key(world, 'mixed')).toEqual({ type: null, defined: false, slot: null, ready: false, n: 1, s: 1, b: 1, t: 1, o: 1 })
    expect(await key(world, 'always')).toMatchObject({ type: null, n: 6 })
    await world.close()
  })

  test('say nothing of duplicates and of dropped events', async () => {
    const world = await openWorld()
    const event = { event: 'e', distinct_id: 'd', uuid: '018a0000-0000-7000-8000-000000000001', properties: { a: 1 } }
    await world.pipeline.ingest([event, event, { ...event, event: '$performance_event' }])
    expect(await key(world, 'a')).toMatchObject({ n: 1 })
    await world.close()
  })

  test('settle after a thousand values of one type, and stay so', async () => {
    const world = await openWorld()
    await world.pipeline.ingest(many(settlingCount - 1, (i) => ({ n: i, s: `x${i}`, stray: i === 500 ? 'x' : i })))
    expect(await key(world, 'n')).toMatchObject({ type: null, slot: null })
    await world.pipeline.ingest(many(1, (i) => ({ n: i, s: 'y', stray: i })))
    expect(await key(world, 'n')).toMatchObject({ type: 'Numeric', slot: 'n1' })
    expect(await key(world, 's')).toMatchObject({ type: 'String', slot: 's1' })
    expect(await key(world, 'stray')).toMatchObject({ type: null, slot: 's2' })
    await world.pipeline.ingest(many(2000, () => ({ n: 'not a number', s: 5 })))
    expect(await key(world, 'n')).toMatchObject({ type: 'Numeric', slot: 'n1' })
    await world.close()
  })

  test('are the same after a restart in between and in a store made from the log again', async () => {
    const world = await openWorld({ limits: { groupRows: 300 } })
    for (let i = 0; i < 5; i++) await world.pipeline.ingest(many(250, (k) => ({ a: k, b: k % 2 ? 'x' : 1 })))
    const before = await world.rows('SELECT * EXCLUDE slot_ready FROM property_keys ORDER BY ALL')
    expect(before).toHaveLength(2)
    await world.restart()
    expect(await world.rows('SELECT * EXCLUDE slot_ready FROM property_keys ORDER BY ALL')).toEqual(before)
    await world.rebuild()
    expect(await world.rows('SELECT * EXCLUDE slot_ready FROM property_keys ORDER BY ALL')).toEqual(before)
    await world.close()
  })

  test('said by somebody count from the first value, and are not overruled', async () => {
    const world = await openWorld()
    await world.pipeline.definePropertyTypes([
      { name: 'price', property_type: 'Numeric' },
      { type: 'person', name: 'joined', property_type: 'DateTime' },
      { type: 'group', group_type_index: 2, name: 'size', property_type: 'Numeric' },
    ])
    await world.pipeline.ingest(many(1200, () => ({ price: 'text', $set: { joined: '2026-01-01' } })))
    expect(await key(world, 'price')).toMatchObject({ type: 'Numeric', defined: true, slot: 'n1', s: 1200 })
    expect(await key(world, 'joined', 'person')).toMatchObject({ type: 'DateTime', defined: true, slot: 't1' })
    expect(await key(world, 'size', 'group_2')).toMatchObject({ type: 'Numeric', defined: true })
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
      await world.pipeline.ingest(many(settlingCount - nasty.length, (i) => ({ [name]: nasty[i % nasty.length], other: i })))
      await world.restart()
      await world.pipeline.ingest(many(500, (i) => ({ [name]: nasty[i % nasty.length] })))
      await filled(world)
      expect(await key(world, name)).toMatchObject({ type: null, slot: 's1', ready: true })
      const pointer = `/${name.replaceAll('~', '~0').replaceAll('/', '~1').replaceAll("'", "''")}`
      expect(
        await world.rows(`SELECT s1, json_extract_string(properties, '${pointer}') AS read FROM events WHERE s1 IS DISTINCT FROM read`),
      ).toEqual([])
      const [counts] = await world.rows('SELECT count(s1)::INTEGER AS filled, count(*)::INTEGER AS all FROM events')
      expect(counts!.filled).toBeGreaterThan((counts!.all as number) * 0.9)
      await world.close()
    },
  )

  test('of a type hold nothing where a value does not fit, and never fail', async () => {
    const world = await openWorld()
    await world.pipeline.definePropertyTypes([
      { name: 'n', property_type: 'Numeric' },
      { name: 'b', property_type: 'Boolean' },
      { name: 't', property_type: 'DateTime' },
    ])
    await world.pipeline.ingest(many(1100, (i) => ({ n: nasty[i % nasty.length], b: nasty[i % nasty.length], t: nasty[i % nasty.length] })))
    await filled(world)
    const read = async (column: string, value: unknown) =>
      (await world.rows(`SELECT DISTINCT ${column} AS v FROM events WHERE properties ->> '$.n' = '${String(value)}'`)).map(({ v }) => v)
    expect(await read('n1', '1.5')).toEqual([1.5])
    expect(await read('n1', '12')).toEqual([12])
    expect(await read('n1', 'text')).toEqual([null])
    expect(await read('b1', 'true')).toEqual([true])
    expect(await read('b1', '12')).toEqual([null])
    expect(await read('t1', '2026-01-05T10:00:00+02:00')).toEqual([new Date('2026-01-05T08:00:00Z')])
    expect(await read('t1', 'text')).toEqual([null])
    await world.close()
  })

  test('of persons follow their properties', async () => {
    const world = await openWorld()
    await world.pipeline.ingest(many(1000, (i) => ({ $set: { plan: `p${i}` } })))
    await filled(world)
    await world.pipeline.ingest([{ event: 'e', distinct_id: 'd0', properties: { $set: { plan: 'new' } } }])
    expect(await key(world, 'plan', 'person')).toMatchObject({ slot: 's1', ready: true })
    expect(await world.rows(`SELECT s1, properties ->> '$.plan' AS plan FROM persons WHERE s1 IS DISTINCT FROM plan`)).toEqual([])
    expect(await world.rows('SELECT count(s1)::INTEGER AS n FROM persons')).toEqual([{ n: 3 }])
    await world.close()
  })

  test('more keys than slots are only slower', async () => {
    const world = await openWorld()
    await world.pipeline.ingest(many(1000, (i) => Object.fromEntries(Array.from({ length: 40 }, (_, k) => [`k${k}`, `v${i}`]))))
    expect(
      await world.rows(
        'SELECT count(slot)::INTEGER AS slots, count(DISTINCT slot)::INTEGER AS different, count(*)::INTEGER AS keys FROM property_keys',
      ),
    ).toEqual([{ slots: 32, different: 32, keys: 40 }])
    await world.close()
  })

  test('change with the type, and the old one is not given out again', async () => {
    const world = await openWorld()
    await world.pipeline.ingest(many(1000, (i) => ({ a: `${i}` })))
    await filled(world)
    await world.pipeline.definePropertyTypes([{ name: 'a', property_type: 'Numeric' }])
    await filled(world)
    expect(await key(world, 'a')).toMatchObject({ type: 'Numeric', slot: 'n1', ready: true })
    expect(await world.rows('SELECT count(n1)::INTEGER AS n, max(n1) AS top FROM events')).toEqual([{ n: 1000, top: 999 }])
    await world.restart()
    await world.pipeline.ingest(many(1000, (i) => ({ b: `${i}` })))
    expect(await key(world, 'b')).toMatchObject({ slot: 's2' })
    await world.close()
  })
})
