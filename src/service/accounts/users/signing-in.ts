import type { AccountContext, From } from '../context.ts'
import type { AccountTables, User } from '../records.ts'
import { invalid } from '../refusals.ts'
import { hashKey, longestSecret, randomToken } from '../secrets/secrets.ts'
import { logFactor, mailFactorChange } from './factor-log.ts'
import { type SignedChallenge, usePasskey, wrongPasskey } from './passkeys.ts'
import { type ShownFactor, takeFactor, wrongFactor } from './second-factor.ts'
import { startSession } from './sessions.ts'

// The one place where sessions are made, for every way in. What a way has shown is only that the user may sign in; whether that takes a second factor is decided here.

/** Every way in. `isSingleSignOn`: somebody else vouches for the user, asks for the factors that it wants, and is asked at every request. */
export const waysIn = {
  /** Address and password. After a link for a new password, too: the link itself makes no session. */
  password: { isSingleSignOn: false },
  /** A new account by an invitation. Who is signed in already joins in that session. */
  invitation: { isSingleSignOn: false },
  /** The first owner, with the secret that the server printed. */
  setup: { isSingleSignOn: false },
  /** A passkey without a password: it has verified the person, so it is both factors. */
  passkey: { isSingleSignOn: false },
  /** The hook `authenticate` of the application that Waymark is part of. */
  application: { isSingleSignOn: true },
} as const
export type Way = keyof typeof waysIn
/** Ways that end in a cookie. */
export type SessionWay = { [W in Way]: (typeof waysIn)[W]['isSingleSignOn'] extends true ? never : W }[Way]
export type VisitWay = Exclude<Way, SessionWay>

/** What somebody has after a step: a session, or a login that waits for a code. `token`: for its cookie. */
export type Entered = { readonly isWaiting: boolean; readonly token: string }

/** How long a login waits for a code. */
export const pendingLifetime = 600_000

const expired = () => invalid('This login has expired. Enter your password again.', null, '2fa_expired')

const waitForCode = async ({ clock }: AccountContext, tables: AccountTables, user: User, way: Way): Promise<string> => {
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
  })
  return token
}

const waitingFor = async (context: AccountContext, tables: AccountContext['store']['read'], token: string | undefined): Promise<User> => {
  const login =
    token === undefined || token.length > longestSecret ? undefined : await tables.pending_logins.first({ hash: hashKey(token) })
  const user = login && login.expires_at > context.clock() ? await tables.users.first({ id: login.user_id }) : undefined
  if (!user?.is_active || !user.has_second_factor) throw expired()
  return user
}

export const createSigningIn = (context: AccountContext) => {
  const { store } = context

  return {
    /** The first step, after a way in has shown who it is. `signed`: by a passkey, whose challenge is used up with this. */
    enter: (way: SessionWay, { id }: User, from: From, signed: SignedChallenge | null = null): Promise<Entered> =>
      store.write(async (tables) => {
        const user = (await tables.users.first({ id }))! // with the factor that was set up meanwhile
        const isByPasskey = way === 'passkey'
        if (isByPasskey && !(user.is_active && signed && (await usePasskey(context, tables, user, signed)))) throw wrongPasskey()
        const isWaiting = user.has_second_factor && !isByPasskey && !waysIn[way].isSingleSignOn
        return {
          isWaiting,
          token: isWaiting ? await waitForCode(context, tables, user, way) : await startSession(context, tables, user, from),
        }
      }),

    /** A way in without a session: it is asked at every request. Null: the operator has deactivated the account. */
    visit: (way: VisitWay, user: User): User | null => (waysIn[way].isSingleSignOn && user.is_active ? user : null),

    /** Whose login waits for a code. */
    waiting: (token: string | undefined): Promise<User> => waitingFor(context, store.read, token),

    /** The second step. Its token works once, whatever the code is good for. */
    async finish(token: string, shown: ShownFactor, from: From): Promise<{ readonly user: User; readonly token: string }> {
      const done = await store.write(async (tables) => {
        const user = await waitingFor(context, tables, token)
        const kind = await takeFactor(context, tables, user, shown)
        if (kind === null) {
          await logFactor(context, tables, user, 'second_factor_failed', from)
          return null
        }
        await tables.pending_logins.remove({ hash: hashKey(token) })
        if (kind === 'recovery') await logFactor(context, tables, user, 'recovery_code_used', from)
        return { user, kind, token: await startSession(context, tables, user, from) }
      })
      if (done === null) throw wrongFactor(shown)
      if (done.kind === 'recovery') void mailFactorChange(context, done.user, 'recovery_code_used')
      return done
    },
  }
}
