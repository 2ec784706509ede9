import { afterEach, beforeEach, expect, test } from 'vitest'
import { createDomainProofs } from '../../../src/service/single-sign-on/domain-proofs.ts'
import { ownIssuer, startProvider } from '../../doors/http/openid.ts'
import { type SignInPlace, startSignIn } from '../../doors/http/signing-in.ts'

const day = 86_400_000
const name = 'proven.test'
const challenge = `_waymark-challenge.${name}`

let place: SignInPlace
let organization: string
let id: string
/** What name servers say; null: they do not answer. */
let texts: readonly string[] | null
let asked: string[]
let mails: { to: string; subject: string; text: string }[]
const errors: unknown[] = []

beforeEach(async () => {
  ;[asked, mails, texts] = [[], [], []]
  const mailer = { send: async (mail: (typeof mails)[number]) => void mails.push(mail) }
  place = await startSignIn({
    singleSignOn: { runs: false },
    surroundings: {
      mailer: () => mailer,
      lookupTxt: async (record) => {
        asked.push(record)
        if (texts === null) throw new Error('timeout')
        return texts
      },
    },
  })
  const { accounts } = place.waymark
  const made = await accounts.createOrganization({ name: 'Proven' })
  organization = made.id
  const owner = await place.user('owner@else.test', [[made, 'owner']])
  await place.user('ada@proven.test', [[made, 'member']])
  const by = { user: owner, membership: (await accounts.organizations.membership(made.id, owner))! }
  const domain = await accounts.domains.create(by, { domain: name, sso_enforcement: 'oidc', jit_provisioning_enabled: true })
  texts = ['other', domain.verification_challenge]
  await accounts.domains.verify(by, domain)
  id = domain.id
})
afterEach(async () => {
  await place.waymark.close()
  expect(errors.splice(0)).toEqual([])
})

/** Some time later, whatever is due. */
const after = async (ms: number) => {
  place.pass(ms)
  const runner = createDomainProofs({ context: place.waymark.accounts.context, report: (error) => errors.push(error), random: () => 0.5 })
  await runner.tick()
  await runner.settled()
  await runner.close()
}
const domain = async () => (await place.waymark.accounts.context.store.read.domains.first({ id }))!
const isEnforced = async () => (await place.browser().login('ada@proven.test')).body.code === 'sso_enforced'
const logged = async () =>
  (await place.waymark.accounts.context.store.read.activity.find({ organization_id: organization, scope: 'OrganizationDomain' })).map(
    ({ activity }) => activity,
  )

test('name servers are asked once a day, and a record that is there changes nothing', async () => {
  expect(await isEnforced()).toBe(true)
  asked = []
  await after(day - 1)
  expect(asked).toEqual([])
  await after(1)
  await after(1)
  expect(asked).toEqual([challenge])
  expect(await domain()).toMatchObject({ proof: 'dns', proof_missing_since: null, sso_enforcement: 'oidc' })
  expect(mails).toEqual([])
})

test('a record that is missing for three days ends the proof, and the owners are told before and then', async () => {
  const there = texts
  texts = ['another text']
  await after(day)
  expect(await isEnforced(), 'it may come back').toBe(true)
  expect(mails).toMatchObject([{ to: 'owner@else.test', subject: 'The proof of proven.test is missing' }])
  expect(mails[0]!.text).toContain((await domain()).verification_challenge)
  await after(day)
  await after(day)
  expect([await isEnforced(), mails.length]).toEqual([true, 1])
  await after(day)
  expect(await isEnforced()).toBe(false)
  expect(mails[1]).toMatchObject({ to: 'owner@else.test', subject: 'proven.test is not proven any more' })
  expect(await domain()).toMatchObject({
    sso_enforcement: '',
    jit_provisioning_enabled: false,
    proof: null,
    pending: { sso_enforcement: 'oidc', jit_provisioning_enabled: true },
  })
  expect(place.waymark.accounts.domains.isProven(await domain())).toBe(false)
  expect(await logged()).toEqual(['created', 'verified', 'proof_missing', 'proof_lapsed'])
  asked = []
  await after(10 * day)
  expect(asked, 'nobody claims it any more').toEqual([])

  // With the same record it is proven again, and what was set applies again.
  texts = there
  const browser = place.browser()
  await browser.login('owner@else.test')
  expect((await browser.post(`/api/organizations/${organization}/domains/${id}/verify/`)).body).toMatchObject({
    is_verified: true,
    sso_enforcement: 'oidc',
    proof: 'dns',
  })
  expect(await isEnforced()).toBe(true)
})

test('a record that comes back in time counts as if it had not been away', async () => {
  const there = texts
  texts = []
  await after(day)
  await after(day)
  texts = there
  await after(day)
  expect((await domain()).proof_missing_since).toBe(null)
  texts = []
  await after(day)
  await after(2 * day)
  expect(await isEnforced(), 'three days begin again').toBe(true)
})

test('name servers that do not answer end nothing', async () => {
  texts = null
  for (let i = 0; i < 10; i++) await after(day)
  errors.length = 0
  expect(await domain()).toMatchObject({ proof: 'dns', proof_missing_since: null, sso_enforcement: 'oidc' })
  expect([await isEnforced(), mails]).toEqual([true, []])
})

test('what the operator has confirmed is not looked up, and a proof of an older version does not lapse', async () => {
  const { accounts } = place.waymark
  const vouched = await accounts.domains.vouch('vouched.test', organization)
  const older = await accounts.domains.vouch('older.test', organization)
  await accounts.context.store.write((tables) => tables.domains.update({ id: older.id }, { proof: null, proof_checked_at: null }))
  texts = []
  asked = []
  for (let i = 0; i < 6; i++) await after(day)
  expect(asked).not.toContain('_waymark-challenge.vouched.test')
  expect(asked).toContain('_waymark-challenge.older.test')
  const { read } = accounts.context.store
  for (const one of [vouched, older]) expect(accounts.domains.isProven((await read.domains.first({ id: one.id }))!), one.domain).toBe(true)
})

test('a lapsed proof ends the rights of the issuer of the domain, too', async () => {
  const provider = await startProvider()
  const { store } = place.waymark.accounts.context
  await store.write((tables) => tables.domains.update({ id }, { ...ownIssuer(provider), oidc_client_secret: null }))
  expect((await place.browser().post('/api/login/precheck/', { email: `x@${name}` })).body).toEqual({
    sso_enforcement: 'oidc',
    saml_available: false,
    providers: [{ id: name, name, path: `oidc/${name}/login` }],
  })
  texts = []
  for (let i = 0; i < 4; i++) await after(day)
  expect((await place.browser().post('/api/login/precheck/', { email: `x@${name}` })).body).toEqual({
    sso_enforcement: null,
    saml_available: false,
    providers: [],
  })
  await provider.close()
})
