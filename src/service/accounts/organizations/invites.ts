import * as z from 'zod'
import { WaymarkError } from '../../../errors/errors.ts'
import { type ActingMember, writeAs } from '../acting-member.ts'
import { type AccountContext, entryAbout, log, type Mail, post } from '../context.ts'
import { check, choice, email, flag, integer, integerOf, listOf, objectOf, text } from '../fields.ts'
import { type AccessTables, givenLevel } from '../projects/private-access.ts'
import { type AccountTables, type Invite, level, levels, type Membership, type Organization, type User } from '../records.ts'
import { invalid, mustFind, notAllowed, ofItem } from '../refusals.ts'
import { hashKey, randomToken } from '../secrets/secrets.ts'
import type { Json } from '../store.ts'
import { findUserByEmail, normalEmail } from '../users/users.ts'
import { hasProvenOwner, takeMails } from './mail-limits.ts'

const projectAccess = objectOf({
  id: integer(1),
  level: z.preprocess((value) => (value === 1 ? 'member' : value === 8 ? 'admin' : value), choice(['member', 'admin'])),
})
export const inviteInput = z.object({
  target_email: email(),
  first_name: text({ max: 30, blank: true }).optional(),
  level: integerOf(levels).optional(),
  message: text({ size: 'message', blank: true }).nullable().optional(),
  private_project_access: listOf(projectAccess).max(100).nullable().optional(),
  send_email: flag().optional(),
})
type InviteInput = z.infer<typeof inviteInput>

const validity = 3 * 86_400_000
const largestBulk = 20
export const projectLevels = { member: level.member, admin: level.admin } as const
interface Grant {
  readonly id: number
  readonly level: keyof typeof projectLevels
}
export const grantsOf = (invite: Invite): readonly Grant[] => invite.private_project_access as unknown as readonly Grant[]

export const isExpired = ({ clock }: AccountContext, invite: Invite): boolean => invite.created_at.getTime() < clock().getTime() - validity

/** The access that a member may give to others: at most their own. */
export const mustBeAbleToInvite = async (
  tables: Pick<AccountContext['store']['read'], 'projects'> & AccessTables,
  own: Membership,
  wanted: number,
  grants: readonly Grant[],
): Promise<void> => {
  if (own.level < level.member) throw notAllowed('Viewers cannot invite others.')
  if (wanted > own.level) throw notAllowed('You cannot invite a user with a higher permission level than your own.')
  for (const grant of grants) {
    const project = await tables.projects.first({ id: grant.id, organization_id: own.organization_id })
    const given = project ? await givenLevel(tables, project.id, own.user_id) : null
    const held = own.level >= level.admin ? own.level : project?.access_control ? (given ?? 0) : own.level
    if (!project || (project.access_control && held === 0))
      throw invalid(
        'Project does not exist on this organization, or it is private and you do not have access to it.',
        'private_project_access',
      )
    if (projectLevels[grant.level] > held && project.access_control)
      throw invalid('You cannot invite to a private project with a higher level than your own.', 'private_project_access')
  }
}

/**
 * Who sends an invitation. A key that has not all scopes may invite by mail, to the mailbox of the invited. It gets no secret: its holder signs in, which allows more than the key. Without
 * a mail the invitation waits until somebody who is signed in sends it again.
 */
export interface Inviter extends ActingMember {
  readonly hidesSecrets?: boolean
}

/** An invitation that was just created or sent. */
export interface Sent {
  readonly invite: Invite
  /** The secret that accepts it; only its hash is stored. Null if it was sent by mail. */
  readonly secret: string | null
}
const noted = ({ user }: ActingMember, invite: Invite, activity: string) =>
  entryAbout('OrganizationInvite', invite, invite.target_email, user, activity)

/** The fields that change each time an invitation is sent. Previous secrets become invalid. */
const sending = (context: AccountContext, by: Inviter, secret: string, wantsMail: boolean) => {
  const now = context.clock()
  const isMailed = context.mailer() !== null && wantsMail
  return {
    secret_hash: by.hidesSecrets && !isMailed ? null : hashKey(secret),
    emailing_attempt_made: isMailed,
    created_by_id: by.user.id,
    created_at: now,
    updated_at: now,
  }
}

const insert = async (
  context: AccountContext,
  tables: AccountTables,
  by: Inviter,
  own: Membership,
  input: InviteInput,
  secret: string,
): Promise<Invite> => {
  const [wanted, grants] = [input.level ?? level.member, input.private_project_access ?? []]
  await mustBeAbleToInvite(tables, own, wanted, grants)
  const existing = await findUserByEmail(tables, input.target_email)
  if (existing && (await tables.memberships.first({ user_id: existing.id, organization_id: own.organization_id })))
    throw invalid('A user with this email address already belongs to the organization.')
  const invite: Invite = {
    id: context.newId(),
    organization_id: own.organization_id,
    target_email: normalEmail(input.target_email),
    first_name: input.first_name ?? '',
    message: input.message ?? null,
    level: wanted,
    private_project_access: grants as unknown as Json,
    ...sending(context, by, secret, input.send_email !== false),
  }
  await tables.invites.insert(invite)
  await log(context, tables, noted(by, invite, 'created'))
  return invite
}

const mustMayMail = async (context: AccountContext, organizationId: string, mails: number): Promise<void> => {
  if (context.mailer() === null || (await takeMails(context, organizationId, mails)) === mails) return
  throw new WaymarkError('limit-reached', {
    message:
      'Your organization has reached its daily limit of e-mails. Try again tomorrow, send fewer, or prove the address of an owner by a link for a new password.',
  })
}

/** Until the address of an owner is proven: without words of the sender's choice. */
const plainMail = (context: AccountContext, invite: Invite, secret: string): Mail => ({
  to: invite.target_email,
  subject: 'You are invited to an organization on Waymark',
  text: [
    'Somebody invites you to join an organization on Waymark. If you did not expect this, ignore it.',
    '',
    `Accept: ${context.settings().siteUrl}/#/signup/${secret}`,
    'The invitation is valid for three days.',
  ].join('\n'),
})
const inviteMail = (context: AccountContext, invite: Invite, secret: string, organization: Organization, by: User): Mail => {
  const name = [by.first_name, by.last_name].filter(Boolean).join(' ') || by.email
  const lines = [
    `${name} invites you to join ${organization.name} on Waymark.`,
    ...(invite.message ? ['', invite.message] : []),
    '',
    `Accept: ${context.settings().siteUrl}/#/signup/${secret}`,
    'The invitation is valid for three days.',
  ]
  return { to: invite.target_email, replyTo: by.email, subject: `${name} invites you to ${organization.name}`, text: lines.join('\n') }
}

/** Sends the e-mail after the rows are stored. Opening the link proves access to the mailbox, so only the recipient sees the secret. */
const send = async (
  context: AccountContext,
  by: ActingMember,
  organization: Organization,
  made: readonly { invite: Invite; secret: string }[],
): Promise<Sent[]> => {
  const mailed = made.filter(({ invite }) => invite.emailing_attempt_made)
  const isProven = mailed.length === 0 || (await hasProvenOwner(context, organization.id))
  await post(
    context,
    organization.id,
    mailed.map(({ invite, secret }) =>
      isProven ? inviteMail(context, invite, secret, organization, by.user) : plainMail(context, invite, secret),
    ),
  )
  return made.map(({ invite, secret }) => ({
    invite,
    secret: invite.emailing_attempt_made || invite.secret_hash === null ? null : secret,
  }))
}

const createAll = async (
  context: AccountContext,
  by: Inviter,
  organization: Organization,
  inputs: readonly InviteInput[],
  refusal = (error: unknown, _item: number): unknown => error,
): Promise<Sent[]> => {
  await mustMayMail(context, organization.id, inputs.filter(({ send_email }) => send_email !== false).length)
  const made = await writeAs(context, by, async (tables, own) => {
    const rows: { invite: Invite; secret: string }[] = []
    for (const [i, input] of inputs.entries()) {
      const secret = randomToken()
      const invite = await insert(context, tables, by, own, input, secret).catch((error: unknown) => {
        throw refusal(error, i)
      })
      rows.push({ invite, secret })
    }
    return rows
  })
  return send(context, by, organization, made)
}

const asItIs = (tables: AccountTables, id: string): Promise<Invite> => mustFind(tables.invites.first({ id }))

export const createInvites = (context: AccountContext) => {
  const { store } = context

  return {
    isExpired: (invite: Invite) => isExpired(context, invite),
    list: (organizationId: string) => store.read.invites.find({ organization_id: organizationId }, { newestFirst: 'created_at' }),
    byId: (organizationId: string, id: string) => store.read.invites.first({ id, organization_id: organizationId }),

    create: async (by: Inviter, organization: Organization, body: unknown): Promise<Sent> =>
      (await createAll(context, by, organization, [check(inviteInput, body)]))[0]!,

    /** All or none. */
    createMany(by: Inviter, organization: Organization, body: unknown): Promise<Sent[]> {
      if (!Array.isArray(body)) throw invalid('This endpoint needs an array of data for bulk invite creation.')
      if (body.length > largestBulk)
        throw invalid(`A maximum of ${largestBulk} invites can be sent in a single request.`, null, 'max_length')
      const inputs = body.map((one, i) => {
        try {
          return check(inviteInput, one)
        } catch (error) {
          throw ofItem(error, i)
        }
      })
      return createAll(context, by, organization, inputs, ofItem)
    },

    /** Sends the same invitation again, if the sender may still invite. */
    async resend(by: Inviter, organization: Organization, { id }: Invite): Promise<Sent> {
      await mustMayMail(context, by.membership.organization_id, 1)
      const secret = randomToken()
      const invite = await writeAs(context, by, async (tables, own) => {
        const before = await asItIs(tables, id)
        await mustBeAbleToInvite(tables, own, before.level, grantsOf(before))
        const change = sending(context, by, secret, true)
        await tables.invites.update({ id }, change)
        const after = { ...before, ...change }
        await log(context, tables, noted(by, after, 'resent'))
        return after
      })
      return (await send(context, by, organization, [{ invite, secret }]))[0]!
    },

    remove: (by: ActingMember, { id }: Invite): Promise<void> =>
      writeAs(context, by, async (tables) => {
        const invite = await asItIs(tables, id)
        await tables.invites.remove({ id })
        await log(context, tables, noted(by, invite, 'deleted'))
      }),
  }
}
