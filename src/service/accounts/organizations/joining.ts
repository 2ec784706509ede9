import * as z from 'zod'
import { type AccountContext, log, post } from '../context.ts'
import { check, newPassword, text } from '../fields.ts'
import { type AccountTables, type Invite, level, type Organization, type User } from '../records.ts'
import { invalid } from '../refusals.ts'
import { hashKey, longestSecret } from '../secrets/secrets.ts'
import { mustSatisfyDomain } from '../single-sign-on/enforcing-domain.ts'
import { provenAddress } from '../users/proof.ts'
import { findUserByEmail, insertUser, mustBeOwnAccount, sameEmail } from '../users/users.ts'
import { grantsOf, isExpired, mustBeAbleToInvite, projectLevels } from './invites.ts'
import { takeMails } from './mail-limits.ts'
import { insertMembership } from './organizations.ts'

// Accepting an invitation needs the secret that was sent; its id is visible to everyone who may list it.

export const signupInput = z.object({
  first_name: text({ max: 128 }),
  last_name: text({ max: 128, blank: true }).optional(),
  password: newPassword(),
})

export interface Usable {
  readonly invite: Invite
  readonly organization: Organization
}
type Reading = AccountContext['store']['read']

const unknown = () => invalid('The provided invite ID is not valid.')

/** An invitation is valid as long as its sender may invite. */
const isBacked = async (tables: Reading, invite: Invite): Promise<boolean> => {
  if (invite.created_by_id === null) return true
  const maker = await tables.users.first({ id: invite.created_by_id })
  const own = await tables.memberships.first({ user_id: invite.created_by_id, organization_id: invite.organization_id })
  if (!maker?.is_active || !own) return false
  return mustBeAbleToInvite(tables, own, invite.level, grantsOf(invite)).then(
    () => true,
    () => false,
  )
}

const usable = async (context: AccountContext, tables: Reading, secret: string, user: User | null): Promise<Usable> => {
  if (user) mustBeOwnAccount(user)
  const invite = secret.length > longestSecret ? undefined : await tables.invites.first({ secret_hash: hashKey(secret) })
  const organization = invite && (await tables.organizations.first({ id: invite.organization_id }))
  if (!invite || !organization) throw unknown()
  if (user && !sameEmail(user.email, invite.target_email))
    throw invalid('This invite is intended for another email address.', null, 'invalid_recipient')
  if (isExpired(context, invite)) throw invalid('This invite has expired. Please ask your admin for a new one.', null, 'expired')
  if (!(await isBacked(tables, invite)))
    throw invalid('The sender of this invite is no longer allowed to invite you. Please ask your admin for a new one.', null, 'expired')
  if (user && (await tables.memberships.first({ user_id: user.id, organization_id: invite.organization_id })))
    throw invalid('You already are a member of this organization.', null, 'user_already_member')
  if (!user && (await findUserByEmail(tables, invite.target_email))) throw invalid(`/login?next=/signup/${secret}`, null, 'account_exists')
  return { invite, organization }
}

/** Everything except the password of a new user: the membership, the access it gives, and the end of the invites. */
const join = async (context: AccountContext, tables: AccountTables, user: User, invite: Invite) => {
  // An organization has one owner, so an invitation as a second owner gives administrator.
  const isTaken = (await tables.memberships.count({ organization_id: invite.organization_id, level: level.owner })) > 0
  const at = isTaken ? Math.min(invite.level, level.admin) : invite.level
  const membership = await insertMembership(context, tables, user, invite.organization_id, at)
  for (const grant of grantsOf(invite)) {
    const now = context.clock()
    if (await tables.projects.first({ id: grant.id }))
      await tables.project_memberships.insert({
        id: context.newId(),
        project_id: grant.id,
        user_id: user.id,
        level: projectLevels[grant.level],
        joined_at: now,
        updated_at: now,
      })
  }
  for (const other of await tables.invites.find({ organization_id: invite.organization_id }))
    if (sameEmail(other.target_email, user.email)) await tables.invites.remove({ id: other.id })
  const project = await tables.projects.first({ organization_id: invite.organization_id })
  await tables.users.update({ id: user.id }, { current_organization_id: invite.organization_id, current_project_id: project?.id ?? null })
  await log(context, tables, {
    by: user,
    organization_id: invite.organization_id,
    scope: 'OrganizationMembership',
    item_id: membership.id,
    activity: 'joined',
    name: user.email,
  })
}

export const tellOthers = async (context: AccountContext, organization: Organization, joined: User) => {
  if (!organization.is_member_join_email_enabled) return
  const others = (await context.store.read.memberships.find({ organization_id: organization.id })).filter(
    (one) => one.user_id !== joined.id,
  )
  const users = await context.store.read.users.find({ id: others.map((one) => one.user_id), is_active: true })
  const who = joined.first_name || joined.email
  const told = users.slice(0, await takeMails(context, organization.id, users.length))
  await post(
    context,
    organization.id,
    told.map((user) => ({
      to: user.email,
      subject: `${who} joined ${organization.name}`,
      text: `${who} (${joined.email}) is now a member of ${organization.name}.`,
    })),
  )
}

/** A new user whom an identity provider has shown: the address is the invited one. */
export async function joinAsNew(
  context: AccountContext,
  tables: AccountTables,
  secret: string,
  about: { readonly email: string; readonly first_name: string; readonly last_name: string },
): Promise<Usable & { readonly user: User }> {
  const found = await usable(context, tables, secret, null)
  if (!sameEmail(found.invite.target_email, about.email))
    throw invalid('This invite is intended for another email address.', null, 'invalid_recipient')
  const user = await insertUser(context, tables, { ...about, isProven: true })
  await join(context, tables, user, found.invite)
  return { ...found, user: (await tables.users.first({ id: user.id }))! }
}

export const createJoining = (context: AccountContext) => {
  const { store } = context

  return {
    /** What the page that accepts an invite shows. */
    look: (secret: string, user: User | null): Promise<Usable> => usable(context, store.read, secret, user),

    async accept(secret: string, user: User | null, body: unknown): Promise<{ user: User; organization: Organization }> {
      const { invite } = await usable(context, store.read, secret, user)
      if (user === null) await mustSatisfyDomain(context, store.read, invite.target_email, null)
      const { password, ...input } = user ? { password: null } : check(signupInput, body)
      const password_hash = password === null ? null : await context.passwords.hash(password, invite.target_email, `invite ${invite.id}`)
      const { joined, organization } = await store.write(async (tables) => {
        const found = await usable(context, tables, secret, user)
        if (user === null) await mustSatisfyDomain(context, tables, found.invite.target_email, null)
        const member =
          user ??
          (await insertUser(context, tables, {
            ...input,
            password_hash,
            email: found.invite.target_email,
            isProven: found.invite.emailing_attempt_made,
          }))
        await join(context, tables, member, found.invite)
        // Opening the link of the e-mail proves access to the mailbox, and the holder of the account does it.
        if (found.invite.emailing_attempt_made) await tables.users.update({ id: member.id }, provenAddress)
        return { joined: (await tables.users.first({ id: member.id }))!, organization: found.organization }
      })
      await tellOthers(context, organization, joined)
      return { user: joined, organization }
    },
  }
}
