import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { codeAllowances } from '../../../src/doors/http/access/login-attempts.ts'
import { directoryCommands } from '../../../src/doors/http/commands/directory-commands.ts'
import { createHandler } from '../../../src/doors/http/server/create-handler.ts'
import type { Organization, User } from '../../../src/service/accounts/records.ts'
import { resealSecrets, sealedFor } from '../../../src/service/accounts/secrets/resealing.ts'
import { createSecretBox, newSecretKey } from '../../../src/service/accounts/secrets/secret-box.ts'
import { refused } from './conversation.ts'
import { placedRows } from './creating.ts'
import { Browser, codeAt, password, type SignInPlace, startSignIn, step } from './signing-in.ts'

// An authenticator app, from its first code to the reset of an owner. The clock stands still unless a test sets it.

let place: SignInPlace
let acme: Organization
let owner: User
let count = 0
beforeAll(async () => {
  place = await startSignIn()
  acme = await place.waymark.accounts.createOrganization({ name: 'Acme' })
  owner = await place.user('owner@acme.test', [[acme, 'owner']])
})
afterAll(() => place.waymark.close())

const someone = (at: 'member' | 'admin' = 'member') => place.user(`user${++count}@acme.test`, [[acme, at]])
const wrong = refused(400, '2fa_invalid', undefined, 'token')
const expired = refused(400, '2fa_expired')
const me = '/api/users/@me/'
const isIn = async (browser: Browser) => (await browser.get(me)).status === 200

describe('setting up', () => {
  test('takes a recent login, is confirmed by a code, ends the other sessions, and is seen by others', async () => {
    const user = await someone()
    const [browser, other] = [place.browser(), place.browser()]
    await browser.login(user.email)
    await other.login(user.email)
    const { pass } = place
    const setup = await browser.post(`${me}two_factor_start_setup/`)
    expect(setup.body.uri).toMatch(/^otpauth:\/\/totp\/.*secret=[A-Z2-7]{32}&issuer=Waymark/)
    const validate = (token: string) => browser.post(`${me}two_factor_validate/`, { token })
    expect(await validate('12345')).toMatchObject(wrong)
    expect(await validate(codeAt(setup.body.secret, new Date(place.now.getTime() + 10 * step)))).toMatchObject(wrong)
    expect((await browser.get(me)).body.is_2fa_enabled).toBe(false)
    expect((await browser.get(`${me}two_factor_status/`)).body).toEqual({
      is_enabled: false,
      enabled_at: null,
      has_app: false,
      passkeys: 0,
      recovery_codes_left: 0,
      required_by: [],
    })
    const done = await validate(` ${place.code(setup.body.secret).replace(/^.../, '$& ')}`)
    expect(done.body.recovery_codes).toHaveLength(10)
    expect(new Set(done.body.recovery_codes).size).toBe(10)
    for (const code of done.body.recovery_codes) expect(code).toMatch(/^[0-9a-z]{4}(-[0-9a-z]{4}){3}$/)
    expect([await isIn(browser), await isIn(other)]).toEqual([true, false])
    expect((await browser.get(me)).body.is_2fa_enabled).toBe(true)
    expect((await browser.get(`${me}two_factor_status/`)).body).toMatchObject({ is_enabled: true, recovery_codes_left: 10 })
    const members = (await browser.get(`/api/organizations/${acme.id}/members/?email=${user.email}`)).body.results
    expect(members).toMatchObject([{ is_2fa_enabled: true }])
    expect(await place.logged(user)).toEqual(['second_factor_enabled'])
    pass(7 * 3_600_000)
    expect(await browser.post(`${me}two_factor_start_setup/`, { token: place.code(setup.body.secret) })).toMatchObject(
      refused(403, 'permission_denied', 'This action requires you to be recently authenticated.'),
    )
  })

  test('a setup that took too long begins again', async () => {
    const browser = place.browser()
    await browser.login((await someone()).email)
    const { secret } = (await browser.post(`${me}two_factor_start_setup/`)).body
    place.pass(3_600_001)
    expect(await browser.post(`${me}two_factor_validate/`, { token: place.code(secret) })).toMatchObject(expired)
    expect(await place.browser().post(`${me}two_factor_validate/`, { token: place.code(secret) })).toMatchObject(
      refused(401, 'not_authenticated'),
    )
  })

  test('is not for keys, nor for accounts of the application', async () => {
    const user = await someone()
    const { value } = await place.waymark.accounts.personalKeys.create(user, { label: 'x', scopes: ['*'] })
    const old = await place.waymark.accounts.personalKeys.create(user, { label: 'old', scopes: ['*'] })
    await place.waymark.accounts.context.store.write((tables) => tables.personal_keys.update({ id: old.key.id }, { scopes: null }))
    for (const key of [value, old.value])
      for (const what of ['start_setup', 'validate', 'recovery_codes', 'disable'])
        expect(
          await place.browser().post(`${me}two_factor_${what}/`, { token: '123456' }, { headers: { authorization: `Bearer ${key}` } }),
        ).toMatchObject(refused(403, 'permission_denied', 'This action does not support Personal API Key access'))
  })

  test('another app takes a code of the present one, which counts until the new one is confirmed', async () => {
    const user = await someone()
    const { secret, browser } = await place.enrol(user)
    expect(await browser.post(`${me}two_factor_start_setup/`)).toMatchObject(refused(400, 'required', undefined, 'token'))
    expect(await browser.post(`${me}two_factor_start_setup/`, { token: '000000' })).toMatchObject(wrong)
    const next = (await browser.post(`${me}two_factor_start_setup/`, { token: place.code(secret) })).body.secret
    place.pass()
    const early = place.browser()
    await early.login(user.email)
    expect((await early.code(place.code(next))).status).toBe(400)
    expect((await early.code(place.code(secret))).status).toBe(200)
    expect((await browser.post(`${me}two_factor_validate/`, { token: place.code(next) })).status).toBe(200)
    place.pass()
    const late = place.browser()
    await late.login(user.email)
    expect((await late.code(place.code(secret))).status).toBe(400)
    expect((await late.code(place.code(next))).status).toBe(200)
  })

  test('secrets are stored encrypted, recovery codes as hashes, and a new key reaches them', async () => {
    const user = await someone()
    const { secret, recovery } = await place.enrol(user)
    const { store } = place.waymark.accounts.context
    const rows = JSON.stringify([await store.read.second_factors.find({}), await store.read.recovery_codes.find({})])
    for (const plain of [secret, ...recovery, ...recovery.map((code) => code.replaceAll('-', ''))]) expect(rows).not.toContain(plain)
    const [before] = await store.read.second_factors.find({ user_id: user.id })
    expect(before?.secret).toMatch(/^v1\./)
    const keys = [newSecretKey(), newSecretKey()] as const
    const [oldBox, box] = [createSecretBox([keys[0]]), createSecretBox([keys[1], keys[0]])]
    const about = sealedFor.secondFactor(before!.id)
    await store.write((tables) => tables.second_factors.update({ id: before!.id }, { secret: oldBox.seal(secret, about) }))
    const report = vi.fn() // what other keys have sealed stays
    await resealSecrets({ context: place.waymark.accounts.context, box, report })
    const after = (await store.read.second_factors.first({ id: before!.id }))!
    expect([box.isCurrent(after.secret), box.open(after.secret, about)]).toEqual([true, secret])
    await store.write((tables) => tables.second_factors.update({ id: before!.id }, { secret: before!.secret }))
  })
})

describe('codes', () => {
  test.each([
    [-2, 400],
    [-1, 200],
    [0, 200],
    [1, 200],
    [2, 400],
  ])('of the step %i: %i', async (steps, status) => {
    const { secret, browser: first } = await place.enrol(await someone())
    place.pass(3 * step)
    const browser = place.browser()
    await browser.login((await first.get(me)).body.email)
    const answer = await browser.code(codeAt(secret, new Date(place.now.getTime() + steps * step)))
    expect(answer.status).toBe(status)
    if (status === 400) expect(answer).toMatchObject(wrong)
  })

  test('each is accepted once, and none that is older than an accepted one', async () => {
    const user = await someone()
    const { secret } = await place.enrol(user)
    place.pass()
    const code = place.code(secret)
    const browsers = Array.from({ length: 5 }, () => place.browser())
    for (const browser of browsers) await browser.login(user.email)
    const statuses = await Promise.all(browsers.map(async (browser) => (await browser.code(code)).status))
    expect(statuses.toSorted()).toEqual([200, 400, 400, 400, 400])
    const late = place.browser()
    await late.login(user.email)
    expect(await late.code(code)).toMatchObject(wrong)
    expect(await late.code(codeAt(secret, new Date(place.now.getTime() - step)))).toMatchObject(wrong)
    place.pass()
    expect((await late.code(place.code(secret))).status).toBe(200)
    expect((await place.logged(user)).filter((one) => one === 'second_factor_failed')).toHaveLength(6)
  })

  test('the clock of the server may go back: codes up to the newest accepted one stay used', async () => {
    const user = await someone()
    const { secret, browser } = await place.enrol(user)
    const code = place.code(secret)
    place.pass(-20 * step)
    await browser.login(user.email)
    expect(await browser.code(place.code(secret))).toMatchObject(wrong)
    expect(await browser.code(code)).toMatchObject(wrong)
    place.pass(20 * step)
  })

  test('a login waits ten minutes, gives no rights, ends with the password, and belongs to its account', async () => {
    const [user, other] = [await someone(), await someone()]
    const { secret } = await place.enrol(user)
    const { secret: secretOfOther } = await place.enrol(other)
    const browser = place.browser()
    expect(await browser.login(user.email)).toMatchObject(refused(401, '2fa_required'))
    expect([...browser.cookies.keys()]).toEqual(['waymark_login'])
    const waiting = browser.cookies.get('waymark_login')!
    const thief = place.browser()
    thief.cookies.set('waymark_session', { value: waiting.value, path: '/' })
    expect(await isIn(thief)).toBe(false)
    expect(await browser.code(place.code(secretOfOther)), 'the code of another account').toMatchObject(wrong)
    place.pass(600_000)
    expect(await browser.code(place.code(secret))).toMatchObject(expired)
    expect(await place.browser().code(place.code(secret)), 'without a login').toMatchObject(expired)
    await browser.login(user.email)
    const link = await place.waymark.accounts.passwordLinks.create(user.email)
    const [, uuid, token] = /#\/reset\/([^/]+)\/(.+)$/.exec(link.url)!
    expect((await browser.post(`/api/reset/${uuid}/`, { token, password: 'another password' })).status).toBe(200)
    expect(await browser.code(place.code(secret)), 'the password that it was begun with is gone').toMatchObject(expired)
    expect(await browser.login(user.email, {}, 'another password')).toMatchObject(refused(401, '2fa_required'))
    const used = browser.cookies.get('waymark_login')!
    expect((await browser.code(place.code(secret))).status).toBe(200)
    browser.cookies.set('waymark_login', used)
    place.pass()
    expect(await browser.code(place.code(secret)), 'used').toMatchObject(expired)
    await place.waymark.accounts.context.store.write((tables) => tables.users.update({ id: user.id }, { is_active: false }))
    expect((await place.browser().login(user.email, {}, 'another password')).body.code).toBe('invalid_credentials')
  })
})

describe('recovery codes', () => {
  test('each works once, as typed, and new ones replace all', async () => {
    const user = await someone()
    const { secret, recovery } = await place.enrol(user)
    const enter = async (code: string) => {
      const browser = place.browser()
      await browser.login(user.email)
      return { ...(await browser.code(code)), browser }
    }
    expect((await enter(recovery[0]!)).status).toBe(200)
    expect(await enter(recovery[0]!)).toMatchObject(wrong)
    expect((await enter(` ${recovery[1]!.toUpperCase().replaceAll('-', ' ')}`)).status).toBe(200)
    expect((await enter('0000-0000-0000-0000')).status).toBe(400)
    const { browser } = await enter(recovery[2]!)
    expect((await browser.get(`${me}two_factor_status/`)).body.recovery_codes_left).toBe(7)
    expect(await browser.post(`${me}two_factor_recovery_codes/`, { token: 'no' })).toMatchObject(wrong)
    const renewed = (await browser.post(`${me}two_factor_recovery_codes/`, { token: place.code(secret) })).body.recovery_codes
    expect(renewed).toHaveLength(10)
    expect((await enter(recovery[3]!)).status).toBe(400)
    expect((await enter(renewed[0])).status).toBe(200)
    expect(await place.logged(user)).toEqual(
      expect.arrayContaining(['recovery_code_used', 'recovery_codes_replaced', 'second_factor_failed']),
    )
  })

  test('of one user are not those of another', async () => {
    const [user, other] = [await someone(), await someone()]
    const { recovery } = await place.enrol(user)
    await place.enrol(other)
    const browser = place.browser()
    await browser.login(other.email)
    expect(await browser.code(recovery[0]!)).toMatchObject(wrong)
  })

  test('what was used stays used after a restart: codes, and recovery codes', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'waymark-factor-'))
    let disk = await startSignIn({ dataDir })
    const home = await disk.waymark.accounts.createOrganization({ name: 'Home' })
    const user = await disk.user('user@home.test', [[home, 'member']])
    const { secret, recovery } = await disk.enrol(user)
    const first = disk.browser()
    await first.login(user.email)
    expect((await first.code(recovery[0]!)).status).toBe(200)
    await first.login(user.email)
    const code = disk.code(secret)
    expect((await first.code(code)).status).toBe(200)
    const { now } = disk
    await first.login(user.email)
    await disk.waymark.close()
    disk = await startSignIn({ dataDir })
    disk.now = now
    const browser = disk.browser()
    browser.cookies.set('waymark_login', first.cookies.get('waymark_login')!)
    expect(await browser.code(recovery[0]!)).toMatchObject(wrong)
    expect(await browser.code(code)).toMatchObject(wrong)
    expect((await browser.code(recovery[1]!)).status).toBe(200)
    disk.pass()
    await browser.login(user.email)
    expect((await browser.code(disk.code(secret))).status).toBe(200)
    await disk.waymark.close()
    await rm(dataDir, { recursive: true, force: true })
  })
})

describe('tries', () => {
  test('many guesses at one account end in a pause that nobody else notices', async () => {
    const [user, other] = [await someone(), await someone()]
    const { secret, browser: known } = await place.enrol(user)
    const { secret: secretOfOther } = await place.enrol(other)
    place.pass()
    const attacker = place.browser('203.0.113.7')
    await attacker.login(user.email)
    const right = new Set([-1, 0, 1].map((steps) => codeAt(secret, new Date(place.now.getTime() + steps * step))))
    const guess = (i: number) => String(i).padStart(6, '0')
    const statuses = new Map<number, number>()
    for (let i = 0; i < 10_000; i++) {
      if (right.has(guess(i))) continue
      const { status } = await attacker.code(guess(i), { address: `203.0.${i % 250}.7` })
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    expect(statuses.get(400), 'from all networks together').toBe(codeAllowances.everywhere.failures)
    const refusal = await attacker.code([...right][1]!, { address: '192.0.2.9' })
    expect([refusal.status, refusal.body.code]).toEqual([429, 'throttled'])
    expect(Number(refusal.headers.get('retry-after'))).toBeLessThanOrEqual(codeAllowances.everywhere.seconds)
    const neighbour = place.browser('203.0.113.7')
    await neighbour.login(other.email)
    expect((await neighbour.code(place.code(secretOfOther))).status, 'another account, from the same network').toBe(200)
    await known.login(user.email)
    expect((await known.code(place.code(secret))).status, 'where the user has signed in before').toBe(200)
    expect((await place.logged(user)).filter((one) => one === 'second_factor_failed')).toHaveLength(codeAllowances.everywhere.failures)
  }, 120_000)

  test('a recovery code still works in another browser during the pause, and codes in Settings count too', async () => {
    const user = await someone()
    const { recovery, secret } = await place.enrol(user)
    const browser = place.browser('192.0.2.77')
    await browser.login(user.email)
    for (let i = 0; i < codeAllowances.account.failures; i++) expect((await browser.code('000000')).status).toBe(400)
    expect((await browser.code(place.code(secret))).status).toBe(429)
    expect((await browser.code(recovery[0]!)).status).toBe(200)
    for (let i = 0; i < codeAllowances.account.failures; i++)
      expect((await browser.post(`${me}two_factor_disable/`, { token: '000000' })).status).not.toBe(204)
    expect((await browser.post(`${me}two_factor_disable/`, { token: place.code(secret) })).status).toBe(429)
    place.pass(codeAllowances.account.seconds * 1000)
    expect((await browser.post(`${me}two_factor_recovery_codes/`, { token: place.code(secret) })).status).toBe(200)
  })

  test('an unknown user, a wrong password, an account with a factor and one without cost one password hash each', async () => {
    const [plain, enrolled] = [await someone(), await someone()]
    await place.enrol(enrolled)
    const { passwords } = place.waymark.accounts.context
    const [matches, hash] = [vi.spyOn(passwords, 'matches'), vi.spyOn(passwords, 'hash')]
    for (const [email, given] of [
      ['nobody@acme.test', password],
      [plain.email, 'wrong'],
      [plain.email, password],
      [enrolled.email, 'wrong'],
      [enrolled.email, password],
    ] as const) {
      matches.mockClear()
      await place.browser('192.0.2.200').login(email, {}, given)
      expect([matches.mock.calls.length, hash.mock.calls.length], email).toEqual([1, 0])
    }
    const [unknown, wrongOne] = [
      await place.browser('192.0.2.201').login('nobody@acme.test'),
      await place.browser('192.0.2.201').login(enrolled.email, {}, 'wrong'),
    ]
    expect(unknown.body, 'nobody learns who has a second factor').toEqual(wrongOne.body)
    vi.restoreAllMocks()
  })
})

describe('cookies', () => {
  test('a session that was known before the login is not the one after it', async () => {
    const user = await someone()
    const { secret } = await place.enrol(user)
    const attacker = place.browser()
    const attackersOwn = await someone()
    await attacker.login(attackersOwn.email)
    const planted = attacker.cookies.get('waymark_session')!
    const victim = place.browser()
    victim.cookies.set('waymark_session', planted)
    await victim.login(user.email)
    const waiting = victim.cookies.get('waymark_login')!.value
    expect(victim.cookies.get('waymark_session')?.value, 'the first step changes no session').toBe(planted.value)
    expect((await victim.code(place.code(secret))).status).toBe(200)
    expect((await victim.get(me)).body.email).toBe(user.email)
    expect([planted.value, waiting]).not.toContain(victim.cookies.get('waymark_session')!.value)
    expect(await isIn(attacker), 'what was planted has ended').toBe(false)
    expect(victim.cookies.has('waymark_login')).toBe(false)
  })

  test('both steps work where the server is mounted at a path', async () => {
    const user = await someone()
    const { secret } = await place.enrol(user)
    const browser = new Browser(createHandler(place.waymark, { at: '/analytics' }))
    expect((await browser.post('/analytics/api/login/', { email: user.email, password })).body.code).toBe('2fa_required')
    expect((await browser.post('/analytics/api/login/token/', { token: place.code(secret) })).status).toBe(200)
    expect((await browser.get(`/analytics${me}`)).body.email).toBe(user.email)
    expect(browser.cookies.get('waymark_device')?.path).toBe('/analytics/api/login')
  })

  test('no new route takes a request of another site', async () => {
    const names = /^(?:two_factor\.|passkeys\.|login\.|members\.reset_two_factor)/
    const routes = placedRows.filter(({ row }) => names.test(row.name) && row.method !== 'GET')
    expect(routes.length).toBe(17)
    const user = await someone()
    const { browser } = await place.enrol(user)
    for (const { path, row } of routes) {
      const target = path.replace(':uuid', '@me').replace(':organization_id', acme.id).replace(':user__uuid', owner.uuid)
      for (const [name, value] of [
        ['sec-fetch-site', 'cross-site'],
        ['sec-fetch-site', 'same-site'],
        ['origin', 'https://evil.example'],
      ] as const)
        expect(await browser.send(row.method, `${target}/`, { token: '000000' }, { headers: { [name]: value } }), row.name).toMatchObject(
          refused(403, 'permission_denied', 'Cross-site requests cannot use a login session.'),
        )
    }
    expect(await isIn(browser)).toBe(true)
  })
})

describe('turning off and reset', () => {
  test('turning off takes a code, and is refused while an organization requires it', async () => {
    const user = await someone()
    const { secret, browser } = await place.enrol(user)
    await place.enforce(acme, true)
    expect(await browser.post(`${me}two_factor_disable/`, { token: place.code(secret) })).toMatchObject(refused(400, '2fa_enforced'))
    await place.enforce(acme, false)
    expect(await browser.post(`${me}two_factor_disable/`, { token: '000000' })).toMatchObject(wrong)
    expect(await browser.post(`${me}two_factor_disable/`, {})).toMatchObject(refused(400, 'required', undefined, 'token'))
    expect((await browser.post(`${me}two_factor_disable/`, { token: place.code(secret) })).status).toBe(204)
    expect((await place.browser().login(user.email)).status).toBe(200)
    expect(await place.logged(user)).toEqual(['second_factor_enabled', 'second_factor_failed', 'second_factor_disabled'])
    expect(await browser.post(`${me}two_factor_disable/`, { token: '000000' })).toMatchObject(refused(400, '2fa_not_enabled'))
  })

  const resetPath = ({ uuid }: User, { id }: Organization = acme) => `/api/organizations/${id}/members/${uuid}/reset_two_factor/`

  test('the owner resets a member: sessions end, and a password is enough until another factor is set up', async () => {
    const [user, admin] = [await someone(), await someone('admin')]
    const { browser } = await place.enrol(user)
    const boss = place.browser()
    await boss.login(owner.email)
    const asAdmin = place.browser()
    await asAdmin.login(admin.email)
    expect((await asAdmin.post(resetPath(user))).status).toBe(403)
    expect((await boss.post(resetPath(user))).status).toBe(204)
    expect(await isIn(browser)).toBe(false)
    expect((await place.browser().login(user.email)).status).toBe(200)
    const { activity } = place.waymark.accounts.context.store.read
    expect(await activity.find({ scope: 'User', item_id: String(user.id), activity: 'second_factor_reset' })).toMatchObject([
      { user_id: owner.id, organization_id: acme.id, detail: { from: { address: '198.51.100.1', user_agent: 'Browser of a test' } } },
    ])
    expect(await boss.post(resetPath(user))).toMatchObject(refused(400, '2fa_not_enabled'))
    expect((await boss.post(resetPath(owner))).status, 'not oneself').toBe(403)
    const { value } = await place.waymark.accounts.personalKeys.create(owner, { label: 'x', scopes: ['*'] })
    expect(
      await place.browser().post(resetPath(user), {}, { headers: { authorization: `Bearer ${value}` } }),
      'not by a key',
    ).toMatchObject(refused(403, 'permission_denied'))
    place.pass(7 * 3_600_000)
    expect((await boss.post(resetPath(user))).status, 'a login of long ago').toBe(403)
  })

  test('one organization does not weaken another: a member of both is reset by the operator, or by who owns both', async () => {
    const other = await place.waymark.accounts.createOrganization({ name: 'Other' })
    const user = await place.user(`both${++count}@acme.test`, [
      [acme, 'member'],
      [other, 'admin'],
    ])
    await place.enrol(user)
    const boss = place.browser()
    await boss.login(owner.email)
    expect(await boss.post(resetPath(user))).toMatchObject(refused(403, 'permission_denied'))
    expect(await directoryCommands['reset-second-factor'](place.waymark, { email: user.email })).toEqual({
      user_id: user.id,
      email: user.email,
    })
    expect((await place.browser().login(user.email)).status).toBe(200)
    const { activity } = place.waymark.accounts.context.store.read
    const entries = await activity.find({ scope: 'User', item_id: String(user.id), activity: 'second_factor_reset' })
    expect(entries.map(({ organization_id, is_system }) => [organization_id, is_system]).toSorted()).toEqual(
      [
        [acme.id, true],
        [other.id, true],
      ].toSorted(),
    )
    await expect(directoryCommands['reset-second-factor'](place.waymark, { email: 'nobody@acme.test' })).rejects.toMatchObject({
      code: 'no-record',
    })
  })

  test('a first proof of the address by another person ends the factor that the account had', async () => {
    const user = await someone()
    const { browser } = await place.enrol(user)
    const { store } = place.waymark.accounts.context
    await store.write((tables) => tables.users.update({ id: user.id }, { is_email_verified: false, unproven_since: place.now }))
    const { ends, url } = await place.waymark.accounts.passwordLinks.create(user.email)
    expect(ends).toMatchObject({ second_factors: 1 })
    const [, uuid, token] = /#\/reset\/([^/]+)\/(.+)$/.exec(url)!
    expect((await browser.post(`/api/reset/${uuid}/`, { token, password: 'of the true owner' })).status).toBe(200)
    expect((await place.browser().login(user.email, {}, 'of the true owner')).status).toBe(200)
  })
})

describe('an organization that requires it', () => {
  test('who belongs to another one, too, keeps that one', async () => {
    const { accounts } = place.waymark
    const [strict, free] = [await accounts.createOrganization({ name: 'Strict' }), await accounts.createOrganization({ name: 'Free' })]
    const user = await place.user(`two${++count}@acme.test`, [
      [strict, 'admin'],
      [free, 'admin'],
    ])
    const { read } = accounts.context.store
    const [strictProject, freeProject] = [
      (await read.projects.first({ organization_id: strict.id }))!,
      (await read.projects.first({ organization_id: free.id }))!,
    ]
    const browser = place.browser()
    await browser.login(user.email)
    expect((await browser.get('/api/projects/@current/')).body.id).toBe(strictProject.id)
    await place.enforce(strict, true)
    const { value } = await accounts.personalKeys.create(user, { label: 'x', scopes: ['*'] })
    const limited = await accounts.personalKeys.create(user, { label: 'x', scopes: ['*'], scoped_organizations: [free.id] })
    const asKey = (path: string, key = value) => browser.get(path, { headers: { authorization: `Bearer ${key}` } })
    const names = ['Strict requires a second factor', 'you have', 'the owner of this key has']
    for (const [ask, who] of [
      [browser.get, names[1]],
      [asKey, names[2]],
    ] as const) {
      for (const path of [`/api/projects/${strictProject.id}/`, `/api/organizations/${strict.id}/members/`]) {
        const { status, body } = await ask(path)
        expect([status, body.code]).toEqual([403, 'two_factor_setup_required'])
        expect(body.detail).toContain(`${names[0]}, and ${who} none.`)
      }
      expect((await ask(`/api/projects/${freeProject.id}/`)).status).toBe(200)
      expect((await ask('/api/projects/@current/')).body.id).toBe(freeProject.id)
      expect((await ask('/api/projects/')).body.results.map(({ id }: { id: number }) => id)).toEqual([freeProject.id])
      expect((await ask('/api/organizations/')).body.results.map(({ id }: { id: string }) => id)).toEqual([free.id])
      expect((await ask(me)).body).toMatchObject({ organization: { id: free.id }, organizations: [{ id: free.id }] })
    }
    expect((await browser.get('/api/session/')).body).toMatchObject({
      must_set_up_2fa: false,
      requires_2fa: [{ id: strict.id, name: 'Strict' }],
      projects: [{ id: freeProject.id }],
    })
    expect((await asKey(`/api/organizations/${strict.id}/members/`, limited.value)).body.detail, 'of a limited key').toContain(
      'API key does not have access to the requested organization',
    )
    expect((await asKey(`/api/projects/${freeProject.id}/`, limited.value)).status).toBe(200)
    await place.enrol(user, browser)
    expect((await browser.get(`/api/projects/${strictProject.id}/`)).status).toBe(200)
    expect((await asKey(`/api/projects/${strictProject.id}/`)).status).toBe(200)
  })

  test('strangers learn nothing: they get what they got before', async () => {
    const strict = await place.waymark.accounts.createOrganization({ name: 'Closed' })
    const project = (await place.waymark.accounts.context.store.read.projects.first({ organization_id: strict.id }))!
    const browser = place.browser()
    await browser.login((await someone()).email)
    const paths = [`/api/organizations/${strict.id}/members/`, `/api/organizations/${strict.id}/`, `/api/projects/${project.id}/`]
    const before = await Promise.all(paths.map((path) => browser.get(path)))
    await place.enforce(strict, true)
    const after = await Promise.all(paths.map((path) => browser.get(path)))
    expect(after.map(({ body }) => body)).toEqual(before.map(({ body }) => body))
  })

  test('a held user may sign out, and turning it on and off is in the log with the place', async () => {
    const strict = await place.waymark.accounts.createOrganization({ name: 'Logged' })
    const boss = await place.user(`boss${++count}@acme.test`, [[strict, 'owner']])
    const { browser } = await place.enrol(boss)
    const user = await place.user(`held${++count}@acme.test`, [[strict, 'member']])
    const held = place.browser()
    await held.login(user.email)
    const path = `/api/organizations/${strict.id}/`
    expect((await browser.send('PATCH', path, { enforce_2fa: true })).body.enforce_2fa).toBe(true)
    expect(await held.get(me)).toMatchObject(refused(403, 'two_factor_setup_required'))
    expect((await held.post('/api/logout/')).status).toBe(204)
    expect((await held.get('/api/session/')).body.user).toBe(null)
    expect((await browser.send('PATCH', path, { enforce_2fa: false })).status).toBe(200)
    const { activity } = place.waymark.accounts.context.store.read
    const entries = await activity.find({ organization_id: strict.id, scope: 'Organization', activity: 'updated' })
    const from = { address: '198.51.100.1', user_agent: 'Browser of a test' }
    expect(entries.map(({ user_id, detail }) => [user_id, detail])).toMatchObject([
      [boss.id, { from, changes: [{ field: 'enforce_2fa', before: null, after: true }] }],
      [boss.id, { from, changes: [{ field: 'enforce_2fa', before: true, after: false }] }],
    ])
    expect((await held.login(user.email)).status).toBe(200)
    expect(await isIn(held)).toBe(true)
    const log = (await browser.get(`${path}activity/`)).body
    expect(log.results.map(({ activity, detail }: { activity: string; detail: { from: unknown } }) => [activity, detail.from])).toEqual(
      expect.arrayContaining([
        ['updated', from],
        ['second_factor_enabled', from],
      ]),
    )
    expect(log.results[0].user.email).toBe(boss.email)
    expect((await held.get(`${path}activity/`)).status, 'not for members').toBe(403)
    const made = (await browser.post('/api/organizations/', { name: 'Strict from the start', enforce_2fa: true })).body
    expect((await browser.get(`/api/organizations/${made.id}/activity/`)).body.results).toMatchObject([
      { activity: 'created', scope: 'Team' },
      { activity: 'created', detail: { from, changes: [{ field: 'enforce_2fa', after: true }] } },
    ])
  })

  test('a key turns it on, and nothing that a key sends turns it off: that takes a session with a recent login', async () => {
    const strict = await place.waymark.accounts.createOrganization({ name: 'Keyed' })
    const boss = await place.user(`boss${++count}@acme.test`, [[strict, 'owner']])
    const { browser } = await place.enrol(boss)
    const keys = [
      await place.waymark.accounts.personalKeys.create(boss, { label: 'write', scopes: ['organization:write'] }),
      await place.waymark.accounts.personalKeys.create(boss, { label: 'all', scopes: ['*'] }),
      await place.waymark.accounts.personalKeys.create(boss, { label: 'old', scopes: ['*'] }),
    ]
    await place.waymark.accounts.context.store.write((tables) => tables.personal_keys.update({ id: keys[2]!.key.id }, { scopes: null }))
    const path = `/api/organizations/${strict.id}/`
    for (const { value, key } of keys) {
      const send = (body: object, method = 'PATCH') =>
        place.browser().send(method, path, body, { headers: { authorization: `Bearer ${value}` } })
      expect((await send({ enforce_2fa: false, name: 'Not enforced yet' })).status).toBe(200)
      expect((await send({ enforce_2fa: true })).body.enforce_2fa, key.label).toBe(true)
      for (const off of [false, null, 'false', 0, 'off'])
        expect(await send({ enforce_2fa: off, name: 'Not taken' }), `${key.label} ${off}`).toMatchObject(refused(403, 'permission_denied'))
      expect((await send({ enforce_2fa: true, name: 'Taken' })).body).toMatchObject({ enforce_2fa: true, name: 'Taken' })
      expect((await browser.send('PATCH', path, { enforce_2fa: false })).body.enforce_2fa).toBe(false)
    }
    await browser.send('PATCH', path, { enforce_2fa: true })
    place.pass(7 * 3_600_000)
    expect(await browser.send('PATCH', path, { enforce_2fa: false })).toMatchObject(
      refused(403, 'permission_denied', 'This action requires you to be recently authenticated.'),
    )
  })

  test('keys for flags that are evaluated elsewhere are refused, too', async () => {
    const strict = await place.waymark.accounts.createOrganization({ name: 'Flags' })
    const project = (await place.waymark.accounts.context.store.read.projects.first({ organization_id: strict.id }))!
    const user = await place.user(`flags${++count}@acme.test`, [[strict, 'member']])
    const { value } = await place.waymark.accounts.personalKeys.create(user, { label: 'x', scopes: ['*'] })
    const ask = () =>
      place
        .browser()
        .get(`/api/feature_flag/local_evaluation?token=${project.api_token}`, { headers: { authorization: `Bearer ${value}` } })
    expect((await ask()).status).toBe(200)
    await place.enforce(strict, true)
    expect(await ask()).toMatchObject({ status: 403, body: { code: 'two_factor_setup_required' } })
  })
})
