import { type AccountContext, type Change, changesOf, type From, log } from '../context.ts'
import { email } from '../fields.ts'
import { joinByDomain } from '../organizations/joining-by-domain.ts'
import { endMembership } from '../organizations/leaving.ts'
import { type AccountTables, type Domain, level, type Membership, type ScimUser, type User } from '../records.ts'
import { notAllowed, notFound } from '../refusals.ts'
import { domainOf } from '../single-sign-on/enforcing-domain.ts'
import type { Json } from '../store.ts'
import { endAccess, setActive } from '../users/activation.ts'
import { proveByProvider } from '../users/proof.ts'
import { findUserByEmail, insertUser, isHostUser, moveCurrent, normalEmail, sameEmail } from '../users/users.ts'
import type { Comparison } from './expressions.ts'
import { readBody, readPatch, userInput } from './operations.ts'
import { refused } from './refusals.ts'
import { type Provider, writeAsProvider } from './tokens.ts'
import { type UserChange, userChangeOf } from './user-changes.ts'

// Users whom the identity provider of a domain provisions: accounts with an address of the domain that belong to its organization, and those that the provider has deactivated there.
// Others do not exist for it.

export interface ProvidedUser {
  readonly user: User
  /** Null: deactivated. */
  readonly membership: Membership | null
  /** Null: the provider has said nothing of the user yet. */
  readonly said: ScimUser | null
}
type Reading = AccountContext['store']['read']

export const isActive = ({ user, membership }: ProvidedUser): boolean => user.is_active && membership !== null

const asProvided = async (tables: Reading, domain: Domain, user: User | undefined): Promise<ProvidedUser | undefined> => {
  if (!user || isHostUser(user) || domainOf(user.email) !== domain.domain) return undefined
  const key = { user_id: user.id, organization_id: domain.organization_id }
  const membership = (await tables.memberships.first(key)) ?? null
  const said = (await tables.scim_users.first(key)) ?? null
  return membership || said ? { user, membership, said } : undefined
}
/** By the id that the provider knows: the uuid of the account. */
export const providedById = async (tables: Reading, domain: Domain, id: string): Promise<ProvidedUser | undefined> =>
  asProvided(tables, domain, await tables.users.first({ uuid: id.toLowerCase() }))

/** The same of many, with three statements. Those that do not exist for the provider are missing. */
export async function providedByIds(
  tables: Reading,
  { domain, organization_id }: Domain,
  ids: readonly string[],
): Promise<readonly User[]> {
  if (ids.length === 0) return []
  const users = (await tables.users.find({ uuid: ids })).filter((user) => !isHostUser(user) && domainOf(user.email) === domain)
  const key = { organization_id, user_id: users.map(({ id }) => id) }
  const rows = [...(await tables.memberships.find(key)), ...(await tables.scim_users.find(key))]
  const known = new Set(rows.map(({ user_id }) => user_id))
  return users.filter(({ id }) => known.has(id))
}

const mustBeProvided = async (tables: Reading, domain: Domain, id: string): Promise<ProvidedUser> => {
  const found = await providedById(tables, domain, id)
  if (!found) throw notFound(`There is no user ${id.slice(0, 100)}.`)
  return found
}

/** All of a domain, in a stable order. */
async function providedUsers(tables: Reading, domain: Domain): Promise<readonly ProvidedUser[]> {
  const { organization_id } = domain
  const memberships = new Map((await tables.memberships.find({ organization_id })).map((one) => [one.user_id, one]))
  const said = new Map((await tables.scim_users.find({ organization_id })).map((one) => [one.user_id, one]))
  const users = await tables.users.find({ id: [...new Set([...memberships.keys(), ...said.keys()])] })
  return users
    .filter((user) => !isHostUser(user) && domainOf(user.email) === domain.domain)
    .map((user) => ({ user, membership: memberships.get(user.id) ?? null, said: said.get(user.id) ?? null }))
    .sort((a, b) => a.user.id - b.user.id)
}

export const workEmailOf = ({ user, said }: ProvidedUser): string => said?.work_email ?? user.email
export const displayNameOf = ({ user, said }: ProvidedUser): string =>
  said?.display_name ?? (`${user.first_name} ${user.last_name}`.trim() || user.email)

type Matcher = (one: ProvidedUser) => boolean
const matcherOf = ({ path: { name, where, sub }, value }: Comparison): Matcher => {
  const wanted = typeof value === 'string' ? value : null
  const isSame = (text: string) => text.toLowerCase() === wanted?.toLowerCase()
  const attribute = sub === null && where === null ? name : `${name}.${sub}`
  switch (attribute) {
    case 'id':
      return ({ user }) => isSame(user.uuid)
    case 'username':
      return ({ user }) => isSame(user.email)
    case 'externalid':
      return ({ said }) => wanted !== null && said?.external_id === wanted
    case 'displayname':
      return (one) => isSame(displayNameOf(one))
    case 'active':
      return (one) => isActive(one) === value
    case 'emails':
    case 'emails.value':
      if (where === null || (where.name === 'type' && where.value === 'work')) return (one) => isSame(workEmailOf(one))
  }
  throw refused('invalidFilter', 'Users can be found by id, userName, externalId, displayName, active and emails, with `eq`.')
}

const addressSchema = email()
/** An address of the domain. */
const addressIn = ({ domain }: Domain, userName: string): string => {
  const read = addressSchema.safeParse(userName)
  const address = read.success ? (read.data as string) : null
  if (address === null || domainOf(address) !== domain)
    throw refused('invalidValue', `\`userName\` must be an e-mail address of ${domain}.`)
  return normalEmail(address)
}
const taken = () => refused('uniqueness', 'There is a user with this `userName` already.')

const jobOf = ({ domain }: Domain): Json => ({ job_type: 'scim', domain })
const noteFor =
  (context: AccountContext, tables: AccountTables, domain: Domain, from: From) =>
  (user: User, activity: string, changes: readonly Change[] = [], organization_id: string | null = domain.organization_id) =>
    log(context, tables, {
      by: null,
      organization_id,
      scope: 'User',
      item_id: user.id,
      activity,
      name: user.email,
      trigger: jobOf(domain),
      changes,
      from,
    })

/** The steps of one write. */
const steps = (context: AccountContext, tables: AccountTables, domain: Domain, from: From) => {
  const note = noteFor(context, tables, domain, from)
  const { organization_id } = domain
  const again = async ({ uuid }: User): Promise<ProvidedUser> => (await providedById(tables, domain, uuid))!

  /** The row of what the provider has said, which is made with the first word. */
  const say = async ({ user, said }: ProvidedUser, change: Partial<ScimUser>): Promise<void> => {
    const now = context.clock()
    if (said) {
      await tables.scim_users.update({ id: said.id }, { ...change, updated_at: now })
      return
    }
    await tables.scim_users.insert({
      id: context.newId(),
      organization_id,
      domain_id: domain.id,
      user_id: user.id,
      external_id: null,
      display_name: null,
      work_email: null,
      is_deactivated: false,
      created_at: now,
      updated_at: now,
      ...change,
    })
  }

  /** Whom the operator has deactivated stays so, and so does whom another domain's provider has. */
  const activate = async (one: ProvidedUser): Promise<void> => {
    const { user } = one
    if (!user.is_active) {
      if (user.deactivated_by !== domain.domain) throw notAllowed('The operator of this server has deactivated the account.')
      await setActive(tables, user, true)
    }
    // Somebody else may have used the account.
    await proveByProvider(context, tables, user, false)
    await say(one, { is_deactivated: false })
    await joinByDomain(context, tables, (await tables.users.first({ id: user.id }))!, domain, jobOf(domain), from)
    if (!isActive(one)) await note(user, 'activated')
  }

  /**
   * The membership ends, and all that lets the user in without a new login, in other organizations, too. The account itself stays active as long as it belongs to another organization.
   */
  const end = async ({ user, membership, said }: ProvidedUser): Promise<void> => {
    // It has ended already. What the user does in other organizations since then is not this provider's.
    if (membership === null && said?.is_deactivated) return
    if (membership?.level === level.owner)
      throw notAllowed('The owner of the organization cannot be deactivated or deleted. Pass ownership on first, in Settings → Members.')
    if (membership) await endMembership(tables, membership, { keepsProvided: true })
    // An invitation from before would let the user back in, at its level.
    const invites = (await tables.invites.find({ organization_id })).filter(({ target_email }) => sameEmail(target_email, user.email))
    await tables.invites.remove({ id: invites.map(({ id }) => id) })
    const { sessions, keys } = await endAccess(tables, user)
    const others = await tables.memberships.find({ user_id: user.id })
    if (others.length === 0 && user.is_active) await setActive(tables, user, false, domain.domain)
    await moveCurrent(tables, user)
    const ended: Change[] = Object.entries({ sessions, keys }).flatMap(([field, before]) =>
      before === 0 ? [] : [{ type: 'User', action: 'deleted', field, before, after: null }],
    )
    if (ended.length > 0) for (const other of others) await note(user, 'access_ended', ended, other.organization_id)
    if (membership) await note(user, 'deactivated', ended)
  }

  const deactivate = async (one: ProvidedUser): Promise<void> => {
    await end(one)
    await say(one, { is_deactivated: true })
  }

  const rename = async ({ user }: ProvidedUser, userName: string): Promise<void> => {
    const address = addressIn(domain, userName)
    if (address === user.email) return
    const other = await findUserByEmail(tables, address)
    if (other && other.id !== user.id) throw taken()
    await tables.users.update({ id: user.id }, { email: address })
    // Providers that name users by their addresses may give the old one to somebody else, and say the new one of this user.
    await tables.identities.remove({ user_id: user.id, subject: user.email.toLowerCase() })
    // Mailed links prove access to the old mailbox only.
    await tables.email_links.remove({ user_id: user.id })
    if (!sameEmail(address, user.email)) await tables.password_links.remove({ user_id: user.id, is_mailed: true })
    await note(user, 'updated', changesOf('User', user as unknown as Record<string, unknown>, { email: address }))
  }

  const describe = async (one: ProvidedUser, change: UserChange): Promise<void> => {
    const { user } = one
    const names = {
      ...(change.givenName !== undefined && { first_name: change.givenName }),
      ...(change.familyName !== undefined && { last_name: change.familyName }),
    }
    const changes = changesOf('User', user as unknown as Record<string, unknown>, names)
    if (changes.length > 0) {
      await tables.users.update({ id: user.id }, names)
      await note(user, 'updated', changes)
    }
    const { email: address } = (await tables.users.first({ id: user.id }))!
    const sent = change.workEmail
    const said = {
      ...(change.externalId !== undefined && { external_id: change.externalId }),
      ...(change.displayName !== undefined && { display_name: change.displayName }),
      ...(sent !== undefined && { work_email: sent !== null && sameEmail(sent, address) ? null : sent }),
    }
    const before = one.said ?? { external_id: null, display_name: null, work_email: null }
    if (changesOf('User', before, said).length > 0) await say(one, said)
  }

  return { again, say, activate, end, deactivate, rename, describe, note }
}

/** One write: what the provider says of a user. */
const writing = (context: AccountContext, tables: AccountTables, domain: Domain, from: From) => {
  const { again, say, activate, end, deactivate, rename, describe, note } = steps(context, tables, domain, from)
  const { organization_id } = domain

  return {
    async create(change: UserChange): Promise<ProvidedUser> {
      if (change.userName === undefined) throw refused('invalidValue', '`userName` is required.')
      const address = addressIn(domain, change.userName)
      const known = await findUserByEmail(tables, address)
      if (known && (await asProvided(tables, domain, known))) throw taken()
      const first_name = change.givenName ?? (change.familyName === undefined ? (change.displayName ?? '').slice(0, 150) : '')
      const made = known ?? (await insertUser(context, tables, { email: address, first_name, isProven: true }))
      const one: ProvidedUser = { user: made, membership: null, said: null }
      await say(one, { is_deactivated: change.active === false })
      await note(made, 'provisioned')
      const present = await again(made)
      if (change.active === false) {
        if (!known) await setActive(tables, made, false, domain.domain)
      } else await activate(present)
      await describe(await again(made), change)
      return again(made)
    },

    async change(id: string, change: UserChange): Promise<ProvidedUser> {
      const one = await mustBeProvided(tables, domain, id)
      if (change.userName !== undefined) await rename(one, change.userName)
      await describe(await again(one.user), change)
      const described = await again(one.user)
      if (change.active === true && !isActive(described)) await activate(described)
      if (change.active === false) await deactivate(described)
      return again(one.user)
    },

    async remove(id: string): Promise<void> {
      const one = await mustBeProvided(tables, domain, id)
      await end(one)
      await tables.scim_users.remove({ user_id: one.user.id, organization_id })
      const roles = (await tables.roles.find({ organization_id })).map((role) => role.id)
      await tables.role_memberships.remove({ user_id: one.user.id, role_id: roles })
      await note(one.user, 'deprovisioned')
    },
  }
}

export const createScimUsers = (context: AccountContext) => {
  const { read } = context.store
  return {
    byId: ({ domain }: Provider, id: string): Promise<ProvidedUser> => mustBeProvided(read, domain, id),

    async list({ domain }: Provider, filter: readonly Comparison[]): Promise<readonly ProvidedUser[]> {
      const matchers = filter.map(matcherOf)
      return (await providedUsers(read, domain)).filter((user) => matchers.every((matches) => matches(user)))
    },

    create: (provider: Provider, body: unknown, from: From): Promise<ProvidedUser> =>
      writeAsProvider(context, provider, (tables, domain) =>
        writing(context, tables, domain, from).create(userChangeOf(readBody(userInput, body))),
      ),

    /** What a PUT does not name stays as it is. */
    replace: (provider: Provider, id: string, body: unknown, from: From): Promise<ProvidedUser> =>
      writeAsProvider(context, provider, (tables, domain) =>
        writing(context, tables, domain, from).change(id, userChangeOf(readBody(userInput, body))),
      ),

    patch: (provider: Provider, id: string, body: unknown, from: From): Promise<ProvidedUser> =>
      writeAsProvider(context, provider, (tables, domain) =>
        writing(context, tables, domain, from).change(id, userChangeOf(readPatch(body))),
      ),

    remove: (provider: Provider, id: string, from: From): Promise<void> =>
      writeAsProvider(context, provider, (tables, domain) => writing(context, tables, domain, from).remove(id)),
  }
}
