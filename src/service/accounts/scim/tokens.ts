import { WaymarkError } from '../../../errors/errors.ts'
import { type ConcurrencyLimit, createConcurrencyLimit } from '../../../lib/flow/concurrency-limit.ts'
import { type ActingMember, writeAs } from '../acting-member.ts'
import { type AccountContext, entryAbout, type From, log } from '../context.ts'
import type { AccountTables, Domain, ScimToken } from '../records.ts'
import { invalid, mustFind, notAllowed } from '../refusals.ts'
import { hashKey, longestSecret, maskKey, randomKey } from '../secrets/secrets.ts'
import { isProvenDomain } from '../single-sign-on/enforcing-domain.ts'

// The token with which the identity provider of a domain provisions users by SCIM. It reaches addresses of this domain in the organization that owns it, as long as the domain is
// proven.

/** The identity provider of a domain. */
export interface Provider {
  readonly token: ScimToken
  readonly domain: Domain
}
type Reading = Pick<AccountContext['store']['read'], 'scim_tokens' | 'domains'>

const notProven = ({ domain }: Domain) =>
  notAllowed(`The domain ${domain} is not proven at present, so nothing is provisioned for it. Verify it in Settings → Domains.`)

async function findProvider(tables: Reading, hash: string): Promise<Provider | null> {
  const token = await tables.scim_tokens.first({ hash })
  const domain = token && (await tables.domains.first({ id: token.domain_id }))
  return token && domain?.organization_id === token.organization_id ? { token, domain } : null
}
const proven = (context: AccountContext, provider: Provider): Provider => {
  if (!isProvenDomain(context, provider.domain)) throw notProven(provider.domain)
  return provider
}

/** Providers send all users and groups at once when they begin: writes of others must not wait for all of them. */
export const createProvisioning = (): ConcurrencyLimit =>
  createConcurrencyLimit({
    atOnce: 1,
    waiting: 5_000,
    waitingOfGroup: 1_000,
    refusal: () => new WaymarkError('busy', { what: 'changes of identity providers' }),
  })

/** A write of an identity provider. Its token and the proof of its domain are checked again when the write runs. */
export const writeAsProvider = <T>(
  context: AccountContext,
  { token }: Provider,
  work: (tables: AccountTables, domain: Domain) => Promise<T>,
): Promise<T> =>
  context.provisioning(token.domain_id, () =>
    context.store.write(async (tables) => {
      const provider = await findProvider(tables, token.hash)
      if (!provider) throw notAllowed('The token has been replaced or revoked.')
      return work(tables, proven(context, provider).domain)
    }),
  )

/** When the domain gets another name or another owner. Roles that its provider has made stay, with the members that the organization has. */
export async function endProvisioning(tables: AccountTables, { id, organization_id }: Domain): Promise<void> {
  await tables.scim_tokens.remove({ domain_id: id })
  await tables.scim_users.remove({ domain_id: id })
  const roles = (await tables.roles.find({ scim_domain_id: id })).map((one) => one.id)
  const members = new Set((await tables.memberships.find({ organization_id })).map(({ user_id }) => user_id))
  const gone = (await tables.role_memberships.find({ role_id: roles })).filter(({ user_id }) => !members.has(user_id))
  await tables.role_memberships.remove({ id: gone.map((one) => one.id) })
  await tables.roles.update({ id: roles }, { scim_domain_id: null, external_id: null })
}

const hour = 3_600_000

export const createScimTokens = (context: AccountContext) => {
  const { store } = context
  const note = (by: ActingMember, domain: Domain, activity: string, from: From) => ({
    ...entryAbout('OrganizationDomain', domain, domain.domain, by.user, activity),
    from,
  })

  return {
    of: ({ id }: Domain): Promise<ScimToken | undefined> => store.read.scim_tokens.first({ domain_id: id }),

    /** The value is shown only once. The token that the domain had before ends. */
    make: (by: ActingMember, { id }: Domain, from: From): Promise<{ readonly token: ScimToken; readonly value: string }> =>
      writeAs(context, by, async (tables, { organization_id }) => {
        const domain = await mustFind(tables.domains.first({ id, organization_id }))
        if (!isProvenDomain(context, domain))
          throw invalid('Prove the domain first: only the owner of a domain can provision its users.', null, 'verification_required')
        const value = randomKey('scim_')
        const replaced = await tables.scim_tokens.remove({ domain_id: id })
        const token: ScimToken = {
          id: context.newId(),
          organization_id,
          domain_id: id,
          hash: hashKey(value),
          mask_value: maskKey(value),
          created_by_id: by.user.id,
          created_at: context.clock(),
          last_used_at: null,
        }
        await tables.scim_tokens.insert(token)
        await log(context, tables, note(by, domain, replaced > 0 ? 'scim_token_replaced' : 'scim_token_created', from))
        return { token, value }
      }),

    /** Users and roles stay as they are. */
    revoke: (by: ActingMember, { id }: Domain, from: From): Promise<void> =>
      writeAs(context, by, async (tables, { organization_id }) => {
        const domain = await mustFind(tables.domains.first({ id, organization_id }))
        if ((await tables.scim_tokens.remove({ domain_id: id })) > 0)
          await log(context, tables, note(by, domain, 'scim_token_revoked', from))
      }),

    /** Null: not a token, or not any more. */
    find: async (value: string): Promise<Provider | null> =>
      value.length > longestSecret ? null : findProvider(store.read, hashKey(value)),

    /** Throws unless the domain is proven at present. */
    mustBeProven: (provider: Provider): Provider => proven(context, provider),

    /** Stored at most once an hour. */
    async noteUse({ token: { id, last_used_at } }: Provider): Promise<void> {
      const now = context.clock()
      if (last_used_at && Math.abs(now.getTime() - last_used_at.getTime()) < hour) return
      await store
        .write((tables) => tables.scim_tokens.update({ id }, { last_used_at: now }))
        .catch((error: unknown) => context.report('failed to record the last use of a token', error))
    },
  }
}
