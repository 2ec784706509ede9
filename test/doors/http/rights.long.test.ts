import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { propertyDefinitionId } from '../../../src/doors/http/resources/property-definitions.ts'
import { removePluginRows } from '../../../src/service/accounts/projects/plugin-rows.ts'
import type { LevelName, Organization, ProjectRecord, Role, User } from '../../../src/service/accounts/records.ts'
import { hashKey } from '../../../src/service/accounts/secrets/secrets.ts'
import { scopeObjects } from '../../../src/service/accounts/users/personal-keys.ts'
import { newRun } from '../../../src/service/exports/running/new-run.ts'
import {
  configFamilies,
  familyNames,
  insertFailedDeliveries,
  insertPlugin,
  insertPluginConfig,
  letReceive,
} from '../../harness/plugin-rows.ts'
import { sessionOf } from '../../harness/session-of.ts'
import { type Home, startHome } from './conversation.ts'
import { type PlacedRow, placedRows } from './creating.ts'
import { type CallerName, callers, openCallers, openRights, rights } from './rights.ts'
import { type Known, sample, withOtherTexts } from './sample.ts'

// The table of `rights.ts` against every route: requests are made from the schemas, about records that are there, so that whoever may is answered with
// success and nobody is refused by chance.

let home: Home
beforeAll(async () => {
  home = await startHome()
  home.world.limits = { api: [], query: [], draft: [], shared: [], test: [] }
})
afterAll(async () => {
  expect(home.world.reports).toEqual([])
  await home.world.close()
})

/** An organization can have 500. Those of earlier rows are no longer asked for. */
const pluginsKept = 100
const pluginsMade: number[] = []
async function notTooMany<T extends { readonly id: number; readonly plugin_id?: number }>(made: T): Promise<T> {
  pluginsMade.push(made.plugin_id ?? made.id)
  if (pluginsMade.length > 2 * pluginsKept)
    await home.world.accounts.context.store.write((tables) => removePluginRows(tables, pluginsMade.splice(0, pluginsKept)))
  return made
}

const wordsOf = (pattern: string) => pattern.split(/[ |]+/)
const statusesOf = (table: Readonly<Record<string, readonly string[]>>): Map<string, string[]> =>
  new Map(Object.entries(table).flatMap(([pattern, names]) => names.map((name) => [name, wordsOf(pattern)] as const)))
const [statuses, openStatuses] = [statusesOf(rights), statusesOf(openRights)]

test('the table has every route, once, and nothing else', () => {
  const declared = [...Object.values(rights), ...Object.values(openRights)].flat()
  expect(declared.toSorted()).toEqual(placedRows.map(({ row }) => row.name).toSorted())
  for (const [name, words] of statuses) expect(words, name).toHaveLength(callers.length)
  for (const [name, words] of openStatuses) expect(words, name).toHaveLength(openCallers.length)
})

/** Who a caller is, and with what. */
interface Caller {
  readonly user: User | null
  readonly headers: Record<string, string>
}
interface Place {
  readonly n: number
  readonly organization: Organization
  readonly project: ProjectRecord
  readonly member: User
  readonly invited: User
  readonly role: Role
  as(caller: CallerName, object: string): Promise<Caller>
  /** A key of the owner. */
  keyOf(given: object): Promise<Caller>
}

let made = 0
/** An organization with a project and everybody who could want something of it. */
const makePlace = async (): Promise<Place> => {
  const { world } = home
  const { store } = world.accounts.context
  const n = ++made
  const organization = await world.makeOrganization({ name: `Place ${n}`, owner: null, withProject: false })
  const project = await world.makeProject(organization.id, {})
  const data = await world.projectData(project.id)
  await data.importPersons([{ distinct_ids: ['known'] }])
  await data.importGroups([{ group_type: 'company', group_key: 'acme' }])
  const sibling = await world.makeProject(organization.id, {})
  const inside = (name: string, level: LevelName) => world.user(`${name}.${n}@rights.test`, organization.id, level)
  const [member, admin, owner] = [await inside('member', 'member'), await inside('admin', 'admin'), await inside('owner', 'owner')]
  const viewer = await inside('viewer', 'viewer')
  const [gone, removed] = [await inside('gone', 'owner'), await inside('removed', 'owner')]
  const outsider = await world.user(`outsider.${n}@rights.test`, null)
  await world.makeOrganization({ name: `Elsewhere ${n}`, owner: outsider, withProject: true })
  const second = await world.makeOrganization({ name: `Second ${n}`, owner, withProject: true })
  const invited = await world.user(`invited.${n}@rights.test`, null)
  const role = await world.accounts.roles.create(
    { user: owner, membership: (await world.accounts.organizations.membership(organization.id, owner))! },
    { name: `Role ${n}` },
  )
  const keyOf = async (user: User, given: object = {}) => {
    const { value } = await world.makeKey(user, { label: 'test', ...given })
    return { user, headers: { authorization: `Bearer ${value}` } }
  }
  const session = async (user: User) => ({ user, headers: await world.login(user) })
  const goneKey = await keyOf(gone)
  const goneSession = await session(gone)
  const removedKey = await keyOf(removed)
  const removedSession = await session(removed)
  await store.write(async (tables) => {
    await tables.users.update({ id: gone.id }, { is_active: false })
    await tables.memberships.remove({ user_id: removed.id, organization_id: organization.id })
  })
  const others = (object: string) => scopeObjects.filter((one) => one !== object).map((one) => `${one}:write`)
  const make: { readonly [C in CallerName]: (object: string) => Promise<Caller> } = {
    nobody: async () => ({ user: null, headers: {} }),
    "the project's token": async () => ({ user: null, headers: { authorization: `Bearer ${project.api_token}` } }),
    'a member of another organization': () => session(outsider),
    'somebody invited who has not joined': () => session(invited),
    'a deactivated user': async () => goneSession,
    'a removed member': async () => removedSession,
    'a viewer': () => session(viewer),
    'a member': () => session(member),
    'an administrator': () => session(admin),
    'the owner': () => session(owner),
    'a key for everything': () => keyOf(owner),
    "a key that may read the route's object": (object) => keyOf(owner, { scopes: [`${object}:read`] }),
    "a key that may write the route's object": (object) => keyOf(owner, { scopes: [`${object}:write`] }),
    'a key for all other objects': (object) => keyOf(owner, { scopes: others(object) }),
    'a key limited to the project': () => keyOf(owner, { scoped_teams: [project.id] }),
    'a key limited to another project of the organization': () => keyOf(owner, { scoped_teams: [sibling.id] }),
    'a key limited to the organization': () => keyOf(owner, { scoped_organizations: [organization.id] }),
    'a key limited to another organization of its owner': () => keyOf(owner, { scoped_organizations: [second.id] }),
    "a member's key": () => keyOf(member),
    "a deactivated user's key": async () => goneKey,
    "a removed member's key": async () => removedKey,
  }
  const held = new Map<string, Promise<Caller>>()
  return {
    n,
    organization,
    project,
    member,
    invited,
    role,
    keyOf: (given) => keyOf(owner, given),
    as: (caller, object) => {
      const name = `${caller} ${caller.includes('object') ? object : ''}`
      const known = held.get(name) ?? make[caller](object)
      held.set(name, known)
      return known
    },
  }
}
let shared: Promise<Place> | undefined
const sharedPlace = () => {
  shared ??= makePlace()
  return shared
}

/** What makes the caller the owner of something new, counts what callers have, or is about their current project, gets a place of its own. */
const inItsOwnPlace: ReadonlySet<string> = new Set([
  'organizations.create',
  'project_list.create',
  'personal_api_keys.create',
  ...placedRows.map(({ row }) => row.name).filter((name) => name.startsWith('plugin_config')),
])
/** The same people and another project, which may go. */
const withAnotherProject = async (at: Place): Promise<Place> => {
  const project = await home.world.makeProject(at.organization.id, {})
  const limited = 'a key limited to the project'
  return { ...at, project, as: (caller, object) => (caller === limited ? at.keyOf({ scoped_teams: [project.id] }) : at.as(caller, object)) }
}
const placeFor = async ({ row }: PlacedRow, base: Place, isLet: boolean): Promise<Place> => {
  if (!isLet || row.method !== 'DELETE' || !row.reach.endsWith('record')) return base
  return row.reach === 'project record' ? withAnotherProject(base) : makePlace()
}

/** Ids of records that are there. */
const records: Readonly<Record<string, (at: Place, caller: Caller) => Promise<string | number>>> = {
  members: async ({ organization }) => (await home.world.user(`target.${++made}@rights.test`, organization.id)).uuid,
  invites: async (at) => (await invite(at, `guest.${++made}@rights.test`)).id,
  domains: ({ organization }) =>
    insert('domains', {
      organization_id: organization.id,
      domain: `d${++made}.example.com`,
      verification_challenge: 'x',
      proof: null,
      proof_checked_at: null,
      proof_missing_since: null,
      oidc_issuer: null,
      oidc_client_id: null,
      oidc_client_secret: null,
      verified_at: null,
      last_verification_retry: null,
      jit_provisioning_enabled: false,
      sso_enforcement: '',
      saml_entity_id: null,
      saml_acs_url: null,
      saml_x509_cert: null,
      pending: null,
      created_at: new Date(),
    }),
  roles: ({ organization }) =>
    insert('roles', {
      scim_domain_id: null,
      external_id: null,
      organization_id: organization.id,
      name: `Role ${++made}`,
      feature_flags_access_level: 37,
      created_by_id: null,
      created_at: new Date(),
    }),
  role_memberships: ({ role, member }) =>
    insert('role_memberships', { role_id: role.id, user_id: member.id, joined_at: new Date(), updated_at: new Date() }),
  proxy_records: ({ organization }) =>
    insert('proxy_records', {
      organization_id: organization.id,
      domain: `p${++made}.example.com`,
      target_cname: 'target.example.com',
      status: 'waiting',
      message: null,
      created_by_id: null,
      created_at: new Date(),
      updated_at: new Date(),
    }),
  ...Object.fromEntries(
    familyNames.map((name) => [
      name,
      async ({ organization }: Place) => (await notTooMany(await insertPlugin(home.world, organization.id, name))).id,
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(configFamilies).map(([name, family]) => [
      name,
      async ({ project }: Place) => (await notTooMany(await insertPluginConfig(home.world, project, family))).id,
    ]),
  ),
  slow_queries: ({ project }, { user }) =>
    insert('slow_queries', {
      project_id: project.id,
      kind: 'SqlLikeQuery',
      form: 'answer',
      caller: `user ${user?.id ?? 0}`,
      user_id: user?.id ?? null,
      outcome: 'answered',
      error: null,
      milliseconds: 3_000,
      rows: 1,
      steps: [],
      shape: '{}',
      query: JSON.stringify({ kind: 'SqlLikeQuery', query: 'select 1' }),
      created_at: new Date(),
    }),
  personal_api_keys: async (_, { user }) =>
    user ? (await home.world.makeKey(user, { label: 'own' })).id : '00000000-0000-7000-8000-000000000000',
  project_members: async ({ organization, project }) => {
    const user = await home.world.user(`access.${++made}@rights.test`, organization.id)
    const now = new Date()
    const row = {
      id: home.world.accounts.context.newId(),
      project_id: project.id,
      user_id: user.id,
      level: 1,
      joined_at: now,
      updated_at: now,
    }
    await home.world.accounts.context.store.write((tables) => tables.project_memberships.insert(row))
    return user.uuid
  },
  users: async (_, { user }) => {
    if (!user) return 'none'
    return hashKey(await sessionOf(home.world.accounts, user)).slice(-32)
  },
  actions: async ({ project }) =>
    (await (await home.world.projectData(project.id)).createAction({ name: `Action ${++made}`, steps: [] })).id,
  cohorts: async ({ project }) =>
    (await (await home.world.projectData(project.id)).createCohort({ name: 'Cohort', is_static: true, distinct_ids: [] })).id,
  insights: async (at) => {
    const query = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'seen' }] }
    const { body } = await home.call('POST', `/api/projects/${at.project.id}/insights/`, {
      ...(await at.as('the owner', '')),
      body: { query },
    })
    shown.insight = body.id
    return body.id
  },
  dashboards: async (at) => {
    const body = { tiles: [{ text: { body: 'Text' } }] }
    const made = await home.call('POST', `/api/projects/${at.project.id}/dashboards/`, { ...(await at.as('the owner', '')), body })
    Object.assign(shown, { dashboard: made.body.id, tile: made.body.tiles[0].id })
    return made.body.id
  },
  warehouse_saved_queries: async (at) => {
    const body = { name: `view_${++made}`, query: { kind: 'HogQLQuery', query: 'select 1' } }
    const path = `/api/projects/${at.project.id}/warehouse_saved_queries/`
    return (await home.call('POST', path, { ...(await at.as('the owner', '')), body })).body.id
  },
  feature_flags: async (at) => {
    const path = `/api/projects/${at.project.id}/feature_flags/`
    return (await home.call('POST', path, { ...(await at.as('the owner', '')), body: { key: `flag-${++made}` } })).body.id
  },
  viewer_keys: async (at) => {
    const path = `/api/projects/${at.project.id}/viewer_keys/`
    return (await home.call('POST', path, { ...(await at.as('the owner', '')), body: { name: `Shop ${++made}` } })).body.id
  },
  viewer_tokens: async () => `token ${++made}`,
  saved_filters: async (at) => {
    const body = { name: `Filters ${++made}`, properties: [{ key: 'plan', type: 'person', operator: 'exact', value: ['pro'] }] }
    const path = `/api/projects/${at.project.id}/saved_filters/`
    return (await home.call('POST', path, { ...(await at.as('the owner', '')), body })).body.id
  },
  annotations: async (at) => {
    const path = `/api/projects/${at.project.id}/annotations/`
    return (await home.call('POST', path, { ...(await at.as('the owner', '')), body: { content: 'Release' } })).body.id
  },
  imports: async (at) => {
    const path = `/api/projects/${at.project.id}/imports/`
    return (await home.call('POST', path, { ...(await at.as('the owner', '')), body: { file: `${++made}.csv` } })).body.id
  },
  event_definitions: async ({ project }) => {
    await (await home.world.projectData(project.id)).ingest({ batch: [{ event: 'seen', distinct_id: 'u' }] })
    return 'seen'
  },
  property_definitions: async ({ project }) => {
    await (await home.world.projectData(project.id)).ingest({ batch: [{ event: 'seen', distinct_id: 'u', properties: { price: 1 } }] })
    return propertyDefinitionId(project.id, 'event', 'price')
  },
  persons: async ({ project }) => {
    const distinct_ids = [`person ${++made}`, `other ${made}`]
    return (await (await home.world.projectData(project.id)).importPersons([{ distinct_ids }])).ids[0]!
  },
  person_deletions: async ({ project, member }) => {
    const asked = { asked_by: 'ids', cohort_id: null, asked: 1, with_events: false, is_complete: true }
    return (await home.world.accounts.deletions.begin(member, project, asked)).id
  },
  events: async ({ project }) => {
    const uuid = home.world.accounts.context.newId()
    await (await home.world.projectData(project.id)).ingest({ batch: [{ event: 'seen', distinct_id: 'u', uuid }] })
    return uuid
  },
  insight_sharing: (at, caller) => records.insights!(at, caller),
  dashboard_sharing: (at, caller) => records.dashboards!(at, caller),
  alerts: async (at) => {
    const rule = { condition: { type: 'absolute_value' }, threshold: { configuration: { type: 'absolute', bounds: { upper: 1 } } } }
    const body = { insight: await insightIn(at), ...rule, webhook_url: 'https://hooks.example.com/in' }
    const path = `/api/projects/${at.project.id}/alerts/`
    return (await home.call('POST', path, { ...(await at.as('the owner', '')), body })).body.id
  },
  subscriptions: async (at) => {
    const target = { target_type: 'webhook', target_value: 'https://hooks.example.com/in' }
    const body = { insight: await insightIn(at), ...target, frequency: 'daily', start_date: '2026-01-05T09:00:00Z' }
    const path = `/api/projects/${at.project.id}/subscriptions/`
    return (await home.call('POST', path, { ...(await at.as('the owner', '')), body })).body.id
  },
  query: ({ project }) =>
    insert('query_runs', {
      project_id: project.id,
      task_id: 'x',
      is_complete: true,
      is_error: false,
      error_message: null,
      characters: null,
      start_time: new Date(),
      end_time: new Date(),
      expiration_time: new Date(Date.now() + 600_000),
    }),
}
/** One insight of a project. */
const heldInsights = new Map<number, Promise<number>>()
const insightIn = (at: Place): Promise<number> => {
  const known = heldInsights.get(at.project.id) ?? at.as('the owner', '').then((owner) => records.insights!(at, owner) as Promise<number>)
  heldInsights.set(at.project.id, known)
  return known
}
/** A delivery of an alert or a subscription that can be retried. */
const insertDelivery = async (at: Place, resource: string, of: string | number): Promise<string> => {
  const now = new Date()
  const isAlert = resource === 'alerts'
  return insert('notice_deliveries', {
    project_id: at.project.id,
    notice_id: 'none',
    alert_id: isAlert ? of : null,
    subscription_id: isAlert ? null : of,
    target_type: 'webhook',
    target: 'https://hooks.example.com/in',
    status: 'failed',
    attempts: 1,
    due_at: now,
    latest_error: 'failed',
    created_at: now,
    last_attempt_at: now,
    delivered_at: null,
  })
}
/** The token of a public link. */
const linkIn = async (at: Place): Promise<string> => {
  const path = `/api/projects/${at.project.id}/insights/${await insightIn(at)}/sharing/`
  return (await home.call('PATCH', path, { ...(await at.as('the owner', '')), body: { enabled: true } })).body.access_token
}

/** The last ones that were made. */
const shown = { insight: 1, dashboard: 1, tile: 1 }
const insert = async (
  table: 'domains' | 'roles' | 'role_memberships' | 'project_roles' | 'proxy_records' | 'query_runs' | 'notice_deliveries' | 'slow_queries',
  row: object,
): Promise<string> => {
  const { store, newId } = home.world.accounts.context
  const id = newId()
  await store.write((tables) => tables[table].insert({ ...row, id } as never))
  return id
}
const invite = async ({ organization }: Place, target_email: string, secret: string | null = null) => {
  const { store, newId } = home.world.accounts.context
  const now = new Date()
  const row = {
    id: newId(),
    organization_id: organization.id,
    target_email,
    first_name: '',
    message: null,
    level: 1,
    emailing_attempt_made: false,
    private_project_access: [],
    created_by_id: null,
    created_at: now,
    updated_at: now,
    secret_hash: secret && hashKey(secret),
  }
  await store.write((tables) => tables.invites.insert(row))
  return row
}

const known: Known = {
  domain: (n) => `new${n}.example.com`,
  jsonrpc: () => '2.0',
  method: () => 'tools/list',
  target_email: (n) => `new${n}@rights.test`,
  scopes: () => ['query:read'],
  query: () => ({ kind: 'SqlLikeQuery', query: 'select 1' }),
  is_static: () => true,
  destination: () => ({ type: 'LocalFiles', config: {} }),
  step: () => 0,
  ids: () => [],
  main_distinct_id: () => null,
  group_type_index: () => 0,
  target_type: () => 'webhook',
  target_value: () => 'https://hooks.example.com/in',
  start_date: () => '2026-01-05T09:00:00Z',
  job: () => ({ type: 'sync' }),
  insight_ids: () => [shown.insight],
  tile: () => shown.tile,
  tileId: () => shown.tile,
  tile_order: () => [shown.tile],
  to_dashboard: () => shown.dashboard,
  fromDashboardId: () => shown.dashboard,
  start_at: () => '2026-02-01T00:00:00Z',
  end_at: () => '2026-02-02T00:00:00Z',
}
/** What a body needs though its schema does not say so. */
const besides: Readonly<Record<string, readonly string[]>> = {
  'agents.call': ['id'],
  'insights.create': ['query'],
  'viewer_tokens.create': ['insights'],
  'cohorts.create': ['is_static'],
  'cohorts.replace': ['is_static'],
  'persons.bulk_delete': ['ids'],
  'dashboards.move_tile': ['to_dashboard'],
  'subscriptions.create': ['insight'],
  'subscriptions.replace': ['insight'],
  ...Object.fromEntries(
    ['organization_batch_exports', 'batch_exports'].flatMap((name) =>
      ['backfill', 'create_backfill'].map((route) => [`${name}.${route}`, ['start_at', 'end_at']]),
    ),
  ),
}
/** A plugin of the family that every project may use. */
const globalPlugins = new Map<string, Promise<{ readonly id: number }>>()
const globalPlugin = async (family: (typeof configFamilies)[string] | undefined): Promise<number | null> => {
  if (!family) return null
  const known = globalPlugins.get(family) ?? insertPlugin(home.world, home.other.id, family, { is_global: true })
  globalPlugins.set(family, known)
  return (await known).id
}
const bodyOf = async ({ row }: PlacedRow, at: Place): Promise<unknown> => {
  if (!row.body) return row.method === 'GET' || row.method === 'DELETE' ? undefined : {}
  const joined = ['role_memberships.create', 'project_members.create'].includes(row.name)
    ? (await home.world.user(`joined.${++made}@rights.test`, at.organization.id)).uuid
    : ''
  const plugin = await globalPlugin(configFamilies[row.name.split('.')[0]!])
  const insight = /^(alerts|subscriptions)\./.test(row.name) ? await insightIn(at) : 1
  const view: Known = row.name.startsWith('warehouse_saved_queries.') ? { name: (n) => `new_view_${n}` } : {}
  const filters: Known = row.name.startsWith('saved_filters.')
    ? { name: (n) => `New filters ${n}`, properties: () => [{ key: 'plan', type: 'person', operator: 'exact', value: ['pro'] }] }
    : {}
  const flag: Known = row.name.startsWith('feature_flags.') ? { key: (n) => `new-flag-${n}` } : {}
  const viewer: Known = row.name.startsWith('viewer_tokens.')
    ? { filter: () => [{ key: 'plan', type: 'event', operator: 'exact', value: ['pro'] }], insights: () => [1] }
    : {}
  const role = row.name === 'project_roles.create' ? await newRole(at, false) : ''
  const message: Known = row.name === 'agents.call' ? { id: () => 1 } : {}
  const more: Known = {
    ...known,
    ...message,
    ...view,
    ...filters,
    ...flag,
    ...viewer,
    role_id: () => role,
    user_uuid: () => joined,
    plugin: () => plugin,
    insight: () => insight,
  }
  const body = sample(row.body, more)
  for (const name of besides[row.name] ?? []) Object.assign(body as object, { [name]: more[name]!(0) })
  expect(row.body.safeParse(body).error, `${row.name}: say in \`known\` what its schema does not say`).toBeUndefined()
  return body
}

/** To the code of a config as it is. */
const agreementTo = async (path: string, at: Place): Promise<object> => {
  const { code_version } = (await home.call('GET', path.replace(/agree\/$/, ''), await at.as('the owner', ''))).body
  return { version: code_version }
}

const heldRecords = new Map<string, Promise<string | number>>()
/** One that is only looked at, or that the caller may not touch, is the same for all. */
const recordOf = (resource: string, at: Place, caller: Caller, mayChange: boolean): Promise<string | number> | number => {
  const make = records[resource]
  if (!make) return 1
  if (mayChange || resource === 'personal_api_keys' || resource === 'users') return make(at, caller)
  const name = `${resource} ${at.n}`
  const known = heldRecords.get(name) ?? make(at, caller)
  heldRecords.set(name, known)
  return known
}

/** A batch export with a backfill, and a run that can be cancelled, or retried. */
const makeExport = async (route: string, at: Place) => {
  const { headers } = await at.as('the owner', 'batch_export')
  const path = `/api/projects/${at.project.id}/batch_exports/`
  const body = { name: 'Export', interval: 'hour', destination: { type: 'LocalFiles', config: {} } }
  const { id } = (await home.call('POST', path, { headers, body })).body
  const range = { start_at: '2026-01-01T00:00:00Z', end_at: '2026-01-02T00:00:00Z' }
  const backfill = (await home.call('POST', `${path}${id}/backfills/`, { headers, body: range })).body
  const { store, newId, clock } = home.world.accounts.context
  const run = {
    ...newRun({ id, project_id: at.project.id }, clock(), {
      id: newId(),
      lane: 'schedule',
      backfill_id: null,
      key: 'k',
      data_interval_start: new Date(range.start_at),
      data_interval_end: new Date(range.end_at),
      range: { by: 'arrival' as const, after: 0, to: 5 },
    }),
    ...(route.endsWith('.retry_run') ? { status: 'Completed' as const } : {}),
  }
  await store.write((tables) => tables.batch_export_runs.insert(run))
  return { id, run_id: run.id, backfill_id: backfill.id }
}
const heldExports = new Map<string, ReturnType<typeof makeExport>>()
const exportIds = (route: string, at: Place, mayChange: boolean) => {
  const name = `${route} ${at.n}`
  const known = mayChange ? undefined : heldExports.get(name)
  const ids = known ?? makeExport(route, at)
  heldExports.set(name, ids)
  return ids
}

const queries: Readonly<Record<string, string>> = {
  'query.draft_sql': '?prompt=how%20many%20events%20per%20day',
  'feature_flags.evaluation_reasons': '?distinct_id=ada',
  'organization_batch_exports.test': '?destination=LocalFiles',
  'batch_exports.test': '?destination=LocalFiles',
  'events.values': '?key=price',
  'persons.values': '?key=name',
  'groups.list': '?group_type_index=0',
  'persons.cohorts': '?person_id=known',
  'groups.find': '?group_type_index=0&group_key=acme',
  'groups.related': '?group_type_index=0&id=acme',
  'groups.property_values': '?group_type_index=0&key=name',
  'groups.update_property': '?group_type_index=0&group_key=acme',
  'groups.delete_property': '?group_type_index=0&group_key=acme',
}
/** A role; with access to the project of the place. */
const newRole = async (at: Place, hasAccess: boolean): Promise<string> => {
  const role_id = String(await records.roles!(at, await at.as('the owner', '')))
  if (hasAccess)
    await insert('project_roles', { project_id: at.project.id, role_id, level: 1, created_at: new Date(), updated_at: new Date() })
  return role_id
}
const pathOf = async ({ path, row }: PlacedRow, at: Place, caller: Caller, mayChange = false): Promise<string> => {
  const [resource] = row.name.split('.') as [string]
  const ids: Record<string, string | number> = {
    organization_id: at.organization.id,
    project_id: at.project.id,
    role_id: at.role.id,
    uuid: '@me',
  }
  if (resource === 'watches') ids.watch = 'silence'
  if (resource === 'project_roles') ids.role_id = await newRole(at, true)
  if (path.includes('/batch_exports/')) Object.assign(ids, await exportIds(row.name, at, mayChange))
  if (row.name === 'insights.viewed_many') await recordOf(resource, at, caller, true)
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!)
  for (const name of names) {
    if (name in ids) continue
    if (row.reach.endsWith('record')) ids[name] = row.reach === 'project record' ? at.project.id : at.organization.id
    else ids[name] = await recordOf(resource, at, caller, mayChange)
  }
  if (row.name.endsWith('.replace_webhook')) await letReceive(home.world, Number(ids.id))
  const isNotice = resource === 'alerts' || resource === 'subscriptions'
  if (isNotice && names.includes('delivery_id')) ids.delivery_id = await insertDelivery(at, resource, ids.id!)
  const config =
    !isNotice && names.includes('delivery_id')
      ? await home.world.accounts.context.store.read.plugin_configs.first({ id: Number(ids.id) })
      : undefined
  if (config) ids.delivery_id = (await insertFailedDeliveries(home.world, config, 1))[0]!.id
  return `${path.replace(/:(\w+)/g, (_, name: string) => String(ids[name]))}/${queries[row.name] ?? ''}`
}

const outsiders: ReadonlySet<CallerName> = new Set([
  'nobody',
  "the project's token",
  'a member of another organization',
  'somebody invited who has not joined',
  'a deactivated user',
  'a removed member',
  'a key limited to another organization of its owner',
  "a deactivated user's key",
  "a removed member's key",
])
/** What an answer to somebody who has no business there must not hold, whatever its status. */
const secretsFor = (caller: CallerName, { organization, project, member }: Place): readonly string[] => {
  if (outsiders.has(caller)) return [organization.name, project.api_token, project.uuid, member.email]
  return caller === 'a key limited to another project of the organization' ? [project.api_token, project.uuid] : []
}

describe.each(placedRows.filter(({ row }) => row.reach !== 'open').map((one) => ({ title: one.row.name, ...one })))('$title', (placed) => {
  const { row } = placed
  const expected = statuses.get(row.name) ?? []
  const object = row.scope === 'none' || row.scope === 'any' ? 'webhook' : row.scope.split(':')[0]!

  test('each caller meets what the table says', async () => {
    const base = inItsOwnPlace.has(row.name) ? await makePlace() : await sharedPlace()
    for (const [i, name] of callers.entries()) {
      const isLet = expected[i] === 'ok'
      const wanted = isLet ? row.status : Number(expected[i])
      const at = await placeFor(placed, base, isLet)
      const caller = await at.as(name, object)
      const mayChange = isLet && row.method !== 'GET'
      const path = await pathOf(placed, at, caller, mayChange)
      const body = row.name.endsWith('.agree') ? await agreementTo(path, at) : await bodyOf(placed, at)
      const answer = await home.call(row.method, path, { headers: caller.headers, ...(body === undefined ? {} : { body }) })
      const text = JSON.stringify(answer.body)
      expect(answer.status, `${name}: ${row.method} ${path} ${JSON.stringify(body)}: ${text}`).toBe(wanted)
      for (const secret of secretsFor(name, at)) expect(text, `${name}: ${path}`).not.toContain(secret)
    }
  })
})

describe.each(placedRows.filter(({ row }) => row.reach === 'open').map((one) => ({ title: one.row.name, ...one })))('$title', (placed) => {
  test('each caller meets what the table says', async () => {
    const { row, path } = placed
    const expected = openStatuses.get(row.name) ?? []
    const password = 'correct horse battery'
    const email = 'door@rights.test'
    if (row.name === 'login.create') await home.world.makeUser({ email, password, organizationId: null, level: 1 })
    const at = await sharedPlace()
    for (const [i, name] of openCallers.entries()) {
      // Logging out ends a login, so it is not one that others have.
      const known = await at.as(name, 'user')
      const caller = known.user && 'cookie' in known.headers ? { ...known, headers: await home.world.login(known.user) } : known
      const secret = `secret-${++made}`
      await invite(at, at.invited.email, secret)
      const body = row.body ? sample(row.body, { email: () => email, password: () => password }) : undefined
      const token = path.includes(':token') ? await linkIn(at) : ''
      const answer = await home.call(row.method, `${path.replace(':secret', secret).replace(':token', token)}/`, {
        headers: caller.headers,
        ...(body ? { body } : {}),
      })
      const wanted = expected[i] === 'ok' ? row.status : Number(expected[i])
      expect(answer.status, `${name}: ${row.method} ${path}: ${JSON.stringify(answer.body)}`).toBe(wanted)
      if (row.name.startsWith('signup.') && answer.status !== row.status)
        for (const word of secretsFor('nobody', at)) expect(JSON.stringify(answer.body)).not.toContain(word)
    }
  })
})

test('odd texts in each field of each body are answered, and none is a fault of ours', async () => {
  const at = await sharedPlace()
  const caller = await at.as('the owner', '')
  for (const placed of placedRows)
    if (placed.row.body && placed.row.reach !== 'open')
      for (const text of ['\ud800', '\u0000', '\u00010\u0002', '__proto__'])
        for (const body of withOtherTexts(await bodyOf(placed, at), text)) {
          const path = await pathOf(placed, at, caller)
          const { status, body: answer } = await home.call(placed.row.method, path, { headers: caller.headers, body })
          expect(status, `${placed.row.name} ${JSON.stringify(body).slice(0, 100)} ${JSON.stringify(answer).slice(0, 200)}`).toBeLessThan(
            500,
          )
        }
})
