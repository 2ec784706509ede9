import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { deferred } from '../../../src/lib/flow/deferred.ts'
import type { AccountStore, AccountTables } from '../../../src/service/accounts/records.ts'
import type { Copy } from '../../../src/service/backups/repository/pieces.ts'
import { createBackupRunner } from '../../../src/service/backups/schedule.ts'
import { createDataRetention } from '../../../src/service/data-retention/data-retention.ts'
import type { Kind } from '../../../src/service/jobs/kind.ts'
import { leaseMs } from '../../../src/service/jobs/leases.ts'
import type { Runner } from '../../../src/service/jobs/runner.ts'
import { type OpenedNotifications, openNotifications } from '../../../src/service/notifications/open-notifications.ts'
import type { NotificationParts } from '../../../src/service/notifications/parts.ts'
import { createScheduler } from '../../../src/service/notifications/scheduler.ts'
import { createDeliverer } from '../../../src/service/plugins/delivery/deliverer.ts'
import { usualLimits } from '../../../src/service/plugins/delivery/open-deliveries.ts'
import type { PluginRuntime } from '../../../src/service/plugins/runtime.ts'
import { createPluginSchedule } from '../../../src/service/plugins/schedule.ts'
import { createRefresher } from '../../../src/service/saved/refresher.ts'
import { createDomainProofs } from '../../../src/service/single-sign-on/domain-proofs.ts'
import { openWatching } from '../../../src/service/watching/open-watching.ts'
import { type SchedulerWorld, schedulerWorld } from '../exports/scheduler-world.ts'

// Every kind of due work, with a process that is killed at every step of an attempt, and a second one on the same store. The second one leaves the work alone until
// the lease is over. Then the work is done once, or repeated where its row says so.

const steps = [
  'before the claim',
  'after the claim',
  'while it runs',
  'after it ran, before that is written',
  'after that is written',
] as const
type Step = (typeof steps)[number]

/** How often what the work does outside has been done in the end. */
const timesOutside: Readonly<Record<Kind<unknown>['guarantee'], Readonly<Record<Step, number>>>> = {
  once: {
    'before the claim': 0,
    'after the claim': 0,
    'while it runs': 0,
    'after it ran, before that is written': 0,
    'after that is written': 0,
  },
  'at least once': {
    'before the claim': 1,
    'after the claim': 1,
    'while it runs': 2,
    'after it ran, before that is written': 2,
    'after that is written': 1,
  },
  'at most once': {
    'before the claim': 1,
    'after the claim': 0,
    'while it runs': 1,
    'after it ran, before that is written': 1,
    'after that is written': 1,
  },
}

/** A process that can be killed: from then on nothing that it asks of the store is done, or answered. */
class Process {
  readonly killed = deferred<void>()
  isKilled = false
  private hasClaimed = false
  readonly store: AccountStore
  constructor(
    under: AccountStore,
    private readonly step: Step | null,
    private readonly hasEffect: boolean,
  ) {
    const never = () => new Promise<never>(() => undefined)
    const read = (name: keyof AccountTables) =>
      new Proxy(under.read[name], {
        get: (rows, method) => {
          const call = Reflect.get(rows, method) as (...args: unknown[]) => Promise<unknown>
          return (...args: unknown[]) => {
            if (this.step === 'while it runs' && !this.hasEffect && this.hasClaimed) this.kill()
            return this.isKilled ? never() : call.apply(rows, args)
          }
        },
      })
    this.store = {
      read: new Proxy(under.read, { get: (_, name) => read(name as keyof AccountTables) }),
      write: async (work) => {
        if (this.isKilled) return never()
        let what: 'claim' | 'end' | null = null
        const noticing = (tables: AccountTables): AccountTables => ({
          ...tables,
          leases: {
            ...tables.leases,
            find: (...args) => tables.leases.find(...args),
            first: (...args) => tables.leases.first(...args),
            count: (...args) => tables.leases.count(...args),
            update: (...args) => tables.leases.update(...args),
            insert: (row) => {
              what = 'claim'
              return tables.leases.insert(row)
            },
            remove: (where) => {
              what = 'end'
              return tables.leases.remove(where)
            },
          },
        })
        const isHere = (claim: Step, end: Step) => (what === 'claim' && this.step === claim) || (what === 'end' && this.step === end)
        try {
          const answer = await under.write(async (tables) => {
            const result = await work(noticing(tables))
            if (isHere('before the claim', 'after it ran, before that is written')) throw this.kill()
            return result
          })
          if (isHere('after the claim', 'after that is written')) this.kill()
          if (what === 'claim') this.hasClaimed = true
          return this.isKilled ? never() : answer
        } catch (error) {
          if (this.isKilled) return never()
          throw error
        }
      },
    }
  }
  /** What the work does outside, at the moment. */
  async outside(): Promise<void> {
    if (this.step !== 'while it runs' || !this.hasEffect) return
    this.kill()
    await new Promise(() => undefined)
  }
  private kill(): Error {
    this.isKilled = true
    this.killed.resolve()
    return new Error('killed')
  }
}

let world: SchedulerWorld
let notifications: OpenedNotifications
const reports: unknown[] = []
const report = (error: unknown) => void reports.push(error)
/** Calls of what is outside, by their names. */
const outside: string[] = []
const query = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'signup' }], trendsFilter: { display: 'BoldNumber' } }

const notificationParts = (process: Process): NotificationParts => ({
  context: { ...world.waymark.accounts.context, store: process.store },
  box: world.box,
  saved: world.waymark.saved,
  mayRead: async () => true,
  network: { lookup: () => undefined, mustBeAllowed: () => undefined } as unknown as NotificationParts['network'],
  async fetch({ url, headers }) {
    outside.push(String(headers['webhook-id']))
    await process.outside()
    return { url, status: 200, statusText: '', headers: {}, body: new Uint8Array() }
  },
  report,
})

interface Row {
  readonly guarantee: Kind<unknown>['guarantee']
  /** Whether its work is seen outside while it runs, so that the process can be killed at that. */
  readonly hasEffect: boolean
  /** Makes one that is due. Returns how often its result is written. */
  make(): Promise<() => Promise<number>>
  runner(process: Process, owner: string): Runner
}

const table = <T extends keyof AccountTables>(name: T): AccountStore['read'][T] => world.waymark.accounts.context.store.read[name]
const write: AccountStore['write'] = (work) => world.waymark.accounts.context.store.write(work)
const place = () => ({ project: world.project, by: world.by })
const makeInsight = async () => (await world.waymark.saved.insights.create(place(), { name: 'Signups', query })).insight
const makeAlert = async (lower: number) => {
  await notifications.alerts.create(place(), {
    insight: (await makeInsight()).id,
    condition: { type: 'absolute_value' },
    threshold: { configuration: { type: 'absolute', bounds: { lower } } },
    webhook_url: 'https://203.0.113.1/',
  })
  return (await table('alerts').find({}))[0]!
}
const notifying = (process: Process, owner: string) => createScheduler({ ...notificationParts(process), ...{ owner, isAlone: false } })
const pluginRuntime = (process: Process) =>
  ({
    projects: (task: string) => (task === 'runEveryDay' ? [1] : []),
    async runTask() {
      outside.push('task')
      await process.outside()
      return []
    },
    async runJob({ name }: { readonly name: string }) {
      outside.push(name)
      await process.outside()
      return { configId: 1, status: 'done', isRetryable: false, reason: null }
    },
  }) as unknown as PluginRuntime
const scheduling = (process: Process, owner: string) =>
  createPluginSchedule({
    context: { ...world.waymark.accounts.context, store: process.store },
    runtime: pluginRuntime(process),
    report,
    owner,
    isAlone: false,
  })

/** A row of a place, with what is due. */
const insertBackups = (due: { readonly due_at: Date; readonly verify_at: Date }) =>
  write((tables) =>
    tables.backups.insert({
      id: '/backups',
      failures: 0,
      latest_error: null,
      copy: due.due_at > world.now ? 1 : null,
      copied_at: null,
      reaches_back_to: null,
      bytes: null,
      copies: null,
      verified_at: null,
      verify_error: null,
      ...due,
    }),
  )
const later = () => new Date(world.now.getTime() + 86_400_000)
const backingUp = (process: Process, owner: string) => {
  const time = world.now.toISOString()
  const copy: Copy = {
    number: 1,
    began_at: time,
    at: time,
    version: '1',
    bytes: 1,
    added: 1,
    stored: 1,
    projects: [],
    files: [],
    objects: '',
  }
  const work = async <T>(result: T) => {
    outside.push('copy')
    await process.outside()
    return result
  }
  return createBackupRunner({
    context: { ...world.waymark.accounts.context, store: process.store },
    schedule: { to: '/backups', place: '/backups', everyMs: 3_600_000, verifyEveryMs: 86_400_000 },
    take: () => work(copy),
    copies: async () => [copy],
    verify: () => work({ copy: 1, projects: 0, events: 0, persons: 0, compared: 0 }),
    report,
    owner,
    isAlone: false,
  })
}

const rows: Readonly<Record<string, Row>> = {
  'export run': {
    guarantee: 'at least once',
    hasEffect: true,
    async make() {
      world.arrive(1)
      const id = await world.create()
      world.now = new Date(world.now.getTime() + 70 * 60_000)
      return () => table('batch_export_runs').count({ batch_export_id: id, status: 'Completed' })
    },
    runner(process, owner) {
      world.receiver.answer = async ({ headers }) => {
        if (headers['x-waymark-kind'] !== 'summary') return 200
        outside.push(String(headers['x-waymark-run']))
        await process.outside()
        return 200
      }
      return world.another(owner, process.store)
    },
  },
  alert: {
    guarantee: 'once',
    hasEffect: false,
    async make() {
      const { id } = await makeAlert(-1)
      return () => table('alert_checks').count({ alert_id: id })
    },
    runner: notifying,
  },
  subscription: {
    guarantee: 'once',
    hasEffect: false,
    async make() {
      await notifications.subscriptions.create(place(), {
        insight: (await makeInsight()).id,
        frequency: 'daily',
        start_date: world.now.toISOString(),
        target_type: 'webhook',
        target_value: 'https://203.0.113.1/',
      })
      const { id } = (await table('subscriptions').find({}))[0]!
      await write((tables) => tables.subscriptions.update({ id }, { next_delivery_date: world.now }))
      return () => table('notice_deliveries').count({ subscription_id: id })
    },
    runner: notifying,
  },
  'notice delivery': {
    guarantee: 'at least once',
    hasEffect: true,
    async make() {
      const { id } = await makeAlert(1)
      const first = notifying(new Process(world.waymark.accounts.context.store, null, true), 'first')
      // The check, without its deliveries.
      await write((tables) => tables.leases.remove({}))
      await first.tick()
      await first.settled()
      await first.close()
      await write((tables) => tables.notice_deliveries.update({ alert_id: id }, { status: 'waiting', attempts: 0, due_at: world.now }))
      outside.length = 0
      return () => table('notice_deliveries').count({ alert_id: id, status: 'delivered' })
    },
    runner: notifying,
  },
  'insight refresh': {
    guarantee: 'once',
    hasEffect: false,
    async make() {
      const { id } = await makeInsight()
      await write((tables) =>
        tables.insight_refreshes.insert({
          id: `refresh ${id}`,
          project_id: world.project.id,
          insight_id: id,
          dashboard_id: null,
          viewed_at: world.now,
          due_at: world.now,
          refreshed_at: null,
          failures: 0,
          latest_error: null,
        }),
      )
      return async () => ((await table('insight_refreshes').first({ insight_id: id }))!.refreshed_at === null ? 0 : 1)
    },
    runner: (process, owner) =>
      createRefresher({
        context: { ...world.waymark.accounts.context, store: process.store },
        answers: world.waymark.saved.answers,
        report,
        ...{ owner, isAlone: false },
      }),
  },
  'plugin task': {
    guarantee: 'at most once',
    hasEffect: true,
    async make() {
      await write((tables) => tables.plugin_tasks.insert({ id: '1/runEveryDay', project_id: 1, period: 1 }))
      return async () => ((await table('plugin_tasks').first({ id: '1/runEveryDay' }))!.period > 1 ? 1 : 0)
    },
    runner: scheduling,
  },
  'plugin job': {
    guarantee: 'at least once',
    hasEffect: true,
    async make() {
      const job = { id: 'j', project_id: 1, plugin_config_id: 1, name: 'send', payload: {}, due_at: world.now, attempts: 0 }
      await write((tables) => tables.plugin_jobs.insert(job))
      // A task that has begun already.
      const period = Math.floor(world.now.getTime() / 86_400_000)
      await write((tables) => tables.plugin_tasks.insert({ id: '1/runEveryDay', project_id: 1, period }))
      return async () => ((await table('plugin_jobs').count({})) === 0 ? 1 : 0)
    },
    runner: (process, owner) => {
      const { runTask: _, ...others } = pluginRuntime(process)
      const runtime = { ...others, projects: () => [] } as unknown as PluginRuntime
      const context = { ...world.waymark.accounts.context, store: process.store }
      return createPluginSchedule({ context, runtime, report, owner, isAlone: false })
    },
  },
  'event delivery': {
    guarantee: 'at least once',
    hasEffect: true,
    async make() {
      const record = { plugin_config_id: 1, project_id: world.project.id, position: 0, counts: {}, updated_at: world.now }
      await write((tables) => tables.plugin_deliveries.insert(record))
      return async () => (await table('plugin_deliveries').first({ plugin_config_id: 1 }))!.position as number
    },
    runner(process, owner) {
      const event = { position: 1, uuid: 'u1', event: 'e', distinct_id: 'd', timestamp: world.now.toISOString(), properties: '{}' }
      const stored = { ...event, elements_chain: '', person_id: 'p', person_properties: '{}' }
      const storedEvents = { range: async () => ({ events: [stored], through: 1 }), at: async () => [] }
      return createDeliverer({
        context: { ...world.waymark.accounts.context, store: process.store },
        project: async () => ({ position: 1, end: async () => 1, storedEvents }),
        async deliver(_project, { event: delivered }) {
          outside.push(String(delivered.uuid))
          await process.outside()
          return [{ configId: 1, status: 'done', isRetryable: false, reason: null }]
        },
        log: () => undefined,
        limits: { ...usualLimits, lookMs: 0 },
        random: () => 0.5,
        report,
        owner,
        isAlone: false,
      })
    },
  },
  backup: {
    guarantee: 'at least once',
    hasEffect: true,
    async make() {
      await insertBackups({ due_at: world.now, verify_at: later() })
      return async () => ((await table('backups').first({ id: '/backups' }))!.copy === null ? 0 : 1)
    },
    runner: backingUp,
  },
  'backup verification': {
    guarantee: 'once',
    hasEffect: true,
    async make() {
      await insertBackups({ due_at: later(), verify_at: world.now })
      return async () => ((await table('backups').first({ id: '/backups' }))!.verified_at === null ? 0 : 1)
    },
    runner: backingUp,
  },
  'data retention': {
    guarantee: 'once',
    hasEffect: true,
    async make() {
      const { id } = world.project
      await write(async (tables) => {
        await tables.deletions.remove({})
        await tables.projects.update({ id }, { settings: { data_retention: { events_months: 1 } } })
      })
      return () => table('deletions').count({ project_id: id, asked_by: 'retention' })
    },
    runner(process, owner) {
      const { context, deletions } = world.waymark.accounts
      return createDataRetention({
        context: { ...context, store: process.store },
        accounts: { context: { ...context, store: process.store }, deletions },
        async removeOld() {
          outside.push('removed')
          await process.outside()
          return { events: 3, persons: 1 }
        },
        random: () => 0.5,
        report,
        owner,
        isAlone: false,
      })
    },
  },
  'domain proofs': {
    guarantee: 'at least once',
    hasEffect: true,
    async make() {
      await write((tables) => tables.domains.remove({}))
      const domain = await world.waymark.accounts.domains.vouch('proven.test', world.project.organization_id)
      const about = { proof: 'dns', proof_checked_at: new Date(world.now.getTime() - 2 * 86_400_000) }
      await write((tables) => tables.domains.update({ id: domain.id }, about))
      return async () => ((await table('domains').first({ id: domain.id }))?.proof_missing_since == null ? 0 : 1)
    },
    runner(process, owner) {
      const context = {
        ...world.waymark.accounts.context,
        store: process.store,
        async lookupTxt(name: string) {
          outside.push(name)
          await process.outside()
          return []
        },
      }
      return createDomainProofs({ context, random: () => 0.5, report, owner, isAlone: false })
    },
  },
  watch: {
    guarantee: 'once',
    hasEffect: false,
    async make() {
      return () => table('notice_deliveries').count({ watch: 'backup' })
    },
    runner(process, owner) {
      const began = new Date(world.now.getTime() - 3_600_000)
      const context = {
        ...world.waymark.accounts.context,
        store: process.store,
        mailer: () => ({ send: async () => undefined }),
      }
      const failing = {
        failures: 2,
        latest_error: 'no space',
        copy: null,
        copied_at: null,
        reaches_back_to: null,
        bytes: null,
        copies: null,
      }
      const backups = async () => ({ ...failing, due_at: later(), verify_at: later(), verified_at: null, verify_error: null })
      const server = { backups, disk: async () => null, quotas: async () => [], pluginProblem: () => null }
      return openWatching({ context, server, wakeDeliveries: () => undefined, report, owner, isAlone: false, began }, false).runner
    },
  },
}

beforeAll(async () => {
  world = await schedulerWorld()
  notifications = openNotifications(notificationParts(new Process(world.waymark.accounts.context.store, null, false)), false)
})
afterAll(async () => {
  await notifications.close()
  await world.close()
})
afterEach(async () => {
  outside.length = 0
  const emptied = ['leases', 'alerts', 'subscriptions', 'notices', 'notice_deliveries', 'insight_refreshes'] as const
  const others = [
    'plugin_tasks',
    'plugin_jobs',
    'plugin_deliveries',
    'batch_exports',
    'batch_export_runs',
    'backups',
    'retention_runs',
    'server_hours',
    'watch_states',
  ] as const
  await write(async (tables) => {
    for (const name of [...emptied, ...others]) await tables[name].remove({})
    await tables.projects.update({ id: world.project.id }, { settings: {} })
  })
  world.receiver.answer = () => 200
})

const leasesOf = async (name: string) => (await table('leases').find({ kind: name })).filter(({ owner }) => owner !== null)

describe.each(Object.keys(rows))('%s', (name) => {
  test.each(steps)('killed %s', async (step) => {
    const { guarantee, hasEffect, make, runner } = rows[name]!
    const results = await make()
    const killed = new Process(world.waymark.accounts.context.store, step, hasEffect)
    const first = runner(killed, 'killed')
    const until = async (work: () => Promise<unknown>): Promise<boolean> =>
      Promise.race([work().then(() => false), killed.killed.promise.then(() => true)])
    for (let i = 0; i < 10 && !(await until(() => first.tick())) && !(await until(() => first.settled())); i++);
    expect(killed.isKilled, 'the step was reached').toBe(true)
    const isWritten = step === 'after that is written'
    const isLeased = step !== 'before the claim' && !isWritten
    expect(await leasesOf(name)).toHaveLength(isLeased ? 1 : 0)
    expect(await results(), 'what is written').toBe(isWritten || (guarantee === 'at most once' && isLeased) ? 1 : 0)

    const second = runner(new Process(world.waymark.accounts.context.store, null, hasEffect), 'second')
    const before = outside.length
    if (isLeased) {
      await second.tick()
      await second.settled()
      expect(outside.slice(before), 'the lease is not over').toEqual([])
      expect(await leasesOf(name)).toMatchObject([{ owner: 'killed' }])
      world.now = new Date(world.now.getTime() + leaseMs)
    }
    for (let i = 0; i < 4; i++) {
      await second.tick()
      await second.settled()
    }
    expect(await results(), 'in the end').toBe(1)
    expect((await leasesOf(name)).filter(({ until: end }) => end > world.now)).toEqual([])
    if (guarantee !== 'once') expect(outside).toHaveLength(timesOutside[guarantee][step])
    expect(new Set(outside).size, 'what is sent again has the same id').toBeLessThanOrEqual(1)
    await second.close()
    expect(reports.splice(0)).toEqual([])
  })
})
