import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import type { User } from '../../../src/service/accounts/records.ts'
import { githubHeaders, stripeHeaders, webhookSamples } from '../../docs/webhook-samples.ts'
import { refused, withHome } from './conversation.ts'

// Webhook addresses of plugin configs, in a whole server: made over the API, called as other services do, and what is stored read by a query.

const held = withHome()
const call = (method: string, path: string, body?: unknown, as: User | string = held.home.owner) =>
  held.home.call(method, path, { as, ...(body === undefined ? {} : { body }) })

interface Project {
  readonly id: number
  readonly api_token: string
}
const newProject = async (): Promise<Project> =>
  (await call('POST', `/api/organizations/${held.home.organization.id}/projects/`, { name: 'Another' })).body

let count = 0
const install = async (code: string, config: readonly object[] = []): Promise<number> => {
  const plugins = `/api/organizations/${held.home.organization.id}/plugins/`
  const { body: plugin } = await call('POST', plugins, { plugin_type: 'source', name: `plugin ${++count}` })
  const files = { 'index.ts': code, 'plugin.json': JSON.stringify({ name: `plugin ${count}`, config }) }
  expect((await call('PATCH', `${plugins}${plugin.id}/update_source`, files)).status).toBe(200)
  return plugin.id
}

/** A plugin in a project of its own, with an address. */
const setUp = async (code: string, config: Record<string, string> = {}, project?: Project) => {
  const own = project ?? (await newProject())
  const plugin = await install(
    code,
    Object.keys(config).map((key) => ({ key, name: key, type: 'string', secret: true })),
  )
  const { body: made } = await call('POST', `/api/projects/${own.id}/plugin_configs/`, { plugin, enabled: true, config })
  const path = `/api/projects/${own.id}/plugin_configs/${made.id}/`
  const answer = await call('POST', `${path}webhook/`)
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 200 })
  return { project: own, plugin, id: made.id as number, path, url: answer.body.webhook_url as string }
}

/** As another service does: without a login. */
const send = async (url: string, body: string | Uint8Array = '{}', headers: Record<string, string> = {}, method = 'POST') => {
  const sent = method === 'GET' || method === 'HEAD' ? {} : { body: body as string }
  const response = await fetch(url, { method, headers: { 'content-type': 'application/json', ...headers }, ...sent })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') === true
  return { status: response.status, body: isJson && text !== '' ? JSON.parse(text) : text, headers: response.headers }
}
const sql = async ({ id }: Project, query: string): Promise<unknown[][]> => {
  const { body } = await call('POST', `/api/projects/${id}/query/`, {
    query: { kind: 'SqlLikeQuery', query },
    refresh: 'force_blocking',
  })
  return body.results
}
const names = async (project: Project) => (await sql(project, 'select event from events order by event')).map(([name]) => name)
const logOf = async (path: string): Promise<string[]> =>
  (await call('GET', `${path}logs/?limit=100`)).body.results.map(({ type, message }: Record<string, string>) => `${type} ${message}`)

const plain = `export function onRequest({ json }) {
  return json.events
}`
const events = (...list: readonly object[]) => JSON.stringify({ events: list })
const one = (event: string, more: object = {}) => ({ event, distinct_id: 'ann', timestamp: '2026-01-05T10:00:00Z', ...more })
const failed = refused(500, 'plugin_failed', 'The plugin failed. Its log says why.')

afterEach(() => vi.restoreAllMocks())

test('a request becomes events, which are stored when it is answered', async () => {
  const { url, project, path } = await setUp(plain)
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/webhooks\/[\w-]{43}$/)
  expect(await send(url, events(one('paid', { properties: { amount: 5 } }), one('seen')))).toMatchObject({
    status: 200,
    body: { status: 1 },
  })
  expect(await sql(project, 'select event, distinct_id, properties.amount from events order by event')).toEqual([
    ['paid', 'ann', '5'],
    ['seen', 'ann', null],
  ])
  expect(await sql(project, 'select properties.$ip from events')).toEqual([[null], [null]])
  expect((await call('GET', path)).body.webhook_url).toBe(url)
})

test('what the plugin gets: method, headers, query, body as text and as JSON, and bytes', async () => {
  const { url } = await setUp(`export const onRequest = ({ method, headers, query, search, body, json, rawBody }) => ({
    body: { method, headers, query, search, body, json: json === undefined ? 'none' : json, bytes: rawBody.toString('hex') },
  })`)
  const answer = await send(`${url}/?challenge=a%20b&n=1&n=2`, '{"a": [1,\t2]}', { 'X-Signature': 's=1', cookie: 'sessionid=secret' })
  const { headers, ...rest } = answer.body
  expect(rest).toEqual({
    method: 'POST',
    query: { challenge: 'a b', n: '2' },
    search: 'challenge=a%20b&n=1&n=2',
    body: '{"a": [1,\t2]}',
    json: { a: [1, 2] },
    bytes: Buffer.from('{"a": [1,\t2]}').toString('hex'),
  })
  expect(headers).toMatchObject({ 'x-signature': 's=1', 'content-type': 'application/json' })
  expect(headers).not.toHaveProperty('cookie')
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect((await send(url, new Uint8Array([0xff, 0, 0x41]))).body).toMatchObject({ json: 'none', bytes: 'ff0041' })
  expect((await send(url, '\ufeffx')).body).toMatchObject({ body: '\ufeffx', bytes: 'efbbbf78' })
  expect((await send(url, '', {}, 'GET')).body).toMatchObject({ method: 'GET', body: '', bytes: '', json: 'none' })
  for (const method of ['PUT', 'PATCH', 'DELETE']) expect((await send(url, 'x', {}, method)).body).toMatchObject({ method, body: 'x' })
})

test('the plugin chooses the status and the body of the answer, which is never a page', async () => {
  const { url, project } = await setUp(
    `export const onRequest = ({ query, json }) => ({ ...json, ...(query.challenge && { body: query.challenge }) })`,
  )
  const echoed = await send(`${url}?challenge=<script>`, '{}')
  expect([echoed.status, echoed.body, echoed.headers.get('content-type'), echoed.headers.get('x-content-type-options')]).toEqual([
    200,
    '<script>',
    'text/plain; charset=utf-8',
    'nosniff',
  ])
  expect(await send(url, '{"status":202,"body":{"ok":true}}')).toMatchObject({ status: 202, body: { ok: true } })
  expect(await send(url, '{"status":204,"body":"x"}')).toMatchObject({ status: 204, body: '' })
  expect(await send(url, JSON.stringify({ status: 409, events: [one('kept')] }))).toMatchObject({ status: 409, body: { status: 0 } })
  expect(await names(project)).toEqual(['kept'])
})

test.each(webhookSamples)(
  'the sample $name: signed requests are stored once, others are refused',
  async ({ name, code, config, sends, stores }) => {
    const { url, project, path } = await setUp(code, config)
    const body = JSON.stringify(sends)
    const secret = Object.values(config)[0]!
    const delivery = randomUUID()
    const signed = (key: string) => (name === 'stripe' ? stripeHeaders(key, body) : githubHeaders(key, body, delivery))
    for (let i = 0; i < 3; i++) expect(await send(url, body, signed(secret))).toMatchObject({ status: 200 })
    const rows = await sql(project, 'select event, distinct_id, properties, timestamp from events')
    expect(rows).toHaveLength(1)
    const { properties, timestamp, ...others } = stores
    expect(rows[0]!.slice(0, 2)).toEqual([others.event, others.distinct_id])
    expect(JSON.parse(String(rows[0]![2]))).toMatchObject(properties as object)
    if (timestamp) expect(new Date(String(rows[0]![3])).toISOString()).toBe(timestamp)

    const wrong = [signed('another'), {}, name === 'stripe' ? { 'stripe-signature': 't=1,v1=00' } : { 'x-hub-signature-256': 'sha256=é' }]
    if (name === 'stripe') wrong.push(stripeHeaders(secret, body, Math.floor(Date.now() / 1000) - 400))
    for (const headers of wrong.filter((each) => !JSON.stringify(each).includes('é')))
      expect(await send(url, body, headers as Record<string, string>)).toMatchObject({ status: 401 })
    expect(await send(url, `${body} `, signed(secret))).toMatchObject({ status: 401 })
    if (name === 'github')
      expect(await send(url, body, githubHeaders(secret, body, delivery, 'ping'))).toMatchObject({ status: 200, body: 'pong' })
    expect(await names(project)).toHaveLength(1)
    expect((await logOf(path)).filter((line) => line.startsWith('ERROR'))).toEqual([])
  },
)

test('the id of an event is a uuid that is the same each time, of this config only', async () => {
  const first = await setUp(plain)
  const second = await setUp(plain, {}, first.project)
  const body = events(one('a', { id: 'evt_1' }), one('b', { id: 2 }), one('c', { uuid: '01900000-0000-7000-8000-000000000001' }))
  for (const { url } of [first, first, second]) expect((await send(url, body)).status).toBe(200)
  const found = await sql(first.project, 'select event, count(), count(distinct uuid) from events group by event order by event')
  expect(found).toEqual([
    ['a', 2, 2],
    ['b', 2, 2],
    ['c', 1, 1],
  ])
})

test('the events pass the other plugins of the project, and are counted with its warnings', async () => {
  const { url, project } = await setUp(plain)
  const mark = await install('export function processEvent(event) { event.properties.marked = true; return event }')
  await call('POST', `/api/projects/${project.id}/plugin_configs/`, { plugin: mark, enabled: true })
  expect((await send(url, events(one('a', { strange_field: 1 })))).status).toBe(200)
  expect(await sql(project, 'select event, properties.marked from events')).toEqual([['a', 'true']])
  const { body } = await call('GET', `/api/projects/${project.id}/ingestion_warnings/`)
  expect(JSON.stringify(body.results)).toContain('strange_field')
})

test('the daily limit of the project counts and refuses them', async () => {
  const { url, project } = await setUp(plain)
  await call('PATCH', `/api/projects/${project.id}/`, { daily_event_limit: 2 })
  expect((await send(url, events(one('a'), one('b')))).status).toBe(200)
  const over = await send(url, events(one('c')))
  expect(over).toMatchObject(refused(429, 'quota_limited'))
  expect(Number(over.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await send(url, '{"events": []}')).toMatchObject({ status: 200 })
  expect(await names(project)).toEqual(['a', 'b'])
})

test('another secret, one of a wrong form, and no secret get the same 404', async () => {
  const { url } = await setUp(plain)
  const { url: base } = held.home.world
  const strange = `${url.slice(0, -1)}${url.endsWith('A') ? 'B' : 'A'}`
  const answers = []
  for (const path of [strange, `${base}/webhooks/x`, `${base}/webhooks/${'a'.repeat(5000)}`, `${url}x`, `${base}/webhooks/%00`])
    for (const method of ['POST', 'GET', 'DELETE', 'PUT']) answers.push(await send(path, '{}', {}, method))
  for (const answer of answers) expect(answer).toMatchObject(refused(404, 'not_found', 'Not found.'))
  expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1)
})

test('a replaced address and one that is turned off end at once, also for a request whose body is still arriving', async () => {
  const { url, path, project } = await setUp(plain)
  const { hostname, port, pathname } = new URL(url)
  const body = events(one('late'))
  const socket = connect(Number(port), hostname)
  let received = ''
  socket.on('data', (data) => {
    received += data
  })
  const head = `POST ${pathname} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n`
  await new Promise((resolve) => socket.write(`${head}${body.slice(0, 5)}`, resolve))
  expect((await send(url, events(one('before')))).status).toBe(200) // the server has read the head of the first one by now
  const second = (await call('POST', `${path}webhook/`)).body.webhook_url
  expect(second).not.toBe(url)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.write(body.slice(5))
  await closed
  expect(received).toMatch(/^HTTP\/1\.1 404 /)
  expect((await send(url, events(one('old')))).status).toBe(404)
  expect((await send(second, events(one('new')))).status).toBe(200)
  expect((await call('DELETE', `${path}webhook/`)).status).toBe(204)
  expect((await send(second, events(one('off')))).status).toBe(404)
  expect((await call('GET', path)).body.webhook_url).toBeNull()
  expect((await call('DELETE', `${path}webhook/`)).status).toBe(204)
  expect(await names(project)).toEqual(['before', 'new'])
})

test('a config that is switched off keeps its address, one that is removed does not', async () => {
  const { url, path } = await setUp(plain)
  await call('PATCH', path, { enabled: false })
  expect((await send(url, events(one('a')))).status).toBe(404)
  await call('PATCH', path, { enabled: true })
  expect((await send(url, events(one('b')))).status).toBe(200)
  await call('PATCH', path, { deleted: true })
  expect((await send(url)).status).toBe(404)
  expect((await call('POST', `${path}webhook/`)).status).toBe(404)
  await call('PATCH', path, { deleted: false, enabled: true })
  expect((await call('GET', path)).body.webhook_url).toBeNull()
  expect((await send(url)).status).toBe(404)
})

test('an uninstalled plugin and a removed project leave no address', async () => {
  const { world, organization } = held.home
  const [a, b] = [await setUp(plain), await setUp(plain)]
  const stored = () => world.accounts.context.store.read.plugin_webhooks.count({ plugin_config_id: [a.id, b.id] })
  expect(await stored()).toBe(2)
  await call('DELETE', `/api/organizations/${organization.id}/plugins/${a.plugin}/`)
  expect(await stored()).toBe(1)
  await call('DELETE', `/api/projects/${b.project.id}/`)
  expect(await stored()).toBe(0)
  for (const { url } of [a, b]) expect((await send(url)).status).toBe(404)
})

test('only those who may change the config see the address', async () => {
  const { home } = held
  const { url, path } = await setUp(plain, {}, home.project)
  const masked = url.replace(/[\w-]{43}$/, '****************')
  const viewer = await home.world.user(`viewer${count}@acme.test`, home.organization.id, 'viewer')
  const reads = await home.key(home.owner, ['plugin:read'])
  const writes = await home.key(home.owner, ['plugin:read', 'plugin:write'])
  const onlyWrites = await home.key(home.owner, ['plugin:write'])
  for (const [caller, shown] of [
    [home.owner, url],
    [home.member, url],
    [writes, url],
    [onlyWrites, url],
    [viewer, masked],
    [reads, masked],
  ] as const) {
    expect((await call('GET', path, undefined, caller)).body.webhook_url).toBe(shown)
    const list = await call('GET', path.replace(/\d+\/$/, ''), undefined, caller)
    expect(list.body.results.find((config: { webhook_url: string | null }) => config.webhook_url !== null).webhook_url).toBe(shown)
  }
  for (const caller of [viewer, reads]) {
    expect((await call('POST', `${path}webhook/`, undefined, caller)).status).toBe(403)
    expect((await call('DELETE', `${path}webhook/`, undefined, caller)).status).toBe(403)
  }
  expect((await call('GET', path)).body.webhook_url).toBe(url)
})

test('the secret is sealed at rest, and in no log', async () => {
  const { home } = held
  const { url, path, id, project } = await setUp(`${plain}\nexport function setupPlugin() { console.log('set up') }`)
  const secret = url.split('/').at(-1)!
  await send(url, events(one('a')))
  await send(url, 'null') // throws
  const { body: replaced } = await call('POST', `${path}webhook/`)
  await call('DELETE', `${path}webhook/`)
  const second = replaced.webhook_url.split('/').at(-1)
  const { read } = home.world.accounts.context.store
  const activity = await read.activity.find({ scope: 'PluginConfig', item_id: String(id) } as never)
  expect(activity.map((entry) => entry.activity)).toEqual(
    expect.arrayContaining(['webhook_created', 'webhook_replaced', 'webhook_removed']),
  )
  await call('POST', `${path}webhook/`)
  const kept = JSON.stringify([activity, await read.plugin_webhooks.find({}), await read.plugin_configs.find({}), await logOf(path)])
  const metrics = await (await fetch(`${home.world.url}/metrics`)).text()
  for (const text of [kept, metrics, JSON.stringify(await sql(project, 'select * from events'))])
    for (const known of [secret, second]) expect(text).not.toContain(known)
})

test('a plugin without onRequest gets no address, and one that loses it answers 404', async () => {
  const project = await newProject()
  const other = await install('export function processEvent(event) { return event }')
  const { body: made } = await call('POST', `/api/projects/${project.id}/plugin_configs/`, { plugin: other, enabled: true })
  const path = `/api/projects/${project.id}/plugin_configs/${made.id}/`
  expect(await call('POST', `${path}webhook/`)).toMatchObject(
    refused(400, 'invalid_input', 'The plugin has no function `onRequest`, so it cannot take requests.'),
  )
  const losing = await setUp(plain)
  const source = `/api/organizations/${held.home.organization.id}/plugins/${losing.plugin}/update_source/`
  await call('PATCH', source, { 'index.ts': 'export function onEvent() {}' })
  expect((await send(losing.url)).status).toBe(404)
  expect(await logOf(losing.path)).toContainEqual(expect.stringContaining('the plugin has no function onRequest'))
  await call('PATCH', source, { 'index.ts': plain })
  expect((await send(losing.url, events(one('back')))).status).toBe(200)
})

test.each([
  ['throws', 'throw new TypeError("no such field")', 'onRequest failed: TypeError: no such field'],
  ['rejects', 'return Promise.reject(new Error("late"))', 'onRequest failed: Error: late'],
  ['loops', 'for (;;) {}', 'onRequest was stopped: it ran for more than 1 s without awaiting anything'],
  [
    'fills its memory',
    'const all = []; for (;;) all.push(new Uint8Array(4e6))',
    'onRequest was stopped: it needed more than 64 MB of memory',
  ],
  ['returns a text', 'return "ok"', 'onRequest failed: return nothing, a list of events, or { events, status, body }, not "ok"'],
  ['returns a field that is not known', 'return { event: "a" }', 'there is no field "event"'],
  ['returns a redirect', 'return { status: 302 }', 'the status must be from 200 to 299 or from 400 to 599, not 302'],
  ['returns a large body', 'return { body: "x".repeat(70000) }', 'the body has more than 65536 characters'],
  ['returns something else in its list', 'return [1]', 'each event must be an object, but event 0 is 1'],
  ['returns an id and a uuid', 'return [{ event: "a", distinct_id: "b", id: 1, uuid: "x" }]', 'event 0 has both'],
  [
    'returns an event of nobody',
    'return [{ event: "fine", distinct_id: "b" }, { event: "a" }]',
    'onRequest failed: an event cannot be stored',
  ],
])('a plugin that %s is answered with 500, and its log says why', async (_, work, message) => {
  const { url, path, project } = await setUp(`export function onRequest() { ${work} }`)
  expect(await send(url)).toMatchObject(failed)
  expect(await logOf(path)).toContainEqual(expect.stringContaining(message))
  expect(await names(project)).toEqual([])
})

test('a RetryError is another attempt of the sender, and a plugin that keeps failing is switched off for a while', async () => {
  const { url, path } = await setUp(`export function onRequest({ body }) {
    if (body === 'retry') throw new RetryError('not now')
    if (body === 'loop') for (;;) {}
    return []
  }`)
  const unavailable = refused(503, 'plugin_unavailable', 'The plugin is not ready. Send the request again later.')
  const answer = await send(url, 'retry')
  expect(answer).toMatchObject(unavailable)
  expect(answer.headers.get('retry-after')).toBe('60')
  for (let i = 0; i < 3; i++) expect(await send(url, 'loop')).toMatchObject(failed)
  expect(await send(url, 'fine')).toMatchObject(unavailable)
  expect((await call('GET', path)).body.error).toContain('onRequest was stopped')
})

test('one plugin that loops disturbs neither another one nor the capture of its project', async () => {
  const looping = await setUp('export function onRequest() { for (;;) {} }')
  const fine = await setUp(plain, {}, looping.project)
  const slow = Promise.all([1, 2].map(() => send(looping.url)))
  expect((await send(fine.url, events(one('beside')))).status).toBe(200)
  const captured = await fetch(`${held.home.world.url}/batch/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ api_key: looping.project.api_token, batch: [one('captured')] }),
  })
  expect(captured.status).toBe(200)
  for (const answer of await slow) expect(answer).toMatchObject(failed)
  expect(await names(looping.project)).toEqual(['beside', 'captured'])
})

test('methods, sizes and encodings that are not taken', async () => {
  const { url } = await setUp(plain)
  expect((await send(url, '', {}, 'HEAD')).status).toBe(405)
  expect(await send(url, `{"events":[],"x":"${'x'.repeat(2 * 1024 * 1024)}"}`)).toMatchObject(refused(413, 'request_too_large'))
  expect(await send(url, `{"events":[],"x":"${'x'.repeat(2 * 1024 * 1024 - 100)}"}`)).toMatchObject({ status: 200 })
  expect(await send(url, '{}', { 'content-encoding': 'gzip' })).toMatchObject(refused(415, 'unsupported_encoding'))
})

test('no header of the request says who sends it: a login and a key change nothing', async () => {
  const { url, project } = await setUp(plain)
  const key = await held.home.key(held.home.owner, ['*'])
  const headers = { authorization: `Bearer ${key}`, 'x-forwarded-for': '203.0.113.9', 'x-forwarded-host': 'evil.test' }
  expect((await send(url, events(one('a')), headers)).status).toBe(200)
  expect(await sql(project, 'select event, properties.$ip from events')).toEqual([['a', null]])
  expect((await send(`${url.slice(0, -3)}xyz`, events(one('b')), headers)).status).toBe(404)
})
