import type { User } from '../../../service/accounts/records.ts'
import { codeInput, factorInput, type ShownFactor } from '../../../service/accounts/users/second-factor.ts'
import { mustBeOwnAccount } from '../../../service/accounts/users/users.ts'
import { recoveryCodesSchema, twoFactorSetupSchema, twoFactorStatusSchema } from '../../answers/two-factor.ts'
import { countedCode } from '../access/code-attempts.ts'
import { shownFactor } from '../access/passkey-visits.ts'
import { fromOf } from '../access/session-cookies.ts'
import { failures } from '../errors.ts'
import { maybeTime } from '../present.ts'
import { defineResource, type Visits } from '../resource.ts'
import { self } from './users.ts'

type Visit = Visits['user']

/** Keys and the host application do not hold the second factor of a user. */
export const ownSession = (visit: Visit) => {
  const user = self(visit)
  mustBeOwnAccount(user)
  if (visit.caller.via !== 'session') throw failures.noKeys()
  return { user, session: visit.caller.session }
}
/** A change that takes a code, or a passkey. */
const withFactor = async <T>(visit: Visit, work: (user: User, shown: ShownFactor) => Promise<T>): Promise<T> => {
  const { user, session } = ownSession(visit)
  const shown = await shownFactor(visit, user, 'prove', session.hash)
  return countedCode(visit, user, shown, () => work(user, shown))
}

export const twoFactor = defineResource({
  name: 'two_factor',
  summary: "The second factor of the caller's own account: an authenticator app, passkeys, and recovery codes",
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
        const { enabledAt, hasApp, passkeys, recoveryCodes, requiredBy } = await visit.app.accounts.secondFactors.status(self(visit))
        return {
          is_enabled: visit.caller.user.has_second_factor,
          enabled_at: maybeTime(enabledAt),
          has_app: hasApp,
          passkeys,
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
        'Begins to set up an authenticator app: the secret, shown once. It counts after `two_factor_validate`, within an hour. If there is a second factor already, `token` is a code of it, or `passkey` the answer of a passkey',
      needsRecentLogin: true,
      isBeforeSecondFactor: true,
      body: factorInput,
      answer: twoFactorSetupSchema,
      secrets: ['secret', 'uri'],
      handle: async (visit) => {
        const { secondFactors } = visit.app.accounts
        const { user } = ownSession(visit)
        if (!user.has_second_factor) return secondFactors.begin(user, null, fromOf(visit))
        return withFactor(visit, (user, shown) => secondFactors.begin(user, shown, fromOf(visit)))
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
      summary: 'Ten new recovery codes, shown once, for a code or a passkey. The earlier ones stop working',
      needsRecentLogin: true,
      body: factorInput,
      answer: recoveryCodesSchema,
      secrets: ['recovery_codes'],
      handle: async (visit) => {
        const { secondFactors } = visit.app.accounts
        const codes = await withFactor(visit, (user, shown) => secondFactors.replaceRecoveryCodes(user, shown, fromOf(visit)))
        return { recovery_codes: codes }
      },
    }),
    row({
      method: 'POST',
      path: 'two_factor_disable',
      name: 'disable',
      summary:
        'Turns the second factor off, for a code of the app, a recovery code or a passkey: app, passkeys and recovery codes are removed. 400 `2fa_enforced` while an organization of the user requires it',
      needsRecentLogin: true,
      body: factorInput,
      status: 204,
      handle: async (visit) => {
        await withFactor(visit, (user, shown) => visit.app.accounts.secondFactors.disable(user, shown, fromOf(visit)))
      },
    }),
  ],
})
