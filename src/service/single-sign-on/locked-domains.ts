import type { AccountContext } from '../accounts/context.ts'
import type { Domain } from '../accounts/records.ts'
import { isProvenDomain } from '../accounts/single-sign-on/enforcing-domain.ts'
import { hasOidc, hasSaml } from './own-providers.ts'

// Proven domains that require an identity provider which nobody has set up: no user with an address of theirs can sign in. Older versions stored `sso_enforcement` and did not
// enforce it.

export interface LockedDomain {
  readonly domain: string
  /** The provider that it requires. */
  readonly provider: string
  /** Only a server knows the providers of its operator. */
  readonly isCertain: boolean
}

/** `operator`: the names of the operator's providers; null: not known. */
const isLocked = (domain: Domain, operator: readonly string[] | null): boolean => {
  const { sso_enforcement: provider } = domain
  if (provider === 'saml') return !hasSaml(domain)
  if (provider === 'oidc') return !hasOidc(domain)
  return operator === null || !operator.includes(provider)
}

export async function lockedDomains(
  context: Pick<AccountContext, 'settings' | 'store'>,
  operator: readonly string[] | null,
): Promise<readonly LockedDomain[]> {
  const enforcing = (await context.store.read.domains.find({})).filter(
    (domain) => domain.sso_enforcement !== '' && isProvenDomain(context, domain),
  )
  return enforcing
    .filter((domain) => isLocked(domain, operator))
    .map(({ domain, sso_enforcement: provider }) => ({
      domain,
      provider,
      isCertain: provider === 'saml' || provider === 'oidc' || operator !== null,
    }))
    .sort((a, b) => (a.domain < b.domain ? -1 : 1))
}

const isOwn = (provider: string): boolean => provider === 'saml' || provider === 'oidc'

/** One line, with the command that helps. */
export const lockedText = ({ domain, provider, isCertain }: LockedDomain): string => {
  const setUp = isOwn(provider) ? 'Set it up in Settings → Domains' : 'Name it in the file of `waymark serve --oidc FILE`'
  const state = isCertain ? 'is not set up, so users with its addresses cannot sign in' : 'must be in the file of --oidc'
  return `${domain} requires ${provider}, which ${state}. ${setUp}, or let the users in: \`waymark domains set ${domain} --sso-enforcement none\`.`
}
