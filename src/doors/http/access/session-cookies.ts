import { storableText } from '../../../lib/text/storable-text.ts'
import { withoutTrailingSlashes } from '../../../lib/text/without-trailing-slashes.ts'
import type { From } from '../../../service/accounts/context.ts'
import type { User } from '../../../service/accounts/records.ts'
import type { SignedChallenge } from '../../../service/accounts/users/passkeys.ts'
import { longestUserAgent, sessionLifetime } from '../../../service/accounts/users/sessions.ts'
import { type Entered, pendingLifetime, type SessionWay } from '../../../service/accounts/users/signing-in.ts'
import { beginningLifetime } from '../../../service/single-sign-on/begun-logins.ts'
import { failureBody, failureOf, failures } from '../errors.ts'
import { Reply, type Visit } from '../resource.ts'
import { cookieOf, sessionCookie } from './authenticate.ts'

// The cookies of signing in: a session, a login that waits for a code, and the browser in which a user has signed in before.

const year = 365 * 86_400
/** Marks a browser in which its user has signed in before: failures of others then count separately. */
const deviceCookie = 'waymark_device'
/** Holds a login that waits for a code. It gives no rights. Its path is /, as a proxy may have another path for this server. */
const loginCookie = 'waymark_login'

export const cookie = ({ site }: Visit, name: string, value: string, seconds: number, path = '/') =>
  `${name}=${value}; Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${site.isSecure ? '; Secure' : ''}`

/** Below the path of the server, if it is mounted in an application. */
const loginPath = ({ site: { base } }: Visit): string => {
  const mounted = URL.canParse(base) ? new URL(base).pathname : base
  return `${mounted === '/' ? '' : withoutTrailingSlashes(mounted)}/api/login`
}

export const noSession = (visit: Visit) => ({ 'set-cookie': cookie(visit, sessionCookie, '', 0) })

/** The headers of an answer that signs in. A session that the browser had is another one now. */
export async function sessionHeaders(visit: Visit, user: User, token: string) {
  const { accounts } = visit.app
  const before = cookieOf(visit.request, sessionCookie)
  if (before !== undefined) await accounts.sessions.end(before)
  const device = accounts.users.deviceToken(user)
  return {
    'set-cookie': [
      cookie(visit, sessionCookie, token, sessionLifetime / 1000),
      ...(pendingLoginOf(visit) === undefined ? [] : [cookie(visit, loginCookie, '', 0)]),
      ...(device === null ? [] : [cookie(visit, deviceCookie, device, year, loginPath(visit))]),
    ],
  }
}

/** The place of a request, for the activity log and for sessions. */
export function fromOf({ request, site }: Visit): From {
  const given = request.headers.get('user-agent')
  return { address: site.client, user_agent: given === null ? null : storableText(given.slice(0, longestUserAgent)) }
}

/** Answers a way in: with a session, or with what waits for a code. */
export async function signedInBy(
  visit: Visit,
  way: SessionWay,
  user: User,
  answer: { status: number; body: unknown },
  signed: SignedChallenge | null = null,
): Promise<Reply> {
  const entered: Entered = await visit.app.accounts.signingIn.enter(way, user, fromOf(visit), { signed })
  if (!entered.isWaiting) return new Reply(answer.status, answer.body, await sessionHeaders(visit, user, entered.token))
  const failure = failureOf(failures.codeRequired())
  const waiting = cookie(visit, loginCookie, entered.token, pendingLifetime / 1000)
  return new Reply(failure.status, failureBody(failure), { ...failure.headers, 'set-cookie': waiting })
}

/** After an identity provider has vouched for a user: the browser, which is sent to a page. */
export async function enteredBy(
  visit: Visit,
  way: SessionWay,
  user: User,
  provider: string,
): Promise<{ readonly isWaiting: boolean; readonly cookies: readonly string[] }> {
  const { isWaiting, token } = await visit.app.accounts.signingIn.enter(way, user, fromOf(visit), { provider })
  if (isWaiting) return { isWaiting, cookies: [cookie(visit, loginCookie, token, pendingLifetime / 1000)] }
  return { isWaiting, cookies: (await sessionHeaders(visit, user, token))['set-cookie'] }
}

/** What a login through an identity provider keeps in the browser until it comes back. */
const signOnCookie = 'waymark_sso'
export const signOnOf = ({ request }: Visit): string | undefined => cookieOf(request, signOnCookie)
export const signOnBegun = (visit: Visit, sealed: string): string => cookie(visit, signOnCookie, sealed, beginningLifetime / 1000)
export const noSignOn = (visit: Visit): string => cookie(visit, signOnCookie, '', 0)

export const pendingLoginOf = ({ request }: Visit): string | undefined => cookieOf(request, loginCookie)

/** The token of a browser in which the user with that address has signed in before; null: another browser. */
export async function deviceOf({ app, request }: Visit, email: string): Promise<string | null> {
  const token = cookieOf(request, deviceCookie)
  return token !== undefined && (await app.accounts.users.isDevice(email, token)) ? token : null
}
