import type { Accounts } from '../accounts/accounts.ts'
import type { PersonalKey, Session, User } from '../accounts/records.ts'
import { failures } from './errors.ts'

export type Caller =
  | { readonly via: 'key'; readonly user: User; readonly key: PersonalKey }
  | { readonly via: 'session'; readonly user: User; readonly session: Session; readonly token: string }

export const sessionCookie = 'waymark_session'

const cookie = (request: Request, name: string): string | undefined => {
  for (const part of request.headers.get('cookie')?.split(';') ?? []) {
    const [key, ...value] = part.split('=')
    if (key?.trim() === name) return value.join('=').trim()
  }
  return undefined
}

const bearerOf = (request: Request): string | undefined =>
  /^bearer\s+(\S.*)$/i.exec(request.headers.get('authorization')?.trim() ?? '')?.[1]

const keyInBody = async (request: Request, body: () => Promise<unknown>): Promise<string | undefined> => {
  if (request.method === 'GET' || request.method === 'HEAD') return undefined
  const value = await body().catch(() => undefined) // what is wrong with the body is said later, to those who may know
  const key = value !== null && typeof value === 'object' ? (value as Record<string, unknown>).personal_api_key : undefined
  return typeof key === 'string' && key !== '' ? key : undefined
}

/** Only the first key that is found is tried. */
const findKey = async (request: Request, url: URL, body: () => Promise<unknown>): Promise<{ value: string; where: string } | undefined> => {
  const inHeader = bearerOf(request)
  if (inHeader !== undefined) return { value: inHeader, where: 'Authorization header' }
  const inBody = await keyInBody(request, body)
  if (inBody !== undefined) return { value: inBody, where: 'body' }
  const inQuery = url.searchParams.get('personal_api_key')
  return inQuery ? { value: inQuery, where: 'query string' } : undefined
}

const isSafe = (method: string) => method === 'GET' || method === 'HEAD' || method === 'OPTIONS'

/** Browsers say where a request comes from; a cookie counts only for our own pages. */
const comesFromElsewhere = (request: Request, url: URL): boolean => {
  const site = request.headers.get('sec-fetch-site')
  if (site !== null) return site !== 'same-origin' && site !== 'none'
  const origin = request.headers.get('origin')
  return origin !== null && origin !== url.origin
}

export async function authenticate(request: Request, url: URL, accounts: Accounts, body: () => Promise<unknown>): Promise<Caller | null> {
  const found = await findKey(request, url, body)
  if (found) {
    const known = await accounts.personalKeys.authenticate(found.value)
    if (!known) throw failures.badKey(found.where)
    await accounts.personalKeys.noteUse(known.key)
    return { via: 'key', ...known }
  }
  const token = cookie(request, sessionCookie)
  const session = token === undefined ? undefined : await accounts.sessions.find(token)
  if (!session || token === undefined) return null
  if (!isSafe(request.method) && comesFromElsewhere(request, url)) throw failures.foreignSite()
  return { via: 'session', token, ...session }
}
