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

test('tags, verified and hidden, by name or id; lists choose by them', async () => {
  const { member } = held.home
  const given = { tags: ['money', 'money', 'core'], verified: true, hidden: true }
  const { body } = await send('PATCH', `${events}buy/`, given)
  expect(body).toMatchObject({ tags: ['money', 'core'], verified: true, hidden: true, description: 'Somebody paid.' })
  expect([body.verified_by.email, body.updated_by.email]).toEqual([member.email, member.email])
  expect((await send('PATCH', `${events}buy/`, { description: 'Paid' })).body).toMatchObject({ ...given, tags: ['money', 'core'] })
  const names = async (query: string) => (await list(`${events}?${query}`)).map(({ name }: { name: string }) => name)
  expect(await names('verified=true')).toEqual(['buy'])
  expect(await names('verified=false')).toEqual(['view'])
  expect(await names('exclude_hidden=true')).toEqual(['view'])
  expect(await names('tags=["core","other"]')).toEqual(['buy'])
  expect(await names('names=view,gone')).toEqual(['view'])
  expect(await names('ordering=-name')).toEqual(['view', 'buy'])
  expect(await names('ordering=-last_seen_at')).toEqual(['buy', 'view'])
  expect(await names('event_type=event_posthog')).toEqual([])
  const back = await send('PATCH', `${events}buy/`, { verified: false, hidden: false, tags: [] })
  expect(back.body).toMatchObject({ tags: [], verified: false, verified_at: null, verified_by: null, hidden: false })
  const { body: log } = await send('GET', `${events}${back.body.id}/activity/`)
  expect(log.results[0].detail.changes.map(({ field }: { field: string }) => field)).toEqual(['tags', 'verified', 'hidden'])
})

test('properties of some events, flags, and names', async () => {
  const data = await held.home.world.projectData(held.home.project.id)
  await data.ingest([{ event: 'view', distinct_id: 'bob', timestamp: '2024-03-02', properties: { '$feature/new': true } }])
  const names = async (query: string) => (await list(`${properties}?ordering=name&${query}`)).map(({ name }: { name: string }) => name)
  expect(await names('is_feature_flag=true')).toEqual(['$feature/new'])
  expect(await names('is_feature_flag=false&excluded_properties=["note"]&properties=note,zip')).toEqual(['zip'])
  expect(await names('event_names=["buy"]&filter_by_event_names=true&is_feature_flag=false')).toEqual(
    expect.arrayContaining(['note', 'price']),
  )
  const seen = await list(`${properties}?event_names=["buy"]`)
  expect(seen.find(({ name }: { name: string }) => name === 'zip').is_seen_on_filtered_events).toBe(false)
  expect(seen.find(({ name }: { name: string }) => name === 'note').is_seen_on_filtered_events).toBe(true)
  const { value } = await held.home.world.makeKey(held.home.member, { label: 'narrow', scopes: ['property_definition:read'] })
  const headers = { authorization: `Bearer ${value}` }
  expect((await held.home.call('GET', properties, { headers })).status).toBe(200)
  expect(await held.home.call('GET', `${properties}?event_names=["buy"]`, { headers })).toMatchObject(refused(403, 'permission_denied'))
})

test('a removed definition is listed again once it is seen again, without what was written', async () => {
  const data = await held.home.world.projectData(held.home.project.id)
  await send('PATCH', `${events}view/`, { description: 'Seen', tags: ['x'] })
  const [zip] = await list(`${properties}?search=zip`)
  expect((await send('DELETE', `${events}view/`)).status).toBe(204)
  expect((await send('DELETE', `${properties}${zip.id}/`)).status).toBe(204)
  expect(await send('GET', `${events}view/`)).toMatchObject(refused(404, 'not_found'))
  expect(await list(`${properties}?search=zip`)).toEqual([])
  const query = { kind: 'HogQLQuery', query: "select count() from events where event = 'view' and properties.zip = '01234'" }
  expect((await send('POST', '/api/projects/@current/query/', { query })).body.results).toEqual([[1]])
  await data.ingest([{ event: 'view', distinct_id: 'bob', timestamp: '2024-03-02', properties: { zip: '2' } }])
  expect((await send('GET', `${events}view/`)).body).toMatchObject({ description: '', tags: [] })
  expect(await list(`${properties}?search=zip`)).toMatchObject([{ id: zip.id, count: 2 }])
})
