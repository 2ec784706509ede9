import { expect, test } from 'vitest'
import { refused, withHome } from './conversation.ts'

const held = withHome()
const base = '/api/organizations/'

test('whoever creates an organization owns it, and works in its first project', async () => {
  const { call, world } = held.home
  const founder = await world.user('founder@new.test', null)
  expect(await call('GET', `${base}@current/`, { as: founder })).toMatchObject(refused(404, 'not_found', 'Current organization not found.'))
  const made = await call('POST', base, { as: founder, body: { name: 'Neue Räder GmbH', slug: 'mine', plugins_access_level: 9 } })
  expect(made).toMatchObject({
    status: 201,
    body: { name: 'Neue Räder GmbH', slug: 'neue-rader-gmbh', membership_level: 15, member_count: 1, is_member_join_email_enabled: true },
  })
  expect(made.body.teams).toMatchObject([{ name: 'Default Project', is_demo: false }])
  expect(await call('GET', '/api/users/@me/', { as: founder })).toMatchObject({
    body: { organization: { id: made.body.id }, team: { id: made.body.teams[0].id } },
  })
  expect((await call('GET', base, { as: founder })).body.results.map((one: { id: string }) => one.id)).toEqual([made.body.id])
})

test('slugs stay unique and short', async () => {
  const { call, world } = held.home
  const as = await world.user('names@new.test', null)
  const name = 'A very long name indeed, longer than any slug could be, ok?'
  const first = (await call('POST', base, { as, body: { name } })).body.slug
  const second = (await call('POST', base, { as, body: { name } })).body.slug
  expect(first).toHaveLength(48)
  expect(second).toMatch(/^a-very-long-name-indeed-longer-than-any-slu-[a-z0-9]{4}$/)
  expect(second.length).toBeLessThanOrEqual(48)
  expect((await call('POST', base, { as, body: { name: '日本語' } })).body.slug).toBe('organization')
})

const mistakes: [string, unknown, string, string | null][] = [
  ['no name', {}, 'required', 'name'],
  ['null', { name: null }, 'null', 'name'],
  ['blank', { name: '  ' }, 'blank', 'name'],
  ['65 characters', { name: 'x'.repeat(65) }, 'max_length', 'name'],
  ['not a boolean', { name: 'x', enforce_2fa: 'perhaps' }, 'invalid_input', 'enforce_2fa'],
  ['a list', ['x'], 'invalid_input', null],
]
test.each(mistakes)('refuses %s', async (_, body, code, attr) => {
  expect(await held.home.call('POST', base, { as: held.home.member, body })).toMatchObject(refused(400, code, undefined, attr))
})

test('members read, administrators change, only the owner deletes', async () => {
  const { call, organization, member, admin } = held.home
  const path = `${base}${organization.id}/`
  expect((await call('GET', path, { as: member })).body.membership_level).toBe(1)
  const tooLow = refused(403, 'permission_denied', 'Your organization access level is insufficient.')
  expect(await call('PATCH', path, { as: member, body: { name: 'Mine' } })).toMatchObject(tooLow)
  expect(await call('DELETE', path, { as: admin })).toMatchObject(tooLow)
  const changed = await call('PATCH', path, {
    as: admin,
    body: { name: 'Acme', enforce_2fa: 'true', plugins_access_level: 0, logo_media_id: 1 },
  })
  expect(changed).toMatchObject({ status: 200, body: { name: 'Acme', enforce_2fa: true, plugins_access_level: 9 } })
  expect(await call('PATCH', path, { as: admin, body: { enforce_2fa: false } })).toMatchObject(refused(403, 'two_factor_setup_required'))
  await held.home.world.accounts.context.store.write((tables) =>
    tables.organizations.update({ id: organization.id }, { enforce_2fa: false }),
  )
})

test('the organization of others is not there', async () => {
  const { call, other, admin } = held.home
  for (const method of ['GET', 'PATCH', 'DELETE'])
    expect(await call(method, `${base}${other.id}/`, { as: admin, ...(method === 'PATCH' ? { body: {} } : {}) })).toMatchObject(
      refused(404, 'not_found', 'Not found.'),
    )
  expect(await call('GET', `${base}nonsense/`, { as: admin })).toMatchObject(refused(404, 'not_found'))
})

test('deleting takes everything along and leaves one entry in the log', async () => {
  const { call, world } = held.home
  const as = await world.user('brief@new.test', null)
  const { body: first } = await call('POST', base, { as, body: { name: 'Kept' } })
  const { body: second } = await call('POST', base, { as, body: { name: 'Brief' } })
  await call('POST', `${base}${second.id}/roles/`, { as, body: { name: 'r' } })
  expect((await call('DELETE', `${base}${second.id}`, { as })).status).toBe(204)
  const { read } = world.accounts.context.store
  for (const table of ['projects', 'memberships', 'roles'] as const)
    expect(await read[table].count({ organization_id: second.id } as never), table).toBe(0)
  expect(await read.activity.find({ organization_id: second.id })).toMatchObject([{ activity: 'deleted', scope: 'Organization' }])
  expect((await call('GET', '/api/users/@me/', { as })).body.organization.id).toBe(first.id)
  expect((await call('DELETE', `${base}${first.id}`, { as })).status, 'even the last one').toBe(204)
  expect((await call('GET', base, { as })).body.count).toBe(0)
})

test('an operator can allow only one organization', async () => {
  const { call, world, member } = held.home
  world.settings = { ...world.settings, allowsManyOrganizations: false }
  expect(await call('POST', base, { as: member, body: { name: 'Second' } })).toMatchObject(
    refused(403, 'permission_denied', 'You must upgrade your Waymark plan to be able to create and manage multiple organizations.'),
  )
  world.settings = { ...world.settings, allowsManyOrganizations: true }
})

test('pages lead on and back', async () => {
  const { call, world } = held.home
  const as = await world.user('many@new.test', null)
  for (let i = 0; i < 5; i++) await call('POST', base, { as, body: { name: `O${i}` } })
  const first = (await call('GET', `${base}?limit=2&_=1`, { as })).body
  expect(first).toMatchObject({ count: 5, previous: null, next: `${world.url}${base}?limit=2&_=1&offset=2` })
  const second = (await call('GET', first.next.slice(world.url.length), { as })).body
  expect(second.previous).toBe(`${world.url}${base}?limit=2&_=1`)
  expect((await call('GET', second.next.slice(world.url.length), { as })).body).toMatchObject({ next: null, results: [{ name: 'O4' }] })
  expect((await call('GET', `${base}?limit=0&offset=-3`, { as })).body.results).toHaveLength(5)
  expect((await call('GET', `${base}?offset=50`, { as })).body).toMatchObject({ count: 5, next: null, results: [] })
})

test('a creating post with an Idempotency-Key happens once', async () => {
  const { call, world } = held.home
  const as = await world.user('twice@new.test', null)
  const headers = { 'idempotency-key': 'a1' }
  const first = await call('POST', base, { as, body: { name: 'Once' }, headers })
  const again = await call('POST', base, { as, body: { name: 'Once' }, headers })
  expect(again).toMatchObject({ status: 201, body: { id: first.body.id } })
  expect((await call('GET', base, { as })).body.count).toBe(1)
  expect(await call('POST', base, { as, body: { name: 'Other' }, headers })).toMatchObject(refused(409, 'conflict'))
})
