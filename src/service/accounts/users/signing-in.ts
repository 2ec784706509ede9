import type { AccountContext, From } from '../context.ts'
import type { AccountTables, User } from '../records.ts'
import { invalid } from '../refusals.ts'
import { hashKey, longestSecret, randomToken } from '../secrets/secrets.ts'
import { enforcingDomain, mustSatisfyDomain } from '../single-sign-on/enforcing-domain.ts'
import { requiringOrganizations } from './enforcement.ts'
import { logFactor, mailFactorChange } from './factor-log.ts'
import { type SignedChallenge, usePasskey, wrongPasskey } from './passkeys.ts'
import { type ShownFactor, takeFactor, wrongFactor } from './second-factor.ts'
import { startSession } from './sessions.ts'

// The one place where sessions are made, for every way in. What a way has shown is only that the user may sign in; whether that takes a second factor, and whether the
// domain of the address allows this way, is decided here.

/** Every way in. `isSingleSignOn`: an identity provider vouches for the user. `hasSession`: otherwise it is asked at every request. */
export const waysIn = {
  /** Address and password. After a link for a new password, too: the link itself makes no session. */
  password: { isSingleSignOn: false, hasSession: true },
  /** A new account by an invitation. Who is signed in already joins in that session. */
  invitation: { isSingleSignOn: false, hasSession: true },
  /** The first owner, with the secret that the server printed. */
  setup: { isSingleSignOn: false, hasSession: true },
  /** A passkey without a password: it has verified the person, so it is both factors. */
  passkey: { isSingleSignOn: false, hasSession: true },
  /** The hook `authenticate` of the application that Waymark is part of. */
  application: { isSingleSignOn: true, hasSession: false },
  /** OpenID Connect, and GitHub. */
  oidc: { isSingleSignOn: true, hasSession: true },
  saml: { isSingleSignOn: true, hasSession: true },
} as const
export type Way = keyof typeof waysIn
/** Ways that end in a cookie. */
export type SessionWay = { [W in Way]: (typeof waysIn)[W]['hasSession'] extends true ? W : never }[Way]
export type VisitWay = Exclude<Way, SessionWay>

/** What somebody has after a step: a session, or a login that waits for a code. `token`: for its cookie. */
export type Entered = { readonly isWaiting: boolean; readonly token: string }

/** How long a login waits for a code. */
export const pendingLifetime = 600_000

const expired = () => invalid('This login has expired. Enter your password again.', null, '2fa_expired')

const waitForCode = async (
  { clock }: AccountContext,
  tables: AccountTables,
  user: User,
  way: Way,
  provider: string | null,
): Promise<string> => {
  const token = randomToken()
  const now = clock()
  for (const old of await tables.pending_logins.find({ user_id: user.id }))
    if (old.expires_at <= now) await tables.pending_logins.remove({ hash: old.hash })
  await tables.pending_logins.insert({
    hash: hashKey(token),
    user_id: user.id,
    way,
    created_at: now,
    expires_at: new Date(now.getTime() + pendingLifetime),
    provider,
  })
  return token
}

const waitingFor = async (context: AccountContext, tables: AccountContext['store']['read'], token: string | undefined) => {
  const login =
    token === undefined || token.length > longestSecret ? undefined : await tables.pending_logins.first({ hash: hashKey(token) })
  const user = login && login.expires_at > context.clock() ? await tables.users.first({ id: login.user_id }) : undefined
  if (!user?.is_active || !user.has_second_factor) throw expired()
  return { user, provider: login!.provider }
}

/** The provider that the domain of the address requires asks for the factors that it wants. It cannot speak for organizations that do not own the domain. */
async function vouchesForFactors(context: AccountContext, tables: AccountTables, user: User): Promise<boolean> {
  const domain = await enforcingDomain(context, tables, user.email)
  if (!domain) return false
  return (await requiringOrganizations(tables, user)).every(({ id }) => id === domain.organization_id)
}

export const createSigningIn = (context: AccountContext) => {
  const { store } = context

  return {
    /** The first step, after a way in has shown who it is. `provider`: the identity provider that vouches for the user. `signed`: by a passkey, whose challenge is used up with this. */
    enter: (
      way: SessionWay,
      { id }: User,
      from: From,
      { provider = null, signed = null }: { readonly provider?: string | null; readonly signed?: SignedChallenge | null } = {},
    ): Promise<Entered> =>
      store.write(async (tables) => {
        const user = (await tables.users.first({ id }))! // with the factor that was set up meanwhile
        await mustSatisfyDomain(context, tables, user.email, provider)
        const isByPasskey = way === 'passkey'
        if (isByPasskey && !(user.is_active && signed && (await usePasskey(context, tables, user, signed)))) throw wrongPasskey()
        const isVouchedFor = waysIn[way].isSingleSignOn && (await vouchesForFactors(context, tables, user))
        const isWaiting = user.has_second_factor && !isByPasskey && !isVouchedFor
        return {
          isWaiting,
          token: isWaiting
            ? await waitForCode(context, tables, user, way, provider)
            : await startSession(context, tables, user, from, provider),
        }
      }),

    /** Throws if the domain of the address requires an identity provider. It depends on the domain only, so it does not tell whether there is an account. */
    mustAllowPassword: (address: string): Promise<void> => mustSatisfyDomain(context, store.read, address, null),

    /** A way in without a session: it is asked at every request. Null: the operator has deactivated the account. */
    visit: (way: VisitWay, user: User): User | null => (waysIn[way].isSingleSignOn && user.is_active ? user : null),

    /** Whose login waits for a code. */
    waiting: async (token: string | undefined): Promise<User> => (await waitingFor(context, store.read, token)).user,

    /** The second step. Its token works once, whatever the code is good for. */
    async finish(token: string, shown: ShownFactor, from: From): Promise<{ readonly user: User; readonly token: string }> {
      const done = await store.write(async (tables) => {
        const { user, provider } = await waitingFor(context, tables, token)
        await mustSatisfyDomain(context, tables, user.email, provider)
        const kind = await takeFactor(context, tables, user, shown)
        if (kind === null) {
          await logFactor(context, tables, user, 'second_factor_failed', from)
          return null
        }
        await tables.pending_logins.remove({ hash: hashKey(token) })
        if (kind === 'recovery') await logFactor(context, tables, user, 'recovery_code_used', from)
        return { user, kind, token: await startSession(context, tables, user, from, provider) }
      })
      if (done === null) throw wrongFactor(shown)
      if (done.kind === 'recovery') void mailFactorChange(context, done.user, 'recovery_code_used')
      return done
    },
  }
}
