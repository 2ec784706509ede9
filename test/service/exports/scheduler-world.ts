import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import type { AccountStore, Membership, ProjectRecord, User } from '../../../src/service/accounts/records.ts'
import { resealSecrets } from '../../../src/service/accounts/secrets/resealing.ts'
import { createSecretBox, newSecretKey, type SecretBox } from '../../../src/service/accounts/secrets/secret-box.ts'
import { type Limits, usualLimits } from '../../../src/service/exports/destinations/destination.ts'
import type { ExportRows, RowSelection } from '../../../src/service/exports/ports.ts'
import { createScheduler, type Scheduler } from '../../../src/service/exports/running/scheduler.ts'
import { createBatchExports } from '../../../src/service/exports/service.ts'
import { type Receiver, startReceiver } from './receiver.ts'

// The scheduler over real tables, with a clock that a test sets and a log of numbers in place of a project.

export interface SchedulerWorld {
  now: Date
  readonly receiver: Receiver
  /** The times of arrival of the records, by their position. */
  readonly arrivals: Date[]
  readonly service: ReturnType<typeof createBatchExports>
  readonly by: { readonly user: User; readonly membership: Membership }
  scheduler: Scheduler
  /** Of destinations. */
  limits: Limits
  readonly reports: unknown[]
  arrive(count: number): void
  /** A newer key for secrets, which seals them again. */
  addKey(): Promise<void>
  create(given?: object): Promise<string>
  /** As after a crash or a restart: nothing in memory is left. */
  restart(given?: { readonly owner?: string; readonly isAlone?: boolean }): Promise<void>
  /** A second process on the same tables. `store`: how it sees them. */
  another(owner: string, store?: AccountStore): Scheduler
  readonly waymark: LocalWaymark
  readonly project: ProjectRecord
  readonly box: SecretBox
  /** Until nothing more is due. */
  drain(): Promise<void>
  readonly read: Awaited<ReturnType<typeof open>>['accounts']['context']['store']['read']
  readonly write: Awaited<ReturnType<typeof open>>['accounts']['context']['store']['write']
  record(id: string): Promise<NonNullable<Awaited<ReturnType<ReturnType<typeof createBatchExports>['byId']>>>>
  close(): Promise<void>
}

/** Nothing happens by itself. */
const idle = { exports: { runs: false }, notifications: { runs: false }, insights: { refreshes: false }, plugins: { runs: false } } as const

export async function schedulerWorld(): Promise<SchedulerWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'waymark-scheduler-'))
  const clock = { now: new Date('2026-03-02T10:00:00Z') }
  const waymark = await open({ dataDir: ':memory:', threads: 1, clock: () => clock.now, ...idle })
  const { accounts } = waymark
  const { context } = accounts
  const receiver = await startReceiver()
  const keys = [newSecretKey()]
  const box: SecretBox = {
    seal: (...given) => createSecretBox(keys).seal(...given),
    open: (...given) => createSecretBox(keys).open(...given),
    isCurrent: (sealed) => createSecretBox(keys).isCurrent(sealed),
  }
  const { user, organization, project } = await accounts.firstStart({ makesKey: false })
  const membership = (await accounts.organizations.membership(organization.id, user))!

  const within = ({ range }: RowSelection) =>
    world.arrivals.flatMap((at, i) => {
      const seq = i + 1
      if (range.by === 'arrival') return seq > range.after && seq <= range.to ? [seq] : []
      const isLater = range.start === null || at.getTime() >= Date.parse(range.start)
      return seq <= range.to && isLater && at.getTime() < Date.parse(range.end) ? [seq] : []
    })
  const rows: ExportRows = {
    async measure(selection) {
      const found = within(selection)
      return { rows: found.length, keys: found.length > 0 ? [found[0]!, found.at(-1)!] : null }
    },
    columns: async () => [
      { name: 'uuid', type: 'text' },
      { name: 'seq', type: 'integer' },
    ],
    async stage(selection, part, { path, format }) {
      const found = within(selection).filter((seq) => !part || (seq > part.after && seq <= part.to))
      writeFileSync(path, found.map((seq) => (format === 'CSV' ? `${seq}\t${seq}\n` : `{"seq":${seq}}\n`)).join(''))
      return { rows: found.length, bytes: (await stat(path)).size }
    },
    async positionAt(end, after) {
      const later = world.arrivals.findIndex((at, i) => i + 1 > after && at.getTime() >= end.getTime())
      return Math.max(after, later < 0 ? world.arrivals.length : later)
    },
    firstTime: async () => world.arrivals[0] ?? null,
  }
  const scheduler = (owner: string, isAlone: boolean, store: AccountStore = context.store) =>
    createScheduler({
      context: { ...context, store },
      box,
      rows: async () => rows,
      outside: {
        clock: () => clock.now,
        lookup: () => {
          throw new Error('no names here')
        },
        mustBeAllowed: () => {},
        localFolder: join(folder, 'exports'),
        get limits() {
          return world.limits
        },
      },
      stagingFolder: join(folder, 'staging'),
      owner,
      isAlone,
      atOnce: 2,
      report: (error) => world.reports.push(error),
      random: () => 0.5,
    })
  const world: SchedulerWorld = {
    get now() {
      return clock.now
    },
    set now(time) {
      clock.now = time
    },
    receiver,
    limits: usualLimits,
    arrivals: [],
    reports: [],
    by: { user, membership },
    service: createBatchExports({
      context,
      box,
      network: { mustBeAllowed: () => undefined },
      rows: async () => rows,
      wake: () => {},
      stop: (ids) => world.scheduler.stop(ids),
    }),
    scheduler: scheduler('first', true),
    arrive(count) {
      for (let i = 0; i < count; i++) world.arrivals.push(new Date(world.now))
    },
    async addKey() {
      keys.unshift(newSecretKey())
      await resealSecrets({ context, box, report: (error) => void world.reports.push(error) })
    },
    async create(given = {}) {
      const destination = { type: 'HTTP', config: { url: receiver.url, token: 'secret' } }
      const { id } = await world.service.create(world.by, project, { name: 'x', destination, interval: 'hour', ...given })
      await world.scheduler.tick()
      return id
    },
    async restart({ owner = `process ${Math.random()}`, isAlone = true } = {}) {
      await world.scheduler.close()
      world.scheduler = scheduler(owner, isAlone)
    },
    another: (owner, store) => scheduler(owner, false, store),
    waymark,
    project,
    box,
    async drain() {
      for (;;) {
        const next = await world.scheduler.tick()
        if (world.scheduler.running === 0 && next > world.now.getTime()) return
        await world.scheduler.settled()
      }
    },
    read: context.store.read,
    write: context.store.write,
    record: async (id) => (await context.store.read.batch_exports.first({ id }))!,
    async close() {
      await world.scheduler.close()
      await waymark.close()
      await receiver.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return world
}
