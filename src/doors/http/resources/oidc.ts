import { WaymarkError } from '../../../errors/errors.ts'
import type { Vouched } from '../../../service/accounts/single-sign-on/identities.ts'
import { enteredBy, fromOf, noSignOn, signOnBegun, signOnOf } from '../access/session-cookies.ts'
import { knownFailure } from '../errors.ts'
import { defineResource, Reply, type Visit } from '../resource.ts'

// Pages that a browser passes through: what goes wrong is told by a page, not as JSON.

/** The address of this server as the browser knows it. */
const baseOf = ({ site, url }: Visit): string => (URL.canParse(site.base) ? site.base : `${url.origin}${site.base}`)

const redirect = (to: string, cookies: readonly string[]) => new Reply(302, undefined, { location: to, 'set-cookie': cookies })
const toPage = (visit: Visit, page: string, cookies: readonly string[]) => redirect(`${baseOf(visit)}/#${page}`, cookies)

/** The page that says why it did not work. Details are for the log of the server. */
function toFailure(visit: Visit, key: string, error: unknown): Reply {
  const code = knownFailure(error)?.code
  if (code === undefined) throw error
  const { report } = visit.app.accounts.context
  if (error instanceof WaymarkError && error.cause !== undefined) report(`Single sign-on with ${key} failed`, rootOf(error.cause))
  return toPage(visit, `/sign-in?${new URLSearchParams({ problem: code, provider: key })}`, [noSignOn(visit)])
}
/** What a library wraps says more. */
const rootOf = (error: unknown): unknown => (error instanceof Error && error.cause instanceof Error ? error.cause : error)

/** Counts what fails: nobody makes this server ask a provider all the time. */
const counted = async <T>({ app, site }: Visit, key: string, work: () => Promise<T>): Promise<T> => {
  const takeBack = app.signOnAttempts.begin({ email: `provider ${key}`, address: site.client, device: null })
  const result = await work()
  takeBack()
  return result
}

const redirectUriOf = (visit: Visit, key: string): string => `${baseOf(visit)}/oidc/${encodeURIComponent(key)}/callback`
const keyOf = ({ params }: Visit): string => params.provider!.slice(0, 128)

async function begin(visit: Visit): Promise<Reply> {
  const key = keyOf(visit)
  const { query, app } = visit
  try {
    const asked = { next: query.get('next'), invite: query.get('invite'), hint: query.get('email')?.slice(0, 254) ?? null }
    const about = { ...asked, redirectUri: redirectUriOf(visit, key) }
    const { url, cookie } = await counted(visit, key, () => app.singleSignOn.begin(key, about))
    return redirect(url, [signOnBegun(visit, cookie)])
  } catch (error) {
    return toFailure(visit, key, error)
  }
}

async function finish(visit: Visit): Promise<Reply> {
  const key = keyOf(visit)
  try {
    return await counted(visit, key, async () => {
      const answer = new URL(redirectUriOf(visit, key) + visit.url.search)
      const { vouched, next, invite } = await visit.app.singleSignOn.finish(key, answer, signOnOf(visit))
      return signIn(visit, 'oidc', vouched, { next, invite })
    })
  } catch (error) {
    return toFailure(visit, key, error)
  }
}

/** Signs in the user whom a provider means, and shows the page that was asked for. */
async function signIn(
  visit: Visit,
  way: 'oidc',
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

export const oidc = defineResource({
  name: 'oidc',
  summary:
    'Signing in with OpenID Connect, and with GitHub: addresses that a browser passes through. `:provider` is `google-oauth2`, `github`, `gitlab`, another name that the operator has chosen, or the domain of an organization',
  path: '/oidc/:provider',
  reach: 'open',
  object: null,
  rows: (row) => [
    row({
      method: 'GET',
      path: 'login',
      name: 'begin',
      summary: 'Leads to the identity provider. A failure leads to the page that explains it',
      queryParameters: {
        next: 'The page to show then, such as `/project/1/insights`',
        invite: 'The secret of an invitation, which a new user accepts',
        email: 'The address that the provider may fill in',
      },
      status: 302,
      handle: begin,
    }),
    row({
      method: 'GET',
      path: 'callback',
      name: 'finish',
      summary: 'Where the identity provider leads back to: the redirect URI that is registered there',
      ignoresParameters: 'Identity providers add parameters of their own.',
      status: 302,
      handle: finish,
    }),
  ],
})
