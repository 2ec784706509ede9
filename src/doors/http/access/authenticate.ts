import type { Accounts } from '../../../service/accounts/accounts.ts'
import type { PersonalKey, Session, User } from '../../../service/accounts/records.ts'
import { type Held, heldFrom } from '../../../service/accounts/users/enforcement.ts'
import { type Limits, limitsOf, unlimited } from '../../../service/accounts/users/key-limits.ts'
import { failures } from '../errors.ts'
import type { Site } from '../site.ts'

interface Known {
  readonly user: User
  /** The part of the user's data that the caller can access. */
  readonly limits: Limits
  /** Organizations that require a second factor, which the user does not have. They are outside of `limits`. */
  readonly held: Held
}
export type Caller =
  | (Known & { readonly via: 'key'; readonly key: PersonalKey })
  | (Known & { readonly via: 'session'; readonly session: Session; readonly token: string })
  | HostCaller
/** Signed in by the application that Waymark is part of, which is asked at every request. */
export type HostCaller = Known & {
  readonly via: 'host'
  readonly authenticatedAt: Date
  /** The application itself, by calls in its process. */
  readonly isOperator?: true
}

export interface Arrival {
  readonly request: Request
  readonly url: URL
  readonly site: Site
  readonly accounts: Accounts
  readonly body: () => Promise<unknown>
  /** Whom the host application has signed in. */
  readonly host: () => Promise<HostCaller | null>
}

export const sessionCookie = 'waymark_session'

export const cookieOf = (request: Request, name: string): string | undefined => {
  for (const part of request.headers.get('cookie')?.split(';') ?? []) {
    const [key, ...value] = part.split('=')
    if (key?.trim() === name) return value.join('=').trim()
  }
  return undefined
}

const bearerOf = (request: Request): string | undefined => {
  const header = request.headers.get('authorization')?.trim() ?? ''
  return /^bearer\s/i.test(header) ? header.slice('bearer'.length).trim() : undefined
}

const keyInBody = async ({ request, body }: Arrival): Promise<string | undefined> => {
  if (request.method === 'GET' || request.method === 'HEAD') return undefined
  const value = await body().catch(() => undefined) // an invalid body is reported later, to callers with access
  const key = value !== null && typeof value === 'object' ? (value as Record<string, unknown>).personal_api_key : undefined
  return typeof key === 'string' && key !== '' ? key : undefined
}

/** Only the first key found is checked. */
const findKey = async (arrival: Arrival): Promise<{ value: string; where: string } | undefined> => {
  const inHeader = bearerOf(arrival.request)
  if (inHeader !== undefined) return { value: inHeader, where: 'Authorization header' }
  const inBody = await keyInBody(arrival)
  if (inBody !== undefined) return { value: inBody, where: 'body' }
  const inQuery = arrival.url.searchParams.get('personal_api_key')
  return inQuery ? { value: inQuery, where: 'query string' } : undefined
}

const isSafe = (method: string) => method === 'GET' || method === 'HEAD' || method === 'OPTIONS'

/** A cookie is accepted only for requests from Waymark's own pages; browsers send the origin. */
const mustComeFromHere = ({ request, site }: Arrival): void => {
  if (isSafe(request.method)) return
  const from = request.headers.get('sec-fetch-site')
  const origin = request.headers.get('origin')
  const isOurs = from !== null ? from === 'same-origin' || from === 'none' : origin === null || site.origins.includes(origin)
  if (!isOurs) throw failures.foreignSite()
}

/** What the user sees, without what is held from somebody without a second factor. */
const within = async ({ context }: Accounts, user: User, limits: Limits) => {
  const held = await heldFrom(context, user)
  if (held.organizations.length === 0) return { held, limits }
  const isOpen = (id: string) => !held.organizations.some((one) => one.id === id)
  const seen: Limits = {
    reachesOrganization: (id) => isOpen(id) && limits.reachesOrganization(id),
    reachesProject: (project) => isOpen(project.organization_id) && limits.reachesProject(project),
  }
  return { held, limits: seen }
}

const sessionOf = async ({ request, accounts }: Arrival): Promise<Caller | null> => {
  const token = cookieOf(request, sessionCookie)
  const session = token === undefined ? undefined : await accounts.sessions.find(token)
  if (!session || token === undefined) return null
  return { via: 'session', token, ...session, ...(await within(accounts, session.user, unlimited)) }
}

/** The user of the host application comes first: who changes the account there has changed it here. */
const signedIn = async (arrival: Arrival): Promise<Caller | null> => (await arrival.host()) ?? sessionOf(arrival)

/** The logged-in user. Keys do not count: open routes log users in and out, and a key is not a login. */
export async function loggedIn(arrival: Arrival): Promise<Caller | null> {
  mustComeFromHere(arrival)
  return signedIn(arrival)
}

export async function authenticate(arrival: Arrival): Promise<Caller | null> {
  const { accounts } = arrival
  const found = await findKey(arrival)
  if (found) {
    const known = await accounts.personalKeys.authenticate(found.value)
    if (!known) throw failures.badKey(found.where, found.value)
    await accounts.personalKeys.noteUse(known.key)
    return { via: 'key', ...known, ...(await within(accounts, known.user, limitsOf(known.key))) }
  }
  const caller = await signedIn(arrival)
  if (caller) mustComeFromHere(arrival)
  return caller
}
