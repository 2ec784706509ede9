import { isUuid } from '../../../lib/ids/time-ordered-uuid.ts'
import { operatorMembership } from '../../../service/accounts/acting-member.ts'
import { type LevelName, level, type ProjectRecord } from '../../../service/accounts/records.ts'
import { levelTooLow, noProjectAccess, projectLevelTooLow } from '../../../service/accounts/refusals.ts'
import { limitsOf, scopedOrganizations, scopedTeams, unlimited } from '../../../service/accounts/users/key-limits.ts'
import { allows, type Scope } from '../../../service/accounts/users/personal-keys.ts'
import { recentLogin } from '../../../service/accounts/users/sessions.ts'
import type { App } from '../app.ts'
import { failures } from '../errors.ts'
import { defaultScope, isReading, type OrganizationVisit, type Reach, type Resource, type Row, type Visit } from '../resource.ts'
import type { Caller } from './authenticate.ts'

// Authorization. The order of the checks is part of the contract: who calls, what the key may do, who owns the objects, which level is needed. Whether
// the method or the object exists is checked last, so that strangers learn nothing.

/** The permissions of a request: those of its row, or for an unsupported method those of its kind. */
export interface Wanted {
  readonly reach: Reach
  readonly level: LevelName
  readonly scope: Row['scope']
  readonly limitedKeys: Row['limitedKeys']
  readonly needsRecentLogin: boolean
  readonly isBeforeSecondFactor: boolean
}

/** `other`: a row of the same path, where none has the method. */
export const wantedBy = (resource: Resource, row: Row | undefined, other: Row, method: string): Wanted =>
  row ?? {
    reach: other.reach,
    level: resource.levels[isReading(method) ? 'read' : 'write'],
    scope: other.scope === 'any' ? 'any' : defaultScope(resource.object, method),
    limitedKeys: other.scope === 'any' ? other.limitedKeys : 'none',
    needsRecentLogin: false,
    isBeforeSecondFactor: false,
  }

const isAbout = (reach: Reach, what: 'organization' | 'project') => reach === what || reach === `${what} record`

type KeyCaller = Extract<Caller, { via: 'key' }>
const isNumber = (id: string | undefined): id is string => id !== undefined && /^\d+$/.test(id)

/** Limits of a key that follow from the path alone. They are the same for existing and missing projects. */
const checkKeyLimits = async ({ key, user }: KeyCaller, wanted: Wanted, { app, params }: Visit, project: ProjectRecord | undefined) => {
  const [teams, organizations, limits] = [scopedTeams(key), scopedOrganizations(key), limitsOf(key)]
  if (isAbout(wanted.reach, 'project')) {
    const asked = projectParam(params, wanted.reach)
    if (teams.length > 0 && isNumber(asked) && !teams.includes(Number(asked))) throw failures.otherProject(asked)
    if (wanted.reach !== 'project' || !project || limits.reachesProject(project)) return
    const { organization_id } = project
    // A member may learn to whom it belongs.
    if (await app.accounts.organizations.membership(organization_id, user)) throw failures.otherOrganization(organization_id)
  } else if (isAbout(wanted.reach, 'organization')) {
    if (teams.length > 0) throw failures.projectKeyOutside()
    const asked = params.organization_id
    if (asked !== undefined && !limits.reachesOrganization(asked)) throw failures.otherOrganization(asked)
  } else {
    if (teams.length > 0 && wanted.limitedKeys !== 'any') throw failures.projectKeyOutside()
    if (organizations.length > 0 && wanted.limitedKeys === 'none') throw failures.organizationKeyOutside()
  }
}

const checkScope = (caller: KeyCaller, wanted: Wanted) => {
  if (wanted.scope === 'any') return
  if (wanted.scope === 'none') {
    if (caller.key.scopes !== null) throw failures.noKeys()
  } else if (!allows(caller.key, wanted.scope)) throw failures.missingScope(wanted.scope)
}

const organizationParam = (params: Readonly<Record<string, string>>, reach: Reach) =>
  params.organization_id ?? (reach === 'organization record' ? params.id : undefined)
const projectParam = (params: Readonly<Record<string, string>>, reach: Reach) =>
  params.project_id ?? (reach === 'project record' ? params.id : undefined)

/** Organizations and their contents are identified by UUIDs in any case. Ids of queries are chosen by the client. */
const inOneCase = (params: Visit['params'], reach: Reach): Record<string, string> =>
  Object.fromEntries(
    Object.entries(params).map(([name, value]) => {
      const isOurs = name === 'organization_id' || isAbout(reach, 'organization')
      return [name, isOurs && isUuid(value) ? value.toLowerCase() : value]
    }),
  )

/** Those of the key, whatever is held from its user. */
const ownLimits = (caller: Caller) => (caller.via === 'key' ? limitsOf(caller.key) : unlimited)

const withoutSecondFactor = ({ via, held }: Caller) =>
  failures.secondFactorRequired(
    held.organizations.map(({ name }) => name),
    via === 'key',
  )
/** For requests of a member without a second factor to an organization that requires one. */
const mustNotBeHeld = (caller: Caller, id: string, wanted: Pick<Wanted, 'isBeforeSecondFactor'>): void => {
  const isHeld = caller.held.organizations.some((one) => one.id === id)
  if (isHeld && !(wanted.isBeforeSecondFactor && caller.via === 'session')) throw withoutSecondFactor(caller)
}
/** For requests that concern the user: as long as there is an organization that is open, they are answered without the others. */
const mustNotBeHeldFromAll = (caller: Caller): void => {
  if (caller.held.isAll) throw withoutSecondFactor(caller)
}

/** `@current` is the caller's current project or organization. */
const resolveCurrent = async (visit: Visit & { caller: Caller }, wanted: Wanted): Promise<Record<string, string>> => {
  const params = inOneCase(visit.params, wanted.reach)
  if (!Object.values(params).includes('@current')) return params
  const { caller } = visit
  const { users } = visit.app.accounts
  const open = await users.current(caller.user, caller.limits)
  // A user who gets nothing without a second factor is refused with that reason.
  const current = open.organization || !caller.held.isAll ? open : await users.current(caller.user, ownLimits(caller))
  const recordKey = wanted.reach === 'organization record' || wanted.reach === 'project record' ? 'id' : null
  for (const [key, value] of Object.entries(params)) {
    if (value !== '@current') continue
    if (key === 'organization_id' || (key === recordKey && wanted.reach === 'organization record')) {
      if (!current.organization) throw failures.notFound(key === 'id' ? 'Current organization not found.' : 'Organization not found.')
      params[key] = current.organization.id
    } else if (key === 'project_id' || key === recordKey) {
      if (!current.project) throw failures.notFound('Project not found.')
      params[key] = String(current.project.id)
    }
  }
  return params
}

const findProject = async (app: App, id: string | undefined): Promise<ProjectRecord | undefined> =>
  id !== undefined && /^\d{1,9}$/.test(id) ? app.accounts.projects.byId(Number(id)) : undefined

const membershipOf = async ({ app, caller }: Visit & { caller: Caller }, organizationId: string) =>
  caller.via === 'host' && caller.isOperator
    ? operatorMembership(caller.user, organizationId, app.clock())
    : app.accounts.organizations.membership(organizationId, caller.user)

const enterOrganization = async (visit: Visit & { caller: Caller }, id: string, wanted: Wanted, isRecord: boolean) => {
  const { organizations } = visit.app.accounts
  const organization = isUuid(id) ? await organizations.byId(id.toLowerCase()) : undefined
  if (!organization) throw isRecord ? failures.notFound() : failures.notFound('Organization not found.')
  const membership = await membershipOf(visit, organization.id)
  if (!membership) throw isRecord ? failures.notFound() : failures.denied()
  if (isRecord && !ownLimits(visit.caller).reachesOrganization(organization.id)) throw failures.notFound()
  mustNotBeHeld(visit.caller, organization.id, wanted)
  return { organization, membership, by: { user: visit.caller.user, membership } }
}

const enterProject = async (visit: Visit & { caller: Caller }, wanted: Wanted, project: ProjectRecord | undefined) => {
  const isRecord = wanted.reach === 'project record'
  const { accounts } = visit.app
  const under = visit.params.organization_id
  if (under !== undefined) await enterOrganization(visit, under, wanted, false)
  if (!isRecord && !isNumber(visit.params.project_id)) throw failures.notFound('Project not found.')
  // Without access, a caller gets the same answer for a missing project.
  const outside = () => (isRecord ? failures.notFound() : noProjectAccess())
  if (!project || (under !== undefined && project.organization_id !== under)) throw outside()
  const organization = await accounts.organizations.byId(project.organization_id)
  const membership = await membershipOf(visit, project.organization_id)
  if (!organization || !membership || !ownLimits(visit.caller).reachesProject(project)) throw outside()
  const held = await accounts.projects.levelIn(project, membership)
  if (held === null) throw isRecord ? projectLevelTooLow() : noProjectAccess()
  mustNotBeHeld(visit.caller, organization.id, wanted)
  if (held < level[wanted.level]) throw projectLevelTooLow()
  return { organization, membership, project, by: { user: visit.caller.user, membership } }
}

const mustBeRecent = ({ app }: Visit, caller: Exclude<Caller, KeyCaller>): void => {
  const at = caller.via === 'host' ? caller.authenticatedAt : caller.session.authenticated_at
  if (app.clock().getTime() - at.getTime() > recentLogin) throw failures.oldLogin()
}

/** For actions that a key cannot perform although it has access to the row. */
export const mustHaveLoggedIn = (visit: Visit): void => {
  if (visit.caller === null || visit.caller.via === 'key') throw failures.noKeys()
  mustBeRecent(visit, visit.caller)
}

/** Does the caller also have this scope, besides the one that the row requires? */
export const holds = ({ caller }: Visit, scope: Scope): boolean => caller !== null && (caller.via !== 'key' || allows(caller.key, scope))

/** Authorizes the caller or throws; returns the visit with the objects of the path. */
export async function admit(visit: Visit, wanted: Wanted, tooLow: string | null): Promise<Visit> {
  if (wanted.reach === 'open') return visit
  const { caller } = visit
  if (!caller) throw failures.notAuthenticated()
  if (caller.via === 'key' && wanted.scope === 'none' && caller.key.scopes !== null) throw failures.noKeys()
  const known = { ...visit, caller }
  const params = await resolveCurrent(known, wanted)
  const inside = { ...known, params }
  const project = isAbout(wanted.reach, 'project') ? await findProject(visit.app, projectParam(params, wanted.reach)) : undefined
  if (caller.via === 'key') {
    await checkKeyLimits(caller, wanted, inside, project)
    checkScope(caller, wanted)
  }
  const entered = await enter(inside, wanted, project, tooLow)
  if (caller.via !== 'key' && wanted.needsRecentLogin) mustBeRecent(visit, caller)
  return entered
}

async function enter(
  inside: Visit & { caller: Caller },
  wanted: Wanted,
  project: ProjectRecord | undefined,
  tooLow: string | null,
): Promise<Visit> {
  if (isAbout(wanted.reach, 'project')) return { ...inside, ...(await enterProject(inside, wanted, project)) } as Visit
  if (isAbout(wanted.reach, 'organization')) {
    const id = organizationParam(inside.params, wanted.reach) ?? ''
    const entered = await enterOrganization(inside, id, wanted, wanted.reach === 'organization record')
    if (entered.membership.level < level[wanted.level]) throw tooLow ? failures.denied(tooLow) : levelTooLow()
    return { ...inside, ...entered } as OrganizationVisit
  }
  if (!wanted.isBeforeSecondFactor) mustNotBeHeldFromAll(inside.caller)
  return inside
}
