import { createHmac } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { refused, withHome } from './conversation.ts'

// Charts of a project in the pages of another application: what a token opens, and everything that it must not.

const held = withHome()
const filterOf = (customer: string) => [{ type: 'event', key: 'customer', operator: 'exact', value: customer }]
const trend = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'order' }], dateRange: { date_from: '-7d' } }
const total = { ...trend, trendsFilter: { display: 'BoldNumber' } }
const statement = (query: string) => ({ kind: 'SqlLikeQuery', query })
const count = statement('select count() from events')

const urlOf = (path: string) => `/api/projects/${held.home.project.id}/${path}`
const made = { insight: 0, other: 0, sql: 0, persons: 0, dashboard: 0, tile: 0 }

beforeAll(async () => {
  const { home } = held
  const project = await home.world.projectData(home.project.id)
  const eventsOf = (customer: string, events: number) =>
    Array.from({ length: events }, (_, i) => ({
      event: 'order',
      distinct_id: `${customer}-${i}`,
      properties: { customer, secret: `${customer}-secret`, $set: { email: `${customer}@x.test` } },
    }))
  await project.ingest({ batch: [...eventsOf('acme', 3), ...eventsOf('bolt', 5)] })
  const create = async (path: string, body: object): Promise<number> =>
    (await home.call('POST', urlOf(path), { as: home.owner, body })).body.id
  made.insight = await create('insights/', { name: 'Orders <b>', query: total })
  made.other = await create('insights/', { name: 'Others', query: total })
  made.sql = await create('insights/', { name: 'Secrets', query: statement('select properties.secret, count() from events group by 1') })
  made.persons = await create('insights/', { name: 'People', query: statement('select id from persons') })
  made.dashboard = await create('dashboards/', { name: 'Board' })
  made.tile = await create('insights/', { name: 'On the board', query: total, dashboards: [made.dashboard] })
})

const tokenFor = async (customer: string, more: object = {}) => {
  const body = { filter: filterOf(customer), insights: [made.insight], ...more }
  return (await held.home.call('POST', urlOf('viewer_tokens/'), { as: held.home.owner, body })).body as {
    token: string
    id: string
    expires_at: string
  }
}
const see = (path: string, token: string, headers: Record<string, string> = {}) =>
  held.home.call('GET', `/api/viewer/${path}`, { as: token, headers })
const ask = (query: unknown, token: string, more: object = {}) =>
  held.home.call('POST', '/api/viewer/query/', { as: token, body: { query, ...more } })
const numberIn = ({ body }: { body: { insight: { result: { aggregated_value: number }[] } } }) => body.insight.result[0]?.aggregated_value
const ended = (reason: string) => refused(401, 'authentication_failed', expect.stringContaining(reason) as never)

interface Key {
  readonly id: string
  readonly secret: string
}
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
/** As an application makes one with any library for JSON Web Tokens. */
const signed = (payload: object, { id, secret }: Key, header: object = {}) => {
  const text = `${encoded({ alg: 'HS256', typ: 'JWT', kid: id, ...header })}.${encoded(payload)}`
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
}
const newKey = async () =>
  (await held.home.call('POST', urlOf('viewer_keys/'), { as: held.home.owner, body: { name: 'Shop' } })).body as Key
const inAnHour = () => Math.floor((held.home.world.now ?? new Date()).getTime() / 1000) + 3600

describe('a viewer', () => {
  test('sees the numbers of its own events, also from what is kept', async () => {
    const [acme, bolt] = await Promise.all([tokenFor('acme'), tokenFor('bolt')])
    for (let i = 0; i < 2; i++) {
      expect(numberIn(await see(`insights/${made.insight}/`, acme.token))).toBe(3)
      expect(numberIn(await see(`insights/${made.insight}/`, bolt.token))).toBe(5)
    }
  })

  test('is told what its token opens', async () => {
    const theme = { '--waymark-accent': '#f00' }
    const { token, expires_at } = await tokenFor('acme', { kinds: ['TrendsQuery'], theme })
    const open = { insights: [made.insight], dashboard: null, kinds: ['TrendsQuery'], theme, timezone: 'UTC', expires_at }
    expect((await see('', token)).body).toEqual(open)
  })

  test('sees only what the token names', async () => {
    const { token } = await tokenFor('acme')
    for (const path of [
      `insights/${made.other}/`,
      `insights/${made.tile}/`,
      `dashboards/${made.dashboard}/`,
      'insights/999999/',
      'insights/x/',
    ])
      expect((await see(path, token)).status, path).toBe(404)
    expect((await ask(count, token)).body).toMatchObject({ attr: 'query__kind', detail: expect.stringContaining('allows no queries') })
    // It is no key of the API.
    for (const path of [urlOf('insights/'), urlOf(`insights/${made.insight}/`), '/api/users/@me/'])
      expect((await held.home.call('GET', path, { as: token })).status, path).toBe(401)
  })

  test('sees the tiles of its dashboard', async () => {
    const { token } = await tokenFor('acme', { insights: undefined, dashboard: made.dashboard })
    const { body } = await see(`dashboards/${made.dashboard}/?width=800`, token)
    const [tile] = body.dashboard.tiles
    expect(tile).toMatchObject({ place: { x: 0, w: 6 }, insight: { id: made.tile, result: [{ aggregated_value: 3 }] } })
    expect(tile.insight.markup).toContain('<svg')
    expect(numberIn(await see(`insights/${made.tile}/`, token))).toBe(3)
    expect((await see(`dashboards/${made.dashboard}/?width=400`, token)).body.dashboard.tiles[0].place).toBeNull()
  })

  test('gets the chart drawn, with nothing in it that runs', async () => {
    const { token } = await tokenFor('acme')
    const { insight } = (await see(`insights/${made.insight}/?width=500&height=200`, token)).body
    expect(insight.name).toBe('Orders <b>')
    expect(insight.markup).toMatch(/<svg[^>]* width="500"/)
    expect(insight.markup).not.toMatch(/<b>| on\w+=|style=|<script/)
    expect((await see(`insights/${made.insight}/?width=1`, token)).body).toMatchObject({ attr: 'width' })
  })

  test('gets 304 while nothing has changed, and never by the mark of another viewer', async () => {
    const [acme, bolt] = await Promise.all([tokenFor('acme'), tokenFor('bolt')])
    const first = await see(`insights/${made.insight}/`, acme.token)
    const mark = { 'if-none-match': first.headers.get('etag')! }
    expect((await see(`insights/${made.insight}/`, acme.token, mark)).status).toBe(304)
    expect((await see(`insights/${made.insight}/`, bolt.token, mark)).status).toBe(200)
    expect(first.headers.get('cache-control')).toBe('private, no-cache')
  })

  test('chooses other dates, and no other filter', async () => {
    const { token } = await tokenFor('acme')
    expect(numberIn(await see(`insights/${made.insight}/?date_from=-30d`, token))).toBe(3)
    expect((await see(`insights/${made.insight}/?filters=%7B%7D`, token)).status).toBe(400)
  })

  test('sees no rows of other tables, though the insight reads them', async () => {
    const { token } = await tokenFor('acme', { insights: [made.sql, made.persons] })
    expect((await see(`insights/${made.sql}/`, token)).body.insight.result).toEqual([['acme-secret', 3]])
    const { insight } = (await see(`insights/${made.persons}/`, token)).body
    expect(insight).toMatchObject({ result: null, error: expect.stringContaining('A viewer cannot read the table persons') })
  })
})

describe('queries of a viewer', () => {
  test('are of the kinds that its token names, over its own events', async () => {
    const { token } = await tokenFor('acme', { kinds: ['TrendsQuery', 'SqlLikeQuery'] })
    expect((await ask(total, token)).body.results[0].aggregated_value).toBe(3)
    expect((await ask(statement('select properties.customer, count() from events group by 1'), token)).body.results).toEqual([['acme', 3]])
    expect((await ask(total, token, { width: 300 })).body.markup).toContain('<svg')
    expect((await ask({ kind: 'FunnelsQuery', series: [] }, token)).body).toMatchObject({ attr: 'query__kind' })
  })

  test.each([
    ['persons', 'select * from persons'],
    ['properties of persons', 'select person.properties.email from events'],
    ['cohorts', 'select count() from events where person_id in cohort 1'],
  ])('cannot read %s', async (_, query) => {
    const { token } = await tokenFor('acme', { kinds: ['SqlLikeQuery'] })
    expect((await ask(statement(query), token)).body).toMatchObject({ detail: expect.stringContaining('A viewer cannot read') })
  })

  test('keep their rules, however they are wrapped', async () => {
    const { token } = await tokenFor('acme', { kinds: ['SqlLikeQuery', 'TrendsQuery'] })
    for (const query of [
      { kind: 'ViewerQuery', filter: filterOf('bolt'), source: count },
      { kind: 'ViewerQuery', filter: filterOf('bolt'), mayJoin: true, source: count },
      { kind: 'DataTableNode', source: { kind: 'ViewerQuery', filter: filterOf('bolt'), source: count } },
      { kind: 'ActorsQuery', source: { kind: 'InsightActorsQuery', source: trend } },
      { kind: 'ActorsPropertyTaxonomyQuery', properties: ['email'] },
    ])
      expect((await ask(query, token)).status, query.kind).toBe(400)
    expect((await ask({ kind: 'DataTableNode', source: count }, token)).body.results).toEqual([[3]])
    expect((await ask(count, token, { filter: filterOf('bolt'), mayJoin: true })).body.results).toEqual([[3]])
  })
})

describe('lists of people', () => {
  const behind = (source: object) => ({ kind: 'ActorsQuery', source: { kind: 'InsightActorsQuery', source } })
  const list = (id: number, token: string, body: object = {}) =>
    held.home.call('POST', `/api/viewer/insights/${id}/people/`, { as: token, body })

  test('are of an insight that the token names, with the properties that it lists', async () => {
    const { token } = await tokenFor('acme', { kinds: ['ActorsQuery'], personProperties: ['email'] })
    const { body } = await list(made.insight, token)
    expect(body).toMatchObject({ columns: ['person'], hasMore: false })
    expect(body.results).toEqual(Array(3).fill([{ id: expect.any(String), properties: { email: 'acme@x.test' } }]))
    const bare = await tokenFor('bolt', { kinds: ['ActorsQuery'] })
    expect((await list(made.insight, bare.token)).body.results).toEqual(Array(5).fill([{ id: expect.any(String), properties: {} }]))
    const page = (await list(made.insight, bare.token, { point: { series: 0 }, limit: 2, offset: 4 })).body
    expect(page).toMatchObject({ results: [[{ properties: {} }]], limit: 2, offset: 4 })
    expect((await list(made.insight, bare.token, { date_from: '2020-01-01', date_to: '2020-01-02' })).body.results).toEqual([])
  })

  test('are of a dashboard of the token, too, and of no other insight', async () => {
    const { token } = await tokenFor('acme', { insights: undefined, dashboard: made.dashboard, kinds: ['ActorsQuery'] })
    expect((await list(made.tile, token)).body.results).toHaveLength(3)
    expect((await list(made.other, token)).status).toBe(404)
  })

  test('need the kind in the token, and a point of the chart; no expression is read', async () => {
    const closed = await tokenFor('acme')
    expect((await list(made.insight, closed.token)).body).toMatchObject({ detail: expect.stringContaining('allows no queries') })
    const { token } = await tokenFor('acme', { kinds: ['ActorsQuery'], insights: [made.insight, made.sql] })
    for (const body of [{ point: { select: ['properties.email'] } }, { point: { series: 7 } }, { limit: 100_000 }])
      expect((await list(made.insight, token, body)).status, JSON.stringify(body)).toBe(400)
    for (const body of [{ point: { source: count } }, { filter: filterOf('bolt') }, { search: 'bolt' }, { select: ['properties.email'] }])
      expect((await list(made.insight, token, body)).body).toMatchObject({ columns: ['person'], results: { length: 3 } })
    expect((await list(made.sql, token)).body).toMatchObject({ detail: expect.any(String) })
  })

  test('of own queries need the kind of the chart, too', async () => {
    const { token } = await tokenFor('acme', { kinds: ['ActorsQuery'] })
    expect((await ask(behind(trend), token)).body).toMatchObject({ detail: expect.stringContaining('not of TrendsQuery') })
    const both = await tokenFor('acme', { kinds: ['ActorsQuery', 'TrendsQuery'] })
    expect((await ask(behind(trend), both.token)).body.results).toHaveLength(3)
    const filtered = { ...behind(trend), properties: [{ type: 'person', key: 'email', operator: 'exact', value: 'acme@x.test' }] }
    expect((await ask(filtered, both.token)).body).toMatchObject({ detail: expect.stringContaining('A viewer cannot read') })
  })
})

describe('a token', () => {
  test('can be made by any library for JSON Web Tokens', async () => {
    const payload = { jti: 'one', exp: inAnHour(), iss: 'shop', sub: '42', filter: filterOf('acme'), insights: [made.insight] }
    expect(numberIn(await see(`insights/${made.insight}/`, signed(payload, await newKey())))).toBe(3)
  })

  test('opens nothing from the request on with which it, or its key, is revoked', async () => {
    const { home } = held
    const [first, second] = [await tokenFor('acme'), await tokenFor('acme')]
    expect((await home.call('DELETE', urlOf(`viewer_tokens/${first.id}/`), { as: home.owner })).status).toBe(204)
    expect(await see('', first.token)).toMatchObject(ended('it was revoked'))
    expect((await see('', second.token)).status).toBe(200)
    const key = await newKey()
    const token = signed({ jti: 'two', exp: inAnHour(), filter: filterOf('acme'), insights: [made.insight] }, key)
    expect((await see('', token)).status).toBe(200)
    expect((await home.call('DELETE', urlOf(`viewer_keys/${key.id}/`), { as: home.owner })).status).toBe(204)
    expect(await see('', token)).toMatchObject(ended('its key was removed'))
  })

  test('ends when it says so', async () => {
    const { world } = held.home
    const { token } = await tokenFor('acme', { expiresIn: '1h' })
    const before = world.now
    try {
      world.now = new Date((before ?? new Date()).getTime() + 3_601_000)
      expect(await see('', token)).toMatchObject(ended('it has expired'))
    } finally {
      world.now = before
    }
  })

  test('is refused unless it is signed by this algorithm, with a key of a project', async () => {
    const key = await newKey()
    const payload = { jti: 'x', exp: inAnHour(), filter: filterOf('acme'), insights: [made.insight] }
    const [head, , signature] = signed(payload, key).split('.') as [string, string, string]
    const forged = encoded({ ...payload, filter: filterOf('bolt') })
    const cases: readonly (readonly [string, string])[] = [
      ['another payload', `${head}.${forged}.${signature}`],
      ['no signature', `${head}.${forged}.`],
      ['no algorithm', `${encoded({ alg: 'none', kid: key.id })}.${forged}.`],
      ['another algorithm', signed(payload, key, { alg: 'HS512' })],
      ['another secret', signed(payload, { ...key, secret: 'wvk_guess' })],
      ['an unknown key', signed(payload, { ...key, id: '00000000-0000-4000-8000-000000000000' })],
      ['no key', signed(payload, key, { kid: undefined })],
      ['a key that is no text', signed(payload, key, { kid: { a: null } })],
      ['no id', signed({ ...payload, jti: undefined }, key)],
      ['no end', signed({ ...payload, exp: undefined }, key)],
      ['an end that is past', signed({ ...payload, exp: 1 }, key)],
      ['an end far away', signed({ ...payload, exp: inAnHour() + 86_400 * 40 }, key)],
      ['a beginning that is not yet', signed({ ...payload, nbf: inAnHour() }, key)],
      ['no filter', signed({ ...payload, filter: undefined }, key)],
      ['an empty filter', signed({ ...payload, filter: [] }, key)],
      ['insights that are no ids', signed({ ...payload, insights: ['*'] }, key)],
      ['a kind that viewers lack', signed({ ...payload, kinds: ['EventsQuery'] }, key)],
      ['half a token', head],
      ['no JSON', 'a.b.c'],
      ['too many characters', `${head}.${'A'.repeat(9000)}.${signature}`],
    ]
    for (const [name, token] of cases) {
      const answer = await see(`insights/${made.insight}/`, token)
      expect(answer, name).toMatchObject(refused(401, 'authentication_failed'))
      expect(JSON.stringify(answer.body), name).not.toContain(key.secret)
    }
    expect(await held.home.call('GET', '/api/viewer/')).toMatchObject(refused(401, 'authentication_failed'))
  })

  test.each([
    ['is not complete', [{ type: 'event', key: 'customer', operator: 'exact' }]],
    ['is a constant', [{ type: 'hogql', key: 'true' }]],
    ['is ignored elsewhere', [{ type: 'flag', key: 'x', value: 1 }]],
  ])('with a filter that %s opens no numbers', async (_, filter) => {
    const token = signed({ jti: 'y', exp: inAnHour(), filter, insights: [made.insight], kinds: ['SqlLikeQuery'] }, await newKey())
    expect((await see(`insights/${made.insight}/`, token)).body.insight).toMatchObject({ result: null, error: expect.any(String) })
    expect((await ask(count, token)).status).toBe(400)
  })

  test.each([
    ['without a filter', { filter: [] }, 'filter'],
    ['with a filter that is none', { filter: [{ type: 'nonsense', key: 'a', value: 1 }] }, 'filter'],
    ['that opens nothing', { insights: [] }, 'insights'],
    ['for ever', { expiresIn: '90d' }, 'expiresIn'],
    ['for no time', { expiresIn: 0 }, 'expiresIn'],
    ['for a time that is none', { expiresIn: 'soon' }, 'expiresIn'],
    ['with a theme that is no variable', { theme: { color: 'red' } }, 'theme__color'],
    ['of a kind that viewers lack', { kinds: ['LifecycleQuery'] }, 'kinds__0'],
  ])('is not made %s', async (_, more, attr) => {
    const { home } = held
    const body = { filter: filterOf('acme'), insights: [made.insight], ...more }
    expect(await home.call('POST', urlOf('viewer_tokens/'), { as: home.owner, body })).toMatchObject({ status: 400, body: { attr } })
  })

  test('is made by members of the project only, and keys are listed without their secrets', async () => {
    const { home } = held
    const body = { filter: filterOf('acme'), insights: [made.insight] }
    expect((await home.call('POST', urlOf('viewer_tokens/'), { as: home.outsider, body })).status).toBe(403)
    expect((await home.call('POST', urlOf('viewer_tokens/'), { body })).status).toBe(401)
    const reading = await home.key(home.owner, ['insight:read', 'sharing_configuration:read'])
    expect((await home.call('POST', urlOf('viewer_tokens/'), { as: reading, body })).status).toBe(403)
    expect((await newKey()).secret).toMatch(/^wvk_/)
    const list = await home.call('GET', urlOf('viewer_keys/'), { as: home.owner })
    expect(list.body.length).toBeGreaterThan(0)
    expect(JSON.stringify(list.body)).not.toContain('wvk_')
  })
})

test('the elements come as files for pages of every site', async () => {
  const script = await held.home.call('GET', '/embed/waymark.js')
  expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
  expect(script.headers.get('access-control-allow-origin')).toBe('*')
  expect(script.headers.get('cross-origin-resource-policy')).toBe('cross-origin')
  expect(script.body.length).toBeLessThan(40_000)
  const style = await held.home.call('GET', '/embed/waymark.css')
  expect(style.headers.get('content-type')).toBe('text/css; charset=utf-8')
  expect(style.body).toContain('--waymark-series-1')
  expect((await held.home.call('GET', '/embed/other.js')).status).toBe(404)
})
