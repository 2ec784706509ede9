import { expect, test } from 'vitest'
import { refused, withHome } from './conversation.ts'

const held = withHome()

test('both paths serve the same records', async () => {
  const { call, member, organization, project } = held.home
  const flat = (await call('GET', `/api/projects/${project.id}/`, { as: member })).body
  expect((await call('GET', `/api/organizations/${organization.id}/projects/${project.id}/`, { as: member })).body).toEqual(flat)
  expect((await call('GET', '/api/projects/@current', { as: member })).body).toEqual(flat)
  expect(flat).toMatchObject({
    id: project.id,
    organization: organization.id,
    name: 'Default Project',
    timezone: 'UTC',
    week_start_day: null,
    data_attributes: ['data-attr'],
    effective_membership_level: 1,
    group_types: [],
  })
  const short = (await call('GET', '/api/projects/', { as: member })).body.results
  expect((await call('GET', '/api/organizations/@current/projects/', { as: member })).body.results).toEqual(short)
  expect(Object.keys(short[0])).toContain('api_token')
  expect(Object.keys(short[0])).not.toContain('data_attributes')
})

test('administrators create; what is sent is kept', async () => {
  const { call, admin, member } = held.home
  const body = {
    name: 'Shop',
    timezone: 'Europe/Berlin',
    week_start_day: 1,
    anonymize_ips: 'true',
    test_account_filters: [{ key: 'email', value: 'x', operator: 'exact', type: 'person' }],
    api_token: 'mine',
  }
  expect(await call('POST', '/api/projects/', { as: member, body })).toMatchObject(
    refused(403, 'permission_denied', 'Your organization access level is insufficient.'),
  )
  const { status, body: made } = await call('POST', '/api/projects/', { as: admin, body })
  expect([status, made]).toMatchObject([
    201,
    { ...body, anonymize_ips: true, api_token: expect.stringMatching(/^phc_\w{40,}$/), effective_membership_level: 8 },
  ])
  expect((await call('GET', '/api/projects/@current/', { as: admin })).body.id, 'it becomes the current one').toBe(made.id)
  const demo = await call('POST', '/api/projects/', { as: member, body: { name: 'Try', is_demo: true } })
  expect(demo.body.is_demo).toBe(true)
  const query = { kind: 'SqlLikeQuery', query: "select count() > 100 from events where event = 'purchase'" }
  expect((await call('POST', `/api/projects/${demo.body.id}/query/`, { as: member, body: { query } })).body.results).toEqual([[1]])
  expect(await call('POST', '/api/projects/', { as: member, body: { is_demo: true } })).toMatchObject(refused(403, 'permission_denied'))
})

test("company people are test accounts, a mail provider's are not", async () => {
  const { call, world } = held.home
  for (const [email, count] of [
    ['boss@company.test', 1],
    ['boss@gmail.com', 0],
  ] as const) {
    const user = await world.user(email, null)
    const { body } = await call('POST', '/api/organizations/', { as: user, body: { name: 'Co' } })
    expect((await call('GET', `/api/projects/${body.teams[0].id}/`, { as: user })).body.test_account_filters, email).toHaveLength(count)
  }
})

test.each([
  ['EUROPE/BERLIN', 'Europe/Berlin'],
  ['europe/berlin', 'Europe/Berlin'],
  [' Europe/Berlin\n', 'Europe/Berlin'],
  ['utc', 'UTC'],
  ['america/port-au-prince', 'America/Port-au-Prince'],
  ['AMERICA/NEW_YORK', 'America/New_York'],
  ['ANTARCTICA/DUMONTDURVILLE', 'Antarctica/DumontDUrville'],
  // Other names of a zone stay as they are known.
  ['Asia/Kolkata', 'Asia/Kolkata'],
  ['America/Port_of_Spain', 'America/Port_of_Spain'],
  ['US/Pacific', 'US/Pacific'],
  ['Etc/GMT+1', 'Etc/GMT+1'],
  ['EST5EDT', 'EST5EDT'],
])('the time zone %j is stored as %s, by every route', async (given, stored) => {
  const { call, member, world } = held.home
  const changed = await call('PATCH', '/api/projects/@current/', { as: member, body: { timezone: given } })
  expect(changed.body.timezone).toBe(stored)
  const owner = await world.user(`zone-${Math.random()}@company.test`, null)
  const { body: made } = await call('POST', '/api/organizations/', { as: owner, body: { name: 'Co', timezone: given } })
  expect((await call('GET', `/api/projects/${made.teams[0].id}/`, { as: owner })).body.timezone).toBe(stored)
  expect((await call('PATCH', '/api/projects/@current/', { as: member, body: { timezone: 'UTC' } })).status).toBe(200)
})

const wrong: [string, unknown, string][] = [
  ['timezone', 'Mars/Base', 'invalid_choice'],
  ['timezone', '+02:00', 'invalid_choice'],
  ['name', '', 'blank'],
  ['name', 'x'.repeat(201), 'max_length'],
  ['week_start_day', 2, 'invalid_choice'],
  ['session_recording_linked_flag', { id: 1 }, 'invalid_input'],
  ['session_recording_linked_flag', 'x', 'invalid_input'],
  ['session_recording_network_payload_capture_config', { recordAll: true }, 'invalid_input'],
  ['session_recording_sample_rate', 'often', 'invalid_input'],
  ['session_recording_sample_rate', '1.5', 'max_value'],
  ['session_recording_sample_rate', '-1', 'min_value'],
  ['session_recording_sample_rate', '0.555', 'max_decimal_places'],
  ['session_replay_config', 'x', 'invalid_input'],
  ['session_replay_config', { color: 1 }, 'invalid_input'],
  ['session_replay_config', { ai_config: { model: 'x' } }, 'invalid_input'],
  ['name', 'a\0b', 'null_characters_not_allowed'],
  ['autocapture_exceptions_errors_to_ignore', ['x'.repeat(300)], 'invalid_input'],
  ['autocapture_exceptions_errors_to_ignore', [1], 'invalid_input'],
  ['test_account_filters', 'x', 'invalid_input'],
  ['app_urls', null, 'null'],
]
test.each(wrong)('%s cannot be %j', async (field, value, code) => {
  const { call, member } = held.home
  expect(await call('PATCH', '/api/projects/@current/', { as: member, body: { [field]: value } })).toMatchObject(
    refused(400, code, undefined, field),
  )
})

test('settings that have a shape are kept as they are', async () => {
  const { call, member } = held.home
  const body = {
    session_recording_linked_flag: { id: 1, key: 'f' },
    session_recording_network_payload_capture_config: { recordBody: true },
    session_recording_sample_rate: '0.50',
    autocapture_exceptions_errors_to_ignore: ['ResizeObserver'],
    path_cleaning_filters: [{ regex: '/\\d+', alias: '/:id' }],
    extra_settings: { a: [1, null] },
  }
  expect((await call('PATCH', '/api/projects/@current/', { as: member, body })).body).toMatchObject(body)
  const replay = async (session_replay_config: unknown) =>
    (await call('PATCH', '/api/projects/@current/', { as: member, body: { session_replay_config } })).body.session_replay_config
  expect(await replay({ record_canvas: true })).toEqual({ record_canvas: true })
  expect(await replay({ ai_config: { opt_in: true } }), 'one key more').toEqual({ record_canvas: true, ai_config: { opt_in: true } })
  expect(await replay(null)).toBeNull()
})

test('a private project is open to administrators and to those let in', async () => {
  const { call, admin, member, world } = held.home
  const { body: made } = await call('POST', '/api/projects/', { as: admin, body: { name: 'Private' } })
  const path = `/api/projects/${made.id}/`
  const tooLow = refused(403, 'permission_denied', 'Your organization access level is insufficient.')
  expect(await call('PATCH', path, { as: member, body: { access_control: true } })).toMatchObject(tooLow)
  expect((await call('PATCH', path, { as: admin, body: { access_control: true } })).body.access_control).toBe(true)
  const closed = refused(403, 'permission_denied', "You don't have sufficient permissions in the project.")
  for (const method of ['GET', 'PATCH', 'DELETE'])
    expect(await call(method, path, { as: member, ...(method === 'PATCH' ? { body: {} } : {}) })).toMatchObject(closed)
  expect(await call('GET', `${path}feature_flags/`, { as: member })).toMatchObject(
    refused(403, 'permission_denied', "You don't have access to the project."),
  )
  const names = async () => (await call('GET', '/api/projects/', { as: member })).body.results.map((one: { name: string }) => one.name)
  expect(await names()).not.toContain('Private')
  const now = new Date()
  await world.accounts.context.store.write((tables) =>
    tables.project_memberships.insert({ id: 'm', project_id: made.id, user_id: member.id, level: 8, joined_at: now, updated_at: now }),
  )
  expect(await names()).toContain('Private')
  expect((await call('GET', path, { as: member })).body.effective_membership_level).toBe(8)
  expect(await call('PATCH', path, { as: member, body: { access_control: false } }), 'not even by its own administrator').toMatchObject(
    tooLow,
  )
  expect((await call('DELETE', path, { as: member })).status).toBe(204)
})

test('the dashboard shown first is one of the project', async () => {
  const { call, admin, outsider } = held.home
  expect(await call('PATCH', '/api/projects/@current/', { as: admin, body: { primary_dashboard: 99_999 } })).toMatchObject(
    refused(400, 'does_not_exist', 'Invalid pk "99999" - object does not exist.', 'primary_dashboard'),
  )
  const own = (await call('GET', '/api/projects/@current/', { as: admin })).body.primary_dashboard
  const foreign = (await call('GET', '/api/projects/@current/', { as: outsider })).body.primary_dashboard
  expect((await call('PATCH', '/api/projects/@current/', { as: admin, body: { primary_dashboard: own } })).status).toBe(200)
  expect(await call('PATCH', '/api/projects/@current/', { as: admin, body: { primary_dashboard: foreign } })).toMatchObject(
    refused(403, 'permission_denied'),
  )
})

test('a reset token stops the old one', async () => {
  const { call, admin, member, project, world } = held.home
  const path = `/api/projects/${project.id}/reset_token/`
  expect(await call('PATCH', path, { as: member, body: {} })).toMatchObject(refused(403, 'permission_denied'))
  const { body } = await call('PATCH', path, { as: admin, body: {} })
  expect(body.api_token).not.toBe(project.api_token)
  expect(await world.accounts.projects.byToken(project.api_token)).toBeUndefined()
  expect((await world.accounts.projects.byToken(body.api_token))?.id).toBe(project.id)
})

test('the log says who changed what, the newest first', async () => {
  const { call, admin, member } = held.home
  const { body: made } = await call('POST', '/api/projects/', { as: admin, body: { name: 'Logged' } })
  const path = `/api/projects/${made.id}/`
  for (const timezone of ['Asia/Tokyo', 'Asia/Tokyo', 'America/Lima']) await call('PATCH', path, { as: admin, body: { timezone } })
  const { body: log } = await call('GET', `${path}activity/?limit=2`, { as: member })
  expect(log).toMatchObject({ total_count: 3, previous: null, next: expect.stringContaining('page=2') })
  expect(log.results[0]).toMatchObject({
    user: { email: admin.email },
    activity: 'updated',
    scope: 'Team',
    item_id: String(made.id),
    detail: {
      name: 'Logged',
      changes: [{ type: 'Team', action: 'changed', field: 'timezone', before: 'Asia/Tokyo', after: 'America/Lima' }],
    },
  })
  expect((await call('GET', `${path}activity/?limit=2&page=2`, { as: member })).body.results).toMatchObject([{ activity: 'created' }])
  expect((await call('GET', `${path}is_generating_demo_data/`, { as: member })).body).toEqual({ is_generating_demo_data: false })
})

test("another organization's project is not there; below it nobody comes in", async () => {
  const { call, member, other, world } = held.home
  const foreign = await world.makeProject(other.id, {})
  const gone = refused(404, 'not_found', 'Not found.')
  for (const path of [
    `/api/projects/${foreign.id}/`,
    `/api/organizations/@current/projects/${foreign.id}/`,
    '/api/projects/99999/',
    '/api/projects/abc/',
  ])
    expect(await call('GET', path, { as: member }), path).toMatchObject(gone)
  expect(await call('GET', `/api/organizations/${other.id}/projects/${foreign.id}/`, { as: member })).toMatchObject(
    refused(403, 'permission_denied'),
  )
  expect(await call('GET', `/api/projects/${foreign.id}/query/x/`, { as: member })).toMatchObject(
    refused(403, 'permission_denied', "You don't have access to the project."),
  )
  expect(await call('GET', '/api/projects/abc/query/x/', { as: member })).toMatchObject(refused(404, 'not_found', 'Project not found.'))
})

test('deleting needs an administrator and leaves one entry', async () => {
  const { call, admin, member, world } = held.home
  const { body: made } = await call('POST', '/api/projects/', { as: admin, body: { name: 'Short' } })
  expect(await call('DELETE', `/api/projects/${made.id}/`, { as: member })).toMatchObject(refused(403, 'permission_denied'))
  expect((await call('DELETE', `/api/projects/${made.id}`, { as: admin })).status).toBe(204)
  expect(await call('GET', `/api/projects/${made.id}/`, { as: admin })).toMatchObject(refused(404, 'not_found'))
  expect(await world.accounts.context.store.read.activity.find({ scope: 'Team', item_id: String(made.id) })).toMatchObject([
    { activity: 'deleted', detail: { name: 'Short' } },
  ])
  expect((await call('GET', '/api/users/@me/', { as: admin })).body.team.id).not.toBe(made.id)
})

test('without the plan feature there is one project and one demo; with it, as many as it says', async () => {
  const { call, admin, organization, world } = held.home
  const upgrade = refused(403, 'permission_denied', 'You must upgrade your Waymark plan to be able to create and manage multiple projects.')
  const create = () => call('POST', `/api/organizations/${organization.id}/projects/`, { as: admin, body: { name: 'Two' } })
  await world.setFeature(organization.id, 'organizations_projects', false)
  expect(await create()).toMatchObject(upgrade)
  const count = await world.accounts.context.store.read.projects.count({ organization_id: organization.id, is_demo: false })
  await world.setFeature(organization.id, 'organizations_projects', true, count + 1)
  expect((await create()).status).toBe(201)
  expect(await create()).toMatchObject(upgrade)
  await world.setFeature(organization.id, 'organizations_projects', true)
  const nobody = await world.user('nobody@acme.test', null)
  expect(await call('POST', '/api/projects/', { as: nobody, body: {} })).toMatchObject(
    refused(400, 'invalid_input', 'You need to belong to an organization.'),
  )
})

const weeks: [string, Record<string, string>, object, number | null][] = [
  ['Germany by its proxy', { 'cf-ipcountry': 'DE' }, {}, 1],
  ['the United States by the language', { 'accept-language': 'en-US,en;q=0.9' }, {}, 0],
  ['Egypt, where weeks begin on Saturday', { 'x-vercel-ip-country': 'eg' }, {}, 0],
  ['a country that is none', { 'cf-ipcountry': 'XX' }, {}, null],
  ['a language without a country', { 'accept-language': 'de' }, {}, null],
  ['nothing known', {}, {}, null],
  ['what the caller says counts', { 'cf-ipcountry': 'DE' }, { week_start_day: 0 }, 0],
]
test.each(weeks)('the week of a new project: %s', async (_, headers, body, day) => {
  const { call, admin, organization, world } = held.home
  await world.setFeature(organization.id, 'organizations_projects', true)
  const made = await call('POST', `/api/organizations/${organization.id}/projects/`, {
    as: admin,
    body: { name: 'Week', ...body },
    headers,
  })
  expect([made.status, made.body.week_start_day]).toEqual([201, day])
})

test('nobody works in a private project that is closed to them', async () => {
  const { call, world } = held.home
  const { id } = await world.makeOrganization({ name: 'Closed', owner: null, withProject: false })
  const closed = await world.makeProject(id, { name: 'Closed', access_control: true })
  const as = await world.user('visitor@closed.test', id)
  const team = async () => (await call('GET', '/api/users/@me/', { as })).body.team
  expect(await team(), 'its token is not for them').toBeNull()
  expect(await call('GET', '/api/projects/@current/', { as })).toMatchObject(refused(404, 'not_found', 'Project not found.'))
  const open = await world.makeProject(id, { name: 'Open' })
  expect((await call('GET', '/api/projects/@current/', { as })).body.id).toBe(open.id)
  expect(await call('PATCH', '/api/users/@me/', { as, body: { set_current_team: closed.id } })).toMatchObject(
    refused(400, 'does_not_exist', undefined, 'set_current_team'),
  )
  const now = new Date()
  const membership = { id: 'm', project_id: closed.id, user_id: as.id, level: 1, joined_at: now, updated_at: now }
  await world.accounts.context.store.write((tables) => tables.project_memberships.insert(membership))
  expect((await team()).id).toBe(closed.id)
})

test('what a project lets its client libraries record reaches their configuration', async () => {
  const { call, admin, project } = held.home
  const { api_token: token } = (await call('GET', `/api/projects/${project.id}/`, { as: admin })).body
  const config = async () => (await call('GET', `/array/${token}/config`)).body
  const recorded = ['capturePerformance', 'autocaptureExceptions', 'sessionRecording', 'surveys', 'heatmaps', 'autocapture_opt_out']
  const off = await config()
  expect(recorded.map((name) => off[name])).toEqual(recorded.map(() => false))
  const body = {
    autocapture_opt_out: true,
    autocapture_exceptions_opt_in: true,
    capture_performance_opt_in: true,
    session_recording_opt_in: true,
    session_recording_sample_rate: '0.5',
    surveys_opt_in: true,
    heatmaps_opt_in: true,
  }
  expect((await call('PATCH', `/api/projects/${project.id}/`, { as: admin, body })).status).toBe(200)
  const on = {
    autocapture_opt_out: true,
    autocaptureExceptions: { endpoint: '/e/' },
    capturePerformance: { network_timing: true, web_vitals: false },
    sessionRecording: { endpoint: '/s/', sampleRate: '0.50' },
    surveys: true,
    heatmaps: true,
  }
  expect(await config()).toMatchObject(on)
  const flags = await call('POST', '/flags/?v=2&config=true', { body: { token, distinct_id: 'u' } })
  expect(flags.body).toMatchObject({ ...on, flags: {} })
  const missing = (await call('GET', '/array/phc_unknown/config')).body
  expect(recorded.map((name) => missing[name])).toEqual(recorded.map(() => false))
})
