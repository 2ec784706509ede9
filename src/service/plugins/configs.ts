import { isObject } from '../../lib/is-object.ts'
import { own } from '../../lib/own.ts'
import { type ActingMember, writeAs } from '../accounts/acting-member.ts'
import { type AccountContext, type Change, changesOf, log, nextNumber } from '../accounts/context.ts'
import { check } from '../accounts/fields.ts'
import type { AccountStore, AccountTables, Membership, Plugin, PluginAttachment, PluginConfig, ProjectRecord } from '../accounts/records.ts'
import { conflicting, invalid, mustFind, noSuch, notAllowed, notFound } from '../accounts/refusals.ts'

import type { SecretBox } from '../accounts/secrets/secret-box.ts'
import type { Json } from '../accounts/store.ts'
import { mayConfigure, organizationNow } from './access.ts'
import { attachmentsOf, changeAttachments, note, shownAttachment } from './config-attachments.ts'
import { addressRefusal, changedPlaces, keptSecrets, shownSettings, storedSettings, tidySettings } from './config-fields.ts'
import { agreementInput, type ConfigChange, configChange, configInput, jobInput, ordersInput } from './fields.ts'
import type { PluginLogFilter, PluginLogs, PluginRuntime } from './host-ports.ts'
import type { Reachable } from './ports.ts'
import {
  type Agreement,
  agreementOf,
  dropVersions,
  hashNow,
  isProjectAdmin,
  noVersion,
  runningVersion,
  type VersionFile,
} from './versions.ts'

// The rules of plugin configs: which plugins a project uses, with which settings and in which order.

export interface ConfigParts {
  readonly context: AccountContext
  readonly box: SecretBox
  readonly runtime: PluginRuntime
  readonly logs: PluginLogs
  /** Where requests of plugins may go. */
  readonly network: Pick<Reachable, 'mustBeAllowed'>
}
type Reading = AccountStore['read']

const asItIs = (tables: AccountTables, { id, project_id }: PluginConfig): Promise<PluginConfig> =>
  mustFind(tables.plugin_configs.first({ id, project_id }))
const mustConfigure = async (tables: AccountTables, organizationId: string) => {
  if (!mayConfigure(await organizationNow(tables, organizationId))) throw notFound()
}
const pluginOf = (tables: Reading, id: number): Promise<Plugin> => mustFind(tables.plugins.first({ id }))

/** Secrets appear as their mask. */
const settingChanges = (plugin: Plugin, before: PluginConfig | null, after: PluginConfig): Change[] => {
  const [old, now] = [before ? shownSettings(plugin, before) : {}, shownSettings(plugin, after)]
  const replaced = (key: string) =>
    (before ? own(before.secrets as Readonly<Record<string, Json>>, key) : undefined) !==
    own(after.secrets as Readonly<Record<string, Json>>, key)
  return [...new Set([...Object.keys(old), ...Object.keys(now)])].flatMap((field) => {
    const [was, is] = [own(old, field) ?? null, own(now, field) ?? null]
    if (JSON.stringify(was) === JSON.stringify(is) && !replaced(field)) return []
    const action = own(old, field) === undefined ? 'created' : own(now, field) === undefined ? 'deleted' : 'changed'
    return [{ type: 'PluginConfig', action, field, before: was, after: is } as const]
  })
}
const plainOf = ({ name, description, position, is_deleted }: PluginConfig) => ({
  name,
  description,
  order: position,
  deleted: is_deleted,
})

/** An address that a request of the plugin would be refused at. What was saved before stays. */
const mustReach = ({ network }: ConfigParts, given: Readonly<Record<string, Json>>, before: Readonly<Record<string, Json>> = {}) => {
  for (const [key, value] of Object.entries(given)) {
    const refusal = own(before, key) === value ? null : addressRefusal(key, value, network)
    if (refusal !== null) throw invalid(refusal, `config__${key}`)
  }
}

/** Secrets and files are not sent to another place than the one that they were entered for. */
const mustBeAskedAgain = (
  before: PluginConfig,
  after: PluginConfig,
  config: Readonly<Record<string, Json>>,
  files: readonly string[],
  { add_attachment = {}, remove_attachment = {} }: ConfigChange,
) => {
  const [place] = changedPlaces(before, after, config)
  if (place === undefined) return
  const isGiven = (key: string) => own(add_attachment, key) !== undefined || own(remove_attachment, key) !== undefined
  const kept = [...keptSecrets(before, after), ...files.filter((key) => !isGiven(key))]
  if (kept.length > 0)
    throw invalid(`Enter ${kept.join(' and ')} again: what is stored is not sent to another ${place}.`, `config__${kept[0]}`, 'required')
}

/** Administrators who start to use a plugin agree to its code. Once it runs, a change of it takes an agreement of its own. */
const firstAgreement = async (tables: AccountTables, projectId: number, plugin: Plugin, by: ActingMember): Promise<string> =>
  (await isProjectAdmin(tables, { id: projectId }, by.membership)) ? hashNow(tables, plugin) : noVersion

const apply = async (
  parts: ConfigParts,
  tables: AccountTables,
  by: ActingMember,
  before: PluginConfig,
  plugin: Plugin,
  given: ConfigChange,
): Promise<PluginConfig> => {
  const { enabled, order, name, description, deleted } = given
  const config = given.config && tidySettings(given.config)
  const is_deleted = deleted ?? before.is_deleted
  const after: PluginConfig = {
    ...before,
    ...(config !== undefined && storedSettings(plugin, before.id, before, config, parts.box)),
    ...(order !== undefined && { position: order }),
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    enabled: is_deleted ? false : (enabled ?? before.enabled),
    error: enabled === undefined ? before.error : null,
    ...(before.agreed_hash === noVersion &&
      enabled === true &&
      !is_deleted && { agreed_hash: await firstAgreement(tables, before.project_id, plugin, by) }),
    is_deleted,
    updated_at: parts.context.clock(),
  }
  if (config !== undefined) mustReach(parts, config, before.config as Readonly<Record<string, Json>>)
  if (config !== undefined)
    mustBeAskedAgain(
      before,
      after,
      config,
      (await attachmentsOf(tables, before)).map(({ key }) => key),
      given,
    )
  await tables.plugin_configs.update({ id: before.id }, after)
  if (after.is_deleted) await tables.plugin_webhooks.remove({ plugin_config_id: after.id })
  if (before.enabled !== after.enabled) await log(parts.context, tables, note(by, after, plugin, after.enabled ? 'enabled' : 'disabled'))
  const changes = [...settingChanges(plugin, before, after), ...changesOf('PluginConfig', plainOf(before), plainOf(after))]
  if (changes.length > 0) await log(parts.context, tables, { ...note(by, after, plugin, 'config_updated'), changes })
  await changeAttachments({ ...parts, tables, by, config: after, plugin }, given)
  return after
}

const insert = async (
  parts: ConfigParts,
  tables: AccountTables,
  by: ActingMember,
  project: ProjectRecord,
  plugin: Plugin,
  { enabled = false, order = 0, config: sent = {}, name = null, description = null, deleted = false, ...files }: ConfigChange,
): Promise<PluginConfig> => {
  const config = tidySettings(sent)
  mustReach(parts, config)
  const now = parts.context.clock()
  const id = await nextNumber(tables, 'plugin_config')
  const made: PluginConfig = {
    id,
    organization_id: project.organization_id,
    project_id: project.id,
    plugin_id: plugin.id,
    enabled: enabled && !deleted,
    position: order,
    ...storedSettings(plugin, id, null, config, parts.box),
    name,
    description,
    is_deleted: deleted,
    error: null,
    agreed_hash: await firstAgreement(tables, project.id, plugin, by),
    created_at: now,
    updated_at: now,
  }
  await tables.plugin_configs.insert(made)
  if (made.enabled) await log(parts.context, tables, note(by, made, plugin, 'enabled'))
  else await log(parts.context, tables, { ...note(by, made, plugin, 'config_updated'), changes: settingChanges(plugin, null, made) })
  await changeAttachments({ ...parts, tables, by, config: made, plugin }, files)
  return made
}

/** A change of a config as it is now. */
const changing = async (
  { context, runtime }: ConfigParts,
  by: ActingMember,
  config: PluginConfig,
  work: (tables: AccountTables, before: PluginConfig, plugin: Plugin, membership: Membership) => Promise<PluginConfig>,
): Promise<PluginConfig> => {
  const changed = await writeAs(context, by, async (tables, membership) => {
    await mustConfigure(tables, config.organization_id)
    const before = await asItIs(tables, config)
    return work(tables, before, await pluginOf(tables, before.plugin_id), membership)
  })
  await runtime.changed([config.project_id])
  return changed
}

const reads = ({ context, logs, runtime }: ConfigParts) => ({
  /** By order, then by plugin. Deleted ones are left out. */
  async list(projectIds: readonly number[]): Promise<readonly PluginConfig[]> {
    const all = await context.store.read.plugin_configs.find({ project_id: projectIds, is_deleted: false })
    return all.toSorted((a, b) => a.position - b.position || a.plugin_id - b.plugin_id || a.id - b.id)
  },

  byId: (project: ProjectRecord, id: number): Promise<PluginConfig | undefined> =>
    context.store.read.plugin_configs.first({ id, project_id: project.id }),

  pluginOf: (config: PluginConfig): Promise<Plugin> => pluginOf(context.store.read, config.plugin_id),
  attachments: (config: PluginConfig): Promise<readonly PluginAttachment[]> => attachmentsOf(context.store.read, config),

  /** A file of the version that runs in the project. */
  async runningFile(config: PluginConfig, name: string): Promise<VersionFile | undefined> {
    const version = await runningVersion(context.store.read, config, await pluginOf(context.store.read, config.plugin_id))
    return version?.files.find((one) => one.name === name)
  },

  /** Which version of the code runs in the project, and which one it is now. */
  agreement: async (config: PluginConfig): Promise<Agreement> =>
    agreementOf(context.store.read, config, await pluginOf(context.store.read, config.plugin_id)),

  logs: async (config: PluginConfig, filter: PluginLogFilter) => logs.find(config.id, filter),

  /** The settings as they are shown: secrets masked, attachments without contents. */
  async shownSettings(config: PluginConfig): Promise<Record<string, Json>> {
    const plugin = await pluginOf(context.store.read, config.plugin_id)
    const files = await attachmentsOf(context.store.read, config)
    return { ...shownSettings(plugin, config), ...Object.fromEntries(files.map((one) => [one.key, shownAttachment(one)])) }
  },

  /** Why a plugin is not used at the moment, or was disabled by the server. */
  problem: ({ id, enabled, error }: PluginConfig): string | null => (enabled ? runtime.problem(id) : error),
})

export const createPluginConfigs = (parts: ConfigParts) => {
  const { context, runtime } = parts
  const { store } = context

  return {
    ...reads(parts),

    /** A project has one config of a plugin: creating it again changes it. */
    async create(by: ActingMember, project: ProjectRecord, mayUse: (plugin: Plugin) => boolean, body: unknown): Promise<PluginConfig> {
      const { plugin: id, ...input } = check(configInput, body)
      const made = await writeAs(context, by, async (tables) => {
        if (!mayConfigure(await organizationNow(tables, project.organization_id)))
          throw invalid('Plugins are not available for this organization.')
        const existing = await tables.plugin_configs.first({ project_id: project.id, plugin_id: id })
        const plugin = await tables.plugins.first({ id })
        const isReachable = plugin && (existing !== undefined || plugin.is_global || plugin.organization_id === project.organization_id)
        if (!isReachable || !mayUse(plugin)) throw noSuch(id, 'plugin')
        if (!existing) return insert(parts, tables, by, project, plugin, input)
        return apply(parts, tables, by, existing, plugin, { deleted: false, ...input })
      })
      await runtime.changed([project.id])
      return made
    },

    async update(by: ActingMember, config: PluginConfig, body: unknown): Promise<PluginConfig> {
      const input = check(configChange, body)
      return changing(parts, by, config, (tables, before, plugin) => apply(parts, tables, by, before, plugin, input))
    },

    /** For a new version of the code. `version` is the hash of the code that was looked at. */
    async agree(by: ActingMember, config: PluginConfig, body: unknown): Promise<PluginConfig> {
      const { version } = check(agreementInput, body)
      return changing(parts, by, config, async (tables, before, plugin, membership) => {
        if (!(await isProjectAdmin(tables, { id: before.project_id }, membership)))
          throw notAllowed('Only administrators of the project can agree to the code of a plugin.')
        const { current, running } = await agreementOf(tables, before, plugin)
        if (version !== current)
          throw conflicting('The code has changed since it was reviewed. Review it again, and send the current `code_version`.')
        const after = { ...before, agreed_hash: current, updated_at: context.clock() }
        await tables.plugin_configs.update({ id: before.id }, after)
        await dropVersions(tables, plugin.id, current)
        const changes = changesOf('PluginConfig', { code_version: running }, { code_version: current })
        await log(context, tables, { ...note(by, after, plugin, 'agreed'), changes })
        return after
      })
    },

    /** Only disables it: the settings stay for later. */
    async remove(by: ActingMember, config: PluginConfig): Promise<void> {
      await changing(parts, by, config, (tables, before, plugin) => apply(parts, tables, by, before, plugin, { enabled: false }))
    },

    /** Sets the order of several plugins. */
    async rearrange(by: ActingMember, project: ProjectRecord, body: unknown): Promise<void> {
      const { orders } = check(ordersInput, body)
      await writeAs(context, by, async (tables) => {
        await mustConfigure(tables, project.organization_id)
        for (const [pluginId, order] of Object.entries(orders)) {
          const config = await tables.plugin_configs.first({ project_id: project.id, plugin_id: Number(pluginId), is_deleted: false })
          if (!config) throw invalid(`The project has no config of the plugin ${pluginId}.`, `orders__${pluginId}`, 'does_not_exist')
          if (config.position === order) continue
          await tables.plugin_configs.update({ id: config.id }, { position: order, updated_at: context.clock() })
          const plugin = await pluginOf(tables, config.plugin_id)
          const changes: Change[] = [{ type: 'Plugin', action: 'changed', field: 'order', before: config.position, after: order }]
          await log(context, tables, { ...note(by, config, plugin, 'order_changed'), scope: 'Plugin', item_id: plugin.id, changes })
        }
      })
      await runtime.changed([project.id])
    },

    /** Queues a job. plugin.json says which fields a public one requires; a job that the code does not have fails when it runs. */
    async job(by: ActingMember, config: PluginConfig, body: unknown): Promise<void> {
      const {
        job: { type, operation = 'start', payload = {} },
      } = check(jobInput, body)
      const plugin = await pluginOf(store.read, config.plugin_id)
      const listed = own(plugin.public_jobs as Readonly<Record<string, Json>>, type)
      for (const [key, spec] of Object.entries(isObject(listed) && isObject(listed.payload) ? listed.payload : {}))
        if (isObject(spec) && spec.required === true && own(payload, key) === undefined)
          throw invalid('This field is required.', `job__payload__${key}`, 'required')
      const job_id = context.newId()
      await runtime.queueJob(config.project_id, config.id, { type, operation, job_id, payload })
      await writeAs(context, by, async (tables) => {
        const trigger = { job_type: type, job_id, payload } as Json
        await log(context, tables, { ...note(by, config, plugin, 'job_triggered'), trigger })
      })
    },
  }
}
export type PluginConfigs = ReturnType<typeof createPluginConfigs>
