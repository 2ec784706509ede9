import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createHandler } from '../../../src/doors/http/server/create-handler.ts'
import type { HostUser } from '../../../src/service/accounts/organizations/host-users.ts'
import type { Organization, User } from '../../../src/service/accounts/records.ts'
import { waysIn } from '../../../src/service/accounts/users/signing-in.ts'
import { Authenticator } from '../../harness/authenticator.ts'
import { files } from '../../harness/imports.ts'
import type { OpenIdProvider } from '../../harness/openid-provider.ts'
import { hasXmlsec, SamlProvider } from '../../harness/saml-provider.ts'
import { sessionOf } from '../../harness/session-of.ts'
import { ownIssuer, provenDomain, signOn, startProvider } from './openid.ts'
import { throughSaml } from './saml.ts'
import { Browser, password, type SignInPlace, startSignIn } from './signing-in.ts'

// Every way in, for every kind of user, with and without an organization that requires a second factor, and with and without a domain that requires an identity provider. A
// cell without an expectation fails.

let place: SignInPlace
let provider: OpenIdProvider
const samlProvider = hasXmlsec ? new SamlProvider() : null
beforeAll(async () => {
  provider = await startProvider()
  place = await startSignIn()
})
afterAll(async () => {
  await place.waymark.close()
  await provider.close()
  samlProvider?.close()
})

/** `in`: everything is open. `code, in`: after a code. `setup`: signed in, and only setting up a second factor is open. `refused`: with the code of the API. `own only`: the organization that owns the domain, not the other one. */
type Outcome = 'in' | 'code, in' | 'setup' | 'own only' | 'refused 2fa' | 'refused sso' | 'no way' | 'captured'
const kinds = ['without a factor', 'enrolled', 'with a recovery code', 'with a passkey', 'of the application'] as const
type Kind = (typeof kinds)[number]

/** Ways that begin something, and what exists before. */
const ways = [
  ...(Object.keys(waysIn) as (keyof typeof waysIn)[]),
  'password link',
  'invitation, signed in',
  'session from before',
  'personal API key',
  'project API key',
] as const
type WayName = (typeof ways)[number]

/** What the organization requires: of its members a second factor, and of addresses of its domain its identity provider. */
const enforcements = ['nothing', '2fa', 'sso', '2fa and sso'] as const
type Enforcement = (typeof enforcements)[number]

const all = (outcome: Outcome) => [outcome, outcome, outcome, outcome, outcome] as const
/** Of kinds with an account here. */
const own = (outcome: Outcome) => [outcome, outcome, outcome, outcome, 'no way'] as const
const onlyNew = (outcome: Outcome) => [outcome, 'no way', 'no way', 'no way', 'no way'] as const
const onlyPasskey = (outcome: Outcome) => ['no way', 'no way', 'no way', outcome, 'no way'] as const
const onlyApplication = (outcome: Outcome) => ['no way', 'no way', 'no way', 'no way', outcome] as const
const byCode = (outcome: Outcome) => [outcome, 'code, in', 'code, in', 'code, in', 'no way'] as const
const first = (outcome: Outcome) => [outcome, 'in', 'in', 'in', 'no way'] as const
type Row = readonly [Outcome, Outcome, Outcome, Outcome, Outcome]
/** In the order of `enforcements`, and of `kinds`. */
const expected: Readonly<Record<WayName, readonly [Row, Row, Row, Row]>> = {
  password: [byCode('in'), byCode('setup'), own('refused sso'), own('refused sso')],
  // It has verified the person: no code.
  passkey: [onlyPasskey('in'), onlyPasskey('in'), onlyPasskey('refused sso'), onlyPasskey('refused sso')],
  'password link': [byCode('in'), byCode('setup'), own('refused sso'), own('refused sso')],
  // A new account has no factor yet.
  invitation: [onlyNew('in'), onlyNew('setup'), onlyNew('refused sso'), onlyNew('refused sso')],
  // Signed in by the provider, where it is required. It does not speak for the other organization.
  'invitation, signed in': [own('in'), first('setup'), own('in'), first('own only')],
  setup: [onlyNew('in'), onlyNew('setup'), onlyNew('refused sso'), onlyNew('refused sso')],
  'session from before': [own('in'), first('setup'), own('no way'), own('no way')],
  application: [onlyApplication('in'), onlyApplication('in'), onlyApplication('in'), onlyApplication('in')],
  // The provider that is required asks for the factors that it wants. One that is only allowed does not.
  oidc: [byCode('in'), byCode('setup'), own('in'), own('in')],
  saml: [byCode('in'), byCode('setup'), own('in'), own('in')],
  'personal API key': [all('in'), ['refused 2fa', 'in', 'in', 'in', 'in'], all('in'), all('in')],
  'project API key': [all('captured'), all('captured'), all('captured'), all('captured')],
}

interface Cell {
  readonly organization: Organization
  readonly token: string
  readonly projectId: number
  readonly user: User
  readonly kind: Kind
  readonly enforcement: Enforcement
  /** The domain of the address. */
  readonly domain: string
  readonly proven: Awaited<ReturnType<typeof provenDomain>>
  readonly enrolled: { readonly secret: string; readonly recovery: string[] } | null
  readonly authenticator: Authenticator
}

let made = 0
const requiresSso = (enforcement: Enforcement) => enforcement === 'sso' || enforcement === '2fa and sso'
const requiresFactor = (enforcement: Enforcement) => enforcement === '2fa' || enforcement === '2fa and sso'
const cellFor = async (kind: Kind, enforcement: Enforcement): Promise<Cell> => {
  const { accounts } = place.waymark
  const organization = await accounts.createOrganization({ name: `Cell ${++made}` })
  const domain = `cell${made}.test`
  const project = (await accounts.context.store.read.projects.first({ organization_id: organization.id }))!
  const user =
    kind === 'of the application'
      ? (await accounts.hostUsers.enter(hostUserIn(organization)))!.user
      : await place.user(`user@${domain}`, [[organization, 'member']])
  const isEnrolled = kind === 'enrolled' || kind === 'with a recovery code'
  const enrolled = isEnrolled ? await place.enrol(user) : null
  const authenticator = new Authenticator()
  if (kind === 'with a passkey') {
    const browser = place.browser()
    await browser.login(user.email)
    const { body: options } = await browser.post('/api/users/@me/passkeys/begin/')
    expect((await browser.post('/api/users/@me/passkeys/', { name: 'x', passkey: authenticator.create(options) })).status).toBe(201)
  }
  await place.enforce(organization, requiresFactor(enforcement))
  const settings = { ...ownIssuer(provider), ...(requiresSso(enforcement) && { sso_enforcement: 'oidc' }) }
  const proven = await provenDomain(place, settings, domain, organization)
  return { organization, token: project.api_token, projectId: project.id, user, kind, enforcement, domain, proven, enrolled, authenticator }
}
const hostUserIn = ({ id }: Organization): HostUser => ({
  issuer: 'app',
  subject: `subject ${id}`,
  email: 'embedded@acme.test',
  organization: id,
  level: 'member',
})

/** What the browser may do, and that what it may not do is the same at every route. */
const outcomeOf = async (browser: Browser, { organization, projectId }: Cell): Promise<Outcome> => {
  const session = await browser.get('/api/session/')
  if (session.body.user === null) return 'no way'
  const paths = [
    `/api/projects/${projectId}/`,
    `/api/projects/${projectId}/insights/`,
    `/api/organizations/${organization.id}/members/`,
    `/api/organizations/@current/members/`,
    `/api/projects/@current/`,
    '/api/projects/',
    '/api/organizations/',
    '/api/users/@me/',
  ]
  const answers = await Promise.all(paths.map((path) => browser.get(path)))
  if (answers.every(({ status }) => status === 200)) {
    expect(session.body).toMatchObject({ must_set_up_2fa: false, requires_2fa: [] })
    return 'in'
  }
  for (const [i, answer] of answers.entries())
    expect([answer.status, answer.body.code], paths[i]).toEqual([403, 'two_factor_setup_required'])
  const written = await browser.post(`/api/projects/${projectId}/insights/`, { query: { kind: 'HogQLQuery', query: 'select 1' } })
  expect([written.status, written.body.code]).toEqual([403, 'two_factor_setup_required'])
  expect(session.body).toMatchObject({ must_set_up_2fa: true, requires_2fa: [{ id: organization.id }], projects: [] })
  expect(session.body.user).toMatchObject({ team: null, organization: null, organizations: [] })
  const record = await browser.get(`/api/organizations/${organization.id}/`)
  expect([record.status, record.body]).toMatchObject([200, { enforce_2fa: true, teams: [], projects: [] }])
  expect((await browser.get('/api/users/@me/two_factor_status/')).status).toBe(200)
  return 'setup'
}

/** Enters a code if one is asked for. */
const finished = async (browser: Browser, answer: Awaited<ReturnType<Browser['login']>>, cell: Cell): Promise<Outcome> => {
  if (answer.status === 200 || answer.status === 201) return outcomeOf(browser, cell)
  if (answer.body.code === 'sso_enforced') {
    expect(answer.status).toBe(400)
    expect(
      [...browser.cookies.keys()].filter((name) => name !== 'waymark_passkey'),
      'no rights',
    ).toEqual([])
    return 'refused sso'
  }
  if (answer.body.code !== '2fa_required') return 'no way'
  expect(answer.status).toBe(401)
  return withCode(browser, cell)
}
const withCode = async (browser: Browser, cell: Cell): Promise<Outcome> => {
  expect(browser.cookies.has('waymark_session'), 'no rights before the code').toBe(false)
  expect((await browser.get('/api/session/')).body.user).toBe(null)
  if (cell.kind === 'with a passkey') {
    const { body: options } = await browser.post('/api/login/token/passkey/')
    expect((await browser.post('/api/login/token/', { passkey: cell.authenticator.get(options) })).status).toBe(200)
    return `code, ${await outcomeOf(browser, cell)}` as Outcome
  }
  const { secret, recovery } = cell.enrolled!
  place.pass()
  const done = await browser.code(cell.kind === 'with a recovery code' ? recovery[0]! : place.code(secret))
  expect(done.status).toBe(200)
  return `code, ${await outcomeOf(browser, cell)}` as Outcome
}

const invited = async ({ user, domain }: Cell, to: Organization, isMember: boolean) => {
  const { accounts } = place.waymark
  const host = await place.user(`host${++made}@acme.test`, [[to, 'admin']])
  const by = { user: host, membership: (await accounts.organizations.membership(to.id, host))!, hidesSecrets: false }
  return accounts.invites.create(by, to, { target_email: isMember ? user.email : `new${made}@${domain}` })
}

const enter: { readonly [W in WayName]: (cell: Cell) => Promise<Outcome> } = {
  password: async (cell) => {
    const browser = place.browser()
    return finished(browser, await browser.login(cell.user.email), cell)
  },
  passkey: async (cell) => {
    if (cell.authenticator.credentials.length === 0) return 'no way'
    const browser = place.browser()
    const { body: options } = await browser.post('/api/login/passkey/begin/')
    return finished(browser, await browser.post('/api/login/passkey/', { passkey: cell.authenticator.get(options) }), cell)
  },
  'password link': async (cell) => {
    const browser = place.browser()
    const link = await place.waymark.accounts.passwordLinks.create(cell.user.email, undefined, true).catch(() => null)
    if (link === null) return 'no way'
    const [, uuid, token] = /#\/reset\/([^/]+)\/(.+)$/.exec(link.url)!
    const set = await browser.post(`/api/reset/${uuid}/`, { token, password: 'another password' })
    if (set.status !== 200) return finished(browser, set, cell)
    expect(browser.cookies.size, 'the link itself makes no session').toBe(0)
    return finished(browser, await browser.login(cell.user.email, {}, 'another password'), cell)
  },
  invitation: async (cell) => {
    if (cell.kind !== 'without a factor') return 'no way'
    const { secret } = await invited(cell, cell.organization, false)
    const browser = place.browser()
    return finished(browser, await browser.post(`/api/signup/${secret}/`, { first_name: 'New', password }), cell)
  },
  'invitation, signed in': async (cell) => {
    if (cell.kind === 'of the application') return 'no way'
    const browser = await signedIn(cell)
    // Into another organization, which requires what the first one does.
    const other = await place.waymark.accounts.createOrganization({ name: `Other ${++made}` })
    await place.enforce(other, (await place.waymark.accounts.organizations.byId(cell.organization.id))!.enforce_2fa === true)
    const { secret } = await invited(cell, other, true)
    const before = browser.cookies.get('waymark_session')?.value
    expect((await browser.post(`/api/signup/${secret}/`)).status).toBe(201)
    expect(browser.cookies.get('waymark_session')?.value, 'no other session').toBe(before)
    const { body } = await browser.get('/api/session/')
    if (body.must_set_up_2fa) return 'setup'
    expect((await browser.get(`/api/organizations/${cell.organization.id}/members/`)).status).toBe(200)
    const there = await browser.get(`/api/organizations/${other.id}/members/`)
    if (there.body.code === 'two_factor_setup_required') return 'own only'
    expect(there.status).toBe(200)
    return 'in'
  },
  setup: async (cell) => {
    if (cell.kind !== 'without a factor') return 'no way'
    const fresh = await startSignIn()
    const { organization, project } = await fresh.waymark.accounts.firstStart({})
    await fresh.enforce(organization, (await place.waymark.accounts.organizations.byId(cell.organization.id))!.enforce_2fa === true)
    await fresh.waymark.accounts.firstOwner.allow('the secret')
    const settings = requiresSso(cell.enforcement) ? { ...ownIssuer(provider), sso_enforcement: 'oidc' } : {}
    await provenDomain(fresh, settings, 'acme.test', organization)
    const browser = fresh.browser()
    const body = { secret: 'the secret', email: 'owner@acme.test', first_name: 'Owner', password }
    const outcome = await finished(browser, await browser.post('/api/setup/', body), { ...cell, organization, projectId: project.id })
    await fresh.waymark.close()
    return outcome
  },
  'session from before': async (cell) => {
    if (cell.kind === 'of the application') return 'no way'
    return outcomeOf(await signedBefore(cell), cell)
  },
  oidc: async (cell) => {
    if (cell.kind === 'of the application') return 'no way'
    const browser = place.browser()
    const { page } = await throughProvider(browser, cell)
    return page === '/second-factor' ? withCode(browser, cell) : outcomeOf(browser, cell)
  },
  saml: async (cell) => {
    if (cell.kind === 'of the application') return 'no way'
    const { admin, domain } = cell.proven
    await place.waymark.accounts.domains.update(admin, domain, {
      ...samlProvider!.settings,
      ...(requiresSso(cell.enforcement) && { sso_enforcement: 'saml' }),
    })
    const browser = place.browser()
    const { page } = await throughSaml(browser, samlProvider!, cell.domain, place.now, cell.user.email)
    return page === '/second-factor' ? withCode(browser, cell) : outcomeOf(browser, cell)
  },
  application: async (cell) => {
    const authenticate = async () => (cell.kind === 'of the application' ? hostUserIn(cell.organization) : null)
    return outcomeOf(new Browser(createHandler(place.waymark, { authenticate })), cell)
  },
  'personal API key': async (cell) => {
    const { value } = await place.waymark.accounts.personalKeys.create(cell.user, { label: 'x', scopes: ['*'] })
    const browser = place.browser()
    const paths = [`/api/projects/${cell.projectId}/`, `/api/organizations/${cell.organization.id}/`, '/api/projects/', '/api/users/@me/']
    const headers = { authorization: `Bearer ${value}` }
    const answers = await Promise.all(
      paths.flatMap((path) => [browser.get(path, { headers }), browser.get(`${path}?personal_api_key=${value}`)]),
    )
    if (answers.every(({ status }) => status === 200)) return 'in'
    for (const { status, body } of answers) expect([status, body.code]).toEqual([403, 'two_factor_setup_required'])
    return 'refused 2fa'
  },
  'project API key': async (cell) => {
    const body = { api_key: cell.token, batch: [{ event: 'seen', distinct_id: 'u', properties: {} }] }
    expect((await place.browser().post('/batch/', body)).status).toBe(200)
    return 'captured'
  },
}
const throughProvider = (browser: Browser, { user, domain }: Cell) => {
  provider.person = { sub: user.uuid, email: user.email }
  return signOn(browser, `/oidc/${domain}/login`)
}
const signedIn = async (cell: Cell): Promise<Browser> => {
  if (!requiresSso(cell.enforcement)) return signedBefore(cell)
  const browser = place.browser()
  await throughProvider(browser, cell)
  return browser
}
/** A session that began before, past its way in. */
const signedBefore = async ({ user }: Cell): Promise<Browser> => {
  const browser = place.browser()
  browser.cookies.set('waymark_session', { value: await sessionOf(place.waymark.accounts, user), path: '/' })
  return browser
}

describe.each(ways.filter((way) => way !== 'saml' || hasXmlsec))('%s', (way) => {
  for (const [i, enforcement] of enforcements.entries())
    test.each(kinds.map((kind, at) => [kind, expected[way][i]![at]!] as const))(
      `${enforcement} required, %s: %s`,
      async (kind, outcome) => {
        expect(await enter[way](await cellFor(kind, enforcement))).toBe(outcome)
      },
    )
})

test('sessions are made in one place', () => {
  const mentioning = (text: RegExp) =>
    files.filter((file) => text.test(readFileSync(new URL(`../../../src/${file}`, import.meta.url), 'utf8')))
  expect(mentioning(/tables\.sessions\.insert/)).toEqual(['service/accounts/users/sessions.ts'])
  expect(mentioning(/startSession\(/)).toEqual(['service/accounts/users/sessions.ts', 'service/accounts/users/signing-in.ts'])
  expect(mentioning(/signingIn\.enter\(|signingIn\.finish\(|signingIn\.visit\(/).toSorted()).toEqual([
    'doors/http/access/host-sign-in.ts',
    'doors/http/access/session-cookies.ts',
    'doors/http/resources/login.ts',
  ])
})
