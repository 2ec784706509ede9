import { storableText } from '../../../lib/text/storable-text.ts'
import type { AccountContext, From } from '../context.ts'
import type { AccountTables, Session, User } from '../records.ts'
import { hashKey, longestSecret, randomToken } from '../secrets/secrets.ts'
import { enforcingDomain, requiredProvider } from '../single-sign-on/enforcing-domain.ts'

export const longestUserAgent = 300
const day = 86_400_000
export const sessionLifetime = 14 * day
/** Changes of keys, organizations and proxies require a login that is not older than this. */
export const recentLogin = day / 4

/** Identifies a session to its user; it does not reveal the token. */
export const sessionId = ({ hash }: Session): string => hash.slice(-32)

/** Ends logins that wait for a code, too. `kept`: the hash of the session that stays. */
export const endSessions = async (tables: AccountTables, { id }: User, kept: string | null): Promise<number> => {
  await tables.pending_logins.remove({ user_id: id })
  const ending = (await tables.sessions.find({ user_id: id })).filter(({ hash }) => hash !== kept)
  return ending.length === 0 ? 0 : tables.sessions.remove({ hash: ending.map(({ hash }) => hash) })
}

/** For `signing-in.ts` only: a session is all that a request needs. Returns the token for the cookie; only its hash is stored. */
export async function startSession(
  context: AccountContext,
  tables: AccountTables,
  user: User,
  from: From,
  provider: string | null = null,
): Promise<string> {
  const now = context.clock()
  for (const old of await tables.sessions.find({ user_id: user.id }))
    if (old.expires_at <= now) await tables.sessions.remove({ hash: old.hash })
  const token = randomToken()
  await tables.sessions.insert({
    hash: hashKey(token),
    user_id: user.id,
    authenticated_at: now,
    expires_at: new Date(now.getTime() + sessionLifetime),
    user_agent: from.user_agent === null ? null : storableText(from.user_agent.slice(0, longestUserAgent)),
    address: from.address,
    provider,
  })
  return token
}

export const createSessions = (context: AccountContext) => ({
  async find(token: string): Promise<{ user: User; session: Session } | undefined> {
    if (token.length > longestSecret) return undefined
    const session = await context.store.read.sessions.first({ hash: hashKey(token) })
    if (!session || session.expires_at <= context.clock()) return undefined
    const user = await context.store.read.users.first({ id: session.user_id })
    if (!user?.is_active) return undefined
    const domain = await enforcingDomain(context, context.store.read, user.email)
    // It waits: if the domain requires nothing any more, it goes on.
    return domain && requiredProvider(domain) !== session.provider ? undefined : { user, session }
  },

  /** The valid sessions of a user, the newest first. */
  list: async (user: User): Promise<readonly Session[]> => {
    const now = context.clock()
    const found = (await context.store.read.sessions.find({ user_id: user.id })).filter((one) => one.expires_at > now)
    return [...found].sort((a, b) => b.authenticated_at.getTime() - a.authenticated_at.getTime())
  },

  /** False if the user has no session with this id. */
  endOne: (user: User, id: string): Promise<boolean> =>
    context.store.write(async (tables) => {
      const found = (await tables.sessions.find({ user_id: user.id })).find((one) => sessionId(one) === id)
      return found !== undefined && (await tables.sessions.remove({ hash: found.hash })) > 0
    }),

  /** Ends all sessions of a user except one. */
  endOthers: (user: User, kept: string): Promise<number> => context.store.write((tables) => endSessions(tables, user, kept)),

  end: (token: string) => context.store.write((tables) => tables.sessions.remove({ hash: hashKey(token) })),
})
