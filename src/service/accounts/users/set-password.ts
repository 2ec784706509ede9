import { type AccountContext, post } from '../context.ts'
import type { AccountTables, User } from '../records.ts'
import { endSessions } from './sessions.ts'
import { logOwnChanges } from './user-log.ts'

/**
 * Replaces the password of a user. Sessions and links that were valid under the old one end; personal API keys stay.
 * `kept`: the hash of the session that stays.
 */
export async function setPassword(
  context: AccountContext,
  tables: AccountTables,
  user: User,
  password_hash: string,
  kept: string | null = null,
): Promise<void> {
  await tables.users.update({ id: user.id }, { password_hash })
  await endSessions(tables, user, kept)
  await tables.password_links.remove({ user_id: user.id })
  await logOwnChanges(context, tables, user, [{ type: 'User', action: 'changed', field: 'password', before: 'masked', after: 'masked' }])
}

/** Tells the user about the change. */
export const mailPasswordChange = (context: AccountContext, user: User): Promise<void> =>
  post(context, user.current_organization_id ?? '', [
    {
      to: user.email,
      subject: 'Your Waymark password was changed',
      text: [
        `The password of ${user.email} at ${context.settings().siteUrl} was changed, and its other sessions were signed out.`,
        '',
        'If this was not you, choose a new password with "Forgot your password?" on the sign-in page, and tell an administrator.',
      ].join('\n'),
    },
  ])
