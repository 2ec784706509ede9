import { z } from 'zod'
import { check } from '../../accounts/fields.ts'
import type { Limits } from '../../accounts/key-limits.ts'
import type { ProjectRecord, User } from '../../accounts/records.ts'
import { sessionId } from '../../accounts/sessions.ts'
import { mailPasswordChange } from '../../accounts/set-password.ts'
import { isWrongPassword, type NewPassword, sameEmail, userInput } from '../../accounts/users.ts'
import { mustHaveLoggedIn } from '../access.ts'
import type { App } from '../app.ts'
import { failures } from '../errors.ts'
import { pageSchema } from '../pages.ts'
import {
  organizationSchema,
  presentOrganization,
  presentPreferences,
  presentShortProject,
  shortProjectSchema,
  time,
  timeSchema,
  uuidSchema,
} from '../present.ts'
import { defineResource, type Visits } from '../resource.ts'
import { networkFrom } from './login.ts'

const meSchema = z.looseObject({
  id: z.int(),
  uuid: uuidSchema,
  distinct_id: z.string(),
  first_name: z.string(),
  last_name: z.string(),
  email: z.string(),
  pending_email: z.string().nullable(),
  is_email_verified: z.boolean().nullable(),
  has_password: z.boolean(),
  is_staff: z.boolean(),
  is_impersonated: z.boolean().nullable(),
  team: shortProjectSchema.nullable(),
  organization: organizationSchema.nullable(),
  organizations: z.array(z.object({ id: uuidSchema, name: z.string(), slug: z.string(), membership_level: z.int().nullable() })),
  is_2fa_enabled: z.boolean(),
  has_social_auth: z.boolean(),
  date_joined: timeSchema,
})

const present = async ({ accounts }: App, user: User, limits: Limits): Promise<z.infer<typeof meSchema>> => {
  const { organization, project } = await accounts.users.current(user, limits)
  const membershipIn = (id: string) => accounts.organizations.membership(id, user)
  const reached = (await accounts.organizations.of(user)).filter(({ id }) => limits.reachesOrganization(id))
  const own = reached.find(({ id }) => id === organization?.id)
  return {
    ...presentPreferences(user),
    id: user.id,
    uuid: user.uuid,
    distinct_id: user.distinct_id,
    first_name: user.first_name,
    last_name: user.last_name,
    email: user.email,
    pending_email: null,
    is_email_verified: user.is_email_verified,
    has_password: user.password_hash !== null,
    is_staff: false,
    is_impersonated: null,
    team: project ? presentShortProject(project) : null,
    organization: own ? await presentOrganization(accounts, own, await membershipIn(own.id)) : null,
    organizations: await Promise.all(
      reached.map(async (one) => ({
        id: one.id,
        name: one.name,
        slug: one.slug,
        membership_level: (await membershipIn(one.id))?.level ?? null,
      })),
    ),
    scene_personalisation: [],
    is_2fa_enabled: user.has_second_factor,
    has_social_auth: user.has_social_login,
    date_joined: time(user.date_joined),
  }
}

/** Users cannot see other accounts. */
const self = ({ caller, params }: Visits['user']): User => {
  if (params.uuid !== '@me' && params.uuid !== caller.user.uuid) throw failures.notFound()
  return caller.user
}

/** Wrong present passwords count like failed logins. */
const newSecret = async (visit: Visits['user'], user: User, given: NewPassword) => {
  const { app, caller, site } = visit
  if (caller.via !== 'session') throw failures.noKeys()
  const takeBack = app.attempts.begin({ email: user.email, address: site.client, device: null })
  try {
    const password_hash = await app.accounts.users.newPasswordHash(user, given, networkFrom(visit))
    takeBack()
    return { password_hash, kept: caller.session.hash }
  } catch (error) {
    if (!isWrongPassword(error)) takeBack()
    throw error
  }
}

const sessionSchema = z.object({
  id: z.string(),
  is_current: z.boolean(),
  user_agent: z.string().nullable().meta({ description: 'What the browser calls itself' }),
  created_at: timeSchema,
  expires_at: timeSchema,
})
const sessionPath = ':uuid/sessions'

export const users = defineResource({
  name: 'users',
  summary: "The caller's own account",
  path: '/api/users',
  reach: 'user',
  object: 'user',
  rows: (row) => [
    row({
      method: 'GET',
      path: ':uuid',
      name: 'retrieve',
      summary: 'The own account, under `@me` or its uuid; a limited key sees of it what it reaches',
      limitedKeys: 'any',
      answer: meSchema,
      handle: (visit) => present(visit.app, self(visit), visit.caller.limits),
    }),
    row({
      method: 'PATCH',
      path: ':uuid',
      name: 'update',
      summary:
        'Changes the own account, or what it works in. Another address takes a recent login; a new password takes a login and the present password, and ends the other sessions',
      body: userInput,
      answer: meSchema,
      handle: async (visit) => {
        const { accounts } = visit.app
        const user = self(visit)
        const { email, password, current_password } = check(
          userInput.pick({ email: true, password: true, current_password: true }),
          visit.body,
        )
        // Access to the mailbox means access to the account, so a key is not enough to change it.
        if (email !== undefined && !sameEmail(email, user.email)) mustHaveLoggedIn(visit)
        const secret = password === undefined ? null : await newSecret(visit, user, { password, current_password })
        const mayUse = async (project: ProjectRecord) => {
          const membership = await accounts.organizations.membership(project.organization_id, user)
          return (await accounts.projects.levelIn(project, membership)) !== null
        }
        const updated = await accounts.users.update(user, visit.body, mayUse, secret)
        if (secret) void mailPasswordChange(accounts.context, updated)
        return present(visit.app, updated, visit.caller.limits)
      },
    }),
    row({
      method: 'GET',
      path: sessionPath,
      name: 'sessions',
      summary: 'The sessions of the own account that are signed in, the newest first',
      scope: 'none',
      answer: pageSchema(sessionSchema),
      isPaged: true,
      handle: async (visit) =>
        (await visit.app.accounts.sessions.list(self(visit))).map((one) => ({
          id: sessionId(one),
          is_current: visit.caller.via === 'session' && visit.caller.session.hash === one.hash,
          user_agent: one.user_agent,
          created_at: time(one.authenticated_at),
          expires_at: time(one.expires_at),
        })),
    }),
    row({
      method: 'DELETE',
      path: sessionPath,
      name: 'end_sessions',
      summary: 'Signs out everywhere else: ends all sessions except the one that asks',
      scope: 'none',
      handle: async (visit) => {
        const kept = visit.caller.via === 'session' ? visit.caller.session.hash : ''
        await visit.app.accounts.sessions.endOthers(self(visit), kept)
      },
    }),
    row({
      method: 'DELETE',
      path: `${sessionPath}/:session_id`,
      name: 'end_session',
      summary: 'Ends one session',
      scope: 'none',
      handle: async (visit) => {
        if (!(await visit.app.accounts.sessions.endOne(self(visit), visit.params.session_id!))) throw failures.notFound()
      },
    }),
  ],
})
