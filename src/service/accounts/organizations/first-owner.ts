import * as z from 'zod'
import { type AccountContext, changesOf, log } from '../context.ts'
import { check, text } from '../fields.ts'
import { timezone } from '../projects/project-fields.ts'
import { type AccountTables, level, type ProjectRecord, type User } from '../records.ts'
import { invalid } from '../refusals.ts'
import { hashKey } from '../secrets/secrets.ts'
import { provenAddress } from '../users/proof.ts'
import { findUserByEmail, isHostUser, normalEmail } from '../users/users.ts'
import { signupInput } from './joining.ts'

// The first start makes an owner without a password, who cannot sign in. The secret that the server prints gives that account to its holder.

export const firstOwnerInput = signupInput.extend({
  secret: z.string({ error: 'Not a valid string.' }).max(256),
  email: text({ max: 254 }).refine((address) => /^[^\s@]+@[^\s@]+$/.test(address), { error: 'Enter a valid email address.' }),
  organization_name: text({ max: 64 }).optional(),
  timezone: timezone().optional().meta({ description: 'Time zone of the first project, an IANA name. Default: unchanged' }),
})

export const createFirstOwner = (context: AccountContext) => {
  const { store } = context
  let secret: string | null = null

  const waiting = async (tables: AccountTables | AccountContext['store']['read']) => {
    const organization = (await tables.organizations.find({}))[0]
    const owned = organization && (await tables.memberships.first({ organization_id: organization.id, level: level.owner }))
    const user = owned && (await tables.users.first({ id: owned.user_id }))
    return user && user.password_hash === null && !isHostUser(user) ? { organization, user } : null
  }

  return {
    /** Allows the holder of this secret to become the first owner, while the server runs. False: that owner has a password. */
    async allow(given: string): Promise<boolean> {
      if (!(await waiting(store.read))) return false
      secret = given
      return true
    },
    isWaiting: async (): Promise<boolean> => secret !== null && (await waiting(store.read)) !== null,

    async become(body: unknown): Promise<User> {
      const { secret: shown, email, first_name, last_name, password, organization_name, timezone: zone } = check(firstOwnerInput, body)
      if (secret === null || hashKey(shown) !== hashKey(secret))
        throw invalid('This link is not valid. The terminal in which the server was started shows the current one.', 'secret')
      const password_hash = await context.passwords.hash(password, email, 'first owner')
      const user = await store.write(async (tables) => {
        const found = await waiting(tables)
        if (!found) throw invalid('The owner has a password already: sign in.', 'secret')
        const { organization, user } = found
        const other = await findUserByEmail(tables, email)
        if (other && other.id !== user.id) throw invalid('There is already an account with this email address.', 'email', 'unique')
        const change = {
          email: normalEmail(email),
          first_name,
          ...(last_name !== undefined && { last_name }),
          password_hash,
          ...provenAddress,
        }
        await tables.users.update({ id: user.id }, change)
        const about = { by: user, organization_id: organization.id, activity: 'updated' }
        const { password_hash: _, unproven_since: __, ...shownChange } = change
        const changes = changesOf('User', user as unknown as Record<string, unknown>, shownChange)
        await log(context, tables, { ...about, scope: 'User', item_id: user.id, name: change.email, changes })
        if (organization_name !== undefined && organization_name !== organization.name) {
          await tables.organizations.update({ id: organization.id }, { name: organization_name })
          const renamed = changesOf('Organization', { name: organization.name }, { name: organization_name })
          await log(context, tables, {
            ...about,
            scope: 'Organization',
            item_id: organization.id,
            name: organization_name,
            changes: renamed,
          })
        }
        // A demo is a project of its own.
        const project = (await tables.projects.find({ organization_id: organization.id }))
          .filter(({ is_demo }) => !is_demo)
          .reduce<ProjectRecord | null>((first, one) => (first && first.id < one.id ? first : one), null)
        if (zone !== undefined && project && zone !== project.timezone) {
          await tables.projects.update({ id: project.id }, { timezone: zone, updated_at: context.clock() })
          const changes = changesOf('Team', { timezone: project.timezone }, { timezone: zone })
          await log(context, tables, { ...about, project_id: project.id, scope: 'Team', item_id: project.id, name: project.name, changes })
        }
        return { ...user, ...change }
      })
      secret = null
      return user
    },
  }
}
