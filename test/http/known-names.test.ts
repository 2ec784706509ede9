import { beforeAll, expect, test } from 'vitest'
import { refused, withHome } from './conversation.ts'

// What is known of events and properties, and what somebody declares of them.

const held = withHome()
const events = '/api/projects/@current/event_definitions/'
const properties = '/api/projects/@current/property_definitions/'

beforeAll(async () => {
  const { world, project } = held.home
  const data = await world.projectData(project.id)
  const at = (day: number) => `2024-03-0${day}T00:00:00Z`
  await data.ingest({
    batch: [
      { event: 'buy', distinct_id: 'ann', timestamp: at(1), properties: { price: 5, note: 'x', $set: { plan: 'pro' } } },
      { event: 'buy', distinct_id: 'ann', timestamp: at(3), properties: { price: 5, note: 'y' } },
      { event: 'view', distinct_id: 'bob', timestamp: at(2), properties: { price: 'free' } },
      { event: 'view', distinct_id: 'bob', timestamp: at(2), properties: { zip: '01234' } },
    ],
  })
  await data.importGroups([{ group_type: 'company', group_key: 'acme', properties: { size: 40 } }])
})
const send = (method: string, path: string, body?: unknown) => held.home.call(method, path, { as: held.home.member, body })
const list = async (path: string) => (await send('GET', path)).body.results

test('event names with how often and since when; a description is kept and logged', async () => {
  expect(await list(events)).toMatchObject([
    { name: 'buy', count: 2, created_at: '2024-03-01T00:00:00Z', last_seen_at: '2024-03-03T00:00:00Z', description: '' },
    { name: 'view', count: 2 },
  ])
  const [found, ...others] = await list(`${events}?search=BU`)
  expect([found.name, others]).toEqual(['buy', []])
  expect((await send('PATCH', `${events}${found.id}/`, { description: 'Somebody paid.' })).status).toBe(200)
  expect((await send('GET', `${events}buy/`)).body).toMatchObject({ id: found.id, description: 'Somebody paid.' })
  expect(await send('GET', `${events}gone/`)).toMatchObject(refused(404, 'not_found'))
})

test('properties by what they belong to, with the kinds of their values', async () => {
  const price = (await list(properties)).find(({ name }: { name: string }) => name === 'price')
  expect(price).toMatchObject({ type: 'event', property_type: null, is_numerical: false, count: 3, counts: { numeric: 2, text: 1 } })
  const [zip] = await list(`${properties}?search=zip`)
  expect(zip).toMatchObject({ is_numerical: false, count: 1, counts: { numeric: 0, numeric_text: 1, text: 0 } })
  expect(await list(`${properties}?type=person`)).toMatchObject([{ name: 'plan', type: 'person', group_type_index: null }])
  expect(await list(`${properties}?type=group&group_type_index=0`)).toMatchObject([
    { name: 'size', group_type_index: 0, is_numerical: true },
  ])
  expect(await list(`${properties}?type=group&group_type_index=1`)).toEqual([])
  expect((await send('GET', `${properties}${price.id}/`)).body.top_values.map((one: { count: number }) => one.count)).toEqual([2, 1])
})

test('values are shown to keys that may query', async () => {
  const { world, member } = held.home
  const [price] = await list(`${properties}?search=price`)
  const seenBy = async (scopes: string[]) => {
    const { value } = await world.makeKey(member, { label: 'narrow', scopes })
    const { status, body } = await held.home.call('GET', `${properties}${price.id}/`, { headers: { authorization: `Bearer ${value}` } })
    return [status, body.top_values?.length ?? null]
  }
  expect(await seenBy(['property_definition:read'])).toEqual([200, null])
  expect(await seenBy(['property_definition:read', 'query:read'])).toEqual([200, 2])
})

test('a declared type is what queries read from then on', async () => {
  const ask = async (query: string) =>
    (await send('POST', '/api/projects/@current/query/', { query: { kind: 'HogQLQuery', query } })).body.results
  const [price] = await list(`${properties}?search=price`)
  const changed = await send('PATCH', `${properties}${price.id}/`, { property_type: 'Numeric', description: 'In euros' })
  expect(changed.body).toMatchObject({ property_type: 'Numeric', is_numerical: true, description: 'In euros' })
  expect(await ask('select properties.price as p from events order by timestamp')).toEqual([[5], [null], [null], [5]])
  expect(await send('PATCH', `${properties}${price.id}/`, { property_type: 'Number' })).toMatchObject(
    refused(400, 'invalid_choice', undefined, 'property_type'),
  )
})
