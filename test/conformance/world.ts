import { defaultRateLimits, hostedQueriesPerHour, perHour, type RateLimits } from '../../src/doors/http/access/rate-limits.ts'
import { defaultConcurrency } from '../../src/doors/http/queries/concurrency.ts'
import { createHandler } from '../../src/doors/http/server/create-handler.ts'
import { startServer } from '../../src/doors/http/server/node-server.ts'
import { type LocalWaymark, type OpenOptions, open } from '../../src/engine.ts'
import { WaymarkError } from '../../src/errors/errors.ts'
import type { EventSource } from '../../src/events/ingestion/decoding/event-source.ts'
import type { BatchFacts } from '../../src/events/ingestion/intake.ts'
import { maybeTime } from '../../src/lib/time/wire-time.ts'
import type { LocalProject } from '../../src/project.ts'
import type { Accounts } from '../../src/service/accounts/accounts.ts'
import { type AccountSettings, defaultSettings, type Mail, type Mailer } from '../../src/service/accounts/context.ts'
import { insertMembership, insertOrganization } from '../../src/service/accounts/organizations/organizations.ts'
import { insertProject } from '../../src/service/accounts/projects/projects.ts'
import {
  type BatchExport,
  type BatchExportRun,
  level,
  type Organization,
  type PersonalKey,
  type Plugin,
  type PluginConfig,
  type ProjectRecord,
  type User,
} from '../../src/service/accounts/records.ts'
import { hashKey, hashPassword, maskKey, randomKey } from '../../src/service/accounts/secrets/secrets.ts'
import type { Json } from '../../src/service/accounts/store.ts'
import { insertUser } from '../../src/service/accounts/users/users.ts'
import { intervalOf, isActive, scheduleLane } from '../../src/service/exports/records.ts'
import { newRun } from '../../src/service/exports/running/new-run.ts'
import { intervalMs } from '../../src/service/exports/running/schedule.ts'
import { type PluginHosts, startPluginHosts } from '../harness/plugin-hosts.ts'
import { sessionOf } from '../harness/session-of.ts'

export { compressionNamed } from '../../src/doors/http/capture/body.ts'

// A whole server in memory whose surroundings a test can set: the clock, the operator's settings, name servers, the mail that goes out.

/** An event as capture read it, durable by now. */
export interface TakenEvent {
  readonly token: string
  readonly ip: string | null
  readonly sent_at: string | null
  /** Not dropped, and new. */
  readonly isStored: boolean
  readonly [field: string]: unknown
}

export interface World {
  readonly url: string
  readonly waymark: LocalWaymark
  readonly accounts: Accounts
  /** Null: the real time. */
  now: Date | null
  settings: AccountSettings
  limits: RateLimits
  rows: { defaultRows: number; mostRows: number }
  concurrentQueries: number
  /** Whether mail is set up. What was sent is in `outbox`. */
  hasMail: boolean
  readonly outbox: Mail[]
  /** A real mail server instead. */
  mailer: Mailer | null
  /** Webhooks and plugins may reach private addresses. */
  /** The log takes nothing, as on a full disk. */
  refusesEvents: boolean
  reachesPrivate: boolean
  readonly txt: Map<string, readonly string[]>
  readonly cname: Map<string, string>
  readonly reports: unknown[]
  /** Where plugins come from. */
  readonly pluginHosts: PluginHosts
  /** Every key that a request names is then a project's, made when first seen: what anybody sends can be looked at. */
  takesAnyKey: boolean
  /** What capture took, in order. */
  readonly taken: TakenEvent[]
  /** The header that makes the user the caller. */
  login(user: User): Promise<Record<string, string>>
  /** A user with that level in the organization; null: in none. */
  user(email: string, organizationId: string | null, at?: keyof typeof level): Promise<User>
  /** One organization with a project and a member. */
  seed(): Promise<{ organization: Organization; project: ProjectRecord; user: User }>
  // Rows written straight to the store, past the rules.
  makeOrganization(given: { name: string; owner: User | null; withProject: boolean }): Promise<Organization>
  makeProject(organizationId: string, fields: Record<string, unknown>): Promise<ProjectRecord>
  makeUser(given: Partial<User> & { email: string; password?: string; organizationId: string | null; level: number }): Promise<User>
  makeKey(
    user: User,
    given: Pick<PersonalKey, 'label'> & Partial<PersonalKey> & { value?: string },
  ): Promise<PersonalKey & { value: string }>
  /** As secrets are kept. */
  hashOf(secret: string): string
  setFeature(organizationId: string, key: string, isOn: boolean, limit?: number | null): Promise<void>
  projectData(id: number): Promise<LocalProject>
  makeBatchExport(user: User, projectId: number, body: unknown): Promise<BatchExport>
  makeBatchExportRun(exportId: string, at: Date, start: Date, end: Date, given: Partial<BatchExportRun>): Promise<BatchExportRun>
  makePlugin(organizationId: string, given: Partial<Plugin> & { files: Readonly<Record<string, string>> }): Promise<Plugin>
  makePluginConfig(
    projectId: number,
    pluginId: number,
    given: Partial<PluginConfig> & { order?: number; deleted?: boolean },
  ): Promise<PluginConfig>
  /** When an export runs, and what its destination gets. */
  scheduleOf(exportId: string): Promise<Record<string, unknown> | null>
  close(): Promise<void>
}

const watch = (project: LocalProject, token: string, world: World): LocalProject =>
  Object.create(project, {
    ingestEvents: {
      value: async (events: EventSource<object>, facts: BatchFacts) => {
        if (world.refusesEvents) throw new WaymarkError('disk-full', { free: 0, floor: 1 })
        const answer = await project.ingestEvents(events, { ...facts, countsDuplicates: true })
        const read = [...events]
        const isStored = answer.accepted === read.length
        const about = { token, ip: facts.ip ?? null, sent_at: (facts.sentAt as string | undefined) ?? null, isStored }
        for (const event of read) world.taken.push({ ...event, ...about })
        return answer
      },
    },
  })

export const pluginCatalogue = [{ name: 'Hello', url: 'https://github.com/acme/hello', description: 'Greets.', maintainer: 'acme' }]

/** Where worlds are instead of in memory: `{ clickhouse, postgres }` as `open` takes them, from the environment. Each has a database and a schema of its own. */
const shared = process.env.WAYMARK_TEST_ENGINE ? (JSON.parse(process.env.WAYMARK_TEST_ENGINE) as SharedEngine) : null
interface SharedEngine {
  readonly clickhouse: { readonly url: string; readonly username?: string; readonly password?: string }
  readonly postgres: string
}
let worlds = 0
function placeOfWorld(): Pick<OpenOptions, 'dataDir' | 'engine'> {
  if (!shared) return { dataDir: ':memory:' }
  const name = `world_${process.pid}_${++worlds}`
  return { engine: { clickhouse: { ...shared.clickhouse, database: name }, postgres: { url: shared.postgres, schema: name } } }
}

export async function startWorld(): Promise<World> {
  let isMade = false // several servers look at the clock before
  const clock = () => (isMade && world.now ? new Date(world.now) : new Date())
  const pluginHosts = await startPluginHosts()
  const waymark = await open({
    ...placeOfWorld(),
    clock,
    threads: 1,
    exports: { runs: false, ...(shared && { secretKeys: [Buffer.alloc(32, 7).toString('base64')] }) }, // tests say when the scheduler looks: `world.waymark.exports.scheduler.tick()`
    insights: { refreshes: false }, // `world.waymark.saved.refresher.tick()`
    notifications: { runs: false }, // the same
    plugins: {
      hosts: pluginHosts.hosts,
      allowsPrivateAddresses: true,
      catalogue: pluginCatalogue,
      get allowsPrivateRequests() {
        return isMade && world.reachesPrivate
      },
    },
    surroundings: {
      settings: () => world.settings,
      mailer: () => world.mailer ?? (world.hasMail ? { send: async (mail) => void world.outbox.push(mail) } : null),
      lookupTxt: async (name) => world.txt.get(name) ?? [],
      lookupCname: async (name) => world.cname.get(name) ?? null,
      report: (message, error) => world.reports.push([message, error]),
    },
  })
  const { accounts } = waymark
  const { context } = accounts
  const { store } = context
  const byToken = accounts.projects.byToken
  accounts.projects.byToken = async (token) => {
    const known = await byToken(token)
    if (known || !world.takesAnyKey) return known
    const home = (await store.read.organizations.find({}))[0]!
    return world.makeProject(home.id, { api_token: token })
  }
  const watched: LocalWaymark = Object.create(waymark, {
    project: { value: async (id: number) => watch(await waymark.project(id), (await accounts.projects.byId(id))!.api_token, world) },
  })
  const handler = createHandler(watched, {
    limits: () => world.limits,
    rows: () => world.rows,
    concurrency: () => ({ ...defaultConcurrency, perProject: world.concurrentQueries }),
    log: (line) => line.level === 'error' && world.reports.push(line),
  })
  const server = await startServer(handler, { host: '127.0.0.1', port: 0 })
  const world: World = {
    url: server.url,
    waymark,
    accounts,
    now: null,
    settings: { ...defaultSettings, siteUrl: server.url },
    limits: { ...defaultRateLimits, query: perHour(hostedQueriesPerHour) },
    rows: { defaultRows: 100, mostRows: 10_000 },
    concurrentQueries: 3,
    hasMail: false,
    outbox: [],
    mailer: null,
    reachesPrivate: false,
    refusesEvents: false,
    txt: new Map(),
    cname: new Map(),
    reports: [],
    pluginHosts,
    takesAnyKey: false,
    taken: [],
    login: async (user) => ({ cookie: `waymark_session=${await sessionOf(accounts, user)}` }),
    user: (email, organizationId, at = 'member') => accounts.createUser(organizationId, { email, first_name: email.split('@')[0]! }, at),
    seed: async () => {
      const organization = await world.makeOrganization({ name: 'Test', owner: null, withProject: false })
      const project = await world.makeProject(organization.id, { name: 'Test project' })
      const user = await world.makeUser({
        email: 'user1@posthog.com',
        password: 'testpassword12345',
        organizationId: organization.id,
        level: level.member,
      })
      return { organization, project, user }
    },
    makeOrganization: async ({ name, owner, withProject }) => {
      const organization = await store.write(async (tables) => {
        const made = await insertOrganization(context, tables, null, { name })
        if (owner) await insertMembership(context, tables, owner, made.id, level.owner)
        return made
      })
      if (withProject) await world.makeProject(organization.id, {})
      return organization
    },
    makeProject: async (organizationId, { access_control, is_demo, api_token, ...fields }) => {
      const project = await store.write(async (tables) => {
        const made = await insertProject(context, tables, null, organizationId, fields)
        const direct = {
          access_control: access_control === true,
          is_demo: is_demo === true,
          api_token: String(api_token ?? made.api_token),
        }
        await tables.projects.update({ id: made.id }, direct)
        return { ...made, ...direct }
      })
      await context.projectStores.create(project.id)
      return project
    },
    makeUser: async ({ organizationId, level: at, email, password, first_name, last_name, ...others }) => {
      const password_hash = password === undefined ? null : await hashPassword(password)
      return store.write(async (tables) => {
        const user = await insertUser(context, tables, { email, password_hash, first_name, last_name, isProven: true })
        if (organizationId !== null) await insertMembership(context, tables, user, organizationId, at)
        const flags = Object.fromEntries(Object.entries(others).filter(([name]) => name in user))
        const project = organizationId === null ? undefined : await tables.projects.first({ organization_id: organizationId })
        const direct = { current_organization_id: organizationId, current_project_id: project?.id ?? null, ...flags }
        await tables.users.update({ id: user.id }, direct)
        return { ...user, ...direct }
      })
    },
    makeKey: (user, { value = randomKey('phx_'), ...given }) =>
      store.write(async (tables) => {
        const key = {
          id: context.newId(),
          user_id: user.id,
          hash: hashKey(value),
          mask_value: maskKey(value),
          scopes: ['*'],
          scoped_teams: [],
          scoped_organizations: [],
          created_at: clock(),
          last_used_at: null,
          last_rolled_at: null,
          ...given,
        }
        await tables.personal_keys.insert(key)
        return { ...key, value }
      }),
    hashOf: hashKey,
    setFeature: async (organizationId, key, isOn, limit = null) => {
      const organization = await store.read.organizations.first({ id: organizationId })
      const others = ((organization?.available_product_features ?? []) as { key: string }[]).filter((one) => one.key !== key)
      const features = isOn ? [...others, { key, name: key, description: '', unit: null, limit, note: null }] : others
      await store.write((tables) => tables.organizations.update({ id: organizationId }, { available_product_features: features }))
    },
    projectData: (id) => waymark.project(id),
    makeBatchExport: async (user, projectId, body) => {
      const project = (await accounts.projects.byId(projectId))!
      const membership = (await accounts.organizations.membership(project.organization_id, user))!
      return waymark.exports.service.create({ user, membership }, project, body)
    },
    makeBatchExportRun: async (exportId, at, start, end, given) => {
      const record = (await store.read.batch_exports.first({ id: exportId }))!
      const range = { by: 'arrival', after: 0, upTo: 0 }
      const place = { id: context.newId(), lane: scheduleLane, backfill_id: null, key: context.newId(), range }
      const made = newRun(record, at, { ...place, data_interval_start: start, data_interval_end: end })
      const run: BatchExportRun = { ...made, finished_at: isActive({ status: given.status ?? made.status }) ? null : at, ...given }
      await store.write((tables) => tables.batch_export_runs.insert(run))
      return run
    },
    makePlugin: async (organizationId, { files, ...given }) => {
      const source = files['index.ts'] ?? files['index.js']
      const capabilities = source === undefined ? {} : ((await waymark.plugins.host.capabilities({ 'index.ts': source })) as Json)
      const id = 1000 + (await store.read.plugins.count({}))
      const plugin: Plugin = {
        id,
        organization_id: organizationId,
        plugin_type: given.url ? 'custom' : 'source',
        name: null,
        description: null,
        url: null,
        url_secrets: null,
        icon: null,
        config_schema: {},
        tag: null,
        latest_tag: null,
        is_global: false,
        capabilities,
        metrics: {},
        public_jobs: {},
        code_hash: null,
        created_at: clock(),
        updated_at: clock(),
        ...given,
      }
      await store.write(async (tables) => {
        await tables.plugins.insert(plugin)
        for (const [name, text] of Object.entries(files))
          await tables.plugin_files.insert({
            id: context.newId(),
            plugin_id: id,
            name: name === 'index.js' ? 'index.ts' : name,
            source: text,
            transpiled: null,
            status: null,
            error: null,
            updated_at: clock(),
          })
      })
      return plugin
    },
    makePluginConfig: async (projectId, pluginId, { order = 0, deleted = false, ...given }) => {
      const project = (await accounts.projects.byId(projectId))!
      const known = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
      const config: PluginConfig = {
        id: 1000 + (await store.read.plugin_configs.count({})),
        organization_id: project.organization_id,
        project_id: projectId,
        plugin_id: pluginId,
        enabled: false,
        position: order,
        config: {},
        secrets: {},
        agreed_hash: null,
        name: null,
        description: null,
        is_deleted: deleted,
        error: null,
        created_at: clock(),
        updated_at: clock(),
        ...known,
      }
      await store.write((tables) => tables.plugin_configs.insert(config))
      return config
    },
    scheduleOf: async (id) => {
      const record = await store.read.batch_exports.first({ id, is_deleted: false })
      if (!record) return null
      const { settings } = waymark.exports.service.settingsToTest(record, {})
      return {
        id,
        every_seconds: intervalMs[intervalOf(record)] / 1000,
        start_at: maybeTime(record.start_at),
        end_at: maybeTime(record.end_at),
        inputs: { team_id: record.project_id, interval: record.interval, ...(settings as object) },
      }
    },
    close: async () => {
      await server.drain(1000)
      await waymark.close()
      await pluginHosts.close()
    },
  }
  isMade = true
  return world
}
