import { z } from 'zod'
import { check } from '../../accounts/fields.ts'
import type { Limits } from '../../accounts/key-limits.ts'
import type { User } from '../../accounts/records.ts'
import { sameEmail, userInput } from '../../accounts/users.ts'
import { mustHaveLoggedIn } from '../access.ts'
import type { App } from '../app.ts'
import { failures } from '../errors.ts'
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
      summary: 'Changes the own account, or what it works in. Another address takes a recent login',
      body: userInput,
      answer: meSchema,
      handle: async (visit) => {
        const { accounts } = visit.app
        const user = self(visit)
        const { email } = check(userInput.pick({ email: true }), visit.body)
        // Access to the mailbox means access to the account, so a key is not enough to change it.
        if (email !== undefined && !sameEmail(email, user.email)) mustHaveLoggedIn(visit)
        const updated = await accounts.users.update(user, visit.body, async (project) => {
          const membership = await accounts.organizations.membership(project.organization_id, user)
          return (await accounts.projects.levelIn(project, membership)) !== null
        })
        return present(visit.app, updated, visit.caller.limits)
      },
    }),
  ],
})
