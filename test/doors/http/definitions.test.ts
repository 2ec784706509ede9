import { beforeAll, describe, expect, test } from 'vitest'
import { refused, withHome } from './conversation.ts'

const held = withHome()
const actions = '/api/projects/@current/actions/'
const cohorts = '/api/projects/@current/cohorts/'
const now = '2024-03-31T12:00:00Z'
let ids: readonly string[]

beforeAll(async () => {
  const { world, project } = held.home
  world.now = new Date(now)
  const data = await world.projectData(project.id)
  const person = (name: string, plan: string, day: number) => ({
    distinct_ids: [name, `${name}-phone`],
    properties: { name, plan },
    created_at: `2024-01-0${day}T00:00:00Z`,
  })
  ids = (await data.importPersons([person('ann', 'pro', 1), person('bob', 'free', 2), person('cid', 'free', 3)])).ids
  const event = (distinct_id: string, name: string) => ({ event: name, distinct_id, timestamp: '2024-03-30T10:00:00Z' })
  await data.ingest({ batch: [event('ann', 'view'), event('ann', 'buy'), event('bob', 'view')] })
})

const send = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
  held.home.call(method, path, { as: held.home.member, body, headers })
const members = async (id: number): Promise<string[]> => {
  const { body } = await send('GET', `${cohorts}${id}/persons/`)
  expect(body.count).toBe(body.results.length)
  return body.results.map((person: { properties: { name: string } }) => person.properties.name).sort()
}
const group = (type: string, ...values: object[]) => ({ properties: { type, values } })
const plan = (value: string) => ({ type: 'person', key: 'plan', value, operator: 'exact' })

/** All fields of a step that says nothing. */
const anyStep = {
  ...{ event: null, properties: null, selector: null, tag_name: null, text: null, text_matching: null },
  ...{ href: null, href_matching: null, url: null, url_matching: 'contains' },
}

describe('actions', () => {
  test('from first to last, and queries follow at once', async () => {
    const { member } = held.home
    const personal_api_key = await held.home.key(member, ['action:write'])
    const made = await held.home.call('POST', actions, {
      body: { name: ' Paid ', steps: [{ event: 'buy' }], personal_api_key, tags: ['x'] },
    })
    expect(made.status).toBe(201)
    const { id } = made.body
    expect(made.body).toEqual({
      id,
      name: 'Paid',
      description: '',
      steps: [{ ...anyStep, event: 'buy' }],
      tags: ['x'],
      pinned_at: null,
      is_calculating: false,
      is_action: true,
      team_id: held.home.project.id,
      deleted: false,
      created_at: now,
      updated_at: now,
      created_by: expect.objectContaining({ email: member.email }),
    })
    const count = async () => {
      const query = { kind: 'TrendsQuery', series: [{ kind: 'ActionsNode', id }], dateRange: { date_from: '-7d' } }
      const { body } = await send('POST', '/api/projects/@current/query/', { query })
      return body.results.map((row: { count: number }) => row.count)
    }
    expect(await count()).toEqual([1])
    const changed = await send('PATCH', `${actions}${id}/`, { steps: [{ event: 'view' }], description: 'Looked' })
    expect(changed.body).toMatchObject({
      id,
      name: 'Paid',
      description: 'Looked',
      steps: [{ event: 'view' }],
      created_by: { email: member.email },
    })
    expect(await count()).toEqual([2])
    expect((await send('GET', `${actions}${id}/`)).body).toEqual(changed.body)
    expect((await send('GET', actions)).body).toMatchObject({ count: 1, next: null, results: [{ id, name: 'Paid' }] })
    expect(await send('DELETE', `${actions}${id}/`)).toMatchObject(refused(405, 'method_not_allowed'))
    expect((await send('PATCH', `${actions}${id}/`, { deleted: true })).body).toMatchObject({ id, deleted: true })
    expect(await send('GET', `${actions}${id}/`)).toMatchObject(refused(404, 'not_found', `There is no action ${id}`))
    expect(await count()).toEqual([])
  })

  test('an id is kept when it is free', async () => {
    const make = async (name: string) => (await send('POST', actions, { id: 40, name })).body.id
    expect([await make('x'), await make('y')]).toEqual([40, 41])
    const taken = refused(400, 'unique', 'This project already has an action with this name, ID 40.', 'name')
    expect(await send('POST', actions, { name: ' x ' })).toMatchObject(taken)
    expect(await send('PATCH', `${actions}41/`, { name: 'x' })).toMatchObject(taken)
    const pinned_at = '2024-03-01T00:00:00Z'
    expect(await send('PATCH', `${actions}41/`, { name: 'y', tags: ['a'], pinned_at })).toMatchObject({ body: { tags: ['a'], pinned_at } })
    await send('PATCH', `${actions}41/`, { deleted: true })
    expect([await make('y')], 'the name is free again').toEqual([41])
    const page = (await send('GET', `${actions}?limit=1`)).body
    expect(page).toMatchObject({ count: 2, next: expect.stringContaining('offset=1'), results: [{ id: 40 }] })
  })

  test.each<[string, unknown, string, string | null]>([
    ['no name', {}, 'required', 'name'],
    ['an empty name', { name: ' ' }, 'blank', 'name'],
    ['a name too long', { name: 'x'.repeat(401) }, 'max_length', 'name'],
    ['steps that are none', { name: 'x', steps: 'buy' }, 'invalid_input', 'steps'],
    [
      'a way to match that is none',
      { name: 'x', steps: [{ url: '/', url_matching: 'about' }] },
      'invalid_choice',
      'steps__0__url_matching',
    ],
    ['no object', [1], 'invalid_input', null],
  ])('%s is refused by its field', async (_, body, code, attr) => {
    expect(await send('POST', actions, body)).toMatchObject(refused(400, code, undefined, attr))
  })
})

describe('cohorts', () => {
  test('a dynamic one from first to last, always calculated', async () => {
    const { member, world, project } = held.home
    const made = await send('POST', cohorts, { name: 'Pros', filters: group('AND', plan('pro')) })
    expect(made.status).toBe(201)
    const { id } = made.body
    expect(made.body).toEqual({
      id,
      name: 'Pros',
      description: '',
      is_static: false,
      filters: group('AND', plan('pro')),
      count: 1,
      last_calculation: now,
      is_calculating: false,
      errors_calculating: 0,
      deleted: false,
      created_at: now,
      updated_at: now,
      created_by: expect.objectContaining({ email: member.email }),
    })
    expect(await members(id)).toEqual(['ann'])
    world.now = new Date('2024-03-31T13:00:00Z')
    await (await world.projectData(project.id)).ingest({ batch: [{ event: 'x', distinct_id: 'cid', $set: { plan: 'pro' } }] })
    expect((await send('GET', `${cohorts}${id}/`)).body).toMatchObject({
      count: 2,
      last_calculation: '2024-03-31T13:00:00Z',
      updated_at: now,
    })
    expect(await members(id)).toEqual(['ann', 'cid'])
    const changed = await send('PATCH', `${cohorts}${id}/`, { filters: group('AND', plan('free')) })
    expect(changed.body).toMatchObject({ name: 'Pros', count: 1, updated_at: '2024-03-31T13:00:00Z', created_by: { email: member.email } })
    await (await world.projectData(project.id)).ingest({ batch: [{ event: 'x', distinct_id: 'cid', $set: { plan: 'free' } }] })
    expect((await send('DELETE', `${cohorts}${id}/`)).status).toBe(204)
    expect(await send('GET', `${cohorts}${id}/persons/`)).toMatchObject(refused(404, 'not_found'))
    world.now = new Date(now)
  })

  const form = (fields: Record<string, string>, csv: string) => {
    const body = new FormData()
    for (const [name, value] of Object.entries(fields)) body.set(name, value)
    body.set('csv', new Blob([csv], { type: 'text/csv' }), 'people.csv')
    return body
  }
  test.each<[string, () => object, string[]]>([
    ['ids of persons', () => ({ person_ids: [ids[0], ids[2], 'nobody'] }), ['ann', 'cid']],
    ['distinct ids', () => ({ distinct_ids: ['ann-phone', 'bob', 'nobody'] }), ['ann', 'bob']],
    ['a statement', () => ({ query: "select distinct person_id from events where event = 'buy'" }), ['ann']],
    [
      'a query of statements',
      () => ({ query: { kind: 'SqlLikeQuery', query: 'select person_id from events where event = {e}', values: { e: 'view' } } }),
      ['ann', 'bob'],
    ],
    ['a query of actors', () => ({ query: { kind: 'ActorsQuery', properties: [plan('free')], limit: 1 } }), ['bob', 'cid']],
    [
      'the actors of a point',
      () => ({
        query: {
          kind: 'InsightActorsQuery',
          source: { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'view' }], dateRange: { date_from: '-7d' } },
          day: '2024-03-30',
        },
      }),
      ['ann', 'bob'],
    ],
    ['a CSV in JSON', () => ({ csv: 'name,distinct_id\nx,cid-phone\n' }), ['cid']],
    ['nobody', () => ({}), []],
  ])('a static one of %s', async (_, given, expected) => {
    const made = await send('POST', cohorts, { name: 'Some', is_static: true, ...given() })
    expect(made).toMatchObject({ status: 201, body: { is_static: true, filters: null, count: expected.length } })
    expect(await members(made.body.id)).toEqual(expected)
  })

  test('a static one of a file, as a form and as the whole body', async () => {
    const { world, member } = held.home
    const post = async (path: string, body: FormData | string, headers: Record<string, string> = {}, method = 'POST') => {
      const answer = await fetch(world.url + path, { method, body, headers: { ...(await world.login(member)), ...headers } })
      return { status: answer.status, body: (await answer.json()) as { id: number } }
    }
    const made = await post(cohorts, form({ name: 'Of a form', is_static: 'true' }, 'distinct_id\nann\nbob\n'))
    expect(made).toMatchObject({ status: 201, body: { name: 'Of a form', is_static: true, count: 2, last_calculation: now } })
    const csv = { 'content-type': 'text/csv; charset=utf-8' }
    const other = await post(`${cohorts}?name=Of%20a%20body`, `person_id\n${ids[1]}`, csv)
    expect(other).toMatchObject({ status: 201, body: { name: 'Of a body', is_static: true, count: 1 } })
    expect(await post(cohorts, 'ann', csv)).toMatchObject(refused(400, 'required', undefined, 'name'))
    expect(await post(actions, 'ann', csv), 'where nobody expects it').toMatchObject(refused(415, 'unsupported_media_type'))
    expect(await post(`${cohorts}${other.body.id}/`, 'cid', csv, 'PATCH')).toMatchObject({
      status: 200,
      body: { name: 'Of a body', count: 1 },
    })
    expect(await members(other.body.id)).toEqual(['cid'])
    expect((await send('PATCH', `${cohorts}${other.body.id}/`, { name: 'Renamed' })).body).toMatchObject({ name: 'Renamed', count: 1 })
  })

  test.each<[string, object[], string[]]>([
    ['properties', [{ properties: [plan('pro')] }], ['ann']],
    ['properties as one object', [{ properties: { plan: 'free' } }], ['bob', 'cid']],
    [
      'one of two groups',
      [{ properties: [plan('pro')] }, { properties: [{ key: 'name', value: 'cid', operator: 'exact' }] }],
      ['ann', 'cid'],
    ],
    ['properties of persons that are called those of events', [{ properties: [{ ...plan('pro'), type: 'event' }] }], ['ann']],
    [
      'the same in groups',
      [
        {
          properties: {
            type: 'OR',
            values: [
              { ...plan('pro'), type: 'event' },
              { key: 'name', value: 'cid' },
            ],
          },
        },
      ],
      ['ann', 'cid'],
    ],
    ['something done', [{ event_id: 'view', days: 7 }], ['ann', 'bob']],
    ['something done, of no number of times', [{ event_id: 'view', days: 7, count: 0, count_operator: 'gte' }], ['ann', 'bob']],
    ['something done in the year before', [{ event_id: 'view' }], ['ann', 'bob']],
    ['something done that often', [{ event_id: 'view', days: 7, count: 2, count_operator: 'gte' }], []],
  ])('the older words: %s', async (_, groups, expected) => {
    const { body } = await send('POST', cohorts, { name: 'Old', groups })
    expect(body).toMatchObject({ filters: { properties: { type: 'OR' } }, count: expected.length })
    expect(await members(body.id)).toEqual(expected)
  })

  test('older words change newer ones', async () => {
    const { body } = await send('POST', cohorts, { name: 'New', filters: group('AND', plan('pro')) })
    expect((await send('PATCH', `${cohorts}${body.id}/`, { groups: [{ properties: { plan: 'free' } }] })).body.count).toBe(2)
  })

  test('one that names what is gone is said to, and hides no other', async () => {
    const { body: base } = await send('POST', cohorts, { name: 'Base', filters: group('AND', plan('pro')) })
    const { body: above } = await send('POST', cohorts, {
      name: 'Above',
      filters: group('NOT', { type: 'cohort', key: 'id', value: base.id }),
    })
    expect(await members(above.id)).toEqual(['bob', 'cid'])
    await send('DELETE', `${cohorts}${base.id}/`)
    const { body } = await send('GET', cohorts)
    const failing = body.results.filter((one: { errors_calculating: number }) => one.errors_calculating > 0)
    expect(failing).toMatchObject([{ id: above.id, is_calculating: false }])
    expect(await send('GET', `${cohorts}${above.id}/persons/`), 'nobody gets members of yesterday').toMatchObject(
      refused(400, 'invalid_input', `There is no cohort ${base.id}.`, 'filters__properties__values__0__value'),
    )
    const { body: other } = await send('POST', cohorts, { name: 'Other', filters: group('AND', plan('pro')) })
    expect(await members(other.id)).toEqual(['ann'])
    expect((await send('PATCH', `${cohorts}${above.id}/`, { filters: group('AND', plan('free')) })).body.errors_calculating).toBe(0)
    expect(await members(above.id)).toEqual(['bob', 'cid'])
  })

  test.each<[string, unknown, string, string | null]>([
    ['no name', { filters: group('AND') }, 'required', 'name'],
    ['nothing to go by', { name: 'x' }, 'invalid_input', 'filters'],
    ['filters that are none', { name: 'x', filters: 'pro' }, 'invalid_input', 'filters'],
    ['an unknown join', { name: 'x', filters: group('XOR') }, 'invalid_input', 'filters__properties__type'],
    [
      'an unknown behaviour',
      { name: 'x', filters: group('AND', { type: 'behavioral', key: 'a', value: 'danced' }) },
      'invalid_input',
      'filters__properties__values__0__value',
    ],
    ['an operator that is none', { name: 'x', filters: group('AND', { ...plan('pro'), operator: 'is_nice' }) }, 'invalid_input', null],
    ['a cohort that is not there', { name: 'x', filters: group('AND', { type: 'cohort', key: 'id', value: 999 }) }, 'invalid_input', null],
    ['a statement that is none', { name: 'x', is_static: true, query: 'selec 1' }, 'invalid_input', null],
    ['a query without a statement', { name: 'x', is_static: true, query: { kind: 'SqlLikeQuery' } }, 'invalid_input', 'query'],
    ['a statement of other things', { name: 'x', is_static: true, query: 'select event from events' }, 'invalid_input', 'query'],
    ['a query of an unknown kind', { name: 'x', is_static: true, query: { kind: 'Soup' } }, 'invalid_input', null],
    ['a query that has no actors', { name: 'x', is_static: true, query: { kind: 'EventsQuery', select: ['*'] } }, 'invalid_input', null],
    ['ids that are no list', { name: 'x', is_static: true, person_ids: 'a' }, 'invalid_input', 'person_ids'],
  ])('%s is refused, and leaves nothing behind', async (_, body, code, attr) => {
    const before = (await send('GET', cohorts)).body.count
    const answer = await send('POST', cohorts, body)
    expect(answer).toMatchObject({ status: 400, body: { code, ...(attr === null ? {} : { attr }) } })
    expect((await send('GET', cohorts)).body.count).toBe(before)
  })

  test('a cohort stays static or dynamic', async () => {
    const { body } = await send('POST', cohorts, { name: 'x', is_static: true })
    expect(await send('PATCH', `${cohorts}${body.id}/`, { is_static: false, filters: group('AND', plan('pro')) })).toMatchObject(
      refused(400, 'invalid_input', undefined, 'is_static'),
    )
  })

  test('members come in pages, the newest first', async () => {
    const { body } = await send('POST', cohorts, { name: 'All', is_static: true, person_ids: ids })
    const first = (await send('GET', `${cohorts}${body.id}/persons/?limit=2`)).body
    expect(first).toMatchObject({ count: 3, previous: null, results: [{ id: ids[2], distinct_ids: ['cid', 'cid-phone'] }, { id: ids[1] }] })
    const second = await fetch(first.next, { headers: await held.home.world.login(held.home.member) })
    expect(await second.json()).toMatchObject({ count: 3, next: null, previous: expect.any(String), results: [{ id: ids[0] }] })
  })
})

describe('written whole, and written down', () => {
  const log = async (path: string) => (await send('GET', `${path}activity/`)).body.results
  const entry = (activity: string, scope: string, id: number, name: string) => ({
    activity,
    scope,
    item_id: String(id),
    user: { email: held.home.member.email },
    detail: { name },
  })

  test('an action', async () => {
    const { body } = await send('POST', actions, { name: 'A', description: 'of old', steps: [{ event: 'buy' }] })
    const path = `${actions}${body.id}/`
    expect(await send('PUT', path, { steps: [] })).toMatchObject(refused(400, 'required', undefined, 'name'))
    expect(await send('PUT', path, { name: 'B' })).toMatchObject({ status: 200, body: { name: 'B', description: '', steps: [] } })
    await send('PATCH', path, { name: 'B' })
    await send('PATCH', path, { deleted: true })
    const entries = await log(path)
    expect(entries).toMatchObject([
      entry('deleted', 'Action', body.id, 'B'),
      entry('updated', 'Action', body.id, 'B'),
      entry('created', 'Action', body.id, 'A'),
    ])
    expect(entries[1].detail.changes).toEqual([
      { type: 'Action', action: 'changed', field: 'name', before: 'A', after: 'B' },
      { type: 'Action', action: 'changed', field: 'description', before: 'of old', after: '' },
      { type: 'Action', action: 'changed', field: 'steps', before: [{ event: 'buy' }], after: [] },
    ])
  })

  test('a cohort', async () => {
    const { body } = await send('POST', cohorts, { name: 'C', description: 'x', filters: group('AND', plan('pro')) })
    const path = `${cohorts}${body.id}/`
    expect(await send('PUT', path, { name: 'C' })).toMatchObject(refused(400, 'invalid_input', undefined, 'filters'))
    expect(await send('PUT', path, { filters: group('AND', plan('free')) })).toMatchObject(refused(400, 'required', undefined, 'name'))
    const whole = await send('PUT', path, { name: 'D', filters: group('AND', plan('free')) })
    expect(whole).toMatchObject({ status: 200, body: { name: 'D', description: '', is_static: false, count: 2 } })
    await send('DELETE', path)
    const entries = await log(path)
    expect(entries).toMatchObject([
      entry('deleted', 'Cohort', body.id, 'D'),
      entry('updated', 'Cohort', body.id, 'D'),
      entry('created', 'Cohort', body.id, 'C'),
    ])
    expect(entries[1].detail.changes.map((one: { field: string }) => one.field)).toEqual(['name', 'description', 'filters'])
  })

  test('a static cohort keeps its members, and stays static', async () => {
    const { body } = await send('POST', cohorts, { name: 'S', is_static: true, distinct_ids: ['ann'] })
    const path = `${cohorts}${body.id}/`
    expect((await send('PUT', path, { name: 'T' })).body).toMatchObject({ name: 'T', is_static: true, count: 1 })
    expect((await send('PUT', path, { name: 'T', distinct_ids: ['ann', 'bob'] })).body.count).toBe(2)
  })

  test('another project has no such entries', async () => {
    const { body } = await send('POST', actions, { id: 78, name: 'Quiet' })
    const path = `${actions}${body.id}/activity/`
    expect((await send('GET', path)).body.total_count).toBe(1)
    expect((await held.home.call('GET', path, { as: held.home.outsider })).body.total_count).toBe(0)
  })
})

test('nobody sees the definitions of another project, and what is no number is not there', async () => {
  const { call, outsider, key, member } = held.home
  const { body: mine } = await send('POST', actions, { id: 77, name: 'Mine' })
  for (const path of [actions, cohorts]) {
    expect(await send('GET', `${path}x/`)).toMatchObject(refused(404, 'not_found', 'Not found.'))
    expect(await send('PATCH', `${path}999/`, { deleted: true })).toMatchObject(refused(404, 'not_found'))
    expect(await send('PATCH', `${path}999/`, { name: 1 })).toMatchObject(refused(404, 'not_found'))
  }
  expect((await call('GET', actions, { as: outsider })).body.results).toEqual([])
  expect(await call('GET', `${actions}${mine.id}/`, { as: outsider })).toMatchObject(refused(404, 'not_found'))
  const reader = await key(member, ['action:read'])
  expect((await call('GET', `${actions}${mine.id}/`, { as: reader })).body.name).toBe('Mine')
  expect(await call('POST', actions, { as: reader, body: { name: 'x' } })).toMatchObject(
    refused(403, 'permission_denied', "API key missing required scope 'action:write'"),
  )
  const again = await call('POST', actions, { as: member, body: { name: 'Once' }, headers: { 'idempotency-key': 'one' } })
  expect((await call('POST', actions, { as: member, body: { name: 'Once' }, headers: { 'idempotency-key': 'one' } })).body).toEqual(
    again.body,
  )
})

test.each([actions, cohorts])('%s is searched by name and description, a page at a time', async (path) => {
  const made: { id: number; name: string }[] = []
  for (const [name, description] of [
    ['Alpha 100%', 'first'],
    ['alphabet', null],
    ['Gamma', 'after ALPHA'],
    ['Delta', ''],
  ])
    made.push(
      (await send('POST', path, { name, description, ...(path === cohorts ? { is_static: true, distinct_ids: ['ann'] } : { steps: [] }) }))
        .body,
    )
  const names = async (parameters: Record<string, string>) => {
    const { body } = await send('GET', `${path}?${new URLSearchParams(parameters)}`)
    const own = body.results.filter(({ id }: { id: number }) => made.some((one) => one.id === id))
    return [body.count, own.map(({ name }: { name: string }) => name)]
  }
  expect(await names({ search: 'alpha' })).toEqual([3, ['Alpha 100%', 'alphabet', 'Gamma']])
  expect(await names({ search: ' ALPHA ', limit: '1', offset: '1' })).toEqual([3, ['alphabet']])
  expect(await names({ search: '0%' })).toEqual([1, ['Alpha 100%']])
  expect(await names({ search: 'nothing\u0000' })).toEqual([0, []])
  expect((await names({ search: ' ' }))[1]).toEqual(made.map(({ name }) => name))
  for (const { id } of made) await send('PATCH', `${path}${id}/`, { deleted: true })
})

test.each([
  [actions, 'Action'],
  [cohorts, 'Cohort'],
])('PATCH with `deleted` removes one of %s, as client tools do', async (list, scope) => {
  const { project, owner, call } = held.home
  const { body: made } = await send('POST', list, { name: 'Short-lived', ...(scope === 'Cohort' && { is_static: true }) })
  expect(made.deleted).toBe(false)
  const path = `${list}${made.id}/`
  expect((await send('PATCH', path, { deleted: false, description: 'x' })).body).toMatchObject({ deleted: false, description: 'x' })
  expect(await send('PATCH', path, { deleted: 'maybe' })).toMatchObject(refused(400, 'invalid_input', undefined, 'deleted'))
  expect(await send('PATCH', path, { deleted: true })).toMatchObject({
    status: 200,
    body: { id: made.id, name: 'Short-lived', deleted: true },
  })
  expect((await send('GET', path)).status).toBe(404)
  expect((await send('PATCH', path, { deleted: true })).status).toBe(404)
  const { results } = (await call('GET', `/api/projects/${project.id}/${scope.toLowerCase()}s/${made.id}/activity/`, { as: owner })).body
  expect(results[0]).toMatchObject({ activity: 'deleted', scope })
})
