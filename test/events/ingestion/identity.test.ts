import { describe, expect, test } from 'vitest'
import { personUuid } from '../../../src/events/ingestion/decoding/uuid.ts'
import { isIllegalId } from '../../../src/events/ingestion/persons/illegal-ids.ts'
import { mergeOutcome } from '../../../src/events/ingestion/persons/merge-outcome.ts'
import { nameUuid } from '../../../src/lib/ids/name-uuid.ts'
import { openWorld } from './harness.ts'
import { assertModelHolds, personOfEvents, persons, uuid } from './identity-commands.ts'

test.each([
  ['', true],
  ['   ', true],
  ['\t', true],
  ['anonymous', true],
  ['ANONYMOUS', true],
  ['"Guest"', true],
  ["'undefined'", true],
  ['distinct_id', true],
  ['Id', true],
  ['not_authenticated', true],
  ['TRUE', true],
  ['false', true],
  ['[object Object]', true],
  ['NaN', true],
  ['None', true],
  ['none', true],
  ['null', true],
  ['0', true],
  ['Nan', false],
  ['NULL', false],
  ['[Object object]', false],
  ['"null"', true],
  ['"[object Object]"', true],
  ["'NaN'", true],
  ['"Nan"', false],
  ['""', false],
  ['"guest\'', false],
  ['00', false],
  ['anonymous1', false],
  ['user@example.com', false],
])('the id %j is illegal: %s', (id, isIllegal) => expect(isIllegalId(id)).toBe(isIllegal))

test('the id of a person equals the one that other systems compute', () => {
  expect(personUuid(2, 'distinct-id')).toBe(nameUuid('932979b4-65c3-4424-8467-0b66ec27bc22', '2:distinct-id'))
  expect(personUuid(2, 'ä\u{1F600}')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})

test('a deletion takes the ids of persons who were merged after the person was read whole', async () => {
  const world = await openWorld()
  const at = { timestamp: '2026-01-10T00:00:00Z' }
  const send = (n: number, event: string, distinct_id: string, properties: object = {}) =>
    world.pipeline.ingest([{ event, distinct_id, uuid: uuid(n), properties, ...at }])
  const person = personUuid(1, 'f')
  await send(1, 'visit', 'a')
  await send(2, 'visit', 'b')
  await send(3, '$create_alias', 'a', { alias: 'b' }) // what b has is a's
  await send(4, 'visit', 'f')
  await send(9, 'visit', 'g')
  await send(10, '$create_alias', 'f', { alias: 'g' })
  await world.restart()
  await world.pipeline.changePersons([{ change: 'write', person, set: { plan: 'team' }, unset: [] }]) // reads all of f
  await send(5, '$identify', 'f', { $anon_distinct_id: 'a' })
  await world.pipeline.caughtUp()
  await send(6, '$merge_dangerously', 'f', { alias: 'a' })
  await world.pipeline.caughtUp()
  expect(await world.pipeline.changePersons([{ change: 'delete', person, withEvents: true }])).toEqual([true])
  await send(7, 'visit', 'a')
  await send(8, 'visit', 'b')
  await world.pipeline.caughtUp()
  expect(await personOfEvents(world)).toEqual({ [uuid(7)]: personUuid(1, 'a'), [uuid(8)]: personUuid(1, 'b') })
  await world.close()
})

test.each([
  ['the same id', { isSameId: true }, 'nothing'],
  ['the same illegal id', { isSameId: true, isLegal: false }, 'nothing'],
  ['an illegal id', { isLegal: false, target: 'anonymous', source: 'anonymous' }, 'illegal'],
  ['neither known', {}, 'create'],
  ['only the target known', { target: 'anonymous' }, 'add-source'],
  ['only the target known, identified', { target: 'identified' }, 'add-source'],
  ['only the source known', { source: 'anonymous' }, 'add-target'],
  ['only the source known, identified', { source: 'identified' }, 'add-target'],
  ['one person', { target: 'anonymous', source: 'anonymous', isSamePerson: true }, 'same'],
  ['one identified person', { target: 'identified', source: 'identified', isSamePerson: true }, 'same'],
  ['two persons', { target: 'anonymous', source: 'anonymous' }, 'merge'],
  ['two persons, the target identified', { target: 'identified', source: 'anonymous' }, 'merge'],
  ['two persons, the source identified', { target: 'anonymous', source: 'identified' }, 'refuse'],
  ['two identified persons', { target: 'identified', source: 'identified' }, 'refuse'],
  ['two identified persons by force', { target: 'identified', source: 'identified', isForced: true }, 'merge'],
] as const)('a merge of %s: %s', (_, merge, outcome) => {
  const nobody = { isSameId: false, isLegal: true, target: 'unknown', source: 'unknown', isSamePerson: false, isForced: false } as const
  expect(mergeOutcome({ ...nobody, ...merge })).toBe(outcome)
})

describe('people without a record', () => {
  test('have the id of the person that is created later', async () => {
    const world = await openWorld()
    await world.pipeline.ingest([
      { event: 'a', distinct_id: 'x', uuid: uuid(1), properties: { $process_person_profile: false, $set: { a: 1 } } },
    ])
    expect(await persons(world)).toEqual([])
    await world.pipeline.ingest([{ event: 'b', distinct_id: 'x', uuid: uuid(2), timestamp: '2026-01-10' }])
    expect(await persons(world)).toMatchObject([
      { uuid: personUuid(1, 'x'), ids: ['x'], properties: { $creator_event_uuid: uuid(2) }, version: 0 },
    ])
    expect(await personOfEvents(world)).toEqual({ [uuid(1)]: personUuid(1, 'x'), [uuid(2)]: personUuid(1, 'x') })
    await world.close()
  })

  test('move to the person that their id is added to', async () => {
    const world = await openWorld()
    await world.pipeline.ingest([
      { event: 'a', distinct_id: 'anon', uuid: uuid(1), properties: { $process_person_profile: false } },
      { event: '$identify', distinct_id: 'user', uuid: uuid(2), properties: { $anon_distinct_id: 'anon' } },
    ])
    const id = personUuid(1, 'user')
    expect(await persons(world)).toMatchObject([{ uuid: id, ids: ['anon', 'user'], isIdentified: true }])
    expect(await personOfEvents(world)).toEqual({ [uuid(1)]: id, [uuid(2)]: id })
    expect(await world.rows('SELECT merged, survivor, event, event_uuid::VARCHAR AS uuid FROM merge_journal')).toEqual([
      { merged: 1, survivor: 2, event: '$identify', uuid: uuid(2) },
    ])
    await world.close()
  })

  test('are no longer person-less if the person has existed for more than a minute', async () => {
    const world = await openWorld()
    await world.pipeline.importPersons([{ distinct_ids: ['x'], created_at: '2026-01-15T11:00:00Z' }])
    const at = (timestamp: string, n: number) => ({
      event: 'e',
      distinct_id: 'x',
      uuid: uuid(n),
      timestamp,
      properties: { $process_person_profile: false },
    })
    await world.pipeline.ingest([at('2026-01-15T11:01:00Z', 1), at('2026-01-15T11:01:01Z', 2)])
    expect(await world.rows('SELECT person_no, person_mode FROM events ORDER BY log_seq')).toEqual([
      { person_no: 1, person_mode: 1 },
      { person_no: 1, person_mode: 2 },
    ])
    await world.close()
  })
})

test('an event keeps the properties its person had then', async () => {
  const world = await openWorld()
  const event = (n: number, $set?: object) => ({ event: 'e', distinct_id: 'x', uuid: uuid(n), properties: $set ? { $set } : {} })
  await world.pipeline.ingest([event(1, { a: 1 }), event(2), event(3, { a: 2 }), event(4, { a: 2 })])
  expect(
    await world.rows(
      `SELECT (SELECT max_by(v.properties ->> '$.a', v.log_seq) FROM person_versions v WHERE v.person_no = e.person_no AND v.log_seq <= e.log_seq) AS a
       FROM events e ORDER BY log_seq`,
    ),
  ).toEqual([{ a: '1' }, { a: '1' }, { a: '2' }, { a: '2' }])
  expect((await persons(world))[0]).toMatchObject({ version: 1 })
  await world.close()
})

test.each([null, false, 0, ''])('what the one who lives on has stays, %j too, however long the other is', async (value) => {
  for (const more of [{}, { note: 'n'.repeat(500) }]) {
    const world = await openWorld()
    await world.pipeline.ingest([{ event: 'visit', distinct_id: 'a', uuid: uuid(1), properties: { $set: { p: 1, ...more } } }])
    await world.pipeline.ingest([
      { event: 'visit', distinct_id: 'b', uuid: uuid(2), properties: { $set: { p: value } } },
      { event: '$create_alias', distinct_id: 'b', uuid: uuid(3), properties: { alias: 'a' } },
    ])
    expect((await persons(world))[0]!.properties).toMatchObject({ p: value, ...more })
    await world.close()
  }
})

test('chains of merges are stored flat, and the journal is in order', async () => {
  const world = await openWorld()
  const visit = (id: string, n: number) => ({ event: 'e', distinct_id: id, uuid: uuid(n) })
  const merge = (id: string, alias: string, n: number) => ({
    event: '$merge_dangerously',
    distinct_id: id,
    uuid: uuid(n),
    properties: { alias },
  })
  await world.pipeline.ingest(['a', 'b', 'c', 'd'].map(visit))
  await world.pipeline.ingest([merge('b', 'a', 10), merge('c', 'b', 11)])
  await world.pipeline.ingest([merge('d', 'a', 12)])
  expect(await world.rows('SELECT * FROM person_merges ORDER BY merged')).toEqual([1, 2, 3].map((merged) => ({ merged, survivor: 4 })))
  expect(await world.rows('SELECT merged, survivor FROM merge_journal ORDER BY seq')).toEqual([
    { merged: 1, survivor: 2 },
    { merged: 2, survivor: 3 },
    { merged: 3, survivor: 4 },
  ])
  expect(await persons(world)).toMatchObject([{ uuid: personUuid(1, 'd'), ids: ['a', 'b', 'c', 'd'] }])
  await world.close()
})

test('random commands give the persons and groups of the model', () => assertModelHolds({ open: () => openWorld(), numRuns: 60 }))
