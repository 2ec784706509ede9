import { type LocalWaymark, open } from '../../../../src/engine.ts'
import type { LocalProject } from '../../../../src/project.ts'
import type { Plugin, PluginConfig, PluginFailedDelivery } from '../../../../src/service/accounts/records.ts'
import { createDeliverer, type Deliverer } from '../../../../src/service/plugins/delivery/deliverer.ts'
import { updateReceivers } from '../../../../src/service/plugins/delivery/membership.ts'
import { usualLimits } from '../../../../src/service/plugins/delivery/open-deliveries.ts'
import type { DeliveryLimits, DeliveryParts } from '../../../../src/service/plugins/delivery/parts.ts'
import type { PluginLogEntry } from '../../../../src/service/plugins/ports.ts'
import type { DeliveredEvent, Delivery } from '../../../../src/service/plugins/runtime.ts'

// Deliveries of real stored events, over real tables, to a function in place of plugins, with a clock that the test sets.

export type Answer = Partial<Delivery> | 'hangs'
export type Destination = (event: string, attempt: number) => Answer | Promise<Answer>

export const done: Answer = { status: 'done' }
export const passing: Answer = { status: 'failed', isRetryable: true, reason: 'answered with status 503' }
export const lasting: Answer = { status: 'failed', isRetryable: false, reason: 'answered with status 400' }
export const switchedOff: Answer = { status: 'failed', isRetryable: true, isDeferred: true, reason: 'The plugin is switched off' }

export interface DeliveryWorld {
  readonly waymark: LocalWaymark
  readonly clock: { now: Date }
  readonly logs: PluginLogEntry[]
  readonly reports: unknown[]
  /** Names of events, in the order in which their deliveries began. */
  readonly received: Map<number, string[]>
  readonly destinations: Map<number, Destination>
  deliverer: Deliverer
  /** A plugin and its config, enabled. Returns the id of the config. */
  add(project: LocalProject, destination: Destination, methods?: readonly string[]): Promise<number>
  setEnabled(configId: number, enabled: boolean): Promise<void>
  changed(projectIds: readonly number[] | null): Promise<void>
  send(project: LocalProject, count: number, name?: string): Promise<string[]>
  /** Until nothing more can be done without the clock going on. */
  drain(): Promise<void>
  /** Lets the time pass and does what becomes due, until nothing waits any more. */
  drainAll(): Promise<void>
  /** As after a crash: nothing in memory is left. */
  restart(): void
  failed(configId: number): Promise<readonly PluginFailedDelivery[]>
  position(configId: number): Promise<number>
  close(): Promise<void>
}

export async function deliveryWorld(limits: Partial<DeliveryLimits> = {}): Promise<DeliveryWorld> {
  const clock = { now: new Date('2026-03-02T10:00:00Z') }
  const waymark = await open({ dataDir: ':memory:', threads: 1, clock: () => clock.now })
  const { context } = waymark.accounts
  const attempts = new Map<string, number>()
  const sent = new Map<string, number>()
  const [logs, reports]: [PluginLogEntry[], unknown[]] = [[], []]
  const received = new Map<number, string[]>()
  const destinations = new Map<number, Destination>()

  const deliver = async (projectId: number, { event }: DeliveredEvent, configIds: readonly number[] = []): Promise<Delivery[]> =>
    Promise.all(
      configIds.map(async (configId): Promise<Delivery> => {
        if (event.team_id !== projectId) throw new Error('An event of another project')
        const name = String(event.event)
        const attempt = (attempts.get(`${configId} ${name}`) ?? 0) + 1
        attempts.set(`${configId} ${name}`, attempt)
        received.set(configId, [...(received.get(configId) ?? []), name])
        const answer = await destinations.get(configId)!(name, attempt)
        if (answer === 'hangs') return new Promise(() => undefined)
        return { configId, status: 'done', isRetryable: false, reason: null, ...answer }
      }),
    )

  const parts: DeliveryParts = {
    context,
    project: async (id) => ((await context.store.read.projects.first({ id })) ? waymark.project(id) : null),
    deliver,
    log: (entry) => void logs.push(entry),
    report: (error) => void reports.push(error),
    limits: { ...usualLimits, lookMs: 0, ...limits },
    random: () => 0.5,
  }

  const work = async () => {
    for (let isBusy = true; isBusy; ) {
      await world.deliverer.tick()
      isBusy = world.deliverer.running > 0
      await world.deliverer.settled()
    }
  }

  const world: DeliveryWorld = {
    waymark,
    clock,
    logs,
    reports,
    received,
    destinations,
    deliverer: createDeliverer(parts),

    async add(project, destination, methods = ['onEvent']) {
      const record = (await context.store.read.projects.first({ id: project.id }))!
      const now = clock.now
      const id = (await context.store.read.plugins.count({})) + 1
      const plugin: Plugin = {
        id,
        organization_id: record.organization_id,
        plugin_type: 'source',
        name: `plugin ${id}`,
        description: null,
        url: null,
        url_secrets: null,
        icon: null,
        config_schema: {},
        tag: null,
        latest_tag: null,
        is_global: false,
        capabilities: { methods },
        metrics: {},
        public_jobs: {},
        code_hash: null,
        created_at: now,
        updated_at: now,
      }
      const config: PluginConfig = {
        id,
        organization_id: record.organization_id,
        project_id: project.id,
        plugin_id: id,
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
      await context.store.write(async (tables) => {
        await tables.plugins.insert(plugin)
        await tables.plugin_configs.insert(config)
      })
      destinations.set(id, destination)
      await world.changed([project.id])
      return id
    },

    async setEnabled(configId, enabled) {
      await context.store.write((tables) => tables.plugin_configs.update({ id: configId }, { enabled }))
      await world.changed(null)
    },

    changed: async (projectIds) => world.deliverer.changed(await updateReceivers(parts, projectIds)),

    async send(project, count, name = 'event') {
      const from = sent.get(name) ?? 0
      sent.set(name, from + count)
      const names = Array.from({ length: count }, (_, i) => `${name} ${from + i}`)
      for (let i = 0; i < count; i += 500)
        await project.ingest({ batch: names.slice(i, i + 500).map((event) => ({ event, distinct_id: 'u1', properties: {} })) })
      return names
    },

    drain: work,

    async drainAll() {
      await work()
      for (;;) {
        const waiting = await context.store.read.plugin_failed_deliveries.find({ status: 'waiting' })
        const ends = await Promise.all(
          (await context.store.read.plugin_deliveries.find({})).map(
            async ({ position, project_id }) => (await waymark.project(project_id)).position > (position as number),
          ),
        )
        if (waiting.length === 0 && !ends.includes(true)) return
        const now = clock.now.getTime()
        const due = Math.min(...waiting.map(({ due_at }) => due_at!.getTime()))
        clock.now = new Date(due > now && waiting.length > 0 ? due : now + 60_000)
        await work()
      }
    },

    restart() {
      world.deliverer = createDeliverer(parts)
    },

    failed: (configId) => context.store.read.plugin_failed_deliveries.find({ plugin_config_id: configId }),
    position: async (configId) => (await context.store.read.plugin_deliveries.first({ plugin_config_id: configId }))!.position as number,

    async close() {
      await world.deliverer.close()
      await waymark.close()
    },
  }
  return world
}
