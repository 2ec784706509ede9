import { createHash } from 'node:crypto'
import type { AccountContext } from '../accounts/context.ts'
import { type AccessTables, givenLevel } from '../accounts/projects/private-access.ts'
import {
  type AccountTables,
  level,
  type Membership,
  type Plugin,
  type PluginConfig,
  type PluginFile,
  type ProjectRecord,
} from '../accounts/records.ts'
import type { Json } from '../accounts/store.ts'
import { readBundled } from './bundled/install.ts'

// Versions of the code of plugins. A project runs only a version that one of its administrators agreed to: code that is changed afterwards waits, and the agreed version, which is kept
// for that, runs on. Code that comes with the server needs no agreement.

/** A file of a version, as it runs. */
export type VersionFile = Pick<PluginFile, 'name' | 'source' | 'transpiled' | 'status' | 'error'>

/** What runs in a project. */
export interface PluginVersion {
  readonly hash: string
  readonly files: readonly VersionFile[]
  readonly capabilities: Json
  readonly config_schema: Json
}

type Reading = AccountContext['store']['read']
type Tables = Pick<Reading, 'plugins' | 'plugin_files' | 'plugin_versions' | 'plugin_configs'>

/** Of a config whose project has agreed to no version. */
export const noVersion = ''

const sortedJson = (value: Json): string =>
  JSON.stringify(value, (_, one) =>
    one !== null && typeof one === 'object' && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  )

/** Of the files, and of what decides which of their functions are called with which settings. */
const hashOf = (
  { capabilities, config_schema }: Pick<Plugin, 'capabilities' | 'config_schema'>,
  files: readonly Pick<PluginFile, 'name' | 'source'>[],
): string => {
  const sources = files.map(({ name, source }) => [name, source] as const).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256')
    .update(sortedJson([sources, capabilities, config_schema]))
    .digest('hex')
}

const filesOf = (tables: Tables, { id }: Plugin): Promise<readonly PluginFile[]> => tables.plugin_files.find({ plugin_id: id })

/** Plugins of older versions have no stored hash. */
export const hashNow = async (tables: Tables, plugin: Plugin): Promise<string> =>
  plugin.code_hash ?? hashOf(plugin, await filesOf(tables, plugin))

/** Nobody but the operator can change code that comes with the server. */
function isBundled(plugin: Plugin, files: readonly Pick<PluginFile, 'name' | 'source'>[]): boolean {
  if (plugin.plugin_type !== 'inline' || plugin.url === null) return false
  try {
    const { source } = readBundled(plugin.url)
    return files.length === Object.keys(source).length && files.every(({ name, source: text }) => source[name] === text)
  } catch {
    return false
  }
}

/** Null: the project has agreed to none, and nothing runs. Configs of older versions agreed to the code as it was. */
export async function runningVersion(tables: Tables, config: PluginConfig, plugin: Plugin): Promise<PluginVersion | null> {
  const now = await hashNow(tables, plugin)
  if (config.agreed_hash === null || config.agreed_hash === now) return currentVersion(tables, plugin, now)
  if (plugin.plugin_type === 'inline' && isBundled(plugin, await filesOf(tables, plugin))) return currentVersion(tables, plugin, now)
  if (config.agreed_hash === noVersion) return null
  const kept = await tables.plugin_versions.first({ plugin_id: plugin.id, hash: config.agreed_hash })
  return kept ? { ...kept, files: kept.files as unknown as readonly VersionFile[] } : null
}

const currentVersion = async (tables: Tables, plugin: Plugin, hash: string): Promise<PluginVersion> => ({
  hash,
  files: await filesOf(tables, plugin),
  capabilities: plugin.capabilities,
  config_schema: plugin.config_schema,
})

/** How a config stands to the code of its plugin. */
export interface Agreement {
  readonly current: string
  /** The version that runs; null: none. */
  readonly running: string | null
}
export async function agreementOf(tables: Tables, config: PluginConfig, plugin: Plugin): Promise<Agreement> {
  const current = await hashNow(tables, plugin)
  if (config.agreed_hash === null || config.agreed_hash === current) return { current, running: current }
  if (plugin.plugin_type === 'inline' && isBundled(plugin, await filesOf(tables, plugin))) return { current, running: current }
  if (config.agreed_hash === noVersion) return { current, running: null }
  const isKept = (await tables.plugin_versions.count({ plugin_id: plugin.id, hash: config.agreed_hash })) > 0
  return { current, running: isKept ? config.agreed_hash : null }
}

/** Keeps the code as it is for the projects that agreed to it. Called before the code changes, in the same transaction. Returns its hash. */
export async function keepVersion({ newId, clock }: AccountContext, tables: AccountTables, plugin: Plugin): Promise<string> {
  const files = await filesOf(tables, plugin)
  const hash = plugin.code_hash ?? hashOf(plugin, files)
  const configs = await tables.plugin_configs.find({ plugin_id: plugin.id })
  const unsaid = configs.filter(({ agreed_hash }) => agreed_hash === null).map(({ id }) => id)
  if (unsaid.length > 0) await tables.plugin_configs.update({ id: unsaid }, { agreed_hash: hash })
  const isNeeded = unsaid.length > 0 || configs.some(({ agreed_hash }) => agreed_hash === hash)
  if (!isNeeded || (await tables.plugin_versions.count({ plugin_id: plugin.id, hash })) > 0) return hash
  await tables.plugin_versions.insert({
    id: newId(),
    plugin_id: plugin.id,
    hash,
    files: files.map(({ name, source, transpiled, status, error }) => ({ name, source, transpiled, status, error })),
    capabilities: plugin.capabilities,
    config_schema: plugin.config_schema,
    created_at: clock(),
  })
  return hash
}

/**
 * Notes the hash of the code as it is now, and drops versions that no project runs. An administrator who changes the code agrees to it, for the projects of the organization that ran it as it was.
 */
export async function noteVersion(tables: AccountTables, by: Membership, plugin: Plugin, before: string | null): Promise<Plugin> {
  const code_hash = hashOf(plugin, await filesOf(tables, plugin))
  await tables.plugins.update({ id: plugin.id }, { code_hash })
  if (before !== null && before !== code_hash && by.level >= level.admin)
    await tables.plugin_configs.update(
      { plugin_id: plugin.id, organization_id: by.organization_id, agreed_hash: before },
      { agreed_hash: code_hash },
    )
  await dropVersions(tables, plugin.id, code_hash)
  return { ...plugin, code_hash }
}

export async function dropVersions(tables: AccountTables, pluginId: number, current: string): Promise<void> {
  const agreed = new Set((await tables.plugin_configs.find({ plugin_id: pluginId })).map(({ agreed_hash }) => agreed_hash))
  for (const { id, hash } of await tables.plugin_versions.find({ plugin_id: pluginId }))
    if (hash === current || !agreed.has(hash)) await tables.plugin_versions.remove({ id })
}

/** An administrator of the project, or of its organization. */
export async function isProjectAdmin(tables: AccessTables, project: Pick<ProjectRecord, 'id'>, membership: Membership): Promise<boolean> {
  if (membership.level >= level.admin) return true
  if (membership.level < level.member) return false
  return ((await givenLevel(tables, project.id, membership.user_id)) ?? 0) >= level.admin
}

export const waitsForAgreement =
  'It waits until an administrator of the project agrees to its code: `POST plugin_configs/:id/agree/`, or the page of the plugin.'
