import { isObject } from '../../../lib/is-object.ts'
import { storableText } from '../../../lib/text/storable-text.ts'
import { type AccountContext, type Change, changesOf, type From, log } from '../context.ts'
import { removeRole, roleAccess, roleNamed } from '../organizations/roles.ts'
import type { AccountStore, AccountTables, Domain, Role, User } from '../records.ts'
import { notFound } from '../refusals.ts'
import { domainOf } from '../single-sign-on/enforcing-domain.ts'
import { isHostUser } from '../users/users.ts'
import type { Comparison } from './expressions.ts'
import { groupInput, readBody, readPatch, type Step } from './operations.ts'
import { refused } from './refusals.ts'
import { type Provider, writeAsProvider } from './tokens.ts'
import { providedById, providedByIds } from './users.ts'

// Groups of an identity provider: roles of the organization that the provider has made. It sees the members that have an address of its domain. What a role gives,
// administrators decide.

export interface Group {
  readonly role: Role
  readonly members: readonly User[]
}
type Reading = AccountStore['read']

const longestName = 200
const longestId = 400
/** A role can have as many. */
export const mostMembers = 10_000

const isOfDomain = (user: User, { domain }: Domain): boolean => !isHostUser(user) && domainOf(user.email) === domain
const membersOf = async (tables: Reading, domain: Domain, role: Role): Promise<readonly User[]> => {
  const ids = (await tables.role_memberships.find({ role_id: role.id })).map(({ user_id }) => user_id)
  return (await tables.users.find({ id: ids })).filter((user) => isOfDomain(user, domain)).sort((a, b) => a.id - b.id)
}
const find = async (tables: Reading, domain: Domain, id: string): Promise<Role> => {
  const role = await tables.roles.first({ id: id.toLowerCase(), organization_id: domain.organization_id })
  if (role?.scim_domain_id !== domain.id) throw notFound(`There is no group ${id.slice(0, 100)}.`)
  return role
}

interface MemberStep {
  readonly kind: 'add' | 'remove' | 'set'
  readonly ids: readonly string[]
}
interface GroupChange {
  displayName?: string
  externalId?: string | null
  readonly members: MemberStep[]
}

const isStorable = (text: string): boolean => storableText(text) === text && !text.includes('\0')
const nameOf = (value: unknown): string => {
  const name = typeof value === 'string' ? value.trim() : ''
  if (name === '' || name.length > longestName || !isStorable(name))
    throw refused('invalidValue', `\`displayName\` must be a text of 1 to ${longestName} characters.`)
  return name
}
const idOf = (value: unknown): string | null => {
  if (value === null || value === '') return null
  if (typeof value !== 'string' || value.length > longestId || !isStorable(value))
    throw refused('invalidValue', `\`externalId\` must be a text of at most ${longestId} characters.`)
  return value
}
const memberIds = (value: unknown): readonly string[] => {
  const all = Array.isArray(value) ? value : value === null || value === undefined ? [] : [value]
  if (all.length > mostMembers) throw refused('invalidValue', `A group can have at most ${mostMembers} members.`)
  return all.map((one) => {
    const id = isObject(one) ? one.value : one
    if (typeof id !== 'string') throw refused('invalidValue', 'Each of `members` must have the id of a user as its `value`.')
    return id.toLowerCase()
  })
}
const memberStep = ({ path: { where, sub }, kind, value }: Step): MemberStep => {
  if (where !== null) {
    if (where.name !== 'value' || typeof where.value !== 'string' || kind !== 'remove')
      throw refused('invalidPath', 'A member is removed with the path `members[value eq "ID"]`, and added with the path `members`.')
    return { kind: 'remove', ids: [where.value.toLowerCase()] }
  }
  if (sub !== null && sub !== 'value') throw refused('invalidPath', 'Members have a `value` only.')
  if (kind === 'remove' && value === undefined) return { kind: 'set', ids: [] }
  return { kind: kind === 'replace' ? 'set' : kind, ids: memberIds(value) }
}
/** Other attributes are ignored. */
function groupChangeOf(steps: readonly Step[]): GroupChange {
  const change: GroupChange = { members: [] }
  for (const step of steps) {
    const value = step.kind === 'remove' ? null : step.value
    if (step.path.name === 'displayname') change.displayName = nameOf(value)
    else if (step.path.name === 'externalid') change.externalId = idOf(value)
    else if (step.path.name === 'members') change.members.push(memberStep(step))
  }
  return change
}

const writing = (context: AccountContext, tables: AccountTables, domain: Domain, from: From) => {
  const note = (role: Role, activity: string, changes: readonly Change[] = []) =>
    log(context, tables, {
      by: null,
      organization_id: domain.organization_id,
      scope: 'Role',
      item_id: role.id,
      activity,
      name: role.name,
      trigger: { job_type: 'scim', domain: domain.domain },
      changes,
      from,
    })
  const mustBeFree = async (name: string, own?: Role): Promise<void> => {
    if (await roleNamed(tables, domain.organization_id, name, own))
      throw refused('uniqueness', `The organization has a role named ${name} already. Rename one of the two: Settings → Roles shows all.`)
  }
  const noUser = (id: string) => refused('invalidValue', `There is no user ${id.slice(0, 100)}.`)

  const setMembers = async (role: Role, steps: readonly MemberStep[]): Promise<void> => {
    if (steps.length === 0) return
    const before = new Map((await membersOf(tables, domain, role)).map((user) => [user.uuid, user]))
    const named = new Set(steps.flatMap(({ kind, ids }) => (kind === 'remove' ? [] : ids.filter((id) => !before.has(id)))))
    const known = new Map([...before.values(), ...(await providedByIds(tables, domain, [...named]))].map((user) => [user.uuid, user]))
    const after = new Map(before)
    for (const { kind, ids } of steps) {
      if (kind === 'set') after.clear()
      for (const id of ids) {
        const user = known.get(id)
        if (kind === 'remove') after.delete(id)
        else if (user) after.set(id, user)
        else throw noUser(id)
      }
    }
    const gone = [...before.values()].filter(({ uuid }) => !after.has(uuid))
    const fresh = [...after.values()].filter(({ uuid }) => !before.has(uuid))
    if (gone.length > 0) await tables.role_memberships.remove({ role_id: role.id, user_id: gone.map(({ id }) => id) })
    const now = context.clock()
    for (const { id } of fresh)
      await tables.role_memberships.insert({ id: context.newId(), role_id: role.id, user_id: id, joined_at: now, updated_at: now })
    const uuids = (users: readonly User[]) => users.map(({ uuid }) => uuid)
    if (gone.length > 0)
      await note(role, 'member_removed', [{ type: 'Role', action: 'deleted', field: 'members', before: uuids(gone), after: null }])
    if (fresh.length > 0)
      await note(role, 'member_added', [{ type: 'Role', action: 'created', field: 'members', before: null, after: uuids(fresh) }])
  }

  return {
    async create({ displayName, externalId = null, members }: GroupChange): Promise<Role> {
      if (displayName === undefined) throw refused('invalidValue', '`displayName` is required.')
      await mustBeFree(displayName)
      const role: Role = {
        id: context.newId(),
        organization_id: domain.organization_id,
        name: displayName,
        feature_flags_access_level: roleAccess.edit,
        created_by_id: null,
        created_at: context.clock(),
        scim_domain_id: domain.id,
        external_id: externalId,
      }
      await tables.roles.insert(role)
      await note(role, 'created')
      await setMembers(role, members)
      return role
    },

    async change(id: string, { displayName, externalId, members }: GroupChange): Promise<Role> {
      const role = await find(tables, domain, id)
      if (displayName !== undefined) await mustBeFree(displayName, role)
      const change = {
        ...(displayName !== undefined && { name: displayName }),
        ...(externalId !== undefined && { external_id: externalId }),
      }
      const changes = changesOf('Role', role, change)
      if (changes.length > 0) {
        await tables.roles.update({ id: role.id }, change)
        await note({ ...role, ...change }, 'updated', changes)
      }
      await setMembers(role, members)
      return { ...role, ...change }
    },

    async remove(id: string): Promise<void> {
      const role = await find(tables, domain, id)
      await removeRole(tables, role)
      await note(role, 'deleted')
    },
  }
}

export const createScimGroups = (context: AccountContext) => {
  const { read } = context.store
  const withMembers = async ({ domain }: Provider, role: Role): Promise<Group> => ({ role, members: await membersOf(read, domain, role) })

  return {
    withMembers,
    byId: async (provider: Provider, id: string): Promise<Role> => find(read, provider.domain, id),

    /** In the order in which they were made. */
    async list({ domain }: Provider, filter: readonly Comparison[]): Promise<readonly Role[]> {
      const matchers = await Promise.all(filter.map((one) => matcherOf(read, domain, one)))
      const all = await read.roles.find({ organization_id: domain.organization_id, scim_domain_id: domain.id })
      return all.filter((role) => matchers.every((matches) => matches(role)))
    },

    /** The groups of a user. */
    async of({ domain }: Provider, user: User): Promise<readonly Role[]> {
      const ids = (await read.role_memberships.find({ user_id: user.id })).map(({ role_id }) => role_id)
      return ids.length === 0 ? [] : read.roles.find({ id: ids, scim_domain_id: domain.id })
    },

    create: (provider: Provider, body: unknown, from: From): Promise<Role> =>
      writeAsProvider(context, provider, (tables, domain) =>
        writing(context, tables, domain, from).create(groupChangeOf(readBody(groupInput, body))),
      ),

    replace: (provider: Provider, id: string, body: unknown, from: From): Promise<Role> =>
      writeAsProvider(context, provider, (tables, domain) =>
        writing(context, tables, domain, from).change(id, groupChangeOf(readBody(groupInput, body))),
      ),

    patch: (provider: Provider, id: string, body: unknown, from: From): Promise<Role> =>
      writeAsProvider(context, provider, (tables, domain) =>
        writing(context, tables, domain, from).change(id, groupChangeOf(readPatch(body))),
      ),

    remove: (provider: Provider, id: string, from: From): Promise<void> =>
      writeAsProvider(context, provider, (tables, domain) => writing(context, tables, domain, from).remove(id)),
  }
}

const matcherOf = async (tables: Reading, domain: Domain, { path, value }: Comparison): Promise<(role: Role) => boolean> => {
  const wanted = typeof value === 'string' ? value : null
  const isSame = (text: string) => text.toLowerCase() === wanted?.toLowerCase()
  switch (path.where === null ? [path.name, path.sub].filter((part) => part !== null).join('.') : '') {
    case 'id':
      return ({ id }) => isSame(id)
    case 'displayname':
      return ({ name }) => isSame(name)
    case 'externalid':
      return ({ external_id }) => wanted !== null && external_id === wanted
    case 'members':
    case 'members.value': {
      const found = wanted === null ? undefined : await providedById(tables, domain, wanted)
      const held = found ? await tables.role_memberships.find({ user_id: found.user.id }) : []
      const roles = new Set(held.map(({ role_id }) => role_id))
      return ({ id }) => roles.has(id)
    }
  }
  throw refused('invalidFilter', 'Groups can be found by id, displayName, externalId and members, with `eq`.')
}
