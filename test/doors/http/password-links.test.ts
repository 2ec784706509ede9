import { beforeEach, expect, test, vi } from 'vitest'
import { mailedLinkAllowances } from '../../../src/doors/http/access/login-attempts.ts'
import type { User } from '../../../src/service/accounts/records.ts'
import { quickHash } from '../../harness/quick-hash.ts'
import { refused, withHome } from './conversation.ts'

// New passwords: with a link of the operator, with a mailed one, and with the present password. Tried by those who should not get one.

const held = withHome()
const first = 'the first password'
const second = 'the second password'
const hour = 3_600_000

let days = 0
beforeEach(() => {
  const { world } = held.home
  world.now = new Date(Date.now() + ++days * 24 * hour) // what was tried before does not count any more
  world.outbox.length = 0
  world.hasMail = false
})

let made = 0
const newMember = async (password: string | null = first): Promise<User> => {
  const { world, organization } = held.home
  const given = { email: `Member${++made}@acme.test`, organizationId: organization.id, level: 1 }
  return world.makeUser({
    ...given,
    is_email_verified: true,
    unproven_since: null,
    password_hash: password === null ? null : quickHash(password),
  })
}
const linkOf = async (user: User) => {
  const { url } = await held.home.world.accounts.passwordLinks.create(user.email)
  const [uuid, token] = new URL(url).hash.split('/').slice(2) as [string, string]
  return { path: `/api/reset/${uuid}/`, token, url }
}
const use = (path: string, token: string, password = second) => held.home.call('POST', path, { body: { token, password } })
const cookieOf = (headers: Headers) => headers.getSetCookie().map((one) => one.split(';')[0]!)[0]!
const signIn = async (email: string, password: string, headers = {}) =>
  held.home.call('POST', '/api/login/', { body: { email, password }, headers })
const notValid = refused(400, 'invalid_token', undefined, 'token')

test('a link sets a password once; sessions end, personal keys stay, and only its hash is kept', async () => {
  const { call, key, world } = held.home
  const user = await newMember()
  const [session, personal] = [cookieOf((await signIn(user.email, first)).headers), await key(user, ['*'])]
  const { path, token, url } = await linkOf(user)
  expect(url).toBe(`${world.url}/#/reset/${user.uuid}/${token}`)
  expect(Buffer.from(token, 'base64url')).toHaveLength(32)
  const { store } = world.accounts.context
  expect(JSON.stringify([await store.read.password_links.find({}), await store.read.activity.find({})])).not.toContain(token)
  expect((await call('GET', `${path}?token=${token}`)).status, 'looking does not use it').toBe(204)
  expect(await use(path, token)).toMatchObject({ status: 200, body: { success: true, email: user.email } })
  expect((await call('GET', '/api/users/@me/', { headers: { cookie: session } })).status).toBe(401)
  expect((await call('GET', '/api/users/@me/', { as: personal })).status).toBe(200)
  expect((await signIn(user.email, first)).status).toBe(400)
  expect((await signIn(user.email, second)).status).toBe(200)
  expect(await use(path, token, 'a third password')).toMatchObject(notValid)
  expect(await call('GET', `${path}?token=${token}`)).toMatchObject(notValid)
  expect(await store.read.password_links.find({ user_id: user.id })).toEqual([])
  const log = (await store.read.activity.find({ scope: 'User', item_id: String(user.id) })).map(({ activity, detail }) => [
    activity,
    JSON.stringify(detail),
  ])
  expect(log).toEqual([
    ['password_link_created', expect.any(String)],
    ['updated', expect.stringContaining('"field":"password","before":"masked","after":"masked"')],
  ])
})

test('a user without a password gets one', async () => {
  const user = await newMember(null)
  const { path, token } = await linkOf(user)
  expect((await use(path, token)).status).toBe(200)
  expect((await signIn(user.email, second)).status).toBe(200)
})

test('two at once: one wins', async () => {
  const { path, token } = await linkOf(await newMember())
  const answers = await Promise.all(['one password', 'other password'].map((password) => use(path, token, password)))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
})

test.each<[string, (user: User, token: string) => Promise<string | null>]>([
  ['another token', async () => 'x'.repeat(43)],
  ['a token with more behind', async (_, token) => `${token}A`],
  ['a long token', async () => 'x'.repeat(2_000)],
  ['NUL', async () => '\0'],
  ['half a surrogate', async () => '\ud800'],
  ['its hash', async (user) => (await held.home.world.accounts.context.store.read.password_links.first({ user_id: user.id }))!.hash],
  ['a later link of the operator', async (user) => (await linkOf(user)) && null],
  [
    'a user who was removed from the organization',
    async (user) => {
      const { accounts } = held.home.world
      const { organization, owner } = held.home
      const by = { user: owner, membership: (await accounts.organizations.membership(organization.id, owner))! }
      await accounts.members.remove(by, (await accounts.members.byUserUuid(organization.id, user.uuid))!)
      return null
    },
  ],
  [
    'a deactivated user',
    async ({ id }) => {
      await held.home.world.accounts.context.store.write((tables) => tables.users.update({ id }, { is_active: false }))
      return null
    },
  ],
])('not with %s', async (_, change) => {
  const user = await newMember()
  const { path, token } = await linkOf(user)
  const given = (await change(user, token)) ?? token
  expect(await use(path, given)).toMatchObject(given.length > 2_000 ? refused(400, 'max_length', undefined, 'token') : notValid)
  if (!given.startsWith('\ud800') && given.length < 1000)
    expect(await held.home.call('GET', `${path}?token=${encodeURIComponent(given)}`)).toMatchObject(notValid)
  const { users } = held.home.world.accounts
  expect(await users.byId(user.id)).toMatchObject({ password_hash: user.password_hash })
})

test('not for another user, whose id is in the path', async () => {
  const [user, other] = [await newMember(), await newMember()]
  const { token } = await linkOf(user)
  for (const uuid of [other.uuid, '@me', 'x', '%00', '..%2f', String(other.id)])
    expect(await use(`/api/reset/${uuid}/`, token), uuid).toMatchObject(notValid)
  expect((await use(`/api/reset/${user.uuid.toUpperCase()}/`, token)).status).toBe(200)
})

test('a link expires; a short password does not use it up', async () => {
  const { world } = held.home
  const now = world.now!.getTime()
  const { path, token } = await linkOf(await newMember())
  expect(await use(path, token, 'short')).toMatchObject(refused(400, 'min_length', undefined, 'password'))
  for (const password of [null, 7, ['a long password'], 'x'.repeat(1025)])
    expect((await held.home.call('POST', path, { body: { token, password } })).status).toBe(400)
  world.now = new Date(now + 24 * hour - 60_000)
  expect((await held.home.call('GET', `${path}?token=${token}`)).status).toBe(204)
  world.now = new Date(now + 24 * hour + 60_000)
  expect(await use(path, token)).toMatchObject(notValid)
})

test('guessing is counted like wrong passwords', async () => {
  const { path, token } = await linkOf(await newMember())
  let tries = 0
  for (; tries < 20; tries++) if ((await use(path, `guess${tries}`)).status === 429) break
  expect(tries).toBe(10)
  held.home.world.now = new Date(held.home.world.now!.getTime() + hour)
  expect((await use(path, token)).status, 'and does not end the link').toBe(200)
})

test('pages of other sites cannot use a link with the login of somebody', async () => {
  const { call } = held.home
  const { path, token } = await linkOf(await newMember())
  const foreign: Record<string, string>[] = [
    { 'sec-fetch-site': 'cross-site' },
    { origin: 'https://evil.example' },
    { 'sec-fetch-site': 'same-site' },
  ]
  for (const headers of foreign) {
    expect((await call('POST', path, { body: { token, password: second }, headers })).status).toBe(403)
    expect((await call('POST', '/api/reset/', { body: { email: 'a@acme.test' }, headers })).status).toBe(403)
  }
})

test('mail: the same answer for every address, sent after it', async () => {
  const { call, world } = held.home
  const user = await newMember()
  const ask = (email: unknown) => call('POST', '/api/reset/', { body: { email } })
  expect(await ask(user.email)).toMatchObject(refused(400, 'email_not_available', expect.stringContaining('waymark users link') as never))
  world.hasMail = true
  const answers = [await ask(user.email.toUpperCase()), await ask('nobody@acme.test')]
  expect(answers.map(({ status, body }) => [status, body])).toEqual([
    [204, null],
    [204, null],
  ])
  await vi.waitUntil(() => world.outbox.length > 0, { timeout: 60_000 })
  expect(world.outbox.map(({ to }) => to)).toEqual([user.email])
  const [, uuid, token] = /\/#\/reset\/([^/\s]+)\/([^/\s]+)/.exec(world.outbox[0]!.text)!
  expect(world.outbox[0]!.text, 'the address of the server, whatever the request says').toContain(`${world.url}/#/reset/`)
  expect((await use(`/api/reset/${uuid}/`, token!)).status).toBe(200)
  expect(await world.accounts.users.byId(user.id)).toMatchObject({ is_email_verified: true })
  await vi.waitUntil(() => world.outbox.length > 1, { timeout: 60_000 })
  expect(world.outbox[1]).toMatchObject({ to: user.email, subject: 'Your Waymark password was changed' })
  for (const email of [null, '', [user.email], 'x'.repeat(300), 'a\0b'])
    expect((await call('POST', '/api/reset/', { body: { email } })).status, JSON.stringify(email)).toBe(400)
})

test('mail: limited per account, and a link is good for an hour unless the address changes', async () => {
  const { call, world } = held.home
  world.hasMail = true
  const user = await newMember()
  const { passwordLinks } = world.accounts
  const { store } = world.accounts.context
  const statuses: number[] = []
  for (let i = 0; i < 5; i++) statuses.push((await call('POST', '/api/reset/', { body: { email: user.email } })).status)
  expect(statuses.filter((one) => one === 204)).toHaveLength(mailedLinkAllowances.account.failures)
  expect(statuses.at(-1)).toBe(429)
  // From many places at once: the mailbox gets no more than five.
  const links = () => store.read.password_links.count({ user_id: user.id })
  await vi.waitUntil(async () => (await links()) === 3, { timeout: 60_000 })
  for (let i = 0; i < 10; i++) passwordLinks.mail(user.email)
  await vi.waitUntil(() => world.outbox.length === 5, { timeout: 60_000 })
  await store.write(async () => {}) // after those that were waiting
  expect([await links(), world.outbox.length]).toEqual([5, 5])
  const token = (i: number) => /\/([^/\s]+)\n/.exec(world.outbox[i]!.text.split('#/reset/')[1]!)![1]!
  const path = `/api/reset/${user.uuid}/`
  expect((await call('GET', `${path}?token=${token(0)}`)).status, 'later ones do not end it').toBe(204)
  world.now = new Date(world.now!.getTime() + hour + 1)
  expect(await call('GET', `${path}?token=${token(0)}`)).toMatchObject(notValid)
  passwordLinks.mail(user.email)
  await vi.waitUntil(() => world.outbox.length === 6, { timeout: 60_000 })
  expect(await links(), 'expired ones are removed').toBe(1)
  const email = `moved.${user.email}`
  expect((await call('PATCH', '/api/users/@me/', { as: user, body: { email, current_password: first } })).status).toBe(200)
  expect((await call('GET', `${path}?token=${token(5)}`)).status, 'not confirmed yet').toBe(204)
  await world.accounts.emailLinks.confirmFor(email)
  expect(await call('GET', `${path}?token=${token(5)}`)).toMatchObject(notValid)
})

test('the own password: with the present one, by a login, and the other sessions end', async () => {
  const { call, key } = held.home
  const user = await newMember()
  const sessions = [cookieOf((await signIn(user.email, first)).headers), cookieOf((await signIn(user.email, first)).headers)]
  const [own, other] = sessions.map((cookie) => ({ headers: { cookie } })) as [object, object]
  const personal = await key(user, ['*'])
  const change = (body: object, as: object = own) => call('PATCH', '/api/users/@me/', { ...as, body })
  expect(await change({ password: second })).toMatchObject(refused(400, 'required', undefined, 'current_password'))
  expect(await change({ password: second, current_password: 'wrong' })).toMatchObject(
    refused(400, 'incorrect_password', 'Your current password is incorrect.', 'current_password'),
  )
  expect(await change({ password: 'short', current_password: first })).toMatchObject(refused(400, 'min_length', undefined, 'password'))
  expect((await change({ password: second, current_password: first }, { as: personal })).status, 'a key is not enough').toBe(403)
  expect((await change({ password: second, current_password: first, email: 'x' })).status, 'all or nothing').toBe(400)
  expect((await signIn(user.email, first)).status).toBe(200)
  expect((await change({ password: second, current_password: first, first_name: 'Ada' })).body).toMatchObject({ first_name: 'Ada' })
  const me = (as: object) => call('GET', '/api/users/@me/', as)
  expect([(await me(own)).status, (await me(other)).status, (await me({ as: personal })).status]).toEqual([200, 401, 200])
  expect((await signIn(user.email, second)).status).toBe(200)
})

test('the present password cannot be guessed with a session that was left open', async () => {
  const { call } = held.home
  const user = await newMember()
  const cookie = cookieOf((await signIn(user.email, first)).headers)
  let tries = 0
  for (; tries < 20; tries++) {
    const body = { password: second, current_password: `guess ${tries}` }
    if ((await call('PATCH', '/api/users/@me/', { headers: { cookie }, body })).status === 429) break
  }
  expect(tries).toBe(10)
})

test('sessions are listed, ended one by one, and all others at once', async () => {
  const { call } = held.home
  const [user, stranger] = [await newMember(), await newMember()]
  const agent = (name: string) => ({ 'user-agent': name })
  const cookies: string[] = []
  for (const name of ['one', 'two', 'three', `<b>${'x'.repeat(500)}`])
    cookies.push(cookieOf((await signIn(user.email, first, agent(name))).headers))
  const as = (i: number) => ({ headers: { cookie: cookies[i]! } })
  const path = '/api/users/@me/sessions/'
  const { body } = await call('GET', path, as(0))
  expect(body.results.map((one: { user_agent: string }) => one.user_agent.slice(0, 5)).sort()).toEqual(['<b>xx', 'one', 'three', 'two'])
  expect(body.results.filter((one: { is_current: boolean }) => one.is_current)).toHaveLength(1)
  for (const one of body.results) expect(one.address, 'where it began').toBe('127.0.0.1')
  for (const cookie of cookies) expect(JSON.stringify(body)).not.toContain(cookie.split('=')[1])
  const [second] = body.results.filter((one: { user_agent: string }) => one.user_agent === 'two')
  const { body: others } = await call('GET', path, { as: stranger })
  expect((await call('DELETE', `${path}${others.results[0].id}/`, as(0))).status, 'of somebody else').toBe(404)
  expect((await call('DELETE', `${path}${second.id}/`, as(0))).status).toBe(204)
  expect((await call('DELETE', `${path}${second.id}/`, as(0))).status).toBe(404)
  expect((await call('GET', path, as(1))).status).toBe(401)
  expect((await call('DELETE', path, as(0))).status).toBe(204)
  expect((await Promise.all([0, 2, 3].map((i) => call('GET', path, as(i))))).map(({ status }) => status)).toEqual([200, 401, 401])
  expect((await call('GET', path, { as: stranger })).status).toBe(200)
})
