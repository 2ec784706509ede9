import { expect } from 'vitest'
import type { Row } from '../../../src/doors/http/resource.ts'
import { routes } from '../../../src/doors/http/routes.ts'
import {
  configFamilies,
  familyCapabilities,
  familyNames,
  insertFailedDeliveries,
  insertPlugin,
  insertPluginConfig,
} from '../../harness/plugin-rows.ts'
import type { Home } from './conversation.ts'

// What it takes to make the n-th record by each route that makes records.

interface Made {
  readonly member: { readonly uuid: string }
  readonly role: string
  /** For configs of plugins. */
  readonly plugin: number | null
  /** For what is about an insight. */
  readonly insight: number | null
}
const bodies: Readonly<Record<string, (n: number, made: Made) => unknown>> = {
  'organizations.create': (n) => ({ name: `Organization ${n}` }),
  'invites.create': (n) => ({ target_email: `guest${n}@acme.test` }),
  'invites.create_many': (n) => [{ target_email: `one${n}@acme.test` }, { target_email: `two${n}@acme.test` }],
  'domains.create': (n) => ({ domain: `domain${n}.example.com` }),
  'roles.create': (n) => ({ name: `Role ${n}` }),
  'role_memberships.create': (_, { member }) => ({ user_uuid: member.uuid }),
  'project_members.create': (_, { member }) => ({ user_uuid: member.uuid, level: 8 }),
  'project_roles.create': (_, { role }) => ({ role_id: role, level: 8 }),
  'proxy_records.create': (n) => ({ domain: `proxy${n}.example.com` }),
  'organization_project_list.create': (n) => ({ name: `Project ${n}` }),
  'project_list.create': (n) => ({ name: `Project ${n}` }),
  'actions.create': (n) => ({ name: `Action ${n}`, steps: [{ event: 'signup' }] }),
  'insights.create': (n) => ({ name: `Insight ${n}`, query: { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'signup' }] } }),
  'warehouse_saved_queries.create': (n) => ({ name: `view_${n}`, query: { kind: 'HogQLQuery', query: `select ${n} as n` } }),
  'feature_flags.create': (n) => ({ key: `flag-${n}` }),
  'viewer_keys.create': (n) => ({ name: `Shop ${n}` }),
  'saved_filters.create': (n) => ({
    name: `Filters ${n}`,
    properties: [{ key: 'plan', type: 'person', operator: 'exact', value: ['pro'] }],
  }),
  'imports.create': (n) => ({ file: `${n}.csv` }),
  'annotations.create': (n) => ({ content: `Release ${n}`, date_marker: '2026-01-01T00:00:00Z' }),
  'dashboards.create': (n) => ({ name: `Dashboard ${n}` }),
  'alerts.create': (n, { insight }) => ({
    insight,
    name: `Alert ${n}`,
    condition: { type: 'absolute_value' },
    threshold: { configuration: { type: 'absolute', bounds: { upper: n } } },
    webhook_url: 'https://hooks.example.com/in',
  }),
  'subscriptions.create': (n, { insight }) => ({
    insight,
    title: `Subscription ${n}`,
    target_type: 'webhook',
    target_value: 'https://hooks.example.com/in',
    frequency: 'weekly',
    start_date: '2026-01-05T09:00:00Z',
  }),
  'groups.create': (n) => ({ group_type_index: 0, group_key: `group ${n}`, group_properties: {} }),
  'cohorts.create': (n) => ({ name: `Cohort ${n}`, is_static: true }),
  ...Object.fromEntries(
    ['organization_batch_exports', 'batch_exports'].flatMap((name) => [
      [`${name}.create`, (n: number) => ({ name: `Export ${n}`, interval: 'hour', destination: { type: 'NoOp', config: {} } })],
      [
        `${name}.create_backfill`,
        (n: number) => ({ start_at: new Date(n * 86_400_000).toISOString(), end_at: new Date((n + 1) * 86_400_000).toISOString() }),
      ],
    ]),
  ),
  ...Object.fromEntries(
    familyNames.map((name) => [
      `${name}.create`,
      (n: number) => ({ plugin_type: 'source', name: `Plugin ${n}`, capabilities: familyCapabilities[name] }),
    ]),
  ),
  ...Object.fromEntries(
    Object.keys(configFamilies).map((name) => [`${name}.create`, (n: number, { plugin }: Made) => ({ plugin, order: n })]),
  ),
  'personal_api_keys.create': (n) => ({ label: `Key ${n}`, scopes: ['query:read'] }),
}

export interface PlacedRow {
  readonly path: string
  readonly row: Row
}
export const placedRows: readonly PlacedRow[] = routes.flatMap(({ path, rows }) => [...rows.values()].map((row) => ({ path, row })))
export const creatingRows = placedRows.filter(({ row }) => row.isCreating)

let count = 0
/** A body that the route takes; every time another one. */
export const newBody = async ({ row }: PlacedRow, home: Home): Promise<unknown> => {
  const { world, organization } = home
  const body = bodies[row.name]
  expect(body, `${row.name} makes records: say here of what`).toBeDefined()
  const n = ++count
  const family = configFamilies[row.name.split('.')[0]!]
  const plugin = family ? (await insertPlugin(world, organization.id, family)).id : null
  const insight = /^(alerts|subscriptions)\./.test(row.name) ? await insightIn(home) : null
  const role = row.name === 'project_roles.create' ? await newRole(home, n) : ''
  return body!(n, { member: await world.user(`joined${n}@acme.test`, organization.id), role, plugin, insight })
}

const newRole = async ({ call, admin, organization }: Home, n: number): Promise<string> => {
  const made = await call('POST', `/api/organizations/${organization.id}/roles/`, { as: admin, body: { name: `With access ${n}` } })
  return made.body.id
}

const oneRole = new WeakMap<Home, Promise<string>>()
/** The path with the ids of this home. Roles are those of one role. */
export const pathIn = async (path: string, home: Home): Promise<string> => {
  const { organization, project } = home
  const ids: Record<string, string> = { organization_id: organization.id, project_id: String(project.id), uuid: '@me' }
  if (path.includes(':role_id')) ids.role_id = await roleIn(home)
  if (path.includes('/batch_exports/:id')) ids.id = await exportIn(home)
  if (/\/(alerts|subscriptions)\/:id/.test(path)) Object.assign(ids, await noticesIn(home, path))
  const family = configFamilies[/\/(\w+)\/:id/.exec(path)?.[1] ?? '']
  if (path.endsWith('/groups'))
    await (await home.world.projectData(project.id)).importGroups([
      { group_type: 'company', group_type_index: 0, group_key: 'known', properties: {} },
    ])
  // Its path names no project.
  if (path.startsWith('/api/plugin_config')) await makeCurrent(home)
  if (family) {
    const config = await insertPluginConfig(home.world, project, family)
    ids.id = String(config.id)
    if (path.includes('/failed_deliveries')) ids.delivery_id = (await insertFailedDeliveries(home.world, config, 5))[0]!.id
  }
  return `${path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? '')}/`
}

const makeCurrent = ({ world, owner, organization, project }: Home) =>
  world.accounts.context.store.write((tables) =>
    tables.users.update({ id: owner.id }, { current_organization_id: organization.id, current_project_id: project.id }),
  )

const insightIn = async ({ call, owner, project }: Home): Promise<number> => {
  const body = { query: { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'signup' }] } }
  return (await call('POST', `/api/projects/${project.id}/insights/`, { as: owner, body })).body.id
}

/** An alert or a subscription with checks and deliveries. */
const noticesIn = async (home: Home, path: string): Promise<Record<string, string>> => {
  const { call, owner, project, world } = home
  const list = path.replace(/\/:id.*$/, '').replace(':project_id', String(project.id))
  const row = creatingRows.find((one) => path.startsWith(`${one.path}/:id`))!
  const { id } = (await call('POST', `${list}/`, { as: owner, body: await newBody(row, home) })).body
  const { context } = world.accounts
  const isAlert = path.includes('/alerts/')
  const of = { project_id: project.id, alert_id: isAlert ? (id as string) : null, subscription_id: isAlert ? null : (id as number) }
  const deliveries: string[] = []
  await context.store.write(async (tables) => {
    for (let n = 0; n < 5; n++) {
      const [due_at, notice_id] = [new Date(), context.newId()]
      if (isAlert) {
        const check = { due_at, created_at: due_at, calculated_value: n, state: 'Firing', error: null, targets: [] }
        await tables.alert_checks.insert({ id: context.newId(), project_id: project.id, alert_id: id, ...check })
      }
      deliveries.push(context.newId())
      const attempt = {
        status: 'failed',
        attempts: 1,
        due_at,
        latest_error: 'failed',
        last_attempt_at: due_at,
        delivered_at: null,
        is_test: false,
        watch: null,
      }
      const target = { target_type: 'webhook', target: 'https://hooks.example.com/in' }
      await tables.notice_deliveries.insert({ id: deliveries[n]!, ...of, notice_id, ...target, ...attempt, created_at: due_at })
    }
  })
  return { id: String(id), delivery_id: deliveries[0]! }
}

/** The id of a batch export. */
const exportIn = async ({ call, owner, project }: Home): Promise<string> => {
  const body = { name: 'Of all', interval: 'hour', destination: { type: 'NoOp', config: {} } }
  const made = await call('POST', `/api/projects/${project.id}/batch_exports/`, { as: owner, body })
  return made.body.id
}

const roleIn = (home: Home): Promise<string> => {
  const roles = `/api/organizations/${home.organization.id}/roles/`
  const role =
    oneRole.get(home) ?? home.call('POST', roles, { as: home.owner, body: { name: 'Of all' } }).then(({ body }) => body.id as string)
  oneRole.set(home, role)
  return role
}
