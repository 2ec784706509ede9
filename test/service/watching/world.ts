import { type LocalWaymark, type OpenOptions, open } from '../../../src/engine.ts'
import type { LocalProject } from '../../../src/project.ts'
import type { Mail } from '../../../src/service/accounts/context.ts'
import { level } from '../../../src/service/accounts/records.ts'

// A server with two organizations, a clock that a test moves, and a mail server that keeps what it gets.

export const minute = 60_000
export const hour = 60 * minute
export const day = 24 * hour

export interface WatchWorld {
  waymark: LocalWaymark
  now: Date
  readonly mails: Mail[]
  hasMailServer: boolean
  readonly reports: unknown[]
  /** Of the organization that the server was set up with, and of another one. */
  readonly shop: LocalProject
  readonly other: LocalProject
  /** Does what is due now. */
  check(): Promise<void>
  /** Lets time pass in steps of 15 minutes, with so many events an hour in each project. */
  pass(ms: number, events?: { readonly shop?: number; readonly other?: number }): Promise<void>
  /** As after a restart. */
  restart(): Promise<void>
  /** Takes the subjects of what was sent since the last call. */
  subjects(): string[]
}

const [shopOwner, otherOwner] = ['ada@shop.test', 'bob@other.test']

export { otherOwner, shopOwner }

export async function watchWorld(dataDir = ':memory:', options: Partial<OpenOptions> = {}): Promise<WatchWorld> {
  const start = async () =>
    open({
      dataDir,
      threads: 1,
      clock: () => world.now,
      exports: { runs: false },
      insights: { refreshes: false },
      plugins: { runs: false },
      dataRetention: { runs: false },
      singleSignOn: { runs: false },
      onError: (error) => void world.reports.push(error),
      ...options,
      surroundings: {
        mailer: () => (world.hasMailServer ? { send: async (mail: Mail) => void world.mails.push(mail) } : null),
        ...options.surroundings,
      },
    })
  const world: Omit<WatchWorld, 'shop' | 'other'> & { shop?: LocalProject; other?: LocalProject } = {
    now: new Date('2026-03-02T10:00:00Z'),
    mails: [],
    hasMailServer: true,
    reports: [],
    waymark: undefined as unknown as LocalWaymark,
    async check() {
      const { watching, notifications } = world.waymark
      for (const runner of [watching.runner, notifications.scheduler]) {
        await runner.tick()
        await runner.settled()
      }
    },
    async pass(ms, { shop = 0, other = 0 } = {}) {
      const send = async (project: LocalProject, count: number) => {
        const batch = Array.from({ length: count }, (_, i) => ({ event: 'view', distinct_id: `u${i % 10}` }))
        if (count > 0) await project.ingest({ batch })
      }
      for (let left = ms; left > 0; left -= 15 * minute) {
        world.now = new Date(world.now.getTime() + 15 * minute)
        await send(world.shop!, Math.round(shop / 4))
        await send(world.other!, Math.round(other / 4))
        await world.check()
      }
    },
    async restart() {
      await world.waymark.close()
      world.waymark = await start()
      const projects = await world.waymark.projects()
      world.shop = await world.waymark.project(projects[0]!.id)
      world.other = await world.waymark.project(projects[1]!.id)
    },
    subjects: () => world.mails.splice(0).map(({ to, subject }) => `${to}: ${subject}`),
  }
  world.waymark = await start()
  const { accounts } = world.waymark
  const { user, organization } = await accounts.firstStart({ makesKey: false, email: shopOwner })
  const second = await accounts.createOrganization({ name: 'Other' })
  const { context } = accounts
  const bob = { ...user, id: user.id + 1, uuid: context.newId(), distinct_id: 'bob', email: otherOwner, current_project_id: null }
  await context.store.write(async (tables) => {
    await tables.users.insert(bob)
    const membership = { organization_id: second.id, user_id: bob.id, level: level.owner, joined_at: world.now, updated_at: world.now }
    await tables.memberships.remove({ organization_id: second.id })
    await tables.memberships.insert({ id: context.newId(), ...membership })
  })
  const [first, inSecond] = await Promise.all([
    context.store.read.projects.first({ organization_id: organization.id }),
    context.store.read.projects.first({ organization_id: second.id }),
  ])
  const name = async (id: number, to: string) => {
    await context.store.write((tables) => tables.projects.update({ id }, { name: to }))
    return world.waymark.project(id)
  }
  world.shop = await name(first!.id, 'Shop')
  world.other = await name(inSecond!.id, 'Other')
  return world as WatchWorld
}
