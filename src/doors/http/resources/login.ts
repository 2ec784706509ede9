import * as z from 'zod'
import { check, givenPassword, text } from '../../../service/accounts/fields.ts'
import { firstOwnerInput } from '../../../service/accounts/organizations/first-owner.ts'
import { signupInput } from '../../../service/accounts/organizations/joining.ts'
import type { User } from '../../../service/accounts/records.ts'
import { sessionLifetime } from '../../../service/accounts/users/sessions.ts'
import { lookSchema, setupSchema } from '../../answers/login.ts'
import { userSchema } from '../../answers/users.ts'
import { cookieOf, sessionCookie } from '../access/authenticate.ts'
import type { App } from '../app.ts'
import { failures } from '../errors.ts'
import { presentUser } from '../present.ts'
import { networkOf } from '../requests/client-address.ts'
import { defineResource, Reply, type Visit } from '../resource.ts'

const loginInput = z.object({ email: text({ max: 254 }), password: givenPassword() })

const year = 365 * 86_400
/** Marks a browser in which its user has signed in before: failures of others then count separately. */
const deviceCookie = 'waymark_device'

const cookie = ({ site }: Visit, name: string, value: string, seconds: number, path = '/') =>
  `${name}=${value}; Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${site.isSecure ? '; Secure' : ''}`

const signIn = async (visit: Visit, { accounts }: App, user: User) => {
  const session = cookie(
    visit,
    sessionCookie,
    await accounts.sessions.start(user, visit.request.headers.get('user-agent')),
    sessionLifetime / 1000,
  )
  const device = accounts.users.deviceToken(user)
  return { 'set-cookie': device === null ? session : [session, cookie(visit, deviceCookie, device, year, '/api/login')] }
}

/** Callers of one network share a queue for passwords. */
export const networkFrom = ({ site }: Visit): string => (site.client === null ? '' : networkOf(site.client).network)

const tried = async (visit: Visit, email: string, password: string): Promise<User> => {
  const { attempts, accounts } = visit.app
  const token = cookieOf(visit.request, deviceCookie)
  const device = token !== undefined && (await accounts.users.isDevice(email, token)) ? token : null
  const takeBack = attempts.begin({ email, address: visit.site.client, device })
  const from = device !== null ? `device ${device}` : networkFrom(visit)
  const user = await accounts.users.authenticate(email, password, from).catch((error: unknown) => {
    takeBack() // the password was not checked
    throw error
  })
  if (!user) throw failures.badLogin()
  takeBack()
  return user
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
      summary: 'Signs in with address and password; the session is in the cookie',
      body: loginInput,
      answer: z.object({ success: z.literal(true) }),
      handle: async (visit) => {
        const { email, password } = check(loginInput, visit.body)
        const user = await tried(visit, email, password)
        return new Reply(200, { success: true }, await signIn(visit, visit.app, user))
      },
    }),
    row({
      method: 'POST',
      path: 'logout',
      name: 'remove',
      summary: 'Ends the session',
      status: 204,
      handle: async (visit) => {
        if (visit.caller?.via === 'session') await visit.app.accounts.sessions.end(visit.caller.token)
        return new Reply(204, undefined, { 'set-cookie': cookie(visit, sessionCookie, '', 0) })
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
        const user = await visit.app.accounts.firstOwner.become(visit.body)
        return new Reply(201, presentUser(user), await signIn(visit, visit.app, user))
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
        return {
          id: invite.id,
          target_email: masked(invite.target_email),
          first_name: invite.first_name,
          organization_name: organization.name,
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
        const { user } = await visit.app.accounts.joining.accept(visit.params.secret!, visit.caller?.user ?? null, visit.body)
        return new Reply(201, presentUser(user), await signIn(visit, visit.app, user))
      },
    }),
  ],
})
