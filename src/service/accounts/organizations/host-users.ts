import * as z from 'zod'
import { storableText } from '../../../lib/text/storable-text.ts'
import { type AccountContext, changesOf, log } from '../context.ts'
import { check } from '../fields.ts'
import { type AccountStore, type AccountTables, type LevelName, level, type Membership, type User } from '../records.ts'
import { invalid } from '../refusals.ts'
import { insertUser } from '../users/users.ts'
import { endMembership } from './leaving.ts'
import { insertMembership } from './organizations.ts'

// Users of the application that Waymark is part of. That application signs them in and is asked at every request. An account belongs to the pair of issuer and
// subject. An address is only shown: the application may not have proven it, and it gives no rights.

const levelNames = Object.keys(level) as [LevelName, ...LevelName[]]

/** Compared character by character, so nothing is trimmed or replaced: that would make one account of two users. */
const name = (max: number) =>
  z
    .string({ error: 'Must be a text.' })
    .min(1)
    .max(max)
    .refine((value) => storableText(value) === value && !value.includes('\0'), {
      error: 'Must not contain NUL characters or unpaired surrogates.',
    })
const longestName = 150

const hostUserInput = z.strictObject({
  issuer: name(200),
  subject: name(255),
  email: z
    .string({ error: 'Must be a text.' })
    .max(254)
    .regex(/^[^\s@]+@[^\s@]+$/, { error: 'Must be an e-mail address. Leave it out if there is none.' })
    .nullish(),
  name: z.string({ error: 'Must be a text.' }).nullish(),
  organization: z.string({ error: 'Must be the id of an organization.' }).max(64),
  level: z.enum(levelNames, { error: `Must be ${levelNames.map((name) => `"${name}"`).join(', ')}.` }),
  authenticated_at: z.date({ error: 'Must be a Date.' }).optional(),
})

/** A user whom the host application has signed in. */
export interface HostUser {
  /** Who vouches for the user: the name of the application, or the URL of its identity provider. */
  readonly issuer: string
  /** What the issuer calls the user, for ever: an id, not an address. */
  readonly subject: string
  /** Only shown, and written to: it neither finds nor joins an account. */
  readonly email?: string | null | undefined
  readonly name?: string | null | undefined
  /** The id of an organization: `(await waymark.defaultOrganization()).id`. */
  readonly organization: string
  readonly level: LevelName
  /** When the user has signed in. Some changes, such as those of keys, take a login of the last six hours. Default: now. */
  readonly authenticated_at?: Date | undefined
}

/** For users without an address: no server has it. */
const noAddress = (uuid: string) => `${uuid}@users.invalid`

interface Facts {
  readonly email: string | null
  readonly name: string
  readonly organization: string
  readonly level: number
}
type Reading = AccountStore['read']
const find = (tables: Reading | AccountTables, issuer: string, subject: string) => tables.users.first({ subject, issuer })

const addressOf = (user: User, { email }: Facts) => email ?? noAddress(user.uuid)
const isUpToDate = (user: User, memberships: readonly Membership[], facts: Facts, at: number): boolean =>
  user.email === addressOf(user, facts) &&
  user.first_name === facts.name &&
  memberships.length === 1 &&
  memberships[0]!.organization_id === facts.organization &&
  memberships[0]!.level === at

/** An organization has one owner. */
const levelIn = async (tables: Reading | AccountTables, user: User | undefined, { organization, level: wanted }: Facts) => {
  if (wanted !== level.owner) return wanted
  const owner = await tables.memberships.first({ organization_id: organization, level: level.owner })
  return owner && owner.user_id !== user?.id ? level.admin : wanted
}

const leave = async (context: AccountContext, tables: AccountTables, user: User, memberships: readonly Membership[]) => {
  for (const membership of memberships) {
    await endMembership(tables, membership)
    await log(context, tables, {
      by: user,
      organization_id: membership.organization_id,
      scope: 'OrganizationMembership',
      item_id: membership.id,
      activity: 'left',
      name: user.email,
    })
  }
}

const bring = async (context: AccountContext, tables: AccountTables, issuer: string, subject: string, facts: Facts): Promise<User> => {
  if (!(await tables.organizations.first({ id: facts.organization })))
    throw invalid(
      `There is no organization ${facts.organization}: \`waymark.defaultOrganization()\` returns the id of the first one.`,
      'organization',
    )
  const user =
    (await find(tables, issuer, subject)) ??
    (await insertUser(context, tables, { email: '', first_name: facts.name, host: { issuer, subject } }))
  const shown = { email: addressOf(user, facts), first_name: facts.name }
  const changes = changesOf('User', user as unknown as Record<string, unknown>, shown)
  if (changes.length > 0) await tables.users.update({ id: user.id }, shown)
  const at = await levelIn(tables, user, facts)
  const memberships = await tables.memberships.find({ user_id: user.id })
  const known = memberships.find((one) => one.organization_id === facts.organization)
  await leave(
    context,
    tables,
    user,
    memberships.filter((one) => one !== known),
  )
  const about = { by: { ...user, ...shown }, organization_id: facts.organization, scope: 'OrganizationMembership', name: shown.email }
  if (!known) {
    const membership = await insertMembership(context, tables, user, facts.organization, at)
    const project = await tables.projects.first({ organization_id: facts.organization })
    await tables.users.update({ id: user.id }, { current_organization_id: facts.organization, current_project_id: project?.id ?? null })
    await log(context, tables, { ...about, item_id: membership.id, activity: 'joined' })
  } else if (known.level !== at) {
    await tables.memberships.update({ id: known.id }, { level: at, updated_at: context.clock() })
    const changed = changesOf('OrganizationMembership', known as unknown as Record<string, unknown>, { level: at })
    await log(context, tables, { ...about, item_id: known.id, activity: 'updated', changes: changed })
  }
  return (await tables.users.first({ id: user.id }))!
}

export const createHostUsers = (context: AccountContext) => {
  const { store } = context

  return {
    /** The account of a user of the host application, with exactly the membership that it says. Null: an operator has deactivated the account. */
    async enter(given: unknown): Promise<{ readonly user: User; readonly authenticatedAt: Date } | null> {
      const { issuer, subject, email, name: shown, organization, level: named, authenticated_at } = check(hostUserInput, given)
      const facts: Facts = {
        email: email ?? null,
        name: storableText((shown ?? '').trim().slice(0, longestName)),
        organization: organization.toLowerCase(),
        level: level[named],
      }
      const authenticatedAt = authenticated_at ?? context.clock()
      const known = await find(store.read, issuer, subject)
      if (known && !known.is_active) return null
      if (known) {
        const memberships = await store.read.memberships.find({ user_id: known.id })
        if (isUpToDate(known, memberships, facts, await levelIn(store.read, known, facts))) return { user: known, authenticatedAt }
      }
      const user = await store.write((tables) => bring(context, tables, issuer, subject, facts))
      return user.is_active ? { user, authenticatedAt } : null
    },

    /** Ends what outlives a visit: the memberships and the personal API keys. False: there is no such account. */
    end: (issuer: string, subject: string): Promise<boolean> =>
      store.write(async (tables) => {
        const user = await find(tables, issuer, subject)
        if (!user) return false
        await leave(context, tables, user, await tables.memberships.find({ user_id: user.id }))
        await tables.personal_keys.remove({ user_id: user.id })
        await tables.users.update({ id: user.id }, { current_organization_id: null, current_project_id: null })
        return true
      }),
  }
}
