import { isObject } from '../lib/is-object.ts'
import { type CallResult, codeOf, ManagedPlugin } from './managed-plugin.ts'
import { createMemoryCache } from './memory-cache.ts'
import type { Capabilities, JsonObject, PluginCode, PluginConfig, PluginJob, PluginPorts } from './ports.ts'
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
  hasPlugins(projectId: number): boolean
  /** The projects that have plugins. */
  projects(): readonly number[]
  /** Passes events through the transformations of a project. Null: a plugin dropped the event. */
  transform(projectId: number, events: readonly JsonObject[]): Promise<readonly (JsonObject | null)[]>
  /** After an event is stored. `configIds`: only these. */
  deliver(projectId: number, event: DeliveredEvent, configIds?: readonly number[]): Promise<readonly Delivery[]>
  runTask(projectId: number, task: ScheduledTask): Promise<readonly Delivery[]>
  runJob(job: Omit<PluginJob, 'id' | 'at'>): Promise<Delivery>
  /** What a plugin can do, and why it cannot be used. Runs its code, but not its setup. */
  inspect(plugin: PluginCode): Promise<{ readonly capabilities: Capabilities } | { readonly problem: string }>
  disabled(configId: number): string | null
  close(): Promise<void>
}

const webhookMs = 10_000
const marks = ['$plugins_succeeded', '$plugins_failed', '$plugins_deferred'] as const

/** `sandbox` stays open when the runtime closes. */
export function createPluginRuntime(ports: PluginPorts, sandbox: Sandbox): PluginRuntime {
  const calls = createServerCalls(ports, createMemoryCache(ports.clock))
  const projects = new Map<number, readonly ManagedPlugin[]>()
  const pluginsOf = (projectId: number) => projects.get(projectId) ?? []
  const chosen = (projectId: number, ids?: readonly number[]) =>
    pluginsOf(projectId).filter(({ config }) => !ids || ids.includes(config.id))

  const deliver = async (plugin: ManagedPlugin, { event, webhookEvent }: DeliveredEvent): Promise<Delivery> => {
    const configId = plugin.config.id
    const [seen] = await plugin.call('onEvent', [JSON.stringify(event)])
    const [composed] = await plugin.call('composeWebhook', [JSON.stringify(webhookEvent)])
    const of = (result: CallResult | undefined): Delivery => deliveryOf(configId, result)
    if (composed?.kind !== 'value' || composed.json === null)
      return worst(of(seen), composed?.kind === 'value' ? skipped(configId) : of(composed))
    return worst(of(seen), await send(plugin, composed.json))
  }

  const send = async (plugin: ManagedPlugin, json: string): Promise<Delivery> => {
    const configId = plugin.config.id
    const refuse = (reason: string, isRetryable: boolean): Delivery => {
      plugin.log('SYSTEM', 'ERROR', `The webhook was not delivered: ${reason}`)
      return { configId, status: 'failed', isRetryable, reason }
    }
    try {
      const request = webhookOf(JSON.parse(json))
      const { status } = await ports.outbound(request, AbortSignal.timeout(webhookMs))
      if (status >= 200 && status < 300) return { configId, status: 'done', isRetryable: false, reason: null }
      return refuse(`${new URL(request.url).host} answered with status ${status}`, isPassingStatus(status))
    } catch (error) {
      return refuse(error instanceof Error ? error.message : String(error), isNetworkError(error))
    }
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

    hasPlugins: (projectId) => projects.has(projectId),

    projects: () => [...projects.keys()],

    async transform(projectId, events) {
      const plugins = pluginsOf(projectId)
      if (plugins.length === 0) return events
      const passing = events.map((event) => new PassingEvent(event))
      for (const plugin of plugins) {
        const open = passing.filter(({ event }) => event !== null)
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
    },

    deliver: (projectId, event, configIds) => Promise.all(chosen(projectId, configIds).map((plugin) => deliver(plugin, event))),

    runTask: (projectId, task) =>
      Promise.all(
        pluginsOf(projectId).map(async (plugin) => {
          const [result] = await plugin.call(task, [null])
          return deliveryOf(plugin.config.id, result)
        }),
      ),

    async runJob({ projectId, configId, name, payload }) {
      const [plugin] = chosen(projectId, [configId])
      if (!plugin) return { configId, status: 'failed', isRetryable: false, reason: 'The plugin is not used any more' }
      const [result] = await plugin.call(`job:${name}`, [JSON.stringify(payload ?? {})])
      return deliveryOf(configId, result)
    },

    async inspect(plugin) {
      const config: PluginConfig = { id: 0, projectId: 0, plugin, order: 0, config: {}, attachments: {} }
      const refuse = async () => Promise.reject(new Error('The server can be called only after the plugin is loaded'))
      const loaded = await sandbox.load(codeOf(config), { call: refuse, log: () => undefined }, { isSetUp: false })
      if (loaded.kind === 'failed') return { problem: loaded.text }
      await loaded.unit.unload()
      return { capabilities: loaded.unit.capabilities }
    },

    disabled: (configId) => [...projects.values()].flat().find(({ config }) => config.id === configId)?.disabled ?? null,

    async close() {
      const all = [...projects.values()].flat()
      projects.clear()
      await Promise.all(all.map((plugin) => plugin.close()))
    },
  }
}

/** An event on its way through the transformations. */
class PassingEvent {
  private readonly teamId: unknown
  private readonly names = { $plugins_succeeded: [] as string[], $plugins_failed: [] as string[], $plugins_deferred: [] as string[] }
  private hasRun = false
  event: JsonObject | null
  json: string

  constructor(event: JsonObject) {
    this.event = event
    this.teamId = event.team_id
    this.json = JSON.stringify(event)
  }

  /** Returns what is wrong with the result. */
  apply(label: string, result: CallResult): string | null {
    if (result.kind === 'absent') return null
    this.hasRun = true
    if (result.kind === 'deferred') this.names.$plugins_deferred.push(label)
    else if (result.kind !== 'value') this.names.$plugins_failed.push(label)
    else if (result.json === null) this.event = null
    else {
      const value: unknown = JSON.parse(result.json)
      const problem = this.problemOf(value)
      if (problem) {
        this.names.$plugins_failed.push(label)
        return problem
      }
      this.event = value as JsonObject
      this.json = result.json
      this.names.$plugins_succeeded.push(label)
    }
    return null
  }

  marked(): JsonObject | null {
    if (this.event === null || !this.hasRun) return this.event
    const properties = isObject(this.event.properties) ? { ...this.event.properties } : {}
    for (const name of marks) properties[name] = this.names[name]
    return { ...this.event, properties }
  }

  private problemOf(value: unknown): string | null {
    if (!isObject(value)) return 'it must return an event or null'
    if (value.team_id !== this.teamId) return 'it must not change team_id'
    if (value.properties !== undefined && value.properties !== null && !isObject(value.properties)) return 'properties must be an object'
    return null
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
