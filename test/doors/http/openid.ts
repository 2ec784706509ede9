import type { Organization } from '../../../src/service/accounts/records.ts'
import { OpenIdProvider } from '../../harness/openid-provider.ts'
import type { Browser, SignInPlace } from './signing-in.ts'

// Signing in through the identity provider of the tests, as a browser does.

/** The page behind the # that the browser was led to, with its parameters. */
export const pageOf = (location: string) => {
  const { origin, pathname, hash } = new URL(location)
  const [page = '', search = ''] = hash.slice(1).split('?', 2)
  return { origin: origin + pathname, page, ...Object.fromEntries(new URLSearchParams(search)) }
}

/** From the sign-in page to the provider and back: what the last answer leads to. */
export async function signOn(browser: Browser, path: string): Promise<ReturnType<typeof pageOf>> {
  const back = await goToProvider(browser, path)
  return pageOf(back.startsWith('http://localhost/oidc/') ? await follow(browser, back) : back)
}
/** The address that the provider sends the browser back to; or the page, if it was not led to the provider. */
export async function goToProvider(browser: Browser, path: string): Promise<string> {
  const begun = await browser.get(path)
  const location = begun.headers.get('location')!
  if (location.startsWith('http://localhost/')) return location
  const answer = await fetch(location, { redirect: 'manual' })
  return answer.headers.get('location')!
}
export const follow = async (browser: Browser, back: string): Promise<string> => {
  const { pathname, search } = new URL(back)
  return (await browser.get(pathname + search)).headers.get('location')!
}

export const startProvider = () => new OpenIdProvider().start()

/** As the operator sets it up. */
export const clientOf = ({ issuer, clientId, clientSecret }: OpenIdProvider, more: object = {}) => ({
  issuer,
  client_id: clientId,
  client_secret: clientSecret,
  ...more,
})

let made = 0
/** An organization with a proven domain, and the provider as its own. */
export async function provenDomain(place: SignInPlace, settings: object = {}, name = `d${++made}.test`, organization?: Organization) {
  const { accounts } = place.waymark
  const owner = organization ?? (await accounts.createOrganization({ name: `Owner of ${name}` }))
  const domain = await accounts.domains.vouch(name, owner.id)
  const admin = await place.user(`admin@${name}.invalid.test`, [[owner, 'admin']])
  const membership = (await accounts.organizations.membership(owner.id, admin))!
  const changed = Object.keys(settings).length > 0 ? await accounts.domains.update({ user: admin, membership }, domain, settings) : domain
  return { organization: owner, domain: changed, name, admin: { user: admin, membership } }
}
export const ownIssuer = ({ issuer, clientId, clientSecret }: OpenIdProvider) => ({
  oidc_issuer: issuer,
  oidc_client_id: clientId,
  oidc_client_secret: clientSecret,
})
