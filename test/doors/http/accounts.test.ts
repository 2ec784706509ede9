import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { loginAllowances } from '../../../src/doors/http/access/login-attempts.ts'
import { directoryCommands } from '../../../src/doors/http/commands/directory-commands.ts'
import type { Organization, User } from '../../../src/service/accounts/records.ts'
import { refused } from './conversation.ts'
import { password, type SignInPlace, startSignIn } from './signing-in.ts'

// What accounts keep: passwords that are hard to guess wherever one is chosen, guesses that end in a pause for nobody else, and a user who is let in no longer.

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
const someone = () => place.user(`user${++count}@acme.test`, [[acme, 'member']])
const me = '/api/users/@me/'

describe('a password that is guessed first is refused wherever one is chosen', () => {
  const bad = [
    ['Password123!', 'password_too_common'],
    ['my waymark server', 'password_too_similar'],
    ['NAMESAKE and more', 'password_too_similar'],
  ] as const
  const email = 'namesake@acme.test'
  /** How each place is asked, with its answer to the password. */
  const places = {
    'an invitation': async () => {
      const by = { user: owner, membership: (await place.waymark.accounts.organizations.membership(acme.id, owner))! }
      const { secret, invite } = await place.waymark.accounts.invites.create(by, acme, { target_email: email })
      return async (given: string) => {
        const answer = await place.browser().post(`/api/signup/${secret}/`, { first_name: 'N', password: given })
        if (answer.status !== 201) expect(await place.waymark.accounts.invites.byId(acme.id, invite.id), 'not used up').toBeDefined()
        return answer
      }
    },
    'the own account': async () => {
      const browser = place.browser()
      await browser.login((await named()).email)
      return (given: string) => browser.send('PATCH', me, { password: given, current_password: password })
    },
    'a link': async () => {
      const link = await place.waymark.accounts.passwordLinks.create((await named()).email)
      const [, uuid, token] = /#\/reset\/([^/]+)\/(.+)$/.exec(link.url)!
      return (given: string) => place.browser().post(`/api/reset/${uuid}/`, { token, password: given })
    },
    'the first owner': async () => {
      const fresh = await startSignIn()
      await fresh.waymark.accounts.firstStart({})
      await fresh.waymark.accounts.firstOwner.allow('the secret')
      return async (given: string) => {
        const answer = await fresh.browser().post('/api/setup/', { secret: 'the secret', email, first_name: 'N', password: given })
        if (answer.status === 201) await fresh.waymark.close()
        return answer
      }
    },
  }
  const named = async (): Promise<User> => (await place.waymark.accounts.users.byEmail(email)) ?? place.user(email, [[acme, 'member']])

  test.each(Object.entries(places))('%s', async (_, begin) => {
    const choose = await begin()
    for (const [given, code] of bad) expect(await choose(given), given).toMatchObject(refused(400, code, undefined, 'password'))
    expect([200, 201]).toContain((await choose(password)).status)
  })
})

describe('guesses', () => {
  test('10,000 at one account end in a pause that nobody else notices', async () => {
    const [user, neighbour] = [await someone(), await someone()]
    const known = place.browser('203.0.113.9')
    await known.login(user.email)
    const matches = vi.spyOn(place.waymark.accounts.context.passwords, 'matches').mockResolvedValue(false)
    const attacker = place.browser('203.0.113.7')
    const statuses = new Map<number, number>()
    for (let i = 0; i < 10_000; i++) {
      const { status } = await attacker.login(user.email, {}, `guess ${i}`)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    expect(Object.fromEntries(statuses)).toEqual({ 400: loginAllowances.account.failures, 429: 10_000 - loginAllowances.account.failures })
    expect(matches, 'a guess in the pause costs no hash').toHaveBeenCalledTimes(loginAllowances.account.failures)
    matches.mockRestore()
    expect((await attacker.login(user.email)).status, 'the right one, from that network').toBe(429)
    expect((await place.browser('198.51.100.77').login(user.email)).status, 'the user, from another network').toBe(200)
    expect((await known.login(user.email)).status, 'the user, from that network, in a browser of before').toBe(200)
    expect((await place.browser('203.0.113.7').login(neighbour.email)).status, 'another user, from that address').toBe(200)
    place.pass(loginAllowances.account.seconds * 1000)
    expect((await attacker.login(user.email)).status, 'after the pause').toBe(200)
  }, 120_000)

  test('no user, a wrong password, a deactivated user, one without a password: one hash each, and the same answer', async () => {
    const [right, gone, without] = [await someone(), await someone(), await someone()]
    await place.waymark.accounts.context.store.write(async (tables) => {
      await tables.users.update({ id: gone.id }, { is_active: false })
      await tables.users.update({ id: without.id }, { password_hash: null })
    })
    const { passwords } = place.waymark.accounts.context
    const [matches, hash] = [vi.spyOn(passwords, 'matches'), vi.spyOn(passwords, 'hash')]
    const answers = new Set<string>()
    for (const [email, given] of [
      ['nobody@nowhere.test', password],
      [right.email, 'wrong'],
      [gone.email, password],
      [without.email, password],
    ] as const) {
      matches.mockClear()
      const { status, body } = await place.browser('192.0.2.200').login(email, {}, given)
      answers.add(JSON.stringify([status, body]))
      expect([matches.mock.calls.length, hash.mock.calls.length], email).toEqual([1, 0])
    }
    expect(answers.size).toBe(1)
    vi.restoreAllMocks()
  })
})

describe('a user whom the operator deactivates', () => {
  test('is out at once: sessions, keys, a login that waits, links; and comes back without them', async () => {
    const user = await someone()
    const { secret, browser } = await place.enrol(user)
    const { value } = await place.waymark.accounts.personalKeys.create(user, { label: 'x', scopes: ['*'] })
    const withKey = () => place.browser().get(me, { headers: { authorization: `Bearer ${value}` } })
    const waiting = place.browser()
    await waiting.login(user.email)
    const link = await place.waymark.accounts.passwordLinks.create(user.email)
    const [, uuid, token] = /#\/reset\/([^/]+)\/(.+)$/.exec(link.url)!
    expect([(await browser.get(me)).status, (await withKey()).status]).toEqual([200, 200])

    const facts = await directoryCommands['deactivate-user'](place.waymark, { email: user.email })
    expect(facts).toEqual({ user_id: user.id, email: user.email, sessions: 1, keys: 1 })
    expect([(await browser.get(me)).status, (await withKey()).status]).toEqual([401, 401])
    expect((await waiting.code(place.code(secret))).body.code).toBe('2fa_expired')
    expect((await place.browser().login(user.email)).body.code).toBe('invalid_credentials')
    expect((await place.browser().post(`/api/reset/${uuid}/`, { token, password: 'another password' })).status).toBe(400)
    const members = await place.waymark.accounts.members.list(acme.id)
    expect(members.map(({ user }) => user.email)).not.toContain(user.email)
    expect(await directoryCommands['deactivate-user'](place.waymark, { email: user.email })).toMatchObject({ sessions: 0, keys: 0 })

    expect(await directoryCommands['activate-user'](place.waymark, { email: user.email })).toEqual({ user_id: user.id, email: user.email })
    expect([(await browser.get(me)).status, (await withKey()).status], 'what has ended stays ended').toEqual([401, 401])
    place.pass()
    const again = place.browser()
    expect((await again.login(user.email)).body.code).toBe('2fa_required')
    expect((await again.code(place.code(secret))).status).toBe(200)
    expect((await place.logged(user, acme)).filter((one) => one.endsWith('activated'))).toEqual(['deactivated', 'activated'])
    await expect(directoryCommands['deactivate-user'](place.waymark, { email: 'nobody@acme.test' })).rejects.toMatchObject({
      code: 'no-record',
    })
  })
})

test('a session says where it began', async () => {
  const user = await someone()
  const [one, two] = [place.browser('198.51.100.4'), place.browser('2001:db8::7')]
  await one.login(user.email, { headers: { 'user-agent': 'curl/8' } })
  await two.login(user.email)
  const { results } = (await two.get(`${me}sessions/`)).body
  const seen = results.map((session: { address: string; user_agent: string; is_current: boolean }) => [
    session.address,
    session.user_agent,
    session.is_current,
  ])
  expect(seen).toEqual(
    expect.arrayContaining([
      ['198.51.100.4', 'curl/8', false],
      ['2001:db8::7', 'Browser of a test', true],
    ]),
  )
  expect((await two.send('DELETE', `${me}sessions/`)).status).toBe(204)
  expect([(await one.get(me)).status, (await two.get(me)).status]).toEqual([401, 200])
})
