import { beforeAll, describe, expect, test } from 'vitest'
import type { Organization, User } from '../../../../src/service/accounts/records.ts'
import { level } from '../../../../src/service/accounts/records.ts'
import { withHome } from '../conversation.ts'
import { patchOf, provision, type ScimProvider, sendScim } from './provider.ts'

// What a token must not reach: other domains, other organizations, other roles, levels, and anything at all without a current proof.

const held = withHome()
let provider: ScimProvider
/** Of a second domain of the same organization. */
let sibling: ScimProvider
/** Of another organization. */
let foreign: ScimProvider
let other: Organization
const users: Record<'own' | 'guest' | 'sibling' | 'foreign' | 'elsewhere' | 'embedded', User> = {} as never
beforeAll(async () => {
  const { world, organization, admin, outsider } = held.home
  other = held.home.other
  provider = await provision(held.home, 'acme.test', organization, admin)
  sibling = await provision(held.home, 'sibling.test', organization, admin)
  foreign = await provision(held.home, 'foreign.test', other, outsider)
  users.own = await world.user('own@acme.test', organization.id)
  users.guest = await world.user('guest@else.test', organization.id)
  users.sibling = await world.user('sibling@sibling.test', organization.id)
  users.foreign = await world.user('foreign@foreign.test', other.id)
  // An address of the domain, and no member of its organization.
  users.elsewhere = await world.user('elsewhere@acme.test', other.id)
  const host = { issuer: 'app', subject: 'u', email: 'embedded@acme.test', organization: organization.id, level: 'member' } as const
  users.embedded = (await world.accounts.hostUsers.enter(host))!.user
})
const outside = ['guest', 'sibling', 'foreign', 'elsewhere', 'embedded'] as const
const asItIs = async ({ id }: User) => {
  const { users: all, memberships, sessions, personal_keys } = held.home.world.accounts.context.store.read
  const of = { user_id: id }
  return {
    user: await all.first({ id }),
    memberships: await memberships.find(of),
    rest: [await sessions.count(of), await personal_keys.count(of)],
  }
}

describe('users who are not of the domain, or not of the organization', () => {
  test.each(outside)('%s: neither seen nor changed', async (name) => {
    const user = users[name]
    await held.home.key(user, ['*'])
    const before = await asItIs(user)
    const off = patchOf({ op: 'replace', value: { active: false } })
    for (const [method, path, body] of [
      ['GET', `/Users/${user.uuid}`],
      ['PUT', `/Users/${user.uuid}`, { userName: 'own2@acme.test', active: false }],
      ['PATCH', `/Users/${user.uuid}`, off],
      ['PATCH', `/Users/${user.uuid.toUpperCase()}`, off],
      ['DELETE', `/Users/${user.uuid}`],
    ] as const)
      expect((await provider.send(method, path, body)).status, `${method} ${path}`).toBe(404)
    for (const filter of [`id eq "${user.uuid}"`, `userName eq "${user.email}"`, `emails.value eq "${user.email}"`])
      expect((await provider.send('GET', `/Users?filter=${encodeURIComponent(filter)}`)).body.totalResults, filter).toBe(0)
    const { body: group } = await provider.send('POST', '/Groups', { displayName: `With ${name}` })
    const added = await provider.send(
      'PATCH',
      `/Groups/${group.id}`,
      patchOf({ op: 'add', path: 'members', value: [{ value: user.uuid }] }),
    )
    expect([added.status, added.body.scimType]).toEqual([400, 'invalidValue'])
    expect(await asItIs(user)).toEqual(before)
  })

  test('the list has those of the domain only', async () => {
    const { body } = await provider.send('GET', '/Users?count=200')
    expect(body.Resources.map((one: { userName: string }) => one.userName).toSorted()).toEqual(
      ['admin@acme.test', 'member@acme.test', 'own@acme.test', 'owner@acme.test'].toSorted(),
    )
  })

  test('addresses of other domains are refused, in every spelling', async () => {
    for (const userName of [
      'mallory@else.test',
      'mallory@sub.acme.test',
      'mallory@acme.test.evil.test',
      'mallory@evilacme.test',
      'mallory@acme.test@else.test',
      'mallory@acme.tést',
      'acme.test',
      '@acme.test',
      'a b@acme.test',
      'mallory@acme.test\n',
      '"x"@acme.test',
      `${'m'.repeat(250)}@acme.test`,
      '',
      5,
      null,
      ['mallory@acme.test'],
    ]) {
      const made = await provider.send('POST', '/Users', { userName, active: true })
      const changed = await provider.send(
        'PATCH',
        `/Users/${users.own.uuid}`,
        patchOf({ op: 'replace', path: 'userName', value: userName }),
      )
      const isTrimmed = userName === 'mallory@acme.test\n'
      if (!isTrimmed) expect([made.status, changed.status], String(userName)).toEqual([400, 400])
      if (isTrimmed) await provider.send('DELETE', `/Users/${made.body.id}`)
    }
    expect(await held.home.world.accounts.users.byId(users.own.id)).toMatchObject({ is_active: true })
  })

  test('an address that another account has is refused', async () => {
    const { uuid } = users.own
    const { email } = (await held.home.world.accounts.users.byId(users.own.id))!
    for (const userName of ['member@acme.test', 'MEMBER@ACME.TEST', users.elsewhere.email]) {
      const taken = await provider.send('PUT', `/Users/${uuid}`, { userName })
      expect([taken.status, taken.body.scimType], userName).toEqual([409, 'uniqueness'])
    }
    expect((await held.home.world.accounts.users.byId(users.own.id))!.email).toBe(email)
  })
})

describe('what a request cannot set', () => {
  test('levels, roles, projects, passwords and proofs of other kinds', async () => {
    const { world, organization } = held.home
    const extra = {
      level: 15,
      roles: [{ value: 'owner', primary: true }],
      entitlements: ['admin'],
      groups: [{ value: 'x' }],
      is_staff: true,
      is_active: true,
      organization_id: other.id,
      password: 'a long password 17',
      'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { manager: { value: users.guest.uuid } },
      id: users.guest.uuid,
      uuid: users.guest.uuid,
      meta: { resourceType: 'Group' },
      __proto__: { level: 15 },
      constructor: 'x',
    }
    const { status, body } = await provider.user('plain', extra)
    expect(status).toBe(201)
    const user = (await world.accounts.users.byEmail('plain@acme.test'))!
    expect([body.id, body.groups]).toEqual([user.uuid, []])
    for (const send of [
      () => provider.send('PUT', `/Users/${user.uuid}`, { userName: 'plain@acme.test', ...extra }),
      () => provider.send('PATCH', `/Users/${user.uuid}`, patchOf({ op: 'replace', value: extra })),
      () =>
        provider.send(
          'PATCH',
          `/Users/${user.uuid}`,
          patchOf(...Object.entries(extra).map(([path, value]) => ({ op: 'Add', path, value }))),
        ),
    ]) {
      const answer = await send()
      expect([200, 400]).toContain(answer.status)
      expect(await world.accounts.organizations.membership(organization.id, user)).toMatchObject({ level: level.viewer })
      expect(await world.accounts.organizations.membership(other.id, user)).toBeUndefined()
      expect(await world.accounts.users.byId(user.id)).toMatchObject({ uuid: user.uuid, password_hash: null })
    }
  })

  test('roles that it has not made, of the organization, of a sibling domain, of another organization', async () => {
    const { call, admin, outsider, organization } = held.home
    const by = async (as: User, id: string) =>
      (await call('POST', `/api/organizations/${id}/roles/`, { as, body: { name: `By hand ${as.id}` } })).body.id
    const roles = [await by(admin, organization.id), await by(outsider, other.id)]
    roles.push((await sibling.send('POST', '/Groups', { displayName: 'Of the sibling' })).body.id)
    roles.push((await foreign.send('POST', '/Groups', { displayName: 'Of others' })).body.id)
    for (const id of [...roles, 'none', users.own.uuid]) {
      const add = patchOf({ op: 'add', path: 'members', value: [{ value: users.own.uuid }] })
      for (const [method, body] of [['GET'], ['PUT', { displayName: 'Mine', members: [] }], ['PATCH', add], ['DELETE']] as const)
        expect((await provider.send(method, `/Groups/${id}`, body)).status, `${method} ${id}`).toBe(404)
      expect((await provider.send('GET', `/Groups?filter=id eq "${id}"`)).body.totalResults).toBe(0)
    }
    const taken = await provider.send('POST', '/Groups', { displayName: `by HAND ${admin.id}` })
    expect([taken.status, taken.body.scimType]).toEqual([409, 'uniqueness'])
  })

  test('members of a group that have addresses of others stay what they are', async () => {
    const { call, admin, organization } = held.home
    const { body: group } = await provider.send('POST', '/Groups', { displayName: 'Mixed', members: [{ value: users.own.uuid }] })
    const at = `/api/organizations/${organization.id}/roles/${group.id}/`
    expect((await call('POST', `${at}role_memberships/`, { as: admin, body: { user_uuid: users.guest.uuid } })).status).toBe(201)
    expect((await provider.send('GET', `/Groups/${group.id}`)).body.members).toMatchObject([{ value: users.own.uuid }])
    expect((await provider.send('PUT', `/Groups/${group.id}`, { displayName: 'Mixed', members: [] })).body.members).toEqual([])
    const members = (await call('GET', at, { as: admin })).body.members.map(({ user }: { user: User }) => user.email)
    expect(members).toEqual([users.guest.email])
  })
})

describe('who may ask', () => {
  const everything: readonly (readonly [string, string, object?])[] = [
    ['GET', '/Users'],
    ['GET', '/Groups'],
    ['POST', '/Users', { userName: 'new@acme.test' }],
    ['POST', '/Groups', { displayName: 'New' }],
  ]
  const all = async (token: string | null): Promise<number[]> => {
    const statuses: number[] = []
    for (const [method, path, body] of everything) statuses.push((await sendScim(held.home, token, method, path, body)).status)
    return [...new Set(statuses)]
  }

  test('nobody without a token: keys, sessions, and what only looks like one', async () => {
    const { owner, project } = held.home
    const tokens = [
      null,
      '',
      'x',
      await held.home.key(owner, ['*']),
      project.api_token,
      `${provider.token}x`,
      provider.token.slice(1),
      'x'.repeat(600),
    ]
    for (const token of tokens) expect(await all(token), String(token).slice(0, 20)).toEqual([401])
    const cookie = await held.home.world.login(owner)
    expect((await fetch(`${held.home.world.url}/scim/v2/Users`, { headers: cookie })).status).toBe(401)
    const inUrl = await fetch(`${held.home.world.url}/scim/v2/Users?personal_api_key=${provider.token}`)
    expect(inUrl.status).toBe(401)
  })

  test('a token opens nothing but SCIM', async () => {
    const { call, organization, project } = held.home
    for (const path of [`/api/organizations/${organization.id}/members/`, `/api/projects/${project.id}/`, '/api/users/@me/'])
      expect((await call('GET', path, { as: provider.token })).status, path).toBe(401)
  })

  test('not for a domain that is not proven, or whose proof has lapsed; again once it is', async () => {
    const { world, admin, organization, call } = held.home
    const { store } = world.accounts.context
    const { body: claimed } = await call('POST', `/api/organizations/${organization.id}/domains/`, {
      as: admin,
      body: { domain: 'claimed.test' },
    })
    const refusal = await call('POST', `/api/organizations/${organization.id}/domains/${claimed.id}/scim_token/`, { as: admin })
    expect([refusal.status, refusal.body.code]).toEqual([400, 'verification_required'])
    const lapsing = await provision(held.home, 'lapsing.test', organization, admin)
    const { id } = lapsing.domain
    const { verified_at, is_assumed } = (await store.read.domains.first({ id }))!
    await store.write((tables) => tables.domains.update({ id }, { verified_at: null, is_assumed: true }))
    expect(await all(lapsing.token)).toEqual([403])
    expect((await lapsing.send('GET', '/Users')).body.detail).toContain('The domain lapsing.test is not proven at present')
    await store.write((tables) => tables.domains.update({ id }, { verified_at, is_assumed }))
    expect((await lapsing.send('GET', '/Users')).status).toBe(200)
  })

  test('not for a domain that was removed, renamed, or given to another organization', async () => {
    const { world, admin, organization, call } = held.home
    const { accounts } = world
    const at = (id: string) => `/api/organizations/${organization.id}/domains/${id}/`
    const removed = await provision(held.home, 'removed.test', organization, admin)
    const { body: group } = await removed.send('POST', '/Groups', { displayName: 'Of a removed domain' })
    const { body: user } = await removed.user('ann')
    await removed.send('PUT', `/Groups/${group.id}`, { members: [{ value: user.id }] })
    await removed.send('PATCH', `/Users/${user.id}`, patchOf({ op: 'replace', value: { active: false } }))
    expect((await call('DELETE', at(removed.domain.id), { as: admin })).status).toBe(204)
    expect(await all(removed.token)).toEqual([401])
    // Its roles are the organization's, without those who were deactivated.
    const role = (await call('GET', `/api/organizations/${organization.id}/roles/${group.id}/`, { as: admin })).body
    expect(role).toMatchObject({ name: 'Of a removed domain', from_domain: null, members: [] })
    expect(await accounts.context.store.read.role_memberships.count({ role_id: group.id })).toBe(0)
    const renamed = await provision(held.home, 'before.test', organization, admin)
    expect((await call('PATCH', at(renamed.domain.id), { as: admin, body: { domain: 'after.test' } })).status).toBe(200)
    expect(await all(renamed.token)).toEqual([401])
    // It lapses, and another organization proves it.
    const taken = await provision(held.home, 'taken.test', organization, admin)
    await accounts.context.store.write((tables) => tables.domains.update({ id: taken.domain.id }, { verified_at: null, is_assumed: true }))
    await accounts.domains.vouch('taken.test', other.id)
    expect(await all(taken.token)).toEqual([401])
    expect(await accounts.context.store.read.scim_tokens.count({ domain_id: taken.domain.id })).toBe(0)
  })

  test('a token that is revoked while its request waits writes nothing', async () => {
    const { world, admin, organization } = held.home
    const { accounts } = world
    const waiting = await provision(held.home, 'waiting.test', organization, admin)
    const asked = (await accounts.scim.tokens.find(waiting.token))!
    const by = { user: admin, membership: (await accounts.organizations.membership(organization.id, admin))! }
    await accounts.scim.tokens.revoke(by, waiting.domain, { address: null, user_agent: null })
    const late = accounts.scim.users.create(asked, { userName: 'late@waiting.test' }, { address: null, user_agent: null })
    await expect(late).rejects.toMatchObject({ code: 'not-allowed' })
    expect(await accounts.users.byEmail('late@waiting.test')).toBeUndefined()
  })
})

describe('requests that are not right', () => {
  test.each([
    ['GET', '/Users?filter=userName', undefined, 400, 'invalidFilter'],
    ['GET', '/Users?filter=password eq "x"', undefined, 400, 'invalidFilter'],
    ['GET', '/Users?filter=emails[type eq "home"].value eq "x"', undefined, 400, 'invalidFilter'],
    ['GET', '/Groups?filter=userName eq "x"', undefined, 400, 'invalidFilter'],
    ['GET', '/Users?startIndex=x', undefined, 400, 'invalidValue'],
    ['GET', '/Users?count=1.5', undefined, 400, 'invalidValue'],
    ['GET', '/Users?filtr=userName eq "x"', undefined, 400, 'invalidValue'],
    ['POST', '/Users', '{', 400, 'invalidSyntax'],
    ['POST', '/Users', '[]', 400, undefined],
    ['POST', '/Users', '{}', 400, 'invalidValue'],
    ['POST', '/Groups', '{"displayName": ""}', 400, 'invalidValue'],
    ['POST', '/Groups', '{"displayName": "g", "members": [{"value": {"a": 1}}]}', 400, 'invalidValue'],
    ['PATCH', '/Users/x', '{"Operations": []}', 400, 'invalidSyntax'],
    ['PATCH', '/Users/x', '{}', 400, undefined],
    ['POST', '/Users/x', '{}', 405, undefined],
    ['DELETE', '/Users', undefined, 405, undefined],
    ['GET', '/Nothing', undefined, 404, undefined],
    ['POST', '/Bulk', '{}', 404, undefined],
  ] as const)('%s %s %s', async (method, path, body, status, type) => {
    const answer = await provider.send(method, path, body)
    expect([answer.status, ...(type ? [answer.body.scimType] : [])], JSON.stringify(answer.body)).toEqual([status, ...(type ? [type] : [])])
  })

  test('pages: from 1, at most 200, none at all', async () => {
    const page = async (query: string) => {
      const { Resources, ...rest } = (await provider.send('GET', `/Users?${query}`)).body
      return [Resources.length, rest.startIndex, rest.itemsPerPage, rest.totalResults > 3]
    }
    expect(await page('count=0')).toEqual([0, 1, 0, true])
    expect(await page('startIndex=0&count=2')).toEqual([2, 1, 2, true])
    expect(await page('startIndex=-5&count=1')).toEqual([1, 1, 1, true])
    expect(await page('startIndex=2&count=1')).toEqual([1, 2, 1, true])
    expect(await page('startIndex=9999&count=-3')).toEqual([0, 9999, 0, true])
    const { body } = await provider.send('GET', '/Users?attributes=userName&count=1')
    expect(Object.keys(body.Resources[0]).toSorted()).toEqual(['id', 'meta', 'schemas', 'userName'])
  })

  test('JSON under other names is read as well, what is no JSON is not', async () => {
    const send = (media: string) => sendScim(held.home, provider.token, 'POST', '/Groups', { displayName: `As ${media}` }, media)
    expect((await send('application/json')).status).toBe(201)
    expect((await send('application/scim+json; charset=utf-8')).status).toBe(201)
    expect((await send('application/xml')).status).toBe(415)
  })

  test('writes of others do not wait for all that a provider sends at once', async () => {
    const { call, admin } = held.home
    const many = 60
    let answered = 0
    const sent = Array.from({ length: many }, (_, i) =>
      provider.send('POST', '/Groups', { displayName: `At once ${i}` }).finally(() => {
        answered++
      }),
    )
    await Promise.race(sent)
    const own = await call('PATCH', '/api/users/@me/', { as: admin, body: { first_name: 'Meanwhile' } })
    const before = answered
    expect([own.status, new Set((await Promise.all(sent)).map(({ status }) => status))]).toEqual([200, new Set([201])])
    expect(before).toBeLessThan(many / 2)
  })

  test('wrong tokens are throttled for their network, and so are too many requests for their token', async () => {
    const { world } = held.home
    world.now = new Date('2031-01-01T00:00:00Z')
    world.limits = { ...world.limits, scim: [{ count: 5, seconds: 60 }] }
    const statuses = await Promise.all(Array.from({ length: 8 }, () => provider.send('GET', '/Users?count=0')))
    expect(statuses.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 200, 200, 429, 429, 429])
    expect(statuses.find(({ status }) => status === 429)?.headers.get('retry-after')).toMatch(/^\d+$/)
    world.limits = { ...world.limits, scim: [] }
    const wrong: number[] = []
    for (let i = 0; i < 120; i++) wrong.push((await sendScim(held.home, `scim_wrong${i}`, 'GET', '/Users')).status)
    expect([wrong[0], wrong.at(-1)]).toEqual([401, 429])
    world.now = new Date('2031-01-01T01:00:00Z')
    expect((await provider.send('GET', '/Users?count=0')).status, 'later').toBe(200)
    world.now = null
  })
})
