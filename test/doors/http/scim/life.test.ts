import { describe, expect, test } from 'vitest'
import type { User } from '../../../../src/service/accounts/records.ts'
import { level } from '../../../../src/service/accounts/records.ts'
import { refused, withHome } from '../conversation.ts'
import { patchOf, provision, type ScimProvider, sendScim } from './provider.ts'

// The whole life of a user and of a group, in the words of Entra ID and of Okta, and what it means for the account.

const held = withHome()
let made = 0
const newDomain = () => provision(held.home, `life${++made}.test`, held.home.organization, held.home.admin)
const accountOf = async (address: string): Promise<User> => (await held.home.world.accounts.users.byEmail(address))!
const membershipOf = (user: User) => held.home.world.accounts.organizations.membership(held.home.organization.id, user)
const log = async (user: User) => {
  const { activity } = held.home.world.accounts.context.store.read
  return (await activity.find({ scope: 'User', item_id: String(user.id) })).map((entry) => entry.activity)
}

interface Dialect {
  /** Attributes of a user, by their paths. */
  change(provider: ScimProvider, id: string, attributes: Readonly<Record<string, string | boolean>>): ReturnType<ScimProvider['send']>
  add(provider: ScimProvider, group: string, user: string): ReturnType<ScimProvider['send']>
  take(provider: ScimProvider, group: string, user: string): ReturnType<ScimProvider['send']>
}
const dialects: Readonly<Record<string, Dialect>> = {
  'Entra ID': {
    change: (provider, id, attributes) => {
      const text = (value: string | boolean) => (typeof value === 'boolean' ? (value ? 'True' : 'False') : value)
      const operations = Object.entries(attributes).map(([path, value]) => ({ op: 'Replace', path, value: text(value) }))
      return provider.send('PATCH', `/Users/${id}`, patchOf(...operations))
    },
    add: (provider, group, value) =>
      provider.send('PATCH', `/Groups/${group}`, patchOf({ op: 'Add', path: 'members', value: [{ $ref: null, value }] })),
    take: (provider, group, value) =>
      provider.send('PATCH', `/Groups/${group}`, patchOf({ op: 'Remove', path: 'members', value: [{ $ref: null, value }] })),
  },
  Okta: {
    change: async (provider, id, attributes) => {
      if (Object.keys(attributes).join() === 'active')
        return provider.send('PATCH', `/Users/${id}`, patchOf({ op: 'replace', value: attributes }))
      const { body } = await provider.send('GET', `/Users/${id}`)
      const { 'name.givenName': givenName, 'name.familyName': familyName, ...others } = attributes
      const name = { ...body.name, ...(givenName !== undefined && { givenName }), ...(familyName !== undefined && { familyName }) }
      return provider.send('PUT', `/Users/${id}`, { ...body, ...others, name })
    },
    add: (provider, group, value) =>
      provider.send('PATCH', `/Groups/${group}`, patchOf({ op: 'add', path: 'members', value: [{ value }] })),
    take: (provider, group, value) =>
      provider.send('PATCH', `/Groups/${group}`, patchOf({ op: 'remove', path: `members[value eq "${value}"]` })),
  },
}

describe.each(Object.entries(dialects))('in the words of %s', (_, dialect) => {
  test('created, found, renamed, moved, put into a group, deactivated, activated, taken out, deleted', async () => {
    const { call, world, organization, admin } = held.home
    const provider = await newDomain()
    const { domain } = provider.domain
    expect((await provider.send('GET', `/Users?filter=userName eq "ann@${domain}"`)).body.totalResults).toBe(0)
    const { status, body: created } = await provider.user('ann')
    expect([status, created]).toMatchObject([201, { userName: `ann@${domain}`, externalId: 'ext ann', active: true, groups: [] }])
    const ann = await accountOf(`ann@${domain}`)
    expect(ann).toMatchObject({ is_active: true, first_name: 'ann', is_email_verified: true, password_hash: null })
    expect(await membershipOf(ann), 'at the lowest level').toMatchObject({ level: level.viewer })
    for (const filter of [
      `userName eq "ANN@${domain}"`,
      'externalId eq "ext ann"',
      `emails[type eq "work"].value eq "ann@${domain}"`,
      `id eq "${created.id}"`,
      'displayName eq "ann" and active eq true',
    ])
      expect((await provider.send('GET', `/Users?filter=${encodeURIComponent(filter)}`)).body.Resources, filter).toMatchObject([
        { id: created.id },
      ])

    const renamed = await dialect.change(provider, created.id, { 'name.givenName': 'Ann', 'name.familyName': 'Lee' })
    expect([renamed.status, renamed.body.name]).toEqual([200, { formatted: 'Ann Lee', givenName: 'Ann', familyName: 'Lee' }])
    const moved = await dialect.change(provider, created.id, { userName: `lee@${domain}` })
    expect([moved.status, moved.body]).toMatchObject([200, { id: created.id, userName: `lee@${domain}` }])
    expect(await accountOf(`lee@${domain}`)).toMatchObject({ id: ann.id, first_name: 'Ann', last_name: 'Lee', is_email_verified: true })

    // A group opens a private project, once an administrator has opened the project to it.
    const project = await world.makeProject(organization.id, { access_control: true })
    const { body: group } = await provider.send('POST', '/Groups', { displayName: `Analysts ${domain}`, externalId: 'g1' })
    const mayRead = async () => (await call('GET', `/api/projects/${project.id}/insights/`, { headers: await world.login(ann) })).status
    expect((await dialect.add(provider, group.id, created.id)).status).toBe(204)
    expect(await mayRead(), 'a group gives nothing by itself').toBe(403)
    const given = await call('POST', `/api/projects/${project.id}/role_access/`, { as: admin, body: { role_id: group.id } })
    expect(given).toMatchObject({ status: 201, body: { role_id: group.id, name: `Analysts ${domain}`, level: 1 } })
    expect(await mayRead()).toBe(200)
    expect((await call('GET', `/api/organizations/${organization.id}/roles/${group.id}/`, { as: admin })).body).toMatchObject({
      from_domain: domain,
      members: [{ user: { uuid: ann.uuid } }],
    })

    const session = await world.login(ann)
    const key = await held.home.key(ann, ['*'])
    expect((await call('GET', '/api/users/@me/', { headers: session })).status).toBe(200)
    const off = await dialect.change(provider, created.id, { active: false })
    expect([off.status, off.body.active]).toEqual([200, false])
    expect((await call('GET', '/api/users/@me/', { headers: session })).status, 'its session').toBe(401)
    expect((await call('GET', '/api/users/@me/', { as: key })).status, 'its key').toBe(401)
    expect(await accountOf(`lee@${domain}`)).toMatchObject({ is_active: false, deactivated_by: domain })
    expect(await membershipOf(ann)).toBeUndefined()
    expect((await provider.send('GET', `/Users/${created.id}`)).body.active).toBe(false)
    expect((await provider.send('GET', '/Users?filter=active eq false')).body.Resources).toMatchObject([{ id: created.id }])
    expect((await call('GET', `/api/organizations/${organization.id}/roles/${group.id}/`, { as: admin })).body.members).toEqual([])

    const on = await dialect.change(provider, created.id, { active: true })
    expect([on.status, on.body]).toMatchObject([200, { active: true, groups: [{ value: group.id }] }])
    expect(await membershipOf(ann), 'at the lowest level again').toMatchObject({ level: level.viewer })
    expect((await call('GET', '/api/users/@me/', { headers: session })).status, 'the session does not come back').toBe(401)
    expect((await call('GET', '/api/users/@me/', { as: key })).status, 'nor the key').toBe(401)
    expect(await mayRead(), 'the provider has never taken it from the group').toBe(200)

    expect((await dialect.take(provider, group.id, created.id)).status).toBe(204)
    expect(await mayRead()).toBe(403)
    expect((await provider.send('GET', `/Groups?filter=members eq "${created.id}"`)).body.totalResults).toBe(0)
    const again = await held.home.key(ann, ['*'])
    expect((await provider.send('DELETE', `/Users/${created.id}`)).status).toBe(204)
    expect((await call('GET', '/api/users/@me/', { as: again })).status).toBe(401)
    expect((await provider.send('GET', `/Users/${created.id}`)).status).toBe(404)
    expect((await provider.send('DELETE', `/Groups/${group.id}`)).status).toBe(204)
    expect((await call('GET', `/api/projects/${project.id}/role_access/`, { as: admin })).body.count).toBe(0)
    expect(await log(ann)).toEqual(expect.arrayContaining(['provisioned', 'updated', 'deactivated', 'activated', 'deprovisioned']))

    const back = await provider.user('lee')
    expect([back.status, back.body.id], 'the same account').toEqual([201, ann.uuid])
    expect(await accountOf(`lee@${domain}`)).toMatchObject({ id: ann.id, is_active: true, deactivated_by: null })
  })
})

describe('what an account has elsewhere', () => {
  test('membership ends here only, sessions and keys end everywhere, once', async () => {
    const { call, world, other, outsider, organization } = held.home
    const provider = await newDomain()
    const { domain } = provider.domain
    const ann = await world.user(`ann@${domain}`, other.id)
    expect((await provider.send('GET', `/Users?filter=userName eq "ann@${domain}"`)).body.totalResults, 'not a member here').toBe(0)
    const { body: created } = await provider.user('ann')
    expect(created.id, 'the same account').toBe(ann.uuid)
    const key = await held.home.key(ann, ['*'])
    await provider.send('PATCH', `/Users/${ann.uuid}`, patchOf({ op: 'replace', value: { active: false } }))
    expect((await call('GET', '/api/users/@me/', { as: key })).status).toBe(401)
    expect(await accountOf(ann.email), 'it belongs to another organization').toMatchObject({ is_active: true })
    expect((await call('GET', `/api/organizations/${other.id}/members/`, { as: ann })).status).toBe(200)
    expect((await call('GET', `/api/organizations/${organization.id}/members/`, { as: ann })).status).toBe(403)
    const { results } = (await call('GET', `/api/organizations/${other.id}/activity/?limit=100`, { as: outsider })).body
    expect(results[0]).toMatchObject({ activity: 'access_ended', detail: { name: ann.email, trigger: { job_type: 'scim', domain } } })
    // It goes on in the other organization. Repeated, it ends nothing more.
    const later = await held.home.key(ann, ['*'])
    const put = await provider.send('PUT', `/Users/${ann.uuid}`, { userName: ann.email, active: false })
    expect([put.status, put.body.active]).toEqual([200, false])
    expect((await provider.send('DELETE', `/Users/${ann.uuid}`)).status).toBe(204)
    expect((await call('GET', '/api/users/@me/', { as: later })).status).toBe(200)
  })

  test('an invitation from before does not let back in who was deactivated', async () => {
    const { call, world, admin, organization } = held.home
    const provider = await newDomain()
    const ann = await world.user(`ann@${provider.domain.domain}`, held.home.other.id)
    const at = `/api/organizations/${organization.id}/invites/`
    const { body: invite } = await call('POST', at, { as: admin, body: { target_email: ann.email, level: 8 } })
    await provider.user('ann')
    await provider.send('PATCH', `/Users/${ann.uuid}`, patchOf({ op: 'Replace', path: 'active', value: 'False' }))
    expect((await call('POST', `/api/signup/${invite.secret}/`, { as: ann })).status).toBe(400)
    expect(await membershipOf(ann)).toBeUndefined()
    // A new one is what an administrator has decided since.
    const { body: later } = await call('POST', at, { as: admin, body: { target_email: ann.email, level: 1 } })
    expect((await call('POST', `/api/signup/${later.secret}/`, { as: ann })).status).toBe(201)
    expect((await provider.send('GET', `/Users/${ann.uuid}`)).body.active).toBe(true)
  })

  test('the first proof of an address ends what the account had before', async () => {
    const { call, world } = held.home
    const provider = await newDomain()
    const { domain } = provider.domain
    // Somebody has opened an account with an address that nobody has proven.
    const stranger = await world.accounts.createUser(null, { email: `ann@${domain}`, first_name: 'Mallory', password_hash: 'x' }, 'member')
    await world.accounts.context.store.write((tables) =>
      tables.users.update({ id: stranger.id }, { is_email_verified: false, unproven_since: new Date() }),
    )
    const key = await held.home.key(stranger, ['*'])
    expect((await provider.user('ann')).status).toBe(201)
    expect((await call('GET', '/api/users/@me/', { as: key })).status).toBe(401)
    expect(await accountOf(stranger.email)).toMatchObject({ id: stranger.id, password_hash: null, is_email_verified: true })
  })

  test('whom the operator has deactivated stays so', async () => {
    const { world } = held.home
    const provider = await newDomain()
    const { domain } = provider.domain
    const { body: created } = await provider.user('ann')
    await world.accounts.activation.deactivate(`ann@${domain}`)
    const on = () => provider.send('PATCH', `/Users/${created.id}`, patchOf({ op: 'replace', value: { active: true } }))
    expect(await on()).toMatchObject({ status: 403, body: { detail: 'The operator of this server has deactivated the account.' } })
    await world.accounts.activation.activate(`ann@${domain}`)
    expect((await on()).body.active).toBe(true)
    // The provider first, then the operator.
    await provider.send('PATCH', `/Users/${created.id}`, patchOf({ op: 'replace', value: { active: false } }))
    await world.accounts.activation.deactivate(`ann@${domain}`)
    expect((await on()).status).toBe(403)
  })

  test('who was deactivated does not join by signing in, until the provider says otherwise', async () => {
    const { world, admin, organization } = held.home
    const { accounts } = world
    const provider = await newDomain()
    const { domain } = provider.domain
    const by = { user: admin, membership: (await accounts.organizations.membership(organization.id, admin))! }
    await accounts.domains.update(by, provider.domain, { jit_provisioning_enabled: true })
    const open = (await accounts.domains.byId(organization.id, provider.domain.id))!
    const ann = await world.user(`ann@${domain}`, held.home.other.id)
    await provider.user('ann')
    const signIn = () =>
      accounts.identities.find(
        {
          provider: `oidc ${open.id}`,
          issuer: 'https://login.test',
          subject: 'ann',
          email: ann.email,
          isEmailVerified: true,
          managesDomain: true,
          firstName: 'Ann',
          lastName: '',
          domain: open,
          once: null,
        },
        { address: null, user_agent: null },
      )
    await provider.send('PATCH', `/Users/${ann.uuid}`, patchOf({ op: 'replace', value: { active: false } }))
    await signIn()
    expect(await membershipOf(ann)).toBeUndefined()
    await provider.send('PATCH', `/Users/${ann.uuid}`, patchOf({ op: 'replace', value: { active: true } }))
    expect(await membershipOf(ann)).toMatchObject({ level: level.viewer })
    // Whom an administrator removes joins again, as before.
    await accounts.members.remove(by, (await accounts.members.byUserUuid(organization.id, ann.uuid))!)
    expect((await provider.send('GET', `/Users/${ann.uuid}`)).body.active).toBe(false)
    await signIn()
    expect(await membershipOf(ann)).toMatchObject({ level: level.viewer })
  })

  test('an identity that is named by the old address does not reach the account any more, the one named by the new address does', async () => {
    const { accounts } = held.home.world
    const provider = await newDomain()
    const { domain } = provider
    const { body: created } = await provider.user('Ann')
    const signIn = (email: string, subject = email.toLowerCase()) =>
      accounts.identities.find(
        {
          provider: `saml ${domain.id}`,
          issuer: 'https://login.test',
          subject,
          email,
          isEmailVerified: true,
          managesDomain: true,
          firstName: '',
          lastName: '',
          domain,
          once: null,
        },
        { address: null, user_agent: null },
      )
    expect((await signIn(`Ann@${domain.domain}`)).uuid).toBe(created.id)
    await provider.send('PUT', `/Users/${created.id}`, { userName: `lee@${domain.domain}` })
    expect((await signIn(`lee@${domain.domain}`)).uuid).toBe(created.id)
    const { body: second } = await provider.user('ann')
    expect((await signIn(`ann@${domain.domain}`)).uuid, 'another person has the address now').toBe(second.id)
    // What does not depend on the address stays.
    const { body: third } = await provider.user('kim')
    expect((await signIn(`kim@${domain.domain}`, 'id 7')).uuid).toBe(third.id)
    await provider.send('PUT', `/Users/${third.id}`, { userName: `kay@${domain.domain}` })
    expect((await signIn(`kay@${domain.domain}`, 'id 7')).uuid).toBe(third.id)
  })

  test('the owner cannot be deactivated or deleted; what comes with it is not done either', async () => {
    const { world, other, outsider } = held.home
    const organization = await world.makeOrganization({ name: 'Owned', owner: null, withProject: true })
    const owner = await world.user('owner@owned.test', organization.id, 'owner')
    const provider = await provision(held.home, 'owned.test', organization, owner)
    const off = await provider.send('PUT', `/Users/${owner.uuid}`, { userName: owner.email, name: { givenName: 'Changed' }, active: false })
    expect(off).toMatchObject({ status: 403, body: { detail: expect.stringContaining('Pass ownership on first') } })
    expect(await accountOf(owner.email)).toMatchObject({ first_name: owner.first_name, is_active: true })
    expect((await provider.send('DELETE', `/Users/${owner.uuid}`)).status).toBe(403)
    const key = await held.home.key(owner, ['*'])
    expect((await held.home.call('GET', `/api/organizations/${organization.id}/`, { as: key })).status).toBe(200)
    // The owner of another organization who is a member here loses this membership only.
    await world.accounts.context.store.write((tables) => tables.users.update({ id: outsider.id }, { email: 'out@owned.test' }))
    expect((await provider.user('out')).status).toBe(201)
    expect((await provider.send('DELETE', `/Users/${outsider.uuid}`)).status).toBe(204)
    expect(await world.accounts.organizations.membership(other.id, outsider)).toMatchObject({ level: level.owner })
    expect((await world.accounts.users.byId(outsider.id))!.is_active).toBe(true)
    await world.accounts.context.store.write((tables) => tables.users.update({ id: outsider.id }, { email: 'outsider@else.test' }))
  })

  test('created without being active, and activated later', async () => {
    const provider = await newDomain()
    const { status, body } = await provider.user('ann', { active: false })
    expect([status, body.active]).toEqual([201, false])
    const ann = await accountOf(`ann@${provider.domain.domain}`)
    expect([ann.is_active, await membershipOf(ann)]).toEqual([false, undefined])
    expect((await provider.send('PATCH', `/Users/${body.id}`, patchOf({ op: 'Replace', path: 'active', value: 'True' }))).body.active).toBe(
      true,
    )
    expect(await membershipOf(ann)).toMatchObject({ level: level.viewer })
  })

  test('a member who was there before is found, described, and keeps the level', async () => {
    const { world, organization } = held.home
    const provider = await newDomain()
    const ann = await world.user(`ann@${provider.domain.domain}`, organization.id, 'admin')
    const found = await provider.send('GET', `/Users?filter=userName eq "${ann.email}"`)
    expect(found.body.Resources).toMatchObject([{ id: ann.uuid, active: true }])
    await provider.send('PUT', `/Users/${ann.uuid}`, { userName: ann.email, externalId: 'e1', active: true, level: 15 })
    expect(await membershipOf(ann)).toMatchObject({ level: level.admin })
    expect((await provider.send('GET', '/Users?filter=externalId eq "e1"')).body.totalResults).toBe(1)
    expect((await provider.user('ann')).status, 'it exists').toBe(409)
  })

  test('a work address that is not the user name is shown as it was sent, and used for nothing', async () => {
    const provider = await newDomain()
    const { domain } = provider.domain
    const emails = [{ type: 'work', value: 'ann.lee@mail.test', primary: true }]
    const { body } = await provider.user('ann', { emails })
    expect(body).toMatchObject({ userName: `ann@${domain}`, emails })
    expect((await accountOf(`ann@${domain}`)).email).toBe(`ann@${domain}`)
    expect(await held.home.world.accounts.users.byEmail('ann.lee@mail.test')).toBeUndefined()
    const back = await provider.send('PATCH', `/Users/${body.id}`, patchOf({ op: 'Remove', path: 'emails[type eq "work"].value' }))
    expect(back.body.emails).toMatchObject([{ value: `ann@${domain}` }])
  })
})

describe('tokens', () => {
  test('are made by administrators with a recent login, shown once, replaced and revoked; each is noted', async () => {
    const { call, admin, member, owner, organization, world } = held.home
    const provider = await newDomain()
    const at = `/api/organizations/${organization.id}/domains/${provider.domain.id}/`
    const listed = (await call('GET', at, { as: member })).body
    expect(listed.scim_token).toMatchObject({ mask_value: expect.stringMatching(/^scim\.\.\./), last_used_at: null })
    expect(JSON.stringify(listed)).not.toContain(provider.token)
    expect(await call('POST', `${at}scim_token/`, { as: member })).toMatchObject(refused(403, 'permission_denied'))
    expect(await call('POST', `${at}scim_token/`, { as: await held.home.key(owner, ['*']) })).toMatchObject(
      refused(403, 'permission_denied'),
    )
    expect((await provider.send('GET', '/Users')).status).toBe(200)
    expect((await call('GET', at, { as: member })).body.scim_token.last_used_at).toEqual(expect.any(String))
    const { body: next } = await call('POST', `${at}scim_token/`, { as: admin })
    expect((await provider.send('GET', '/Users')).status, 'replaced').toBe(401)
    expect((await sendScim(held.home, next.value, 'GET', '/Users')).status).toBe(200)
    expect((await call('DELETE', `${at}scim_token/`, { as: admin })).status).toBe(204)
    expect((await sendScim(held.home, next.value, 'GET', '/Users')).status, 'revoked').toBe(401)
    expect((await call('GET', at, { as: member })).body.scim_token).toBe(null)
    const { activity } = world.accounts.context.store.read
    const entries = await activity.find({ scope: 'OrganizationDomain', item_id: provider.domain.id })
    expect(entries.map((one) => one.activity)).toEqual(
      expect.arrayContaining(['scim_token_created', 'scim_token_replaced', 'scim_token_revoked']),
    )
    expect(entries.find((one) => one.activity === 'scim_token_replaced')?.detail).toMatchObject({ from: { address: expect.any(String) } })
  })
})
