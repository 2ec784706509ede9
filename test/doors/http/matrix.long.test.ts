import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isReading, type Row } from '../../../src/doors/http/resource.ts'
import { routes } from '../../../src/doors/http/routes.ts'
import type { LevelName, Organization, User } from '../../../src/service/accounts/records.ts'
import type { Scope } from '../../../src/service/accounts/users/personal-keys.ts'
import { type Answer, type Home, startHome } from './conversation.ts'

// What callers who may not come in are told, at every route: the order of checks and its words. Who may is the table of rights.ts.

let home: Home
beforeAll(async () => {
  home = await startHome()
  home.world.limits = { api: [], query: [], draft: [], shared: [], session: [] }
})
afterAll(() => home.world.close())

/** One organization for all rows but those that could delete it. */
interface Place {
  readonly organization: Organization
  readonly projectId: number
  readonly siblingId: number
  readonly people: Readonly<Record<LevelName, User>>
}
let count = 0
const newPlace = async (): Promise<Place> => {
  const { world } = home
  const tag = ++count
  const organization = await world.makeOrganization({ name: `Place ${tag}`, owner: null, withProject: false })
  const project = await world.makeProject(organization.id, {})
  const sibling = await world.makeProject(organization.id, {})
  const people = {
    viewer: await world.user(`viewer${tag}@m.test`, organization.id, 'viewer'),
    member: await world.user(`member${tag}@m.test`, organization.id, 'member'),
    admin: await world.user(`admin${tag}@m.test`, organization.id, 'admin'),
    owner: await world.user(`owner${tag}@m.test`, organization.id, 'owner'),
  }
  return { organization, projectId: project.id, siblingId: sibling.id, people }
}

let shared: Promise<Place> | undefined
const placeFor = (row: Row): Promise<Place> => {
  if (row.method === 'DELETE' && row.reach.endsWith('record')) return newPlace()
  shared ??= newPlace()
  return shared
}
/** What is the same for many rows is made once. */
const held = new Map<string, Promise<unknown>>()
const same = <T>(name: string, make: () => Promise<T>): Promise<T> => {
  const found = (held.get(name) as Promise<T> | undefined) ?? make()
  held.set(name, found)
  return found
}
const keyOf = (user: User, given: object) =>
  same(`${user.id} ${JSON.stringify(given)}`, async () => (await home.world.makeKey(user, { label: 'test', ...given })).value)

const orgless = () => same('orgless', () => home.world.user('nowhere@m.test', null))
interface Sent {
  readonly project?: number
  readonly route?: string
  readonly headers?: Record<string, string>
}

const nowhere = '00000000-0000-7000-8000-000000000000'
const pathFor = (path: string, row: Row, at: Place, projectId = at.projectId) =>
  `${path.replace(/:(\w+)/g, (_, name: string) => {
    if (name === 'organization_id') return at.organization.id
    if (name === 'project_id') return String(projectId)
    if (name === 'id' && row.reach === 'organization record') return at.organization.id
    if (name === 'id' && row.reach === 'project record') return String(projectId)
    return name === 'uuid' ? '@me' : nowhere
  })}/`

const isAbout = (row: Row, what: string) => row.reach.startsWith(what)
const denied = (answer: Answer) => answer.status === 401 || answer.status === 403
const words = ({ status, body }: Answer) => `${status} ${body?.detail}`
/** What section of the contract a refusal belongs to; its field is never to blame. */
const kinds: Readonly<Record<number, readonly [type: string, codes: readonly string[]]>> = {
  401: ['authentication_error', ['not_authenticated', 'authentication_failed']],
  403: ['authentication_error', ['permission_denied']],
  404: ['invalid_request', ['not_found']],
  405: ['invalid_request', ['method_not_allowed']],
}
const mustBeWellFormed = ({ status, body, headers }: Answer, title: string) => {
  const kind = kinds[status]
  if (!kind) return
  expect([body.type, body.attr], title).toEqual([kind[0], null])
  expect(kind[1], title).toContain(body.code)
  if (status === 401)
    expect(headers.get('www-authenticate'), title).toMatch(
      /^Bearer( resource_metadata="[^"]+\/\.well-known\/oauth-protected-resource\/mcp")?$/,
    )
}
/** Paths without a project are about the caller's own one: rights.ts says what each caller meets there. */
const isOfCallersProject = (path: string) => routes.find((one) => one.path === path)!.resource.isOfCurrentProject
const rows = routes.flatMap(({ path, rows }) => [...rows.values()].map((row) => ({ title: `${row.method} ${path}`, path, row })))

test('names are unique, and every route of a project or an organization asks for one', () => {
  expect(new Set(rows.map(({ row }) => row.name)).size).toBe(rows.length)
  for (const { title, path, row } of rows) {
    if (path.includes(':organization_id')) expect(row.reach, title).toMatch(/^organization|^project record$/)
    if (path.includes(':project_id')) expect(row.reach, title).toBe('project')
  }
  expect(rows.filter(({ row }) => row.reach === 'open').map(({ path }) => path)).toEqual([
    '/.well-known/oauth-authorization-server',
    '/.well-known/oauth-protected-resource',
    '/.well-known/oauth-protected-resource/mcp',
    '/.well-known/openid-configuration',
    '/api/login',
    '/api/login',
    '/api/login/passkey',
    '/api/login/passkey/begin',
    '/api/login/precheck',
    '/api/login/token',
    '/api/login/token',
    '/api/login/token/passkey',
    '/api/logout',
    '/api/reset',
    '/api/reset/:uuid',
    '/api/reset/:uuid',
    '/api/session',
    '/api/setup',
    '/api/setup',
    '/api/signup/:secret',
    '/api/signup/:secret',
    '/api/viewer',
    '/api/viewer/dashboards/:id',
    '/api/viewer/insights/:id',
    '/api/viewer/insights/:id/people',
    '/api/viewer/query',
    '/embedded/:token',
    '/oauth/authorize',
    '/oauth/register',
    '/oauth/token',
    '/ofrep/v1/evaluate/flags',
    '/ofrep/v1/evaluate/flags/:key',
    '/oidc/:provider/callback',
    '/oidc/:provider/login',
    '/saml/:domain/acs',
    '/saml/:domain/continue',
    '/saml/:domain/login',
    '/saml/:domain/metadata',
    '/scim/v2/Groups',
    '/scim/v2/Groups',
    '/scim/v2/Groups/:id',
    '/scim/v2/Groups/:id',
    '/scim/v2/Groups/:id',
    '/scim/v2/Groups/:id',
    '/scim/v2/ResourceTypes',
    '/scim/v2/ResourceTypes/:id',
    '/scim/v2/Schemas',
    '/scim/v2/Schemas/:id',
    '/scim/v2/ServiceProviderConfig',
    '/scim/v2/Users',
    '/scim/v2/Users',
    '/scim/v2/Users/:id',
    '/scim/v2/Users/:id',
    '/scim/v2/Users/:id',
    '/scim/v2/Users/:id',
    '/shared/:token',
  ])
})

/** Values that are no keys, or no longer: made once for all rows. */
const deadKeys = () =>
  same('dead keys', async () => {
    const { accounts, makeKey, makeOrganization, user } = home.world
    const { id } = await makeOrganization({ name: 'Of the past', owner: null, withProject: true })
    const [owner, gone] = [await user('past@m.test', id, 'owner'), await user('gone@m.test', id, 'owner')]
    const [rolled, removed, idle] = [await keyOf(owner, {}), await makeKey(owner, { label: 'x' }), await keyOf(gone, {})]
    const cookie = await home.world.login(gone)
    const known = (await accounts.personalKeys.list(owner)).find(({ label }) => label === 'test')
    await accounts.personalKeys.roll(owner, known!)
    await accounts.personalKeys.remove(owner, removed)
    await accounts.context.store.write((tables) => tables.users.update({ id: gone.id }, { is_active: false }))
    return {
      values: {
        broken: 'phx_broken',
        "a project's key": home.project.api_token,
        rolled,
        removed: removed.value,
        'of a user who is gone': idle,
      },
      cookie,
    }
  })

/** Routes whose answer holds what other scopes are for. */
const scopesBesides: Readonly<Record<string, readonly Scope[]>> = { 'persons.everything': ['query:read', 'activity_log:read'] }

describe.each(rows.filter(({ row }) => row.reach !== 'open'))('$title', ({ path, row, title }) => {
  const send = async (as: User | string | null, at: Place, { project, route, headers }: Sent = {}) => {
    const answer = await home.call(row.method, route ?? pathFor(path, row, at, project), {
      as,
      headers,
      ...(isReading(row.method) || row.method === 'DELETE' ? {} : { body: {} }),
    })
    mustBeWellFormed(answer, title)
    return answer
  }

  test('nobody, and what is no key', async () => {
    const at = await placeFor(row)
    expect(words(await send(null, at))).toBe('401 Authentication credentials were not provided.')
    const elsewhere = `${pathFor(path, row, at)}?personal_api_key=phx_broken`
    expect(words(await send(null, at, { route: elsewhere }))).toBe('401 Personal API key found in request query string is invalid.')
  })

  // Keys are read in one route; one route of each kind will do.
  test.runIf(rows.find((one) => one.row.reach === row.reach)?.row === row)('what is no key any more', async () => {
    const at = await placeFor(row)
    const { values, cookie } = await deadKeys()
    for (const [name, value] of Object.entries(values))
      expect(words(await send(value, at)), name).toBe('401 Personal API key found in request Authorization header is invalid.')
    expect(words(await send(null, at, { headers: cookie })), 'a user who is gone').toBe('401 Authentication credentials were not provided.')
  })

  test('a login that is long ago', async () => {
    const at = await placeFor(row)
    const headers = await home.world.login(at.people.owner)
    home.world.now = new Date(Date.now() + 7 * 3_600_000)
    const answer = await send(null, at, { headers })
    home.world.now = null
    const old = '403 This action requires you to be recently authenticated.'
    if (row.needsRecentLogin) expect(words(answer)).toBe(old)
    else expect(words(answer)).not.toBe(old)
  })

  test('keys from before there were scopes may do anything', async () => {
    const at = await placeFor(row)
    // Who reads the mailbox, or holds the second factor, not who has a key.
    const isOfSessions =
      /^(?:domains\.(?:create|remove)_scim_token|users\.confirm_email|members\.reset_two_factor|two_factor\.(?!status)|passkeys\.(?!list))/.test(
        row.name,
      )
    expect(denied(await send(await keyOf(at.people.owner, { scopes: null }), at))).toBe(isOfSessions)
  })

  test('keys: scopes', async () => {
    const at = await placeFor(row)
    const key = (scopes: readonly string[]) => keyOf(at.people.owner, { scopes })
    if (row.scope === 'none') {
      expect(words(await send(await key(['*']), at))).toBe('403 This action does not support Personal API Key access')
      return
    }
    if (row.scope === 'any') return expect(denied(await send(await key(['query:read']), at))).toBe(false)
    const missing = `403 API key missing required scope '${row.scope}'`
    expect(words(await send(await key([row.scope === 'survey:read' ? 'webhook:write' : 'survey:write']), at))).toBe(missing)
    if (row.scope.endsWith(':write')) expect(words(await send(await key([row.scope.replace('write', 'read')]), at))).toBe(missing)
    const besides = scopesBesides[row.name] ?? []
    for (const one of besides)
      expect(words(await send(await key([row.scope, ...besides.filter((other) => other !== one)]), at))).toBe(
        `403 API key missing required scope '${one}'`,
      )
    expect(denied(await send(await key([row.scope.replace(/read$/, 'write') as Scope, ...besides]), at))).toBe(false)
  })

  test('keys: limits', async () => {
    if (isOfCallersProject(path)) return
    if (row.scope === 'none') return
    const at = await placeFor(row)
    const { otherOrganization, foreign } = await same(`other of ${at.organization.id}`, async () => {
      const made = await home.world.makeOrganization({ name: 'Other', owner: at.people.owner, withProject: true })
      return { otherOrganization: made, foreign: await home.world.makeProject(made.id, {}) }
    })
    const limited = (limits: object) => keyOf(at.people.owner, limits)
    const organizationKey = await send(await limited({ scoped_organizations: [otherOrganization.id] }), at)
    const projectKey = await send(await limited({ scoped_teams: [at.siblingId] }), at)
    expect(words(await send(await limited({ scoped_teams: [foreign.id] }), at)), 'of another organization').toBe(words(projectKey))
    const own = [{ scoped_organizations: [at.organization.id] }, ...(isAbout(row, 'project') ? [{ scoped_teams: [at.projectId] }] : [])]
    if (row.reach === 'user') {
      const outside = (what: string) => `403 API keys with scoped ${what}s are only supported on ${what}-based endpoints.`
      if (row.limitedKeys === 'any') expect(denied(projectKey)).toBe(false)
      else expect(words(projectKey)).toBe(outside('project'))
      if (row.limitedKeys === 'none') expect(words(organizationKey)).toBe(outside('organization'))
      else expect(denied(organizationKey)).toBe(false)
      return
    }
    if (row.method !== 'DELETE') for (const limits of own) expect(denied(await send(await limited(limits), at)), 'its own').toBe(false)
    expect(words(projectKey)).toBe(
      isAbout(row, 'project')
        ? `403 API key does not have access to the requested project: ID ${at.projectId}.`
        : '403 API keys with scoped projects are only supported on project-based endpoints.',
    )
    const isRecord = row.reach.endsWith('record')
    if (isRecord) expect(words(organizationKey)).toBe('404 Not found.')
    else expect(words(organizationKey)).toBe(`403 API key does not have access to the requested organization: ID ${at.organization.id}.`)
  })

  test('people of another organization', async () => {
    if (isOfCallersProject(path)) return
    if (row.reach === 'user') return
    const at = await placeFor(row)
    const answer = words(await send(home.outsider, at))
    if (path.includes(':organization_id') || row.reach === 'organization')
      expect(answer).toBe('403 You do not have permission to perform this action.')
    else expect(answer).toBe(row.reach.endsWith('record') ? '404 Not found.' : "403 You don't have access to the project.")
  })

  test('members whom a private project does not let in, and those of none', async () => {
    if (isOfCallersProject(path)) return
    const at = await placeFor(row)
    if (isAbout(row, 'project')) {
      const hidden = await same(`hidden of ${at.organization.id}`, () =>
        home.world.makeProject(at.organization.id, { access_control: true }),
      )
      const kept =
        row.reach === 'project' ? "403 You don't have access to the project." : "403 You don't have sufficient permissions in the project."
      expect(words(await send(at.people.member, at, { project: hidden.id }))).toBe(kept)
    }
    if (row.reach === 'user') return
    const nobody = await orgless()
    const current = path
      .replace(/:(organization_id|project_id)/g, '@current')
      .replace(/:id\b/, row.reach.endsWith('record') ? '@current' : nowhere)
      .replace(/:\w+/g, nowhere)
    const missing = path.includes(':organization_id')
      ? 'Organization not found.'
      : isAbout(row, 'project')
        ? 'Project not found.'
        : 'Current organization not found.'
    expect(words(await send(nobody, at, { route: `${current}/` }))).toBe(`404 ${missing}`)
  })

  test('a level that is too low', async () => {
    if (row.level === 'viewer' || row.reach === 'user') return
    const at = await placeFor(row)
    const tooLow = routes.find((one) => one.path === path)?.resource.tooLow ?? 'Your organization access level is insufficient.'
    const lower = row.level === 'member' ? at.people.viewer : at.people.member
    expect(words(await send(lower, at))).toBe(
      `403 ${isAbout(row, 'project') ? "You don't have sufficient permissions in the project." : tooLow}`,
    )
  })

  test('a method that is not there: strangers learn nothing, insiders do', async () => {
    const at = await placeFor(row)
    const taken = new Set(routes.find((one) => one.path === path)!.rows.keys())
    const method = ['PUT', 'DELETE', 'PATCH', 'POST', 'GET'].find((one) => !taken.has(one))!
    const path_ = pathFor(path, row, at)
    expect((await home.call(method, path_)).status).toBe(401)
    const { missing } = routes.find((one) => one.path === path)!.resource
    const expected = missing === null ? `405 Method "${method}" not allowed.` : `404 ${missing}`
    const headers = await home.world.login(at.people.owner) // an earlier one was ended by the routes that end sessions
    expect(words(await home.call(method, path_, { headers }))).toBe(expected)
  })
})
