import { expect, test } from 'vitest'
import { isReading, type Method } from '../../../src/doors/http/resource.ts'
import { routes } from '../../../src/doors/http/routes.ts'
import { newRun } from '../../../src/service/exports/running/new-run.ts'
import { configFamilies, familyNames, familySources, insertFailedDeliveries, insertPlugin, letReceive } from '../../harness/plugin-rows.ts'
import { withHome } from './conversation.ts'

// Every route that changes something writes an entry of the activity log. The routes are those of the table; one that is neither asked here nor named
// as changing nothing fails the last test.

const held = withHome()

/** What they do is nobody's change of a record. */
const changesNothing = new Set([
  'warehouse_saved_queries.ancestors',
  'warehouse_saved_queries.descendants',
  'imports.update', // what a running one has read
  'persons.import', // as many as a system has: they are told of as events are
  'insights.viewed',
  'insights.viewed_many',
  'insights.cancel',
  'login.create',
  'login.precheck',
  'saml.acs',
  'domains.create_scim_token', // the entries of SCIM: test/doors/http/scim/*.test.ts
  'domains.remove_scim_token',
  'scim.create_user',
  'scim.replace_user',
  'scim.patch_user',
  'scim.remove_user',
  'scim.create_group',
  'scim.replace_group',
  'scim.patch_group',
  'scim.remove_group',
  'saml.finish', // its entries, and those of OpenID Connect: test/doors/http/saml.test.ts and oidc.test.ts
  'login.second_step', // its entries, and those of a second factor: test/doors/http/second-factor.test.ts
  'login.second_step_passkey', // the entries of passkeys: test/doors/http/passkeys.test.ts
  'login.begin_passkey',
  'login.passkey',
  'oauth.register', // the key of a consent is logged when it is made
  'oauth.token',
  'consents.grant',
  'consents.refuse',
  'passkeys.begin',
  'passkeys.create',
  'passkeys.prove',
  'passkeys.update',
  'passkeys.remove',
  'two_factor.start_setup',
  'two_factor.validate',
  'two_factor.recovery_codes',
  'two_factor.disable',
  'members.reset_two_factor',
  'setup.create', // its entries: test/service/accounts/organizations/first-owner.test.ts
  'login.remove',
  'password_links.mail', // its entries: test/doors/http/password-links.test.ts
  'password_links.use',
  'users.ask_confirmation', // the entries of the proof: test/doors/http/first-proof.test.ts
  'users.confirm_email',
  'users.end_sessions',
  'users.end_session',
  'organization_batch_exports.run_test_step_new',
  'organization_batch_exports.run_test_step',
  'batch_exports.run_test_step_new',
  'batch_exports.run_test_step',
  'query.create',
  'query.export',
  'query.cancel',
  'query.upgrade',
  'alerts.retry_delivery',
  'alerts.test_delivery',
  'subscriptions.retry_delivery',
  'subscriptions.test_delivery',
  'query.check_auth_for_async',
  'slow_queries.explain',
  'viewer_tokens.create', // nothing is stored; the key of a project without one is its own
  'viewer.query',
  'viewer.people',
  'ofrep.all',
  'ofrep.one',
  'agents.call', // its tools change something by other routes
])

const rows = new Map(routes.flatMap(({ path, rows }) => [...rows.values()].map((row) => [row.name, { row, path }] as const)))
const asked = new Set<string>()

/** Asks a route by its name, and answers its body, once the log has a new entry. */
const does = async (name: string, params: Readonly<Record<string, string | number>>, body?: unknown, query = '') => {
  const { call, owner, world } = held.home
  const { row, path } = rows.get(name)!
  const { activity } = world.accounts.context.store.read
  const before = new Set((await activity.find({})).map(({ id }) => id))
  const target = path.replace(/:(\w+)/g, (_, param: string) => String(params[param]))
  const answer = await call(row.method as Method, `${target}/${query}`, { as: owner, ...(body === undefined ? {} : { body }) })
  expect(answer.status, `${name} ${JSON.stringify(answer.body)}`).toBe(row.status)
  // What is deleted takes its older entries with it.
  expect((await activity.find({})).filter(({ id }) => !before.has(id)).length, name).toBeGreaterThan(0)
  asked.add(name)
  return answer.body
}

test('organizations and what is in them', async () => {
  const { organization, member, world } = held.home
  const at = { organization_id: organization.id }
  const made = await does('organizations.create', {}, { name: 'New' })
  await does('organizations.update', { id: made.id }, { name: 'Newer' })
  await does('organizations.remove', { id: made.id })
  await does('members.update', { ...at, user__uuid: member.uuid }, { level: 8 })
  world.settings = { ...world.settings, isHosted: true }
  const domain = await does('domains.create', at, { domain: 'acme.example' })
  world.txt.set('_waymark-challenge.acme.example', [domain.verification_challenge])
  await does('domains.verify', { ...at, id: domain.id })
  await does('domains.update', { ...at, id: domain.id }, { jit_provisioning_enabled: true })
  await does('domains.remove', { ...at, id: domain.id })
  const invite = await does('invites.create', at, { target_email: 'a@new.test' })
  await does('invites.create_many', at, [{ target_email: 'b@new.test' }])
  await does('invites.resend', { ...at, id: invite.id })
  await does('invites.remove', { ...at, id: invite.id })
  const role = await does('roles.create', at, { name: 'Readers' })
  await does('roles.update', { ...at, id: role.id }, { name: 'Writers' })
  const membership = await does('role_memberships.create', { ...at, role_id: role.id }, { user_uuid: member.uuid })
  await does('role_memberships.remove', { ...at, role_id: role.id, id: membership.id })
  await does('roles.remove', { ...at, id: role.id })
  const proxy = await does('proxy_records.create', at, { domain: 'e.acme.example' })
  await does('proxy_records.update', { ...at, id: proxy.id }, { domain: 'f.acme.example' })
  world.cname.set('f.acme.example', 'elsewhere.example')
  await does('proxy_records.retry', { ...at, id: proxy.id })
  await does('proxy_records.remove', { ...at, id: proxy.id })
  await does('members.remove', { ...at, user__uuid: member.uuid })
})

test('accepting an invitation', async () => {
  const { call, owner, organization, world } = held.home
  const base = `/api/organizations/${organization.id}/invites/`
  const { body: invite } = await call('POST', base, { as: owner, body: { target_email: 'joins@new.test' } })
  const { activity } = world.accounts.context.store.read
  const before = await activity.count({})
  const answer = await call('POST', `/api/signup/${invite.secret}/`, { body: { first_name: 'Jo', password: 'a long password 17' } })
  expect([answer.status, (await activity.count({})) - before]).toEqual([201, 1])
  asked.add('signup.create')
})

test('projects and what is in them', async () => {
  const { organization, world } = held.home
  await world.setFeature(organization.id, 'organizations_projects', true)
  const one = await does('organization_project_list.create', { organization_id: organization.id }, { name: 'One' })
  const at = { organization_id: organization.id, id: one.id }
  await does('organization_projects.update', at, { name: 'Uno' })
  await does('organization_projects.reset_token', at, {})
  await does('organization_projects.remove', at)
  const two = await does('project_list.create', {}, { name: 'Two' })
  await does('projects.update', { id: two.id }, { name: 'Due' })
  const guest = await world.user('guest@acme.test', organization.id)
  const access = { project_id: two.id, user__uuid: guest.uuid }
  await does('project_members.create', { project_id: two.id }, { user_uuid: guest.uuid })
  await does('project_members.update', access, { level: 8 })
  await does('project_members.remove', access)
  const role = await does('roles.create', { organization_id: organization.id }, { name: 'With access' })
  await does('project_roles.create', { project_id: two.id }, { role_id: role.id })
  await does('project_roles.update', { project_id: two.id, role_id: role.id }, { level: 8 })
  await does('project_roles.remove', { project_id: two.id, role_id: role.id })
  await does('projects.reset_token', { id: two.id }, {})
  const inside = { project_id: two.id }
  const action = await does('actions.create', inside, { name: 'Paid', steps: [{ event: 'purchase' }] })
  await does('actions.update', { ...inside, id: action.id }, { name: 'Paid well' })
  await does('actions.replace', { ...inside, id: action.id }, { name: 'Bought', steps: [{ event: 'purchase' }] })
  await does('actions.update', { ...inside, id: action.id }, { deleted: true })
  const cohort = await does('cohorts.create', inside, { name: 'All', is_static: true, distinct_ids: [] })
  await does('cohorts.update', { ...inside, id: cohort.id }, { name: 'Some' })
  await does('cohorts.replace', { ...inside, id: cohort.id }, { name: 'None', is_static: true })
  await does('cohorts.remove', { ...inside, id: cohort.id })
  const data = await world.projectData(two.id)
  await data.ingest({ batch: [{ event: 'purchase', distinct_id: 'u', properties: { price: 5 } }] })
  await does('event_definitions.update', { ...inside, id: 'purchase' }, { description: 'Somebody paid.' })
  const [price] = (await held.home.call('GET', `/api/projects/${two.id}/property_definitions/`, { as: held.home.owner })).body.results
  await does('property_definitions.update', { ...inside, id: price.id }, { property_type: 'Numeric' })
  await does('historical_import.update', inside, { source: 'mixpanel' })
  await does('historical_import.replace', inside, { source: 'amplitude' })
  const begun = await does('imports.create', inside, { file: 'a.csv' })
  await does('imports.undo', { ...inside, id: begun.id }, {})
  const query = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'purchase' }] }
  const insight = await does('insights.create', inside, { query })
  await does('insights.update', { ...inside, id: insight.id }, { name: 'Purchases' })
  const dashboard = await does('dashboards.create', inside, { tiles: [{ insight: insight.id }, { text: { body: 'Hello' } }] })
  const other = await does('dashboards.create', inside, {})
  const [first, second] = dashboard.tiles.map((tile: { id: number }) => tile.id)
  await does('dashboards.update', { ...inside, id: dashboard.id }, { name: 'Shop' })
  await does('dashboards.reorder_tiles', { ...inside, id: dashboard.id }, { tile_order: [second, first] })
  await does('dashboards.copy_tile', { ...inside, id: other.id }, { fromDashboardId: dashboard.id, tileId: first })
  await does('dashboards.move_tile', { ...inside, id: dashboard.id }, { tile: second, to_dashboard: other.id })
  await does('insight_sharing.update', { ...inside, insight_id: insight.id }, { enabled: true })
  await does('insight_sharing.refresh', { ...inside, insight_id: insight.id })
  await does('dashboard_sharing.update', { ...inside, dashboard_id: dashboard.id }, { enabled: true })
  await does('dashboard_sharing.refresh', { ...inside, dashboard_id: dashboard.id })
  const threshold = { configuration: { type: 'absolute', bounds: { upper: 1 } } }
  const rule = { insight: insight.id, condition: { type: 'absolute_value' }, threshold }
  const alert = await does('alerts.create', inside, { ...rule, webhook_url: 'https://hooks.example.com/in' })
  await does('alerts.update', { ...inside, id: alert.id }, { name: 'Many' })
  await does('alerts.replace', { ...inside, id: alert.id }, { ...rule, name: 'Too many' })
  await does('alerts.remove', { ...inside, id: alert.id })
  const target = { target_type: 'webhook', target_value: 'https://hooks.example.com/in' }
  const schedule = { insight: insight.id, ...target, frequency: 'daily', start_date: '2026-01-05T09:00:00Z' }
  const subscription = await does('subscriptions.create', inside, schedule)
  await does('subscriptions.update', { ...inside, id: subscription.id }, { title: 'Numbers' })
  await does('subscriptions.replace', { ...inside, id: subscription.id }, { ...schedule, frequency: 'weekly' })
  await does('watches.update', { ...inside, watch: 'silence' }, { enabled: false })
  const statement = (sql: string) => ({ kind: 'HogQLQuery', query: sql })
  const view = await does('warehouse_saved_queries.create', inside, { name: 'one', query: statement('select 1 as n') })
  await does('warehouse_saved_queries.update', { ...inside, id: view.id }, { name: 'uno' })
  await does('warehouse_saved_queries.replace', { ...inside, id: view.id }, { name: 'due', query: statement('select 2 as n') })
  await does('warehouse_saved_queries.remove', { ...inside, id: view.id })
  const paying = [{ key: 'plan', type: 'person', operator: 'exact', value: ['pro'] }]
  const filters = await does('saved_filters.create', inside, { name: 'Paying', properties: paying })
  await does('saved_filters.update', { ...inside, id: filters.id }, { name: 'Customers' })
  await does('saved_filters.replace', { ...inside, id: filters.id }, { name: 'Clients', properties: paying })
  await does('saved_filters.remove', { ...inside, id: filters.id })
  const flag = await does('feature_flags.create', inside, { key: 'new-ui' })
  await does('feature_flags.update', { ...inside, id: flag.id }, { name: 'For all' })
  await does('feature_flags.replace', { ...inside, id: flag.id }, { key: 'newer-ui' })
  const viewerKey = await does('viewer_keys.create', inside, { name: 'Shop' })
  await does('viewer_keys.remove', { ...inside, id: viewerKey.id })
  await does('viewer_tokens.revoke', { ...inside, id: 'one' })
  const annotation = await does('annotations.create', inside, { content: 'Release', date_marker: '2026-01-01T00:00:00Z' })
  await does('annotations.update', { ...inside, id: annotation.id }, { content: 'Second release' })
  await does('annotations.replace', { ...inside, id: annotation.id }, { content: 'Third release', date_marker: null })
  await does('projects.remove', { id: two.id })
})

test('people and their keys', async () => {
  const key = await does('personal_api_keys.create', {}, { label: 'CI', scopes: ['query:read'] })
  await does('personal_api_keys.update', { id: key.id }, { label: 'CD' })
  await does('personal_api_keys.roll', { id: key.id })
  await does('personal_api_keys.remove', { id: key.id })
  await does('users.update', { uuid: '@me' }, { first_name: 'Ada' })
})

test.each(['organization_batch_exports', 'batch_exports'])('%s', async (name) => {
  const { organization, project, world } = held.home
  const at = { organization_id: organization.id, project_id: project.id }
  const body = { name: 'Nightly', interval: 'day', destination: { type: 'NoOp', config: {} } }
  const made = await does(`${name}.create`, at, name === 'batch_exports' ? body : { ...body, project_id: project.id })
  const one = { ...at, id: made.id }
  await does(`${name}.update`, one, { name: 'Daily' })
  await does(`${name}.replace`, one, body)
  await does(`${name}.pause`, one)
  await does(`${name}.unpause`, one)
  await does(`${name}.backfill`, one, { start_at: '2026-01-01T00:00:00Z', end_at: '2026-01-02T00:00:00Z' })
  const { id: backfill_id } = await does(`${name}.create_backfill`, one, {
    start_at: '2026-01-03T00:00:00Z',
    end_at: '2026-01-04T00:00:00Z',
  })
  await does(`${name}.cancel_backfill`, { ...one, backfill_id })
  const { accounts } = world
  const { store } = accounts.context
  const record = (await store.read.batch_exports.first({ id: made.id }))!
  const run = newRun(record, accounts.context.clock(), {
    id: accounts.context.newId(),
    lane: 'schedule',
    backfill_id: null,
    key: 'k',
    data_interval_start: new Date('2026-01-01T00:00:00Z'),
    data_interval_end: new Date('2026-01-02T00:00:00Z'),
    range: { by: 'arrival', after: 0, to: 5 },
  })
  await store.write((tables) => tables.batch_export_runs.insert(run))
  await does(`${name}.cancel_run`, { ...one, run_id: run.id })
  await does(`${name}.retry_run`, { ...one, run_id: run.id })
  await does(`${name}.remove`, one)
})

test.each(familyNames)('%s', async (name) => {
  const { organization, world } = held.home
  const { id } = await insertPlugin(world, organization.id, name)
  const one = { organization_id: organization.id, id }
  await does(`${name}.create`, one, { url: `https://github.com/acme/${name}` })
  await does(`${name}.update`, one, { description: 'Greets.' })
  await does(`${name}.update_source`, one, familySources[name])
  const downloaded = await insertPlugin(world, organization.id, name, { plugin_type: 'custom', url: 'https://github.com/acme/hello' })
  await does(`${name}.upgrade`, { ...one, id: downloaded.id }, {})
  await does(`${name}.remove`, one)
})

test.each(Object.entries(configFamilies))('%s', async (name, family) => {
  const { organization, project, world } = held.home
  const at = { project_id: project.id }
  const { id: plugin } = await insertPlugin(world, organization.id, family)
  const { id } = await does(`${name}.create`, at, { plugin, enabled: true })
  await does(`${name}.update`, { ...at, id }, { config: { city: 'Bern' } })
  await does(`${name}.rearrange`, at, { orders: { [plugin]: 7 } })
  await does(`${name}.job`, { ...at, id }, { job: { type: 'sync' } })
  const config = (await world.accounts.context.store.read.plugin_configs.first({ id }))!
  const [one, two] = await insertFailedDeliveries(world, config, 3)
  await does(`${name}.retry_delivery`, { ...at, id, delivery_id: one!.id })
  await does(`${name}.discard_delivery`, { ...at, id, delivery_id: two!.id })
  await does(`${name}.retry_deliveries`, { ...at, id })
  await does(`${name}.discard_deliveries`, { ...at, id })
  await letReceive(world, id)
  await does(`${name}.replace_webhook`, { ...at, id })
  await does(`${name}.remove_webhook`, { ...at, id })
  await does(`${name}.remove`, { ...at, id })
})

test('persons, groups and definitions', async () => {
  const { project, world } = held.home
  const at = { project_id: project.id }
  const data = await world.projectData(project.id)
  const { ids } = await data.importPersons(['a', 'b', 'c', 'd'].map((id) => ({ distinct_ids: [id, `${id}2`], properties: {} })))
  await data.importGroups([{ group_type: 'company', group_key: 'acme' }])
  const [a, b, c, d] = ids as [string, string, string, string]
  await does('persons.update', { ...at, id: a }, { properties: { x: 1 } })
  await does('persons.update_by_post', { ...at, id: a }, { properties: { x: 2 } })
  await does('persons.update_property', { ...at, id: a }, { key: 'x', value: 3 })
  await does('persons.delete_property', { ...at, id: a }, { $unset: 'x' })
  await does('persons.split', { ...at, id: a }, { main_distinct_id: 'a' })
  await does('persons.merge', { ...at, id: a }, { ids: [b] })
  await does('persons.remove', { ...at, id: c })
  await does('persons.bulk_delete', at, { ids: [d] })
  await does('groups_types.update', at, [{ group_type_index: 0, name_plural: 'Companies' }])
  await does('groups.create', at, { group_type_index: 0, group_key: 'umbrella' })
  for (const [name, body] of [
    ['groups.update_property', { key: 'x', value: 1 }],
    ['groups.delete_property', { $unset: 'x' }],
  ] as const)
    await does(name, at, body, '?group_type_index=0&group_key=acme')
  await data.ingest([{ event: 'seen', distinct_id: 'a', properties: { p: 1, q: 2 } }])
  const one = async (list: string) =>
    (await held.home.call('GET', `/api/projects/${project.id}/${list}`, { as: held.home.owner })).body.results[0].id
  await does('event_definitions.remove', { ...at, id: await one('event_definitions/') })
  await does('property_definitions.delete_values', { ...at, id: await one('property_definitions/') })
  await does('property_definitions.remove', { ...at, id: await one('property_definitions/') })
})

test('no route that changes something was left out', () => {
  // Agreements to the code of plugins: test/service/plugins/agreement.test.ts.
  const changing = [...rows.values()].flatMap(({ row }) => (isReading(row.method) || row.name.endsWith('.agree') ? [] : [row.name]))
  expect(changing.filter((name) => !asked.has(name) && !changesNothing.has(name))).toEqual([])
  for (const name of changesNothing) expect(rows.has(name), name).toBe(true)
})
