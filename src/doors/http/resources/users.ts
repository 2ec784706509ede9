import { check } from '../../../service/accounts/fields.ts'
import type { ProjectRecord, User } from '../../../service/accounts/records.ts'
import { emailLinkInput } from '../../../service/accounts/users/email-links.ts'
import type { Limits } from '../../../service/accounts/users/key-limits.ts'
import { noMailServer } from '../../../service/accounts/users/password-links.ts'
import { sessionId } from '../../../service/accounts/users/sessions.ts'
import { mailPasswordChange } from '../../../service/accounts/users/set-password.ts'
import { isWrongPassword, mustBeOwnAccount, sameEmail, userInput } from '../../../service/accounts/users/users.ts'
import { pageSchema } from '../../answers/pages.ts'
import { type MeAnswer, meSchema, sessionSchema } from '../../answers/users.ts'
import { mustHaveLoggedIn } from '../access/access.ts'
import type { App } from '../app.ts'
import { failures } from '../errors.ts'
import { presentOrganization, presentPreferences, presentShortProject, time } from '../present.ts'
import { defineResource, type Visits } from '../resource.ts'
import { networkFrom } from './login.ts'

export const presentMe = async ({ accounts }: App, user: User, limits: Limits): Promise<MeAnswer> => {
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
    pending_email: await accounts.emailLinks.pending(user),
    is_email_verified: user.is_email_verified,
    has_password: user.password_hash !== null,
    issuer: user.issuer,
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
export const self = ({ caller, params }: Visits['user']): User => {
  if (params.uuid !== '@me' && params.uuid !== caller.user.uuid) throw failures.notFound()
  return caller.user
}

/** Wrong present passwords count like failed logins. */
const mustKnowPassword = async (visit: Visits['user'], user: User, current: string | null | undefined, what: string) => {
  const { app, site } = visit
  const takeBack = await app.attempts.begin({ email: user.email, address: site.client, device: null })
  try {
    await app.accounts.users.mustKnowPassword(user, current, what, networkFrom(visit))
    await takeBack()
  } catch (error) {
    if (!isWrongPassword(error)) await takeBack()
    throw error
  }
}

/** Mails to one account, and to one address, count. */
const mayAsk = async ({ app, site }: Visits['user'], user: User, address: string) => {
  const about = { address: site.client, device: null }
  await app.mailedLinks.begin({ email: `address of ${user.uuid}`, ...about })
  if (!sameEmail(address, user.email)) await app.mailedLinks.begin({ email: address, ...about })
}

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
      summary: "The caller's account, under `@me` or its uuid; a limited key sees only the part within its reach",
      limitedKeys: 'any',
      answer: meSchema,
      handle: (visit) => presentMe(visit.app, self(visit), visit.caller.limits),
    }),
    row({
      method: 'PATCH',
      path: ':uuid',
      name: 'update',
      summary:
        'Changes the account, or its current organization or project. Another address requires a recent login and the current password, and is `pending_email` until it is confirmed; a new password requires a login and the current password, and ends the other sessions',
      body: userInput,
      answer: meSchema,
      handle: async (visit) => {
        const { accounts } = visit.app
        const user = self(visit)
        const { email, password, current_password } = check(
          userInput.pick({ email: true, password: true, current_password: true }),
          visit.body,
        )
        if (email !== undefined || password !== undefined) mustBeOwnAccount(user)
        // Access to the mailbox means access to the account, so a key is not enough to change it.
        const address = email !== undefined && !sameEmail(email, user.email) ? email : null
        if (address !== null) mustHaveLoggedIn(visit)
        if (password !== undefined && visit.caller.via !== 'session') throw failures.noKeys()
        if (password !== undefined || address !== null)
          await mustKnowPassword(visit, user, current_password, password === undefined ? 'email address' : 'password')
        const secret =
          password === undefined || visit.caller.via !== 'session'
            ? null
            : { password_hash: await accounts.users.newPasswordHash(user, password, networkFrom(visit)), kept: visit.caller.session.hash }
        if (address !== null) await mayAsk(visit, user, address)
        const mayUse = async (project: ProjectRecord) => {
          const membership = await accounts.organizations.membership(project.organization_id, user)
          return (await accounts.projects.levelIn(project, membership)) !== null
        }
        const updated = await accounts.users.update(user, visit.body, mayUse, secret)
        if (address !== null) await accounts.emailLinks.ask(user, address)
        if (secret) void mailPasswordChange(accounts.context, updated)
        return presentMe(visit.app, updated, visit.caller.limits)
      },
    }),
    row({
      method: 'POST',
      path: ':uuid/ask_confirmation',
      name: 'ask_confirmation',
      summary: 'Mails a link that confirms the current address',
      scope: 'none',
      status: 204,
      handle: async (visit) => {
        const user = self(visit)
        if (visit.app.accounts.context.mailer() === null) throw noMailServer()
        await mayAsk(visit, user, user.email)
        await visit.app.accounts.emailLinks.ask(user, user.email)
      },
    }),
    row({
      method: 'POST',
      path: ':uuid/confirm_email',
      name: 'confirm_email',
      summary:
        'Confirms an address with the secret that was mailed to it: the current one, or the one that replaces it. If the current address is proven, another one replaces it when both have been confirmed; until then it stays `pending_email`. Requires a login',
      scope: 'none',
      body: emailLinkInput,
      answer: meSchema,
      handle: async (visit) => {
        const user = self(visit)
        const { caller, app } = visit
        if (caller.via === 'key') throw failures.noKeys()
        return presentMe(app, await app.accounts.emailLinks.confirm(user, visit.body), caller.limits)
      },
    }),
    row({
      method: 'GET',
      path: sessionPath,
      name: 'sessions',
      summary: 'The signed-in sessions of the account, newest first',
      scope: 'none',
      answer: pageSchema(sessionSchema),
      isPaged: true,
      handle: async (visit) =>
        (await visit.app.accounts.sessions.list(self(visit))).map((one) => ({
          id: sessionId(one),
          is_current: visit.caller.via === 'session' && visit.caller.session.hash === one.hash,
          user_agent: one.user_agent,
          address: one.address,
          created_at: time(one.authenticated_at),
          expires_at: time(one.expires_at),
        })),
    }),
    row({
      method: 'DELETE',
      path: sessionPath,
      name: 'end_sessions',
      summary: 'Signs out everywhere else: ends all sessions except that of the request',
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
