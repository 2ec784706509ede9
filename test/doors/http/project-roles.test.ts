import { describe, expect, test } from 'vitest'
import { level, type ProjectRecord, type User } from '../../../src/service/accounts/records.ts'
import { refused, withHome } from './conversation.ts'

// Roles that private projects are open to.

const held = withHome()
let made = 0
const privateProject = (): Promise<ProjectRecord> => {
  const { world, organization } = held.home
  return world.makeProject(organization.id, { access_control: true, name: `Private ${++made}` })
}
const person = (at: 'viewer' | 'member' | 'admin' = 'member') =>
  held.home.world.user(`person${++made}@acme.test`, held.home.organization.id, at)
const newRole = async (...members: readonly User[]): Promise<string> => {
  const { call, admin, organization } = held.home
  const at = `/api/organizations/${organization.id}/roles/`
  const { body } = await call('POST', at, { as: admin, body: { name: `Role ${++made}` } })
  for (const { uuid } of members) await join(body.id, uuid)
  return body.id
}
const join = (role: string, user_uuid: string) =>
  held.home.call('POST', `/api/organizations/${held.home.organization.id}/roles/${role}/role_memberships/`, {
    as: held.home.admin,
    body: { user_uuid },
  })
const at = ({ id }: ProjectRecord, rest = '') => `/api/projects/${id}/role_access/${rest}`
const open = (project: ProjectRecord, role_id: string, more: object = {}) =>
  held.home.call('POST', at(project), { as: held.home.admin, body: { role_id, ...more } })
const mayRead = async ({ id }: ProjectRecord, as: User | string) =>
  (await held.home.call('GET', `/api/projects/${id}/insights/`, { as })).status
const levelIn = async ({ id }: ProjectRecord, as: User) =>
  (await held.home.call('GET', `/api/projects/${id}/`, { as })).body.effective_membership_level
const lists = async ({ id }: ProjectRecord, as: User) =>
  (await held.home.call('GET', '/api/projects/?limit=1000', { as })).body.results.some((one: { id: number }) => one.id === id)

describe('members of a role have its access at once, and lose it at once', () => {
  const ways: readonly (readonly [string, (project: ProjectRecord, role: string, user: User) => Promise<unknown>])[] = [
    ['the access is taken from the role', (project, role) => held.home.call('DELETE', at(project, `${role}/`), { as: held.home.admin })],
    [
      'the role is taken from the user',
      async (_, role) => {
        const list = `/api/organizations/${held.home.organization.id}/roles/${role}/role_memberships/`
        const { results } = (await held.home.call('GET', list, { as: held.home.admin })).body
        return held.home.call('DELETE', `${list}${results[0].id}/`, { as: held.home.admin })
      },
    ],
    [
      'the role is deleted',
      (_, role) => held.home.call('DELETE', `/api/organizations/${held.home.organization.id}/roles/${role}/`, { as: held.home.admin }),
    ],
    [
      'the user leaves the organization',
      (_, _role, user) => held.home.call('DELETE', `/api/organizations/${held.home.organization.id}/members/@me/`, { as: user }),
    ],
  ]
  test.each(ways)('%s', async (_, end) => {
    const { call } = held.home
    const [project, user] = [await privateProject(), await person()]
    const role = await newRole(user)
    const key = await held.home.key(user, ['*'])
    expect([await mayRead(project, user), await mayRead(project, key), await lists(project, user)]).toEqual([403, 403, false])
    expect(await open(project, role)).toMatchObject({ status: 201, body: { role_id: role, level: 1 } })
    expect([await mayRead(project, user), await mayRead(project, key), await lists(project, user)]).toEqual([200, 200, true])
    expect((await call('PATCH', '/api/users/@me/', { as: user, body: { set_current_team: project.id } })).status).toBe(200)
    await end(project, role, user)
    expect([await mayRead(project, user), await mayRead(project, key), await lists(project, user)]).toEqual([403, 403, false])
    expect((await call('GET', '/api/users/@me/', { as: user })).body.team?.id).not.toBe(project.id)
  })
})

test('the highest of several levels counts; a viewer stays a viewer', async () => {
  const [project, user, viewer] = [await privateProject(), await person(), await person('viewer')]
  const [low, high] = [await newRole(user, viewer), await newRole(user, viewer)]
  await open(project, low)
  expect([await levelIn(project, user), await levelIn(project, viewer)]).toEqual([1, 0])
  await open(project, high, { level: 8 })
  expect([await levelIn(project, user), await levelIn(project, viewer)]).toEqual([8, 0])
  const { call, admin } = held.home
  expect((await call('POST', `/api/projects/${project.id}/insights/`, { as: viewer, body: {} })).status).toBe(403)
  expect((await call('PATCH', at(project, `${high}/`), { as: admin, body: { level: 1 } })).body.level).toBe(1)
  expect(await levelIn(project, user)).toBe(1)
  await call('POST', `/api/projects/${project.id}/explicit_members/`, { as: admin, body: { user_uuid: user.uuid, level: 8 } })
  expect(await levelIn(project, user), 'by name').toBe(8)
})

test('an administrator of the project by a role decides who sees it, and invites to it, and others do not', async () => {
  const { call, member } = held.home
  const [project, user, other] = [await privateProject(), await person(), await person()]
  await open(project, await newRole(user), { level: 8 })
  await open(project, await newRole(other))
  const another = await newRole()
  const add = (as: User) => call('POST', at(project), { as, body: { role_id: another } })
  expect((await add(member)).status).toBe(403)
  expect(await add(other)).toMatchObject(refused(403, 'permission_denied', "You don't have sufficient permissions in the project."))
  expect((await add(user)).status).toBe(201)
  const invite = (as: User, wanted: string) =>
    call('POST', `/api/organizations/${held.home.organization.id}/invites/`, {
      as,
      body: { target_email: `guest${++made}@new.test`, private_project_access: [{ id: project.id, level: wanted }] },
    })
  expect([(await invite(user, 'admin')).status, (await invite(other, 'member')).status]).toEqual([201, 201])
  expect([(await invite(other, 'admin')).status, (await invite(member, 'member')).status]).toEqual([400, 400])
})

test('only roles of the organization, once, with levels that there are', async () => {
  const { call, outsider, other, organization, world, admin } = held.home
  const project = await privateProject()
  const foreign = (await call('POST', `/api/organizations/${other.id}/roles/`, { as: outsider, body: { name: 'Foreign' } })).body.id
  const unknown = '00000000-0000-7000-8000-000000000000'
  for (const role of [foreign, unknown])
    expect(await open(project, role)).toMatchObject(refused(400, 'does_not_exist', undefined, 'role_id'))
  const role = await newRole()
  for (const wanted of [0, 15, 2, null, 'x']) expect((await open(project, role, { level: wanted })).status, String(wanted)).toBe(400)
  expect((await open(project, role)).status).toBe(201)
  expect(await open(project, role)).toMatchObject(refused(400, 'unique', undefined, 'role_id'))
  expect((await call('PATCH', at(project, `${foreign}/`), { as: admin, body: { level: 8 } })).status).toBe(404)
  expect((await call('GET', at(project), { as: outsider })).status).toBe(403)
  // Neither the role of one organization nor its members reach a project of another one.
  const theirs = await world.makeProject(other.id, { access_control: true })
  expect((await call('POST', at(theirs), { as: outsider, body: { role_id: role } })).status).toBe(400)
  const { store } = world.accounts.context
  expect(await store.read.project_roles.count({ project_id: project.id })).toBe(1)
  await world.accounts.projects.remove(null, project)
  expect(await store.read.project_roles.count({ project_id: project.id })).toBe(0)
  expect(organization.id).not.toBe(other.id)
})

test('a project that is open takes no notice; the list takes effect when it becomes private', async () => {
  const { call, admin, world, organization } = held.home
  const project = await world.makeProject(organization.id, {})
  const [inside, outside] = [await person(), await person()]
  await open(project, await newRole(inside))
  expect([await mayRead(project, inside), await mayRead(project, outside)]).toEqual([200, 200])
  await call('PATCH', `/api/projects/${project.id}/`, { as: admin, body: { access_control: true } })
  expect([await mayRead(project, inside), await mayRead(project, outside)]).toEqual([200, 403])
  expect(await levelIn(project, inside)).toBe(level.member)
})
