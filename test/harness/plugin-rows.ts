import { randomUUID } from 'node:crypto'
import type { LocalWaymark } from '../../src/engine.ts'
import type { Plugin, PluginConfig, PluginFailedDelivery, ProjectRecord } from '../../src/service/accounts/records.ts'
import type { Json } from '../../src/service/accounts/store.ts'
import type { World } from '../conformance/world.ts'

// Plugins of each family, written straight to the store: their code is not loaded here.

/** What the code of a plugin of each family can do. */
export const familyCapabilities = {
  plugins: {},
  pipeline_destinations: { methods: ['onEvent'] },
  pipeline_transformations: { methods: ['processEvent'] },
  pipeline_frontend_apps: {},
  pipeline_import_apps: { methods: [], scheduled_tasks: ['runEveryHour'] },
} as const
export type FamilyName = keyof typeof familyCapabilities
export const familyNames = Object.keys(familyCapabilities) as FamilyName[]

/** Code of plugins of each family. */
export const familySources: Readonly<Record<FamilyName, Readonly<Record<string, string>>>> = {
  plugins: { 'index.ts': 'export const a: number = 1' },
  pipeline_destinations: { 'index.ts': 'export function onEvent(event: unknown) {}' },
  pipeline_transformations: { 'index.ts': 'export const processEventBatch = (events: unknown[]) => events' },
  pipeline_frontend_apps: { 'frontend.tsx': 'export const scene: unknown = {}' },
  pipeline_import_apps: { 'index.ts': 'export const runEveryHour = () => {}; export const jobs = { sync() {} }' },
}

/** The resources of configs, with the family whose plugins they show. */
export const configFamilies: Readonly<Record<string, FamilyName>> = {
  plugin_configs: 'plugins',
  plugin_config: 'plugins',
  pipeline_destination_configs: 'pipeline_destinations',
  pipeline_transformation_configs: 'pipeline_transformations',
  pipeline_frontend_apps_configs: 'pipeline_frontend_apps',
  pipeline_import_apps_configs: 'pipeline_import_apps',
}

let count = 1_000_000
export async function insertPlugin(world: World, organizationId: string, family: FamilyName, given: Partial<Plugin> = {}): Promise<Plugin> {
  const { store, newId } = world.accounts.context
  const now = world.now ?? new Date()
  const plugin: Plugin = {
    id: ++count,
    organization_id: organizationId,
    plugin_type: 'source',
    name: `Plugin ${count}`,
    description: null,
    url: null,
    url_secrets: null,
    icon: null,
    config_schema: {},
    tag: null,
    latest_tag: null,
    is_global: false,
    capabilities: familyCapabilities[family],
    metrics: {},
    public_jobs: { sync: {} },
    code_hash: null,
    created_at: now,
    updated_at: now,
    ...given,
  }
  await store.write(async (tables) => {
    await tables.plugins.insert(plugin)
    const file = { name: 'frontend.tsx', source: 'export const scene = {}', transpiled: '1\n', status: 'TRANSPILED', error: null }
    await tables.plugin_files.insert({ id: newId(), plugin_id: plugin.id, updated_at: now, ...file })
  })
  return plugin
}

export async function insertPluginConfig(world: World, project: ProjectRecord, family: FamilyName): Promise<PluginConfig> {
  const plugin = await insertPlugin(world, project.organization_id, family)
  const now = world.now ?? new Date()
  const config: PluginConfig = {
    id: ++count,
    organization_id: project.organization_id,
    project_id: project.id,
    plugin_id: plugin.id,
    enabled: true,
    position: 0,
    config: {},
    secrets: {},
    agreed_hash: null,
    name: null,
    description: null,
    is_deleted: false,
    error: null,
    created_at: now,
    updated_at: now,
  }
  await world.accounts.context.store.write((tables) => tables.plugin_configs.insert(config))
  return config
}

/** The plugin of a config can also take requests. */
export async function letReceive({ accounts }: World, configId: number): Promise<void> {
  await accounts.context.store.write(async (tables) => {
    const { plugin_id } = (await tables.plugin_configs.first({ id: configId }))!
    const { capabilities } = (await tables.plugins.first({ id: plugin_id }))!
    const { methods } = capabilities as { methods?: readonly string[] }
    if (methods)
      await tables.plugins.update({ id: plugin_id }, { capabilities: { ...(capabilities as object), methods: [...methods, 'onRequest'] } })
  })
}

/** Failed deliveries of a config, the oldest first. */
export async function insertFailedDeliveries(
  world: World,
  config: PluginConfig,
  count: number,
  given: Partial<PluginFailedDelivery> = {},
): Promise<readonly PluginFailedDelivery[]> {
  const { store, newId } = world.accounts.context
  const rows = Array.from({ length: count }, (_, i): PluginFailedDelivery => {
    const time = new Date(Date.UTC(2026, 0, 5, 10, 0, i))
    return {
      id: newId(),
      plugin_config_id: config.id,
      project_id: config.project_id,
      position: i + 1,
      event_uuid: randomUUID(),
      event: `event ${i}`,
      status: 'dead',
      attempts: 1,
      due_at: null,
      latest_error: 'example.com answered with status 400',
      created_at: time,
      last_attempt_at: time,
      ...given,
    }
  })
  await store.write(async (tables) => {
    for (const row of rows) await tables.plugin_failed_deliveries.insert(row)
  })
  return rows
}

/** Installs a plugin and enables it in a project, past the rules. Returns the id of the config. */
export async function runPlugin(
  { accounts, plugins }: Pick<LocalWaymark, 'accounts' | 'plugins'>,
  projectId: number,
  code: string,
  more: { readonly order?: number; readonly config?: Readonly<Record<string, Json>> } = {},
): Promise<number> {
  const { store } = accounts.context
  const id = ++count
  const now = new Date()
  const capabilities = (await plugins.host.capabilities({ 'index.ts': code })) as Json
  await store.write(async (tables) => {
    const { organization_id } = (await tables.projects.first({ id: projectId }))!
    const ofPlugin = { description: null, url: null, url_secrets: null, icon: null, tag: null, latest_tag: null, is_global: false }
    const shown = { capabilities, config_schema: {}, metrics: {}, public_jobs: {}, code_hash: null }
    const times = { created_at: now, updated_at: now }
    await tables.plugins.insert({ id, organization_id, plugin_type: 'source', name: `Plugin ${id}`, ...ofPlugin, ...shown, ...times })
    const file = { name: 'index.ts', source: code, transpiled: null, status: null, error: null, updated_at: now }
    await tables.plugin_files.insert({ id: accounts.context.newId(), plugin_id: id, ...file })
    const own = { name: null, description: null, is_deleted: false, error: null, secrets: {}, agreed_hash: null, enabled: true, ...times }
    const { order = 0, config = {} } = more
    await tables.plugin_configs.insert({ id, organization_id, project_id: projectId, plugin_id: id, position: order, config, ...own })
  })
  await plugins.host.changed([projectId])
  await plugins.deliveries.changed([projectId])
  return id
}
