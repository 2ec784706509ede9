import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createHandler, type Handler } from '../../../../src/doors/http/server/create-handler.ts'
import { type LocalWaymark, open } from '../../../../src/engine.ts'
import type { HostUser } from '../../../../src/service/accounts/organizations/host-users.ts'
import { level } from '../../../../src/service/accounts/records.ts'

// Users of the application that Waymark is part of.

let waymark: LocalWaymark
let handler: Handler
let organization: string
let other: string
let now = new Date('2026-03-01T10:00:00Z')
/** Whom the hook says is there. */
let present: unknown = null
const asked: Request[] = []

beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:', clock: () => now })
  organization = (await waymark.defaultOrganization()).id
  other = (await waymark.createOrganization({ name: 'Acme' })).id
  handler = createHandler(waymark, {
    authenticate: (request) => {
      asked.push(request)
      if (present instanceof Error) throw present
      return present as HostUser | null
    },
  })
})
afterAll(() => waymark.close())
beforeEach(() => {
  present = null
  now = new Date('2026-03-01T10:00:00Z')
})

const own = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' }
const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
  const answer = await handler(
    new Request(`http://localhost${path}`, {
      method,
      headers: { ...own, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  )
  const text = await answer.text()
  return { status: answer.status, body: (text === '' ? null : JSON.parse(text)) as unknown, headers: answer.headers }
}
const host = (subject: string, more: Partial<HostUser> = {}): HostUser => ({
  issuer: 'app',
  subject,
  organization,
  level: 'member',
  ...more,
})
const me = async () =>
  (await call('GET', '/api/users/@me/')).body as {
    uuid: string
    email: string
    first_name: string
    issuer: string | null
    organizations: { id: string; membership_level: number }[]
  }
const users = () => waymark.accounts.context.store.read.users
const countOf = async () => users().count({})

test('nobody: the answer is that of who is not signed in', async () => {
  expect(await call('GET', '/api/users/@me/')).toMatchObject({ status: 401, body: { code: 'not_authenticated' } })
  expect(asked.at(-1)!.url).toBe('http://localhost/api/users/@me/')
})

test('a user comes in, is the same user the next time, and is out when the hook says so', async () => {
  present = host('u1', { email: 'ada@example.com', name: 'Ada', level: 'admin' })
  const first = await me()
  expect(first).toMatchObject({
    email: 'ada@example.com',
    first_name: 'Ada',
    issuer: 'app',
    organizations: [{ id: organization, membership_level: level.admin }],
  })
  const count = await countOf()
  expect((await me()).uuid).toBe(first.uuid)
  expect(await countOf()).toBe(count)
  present = null
  expect((await call('GET', '/api/users/@me/')).status).toBe(401)
  expect(await waymark.accounts.context.store.read.sessions.count({})).toBe(0)
})

test('two first requests at the same time make one account', async () => {
  present = host('twice')
  const found = await Promise.all([me(), me(), me()])
  expect(new Set(found.map(({ uuid }) => uuid)).size).toBe(1)
})

describe('an address makes nobody somebody else', () => {
  const address = 'owner@victim.example'
  const password = 'correct horse'
  beforeAll(async () => {
    await waymark.accounts.createUser(
      organization,
      { email: address, password_hash: await waymark.accounts.context.passwords.hash(password, address, 'test') },
      'admin',
    )
  })

  test.each(['owner@victim.example', 'OWNER@victim.example'])('%s of an account with a password', async (email) => {
    present = host('mallory', { email })
    const own = await waymark.accounts.users.byEmail(address)
    expect((await me()).uuid).not.toBe(own!.uuid)
    expect((await waymark.accounts.users.byEmail(address))!.uuid).toBe(own!.uuid)
    present = null
    expect((await call('POST', '/api/login/', { email: address, password })).status).toBe(200)
  })

  test('of another user of the application, of another issuer with the same subject', async () => {
    present = host('first', { email: 'same@example.com' })
    const first = await me()
    present = host('second', { email: 'same@example.com' })
    const second = await me()
    present = host('first', { issuer: 'app2', email: 'same@example.com' })
    const third = await me()
    expect(new Set([first.uuid, second.uuid, third.uuid]).size).toBe(3)
  })

  test.each(['a', ' a', 'a ', 'A', 'á', 'a\u0301', 'a\u200b'])('the subject %j is its own', async (subject) => {
    present = host(`s${subject}`)
    await me()
    const same = (await users().find({ issuer: 'app' })).filter((one) => one.subject === `s${subject}`)
    expect(same).toHaveLength(1)
  })

  test('no link for a password, by the operator or by mail; no link for the address', async () => {
    present = host('linkless', { email: 'linkless@example.com' })
    const { uuid } = await me()
    await expect(waymark.accounts.passwordLinks.create('linkless@example.com', 'http://x')).rejects.toThrow('There is no user')
    await expect(waymark.accounts.emailLinks.confirmFor('linkless@example.com')).rejects.toThrow()
    for (const body of [{ password: 'a new password' }, { email: 'new@example.com' }, { email: 'linkless@example.com' }])
      expect(await call('PATCH', '/api/users/@me/', body)).toMatchObject({
        status: 403,
        body: { detail: expect.stringContaining('the application that signs you in') },
      })
    expect((await users().first({ uuid }))!.password_hash).toBeNull()
    expect(await waymark.accounts.users.authenticate('linkless@example.com', 'a new password', 'x')).toBeUndefined()
  })

  test('no invitation of somebody with that address is theirs', async () => {
    const inviter = (await waymark.accounts.users.byEmail(address))!
    const membership = (await waymark.accounts.organizations.membership(organization, inviter))!
    const at = (await waymark.accounts.organizations.byId(organization))!
    const by = { user: inviter, membership, hidesSecrets: false }
    const sent = await waymark.accounts.invites.create(by, at, { target_email: 'guest@example.com', level: level.admin })
    const { secret } = sent
    present = host('guest', { email: 'guest@example.com', organization: other })
    await me()
    const joined = await call('POST', `/api/signup/${secret}/`, {})
    expect(joined.status).toBe(403)
    expect((await me()).organizations.map(({ id }) => id)).toEqual([other])
  })

  test('the link of the first owner gives away no account of the application', async () => {
    const waymark = await open({ dataDir: ':memory:' })
    try {
      const { id } = await waymark.defaultOrganization()
      const handler = createHandler(waymark, {
        authenticate: () => host('boss', { level: 'owner', organization: id, email: 'boss@example.com' }),
      })
      const answer = (await (await handler(new Request('http://localhost/api/users/@me/'))).json()) as {
        uuid: string
        organizations: { membership_level: number }[]
      }
      expect(answer.organizations[0]!.membership_level).toBe(level.admin)
      const link = new URL((await waymark.createSetupLink('https://app.example.com/analytics/'))!)
      expect(link.href.startsWith('https://app.example.com/analytics/#/setup?secret=')).toBe(true)
      const secret = new URLSearchParams(link.hash.split('?')[1]).get('secret')
      const owner = await waymark.accounts.firstOwner.become({
        secret,
        email: 'boss@example.com',
        first_name: 'Boss',
        password: 'correct horse',
      })
      expect(owner.uuid).not.toBe(answer.uuid)
      expect(await waymark.createSetupLink('https://app.example.com/analytics')).toBeNull()
    } finally {
      await waymark.close()
    }
  })
})

test('exactly the membership that the hook names', async () => {
  present = host('mover', { level: 'admin' })
  await me()
  const project = (await waymark.projects())[0]
  expect(project === undefined || (await call('GET', `/api/projects/${project.id}/`)).status === 200).toBe(true)
  present = host('mover', { level: 'member' })
  expect((await me()).organizations).toMatchObject([{ id: organization, membership_level: level.member }])
  present = host('mover', { organization: other.toUpperCase(), level: 'owner' })
  expect((await me()).organizations).toMatchObject([{ id: other, membership_level: level.owner }])
  if (project) expect((await call('GET', `/api/projects/${project.id}/`)).status).not.toBe(200)
  present = host('second owner', { organization: other, level: 'owner' })
  expect((await me()).organizations).toMatchObject([{ id: other, membership_level: level.admin }])
  expect((await call('POST', '/api/organizations/', { name: 'Mine' })).status).toBe(403)
})

test('administrators cannot change a level that the hook names', async () => {
  present = host('levelled')
  const { uuid } = await me()
  present = host('admin', { level: 'admin' })
  await me()
  const answer = await call('PATCH', `/api/organizations/${organization}/members/${uuid}/`, { level: 8 })
  expect(answer).toMatchObject({ status: 403, body: { detail: expect.stringContaining('comes from the application') } })
})

describe('requests of other sites', () => {
  test.each<[Record<string, string>, number]>([
    [{ 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }, 403],
    [{ 'sec-fetch-site': 'same-site', origin: 'https://sub.localhost' }, 403],
    [{ 'sec-fetch-site': 'same-origin' }, 200],
  ])('%j: %i', async (headers, status) => {
    present = host('clicker', { level: 'admin' })
    expect((await call('PATCH', '/api/users/@me/', { theme_mode: 'dark' }, headers)).status).toBe(status)
  })

  test('an origin without the newer header', async () => {
    present = host('clicker', { level: 'admin' })
    const headers = new Headers({ origin: 'https://evil.example', 'content-type': 'application/json' })
    const answer = await handler(
      new Request('http://localhost/api/users/@me/', { method: 'PATCH', headers, body: '{"theme_mode":"dark"}' }),
    )
    expect(answer.status).toBe(403)
  })
})

test('a session of another account does not stay when the application names somebody', async () => {
  await waymark.accounts.createUser(
    organization,
    { email: 'local@example.com', password_hash: await waymark.accounts.context.passwords.hash('correct horse', 'local@example.com', 't') },
    'member',
  )
  const login = await call('POST', '/api/login/', { email: 'local@example.com', password: 'correct horse' })
  const cookie = login.headers.getSetCookie()[0]!.split(';')[0]!
  expect((await call('GET', '/api/users/@me/', undefined, { cookie })).body).toMatchObject({ email: 'local@example.com' })
  present = host('named')
  expect((await call('GET', '/api/users/@me/', undefined, { cookie })).body).toMatchObject({ issuer: 'app' })
  present = null
  expect((await call('GET', '/api/users/@me/', undefined, { cookie })).body).toMatchObject({ email: 'local@example.com' })
})

test('an old login may not change keys, one of now may', async () => {
  present = host('keys', { authenticated_at: new Date(now.getTime() - 7 * 3_600_000) })
  const body = { label: 'mine', scopes: ['*'] }
  expect((await call('POST', '/api/personal_api_keys/', body)).status).toBe(403)
  present = host('keys')
  const made = await call('POST', '/api/personal_api_keys/', body)
  expect(made.status).toBe(201)
  present = null
  const headers = { authorization: `Bearer ${(made.body as { value: string }).value}` }
  expect((await call('GET', '/api/users/@me/', undefined, headers)).status).toBe(200)
  expect(await waymark.removeHostUser({ issuer: 'app', subject: 'keys' })).toBe(true)
  expect((await call('GET', '/api/users/@me/', undefined, headers)).status).toBe(401)
  expect(await waymark.removeHostUser({ issuer: 'app', subject: 'nobody' })).toBe(false)
})

describe('what the hook returns by mistake lets nobody in, and says why', () => {
  test.each<[string, unknown, string]>([
    ['an address only', { email: 'ada@example.com' }, 'issuer'],
    ['no subject', { ...host('x'), subject: '' }, 'subject'],
    ['a number', { ...host('x'), subject: 7 }, 'subject'],
    ['a NUL character', host('a\0b'), 'subject'],
    ['half a character', host('a\ud800'), 'subject'],
    ['too long a subject', host('x'.repeat(256)), 'subject'],
    ['another level', { ...host('x'), level: 'boss' }, 'level'],
    ['a level of every object', { ...host('x'), level: 'constructor' }, 'level'],
    ['no organization', { ...host('x'), organization: undefined }, 'organization'],
    ['an unknown organization', host('x', { organization: '00000000-0000-0000-0000-000000000000' }), 'organization'],
    ['an unknown field', { ...host('x'), emial: 'a@b' }, 'emial'],
    ['true', true, 'authenticate'],
    ['a text', 'ada', 'authenticate'],
    ['a list', [host('x')], 'authenticate'],
  ])('%s', async (_, given, named) => {
    const before = await countOf()
    present = given
    const answer = await call('GET', '/api/users/@me/')
    expect(answer).toMatchObject({ status: 500, body: { code: 'authenticate_failed', detail: expect.stringContaining(named) } })
    expect(await countOf()).toBe(before)
  })

  test('what it throws is told to nobody', async () => {
    present = new Error('the database of the application is down')
    const answer = await call('GET', '/api/users/@me/')
    expect(answer.status).toBe(500)
    expect(JSON.stringify(answer.body)).not.toContain('database')
  })
})

test('events need nobody', async () => {
  present = new Error('down')
  const project = await waymark.createProject({ name: 'Shop' })
  expect((await call('POST', '/batch/', { api_key: project.token, batch: [{ event: 'a', distinct_id: 'u' }] })).status).toBe(200)
})
