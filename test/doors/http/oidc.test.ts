import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { newKey, type OpenIdProvider, type Token } from '../../harness/openid-provider.ts'
import { clientOf, follow, goToProvider, ownIssuer, pageOf, provenDomain, signOn, startProvider } from './openid.ts'
import { password, type SignInPlace, startSignIn } from './signing-in.ts'

let place: SignInPlace
let provider: OpenIdProvider
/** Another issuer that the same server knows. */
let other: OpenIdProvider
const reports: string[] = []
beforeAll(async () => {
  ;[provider, other] = await Promise.all([startProvider(), startProvider()])
  place = await startSignIn({
    surroundings: { report: (message, error) => reports.push(`${message}: ${(error as Error).message}`) },
    singleSignOn: {
      providers: {
        google: clientOf(provider),
        github: clientOf(provider),
        acme: clientOf(provider, { name: 'Acme' }),
        other: clientOf(other),
      },
    },
  })
})
afterAll(async () => {
  await place.waymark.close()
  await Promise.all([provider.close(), other.close()])
})
afterEach(() => {
  provider.reset()
  other.reset()
  reports.length = 0
})

const user = (email: string) => place.waymark.accounts.users.byEmail(email)
let made = 0
/** A user with a proven address, whom the provider means. */
const known = async (email = `user${++made}@people.test`) => {
  const { accounts } = place.waymark
  const organization = await accounts.createOrganization({ name: `Of ${email}` })
  const one = await place.user(email, [[organization, 'member']])
  provider.person = { sub: `sub ${email}`, email, email_verified: true, name: 'Ada Lovelace' }
  return { user: one, organization }
}
const whoIs = async (browser: ReturnType<SignInPlace['browser']>) => (await browser.get('/api/session/')).body.user?.email ?? null

describe('signing in', () => {
  test('with PKCE, state and nonce; the session is in the cookie', async () => {
    const { user: one, organization } = await known()
    const browser = place.browser()
    expect(await signOn(browser, '/oidc/acme/login?next=/project/1/insights')).toMatchObject({
      origin: 'http://localhost/',
      page: '/project/1/insights',
    })
    expect(await whoIs(browser)).toBe(one.email)
    const asked = provider.seen.findLast(({ path }) => path === '/authorize')!.search
    expect(Object.fromEntries(asked)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      scope: 'openid email profile',
      redirect_uri: 'http://localhost/oidc/acme/callback',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    })
    expect([...browser.cookies.keys()].toSorted()).toEqual(['waymark_device', 'waymark_session'])
    expect((await user(one.email))!.has_social_login).toBe(true)
    expect(await place.logged(one, organization)).toEqual(['identity_linked', 'signed_in'])
    const { body: me } = await browser.get('/api/users/@me/')
    expect(me).toMatchObject({ has_social_auth: true })
  })

  test('the subject finds the account from then on, whatever address it has there', async () => {
    const { user: one } = await known()
    expect((await signOn(place.browser(), '/oidc/acme/login')).page).toBe('/')
    const { user: another } = await known()
    provider.person = { sub: `sub ${one.email}`, email: another.email, email_verified: false }
    const browser = place.browser()
    await signOn(browser, '/oidc/acme/login')
    expect(await whoIs(browser)).toBe(one.email)
  })

  test('an address that another person has now does not find the account', async () => {
    const { user: one } = await known()
    await signOn(place.browser(), '/oidc/acme/login')
    provider.person = { ...provider.person, sub: 'somebody else' }
    expect(await signOn(place.browser(), '/oidc/acme/login')).toMatchObject({ page: '/sign-in', problem: 'other_identity' })
    expect(await place.waymark.accounts.identities.unlink(one)).toBe(1)
    expect((await user(one.email))!.has_social_login).toBe(false)
    const browser = place.browser()
    await signOn(browser, '/oidc/acme/login')
    expect(await whoIs(browser)).toBe(one.email)
  })

  test('GitHub: the verified primary address of its API, and the number of the account', async () => {
    const { user: one } = await known()
    provider.person = { sub: '4711', name: 'Ada Lovelace' }
    provider.emails = [
      { email: 'written-down@people.test', primary: false, verified: false },
      { email: one.email, primary: true, verified: true },
    ]
    const browser = place.browser()
    await signOn(browser, '/oidc/github/login')
    expect(await whoIs(browser)).toBe(one.email)
    const { read } = place.waymark.accounts.context.store
    expect(await read.identities.first({ user_id: one.id })).toMatchObject({ provider: 'github', subject: '4711' })
    const { user: victim } = await known()
    provider.person = { sub: '4712' }
    for (const emails of [
      [{ email: victim.email, primary: true, verified: false }],
      [{ email: victim.email, primary: false, verified: true }],
      {},
    ]) {
      provider.emails = emails
      expect((await signOn(place.browser(), '/oidc/github/login')).page).toBe('/sign-in')
    }
  })

  test('an account with a second factor asks for its code', async () => {
    const { user: one } = await known()
    const { secret } = await place.enrol(one)
    const browser = place.browser()
    expect((await signOn(browser, '/oidc/acme/login')).page).toBe('/second-factor')
    expect([...browser.cookies.keys()]).toEqual(['waymark_login'])
    expect((await browser.code(place.code(secret))).status).toBe(200)
    expect(await whoIs(browser)).toBe(one.email)
  })

  test('a session that the browser had ends, and the new one has another token', async () => {
    const { user: one } = await known()
    const browser = place.browser()
    await browser.login(one.email)
    const before = browser.cookies.get('waymark_session')!.value
    await signOn(browser, '/oidc/acme/login')
    expect(browser.cookies.get('waymark_session')!.value).not.toBe(before)
    const old = place.browser()
    old.cookies.set('waymark_session', { value: before, path: '/' })
    expect(await whoIs(old)).toBe(null)
  })

  test('a deactivated account stays out, by its address and by its subject', async () => {
    const { user: one } = await known()
    await signOn(place.browser(), '/oidc/acme/login')
    await place.waymark.accounts.context.store.write((tables) => tables.users.update({ id: one.id }, { is_active: false }))
    expect(await signOn(place.browser(), '/oidc/acme/login')).toMatchObject({ problem: 'account_inactive' })
    expect(await signOn(place.browser(), '/oidc/google-oauth2/login')).toMatchObject({ problem: 'account_inactive' })
  })

  test.each([
    ['not verified', { email_verified: false }, 'email_not_verified'],
    ['verified as text', { email_verified: 'true' }, 'email_not_verified'],
    ['not said to be verified', { email_verified: undefined }, 'email_not_verified'],
    ['no address', { email: undefined }, 'no_address'],
    ['not an address', { email: 'ada' }, 'no_address'],
    ['unknown', { email: 'nobody@people.test' }, 'no_account'],
  ])('an address that is %s', async (_, change, problem) => {
    await known()
    provider.person = { ...provider.person, ...change }
    const browser = place.browser()
    expect(await signOn(browser, '/oidc/acme/login')).toMatchObject({ page: '/sign-in', problem })
    expect(browser.cookies.size).toBe(0)
  })

  test('keys of the issuer may change', async () => {
    const rotating = await startProvider()
    const server = await startSignIn({ singleSignOn: { providers: { rotating: clientOf(rotating) } } })
    const one = await server.user(rotating.person.email!, [[await server.waymark.accounts.createOrganization({ name: 'x' }), 'member']])
    await signOn(server.browser(), '/oidc/rotating/login')
    rotating.keys = [newKey('second')]
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 }) // keys that are younger than a minute are not asked for again
    const browser = server.browser()
    await signOn(browser, '/oidc/rotating/login')
    vi.useRealTimers()
    expect(await whoIs(browser)).toBe(one.email)
    await server.waymark.close()
    await rotating.close()
  })
})

describe('forged tokens', () => {
  const forged: readonly [string, () => void][] = [
    ['wrong signature', () => (provider.signToken = (token) => provider.rs256(token, newKey('first')))],
    ['a key that the issuer does not have', () => (provider.signToken = (token) => provider.rs256(token, newKey('mine')))],
    ['alg none', () => (provider.signToken = provider.unsigned)],
    [
      'alg None',
      () =>
        (provider.signToken = (token) => provider.unsigned(token).replace(/^[^.]+/, Buffer.from('{"alg":"None"}').toString('base64url'))),
    ],
    ['HS256 with the public key', () => (provider.signToken = (token) => provider.hs256(token, provider.publicPem))],
    ['HS256 with the secret of the client', () => (provider.signToken = (token) => provider.hs256(token, provider.clientSecret))],
    ['a key in the header', () => (provider.signToken = (token) => withOwnKey(token))],
    ['changed after it was signed', () => (provider.signToken = (token) => changed(provider.rs256(token)))],
    ['wrong audience', () => (provider.forge = claiming({ aud: 'another client' }))],
    [
      'several audiences, for another party',
      () => (provider.forge = claiming({ aud: ['waymark', 'another client'], azp: 'another client' })),
    ],
    ['wrong issuer', () => (provider.forge = claiming({ iss: 'https://accounts.google.com' }))],
    ['expired', () => (provider.forge = claiming({ exp: Math.floor(Date.now() / 1000) - 60 }))],
    ['not yet valid', () => (provider.forge = claiming({ nbf: Math.floor(Date.now() / 1000) + 120 }))],
    ['without an end', () => (provider.forge = claiming({ exp: undefined }))],
    ['wrong nonce', () => (provider.forge = claiming({ nonce: 'another one' }))],
    ['missing nonce', () => (provider.forge = claiming({ nonce: undefined }))],
    ['missing subject', () => (provider.forge = claiming({ sub: undefined }))],
    ['no id token', () => (provider.tokens = (answer) => delete answer.id_token)],
    ['not a token', () => (provider.tokens = (answer) => (answer.id_token = 'a.b'))],
  ]
  const claiming = (change: object) => (token: Token) => ({ ...token, claims: { ...token.claims, ...change } })
  const withOwnKey = (token: Token) => {
    const mine = newKey('mine')
    return provider.rs256({ ...token, header: { jwk: mine.publicKey.export({ format: 'jwk' }) } }, mine)
  }
  const changed = (token: string) => {
    const [header, claims, signature] = token.split('.')
    const read = JSON.parse(Buffer.from(claims!, 'base64url').toString())
    return `${header}.${Buffer.from(JSON.stringify({ ...read, sub: 'another' })).toString('base64url')}.${signature}`
  }
  test.each(forged)('%s', async (_, forge) => {
    await known()
    forge()
    const browser = place.browser()
    expect(await signOn(browser, '/oidc/acme/login')).toMatchObject({ page: '/sign-in', problem: 'not_valid', provider: 'acme' })
    expect(browser.cookies.size).toBe(0)
    expect(reports, 'the operator can see why').toEqual([expect.stringMatching(/^Single sign-on with acme failed: .+/)])
  })

  test('the address of a person whom the token does not mean', async () => {
    const { user: one } = await known()
    const { email, ...rest } = provider.person
    provider.person = rest as typeof provider.person // so the issuer is asked for it
    provider.forge = (token) => ({ ...token, claims: { ...token.claims, sub: 'the attacker' } })
    expect(await signOn(place.browser(), '/oidc/acme/login')).toMatchObject({ problem: 'not_valid' })
    provider.reset()
    expect(email).toBe(one.email)
  })
})

describe('the way back', () => {
  test('only the browser that began it, only once, and only for ten minutes', async () => {
    const { user: one } = await known()
    const browser = place.browser()
    const back = await goToProvider(browser, '/oidc/acme/login')
    const victim = place.browser()
    expect(pageOf(await follow(victim, back)), 'login CSRF').toMatchObject({ page: '/sign-in', problem: 'other_browser' })
    await goToProvider(victim, '/oidc/acme/login')
    expect(pageOf(await follow(victim, back)), 'with a login of its own').toMatchObject({ problem: 'other_browser' })
    expect(await whoIs(victim)).toBe(null)

    const again = await goToProvider(browser, '/oidc/acme/login')
    const cookie = browser.cookies.get('waymark_sso')!
    expect(pageOf(await follow(browser, again)).page).toBe('/')
    expect(pageOf(await follow(browser, again)), 'the cookie is gone').toMatchObject({ problem: 'other_browser' })
    browser.cookies.set('waymark_sso', cookie)
    expect(pageOf(await follow(browser, again)), 'the code is used up').toMatchObject({ problem: 'not_valid' })
    expect(await whoIs(browser), 'who is signed in stays so').toBe(one.email)

    const late = place.browser()
    const tooLate = await goToProvider(late, '/oidc/acme/login')
    place.pass(600_001)
    expect(pageOf(await follow(late, tooLate))).toMatchObject({ problem: 'other_browser' })
  })

  test.each([
    ['missing state', (to: URL) => to.searchParams.delete('state')],
    ['wrong state', (to: URL) => to.searchParams.set('state', 'another')],
    ['two states', (to: URL) => to.searchParams.append('state', 'another')],
    ['missing code', (to: URL) => to.searchParams.delete('code')],
    ['another code', (to: URL) => to.searchParams.set('code', 'guessed')],
    ['the answer of another issuer', (to: URL) => to.searchParams.set('iss', 'https://else.test')],
  ])('%s', async (_, change) => {
    await known()
    provider.reply = change
    const browser = place.browser()
    expect((await signOn(browser, '/oidc/acme/login')).page).toBe('/sign-in')
    expect(browser.cookies.size).toBe(0)
  })

  test('the answer of one provider is not taken for that of another', async () => {
    await known()
    const browser = place.browser()
    const back = await goToProvider(browser, '/oidc/acme/login')
    expect(pageOf(await follow(browser, back.replace('/oidc/acme/', '/oidc/other/')))).toMatchObject({ problem: 'other_browser' })
    expect(
      other.seen.filter(({ path }) => path === '/token'),
      'it gets no code',
    ).toEqual([])
  })

  test('a cookie of another server, or made by hand', async () => {
    await known()
    const browser = place.browser()
    const back = await goToProvider(browser, '/oidc/acme/login')
    const { value } = browser.cookies.get('waymark_sso')!
    for (const forged of [`${value.slice(0, -6)}AAAA==`, 'v1.00000000.AAAA', '{}', '']) {
      browser.cookies.set('waymark_sso', { value: forged, path: '/' })
      expect(pageOf(await follow(browser, back))).toMatchObject({ problem: 'other_browser' })
    }
  })

  test.each([
    ['access_denied', 'cancelled'],
    ['server_error', 'provider_error'],
    ['<script>', 'provider_error'],
  ])('the provider answers %s', async (error, problem) => {
    await known()
    provider.reply = (to) => {
      to.searchParams.delete('code')
      to.searchParams.set('error', error)
      to.searchParams.set('error_description', 'Call 0900 123')
    }
    const page = await signOn(place.browser(), '/oidc/acme/login')
    expect(page).toEqual({ origin: 'http://localhost/', page: '/sign-in', problem, provider: 'acme' })
  })

  test.each(['https://evil.test/', '//evil.test/', '/\\evil.test', 'javascript:alert(1)', '/a\r\nset-cookie: x=y', `/${'a'.repeat(600)}`])(
    'a page to show then, %j, does not lead elsewhere',
    async (next) => {
      await known()
      expect(await signOn(place.browser(), `/oidc/acme/login?next=${encodeURIComponent(next)}`)).toEqual({
        origin: 'http://localhost/',
        page: '/',
      })
    },
  )

  test('issuers that are not there, and providers that nobody has set up', async () => {
    const quick = await startProvider()
    const gone = await startSignIn({ singleSignOn: { providers: { gone: clientOf(quick) } } })
    await quick.close()
    expect(pageOf(await goToProvider(gone.browser(), '/oidc/gone/login'))).toMatchObject({ problem: 'not_reachable', provider: 'gone' })
    await gone.waymark.close()
    for (const name of ['gitlab', 'unknown.test', 'constructor', '..%2f', '%00'])
      expect(pageOf(await goToProvider(place.browser(), `/oidc/${name}/login`))).toMatchObject({ problem: 'unknown_provider' })
  })

  test('an issuer that calls itself otherwise is not asked', async () => {
    const strange = await startProvider()
    strange.metadata = (answer) => (answer.issuer = 'https://accounts.google.com')
    const server = await startSignIn({ singleSignOn: { providers: { strange: clientOf(strange) } } })
    expect(pageOf(await goToProvider(server.browser(), '/oidc/strange/login'))).toMatchObject({ problem: 'not_reachable' })
    await server.waymark.close()
    await strange.close()
  })

  test('too many failures of one network have to wait', async () => {
    const browser = place.browser('203.0.113.77')
    const problems = new Set<string>()
    for (let i = 0; i < 62; i++)
      problems.add((pageOf(await follow(browser, 'http://localhost/oidc/acme/callback?state=x')) as never as { problem: string }).problem)
    expect([...problems]).toEqual(['other_browser', 'throttled'])
    await known()
    expect((await signOn(place.browser('203.0.114.1'), '/oidc/acme/login')).page, 'others do not').toBe('/')
  })
})

test('a wrong user and a wrong password cost one password hash each, whatever the account has; a required provider costs none', async () => {
  const matches = vi.spyOn(place.waymark.accounts.context.passwords, 'matches')
  const { user: one } = await known()
  const { user: inactive } = await known()
  const { user: without } = await known()
  const { store } = place.waymark.accounts.context
  await store.write(async (tables) => {
    await tables.users.update({ id: inactive.id }, { is_active: false })
    await tables.users.update({ id: without.id }, { password_hash: null })
  })
  const { name } = await provenDomain(place, { ...ownIssuer(provider), sso_enforcement: 'oidc' })
  await known(`ada@${name}`)
  const hashes = async (email: string) => {
    const before = matches.mock.calls.length
    const { body } = await place.browser().login(email, {}, 'not the password')
    return [body.code, matches.mock.calls.length - before]
  }
  for (const email of [one.email, inactive.email, without.email, 'nobody@people.test'])
    expect(await hashes(email), email).toEqual(['invalid_credentials', 1])
  for (const email of [`ada@${name}`, `nobody@${name}`]) expect(await hashes(email), email).toEqual(['sso_enforced', 0])
  matches.mockRestore()
})

describe('addresses that nobody has proven', () => {
  const unproven = async (email: string) => {
    const { accounts } = place.waymark
    const { user: one, organization } = await known(email)
    await accounts.context.store.write((tables) =>
      tables.users.update({ id: one.id }, { is_email_verified: false, unproven_since: place.now }),
    )
    const { value } = await accounts.personalKeys.create(one, { label: 'x', scopes: ['*'] })
    const attacker = place.browser()
    expect((await attacker.login(email)).status).toBe(200)
    return { one, organization, attacker, key: { headers: { authorization: `Bearer ${value}` } } }
  }

  test('the account of somebody who was there first has nothing of theirs when its owner comes', async () => {
    const { one, organization, attacker, key } = await unproven('early@people.test')
    const owner = place.browser()
    await signOn(owner, '/oidc/acme/login')
    expect(await whoIs(owner)).toBe(one.email)
    expect(await whoIs(attacker), 'its session').toBe(null)
    expect((await attacker.get('/api/users/@me/', key)).status, 'its key').toBe(401)
    expect((await attacker.login(one.email)).status, 'its password').toBe(400)
    const { read } = place.waymark.accounts.context.store
    expect(await read.memberships.count({ user_id: one.id }), 'its memberships').toBe(0)
    expect((await user(one.email))!.is_email_verified).toBe(true)
    expect(await place.logged(one, organization)).toContain('address_proven')
  })

  test('whoever is signed in to it in the same browser keeps everything', async () => {
    const { one, attacker: same, key } = await unproven('same@people.test')
    await signOn(same, '/oidc/acme/login')
    expect(await whoIs(same)).toBe(one.email)
    expect((await same.get('/api/users/@me/', key)).status).toBe(200)
    expect((await place.browser().login(one.email)).status, 'the password too').toBe(200)
  })
})

describe('the issuer of an organization', () => {
  test('signs in users with addresses of its domain only', async () => {
    const { name } = await provenDomain(place, ownIssuer(provider))
    const { user: one } = await known(`ada@${name}`)
    provider.person = { sub: 's1', email: `ADA@${name}` } // it does not say that the address is verified
    const browser = place.browser()
    expect((await signOn(browser, `/oidc/${name}/login`)).page).toBe('/')
    expect(await whoIs(browser)).toBe(one.email)

    const { user: victim } = await known('victim@else.test')
    for (const email of [victim.email, `victim@sub.${name}`, `victim@else.test,x@${name}`, `"victim@else.test"@${name}`]) {
      provider.person = { sub: 's2', email, email_verified: true }
      const { page } = await signOn(place.browser(), `/oidc/${name}/login`)
      expect(page, email).toBe('/sign-in')
    }
    provider.person = { sub: 's3', email: `ada@${name}`, email_verified: false }
    expect(await signOn(place.browser(), `/oidc/${name}/login`)).toMatchObject({ page: '/sign-in' })
  })

  test('does not sign in a user whom it has linked, and who has another address now', async () => {
    const { name } = await provenDomain(place, ownIssuer(provider))
    const { user: one } = await known(`ada@${name}`)
    await signOn(place.browser(), `/oidc/${name}/login`)
    await place.waymark.accounts.context.store.write((tables) => tables.users.update({ id: one.id }, { email: `ada@home${name}` }))
    expect(await signOn(place.browser(), `/oidc/${name}/login`)).toMatchObject({ problem: 'wrong_domain' })
  })

  test('counts only while the domain is proven, and its secret is not shown', async () => {
    const { name, domain, admin } = await provenDomain(place, ownIssuer(provider))
    await known(`ada@${name}`)
    const { store } = place.waymark.accounts.context
    const browser = place.browser()
    const back = await goToProvider(browser, `/oidc/${name}/login`)
    await store.write((tables) => tables.domains.update({ id: domain.id }, { verified_at: null }))
    expect(pageOf(await follow(browser, back))).toMatchObject({ problem: 'unknown_provider' })
    expect(pageOf(await goToProvider(browser, `/oidc/${name}/login`))).toMatchObject({ problem: 'unknown_provider' })
    await browser.login(admin.user.email)
    const { body } = await browser.get(`/api/organizations/${domain.organization_id}/domains/${domain.id}/`)
    expect(body).toMatchObject({ has_oidc: true, oidc_issuer: provider.issuer, has_oidc_client_secret: true, not_enforced: ['oidc'] })
    expect(JSON.stringify(body)).not.toContain(provider.clientSecret)
    expect((await store.read.domains.first({ id: domain.id }))!.oidc_client_secret).toMatch(/^v1\./)
    const log = await store.read.activity.find({ item_id: domain.id })
    expect(JSON.stringify(log)).not.toContain(provider.clientSecret)
    expect(JSON.stringify(log)).toContain('masked')
    const path = `/api/organizations/${domain.organization_id}/domains/${domain.id}/`
    const moved = await browser.send('PATCH', path, { oidc_issuer: 'https://evil.test' })
    expect(moved.body, 'a secret does not go to another issuer').toMatchObject({ has_oidc_client_secret: false })
    for (const oidc_issuer of ['http://issuer.test', 'https://a:b@issuer.test', 'https://issuer.test?x', 'ftp://issuer.test', 'x'])
      expect((await browser.send('PATCH', path, { oidc_issuer })).body).toMatchObject({ attr: 'oidc_issuer' })
  })

  test('may not be in a network of the server, if the server is hosted', async () => {
    const hosted = await startSignIn({ singleSignOn: { allowsPrivateAddresses: false } })
    const { name } = await provenDomain(hosted, ownIssuer(provider))
    const before = provider.seen.length
    expect(pageOf(await goToProvider(hosted.browser(), `/oidc/${name}/login`))).toMatchObject({ problem: 'not_reachable' })
    expect(provider.seen).toHaveLength(before)
    await hosted.waymark.close()
  })
})

describe('who joins by the domain', () => {
  test('new and present users become members at the lowest level, if the domain says so', async () => {
    const { name, organization, domain, admin } = await provenDomain(place, ownIssuer(provider))
    provider.person = { sub: 'new', email: `new@${name}`, name: 'New Person' }
    expect(await signOn(place.browser(), `/oidc/${name}/login`)).toMatchObject({ problem: 'no_account' })
    await place.waymark.accounts.domains.update(admin, domain, { jit_provisioning_enabled: true })
    const browser = place.browser()
    expect((await signOn(browser, `/oidc/${name}/login`)).page).toBe('/')
    const { body } = await browser.get('/api/users/@me/')
    expect(body).toMatchObject({
      email: `new@${name}`,
      first_name: 'New',
      last_name: 'Person',
      has_password: false,
      organization: { id: organization.id },
    })
    expect((await browser.get(`/api/organizations/${organization.id}/`)).body).toMatchObject({ membership_level: 0 })
    const { user: present } = await known(`present@${name}`)
    await signOn(place.browser(), `/oidc/${name}/login`)
    expect(await place.waymark.accounts.organizations.membership(organization.id, present)).toMatchObject({ level: 0 })
    const { read } = place.waymark.accounts.context.store
    const joined = (await read.activity.find({ organization_id: organization.id, activity: 'joined' })).map(({ detail }) => detail)
    expect(joined).toMatchObject([
      { name: `new@${name}`, from: { address: '198.51.100.1', user_agent: 'Browser of a test' } },
      { name: `present@${name}` },
    ])
  })

  test('not by an address that the domain never gave: Google without a Workspace, GitHub, another issuer', async () => {
    const { name, organization } = await provenDomain(place, { jit_provisioning_enabled: true })
    const { user: left } = await known(`left@${name}`)
    for (const key of ['google-oauth2', 'acme']) await signOn(place.browser(), `/oidc/${key}/login`)
    provider.person = { sub: '815', name: 'x' }
    provider.emails = [{ email: left.email, primary: true, verified: true }]
    await signOn(place.browser(), '/oidc/github/login')
    expect(await place.waymark.accounts.organizations.membership(organization.id, left)).toBe(undefined)
    provider.reset()
    provider.person = { sub: 'w', email: `works@${name}`, email_verified: true, hd: name }
    const browser = place.browser()
    await signOn(browser, '/oidc/google-oauth2/login')
    expect(await whoIs(browser), 'Google, with the Workspace of the domain').toBe(`works@${name}`)
  })
})

describe('invitations', () => {
  const invite = async (email: string) => {
    const { accounts } = place.waymark
    const organization = await accounts.createOrganization({ name: `Inviting ${email}` })
    const host = await place.user(`host of ${email}`.replaceAll(/[ @]/g, '-').concat('@people.test'), [[organization, 'admin']])
    const by = { user: host, membership: (await accounts.organizations.membership(organization.id, host))!, hidesSecrets: false }
    const { secret } = await accounts.invites.create(by, organization, { target_email: email, level: 8 })
    return { organization, secret: secret!, path: `/api/signup/${secret}/` }
  }

  test('a new user accepts one through a provider, with the level that it gives', async () => {
    const { organization, secret, path } = await invite('invited@people.test')
    const browser = place.browser()
    expect((await browser.get(path)).body).toMatchObject({
      sso_enforcement: null,
      providers: [{ id: 'google-oauth2' }, { id: 'github' }, { id: 'acme', name: 'Acme' }, {}],
    })
    provider.person = { sub: 'wrong person', email: 'else@people.test', email_verified: true }
    expect(await signOn(place.browser(), `/oidc/acme/login?invite=${secret}`)).toMatchObject({ problem: 'invalid_recipient' })
    expect(await user('else@people.test')).toBe(undefined)
    provider.person = { sub: 'invited', email: 'Invited@people.test', email_verified: true }
    await signOn(browser, `/oidc/acme/login?invite=${secret}`)
    expect((await browser.get(`/api/organizations/${organization.id}/`)).body).toMatchObject({ membership_level: 8 })
    expect(await signOn(place.browser(), `/oidc/acme/login?invite=${secret}`), 'the account is there').toMatchObject({ page: '/' })
  })

  test('a domain that requires a provider does not let new users choose a password', async () => {
    const { name } = await provenDomain(place, { ...ownIssuer(provider), sso_enforcement: 'oidc' })
    const { secret, path, organization } = await invite(`invited@${name}`)
    const browser = place.browser()
    expect((await browser.get(path)).body).toMatchObject({ sso_enforcement: 'oidc', providers: [{ id: name, path: `oidc/${name}/login` }] })
    const refused = await browser.post(path, { first_name: 'New', password })
    expect([refused.status, refused.body.code]).toEqual([400, 'sso_enforced'])
    expect(await user(`invited@${name}`)).toBe(undefined)
    provider.person = { sub: 'g', email: `invited@${name}`, email_verified: true }
    expect(await signOn(browser, `/oidc/acme/login?invite=${secret}`), 'another provider').toMatchObject({ problem: 'sso_enforced' })
    await signOn(browser, `/oidc/${name}/login?invite=${secret}`)
    expect((await browser.get(`/api/organizations/${organization.id}/`)).body).toMatchObject({ membership_level: 8 })
  })
})
