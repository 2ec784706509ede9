import * as z from 'zod'
import { excerpt } from '../../../lib/text/excerpt.ts'
import { nearestSpellings } from '../../../lib/text/spelling.ts'
import { type AccountContext, changesOf, entryAbout, log } from '../context.ts'
import { check, integer, listOf, text, uuid } from '../fields.ts'
import type { AccountTables, PersonalKey, User } from '../records.ts'
import { invalid, mustFind } from '../refusals.ts'
import { hashKey, longestSecret, maskKey, randomKey } from '../secrets/secrets.ts'

export const scopeObjects = [
  'action',
  'activity_log',
  'alert',
  'annotation',
  'batch_export',
  'cohort',
  'dashboard',
  'dashboard_template',
  'early_access_feature',
  'event_definition',
  'experiment',
  'export',
  'feature_flag',
  'group',
  'insight',
  'notebook',
  'organization',
  'organization_member',
  'person',
  'plugin',
  'project',
  'property_definition',
  'query',
  'session_recording',
  'session_recording_playlist',
  'sharing_configuration',
  'subscription',
  'survey',
  'user',
  'warehouse_view',
  'webhook',
] as const
export type ScopeObject = (typeof scopeObjects)[number]
export type Scope = `${ScopeObject}:${'read' | 'write'}`

/** Everything a key can be allowed, but for `*`. */
export const scopes: readonly string[] = scopeObjects.flatMap((object) => [`${object}:read`, `${object}:write`])
const known = new Set<string>(['*', ...scopes])
const scope = text({ max: 200, blank: true })

export const keyInput = z.object({
  label: text({ max: 40 }),
  scopes: listOf(scope).refine((list) => list.length > 0, { params: { rule: 'required' }, error: 'This field is required.' }),
  scoped_teams: listOf(integer(1)).nullable().optional(),
  scoped_organizations: listOf(uuid()).nullable().optional(),
})
export const personalKeyFields: readonly string[] = Object.keys(keyInput.shape)

/** A key as callers ask for it. */
export interface PersonalKeyOptions {
  readonly label: string
  /** What it may do; `*` is everything. */
  readonly scopes: readonly (Scope | '*')[]
  /** Only these projects. */
  readonly scoped_teams?: readonly number[] | null
  readonly scoped_organizations?: readonly string[] | null
}
export const largestKeyCount = 10
const hour = 3_600_000

export const hasAllScopes = ({ scopes, scoped_teams, scoped_organizations }: PersonalKey): boolean => {
  const isLimited = (list: unknown) => Array.isArray(list) && list.length > 0
  return (scopes === null || (scopes as readonly string[]).includes('*')) && !isLimited(scoped_teams) && !isLimited(scoped_organizations)
}

/** `*`, and keys without scopes from older versions, allow everything; writing includes reading. */
export const allows = (key: PersonalKey, wanted: Scope): boolean => {
  const scopes = key.scopes as readonly string[] | null
  return scopes === null || scopes.includes('*') || scopes.includes(wanted) || scopes.includes(wanted.replace(/:read$/, ':write'))
}

type KeyChange = Partial<z.infer<typeof keyInput>>

const mustBeAllowed = async (tables: AccountTables, user: User, input: KeyChange) => {
  const strange = input.scopes?.find((one) => !known.has(one))
  if (strange !== undefined) {
    const candidates = nearestSpellings(strange, known)
    throw invalid(`Invalid scope: ${excerpt(strange)}`, 'scopes', undefined, { candidates, allowed: [...known] })
  }
  const own = new Set((await tables.memberships.find({ user_id: user.id })).map((one) => one.organization_id))
  if ((input.scoped_organizations ?? []).some((id) => !own.has(id)))
    throw invalid('You must be a member of all organizations that you are scoping the key to.', 'scoped_organizations')
  for (const id of input.scoped_teams ?? []) {
    const project = await tables.projects.first({ id })
    if (!project || !own.has(project.organization_id))
      throw invalid('You must be a member of all teams that you are scoping the key to.', 'scoped_teams')
  }
}
const asItIs = (tables: AccountTables, id: string): Promise<PersonalKey> => mustFind(tables.personal_keys.first({ id }))
const note = (by: User, key: PersonalKey, activity: string) =>
  entryAbout('PersonalAPIKey', { id: key.id, organization_id: by.current_organization_id }, key.label, by, activity)

const mayHaveAnother = async (tables: Pick<AccountContext['store']['read'], 'personal_keys'>, user: User): Promise<void> => {
  if ((await tables.personal_keys.count({ user_id: user.id })) >= largestKeyCount)
    throw invalid(`You can only have ${largestKeyCount} personal API keys. Remove an existing key before creating a new one.`)
}

export const createPersonalKeys = (context: AccountContext) => {
  const { store } = context

  return {
    list: (user: User) => store.read.personal_keys.find({ user_id: user.id }, { newestFirst: 'created_at' }),
    byId: (user: User, id: string) => store.read.personal_keys.first({ id, user_id: user.id }),
    mayHaveAnother,

    /** The value is shown only once. */
    create: (user: User, body: unknown, value = randomKey('phx_')): Promise<{ key: PersonalKey; value: string }> =>
      store.write(async (tables) => {
        await mayHaveAnother(tables, user)
        const input = check(keyInput, body)
        await mustBeAllowed(tables, user, input)
        // Servers that start together are given the same first key.
        const there = await tables.personal_keys.first({ hash: hashKey(value) })
        if (there) return { key: there, value }
        const key: PersonalKey = {
          id: context.newId(),
          user_id: user.id,
          label: input.label,
          hash: hashKey(value),
          mask_value: maskKey(value),
          scopes: input.scopes,
          scoped_teams: input.scoped_teams ?? [],
          scoped_organizations: input.scoped_organizations ?? [],
          created_at: context.clock(),
          last_used_at: null,
          last_rolled_at: null,
        }
        await tables.personal_keys.insert(key)
        await log(context, tables, note(user, key, 'created'))
        return { key, value }
      }),

    update: (user: User, { id }: PersonalKey, body: unknown): Promise<PersonalKey> =>
      store.write(async (tables) => {
        const key = await asItIs(tables, id)
        const change = check(keyInput.partial(), body)
        await mustBeAllowed(tables, user, change)
        await tables.personal_keys.update({ id: key.id }, change)
        const changes = changesOf('PersonalAPIKey', key, change)
        if (changes.length > 0) await log(context, tables, { ...note(user, key, 'updated'), changes })
        return { ...key, ...change }
      }),

    /** Same key, new value; the old value is invalid immediately. */
    roll: (user: User, { id }: PersonalKey): Promise<{ key: PersonalKey; value: string }> =>
      store.write(async (tables) => {
        const key = await asItIs(tables, id)
        const value = randomKey('phx_')
        const change = { hash: hashKey(value), mask_value: maskKey(value), last_rolled_at: context.clock() }
        await tables.personal_keys.update({ id: key.id }, change)
        await log(context, tables, note(user, key, 'rolled'))
        return { key: { ...key, ...change }, value }
      }),

    remove: (user: User, { id }: PersonalKey): Promise<void> =>
      store.write(async (tables) => {
        const key = await asItIs(tables, id)
        await tables.personal_keys.remove({ id: key.id })
        await log(context, tables, note(user, key, 'deleted'))
      }),

    /** The key with that value, of an active user. */
    async authenticate(value: string): Promise<{ key: PersonalKey; user: User } | undefined> {
      if (value.length > longestSecret) return undefined
      const key = await store.read.personal_keys.first({ hash: hashKey(value) })
      const user = key && (await store.read.users.first({ id: key.user_id }))
      return key && user?.is_active ? { key, user } : undefined
    },

    /** Stored at most once an hour, so that a busy key costs no writes. If storing fails, the key works all the same. */
    async noteUse(key: PersonalKey): Promise<void> {
      const now = context.clock()
      if (key.last_used_at && Math.abs(now.getTime() - key.last_used_at.getTime()) < hour) return
      await store
        .write((tables) => tables.personal_keys.update({ id: key.id }, { last_used_at: now }))
        .catch((error: unknown) => context.report('failed to record the last use of a key', error))
    },
  }
}
