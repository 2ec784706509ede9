import { beforeAll, expect, test } from 'vitest'
import type { ProjectRecord } from '../../../src/service/accounts/records.ts'
import { refused, withHome } from './conversation.ts'

// A key reaches what its limits name, wherever a route leads: also where the path names no project and no organization.

const held = withHome()
const me = '/api/users/@me/'
let sibling: ProjectRecord
// biome-ignore lint/suspicious/noExplicitAny: an answer's body
let second: any
let byProject = ''
let byOrganization = ''

beforeAll(async () => {
  const { call, owner, key, organization, project, world } = held.home
  sibling = await world.makeProject(organization.id, { name: 'Sibling' })
  second = (await call('POST', '/api/organizations/', { as: owner, body: { name: 'Second' } })).body // the owner works there from now on
  byProject = await key(owner, ['*'], { scoped_teams: [project.id] })
  byOrganization = await key(owner, ['*'], { scoped_organizations: [organization.id] })
})

test('the own account shows a limited key nothing beyond its limits', async () => {
  const { call, organization, project } = held.home
  const seen = await call('GET', me, { as: byProject })
  expect(seen).toMatchObject({ status: 200, body: { team: { id: project.id }, organization: null, organizations: [] } })
  for (const secret of [sibling.api_token, second.teams[0].api_token, second.id, second.name])
    expect(JSON.stringify(seen.body)).not.toContain(secret)

  const wider = await call('GET', me, { as: byOrganization })
  expect(wider.body).toMatchObject({ organization: { id: organization.id }, organizations: [{ id: organization.id }] })
  expect(wider.body.organization.teams.map(({ id }: { id: number }) => id)).toEqual([project.id, sibling.id])
  for (const secret of [second.teams[0].api_token, second.id, second.name]) expect(JSON.stringify(wider.body)).not.toContain(secret)

  const free = await held.home.key(held.home.owner, ['user:read'])
  expect((await call('GET', me, { as: free })).body).toMatchObject({ organization: { id: second.id }, team: { id: second.teams[0].id } })
})

test('a limited key cannot change the account of its owner', async () => {
  const { call, owner, world, key, project } = held.home
  const change = { email: 'thief@evil.test', first_name: 'Thief', set_current_team: project.id }
  expect(await call('PATCH', me, { as: byProject, body: change })).toMatchObject(
    refused(403, 'permission_denied', 'API keys with scoped projects are only supported on project-based endpoints.'),
  )
  expect(await call('PATCH', me, { as: byOrganization, body: change })).toMatchObject(
    refused(403, 'permission_denied', 'API keys with scoped organizations are only supported on organization-based endpoints.'),
  )
  expect(await world.accounts.users.byId(owner.id)).toMatchObject({ email: owner.email, first_name: owner.first_name })
  const free = await key(owner, ['user:write'])
  expect((await call('PATCH', me, { as: free, body: { last_name: 'Of All' } })).body.last_name).toBe('Of All')
})

test('the address that signs in is changed with a recent login, not with a key', async () => {
  const { call, admin, key, world } = held.home
  const body = { email: 'moved@acme.test' }
  const free = await key(admin, ['*'])
  expect(await call('PATCH', me, { as: free, body })).toMatchObject(refused(403, 'permission_denied'))
  expect((await call('PATCH', me, { as: free, body: { email: admin.email, last_name: 'Same' } })).status, 'its own address').toBe(200)
  const headers = await world.login(admin)
  world.now = new Date(Date.now() + 7 * 3_600_000)
  expect(await call('PATCH', me, { headers, body })).toMatchObject(
    refused(403, 'permission_denied', 'This action requires you to be recently authenticated.'),
  )
  world.now = null
  expect((await call('PATCH', me, { as: admin, body })).body).toMatchObject({ email: admin.email, pending_email: 'moved@acme.test' })
})

test('a key limited to an organization makes no other one', async () => {
  const { call, owner } = held.home
  const count = async () => (await call('GET', '/api/organizations/', { as: owner })).body.count
  const before = await count()
  const refusal = refused(
    403,
    'permission_denied',
    'API keys with scoped organizations are only supported on organization-based endpoints.',
  )
  expect(await call('POST', '/api/organizations/', { as: byOrganization, body: { name: 'Third' } })).toMatchObject(refusal)
  expect(await count()).toBe(before)
})

test('`@current` is what the caller works in, as far as the key reaches', async () => {
  const { call, organization, project } = held.home
  const get = (as: string, path: string) => call('GET', path, { as })
  expect((await get(byProject, '/api/projects/@current/')).body.id).toBe(project.id)
  expect((await get(byProject, '/api/organizations/@current/projects/@current/')).body.id).toBe(project.id)
  expect((await get(byOrganization, '/api/organizations/@current/')).body.id).toBe(organization.id)
  expect((await get(byOrganization, '/api/projects/@current/')).body.id).toBe(project.id)
  const made = await call('POST', '/api/projects/', { as: byOrganization, body: { name: 'Next' } })
  expect(made).toMatchObject({ status: 201, body: { organization: organization.id } })
})

test('a key is no login: accepting an invitation with it starts no session', async () => {
  const { call, admin, outsider, key } = held.home
  const narrow = await key(outsider, ['annotation:read'])
  const invite = { target_email: outsider.email, send_email: false }
  const { body } = await call('POST', '/api/organizations/@current/invites/', { as: admin, body: invite })
  const answer = await call('POST', `/api/signup/${body.secret}/`, {
    as: narrow,
    body: { first_name: 'Out', password: 'long enough' },
  })
  expect(answer).toMatchObject(refused(400, 'account_exists'))
  expect(answer.headers.get('set-cookie')).toBeNull()
})

test('a key that may only invite gets no session: it never sees the secret of an invitation', async () => {
  const { call, admin, key, world, organization } = held.home
  const base = '/api/organizations/@current/invites/'
  const narrow = [
    await key(admin, ['organization_member:write']),
    await key(admin, ['*'], { scoped_organizations: [organization.id] }),
    await key(admin, ['organization_member:write', 'user:write']),
  ]
  for (const [i, as] of narrow.entries()) {
    const target_email = `invited${i}@acme.test`
    const made = await call('POST', base, { as, body: { target_email, send_email: false } })
    expect(made).toMatchObject({ status: 201, body: { secret: null, emailing_attempt_made: false } })
    const many = await call('POST', `${base}bulk/`, { as, body: [{ target_email: `bulk${i}@acme.test` }] })
    expect(many.body).toMatchObject([{ secret: null }])
    expect((await call('POST', `${base}${made.body.id}/resend/`, { as })).body).toMatchObject({ secret: null })
    expect(await world.accounts.invites.byId(organization.id, made.body.id)).toMatchObject({ secret_hash: null })
    const sent = await call('POST', `${base}${made.body.id}/resend/`, { as: admin })
    expect((await call('GET', `/api/signup/${sent.body.secret}/`)).status, 'somebody who is signed in sends it').toBe(200)
  }
  world.hasMail = true
  world.outbox.length = 0
  const mailed = await call('POST', base, { as: narrow[0]!, body: { target_email: 'mailed@acme.test' } })
  world.hasMail = false
  expect(mailed.body).toMatchObject({ secret: null, emailing_attempt_made: true })
  expect(world.outbox.map(({ to }) => to)).toEqual(['mailed@acme.test'])
  const all = await key(admin, ['*'])
  expect((await call('POST', base, { as: all, body: { target_email: 'all@acme.test' } })).body.secret).toMatch(/^[\w-]{43}$/)
})

test('a number of a project says nothing to those who have no business there', async () => {
  const { call, outsider, other, key, project, world } = held.home
  world.limits = { ...world.limits, draft: [] }
  const own = await world.makeProject(other.id, {})
  const [there, nowhere] = [project.id, 999_999]
  const callers = {
    login: outsider,
    key: await key(outsider, ['*']),
    'limited to its organization': await key(outsider, ['*'], { scoped_organizations: [other.id] }),
    'limited to its project': await key(outsider, ['*'], { scoped_teams: [own.id] }),
  }
  const paths = ['', 'query/draft_sql/?prompt=x', 'feature_flags/', 'historical_import/', 'actions/1/', 'nothing/']
  for (const [name, as] of Object.entries(callers))
    for (const path of paths)
      for (const base of ['/api/projects', `/api/organizations/${other.id}/projects`, '/api/environments']) {
        const answerFor = async (id: number) => {
          const { status, body } = await call('GET', `${base}/${id}/${path}`, { as })
          return `${status} ${JSON.stringify(body).replaceAll(String(id), 'ID')}`
        }
        const answer = await answerFor(there)
        expect(answer, `${name}: ${base}/ID/${path}`).toBe(await answerFor(nowhere))
        expect(answer, `${name}: ${base}/ID/${path}`).not.toContain(held.home.organization.id)
        expect(answer.slice(0, 3), `${name}: ${base}/ID/${path}`).toMatch(/40[34]/)
      }
})
