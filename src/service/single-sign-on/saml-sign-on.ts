import type { AccountContext } from '../accounts/context.ts'
import type { Domain } from '../accounts/records.ts'
import { randomToken } from '../accounts/secrets/secrets.ts'
import { ofDomain } from '../accounts/single-sign-on/enforcing-domain.ts'
import type { Vouched } from '../accounts/single-sign-on/identities.ts'
import { type BegunLogin, type BegunLogins, type Leading, pageOf } from './begun-logins.ts'
import { signOnFailed } from './failures.ts'
import { hasSaml, provenByName } from './own-providers.ts'
import { longestUse } from './saml-checks.ts'
import { beginSaml, metadataOf, readSaml, type SamlClaims, type SamlProvider, type ServiceAddresses } from './saml-client.ts'

interface BegunSaml extends BegunLogin {
  /** The ID of the request, which the answer names. */
  readonly request: string
}

const providerOf = (domain: Domain): SamlProvider => ({
  idpEntity: domain.saml_entity_id!,
  entryPoint: domain.saml_acs_url!,
  certificates: domain.saml_x509_cert!,
})
/** How this server is called by the SAML provider of a domain. `base`: its public URL. */
const serviceOf = (base: string, name: string): ServiceAddresses => ({
  entityId: `${base}/saml/${name}/metadata`,
  acs: `${base}/saml/${name}/acs`,
})
const keyOf = (name: string) => `saml ${name}`

export interface SamlAnswer {
  readonly response: string
  /** The page that a provider asks for which begins by itself. */
  readonly relayState: string | null
  /** What the browser has kept since it began. */
  readonly cookie: string | undefined
}

export const createSamlSignOn = (context: AccountContext, begunLogins: BegunLogins) => {
  const { clock } = context
  const withSaml = async (name: string): Promise<Domain> => {
    const domain = await provenByName(context, name)
    if (!hasSaml(domain)) throw signOnFailed('not_set_up')
    return domain
  }
  const vouchedOf = (domain: Domain, claims: SamlClaims): Vouched => ({
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

  return {
    /** What the provider has to know of this server. */
    metadata: async (name: string, base: string): Promise<string> =>
      metadataOf(serviceOf(base, (await provenByName(context, name)).domain)),

    async begin(name: string, base: string, leading: Leading): Promise<{ readonly url: string; readonly cookie: string }> {
      const domain = await withSaml(name)
      const request = `_${randomToken()}`
      const url = await beginSaml(providerOf(domain), serviceOf(base, name), request)
      return { url, cookie: begunLogins.seal({ ...leading, provider: keyOf(name), request }) }
    },

    /** What an answer says, before it is known which browser has asked. */
    async look(name: string, base: string, response: string): Promise<{ readonly email: string | null; readonly isAsked: boolean }> {
      const { email, inResponseTo } = await readSaml(response, providerOf(await withSaml(name)), serviceOf(base, name), clock())
      return { email, isAsked: inResponseTo !== null }
    },

    async finish(
      name: string,
      base: string,
      { response, relayState, cookie }: SamlAnswer,
    ): Promise<Leading & { readonly vouched: Vouched }> {
      const domain = await withSaml(name)
      const claims = await readSaml(response, providerOf(domain), serviceOf(base, name), clock())
      const vouched = vouchedOf(domain, claims)
      if (claims.inResponseTo === null) return { vouched, next: pageOf(relayState), invite: null }
      const begun = begunLogins.open<BegunSaml>(cookie)
      if (begun.provider !== keyOf(name) || begun.request !== claims.inResponseTo) throw signOnFailed('other_browser')
      return { vouched, next: begun.next, invite: begun.invite }
    },
  }
}
