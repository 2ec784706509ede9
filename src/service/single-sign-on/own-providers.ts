import type { AccountContext } from '../accounts/context.ts'
import type { Domain } from '../accounts/records.ts'
import { provenDomain } from '../accounts/single-sign-on/enforcing-domain.ts'
import { signOnFailed } from './failures.ts'

// Providers that an organization has set up for its domain.

export const hasOidc = ({ oidc_issuer, oidc_client_id }: Domain): boolean => Boolean(oidc_issuer && oidc_client_id)
export const hasSaml = ({ saml_entity_id, saml_acs_url, saml_x509_cert }: Domain): boolean =>
  Boolean(saml_entity_id && saml_acs_url && saml_x509_cert)

/** A proven domain, by its name as it is written. */
export async function provenByName(context: AccountContext, name: string): Promise<Domain> {
  const domain = await provenDomain(context, context.store.read, `@${name}`)
  if (!domain || domain.domain !== name) throw signOnFailed('unknown_provider')
  return domain
}
