import { tableFromIPC } from 'apache-arrow'
import { expect, test } from 'vitest'
import { inForm } from '../../../src/doors/http/queries/forms.ts'
import { refused, withHome } from './conversation.ts'

const held = withHome()
const path = '/api/projects/@current/query/'
const trends = (more: object = {}) => ({
  kind: 'TrendsQuery',
  series: [{ kind: 'EventsNode', event: 'signup' }],
  dateRange: { date_from: '-7d' },
  ...more,
})
const capture = (distinct_id: string, properties: object = {}) =>
  held.home.call('POST', '/batch/', {
    body: {
      api_key: held.home.project.api_token,
      batch: [{ event: 'signup', distinct_id, timestamp: '2034-01-10T10:00:00Z', properties }],
    },
  })
const ask = (query: unknown, refresh?: unknown) => held.home.call('POST', path, { as: held.home.member, body: { query, refresh } })
const at = (time: string) => {
  held.home.world.now = new Date(time)
}

test('a cached answer stands until events, settings or the clock move on', async () => {
  const { call, admin } = held.home
  at('2034-01-10T12:00:00Z')
  await capture('a')
  const state = async (query: unknown = trends(), refresh?: unknown) => {
    const { body } = await ask(query, refresh)
    return body.query_status ? 'started' : `${body.is_cached ? 'cached' : 'new'} ${body.results[0].count}`
  }
  expect(await state()).toBe('new 1')
  expect(await state()).toBe('cached 1')
  expect(await state({ ...trends(), dateRange: { date_from: '-7d' } }), 'order of fields does not matter').toBe('cached 1')
  expect(await state(trends(), true)).toBe('new 1')
  expect(await state(trends(), 'async'), 'fresh: nothing to start').toBe('cached 1')
  await capture('b')
  expect(await state(trends(), 'lazy_async'), 'good enough').toBe('cached 1')
  expect(await state(trends(), 'async')).toBe('started')
  expect(await state(), 'its own, or that of the background').toMatch(/^(new|cached) 2$/)
  at('2034-01-10T17:59:00Z')
  expect(await state()).toBe('cached 2')
  at('2034-01-10T18:01:00Z')
  expect(await state(), 'six hours for days').toBe('new 2')
  at('2034-01-10T18:07:00Z')
  expect(await state(trends({ interval: 'minute', dateRange: { date_from: '-1d' } }))).toBe('new 2')
  at('2034-01-10T18:13:00Z')
  expect(await state(trends({ interval: 'minute', dateRange: { date_from: '-1d' } })), 'five minutes for minutes').toBe('new 2')
  const past = trends({ dateRange: { date_from: '2034-01-01', date_to: '2034-01-05' } })
  expect(await state(past)).toBe('new 0')
  at('2034-06-01T00:00:00Z')
  expect(await state(past), 'what is over does not change').toBe('cached 0')
  await call('PATCH', '/api/projects/@current/', { as: admin, body: { timezone: 'Asia/Tokyo' } })
  expect(await state(past)).toBe('new 0')
  await call('PATCH', '/api/projects/@current/', { as: admin, body: { timezone: 'UTC' } })
})

test('statements always compute', async () => {
  const sql = { kind: 'SqlLikeQuery', query: 'select count() from events' }
  expect((await ask(sql)).body).not.toHaveProperty('is_cached')
  expect((await ask(sql)).body.results).toEqual([[2]])
})

test('the same rows as CSV and as Arrow', async () => {
  const { member, world } = held.home
  await capture('c', { note: 'he said "hi",\nthen left', n: 3 })
  const query = {
    kind: 'SqlLikeQuery',
    query: 'select distinct_id, properties.note as note, 1 + 1 as two from events order by distinct_id limit 3',
  }
  const form = async (accept: string, asked: unknown = query) => {
    const headers = { ...(await world.login(member)), accept, 'content-type': 'application/json' }
    return fetch(world.url + path, { method: 'POST', headers, body: JSON.stringify({ query: asked }) })
  }
  const csv = await form('text/csv')
  expect([csv.status, csv.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
  expect(await csv.text()).toBe('distinct_id,note,two\r\na,,2\r\nb,,2\r\nc,"he said ""hi"",\nthen left",2\r\n')
  const arrow = await form('application/vnd.apache.arrow.stream')
  const table = tableFromIPC(new Uint8Array(await arrow.arrayBuffer()))
  expect(table.schema.fields.map((field) => field.name)).toEqual(['distinct_id', 'note', 'two'])
  expect(table.toArray().map((row) => [row.distinct_id, Number(row.two)])).toEqual([
    ['a', 2],
    ['b', 2],
    ['c', 2],
  ])
  const cut = await form('text/csv;q=0.9, image/png', { kind: 'SqlLikeQuery', query: 'select distinct_id from events limit 1' })
  expect(cut.headers.get('x-has-more')).toBe('true')
  expect((await form('image/png')).status).toBe(406)
  expect((await form('text/csv', trends())).status).toBe(200)
  expect(await (await form('text/csv', { kind: 'SqlLikeQuery', query: 'select nothing from events' })).json()).toMatchObject({
    type: 'validation_error',
  })
})

const signups = { kind: 'EventsNode', event: 'signup' }
const range = { date_from: '2034-01-09', date_to: '2034-01-10' }
const chart = (kind: string, more: object = {}) => ({ kind, series: [signups], dateRange: range, ...more })
const charts: [string, object, string][] = [
  ['a line', chart('TrendsQuery'), 'order,label,date,value\n0,signup,2034-01-09,0\n0,signup,2034-01-10,3\n'],
  [
    'lines of breakdowns that are compared',
    chart('TrendsQuery', {
      breakdownFilter: { breakdown: 'n', breakdown_type: 'event' },
      compareFilter: { compare: true },
      dateRange: { date_from: '2034-01-10', date_to: '2034-01-10' },
    }),
    'order,label,breakdown_value,compare_label,date,value\n' +
      '0,3,3,current,2034-01-10,1\n0,$$_posthog_breakdown_null_$$,$$_posthog_breakdown_null_$$,current,2034-01-10,2\n',
  ],
  ['a number', chart('TrendsQuery', { trendsFilter: { display: 'BoldNumber' } }), 'order,label,value\n0,signup,3\n'],
  [
    'steps',
    chart('FunnelsQuery', { series: [signups, signups] }),
    'order,name,count,average_conversion_time,median_conversion_time\n0,signup,3,,\n1,signup,0,,\n',
  ],
  [
    'steps of breakdowns',
    chart('FunnelsQuery', { series: [signups, signups], breakdownFilter: { breakdown: 'n', breakdown_type: 'event' } }),
    'breakdown_value,order,name,count,average_conversion_time,median_conversion_time\n,0,signup,2,,\n,1,signup,0,,\n3,0,signup,1,,\n3,1,signup,0,,\n',
  ],
  [
    'steps that are compared',
    chart('FunnelsQuery', {
      series: [signups, signups],
      compareFilter: { compare: true, compare_to: '-1d' },
      dateRange: { date_from: '2034-01-10', date_to: '2034-01-11' },
    }),
    'compare_label,order,name,count,average_conversion_time,median_conversion_time\n' +
      'current,0,signup,3,,\ncurrent,1,signup,0,,\nprevious,0,signup,3,,\nprevious,1,signup,0,,\n',
  ],
  [
    'a retention that is compared',
    {
      kind: 'RetentionQuery',
      dateRange: { date_from: '2034-01-10', date_to: '2034-01-10' },
      compareFilter: { compare: true },
      retentionFilter: { targetEntity: { id: 'signup' }, returningEntity: { id: 'signup' }, totalIntervals: 1 },
    },
    'compare_label,label,date,interval,count\n' +
      'current,Day 0,2034-01-10T00:00:00Z,Day 0,3\nprevious,Day 0,2034-01-09T00:00:00Z,Day 0,0\n',
  ],
  [
    'a funnel by days',
    chart('FunnelsQuery', { series: [signups, signups], funnelsFilter: { funnelVizType: 'trends' } }),
    'date,value\n2034-01-09,0\n2034-01-10,0\n',
  ],
]
test.each(charts)('%s as rows: one value in each cell, the same as CSV and as Arrow', async (_, query, expected) => {
  const { member, world } = held.home
  const form = async (accept: string) => {
    const headers = { ...(await world.login(member)), accept, 'content-type': 'application/json' }
    return fetch(world.url + path, { method: 'POST', headers, body: JSON.stringify({ query }) })
  }
  const lines = expected.replaceAll('\n', '\r\n')
  expect(await (await form('text/csv')).text()).toBe(lines)
  const table = tableFromIPC(new Uint8Array(await (await form('application/vnd.apache.arrow.stream')).arrayBuffer()))
  const names = table.schema.fields.map((field) => field.name)
  const rows = table.toArray().map((row) => names.map((name) => row[name] ?? '').join())
  expect([names.join(), ...rows, ''].join('\r\n')).toBe(lines)
  const types = Object.fromEntries(table.schema.fields.map(({ name, type }) => [name, String(type)]))
  for (const name of ['value', 'count', 'average_conversion_time']) if (types[name]) expect(types[name]).toBe('Float64')
})

test('the bins of a funnel as rows', async () => {
  const answer = {
    results: {
      bins: [
        [0, 1],
        [43_200, 0],
      ],
      average_conversion_time: 43_200,
    },
  }
  expect(Buffer.from(inForm(answer, 'csv').body).toString()).toBe('from_seconds,people\r\n0,1\r\n43200,0\r\n')
  const compare_results = { bins: [[0, 0], [43_200, 2]] } // biome-ignore format: pairs
  expect(Buffer.from(inForm({ ...answer, compare_results }, 'csv').body).toString()).toBe(
    'compare_label,from_seconds,people\r\ncurrent,0,1\r\ncurrent,43200,0\r\nprevious,0,0\r\nprevious,43200,2\r\n',
  )
  expect(inForm({ results: [], hasMore: true }, 'csv').headers).toMatchObject({ 'x-has-more': 'true' })
})

test('Arrow has the types of the engine, for any rows and for none', async () => {
  const { member, world } = held.home
  const tableOf = async (sql: string) => {
    const headers = { ...(await world.login(member)), accept: 'application/vnd.apache.arrow.stream', 'content-type': 'application/json' }
    const body = JSON.stringify({ query: { kind: 'SqlLikeQuery', query: sql } })
    const answer = await fetch(world.url + path, { method: 'POST', headers, body })
    return { table: tableFromIPC(new Uint8Array(await answer.arrayBuffer())), hasMore: answer.headers.get('x-has-more') }
  }
  const columns = "distinct_id, timestamp, toFloat(properties.n) as n, distinct_id = 'b' as is_b, array(1, 2) as list, count() as total"
  const sql = (condition: string, limit: number) =>
    `select ${columns} from events where ${condition} group by distinct_id, timestamp, n order by distinct_id limit ${limit}`
  const types = ({ table }: Awaited<ReturnType<typeof tableOf>>) =>
    Object.fromEntries(table.schema.fields.map((f) => [f.name, String(f.type).replace(/^Dictionary<Int32, (.*)>$/, '$1')]))
  const some = await tableOf(sql('1 = 1', 2))
  expect([some.table.numRows, some.hasMore], 'cut at the limit, and said to be').toEqual([2, 'true'])
  expect(types(some)).toMatchObject({ distinct_id: 'Utf8', timestamp: expect.stringContaining('Timestamp'), n: 'Float64', total: 'Int64' })
  expect(types(some).list).toContain('List<')
  expect(
    some.table.toArray().map((row) => [row.distinct_id, row.timestamp, row.n, Boolean(row.is_b), [...row.list].map(Number), row.total]),
  ).toEqual([
    ['a', Date.parse('2034-01-10T10:00:00Z'), null, false, [1, 2], 1n],
    ['b', Date.parse('2034-01-10T10:00:00Z'), null, true, [1, 2], 1n],
  ])
  const none = await tableOf(sql('1 = 2', 2))
  expect([none.table.numRows, none.hasMore]).toEqual([0, 'false'])
  expect(types(none)).toEqual(types(some))
})

test('rows are limited, and more of them are said to be there', async () => {
  const { world } = held.home
  world.rows = { defaultRows: 1, mostRows: 2 }
  const count = async (query: string) => {
    const { body } = await ask({ kind: 'SqlLikeQuery', query })
    return [body.results.length, body.hasMore]
  }
  expect(await count('select distinct_id from events')).toEqual([1, true])
  expect(await count('select distinct_id from events limit 100')).toEqual([2, true])
  world.rows = { defaultRows: 100, mostRows: 10_000 }
  expect(await count('select distinct_id from events')).toEqual([3, false])
})

test("mistakes in statements are the caller's to mend", async () => {
  const sql = (query: string) => ask({ kind: 'SqlLikeQuery', query })
  for (const query of ['selec 1', 'select nope from events', 'select 1 from nowhere', 'select count( from events'])
    expect(await sql(query), query).toMatchObject(refused(400, 'invalid_input'))
  const ofTypes = [
    "select timestamp + 'text' from events",
    "select timestamp - 'text' from events",
    "select 1 + 'a'",
    'select sum(event) from events',
    'select length(5)',
  ]
  for (const query of ofTypes) expect(await sql(query), query).toMatchObject(refused(400, 'illegal_type_of_argument'))
  expect(await sql('select event, count() from events')).toMatchObject(refused(400, 'not_an_aggregate'))
})
