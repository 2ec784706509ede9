import * as z from 'zod'
import { WaymarkError } from '../../../errors/errors.ts'
import { type AccountContext, nextNumber } from '../context.ts'
import { anyJson, check, email, flag, givenPassword, integer, jsonObject, newPassword, text, uuid } from '../fields.ts'
import { projectsGiven } from '../projects/private-access.ts'
import { type AccountTables, level, type Membership, type Organization, type ProjectRecord, type User } from '../records.ts'
import { conflicting, invalid, notAllowed } from '../refusals.ts'
import { deviceToken, isDeviceToken, randomToken } from '../secrets/secrets.ts'
import type { Json } from '../store.ts'
import { unlimited } from './key-limits.ts'
import { provenAddress, unprovenAddress } from './proof.ts'
import { setPassword } from './set-password.ts'
import { changesOfUser, logOwnChanges } from './user-log.ts'

export const userInput = z.object({
  first_name: text({ max: 150, blank: true }).optional(),
  last_name: text({ max: 150, blank: true }).optional(),
  email: email().optional(),
  email_opt_in: flag().nullable().optional(),
  anonymize_data: flag().nullable().optional(),
  toolbar_mode: text({ max: 200, blank: true }).nullable().optional(),
  theme_mode: text({ max: 20, blank: true }).nullable().optional(),
  notification_settings: jsonObject().optional(),
  events_column_config: anyJson().optional(),
  has_seen_product_intro_for: anyJson().optional(),
  set_current_organization: uuid().optional(),
  set_current_team: integer(1).optional(),
  password: newPassword().optional(),
  current_password: givenPassword().nullable().optional(),
})

/** Preferences of a user that only the interface reads. */
export const preferenceDefaults: Readonly<Record<string, Json>> = {
  email_opt_in: false,
  anonymize_data: false,
  toolbar_mode: 'toolbar',
  theme_mode: null,
  notification_settings: { plugin_disabled: true },
  events_column_config: { active: 'DEFAULT' },
  has_seen_product_intro_for: null,
}

export interface NewUser {
  readonly email: string
  readonly first_name?: string
  readonly last_name?: string
  /** From `passwords.hash`: the expensive part is done before tables are written. */
  readonly password_hash?: string | null
  /** Who says that the address is the user's: nobody yet, a mail that was sent to it, or the operator. */
  readonly isProven?: boolean
  /** Of a user whom the host application signs in. */
  readonly host?: { readonly issuer: string; readonly subject: string }
}

/** Signed in by the application that Waymark is part of. Its address is what that application says, so it proves nothing and finds nobody. */
export const isHostUser = ({ issuer }: Pick<User, 'issuer'>): boolean => issuer !== null

export const mustBeOwnAccount = (user: User): void => {
  if (isHostUser(user)) throw notAllowed('This account belongs to the application that signs you in: change it there.')
}

/** Addresses are compared ignoring case, and stored with a lower-case domain. */
export const normalEmail = (address: string): string => {
  const at = address.lastIndexOf('@')
  return address.slice(0, at) + address.slice(at).toLowerCase()
}
export const sameEmail = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

/** Only accounts with a password of their own: nobody becomes another user by an address. */
export const findUserByEmail = async (
  tables: { readonly users: AccountTables['users'] | Pick<AccountTables['users'], 'find'> },
  address: string,
) => (await tables.users.find({})).find((user) => !isHostUser(user) && sameEmail(user.email, address))

export const insertUser = async (context: AccountContext, tables: AccountTables, input: NewUser): Promise<User> => {
  if (!input.host && (await findUserByEmail(tables, input.email)))
    throw invalid('There is already an account with this email address.', 'email', 'unique')
  const id = await nextNumber(tables, 'user')
  const user: User = {
    id,
    uuid: context.newId(),
    distinct_id: randomToken(),
    email: normalEmail(input.email),
    first_name: input.first_name ?? '',
    last_name: input.last_name ?? '',
    password_hash: input.password_hash ?? null,
    is_active: true,
    ...(input.isProven ? provenAddress : unprovenAddress(context.clock())),
    has_second_factor: false,
    has_social_login: false,
    current_organization_id: null,
    current_project_id: null,
    date_joined: context.clock(),
    preferences: {},
    issuer: input.host?.issuer ?? null,
    subject: input.host?.subject ?? null,
    deactivated_by: null,
  }
  await tables.users.insert(user)
  return user
}

/** Moves a user to another organization or project when the current one is no longer accessible. */
export const moveCurrent = async (tables: AccountTables, user: User): Promise<void> => {
  const memberships = await tables.memberships.find({ user_id: user.id })
  const organizationId = memberships.some((one) => one.organization_id === user.current_organization_id)
    ? user.current_organization_id
    : (memberships[0]?.organization_id ?? null)
  const projects = organizationId === null ? [] : await tables.projects.find({ organization_id: organizationId })
  const projectId = projects.some((one) => one.id === user.current_project_id) ? user.current_project_id : (projects[0]?.id ?? null)
  if (organizationId !== user.current_organization_id || projectId !== user.current_project_id)
    await tables.users.update({ id: user.id }, { current_organization_id: organizationId, current_project_id: projectId })
}

export interface Current {
  readonly organization: Organization | undefined
  readonly project: ProjectRecord | undefined
}

export const isWrongPassword = (error: unknown): boolean =>
  error instanceof WaymarkError && error.code === 'invalid-value' && error.attr === 'current_password'
const signIns = (context: AccountContext) => ({
  /** Throws if the present password is not right. `from`: as for `authenticate`. */
  async mustKnowPassword(user: User, current_password: string | null | undefined, what: string, from: string): Promise<void> {
    if (user.password_hash === null) return
    if (current_password == null) throw invalid(`This field is required when updating your ${what}.`, 'current_password', 'required')
    if (!(await context.passwords.matches(current_password, user.password_hash, from)))
      throw invalid('Your current password is incorrect.', 'current_password', 'incorrect_password')
  },

  newPasswordHash: ({ email }: User, password: string, from: string): Promise<string> => context.passwords.hash(password, email, from),

  /** The token that marks a browser in which the user has signed in, until the password changes. Null without a password. */
  deviceToken: (user: User): string | null => (user.password_hash === null ? null : deviceToken(user.uuid, user.password_hash)),

  /** Whether the token belongs to a browser in which the user with that address has signed in. */
  async isDevice(address: string, token: string): Promise<boolean> {
    const user = await findUserByEmail(context.store.read, address)
    return Boolean(user?.password_hash && isDeviceToken(token, user.uuid, user.password_hash))
  },

  /** The user, if address and password match. Takes equally long for an unknown address and for a wrong password. */
  async authenticate(address: string, password: string, from: string): Promise<User | undefined> {
    const user = await findUserByEmail(context.store.read, address)
    const matches = await context.passwords.matches(password, user?.password_hash ?? neverMatching, from)
    return user?.is_active && user.password_hash && matches ? user : undefined
  },
})

export const createUsers = (context: AccountContext) => {
  const { store } = context
  return {
    byUuid: (id: string) => store.read.users.first({ uuid: id }),
    byId: (id: number) => store.read.users.first({ id }),
    byEmail: (address: string) => findUserByEmail(store.read, address),

    /**
     * The target of `@current`: the user's last choice if it is still accessible, else the first accessible one. For a limited
     * key only its projects count, and their organizations.
     */
    async current(user: User, limits = unlimited): Promise<Current> {
      const memberships = await store.read.memberships.find({ user_id: user.id })
      const invited = await projectsGiven(store.read, user.id)
      const openIn = async ({ organization_id, level: held }: Membership) =>
        (await store.read.projects.find({ organization_id })).filter(
          (one) => limits.reachesProject(one) && (!one.access_control || held >= level.admin || invited.has(one.id)),
        )
      const isLast = (one: Membership) => one.organization_id === user.current_organization_id
      for (const membership of [...memberships.filter(isLast), ...memberships.filter((one) => !isLast(one))]) {
        const open = await openIn(membership)
        if (open.length === 0 && !limits.reachesOrganization(membership.organization_id)) continue
        return {
          organization: await store.read.organizations.first({ id: membership.organization_id }),
          project: open.find((one) => one.id === user.current_project_id) ?? open[0],
        }
      }
      return { organization: undefined, project: undefined }
    },
    ...signIns(context),

    /** The address is changed by its proof: `emailLinks`. `mayUse`: whether a project is accessible to the user. `secret`: a new password, and the hash of the session that stays. */
    update: (
      { id, password_hash }: User,
      body: unknown,
      mayUse: (project: ProjectRecord) => Promise<boolean>,
      secret: { readonly password_hash: string; readonly kept: string } | null = null,
    ): Promise<User> =>
      store.write(async (tables) => {
        const user = (await tables.users.first({ id }))! // with the preferences that were changed meanwhile
        const {
          set_current_organization,
          set_current_team,
          first_name,
          last_name,
          email: _address,
          password: _new,
          current_password: _present,
          ...preferences
        } = check(userInput, body)
        if (_address !== undefined || _new !== undefined) mustBeOwnAccount(user)
        // The present password was compared with this hash.
        if (secret && user.password_hash !== password_hash) throw conflicting('The password was changed in the meantime. Try again.')
        const change: { -readonly [K in keyof User]?: User[K] } = {}
        if (first_name !== undefined) change.first_name = first_name
        if (last_name !== undefined) change.last_name = last_name
        if (set_current_organization !== undefined) {
          const membership = await tables.memberships.first({ user_id: user.id, organization_id: set_current_organization })
          if (!membership)
            throw invalid(`Object with id=${set_current_organization} does not exist.`, 'set_current_organization', 'does_not_exist')
          change.current_organization_id = set_current_organization
          change.current_project_id = (await tables.projects.first({ organization_id: set_current_organization }))?.id ?? null
        }
        if (set_current_team !== undefined) {
          const project = await tables.projects.first({ id: set_current_team })
          if (!project || !(await mayUse(project)))
            throw invalid(`Object with id=${set_current_team} does not exist.`, 'set_current_team', 'does_not_exist')
          change.current_organization_id = project.organization_id
          change.current_project_id = project.id
        }
        if (Object.keys(preferences).length > 0)
          change.preferences = { ...(user.preferences as object), ...(preferences as object) } as Json
        await tables.users.update({ id: user.id }, change)
        if (secret) await setPassword(context, tables, user, secret.password_hash, secret.kept)
        const changes = changesOfUser(user, change)
        if (changes.length > 0) await logOwnChanges(context, tables, user, changes)
        return (await tables.users.first({ id: user.id }))!
      }),
  }
}

const neverMatching = `scrypt$15$8$1$${Buffer.alloc(16).toString('base64')}$${Buffer.alloc(32).toString('base64')}`
