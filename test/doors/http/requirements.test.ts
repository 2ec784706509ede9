import { describe, expect, test } from 'vitest'
import { type Answer, withHome } from './conversation.ts'

// The bodies, routes and statuses that the requirements show, walked as they stand there: one line for each route, in the order of use.

const held = withHome()
const organization = '/api/organizations/@current/'

type Line = readonly [method: string, path: string, status: number, body?: object]
const send = (method: string, path: string, body?: object): Promise<Answer> => held.home.call(method, path, { as: held.home.owner, body })

/** Sends the lines in turn; `:id` is that of the first answer that had one. */
async function walk(lines: readonly Line[], at = organization, fields: readonly string[] = []): Promise<void> {
  let id: unknown
  for (const [method, path, status, body] of lines) {
    const answer = await send(method, at + path.replace(':id', String(id)), body)
    expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBe(status)
    id ??= answer.body?.id
    if (fields.length > 0 && answer.body?.id !== undefined)
      for (const field of fields) expect(answer.body, `${method} ${path}`).toHaveProperty(field)
  }
}

const componentFields =
  'id plugin_type name description url icon config_schema tag latest_tag is_global organization_id organization_name capabilities metrics public_jobs'.split(
    ' ',
  )
const families = ['pipeline_destinations', 'pipeline_frontend_apps', 'pipeline_import_apps', 'pipeline_transformations', 'plugins']

test.each(families)('%s: a component by its type alone, through the thirteen routes', async (family) => {
  await walk(
    [
      ['POST', `${family}/`, 201, { plugin_type: 'local' }],
      ['GET', `${family}/`, 200],
      ['GET', `${family}/:id/`, 200],
      [
        'PATCH',
        `${family}/:id/`,
        200,
        {
          plugin_type: 'local',
          name: 'Mine',
          description: 'd',
          icon: '',
          config_schema: [],
          tag: 't',
          is_global: false,
          metrics: {},
          public_jobs: {},
        },
      ],
      ['GET', `${family}/:id/check_for_updates/`, 200],
      ['GET', `${family}/:id/source/`, 200],
      ['POST', `${family}/:id/upgrade/`, 200, {}],
      ['GET', `${family}/activity/`, 200],
      ['GET', `${family}/exports_unsubscribe_configs/`, 200],
      ['GET', `${family}/repository/`, 200],
      ['GET', `${family}/unused/`, 200],
      ['PATCH', `${family}/:id/update_source/`, 200, {}],
      ['DELETE', `${family}/:id/`, 204],
    ],
    organization,
    componentFields,
  )
})

test('what a local component runs is in its source, and can be changed', async () => {
  const code: Record<string, string | undefined> = {}
  for (const family of families) {
    const { body } = await send('POST', `${organization}${family}/`, { plugin_type: 'local' })
    code[family] = (await send('GET', `${organization}${family}/${body.id}/source/`)).body['index.ts']
    const shown = (await send('GET', `${organization}${family}/?limit=1000`)).body.results
    expect(
      shown.map((one: { id: number }) => one.id),
      family,
    ).toContain(body.id)
  }
  expect(code).toEqual({
    plugins: undefined,
    pipeline_frontend_apps: undefined,
    pipeline_transformations: expect.stringContaining('processEvent'),
    pipeline_destinations: expect.stringContaining('onEvent'),
    pipeline_import_apps: expect.stringContaining('runEveryHour'),
  })
})

describe('organizations', () => {
  test('from the first to the last route', async () => {
    const { world } = held.home
    world.settings = { ...world.settings, allowsManyOrganizations: true }
    const fields =
      'id name slug created_at updated_at membership_level plugins_access_level teams available_product_features is_member_join_email_enabled metadata customer_id enforce_2fa member_count'
    await walk(
      [
        ['POST', '', 201, { name: 'Second', is_member_join_email_enabled: true, enforce_2fa: false }],
        ['GET', ':id/', 200],
        ['PATCH', ':id/', 200, { name: 'Renamed' }],
        ['GET', '?limit=10&offset=0', 200],
        ['DELETE', ':id/', 204],
      ],
      '/api/organizations/',
      fields.split(' '),
    )
    await world.accounts.context.store.write((tables) =>
      tables.users.update(
        { id: held.home.owner.id },
        { current_organization_id: held.home.organization.id, current_project_id: held.home.project.id },
      ),
    )
  })
  test('domains', async () => {
    const all = {
      jit_provisioning_enabled: true,
      sso_enforcement: 'saml',
      saml_entity_id: 'e',
      saml_acs_url: 'https://a.test',
      saml_x509_cert: 'c',
    }
    await walk(
      [
        ['POST', 'domains/', 201, { domain: 'required.example.com', ...all }],
        ['GET', 'domains/?limit=10&offset=0', 200],
        ['GET', 'domains/:id/', 200],
        ['POST', 'domains/:id/verify/', 200, {}],
        ['PATCH', 'domains/:id/', 200, { saml_entity_id: 'f' }],
        ['DELETE', 'domains/:id/', 204],
      ],
      organization,
      'id domain is_verified verified_at verification_challenge jit_provisioning_enabled sso_enforcement has_saml saml_entity_id saml_acs_url saml_x509_cert'.split(
        ' ',
      ),
    )
    await walk([['POST', 'domains/', 201, { domain: 'only.example.com' }]])
  })
  test('invites and members', async () => {
    const fields = 'id target_email first_name emailing_attempt_made level is_expired created_by created_at updated_at message'.split(' ')
    await walk(
      [
        ['POST', 'invites/', 201, { target_email: 'only@acme.test' }],
        ['GET', 'invites/?limit=10&offset=0', 200],
        ['DELETE', 'invites/:id/', 204],
        ['POST', 'invites/bulk/', 200, [{ target_email: 'bulk@acme.test', first_name: 'B', level: 1, message: 'Hello' }]],
      ],
      organization,
      fields,
    )
    const { member } = held.home
    await walk([
      ['GET', 'members/?limit=10&offset=0', 200],
      ['PATCH', `members/${member.uuid}/`, 200, { level: 8 }],
      ['PATCH', `members/${member.uuid}/`, 200, { level: 1 }],
    ])
  })
  test('batch exports', async () => {
    const fields =
      'id team_id name model destination interval paused created_at last_updated_at last_paused_at start_at end_at latest_runs schema'.split(
        ' ',
      )
    const body = { name: 'Required', destination: { type: 'NoOp', config: {} }, interval: 'hour' }
    await walk(
      [
        ['POST', 'batch_exports/', 201, body],
        ['GET', 'batch_exports/?limit=10&offset=0', 200],
        ['GET', 'batch_exports/:id/', 200],
        ['PATCH', 'batch_exports/:id/', 200, { ...body, model: 'events', paused: false }],
        ['POST', 'batch_exports/:id/pause/', 200, body],
        ['POST', 'batch_exports/:id/unpause/', 200, body],
        ['POST', 'batch_exports/:id/backfill/', 200, { ...body, start_at: '2026-01-01T00:00:00Z', end_at: '2026-01-01T01:00:00Z' }],
        ['DELETE', 'batch_exports/:id/', 204],
      ],
      organization,
      fields,
    )
  })
  test('projects, proxy records and roles', async () => {
    await held.home.world.setFeature(held.home.organization.id, 'organizations_projects', true)
    await walk([
      ['POST', 'projects/', 201, { name: 'Required' }],
      ['GET', 'projects/', 200],
      ['GET', 'projects/:id/', 200],
      ['PATCH', 'projects/:id/', 200, { name: 'Renamed' }],
      ['GET', 'projects/:id/activity/', 200],
      ['GET', 'projects/:id/is_generating_demo_data/', 200],
      ['PATCH', 'projects/:id/reset_token/', 200],
      ['DELETE', 'projects/:id/', 204],
    ])
    await walk([
      ['POST', 'proxy_records/', 201, { domain: 'e.required.example.com' }],
      ['GET', 'proxy_records/', 200],
      ['GET', 'proxy_records/:id/', 200],
      ['PATCH', 'proxy_records/:id/', 200, {}],
      ['DELETE', 'proxy_records/:id/', 204],
    ])
    await walk([
      ['POST', 'roles/', 201, { name: 'Required' }],
      ['GET', 'roles/', 200],
      ['GET', 'roles/:id/', 200],
      ['PATCH', 'roles/:id/', 200, { name: 'Renamed' }],
      ['GET', 'roles/:id/role_memberships/', 200],
      ['POST', 'roles/:id/role_memberships/', 201, { user_uuid: held.home.member.uuid }],
      ['DELETE', 'roles/:id/', 204],
    ])
  })
})

test('queries', async () => {
  const project = `/api/projects/${held.home.project.id}/query/`
  const query = {
    kind: 'SqlLikeQuery',
    query: "select properties.email from persons where properties.email is not null and properties.email like '%@%' limit 10",
  }
  await walk(
    [
      ['POST', '', 200, { query }],
      ['POST', '', 200, { query, async: true, client_query_id: 'required', refresh: true }],
      ['GET', 'required/', 200],
      ['DELETE', 'required/', 204],
      ['GET', 'draft_sql/?prompt=how many events', 200],
    ],
    project,
  )
  await send('POST', project, { query, async: true, client_query_id: 'again' })
  const status = (await send('GET', `${project}again/`)).body.query_status
  for (const field of 'complete end_time error error_message expiration_time id labels query_async query_progress results start_time task_id team_id'.split(
    ' ',
  ))
    expect(status).toHaveProperty(field)
})

test('past events', async () => {
  const { world, project } = held.home
  const event = { event: '$pageview', properties: { distinct_id: 'u' }, timestamp: '2020-01-05T10:00:00Z' }
  const group = {
    event: '$group_identify',
    properties: { distinct_id: 'u', $group_type: 'company', $group_key: 'a', $group_set: {} },
    timestamp: event.timestamp,
  }
  const body = { api_key: project.api_token, historical_migration: true, batch: [event, { ...event, event: '$identify' }, group] }
  const answer = await fetch(`${world.url}/batch/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(answer.status).toBe(200)
})
