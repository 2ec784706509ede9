import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { generateSync } from 'otplib'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { resources } from '../../../src/doors/http/registry.ts'
import { type Served, startServe } from '../../clients/served.ts'
import { type Answer, startNameServer } from '../../harness/name-server.ts'
import { program } from '../../harness/programs.ts'
import { refused, rowOf } from './conversation.ts'

// One conversation for each resource with `waymark serve` in a process of its own, by keys and by logins, failures included. In the order of a life:
// whoever is invited first is needed later.

const run = promisify(execFile)
const names: Record<string, Answer> = {}
let nameServer: Awaited<ReturnType<typeof startNameServer>>
let served: Served
/** The cookie of who was invited. */
let guest = ''
let organizationId = ''
let projectId = 0
const spoken = new Map<string, Set<'answered' | 'refused'>>()

interface Reply {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
  readonly body: any
  readonly headers: Headers
}
/** As the owner, by the first key, unless other headers say who. */
const call = async (method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply> => {
  const response = await fetch(served.url + path, {
    method,
    redirect: 'manual',
    headers: {
      ...(headers ?? { authorization: `Bearer ${served.personalKey}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  const reply = { status: response.status, body: isJson ? JSON.parse(text) : text, headers: response.headers }
  expect(reply.headers.get('x-request-id'), path).toMatch(/^[\da-f-]{36}$/)
  const row = rowOf(method, path)
  if (row) {
    const name = row.name.slice(0, row.name.indexOf('.'))
    spoken.set(name, (spoken.get(name) ?? new Set()).add(response.status < 400 ? 'answered' : 'refused'))
    if (response.ok && isJson && row.answer) expect(row.answer.safeParse(reply.body).error, `${method} ${path}`).toBeUndefined()
    if (response.ok) expect(reply.status, `${method} ${path}`).toBe(row.status)
  }
  if (response.status >= 400 && path.startsWith('/api'))
    expect(Object.keys(reply.body).filter((name) => name !== 'extra')).toEqual(['type', 'code', 'detail', 'attr'])
  return reply
}
const asGuest = (method: string, path: string, body?: unknown) => call(method, path, body, { cookie: guest })
const list = async (path: string) => (await call('GET', path)).body.results
const cookieOf = ({ headers }: Reply) => headers.get('set-cookie')!.split(';')[0]!
const under = (path: string) => `/api/organizations/${organizationId}/${path}`
const inside = (path: string) => `/api/projects/${projectId}/${path}`
const nowhere = '00000000-0000-7000-8000-000000000000'

beforeAll(async () => {
  nameServer = await startNameServer(names)
  served = await startServe({ args: ['--hosted', '--dns', nameServer.address, '--queries-per-hour', '0', '--api-limit', '0'] })
  projectId = served.projectId
})
afterAll(async () => {
  expect(served?.complaints).toEqual([])
  await served?.stop()
  nameServer?.stop()
})

test('organizations', async () => {
  const [first] = await list('/api/organizations/')
  organizationId = first.id
  expect(first).toMatchObject({ membership_level: 15, member_count: 1, plugins_access_level: 3, teams: [{ id: projectId }] })
  const { body: made } = await call('POST', '/api/organizations/', { name: 'Second one', plugins_access_level: 9, enforce_2fa: false })
  expect(made).toMatchObject({ name: 'Second one', slug: 'second-one', plugins_access_level: 3, enforce_2fa: false, membership_level: 15 })
  expect((await call('GET', '/api/organizations/@current/')).body.id).toBe(made.id)
  const one = `/api/organizations/${made.id}/`
  expect((await call('PATCH', one, { name: 'Renamed' })).body).toMatchObject({ name: 'Renamed', slug: 'second-one' })
  expect(await call('PATCH', one, { name: '' })).toMatchObject(refused(400, 'blank', 'This field may not be blank.', 'name'))
  expect(await call('POST', '/api/organizations/', {})).toMatchObject(refused(400, 'required', 'This field is required.', 'name'))
  expect(await call('PUT', one, {})).toMatchObject(refused(405, 'method_not_allowed', 'Method "PUT" not allowed.'))
  expect(await call('GET', one, undefined, {})).toMatchObject(refused(401, 'not_authenticated'))
  expect((await call('DELETE', one)).body).toBe('')
  expect(await call('GET', one)).toMatchObject(refused(404, 'not_found', 'Not found.'))
  expect(await list('/api/organizations/')).toHaveLength(1)
})

test('invites, and accepting one', async () => {
  const invites = under('invites/')
  const { body: invite } = await call('POST', invites, { target_email: 'guest@ACME.test', first_name: 'Guest', level: 8 })
  expect(invite).toMatchObject({
    target_email: 'guest@acme.test',
    level: 8,
    is_expired: false,
    emailing_attempt_made: false,
    message: null,
  })
  expect(await call('POST', invites, { target_email: 'no address' })).toMatchObject(
    refused(400, 'invalid_input', undefined, 'target_email'),
  )
  const { body: many } = await call('POST', `${invites}bulk/`, [{ target_email: 'a@acme.test' }, { target_email: 'b@acme.test' }])
  expect(await list(invites)).toMatchObject([{ id: many[1].id }, { id: many[0].id }, { id: invite.id }])
  expect(await call('POST', `${invites}bulk/`, {})).toMatchObject(refused(400, 'invalid_input'))
  expect((await call('DELETE', `${invites}${many[0].id}/`)).status).toBe(204)
  expect(await call('DELETE', `${invites}${many[0].id}/`)).toMatchObject(refused(404, 'not_found'))
  expect(await call('GET', `${invites}${invite.id}/`)).toMatchObject(refused(405, 'method_not_allowed'))

  const signup = `/api/signup/${invite.secret}/`
  expect((await call('GET', signup, undefined, {})).body).toMatchObject({ target_email: 'g***t@acme.test', first_name: 'Guest' })
  expect(await call('POST', signup, { first_name: 'Guest', password: 'short' }, {})).toMatchObject(
    refused(400, 'min_length', undefined, 'password'),
  )
  const joined = await call('POST', signup, { first_name: 'Guest', password: 'long enough for this' }, {})
  expect(joined.body).toMatchObject({ email: 'guest@acme.test' })
  expect(await call('GET', signup, undefined, {})).toMatchObject(refused(400, 'invalid_input', 'The provided invite ID is not valid.'))
  guest = cookieOf(joined)
})

test('the first owner', async () => {
  expect(await call('GET', '/api/setup/', undefined, {})).toMatchObject({ status: 200, body: { is_waiting: true } })
  const form = { secret: 'guessed', email: 'me@acme.test', first_name: 'Me', password: 'long enough for this' }
  expect(await call('POST', '/api/setup/', form, {})).toMatchObject(refused(400, 'invalid_input', undefined, 'secret'))
  expect(await call('POST', '/api/setup/', { ...form, email: 'me' }, {})).toMatchObject(refused(400, 'invalid_input', undefined, 'email'))
})

test('login, logout and the own account', async () => {
  const login = (password: string) => call('POST', '/api/login/', { email: 'guest@acme.test', password }, {})
  expect(await login('not this one')).toMatchObject(refused(400, 'invalid_credentials'))
  const other = cookieOf(await login('long enough for this'))
  expect((await call('POST', '/api/logout/', {}, { cookie: other })).status).toBe(204)
  expect(await call('GET', '/api/users/@me/', undefined, { cookie: other })).toMatchObject(refused(401, 'not_authenticated'))
  const { body: me } = await asGuest('GET', '/api/users/@me/')
  expect(me).toMatchObject({ email: 'guest@acme.test', organization: { id: organizationId, membership_level: 8 }, team: { id: projectId } })
  expect((await asGuest('PATCH', '/api/users/@me/', { last_name: 'Of Honour' })).body.last_name).toBe('Of Honour')
  expect(await asGuest('PATCH', '/api/users/@me/', { set_current_organization: nowhere })).toMatchObject(
    refused(400, 'does_not_exist', undefined, 'set_current_organization'),
  )
})

test('single sign-on that nobody has set up', async () => {
  expect((await call('GET', '/api/login/?packages=1', undefined, {})).body).toMatchObject({
    is_waiting: true,
    providers: [],
    not_installed: [],
  })
  expect((await call('POST', '/api/login/precheck/', { email: 'guest@acme.test' }, {})).body).toEqual({
    sso_enforcement: null,
    saml_available: false,
    providers: [],
  })
  for (const path of ['/oidc/github/login/', '/oidc/github/callback/?code=1&state=2', '/saml/acme.test/login/']) {
    const { status, headers } = await call('GET', path, undefined, {})
    expect([status, headers.get('location')], path).toEqual([
      302,
      expect.stringMatching(/\/#\/sign-in\?problem=(unknown_provider|other_browser)&/),
    ])
  }
  expect(await call('GET', '/oidc/github/login/?to=elsewhere', undefined, {})).toMatchObject({ status: 400 })
  const form = { SAMLResponse: 'PHg+' }
  for (const step of ['acs', 'continue']) expect((await call('POST', `/saml/acme.test/${step}/`, form, {})).status).toBe(302)
  expect((await call('GET', '/saml/acme.test/metadata/', undefined, {})).status).toBe(404)
})

test('the consent of a user to an application', async () => {
  const metadata = await call('GET', '/.well-known/oauth-authorization-server', undefined, {})
  expect(metadata.body.registration_endpoint).toBe(`${served.url}/oauth/register`)
  expect((await call('GET', '/.well-known/oauth-protected-resource?x=1', undefined, {})).status).toBe(400)
  const address = 'https://agent.example.com/back'
  const { body: client } = await call('POST', '/oauth/register', { client_name: 'Agent', redirect_uris: [address] }, {})
  expect((await call('POST', '/oauth/register', {}, {})).body.error).toBe('invalid_redirect_uri')
  const request = {
    client_id: client.client_id,
    redirect_uri: address,
    response_type: 'code',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  }
  const query = new URLSearchParams(request)
  expect((await asGuest('GET', `/api/consents/?${query}`)).body).toMatchObject({
    client_name: 'Agent',
    answered_at: 'https://agent.example.com',
  })
  expect((await call('GET', `/api/consents/?${query}`)).status).toBe(403) // a key
  const { body } = await asGuest('POST', '/api/consents/refuse/', request)
  expect(body.leads_to).toContain(`${address}?error=access_denied`)
})

test('a second factor', async () => {
  const factor = (what: string) => `/api/users/@me/two_factor_${what}/`
  expect((await asGuest('GET', factor('status'))).body).toMatchObject({ is_enabled: false, recovery_codes_left: 0 })
  const { secret } = (await asGuest('POST', factor('start_setup'), {})).body
  expect(await asGuest('POST', factor('validate'), { token: 'wrong' })).toMatchObject(refused(400, '2fa_invalid', undefined, 'token'))
  const { recovery_codes: codes } = (await asGuest('POST', factor('validate'), { token: generateSync({ secret }) })).body
  const login = { email: 'guest@acme.test', password: 'long enough for this' }
  const waiting = await call('POST', '/api/login/', login, {})
  expect(waiting).toMatchObject(refused(401, '2fa_required'))
  const step = (token: string) => call('POST', '/api/login/token/', { token }, { cookie: cookieOf(waiting) })
  expect(await step('wrong')).toMatchObject(refused(400, '2fa_invalid', undefined, 'token'))
  guest = cookieOf(await step(codes[0]))
  expect((await asGuest('POST', factor('disable'), { token: codes[1] })).status).toBe(204)
})

test('passkeys', async () => {
  expect((await asGuest('GET', '/api/users/@me/passkeys/')).body.results).toEqual([])
  // Passkeys are bound to a name: the address is a number.
  expect(await asGuest('POST', '/api/users/@me/passkeys/begin/', {})).toMatchObject(refused(400, 'passkey_unavailable'))
  const named = served.url.replace('127.0.0.1', 'localhost')
  const begun = await fetch(`${named}/api/login/passkey/begin/`, { method: 'POST' })
  expect([begun.status, await begun.json()]).toMatchObject([200, { rpId: 'localhost', userVerification: 'required' }])
})

test('a new password by a link of the operator', async () => {
  const cli = process.env.WAYMARK_CLI ?? program('cli')
  const { stdout } = await run(process.execPath, [
    cli,
    'users',
    'link',
    '--keep-access',
    '--data',
    served.dataDir,
    '--email',
    'guest@acme.test',
    '--json',
  ])
  const [, user, token] = /#\/reset\/([^/]+)\/(.+)$/.exec(JSON.parse(stdout).url)!
  const link = `/api/reset/${user}/`
  expect((await call('GET', `${link}?token=${token}`, undefined, {})).status).toBe(204)
  expect(await call('POST', link, { token: 'guessed', password: 'another long one' }, {})).toMatchObject(
    refused(400, 'invalid_token', undefined, 'token'),
  )
  const wanted = { token, password: 'long enough for this' }
  expect((await call('POST', link, wanted, {})).body).toEqual({ success: true, email: 'guest@acme.test' })
  expect(await call('POST', link, wanted, {})).toMatchObject(refused(400, 'invalid_token', undefined, 'token'))
  expect(await asGuest('GET', '/api/users/@me/')).toMatchObject(refused(401, 'not_authenticated')) // the new password has ended the session
  guest = cookieOf(await call('POST', '/api/login/', { email: 'guest@acme.test', password: wanted.password }, {}))
})

test('members', async () => {
  const members = under('members/')
  const [visitor, owner] = await list(members)
  expect([visitor, owner]).toMatchObject([{ user: { first_name: 'Guest' }, level: 8 }, { level: 15 }])
  const patch = (who: { user: { uuid: string } }, level: unknown) => asGuest('PATCH', `${members}${who.user.uuid}/`, { level })
  expect(await patch(owner, 1)).toMatchObject(
    refused(403, 'permission_denied', 'You can only edit others with level lower or equal to you.'),
  )
  expect(await patch(visitor, 1)).toMatchObject(refused(403, 'permission_denied', "You can't change your own access level."))
  expect((await call('PATCH', `${members}${visitor.user.uuid}/`, { level: 1 })).body.level).toBe(1)
  expect(await asGuest('DELETE', `${members}${owner.user.uuid}/`)).toMatchObject(refused(403, 'permission_denied'))
  expect(await call('DELETE', `${members}${nowhere}/`)).toMatchObject(refused(404, 'not_found'))
  expect(await call('GET', `/api/organizations/${nowhere}/members/`)).toMatchObject(refused(404, 'not_found', 'Organization not found.'))
})

test('domains', async () => {
  const domains = under('domains/')
  const { body: domain } = await call('POST', domains, { domain: 'acme.test', sso_enforcement: 'saml' })
  expect(domain).toMatchObject({ is_verified: false, verified_at: null, sso_enforcement: '', has_saml: false })
  const one = `${domains}${domain.id}/`
  expect(await call('POST', domains, { domain: 'acme.test' })).toMatchObject(refused(400, 'unique', undefined, 'domain'))
  expect(await call('PATCH', one, { sso_enforcement: 'saml' })).toMatchObject(
    refused(400, 'verification_required', undefined, 'sso_enforcement'),
  )
  expect(await asGuest('POST', `${one}verify/`)).toMatchObject(
    refused(403, 'permission_denied', 'Your organization access level is insufficient.'),
  )
  expect((await call('POST', `${one}verify/`)).body.is_verified).toBe(false)
  names['_waymark-challenge.acme.test'] = { type: 'TXT', data: [domain.verification_challenge] }
  expect((await call('POST', `${one}verify/`)).body).toMatchObject({ is_verified: true, verified_at: expect.stringMatching(/Z$/) })
  expect(await call('POST', `${one}verify/`)).toMatchObject(refused(400, 'already_verified'))
  expect((await call('PATCH', one, { sso_enforcement: 'saml' })).body.sso_enforcement).toBe('saml')
  // The addresses of the domain do not come in without it, from now on and until nothing is required.
  expect(await asGuest('GET', one)).toMatchObject(refused(401, 'not_authenticated'))
  const login = { email: 'guest@acme.test', password: 'long enough for this' }
  expect(await call('POST', '/api/login/', login, {})).toMatchObject(refused(400, 'sso_enforced'))
  expect((await call('PATCH', one, { sso_enforcement: '' })).body.sso_enforcement).toBe('')
  expect((await asGuest('GET', one)).status).toBe(200)
  expect((await call('DELETE', one)).status).toBe(204)
  expect(await list(domains)).toEqual([])
})

test('roles and who has them', async () => {
  const roles = under('roles/')
  const { body: role } = await call('POST', roles, { name: 'Engineering' })
  expect(role).toMatchObject({ feature_flags_access_level: 37, members: [], created_by: { email: 'owner@waymark.local' } })
  expect(await call('POST', roles, { name: 'ENGINEERING' })).toMatchObject(refused(400, 'unique', undefined, 'name'))
  expect(await asGuest('POST', roles, { name: 'Sales' })).toMatchObject(
    refused(403, 'permission_denied', 'You need to have admin level or higher.'),
  )
  const memberships = `${roles}${role.id}/role_memberships/`
  const { user } = (await list(under('members/')))[0]
  const { body: membership } = await call('POST', memberships, { user_uuid: user.uuid })
  expect(membership).toMatchObject({ role_id: role.id, user })
  expect(await call('POST', memberships, { user_uuid: user.uuid })).toMatchObject(
    refused(400, 'invalid_input', 'User is already part of the role.'),
  )
  expect(await call('POST', memberships, { user_uuid: nowhere })).toMatchObject(refused(400, 'invalid_input', 'User does not exist.'))
  expect((await call('GET', `${roles}${role.id}/`)).body.members).toEqual([membership])
  expect((await call('DELETE', `${memberships}${membership.id}/`)).status).toBe(204)
  expect((await call('PATCH', `${roles}${role.id}/`, { name: 'Builders' })).body).toMatchObject({ name: 'Builders', members: [] })
  expect((await call('DELETE', `${roles}${role.id}/`)).status).toBe(204)
  expect(await call('GET', memberships)).toMatchObject(refused(404, 'not_found'))
})

test('projects, by both paths', async () => {
  const { body: made } = await call('POST', under('projects/'), { name: 'Shop', timezone: 'Europe/Berlin', week_start_day: 1 })
  expect(made).toMatchObject({
    name: 'Shop',
    timezone: 'Europe/Berlin',
    week_start_day: 1,
    effective_membership_level: 15,
    data_attributes: ['data-attr'],
  })
  const one = under(`projects/${made.id}/`)
  expect(await call('PATCH', one, { timezone: 'Middle/Earth' })).toMatchObject(
    refused(400, 'invalid_choice', '"Middle/Earth" is not a valid choice.', 'timezone'),
  )
  expect((await call('PATCH', one, { name: 'Store', api_token: 'mine' })).body).toMatchObject({ name: 'Store', api_token: made.api_token })
  expect((await call('GET', `${one}is_generating_demo_data/`)).body).toEqual({ is_generating_demo_data: false })
  const send = (api_key: string) => call('POST', '/batch/', { api_key, batch: [{ event: 'e', distinct_id: 'd', properties: {} }] }, {})
  expect((await send(made.api_token)).status).toBe(200)
  const { body: reset } = await call('PATCH', `${one}reset_token/`)
  expect(reset.api_token).not.toBe(made.api_token)
  for (const [token, status] of [
    [made.api_token, 401],
    [reset.api_token, 200],
  ])
    expect((await send(token)).status).toBe(status)
  const refusal = await vi.waitFor(() => expect(served.complaints).toHaveLength(1), 60_000).then(() => served.complaints.pop())
  expect(refusal?.message).toBe('events with an unknown project key were refused')
  const { body: counted } = await call('POST', `/api/projects/${made.id}/query/`, {
    query: { kind: 'HogQLQuery', query: 'select count() from events' },
  })
  expect(counted.results, 'the old token stopped').toEqual([[2]])
  expect((await call('GET', `${one}activity/`)).body.results.map((entry: { activity: string }) => entry.activity)).toEqual([
    'updated',
    'updated',
    'created',
  ])
  expect(await asGuest('DELETE', `/api/projects/${made.id}/`)).toMatchObject(refused(403, 'permission_denied'))
  expect(await asGuest('POST', under('projects/'), { name: 'Mine' })).toMatchObject(refused(403, 'permission_denied'))
  expect(await list('/api/projects/')).toMatchObject([{ id: projectId }, { id: made.id, ingested_event: true }])
  expect(await list(under('projects/'))).toHaveLength(2)
  expect((await call('GET', `/api/projects/${made.id}/`)).body).toMatchObject({ name: 'Store' })
  const plan = `/api/projects/${made.id}/historical_import/`
  expect((await call('PATCH', plan, { source: 'posthog', total_events: 1000 })).body).toMatchObject({
    source: 'posthog',
    is_approved: false,
  })
  expect(await call('PATCH', plan, { total_events: 'many' })).toMatchObject(refused(400, 'invalid_input', undefined, 'total_events'))
  expect((await call('DELETE', one)).status).toBe(204)
  expect(await call('GET', `/api/projects/${made.id}/`)).toMatchObject(refused(404, 'not_found', 'Not found.'))
  expect(await call('POST', '/api/projects/', { name: 'x'.repeat(201) })).toMatchObject(refused(400, 'max_length', undefined, 'name'))
})

test('proxy records', async () => {
  const records = under('proxy_records/')
  const { body: record } = await call('POST', records, { domain: 'e.acme.test' })
  expect(record).toMatchObject({
    domain: 'e.acme.test',
    status: 'waiting',
    message: null,
    target_cname: expect.stringMatching(/^[\da-f]{20}\./),
  })
  expect(await call('POST', records, { domain: 'e.acme.test' })).toMatchObject(refused(400, 'unique', undefined, 'domain'))
  expect(await asGuest('POST', records, { domain: 'f.acme.test' })).toMatchObject(refused(403, 'permission_denied'))
  names['e.acme.test'] = { type: 'CNAME', data: record.target_cname }
  expect((await call('POST', `${records}${record.id}/retry/`)).body.status).toBe('valid')
  expect(await list(records)).toMatchObject([{ status: 'valid' }])
  expect((await call('DELETE', `${records}${record.id}/`)).status).toBe(204)
  expect(await list(records)).toMatchObject([{ status: 'deleting' }])
})

test('personal keys', async () => {
  const keys = '/api/personal_api_keys/'
  const { body: key } = await asGuest('POST', keys, { label: 'Reads', scopes: ['query:read'], scoped_teams: [projectId] })
  const bearer = (value: string) => ({ authorization: `Bearer ${value}` })
  expect((await asGuest('GET', keys)).body).toMatchObject([{ id: key.id, value: null, mask_value: `phx_...${key.value.slice(-4)}` }])
  expect((await call('GET', `${keys}@current/`, undefined, bearer(key.value))).body).toMatchObject({ id: key.id, scopes: ['query:read'] })
  expect(await call('GET', keys)).toMatchObject(refused(403, 'permission_denied', 'This action does not support Personal API Key access'))
  expect(await asGuest('POST', keys, { label: 'x', scopes: ['moon:write'] })).toMatchObject(
    refused(400, 'invalid_input', 'Invalid scope: moon:write', 'scopes'),
  )
  expect(await call('GET', inside('actions/'), undefined, bearer(key.value))).toMatchObject(
    refused(403, 'permission_denied', "API key missing required scope 'action:read'"),
  )
  expect(await call('GET', '/api/organizations/', undefined, bearer(key.value))).toMatchObject(refused(403, 'permission_denied'))
  const { body: rolled } = await asGuest('POST', `${keys}${key.id}/roll/`)
  const poll = (value: string) => call('GET', inside('query/none/'), undefined, bearer(value))
  expect(await poll(key.value)).toMatchObject(refused(401, 'authentication_failed'))
  expect(await poll(rolled.value)).toMatchObject(refused(404, 'not_found', `Query none not found for team ${projectId}`))
  expect((await asGuest('PATCH', `${keys}${key.id}/`, { label: 'Still reads' })).body.label).toBe('Still reads')
  expect((await asGuest('DELETE', `${keys}${key.id}/`)).status).toBe(204)
  expect((await poll(rolled.value)).status).toBe(401)
})

test('actions and cohorts', async () => {
  const batch = ['ann', 'bob'].map((distinct_id) => ({
    event: 'signup',
    distinct_id,
    properties: { $set: { plan: distinct_id === 'ann' ? 'pro' : 'free' } },
  }))
  expect((await call('POST', '/batch/', { api_key: served.projectKey, batch }, {})).status).toBe(200)
  const { body: action } = await call('POST', inside('actions/'), { name: 'Came', steps: [{ event: 'signup' }] })
  expect((await call('PATCH', inside(`actions/${action.id}/`), { name: 'Signed up' })).body.name).toBe('Signed up')
  expect(await call('POST', inside('actions/'), { steps: [] })).toMatchObject(refused(400, 'required', undefined, 'name'))
  expect(await call('GET', inside('actions/999/'))).toMatchObject({ status: 404 })
  const property = { key: 'plan', type: 'person', value: ['pro'], operator: 'exact' }
  const filters = { properties: { type: 'AND', values: [{ type: 'AND', values: [property] }] } }
  const { body: cohort } = await call('POST', inside('cohorts/'), { name: 'Pros', filters })
  expect((await list(inside(`cohorts/${cohort.id}/persons/`))).map((one: { distinct_ids: string[] }) => one.distinct_ids)).toEqual([
    ['ann'],
  ])
  expect(await call('POST', inside('cohorts/'), { filters })).toMatchObject(refused(400, 'required', undefined, 'name'))
  const counted = {
    kind: 'TrendsQuery',
    series: [{ kind: 'ActionsNode', id: action.id }],
    properties: [{ type: 'cohort', key: 'id', value: cohort.id }],
  }
  expect((await call('POST', inside('query/'), { query: counted })).body.results).toMatchObject([{ label: 'Signed up', count: 1 }])
  expect((await call('DELETE', inside(`cohorts/${cohort.id}/`))).status).toBe(204)
  expect((await call('PATCH', inside(`actions/${action.id}/`), { deleted: true })).status).toBe(200)
  expect(await list(inside('actions/'))).toEqual([])
})

test('queries', async () => {
  const path = inside('query/')
  const query = { kind: 'SqlLikeQuery', query: 'select event, count() as n from events group by event' }
  expect((await asGuest('POST', path, { query })).body).toMatchObject({ columns: ['event', 'n'], results: [['signup', 2]], hasMore: false })
  const csv = await call('POST', path, { query }, { cookie: guest, accept: 'text/csv' })
  expect(csv.body).toBe('event,n\r\nsignup,2\r\n')
  expect(await call('POST', path, { query: { kind: 'Soup' } })).toMatchObject(refused(400, 'parse_error', undefined, 'kind'))
  expect(await call('POST', path, { query: { ...query, query: 'select nope from events' } })).toMatchObject(refused(400, 'invalid_input'))
  expect((await call('POST', path, { query, async: true, client_query_id: 'later' })).body).toEqual({
    query_status: expect.objectContaining({ id: 'later', query_async: true }),
  })
  const status = async () => (await call('GET', `${path}later/`)).body.query_status
  while (!(await status()).complete) await new Promise((resume) => setImmediate(resume))
  expect(await status()).toMatchObject({ error: false, results: { results: [['signup', 2]] } })
  expect((await call('DELETE', `${path}later/`)).status).toBe(204)
  expect(await call('GET', `${path}later/`)).toMatchObject(refused(404, 'not_found'))
  expect((await call('GET', `${path}draft_sql/?prompt=how%20many%20events`)).body.sql).toContain('count()')
  expect(await call('POST', '/api/projects/999/query/', { query })).toMatchObject(refused(403, 'permission_denied'))
})

test('persons, their events and groups', async () => {
  const batch = [
    { event: '$identify', distinct_id: 'ann', properties: { $anon_distinct_id: 'phone', $set: { plan: 'pro' } } },
    { event: 'visited', distinct_id: 'phone', properties: { $groups: { company: 'acme' } } },
    { event: '$groupidentify', distinct_id: 'ann', properties: { $group_type: 'company', $group_key: 'acme', $group_set: { size: 1 } } },
  ]
  const position = async () => (await call('GET', inside('events/position/'))).body.position
  const before = await position()
  expect(await position()).toBe(before)
  await call('POST', '/batch/', { api_key: served.projectKey, batch }, {})
  expect(await position()).toBeGreaterThan(before)
  const { body: ann } = await call('GET', inside('persons/phone/'))
  expect(ann).toMatchObject({ distinct_ids: ['ann', 'phone'], properties: { plan: 'pro' }, is_identified: true })
  const [visited] = await list(inside('events/?event=visited'))
  expect(visited.person.id).toBe(ann.id)
  expect((await call('PATCH', inside(`persons/${ann.id}/`), { properties: { plan: 'free' } })).body.properties.plan).toBe('free')
  expect((await call('POST', inside('persons/ann/split/'), { main_distinct_id: 'ann' })).body.person.distinct_ids).toEqual(['ann'])
  const { body: moved } = await call('GET', inside(`events/${visited.id}/`))
  expect(moved.person.id).toBe((await call('GET', inside('persons/phone/'))).body.id)
  expect((await call('DELETE', inside('persons/phone/?delete_events=true'))).status).toBe(202)
  expect(await call('GET', inside(`events/${visited.id}/`))).toMatchObject(refused(404, 'not_found'))
  expect(await call('GET', inside('persons/phone/'))).toMatchObject(refused(404, 'not_found'))
  expect((await call('GET', inside('groups/find/?group_type_index=0&group_key=acme'))).body.group_properties).toEqual({ size: 1 })
  expect(await call('GET', inside('groups/find/?group_type_index=0&group_key=x'))).toMatchObject(refused(404, 'not_found'))
  expect((await call('GET', inside('groups_types/'))).body).toMatchObject([{ group_type: 'company' }])
  expect(await call('PATCH', inside('groups_types/update_metadata/'), {})).toMatchObject(refused(400, 'parse_error'))
})

test('insights and dashboards', async () => {
  const query = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'signup' }] }
  const { body: dashboard } = await call('POST', inside('dashboards/'), { name: 'Shop' })
  const { body: insight } = await call('POST', inside('insights/'), { name: 'Sign-ups', query, dashboards: [dashboard.id] })
  expect((await asGuest('GET', inside(`insights/${insight.short_id}/?refresh=blocking`))).body.result).toMatchObject([{ count: 2 }])
  const { body } = await asGuest('GET', inside(`dashboards/${dashboard.id}/`))
  expect(body.tiles).toMatchObject([{ is_cached: true, insight: { id: insight.id, result: [{ count: 2 }] } }])
  expect(await call('POST', inside('insights/'), { query: { kind: 'Soup' } })).toMatchObject(
    refused(400, 'invalid_input', undefined, 'query__kind'),
  )
  expect(await call('GET', inside('dashboards/999/'))).toMatchObject(refused(404, 'not_found'))
})

test('public links', async () => {
  const [insight] = await list(inside('insights/'))
  const dashboard = (await list(inside('dashboards/'))).find(({ name }: { name: string }) => name === 'Shop')
  for (const path of [`insights/${insight.id}`, `dashboards/${dashboard.id}`]) {
    const sharing = inside(`${path}/sharing/`)
    expect((await asGuest('GET', sharing)).body).toMatchObject({ enabled: false, access_token: null })
    const { body } = await asGuest('PATCH', sharing, { enabled: true })
    const page = await call('GET', `/shared/${body.access_token}`, undefined, {})
    expect(page).toMatchObject({ status: 200, body: expect.stringContaining('<svg') })
    expect((await call('GET', `/shared/${body.access_token}.json`, undefined, {})).body.type).toBe(path.split('s/')[0])
    expect((await call('GET', `/embedded/${body.access_token}`, undefined, {})).status).toBe(200)
    expect((await call('PATCH', sharing, { enabled: false })).status).toBe(200)
    expect(await call('GET', `/shared/${body.access_token}`, undefined, {})).toMatchObject(refused(404, 'not_found'))
    expect(await call('PATCH', sharing, { enabled: 'perhaps' })).toMatchObject(refused(400, 'invalid_input', undefined, 'enabled'))
  }
})

test('feature flags', async () => {
  const { body: flag } = await call('POST', inside('feature_flags/'), { key: 'new-ui', filters: { groups: [{ rollout_percentage: 100 }] } })
  expect((await asGuest('GET', inside(`feature_flags/${flag.id}/`))).body).toMatchObject({ key: 'new-ui', rollout_percentage: 100 })
  expect((await asGuest('GET', inside('feature_flags/local_evaluation/'))).body.flags).toMatchObject([{ key: 'new-ui' }])
  const token = { 'x-api-key': (await call('GET', inside(''))).body.api_token }
  const context = { targetingKey: 'ann' }
  expect((await call('POST', '/ofrep/v1/evaluate/flags/new-ui', { context }, token)).body).toMatchObject({ value: true })
  expect((await call('POST', '/ofrep/v1/evaluate/flags', { context }, token)).body.flags).toHaveLength(1)
  expect((await call('POST', '/ofrep/v1/evaluate/flags/new-ui', {}, token)).status).toBe(400)
  expect(await call('POST', inside('feature_flags/'), { key: 'a b' })).toMatchObject(refused(400, 'invalid_input', undefined, 'key'))
  expect((await call('PATCH', inside(`feature_flags/${flag.id}/`), { deleted: true })).status).toBe(200)
})

test('viewers of an application', async () => {
  const [insight] = await list(inside('insights/'))
  const filter = [{ type: 'event', key: 'plan', operator: 'exact', value: 'nobody has it' }]
  const { body: key } = await asGuest('POST', inside('viewer_keys/'), { name: 'Shop' })
  expect((await asGuest('GET', inside('viewer_keys/'))).body).toMatchObject([{ id: key.id, secret: null }])
  const { body: made } = await asGuest('POST', inside('viewer_tokens/'), { filter, insights: [insight.id], kinds: ['SqlLikeQuery'] })
  const viewer = { authorization: `Bearer ${made.token}` }
  expect((await call('GET', '/api/viewer/', undefined, viewer)).body).toMatchObject({ insights: [insight.id] })
  expect((await call('GET', `/api/viewer/insights/${insight.id}/`, undefined, viewer)).body.insight).toMatchObject({ id: insight.id })
  expect(await call('GET', '/api/viewer/dashboards/1/', undefined, viewer)).toMatchObject(refused(404, 'not_found'))
  const query = { kind: 'SqlLikeQuery', query: 'select count() from events' }
  expect((await call('POST', '/api/viewer/query/', { query }, viewer)).body.results).toEqual([[0]])
  expect((await asGuest('DELETE', inside(`viewer_tokens/${made.id}/`))).status).toBe(204)
  expect(await call('GET', '/api/viewer/', undefined, viewer)).toMatchObject(refused(401, 'authentication_failed'))
  expect((await asGuest('DELETE', inside(`viewer_keys/${key.id}/`))).status).toBe(204)
  expect(await asGuest('POST', inside('viewer_tokens/'), { filter: [] })).toMatchObject(refused(400, 'invalid_input', undefined, 'filter'))
  expect(await asGuest('DELETE', inside(`viewer_keys/${key.id}/`))).toMatchObject(refused(404, 'not_found'))
})

test('alerts and subscriptions', async () => {
  const [insight] = await list(inside('insights/'))
  const threshold = { configuration: { type: 'absolute', bounds: { upper: 1 } } }
  const rule = {
    insight: insight.id,
    condition: { type: 'absolute_value' },
    threshold,
    config: { series_index: 0, check_ongoing_interval: true },
  }
  const { body: alert } = await asGuest('POST', inside('alerts/'), rule)
  await vi.waitFor(
    async () => expect((await call('GET', inside(`alerts/${alert.id}/`))).body).toMatchObject({ state: 'Firing', last_value: 2 }),
    {
      timeout: 60_000,
    },
  )
  expect(await list(inside(`alerts/${alert.id}/checks/`))).toMatchObject([{ state: 'Firing', calculated_value: 2 }])
  expect(await call('POST', inside('alerts/'), { ...rule, insight: 999 })).toMatchObject(
    refused(400, 'does_not_exist', undefined, 'insight'),
  )
  const target = { target_type: 'webhook', target_value: 'https://hooks.invalid/in' }
  const schedule = { insight: insight.id, ...target, frequency: 'weekly', byweekday: ['monday'], start_date: '2026-01-05T09:00:00Z' }
  expect(await asGuest('POST', inside('subscriptions/'), { ...schedule, target_value: 'http://127.0.0.1:9/' })).toMatchObject(
    refused(400, 'invalid_input', undefined, 'target_value'),
  )
  const { body: subscription } = await asGuest('POST', inside('subscriptions/'), schedule)
  const tested = await call('POST', inside(`subscriptions/${subscription.id}/test-delivery/`))
  expect(tested).toMatchObject({ status: 202, body: { deliveries: [{ status: 'failed', is_test: true, attempts: 1 }] } })
  const deliveries = () => list(inside(`subscriptions/${subscription.id}/deliveries/`))
  await vi.waitFor(
    async () => expect(await deliveries()).toMatchObject([{ status: 'failed', error: expect.stringContaining('hooks.invalid') }]),
    {
      timeout: 60_000,
    },
  )
  expect(await call('GET', inside('subscriptions/999/'))).toMatchObject(refused(404, 'not_found'))
})

test('access to a private project', async () => {
  expect(await list(inside('explicit_members/'))).toEqual([])
  expect(await call('DELETE', inside(`explicit_members/${nowhere}/`))).toMatchObject(refused(404, 'not_found'))
  expect(await list(inside('role_access/'))).toEqual([])
  expect(await call('POST', inside('role_access/'), { role_id: nowhere })).toMatchObject(
    refused(400, 'does_not_exist', undefined, 'role_id'),
  )
})

test('imports', async () => {
  const { body: begun } = await call('POST', inside('imports/'), { file: 'orders.csv', format: 'csv' })
  expect(await list(inside('imports/'))).toMatchObject([{ id: begun.id, file: 'orders.csv', status: 'running', events: 0 }])
  expect((await call('PATCH', inside(`imports/${begun.id}/`), { status: 'done', rows: 0 })).body).toMatchObject({ status: 'done', rows: 0 })
  expect((await call('POST', inside(`imports/${begun.id}/undo/`), {})).body).toMatchObject({ status: 'undone', removed_events: 0 })
  expect(await call('POST', inside('imports/'), {})).toMatchObject(refused(400, 'required', undefined, 'file'))
})

test('annotations and views', async () => {
  const { body: annotation } = await call('POST', inside('annotations/'), { content: 'Release', date_marker: '2026-01-05T10:00:00Z' })
  expect(await list(inside('annotations/?search=rel'))).toMatchObject([{ id: annotation.id, content: 'Release', scope: 'project' }])
  expect(await call('POST', inside('annotations/'), { scope: 'world' })).toMatchObject(refused(400, 'invalid_choice', undefined, 'scope'))
  const view = (query: string) => ({ name: 'signups', query: { kind: 'HogQLQuery', query } })
  expect(await call('POST', inside('warehouse_saved_queries/'), view('select nope from events'))).toMatchObject(
    refused(400, 'invalid_input', undefined, 'query__query'),
  )
  const { body: made } = await call('POST', inside('warehouse_saved_queries/'), view("select event from events where event = 'signup'"))
  expect(made.columns).toMatchObject([{ name: 'event', type: 'string' }])
  const asked = { query: { kind: 'HogQLQuery', query: 'select count() from signups' } }
  expect((await asGuest('POST', inside('query/'), asked)).body.results).toEqual([[2]])
})

test('saved filters', async () => {
  const paying = [{ key: 'plan', type: 'person', operator: 'exact', value: ['pro'] }]
  const path = inside('saved_filters/')
  const { status, body: made } = await call('POST', path, { name: 'Paying', properties: paying })
  expect([status, made.name, made.properties]).toEqual([201, 'Paying', paying])
  const group = { type: 'OR', values: [{ type: 'AND', values: paying }] }
  expect((await call('PATCH', `${path}${made.id}/`, { name: 'Customers', properties: group })).body).toMatchObject({
    name: 'Customers',
    properties: group,
  })
  expect(await list(`${path}?search=custom`)).toMatchObject([{ id: made.id }])
  expect(await call('POST', path, { name: 'Customers', properties: paying })).toMatchObject(refused(400, 'unique', undefined, 'name'))
  for (const properties of [[], {}, null, 'plan'])
    expect((await call('POST', path, { name: 'No filters', properties })).status, JSON.stringify(properties)).toBe(400)
  expect((await call('DELETE', `${path}${made.id}/`)).status).toBe(204)
  expect(await list(path)).toEqual([])
  expect((await call('GET', `${path}${made.id}/activity/`)).body.results.map(({ activity }: { activity: string }) => activity)).toEqual([
    'deleted',
    'updated',
    'created',
  ])
})

test('definitions of events and properties', async () => {
  const [signup] = await list(inside('event_definitions/'))
  expect(signup).toMatchObject({ name: 'signup', count: 2 })
  expect(await call('GET', inside('event_definitions/gone/'))).toMatchObject(refused(404, 'not_found'))
  await list(inside('property_definitions/'))
  expect(await call('GET', inside('property_definitions/gone/'))).toMatchObject(refused(404, 'not_found'))
})

test('what owners get mails about', async () => {
  const path = inside('watches/')
  const all = await call('GET', path)
  expect(all).toMatchObject({ status: 200, body: { mails: false } })
  const silence = { name: 'silence', of: 'project', enabled: true, problems: [] }
  expect(all.body.results).toContainEqual(expect.objectContaining(silence))
  expect(await call('PATCH', `${path}silence/`, { enabled: false })).toMatchObject({ status: 200, body: { ...silence, enabled: false } })
  expect(await call('PATCH', `${path}silence/`, { enabled: 'perhaps' })).toMatchObject(refused(400, 'invalid_input', undefined, 'enabled'))
  expect(await call('PATCH', `${path}nothing/`, { enabled: false })).toMatchObject(refused(404, 'not_found'))
  expect(await call('GET', path, undefined, {})).toMatchObject(refused(401, 'not_authenticated'))
})

test('queries that took long', async () => {
  expect(await list(inside('slow_queries/'))).toEqual(expect.any(Array))
  expect(await call('GET', inside('slow_queries/'), undefined, {})).toMatchObject(refused(401, 'not_authenticated'))
  expect(await call('POST', inside('slow_queries/00000000-0000-7000-8000-000000000000/explain/'))).toMatchObject(refused(404, 'not_found'))
})

test('tools for agents', async () => {
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  expect(await call('POST', '/mcp', message, {})).toMatchObject(refused(401, 'not_authenticated'))
  expect(await call('POST', '/mcp', { jsonrpc: '2.0' })).toMatchObject(refused(400, 'required', undefined, 'method'))
  expect(await call('POST', '/mcp', message)).toMatchObject({ status: 200, body: { id: 1, result: { tools: expect.any(Array) } } })
})

test('every resource was spoken to, and has refused something', async () => {
  expect(await list(inside('ingestion_warnings/'))).toEqual(expect.any(Array))
  expect(await call('GET', inside('ingestion_warnings/'), undefined, {})).toMatchObject(refused(401, 'not_authenticated'))
  expect(await list(inside('person_deletions/'))).toEqual(expect.any(Array))
  expect(await call('GET', inside('person_deletions/'), undefined, {})).toMatchObject(refused(401, 'not_authenticated'))
  // Not on a server that is run for customers.
  expect(await call('GET', under('backups/'))).toMatchObject(refused(404, 'not_found'))
  expect(await call('GET', under('backups/'), undefined, {})).toMatchObject(refused(401, 'not_authenticated'))
  // What it supports is open, and nobody has a token.
  expect((await call('GET', '/scim/v2/ServiceProviderConfig', undefined, {})).status).toBe(200)
  expect((await call('GET', '/scim/v2/Users')).status).toBe(401)
  // Nobody is signed in, which is an answer; a key is no login.
  expect(await call('GET', '/api/session/', undefined, {})).toMatchObject({ status: 200, body: { user: null, projects: [] } })
  expect(await call('GET', '/api/session/')).toMatchObject({ status: 200, body: { user: null } })
  expect(await call('GET', '/api/session/?all=1', undefined, {})).toMatchObject({ status: 400 })
  for (const exports of [inside('batch_exports/'), under('batch_exports/')]) {
    expect(await list(exports)).toEqual([])
    expect(await call('GET', exports, undefined, {})).toMatchObject(refused(401, 'not_authenticated'))
  }
  for (const { name, reach } of resources.filter((one) => one.object === 'plugin')) {
    const plugins = reach === 'organization' ? under(`${name}/`) : name === 'plugin_config' ? '/api/plugin_config/' : inside(`${name}/`)
    expect(await list(plugins)).toEqual([])
    expect(await call('GET', plugins, undefined, {})).toMatchObject(refused(401, 'not_authenticated'))
  }
  for (const { name, missing } of resources.filter((one) => one.missing !== null)) {
    expect(await call('GET', inside(`${name}/1/`))).toMatchObject(refused(404, 'not_found', missing!))
    expect(await call('GET', inside(`${name}/`), undefined, {})).toMatchObject(refused(401, 'not_authenticated'))
  }
  const least = ({ name, missing }: (typeof resources)[number]) => (missing === null && name !== 'backups' ? 2 : 1)
  const silent = resources.filter((one) => (spoken.get(one.name)?.size ?? 0) < least(one)).map(({ name }) => name)
  expect(silent).toEqual([])
})
