import type { AccountContext } from '../accounts/context.ts'
import type { Domain } from '../accounts/records.ts'
import { sealedFor } from '../accounts/secrets/resealing.ts'
import { domainOf, enforcingDomain, ofDomain, provenDomain } from '../accounts/single-sign-on/enforcing-domain.ts'
import type { Vouched } from '../accounts/single-sign-on/identities.ts'
import { type BegunLogin, createBegunLogins, type Leading } from './begun-logins.ts'
import { signOnFailed } from './failures.ts'
import { type Client, createOidcClient, isInstalled, oidcPackage, type Secrets } from './oidc-client.ts'
import { hasOidc, hasSaml, provenByName } from './own-providers.ts'
import type { Fetching } from './ports.ts'
import { type Provider, readProviders } from './providers.ts'
import { isSamlInstalled, samlPackage } from './saml-client.ts'
import { createSamlSignOn } from './saml-sign-on.ts'

export interface SingleSignOnParts {
  readonly context: AccountContext
  readonly fetch: Fetching
  /** The same for issuers that the operator has named. */
  readonly fetchForOperator: Fetching
  readonly providers: Readonly<Record<string, unknown>>
}

/** A way to sign in, as the sign-in page shows it. */
export interface WayShown {
  readonly id: string
  readonly name: string
  /** Where the browser begins, below the address of the server. */
  readonly path: string
}
export interface WaysOfAddress {
  /** What the domain of the address requires. */
  readonly enforcement: string | null
  readonly hasSaml: boolean
  /** Only what is allowed. Empty although something is required: nobody has set it up. */
  readonly ways: readonly WayShown[]
}

interface Beginning extends Leading {
  readonly redirectUri: string
  /** The address that somebody has entered. */
  readonly hint: string | null
}
type Begun = BegunLogin & Secrets

/** An issuer that an organization has set up for its domain, or one of the operator. */
type Found = { readonly key: string; readonly client: Client } & (
  | { readonly provider: Provider; readonly domain: null }
  | { readonly provider: null; readonly domain: Domain }
)

export function openSingleSignOn({ context, fetch, fetchForOperator, providers: given }: SingleSignOnParts) {
  const { store, box, outbound } = context
  const begunLogins = createBegunLogins(context)
  const providers = readProviders(given)
  const [ofOrganizations, ofOperator] = [createOidcClient(fetch), createOidcClient(fetchForOperator)]

  const clientOf = (domain: Domain): Client => ({
    kind: 'oidc',
    issuer: domain.oidc_issuer!,
    clientId: domain.oidc_client_id!,
    clientSecret: domain.oidc_client_secret === null ? null : box.open(domain.oidc_client_secret, sealedFor.oidcClient(domain.id)),
  })

  /** `key`: the id of a provider of the operator, or the name of a proven domain. */
  const find = async (key: string): Promise<Found> => {
    const provider = providers.find(({ id }) => id === key)
    if (provider) return { key, provider, domain: null, client: provider }
    const domain = await provenByName(context, key)
    if (!hasOidc(domain)) throw signOnFailed('unknown_provider')
    return { key, provider: null, domain, client: clientOf(domain) }
  }
  const ask = <T>({ domain, key }: Found, work: (client: typeof ofOperator) => Promise<T>): Promise<T> =>
    outbound.identities(domain?.organization_id ?? `provider ${key}`, () => work(domain ? ofOrganizations : ofOperator))

  const shown = (id: string, name: string): WayShown => ({ id, name, path: `oidc/${encodeURIComponent(id)}/login` })
  const shownProviders = providers.map(({ id, name }) => shown(id, name))
  const ofItsDomain = (domain: Domain): WayShown[] => [
    ...(hasSaml(domain) ? [{ id: `saml ${domain.domain}`, name: `${domain.domain} (SAML)`, path: `saml/${domain.domain}/login` }] : []),
    ...(hasOidc(domain) ? [shown(domain.domain, domain.domain)] : []),
  ]

  return {
    saml: createSamlSignOn(context, begunLogins),

    /** Providers of the operator. */
    providers: shownProviders as readonly WayShown[],

    /** Optional packages that are missing here. */
    notInstalled: async (): Promise<string[]> => [
      ...((await isInstalled()) ? [] : [oidcPackage]),
      ...((await isSamlInstalled()) ? [] : [samlPackage]),
    ],

    /** How users with an address sign in. It depends on the domain only, so it does not tell whether there is an account. */
    async waysOf(address: string): Promise<WaysOfAddress> {
      const domain = await provenDomain(context, store.read, address)
      if (!domain) return { enforcement: null, hasSaml: false, ways: shownProviders }
      const own = ofItsDomain(domain)
      const saml = hasSaml(domain)
      const enforced = (await enforcingDomain(context, store.read, address))?.sso_enforcement ?? null
      if (enforced === null) return { enforcement: null, hasSaml: saml, ways: [...own, ...shownProviders] }
      if (enforced === 'oidc' || enforced === 'saml') {
        const required = own.filter(({ path }) => path.startsWith(`${enforced}/`))
        return { enforcement: enforced, hasSaml: saml, ways: required }
      }
      return { enforcement: enforced, hasSaml: saml, ways: shownProviders.filter(({ id }) => id === enforced) }
    },

    /** Where the browser goes, and what its cookie keeps until it comes back. */
    async begin(key: string, { redirectUri, next, invite, hint }: Beginning): Promise<{ readonly url: string; readonly cookie: string }> {
      const found = await find(key)
      const { url, secrets } = await ask(found, (client) => client.begin(found.client, redirectUri, hint))
      return { url: url.href, cookie: begunLogins.seal({ ...secrets, provider: key, next, invite }) }
    },

    /** What the provider says about whom it has signed in. `answer`: the redirect URI with its parameters. */
    async finish(key: string, answer: URL, cookie: string | undefined): Promise<Leading & { readonly vouched: Vouched }> {
      const begun = begunLogins.open<Begun>(cookie)
      // An answer of one provider must not be taken for that of another.
      if (begun.provider !== key || answer.searchParams.get('state') !== begun.state) throw signOnFailed('other_browser')
      const found = await find(key)
      const claims = await ask(found, (client) => client.finish(found.client, answer, begun))
      const { domain, provider } = found
      // Google also has accounts with addresses that it does not manage.
      const managesAccount = claims.issuer !== 'https://accounts.google.com' || claims.workspace !== null
      const vouched: Vouched = {
        provider: domain ? ofDomain('oidc', domain) : key,
        issuer: claims.issuer,
        subject: claims.subject,
        email: claims.email,
        // Issuers of an organization say what its addresses are; many do not say that they are verified.
        isEmailVerified: domain ? claims.emailVerified !== false && managesAccount : claims.emailVerified === true,
        managesDomain:
          domain !== null ||
          (key === 'google-oauth2' && claims.workspace !== null) ||
          (claims.email !== null && provider.domains.includes(domainOf(claims.email))),
        firstName: claims.firstName,
        lastName: claims.lastName,
        domain,
        once: null,
      }
      return { vouched, next: begun.next, invite: begun.invite }
    },
  }
}
export type SingleSignOn = ReturnType<typeof openSingleSignOn>
