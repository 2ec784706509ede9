import { expect, test } from 'vitest'
import { createCnameLookup, createTxtLookup } from '../../../src/service/network/dns.ts'
import { startNameServer } from '../../harness/name-server.ts'
import { refused, withHome } from './conversation.ts'

const held = withHome()
const base = '/api/organizations/@current/domains/'

test('a domain is proven by its TXT record', async () => {
  const { call, admin, member, world } = held.home
  world.settings = { ...world.settings, isHosted: true }
  world.now = new Date('2031-05-05T10:00:00Z')
  const { body: made } = await call('POST', base, {
    as: admin,
    body: { domain: 'shop.example.com', is_verified: true, sso_enforcement: 'saml' },
  })
  expect(made).toMatchObject({ is_verified: false, verified_at: null, sso_enforcement: '', has_saml: false })
  expect(made.verification_challenge).toMatch(/^[\w-]{43}$/)
  const path = `${base}${made.id}/`
  const early = refused(400, 'verification_required', undefined, 'sso_enforcement')
  for (const sso_enforcement of ['saml', ''])
    expect(await call('PATCH', path, { as: admin, body: { sso_enforcement } })).toMatchObject(early)
  expect(await call('PATCH', path, { as: admin, body: { jit_provisioning_enabled: false, sso_enforcement: '' } })).toMatchObject(
    refused(400, 'verification_required', undefined, 'jit_provisioning_enabled'),
  )
  expect((await call('POST', `${path}verify`, { as: admin })).body.is_verified, 'no record yet').toBe(false)
  world.txt.set('_waymark-challenge.shop.example.com', ['other', `${made.verification_challenge}x`])
  expect((await call('POST', `${path}verify`, { as: admin })).body.is_verified, 'not the very text').toBe(false)
  world.txt.set('_waymark-challenge.shop.example.com', ['other', made.verification_challenge])
  expect((await call('POST', `${path}verify`, { as: admin })).body).toMatchObject({
    is_verified: true,
    verified_at: '2031-05-05T10:00:00Z',
  })
  expect(await call('POST', `${path}verify`, { as: admin })).toMatchObject(refused(400, 'already_verified'))
  const saml = { saml_entity_id: 'e', saml_acs_url: 'https://idp.example.com', saml_x509_cert: 'c' }
  const changed = await call('PATCH', path, { as: admin, body: { sso_enforcement: 'saml', jit_provisioning_enabled: 'true', ...saml } })
  expect(changed.body).toMatchObject({ sso_enforcement: 'saml', jit_provisioning_enabled: true, has_saml: true })
  expect(await call('PATCH', path, { as: admin, body: { sso_enforcement: 'okta' } })).toMatchObject(
    refused(400, 'invalid_choice', undefined, 'sso_enforcement'),
  )
  const renamed = await call('PATCH', path, { as: admin, body: { domain: 'store.example.com' } })
  expect(renamed.body).toMatchObject({ is_verified: false, sso_enforcement: '', jit_provisioning_enabled: false, has_saml: true })
  expect(renamed.body.verification_challenge).not.toBe(made.verification_challenge)
  expect((await call('GET', base, { as: member })).body).toMatchObject({ count: 1, results: [{ id: made.id }] })
  expect(await call('DELETE', path, { as: member })).toMatchObject(refused(403, 'permission_denied'))
  expect((await call('DELETE', path, { as: admin })).status).toBe(204)
  expect(await call('GET', path, { as: admin })).toMatchObject(refused(404, 'not_found'))
  world.now = null
})

test('without --hosted a domain is no more proven; what was sent with it waits', async () => {
  const { call, admin, world } = held.home
  world.settings = { ...world.settings, isHosted: false }
  const body = { domain: 'claimed.example.com', jit_provisioning_enabled: true, sso_enforcement: 'saml' }
  const { body: made } = await call('POST', base, { as: admin, body })
  const pending = { jit_provisioning_enabled: true, sso_enforcement: 'saml' }
  expect(made).toMatchObject({
    is_verified: false,
    verified_at: expect.any(String),
    jit_provisioning_enabled: false,
    sso_enforcement: '',
    pending,
  })
  const path = `${base}${made.id}/`
  expect((await call('POST', `${path}verify`, { as: admin })).body, 'no record yet').toMatchObject({ is_verified: false, pending })
  world.txt.set('_waymark-challenge.claimed.example.com', [made.verification_challenge])
  expect((await call('POST', `${path}verify`, { as: admin })).body).toMatchObject({
    is_verified: true,
    ...pending,
    pending: null,
    not_enforced: [],
  })
  expect(await call('POST', `${path}verify`, { as: admin })).toMatchObject(refused(400, 'already_verified'))
})

test('the operator gives a domain to its owner, unless another organization has proven it', async () => {
  const { call, admin, outsider, other, organization, world } = held.home
  const { domains } = world.accounts
  const { body: claim } = await call('POST', base, { as: outsider, body: { domain: 'stolen.example.com' } })
  await domains.vouch('stolen.example.com', organization.id)
  const { body } = await call('GET', base, { as: admin })
  expect(body.results.find((one: { domain: string }) => one.domain === 'stolen.example.com')).toMatchObject({ is_verified: true })
  expect(await call('GET', `${base}${claim.id}/`, { as: outsider })).toMatchObject(refused(404, 'not_found'))
  await expect(domains.vouch('stolen.example.com', other.id)).rejects.toMatchObject({ code: 'invalid-value', attr: 'domain' })
  await expect(domains.vouch('stolen.example.com', null)).rejects.toMatchObject({ code: 'invalid-value' })
  await expect(domains.vouch('Not a domain', other.id)).rejects.toMatchObject({ code: 'invalid-value', attr: 'domain' })
})

test('a domain belongs to one organization', async () => {
  const { call, admin, outsider } = held.home
  await call('POST', base, { as: outsider, body: { domain: 'taken.example.com' } })
  expect(await call('POST', base, { as: admin, body: { domain: 'taken.example.com' } })).toMatchObject(
    refused(400, 'unique', 'domain with this domain already exists.', 'domain'),
  )
})

const names: [string, string | null][] = [
  ['example.com', null],
  ['a-b.c1.example.co', null],
  ['-a.example.com', 'invalid_input'],
  ['a--b.example.com', 'invalid_input'],
  ['a-.example.com', 'invalid_input'],
  ['Example.com', 'invalid_input'],
  ['example', 'invalid_input'],
  ['example.c', 'invalid_input'],
  ['ex ample.com', 'invalid_input'],
  ['a@example.com', 'invalid_input'],
  ['', 'blank'],
  [`${'x'.repeat(125)}.com`, 'max_length'],
]
test.each(names)('the name %s', async (domain, code) => {
  const { call, admin } = held.home
  const answer = await call('POST', base, { as: admin, body: { domain } })
  if (code) expect(answer).toMatchObject(refused(400, code, undefined, 'domain'))
  else expect(answer.status).toBe(201)
})

test('name servers are really asked', async () => {
  const server = await startNameServer({
    '_waymark-challenge.real.test': { type: 'TXT', data: ['first', 'rest'] },
    'events.real.test': { type: 'CNAME', data: 'abc.proxy.test' },
  })
  const [texts, cname] = [createTxtLookup([server.address]), createCnameLookup([server.address])]
  expect(await texts('_waymark-challenge.real.test')).toEqual(['first'])
  expect(await texts('_waymark-challenge.none.test')).toEqual([])
  expect(await cname('events.real.test')).toBe('abc.proxy.test')
  expect(await cname('none.real.test')).toBe(null)
  server.stop()
})
