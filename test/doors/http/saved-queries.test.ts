import { beforeAll, describe, expect, test } from 'vitest'
import { refused, withHome } from './conversation.ts'

const held = withHome()
const project = '/api/projects/@current/'
const base = 'warehouse_saved_queries/'
const ask = (method: string, path: string, body?: unknown) =>
  held.home.call(method, project + path, { as: held.home.member, ...(body === undefined ? {} : { body }) })
const statement = (query: string) => ({ kind: 'HogQLQuery', query })
const save = (name: string, query: string) => ask('POST', base, { name, query: statement(query) })
const made = async (name: string, query: string) => {
  const answer = await save(name, query)
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body
}
const rows = async (query: string) => {
  const { body } = await ask('POST', 'query/', { query: statement(query) })
  return body.results ?? body
}

beforeAll(async () => {
  const { call, project } = held.home
  const event = (name: string, plan: string, price: number) => ({ event: name, distinct_id: plan, properties: { plan, price } })
  const batch = [event('view', 'a', 1), event('view', 'b', 2), event('buy', 'a', 3), event('buy', 'b', 4)]
  await call('POST', '/batch/', { body: { api_key: project.api_token, batch } })
})

test('a view is made, read, changed and removed', async () => {
  const { member } = held.home
  const view = await made(
    'purchases',
    "select distinct_id, properties.plan as plan, toFloat(properties.price) as price from events where event = 'buy';",
  )
  expect(view).toMatchObject({
    name: 'purchases',
    created_by: { id: member.id },
    columns: [
      { name: 'distinct_id', type: 'string', sql_type: 'String' },
      { name: 'plan', type: 'string' },
      { name: 'price', type: 'float' },
    ],
  })
  expect(await rows('select plan, price from purchases order by plan')).toEqual([
    ['a', 3],
    ['b', 4],
  ])
  expect((await ask('GET', `${base}${view.id}/`)).body).toEqual(view)
  const changed = await ask('PATCH', `${base}${view.id}/`, { query: statement("select 1 as one, '2' as two") })
  expect(changed.body.columns).toMatchObject([
    { name: 'one', type: 'integer' },
    { name: 'two', type: 'string' },
  ])
  expect(await rows('select * from purchases')).toEqual([[1, '2']])
  expect((await ask('PATCH', `${base}${view.id}/`, { name: 'bought' })).body.name).toBe('bought')
  expect(await rows('select one from bought')).toEqual([[1]])
  expect(await rows('select one from purchases')).toMatchObject({ code: 'invalid_input', detail: expect.stringContaining('purchases') })
  expect((await ask('DELETE', `${base}${view.id}/`)).status).toBe(204)
  expect(await ask('GET', `${base}${view.id}/`)).toMatchObject(refused(404, 'not_found'))
  expect(await rows('select one from bought')).toMatchObject({ code: 'invalid_input' })
  const { body: log } = await ask('GET', `${base}${view.id}/activity/`)
  expect(log.results.map((one: { activity: string }) => one.activity)).toEqual(['deleted', 'updated', 'updated', 'created'])
  expect((await ask('GET', '')).body.views).toBeUndefined()
})

describe('a view in a statement', () => {
  beforeAll(async () => {
    await made('bought', "select properties.plan as plan, person_id, timestamp, properties from events where event = 'buy'")
    await made('by_plan', 'select plan, count() as n from bought group by plan')
  })

  test.each([
    ['has an alias', 'select v.plan from bought v order by 1', [['a'], ['b']]],
    ['has other names for its columns', 'select x from by_plan as v(x, y) order by x', [['a'], ['b']]],
    [
      'is joined',
      'select a.plan, b.n from bought a join by_plan b on a.plan = b.plan order by 1',
      [
        ['a', 1],
        ['b', 1],
      ],
    ],
    ['is joined with itself', 'select count() from by_plan a, by_plan b', [[4]]],
    ['is in a subquery', 'select count() from events where properties.plan in (select plan from by_plan)', [[4]]],
    ['is in WITH', 'with x as (select * from by_plan) select sum(n) from x', [[2]]],
    ['is hidden by a name of WITH', 'with by_plan as (select 7 as n) select n from by_plan', [[7]]],
    ['has properties', 'select sum(toFloat(properties.price)) from bought', [[7]]],
    ['is in a UNION', 'select n from by_plan union all select 9 order by n', [[1], [1], [9]]],
    [
      'is described',
      'describe by_plan',
      [
        ['plan', expect.any(String)],
        ['n', expect.any(String)],
      ],
    ],
  ])('%s', async (_, query, expected) => {
    expect(await rows(query)).toEqual(expected)
  })

  test('is listed among the tables', async () => {
    expect(await rows('show tables')).toEqual(expect.arrayContaining([['events'], ['by_plan']]))
  })
  test('sees no names of the statement around it', async () => {
    expect(await rows("with events as (select 'buy' as event, 1 as n) select count() from bought")).toEqual([[2]])
  })
  test('is suggested', async () => {
    const { body } = await ask('POST', 'query/', { query: statement('select * from by_plam') })
    expect(body.extra.suggestions).toContain('by_plan')
  })
  test('can be downloaded', async () => {
    const { body } = await ask('POST', 'query/export/', { query: statement('select plan, n from by_plan order by plan'), format: 'csv' })
    expect(body).toBe('plan,n\r\na,1\r\nb,1\r\n')
  })
  test('can be exported, as it is when the export is saved', async () => {
    const body = { name: 'Buys', interval: 'hour', destination: { type: 'NoOp', config: {} } }
    const view = await made('exported', "select uuid, properties.plan as plan from events where event = 'buy'")
    const saved = await ask('POST', 'batch_exports/', { ...body, sql_like_query: "select uuid, plan from exported where plan = 'a'" })
    expect(saved.body.sql_like_query).toBe(
      "SELECT uuid AS uuid, properties.plan AS plan FROM events WHERE and(equals(event, 'buy'), equals(properties.plan, 'a'))",
    )
    expect((await ask('DELETE', `${base}${view.id}/`)).status).toBe(204)
    expect((await ask('GET', `batch_exports/${saved.body.id}/`)).body.sql_like_query).toBe(saved.body.sql_like_query)
    expect(await ask('POST', 'batch_exports/', { ...body, sql_like_query: 'select n from by_plan' })).toMatchObject(
      refused(400, 'invalid_input', expect.stringContaining('GROUP BY in the query of the view by_plan'), 'sql_like_query'),
    )
  })
  test('is not known in another project', async () => {
    const { call, owner, organization, world } = held.home
    await world.setFeature(organization.id, 'organizations_projects', true)
    const { body: other } = await call('POST', `/api/organizations/${organization.id}/projects/`, { as: owner, body: { name: 'Other' } })
    const theirs = `/api/projects/${other.id}/`
    expect(await call('POST', `${theirs}query/`, { as: owner, body: { query: statement('select * from by_plan') } })).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('by_plan') },
    })
    const { results } = (await call('GET', `/api/projects/${held.home.project.id}/${base}`, { as: owner })).body
    expect(await call('GET', `${theirs}${base}${results[0].id}/`, { as: owner })).toMatchObject(refused(404, 'not_found'))
    // The same statement reads the events of each project.
    const own = await call('POST', `${theirs}${base}`, {
      as: owner,
      body: { name: 'all_events', query: statement('select event from events') },
    })
    expect(own.status).toBe(201)
    const counted = await call('POST', `${theirs}query/`, { as: owner, body: { query: statement('select count() from all_events') } })
    expect(counted.body.results).toEqual([[0]])
  })
})

describe('views that read others', () => {
  test('say what they read and who reads them', async () => {
    const a = await made('chain_a', 'select event, timestamp from events')
    const b = await made('chain_b', 'select event from chain_a')
    const c = await made('chain_c', 'select event from chain_b join persons on true')
    const names = async (of: { id: string }, which: string, body = {}) => (await ask('POST', `${base}${of.id}/${which}/`, body)).body[which]
    expect(await names(c, 'ancestors')).toEqual(['chain_a', 'chain_b', 'events', 'persons'])
    expect(await names(c, 'ancestors', { level: 1 })).toEqual(['chain_b', 'persons'])
    expect(await names(a, 'descendants')).toEqual(['chain_b', 'chain_c'])
    expect([await names(a, 'descendants', { level: 1 }), await names(b, 'descendants')]).toEqual([['chain_b'], ['chain_c']])
  })

  test('must stay readable', async () => {
    const a = await made('base_a', 'select event, 1 as n from events')
    const b = await made('reads_a', 'select n + 1 as m from base_a')
    const change = (query: string) => ask('PATCH', `${base}${a.id}/`, { query: statement(query) })
    expect(await change('select event from events')).toMatchObject(
      refused(400, 'invalid_input', expect.stringContaining('reads_a'), 'query'),
    )
    expect(await change("select 'x' as n")).toMatchObject({ status: 400, body: { detail: expect.stringContaining('reads_a') } })
    expect((await change('select 1.5 as n')).status).toBe(200)
    expect((await ask('GET', `${base}${b.id}/`)).body.columns).toMatchObject([{ name: 'm', type: 'float' }])
    expect(await ask('PATCH', `${base}${a.id}/`, { name: 'base_b' })).toMatchObject(
      refused(400, 'invalid_input', expect.stringContaining('reads_a'), 'name'),
    )
    expect(await ask('DELETE', `${base}${a.id}/`)).toMatchObject(refused(400, 'invalid_input', expect.stringContaining('reads_a'), 'name'))
    expect((await ask('DELETE', `${base}${b.id}/`)).status).toBe(204)
    expect((await ask('DELETE', `${base}${a.id}/`)).status).toBe(204)
  })

  test('never read themselves', async () => {
    const a = await made('round_a', 'select 1 as n')
    const b = await made('round_b', 'select n from round_a')
    const change = (of: { id: string }, query: string) => ask('PATCH', `${base}${of.id}/`, { query: statement(query) })
    for (const [of, query] of [
      [a, 'select n from round_b'],
      [a, 'select n from round_a'],
      [b, 'select n from round_b union all select n from round_a'],
    ] as const)
      expect(await change(of, query)).toMatchObject(refused(400, 'invalid_input', expect.stringContaining('would read itself'), 'query'))
    expect(await rows('select n from round_b')).toEqual([[1]])
  })

  test('cannot grow without limit', async () => {
    await made('wide_0', 'select 1 as n')
    let last = 0
    for (; last < 12; last++) {
      const { status, body } = await save(`wide_${last + 1}`, `select a.n from wide_${last} a, wide_${last} b`)
      if (status === 201) continue
      expect(body.detail).toMatch(/exceeds [\d,]+ /)
      break
    }
    expect(last).toBeLessThan(12)
  })

  test('are changed by several at once without losing one', async () => {
    const answers = await Promise.all(Array.from({ length: 4 }, (_, i) => save(`race_${i}`, `select ${i} as n`)))
    const saved = answers.flatMap(({ status }, i) => (status === 201 ? [i] : []))
    expect(saved.length).toBeGreaterThan(0)
    for (const i of saved) expect(await rows(`select n from race_${i}`)).toEqual([[i]])
  })
})

test.each([
  ['no name', { query: statement('select 1') }, 'required', 'name'],
  ['the name of a table', { name: 'events', query: statement('select 1') }, 'invalid_input', 'name'],
  ['the name of a function', { name: 'numbers', query: statement('select 1') }, 'invalid_input', 'name'],
  ['a name with a dot', { name: 'a.b', query: statement('select 1') }, 'invalid_input', 'name'],
  ['a name with a hyphen', { name: 'a-b', query: statement('select 1') }, 'invalid_input', 'name'],
  ['the prototype of objects', { name: '__proto__', query: statement('select 1') }, 'invalid_input', 'name'],
  ['an internal name', { name: '@people', query: statement('select 1') }, 'invalid_input', 'name'],
  ['no query', { name: 'x1' }, 'required', 'query'],
  ['another kind', { name: 'x1', query: { kind: 'TrendsQuery', series: [] } }, 'invalid_choice', 'query__kind'],
  ['an empty statement', { name: 'x1', query: statement(' ') }, 'blank', 'query__query'],
  ['values', { name: 'x1', query: { ...statement('select {x}'), values: { x: 1 } } }, 'invalid_input', 'query__values'],
  ['a placeholder', { name: 'x1', query: statement('select {x}') }, 'invalid_input', 'query__query'],
  ['a syntax error', { name: 'x1', query: statement('select from where') }, 'syntax_error', 'query__query'],
  ['two statements', { name: 'x1', query: statement('select 1) , y as (select 2') }, 'syntax_error', 'query__query'],
  ['an unknown table', { name: 'x1', query: statement('select 1 from nowhere') }, 'invalid_input', 'query__query'],
  ['an unknown field', { name: 'x1', query: statement('select event, nothing from events') }, 'invalid_input', 'query__query'],
  ['itself', { name: 'x1', query: statement('select 1 from x1') }, 'invalid_input', 'query'],
  ['an internal table', { name: 'x1', query: statement('select * from `@people`') }, 'invalid_input', 'query__query'],
])('%s is refused', async (_, body, code, attr) => {
  const answer = await ask('POST', base, body)
  expect(answer).toMatchObject({ status: 400, body: { attr } })
  expect([code, 'invalid_input']).toContain(answer.body.code)
})

test('an insight over a view has a new answer when the view changes', async () => {
  const view = await made('under', 'select 1 as n')
  const { body: insight } = await ask('POST', 'insights/', { query: statement('select n from under') })
  const result = async () => (await ask('GET', `insights/${insight.id}/?refresh=blocking`)).body.result
  expect(await result()).toEqual([[1]])
  await ask('PATCH', `${base}${view.id}/`, { query: statement('select 2 as n') })
  expect(await result()).toEqual([[2]])
  await ask('DELETE', `${base}${view.id}/`)
  expect(await ask('GET', `insights/${insight.id}/?refresh=blocking`)).toMatchObject(
    refused(400, 'invalid_input', expect.stringContaining('under')),
  )
})

test('the settings of a project do not show its views, and keep them', async () => {
  const { call, owner, project } = held.home
  await made('kept', 'select 3 as n')
  const path = `/api/projects/${project.id}/`
  const { body } = await call('PATCH', path, { as: owner, body: { name: 'Renamed', views: { events: 'select 1' } } })
  expect(body).not.toHaveProperty('views')
  expect(await rows('select n from kept')).toEqual([[3]])
  expect(await rows('select count() from events')).toEqual([[4]])
})

test.each(['constructor', 'toString', 'hasOwnProperty', '_x', 'SELECT'])('%s may be the name of a view', async (name) => {
  await made(name, 'select 7 as n')
  expect(await rows(`select n from \`${name}\``)).toEqual([[7]])
})

test('filters of a request hold for the times of a view', async () => {
  await made('timed', 'select event, timestamp from events')
  await made('timeless', 'select event from events')
  const count = async (view: string, date_from: string) => {
    const query = { ...statement(`select count() from ${view} where {filters}`), filters: { dateRange: { date_from } } }
    return (await ask('POST', 'query/', { query })).body.results[0][0]
  }
  expect([await count('timed', '-1d'), await count('timed', '2999-01-01'), await count('timeless', '2999-01-01')]).toEqual([4, 0, 4])
})

test('an error has its position in the statement', async () => {
  const { body } = await save('x2', 'select event,\n  nothing\nfrom events')
  expect(body.extra.position).toMatchObject({ line: 2, column: 3, length: 7 })
})
