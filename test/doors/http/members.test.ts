import { expect, test } from 'vitest'
import { refused, withHome } from './conversation.ts'

const held = withHome()
const base = '/api/organizations/@current/members/'

test('members stand by first name; the inactive are not shown', async () => {
  const { call, member, organization, world } = held.home
  const gone = await world.user('aa-gone@acme.test', organization.id)
  await world.accounts.context.store.write((tables) => tables.users.update({ id: gone.id }, { is_active: false }))
  const { body } = await call('GET', base, { as: member })
  expect(body.results.map((one: { user: { first_name: string } }) => one.user.first_name)).toEqual(['Owner', 'admin', 'member'])
  expect(body.results[1]).toMatchObject({ level: 8, is_2fa_enabled: false, has_social_auth: false })
  expect(await call('GET', '/api/users/@me/', { as: gone })).toMatchObject(refused(401, 'not_authenticated'))
})

test('members found by address, and in another order', async () => {
  const { call, member } = held.home
  const emails = async (query: string) =>
    (await call('GET', `${base}?${query}`, { as: member })).body.results.map((one: { user: { email: string } }) => one.user.email)
  expect(await emails('email=ADMIN@acme.test')).toEqual(['admin@acme.test'])
  expect(await emails('email=nobody@acme.test')).toEqual([])
  expect(await emails('order=-level')).toEqual(['owner@acme.test', 'admin@acme.test', 'member@acme.test'])
  expect(await emails('order=user__email&limit=1')).toEqual(['admin@acme.test'])
  expect(await emails('order=password')).toEqual(await emails(''))
})

test('who may change whom', async () => {
  const { call, member, admin, owner, organization, world } = held.home
  const target = await world.user('target@acme.test', organization.id)
  const change = (as: typeof member, user: typeof member, to: unknown) => call('PATCH', `${base}${user.uuid}/`, { as, body: { level: to } })
  const denied = (detail: string) => refused(403, 'permission_denied', detail)
  expect(await change(member, target, 8)).toMatchObject(denied('You can only edit others if you are an admin.'))
  expect(await change(member, target, 3), 'before what is wrong with it').toMatchObject(
    denied('You can only edit others if you are an admin.'),
  )
  expect(await change(admin, admin, 1)).toMatchObject(denied("You can't change your own access level."))
  expect(await change(admin, target, 15)).toMatchObject(denied("You can only pass on organization ownership if you're its owner."))
  expect(await change(admin, owner, 1)).toMatchObject(denied('You can only edit others with level lower or equal to you.'))
  expect(await change(admin, target, 3)).toMatchObject(refused(400, 'invalid_choice', '"3" is not a valid choice.', 'level'))
  expect(await change(admin, target, '8')).toMatchObject({ status: 200, body: { level: 8 } })
  expect(await call('PATCH', `${base}@me/`, { as: owner, body: { level: 8 } })).toMatchObject(
    denied("You can't change your own access level."),
  )
})

test('transferring ownership makes the former owner an administrator', async () => {
  const { call, world } = held.home
  const giver = await world.user('giver@acme.test', null)
  const { body: organization } = await call('POST', '/api/organizations/', { as: giver, body: { name: 'Given' } })
  const taker = await world.user('taker@acme.test', organization.id)
  expect(
    (await call('PATCH', `/api/organizations/${organization.id}/members/${taker.uuid}`, { as: giver, body: { level: 15 } })).body.level,
  ).toBe(15)
  const levels = (await call('GET', `/api/organizations/${organization.id}/members/`, { as: taker })).body.results
  expect(Object.fromEntries(levels.map((one: { level: number; user: { email: string } }) => [one.user.email, one.level]))).toEqual({
    'giver@acme.test': 8,
    'taker@acme.test': 15,
  })
})

test('members leave on their own; others need an administrator', async () => {
  const { call, member, admin, organization, world } = held.home
  const leaver = await world.user('leaver@acme.test', organization.id)
  const removed = await world.user('removed@acme.test', organization.id)
  expect(await call('DELETE', `${base}${removed.uuid}/`, { as: member })).toMatchObject(refused(403, 'permission_denied'))
  expect((await call('DELETE', `${base}${removed.uuid}/`, { as: admin })).status).toBe(204)
  expect(await call('DELETE', `${base}${removed.uuid}/`, { as: admin })).toMatchObject(refused(404, 'not_found'))
  expect((await call('DELETE', `${base}@me/`, { as: leaver })).status).toBe(204)
  expect((await call('GET', '/api/users/@me/', { as: leaver })).body).toMatchObject({ organization: null, team: null, organizations: [] })
})

test('UUIDs are the same in any case', async () => {
  const { call, admin, member, organization, project } = held.home
  const path = `/api/organizations/${organization.id.toUpperCase()}`
  for (const one of [path, `${path}/members`, `${path}/projects/${project.id}`])
    expect((await call('GET', one, { as: member })).status).toBe(200)
  expect((await call('PATCH', `${path}/members/${member.uuid.toUpperCase()}`, { as: admin, body: {} })).body.user.uuid).toBe(member.uuid)
  const { body: role } = await call('POST', `${path}/roles/`, { as: admin, body: { name: 'Upper' } })
  const added = await call('POST', `${path}/roles/${role.id}/role_memberships/`, {
    as: admin,
    body: { user_uuid: member.uuid.toUpperCase() },
  })
  expect(added).toMatchObject({ status: 201, body: { user: { uuid: member.uuid } } })
})

test('strangers learn nothing, not even what does not exist', async () => {
  const { call, member, other, outsider } = held.home
  const path = `/api/organizations/${other.id}/members/`
  const denied = refused(403, 'permission_denied', 'You do not have permission to perform this action.')
  expect(await call('GET', path, { as: member })).toMatchObject(denied)
  expect(await call('GET', `${path}${outsider.uuid}`, { as: member })).toMatchObject(denied)
  expect(await call('GET', `${base}${member.uuid}/`, { as: member })).toMatchObject(
    refused(405, 'method_not_allowed', 'Method "GET" not allowed.'),
  )
  expect(await call('GET', path)).toMatchObject(refused(401, 'not_authenticated'))
})
