import { generateSync } from 'otplib'
import { expect } from 'vitest'
import { createHandler, type Handler } from '../../../src/doors/http/server/create-handler.ts'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import { type LevelName, level, type Organization, type User } from '../../../src/service/accounts/records.ts'
import { quickHash } from '../../harness/quick-hash.ts'
import type { Answer } from './conversation.ts'

// A server with a clock that stands still, and browsers that keep their cookies.

export const password = 'a long password 17'
export const step = 30_000

/** What the authenticator app shows. */
export const codeAt = (secret: string, now: Date): string => generateSync({ secret, epoch: now.getTime() / 1000 })

interface Sent {
  readonly headers?: Record<string, string>
  readonly address?: string
  /** A form as browsers send it, in place of a body. */
  readonly form?: string
}

/** A browser: its cookies, with their paths. */
export class Browser {
  readonly cookies = new Map<string, { value: string; path: string }>()
  constructor(
    private readonly handler: Handler,
    readonly address = '198.51.100.1',
  ) {}

  async send(method: string, path: string, body?: unknown, { headers = {}, address = this.address, form }: Sent = {}): Promise<Answer> {
    const sent = [...this.cookies].filter(([, one]) => path.startsWith(one.path)).map(([name, { value }]) => `${name}=${value}`)
    const response = await this.handler(
      new Request(`http://localhost${path}`, {
        method,
        headers: {
          'user-agent': 'Browser of a test',
          ...(sent.length > 0 && { cookie: sent.join('; ') }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(form !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(form !== undefined && { body: form }),
      }),
      address,
    )
    for (const cookie of response.headers.getSetCookie()) {
      const [, name, value, path] = /^([^=]+)=([^;]*); Path=([^;]+)/.exec(cookie)!
      if (/Max-Age=0;/.test(cookie)) this.cookies.delete(name!)
      else this.cookies.set(name!, { value: value!, path: path! })
      expect(cookie).toContain('HttpOnly; SameSite=Lax')
    }
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') === true
    return { status: response.status, body: text === '' ? null : isJson ? JSON.parse(text) : text, headers: response.headers }
  }
  get = (path: string, sent?: Sent) => this.send('GET', path, undefined, sent)
  post = (path: string, body: unknown = {}, sent?: Sent) => this.send('POST', path, body, sent)
  login = (email: string, sent?: Sent, given = password) => this.post('/api/login/', { email, password: given }, sent)
  code = (token: string, sent?: Sent) => this.post('/api/login/token/', { token }, sent)
}

export interface SignInPlace {
  readonly waymark: LocalWaymark
  readonly handler: Handler
  now: Date
  /** A user with the password, in these organizations. */
  user(email: string, in_: readonly (readonly [Organization, LevelName])[]): Promise<User>
  browser(address?: string): Browser
  /** Signs in and sets up a second factor: its secret and recovery codes. The clock is a step later afterwards. */
  enrol(user: User, browser?: Browser): Promise<{ readonly secret: string; readonly recovery: string[]; readonly browser: Browser }>
  code(secret: string): string
  enforce(organization: Organization, isOn: boolean): Promise<void>
  pass(ms?: number): void
  /** What the log of an organization has about a user. */
  logged(user: User, organization?: Organization): Promise<string[]>
}

export async function startSignIn(waymarkOptions: Partial<Parameters<typeof open>[0]> = {}): Promise<SignInPlace> {
  const place = { now: new Date('2026-03-02T10:00:05Z') }
  const waymark = await open({ dataDir: ':memory:', threads: 1, clock: () => new Date(place.now), ...waymarkOptions })
  const handler = createHandler(waymark)
  const { store } = waymark.accounts.context
  const made: SignInPlace = Object.assign(place, {
    waymark,
    handler,
    user: async (email: string, organizations: readonly (readonly [Organization, LevelName])[]) => {
      const [first, ...others] = organizations
      const about = { email, first_name: email.split('@')[0]!, password_hash: quickHash(password) }
      const user = await waymark.accounts.createUser(first?.[0].id ?? null, about, first?.[1] ?? 'member')
      for (const [organization, at] of others) {
        const row = { id: waymark.accounts.context.newId(), organization_id: organization.id, user_id: user.id, level: level[at] }
        await store.write((tables) => tables.memberships.insert({ ...row, joined_at: place.now, updated_at: place.now }))
      }
      return user
    },
    browser: (address?: string) => new Browser(handler, address),
    enrol: async (user: User, browser = new Browser(handler)) => {
      if (!browser.cookies.has('waymark_session')) expect((await browser.login(user.email)).status).toBe(200)
      const setup = await browser.post('/api/users/@me/two_factor_start_setup/')
      expect([setup.status, setup.body]).toMatchObject([200, { secret: expect.stringMatching(/^[A-Z2-7]{32}$/) }])
      const { secret } = setup.body
      const done = await browser.post('/api/users/@me/two_factor_validate/', { token: codeAt(secret, place.now) })
      expect([done.status, done.body.recovery_codes?.length]).toEqual([200, 10])
      made.pass()
      return { secret, recovery: done.body.recovery_codes, browser }
    },
    code: (secret: string) => codeAt(secret, place.now),
    enforce: async ({ id }: Organization, enforce_2fa: boolean) => {
      await store.write((tables) => tables.organizations.update({ id }, { enforce_2fa }))
    },
    pass: (ms = step) => {
      place.now = new Date(place.now.getTime() + ms)
    },
    logged: async (user: User, organization?: Organization) =>
      (await store.read.activity.find({ scope: 'User', item_id: String(user.id) }))
        .filter(({ organization_id }) => !organization || organization_id === organization.id)
        .map(({ activity }) => activity),
  })
  return made
}
