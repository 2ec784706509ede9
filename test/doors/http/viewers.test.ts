import { beforeAll, describe, expect, test } from 'vitest'
import type { User } from '../../../src/service/accounts/records.ts'
import { level, lowestLevel } from '../../../src/service/accounts/records.ts'
import { refused, withHome } from './conversation.ts'

// A viewer, the lowest level: sees and asks, and changes nothing but the own account. Every route as a viewer: rights.ts.

const held = withHome()
let viewer: User
beforeAll(async () => {
  viewer = await held.home.world.user('viewer@acme.test', held.home.organization.id, 'viewer')
})
const inside = (path: string) => `/api/projects/${held.home.project.id}/${path}`
const of = (path: string) => `/api/organizations/${held.home.organization.id}/${path}`
const query = { kind: 'HogQLQuery', query: 'select 1 as one' }
const tooLow = refused(403, 'permission_denied')

test('is the lowest level there is, and a number that is not that of nobody', () => {
  expect([lowestLevel, Math.min(...Object.values(level))]).toEqual([0, 0])
})

test('sees members, insights and dashboards, asks, downloads, and is shown as a viewer', async () => {
  const { call, member } = held.home
  const { body: insight } = await call('POST', inside('insights/'), { as: member, body: { query } })
  const { body: dashboard } = await call('POST', inside('dashboards/'), { as: member, body: { tiles: [{ insight: insight.id }] } })
  expect((await call('GET', inside(`insights/${insight.id}/?refresh=blocking`), { as: viewer })).body).toMatchObject({
    result: [[1]],
    user_access_level: 'viewer',
    effective_privilege_level: 21,
  })
  expect((await call('GET', inside(`insights/${insight.id}/`), { as: member })).body.user_access_level).toBe('editor')
  const seen = (await call('GET', inside(`dashboards/${dashboard.id}/`), { as: viewer })).body
  expect(seen).toMatchObject({ effective_privilege_level: 21, tiles: [{ insight: { user_access_level: 'viewer' } }] })
  expect((await call('POST', inside('query/'), { as: viewer, body: { query } })).body.results).toEqual([[1]])
  expect((await call('POST', inside('query/export/'), { as: viewer, body: { query, format: 'csv' } })).body).toBe('one\r\n1\r\n')
  expect((await call('POST', inside(`insights/${insight.id}/viewed/`), { as: viewer })).status).toBe(204)
  expect((await call('GET', inside(''), { as: viewer })).body.effective_membership_level).toBe(0)
  expect((await call('GET', of(''), { as: viewer })).body.membership_level).toBe(0)
  const { body: me } = await call('GET', '/api/users/@me/', { as: viewer })
  expect(me.organizations).toMatchObject([{ id: held.home.organization.id, membership_level: 0 }])
  const { results } = (await call('GET', of('members/?email=viewer@acme.test'), { as: viewer })).body
  expect(results).toMatchObject([{ level: 0 }])
})

test('keys of a viewer allow no more than the viewer', async () => {
  const { call, key } = held.home
  const all = await key(viewer, ['*'])
  expect((await call('POST', inside('query/'), { as: all, body: { query } })).status).toBe(200)
  for (const [method, path, body] of [
    ['POST', inside('insights/'), { query }],
    ['PATCH', inside(''), { name: 'Mine' }],
    ['POST', of('invites/'), { target_email: 'friend@acme.test', level: 0 }],
    ['POST', of('roles/'), { name: 'r' }],
    ['DELETE', of(`members/${held.home.member.uuid}/`), undefined],
  ] as const)
    expect(await call(method, path, { as: all, body }), path).toMatchObject(tooLow)
})

describe('a private project', () => {
  test('is closed to a viewer, and with access, even as its administrator, still only seen', async () => {
    const { call, admin, world, organization } = held.home
    const hidden = await world.makeProject(organization.id, { access_control: true })
    const path = `/api/projects/${hidden.id}/`
    expect((await call('GET', `${path}insights/`, { as: viewer })).status).toBe(403)
    for (const wanted of [level.member, level.admin]) {
      const given = await call('POST', `${path}explicit_members/`, { as: admin, body: { user_uuid: viewer.uuid, level: wanted } })
      expect(given.body).toMatchObject({ level: wanted, parent_level: 0, effective_level: 0 })
      expect((await call('GET', `${path}insights/`, { as: viewer })).status).toBe(200)
      expect((await call('GET', path, { as: viewer })).body.effective_membership_level).toBe(0)
      expect(await call('POST', `${path}insights/`, { as: viewer, body: { query } })).toMatchObject(tooLow)
      expect(await call('POST', `${path}explicit_members/`, { as: viewer, body: { user_uuid: held.home.member.uuid } })).toMatchObject(
        tooLow,
      )
      expect((await call('DELETE', `${path}explicit_members/@me/`, { as: viewer })).status, 'the own access may be given up').toBe(204)
    }
  })
})

describe('becoming one', () => {
  test('by an invitation, and by an administrator, who makes a viewer a member again', async () => {
    const { call, admin, member } = held.home
    const { body: invite } = await call('POST', of('invites/'), { as: member, body: { target_email: 'guest@new.test', level: 0 } })
    expect(invite.level).toBe(0)
    const joined = await call('POST', `/api/signup/${invite.secret}/`, { body: { first_name: 'Guest', password: 'a long password 17' } })
    expect(joined.status).toBe(201)
    const path = of(`members/${joined.body.uuid}/`)
    const guest = (await held.home.world.accounts.users.byEmail('guest@new.test'))!
    expect(await call('POST', inside('insights/'), { as: guest, body: { query } })).toMatchObject(tooLow)
    expect((await call('PATCH', path, { as: admin, body: { level: 1 } })).body.level).toBe(1)
    const { body: left } = await call('POST', of('invites/'), { as: guest, body: { target_email: 'friend@new.test', level: 0 } })
    expect((await call('PATCH', path, { as: admin, body: { level: '0' } })).body.level).toBe(0)
    expect(await call('POST', of('invites/'), { as: guest, body: { target_email: 'other@new.test', level: 0 } })).toMatchObject(tooLow)
    expect(await call('GET', `/api/signup/${left.secret}/`), 'an invitation of somebody who may invite no longer').toMatchObject(
      refused(400, 'expired'),
    )
    for (const wrong of [-1, 2, null, 'viewer'])
      expect((await call('PATCH', path, { as: admin, body: { level: wrong } })).status, String(wrong)).toBe(400)
    expect((await call('DELETE', of('members/@me/'), { as: guest })).status, 'everybody may leave').toBe(204)
  })

  test('in the middle of a request: what was admitted as a member is not written as a viewer', async () => {
    const { accounts, user } = held.home.world
    const falling = await user('falling@acme.test', held.home.organization.id)
    const membership = (await accounts.organizations.membership(held.home.organization.id, falling))!
    await accounts.context.store.write((tables) => tables.memberships.update({ id: membership.id }, { level: level.viewer }))
    await expect(
      accounts.invites.create({ user: falling, membership }, held.home.organization, { target_email: 'late@new.test' }),
    ).rejects.toMatchObject({ code: 'not-allowed' })
  })
})

test('the own account is a viewer’s own: name, keys, and an organization', async () => {
  const { call } = held.home
  expect((await call('PATCH', '/api/users/@me/', { as: viewer, body: { first_name: 'Vi' } })).body.first_name).toBe('Vi')
  expect((await call('POST', '/api/personal_api_keys/', { as: viewer, body: { label: 'x', scopes: ['query:read'] } })).status).toBe(201)
  const { body: own } = await call('POST', '/api/organizations/', { as: viewer, body: { name: 'Own' } })
  expect(own.membership_level).toBe(15)
})
