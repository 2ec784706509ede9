import { beforeEach, expect, test, vi } from 'vitest'
import type { User } from '../../../src/service/accounts/records.ts'
import { quickHash } from '../../harness/quick-hash.ts'
import { refused, withHome } from './conversation.ts'

// Accounts that exist before anybody has proven their address: what they have is not its later owner's.

const held = withHome()
const attackers = 'the attackers password'
const owners = 'the owners password'

let days = 0
beforeEach(() => {
  const { world } = held.home
  world.now = new Date(Date.now() + ++days * 86_400_000)
  world.outbox.length = 0
  world.hasMail = true
})

const cookieOf = (headers: Headers) => headers.getSetCookie().map((one) => one.split(';')[0]!)[0]!
const mailTo = async (address: string, subject: string) => {
  const { outbox } = held.home.world
  const find = () => outbox.find((one) => one.to === address && one.subject === subject)
  await vi.waitUntil(find, { timeout: 60_000 })
  return find()!.text
}
const readable = (text: string, pattern: RegExp) => pattern.exec(text)!.slice(1) as [string, string]

let victims = 0
/** Somebody else accepts an invitation for the address, and makes what lasts. */
const takenBefore = async () => {
  const { call, outsider, world } = held.home
  const email = `ceo${++victims}@victim.test`
  const base = '/api/organizations/@current'
  const invite = await call('POST', `${base}/invites/`, { as: outsider, body: { target_email: email, level: 8, send_email: false } })
  const joined = await call('POST', `/api/signup/${invite.body.secret}/`, { body: { first_name: 'Thief', password: attackers } })
  expect(joined.status).toBe(201)
  expect(joined.body.is_email_verified).not.toBe(true)
  const session = { headers: { cookie: cookieOf(joined.headers) } }
  const key = await call('POST', '/api/personal_api_keys/', { ...session, body: { label: 'kept', scopes: ['*'] } })
  expect(key.status).toBe(201)
  const own = await call('POST', `${base}/invites/`, {
    ...session,
    body: { target_email: `friend${victims}@else.test`, send_email: false },
  })
  expect(own.status).toBe(201)
  const hidden = await world.makeProject(held.home.other.id, { name: 'Hidden', access_control: true })
  const user = (await world.accounts.users.byEmail(email))!
  const by = { path: `/api/projects/${hidden.id}/explicit_members/`, body: { user_uuid: user.uuid, level: 1 } }
  await call('POST', by.path, { as: outsider, body: by.body })
  return { email, user, session, key: key.body.value as string, invitation: own.body.secret as string }
}
const resetByMail = async (email: string) => {
  const { call } = held.home
  expect((await call('POST', '/api/reset/', { body: { email } })).status).toBe(204)
  const [uuid, token] = readable(await mailTo(email, 'Choose a new Waymark password'), /\/#\/reset\/([^/\s]+)\/([^/\s]+)/)
  expect((await call('POST', `/api/reset/${uuid}/`, { body: { token, password: owners } })).status).toBe(200)
}
const rowsOf = async ({ id }: User) => {
  const { read } = held.home.world.accounts.context.store
  return {
    sessions: await read.sessions.count({ user_id: id }),
    keys: await read.personal_keys.count({ user_id: id }),
    memberships: await read.memberships.count({ user_id: id }),
    projects: await read.project_memberships.count({ user_id: id }),
    invites: await read.invites.count({ created_by_id: id }),
    links: (await read.password_links.count({ user_id: id })) + (await read.email_links.count({ user_id: id })),
  }
}
const nothing = { sessions: 0, keys: 0, memberships: 0, projects: 0, invites: 0, links: 0 }

test('a user who took an account before its owner proved the address keeps nothing: not a key, a session, a membership or an invitation', async () => {
  const { call, owner, organization } = held.home
  const taken = await takenBefore()
  await resetByMail(taken.email)
  // The owner of the address joins the own organization.
  const invite = await call('POST', '/api/organizations/@current/invites/', {
    as: owner,
    body: { target_email: taken.email, send_email: false },
  })
  const login = await call('POST', '/api/login/', { body: { email: taken.email, password: owners } })
  const session = { headers: { cookie: cookieOf(login.headers) } }
  expect((await call('POST', `/api/signup/${invite.body.secret}/`, { ...session, body: {} })).status).toBe(201)
  const me = (as: object) => call('GET', '/api/users/@me/', as)
  expect((await me({ as: taken.key })).status).toBe(401)
  expect((await me(session)).body).toMatchObject({ is_email_verified: true, organizations: [{ id: organization.id }] })
  expect((await me(taken.session)).status).toBe(401)
  expect((await call('GET', `/api/signup/${taken.invitation}/`)).status).toBe(400)
  expect((await call('POST', '/api/login/', { body: { email: taken.email, password: attackers } })).status).toBe(400)
})

test('of what it had, nothing is left in the store', async () => {
  const taken = await takenBefore()
  expect(await rowsOf(taken.user)).toEqual({ sessions: 1, keys: 1, memberships: 1, projects: 1, invites: 1, links: 0 })
  await resetByMail(taken.email)
  expect(await rowsOf(taken.user)).toEqual(nothing)
})

test('a second reset ends sessions only: the address is proven', async () => {
  const { call } = held.home
  const taken = await takenBefore()
  await resetByMail(taken.email)
  const login = await call('POST', '/api/login/', { body: { email: taken.email, password: owners } })
  const session = { headers: { cookie: cookieOf(login.headers) } }
  const key = await call('POST', '/api/personal_api_keys/', { ...session, body: { label: 'mine', scopes: ['*'] } })
  held.home.world.outbox.length = 0
  await resetByMail(taken.email)
  expect((await call('GET', '/api/users/@me/', { as: key.body.value })).status).toBe(200)
  expect((await call('GET', '/api/users/@me/', session)).status).toBe(401)
})

test('a link of the operator is a proof too, and says what it ends, unless the operator knows the user', async () => {
  const { world } = held.home
  const { accounts } = world
  world.hasMail = false
  const use = async (url: string) => {
    const [uuid, token] = readable(url, /\/#\/reset\/([^/\s]+)\/([^/\s]+)/)
    expect((await held.home.call('POST', `/api/reset/${uuid}/`, { body: { token, password: owners } })).status).toBe(200)
  }
  const [taken, known] = [await takenBefore(), await takenBefore()]
  const made = await accounts.passwordLinks.create(taken.email)
  expect(made.ends).toEqual({ sessions: 1, keys: 1, invitations: 1, second_factors: 0, organizations: [{ name: 'Else', level: 'admin' }] })
  await use(made.url)
  expect(await rowsOf(taken.user)).toEqual(nothing)
  const kept = await accounts.passwordLinks.create(known.email, undefined, true)
  expect(kept.ends).toBeNull()
  await use(kept.url)
  expect(await rowsOf(known.user)).toMatchObject({ keys: 1, memberships: 1 })
  expect((await accounts.passwordLinks.create(known.email)).ends, 'proven by now').toBeNull()
})

test('an account from before there were proofs keeps its memberships, and loses sessions and keys', async () => {
  const taken = await takenBefore()
  const { store } = held.home.world.accounts.context
  await store.write((tables) => tables.users.update({ id: taken.user.id }, { is_email_verified: null, unproven_since: null }))
  await resetByMail(taken.email)
  expect(await rowsOf(taken.user)).toMatchObject({ sessions: 0, keys: 0, memberships: 1 })
})

test('a signed-in user who reads the mailbox confirms the own address, and keeps everything', async () => {
  const { call, member } = held.home
  const taken = await takenBefore()
  expect((await call('POST', '/api/users/@me/ask_confirmation/', { as: taken.key })).status, 'a key is not a login').toBe(403)
  expect((await call('POST', '/api/users/@me/ask_confirmation/', taken.session)).status).toBe(204)
  const [token] = readable(await mailTo(taken.email, 'Confirm your address for Waymark'), /\/#\/confirm\/(\S+)/)
  const confirm = (as: object, value = token) => call('POST', '/api/users/@me/confirm_email/', { ...as, body: { token: value } })
  const notValid = refused(400, 'invalid_token', undefined, 'token')
  expect((await confirm({})).status).toBe(401)
  expect(await confirm({ as: member }), 'another account').toMatchObject(notValid)
  expect((await confirm({ as: taken.key })).status).toBe(403)
  expect(await confirm(taken.session, 'x'.repeat(100_000))).toMatchObject(refused(400, 'max_length', undefined, 'token'))
  for (const other of ['x', `${token}A`, '\0']) expect(await confirm(taken.session, other)).toMatchObject(notValid)
  expect(await confirm(taken.session)).toMatchObject({ status: 200, body: { is_email_verified: true, email: taken.email } })
  expect(await confirm(taken.session), 'works once').toMatchObject(notValid)
  held.home.world.outbox.length = 0
  await resetByMail(taken.email)
  expect(await rowsOf(taken.user)).toMatchObject({ keys: 1, memberships: 1 })
})

let movers = 0
const mover = async (password: string | null = owners) =>
  held.home.world.makeUser({
    email: `mover${++movers}@acme.test`,
    organizationId: held.home.organization.id,
    level: 1,
    is_email_verified: true,
    unproven_since: null,
    password_hash: password === null ? null : quickHash(password),
  })
/** The secrets that were mailed to the present address and to the new one. */
const linksOf = async (user: User, email: string): Promise<[string, string]> => {
  const asked = await mailTo(user.email, 'A new address for your Waymark account')
  expect(asked).toContain(email)
  const [present] = readable(asked, /\/#\/confirm\/(\S+)/)
  const [token] = readable(await mailTo(email, 'Confirm your address for Waymark'), /\/#\/confirm\/(\S+)/)
  return [present!, token!]
}
const change = (user: User, body: object) => held.home.call('PATCH', '/api/users/@me/', { as: user, body })

test('another address: with the password, and only when the new one is proven and the old one agrees', async () => {
  const { call, world } = held.home
  const user = await mover()
  const email = `moved${movers}@acme.test`
  expect(await change(user, { email })).toMatchObject(refused(400, 'required', undefined, 'current_password'))
  expect(await change(user, { email, current_password: 'wrong' })).toMatchObject(
    refused(400, 'incorrect_password', undefined, 'current_password'),
  )
  expect(await change(user, { email, current_password: owners })).toMatchObject({
    status: 200,
    body: { email: user.email, pending_email: email, is_email_verified: true },
  })
  const [present, token] = await linksOf(user, email)
  expect(present).not.toBe(token)
  const thief = await mover()
  const confirm = (token: string, as = user) => call('POST', '/api/users/@me/confirm_email/', { as, body: { token } })
  for (const link of [present, token]) expect(await confirm(link, thief)).toMatchObject(refused(400, 'invalid_token', undefined, 'token'))
  const waits = { status: 200, body: { email: user.email, pending_email: email, is_email_verified: true } }
  expect(await confirm(token)).toMatchObject(waits)
  expect(await confirm(token), 'twice the new one is not both').toMatchObject(waits)
  expect((await world.accounts.users.byId(user.id))?.email).toBe(user.email)
  expect(await confirm(present)).toMatchObject({ status: 200, body: { email, pending_email: null, is_email_verified: true } })
  for (const link of [present, token]) expect(await confirm(link), 'used').toMatchObject(refused(400, 'invalid_token', undefined, 'token'))
  expect(await mailTo(user.email, 'The address of your Waymark account was changed')).toContain(email)
  expect((await world.accounts.users.byId(user.id))?.email).toBe(email)
})

test('the old address may be confirmed first; asking again replaces both links; an address that nobody has proven has no say', async () => {
  const { call, world } = held.home
  const user = await mover()
  const confirm = (token: string) => call('POST', '/api/users/@me/confirm_email/', { as: user, body: { token } })
  const asked = async (email: string) => {
    expect((await change(user, { email, current_password: owners })).status).toBe(200)
    return linksOf(user, email)
  }
  const [firstPresent, firstNew] = await asked(`first${movers}@acme.test`)
  expect((await confirm(firstPresent)).body.email).toBe(user.email)
  world.outbox.length = 0
  const [present, token] = await asked(`second${movers}@acme.test`)
  expect((await confirm(firstNew)).status, 'what the old address agreed to was another address').toBe(400)
  expect((await confirm(present)).body.email).toBe(user.email)
  expect((await confirm(token)).body.email).toBe(`second${movers}@acme.test`)

  const unproven = await mover()
  await world.accounts.context.store.write((tables) => tables.users.update({ id: unproven.id }, { is_email_verified: false }))
  const email = `third${movers}@acme.test`
  await change(unproven, { email, current_password: owners })
  expect(await mailTo(unproven.email, 'A new address for your Waymark account')).not.toContain('/confirm/')
  const [only] = readable(await mailTo(email, 'Confirm your address for Waymark'), /\/#\/confirm\/(\S+)/)
  expect((await call('POST', '/api/users/@me/confirm_email/', { as: unproven, body: { token: only } })).body.email).toBe(email)
})

test('a user without a password changes the address by a recent login, never by a key', async () => {
  const user = await mover(null)
  const email = `moved${movers}@acme.test`
  expect((await change(user, { email })).body).toMatchObject({ pending_email: email })
  const key = await held.home.key(user, ['*'])
  expect((await held.home.call('PATCH', '/api/users/@me/', { as: key, body: { email: 'key@acme.test' } })).status).toBe(403)
})

test.each([true, false])(
  'an address of somebody else is answered like a free one (mail server: %s), and its mailbox is told',
  async (hasMail) => {
    const { world, admin } = held.home
    world.hasMail = hasMail
    const user = await mover()
    const free = `free${movers}@acme.test`
    const ask = async (email: string) => {
      const { status, body } = await change(user, { email, current_password: owners })
      return JSON.parse(JSON.stringify({ status, body }).replaceAll(email, 'ADDRESS'))
    }
    expect(await ask(admin.email)).toEqual(await ask(free))
    if (!hasMail) return
    expect(await mailTo(admin.email, 'You have a Waymark account already')).not.toContain('/confirm/')
    await mailTo(free, 'Confirm your address for Waymark')
    expect((await world.accounts.users.byId(admin.id))?.email).toBe(admin.email)
  },
)

test('without a mail server the operator confirms: the new address, or the present one', async () => {
  const { world } = held.home
  world.hasMail = false
  const user = await mover()
  const email = `moved${movers}@acme.test`
  await change(user, { email, current_password: owners })
  const { confirmFor } = world.accounts.emailLinks
  await expect(confirmFor('nobody@acme.test')).rejects.toThrow('There is no user nobody@acme.test, and nobody has asked for this address')
  expect(await confirmFor(email.toUpperCase())).toMatchObject({ id: user.id, email })
  const taken = await takenBefore()
  expect(await confirmFor(taken.email)).toMatchObject({ id: taken.user.id, is_email_verified: true })
  expect(await rowsOf(taken.user)).toMatchObject({ keys: 1, memberships: 1 })
  const [one, two] = [await mover(), await mover()]
  for (const user of [one, two]) await change(user, { email: 'both@acme.test', current_password: owners })
  await expect(confirmFor('both@acme.test')).rejects.toThrow('2 users have asked for both@acme.test')
})

test('an address that somebody else got meanwhile is not given twice', async () => {
  const { call } = held.home
  const user = await mover()
  const email = `late${movers}@acme.test`
  await change(user, { email, current_password: owners })
  const [present, token] = await linksOf(user, email)
  await held.home.world.makeUser({ email, organizationId: null, level: 1 })
  expect((await call('POST', '/api/users/@me/confirm_email/', { as: user, body: { token: present } })).status).toBe(200)
  expect(await call('POST', '/api/users/@me/confirm_email/', { as: user, body: { token } })).toMatchObject(
    refused(400, 'unique', undefined, 'email'),
  )
})
