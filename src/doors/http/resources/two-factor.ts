import { codeInput, maybeCodeInput } from '../../../service/accounts/users/second-factor.ts'
import { mustBeOwnAccount } from '../../../service/accounts/users/users.ts'
import { recoveryCodesSchema, twoFactorSetupSchema, twoFactorStatusSchema } from '../../answers/two-factor.ts'
import { countedCode } from '../access/code-attempts.ts'
import { fromOf } from '../access/session-cookies.ts'
import { failures } from '../errors.ts'
import { maybeTime } from '../present.ts'
import { defineResource, type Visits } from '../resource.ts'
import { self } from './users.ts'

type Visit = Visits['user']

/** Keys and the host application do not hold the second factor of a user. */
const ownSession = (visit: Visit) => {
  const user = self(visit)
  mustBeOwnAccount(user)
  if (visit.caller.via !== 'session') throw failures.noKeys()
  return { user, session: visit.caller.session }
}
const tokenOf = ({ body }: Visit): unknown => (body as { readonly token?: unknown } | null)?.token

export const twoFactor = defineResource({
  name: 'two_factor',
  summary: "The second factor of the caller's own account: an authenticator app, and recovery codes",
  path: '/api/users/:uuid',
  reach: 'user',
  object: null,
  rows: (row) => [
    row({
      method: 'GET',
      path: 'two_factor_status',
      name: 'status',
      summary: 'Whether the account has a second factor, how many recovery codes are left, and which organizations require it',
      isBeforeSecondFactor: true,
      answer: twoFactorStatusSchema,
      handle: async (visit) => {
        const { enabledAt, recoveryCodes, requiredBy } = await visit.app.accounts.secondFactors.status(self(visit))
        return {
          is_enabled: visit.caller.user.has_second_factor,
          enabled_at: maybeTime(enabledAt),
          recovery_codes_left: recoveryCodes,
          required_by: requiredBy.map(({ id, name }) => ({ id, name })),
        }
      },
    }),
    row({
      method: 'POST',
      path: 'two_factor_start_setup',
      name: 'start_setup',
      summary:
        'Begins to set up an authenticator app: the secret, shown once. It counts after `two_factor_validate`, within an hour. If there is a second factor already, `token` is a code of it',
      needsRecentLogin: true,
      isBeforeSecondFactor: true,
      body: maybeCodeInput,
      answer: twoFactorSetupSchema,
      secrets: ['secret', 'uri'],
      handle: async (visit) => {
        const { user } = ownSession(visit)
        const begin = () => visit.app.accounts.secondFactors.begin(user, visit.body, fromOf(visit))
        return user.has_second_factor ? countedCode(visit, user, tokenOf(visit), begin) : begin()
      },
    }),
    row({
      method: 'POST',
      path: 'two_factor_validate',
      name: 'validate',
      summary:
        'Enables the authenticator app with its first code. The other sessions of the account end. Returns ten recovery codes, shown once',
      isBeforeSecondFactor: true,
      body: codeInput,
      answer: recoveryCodesSchema,
      secrets: ['recovery_codes'],
      handle: async (visit) => {
        const { user, session } = ownSession(visit)
        return { recovery_codes: await visit.app.accounts.secondFactors.confirm(user, visit.body, fromOf(visit), session.hash) }
      },
    }),
    row({
      method: 'POST',
      path: 'two_factor_recovery_codes',
      name: 'recovery_codes',
      summary: 'Ten new recovery codes, shown once, for a code. The earlier ones stop working',
      needsRecentLogin: true,
      body: codeInput,
      answer: recoveryCodesSchema,
      secrets: ['recovery_codes'],
      handle: async (visit) => {
        const { user } = ownSession(visit)
        const replace = () => visit.app.accounts.secondFactors.replaceRecoveryCodes(user, visit.body, fromOf(visit))
        return { recovery_codes: await countedCode(visit, user, tokenOf(visit), replace) }
      },
    }),
    row({
      method: 'POST',
      path: 'two_factor_disable',
      name: 'disable',
      summary:
        'Turns the second factor off, for a code of the app or a recovery code. 400 `2fa_enforced` while an organization of the user requires it',
      needsRecentLogin: true,
      body: codeInput,
      status: 204,
      handle: async (visit) => {
        const { user } = ownSession(visit)
        await countedCode(visit, user, tokenOf(visit), () => visit.app.accounts.secondFactors.disable(user, visit.body, fromOf(visit)))
      },
    }),
  ],
})
