import type { Accounts } from '../../src/accounts/accounts.ts'
import { type AccountSettings, defaultSettings, type Mail } from '../../src/accounts/context.ts'
import type { level, User } from '../../src/accounts/records.ts'
import { openAccounts } from '../../src/control.ts'
import { createApp } from '../../src/http/create-app.ts'
import { startServer } from '../../src/http/node-server.ts'
import { defaultRateLimits, type RateLimits } from '../../src/http/rate-limits.ts'
import { createService } from '../../src/http/service.ts'
import { openInstance } from '../../src/storage/duckdb/instance.ts'

// A whole server in memory whose surroundings a test can set: the clock, the operator's settings, name servers, the mail that goes out.

export interface World {
  readonly url: string
  readonly accounts: Accounts
  /** Null: the real time. */
  now: Date | null
  settings: AccountSettings
  limits: RateLimits
  /** Whether mail is set up. What was sent is in `outbox`. */
  hasMail: boolean
  readonly outbox: Mail[]
  readonly txt: Map<string, readonly string[]>
  readonly reports: unknown[]
  /** The header that makes the user the caller. */
  login(user: User): Promise<Record<string, string>>
  /** A user with that level in the organization; null: in none. */
  user(email: string, organizationId: string | null, at?: keyof typeof level): Promise<User>
  close(): Promise<void>
}

export async function startWorld(): Promise<World> {
  const instance = await openInstance({ dataDir: ':memory:' })
  const clock = () => (world.now ? new Date(world.now) : new Date())
  const accounts = await openAccounts(instance, {
    clock,
    settings: () => world.settings,
    mailer: () => (world.hasMail ? { send: async (mail) => void world.outbox.push(mail) } : null),
    lookupTxt: async (name) => world.txt.get(name) ?? [],
    report: (message, error) => world.reports.push([message, error]),
  })
  const app = createApp(
    {
      accounts,
      clock,
      project: async () => {
        throw new TypeError('no projects yet')
      },
      readiness: async () => ({ isReady: true, checks: {} }),
    },
    { limits: () => world.limits },
  )
  const service = createService(app, { log: (line) => line.level === 'error' && world.reports.push(line) })
  const server = await startServer(service, { host: '127.0.0.1', port: 0 })
  const world: World = {
    url: server.url,
    accounts,
    now: null,
    settings: { ...defaultSettings, siteUrl: server.url },
    limits: defaultRateLimits,
    hasMail: false,
    outbox: [],
    txt: new Map(),
    reports: [],
    login: async (user) => ({ cookie: `waymark_session=${await accounts.sessions.start(user)}` }),
    user: (email, organizationId, at = 'member') => accounts.createUser(organizationId, { email, first_name: email.split('@')[0]! }, at),
    close: async () => {
      await server.drain(1000)
      await instance.close()
    },
  }
  return world
}
