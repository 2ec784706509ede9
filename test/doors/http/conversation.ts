import { afterAll, beforeAll, expect } from 'vitest'
import { routes } from '../../../src/doors/http/routes.ts'
import type { Organization, ProjectRecord, User } from '../../../src/service/accounts/records.ts'
import { startWorld, type World } from '../../conformance/world.ts'

// Conversations over real HTTP. Every answer with a body is held against the schema of its row, so what the API description promises is also so.

export interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
  readonly body: any
  readonly headers: Headers
}
export interface Request {
  readonly as?: User | string | null
  readonly body?: unknown
  readonly headers?: Record<string, string>
}

export const rowOf = (method: string, path: string) => {
  const parts = path.split('?')[0]!.split('/').filter(Boolean)
  const place = routes.find((one) => {
    const pattern = one.path.split('/').filter(Boolean)
    return pattern.length === parts.length && pattern.every((part, i) => part.startsWith(':') || part === parts[i])
  })
  return place?.rows.get(method)
}

export interface Home {
  readonly world: World
  readonly organization: Organization
  readonly project: ProjectRecord
  readonly owner: User
  readonly admin: User
  readonly member: User
  /** Belongs to another organization, `other`. */
  readonly outsider: User
  readonly other: Organization
  call(method: string, path: string, request?: Request): Promise<Answer>
  /** A personal key's value, for `as`. */
  key(user: User, scopes: readonly string[], limits?: object): Promise<string>
}

export const startHome = async (): Promise<Home> => {
  const world = await startWorld()
  const { accounts } = world
  const first = await accounts.firstStart({ email: 'owner@acme.test' })
  const { organization, project } = first
  const outsider = await world.user('outsider@else.test', null)
  const other = await accounts.organizations.create(outsider, { name: 'Else' })
  const cookies = new Map<number, Record<string, string>>()
  let loginTime: number | undefined
  /** Logins last as long as the clock is not set: a session ends when time goes on. */
  const loggedIn = async (user: User) => {
    if (loginTime !== world.now?.getTime()) cookies.clear()
    loginTime = world.now?.getTime()
    const known = cookies.get(user.id) ?? (await world.login(user))
    cookies.set(user.id, known)
    return known
  }
  const call: Home['call'] = async (method, path, { as = null, body, headers = {} } = {}) => {
    const credentials: Record<string, string> =
      as === null ? {} : typeof as === 'string' ? { authorization: `Bearer ${as}` } : await loggedIn(as)
    const response = await fetch(world.url + path, {
      method,
      redirect: 'manual',
      headers: { ...credentials, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('application/json') === true
    const answer = { status: response.status, body: text === '' ? null : isJson ? JSON.parse(text) : text, headers: response.headers }
    const row = rowOf(method, path)
    if (response.ok && row?.answer) expect(row.answer.safeParse(answer.body).error, `${method} ${path} fits its schema`).toBeUndefined()
    if (response.status >= 400 && !/^\/(scim|ofrep|oauth)\//.test(path)) {
      const { extra: _, quota_limited: _limited, ...keys } = answer.body
      expect(Object.keys(keys), `${method} ${path}`).toEqual(['type', 'code', 'detail', 'attr'])
    }
    return answer
  }
  return {
    world,
    organization,
    project,
    owner: (await accounts.users.byId(first.user.id))!,
    admin: await world.user('admin@acme.test', organization.id, 'admin'),
    member: await world.user('member@acme.test', organization.id),
    outsider: (await accounts.users.byId(outsider.id))!,
    other,
    call,
    key: async (user, scopes, limits = {}) => (await accounts.personalKeys.create(user, { label: 'test', scopes, ...limits })).value,
  }
}

/** One home for the tests of a file. */
export const withHome = (): { readonly home: Home } => {
  const held: { home?: Home } = {}
  beforeAll(async () => {
    held.home = await startHome()
  })
  afterAll(async () => {
    expect(held.home?.world.reports).toEqual([])
    await held.home?.world.close()
  })
  return held as { readonly home: Home }
}

export const refused = (status: number, code: string, detail?: string, attr: string | null = null) => ({
  status,
  body: { type: expect.any(String), code, detail: detail ?? expect.any(String), attr },
})
