import { signOnBegun, signOnOf } from '../access/session-cookies.ts'
import { baseOf, counted, passing, redirect, signIn } from '../access/single-sign-on.ts'
import { defineResource, type Reply, type Visit } from '../resource.ts'

const redirectUriOf = (visit: Visit, key: string): string => `${baseOf(visit)}/oidc/${encodeURIComponent(key)}/callback`
const keyOf = ({ params }: Visit): string => params.provider!.slice(0, 128)

function begin(visit: Visit): Promise<Reply> {
  const key = keyOf(visit)
  const { query, app } = visit
  return passing(visit, key, async () => {
    const asked = { next: query.get('next'), invite: query.get('invite'), hint: query.get('email')?.slice(0, 254) ?? null }
    const about = { ...asked, redirectUri: redirectUriOf(visit, key) }
    const { url, cookie } = await counted(visit, key, () => app.singleSignOn.begin(key, about))
    return redirect(url, [signOnBegun(visit, cookie)])
  })
}

function finish(visit: Visit): Promise<Reply> {
  const key = keyOf(visit)
  return passing(visit, key, async () => {
    return counted(visit, key, async () => {
      const answer = new URL(redirectUriOf(visit, key) + visit.url.search)
      const { vouched, next, invite } = await visit.app.singleSignOn.finish(key, answer, signOnOf(visit))
      return signIn(visit, 'oidc', vouched, { next, invite })
    })
  })
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
