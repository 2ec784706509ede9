import { expect, test } from 'vitest'
import { refused, withHome } from './conversation.ts'

const held = withHome()
const base = '/api/organizations/@current/invites/'

test('an invitation is mailed, looked at, and accepted with a password', async () => {
  const { call, member, admin, world } = held.home
  world.hasMail = true
  world.outbox.length = 0
  const made = await call('POST', base, {
    as: member,
    body: { target_email: 'New.Person@EXAMPLE.com', first_name: 'New', message: 'come' },
  })
  expect(made).toMatchObject({
    status: 201,
    body: {
      target_email: 'New.Person@example.com',
      level: 1,
      is_expired: false,
      emailing_attempt_made: true,
      created_by: { uuid: member.uuid },
    },
  })
  expect(world.outbox).toMatchObject([{ to: 'New.Person@example.com', replyTo: member.email }])
  expect(world.outbox[0]!.text).toContain(`${world.url}/signup/${made.body.id}`)
  const page = `/api/signup/${made.body.id}/`
  expect((await call('GET', page)).body).toEqual({
    id: made.body.id,
    target_email: 'N********n@example.com',
    first_name: 'New',
    organization_name: 'Default',
  })
  expect(await call('GET', page, { as: admin })).toMatchObject(refused(400, 'invalid_recipient'))
  expect(await call('POST', page, { body: { first_name: 'New', password: 'short' } })).toMatchObject(
    refused(400, 'min_length', undefined, 'password'),
  )
  await call('POST', base, { as: admin, body: { target_email: 'new.person@example.com', level: 8 } })
  world.outbox.length = 0
  const joined = await call('POST', page, { body: { first_name: 'Nova', password: 'correct horse' } })
  expect(joined).toMatchObject({ status: 201, body: { email: 'New.Person@example.com', first_name: 'Nova', is_email_verified: true } })
  expect(world.outbox.map((mail) => mail.to).sort()).toEqual(['admin@acme.test', 'member@acme.test', 'owner@acme.test'])
  const session = joined.headers.get('set-cookie')!.split(';')[0]!
  expect((await call('GET', '/api/users/@me/', { headers: { cookie: session } })).body).toMatchObject({
    has_password: true,
    organization: { membership_level: 1 },
  })
  expect((await call('GET', base, { as: admin })).body.count, 'every invitation for the address is gone').toBe(0)
  expect(await call('POST', page, { body: { first_name: 'x', password: 'correct horse' } })).toMatchObject(
    refused(400, 'invalid_input', 'The provided invite ID is not valid.'),
  )
  expect((await call('POST', '/api/login/', { body: { email: 'new.person@example.com', password: 'correct horse' } })).status).toBe(200)
  world.hasMail = false
})

test('a user who is there already joins with the login', async () => {
  const { call, admin, organization, outsider, world } = held.home
  const { body: invite } = await call('POST', base, { as: admin, body: { target_email: outsider.email, level: 8 } })
  expect(await call('GET', `/api/signup/${invite.id}/`)).toMatchObject(refused(400, 'account_exists', `/login?next=/signup/${invite.id}`))
  expect((await call('POST', `/api/signup/${invite.id}/`, { as: outsider, body: {} })).status).toBe(201)
  expect((await world.accounts.organizations.membership(organization.id, outsider))?.level).toBe(8)
})

test('whoever is invited as an owner beside the owner becomes an administrator', async () => {
  const { call, owner, organization, world } = held.home
  const { body: invite } = await call('POST', base, { as: owner, body: { target_email: 'heir@acme.test', level: 15 } })
  expect(invite.level).toBe(15)
  const body = { first_name: 'Heir', password: 'correct horse' }
  expect((await call('POST', `/api/signup/${invite.id}/`, { body })).status).toBe(201)
  const heir = (await world.accounts.users.byEmail('heir@acme.test'))!
  expect((await world.accounts.organizations.membership(organization.id, heir))?.level).toBe(8)
})

test('who may invite whom', async () => {
  const { call, member, admin } = held.home
  const invite = (as: typeof member, body: unknown) => call('POST', base, { as, body })
  const tooHigh = refused(403, 'permission_denied', 'You cannot invite a user with a higher permission level than your own.')
  expect(await invite(member, { target_email: 'a@b.co', level: 8 })).toMatchObject(tooHigh)
  expect(await invite(admin, { target_email: 'a@b.co', level: 15 })).toMatchObject(tooHigh)
  expect(await invite(admin, { target_email: member.email })).toMatchObject(
    refused(400, 'invalid_input', 'A user with this email address already belongs to the organization.'),
  )
  expect(await invite(admin, {})).toMatchObject(refused(400, 'required', undefined, 'target_email'))
  expect(await invite(admin, { target_email: null })).toMatchObject(refused(400, 'null', undefined, 'target_email'))
  expect(await invite(admin, { target_email: 'nobody' })).toMatchObject(refused(400, 'invalid_input', undefined, 'target_email'))
  expect(await invite(admin, { target_email: 'a@b.co', first_name: 'x'.repeat(31) })).toMatchObject(
    refused(400, 'max_length', undefined, 'first_name'),
  )
})

test('many at once: all or none, in order', async () => {
  const { call, member } = held.home
  const people = (n: number) => Array.from({ length: n }, (_, i) => ({ target_email: `bulk${i}@example.com` }))
  const before = (await call('GET', base, { as: member })).body.count
  const many = (body: unknown) => call('POST', `${base}bulk/`, { as: member, body })
  expect(await many([...people(2), { target_email: 'wrong' }])).toMatchObject(refused(400, 'invalid_input', undefined, 'target_email'))
  expect(await many([...people(2), { target_email: 'x@example.com', level: 15 }])).toMatchObject(refused(403, 'permission_denied'))
  expect(await many({ target_email: 'x@example.com' })).toMatchObject(
    refused(400, 'invalid_input', 'This endpoint needs an array of data for bulk invite creation.'),
  )
  expect(await many(people(21))).toMatchObject(refused(400, 'max_length', 'A maximum of 20 invites can be sent in a single request.'))
  expect((await call('GET', base, { as: member })).body.count).toBe(before)
  const { status, body } = await many(people(20))
  expect([status, body.map((one: { target_email: string }) => one.target_email)]).toEqual([200, people(20).map((one) => one.target_email)])
  expect((await call('GET', `${base}?limit=1`, { as: member })).body.results[0].target_email, 'newest first').toBe('bulk19@example.com')
})

test('an invitation ends after three days', async () => {
  const { call, admin, world } = held.home
  world.now = new Date('2030-01-01T00:00:00Z')
  const { body } = await call('POST', base, { as: admin, body: { target_email: 'late@example.com' } })
  world.now = new Date('2030-01-04T00:00:00Z')
  expect((await call('GET', `/api/signup/${body.id}/`)).status).toBe(200)
  world.now = new Date('2030-01-04T00:00:00.001Z')
  expect(await call('GET', `/api/signup/${body.id}/`)).toMatchObject(refused(400, 'expired'))
  expect(await call('GET', `/api/signup/${body.id}/`, { as: admin })).toMatchObject(refused(400, 'invalid_recipient'))
  expect((await call('GET', `${base}?limit=1`, { as: admin })).body.results[0]).toMatchObject({ id: body.id, is_expired: true })
  expect((await call('DELETE', `${base}${body.id}/`, { as: admin })).status).toBe(204)
  expect(await call('DELETE', `${base}${body.id}/`, { as: admin })).toMatchObject(refused(404, 'not_found'))
  world.now = null
})

test('an invitation can open private projects that the inviter may open', async () => {
  const { call, member, admin, world, organization, other } = held.home
  const hidden = await world.makeProject(organization.id, { name: 'Private', access_control: true })
  const foreign = await world.makeProject(other.id, { name: 'Foreign' })
  const invite = (as: typeof member, id: number, target_email = 'p@example.com') =>
    call('POST', base, { as, body: { target_email, private_project_access: [{ id, level: 'member' }] } })
  const closed = refused(400, 'invalid_input', undefined, 'private_project_access')
  expect(await invite(member, hidden.id)).toMatchObject(closed)
  expect(await invite(admin, foreign.id)).toMatchObject(closed)
  const { body } = await invite(admin, hidden.id, 'insider@example.com')
  await call('POST', `/api/signup/${body.id}/`, { body: { first_name: 'In', password: 'correct horse' } })
  const insider = (await world.accounts.users.byEmail('insider@example.com'))!
  expect((await call('GET', `/api/projects/${hidden.id}/`, { as: insider })).body.effective_membership_level).toBe(1)
  expect(await call('GET', `/api/projects/${hidden.id}/`, { as: member })).toMatchObject(
    refused(403, 'permission_denied', "You don't have sufficient permissions in the project."),
  )
})
