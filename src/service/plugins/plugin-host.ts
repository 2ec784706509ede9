import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { faultText, isFault } from '../../errors/faults.ts'
import { type AccountContext, type Change, log as logActivity } from '../accounts/context.ts'
import type { PluginConfig as ConfigRow, Plugin, PluginAttachment } from '../accounts/records.ts'
import type { SecretBox } from '../accounts/secrets/secret-box.ts'
import { openAddressDatabase } from './address-database.ts'
import { createCaptures } from './captures.ts'
import { attachmentContents } from './config-attachments.ts'
import { openSettings } from './config-fields.ts'
import { lazyFileStorage } from './file-storage.ts'
import type { Capabilities, PluginLoader, PluginLogs, PluginRuntime as RuntimePort } from './host-ports.ts'
import { type KeptLogs, logsIn, logsInLines, logsInMemory } from './kept-logs.ts'
import { createMemoryStorage } from './memory-storage.ts'
import { createOutbound } from './outbound.ts'
import type { Attachment, CapturedEvent, LogLines, PluginConfig, PluginLogEntry, PluginStorage, Reachable } from './ports.ts'
import { createPluginRuntime, type PluginRuntime } from './runtime.ts'
import { createSandbox } from './sandbox/sandbox.ts'
import { createJobQueue, createPluginSchedule, moveFromStorage } from './schedule.ts'
import { type PluginVersion, runningVersion, waitsForAgreement } from './versions.ts'

// Runs the plugins that projects have enabled: gives their rows to the runtime, keeps their logs, and ticks tasks and jobs. A server without enabled plugins starts no thread.

/** What several servers have in common. */
export interface SharedPlugins {
  readonly storage: PluginStorage
  readonly lines: LogLines
  /** Removes what plugins have left that are gone. */
  sweep(): Promise<void>
  readonly changes: {
    /** Resolves when the servers that apply the events of these projects have read their plugins again. `reloaded`: those that this one has. */
    made(projectIds: readonly number[], reloaded: readonly number[]): Promise<void>
    /** How this server reads them again after changes at other ones. */
    follow(reload: (projectIds: readonly number[]) => Promise<void>): void
    /** Resolves when what others have changed by now is read. */
    look(): Promise<void>
  }
}

export interface HostParts {
  readonly context: AccountContext
  readonly box: SecretBox
  /** What the code of plugins may reach. */
  readonly network: Reachable
  /** For storage, jobs and logs; null: in memory. */
  readonly folder: string | null
  /** In place of the folder. */
  readonly shared: SharedPlugins | null
  /** A file with cities of addresses. */
  readonly geoip: string | null
  /** Whether tasks and jobs run by themselves. */
  readonly ticks: boolean
  ingest(projectId: number, events: readonly CapturedEvent[]): Promise<void>
  report(error: unknown): void
}

export interface PluginHost extends PluginLoader, RuntimePort, PluginLogs {
  readonly runtime: PluginRuntime
  /** Where requests of plugins may go. */
  readonly network: Pick<Reachable, 'mustBeAllowed'>
  attachmentContents(attachment: PluginAttachment): Buffer
  log(entry: PluginLogEntry): void
  /** Reads the plugins of these projects again. Rejects if they cannot be read. */
  reload(projectIds: readonly number[]): Promise<void>
  /** Runs tasks and jobs that are due. */
  tick(): Promise<void>
  /** No more tasks, jobs and captured events. Transformations go on. */
  stop(): Promise<void>
  close(): Promise<void>
}

const configOf = (
  box: SecretBox,
  row: ConfigRow,
  plugin: Plugin,
  version: PluginVersion,
  attachments: readonly PluginAttachment[],
): PluginConfig => {
  const capabilities = version.capabilities as Capabilities
  return {
    id: row.id,
    projectId: row.project_id,
    order: row.position,
    plugin: {
      id: plugin.id,
      name: plugin.name,
      files: Object.fromEntries(version.files.map(({ name, source }) => [name, source])),
      main: 'index.ts',
      ...(capabilities.methods && {
        capabilities: {
          methods: capabilities.methods,
          scheduled_tasks: capabilities.scheduled_tasks ?? [],
          jobs: capabilities.jobs ?? [],
        },
      }),
    },
    config: openSettings(row, box),
    attachments: Object.fromEntries(
      attachments.map((one): [string, Attachment] => [
        one.key,
        { content_type: one.content_type, file_name: one.file_name, contents: attachmentContents(box, one) },
      ]),
    ),
  }
}

/** Projects whose plugins are read at the same time. */
const reloadedAtOnce = 4

/** Gives the runtime the configs of projects, and disables those that it gives up. */
const createConfigLoader = (parts: HostParts, runtime: () => PluginRuntime) => {
  const { context, box, shared, report } = parts
  const { store, clock } = context
  /** Configs that cannot be given to the runtime. */
  const unusable = new Map<number, string>()
  /** When the configs that the runtime has were last changed. */
  const changedAt = new Map<number, number>()
  /** Unless the config was changed meanwhile. */
  const disable = async ({ id, projectId }: PluginConfig, error: string): Promise<void> => {
    const isDisabled = await store.write(async (tables) => {
      const row = await tables.plugin_configs.first({ id, enabled: true })
      const plugin = row && (await tables.plugins.first({ id: row.plugin_id }))
      if (!plugin || row.updated_at.getTime() !== changedAt.get(id)) return false
      await tables.plugin_configs.update({ id }, { enabled: false, error, updated_at: clock() })
      const { organization_id, project_id, name } = row
      const changes: Change[] = [{ type: 'PluginConfig', action: 'changed', field: 'error', before: null, after: error }]
      const about = { organization_id, project_id, scope: 'PluginConfig', item_id: id, activity: 'disabled', name: name ?? plugin.name }
      await logActivity(context, tables, { ...about, by: null, changes })
      return true
    })
    if (isDisabled) await changed([projectId])
  }
  /** Configs with code for this server. */
  const configsOf = async (rows: readonly ConfigRow[]): Promise<PluginConfig[]> => {
    const configs: PluginConfig[] = []
    for (const row of rows) {
      // If they cannot be read, the plugins stay as they are.
      const plugin = await store.read.plugins.first({ id: row.plugin_id })
      const version = plugin && (await runningVersion(store.read, row, plugin))
      const attachments = version ? await store.read.plugin_attachments.find({ plugin_config_id: row.id }) : []
      try {
        const config = version && configOf(box, row, plugin, version, attachments)
        if (config?.plugin.files['index.ts'] !== undefined) configs.push(config)
        changedAt.set(row.id, row.updated_at.getTime())
        if (version === null) unusable.set(row.id, waitsForAgreement)
        else unusable.delete(row.id)
      } catch (error) {
        unusable.set(
          row.id,
          isFault(error) ? faultText : `Its settings cannot be read: ${error instanceof Error ? error.message : String(error)}`,
        )
        report(error)
      }
    }
    return configs
  }
  const turns = new Map<number, Promise<void>>()
  const reload = (projectId: number): Promise<void> => {
    const turn = (turns.get(projectId) ?? Promise.resolve()).then(async () => {
      const rows = await store.read.plugin_configs.find({ project_id: projectId, enabled: true, is_deleted: false })
      const ended = runtime().use(projectId, await configsOf(rows))
      ended.catch(report) // functions that tear plugins down may take long
    })
    const settled = turn.catch(() => undefined)
    turns.set(projectId, settled)
    void settled.then(() => turns.get(projectId) === settled && turns.delete(projectId))
    return turn
  }
  /** Returns the projects whose plugins could be read again. */
  const reloadSome = async (projectIds: readonly number[]): Promise<readonly number[]> => {
    const left = [...projectIds]
    const done: number[] = []
    const reloadNext = async () => {
      for (let id = left.pop(); id !== undefined; id = left.pop()) {
        const project = id
        await reload(project).then(() => done.push(project), report)
      }
    }
    await Promise.all(Array.from({ length: reloadedAtOnce }, reloadNext))
    return done
  }
  /** After a change here: until other servers have read it, too. */
  const changed = async (projectIds: readonly number[]): Promise<void> => {
    const reloaded = await reloadSome(projectIds)
    await shared?.changes.made(projectIds, reloaded).catch(report)
  }
  return { unusable, disable, reload, reloadSome, changed }
}

const openLogs = ({ folder, shared, report }: HostParts): KeptLogs =>
  shared ? logsInLines(shared.lines, report) : folder === null ? logsInMemory() : logsIn(join(folder, 'logs'), report)

export async function openPluginHost(parts: HostParts): Promise<PluginHost> {
  const { context, box, network, folder, shared, geoip, ticks, ingest, report } = parts
  const { store, clock, newId } = context
  const locate = geoip === null ? async () => null : await openAddressDatabase(geoip)
  const files = folder === null || shared ? null : lazyFileStorage(join(folder, 'storage.jsonl'))
  const storage = shared?.storage ?? files ?? createMemoryStorage()
  const logs = openLogs(parts)
  const jobs = createJobQueue(context, () => schedule.wake())
  const captures = createCaptures(ingest, report)
  const sandbox = createSandbox()
  const instanceId = randomUUID()
  const log = ({ projectId, pluginId, configId, source, level, message }: PluginLogEntry) =>
    logs.add({
      id: newId(),
      team_id: projectId,
      plugin_id: pluginId,
      plugin_config_id: configId,
      timestamp: clock(),
      source,
      type: level,
      message,
      instance_id: instanceId,
    })
  const { unusable, disable, reload, reloadSome, changed } = createConfigLoader(parts, () => runtime)
  const runtime: PluginRuntime = createPluginRuntime(
    {
      outbound: createOutbound(network),
      storage,
      jobs,
      capture: async (projectId, event) => captures.add(projectId, event),
      log,
      locate,
      clock,
      disabled: (config, reason) => void disable(config, reason).catch(report),
      report,
    },
    sandbox,
  )
  const schedule = createPluginSchedule({ context, report, runtime })
  const all = await store.read.plugin_configs.find({})
  const projects = new Set(all.filter(({ enabled, is_deleted }) => enabled && !is_deleted).map(({ project_id }) => project_id))
  for (const id of projects) await reload(id)
  await logs.keep(new Set(all.map(({ id }) => id)))
  await shared?.sweep()

  if (files && projects.size > 0) await moveFromStorage(files, store, report)
  if (ticks) schedule.begin()

  return {
    runtime,
    network,
    log,
    async capabilities(source) {
      const found = await runtime.inspect({ id: 0, name: null, files: source, main: 'index.ts' })
      return 'capabilities' in found ? found.capabilities : {}
    },
    transpile: (name, source) => sandbox.compile(name, source),
    async queueJob(projectId, configId, { type, operation, job_id, payload }) {
      const sent = { ...payload, $operation: operation, $job_id: job_id }
      await jobs.add({ projectId, configId, name: type, payload: sent, at: clock().toISOString() })
    },
    async changed(projectIds) {
      const unique = [...new Set(projectIds)]
      await changed(unique)
      schedule.wake()
      // Their first events do not wait for the setup, and what is wrong with it is known early.
      for (const id of unique) runtime.prepare(id).catch(report)
      await shared?.sweep().catch(report)
    },
    async reload(projectIds) {
      const done = await reloadSome(projectIds)
      schedule.wake()
      if (done.length < projectIds.length) throw new Error('The plugins of a project could not be read')
    },
    problem: (configId) => unusable.get(configId) ?? runtime.problem(configId),
    attachmentContents: (attachment) => attachmentContents(box, attachment),
    find: (configId, filter) => logs.find(configId, filter),
    async tick() {
      await schedule.tick()
      await schedule.settled()
    },
    async stop() {
      await schedule.close()
      await captures.close()
    },
    async close() {
      await schedule.close()
      await runtime.close()
      await sandbox.close()
      await logs.close()
      await files?.close()
    },
  }
}
