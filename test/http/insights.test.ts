import { beforeAll, describe, expect, test } from 'vitest'
import { refused, withHome } from './conversation.ts'

const held = withHome()
const base = '/api/projects/@current/insights/'
const ask = (method: string, path = '', body?: unknown) =>
  held.home.call(method, base + path, { as: held.home.member, ...(body === undefined ? {} : { body }) })
const trends = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'signup' }] }
const statement = { kind: 'HogQLQuery', query: 'select count() from events' }
const made = async (fields: object = {}) => (await ask('POST', '', { query: trends, ...fields })).body

beforeAll(async () => {
  const { call, project } = held.home
  const batch = ['a', 'b', 'c'].map((distinct_id) => ({ event: 'signup', distinct_id, properties: { plan: distinct_id } }))
  await call('POST', '/batch/', { body: { api_key: project.api_token, batch } })
})

test('an insight is made, read, changed, hidden and shown again', async () => {
  const { member, owner, call } = held.home
  const created = await ask('POST', '', {
    name: 'Sign-ups',
    description: 'Per day',
    tags: ['Growth', 'growth', ' weekly '],
    query: { kind: 'InsightVizNode', source: trends },
  })
  expect(created).toMatchObject({
    status: 201,
    body: {
      name: 'Sign-ups',
      derived_name: null,
      description: 'Per day',
      tags: ['growth', 'weekly'],
      query: { kind: 'InsightVizNode', source: trends },
      saved: false,
      favorited: false,
      deleted: false,
      dashboards: [],
      result: null,
      is_cached: false,
      created_by: { id: member.id },
    },
  })
  const { id, short_id } = created.body
  expect(short_id).toMatch(/^[a-z0-9]{8}$/)
  expect((await ask('GET', `${short_id}/`)).body).toEqual((await ask('GET', `${id}/`)).body)

  const changed = await call('PATCH', `${base}${id}/`, { as: owner, body: { name: null, favorited: 'true', query: statement } })
  expect(changed.body).toMatchObject({ name: null, favorited: true, query: statement, last_modified_by: { id: owner.id } })
  expect((await ask('PATCH', `${id}/`, { deleted: true })).body.deleted).toBe(true)
  expect((await ask('GET', `?short_id=${short_id}`)).body.count).toBe(0)
  expect((await ask('PATCH', `${id}/`, { deleted: false })).body.deleted).toBe(false)
  expect((await ask('GET', `?short_id=${short_id}`)).body.results[0].id).toBe(id)
  const { body: log } = await ask('GET', `${id}/activity/`)
  expect(log.results.map((one: { activity: string }) => one.activity)).toEqual(['updated', 'deleted', 'updated', 'created'])
  expect(await ask('DELETE', `${id}/`)).toMatchObject(refused(405, 'method_not_allowed'))
})

describe('answers', () => {
  test('are shown when they are cached, and computed when asked for', async () => {
    const { id } = await made({ query: { ...trends, interval: 'day' } })
    expect((await ask('GET', `${id}/`)).body).toMatchObject({ result: null, last_refresh: null })
    const computed = (await ask('GET', `${id}/?refresh=blocking`)).body
    expect(computed).toMatchObject({ is_cached: false, result: [{ count: 3 }], timezone: 'UTC', cache_target_age: expect.any(String) })
    expect((await ask('GET', `${id}/`)).body).toMatchObject({
      is_cached: true,
      result: computed.result,
      last_refresh: computed.last_refresh,
    })
    const { body } = await held.home.call('POST', '/api/projects/@current/query/', {
      as: held.home.member,
      body: { query: { ...trends, interval: 'day' } },
    })
    expect([body.is_cached, body.results]).toEqual([true, computed.result])
    expect((await ask('GET', `${id}/?refresh=true`)).body.is_cached).toBe(false)
  })

  test('of statements are cached too', async () => {
    const { id } = await made({ query: { kind: 'DataVisualizationNode', source: statement } })
    expect((await ask('GET', `${id}/?refresh=blocking`)).body).toMatchObject({ is_cached: false, result: [[3]], columns: ['count()'] })
    expect((await ask('GET', `${id}/`)).body).toMatchObject({ is_cached: true, result: [[3]] })
  })

  test('are computed in the background, and can be polled', async () => {
    const { id } = await made({ query: { ...trends, interval: 'hour' } })
    const { body } = await ask('GET', `${id}/?refresh=async&client_query_id=mine`)
    expect(body.query_status).toMatchObject({ id: 'mine', query_async: true })
    await expect
      .poll(async () => (await held.home.call('GET', '/api/projects/@current/query/mine/', { as: held.home.member })).body.query_status)
      .toMatchObject({ complete: true, error: false, results: { results: [{ count: 3 }] } })
    expect((await ask('GET', `${id}/`)).body).toMatchObject({ is_cached: true, result: [{ count: 3 }] })
    expect((await ask('POST', 'cancel/', { client_query_id: 'mine' })).status).toBe(204)
  })

  test('take filters and variables', async () => {
    const { id } = await made()
    const filters = JSON.stringify({ properties: [{ key: 'plan', value: ['a'], operator: 'exact', type: 'event' }] })
    expect((await ask('GET', `${id}/?refresh=blocking&filters_override=${encodeURIComponent(filters)}`)).body.result[0].count).toBe(1)
    expect((await ask('GET', `${id}/?refresh=blocking`)).body.result[0].count).toBe(3)
  })

  test.each([
    ['refresh=sometimes', 'refresh'],
    ['filters_override=[1]', 'filters_override'],
    ['filters_override={', 'filters_override'],
    [`client_query_id=${'x'.repeat(201)}`, 'client_query_id'],
    [`refresh=blocking&variables_override=${encodeURIComponent('{"a":{"value":1}}')}`, 'variables_override'],
  ])('%s is refused', async (query, attr) => {
    const { id } = await made()
    expect(await ask('GET', `${id}/?${query}`)).toMatchObject({ status: 400, body: { attr } })
  })
})

test.each([
  ['nothing', {}, 'required', 'query'],
  ['a query that is a text', { query: 'select 1' }, 'invalid_input', 'query'],
  ['a kind that does not exist', { query: { kind: 'TrendQuery' } }, 'invalid_input', 'query__kind'],
  ['a misspelled field', { query: { ...trends, intervall: 'day' } }, 'invalid_input', 'query__intervall'],
  [
    'a misspelled field inside',
    { query: { kind: 'DataTableNode', source: { ...trends, intervall: 'day' } } },
    'invalid_input',
    'query__source__intervall',
  ],
  ['no source', { query: { kind: 'InsightVizNode' } }, 'invalid_input', 'query__source'],
  ['a name that is too long', { query: trends, name: 'x'.repeat(401) }, 'max_length', 'name'],
  ['a NUL character', { query: trends, name: 'a\0b' }, 'null_characters_not_allowed', 'name'],
  ['a dashboard that does not exist', { query: trends, dashboards: [999] }, 'does_not_exist', 'dashboards'],
  ['a dashboard as a text', { query: trends, dashboards: ['x'] }, 'invalid_input', 'dashboards__0'],
  ['a tag with quotation marks', { query: trends, tags: ['a"b'] }, 'invalid_input', 'tags__0'],
  ['a list as body', [], 'invalid_input', null],
])('%s is refused', async (_, body, code, attr) => {
  expect(await ask('POST', '', body)).toMatchObject({ status: 400, body: { code, attr } })
})
