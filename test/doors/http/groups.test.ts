import { beforeAll, expect, test } from 'vitest'
import { refused, withHome } from './conversation.ts'

const held = withHome()
const groups = '/api/projects/@current/groups/'
const types = '/api/projects/@current/groups_types/'
const now = '2024-03-31T12:00:00Z'
let ann: string

beforeAll(async () => {
  const { world, project } = held.home
  world.now = new Date(now)
  const data = await world.projectData(project.id)
  await data.importGroups([
    { group_type: 'company', group_key: 'acme', properties: { name: 'Acme', size: 40, tags: ['a', 'b'] }, created_at: '2024-01-01' },
    { group_type: 'company', group_key: 'else', properties: { name: 'Else', size: 40, tags: ['b'] }, created_at: '2024-01-02' },
    { group_type: 'team', group_key: 'one', properties: { name: 'One' }, created_at: '2024-01-03' },
  ])
  ann = (await data.importPersons([{ distinct_ids: ['ann'], properties: { name: 'Ann' } }])).ids[0]!
  await data.ingest([
    { event: 'view', distinct_id: 'ann', timestamp: '2024-03-30', properties: { $groups: { company: 'acme', team: 'one' } } },
    { event: 'view', distinct_id: 'old', timestamp: '2023-03-30', properties: { $groups: { company: 'acme', team: 'gone' } } },
  ])
})

const send = (method: string, path: string, body?: unknown) => held.home.call(method, path, { as: held.home.member, body })
const keys = async (query: string) => {
  const { body } = await send('GET', `${groups}?${query}`)
  return [body.count, ...body.results.map((one: { group_key: string }) => one.group_key)]
}

test('types are listed, and renamed', async () => {
  const type = (group_type: string, group_type_index: number) => ({ group_type, group_type_index, name_singular: null, name_plural: null })
  expect((await send('GET', types)).body).toEqual([type('company', 0), type('team', 1)])
  const named = { group_type_index: 0, name_singular: 'Company', name_plural: 'Companies' }
  expect((await send('PATCH', `${types}update_metadata/`, [named])).body).toEqual([{ ...type('company', 0), ...named }, type('team', 1)])
  const back = await send('PATCH', `${types}update_metadata/`, [{ group_type_index: 0, name_singular: null }])
  expect(back.body[0]).toEqual({ ...type('company', 0), name_plural: 'Companies' })
  expect((await send('GET', types)).body).toEqual(back.body)
  for (const wrong of [[{ group_type_index: 4, name_plural: 'x' }], [{ group_type_index: 5 }], {}, [{ name_plural: 'x' }]])
    expect((await send('PATCH', `${types}update_metadata/`, wrong)).status, JSON.stringify(wrong)).toBe(400)
})

test('groups are listed and found', async () => {
  expect(await keys('group_type_index=0')).toEqual([2, 'else', 'acme'])
  expect(await keys('group_type_index=0&search=CM')).toEqual([1, 'acme'])
  expect(await keys('group_type_index=0&limit=1')).toEqual([2, 'else'])
  expect(await keys('group_type_index=3')).toEqual([0])
  const found = await send('GET', `${groups}find/?group_type_index=0&group_key=acme`)
  expect(found.body).toEqual({
    group_type_index: 0,
    group_key: 'acme',
    group_properties: { name: 'Acme', size: 40, tags: ['a', 'b'] },
    created_at: '2024-01-01T00:00:00Z',
  })
  expect(await send('GET', `${groups}find/?group_type_index=0&group_key=x' or 1 = 1`)).toMatchObject(refused(404, 'not_found'))
  expect(await send('GET', groups)).toMatchObject(refused(400, 'invalid_input', undefined, 'group_type_index'))
  expect(await send('GET', `${groups}find/?group_key=acme`)).toMatchObject(refused(400, 'invalid_input', undefined, 'group_type_index'))
  for (const index of ['5', '-1', 'x', '1e9', '0 or 1'])
    expect(await send('GET', `${groups}?group_type_index=${index}`)).toMatchObject(
      refused(400, 'invalid_input', undefined, 'group_type_index'),
    )
  expect(await send('GET', `${groups}find/?group_type_index=0`)).toMatchObject(refused(400, 'required', undefined, 'group_key'))
})

test('what had events together', async () => {
  const related = async (query: string) =>
    (await send('GET', `${groups}related/?${query}`)).body.map((one: { type: string; id: string }) => [one.type, one.id])
  expect(await related('group_type_index=0&id=acme')).toEqual([
    ['person', ann],
    ['group', 'one'],
  ])
  expect(await related(`id=${ann}`)).toEqual([
    ['group', 'acme'],
    ['group', 'one'],
  ])
  expect(await related('group_type_index=1&id=gone')).toEqual([])
  expect(await send('GET', `${groups}related/?id=acme`)).toMatchObject(refused(400, 'invalid_input', undefined, 'id'))
})

test('properties and their values', async () => {
  expect((await send('GET', `${groups}property_definitions/`)).body).toEqual({
    0: expect.arrayContaining([{ name: 'size', count: 2 }]),
    1: [{ name: 'name', count: 1 }],
  })
  expect((await send('GET', `${groups}property_values/?group_type_index=0&key=tags`)).body).toEqual([
    { name: 'b', count: 2 },
    { name: 'a', count: 1 },
  ])
  const at = '?group_type_index=0&group_key=acme'
  const set = await send('POST', `${groups}update_property/${at}`, { key: 'size', value: 41 })
  expect(set.body.group_properties).toEqual({ name: 'Acme', size: 41, tags: ['a', 'b'] })
  const without = await send('POST', `${groups}delete_property/${at}`, { $unset: 'tags' })
  expect(without.body.group_properties).toEqual({ name: 'Acme', size: 41 })
  const query = { kind: 'HogQLQuery', query: "select properties.size from groups where key = 'acme'" }
  expect((await send('POST', '/api/projects/@current/query/', { query })).body.results).toEqual([['41']])
  const log = await send('GET', `${groups}activity/${at}`)
  expect(log.body.results.map((one: { item_id: string }) => one.item_id)).toEqual(['0:acme', '0:acme'])
  expect(await send('POST', `${groups}update_property/?group_type_index=0&group_key=no`, { key: 'a', value: 1 })).toMatchObject(
    refused(404, 'not_found'),
  )
  expect(await send('POST', `${groups}update_property/${at}`, { key: 'a', value: 'x'.repeat(600_000) })).toMatchObject(
    refused(400, 'invalid_input', undefined, 'value'),
  )
})
