import { faultText, isFault } from '../../errors/faults.ts'
import { isObject } from '../../lib/is-object.ts'
import { CallMemory } from './call-memory.ts'
import { type CallResult, codeOf, ManagedPlugin } from './managed-plugin.ts'
import { createMemoryCache } from './memory-cache.ts'
import type { Capabilities, JsonObject, PluginCode, PluginConfig, PluginJob, PluginPorts, ReceivedRequest } from './ports.ts'
import type { Sandbox } from './sandbox/sandbox.ts'
import { createServerCalls } from './server-calls.ts'
import { isPassingStatus, webhookOf } from './webhook.ts'

// The plugins of all projects. A project without plugins has no thread and no memory here.

export const scheduledTasks = ['runEveryMinute', 'runEveryHour', 'runEveryDay'] as const
export type ScheduledTask = (typeof scheduledTasks)[number]

/** What became of an event, a task or a job at one plugin. */
export interface Delivery {
  readonly configId: number
  /** `skipped`: the plugin has no such function, or wants nothing sent. */
  readonly status: 'done' | 'skipped' | 'failed'
  /** A later attempt can succeed. */
  readonly isRetryable: boolean
  readonly reason: string | null
  /** The plugin did not run: it is switched off, disabled, or waiting for its setup. */
  readonly isDeferred?: boolean
}

export interface DeliveredEvent {
  /** For `onEvent`. */
  readonly event: JsonObject
  /** For `composeWebhook`; its timestamp is ISO 8601 and reaches the plugin as a Date. */
  readonly webhookEvent: JsonObject
}

export interface PluginRuntime {
  /** The plugins of a project from now on. Those that did not change keep their state. */
  use(projectId: number, configs: readonly PluginConfig[]): Promise<void>
  /** Loads and sets up the plugins of a project, which otherwise happens at their first call. */
  prepare(projectId: number): Promise<void>
  hasPlugins(projectId: number): boolean
  isLoaded(projectId: number, configId: number): boolean
  /** Whether events of a project pass through plugins before they are stored. */
  hasTransformations(projectId: number): boolean
  /** The projects that have plugins; with that task. */
  projects(task?: ScheduledTask): readonly number[]
  /** Passes events through the transformations of a project. Null: a plugin dropped the event. */
  transform(projectId: number, events: readonly JsonObject[]): Promise<readonly (JsonObject | null)[]>
  /** The same for events as JSON texts. Undefined: no plugin was asked about the event. */
  transformTexts(projectId: number, events: readonly string[]): Promise<readonly (JsonObject | null | undefined)[]>
  /** An event that passed no plugin, marked as one that all of them failed on. */
  untouched(projectId: number, event: string): JsonObject
  /** A line in the log of each plugin of a project. */
  note(projectId: number, message: string): void
  /** After an event is stored. `configIds`: only these. */
  deliver(projectId: number, event: DeliveredEvent, configIds?: readonly number[]): Promise<readonly Delivery[]>
  /** A request that was sent to the webhook address of a config; null: the config is not loaded here. */
  request(projectId: number, configId: number, request: ReceivedRequest): Promise<CallResult | null>
  /** A line in the log of one plugin about what became of a request. */
  noteRequest(projectId: number, configId: number, level: 'WARN' | 'ERROR', message: string): void
  runTask(projectId: number, task: ScheduledTask): Promise<readonly Delivery[]>
  runJob(job: Omit<PluginJob, 'id' | 'at'>): Promise<Delivery>
  /** What a plugin can do, and why it cannot be used. Runs its code, but not its setup. */
  inspect(plugin: PluginCode): Promise<{ readonly capabilities: Capabilities } | { readonly problem: string }>
  /** Why a plugin is not used at the moment, or not until it changes. */
  problem(configId: number): string | null
  close(): Promise<void>
}

const webhookMs = 10_000
const required = ['event', 'distinct_id'] as const

const deliver = async (
  ports: PluginPorts,
  memory: CallMemory,
  plugin: ManagedPlugin,
  { event, webhookEvent }: DeliveredEvent,
): Promise<Delivery> => {
  const configId = plugin.config.id
  const [seen] = await plugin.call('onEvent', [JSON.stringify(event)])
  const [composed] = await plugin.call('composeWebhook', [JSON.stringify(webhookEvent)])
  const of = (result: CallResult | undefined): Delivery => deliveryOf(configId, result)
  if (composed?.kind !== 'value' || composed.json === null)
    return worst(of(seen), composed?.kind === 'value' ? skipped(configId) : of(composed))
  return worst(of(seen), await send(ports, memory, plugin, composed.json))
}

const send = async (ports: PluginPorts, memory: CallMemory, plugin: ManagedPlugin, json: string): Promise<Delivery> => {
  const configId = plugin.config.id
  const refuse = (reason: string, isRetryable: boolean): Delivery => {
    plugin.log('SYSTEM', 'ERROR', `The webhook was not delivered: ${reason}`)
    return { configId, status: 'failed', isRetryable, reason }
  }
  try {
    const request = webhookOf(JSON.parse(json))
    const signal = AbortSignal.timeout(webhookMs)
    const { status } = await memory.receiving(plugin.config.projectId, signal, (hold) => ports.outbound(request, signal, hold))
    if (status >= 200 && status < 300) return { configId, status: 'done', isRetryable: false, reason: null }
    return refuse(`${new URL(request.url).host} answered with status ${status}`, isPassingStatus(status))
  } catch (error) {
    if (isFault(error)) {
      ports.report?.(error)
      return refuse(faultText, true)
    }
    return refuse(error instanceof Error ? error.message : String(error), isNetworkError(error))
  }
}
const inspection = (sandbox: Sandbox) => ({
  async inspect(plugin: PluginCode) {
    const config: PluginConfig = { id: 0, projectId: 0, plugin, order: 0, config: {}, attachments: {} }
    const refuse = async () => Promise.reject(new Error('The server can be called only after the plugin is loaded'))
    const loaded = await sandbox.load(codeOf(config), { call: refuse, log: () => undefined }, { isSetUp: false })
    if (loaded.kind === 'failed') return { problem: loaded.text }
    await loaded.unit.unload()
    return { capabilities: loaded.unit.capabilities }
  },
})

/** `sandbox` stays open when the runtime closes. */
export function createPluginRuntime(ports: PluginPorts, sandbox: Sandbox): PluginRuntime {
  const memory = new CallMemory()
  const calls = createServerCalls(ports, createMemoryCache(ports.clock), memory)
  const projects = new Map<number, readonly ManagedPlugin[]>()
  const pluginsOf = (projectId: number) => projects.get(projectId) ?? []
  const chosen = (projectId: number, ids?: readonly number[]) =>
    pluginsOf(projectId).filter(({ config }) => !ids || ids.includes(config.id))

  const pass = async (projectId: number, passing: readonly PassingEvent[]) => {
    for (const plugin of pluginsOf(projectId)) {
      const open = passing.filter(({ isDropped }) => !isDropped)
      const results = await plugin.call(
        'processEvent',
        open.map(({ json }) => json),
      )
      for (const [i, one] of open.entries()) {
        const problem = one.apply(plugin.label, results[i]!)
        if (problem) plugin.log('SYSTEM', 'ERROR', `processEvent failed: ${problem}`)
      }
    }
    return passing.map((one) => one.marked())
  }

  return {
    async use(projectId, configs) {
      const before = pluginsOf(projectId)
      const sorted = [...configs].sort((a, b) => a.order - b.order || a.plugin.id - b.plugin.id || a.id - b.id)
      const now = sorted.map(
        (config) =>
          before.find((plugin) => isSame(plugin.config, config))?.withOrder(config) ?? new ManagedPlugin(config, sandbox, calls, ports),
      )
      if (now.length > 0) projects.set(projectId, now)
      else projects.delete(projectId)
      await Promise.all(before.filter((plugin) => !now.includes(plugin)).map((plugin) => plugin.close()))
    },

    async prepare(projectId) {
      await Promise.all(pluginsOf(projectId).map((plugin) => plugin.capabilities()))
    },

    hasPlugins: (projectId) => projects.has(projectId),

    isLoaded: (projectId, configId) => chosen(projectId, [configId]).length > 0,

    hasTransformations: (projectId) => pluginsOf(projectId).some((plugin) => plugin.mayHave('processEvent')),

    projects: (task) => [...projects].flatMap(([id, plugins]) => (!task || plugins.some((one) => one.mayHave(task)) ? [id] : [])),

    async transform(projectId, events) {
      if (pluginsOf(projectId).length === 0) return events
      const passing = events.map((event) => new PassingEvent(JSON.stringify(event), event.team_id, false))
      const results = await pass(projectId, passing)
      return results.map((result, n) => (result === undefined ? events[n]! : result))
    },

    transformTexts: (projectId, events) =>
      pass(
        projectId,
        events.map((event) => new PassingEvent(event, projectId, true)),
      ),

    untouched(projectId, event) {
      const passing = new PassingEvent(event, projectId, true)
      for (const { label } of pluginsOf(projectId).filter((plugin) => plugin.mayHave('processEvent')))
        passing.apply(label, { kind: 'error', text: '', isRetryable: false })
      return passing.marked()!
    },

    note(projectId, message) {
      for (const plugin of pluginsOf(projectId)) plugin.log('SYSTEM', 'ERROR', message)
    },

    deliver: (projectId, event, configIds) =>
      Promise.all(chosen(projectId, configIds).map((plugin) => deliver(ports, memory, plugin, event))),

    runTask: (projectId, task) =>
      Promise.all(
        pluginsOf(projectId).map(async (plugin) => {
          const [result] = await plugin.call(task, [null])
          return deliveryOf(plugin.config.id, result)
        }),
      ),

    async request(projectId, configId, request) {
      const [plugin] = chosen(projectId, [configId])
      if (!plugin) return null
      const [result] = await plugin.call('onRequest', [JSON.stringify(request)])
      return result!
    },

    noteRequest(projectId, configId, level, message) {
      chosen(projectId, [configId])[0]?.log('SYSTEM', level, message)
    },

    async runJob({ projectId, configId, name, payload }) {
      const [plugin] = chosen(projectId, [configId])
      if (!plugin) return { configId, status: 'failed', isRetryable: false, reason: 'The plugin is no longer in use' }
      const [result] = await plugin.call(`job:${name}`, [JSON.stringify(payload ?? {})])
      if (result?.kind === 'absent') plugin.log('SYSTEM', 'ERROR', `The job "${name}" did not run: the plugin has no such job.`)
      return deliveryOf(configId, result)
    },
    ...inspection(sandbox),

    problem: (configId) => [...projects.values()].flat().find(({ config }) => config.id === configId)?.problem ?? null,

    async close() {
      const all = [...projects.values()].flat()
      projects.clear()
      await Promise.all(all.map((plugin) => plugin.close()))
    },
  }
}

/** An event on its way through the transformations. */
class PassingEvent {
  private readonly names = { $plugins_succeeded: [] as string[], $plugins_failed: [] as string[], $plugins_deferred: [] as string[] }
  private readonly given: string
  private readonly teamId: unknown
  /** It has what an event needs to be stored. */
  private readonly isWhole: boolean
  private hasRun = false
  /** What is given before the properties: if a result begins with it too, nothing but the properties can be wrong. */
  private readonly beginning: string | null
  isDropped = false
  json: string

  constructor(json: string, teamId: unknown, isWhole: boolean) {
    this.given = json
    this.json = json
    this.teamId = teamId
    this.isWhole = isWhole
    const end = isWhole ? json.indexOf(propertiesBegin) : -1
    this.beginning = end < 0 ? null : json.slice(0, end + propertiesBegin.length)
  }

  /** Returns what is wrong with the result. */
  apply(label: string, result: CallResult): string | null {
    if (result.kind === 'absent') return null
    this.hasRun = true
    if (result.kind === 'deferred') this.names.$plugins_deferred.push(label)
    else if (result.kind !== 'value') this.names.$plugins_failed.push(label)
    else if (result.json === null) this.isDropped = true
    else {
      const problem = this.isPlainlyValid(result.json) ? null : this.problemOf(parsed(result.json))
      if (problem) {
        this.names.$plugins_failed.push(label)
        return problem
      }
      this.json = result.json
      this.names.$plugins_succeeded.push(label)
    }
    return null
  }

  /** Null: it was dropped. Undefined: no plugin was asked. */
  marked(): JsonObject | null | undefined {
    if (this.isDropped) return null
    if (!this.hasRun) return undefined
    const event = (parsed(this.json) ?? JSON.parse(this.given)) as Record<string, unknown>
    if (!isObject(event.properties)) event.properties = {}
    Object.assign(event.properties as object, this.names)
    return event
  }

  /** Its properties are an object, and everything else that is checked is as it was. Most results need not be parsed between two plugins. */
  private isPlainlyValid(json: string): boolean {
    return this.beginning !== null && json.startsWith(this.beginning)
  }

  private problemOf(value: unknown): string | null {
    if (!isObject(value)) return 'it must return an event or null'
    if (value.team_id !== this.teamId) return 'it must not change team_id'
    if (value.properties !== undefined && value.properties !== null && !isObject(value.properties)) return 'properties must be an object'
    for (const name of required)
      if (this.isWhole && (value[name] === undefined || value[name] === null || value[name] === '')) return `it must not remove ${name}`
    return null
  }
}

/** In texts quotes are escaped, and what comes before the properties are texts and numbers: so this is where the properties begin. */
const propertiesBegin = '"properties":{'

/** Undefined if the text is not JSON. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

const isSame = (a: PluginConfig, b: PluginConfig) =>
  a.id === b.id && a.plugin.id === b.plugin.id && a.plugin.name === b.plugin.name && JSON.stringify(codeOf(a)) === JSON.stringify(codeOf(b))

const isNetworkError = (error: unknown) =>
  error instanceof Error &&
  ('code' in error ? error.code !== 'private-address' : error.name === 'TimeoutError' || error.name === 'AbortError')

const skipped = (configId: number): Delivery => ({ configId, status: 'skipped', isRetryable: false, reason: null })

function deliveryOf(configId: number, result: CallResult | undefined): Delivery {
  if (!result || result.kind === 'absent') return skipped(configId)
  if (result.kind === 'value') return { configId, status: 'done', isRetryable: false, reason: null }
  if (result.kind === 'deferred')
    return { configId, status: 'failed', isRetryable: true, isDeferred: true, reason: 'The plugin is switched off' }
  return { configId, status: 'failed', isRetryable: result.kind === 'error' && result.isRetryable, reason: result.text }
}

const order = { skipped: 0, done: 1, failed: 2 }
const worst = (a: Delivery, b: Delivery): Delivery => (order[b.status] > order[a.status] ? b : a)
