import type { AccountContext } from '../context.ts'
import type { AccountTables, Domain } from '../records.ts'
import { invalid } from '../refusals.ts'

// `sso_enforcement` of a proven domain: users with an address of it sign in with one identity provider, and in no other way. It is looked at when a session begins
// and with each request, so it also holds for sessions from before.

type Reading = { readonly domains: Pick<AccountTables['domains'], 'first'> }
type Proving = Pick<AccountContext, 'settings'>

/** Compared exactly: a subdomain is another domain. */
export const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1).toLowerCase()

/**
 * Whether name servers or the operator said that the domain belongs to the organization. Only then it gives rights: `verified_at` of a server that is
 * not hosted is the time of creation, as clients expect, and says nothing.
 */
export const isProvenDomain = (context: Proving, { verified_at, is_assumed }: Pick<Domain, 'verified_at' | 'is_assumed'>): boolean =>
  verified_at !== null && is_assumed !== true && (is_assumed === false || context.settings().isHosted)

/** The proven domain of an address. */
export async function provenDomain(context: Proving, tables: Reading, address: string): Promise<Domain | undefined> {
  const domain = await tables.domains.first({ domain: domainOf(address) })
  return domain && isProvenDomain(context, domain) ? domain : undefined
}

/** The domain that decides how users with this address sign in. */
export async function enforcingDomain(context: Proving, tables: Reading, address: string): Promise<Domain | undefined> {
  const domain = await provenDomain(context, tables, address)
  return domain && domain.sso_enforcement !== '' ? domain : undefined
}

/** A provider that an organization has set up counts for its domain only. */
export const ofDomain = (kind: 'oidc' | 'saml', { id }: Pick<Domain, 'id'>): string => `${kind} ${id}`

/** The provider that a domain requires. */
export const requiredProvider = (domain: Domain): string =>
  domain.sso_enforcement === 'saml' || domain.sso_enforcement === 'oidc' ? ofDomain(domain.sso_enforcement, domain) : domain.sso_enforcement

/** The provider is named as in `sso_enforcement`. */
const enforced = ({ sso_enforcement }: Domain) =>
  invalid(`You can only login with SSO for this account (${sso_enforcement}).`, null, 'sso_enforced')

/** Throws unless users with this address may sign in with the provider; null: without one. */
export async function mustSatisfyDomain(context: Proving, tables: Reading, address: string, provider: string | null): Promise<void> {
  const domain = await enforcingDomain(context, tables, address)
  if (domain && requiredProvider(domain) !== provider) throw enforced(domain)
}
