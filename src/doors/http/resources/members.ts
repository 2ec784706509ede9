import { type Member, memberInput } from '../../../service/accounts/organizations/members.ts'
import { sameEmail } from '../../../service/accounts/users/users.ts'
import { type MemberAnswer, memberSchema } from '../../answers/members.ts'
import { mustHaveLoggedIn } from '../access/access.ts'
import { fromOf } from '../access/session-cookies.ts'
import { failures } from '../errors.ts'
import { presentUser, time } from '../present.ts'
import { defineRecords } from '../records.ts'
import type { OrganizationVisit } from '../resource.ts'

const present = ({ membership, user }: Member): MemberAnswer => ({
  id: membership.id,
  user: presentUser(user),
  level: membership.level,
  joined_at: time(membership.joined_at),
  updated_at: time(membership.updated_at),
  is_2fa_enabled: user.has_second_factor,
  has_social_auth: user.has_social_login,
})

const find = async ({ app, caller, organization, params }: OrganizationVisit): Promise<Member> => {
  const uuid = params.user__uuid === '@me' ? caller.user.uuid : params.user__uuid!
  const member = await app.accounts.members.byUserUuid(organization.id, uuid)
  if (!member) throw failures.notFound()
  return member
}

const orders: Readonly<Record<string, (member: Member) => string | number>> = {
  joined_at: ({ membership }) => membership.joined_at.getTime(),
  level: ({ membership }) => membership.level,
  user__email: ({ user }) => user.email.toLowerCase(),
  user__first_name: ({ user }) => user.first_name,
}
/** An invalid order does not change the list. */
const inOrder = (list: readonly Member[], order: string | null): readonly Member[] => {
  const by = order === null ? undefined : Object.entries(orders).find(([name]) => name === order.replace(/^-/, ''))?.[1]
  if (!by) return list
  const sign = order!.startsWith('-') ? -1 : 1
  return [...list].sort((a, b) => sign * (by(a) < by(b) ? -1 : by(a) > by(b) ? 1 : 0))
}

export const members = defineRecords({
  name: 'members',
  summary: 'Who belongs to an organization, and with which level: 0 viewer, 1 member, 8 administrator, 15 owner',
  path: '/api/organizations/:organization_id/members',
  reach: 'organization',
  object: 'organization_member',
  answer: memberSchema,
  present: (_visit, member: Member) => present(member),
  rows: ({ row, list, update, remove }) => [
    list({
      summary: 'Members by first name, then the newest first',
      queryParameters: {
        email: 'Only the member with this address',
        order: `One of ${Object.keys(orders).join(', ')}; with \`-\` descending`,
      },
      handle: async ({ app, organization, query }) => {
        const email = query.get('email')
        const all = await app.accounts.members.list(organization.id)
        return inOrder(email === null ? all : all.filter(({ user }) => sameEmail(user.email, email)), query.get('order'))
      },
    }),
    update({
      path: ':user__uuid',
      summary: 'Changes the level of another member; transferring ownership makes the former owner an administrator',
      needsRecentLogin: true,
      body: memberInput.partial(),
      handle: async (visit) => visit.app.accounts.members.update(visit.by, await find(visit), visit.body),
    }),
    remove({
      path: ':user__uuid',
      level: 'viewer', // to leave
      summary: 'Removes a member; every member may leave',
      needsRecentLogin: true,
      handle: async (visit) => visit.app.accounts.members.remove(visit.by, await find(visit)),
    }),
    row({
      method: 'POST',
      path: ':user__uuid/reset_two_factor',
      name: 'reset_two_factor',
      summary:
        'Removes the second factor of a member who has lost it, and ends the sessions of that member. The owner only, after a recent login; not of members of other organizations, too, unless the caller owns these',
      level: 'owner',
      scope: 'none',
      needsRecentLogin: true,
      status: 204,
      handle: async (visit) => {
        mustHaveLoggedIn(visit)
        await visit.app.accounts.members.resetSecondFactor(visit.by, await find(visit), fromOf(visit))
      },
    }),
  ],
})
