import * as z from 'zod'
import { type ActingMember, writeAs } from '../acting-member.ts'
import { type AccountContext, changesOf, type From, log } from '../context.ts'
import { check, integerOf } from '../fields.ts'
import { type AccountTables, level, levels, type Membership, type User } from '../records.ts'
import { mustFind, notAllowed } from '../refusals.ts'
import { mailFactorChange } from '../users/factor-log.ts'
import { resetFactor } from '../users/second-factor.ts'
import { isHostUser, moveCurrent } from '../users/users.ts'
import { endMembership } from './leaving.ts'

export const memberInput = z.object({ level: integerOf(levels) })

export interface Member {
  readonly membership: Membership
  readonly user: User
}

/** The permitted changes to another member. */
const mayEdit = (own: Membership, other: Membership): void => {
  if (own.level < level.admin) throw notAllowed('You can only edit others if you are an admin.')
  if (other.level > own.level) throw notAllowed('You can only edit others with level lower or equal to you.')
}

/** Whether a member may change the level of another. */
const mayGive = (own: Membership, other: Membership, wanted: number): void => {
  mayEdit(own, other)
  if (wanted === level.owner && own.level !== level.owner)
    throw notAllowed("You can only pass on organization ownership if you're its owner.")
  if (wanted > own.level) throw notAllowed('You can only change access level of others to lower or equal to your current one.')
}

/** A member may have left since they were read. */
const asItIs = (tables: AccountTables, { id }: Membership): Promise<Membership> => mustFind(tables.memberships.first({ id }))

export const createMembers = (context: AccountContext) => {
  const { store } = context
  return {
    /** By first name, then newest first. */
    async list(organizationId: string): Promise<readonly Member[]> {
      const memberships = await store.read.memberships.find({ organization_id: organizationId }, { newestFirst: 'joined_at' })
      const users = new Map(
        (await store.read.users.find({ id: memberships.map((one) => one.user_id), is_active: true })).map((user) => [user.id, user]),
      )
      return memberships
        .flatMap((membership) => {
          const user = users.get(membership.user_id)
          return user ? [{ membership, user }] : []
        })
        .sort((a, b) => (a.user.first_name < b.user.first_name ? -1 : a.user.first_name > b.user.first_name ? 1 : 0))
    },

    async byUserUuid(organizationId: string, uuid: string): Promise<Member | undefined> {
      const user = await store.read.users.first({ uuid })
      if (!user?.is_active) return undefined
      const membership = await store.read.memberships.first({ user_id: user.id, organization_id: organizationId })
      return membership && { membership, user }
    },

    async update(by: ActingMember, member: Member, body: unknown): Promise<Member> {
      const own = by.membership
      const isOwn = own.id === member.membership.id
      if (!isOwn) mayEdit(own, member.membership) // those who may not learn nothing of what is wrong with their request
      const wanted = check(memberInput.partial(), body).level
      if (isOwn && wanted !== undefined) throw notAllowed("You can't change your own access level.")
      if (wanted === undefined || wanted === member.membership.level) return member
      if (isHostUser(member.user))
        throw notAllowed('The level of this member comes from the application that signs the member in: change it there.')
      return writeAs(context, by, async (tables, ownNow) => {
        const other = await asItIs(tables, member.membership)
        mayGive(ownNow, other, wanted)
        const updated_at = context.clock()
        await tables.memberships.update({ id: member.membership.id }, { level: wanted, updated_at })
        // An organization has one owner: passing ownership on makes the previous owner an administrator.
        if (wanted === level.owner) await tables.memberships.update({ id: own.id }, { level: level.admin, updated_at })
        await log(context, tables, {
          by: by.user,
          organization_id: own.organization_id,
          scope: 'OrganizationMembership',
          item_id: member.membership.id,
          activity: 'updated',
          name: member.user.email,
          changes: changesOf('OrganizationMembership', other, { level: wanted }),
        })
        return { ...member, membership: { ...other, level: wanted, updated_at } }
      })
    },

    /**
     * Removes the second factor of a member who has lost it, and ends the member's sessions. By the owner; a member of other organizations, too, must be reset by somebody who owns them
     * all: otherwise one organization would weaken another.
     */
    async resetSecondFactor(by: ActingMember, member: Member, from: From): Promise<void> {
      if (by.membership.id === member.membership.id) throw notAllowed('Your own second factor is in your account settings.')
      const found = await writeAs(context, by, async (tables, ownNow) => {
        mayEdit(ownNow, await asItIs(tables, member.membership))
        for (const { organization_id } of await tables.memberships.find({ user_id: member.user.id }))
          if (organization_id !== ownNow.organization_id) {
            const there = await tables.memberships.first({ user_id: by.user.id, organization_id })
            if (there?.level !== level.owner)
              throw notAllowed(
                'This member belongs to other organizations, too. The operator of the server can reset the second factor: `waymark users reset-2fa --email ADDRESS`.',
              )
          }
        return resetFactor(context, tables, member.user, by.user, from)
      })
      void mailFactorChange(context, found, 'second_factor_reset')
    },

    /** Leaving is always allowed; no other member is promoted. */
    async remove(by: ActingMember, member: Member): Promise<void> {
      const own = by.membership
      if (own.id !== member.membership.id) mayEdit(own, member.membership)
      await writeAs(context, by, async (tables, ownNow) => {
        const other = await asItIs(tables, member.membership)
        const { organization_id, id } = other
        if (own.id !== id) mayEdit(ownNow, other)
        await endMembership(tables, other)
        await tables.password_links.remove({ user_id: member.user.id })
        await moveCurrent(tables, member.user)
        await log(context, tables, {
          by: by.user,
          organization_id,
          scope: 'OrganizationMembership',
          item_id: id,
          activity: own.id === id ? 'left' : 'removed',
          name: member.user.email,
        })
      })
    },
  }
}
