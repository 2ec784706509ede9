import { z } from 'zod'
import { type AccountContext, log, type Mail } from './context.ts'
import { check, choice, email, flag, integer, integerOf, listOf, text } from './fields.ts'
import { levels } from './members.ts'
import { insertMembership } from './organizations.ts'
import { type AccountTables, type Invite, level, type Membership, type Organization, type User } from './records.ts'
import { invalid, notAllowed } from './refusals.ts'
import type { Json } from './store.ts'
import { findUserByEmail, insertUser, normalEmail, sameEmail } from './users.ts'

const projectAccess = z.object({
  id: integer(1),
  level: z.preprocess((value) => (value === 1 ? 'member' : value === 8 ? 'admin' : value), choice(['member', 'admin'])),
})
export const inviteInput = z.object({
  target_email: email(),
  first_name: text({ max: 30, blank: true }).optional(),
  level: integerOf(levels).optional(),
  message: text({ blank: true }).nullable().optional(),
  private_project_access: listOf(projectAccess).nullable().optional(),
  send_email: flag().optional(),
})
type InviteInput = z.infer<typeof inviteInput>

export const signupInput = z.object({
  first_name: text({ max: 128 }),
  last_name: text({ max: 128, blank: true }).optional(),
  password: z
    .string({ error: 'Not a valid string.' })
    .min(1)
    .min(8, { error: 'This password is too short. It must contain at least 8 characters.' })
    .max(1024),
})

const validity = 3 * 86_400_000
export const largestBulk = 20
const projectLevels = { member: level.member, admin: level.admin } as const
interface Grant {
  readonly id: number
  readonly level: keyof typeof projectLevels
}

export const createInvites = (context: AccountContext) => {
  const { store } = context
  const isExpired = (invite: Invite) => invite.created_at.getTime() < context.clock().getTime() - validity

  const mustBeGrantable = async (tables: AccountTables, by: User, own: Membership, grants: readonly Grant[]) => {
    for (const grant of grants) {
      const project = await tables.projects.first({ id: grant.id, organization_id: own.organization_id })
      const explicit = project && (await tables.project_memberships.first({ user_id: by.id, project_id: project.id }))
      const held = own.level >= level.admin ? own.level : project?.access_control ? (explicit?.level ?? 0) : own.level
      if (!project || (project.access_control && held === 0))
        throw invalid(
          'Project does not exist on this organization, or it is private and you do not have access to it.',
          'private_project_access',
        )
      if (projectLevels[grant.level] > held && project.access_control)
        throw invalid('You cannot invite to a private project with a higher level than your own.', 'private_project_access')
    }
  }

  const insert = async (tables: AccountTables, by: User, own: Membership, input: InviteInput): Promise<Invite> => {
    const wanted = input.level ?? level.member
    if (wanted > own.level) throw notAllowed('You cannot invite a user with a higher permission level than your own.')
    const existing = await findUserByEmail(tables, input.target_email)
    if (existing && (await tables.memberships.first({ user_id: existing.id, organization_id: own.organization_id })))
      throw invalid('A user with this email address already belongs to the organization.')
    const grants = input.private_project_access ?? []
    await mustBeGrantable(tables, by, own, grants)
    const now = context.clock()
    const invite: Invite = {
      id: context.newId(),
      organization_id: own.organization_id,
      target_email: normalEmail(input.target_email),
      first_name: input.first_name ?? '',
      message: input.message ?? null,
      level: wanted,
      emailing_attempt_made: context.mailer() !== null && input.send_email !== false,
      private_project_access: grants as unknown as Json,
      created_by_id: by.id,
      created_at: now,
      updated_at: now,
    }
    await tables.invites.insert(invite)
    await log(context, tables, {
      by,
      organization_id: own.organization_id,
      scope: 'OrganizationInvite',
      item_id: invite.id,
      activity: 'created',
      name: invite.target_email,
    })
    return invite
  }

  const inviteMail = (invite: Invite, organization: Organization, by: User): Mail => {
    const name = [by.first_name, by.last_name].filter(Boolean).join(' ') || by.email
    const lines = [
      `${name} invites you to join ${organization.name} on Waymark.`,
      ...(invite.message ? ['', invite.message] : []),
      '',
      `Accept: ${context.settings().siteUrl}/signup/${invite.id}`,
      'The invitation is good for three days.',
    ]
    return { to: invite.target_email, replyTo: by.email, subject: `${name} invites you to ${organization.name}`, text: lines.join('\n') }
  }

  const post = async (mails: readonly Mail[]) => {
    const mailer = context.mailer()
    if (!mailer) return
    const sent = await Promise.allSettled(mails.map((mail) => mailer.send(mail)))
    for (const one of sent) if (one.status === 'rejected') context.report('a mail could not be sent', one.reason)
  }

  const create = async (by: User, organization: Organization, own: Membership, inputs: readonly InviteInput[]): Promise<Invite[]> => {
    const invites = await store.write(async (tables) => {
      const made: Invite[] = []
      for (const input of inputs) made.push(await insert(tables, by, own, input))
      return made
    })
    await post(invites.filter((one) => one.emailing_attempt_made).map((one) => inviteMail(one, organization, by)))
    return invites
  }

  const usable = async (id: string): Promise<{ invite: Invite; organization: Organization }> => {
    const invite = await store.read.invites.first({ id })
    const organization = invite && (await store.read.organizations.first({ id: invite.organization_id }))
    if (!invite || !organization) throw invalid('The provided invite ID is not valid.')
    return { invite, organization }
  }

  const mustFit = async (invite: Invite, user: User | null) => {
    if (user && !sameEmail(user.email, invite.target_email))
      throw invalid('This invite is intended for another email address.', null, 'invalid_recipient')
    if (isExpired(invite)) throw invalid('This invite has expired. Please ask your admin for a new one.', null, 'expired')
    if (user && (await store.read.memberships.first({ user_id: user.id, organization_id: invite.organization_id })))
      throw invalid('You already are a member of this organization.', null, 'user_already_member')
    if (!user && (await findUserByEmail(store.read, invite.target_email)))
      throw invalid(`/login?next=/signup/${invite.id}`, null, 'account_exists')
  }

  /** Everything but the password of somebody new: the membership, what it opens, and the end of the invites. */
  const join = async (tables: AccountTables, user: User, invite: Invite) => {
    // An organization has one owner, so whoever was invited as one beside another becomes an administrator.
    const isTaken = (await tables.memberships.count({ organization_id: invite.organization_id, level: level.owner })) > 0
    const at = isTaken ? Math.min(invite.level, level.admin) : invite.level
    const membership = await insertMembership(context, tables, user, invite.organization_id, at)
    for (const grant of invite.private_project_access as unknown as readonly Grant[]) {
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

  const tellOthers = async (organization: Organization, joined: User) => {
    if (!organization.is_member_join_email_enabled || !context.mailer()) return
    const others = (await store.read.memberships.find({ organization_id: organization.id })).filter((one) => one.user_id !== joined.id)
    const users = await store.read.users.find({ id: others.map((one) => one.user_id), is_active: true })
    const who = joined.first_name || joined.email
    await post(
      users.map((user) => ({
        to: user.email,
        subject: `${who} joined ${organization.name}`,
        text: `${who} (${joined.email}) is now a member of ${organization.name}.`,
      })),
    )
  }

  return {
    isExpired,
    list: (organizationId: string) => store.read.invites.find({ organization_id: organizationId }, { newestFirst: 'created_at' }),
    byId: (organizationId: string, id: string) => store.read.invites.first({ id, organization_id: organizationId }),

    create: async (by: User, organization: Organization, own: Membership, body: unknown): Promise<Invite> =>
      (await create(by, organization, own, [check(inviteInput, body)]))[0]!,

    /** All or none. */
    createMany(by: User, organization: Organization, own: Membership, body: unknown): Promise<Invite[]> {
      if (!Array.isArray(body)) throw invalid('This endpoint needs an array of data for bulk invite creation.')
      if (body.length > largestBulk)
        throw invalid(`A maximum of ${largestBulk} invites can be sent in a single request.`, null, 'max_length')
      return create(
        by,
        organization,
        own,
        body.map((one) => check(inviteInput, one)),
      )
    },

    remove: (by: User, invite: Invite): Promise<void> =>
      store.write(async (tables) => {
        await tables.invites.remove({ id: invite.id })
        await log(context, tables, {
          by,
          organization_id: invite.organization_id,
          scope: 'OrganizationInvite',
          item_id: invite.id,
          activity: 'deleted',
          name: invite.target_email,
        })
      }),

    /** What the page that accepts an invite shows. */
    async look(id: string, user: User | null) {
      const found = await usable(id)
      await mustFit(found.invite, user)
      return found
    },

    async accept(id: string, user: User | null, body: unknown): Promise<{ user: User; organization: Organization }> {
      const { invite, organization } = await usable(id)
      await mustFit(invite, user)
      const input = user ? null : check(signupInput, body)
      const joined = await store.write(async (tables) => {
        if (!(await tables.invites.first({ id }))) throw invalid('The provided invite ID is not valid.')
        const member = user ?? (await insertUser(context, tables, { ...input!, email: invite.target_email }))
        await join(tables, member, invite)
        // Whoever opened the link of the mail has read the mail.
        if (invite.emailing_attempt_made) await tables.users.update({ id: member.id }, { is_email_verified: true })
        return (await tables.users.first({ id: member.id }))!
      })
      await tellOthers(organization, joined)
      return { user: joined, organization }
    },
  }
}
