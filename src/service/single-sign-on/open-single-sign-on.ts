import { isObject } from '../../lib/is-object.ts'
import type { AccountContext } from '../accounts/context.ts'
import type { Domain } from '../accounts/records.ts'
import { sealedFor } from '../accounts/secrets/resealing.ts'
import { randomToken } from '../accounts/secrets/secrets.ts'
import { domainOf, enforcingDomain, ofDomain, provenDomain } from '../accounts/single-sign-on/enforcing-domain.ts'
import type { Vouched } from '../accounts/single-sign-on/identities.ts'
import { signOnFailed } from './failures.ts'
import { type Client, createOidcClient, isInstalled, oidcPackage, type Secrets } from './oidc-client.ts'
import type { Fetching } from './ports.ts'
import { type Provider, readProviders } from './providers.ts'
import { longestUse } from './saml-checks.ts'
import {
  beginSaml,
  isSamlInstalled,
  metadataOf,
  readSaml,
  type SamlClaims,
  type SamlProvider,
  type ServiceAddresses,
  samlPackage,
} from './saml-client.ts'

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

interface Beginning {
  readonly redirectUri: string
  /** The page to show then. */
  readonly next: string | null
  /** The secret of an invitation. */
  readonly invite: string | null
  /** The address that somebody has entered. */
  readonly hint: string | null
}
interface Begun extends Secrets {
  readonly provider: string
  readonly next: string | null
  readonly invite: string | null
  readonly expires: number
}
export const beginningLifetime = 600_000
const sealContext = 'single sign-on'
interface BegunSaml {
  /** `saml` and the domain: never the id of another provider. */
  readonly provider: string
  /** Of the request that the answer names. */
  readonly request: string
  readonly next: string | null
  readonly invite: string | null
  readonly expires: number
}
const samlOf = (domain: Domain): SamlProvider => ({
  idpEntity: domain.saml_entity_id!,
  entryPoint: domain.saml_acs_url!,
  certificates: domain.saml_x509_cert!,
})
/** How this server is called by the SAML provider of a domain. `base`: its public URL. */
const serviceOf = (base: string, name: string): ServiceAddresses => ({
  entityId: `${base}/saml/${name}/metadata`,
  acs: `${base}/saml/${name}/acs`,
})

const longestNext = 500
/** A page of this server: it is written after the # of the address, so it cannot lead elsewhere. */
const pageOf = (next: string | null): string | null =>
  next !== null && next.length <= longestNext && /^\/(?!\/)[\w\-./~%?=&:@!$'()*+,]*$/.test(next) ? next : null

/** An issuer that an organization has set up for its domain, or one of the operator. */
type Found = { readonly key: string; readonly client: Client } & (
  | { readonly provider: Provider; readonly domain: null }
  | { readonly provider: null; readonly domain: Domain }
)

export const hasOidc = ({ oidc_issuer, oidc_client_id }: Domain): boolean => Boolean(oidc_issuer && oidc_client_id)
export const hasSaml = ({ saml_entity_id, saml_acs_url, saml_x509_cert }: Domain): boolean =>
  Boolean(saml_entity_id && saml_acs_url && saml_x509_cert)

export function openSingleSignOn({ context, fetch, fetchForOperator, providers: given }: SingleSignOnParts) {
  const { store, box, clock, outbound } = context
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
    const domain = key.includes('.') ? await provenDomain(context, store.read, `@${key}`) : undefined
    if (!domain || domain.domain !== key || !hasOidc(domain)) throw signOnFailed('unknown_provider')
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

  const open = <T extends { readonly provider: string } = Begun>(sealed: string | undefined): T => {
    try {
      const begun: unknown = JSON.parse(box.open(sealed ?? '', sealContext))
      if (isObject(begun) && typeof begun.expires === 'number' && begun.expires > clock().getTime()) return begun as unknown as T
    } catch {
      // of another server, or not ours
    }
    throw signOnFailed('other_browser')
  }

  /** A proven domain, by its name. */
  const provenByName = async (name: string): Promise<Domain> => {
    const domain = await provenDomain(context, store.read, `@${name}`)
    if (!domain || domain.domain !== name) throw signOnFailed('unknown_provider')
    return domain
  }
  const withSaml = async (name: string): Promise<Domain> => {
    const domain = await provenByName(name)
    if (!hasSaml(domain)) throw signOnFailed('not_set_up')
    return domain
  }
  const vouchedBySaml = (domain: Domain, claims: SamlClaims): Vouched => ({
    provider: ofDomain('saml', domain),
    issuer: domain.saml_entity_id!,
    subject: claims.subject,
    email: claims.email,
    isEmailVerified: true,
    managesDomain: true,
    firstName: claims.firstName,
    lastName: claims.lastName,
    domain,
    once: { name: claims.assertionId, until: new Date(clock().getTime() + longestUse) },
  })
  const saml = {
    /** What the provider has to know of this server. */
    metadata: async (name: string, base: string): Promise<string> => metadataOf(serviceOf(base, (await provenByName(name)).domain)),

    async begin(name: string, base: string, { next, invite }: Pick<Beginning, 'next' | 'invite'>) {
      const domain = await withSaml(name)
      const request = `_${randomToken()}`
      const url = await beginSaml(samlOf(domain), serviceOf(base, name), request)
      const begun: BegunSaml = {
        provider: `saml ${name}`,
        request,
        next: pageOf(next),
        invite,
        expires: clock().getTime() + beginningLifetime,
      }
      return { url, cookie: box.seal(JSON.stringify(begun), sealContext) }
    },

    /** What an answer says, before it is known which browser has asked. */
    async look(name: string, base: string, response: string): Promise<{ readonly email: string | null; readonly isAsked: boolean }> {
      const { email, inResponseTo } = await readSaml(response, samlOf(await withSaml(name)), serviceOf(base, name), clock())
      return { email, isAsked: inResponseTo !== null }
    },

    /** `relayState`: the page that a provider asks for which begins by itself. */
    async finish(
      name: string,
      base: string,
      {
        response,
        relayState,
        cookie,
      }: { readonly response: string; readonly relayState: string | null; readonly cookie: string | undefined },
    ): Promise<{ readonly vouched: Vouched; readonly next: string | null; readonly invite: string | null }> {
      const domain = await withSaml(name)
      const claims = await readSaml(response, samlOf(domain), serviceOf(base, name), clock())
      const vouched = vouchedBySaml(domain, claims)
      if (claims.inResponseTo === null) return { vouched, next: pageOf(relayState), invite: null }
      const begun = open<BegunSaml>(cookie)
      if (begun.provider !== `saml ${name}` || begun.request !== claims.inResponseTo) throw signOnFailed('other_browser')
      return { vouched, next: begun.next, invite: begun.invite }
    },
  }

  return {
    saml,

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
      const begun: Begun = { ...secrets, provider: key, next: pageOf(next), invite, expires: clock().getTime() + beginningLifetime }
      return { url: url.href, cookie: box.seal(JSON.stringify(begun), sealContext) }
    },

    /** What the provider says about whom it has signed in. `answer`: the redirect URI with its parameters. */
    async finish(
      key: string,
      answer: URL,
      cookie: string | undefined,
    ): Promise<{ readonly vouched: Vouched } & Pick<Begun, 'next' | 'invite'>> {
      const begun = open(cookie)
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
