import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isIllegalId } from '../../src/ingestion/illegal-ids.ts'
import { mergeOutcome } from '../../src/ingestion/merge-outcome.ts'
import { personUuid } from '../../src/ingestion/uuid.ts'
import { nameUuid } from '../../src/lib/name-uuid.ts'
import { assertGenerated } from '../harness/assert-generated.ts'
import { GroupModel, type ModelGroup } from '../reference/group-model.ts'
import { IdentityModel, type ModelEvent } from '../reference/identity-model.ts'
import { openWorld, type World } from './harness.ts'

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
  ['"null"', false],
  ['"guest\'', false],
  ['00', false],
  ['anonymous1', false],
  ['user@example.com', false],
])('the id %j is illegal: %s', (id, isIllegal) => expect(isIllegalId(id)).toBe(isIllegal))

test('a person has the id that others compute for it', () => {
  expect(personUuid(2, 'distinct-id')).toBe(nameUuid('932979b4-65c3-4424-8467-0b66ec27bc22', '2:distinct-id'))
  expect(personUuid(2, 'ä\u{1F600}')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
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

const uuid = (n: number) => nameUuid('6ba7b810-9dad-11d1-80b4-00c04fd430c8', String(n))

async function persons(world: World) {
  const rows = await world.rows(
    `SELECT uuid::VARCHAR AS uuid, properties, is_identified, version::INTEGER AS version, epoch_us(created_at)::DOUBLE AS created,
       (SELECT list(distinct_id ORDER BY distinct_id) FROM distinct_ids d WHERE d.person_no = p.person_no) AS ids FROM persons p WHERE has_record`,
  )
  return rows.map((row) => ({
    uuid: row.uuid as string,
    ids: row.ids as string[],
    isIdentified: row.is_identified as boolean,
    createdAt: row.created as number,
    version: row.version as number,
    properties: JSON.parse(row.properties as string) as Record<string, unknown>,
  }))
}

const personOfEvents = async (world: World) =>
  Object.fromEntries(
    (
      await world.rows(
        `SELECT e.uuid::VARCHAR AS event, p.uuid::VARCHAR AS person FROM events e LEFT JOIN person_merges m ON m.merged = e.person_no
         JOIN persons p ON p.person_no = coalesce(m.survivor, e.person_no)`,
      )
    ).map((row) => [row.event as string, row.person as string]),
  )

describe('people without a record', () => {
  test('have the id of the person that comes later', async () => {
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

  test('follow into the person that their id is added to', async () => {
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

  test('count as a person when that person is there for more than a minute', async () => {
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

test('merges of merges stay flat, and their journal in order', async () => {
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

const isOfGroup = (event: string) => event === '$groupidentify' || event === '$group_identify'
const groupProperties = ({ type, key, set }: ModelGroup) => ({ $group_type: type, $group_key: key, ...(set && { $group_set: set }) })
const byTypeAndKey = (a: { type: number; key: string }, b: { type: number; key: string }) => a.type - b.type || (a.key < b.key ? -1 : 1)

const groupsOf = async (world: World) =>
  (
    await world.rows(
      'SELECT group_type_index AS type, group_key AS key, version::INTEGER AS version, properties FROM groups ORDER BY group_type_index, group_key',
    )
  ).map((row) => ({ ...row, properties: JSON.parse(row.properties as string) as object }))

const keysOf = async (world: World) =>
  Object.fromEntries(
    (await world.rows('SELECT uuid::VARCHAR AS uuid, group_0, group_1, group_2, group_3, group_4 FROM events')).map(({ uuid, ...keys }) => [
      uuid as string,
      Object.values(keys),
    ]),
  )

test('any commands give the people and groups of the model', async () => {
  const id = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'null')
  const groupType = fc.constantFrom('org', 'team', 'site', 'shop', 'club', 'deal')
  const values = fc.dictionary(fc.constantFrom('p', 'q'), fc.constantFrom(1, 2, 'x', null, false, 0, ''), { maxKeys: 2 })
  const event = fc.record(
    {
      event: fc.constantFrom('visit', '$identify', '$create_alias', '$merge_dangerously', '$groupidentify', '$group_identify'),
      distinct_id: id,
      n: fc.nat(60),
      minutes: fc.nat(100),
      other: id,
      isPersonless: fc.constantFrom(false, false, true),
      set: values,
      setOnce: values,
      unset: fc.subarray(['p', 'q']),
      group: fc.record({ type: groupType, key: fc.constantFrom('1', '2'), set: values }, { requiredKeys: ['type', 'key'] }),
      groups: fc.dictionary(groupType, fc.constantFrom('1', '2'), { maxKeys: 2 }),
    },
    { requiredKeys: ['event', 'distinct_id', 'n', 'minutes'] },
  )
  const step = fc.oneof(
    { weight: 8, arbitrary: fc.array(event, { minLength: 1, maxLength: 6 }) },
    { weight: 1, arbitrary: fc.constantFrom('restart', 'rebuild') },
  )
  await assertGenerated(
    fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
      const world = await openWorld()
      const model = new IdentityModel()
      const groups = new GroupModel()
      const keysOfEvents: Record<string, string[]> = {}
      for (const one of steps) {
        if (typeof one === 'string') {
          await world[one as 'restart']()
          continue
        }
        const batch = one.map(
          ({ n, minutes, ...more }): ModelEvent => ({
            ...more,
            uuid: uuid(n),
            time: Date.parse('2026-01-10T00:00:00Z') * 1000 + minutes * 60e6,
          }),
        )
        for (const [i, each] of batch.entries()) {
          if (!model.apply(each)) continue
          const { event, group, groups: keys } = one[i]!
          if (isOfGroup(event) && group) groups.identify(group)
          keysOfEvents[each.uuid] = groups.keysOf(keys ?? {})
        }
        await world.pipeline.ingest(
          batch.map(({ event, distinct_id, uuid, time, set, setOnce, unset, other, isPersonless }, i) => ({
            event,
            distinct_id,
            uuid,
            timestamp: new Date(time / 1000).toISOString(),
            properties: {
              ...(set && { $set: set }),
              ...(setOnce && { $set_once: setOnce }),
              ...(unset && { $unset: unset }),
              ...(other !== undefined && { [event === '$identify' ? '$anon_distinct_id' : 'alias']: other }),
              ...(isPersonless && { $process_person_profile: false }),
              ...(isOfGroup(event) && one[i]!.group && groupProperties(one[i]!.group!)),
              ...(one[i]!.groups && { $groups: one[i]!.groups }),
            },
          })),
        )
      }
      const expected = model.persons().map(({ firstId, ...person }) => ({ uuid: personUuid(1, firstId), ...person }))
      const byUuid = (a: { uuid: string }, b: { uuid: string }) => (a.uuid < b.uuid ? -1 : 1)
      expect((await persons(world)).sort(byUuid)).toEqual(expected.sort(byUuid))
      expect(await personOfEvents(world)).toEqual(
        Object.fromEntries(Object.entries(model.ownersOfEvents()).map(([event, firstId]) => [event, personUuid(1, firstId)])),
      )
      expect(await groupsOf(world)).toEqual(groups.groups().sort(byTypeAndKey))
      expect(await keysOf(world)).toEqual(keysOfEvents)
      const warnings = new Map([...model.warnings, ...(groups.refused > 0 ? [['too_many_group_types', groups.refused] as const] : [])])
      const ofModel = world.pipeline.warnings().filter(({ type }) => type !== 'merge_without_alias' && type !== 'invalid_groups')
      expect(new Map(ofModel.map(({ type, count }) => [type as string, count]))).toEqual(warnings)
      await world.close()
    }),
    { numRuns: 60 },
  )
})
