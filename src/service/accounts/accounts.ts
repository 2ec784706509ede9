import { WaymarkError } from '../../errors/errors.ts'
import { timeOrderedUuids } from '../../lib/ids/time-ordered-uuid.ts'
import { type AccountContext, type AccountSettings, defaultSettings } from './context.ts'
import { check } from './fields.ts'
import { createDomains } from './organizations/domains.ts'
import { createEventQuotas } from './organizations/event-quotas.ts'
import { createFirstOwner } from './organizations/first-owner.ts'
import { createHostUsers } from './organizations/host-users.ts'
import { createInvites } from './organizations/invites.ts'
import { createJoining } from './organizations/joining.ts'
import { createMembers } from './organizations/members.ts'
import { createOrganizations, insertMembership, insertOrganization, organizationInput } from './organizations/organizations.ts'
import { createProxyRecords } from './organizations/proxy-records.ts'
import { createRoles } from './organizations/roles.ts'
import { createOutboundCalls } from './outbound-calls.ts'
import { createDefinitionLog } from './projects/definition-log.ts'
import { createDefinitionNotes } from './projects/definition-notes.ts'
import { createDeletions } from './projects/deletions.ts'
import { createHistoricalImports } from './projects/historical-imports.ts'
import { createProjectMembers } from './projects/project-members.ts'
import { createProjectRoles } from './projects/project-roles.ts'
import { createProjects, insertProject, type NewProject } from './projects/projects.ts'
import { type AccountStore, type LevelName, level, type Organization, type ProjectRecord, type User } from './records.ts'
import { notFound } from './refusals.ts'
import { createScimGroups } from './scim/groups.ts'
import { createProvisioning, createScimTokens } from './scim/tokens.ts'
import { createScimUsers } from './scim/users.ts'
import { lazySecretBox } from './secrets/secret-box.ts'
import { createIdentities } from './single-sign-on/identities.ts'
import { createActivation } from './users/activation.ts'
import { createConsents } from './users/consents.ts'
import { createEmailLinks } from './users/email-links.ts'
import { createPasskeyEnrolment } from './users/passkey-enrolment.ts'
import { createPasskeys } from './users/passkeys.ts'
import { createPasswordLinks } from './users/password-links.ts'
import { createPasswords } from './users/passwords.ts'
import { createPersonalKeys } from './users/personal-keys.ts'
import { createSecondFactors } from './users/second-factor.ts'
import { createSessions } from './users/sessions.ts'
import { createSigningIn } from './users/signing-in.ts'
import { createUsers, findUserByEmail, insertUser, type NewUser } from './users/users.ts'

export interface AccountOptions extends Partial<Omit<AccountContext, 'store' | 'newId'>> {
  readonly store: AccountStore
}

export interface FirstStart {
  readonly organization: Organization
  readonly user: User
  readonly project: ProjectRecord
  /** Null if the key existed already. */
  readonly personalKey: string | null
}

const everything = { scopes: ['*'] }

/** A copy of account data that is only read. */
const noKeys = (): never => {
  throw new WaymarkError('unknown-secret-key', { id: '' })
}

const contextOf = ({ store, clock = () => new Date(), ...options }: AccountOptions): AccountContext => ({
  store,
  isShared: options.isShared ?? false,
  clock,
  newId: timeOrderedUuids(clock),
  settings: options.settings ?? ((): AccountSettings => defaultSettings),
  mailer: options.mailer ?? (() => null),
  lookupTxt: options.lookupTxt ?? (async () => []),
  lookupCname: options.lookupCname ?? (async () => null),
  passwords: options.passwords ?? createPasswords(),
  box: options.box ?? lazySecretBox(noKeys),
  outbound: options.outbound ?? createOutboundCalls(),
  provisioning: createProvisioning(),
  projectStores: options.projectStores ?? { create: async () => {}, remove: async () => {}, pluginsRemoved: async () => {} },
  report: options.report ?? (() => {}),
})

/** What the operator and the library make, without a member who asks for it. */
const beginnings = (context: AccountContext, personalKeys: ReturnType<typeof createPersonalKeys>) => {
  const { store } = context
  /** The default organization of library users. */
  const defaultOrganization = () =>
    store.write(
      async (tables) => (await tables.organizations.find({}))[0] ?? (await insertOrganization(context, tables, null, { name: 'Default' })),
    )

  return {
    async createProject(input: NewProject): Promise<ProjectRecord> {
      const organization = await defaultOrganization()
      const project = await store.write((tables) => insertProject(context, tables, null, organization.id, input))
      await context.projectStores.create(project.id)
      return project
    },

    /** Without members: those come by the host application, or by invitation. */
    async createOrganization(body: unknown): Promise<Organization> {
      const input = check(organizationInput, body)
      const made = await store.write(async (tables) => {
        const organization = await insertOrganization(context, tables, null, input)
        return { organization, project: await insertProject(context, tables, null, organization.id, {}) }
      })
      await context.projectStores.create(made.project.id)
      return made.organization
    },

    /** The operator says whose the address is. */
    createUser: (organizationId: string | null, user: NewUser, at: LevelName): Promise<User> =>
      store.write(async (tables) => {
        const made = await insertUser(context, tables, { isProven: true, ...user })
        if (organizationId === null) return made
        if (!(await tables.organizations.first({ id: organizationId }))) throw notFound(`There is no organization ${organizationId}.`)
        await insertMembership(context, tables, made, organizationId, level[at])
        const project = await tables.projects.first({ organization_id: organizationId })
        await tables.users.update({ id: made.id }, { current_organization_id: organizationId, current_project_id: project?.id ?? null })
        return (await tables.users.first({ id: made.id }))!
      }),

    /** Creates what is missing of the first organization, owner, project and key. */
    async firstStart(given: {
      readonly projectKey?: string
      readonly personalKey?: string
      readonly email?: string
      /** False: the first start creates no personal API key. */
      readonly makesKey?: boolean
    }): Promise<FirstStart> {
      const { organization, user, project, isNew } = await store.write(async (tables) => {
        const found = (await tables.organizations.find({}))[0]
        const home = found ?? (await insertOrganization(context, tables, null, { name: 'Default' }))
        const owned = await tables.memberships.first({ organization_id: home.id, level: level.owner })
        const address = given.email ?? 'owner@waymark.local'
        const owner =
          (owned && (await tables.users.first({ id: owned.user_id }))) ??
          (await findUserByEmail(tables, address)) ??
          (await insertUser(context, tables, { email: address, first_name: 'Owner', isProven: true }))
        if (!owned) await insertMembership(context, tables, owner, home.id, level.owner)
        const first =
          (await tables.projects.first({ organization_id: home.id })) ??
          (await insertProject(context, tables, null, home.id, { api_token: given.projectKey }))
        await tables.users.update({ id: owner.id }, { current_organization_id: home.id, current_project_id: first.id })
        return { organization: home, user: owner, project: first, isNew: !owned }
      })
      await context.projectStores.create(project.id)
      const wanted = given.personalKey
      const isThere = wanted !== undefined && (await personalKeys.authenticate(wanted)) !== undefined
      const makes = wanted === undefined ? isNew && given.makesKey !== false : !isThere
      const made = makes ? await personalKeys.create(user, { label: 'First key', ...everything }, wanted) : null
      return { organization, user, project, personalKey: made?.value ?? null }
    },
  }
}

export const createAccounts = (options: AccountOptions) => {
  const context = contextOf(options)
  const personalKeys = createPersonalKeys(context)
  return {
    context,
    users: createUsers(context),
    activation: createActivation(context),
    sessions: createSessions(context),
    signingIn: createSigningIn(context),
    secondFactors: createSecondFactors(context),
    passkeys: { ...createPasskeys(context), ...createPasskeyEnrolment(context) },
    identities: createIdentities(context),
    organizations: createOrganizations(context),
    members: createMembers(context),
    invites: createInvites(context),
    joining: createJoining(context),
    firstOwner: createFirstOwner(context),
    hostUsers: createHostUsers(context),
    passwordLinks: createPasswordLinks(context),
    emailLinks: createEmailLinks(context),
    domains: createDomains(context),
    roles: createRoles(context),
    scim: { tokens: createScimTokens(context), users: createScimUsers(context), groups: createScimGroups(context) },
    projects: createProjects(context),
    projectMembers: createProjectMembers(context),
    projectRoles: createProjectRoles(context),
    proxyRecords: createProxyRecords(context),
    historicalImports: createHistoricalImports(context),
    eventQuotas: createEventQuotas(context),
    definitionLog: createDefinitionLog(context),
    deletions: createDeletions(context),
    definitionNotes: createDefinitionNotes(context),
    personalKeys,
    consents: createConsents(context, personalKeys),

    ...beginnings(context, personalKeys),
  }
}

export type Accounts = ReturnType<typeof createAccounts>
