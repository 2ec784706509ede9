import { expect, test } from 'vitest'
import { createHandler } from '../../../src/doors/http/server/create-handler.ts'
import { refused, withHome } from './conversation.ts'

const held = withHome()
const base = '/api/personal_api_keys/'

test('a key is shown once, rolled and deleted', async () => {
  const { call, member } = held.home
  const { status, body: made } = await call('POST', base, { as: member, body: { label: 'one', scopes: ['user:read'] } })
  expect([status, made]).toMatchObject([
    201,
    { value: expect.stringMatching(/^phx_\w{40,}$/), last_used_at: null, last_rolled_at: null, user_id: member.id, scoped_teams: [] },
  ])
  expect((await call('GET', base, { as: member })).body).toMatchObject([
    { id: made.id, value: null, mask_value: expect.stringContaining('...') },
  ])
  expect((await call('GET', '/api/users/@me/', { as: made.value })).body.uuid).toBe(member.uuid)
  const rolled = (await call('POST', `${base}${made.id}/roll/`, { as: member })).body
  expect(rolled).toMatchObject({ id: made.id, value: expect.stringMatching(/^phx_/), last_rolled_at: expect.any(String) })
  expect(await call('GET', '/api/users/@me/', { as: made.value })).toMatchObject(
    refused(401, 'authentication_failed', 'Personal API key found in request Authorization header is invalid.'),
  )
  expect((await call('GET', '/api/users/@me/', { as: rolled.value })).status).toBe(200)
  expect((await call('PATCH', `${base}${made.id}/`, { as: member, body: { label: 'two' } })).body.label).toBe('two')
  expect((await call('DELETE', `${base}${made.id}/`, { as: member })).status).toBe(204)
  expect((await call('GET', '/api/users/@me/', { as: rolled.value })).status).toBe(401)
})

test('every scope that is listed can be given, all at once', async () => {
  const { call, member, key } = held.home
  const { body: scopes } = await call('GET', `${base}scopes/`, { as: member })
  expect(scopes).toEqual(expect.arrayContaining(['insight:read', 'insight:write', 'plugin:write']))
  const { status, body: made } = await call('POST', base, { as: member, body: { label: 'all', scopes } })
  expect([status, made.scopes]).toEqual([201, scopes])
  expect((await call('GET', `${base}scopes/`, { as: await key(member, ['user:read']) })).status).toBe(403)
})

test('keys cannot manage keys, but know themselves', async () => {
  const { call, member, key } = held.home
  const value = await key(member, ['*'])
  const noKeys = refused(403, 'permission_denied', 'This action does not support Personal API Key access')
  const { id } = (await call('GET', `${base}@current/`, { as: value })).body
  expect(await call('GET', base, { as: value })).toMatchObject(noKeys)
  expect(await call('POST', base, { as: value, body: { label: 'x', scopes: ['*'] } })).toMatchObject(noKeys)
  expect(await call('PATCH', `${base}${id}/`, { as: value, body: {} })).toMatchObject(noKeys)
  expect(await call('DELETE', `${base}${id}/`, { as: value })).toMatchObject(noKeys)
  expect(await call('POST', `${base}${id}/roll/`, { as: value })).toMatchObject(noKeys)
})

test('what a key may be made of', async () => {
  const { call, member, other, world } = held.home
  const make = (body: object) => call('POST', base, { as: member, body: { label: 'x', scopes: ['*'], ...body } })
  expect(await make({ scopes: ['tomato:read'] })).toMatchObject(refused(400, 'invalid_input', 'Invalid scope: tomato:read', 'scopes'))
  expect(await make({ label: 'x'.repeat(41) })).toMatchObject(refused(400, 'max_length', undefined, 'label'))
  expect(await make({ scoped_organizations: [other.id] })).toMatchObject(
    refused(400, 'invalid_input', 'You must be a member of all organizations that you are scoping the key to.', 'scoped_organizations'),
  )
  const foreign = await world.makeProject(other.id, {})
  expect(await make({ scoped_teams: [foreign.id] })).toMatchObject(
    refused(400, 'invalid_input', 'You must be a member of all teams that you are scoping the key to.', 'scoped_teams'),
  )
  const collector = await world.user('collector@acme.test', other.id)
  for (let i = 0; i < 10; i++)
    expect((await call('POST', base, { as: collector, body: { label: `${i}`, scopes: ['*'] } })).status).toBe(201)
  expect(await call('POST', base, { as: collector, body: { label: 'x', scopes: ['*'] } })).toMatchObject(refused(400, 'invalid_input'))
})

test('where a key may stand: header before body before query', async () => {
  const { call, owner, organization, key, world } = held.home
  const value = await key(owner, ['organization:write', 'user:read'])
  const me = '/api/users/@me/'
  expect((await call('GET', me, { headers: { authorization: `Bearer    ${value}  ` } })).status).toBe(200)
  expect((await call('GET', `${me}?personal_api_key=${value}`)).status).toBe(200)
  expect((await call('PATCH', `/api/organizations/${organization.id}/`, { body: { personal_api_key: value, name: 'Ok' } })).status).toBe(
    200,
  )
  expect(await call('GET', `${me}?personal_api_key=${value}`, { as: 'phx_wrong' })).toMatchObject(refused(401, 'authentication_failed'))
  expect(await call('GET', `${me}?personal_api_key=wrong`)).toMatchObject(
    refused(401, 'authentication_failed', 'Personal API key found in request query string is invalid.'),
  )
  expect(await call('PATCH', me, { body: { personal_api_key: 'wrong' } })).toMatchObject(
    refused(401, 'authentication_failed', 'Personal API key found in request body is invalid.'),
  )
  expect((await call('GET', me)).headers.get('www-authenticate')).toBe('Bearer')
  await world.accounts.context.store.write((tables) => tables.users.update({ id: owner.id }, { is_active: false }))
  expect((await call('GET', me, { as: value })).status, 'of an inactive user').toBe(401)
  await world.accounts.context.store.write((tables) => tables.users.update({ id: owner.id }, { is_active: true }))
})

test('a header of any length is read in one pass', async () => {
  const { world } = held.home
  const handler = createHandler(world.waymark)
  // What backtracks over these blanks would need hours.
  for (const blanks of [`Bearer a${' '.repeat(1_000_000)}b`, `Bearer ${' a'.repeat(500_000)}`, `${' '.repeat(1_000_000)}x`]) {
    const response = await handler(new Request('http://localhost/api/users/@me/', { headers: { authorization: blanks } }))
    expect(response.status).toBe(401)
  }
  const long = { cookie: `waymark_session=${'x'.repeat(1_000_000)}` }
  expect((await handler(new Request('http://localhost/api/users/@me/', { headers: long }))).status).toBe(401)
})

test('scopes: writing includes reading, the missing one is named', async () => {
  const { call, admin, key, organization } = held.home
  const path = `/api/organizations/${organization.id}/`
  const [reads, writes, other] = [
    await key(admin, ['organization:read']),
    await key(admin, ['organization:write']),
    await key(admin, ['query:read']),
  ]
  expect((await call('GET', path, { as: reads })).status).toBe(200)
  expect((await call('GET', path, { as: writes })).status).toBe(200)
  const missing = (scope: string) => refused(403, 'permission_denied', `API key missing required scope '${scope}'`)
  expect(await call('PATCH', path, { as: reads, body: {} })).toMatchObject(missing('organization:write'))
  expect(await call('GET', path, { as: other })).toMatchObject(missing('organization:read'))
})

test('limited keys see only what they are limited to', async () => {
  const { call, owner, key, organization, project, world } = held.home
  const { body: second } = await call('POST', '/api/organizations/', { as: owner, body: { name: 'Second' } })
  const sibling = await world.makeProject(organization.id, { name: 'Sibling' })
  const byOrganization = await key(owner, ['*'], { scoped_organizations: [organization.id] })
  const byProject = await key(owner, ['*'], { scoped_teams: [project.id] })
  const get = async (as: string, path: string) => {
    const { status, body } = await call('GET', path, { as })
    return status < 400 ? status : `${status} ${body.detail}`
  }
  expect(await get(byOrganization, `/api/organizations/${organization.id}/`)).toBe(200)
  expect(await get(byOrganization, `/api/organizations/${organization.id}/members/`)).toBe(200)
  expect(await get(byOrganization, `/api/projects/${project.id}/feature_flags/`)).toBe(200)
  expect(await get(byOrganization, `/api/organizations/${second.id}/`)).toBe('404 Not found.')
  expect(await get(byOrganization, `/api/projects/${second.teams[0].id}/`)).toBe('404 Not found.')
  const elsewhere = `403 API key does not have access to the requested organization: ID ${second.id}.`
  expect(await get(byOrganization, `/api/organizations/${second.id}/members/`)).toBe(elsewhere)
  expect(await get(byOrganization, `/api/projects/${second.teams[0].id}/feature_flags/`)).toBe(elsewhere)
  expect((await call('GET', '/api/organizations/', { as: byOrganization })).body.count).toBe(1)
  expect(await get(byProject, `/api/projects/${project.id}/`)).toBe(200)
  expect(await get(byProject, `/api/organizations/${organization.id}/projects/${project.id}/`)).toBe(200)
  expect(await get(byProject, `/api/projects/${project.id}/feature_flags/`)).toBe(200)
  const otherProject = `403 API key does not have access to the requested project: ID ${sibling.id}.`
  expect(await get(byProject, `/api/projects/${sibling.id}/`)).toBe(otherProject)
  expect(await get(byProject, `/api/projects/${sibling.id}/feature_flags/`)).toBe(otherProject)
  const outside = '403 API keys with scoped projects are only supported on project-based endpoints.'
  for (const path of [
    '/api/organizations/',
    `/api/organizations/${organization.id}/`,
    '/api/projects/',
    '/api/organizations/@current/projects/',
  ])
    expect(await get(byProject, path), path).toBe(outside)
  for (const as of [byOrganization, byProject]) expect(await get(as, '/api/users/@me/')).toBe(200)
})

test('use is noted once an hour', async () => {
  const { call, member, key, world } = held.home
  const value = await key(member, ['*'])
  const used = async (at: string) => {
    world.now = new Date(at)
    return (await call('GET', `${base}@current/`, { as: value })).body.last_used_at
  }
  expect(await used('2032-01-01T10:00:00Z')).toBeNull() // as it was before this use
  expect(await used('2032-01-01T10:59:00Z')).toBe('2032-01-01T10:00:00Z')
  expect(await used('2032-01-01T11:00:00Z')).toBe('2032-01-01T10:00:00Z')
  expect(await used('2032-01-01T11:01:00Z')).toBe('2032-01-01T11:00:00Z')
  world.now = null
})

test('managing keys wants a login of the last hours', async () => {
  const { call, member, world } = held.home
  const headers = await world.login(member)
  expect((await call('GET', base, { headers })).status).toBe(200)
  world.now = new Date(Date.now() + 7 * 3_600_000)
  expect(await call('GET', base, { headers })).toMatchObject(
    refused(403, 'permission_denied', 'This action requires you to be recently authenticated.'),
  )
  world.now = null
})
