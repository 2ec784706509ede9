import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { createLoginAttempts, loginAllowances } from '../../../src/doors/http/access/login-attempts.ts'
import { clientAddress, networkOf } from '../../../src/doors/http/requests/client-address.ts'
import { createHandler, type Handler } from '../../../src/doors/http/server/create-handler.ts'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import { WaymarkError } from '../../../src/errors/errors.ts'
import { statesInMemory } from '../../../src/lib/flow/states.ts'
import { networksOf } from '../../../src/lib/web/networks.ts'
import { createPasswords } from '../../../src/service/accounts/users/passwords.ts'
import { quickHash } from '../../harness/quick-hash.ts'

// Signing in, tried by people who should not. On a disk, because what their tries cost must not be taken from those who send events.

const email = 'owner@shop.example'
const password = 'the right one'
let dataDir: string
let waymark: LocalWaymark
let handler: Handler
let token: string
let now = new Date()
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'waymark-login-'))
  waymark = await open({ dataDir, threads: 1, clock: () => now })
  const { project, organization } = await waymark.accounts.firstStart({})
  token = project.api_token
  await waymark.accounts.createUser(organization.id, { email, password_hash: quickHash(password) }, 'admin')
})
beforeEach(() => {
  now = new Date(now.getTime() + 3_600_000)
  handler = createHandler(waymark)
})
afterAll(async () => {
  await waymark.close()
  await rm(dataDir, { recursive: true, force: true })
})

const post = (path: string, body: object, address: string | null, headers: Record<string, string> = {}) =>
  handler(
    new Request(`http://localhost${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    }),
    address,
  )
const login = (given: string, address: string | null, headers?: Record<string, string>, as = email) =>
  post('/api/login/', { email: as, password: given }, address, headers)
const statuses = async (tries: readonly Promise<Response>[]) => (await Promise.all(tries)).map(({ status }) => status)
const cookiesOf = (answer: Response) =>
  answer.headers
    .getSetCookie()
    .map((one) => one.split(';')[0]!)
    .join('; ')

test('nobody keeps somebody else out by trying', async () => {
  const attacker = '203.0.113.7'
  for (let i = 0; i < 10; i++) expect((await login(`wrong ${i}`, attacker)).status).toBe(400)
  const refused = await login('wrong again', '203.0.113.99')
  expect([refused.status, await refused.json()]).toMatchObject([429, { code: 'throttled' }])
  expect(Number(refused.headers.get('retry-after')), 'soon there is another try').toBeLessThanOrEqual(30)
  const own = await login(password, '198.51.100.1')
  expect(own.status).toBe(200)
  expect((await login(password, attacker)).status, 'in the same network').toBe(429)
  const device = { cookie: cookiesOf(own) }
  expect((await login(password, attacker, device)).status, 'where she has signed in before').toBe(200)
  for (let i = 0; i < 10; i++) expect((await login('wrong', attacker, device)).status).toBe(400)
  expect((await login(password, attacker, device)).status, 'that counts for the browser alone').toBe(429)
  expect((await login(password, '198.51.100.1')).status).toBe(200)
  now = new Date(now.getTime() + 30_000)
  expect((await login(password, attacker)).status).toBe(200)
})

test('a device is one of its account, until the password changes', async () => {
  const attacker = '203.0.113.7'
  const device = cookiesOf(await login(password, '198.51.100.1'))
  const value = /waymark_device=([^;]+)/.exec(device)![1]!
  for (let i = 0; i < 10; i++) await login('wrong', attacker)
  for (const forged of [`${value}x`, value.replace(/^./, (c) => (c === 'a' ? 'b' : 'a')), 'a.b', ''])
    expect((await login(password, attacker, { cookie: `waymark_device=${forged}` })).status).toBe(429)
  const { users, context } = waymark.accounts
  const user = (await users.byEmail(email))!
  const password_hash = quickHash('another one')
  await context.store.write((tables) => tables.users.update({ id: user.id }, { password_hash }))
  expect((await login('another one', attacker, { cookie: device })).status).toBe(429)
  await context.store.write((tables) => tables.users.update({ id: user.id }, { password_hash: user.password_hash }))
})

test('many who try at once keep no events waiting', async () => {
  let looked = 0
  const tries = Array.from({ length: 16 }, (_, i) => login('wrong', `10.0.${i}.1`, {}, `somebody${i}@else.example`).finally(() => looked++))
  const captured = await post('/batch/', { api_key: token, batch: [{ event: 'seen', distinct_id: 'u', properties: {} }] }, '10.9.9.9')
  expect([captured.status, looked < 8], 'the event goes before the passwords').toEqual([200, true])
  expect(await statuses(tries)).toEqual(Array.from({ length: 16 }, () => 400))
})

test('of one place a few passwords wait, the others are refused', async () => {
  const { hash, matches } = createPasswords()
  const stored = quickHash('a')
  const tries = await Promise.allSettled(Array.from({ length: 12 }, () => matches('a', stored, 'one')))
  expect(tries.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.code))).toEqual([
    ...Array.from({ length: 9 }, () => true),
    ...Array.from({ length: 3 }, () => 'busy'),
  ])
  expect(await matches('b of two', await hash('b of two', email, 'one'), 'two')).toBe(true)
})

test('whose password was not looked at has not used up a try', async () => {
  const busy = new WaymarkError('busy', { what: 'password checks' })
  vi.spyOn(waymark.accounts.context.passwords, 'matches').mockRejectedValue(busy)
  for (let i = 0; i < 20; i++) {
    const refused = await login(password, '203.0.113.8')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
  }
  vi.restoreAllMocks()
  expect((await login(password, '203.0.113.8')).status).toBe(200)
})

test('tries wear off one by one, of an account in a network, of an address and of a network', async () => {
  let ms = 0
  const attempts = createLoginAttempts('password', { clock: () => new Date(ms), states: statesInMemory() })
  const isLetIn = async (email: string, address: string | null) => {
    try {
      await attempts.begin({ email, address, device: null })
      return true
    } catch {
      return false
    }
  }
  const letIn = async (count: number, next: (i: number) => [string, string | null]) =>
    (await Promise.all(Array.from({ length: count }, (_, i) => isLetIn(...next(i))))).filter(Boolean).length
  expect(await letIn(20, (i) => ['a', `10.1.1.${i}`])).toBe(loginAllowances.account.failures)
  expect(await letIn(50, (i) => [`b${i}`, '10.2.2.2'])).toBe(loginAllowances.address.failures)
  expect(await letIn(200, (i) => [`c${i}`, `10.3.3.${i}`])).toBe(loginAllowances.network.failures)
  expect(await letIn(200, (i) => [`d${i}`, `2001:db8:1:${i}::1`])).toBe(loginAllowances.network.failures)
  expect(await letIn(50, (i) => [`e${i}`, `2001:db8:2:1::${i}`])).toBe(loginAllowances.address.failures)
  expect(await letIn(20, () => ['f', null]), 'nobody knows where').toBe(loginAllowances.account.failures)
  expect(await letIn(200, (i) => [`g${i}`, null])).toBe(200)
  ms = 30_000
  expect(await letIn(5, () => ['a', '10.1.1.1'])).toBe(1)
  expect(await letIn(20, (i) => [`b${i}`, '10.2.2.2'])).toBe(3)
})

test('hosts and networks of addresses', () => {
  expect(networkOf('192.0.2.77')).toEqual({ host: '192.0.2.77', network: '192.0.2.0/24' })
  const one = { host: '2001:db8:0:1::/64', network: '2001:db8:0::/48' }
  for (const address of ['2001:db8::1:0:0:0:1', '2001:0DB8:0000:0001::', '2001:db8:0:1:ffff:ffff:ffff:ffff', '2001:db8:0:1::9%eth0'])
    expect(networkOf(address), address).toEqual(one)
  expect(networkOf('::1').host).toBe('0:0:0:0::/64')
})

test('where a caller is, behind proxies and without', () => {
  const trusted = networksOf(['10.0.0.1', '10.0.0.2'])
  const seen = (address: string | null, forwarded?: string) =>
    clientAddress(new Headers(forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }), address, trusted)
  expect(seen('203.0.113.7')).toBe('203.0.113.7')
  expect(seen('203.0.113.7', '1.2.3.4'), 'its own words').toBe('203.0.113.7')
  expect(seen('10.0.0.1', '1.2.3.4, 198.51.100.9')).toBe('198.51.100.9')
  expect(seen('10.0.0.1', '1.2.3.4, 198.51.100.9, 10.0.0.2')).toBe('198.51.100.9')
  expect(seen('10.0.0.1', 'nonsense')).toBe('10.0.0.1')
  expect(seen('127.0.0.1')).toBe('127.0.0.1')
  expect(seen('127.0.0.1', '198.51.100.9'), 'a proxy that nobody named').toBe(null)
  expect(seen(null, '198.51.100.9')).toBe(null)
})

test('ten thousand guesses at one account end in a pause that nobody else notices', async () => {
  let ms = 0
  const attempts = createLoginAttempts('password', { clock: () => new Date(ms), states: statesInMemory() })
  const begins = async (email: string, address: string, device: string | null = null) => {
    try {
      return await attempts.begin({ email, address, device })
    } catch {
      return null
    }
  }
  let looked = 0
  for (let guess = 0; guess < 10_000; guess++) {
    ms += 100
    if (await begins('ada@example.com', '198.51.100.7')) looked++
    if (guess % 100 !== 0) continue
    // The user elsewhere, and in a browser of before behind the same address; and a colleague there, whose password is right.
    for (const right of [await begins('ada@example.com', '203.0.113.9'), await begins('ada@example.com', '198.51.100.7', 'her browser')]) {
      expect(right).not.toBeNull()
      await right!()
    }
    const colleague = await begins('grace@example.com', '198.51.100.7')
    expect(colleague).not.toBeNull()
    await colleague!()
  }
  expect(looked).toBe(loginAllowances.account.failures + Math.floor(1000 / loginAllowances.account.seconds))
})
