import * as z from 'zod'
import { type ActingMember, writeAs } from '../acting-member.ts'
import { type AccountContext, changesOf, type From, log } from '../context.ts'
import { check, flag, text } from '../fields.ts'
import { removePluginRows } from '../projects/plugin-rows.ts'
import { timezone } from '../projects/project-fields.ts'
import { removeProjectRows } from '../projects/project-rows.ts'
import { insertProject } from '../projects/projects.ts'
import { type AccountTables, level, type Organization, type User } from '../records.ts'
import { mustFind, notAllowed, notFound, upgradeNeeded } from '../refusals.ts'
import { randomLetters } from '../secrets/secrets.ts'
import { moveCurrent, mustBeOwnAccount } from '../users/users.ts'
import { allFeatures } from './features.ts'

export const organizationInput = z.object({
  name: text({ max: 64 }),
  is_member_join_email_enabled: flag().optional(),
  enforce_2fa: flag().nullable().optional(),
})
export const newOrganizationInput = organizationInput.extend({
  timezone: timezone().optional().meta({ description: 'Time zone of its first project, an IANA name. Default: UTC' }),
})

const slugLength = 48
const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{ASCII}]/gu, '')
    .replace(/[^a-z0-9\s_-]/g, '')
    .trim()
    .replace(/[\s_-]+/g, '-')
    .slice(0, slugLength)
    .replace(/^-|-$/g, '') || 'organization'

/** If the slug is taken, its end is replaced by four letters. */
const freeSlug = async (tables: AccountTables, name: string): Promise<string> => {
  const wanted = slugOf(name)
  let slug = wanted
  while (await tables.organizations.first({ slug })) slug = `${wanted.slice(0, slugLength - 5)}-${randomLetters(4)}`
  return slug
}

export const insertOrganization = async (
  context: AccountContext,
  tables: AccountTables,
  by: User | null,
  input: { readonly name: string; readonly is_member_join_email_enabled?: boolean; readonly enforce_2fa?: boolean | null },
  from: From | null = null,
): Promise<Organization> => {
  const now = context.clock()
  const organization: Organization = {
    id: context.newId(),
    name: input.name,
    slug: await freeSlug(tables, input.name),
    created_at: now,
    updated_at: now,
    plugins_access_level: context.settings().isHosted ? 3 : 9,
    available_product_features: allFeatures(),
    is_member_join_email_enabled: input.is_member_join_email_enabled ?? true,
    enforce_2fa: input.enforce_2fa ?? null,
    customer_id: null,
  }
  await tables.organizations.insert(organization)
  await log(context, tables, {
    by,
    organization_id: organization.id,
    scope: 'Organization',
    item_id: organization.id,
    activity: 'created',
    name: organization.name,
    ...(organization.enforce_2fa && { from, changes: changesOf('Organization', { enforce_2fa: null }, { enforce_2fa: true }) }),
  })
  return organization
}

export const insertMembership = async (context: AccountContext, tables: AccountTables, user: User, organizationId: string, at: number) => {
  const now = context.clock()
  const membership = { id: context.newId(), organization_id: organizationId, user_id: user.id, level: at, joined_at: now, updated_at: now }
  await tables.memberships.insert(membership)
  return membership
}

/** All tables that refer to an organization, children first. */
const removeOrganizationRows = async (
  tables: AccountTables,
  organizationId: string,
): Promise<{ readonly projects: readonly number[]; readonly withoutPlugins: readonly number[] }> => {
  const projects = (await tables.projects.find({ organization_id: organizationId })).map((one) => one.id)
  const roles = (await tables.roles.find({ organization_id: organizationId })).map((one) => one.id)
  await removeProjectRows(tables, projects)
  const plugins = await tables.plugins.find({ organization_id: organizationId })
  const withoutPlugins = await removePluginRows(
    tables,
    plugins.map(({ id }) => id),
  )
  await tables.role_memberships.remove({ role_id: roles })
  for (const table of [
    'projects',
    'roles',
    'memberships',
    'invites',
    'domains',
    'scim_tokens',
    'scim_users',
    'proxy_records',
    'mail_counts',
  ] as const)
    await tables[table].remove({ organization_id: organizationId } as never)
  await tables.activity.remove({ organization_id: organizationId })
  await tables.organizations.remove({ id: organizationId })
  return { projects, withoutPlugins }
}
const asItIs = (tables: AccountTables, id: string): Promise<Organization> => mustFind(tables.organizations.first({ id }))

export const createOrganizations = (context: AccountContext) => {
  const { store } = context
  return {
    byId: (id: string) => store.read.organizations.first({ id }),

    /** By the operator: no route sets it. Null: the only organization that there is. */
    setPluginsLevel: (id: string | null, plugins_access_level: number): Promise<Organization> =>
      store.write(async (tables) => {
        const found = await tables.organizations.find(id === null ? {} : { id })
        if (found.length !== 1)
          throw notFound(id === null ? `There are ${found.length} organizations: set --organization.` : `There is no organization ${id}.`)
        const before = found[0]!
        const change = { plugins_access_level, updated_at: context.clock() }
        await tables.organizations.update({ id: before.id }, change)
        if (plugins_access_level !== before.plugins_access_level)
          await log(context, tables, {
            by: null,
            organization_id: before.id,
            scope: 'Organization',
            item_id: before.id,
            activity: 'updated',
            name: before.name,
            changes: changesOf('Organization', before, { plugins_access_level }),
          })
        return { ...before, ...change }
      }),

    async of(user: User): Promise<readonly Organization[]> {
      const memberships = await store.read.memberships.find({ user_id: user.id })
      return store.read.organizations.find({ id: memberships.map((one) => one.organization_id) })
    },

    membership: (organizationId: string, user: User) => store.read.memberships.first({ user_id: user.id, organization_id: organizationId }),

    /** Active members. */
    async memberCount(organizationId: string): Promise<number> {
      const memberships = await store.read.memberships.find({ organization_id: organizationId })
      return store.read.users.count({ id: memberships.map((one) => one.user_id), is_active: true })
    },

    async create(user: User, body: unknown, from: From | null = null): Promise<Organization> {
      mustBeOwnAccount(user)
      const { timezone: zone, ...input } = check(newOrganizationInput, body)
      const { allowsManyOrganizations, isHosted } = context.settings()
      const { organization, project } = await store.write(async (tables) => {
        if (!isHosted && !allowsManyOrganizations && (await tables.memberships.count({ user_id: user.id })) > 0)
          throw upgradeNeeded('organizations')
        const made = await insertOrganization(context, tables, user, input, from)
        await insertMembership(context, tables, user, made.id, level.owner)
        const first = await insertProject(context, tables, user, made.id, zone === undefined ? {} : { timezone: zone })
        await tables.users.update({ id: user.id }, { current_organization_id: made.id, current_project_id: first.id })
        return { organization: made, project: first }
      })
      await context.projectStores.create(project.id)
      return organization
    },

    /** `mayLift`: whether the caller may let members in without a second factor again. Keys may not: a session needs a recent login for it. */
    update: (by: ActingMember, body: unknown, from: From | null = null, mayLift = true): Promise<Organization> =>
      writeAs(context, by, async (tables, { organization_id }) => {
        const organization = await asItIs(tables, organization_id)
        const change = check(organizationInput.partial(), body)
        if (!mayLift && organization.enforce_2fa === true && change.enforce_2fa !== undefined && change.enforce_2fa !== true)
          throw notAllowed('A personal API key cannot turn `enforce_2fa` off. An administrator does, signed in.')
        const changes = changesOf('Organization', organization, change)
        const updated = { ...change, updated_at: context.clock() }
        await tables.organizations.update({ id: organization.id }, updated)
        if (changes.length > 0)
          await log(context, tables, {
            by: by.user,
            organization_id: organization.id,
            scope: 'Organization',
            item_id: organization.id,
            activity: 'updated',
            name: organization.name,
            changes,
            ...(changes.some(({ field }) => field === 'enforce_2fa') && { from }),
          })
        return { ...organization, ...updated }
      }),

    /** Deletes its rows and its projects' folders; its users remain. One entry of the activity log remains. */
    async remove(by: ActingMember): Promise<void> {
      const { projects, withoutPlugins } = await writeAs(context, by, async (tables, { organization_id }) => {
        const organization = await asItIs(tables, organization_id)
        const members = await tables.memberships.find({ organization_id: organization.id })
        const removed = await removeOrganizationRows(tables, organization.id)
        for (const member of await tables.users.find({ id: members.map((one) => one.user_id) })) await moveCurrent(tables, member)
        await log(context, tables, {
          by: by.user,
          organization_id: organization.id,
          scope: 'Organization',
          item_id: organization.id,
          activity: 'deleted',
          name: organization.name,
          changes: [{ type: 'Organization', action: 'deleted', field: 'projects', before: [...removed.projects], after: null }],
        })
        return removed
      })
      for (const id of projects) await context.projectStores.remove(id)
      await context.projectStores.pluginsRemoved(withoutPlugins)
    },
  }
}
