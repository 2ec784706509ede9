import { isObject } from '../../lib/is-object.ts'
import { own } from '../../lib/own.ts'
import { type ActingMember, writeAs } from '../accounts/acting-member.ts'
import { type AccountContext, type Change, changesOf, log, nextNumber } from '../accounts/context.ts'
import { check } from '../accounts/fields.ts'
import type { AccountTables, Plugin, PluginAttachment, PluginConfig, ProjectRecord } from '../accounts/records.ts'
import { conflicting, invalid, mustFind, noSuch, notAllowed, notFound } from '../accounts/refusals.ts'
import { sealedFor } from '../accounts/secrets/resealing.ts'
import type { SecretBox } from '../accounts/secrets/secret-box.ts'
import type { Json } from '../accounts/store.ts'
import { mayConfigure, organizationNow } from './access.ts'
import { addressRefusal, changedPlaces, keptSecrets, shownSettings, storedSettings, tidySettings } from './config-fields.ts'
import { agreementInput, type ConfigChange, configChange, configInput, jobInput, ordersInput, type UploadedFile } from './fields.ts'
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

const largestFile = 4 * 1024 ** 2
const mostFiles = 50

/** For the runtime only. */
export const attachmentContents = (box: SecretBox, { plugin_config_id, key, contents }: PluginAttachment): Buffer =>
  Buffer.from(box.open(contents, sealedFor.pluginAttachment(plugin_config_id, key)), 'base64')

/** An attachment without its contents, as it is shown among the settings. */
const shownAttachment = ({ id, file_size, file_name, content_type }: PluginAttachment) => ({
  uid: id,
  saved: true,
  size: file_size,
  name: file_name,
  type: content_type,
})

export const createPluginConfigs = ({ context, box, runtime, logs, network }: ConfigParts) => {
  const { store } = context
  type Reading = typeof store.read

  const asItIs = async (tables: AccountTables, { id, project_id }: PluginConfig): Promise<PluginConfig> => {
    return mustFind(tables.plugin_configs.first({ id, project_id }))
  }
  const note = (by: ActingMember, config: PluginConfig, plugin: Plugin, activity: string) => ({
    by: by.user,
    organization_id: config.organization_id,
    project_id: config.project_id,
    scope: 'PluginConfig',
    item_id: config.id,
    activity,
    name: config.name ?? plugin.name,
  })
  const mustConfigure = async (tables: AccountTables, organizationId: string) => {
    if (!mayConfigure(await organizationNow(tables, organizationId))) throw notFound()
  }
  const pluginOf = async (tables: AccountTables | Reading, id: number): Promise<Plugin> => {
    return mustFind(tables.plugins.first({ id }))
  }
  const attachmentsOf = (tables: AccountTables | Reading, { id }: PluginConfig) => tables.plugin_attachments.find({ plugin_config_id: id })

  const removeAttachments = async (
    tables: AccountTables,
    by: ActingMember,
    config: PluginConfig,
    plugin: Plugin,
    keys: readonly string[],
  ) => {
    for (const found of await attachmentsOf(tables, config)) {
      if (!keys.includes(found.key)) continue
      await tables.plugin_attachments.remove({ id: found.id })
      const changes: Change[] = [{ type: 'PluginConfig', action: 'deleted', field: found.key, before: found.file_name, after: null }]
      await log(context, tables, { ...note(by, config, plugin, 'attachment_deleted'), changes })
    }
  }
  const addAttachment = async (
    tables: AccountTables,
    by: ActingMember,
    config: PluginConfig,
    plugin: Plugin,
    key: string,
    file: UploadedFile,
  ) => {
    const contents = Buffer.from(file.contents, 'base64')
    if (contents.length > largestFile) throw invalid(`A file has at most ${largestFile} bytes.`, `add_attachment__${key}`, 'max_length')
    const before = (await attachmentsOf(tables, config)).filter((one) => one.key === key)
    await tables.plugin_attachments.remove({ id: before.map(({ id }) => id) })
    await tables.plugin_attachments.insert({
      id: context.newId(),
      project_id: config.project_id,
      plugin_config_id: config.id,
      key,
      content_type: file.type || 'application/octet-stream',
      file_name: file.name,
      file_size: contents.length,
      contents: box.seal(file.contents, sealedFor.pluginAttachment(config.id, key)),
    })
    const [old] = before
    const change: Change = {
      type: 'PluginConfig',
      action: old ? 'changed' : 'created',
      field: key,
      before: old?.file_name ?? null,
      after: file.name,
    }
    await log(context, tables, { ...note(by, config, plugin, old ? 'attachment_updated' : 'attachment_created'), changes: [change] })
  }
  const changeAttachments = async (
    tables: AccountTables,
    by: ActingMember,
    config: PluginConfig,
    plugin: Plugin,
    { add_attachment = {}, remove_attachment = {} }: ConfigChange,
  ) => {
    const removed = Object.entries(remove_attachment).flatMap(([key, is]) => (is === false || is === 'false' ? [] : [key]))
    await removeAttachments(tables, by, config, plugin, removed)
    for (const [key, file] of Object.entries(add_attachment)) await addAttachment(tables, by, config, plugin, key, file)
    if ((await tables.plugin_attachments.count({ plugin_config_id: config.id })) > mostFiles)
      throw invalid(`A plugin config has at most ${mostFiles} files.`, 'add_attachment')
  }

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
  const mustReach = (given: Readonly<Record<string, Json>>, before: Readonly<Record<string, Json>> = {}) => {
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
      ...(config !== undefined && storedSettings(plugin, before.id, before, config, box)),
      ...(order !== undefined && { position: order }),
      ...(name !== undefined && { name }),
      ...(description !== undefined && { description }),
      enabled: is_deleted ? false : (enabled ?? before.enabled),
      error: enabled === undefined ? before.error : null,
      ...(before.agreed_hash === noVersion &&
        enabled === true &&
        !is_deleted && { agreed_hash: await firstAgreement(tables, before.project_id, plugin, by) }),
      is_deleted,
      updated_at: context.clock(),
    }
    if (config !== undefined) mustReach(config, before.config as Readonly<Record<string, Json>>)
    if (config !== undefined)
      mustBeAskedAgain(
        before,
        after,
        config,
        (await attachmentsOf(tables, before)).map(({ key }) => key),
        given,
      )
    await tables.plugin_configs.update({ id: before.id }, after)
    if (before.enabled !== after.enabled) await log(context, tables, note(by, after, plugin, after.enabled ? 'enabled' : 'disabled'))
    const changes = [...settingChanges(plugin, before, after), ...changesOf('PluginConfig', plainOf(before), plainOf(after))]
    if (changes.length > 0) await log(context, tables, { ...note(by, after, plugin, 'config_updated'), changes })
    await changeAttachments(tables, by, after, plugin, given)
    return after
  }

  const insert = async (
    tables: AccountTables,
    by: ActingMember,
    project: ProjectRecord,
    plugin: Plugin,
    { enabled = false, order = 0, config: sent = {}, name = null, description = null, deleted = false, ...files }: ConfigChange,
  ): Promise<PluginConfig> => {
    const config = tidySettings(sent)
    mustReach(config)
    const now = context.clock()
    const id = await nextNumber(tables, 'plugin_config')
    const made: PluginConfig = {
      id,
      organization_id: project.organization_id,
      project_id: project.id,
      plugin_id: plugin.id,
      enabled: enabled && !deleted,
      position: order,
      ...storedSettings(plugin, id, null, config, box),
      name,
      description,
      is_deleted: deleted,
      error: null,
      agreed_hash: await firstAgreement(tables, project.id, plugin, by),
      created_at: now,
      updated_at: now,
    }
    await tables.plugin_configs.insert(made)
    if (made.enabled) await log(context, tables, note(by, made, plugin, 'enabled'))
    else await log(context, tables, { ...note(by, made, plugin, 'config_updated'), changes: settingChanges(plugin, null, made) })
    await changeAttachments(tables, by, made, plugin, files)
    return made
  }

  return {
    /** By order, then by plugin. Deleted ones are left out. */
    async list(projectIds: readonly number[]): Promise<readonly PluginConfig[]> {
      const all = await store.read.plugin_configs.find({ project_id: projectIds, is_deleted: false })
      return all.toSorted((a, b) => a.position - b.position || a.plugin_id - b.plugin_id || a.id - b.id)
    },

    byId: (project: ProjectRecord, id: number): Promise<PluginConfig | undefined> =>
      store.read.plugin_configs.first({ id, project_id: project.id }),

    pluginOf: (config: PluginConfig): Promise<Plugin> => pluginOf(store.read, config.plugin_id),
    attachments: (config: PluginConfig): Promise<readonly PluginAttachment[]> => attachmentsOf(store.read, config),

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
        if (!existing) return insert(tables, by, project, plugin, input)
        return apply(tables, by, existing, plugin, { deleted: false, ...input })
      })
      await runtime.changed([project.id])
      return made
    },

    async update(by: ActingMember, config: PluginConfig, body: unknown): Promise<PluginConfig> {
      const input = check(configChange, body)
      const updated = await writeAs(context, by, async (tables) => {
        await mustConfigure(tables, config.organization_id)
        const before = await asItIs(tables, config)
        return apply(tables, by, before, await pluginOf(tables, before.plugin_id), input)
      })
      await runtime.changed([config.project_id])
      return updated
    },

    /** A file of the version that runs in the project. */
    async runningFile(config: PluginConfig, name: string): Promise<VersionFile | undefined> {
      const version = await runningVersion(store.read, config, await pluginOf(store.read, config.plugin_id))
      return version?.files.find((one) => one.name === name)
    },

    /** Which version of the code runs in the project, and which one it is now. */
    agreement: async (config: PluginConfig): Promise<Agreement> =>
      agreementOf(store.read, config, await pluginOf(store.read, config.plugin_id)),

    /** For a new version of the code. `version` is the hash of the code that was looked at. */
    async agree(by: ActingMember, config: PluginConfig, body: unknown): Promise<PluginConfig> {
      const { version } = check(agreementInput, body)
      const updated = await writeAs(context, by, async (tables, membership) => {
        await mustConfigure(tables, config.organization_id)
        const before = await asItIs(tables, config)
        const plugin = await pluginOf(tables, before.plugin_id)
        if (!(await isProjectAdmin(tables, { id: before.project_id }, membership)))
          throw notAllowed('Only administrators of the project agree to the code of a plugin.')
        const { current, running } = await agreementOf(tables, before, plugin)
        if (version !== current)
          throw conflicting('The code was changed since it was looked at. Read it again, and send the `code_version` of now.')
        const after = { ...before, agreed_hash: current, updated_at: context.clock() }
        await tables.plugin_configs.update({ id: before.id }, after)
        await dropVersions(tables, plugin.id, current)
        const changes = changesOf('PluginConfig', { code_version: running }, { code_version: current })
        await log(context, tables, { ...note(by, after, plugin, 'agreed'), changes })
        return after
      })
      await runtime.changed([config.project_id])
      return updated
    },

    /** Only disables it: the settings stay for later. */
    async remove(by: ActingMember, config: PluginConfig): Promise<void> {
      await writeAs(context, by, async (tables) => {
        await mustConfigure(tables, config.organization_id)
        const before = await asItIs(tables, config)
        await apply(tables, by, before, await pluginOf(tables, before.plugin_id), { enabled: false })
      })
      await runtime.changed([config.project_id])
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

    logs: async (config: PluginConfig, filter: PluginLogFilter) => logs.find(config.id, filter),

    /** The settings as they are shown: secrets masked, attachments without contents. */
    async shownSettings(config: PluginConfig): Promise<Record<string, Json>> {
      const plugin = await pluginOf(store.read, config.plugin_id)
      const files = await attachmentsOf(store.read, config)
      return { ...shownSettings(plugin, config), ...Object.fromEntries(files.map((one) => [one.key, shownAttachment(one)])) }
    },

    /** Why a plugin is not used at the moment, or was disabled by the server. */
    problem: ({ id, enabled, error }: PluginConfig): string | null => (enabled ? runtime.problem(id) : error),
  }
}
export type PluginConfigs = ReturnType<typeof createPluginConfigs>
