import { type AccountContext, type Change, changesOf, log } from '../context.ts'
import type { AccountTables, User } from '../records.ts'

/** Notes in the activity log that a user has changed their own account. */
export const logOwnChanges = (context: AccountContext, tables: AccountTables, user: User, changes: readonly Change[]): Promise<void> =>
  log(context, tables, {
    by: user,
    organization_id: user.current_organization_id,
    scope: 'User',
    item_id: user.id,
    activity: 'updated',
    name: user.email,
    changes,
  })

/** Of fields, as they were and as they are. */
export const changesOfUser = (user: User, change: Partial<User>): Change[] =>
  changesOf('User', user as unknown as Record<string, unknown>, change)
