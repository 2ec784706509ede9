import { expect, test } from 'vitest'
import { openWorld, type World } from '../harness.ts'

const groupEvent = (event: string, type: string, key: string, set: object, more: object = {}) => ({
  event,
  distinct_id: 'd',
  timestamp: '2026-01-10',
  properties: { $group_type: type, $group_key: key, $group_set: set },
  ...more,
})
const groups = async (world: World) =>
  (
    await world.rows(
      `SELECT group_type AS type, group_type_index AS index, group_key AS key, version::INTEGER AS version, properties, created_at::DATE::VARCHAR AS created
       FROM groups JOIN group_types USING (group_type_index) ORDER BY ALL`,
    )
  ).map((row) => ({ ...row, properties: JSON.parse(row.properties as string) as unknown }))

test('both spellings make a group and merge into it', async () => {
  const world = await openWorld()
  await world.pipeline.ingest([groupEvent('$groupidentify', 'company', 'acme', { a: 1, b: 1 })])
  expect(await groups(world)).toEqual([
    { type: 'company', index: 0, key: 'acme', version: 1, properties: { a: 1, b: 1 }, created: '2026-01-10' },
  ])
  await world.pipeline.ingest([
    groupEvent('$group_identify', 'company', 'acme', { b: 2, c: 3 }),
    groupEvent('$groupidentify', 'company', 'acme', { c: 3 }),
  ])
  expect(await groups(world)).toEqual([
    { type: 'company', index: 0, key: 'acme', version: 2, properties: { a: 1, b: 2, c: 3 }, created: '2026-01-10' },
  ])
  await world.close()
})

test('without type or key it is only an event', async () => {
  const world = await openWorld()
  await world.pipeline.ingest([{ event: '$groupidentify', distinct_id: 'd', properties: { $group_type: 'company', $group_set: { a: 1 } } }])
  expect(await groups(world)).toEqual([])
  expect(await world.rows('SELECT count(*)::INTEGER AS n FROM events')).toEqual([{ n: 1 }])
  await world.close()
})

test('types are numbered by first use, five of them', async () => {
  const world = await openWorld()
  const types = ['a', 'b', 'c', 'd', 'e', 'f']
  await world.pipeline.ingest(
    types.map((type, i) => ({ event: 'e', distinct_id: 'd', properties: { $groups: { [type]: `${type}${i}` } } })),
  )
  await world.restart()
  await world.pipeline.ingest([{ event: 'e', distinct_id: 'd', properties: { $groups: { f: 'f', e: 'E', a: 5 } } }])
  expect(await world.rows('SELECT group_type FROM group_types ORDER BY group_type_index')).toEqual(
    ['a', 'b', 'c', 'd', 'e'].map((group_type) => ({ group_type })),
  )
  expect(
    (await world.rows('SELECT [group_0, group_1, group_2, group_3, group_4] AS g FROM events ORDER BY log_seq')).map(
      ({ g }) => (g as { items: string[] }).items ?? g,
    ),
  ).toEqual([
    ['a0', '', '', '', ''],
    ['', 'b1', '', '', ''],
    ['', '', 'c2', '', ''],
    ['', '', '', 'd3', ''],
    ['', '', '', '', 'e4'],
    ['', '', '', '', ''],
    ['5', '', '', '', 'E'],
  ])
  expect(world.pipeline.warnings()).toMatchObject([{ type: 'too_many_group_types', count: 2 }])
  await world.close()
})

test('imported groups can fix the numbers of types', async () => {
  const world = await openWorld()
  await world.pipeline.importGroups([{ group_type: 'team', group_type_index: 1, group_key: 't', properties: { size: 4 } }], {
    group_types: [
      { group_type_index: 1, group_type: 'team' },
      { group_type_index: 0, group_type: 'company' },
    ],
  })
  await world.pipeline.importGroups([{ group_type: 'project', group_key: 'p' }])
  await world.pipeline.ingest([{ event: 'e', distinct_id: 'd', properties: { $groups: { company: 'acme', team: 't', project: 'p' } } }])
  expect(await world.rows('SELECT group_0, group_1, group_2 FROM events')).toEqual([{ group_0: 'acme', group_1: 't', group_2: 'p' }])
  expect(await groups(world)).toMatchObject([
    { type: 'project', index: 2, key: 'p', properties: {} },
    { type: 'team', index: 1, key: 't', properties: { size: 4 } },
  ])
  await world.close()
})

test.each([
  [{ group_key: 'x' }, '0__group_type'],
  [{ group_type: 't' }, '0__group_key'],
  [{ group_type: 't', group_key: 'k', group_type_index: 5 }, '0__group_type_index'],
  [{ group_type: 't', group_key: 'k', properties: 'x' }, '0__properties'],
])('the group %j is refused', async (row, attr) => {
  const world = await openWorld()
  await expect(world.pipeline.importGroups([row])).rejects.toMatchObject({ code: 'validation-failed', data: { attr } })
  await world.close()
})
