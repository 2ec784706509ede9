import { type AccountContext, type Change, type From, log, post } from '../context.ts'
import type { AccountTables, User } from '../records.ts'

// What concerns the second factor of a user: in the activity log, and by mail to the user.

type Activity =
  | 'second_factor_enabled'
  | 'second_factor_disabled'
  | 'second_factor_reset'
  | 'second_factor_failed'
  | 'recovery_codes_replaced'
  | 'recovery_code_used'
  | 'passkey_added'
  | 'passkey_removed'

/** In the log of each organization of the user. */
export async function logFactor(
  context: AccountContext,
  tables: AccountTables,
  user: User,
  activity: Activity,
  from: From | null,
  { by = user, changes }: { readonly by?: User | null; readonly changes?: readonly Change[] } = {},
): Promise<void> {
  const organizations = (await tables.memberships.find({ user_id: user.id })).map((one) => one.organization_id)
  for (const organization_id of organizations.length > 0 ? organizations : [null])
    await log(context, tables, {
      by,
      organization_id,
      scope: 'User',
      item_id: user.id,
      activity,
      name: user.email,
      from,
      ...(changes && { changes }),
    })
}

const said: Readonly<Partial<Record<Activity, string>>> = {
  second_factor_enabled: 'A second factor was set up: signing in takes a code from now on.',
  second_factor_disabled: 'The second factor was turned off.',
  second_factor_reset: 'The second factor was reset, and all sessions were signed out. Set up another one in your account settings.',
  recovery_codes_replaced: 'New recovery codes were made. The earlier ones do not work any more.',
  recovery_code_used: 'Somebody signed in with a recovery code.',
}
/** Tells the user. */
export const mailFactorChange = (context: AccountContext, user: User, activity: Activity): Promise<void> =>
  post(context, user.current_organization_id ?? '', [
    {
      to: user.email,
      subject: 'The second factor of your Waymark account',
      text: [
        `${user.email} at ${context.settings().siteUrl}: ${said[activity]}`,
        '',
        'If this was not you, choose a new password with "Forgot your password?" on the sign-in page, and tell an administrator.',
      ].join('\n'),
    },
  ])

/** Of the field that members show. */
export const factorChange = (after: boolean): Change[] => [
  { type: 'User', action: 'changed', field: 'is_2fa_enabled', before: !after, after },
]
