import * as z from 'zod'
import { check, givenPassword, text } from '../../../service/accounts/fields.ts'
import { firstOwnerInput } from '../../../service/accounts/organizations/first-owner.ts'
import { signupInput } from '../../../service/accounts/organizations/joining.ts'
import type { User } from '../../../service/accounts/records.ts'
import { hashKey } from '../../../service/accounts/secrets/secrets.ts'
import { assertionInput, wrongPasskey } from '../../../service/accounts/users/passkeys.ts'
import { factorInput } from '../../../service/accounts/users/second-factor.ts'
import { lookSchema, precheckSchema, setupSchema, signedInSchema, waysSchema } from '../../answers/login.ts'
import { passkeyOptionsSchema, secondStepSchema } from '../../answers/two-factor.ts'
import { userSchema } from '../../answers/users.ts'
import { countedCode } from '../access/code-attempts.ts'
import { beginPasskey, challengeOf, shownFactor } from '../access/passkey-visits.ts'
import { deviceOf, fromOf, noSession, pendingLoginOf, sessionHeaders, signedInBy } from '../access/session-cookies.ts'
import { failures } from '../errors.ts'
import { presentUser } from '../present.ts'
import { networkOf } from '../requests/client-address.ts'
import { defineResource, Reply, type Visit } from '../resource.ts'

const precheckInput = z.object({ email: text({ max: 254 }) })
const loginInput = z.object({ email: text({ max: 254 }), password: givenPassword() })

/** Callers of one network share a queue for passwords. */
export const networkFrom = ({ site }: Visit): string => (site.client === null ? '' : networkOf(site.client).network)

const tried = async (visit: Visit, email: string, password: string): Promise<User> => {
  const { attempts, accounts } = visit.app
  await accounts.signingIn.mustAllowPassword(email) // before the password costs anything, and for unknown addresses too
  const device = await deviceOf(visit, email)
  const takeBack = await attempts.begin({ email, address: visit.site.client, device })
  const from = device !== null ? `device ${device}` : networkFrom(visit)
  const user = await accounts.users.authenticate(email, password, from).catch(async (error: unknown) => {
    await takeBack() // the password was not checked
    throw error
  })
  if (!user) throw failures.badLogin()
  await takeBack()
  return user
}

/** The login that waits for a second factor: whose it is, and its hash, which the challenge of a passkey is bound to. */
const waitingLogin = async (visit: Visit) => {
  const token = pendingLoginOf(visit)
  const user = await visit.app.accounts.signingIn.waiting(token)
  return { user, token: token!, holder: hashKey(token!) }
}
const withFactor = async (visit: Visit) => {
  const { user, token, holder } = await waitingLogin(visit)
  const shown = await shownFactor(visit, user, 'second', holder)
  return countedCode(visit, user, shown, () => visit.app.accounts.signingIn.finish(token, shown, fromOf(visit)))
}

const passkeyLogin = z.object({ passkey: assertionInput })
/** Nobody is known before: what is not right counts for the network. */
const byPasskey = async (visit: Visit) => {
  const { passkey } = check(passkeyLogin, visit.body)
  const takeBack = await visit.app.attempts.begin({ email: `passkey ${passkey.id}`, address: visit.site.client, device: null })
  const verified = await visit.app.accounts.passkeys.verify(null, passkey, challengeOf(visit, 'alone', null))
  if (!verified) throw wrongPasskey()
  const reply = await signedInBy(visit, 'passkey', verified.user, { status: 200, body: { success: true } }, verified.signed)
  await takeBack()
  return reply
}

export const login = defineResource({
  name: 'login',
  summary: 'Signing in and out with a cookie',
  path: '/api',
  reach: 'open',
  object: null,
  rows: (row) => [
    row({
      method: 'POST',
      path: 'login',
      name: 'create',
      summary:
        'Signs in with address and password; the session is in the cookie. 401 `2fa_required`: the account has a second factor, and `POST /api/login/token/` takes its code within ten minutes, with the cookie of this answer',
      body: loginInput,
      answer: signedInSchema,
      handle: async (visit) => {
        const { email, password } = check(loginInput, visit.body)
        const user = await tried(visit, email, password)
        return signedInBy(visit, 'password', user, { status: 200, body: { success: true } })
      },
    }),
    row({
      method: 'GET',
      path: 'login',
      name: 'ways',
      summary: 'The identity providers that the operator has set up, for the sign-in page',
      answer: waysSchema,
      queryParameters: { packages: '1: says also which optional packages are not installed' },
      handle: async ({ app, query }) => ({
        is_waiting: await app.accounts.firstOwner.isWaiting(),
        providers: app.singleSignOn.providers,
        not_installed: query.get('packages') === '1' ? await app.singleSignOn.notInstalled() : [],
      }),
    }),
    row({
      method: 'POST',
      path: 'login/precheck',
      name: 'precheck',
      summary:
        'How users with this address sign in: what its domain requires, and where that begins. It depends on the domain only, and does not tell whether there is an account',
      body: precheckInput,
      answer: precheckSchema,
      handle: async ({ app, body }) => {
        const { email } = check(precheckInput, body)
        const { enforcement, hasSaml, ways } = await app.singleSignOn.waysOf(email)
        return { sso_enforcement: enforcement, saml_available: hasSaml, providers: ways }
      },
    }),
    row({
      method: 'POST',
      path: 'login/token',
      name: 'second_step',
      summary:
        'Completes a login that waits for a second factor: `token` is a code of the authenticator app or a recovery code, `passkey` the answer of a passkey. 400 `2fa_invalid`: it is wrong or was used; `2fa_expired`: the login must begin again',
      body: factorInput,
      answer: signedInSchema,
      handle: async (visit) => {
        const { user, token } = await withFactor(visit)
        return new Reply(200, { success: true }, await sessionHeaders(visit, user, token))
      },
    }),
    row({
      method: 'GET',
      path: 'login/token',
      name: 'second_step_ways',
      summary:
        'What completes the login that waits in this browser: the authenticator app, and how many passkeys. A recovery code always does',
      answer: secondStepSchema,
      handle: async (visit) => {
        const { hasApp, passkeys } = await visit.app.accounts.secondFactors.status((await waitingLogin(visit)).user)
        return { app: hasApp, passkeys }
      },
    }),
    row({
      method: 'POST',
      path: 'login/token/passkey',
      name: 'second_step_passkey',
      summary: 'Options for `navigator.credentials.get`, whose answer completes the login that waits in this browser',
      answer: passkeyOptionsSchema,
      handle: async (visit) => {
        const { user, holder } = await waitingLogin(visit)
        return beginPasskey(visit, 'second', holder, (challenge) => visit.app.accounts.passkeys.requestOptions(user, challenge))
      },
    }),
    row({
      method: 'POST',
      path: 'login/passkey/begin',
      name: 'begin_passkey',
      summary: 'Options for `navigator.credentials.get`, with any passkey of this server',
      answer: passkeyOptionsSchema,
      handle: (visit) => beginPasskey(visit, 'alone', null, (challenge) => visit.app.accounts.passkeys.requestOptions(null, challenge)),
    }),
    row({
      method: 'POST',
      path: 'login/passkey',
      name: 'passkey',
      summary:
        'Signs in with a passkey alone, which must have verified the person: it stands for the password and the second factor. 400 `2fa_invalid`: it was not accepted',
      body: passkeyLogin,
      answer: signedInSchema,
      handle: byPasskey,
    }),
    row({
      method: 'POST',
      path: 'logout',
      name: 'remove',
      summary: 'Ends the session',
      status: 204,
      handle: async (visit) => {
        if (visit.caller?.via === 'session') await visit.app.accounts.sessions.end(visit.caller.token)
        return new Reply(204, undefined, noSession(visit))
      },
    }),
  ],
})

export const setup = defineResource({
  name: 'setup',
  summary: 'The first owner of a new server',
  path: '/api/setup',
  reach: 'open',
  object: null,
  rows: (row) => [
    row({
      method: 'GET',
      path: '',
      name: 'retrieve',
      summary: 'Whether the first owner still has to choose a password, with the link that the server printed',
      answer: setupSchema,
      handle: async ({ app }) => ({ is_waiting: await app.accounts.firstOwner.isWaiting() }),
    }),
    row({
      method: 'POST',
      path: '',
      name: 'create',
      summary: 'Sets address, name and password of the first owner, and signs in',
      body: firstOwnerInput,
      status: 201,
      answer: userSchema,
      handle: async (visit) => {
        const { email } = check(firstOwnerInput, visit.body)
        await visit.app.accounts.signingIn.mustAllowPassword(email)
        const user = await visit.app.accounts.firstOwner.become(visit.body)
        return signedInBy(visit, 'setup', user, { status: 201, body: presentUser(user) })
      },
    }),
  ],
})

const masked = (address: string) => {
  const [name = '', domain = ''] = address.split('@')
  return name.length < 3 ? `${'*'.repeat(name.length)}@${domain}` : `${name[0]}${'*'.repeat(name.length - 2)}${name.at(-1)}@${domain}`
}

export const signup = defineResource({
  name: 'signup',
  summary: 'Accepting an invitation with the secret of its link, which is not its id',
  path: '/api/signup',
  reach: 'open',
  object: null,
  rows: (row) => [
    row({
      method: 'GET',
      path: ':secret',
      name: 'retrieve',
      summary: 'Whether an invitation can be accepted, and who it is for',
      answer: lookSchema,
      handle: async ({ app, caller, params }) => {
        const { invite, organization } = await app.accounts.joining.look(params.secret!, caller?.user ?? null)
        const { enforcement, ways } = await app.singleSignOn.waysOf(invite.target_email)
        return {
          id: invite.id,
          target_email: masked(invite.target_email),
          first_name: invite.first_name,
          organization_name: organization.name,
          sso_enforcement: enforcement,
          providers: ways,
        }
      },
    }),
    row({
      method: 'POST',
      path: ':secret',
      name: 'create',
      summary: 'Joins the organization: as the user who is logged in, or as a new one with this name and password',
      body: signupInput,
      status: 201,
      answer: userSchema,
      handle: async (visit) => {
        const { caller } = visit
        const { user } = await visit.app.accounts.joining.accept(visit.params.secret!, caller?.user ?? null, visit.body)
        const answer = { status: 201, body: presentUser(user) }
        // Who is signed in stays so: an invitation proves nothing that would make the login a recent one.
        return caller ? new Reply(answer.status, answer.body) : signedInBy(visit, 'invitation', user, answer)
      },
    }),
  ],
})
