import { expect, test } from 'vitest'
import type { ProjectRecord, User } from '../../../src/service/accounts/records.ts'
import { refused, withHome } from './conversation.ts'

// Private projects: who may see one, and who decides it.

const held = withHome()
let made = 0
const privateProject = async (): Promise<ProjectRecord> => {
  const { world, organization } = held.home
  return world.makeProject(organization.id, { access_control: true, name: `Private ${++made}` })
}
const newMember = () => held.home.world.user(`guest${++made}@acme.test`, held.home.organization.id)
const at = ({ id }: ProjectRecord, rest = '') => `/api/projects/${id}/explicit_members/${rest}`
const mayRead = async ({ id }: ProjectRecord, as: User) => (await held.home.call('GET', `/api/projects/${id}/insights/`, { as })).status
const lists = async ({ id }: ProjectRecord, as: User) =>
  (await held.home.call('GET', '/api/projects/?limit=1000', { as })).body.results.some((one: { id: number }) => one.id === id)
const tooLow = refused(403, 'permission_denied', "You don't have sufficient permissions in the project.")

test('access is given, raised, lowered and taken by an administrator', async () => {
  const { call, admin } = held.home
  const [project, guest] = [await privateProject(), await newMember()]
  expect([await mayRead(project, guest), await lists(project, guest)]).toEqual([403, false])
  const given = await call('POST', at(project), { as: admin, body: { user_uuid: guest.uuid } })
  expect(given).toMatchObject({ status: 201, body: { level: 1, parent_level: 1, effective_level: 1, user: { email: guest.email } } })
  expect([await mayRead(project, guest), await lists(project, guest)]).toEqual([200, true])
  const rotate = `/api/projects/${project.id}/reset_token/`
  expect(await call('PATCH', rotate, { as: guest })).toMatchObject(tooLow)
  const other = await newMember()
  expect(await call('POST', at(project), { as: guest, body: { user_uuid: other.uuid } })).toMatchObject(tooLow)
  expect((await call('PATCH', at(project, `${guest.uuid}/`), { as: admin, body: { level: 8 } })).body.effective_level).toBe(8)
  expect((await call('PATCH', rotate, { as: guest })).status).toBe(200)
  expect((await call('POST', at(project), { as: guest, body: { user_uuid: other.uuid, level: 8 } })).status).toBe(201)
  expect((await call('GET', at(project), { as: other })).body.results.map((one: { user: User }) => one.user.email)).toEqual([
    other.email,
    guest.email,
  ])
  expect((await call('DELETE', at(project, `${guest.uuid}/`), { as: other })).status).toBe(204)
  expect(await mayRead(project, guest)).toBe(403)
  expect((await call('DELETE', at(project, '@me/'), { as: other })).status, 'everybody may leave').toBe(204)
  expect(await mayRead(project, other)).toBe(403)
})

test('nobody gives access to themselves, raises themselves, or adds somebody who is not a member', async () => {
  const { call, owner, admin, outsider, organization, world } = held.home
  const project = await privateProject()
  const guest = await newMember()
  const add = (as: User, body: object) => call('POST', at(project), { as, body })
  expect(await add(admin, { user_uuid: admin.uuid })).toMatchObject(
    refused(403, 'permission_denied', "You can't explicitly add yourself to projects."),
  )
  expect(await add(owner, { user_uuid: outsider.uuid })).toMatchObject(refused(400, 'does_not_exist', undefined, 'user_uuid'))
  expect(await add(owner, { user_uuid: '00000000-0000-7000-8000-000000000000' })).toMatchObject(
    refused(400, 'does_not_exist', undefined, 'user_uuid'),
  )
  for (const level of [0, 15, -1, 1e9, '8x', null, true])
    expect((await add(owner, { user_uuid: guest.uuid, level })).status, String(level)).toBe(400)
  expect((await add(owner, { user_uuid: guest.uuid, level: 8 })).status).toBe(201)
  expect(await add(owner, { user_uuid: guest.uuid })).toMatchObject(refused(400, 'unique', undefined, 'user_uuid'))
  expect(await call('PATCH', at(project, `${guest.uuid}/`), { as: guest, body: { level: 1 } })).toMatchObject(
    refused(403, 'permission_denied', "You can't set your own access level."),
  )
  // Of another organization, with an id of this one.
  expect((await call('DELETE', at(project, `${guest.uuid}/`), { as: outsider })).status).toBe(403)
  const elsewhere = await world.makeProject(held.home.other.id, { access_control: true })
  expect((await call('GET', at(elsewhere), { as: owner })).status).toBe(403)
  // Who leaves the organization loses the access, and does not get it back by joining again.
  await call('DELETE', `/api/organizations/${organization.id}/members/${guest.uuid}/`, { as: owner })
  expect((await call('GET', at(project), { as: owner })).body.results).toEqual([])
})

test('two administrators at once: added once, removed once', async () => {
  const { call, owner, admin } = held.home
  const [project, guest] = [await privateProject(), await newMember()]
  const both = async (ask: (as: User) => Promise<{ status: number }>) =>
    (await Promise.all([owner, admin].map(ask))).map(({ status }) => status).sort()
  expect(await both((as) => call('POST', at(project), { as, body: { user_uuid: guest.uuid } }))).toEqual([201, 400])
  expect(await both((as) => call('DELETE', at(project, `${guest.uuid}/`), { as }))).toEqual([204, 404])
})
