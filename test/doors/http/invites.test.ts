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
  expect(made.body.secret, 'only whoever has the mail has it').toBeNull()
  const secret = new RegExp(`Accept: ${world.url}/#/signup/([\\w-]{43})\n`).exec(world.outbox[0]!.text)![1]!
  const page = `/api/signup/${secret}/`
  expect((await call('GET', page)).body).toEqual({
    id: made.body.id,
    target_email: 'N********n@example.com',
    sso_enforcement: null,
    providers: [],
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
  const page = `/api/signup/${invite.secret}/`
  expect(await call('GET', page)).toMatchObject(refused(400, 'account_exists', `/login?next=/signup/${invite.secret}`))
  expect((await call('POST', page, { as: outsider, body: {} })).status).toBe(201)
  expect((await world.accounts.organizations.membership(organization.id, outsider))?.level).toBe(8)
})

test('whoever is invited as an owner beside the owner becomes an administrator', async () => {
  const { call, owner, organization, world } = held.home
  const { body: invite } = await call('POST', base, { as: owner, body: { target_email: 'heir@acme.test', level: 15 } })
  expect(invite.level).toBe(15)
  const body = { first_name: 'Heir', password: 'correct horse' }
  expect((await call('POST', `/api/signup/${invite.secret}/`, { body })).status).toBe(201)
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
  expect(await many([...people(2), { target_email: 'wrong' }])).toMatchObject(refused(400, 'invalid_input', undefined, '2__target_email'))
  expect(await many([...people(1), { target_email: member.email }])).toMatchObject(refused(400, 'invalid_input', undefined, '1'))
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
  expect((await call('GET', `/api/signup/${body.secret}/`)).status).toBe(200)
  world.now = new Date('2030-01-04T00:00:00.001Z')
  expect(await call('GET', `/api/signup/${body.secret}/`)).toMatchObject(refused(400, 'expired'))
  expect(await call('GET', `/api/signup/${body.secret}/`, { as: admin })).toMatchObject(refused(400, 'invalid_recipient'))
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
  await call('POST', `/api/signup/${body.secret}/`, { body: { first_name: 'In', password: 'correct horse' } })
  const insider = (await world.accounts.users.byEmail('insider@example.com'))!
  expect((await call('GET', `/api/projects/${hidden.id}/`, { as: insider })).body.effective_membership_level).toBe(1)
  expect(await call('GET', `/api/projects/${hidden.id}/`, { as: member })).toMatchObject(
    refused(403, 'permission_denied', "You don't have sufficient permissions in the project."),
  )
})

test('what a member reads of an invitation accepts nothing', async () => {
  const { call, member, admin, owner, world } = held.home
  const { body: made } = await call('POST', base, { as: admin, body: { target_email: 'boss@acme.test', level: 8 } })
  expect(made.secret, 'shown once to whoever may invite at that level').toMatch(/^[\w-]{43}$/)
  const stored = await world.accounts.invites.byId(held.home.organization.id, made.id)
  expect(JSON.stringify(stored), 'kept as a hash').not.toContain(made.secret)
  const listed = JSON.stringify((await call('GET', base, { as: member })).body)
  expect(listed).toContain(made.id)
  for (const secret of [made.secret, stored!.secret_hash!]) expect(listed).not.toContain(secret)
  const password = { first_name: 'Thief', password: 'correct horse' }
  for (const guess of [made.id, made.id.toUpperCase(), stored!.secret_hash!, 'null', '', '%00', `${made.secret}x`]) {
    const page = `/api/signup/${guess}/`
    if (guess !== '')
      expect(await call('GET', page), guess).toMatchObject(refused(400, 'invalid_input', 'The provided invite ID is not valid.'))
    expect((await call('POST', page, { body: password })).status, guess).toBeGreaterThanOrEqual(400)
  }
  expect(await world.accounts.users.byEmail('boss@acme.test')).toBeUndefined()
  const many = await call('POST', `${base}bulk/`, { as: owner, body: [{ target_email: 'x1@acme.test' }, { target_email: 'x2@acme.test' }] })
  expect(new Set(many.body.map(({ secret }: { secret: string }) => secret)).size).toBe(2)
})

test('an invitation from before there were secrets is sent again', async () => {
  const { call, member, admin, world } = held.home
  const { body: old } = await call('POST', base, { as: admin, body: { target_email: 'old@acme.test', level: 8 } })
  await world.accounts.context.store.write((tables) => tables.invites.update({ id: old.id }, { secret_hash: null }))
  const password = { first_name: 'Old', password: 'correct horse' }
  for (const guess of [old.id, old.secret])
    expect(await call('POST', `/api/signup/${guess}/`, { body: password })).toMatchObject(refused(400, 'invalid_input'))
  const again = `${base}${old.id}/resend/`
  expect(await call('POST', again, { as: member })).toMatchObject(
    refused(403, 'permission_denied', 'You cannot invite a user with a higher permission level than your own.'),
  )
  world.hasMail = true
  world.outbox.length = 0
  world.now = new Date(Date.now() + 2 * 86_400_000)
  const sent = await call('POST', again, { as: admin })
  expect(sent).toMatchObject({ status: 200, body: { id: old.id, level: 8, emailing_attempt_made: true, secret: null, is_expired: false } })
  const [first] = /(?<=signup\/)\S+/.exec(world.outbox[0]!.text)!
  expect((await call('POST', again, { as: admin })).status).toBe(200)
  const [second] = /(?<=signup\/)\S+/.exec(world.outbox[1]!.text)!
  world.hasMail = false
  expect(await call('GET', `/api/signup/${first}/`), 'the link of the mail before it').toMatchObject(refused(400, 'invalid_input'))
  world.now = new Date(Date.now() + 4 * 86_400_000)
  expect((await call('GET', `/api/signup/${second}/`)).status, 'three days from when it was sent').toBe(200)
  expect((await call('POST', `/api/signup/${second}/`, { body: password })).status).toBe(201)
  expect(await call('POST', again, { as: admin }), 'accepted by now').toMatchObject(refused(404, 'not_found'))
  world.now = null
})

test('who is removed leaves no invitation behind, who is lowered none above them', async () => {
  const { call, owner, organization, world } = held.home
  const inviter = await world.user('inviter@acme.test', organization.id, 'admin')
  const invite = async (target_email: string, level: number) =>
    (await call('POST', base, { as: inviter, body: { target_email, level } })).body
  const [high, low] = [await invite('high@acme.test', 8), await invite('low@acme.test', 1)]
  const statusOf = async (invitation: { secret: string }) => (await call('GET', `/api/signup/${invitation.secret}/`)).status
  const members = '/api/organizations/@current/members'
  await call('PATCH', `${members}/${inviter.uuid}/`, { as: owner, body: { level: 1 } })
  expect([await statusOf(high), await statusOf(low)]).toEqual([400, 200])
  await call('DELETE', `${members}/${inviter.uuid}/`, { as: owner })
  expect(await statusOf(low)).toBe(400)
})

test('an invitation that is taken back, or accepted twice at once, lets one in at most', async () => {
  const { call, admin, organization, world } = held.home
  const { body: invite } = await call('POST', base, { as: admin, body: { target_email: 'twice@acme.test' } })
  const accept = () => call('POST', `/api/signup/${invite.secret}/`, { body: { first_name: 'Twice', password: 'correct horse' } })
  const statuses = (await Promise.all([accept(), accept(), accept()])).map(({ status }) => status)
  expect(statuses.sort()).toEqual([201, 400, 400])
  const user = (await world.accounts.users.byEmail('twice@acme.test'))!
  expect(await world.accounts.context.store.read.memberships.count({ user_id: user.id, organization_id: organization.id })).toBe(1)
})
