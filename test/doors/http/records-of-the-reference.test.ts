import { beforeAll, describe, expect, test } from 'vitest'
import { refused, withHome } from './conversation.ts'

// Lists and records as clients of the reference system know them.

const held = withHome()
const at = (path: string) => `/api/projects/@current/${path}`
const send = (method: string, path: string, body?: unknown) => held.home.call(method, at(path), { as: held.home.owner, body })
const names = async (path: string): Promise<string[]> => (await send('GET', path)).body.results.map((one: { name: string }) => one.name)
let uuids: readonly string[]
const [anonymous, uuid] = ['17787c3099427b-0e8f6c86323ea9-33647309-1aeaa0-17787c30995b7c', '0190a5c4-2a3b-7c4d-8e5f-0123456789ab']

beforeAll(async () => {
  const { world, project } = held.home
  const data = await world.projectData(project.id)
  const event = (name: string, properties: object) => ({ event: name, distinct_id: 'ann', timestamp: '2026-01-05T10:00:00Z', properties })
  await data.ingest({
    batch: [
      event('page loaded', {
        $current_url: '/',
        $lib_version: '1',
        $os: 'x',
        $session_entry_utm_source: 'a',
        $initial_referrer: 'b',
        utm_source: 'c',
        plan: 1,
      }),
      event('page loaded', { $set: { a: 1 }, $set_once: { b: 1 }, $unset: ['c'], $groups: { company: 'acme' }, plan: 2 }),
      event('paid', { price: 5, plan: 3 }),
      event('refunded', { price: 5 }),
    ],
  })
  uuids = (
    await data.importPersons([
      { distinct_ids: [anonymous, 'bob'], properties: { plan: 'pro' } },
      { distinct_ids: [uuid, 'cid', anonymous.replace('1', '2')], properties: { plan: 'free', city: 'Ulm' } },
      { distinct_ids: [anonymous.replace('1', '3')], properties: {} },
    ])
  ).ids
  await data.importGroups([{ group_type: 'company', group_type_index: 0, group_key: 'acme', properties: { size: 40 } }])
})

describe('definitions', () => {
  test.each([
    ['all words, in any order', 'loaded page', ['page loaded']],
    ['one word is missing', 'loaded pages', []],
    ['in any case', 'PAGE', ['page loaded']],
  ])('search of events: %s', async (_, search, found) => {
    expect(await names(`event_definitions/?search=${encodeURIComponent(search)}`)).toEqual(found)
  })
  test.each([
    ['by the usual label', 'library version', ['$lib_version']],
    ['by another word of it', 'operating', ['$os']],
    ['words of the label and of the name do not mix', 'operating lib', []],
    ['a part of a name', 'curr url', ['$current_url']],
  ])('search of properties: %s', async (_, search, found) => {
    expect(await names(`property_definitions/?search=${encodeURIComponent(search)}`)).toEqual(found)
  })
  test('names and orders that are repeated, and a name with a comma', async () => {
    expect((await names('event_definitions/?names=paid&names=refunded&names=none')).sort()).toEqual(['paid', 'refunded'])
    expect((await names('event_definitions/?names=["paid","refunded"]')).sort()).toEqual(['paid', 'refunded'])
    expect(await names('event_definitions/?names=paid&names=a,b')).toEqual(['paid'])
    expect(await names('event_definitions/?ordering=count&ordering=-name')).toEqual(['refunded', 'paid', 'page loaded'])
    expect(await send('GET', 'event_definitions/?ordering=size')).toMatchObject(refused(400, 'invalid_input', undefined, 'ordering'))
    expect(await send('GET', 'event_definitions/?event_type=own')).toMatchObject(refused(400, 'invalid_input', undefined, 'event_type'))
  })
  test.each(['true', '3', '{}', '"x"', 'not json'])('tags that are no list are named: %s', async (tags) => {
    const { body, headers } = await send('GET', `event_definitions/?tags=${encodeURIComponent(tags)}`)
    expect([body.count, headers.get('x-ignored-parameters')]).toEqual([3, 'tags'])
  })
  test('properties by name, without those that are instructions', async () => {
    const all = ['$current_url', '$lib_version', '$os', 'plan', 'price', 'utm_source']
    expect(await names('property_definitions/')).toEqual(all)
    expect(await names('property_definitions/?exclude_core_properties=true')).toEqual(['plan', 'price'])
    expect(await names('property_definitions/?excluded_properties=["plan","price"]')).toEqual(all.filter((one) => !/^p/.test(one)))
    expect(await names('property_definitions/?excluded_properties=plan&excluded_properties=price')).toEqual(
      all.filter((one) => !/^p/.test(one)),
    )
    expect(await names('property_definitions/?ordering=-count&properties=plan,price')).toEqual(['plan', 'price'])
    expect((await names('property_definitions/?event_names=["paid"]')).slice(0, 2)).toEqual(['plan', 'price'])
    expect(await names('property_definitions/?type=person')).toContain('a')
  })
})

describe('persons', () => {
  test('are called by an id that is not anonymous', async () => {
    const of = async (id: string) => (await send('GET', `persons/${id}/`)).body
    expect(await of(uuids[0]!)).toMatchObject({ name: 'bob', distinct_ids: ['bob', anonymous] })
    expect(await of(uuids[1]!)).toMatchObject({ name: 'cid' })
    expect(await of(uuids[2]!)).toMatchObject({ name: anonymous.replace('1', '3') })
  })
  test('of a cohort', async () => {
    const { body: cohort } = await send('POST', 'cohorts/', { name: 'Two', is_static: true, person_ids: uuids.slice(0, 2) })
    expect((await names(`persons/?cohort=${cohort.id}`)).sort()).toEqual(['bob', 'cid'])
    const both = (await send('GET', `persons/?cohort=${cohort.id}`)).body.results
    expect(both.map(({ id }: { id: string }) => id).sort()).toEqual([...uuids.slice(0, 2)].sort())
    const pages = [0, 1].map(async (offset) => (await send('GET', `persons/?cohort=${cohort.id}&limit=1&offset=${offset}`)).body)
    expect(await Promise.all(pages)).toMatchObject(both.map((row: object) => ({ count: 2, results: [row] })))
    for (const wrong of ['999', 'Two', '-1'])
      expect(await send('GET', `persons/?cohort=${wrong}`)).toMatchObject(refused(400, 'invalid_input', undefined, 'cohort'))
    expect((await send('GET', `persons/cohorts/?person_id=${uuids[0]}`)).body).toEqual({
      results: [{ id: cohort.id, name: 'Two', is_static: true, count: 2 }],
    })
  })
  test('the names of their properties', async () => {
    const { body } = await send('GET', 'persons/properties/')
    expect(body[0]).toEqual({ name: 'plan', count: 2 })
    expect(body).toContainEqual({ name: 'city', count: 1 })
  })
})

describe('groups', () => {
  test('are listed by their type, and made', async () => {
    expect(await send('GET', 'groups/')).toMatchObject(refused(400, 'invalid_input', undefined, 'group_type_index'))
    const body = { group_type_index: 0, group_key: 'umbrella', group_properties: { size: 2 } }
    expect(await send('POST', 'groups/', body)).toMatchObject({ status: 201, body })
    expect(await send('POST', 'groups/', body)).toMatchObject(
      refused(400, 'invalid_input', 'A group with this key already exists', 'group_key'),
    )
    expect((await send('GET', 'groups/find/?group_type_index=0&group_key=umbrella')).body).toMatchObject(body)
    expect(await send('POST', 'groups/', { ...body, group_type_index: 3 })).toMatchObject(
      refused(400, 'invalid_input', undefined, 'group_type_index'),
    )
    expect(await send('POST', 'groups/', { group_type_index: 0 })).toMatchObject(refused(400, 'required', undefined, 'group_key'))
    expect((await send('GET', 'groups/?group_type_index=0')).body.count).toBe(2)
  })
})

describe('insights', () => {
  const query = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'paid' }] }
  test('liking one does not modify it', async () => {
    const { world } = held.home
    world.now = new Date('2026-03-01T00:00:00Z')
    const { body: made } = await send('POST', 'insights/', { name: 'Paid', query })
    world.now = new Date('2026-03-02T00:00:00Z')
    const change = async (body: object) => (await send('PATCH', `insights/${made.id}/`, body)).body
    for (const body of [{ favorited: true }, { saved: true }, { tags: ['a'] }, { order: 3 }, { name: 'Paid' }, { query }])
      expect(await change(body), JSON.stringify(body)).toMatchObject({
        last_modified_at: '2026-03-01T00:00:00Z',
        updated_at: '2026-03-02T00:00:00Z',
      })
    for (const [i, body] of [{ name: 'Bought' }, { description: 'x' }, { query: { ...query, interval: 'week' } }].entries()) {
      world.now = new Date(`2026-03-0${3 + i}T00:00:00Z`)
      expect((await change(body)).last_modified_at).toBe(`2026-03-0${3 + i}T00:00:00Z`)
    }
    world.now = null
  })

  test('lists say when answers were computed, also without them', async () => {
    const { body: made } = await send('POST', 'insights/', { name: 'Fresh', query: { ...query, interval: 'month' } })
    const listed = async (more: string) => (await send('GET', `insights/?short_id=${made.short_id}${more}`)).body.results[0]
    expect(await listed('&basic=true')).toMatchObject({ last_refresh: null, refreshing: false, user_access_level: 'editor' })
    const { body: computed } = await send('GET', `insights/${made.id}/?refresh=blocking`)
    expect(computed.last_refresh).toEqual(expect.any(String))
    for (const more of ['&basic=true', '']) {
      const one = await listed(more)
      expect(one, more).toMatchObject({ last_refresh: computed.last_refresh, refreshing: false, user_access_level: 'editor' })
    }
    expect(await listed('&basic=true')).not.toHaveProperty('result')
    expect(await send('GET', 'insights/?insight=SOUP')).toMatchObject(refused(400, 'invalid_input', undefined, 'insight'))
  })

  test('older filters become a query, are shown again, and follow changes', async () => {
    const filters = { events: [{ id: 'paid' }], properties: [{ key: 'price', value: 5 }], date_from: '-90d' }
    const { status, body: made } = await send('POST', 'insights/', { name: 'Old', filters })
    expect(status).toBe(201)
    expect(made.filters).toEqual(filters)
    expect(made.query).toEqual({
      kind: 'InsightVizNode',
      source: {
        kind: 'TrendsQuery',
        series: [{ kind: 'EventsNode', event: 'paid' }],
        properties: [{ type: 'event', operator: 'exact', key: 'price', value: 5 }],
        dateRange: { date_from: '-90d' },
      },
    })
    const change = async (body: object) => (await send('PATCH', `insights/${made.id}/`, body)).body
    expect(await change({ ...made, name: 'Same' })).toMatchObject({ name: 'Same', filters })
    const other = { ...filters, interval: 'week' }
    expect(await change({ ...made, filters: other })).toMatchObject({ filters: other, query: { source: { interval: 'week' } } })
    expect(await change({ query })).toMatchObject({ filters: {}, query })
    expect(await send('POST', 'insights/', { name: 'Neither', filters: {} })).toMatchObject(refused(400, 'required', undefined, 'query'))
    expect(await send('POST', 'insights/', { filters: { ...filters, funky: 1 } })).toMatchObject(
      refused(400, 'invalid_input', undefined, 'filters__funky'),
    )
    expect(await send('POST', 'insights/', { filters: { events: [{ id: 'paid', math: 'soup' }] } })).toMatchObject(
      refused(400, 'invalid_input', undefined, 'filters'),
    )
  })
})

describe('annotations', () => {
  test.each([
    ['an unknown scope', 'scope=everywhere', 'scope'],
    ['reversed dates', 'date_from=2024-02-01&date_to=2024-01-01', 'date_from'],
    ['no date', 'date_to=soon', 'date_to'],
  ])('%s', async (_, asked, attr) => {
    const answer = await send('GET', `annotations/?${asked}`)
    expect(answer).toMatchObject(refused(400, 'invalid_input', undefined, attr))
    expect(answer.body.detail).toContain(attr)
  })
})

test('a private project is 403 for a member of its organization, and 404 for a stranger', async () => {
  const { call, member, outsider, owner, project, organization } = held.home
  expect((await call('PATCH', `/api/projects/${project.id}/`, { as: owner, body: { access_control: true } })).status).toBe(200)
  for (const path of [`/api/projects/${project.id}/`, `/api/organizations/${organization.id}/projects/${project.id}/`])
    expect(await call('GET', path, { as: member }), path).toMatchObject(refused(403, 'permission_denied'))
  expect(await call('GET', `/api/projects/${project.id}/`, { as: outsider })).toMatchObject(refused(404, 'not_found'))
  expect(await call('GET', `/api/projects/${project.id}/persons/`, { as: member })).toMatchObject(refused(403, 'permission_denied'))
  await call('PATCH', `/api/projects/${project.id}/`, { as: owner, body: { access_control: false } })
})
