import type { AccountContext } from './context.ts'
import type { Session, User } from './records.ts'
import { hashKey, longestSecret, randomToken } from './secrets.ts'

const day = 86_400_000
export const sessionLifetime = 14 * day
/** Changes of keys, organizations and proxies require a login that is not older than this. */
export const recentLogin = day / 4

export const createSessions = (context: AccountContext) => ({
  /** Returns the token for the cookie; only its hash is stored. */
  start: (user: User): Promise<string> =>
    context.store.write(async (tables) => {
      const now = context.clock()
      for (const old of await tables.sessions.find({ user_id: user.id }))
        if (old.expires_at <= now) await tables.sessions.remove({ hash: old.hash })
      const token = randomToken()
      await tables.sessions.insert({
        hash: hashKey(token),
        user_id: user.id,
        authenticated_at: now,
        expires_at: new Date(now.getTime() + sessionLifetime),
      })
      return token
    }),

  async find(token: string): Promise<{ user: User; session: Session } | undefined> {
    if (token.length > longestSecret) return undefined
    const session = await context.store.read.sessions.first({ hash: hashKey(token) })
    if (!session || session.expires_at <= context.clock()) return undefined
    const user = await context.store.read.users.first({ id: session.user_id })
    return user?.is_active ? { user, session } : undefined
  },

  end: (token: string) => context.store.write((tables) => tables.sessions.remove({ hash: hashKey(token) })),
})
