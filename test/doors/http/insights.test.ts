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
  expect(await ask('GET', `${id}/`)).toMatchObject(refused(404, 'not_found', expect.stringContaining('deleted')))
  expect(await ask('PATCH', `${id}/`, { name: 'x' })).toMatchObject(refused(404, 'not_found'))
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

  test('have the numbers that charts answer beside their results, alone and on a dashboard', async () => {
    const compareFilter = { compare: true }
    const funnel = { kind: 'FunnelsQuery', series: [...trends.series, ...trends.series], compareFilter }
    const previous = { resolved_compare_date_range: { date_from: expect.any(String) as string } }
    const shown = [
      [
        {
          ...trends,
          series: [{ ...trends.series[0], math: 'avg', math_property: 'price' }],
          trendsFilter: { display: 'BoxPlot' },
          compareFilter,
        },
        { boxplot_data: expect.arrayContaining([expect.objectContaining({ count: 0, p25: 0, p75: 0 })]) as unknown, ...previous },
      ],
      [{ kind: 'RetentionQuery', retentionFilter: { meanRetentionCalculation: 'simple' } }, { mean: [{ breakdown_value: null }] }],
      [
        { ...funnel, funnelsFilter: { funnelVizType: 'time_to_convert' } },
        { compare_results: { bins: [] }, ...previous },
      ],
      [funnel, { total_median_conversion_time: null, ...previous }],
      [
        { kind: 'PathsQuery', compareFilter },
        { unconnected: 0, hasMore: false, ...previous },
      ],
    ] as const
    const { body: dashboard } = await held.home.call('POST', '/api/projects/@current/dashboards/', {
      as: held.home.member,
      body: { name: 'Charts' },
    })
    for (const [source, fields] of shown) {
      const { id } = await made({ query: { kind: 'InsightVizNode', source }, dashboards: [dashboard.id] })
      expect(await ask('GET', `${id}/?refresh=blocking`)).toMatchObject({ status: 200, body: { error: null, ...fields } })
    }
    const { body } = await held.home.call('GET', `/api/projects/@current/dashboards/${dashboard.id}/?refresh=blocking`, {
      as: held.home.member,
    })
    expect(body.tiles.map(({ insight }: { insight: object }) => insight)).toMatchObject(shown.map(([, fields]) => fields))
    const { id } = await made()
    expect((await ask('GET', `${id}/?refresh=blocking`)).body).not.toHaveProperty('boxplot_data')
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

  test('take the interval of other dates', async () => {
    const { id } = await made()
    const days = async (filters: object) => {
      const { body } = await ask('GET', `${id}/?refresh=blocking&filters_override=${encodeURIComponent(JSON.stringify(filters))}`)
      return body.result[0].days.length
    }
    const day = { date_from: '2026-01-05', date_to: '2026-01-05T23:59:59' }
    expect([await days(day), await days({ ...day, interval: null }), await days({ ...day, interval: 'hour' })]).toEqual([1, 1, 24])
    const wrong = encodeURIComponent(JSON.stringify({ ...day, interval: 'moment' }))
    expect((await ask('GET', `${id}/?refresh=blocking&filters_override=${wrong}`)).status).toBe(400)
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

describe('lists', () => {
  const names: string[] = []
  let dashboard: number
  beforeAll(async () => {
    const { call, owner, project } = held.home
    const funnel = {
      kind: 'FunnelsQuery',
      series: [
        { kind: 'EventsNode', event: 'a' },
        { kind: 'EventsNode', event: 'b' },
      ],
    }
    dashboard = (await call('POST', `/api/projects/${project.id}/dashboards/`, { as: owner, body: {} })).body.id
    await made({ name: 'L one', tags: ['blue', 'a,b'], saved: true })
    await made({ name: 'L two', description: 'About 100% of_it', favorited: true, query: funnel })
    await made({ name: null, derived_name: 'L three', dashboards: [dashboard], query: statement })
    await call('POST', `/api/projects/${project.id}/insights/`, { as: owner, body: { name: 'L four', tags: ['red'], query: trends } })
    names.push('L one', 'L two', 'L three', 'L four')
  })
  const found = async (query: string): Promise<string[]> => {
    const { status, body } = await ask('GET', `?limit=1000&${query}`)
    expect(status, JSON.stringify(body)).toBe(200)
    expect(body.count).toBe(body.results.length)
    return body.results
      .map((one: { name: string; derived_name: string }) => one.name ?? one.derived_name)
      .filter((name: string) => names.includes(name))
  }

  test.each([
    ['', ['L one', 'L two', 'L three', 'L four']],
    ['search=l%20t', ['L two', 'L three']],
    ['search=100%25', ['L two']],
    ['search=BLUE', ['L one']],
    ['saved=true', ['L one', 'L three']],
    ['saved=false', ['L two', 'L four']],
    ['favorited=true', ['L two']],
    ['user=true', ['L one', 'L two', 'L three']],
    ['tags=red', ['L four']],
    ['tags=%5B%22a,b%22%5D', ['L one']],
    ['tags=lu', []],
    ['insight=FUNNELS', ['L two']],
    ['insight=sql', ['L three']],
    ['order=-created_at', ['L four', 'L three', 'L two', 'L one']],
    ['order=name&search=L%20', ['L four', 'L one', 'L two', 'L three']],
    ['date_from=-1h&search=L%20', ['L one', 'L two', 'L three', 'L four']],
    ['date_to=-1h', []],
    ['basic=true&saved=true', ['L one', 'L three']],
  ])('%s', async (query, expected) => {
    expect(await found(query)).toEqual(expected)
  })

  test('of dashboards and of users', async () => {
    const { owner } = held.home
    expect(await found(`dashboards=[${dashboard}]`)).toEqual(['L three'])
    expect(await found(`dashboards=[${dashboard},999]`)).toEqual([])
    expect(await found(`created_by=${owner.id}`)).toEqual(['L four'])
    expect((await ask('GET', '?basic=true')).body.results[0]).not.toHaveProperty('result')
    expect((await ask('GET', '')).body.results[0]).toHaveProperty('result')
  })

  test.each(['order=color', 'created_by=me', 'dashboards=x', 'dashboards=-1', 'date_from=yesterdayish', 'refresh=often'])(
    '%s is refused',
    async (query) => {
      expect((await ask('GET', `?${query}`)).status).toBe(400)
    },
  )
})

test('what a user looked at is listed, the last first, and only for that user', async () => {
  const { call, owner } = held.home
  const [one, two, three] = [await made({ name: 'One' }), await made({ name: 'Two' }), await made({ name: 'Three' })]
  const seen = async (as = held.home.member) =>
    (await call('GET', `${base}my_last_viewed/`, { as })).body.map((insight: { name: string }) => insight.name)
  expect(await seen()).toEqual([])
  expect((await ask('POST', `${one.id}/viewed/`)).status).toBe(204)
  expect((await ask('POST', `${three.short_id}/viewed/`)).status).toBe(204)
  expect((await ask('POST', 'viewed/', { insight_ids: [two.id] })).status).toBe(204)
  expect([await seen(), await seen(owner)]).toEqual([['Two', 'Three', 'One'], []])
  await ask('POST', `${one.id}/viewed/`)
  await ask('PATCH', `${two.id}/`, { deleted: true })
  expect(await seen()).toEqual(['One', 'Three'])
  expect(await ask('POST', 'viewed/', { insight_ids: [one.id, 99999] })).toMatchObject(refused(404, 'not_found'))
  expect(await ask('POST', 'viewed/', { insight_ids: Array(101).fill(one.id) })).toMatchObject(
    refused(400, 'invalid_input', undefined, 'insight_ids'),
  )
})

test('changes of several at once are all kept', async () => {
  const { id } = await made({ name: 'Shared' })
  const { body: dashboard } = await held.home.call('POST', '/api/projects/@current/dashboards/', { as: held.home.member, body: {} })
  const changes = [{ name: 'New' }, { description: 'Text' }, { favorited: true }, { tags: ['x'] }, { dashboards: [dashboard.id] }]
  const answers = await Promise.all(changes.map((change) => ask('PATCH', `${id}/`, change)))
  expect(answers.map(({ status }) => status)).toEqual(changes.map(() => 200))
  expect((await ask('GET', `${id}/`)).body).toMatchObject(Object.assign({}, ...changes))
})

test('a key with the scope of insights alone reads answers, and cannot change', async () => {
  const { call, key, member } = held.home
  const { id } = await made()
  const reader = await key(member, ['insight:read'])
  expect((await call('GET', `${base}${id}/?refresh=blocking`, { as: reader })).body.result).toMatchObject([{ count: 3 }])
  expect(await call('PATCH', `${base}${id}/`, { as: reader, body: { name: 'x' } })).toMatchObject(
    refused(403, 'permission_denied', "API key missing required scope 'insight:write'"),
  )
})
