import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createHandler } from '../../../src/doors/http/server/create-handler.ts'
import type { Organization, User } from '../../../src/service/accounts/records.ts'
import { Authenticator, type Lies } from '../../harness/authenticator.ts'
import { sessionOf } from '../../harness/session-of.ts'
import { refused } from './conversation.ts'
import { type Browser, type SignInPlace, startSignIn } from './signing-in.ts'

// Passkeys, by an authenticator in software that can lie. The clock stands still unless a test sets it.

let place: SignInPlace
let acme: Organization
let count = 0
beforeAll(async () => {
  place = await startSignIn()
  acme = await place.waymark.accounts.createOrganization({ name: 'Acme' })
})
afterAll(() => place.waymark.close())

const me = '/api/users/@me/'
const someone = () => place.user(`user${++count}@acme.test`, [[acme, 'member']])
const notAccepted = refused(400, '2fa_invalid', undefined, 'passkey')
const isIn = async (browser: Browser) => (await browser.get(me)).status === 200

/** Signs in with the password and adds a passkey. */
const enrol = async (user: User, authenticator = new Authenticator(), browser = place.browser()) => {
  if (!browser.cookies.has('waymark_session')) expect((await browser.login(user.email)).status).toBe(200)
  const options = (await browser.post(`${me}passkeys/begin/`)).body
  const done = await browser.post(`${me}passkeys/`, { name: 'Laptop', passkey: authenticator.create(options) })
  expect(done.status, JSON.stringify(done.body)).toBe(201)
  return { browser, authenticator, passkey: done.body, recovery: done.body.recovery_codes as string[] }
}
const alone = async (authenticator: Authenticator, lies: Lies = {}, browser = place.browser()) => {
  const { body: options } = await browser.post('/api/login/passkey/begin/')
  return { browser, ...(await browser.post('/api/login/passkey/', { passkey: authenticator.get(options, lies) })) }
}
/** With the password, then with the passkey. */
const second = async (user: User, authenticator: Authenticator, lies: Lies = {}, browser = place.browser()) => {
  expect(await browser.login(user.email)).toMatchObject(refused(401, '2fa_required'))
  const { body: options } = await browser.post('/api/login/token/passkey/')
  return { browser, ...(await browser.post('/api/login/token/', { passkey: authenticator.get(options, lies) })) }
}

describe('adding', () => {
  test('the first passkey is the second factor: other sessions end, and recovery codes come with it', async () => {
    const user = await someone()
    const other = place.browser()
    await other.login(user.email)
    const { browser, passkey, recovery, authenticator } = await enrol(user)
    expect(passkey).toMatchObject({ name: 'Laptop', is_backed_up: false, last_used_at: null })
    expect(recovery).toHaveLength(10)
    expect([await isIn(browser), await isIn(other)]).toEqual([true, false])
    expect((await browser.get(me)).body.is_2fa_enabled).toBe(true)
    expect((await browser.get(`${me}two_factor_status/`)).body).toMatchObject({
      is_enabled: true,
      has_app: false,
      passkeys: 1,
      recovery_codes_left: 10,
    })
    expect((await browser.get(`/api/organizations/${acme.id}/members/?email=${user.email}`)).body.results).toMatchObject([
      { is_2fa_enabled: true },
    ])
    const again = await enrol(user, new Authenticator(), browser)
    expect(again.recovery, 'only with the first factor').toBe(null)
    const { body } = await browser.get(`${me}passkeys/`)
    expect(body.results).toHaveLength(2)
    expect(JSON.stringify(body)).not.toContain(authenticator.credentials[0]!.id)
    expect(await place.logged(user, acme)).toEqual(['passkey_added', 'second_factor_enabled', 'passkey_added'])
  })

  test('takes a recent login of a session, not a key; and is named as long as a name may be', async () => {
    const user = await someone()
    const { value } = await place.waymark.accounts.personalKeys.create(user, { label: 'x', scopes: ['*'] })
    const headers = { authorization: `Bearer ${value}` }
    for (const path of ['', 'begin/', 'prove/'])
      expect(await place.browser().post(`${me}passkeys/${path}`, {}, { headers })).toMatchObject(refused(403, 'permission_denied'))
    const browser = place.browser()
    await browser.login(user.email)
    const options = (await browser.post(`${me}passkeys/begin/`)).body
    expect(options).toMatchObject({ rp: { id: 'localhost', name: 'Waymark' }, attestation: 'none', user: { name: user.email } })
    const passkey = new Authenticator().create(options)
    expect(await browser.post(`${me}passkeys/`, { name: 'x'.repeat(81), passkey })).toMatchObject(
      refused(400, 'max_length', undefined, 'name'),
    )
    expect((await browser.post(`${me}passkeys/`, { name: 'x'.repeat(80), passkey })).status).toBe(201)
    place.pass(7 * 3_600_000)
    const { body } = await browser.get(`${me}passkeys/`)
    const old = refused(403, 'permission_denied', 'This action requires you to be recently authenticated.')
    expect(await browser.post(`${me}passkeys/begin/`)).toMatchObject(old)
    expect(await browser.send('DELETE', `${me}passkeys/${body.results[0].id}/`)).toMatchObject(old)
    expect((await browser.send('PATCH', `${me}passkeys/${body.results[0].id}/`, { name: 'Key' })).body.name).toBe('Key')
  })

  const lies: Readonly<Record<string, Lies>> = {
    'another challenge': { challenge: Buffer.alloc(32, 7).toString('base64url') },
    'another origin': { origin: 'https://localhost.evil.test' },
    'the origin with another scheme': { origin: 'https://localhost' },
    'another port': { origin: 'http://localhost:8000' },
    'another server': { rpId: 'evil.test' },
    'the answer to a login': { type: 'webauthn.get' },
    'nobody was there': { isPresent: false },
  }
  test.each(Object.entries(lies))('%s is refused', async (_, lie) => {
    const user = await someone()
    const browser = place.browser()
    await browser.login(user.email)
    const options = (await browser.post(`${me}passkeys/begin/`)).body
    expect(await browser.post(`${me}passkeys/`, { name: 'x', passkey: new Authenticator().create(options, lie) })).toMatchObject(
      notAccepted,
    )
    expect((await browser.get(me)).body.is_2fa_enabled).toBe(false)
  })

  test('a challenge belongs to its session and its use, is used once, for five minutes', async () => {
    const user = await someone()
    const [browser, other] = [place.browser(), place.browser()]
    for (const one of [browser, other]) await one.login(user.email)
    const authenticator = new Authenticator()
    const add = (on: Browser, passkey: object) => on.post(`${me}passkeys/`, { name: 'x', passkey })
    const begun = (await browser.post(`${me}passkeys/begin/`)).body
    const answer = authenticator.create(begun)
    expect(await add(other, answer), 'without the cookie').toMatchObject(notAccepted)
    other.cookies.set('waymark_passkey', browser.cookies.get('waymark_passkey')!)
    expect(await add(other, answer), 'in another session of the same user').toMatchObject(notAccepted)
    const kept = browser.cookies.get('waymark_passkey')!
    await browser.post('/api/login/passkey/begin/')
    expect(await add(browser, authenticator.create(begun)), 'the cookie is for signing in').toMatchObject(notAccepted)
    browser.cookies.set('waymark_passkey', { ...kept, value: `${kept.value.slice(0, -3)}AAA` })
    expect(await add(browser, answer), 'a cookie that was changed').toMatchObject(notAccepted)
    browser.cookies.set('waymark_passkey', kept)
    expect((await add(browser, answer)).status).toBe(201)
    expect(await add(browser, authenticator.create(begun)), 'used').toMatchObject(notAccepted)
    const late = authenticator.create((await browser.post(`${me}passkeys/begin/`)).body)
    place.pass(300_000)
    expect(await add(browser, late), 'too late').toMatchObject(notAccepted)
  })

  test('a passkey belongs to one account, and certificates of authenticators are neither believed nor followed', async () => {
    const [user, thief] = [await someone(), await someone()]
    const { browser } = await enrol(user)
    const { authenticator: others } = await enrol(thief)
    const options = (await browser.post(`${me}passkeys/begin/`)).body
    const answer = new Authenticator().create(options)
    // The id of a credential of somebody else, in an answer of one's own.
    const object = Buffer.from(answer.response.attestationObject, 'base64url')
    const own = Buffer.from(answer.id, 'base64url')
    Buffer.from(others.credentials[0]!.id, 'base64url').copy(object, object.indexOf(own))
    const claimed = { ...answer, id: others.credentials[0]!.id, rawId: others.credentials[0]!.id }
    claimed.response = { ...answer.response, attestationObject: object.toString('base64url') }
    expect(await browser.post(`${me}passkeys/`, { name: 'x', passkey: claimed })).toMatchObject(
      refused(400, 'unique', undefined, 'passkey'),
    )

    let isAsked = false
    const listener = createServer((_, response) => {
      isAsked = true
      response.end()
    }).listen(0)
    const { port } = listener.address() as AddressInfo
    const next = (await browser.post(`${me}passkeys/begin/`)).body
    const statement = [
      ['alg', -7],
      ['sig', new Uint8Array(70)],
      ['x5u', `http://127.0.0.1:${port}/`],
    ] as const
    const packed = new Authenticator().create(next, { attestation: { format: 'packed', statement } })
    expect((await browser.post(`${me}passkeys/`, { name: 'x', passkey: packed })).status).toBe(201)
    expect(isAsked).toBe(false)
    listener.close()
  })

  test('an account has at most twenty', async () => {
    const user = await someone()
    const { browser } = await enrol(user)
    for (let i = 1; i < 20; i++) await enrol(user, new Authenticator(), browser)
    expect((await browser.post(`${me}passkeys/begin/`)).status).toBe(400)
  })

  test('nonsense is refused at its field', async () => {
    const browser = place.browser()
    await browser.login((await someone()).email)
    await browser.post(`${me}passkeys/begin/`)
    const whole = new Authenticator().create((await browser.post(`${me}passkeys/begin/`)).body)
    const bad = [
      null,
      'x',
      {},
      { ...whole, type: 'password' },
      { ...whole, response: { ...whole.response, attestationObject: 'AAAA' } },
      { ...whole, response: { ...whole.response, attestationObject: '' } },
      { ...whole, response: { ...whole.response, clientDataJSON: '%%%' } },
      { ...whole, response: { ...whole.response, clientDataJSON: 'A'.repeat(30_000) } },
    ]
    for (const passkey of bad) {
      const { status, body } = await browser.post(`${me}passkeys/`, { name: 'x', passkey })
      expect([status, body.attr?.split('__')[0]], JSON.stringify(passkey)?.slice(0, 80)).toEqual([400, 'passkey'])
    }
  })
})

describe('signing in with a passkey alone', () => {
  test('makes a session at once; the passkey says when it was used', async () => {
    const user = await someone()
    const { authenticator, browser: first } = await enrol(user)
    const { browser, status } = await alone(authenticator)
    expect([status, await isIn(browser)]).toEqual([200, true])
    expect((await browser.get(me)).body.email).toBe(user.email)
    expect(Date.parse((await first.get(`${me}passkeys/`)).body.results[0].last_used_at)).toBe(place.now.getTime())
    expect((await browser.post(`${me}passkeys/begin/`)).status, 'it is a recent login').toBe(200)
  })

  const lies: Readonly<Record<string, Lies>> = {
    'another challenge': { challenge: Buffer.alloc(32, 7).toString('base64url') },
    'another origin': { origin: 'https://evil.test' },
    'another server': { rpId: 'evil.test' },
    'signed by another key': { isForged: true },
    'the person was not verified': { hasVerified: false },
    'nobody was there': { isPresent: false },
    'a registration': { type: 'webauthn.create' },
    'a counter that stands still': { counter: 1 },
    'a counter that goes back': { counter: 0 },
    'a key that may be copied now': { isBackupEligible: true },
    'backed up without being eligible': { isBackupEligible: false, isBackedUp: true },
    'the handle of nobody': { userHandle: null },
    'the handle of another user': { userHandle: Buffer.from('00000000-0000-7000-8000-000000000000').toString('base64url') },
  }
  test.each(Object.entries(lies))('%s is refused', async (_, lie) => {
    const { authenticator } = await enrol(await someone())
    const { browser, ...answer } = await alone(authenticator, lie)
    expect(answer).toMatchObject(notAccepted)
    expect(browser.cookies.has('waymark_session')).toBe(false)
    expect((await alone(authenticator)).status, 'an honest one').toBe(200)
  })

  test('an answer works once, in the browser that asked, for five minutes', async () => {
    const { authenticator } = await enrol(await someone())
    const [browser, thief] = [place.browser(), place.browser('203.0.113.200')]
    const { body: options } = await browser.post('/api/login/passkey/begin/')
    const passkey = authenticator.get(options)
    const asked = browser.cookies.get('waymark_passkey')!
    expect(await thief.post('/api/login/passkey/', { passkey })).toMatchObject(notAccepted)
    await thief.post('/api/login/passkey/begin/')
    expect(await thief.post('/api/login/passkey/', { passkey }), 'with a challenge of its own').toMatchObject(notAccepted)
    const both = await Promise.all([1, 2, 3].map(() => browser.post('/api/login/passkey/', { passkey })))
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 400, 400])
    thief.cookies.set('waymark_passkey', asked)
    expect(await thief.post('/api/login/passkey/', { passkey }), 'replayed with the cookie').toMatchObject(notAccepted)
    expect(await thief.post('/api/login/passkey/', { passkey: authenticator.get(options) }), 'signed again').toMatchObject(notAccepted)
    const { body: late } = await browser.post('/api/login/passkey/begin/')
    place.pass(300_000)
    expect(await browser.post('/api/login/passkey/', { passkey: authenticator.get(late) })).toMatchObject(notAccepted)
  })

  test('passkeys that are synchronized have no counter, and still are not replayed', async () => {
    const { authenticator } = await enrol(await someone(), new Authenticator('http://localhost', false))
    for (let i = 0; i < 3; i++) expect((await alone(authenticator)).status).toBe(200)
    const browser = place.browser()
    const { body: options } = await browser.post('/api/login/passkey/begin/')
    const passkey = authenticator.get(options)
    const asked = browser.cookies.get('waymark_passkey')!
    expect((await browser.post('/api/login/passkey/', { passkey })).status).toBe(200)
    browser.cookies.set('waymark_passkey', asked)
    expect(await browser.post('/api/login/passkey/', { passkey })).toMatchObject(notAccepted)
  })

  test('a passkey that was removed, of a deactivated user, or of nobody', async () => {
    const user = await someone()
    const { authenticator, browser, passkey } = await enrol(user)
    const { authenticator: spare } = await enrol(user, new Authenticator(), browser)
    expect((await browser.send('DELETE', `${me}passkeys/${passkey.id}/`)).status).toBe(204)
    expect(await alone(authenticator)).toMatchObject(notAccepted)
    expect((await alone(spare)).status).toBe(200)
    await place.waymark.accounts.activation.deactivate(user.email)
    expect(await alone(spare)).toMatchObject(notAccepted)
    const stranger = new Authenticator()
    stranger.create({ challenge: 'x', rp: { id: 'localhost' }, user: { id: Buffer.from(user.uuid).toString('base64url') } })
    expect(await alone(stranger)).toMatchObject(notAccepted)
  })

  test('tries that are not right end in a pause for their network', async () => {
    const { authenticator } = await enrol(await someone())
    const attacker = place.browser('203.0.113.66')
    const statuses: number[] = []
    for (let i = 0; i < 12; i++) statuses.push((await alone(authenticator, { isForged: true }, attacker)).status)
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 400), 429, 429])
    expect((await alone(authenticator, {}, place.browser('198.51.100.33'))).status).toBe(200)
  })
})

describe('a passkey as the second factor', () => {
  test('follows the password, whether it has verified the person or not', async () => {
    const user = await someone()
    const { authenticator } = await enrol(user)
    for (const lie of [{}, { hasVerified: false }, { userHandle: null }]) {
      const { browser, status } = await second(user, authenticator, lie)
      expect([status, await isIn(browser)]).toEqual([200, true])
    }
    const browser = place.browser()
    await browser.login(user.email)
    expect((await browser.get('/api/login/token/')).body).toEqual({ app: false, passkeys: 1 })
    expect(await place.browser().get('/api/login/token/')).toMatchObject(refused(400, '2fa_expired'))
    expect(await place.browser().post('/api/login/token/passkey/')).toMatchObject(refused(400, '2fa_expired'))
  })

  test.each<[string, Lies]>([
    ['another challenge', { challenge: 'AAAA' }],
    ['another origin', { origin: 'https://evil.test' }],
    ['another server', { rpId: 'evil.test' }],
    ['another key', { isForged: true }],
    ['a counter that stands still', { counter: 1 }],
  ])('%s is refused, and noted', async (_, lie) => {
    const user = await someone()
    const { authenticator } = await enrol(user)
    const { browser, ...answer } = await second(user, authenticator, lie)
    expect(answer).toMatchObject(notAccepted)
    expect(browser.cookies.has('waymark_session')).toBe(false)
    expect(await place.logged(user, acme)).toContain('second_factor_failed')
  })

  test('of another user is refused, and a challenge of one use does not do for another', async () => {
    const [user, other] = [await someone(), await someone()]
    const { authenticator } = await enrol(user)
    const { authenticator: others } = await enrol(other)
    const browser = place.browser()
    await browser.login(user.email)
    const { body: options } = await browser.post('/api/login/token/passkey/')
    const stolen = { ...options, allowCredentials: [] }
    expect(await browser.post('/api/login/token/', { passkey: others.get(stolen) })).toMatchObject(notAccepted)
    const { body: freely } = await browser.post('/api/login/passkey/begin/')
    expect(await browser.post('/api/login/token/', { passkey: authenticator.get(freely) }), 'of signing in alone').toMatchObject(
      notAccepted,
    )
    const { body: next } = await browser.post('/api/login/token/passkey/')
    const passkey = authenticator.get(next)
    expect(await browser.post('/api/login/passkey/', { passkey }), 'of a second step').toMatchObject(notAccepted)
    await browser.login(user.email)
    expect(await browser.post('/api/login/token/', { passkey }), 'of an earlier login').toMatchObject(notAccepted)
  })

  test('recovery codes do it too, and new ones are made with a passkey; so an app is set up', async () => {
    const user = await someone()
    const { authenticator, recovery, browser } = await enrol(user)
    const other = place.browser()
    await other.login(user.email)
    expect((await other.code(recovery[0]!)).status).toBe(200)
    const prove = async () => authenticator.get((await browser.post(`${me}passkeys/prove/`)).body)
    expect(await browser.post(`${me}two_factor_recovery_codes/`)).toMatchObject(refused(400, 'required', undefined, 'token'))
    const proof = await prove()
    const renewed = await browser.post(`${me}two_factor_recovery_codes/`, { passkey: proof })
    expect([renewed.status, renewed.body.recovery_codes.length]).toEqual([200, 10])
    expect(await browser.post(`${me}two_factor_recovery_codes/`, { passkey: proof }), 'used').toMatchObject(notAccepted)
    expect(await browser.post(`${me}two_factor_start_setup/`)).toMatchObject(refused(400, 'required', undefined, 'token'))
    const { secret } = (await browser.post(`${me}two_factor_start_setup/`, { passkey: await prove() })).body
    expect((await browser.post(`${me}two_factor_validate/`, { token: place.code(secret) })).status).toBe(200)
    expect((await browser.get(`${me}two_factor_status/`)).body).toMatchObject({ has_app: true, passkeys: 1 })
    place.pass()
    const third = place.browser()
    await third.login(user.email)
    expect((await third.get('/api/login/token/')).body).toEqual({ app: true, passkeys: 1 })
    expect((await third.code(place.code(secret))).status).toBe(200)
    expect((await second(user, authenticator)).status).toBe(200)
  })

  test('the last factor is not removed but turned off; with it, everything is gone', async () => {
    const user = await someone()
    const { authenticator, browser, passkey } = await enrol(user)
    expect(await browser.send('DELETE', `${me}passkeys/${passkey.id}/`)).toMatchObject(refused(400, '2fa_last'))
    await place.enforce(acme, true)
    const prove = async () => authenticator.get((await browser.post(`${me}passkeys/prove/`)).body)
    expect(await browser.post(`${me}two_factor_disable/`, { passkey: await prove() })).toMatchObject(refused(400, '2fa_enforced'))
    expect(await isIn(browser), 'a passkey is what an organization requires').toBe(true)
    await place.enforce(acme, false)
    expect((await browser.post(`${me}two_factor_disable/`, { passkey: await prove() })).status).toBe(204)
    expect((await browser.get(`${me}two_factor_status/`)).body).toMatchObject({ is_enabled: false, passkeys: 0, recovery_codes_left: 0 })
    expect(await alone(authenticator)).toMatchObject(notAccepted)
    expect((await place.browser().login(user.email)).status).toBe(200)
  })

  test('a reset by the operator, and a first proof of the address by another person, end passkeys', async () => {
    const user = await someone()
    const { authenticator } = await enrol(user)
    await place.waymark.accounts.secondFactors.resetByOperator((await place.waymark.accounts.users.byId(user.id))!)
    expect(await alone(authenticator)).toMatchObject(notAccepted)

    const early = await someone()
    const { authenticator: earlier } = await enrol(early)
    const { store } = place.waymark.accounts.context
    await store.write((tables) => tables.users.update({ id: early.id }, { is_email_verified: false, unproven_since: place.now }))
    const link = await place.waymark.accounts.passwordLinks.create(early.email)
    const [, uuid, token] = /#\/reset\/([^/]+)\/(.+)$/.exec(link.url)!
    expect((await place.browser().post(`/api/reset/${uuid}/`, { token, password: 'owned again 17' })).status).toBe(200)
    expect(await alone(earlier)).toMatchObject(notAccepted)
    expect((await place.browser().login(early.email, {}, 'owned again 17')).status).toBe(200)
  })
})

describe('the name and the origin that passkeys are bound to', () => {
  /** A browser with a session, at a server of its own options. */
  const at = async (options: Parameters<typeof createHandler>[1], user: User) => {
    const handler = createHandler(place.waymark, options)
    const session = await sessionOf(place.waymark.accounts, user)
    return async (url: string, path: string, headers: Record<string, string> = {}, address = '198.51.100.1') => {
      const response = await handler(
        new Request(`${url}${path}`, {
          method: 'POST',
          headers: { cookie: `waymark_session=${session}`, 'content-type': 'application/json', ...headers },
          body: '{}',
        }),
        address,
      )
      const body = (await response.json()) as { readonly rp?: { readonly id: string } }
      return { status: response.status, body, cookies: response.headers.getSetCookie() }
    }
  }
  const begin = '/api/users/@me/passkeys/begin/'

  test('are those of the public address, whatever the request claims', async () => {
    const send = await at({ publicUrl: 'https://analytics.example.com/stats' }, await someone())
    for (const url of ['http://127.0.0.1:8000', 'http://evil.test', 'https://analytics.example.com'])
      expect((await send(url, begin, { origin: url })).body.rp?.id, url).toBe('analytics.example.com')
    const answer = await send('https://analytics.example.com', begin)
    expect(answer.cookies[0]).toMatch(/^waymark_passkey=.*; HttpOnly; SameSite=Lax; Secure$/)
  })

  test('a server that is mounted at a path, behind its proxy: only the origin counts', async () => {
    const user = await someone()
    const send = await at({ publicUrl: 'https://app.example.com/analytics', at: '/analytics' }, user)
    const answer = await send('http://10.0.0.5:3000', `/analytics${begin}`, { origin: 'https://app.example.com' })
    expect([answer.status, answer.body.rp?.id]).toEqual([200, 'app.example.com'])
  })

  test('a proxy that the operator trusts says the name; others do not', async () => {
    const send = await at({ trustedProxies: ['10.0.0.1'] }, await someone())
    const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'stats.example.com', origin: 'https://stats.example.com' }
    expect((await send('http://10.0.0.5:8000', begin, forwarded, '10.0.0.1')).body.rp?.id).toBe('stats.example.com')
    const stranger = { ...forwarded, origin: 'http://anything.example.com' }
    expect(await send('http://anything.example.com', begin, stranger, '203.0.113.9')).toMatchObject(refused(400, 'passkey_unavailable'))
  })

  test.each(['http://127.0.0.1:8000', 'http://[::1]:8000', 'http://stats.internal', 'https://stats.example.com'])(
    'there are none at %s',
    async (url) => {
      const send = await at({}, await someone())
      expect(await send(url, begin, { origin: url })).toMatchObject(refused(400, 'passkey_unavailable'))
      expect(await send(url, '/api/login/passkey/begin/', { origin: url })).toMatchObject(refused(400, 'passkey_unavailable'))
    },
  )

  test('an answer for another port of the same name is refused', async () => {
    const { authenticator } = await enrol(await someone())
    const elsewhere = new Authenticator('http://localhost:3000')
    elsewhere.credentials.push(...authenticator.credentials)
    expect(await alone(elsewhere)).toMatchObject(notAccepted)
  })
})

test('stored: the public key and no secret; the password of an account with a passkey is still asked for', async () => {
  const user = await someone()
  const { authenticator } = await enrol(user)
  const { store } = place.waymark.accounts.context
  const [row] = await store.read.passkeys.find({ user_id: user.id })
  expect(row).toMatchObject({ credential_id: authenticator.credentials[0]!.id, counter: 1, is_backup_eligible: false })
  expect(await place.browser().login(user.email, {}, 'wrong')).toMatchObject(refused(400, 'invalid_credentials'))
})
