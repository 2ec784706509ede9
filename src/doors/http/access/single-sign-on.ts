import { WaymarkError } from '../../../errors/errors.ts'
import type { Vouched } from '../../../service/accounts/single-sign-on/identities.ts'
import { knownFailure } from '../errors.ts'
import { Reply, type Visit } from '../resource.ts'
import { enteredBy, fromOf, noSignOn } from './session-cookies.ts'

// Pages that a browser passes through: what goes wrong is told by a page, not as JSON.

/** The address of this server as the browser knows it. */
export const baseOf = ({ site, url }: Pick<Visit, 'site' | 'url'>): string =>
  URL.canParse(site.base) ? site.base : `${url.origin}${site.base}`

export const redirect = (to: string, cookies: readonly string[]) => new Reply(302, undefined, { location: to, 'set-cookie': cookies })
const toPage = (visit: Visit, page: string, cookies: readonly string[]) => redirect(`${baseOf(visit)}/#${page}`, cookies)

/** The page that says why it did not work. Details are for the log of the server. */
function toFailure(visit: Visit, key: string, error: unknown): Reply {
  const code = knownFailure(error)?.code
  if (code === undefined) throw error
  const { report } = visit.app.accounts.context
  if (error instanceof WaymarkError && error.cause !== undefined) report(`Single sign-on with ${key} failed`, rootOf(error.cause))
  return toPage(visit, `/sign-in?${new URLSearchParams({ problem: code, provider: key })}`, [noSignOn(visit)])
}
/** A step on the way to a session: whatever goes wrong leads to that page. */
export const passing = (visit: Visit, key: string, step: () => Promise<Reply>): Promise<Reply> =>
  step().catch((error: unknown) => toFailure(visit, key, error))
/** What a library wraps says more. */
const rootOf = (error: unknown): unknown => (error instanceof Error && error.cause instanceof Error ? error.cause : error)

/** Counts what fails: nobody makes this server ask a provider all the time. */
export const counted = async <T>({ app, site }: Visit, key: string, work: () => Promise<T>): Promise<T> => {
  const takeBack = await app.signOnAttempts.begin({ email: `provider ${key}`, address: site.client, device: null })
  const result = await work()
  await takeBack()
  return result
}

/** Signs in the user whom a provider means, and shows the page that was asked for. */
export async function signIn(
  visit: Visit,
  way: 'oidc' | 'saml',
  vouched: Vouched,
  { next, invite }: { readonly next: string | null; readonly invite: string | null },
): Promise<Reply> {
  const { identities } = visit.app.accounts
  const { caller } = visit
  const from = fromOf(visit)
  try {
    const user = await identities.find(vouched, from, { present: caller?.via === 'session' ? caller.user : null, invite })
    const { isWaiting, cookies } = await enteredBy(visit, way, user, vouched.provider)
    await identities.noteEntry(user, vouched, from)
    return toPage(visit, isWaiting ? '/second-factor' : (next ?? '/'), [...cookies, noSignOn(visit)])
  } catch (error) {
    const failure = knownFailure(error)
    if (failure) await identities.noteRefusal(vouched, failure.code, from)
    throw error
  }
}
