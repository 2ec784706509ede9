import { request } from 'node:http'
import { expect, test } from 'vitest'
import { deferred } from '../../../src/lib/flow/deferred.ts'
import { refused, withHome } from './conversation.ts'

// What a request was allowed, or found, when it came in may be over when it writes: between the two it waited for a name server, or for its own body.

const held = withHome()
const domains = '/api/organizations/@current/domains/'

/** Runs `meanwhile` while the name servers are being asked. */
const duringLookup = async <T>(work: () => Promise<T>, meanwhile: () => Promise<unknown>): Promise<T> => {
  const { context } = held.home.world.accounts
  const { lookupTxt, lookupCname } = context
  const [asked, answers] = [deferred<void>(), deferred<void>()]
  const slow =
    <A>(lookup: (name: string) => Promise<A>) =>
    async (name: string) => {
      asked.resolve()
      await answers.promise
      return lookup(name)
    }
  Object.assign(context, { lookupTxt: slow(lookupTxt), lookupCname: slow(lookupCname) })
  const working = work()
  await asked.promise
  await meanwhile()
  Object.assign(context, { lookupTxt, lookupCname })
  answers.resolve()
  return working
}

const ownDomain = async (domain: string) => {
  const { call, admin, world } = held.home
  world.settings = { ...world.settings, isHosted: true }
  const { body } = await call('POST', domains, { as: admin, body: { domain } })
  world.txt.set(`_waymark-challenge.${domain}`, [body.verification_challenge])
  return { ...body, path: `${domains}${body.id}/` }
}

test('a domain that is renamed while its name servers are asked is not proven', async () => {
  const { call, admin } = held.home
  const own = await ownDomain('mine.example.com')
  const verified = await duringLookup(
    () => call('POST', `${own.path}verify/`, { as: admin }),
    () => call('PATCH', own.path, { as: admin, body: { domain: 'bank.example.com' } }),
  )
  expect(verified).toMatchObject({ status: 200, body: { domain: 'bank.example.com', is_verified: false, verified_at: null } })
  expect((await call('GET', own.path, { as: admin })).body).toMatchObject({ domain: 'bank.example.com', is_verified: false })
})

test('a rename clears what was proven of the name before, and what was decided on it', async () => {
  const { call, admin } = held.home
  const own = await ownDomain('old.example.com')
  const decided = { sso_enforcement: 'saml', jit_provisioning_enabled: true }
  expect((await call('POST', `${own.path}verify/`, { as: admin })).body.is_verified).toBe(true)
  expect((await call('PATCH', own.path, { as: admin, body: decided })).body).toMatchObject(decided)
  for (const field of Object.entries(decided))
    expect(
      await call('PATCH', own.path, { as: admin, body: { domain: 'theirs.example.com', ...Object.fromEntries([field]) } }),
      'together with the new name',
    ).toMatchObject(refused(400, 'verification_required', undefined, field[0]))
  const same = await call('PATCH', own.path, { as: admin, body: { domain: 'old.example.com', ...decided } })
  expect(same.body, 'its own name is no other').toMatchObject({ is_verified: true, ...decided })
  const renamed = await call('PATCH', own.path, { as: admin, body: { domain: 'theirs.example.com' } })
  expect(renamed.body).toMatchObject({ is_verified: false, sso_enforcement: '', jit_provisioning_enabled: false })
  expect(renamed.body.verification_challenge).not.toBe(own.verification_challenge)
  expect((await call('PATCH', own.path, { as: admin, body: { domain: 'old.example.com' } })).body.is_verified, 'and back').toBe(false)
})

test('what is gone, or is no longer allowed, by the time the name servers answer', async () => {
  const { call, admin, owner, organization, world } = held.home
  const gone = await ownDomain('gone.example.com')
  const removing = () => call('DELETE', gone.path, { as: admin })
  expect(await duringLookup(() => call('POST', `${gone.path}verify/`, { as: admin }), removing)).toMatchObject(refused(404, 'not_found'))

  const [kept, lowered] = [await ownDomain('kept.example.com'), await world.user('lowered@acme.test', organization.id, 'admin')]
  const lowering = () => call('PATCH', `/api/organizations/@current/members/${lowered.uuid}/`, { as: owner, body: { level: 1 } })
  expect(await duringLookup(() => call('POST', `${kept.path}verify/`, { as: lowered }), lowering)).toMatchObject(
    refused(403, 'permission_denied'),
  )
  expect((await call('GET', kept.path, { as: admin })).body.is_verified).toBe(false)
})

test('a proxy record that is renamed meanwhile waits for its own name', async () => {
  const { call, admin, world } = held.home
  const base = '/api/organizations/@current/proxy_records/'
  const { body: record } = await call('POST', base, { as: admin, body: { domain: 'events.example.com' } })
  world.cname.set('events.example.com', record.target_cname)
  const path = `${base}${record.id}/`
  const retried = await duringLookup(
    () => call('POST', `${path}retry/`, { as: admin }),
    () => call('PATCH', path, { as: admin, body: { domain: 'others.example.com' } }),
  )
  expect(retried.body).toMatchObject({ domain: 'others.example.com', status: 'waiting' })
})

/** A request whose body stays away until `meanwhile` is done. */
const withSlowBody = async (method: string, path: string, key: string, body: object, meanwhile: () => Promise<unknown>) => {
  const { world } = held.home
  const inFlight = async () => Number(/in_flight (\d+)/.exec(await (await fetch(`${world.url}/metrics`)).text())![1])
  const text = JSON.stringify(body)
  while ((await inFlight()) > 1); // the page is made once a second
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
  const sent = request(world.url + path, { method, headers })
  const answered = deferred<number>()
  sent.on('response', (response) => answered.resolve(response.resume().statusCode!)).on('error', (error) => answered.reject(error))
  sent.write(text.slice(0, 1))
  while ((await inFlight()) === 1); // it has come in once it is counted
  await meanwhile()
  sent.end(text.slice(1))
  return answered.promise
}

test('rights that end while a body arrives do not count for it', async () => {
  const { call, owner, organization, world } = held.home
  const members = '/api/organizations/@current/members/'
  const invites = `/api/organizations/${organization.id}/invites/`
  const body = { target_email: 'late@acme.test', level: 8 }
  const { context } = world.accounts
  const left = await world.user('left@acme.test', organization.id, 'admin')
  const values = [await held.home.key(left, ['*']), await held.home.key(left, ['*']), await held.home.key(left, ['*'])] as const
  const [first] = await world.accounts.personalKeys.list(left)
  expect(await withSlowBody('POST', invites, values[2], body, () => world.accounts.personalKeys.remove(left, first!)), 'a key').toBe(401)
  const set = (is_active: boolean) => context.store.write((tables) => tables.users.update({ id: left.id }, { is_active }))
  expect(await withSlowBody('POST', invites, values[0], body, () => set(false)), 'a user').toBe(401)
  await set(true)
  const removing = () => call('DELETE', `${members}${left.uuid}/`, { as: owner })
  expect(await withSlowBody('POST', invites, values[0], body, removing), 'a membership').toBe(403)
  expect((await call('GET', invites, { as: owner })).body.count).toBe(0)
})

test('what is changed twice at once is changed as it is by then', async () => {
  const { call, admin } = held.home
  const roles = '/api/organizations/@current/roles/'
  const { body: role } = await call('POST', roles, { as: admin, body: { name: 'Twice' } })
  const remove = () => call('DELETE', `${roles}${role.id}/`, { as: admin })
  const [one, two, three] = await Promise.all([
    remove(),
    call('PATCH', `${roles}${role.id}/`, { as: admin, body: { name: 'Late' } }),
    remove(),
  ])
  expect([one.status, two.status, three.status].sort()).toEqual([204, 404, 404])
})
