import { request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createHandler, type HandlerOptions } from '../../../src/doors/http/server/create-handler.ts'
import { networksOf } from '../../../src/lib/web/networks.ts'
import { type Home, startHome } from './conversation.ts'

// Under which address the server is known: the `Host` header is the caller's own text.

let home: Home
let cookie: Record<string, string>
beforeAll(async () => {
  home = await startHome()
  cookie = await home.world.login(home.owner)
})
afterAll(() => home.world.close())

const members = '/api/organizations/@current/members/?limit=1'
const nextOf = async (origin: string, options: HandlerOptions = {}, headers: Record<string, string> = {}, address = '203.0.113.9') => {
  const handler = createHandler(home.world.waymark, options)
  const response = await handler(new Request(origin + members, { headers: { ...cookie, ...headers } }), address)
  return ((await response.json()) as { next: string }).next
}
const rest = '/api/organizations/@current/members/?limit=1&offset=1'

test('links of pages begin with a host that is known to be ours', async () => {
  for (const origin of ['http://127.0.0.1:8000', 'http://localhost:9', 'http://waymark:8000', 'http://10.2.3.4', 'http://[::1]:80'])
    expect(await nextOf(origin)).toBe(new URL(rest, origin).href)
  for (const origin of ['http://evil.test', 'http://evil.localhost.test', 'http://198.51.100.7', 'https://evil.test:8443'])
    expect(await nextOf(origin), 'relative: no host vouched for').toBe(rest)
  const publicUrl = 'https://stats.example.com/waymark/'
  for (const origin of ['http://evil.test', 'http://127.0.0.1:8000'])
    expect(await nextOf(origin, { publicUrl })).toBe(`https://stats.example.com/waymark${rest}`)
})

test('the pages of an activity log too', async () => {
  const handler = createHandler(home.world.waymark)
  const path = `/api/projects/${home.project.id}/activity/?limit=1&page=2`
  const response = await handler(new Request(`http://evil.test${path}`, { headers: cookie }))
  expect(await response.json()).toMatchObject({ previous: `/api/projects/${home.project.id}/activity/?limit=1&page=1` })
})

test('a proxy is believed only where it is trusted', async () => {
  const said = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'stats.example.com' }
  expect(await nextOf('http://evil.test', {}, said)).toBe(rest)
  const trustedProxies = ['10.0.0.0/8', '203.0.113.9']
  expect(await nextOf('http://inner:1', { trustedProxies }, said)).toBe(`https://stats.example.com${rest}`)
  expect(await nextOf('http://evil.test', { trustedProxies }, said, '203.0.113.10')).toBe(rest)
  for (const strange of ['evil.test/x', 'a@evil.test', ''])
    expect(await nextOf('http://inner:1', { trustedProxies }, { ...said, 'x-forwarded-host': strange })).toBe(`https://inner:1${rest}`)
})

test('no `Host` that a client makes up is in any answer of a running server', async () => {
  const answer = await new Promise<string>((resolve, reject) => {
    const { hostname, port } = new URL(home.world.url)
    const sent = request({ hostname, port, path: members, headers: { ...cookie, host: 'evil.test' } }, (response) => {
      let text = JSON.stringify(response.headers)
      response.on('data', (chunk) => (text += chunk)).on('end', () => resolve(text))
    })
    sent.on('error', reject).end()
  })
  expect(answer).toContain('offset=1')
  expect(answer).not.toContain('evil.test')
})

test('mails lead to the public address, whatever the request named', async () => {
  const { world } = home
  world.hasMail = true
  const headers = { ...cookie, 'content-type': 'application/json' }
  const body = JSON.stringify({ target_email: 'far@example.com' })
  await createHandler(world.waymark)(new Request('http://evil.test/api/organizations/@current/invites/', { method: 'POST', headers, body }))
  expect(world.outbox.at(-1)?.text).toContain(`${world.url}/#/signup/`)
  expect(world.outbox.at(-1)?.text).not.toContain('evil.test')
  world.hasMail = false
})

const signIn = async (origin: string, options: HandlerOptions, headers: Record<string, string> = {}) => {
  const handler = createHandler(home.world.waymark, options)
  const body = JSON.stringify({ email: 'door@acme.test', password: 'correct horse' })
  const response = await handler(new Request(`${origin}/api/login/`, { method: 'POST', body, headers }), '127.0.0.1')
  const cookies = response.headers.getSetCookie().map((one) => one.replace(/=[^;]+/, '=…'))
  return [response.status, ...cookies].join(' | ')
}

test('cookies are Secure where the caller came over TLS', async () => {
  await home.world.makeUser({ email: 'door@acme.test', password: 'correct horse', organizationId: null, level: 1 })
  const cookies = (secure: string) =>
    [
      '200',
      `waymark_session=…; Path=/; Max-Age=1209600; HttpOnly; SameSite=Lax${secure}`,
      `waymark_device=…; Path=/api/login; Max-Age=31536000; HttpOnly; SameSite=Lax${secure}`,
    ].join(' | ')
  const [open, closed] = [cookies(''), cookies('; Secure')]
  const https = { 'x-forwarded-proto': 'https' }
  expect(await signIn('http://127.0.0.1', {})).toBe(open)
  expect(await signIn('http://127.0.0.1', {}, https), 'said by nobody who is trusted').toBe(open)
  expect(await signIn('http://127.0.0.1', { trustedProxies: ['127.0.0.1'] }, https)).toBe(closed)
  expect(await signIn('http://127.0.0.1', { publicUrl: 'https://stats.example.com' })).toBe(closed)
  expect(await signIn('https://127.0.0.1', {})).toBe(closed)
})

test('a page of another site starts no login and ends none; our own behind a proxy may', async () => {
  expect(await signIn('http://127.0.0.1', {}, { origin: 'https://evil.test' })).toBe('403')
  expect(await signIn('http://127.0.0.1', {}, { 'sec-fetch-site': 'cross-site' })).toBe('403')
  const logout = new Request('http://127.0.0.1/api/logout/', { method: 'POST', headers: { ...cookie, origin: 'https://evil.test' } })
  expect((await createHandler(home.world.waymark)(logout)).headers.get('set-cookie')).toBeNull()
  const ours = { origin: 'https://stats.example.com' }
  expect(await signIn('http://127.0.0.1', { publicUrl: 'https://stats.example.com' }, ours)).toMatch(/^200/)
})

test('settings that are none are refused', () => {
  const make = (options: HandlerOptions) => () => createHandler(home.world.waymark, options)
  for (const publicUrl of ['stats.example.com', 'ftp://stats.example.com', 'https://stats.example.com/?a'])
    expect(make({ publicUrl })).toThrow(`The public URL must be an address like https://analytics.example.com, not ${publicUrl}.`)
  for (const one of ['proxy', '10.0.0.0/33', '10.0.0.0/8/8', '10.0.0/8'])
    expect(make({ trustedProxies: [one] })).toThrow(`Trusted proxies must be addresses or networks like 10.0.0.0/8, not ${one}.`)
})

const addresses: [string, boolean][] = [
  ['10.255.0.1', true],
  ['11.0.0.1', false],
  ['192.0.2.7', true],
  ['192.0.2.8', false],
  ['2001:db8::ffff', true],
  ['2001:db9::1', false],
  ['::ffff:10.0.0.1', true],
  ['nothing', false],
  ['', false],
]
test.each(addresses)('%s is among the networks: %s', (address, isAmong) => {
  expect(networksOf(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32']).has(address)).toBe(isAmong)
})

test('every answer says how it may be used', async () => {
  const { world } = home
  const places: [string, RequestInit][] = [
    ['/api/organizations/', { headers: cookie }],
    ['/api/organizations/', {}],
    ['/api/nothing/', {}],
    ['/nothing', {}],
    ['/api/organizations/', { method: 'OPTIONS' }],
    ['/capture/', { method: 'POST', body: '{}' }],
    ['/e/', { method: 'OPTIONS' }],
    ['/flags/', { method: 'POST', body: '{}' }],
    ['/array/phc_x/config.js', {}],
    ['/static/none.js', {}],
    ['/_health', {}],
    ['/_readyz', {}],
    ['/metrics', {}],
    ['/openapi.json', {}],
  ]
  for (const [path, init] of places) {
    const { headers } = await fetch(world.url + path, init)
    expect(
      ['x-content-type-options', 'x-frame-options', 'referrer-policy', 'cache-control', 'content-security-policy'].map((name) =>
        headers.get(name),
      ),
      path,
    ).toEqual(['nosniff', 'DENY', 'no-referrer', 'no-store', "default-src 'none'; frame-ancestors 'none'"])
  }
})
