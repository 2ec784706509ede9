import { storableText } from '../../../lib/text/storable-text.ts'
import { type AccountContext, type From, log } from '../context.ts'
import { email } from '../fields.ts'
import { joinAsNew, tellOthers } from '../organizations/joining.ts'
import { joinByDomain } from '../organizations/joining-by-domain.ts'
import type { AccountTables, Domain, Identity, Organization, User } from '../records.ts'
import { invalid } from '../refusals.ts'
import { hashKey } from '../secrets/secrets.ts'
import { proveByProvider } from '../users/proof.ts'
import { findUserByEmail, insertUser, sameEmail } from '../users/users.ts'
import { domainOf, mustSatisfyDomain, provenDomain, requiredProvider } from './enforcing-domain.ts'

// Whom an identity provider means. A user is found by the pair of issuer and subject, once it is known: an address can be given to another person. The first time
// the address finds the account, or the user joins by an invitation or by the domain of the address.

/** What a provider has said about a person, after its signature was checked. */
export interface Vouched {
  /** `google-oauth2`, or `oidc` or `saml` and the id of a domain. */
  readonly provider: string
  readonly issuer: string
  readonly subject: string
  readonly email: string | null
  /** The provider says so; or the provider belongs to the domain of the address, whose addresses it gives. */
  readonly isEmailVerified: boolean
  /** The provider manages the domain of the address. Otherwise somebody has shown access to the mailbox, at some time. */
  readonly managesDomain: boolean
  readonly firstName: string
  readonly lastName: string
  /** Of a provider that an organization has set up. */
  readonly domain: Domain | null
  /** What the provider has said works once: its name, and until when it could be used. */
  readonly once: { readonly name: string; readonly until: Date } | null
}

const refusals = {
  no_address: 'The identity provider did not say which e-mail address you have.',
  email_not_verified: 'The identity provider has not verified your e-mail address.',
  wrong_domain: 'The address does not belong to the domain of this identity provider.',
  account_inactive: 'This account is deactivated.',
  other_identity: 'The account with this address is linked to another person of the identity provider.',
  used_before: 'This answer of the identity provider was used before. Sign in again.',
  no_account: 'There is no account with this address. Ask for an invitation.',
} as const
type IdentityRefusal = keyof typeof refusals
const refuse = (code: IdentityRefusal) => invalid(refusals[code], null, code)

const longestName = 150
const longestSubject = 512
const nameOf = (text: string): string => storableText(text.trim().slice(0, longestName))

/** In the log of each organization of the user. */
const note = async (context: AccountContext, tables: AccountTables, user: User, activity: string, { provider }: Vouched, from: From) => {
  const organizations = (await tables.memberships.find({ user_id: user.id })).map((one) => one.organization_id)
  for (const organization_id of organizations.length > 0 ? organizations : [null])
    await log(context, tables, {
      by: user,
      organization_id,
      scope: 'User',
      item_id: user.id,
      activity,
      name: user.email,
      trigger: { job_type: 'single_sign_on', provider: provider.split(' ')[0]! },
      from,
    })
}

/** A provider of an organization speaks for addresses of its domain only, whatever it says. */
const addressOf = ({ email: given, isEmailVerified, domain }: Vouched): string => {
  if (given === null) throw refuse('no_address')
  const { address } = readAddress(given)
  if (address === null) throw refuse('no_address')
  if (domain && domainOf(address) !== domain.domain) throw refuse('wrong_domain')
  if (!isEmailVerified) throw refuse('email_not_verified')
  return address
}
const addressSchema = email()
const readAddress = (given: string): { readonly address: string | null } => {
  const read = addressSchema.safeParse(given)
  return { address: read.success ? (read.data as string) : null }
}

/** The account with the address. What it had before the first proof of the address ends, unless its user is signed in to it in this browser. */
async function byAddress(
  context: AccountContext,
  tables: AccountTables,
  vouched: Vouched,
  address: string,
  present: User | null,
): Promise<User | null> {
  const user = await findUserByEmail(tables, address)
  if (!user) return null
  if (!user.is_active) throw refuse('account_inactive')
  const { provider, issuer } = vouched
  if (await tables.identities.first({ user_id: user.id, provider, issuer })) throw refuse('other_identity')
  await proveByProvider(context, tables, user, present?.id === user.id)
  return (await tables.users.first({ id: user.id }))!
}

interface Joined {
  readonly organization: Organization
}

async function useOnce({ clock }: AccountContext, tables: AccountTables, { once, provider }: Vouched): Promise<void> {
  if (once === null) return
  const now = clock()
  const expired = (await tables.used_assertions.find({})).filter(({ expires_at }) => expires_at <= now)
  if (expired.length > 0) await tables.used_assertions.remove({ hash: expired.map(({ hash }) => hash) })
  const hash = hashKey(`${provider} ${once.name}`)
  if (await tables.used_assertions.first({ hash })) throw refuse('used_before')
  await tables.used_assertions.insert({ hash, expires_at: once.until })
}

/** A user whom the identity provider of the domain has deactivated by SCIM waits for it to say otherwise. */
async function joinAtLogin(context: AccountContext, tables: AccountTables, user: User, open: Domain, from: From): Promise<Joined | null> {
  const { organization_id } = open
  if ((await tables.scim_users.first({ user_id: user.id, organization_id }))?.is_deactivated) return null
  if (!(await joinByDomain(context, tables, user, open, { job_type: 'single_sign_on', provider: 'domain' }, from))) return null
  return { organization: (await tables.organizations.first({ id: organization_id }))! }
}

/** Who may join, and by what. */
const joiningBy = (context: AccountContext) => {
  /** The proven domain that lets users with its addresses in, if the provider may say so. */
  const openDomain = async (tables: AccountTables, { domain, managesDomain, provider }: Vouched, address: string) => {
    const own = await provenDomain(context, tables, address)
    if (!own?.jit_provisioning_enabled || (domain && domain.id !== own.id)) return undefined
    // An address that was verified once stays with the account of somebody who has left the company, unless the provider manages the domain. The organization can decide to trust
    // one; Google says itself which addresses it manages.
    const isTrusted = managesDomain || (own.sso_enforcement === provider && provider !== 'google-oauth2')
    return isTrusted ? own : undefined
  }

  /** A new account: by the domain, or by the invitation that the person follows. */
  const newUser = async (
    tables: AccountTables,
    { firstName, lastName }: Vouched,
    address: string,
    open: Domain | undefined,
    invite: string | null,
  ): Promise<{ readonly user: User; readonly joined: Joined | null }> => {
    const about = { email: address, first_name: nameOf(firstName), last_name: nameOf(lastName) }
    if (invite !== null) {
      const { user, organization } = await joinAsNew(context, tables, invite, about)
      return { user, joined: { organization } }
    }
    if (!open) throw refuse('no_account')
    return { user: await insertUser(context, tables, { ...about, isProven: true }), joined: null }
  }

  const linked = async (tables: AccountTables, { provider, issuer, subject }: Vouched): Promise<{ link: Identity; user: User } | null> => {
    const link = await tables.identities.first({ provider, issuer, subject })
    const user = link && (await tables.users.first({ id: link.user_id }))
    return link && user ? { link, user } : null
  }

  /** The provider took its time. */
  const mustStillBeProven = async (tables: AccountTables, { domain }: Vouched): Promise<void> => {
    if (domain && (await provenDomain(context, tables, `@${domain.domain}`))?.id !== domain.id) throw refuse('wrong_domain')
  }

  /** Throws if the domain of an address requires another provider, or if this one cannot speak for it. */
  const mustSpeakFor = async (tables: AccountTables, address: string, { provider, managesDomain }: Vouched): Promise<void> => {
    await mustSatisfyDomain(context, tables, address, provider)
    const domain = await provenDomain(context, tables, address)
    const isEnforced = domain !== undefined && domain.sso_enforcement !== '' && requiredProvider(domain) === provider
    if (isEnforced && provider === 'google-oauth2' && !managesDomain) throw refuse('wrong_domain')
  }

  return { openDomain, newUser, linked, mustStillBeProven, mustSpeakFor }
}

export const createIdentities = (context: AccountContext) => {
  const { store } = context
  const { openDomain, newUser, linked, mustStillBeProven, mustSpeakFor } = joiningBy(context)

  return {
    /**
     * The user whom a provider means, with what the first time does: a link to the account, a membership. `present`: who is signed in in this browser; `invite`: the secret
     * of the invitation that the person follows. Sessions are made by `signingIn.enter`.
     */
    async find(
      vouched: Vouched,
      from: From,
      { present = null, invite = null }: { readonly present?: User | null; readonly invite?: string | null } = {},
    ): Promise<User> {
      if (vouched.subject === '' || vouched.subject.length > longestSubject || storableText(vouched.subject) !== vouched.subject)
        throw refuse('no_address')
      const done = await store.write(async (tables) => {
        const now = context.clock()
        await mustStillBeProven(tables, vouched)
        await useOnce(context, tables, vouched)
        const known = await linked(tables, vouched)
        // Providers of an organization have to say an address each time: what they link is bound to the domain.
        const address = known && !vouched.domain ? known.user.email : addressOf(vouched)
        if (known && vouched.domain && domainOf(known.user.email) !== vouched.domain.domain) throw refuse('wrong_domain')
        if (known && !known.user.is_active) throw refuse('account_inactive')
        await mustSpeakFor(tables, known?.user.email ?? address, vouched)
        const saysAddress = vouched.isEmailVerified && vouched.email !== null && sameEmail(vouched.email, known?.user.email ?? address)
        const open = saysAddress ? await openDomain(tables, vouched, address) : undefined
        const found = known?.user ?? (await byAddress(context, tables, vouched, address, present))
        const made = found ? { user: found, joined: null } : await newUser(tables, vouched, address, open, invite)
        const joined = made.joined ?? (open ? await joinAtLogin(context, tables, made.user, open, from) : null)
        const { provider, issuer, subject } = vouched
        if (known) await tables.identities.update({ id: known.link.id }, { last_used_at: now })
        else {
          const id = context.newId()
          await tables.identities.insert({ id, user_id: made.user.id, provider, issuer, subject, created_at: now, last_used_at: now })
          await tables.users.update({ id: made.user.id }, { has_social_login: true })
          await note(context, tables, made.user, 'identity_linked', vouched, from)
        }
        return { user: (await tables.users.first({ id: made.user.id }))!, joined }
      })
      if (done.joined) await tellOthers(context, done.joined.organization, done.user)
      return done.user
    },

    /** After the session exists, or the login waits for a code. */
    noteEntry: (user: User, vouched: Vouched, from: From): Promise<void> =>
      store.write((tables) => note(context, tables, user, 'signed_in', vouched, from)),

    /** In the log of the organization whose provider it is. */
    noteRefusal: (vouched: Vouched, reason: string, from: From): Promise<void> =>
      store.write(async (tables) => {
        const domain = vouched.domain ?? (vouched.email === null ? undefined : await provenDomain(context, tables, vouched.email))
        if (!domain) return
        await log(context, tables, {
          by: null,
          organization_id: domain.organization_id,
          scope: 'User',
          item_id: '',
          activity: 'single_sign_on_refused',
          name: vouched.email,
          trigger: { job_type: 'single_sign_on', provider: vouched.provider.split(' ')[0]!, reason },
          from,
        })
      }),

    /** By the operator: the next time the address finds the account again. Returns how many links there were. */
    unlink: (user: User): Promise<number> =>
      store.write(async (tables) => {
        const count = await tables.identities.remove({ user_id: user.id })
        await tables.users.update({ id: user.id }, { has_social_login: false })
        if (count > 0)
          await log(context, tables, {
            by: null,
            organization_id: user.current_organization_id,
            scope: 'User',
            item_id: user.id,
            activity: 'identity_unlinked',
            name: user.email,
          })
        return count
      }),
  }
}
