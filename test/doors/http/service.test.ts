import { expect, test } from 'vitest'
import { createMailer } from '../../../src/service/network/smtp.ts'
import { startSmtp } from '../../harness/smtp-server.ts'
import { refused, withHome } from './conversation.ts'

const held = withHome()
const json = { 'content-type': 'application/json' }

test('paths: a slash at the end does not matter, unknown ones are said to be', async () => {
  const { call, member, world } = held.home
  for (const path of ['/api/organizations/@current', '/api/organizations/@current/'])
    expect((await call('GET', path, { as: member })).status).toBe(200)
  expect(await call('GET', '/api/nothing/', { as: member })).toMatchObject(refused(404, 'not_found', 'Endpoint not found.'))
  expect(await call('POST', '/api/organizations/@current/nothing/')).toMatchObject(refused(404, 'not_found', 'Endpoint not found.'))
  expect((await fetch(`${world.url}/elsewhere`)).status).toBe(404)
})

test('environments are projects by another name', async () => {
  const { call, member, project } = held.home
  const record = await call('GET', '/api/environments/@current/', { as: member })
  expect(record).toMatchObject({ status: 200, body: { id: project.id, api_token: project.api_token } })
  const query = { kind: 'SqlLikeQuery', query: 'select 1' }
  const asked = await call('POST', `/api/environments/${project.id}/query/?_=1`, { as: member, body: { query } })
  expect(asked).toMatchObject({ status: 200, body: { results: [[1]] } })
  expect(await call('GET', '/api/environmentsx/', { as: member })).toMatchObject(refused(404, 'not_found'))
})

const bodies: [string, string, Record<string, string>, number, string][] = [
  ['not JSON', '{"name":', json, 400, 'parse_error'],
  ['not UTF-8', '\ud800', json, 400, 'parse_error'],
  ['deeper than anything', `{"name":"N","teams":${'['.repeat(9000)}${']'.repeat(9000)}}`, json, 400, 'parse_error'],
  ['another kind of text', '<a/>', { 'content-type': 'application/xml' }, 415, 'unsupported_media_type'],
  ['more than 10 MB', JSON.stringify({ name: 'x'.repeat(11 * 1024 * 1024) }), json, 413, 'request_too_large'],
]
test.each(bodies)('a body that is %s', async (_, body, headers, status, code) => {
  const { call, member } = held.home
  expect(await call('POST', '/api/organizations/', { as: member, body, headers })).toMatchObject(refused(status, code))
})

test('words that every object of JavaScript knows are words like others', async () => {
  const { call, member, key, project, world } = held.home
  const as = await key(member, ['*'])
  for (const word of ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf']) {
    const event = { api_key: project.api_token, event: 'a', distinct_id: 'u', properties: JSON.parse(`{"${word}": 1}`) }
    const send = (path: string, headers: Record<string, string> = {}) =>
      fetch(world.url + path, {
        method: 'POST',
        headers: { ...json, ...headers },
        body: JSON.stringify({ ...event, token: event.api_key }),
      })
    const answers = [
      await send(`/e/?compression=${word}`),
      await send('/e/', { 'content-encoding': word }),
      await send(`/decide/?v=${word}`),
      await send(`/flags/?v=${word}`),
    ]
    expect(
      answers.map(({ status }) => status).filter((status) => status >= 500),
      word,
    ).toEqual([])
    const status = async (method: string, path: string, body: unknown) => (await call(method, path, { as, body })).status
    expect(await status('PATCH', '/api/projects/@current/', { anonymize_ips: word }), 'neither true nor false').toBe(400)
    expect(await status('PATCH', '/api/users/@me/', JSON.parse(`{"notification_settings": {"${word}": "${word}"}}`))).toBe(200)
    const query = { kind: word, query: 'select 1' }
    expect(await status('POST', '/api/projects/@current/query/', { query })).toBe(400)
    const variables_override = JSON.parse(`{"${word}": {"code_name": "${word}", "value": 1}}`)
    const asked = { query: { kind: 'SqlLikeQuery', query: `select {variables.${word}}` }, variables_override }
    expect(await status('POST', '/api/projects/@current/query/', asked), word).toBeLessThan(500)
    expect((await call('GET', `/api/organizations/@current/members/?order=${word}`, { as })).status).toBe(200)
  }
})

test('forms are read like JSON', async () => {
  const { call, admin, world } = held.home
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const path = '/api/organizations/@current/'
  expect((await call('PATCH', path, { as: admin, body: 'name=A+B&enforce_2fa=false', headers: form })).body).toMatchObject({
    name: 'A B',
    enforce_2fa: false,
  })
  const multipart = new FormData()
  multipart.set('name', 'C')
  const response = await fetch(world.url + path, { method: 'PATCH', body: multipart, headers: await world.login(admin) })
  expect(await response.json()).toMatchObject({ name: 'C' })
})

test('every answer has a request id and may be read from other sites', async () => {
  const { world, call, member } = held.home
  const response = await fetch(`${world.url}/api/organizations/`, { headers: { 'x-request-id': 'abc-1' } })
  expect([response.status, response.headers.get('x-request-id'), response.headers.get('access-control-allow-origin')]).toEqual([
    401,
    'abc-1',
    '*',
  ])
  expect((await call('GET', '/api/nothing/')).headers.get('x-request-id')).toMatch(/^[\da-f-]{36}$/)
  const preflight = await fetch(`${world.url}/api/organizations/`, { method: 'OPTIONS' })
  expect([preflight.status, preflight.headers.get('access-control-allow-headers')]).toEqual([204, expect.stringContaining('Authorization')])
  const head = await fetch(`${world.url}/api/users/@me/`, { method: 'HEAD', headers: await world.login(member) })
  expect([head.status, await head.text()]).toEqual([200, ''])
})

test('capture may be called from any site with its cookies, and with any header', async () => {
  const { world } = held.home
  const origin = 'https://shop.example'
  const asked = { origin, 'access-control-request-headers': 'traceparent,x-a' }
  const allowed = ({ headers }: Response) => ['origin', 'credentials', 'headers'].map((what) => headers.get(`access-control-allow-${what}`))
  for (const path of ['/e/', '/batch/', '/flags/', '/s/'])
    expect(allowed(await fetch(world.url + path, { method: 'OPTIONS', headers: asked }))).toEqual([origin, 'true', 'traceparent,x-a'])
  const refusedOne = await fetch(`${world.url}/e/`, { method: 'POST', body: '{}', headers: { origin } })
  expect([refusedOne.status, ...allowed(refusedOne)]).toEqual([400, origin, 'true', null])
})

test('a login cookie counts only for pages of our own', async () => {
  const { call, admin } = held.home
  const body = { name: 'Mine' }
  const foreign = refused(403, 'permission_denied', 'Cross-site requests cannot use a login session.')
  expect(
    await call('PATCH', '/api/organizations/@current/', { as: admin, body, headers: { 'sec-fetch-site': 'cross-site' } }),
  ).toMatchObject(foreign)
  expect(await call('PATCH', '/api/organizations/@current/', { as: admin, body, headers: { origin: 'https://evil.test' } })).toMatchObject(
    foreign,
  )
  expect(
    (await call('PATCH', '/api/organizations/@current/', { as: admin, body, headers: { 'sec-fetch-site': 'same-origin' } })).status,
  ).toBe(200)
})

test('keys are limited in how often they may call, logins are not', async () => {
  const { call, member, key, world } = held.home
  const [one, two] = [await key(member, ['*']), await key(member, ['*'])]
  world.limits = { ...world.limits, api: [{ count: 3, seconds: 60 }] }
  world.now = new Date('2033-03-03T00:00:00Z')
  const me = (as: string | typeof member) => call('GET', '/api/users/@me/', { as })
  expect((await me(one)).headers.get('ratelimit')).toBe('"api";r=2;t=60')
  world.now = new Date('2033-03-03T00:00:18.500Z')
  const missing = await call('GET', '/api/projects/999999/', { as: one })
  expect([missing.status, missing.headers.get('ratelimit-remaining')]).toEqual([404, '1'])
  await me(one)
  const refusal = await me(one)
  expect(refusal).toMatchObject(refused(429, 'throttled', 'Request was throttled. Expected available in 42 seconds.'))
  expect([refusal.headers.get('retry-after'), refusal.headers.get('ratelimit-remaining')]).toEqual(['42', '0'])
  expect([(await me(two)).status, (await me(member)).status]).toEqual([200, 200])
  world.now = new Date('2033-03-03T00:01:00.001Z')
  expect((await me(one)).status).toBe(200)
  expect((await me(one)).status).toBe(429)
  world.now = null
})

test('logging out ends the session', async () => {
  const { call, member, world } = held.home
  const headers = await world.login(member)
  expect((await call('GET', '/api/users/@me/', { headers })).status).toBe(200)
  expect((await call('POST', '/api/logout/', { headers })).status).toBe(204)
  expect((await call('GET', '/api/users/@me/', { headers })).status).toBe(401)
})

test('users choose what they work in', async () => {
  const { call, owner, organization, other } = held.home
  const { body: second } = await call('POST', '/api/organizations/', { as: owner, body: { name: 'Second' } })
  const set = (body: object) => call('PATCH', '/api/users/@me/', { as: owner, body })
  expect((await set({ set_current_organization: organization.id })).body).toMatchObject({ organization: { id: organization.id } })
  expect((await set({ set_current_team: second.teams[0].id })).body).toMatchObject({
    organization: { id: second.id },
    team: { id: second.teams[0].id },
  })
  expect(await set({ set_current_organization: other.id })).toMatchObject(
    refused(400, 'does_not_exist', undefined, 'set_current_organization'),
  )
  expect((await set({ theme_mode: 'dark', first_name: 'Ada' })).body).toMatchObject({ theme_mode: 'dark', first_name: 'Ada' })
  expect(await set({ email: 'member@acme.test' }), 'whether an address has an account is not told').toMatchObject({
    status: 200,
    body: { email: 'owner@acme.test' },
  })
  expect(await call('GET', `/api/users/${held.home.member.uuid}/`, { as: owner })).toMatchObject(refused(404, 'not_found'))
})

test('pages for operators need no key and tell nothing about people', async () => {
  const { world } = held.home
  const page = async (path: string) => {
    const response = await fetch(world.url + path)
    return { status: response.status, text: await response.text() }
  }
  for (const path of ['/_health', '/_livez', '/_readyz']) expect((await page(path)).status, path).toBe(200)
  for (const odd of ['secret-key', 'z%22%7D%201%0Awaymark_disk_free_bytes%200%0Ax%7Bq=%22']) await page(`/array/${odd}/config`)
  const metrics = (await page('/metrics')).text
  expect(metrics).toContain('route="/array/:token/config"')
  expect(metrics).not.toContain('secret-key')
  expect(metrics).not.toMatch(/^waymark_disk_free_bytes 0$/m)
  expect(metrics).toMatch(/waymark_http_requests_total\{method="GET",route="\/api\/users\/:uuid",status="200"\} \d+/)
  expect(metrics).not.toContain('acme.test')
  expect(JSON.parse((await page('/openapi.json')).text)).toMatchObject({ openapi: '3.1.0' })
})

test('the front page tells a person where they are, and a program the same as JSON', async () => {
  const { world } = held.home
  const person = await fetch(`${world.url}/`, { headers: { accept: 'text/html,*/*;q=0.8' } })
  expect([person.status, person.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  expect(person.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(await person.text()).not.toContain('phc_')
  const program = await fetch(`${world.url}/`)
  expect(await program.json()).toMatchObject({ name: 'Waymark', api: '/openapi.json' })
})

test('mail goes out over SMTP', async () => {
  const server = await startSmtp()
  const mailer = await createMailer(server.url, 'Waymark <no-reply@acme.test>')
  await mailer.send({ to: 'new@acme.test', replyTo: 'boss@acme.test', subject: 'Grüße', text: 'Line one\n.\nLine three' })
  mailer.close()
  await server.close()
  expect(server.lines).toEqual(
    expect.arrayContaining([
      'MAIL FROM:<no-reply@acme.test>',
      'RCPT TO:<new@acme.test>',
      'Reply-To: boss@acme.test',
      'Line one',
      '..',
      'Line three',
    ]),
  )
})
