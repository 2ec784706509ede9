import { expect, test } from 'vitest'
import { refused, withHome } from './conversation.ts'

const held = withHome()
const base = '/api/organizations/@current/roles/'

test('roles: made by administrators, unique whatever the case', async () => {
  const { call, admin, member } = held.home
  expect(await call('POST', base, { as: member, body: { name: 'x' } })).toMatchObject(
    refused(403, 'permission_denied', 'You need to have admin level or higher.'),
  )
  const { body: role } = await call('POST', base, { as: admin, body: { name: 'Engineering' } })
  expect(role).toMatchObject({ feature_flags_access_level: 37, members: [], associated_flags: [], created_by: { email: admin.email } })
  const twice = refused(400, 'unique', 'There is already a role with this name.', 'name')
  expect(await call('POST', base, { as: admin, body: { name: 'engineerinG' } })).toMatchObject(twice)
  expect(await call('POST', base, { as: admin, body: { name: 'Ops', feature_flags_access_level: 5 } })).toMatchObject(
    refused(400, 'invalid_choice', undefined, 'feature_flags_access_level'),
  )
  const changed = await call('PATCH', `${base}${role.id}/`, { as: admin, body: { name: 'ENGINEERING', feature_flags_access_level: '21' } })
  expect(changed.body).toMatchObject({ name: 'ENGINEERING', feature_flags_access_level: 21 })
  expect((await call('GET', `${base}${role.id}/`, { as: member })).body.name).toBe('ENGINEERING')
})

test('members of a role come from the organization, once', async () => {
  const { call, admin, member, outsider } = held.home
  const { body: role } = await call('POST', base, { as: admin, body: { name: 'Marketing' } })
  const list = `${base}${role.id}/role_memberships/`
  const add = (user_uuid: unknown) => call('POST', list, { as: admin, body: { user_uuid } })
  const { body: membership } = await add(member.uuid)
  expect(membership).toMatchObject({ role_id: role.id, user: { uuid: member.uuid } })
  expect(await add(member.uuid)).toMatchObject(refused(400, 'invalid_input', 'User is already part of the role.'))
  expect(await add(outsider.uuid)).toMatchObject(refused(400, 'invalid_input', 'User does not exist.'))
  expect(await add('x')).toMatchObject(refused(400, 'invalid_input', 'Must be a valid UUID.', 'user_uuid'))
  expect((await call('GET', `${base}${role.id}/`, { as: member })).body.members).toMatchObject([{ id: membership.id }])
  expect(await call('DELETE', `${list}${membership.id}/`, { as: member })).toMatchObject(refused(403, 'permission_denied'))
  expect((await call('DELETE', `${list}${membership.id}/`, { as: admin })).status).toBe(204)
  expect((await call('GET', list, { as: member })).body.count).toBe(0)
  expect((await call('DELETE', `${base}${role.id}/`, { as: admin })).status).toBe(204)
  expect(await call('GET', list, { as: member })).toMatchObject(refused(404, 'not_found'))
})
