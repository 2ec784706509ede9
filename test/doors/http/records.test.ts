import { beforeAll, describe, expect, test } from 'vitest'
import { refused, withHome } from './conversation.ts'

// Persons and events over HTTP.

const held = withHome()
const persons = '/api/projects/@current/persons/'
const events = '/api/projects/@current/events/'
const now = '2024-03-31T12:00:00Z'
const ids: string[] = []

beforeAll(async () => {
  const { world, project } = held.home
  world.now = new Date(now)
  const data = await world.projectData(project.id)
  const person = (name: string, plan: string, day: number) => ({
    distinct_ids: [name, `${name}-phone`],
    properties: { name, email: `${name}@acme.test`, plan, tags: ['all', plan] },
    created_at: `2024-01-0${day}T00:00:00Z`,
  })
  ids.push(...(await data.importPersons([person('ann', 'pro', 1), person('bob', 'free', 2), person('cid', 'free', 3)])).ids)
  const event = (distinct_id: string, name: string, minute: number, properties = {}) => ({
    event: name,
    distinct_id,
    timestamp: `2024-03-30T10:0${minute}:00Z`,
    properties,
  })
  await data.ingest({
    batch: [
      event('ann', 'view', 1, { page: '/home', colors: ['red', 'blue'] }),
      event('ann-phone', 'view', 2, { page: '/home', colors: ['red'] }),
      event('bob', 'view', 3, { page: '/pricing', price: 5 }),
      event('bob', 'buy', 4, { price: 5 }),
      event('nobody', 'view', 5, { $process_person_profile: false, page: '/Home "x"' }),
    ],
  })
})

const send = (method: string, path: string, body?: unknown) => held.home.call(method, path, { as: held.home.member, body })
const names = (answer: { body: { results: { name: string }[] } }) => answer.body.results.map(({ name }) => name)
/** Who did what, by the name of the person. */
const doers = async () => {
  const query = {
    kind: 'HogQLQuery',
    query: 'select event, distinct_id, person.properties.name, toString(person_id) from events order by timestamp',
  }
  return (await send('POST', '/api/projects/@current/query/', { query })).body.results as [string, string, string | null, string][]
}
const trend = async (math: string) => {
  const query = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'view', math }], dateRange: { date_from: '-7d' } }
  return (await send('POST', '/api/projects/@current/query/', { query })).body.results[0].count as number
}

describe('events', () => {
  test('are listed from the latest on, with their persons', async () => {
    const all = await send('GET', events)
    expect(all.status).toBe(200)
    expect(
      all.body.results.map((one: { distinct_id: string; person: { id: string } | null }) => [one.distinct_id, one.person?.id ?? null]),
    ).toEqual([
      ['nobody', null],
      ['bob', ids[1]],
      ['bob', ids[1]],
      ['ann-phone', ids[0]],
      ['ann', ids[0]],
    ])
    expect(all.body.results[1]).toMatchObject({ event: 'buy', properties: { price: 5 }, elements: [], timestamp: '2024-03-30T10:04:00Z' })
    const one = await send('GET', `${events}${all.body.results[1].id}/`)
    expect(one.body).toEqual(all.body.results[1])
    expect(await send('GET', `${events}${ids[0]}/`)).toMatchObject(refused(404, 'not_found'))
    expect(await send('GET', `${events}x'y/`)).toMatchObject(refused(404, 'not_found'))
  })

  test('filters', async () => {
    const found = async (query: string) =>
      (await send('GET', `${events}?${query}`)).body.results.map(
        (one: { event: string; distinct_id: string }) => `${one.distinct_id} ${one.event}`,
      )
    expect(await found('event=buy')).toEqual(['bob buy'])
    expect(await found('distinct_id=ann-phone')).toEqual(['ann-phone view'])
    expect(await found(`person_id=${ids[0]}`)).toEqual(['ann-phone view', 'ann view'])
    expect(await found('before=2024-03-30T10:02:00Z')).toEqual(['ann view'])
    expect(await found('after=2024-03-30T10:04:00Z')).toEqual(['nobody view'])
    expect(
      await found(`properties=${JSON.stringify([{ key: 'price', value: 5, operator: 'exact', type: 'event' }])}&orderBy=["timestamp"]`),
    ).toEqual(['bob view', 'bob buy'])
    for (const [query, attr] of [
      ['person_id=5', 'person_id'],
      ['properties={', 'properties'],
      ['properties=3', 'properties'],
      ['orderBy=["x"]', 'orderBy'],
      ['orderBy=[', 'orderBy'],
      ['before=never', 'before'],
    ])
      expect(await send('GET', `${events}?${query}`), query).toMatchObject({ status: 400, body: { attr } })
  })

  test('pages, while others arrive', async () => {
    const walked: string[] = []
    const { project, world } = held.home
    const data = await world.projectData(project.id)
    for (let path: string | null = `${events}?limit=2`; path !== null; ) {
      const { body }: { body: { next: string | null; results: { id: string }[] } } = await send('GET', path)
      walked.push(...body.results.map((one) => one.id))
      path = body.next?.slice(world.url.length) ?? null
      world.now = new Date(world.now!.getTime() + 60_000)
      if (path) await data.ingest([{ event: 'later', distinct_id: 'cid' }])
    }
    expect(walked).toHaveLength(5)
    expect(new Set(walked).size).toBe(5)
    // Those of the last day fill a page.
    const [latest] = (await send('GET', events)).body.results
    expect(latest.event).toBe('later')
    expect((await send('GET', `${events}?limit=1`)).body.results).toEqual([latest])
  })

  test('values of a property', async () => {
    const values = async (query: string) =>
      (await send('GET', `${events}values/?${query}`)).body.map((one: { name: unknown; count: number }) => [one.name, one.count])
    expect(await values('key=page')).toEqual([
      ['/home', 2],
      ['/Home "x"', 1],
      ['/pricing', 1],
    ])
    expect(await values('key=page&value=HOME')).toEqual([
      ['/home', 2],
      ['/Home "x"', 1],
    ])
    expect(await values('key=colors')).toEqual([
      ['red', 2],
      ['blue', 1],
    ])
    expect(await values('key=colors&value=bl')).toEqual([['blue', 1]])
    expect(await values('key=price&event_name=buy')).toEqual([['5', 1]])
    expect(await values('key=page&limit=1')).toEqual([['/home', 2]])
    expect(await values(`key=${encodeURIComponent("x') or 1 = 1 --")}`)).toEqual([])
    expect(await send('GET', `${events}values/`)).toMatchObject(refused(400, 'required', undefined, 'key'))
  })
})

describe('persons', () => {
  test('are listed from the newest on, and found', async () => {
    expect(names(await send('GET', persons))).toEqual(['cid@acme.test', 'bob@acme.test', 'ann@acme.test'])
    expect(names(await send('GET', `${persons}?search=ANN`))).toEqual(['ann@acme.test'])
    expect(names(await send('GET', `${persons}?search=bob-ph`))).toEqual(['bob@acme.test'])
    expect(names(await send('GET', `${persons}?distinct_id=cid-phone`))).toEqual(['cid@acme.test'])
    expect(names(await send('GET', `${persons}?email=ann@acme.test`))).toEqual(['ann@acme.test'])
    const free = JSON.stringify([{ key: 'plan', value: 'free', operator: 'exact', type: 'person' }])
    const page = await send('GET', `${persons}?properties=${free}&limit=1`)
    expect([page.body.count, names(page)]).toEqual([2, ['cid@acme.test']])
    const one = await send('GET', `${persons}${ids[0]}/`)
    expect(one.body).toMatchObject({
      id: ids[0],
      uuid: ids[0],
      distinct_ids: ['ann', 'ann-phone'],
      properties: { plan: 'pro' },
      is_identified: false,
    })
    expect((await send('GET', `${persons}ann-phone/`)).body).toEqual(one.body)
    expect(await send('GET', `${persons}zoe/`)).toMatchObject(refused(404, 'not_found'))
    const values = await send('GET', `${persons}values/?key=tags`)
    expect(values.body).toEqual([
      { name: 'all', count: 3 },
      { name: 'free', count: 2 },
      { name: 'pro', count: 1 },
    ])
  })

  test('properties are set and removed, and queries follow at once', async () => {
    const set = await send('PATCH', `${persons}${ids[1]}/`, { properties: { name: 'Bob', size: 3 } })
    expect(set.body.properties).toMatchObject({ name: 'Bob', size: 3, plan: 'free' })
    expect((await send('POST', `${persons}bob/`, { properties: { size: 4 } })).body.properties.size).toBe(4)
    expect(
      (await send('POST', `${persons}bob/update_property/`, { key: 'odd', value: { 'a\0': 'x\0 \\u0000' } })).body.person.properties.odd,
    ).toEqual({ 'a\ufffd': 'x\ufffd \\u0000' })
    const done = await send('POST', `${persons}bob/delete_property/`, { $unset: 'size' })
    expect(done.body.person.properties).not.toHaveProperty('size')
    expect((await doers())[2]).toEqual(['view', 'bob', 'Bob', ids[1]])
    const log = await send('GET', `${persons}${ids[1]}/activity/`)
    expect(log.body.results.map((one: { activity: string }) => one.activity)).toEqual(['updated', 'updated', 'updated', 'updated'])
    expect(JSON.stringify(log.body), 'names of properties, not their values').not.toContain('Bob')
    expect(await send('PATCH', `${persons}${ids[1]}/`, { properties: [1] })).toMatchObject({ status: 400, body: { attr: 'properties' } })
    expect(await send('PATCH', `${persons}${ids[1]}/`, { properties: { big: 'x'.repeat(600_000) } })).toMatchObject(
      refused(400, 'invalid_input', undefined, 'properties'),
    )
  })

  test('a split id takes its events with it, and a merge brings them back', async () => {
    expect(await trend('dau')).toBe(3)
    for (const body of [
      { main_distinct_id: 'bob' },
      { distinct_ids_to_split: ['ann', 'ann-phone'] },
      { main_distinct_id: 'ann', distinct_ids_to_split: ['ann'] },
      { distinct_ids_to_split: 'ann' },
    ])
      expect((await send('POST', `${persons}${ids[0]}/split/`, body)).status, JSON.stringify(body)).toBe(400)
    const split = await send('POST', `${persons}${ids[0]}/split/`, { main_distinct_id: 'ann' })
    expect(split.body.person).toMatchObject({ id: ids[0], distinct_ids: ['ann'], properties: { plan: 'pro' } })
    const own = (await send('GET', `${persons}ann-phone/`)).body
    expect(own).toMatchObject({ distinct_ids: ['ann-phone'], properties: {}, name: 'ann-phone' })
    expect((await doers()).slice(0, 2)).toEqual([
      ['view', 'ann', 'ann', ids[0]],
      ['view', 'ann-phone', null, own.id],
    ])
    expect(await trend('dau')).toBe(4)
    expect(await send('POST', `${persons}ann/merge/`, { ids: [ids[0]] })).toMatchObject(refused(400, 'invalid_input', undefined, 'ids'))
    expect(await send('POST', `${persons}ann/merge/`, { ids: [held.home.organization.id] })).toMatchObject(
      refused(400, 'invalid_input', undefined, 'ids'),
    )
    const merged = await send('POST', `${persons}ann/merge/`, { ids: [own.id] })
    expect(merged.body.person.distinct_ids.sort()).toEqual(['ann', 'ann-phone'])
    expect(await trend('dau')).toBe(3)
    expect((await doers())[1]).toEqual(['view', 'ann-phone', 'ann', ids[0]])
  })

  test('persons without events are made, or added to by any of their ids; the same again changes nothing', async () => {
    const rows = [
      {
        distinct_ids: ['dee', 'dee-phone'],
        properties: { email: 'dee@acme.test', seats: 2 },
        created_at: '2020-05-01T00:00:00Z',
        is_identified: true,
      },
      { distinct_ids: ['eve'] },
    ]
    const { status, body } = await send('POST', `${persons}import/`, { persons: rows })
    expect(status).toBe(200)
    const dee = async () => (await send('GET', `${persons}dee-phone/`)).body
    const first = await dee()
    expect(first).toMatchObject({ uuid: body.ids[0], ...rows[0], created_at: expect.stringContaining('2020-05-01T00:00:00') })
    expect((await send('POST', `${persons}import/`, { persons: rows })).body).toEqual(body)
    expect(await dee()).toEqual(first)
    const more = [{ distinct_ids: ['eve', 'dee'], properties: { seats: 3 }, created_at: '2021-01-01T00:00:00Z' }]
    expect((await send('POST', `${persons}import/`, { persons: more })).status).toBe(200)
    expect(await dee()).toMatchObject({ properties: { email: 'dee@acme.test', seats: 3 }, created_at: first.created_at })
    expect((await dee()).distinct_ids.sort()).toEqual(['dee', 'dee-phone', 'eve'])
    for (const [given, attr] of [
      [{ persons: [{ distinct_ids: [] }] }, '0__distinct_ids'],
      [{ persons: [{ distinct_ids: [''] }] }, '0__distinct_ids'],
      [{ persons: [{ distinct_ids: ['a'], created_at: 'soon' }] }, '0__created_at'],
      [{ persons: [{ distinct_ids: ['a'], properties: 'x' }] }, 'persons__0__properties'],
      [{ persons: [{ distinct_ids: ['a'], propertis: {} }] }, '0__propertis'],
      [{}, 'persons'],
    ] as const)
      expect(await send('POST', `${persons}import/`, given)).toMatchObject({ status: 400, body: { attr } })
    expect((await send('POST', `${persons}import/`, { persons: Array(1_001).fill({ distinct_ids: ['a'] }) })).status).toBe(400)
    expect((await send('GET', `${persons}a/`)).status).toBe(404)
    await send('POST', `${persons}bulk_delete/`, { distinct_ids: ['dee'] })
  })

  test('a deleted person is gone, with its events or without', async () => {
    const { owner, call } = held.home
    expect((await send('DELETE', `${persons}bob/`)).status).toBe(202)
    expect(await send('GET', `${persons}bob/`)).toMatchObject(refused(404, 'not_found'))
    expect(await send('GET', `${persons}${ids[1]}/`)).toMatchObject(refused(404, 'not_found'))
    expect((await doers()).filter(([, id]) => id === 'bob')).toEqual([
      ['view', 'bob', null, ids[1]],
      ['buy', 'bob', null, ids[1]],
    ])
    expect(await trend('dau')).toBe(3)
    expect(
      (await call('POST', `${persons}bulk_delete/?delete_events=true`, { as: owner, body: { distinct_ids: ['ann-phone'] } })).status,
    ).toBe(202)
    expect((await doers()).filter(([, id]) => id.startsWith('ann'))).toEqual([])
    expect([await trend('dau'), await trend('total')]).toEqual([2, 2])
    expect(names(await send('GET', persons))).toEqual(['cid@acme.test'])
    const log = await send('GET', `${persons}activity/`)
    expect(log.body.results[0]).toMatchObject({ activity: 'deleted', item_id: ids[0], user: { email: owner.email } })
    expect(await send('POST', `${persons}bulk_delete/`, { ids: ['x'] })).toMatchObject(refused(400, 'invalid_input', undefined, 'ids'))
    expect(await send('POST', `${persons}bulk_delete/`, {})).toMatchObject(refused(400, 'required', undefined, 'ids'))
    expect((await send('POST', `${persons}bulk_delete/`, { ids: [] })).status).toBe(202)
  })

  test('many change one at once, and each change holds', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => send('POST', `${persons}cid/update_property/`, { key: `p${n}`, value: n })),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    const { properties } = (await send('GET', `${persons}cid/`)).body
    expect(Array.from({ length: 20 }, (_, n) => properties[`p${n}`])).toEqual(Array.from({ length: 20 }, (_, n) => n))
    const raced = await Promise.all(Array.from({ length: 5 }, () => send('POST', `${persons}cid/split/`, { main_distinct_id: 'cid' })))
    for (const { status } of raced) expect([200, 400]).toContain(status) // the id may have left already
    expect((await send('GET', `${persons}?search=cid`)).body.count).toBe(2)
  })

  test('those of another project are not there', async () => {
    const { world, call, owner, organization } = held.home
    const other = await world.makeProject(organization.id, {})
    const [theirs] = (await (await world.projectData(other.id)).importPersons([{ distinct_ids: ['theirs'] }])).ids
    for (const [method, path, body] of [
      ['GET', `${theirs}/`],
      ['GET', 'theirs/'],
      ['PATCH', `${theirs}/`, { properties: { a: 1 } }],
      ['POST', `${theirs}/split/`, {}],
      ['DELETE', `${theirs}/?delete_events=true`],
    ] as const)
      expect(await send(method, persons + path, body), path).toMatchObject(refused(404, 'not_found'))
    expect(await send('POST', `${persons}cid/merge/`, { ids: [theirs] })).toMatchObject(refused(400, 'invalid_input', undefined, 'ids'))
    expect((await send('POST', `${persons}bulk_delete/`, { ids: [theirs] })).status).toBe(202)
    expect((await call('GET', `/api/projects/${other.id}/persons/${theirs}/`, { as: owner })).status).toBe(200)
  })

  test('its cohorts', async () => {
    const { body: made } = await send('POST', '/api/projects/@current/cohorts/', { name: 'C', is_static: true, distinct_ids: ['cid'] })
    await send('POST', '/api/projects/@current/cohorts/', { name: 'Empty', is_static: true })
    const plan = (value: string) => ({
      filters: { properties: { type: 'AND', values: [{ type: 'person', key: 'plan', value, operator: 'exact' }] } },
    })
    const { body: free } = await send('POST', '/api/projects/@current/cohorts/', { name: 'Free', ...plan('free') })
    await send('POST', '/api/projects/@current/cohorts/', { name: 'Pro', ...plan('pro') })
    const found = await send('GET', `${persons}cohorts/?person_id=${ids[2]}`)
    expect(found.body).toEqual({
      results: [
        { id: made.id, name: 'C', is_static: true, count: 1 },
        { id: free.id, name: 'Free', is_static: false, count: expect.any(Number) },
      ],
    })
    expect(await send('GET', `${persons}cohorts/`)).toMatchObject(refused(400, 'required', undefined, 'person_id'))
  })
})
