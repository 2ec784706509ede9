import type { Passkey } from '../../../service/accounts/records.ts'
import { passkeyChange, passkeyInput } from '../../../service/accounts/users/passkey-enrolment.ts'
import { pageSchema } from '../../answers/pages.ts'
import { addedPasskeySchema, type PasskeyAnswer, passkeyOptionsSchema, passkeySchema } from '../../answers/two-factor.ts'
import { beginPasskey, challengeOf } from '../access/passkey-visits.ts'
import { fromOf } from '../access/session-cookies.ts'
import { maybeTime, time } from '../present.ts'
import { defineResource } from '../resource.ts'
import { ownSession } from './two-factor.ts'
import { self } from './users.ts'

const present = ({ id, name, is_backed_up, created_at, last_used_at }: Passkey): PasskeyAnswer => ({
  id,
  name,
  is_backed_up,
  created_at: time(created_at),
  last_used_at: maybeTime(last_used_at),
})

export const passkeys = defineResource({
  name: 'passkeys',
  summary: "The passkeys of the caller's own account: they are a second factor, and sign in without a password",
  path: '/api/users/:uuid/passkeys',
  reach: 'user',
  object: null,
  rows: (row) => [
    row({
      method: 'GET',
      name: 'list',
      summary: 'The passkeys of the account, the oldest first',
      isBeforeSecondFactor: true,
      answer: pageSchema(passkeySchema),
      isPaged: true,
      handle: async (visit) => (await visit.app.accounts.passkeys.list(self(visit))).map(present),
    }),
    row({
      method: 'POST',
      path: 'begin',
      name: 'begin',
      summary:
        'Options for `navigator.credentials.create`, with a challenge that this browser answers within five minutes. 400 `passkey_unavailable`: the server has no address with a name and HTTPS',
      needsRecentLogin: true,
      isBeforeSecondFactor: true,
      answer: passkeyOptionsSchema,
      handle: async (visit) => {
        const { user, session } = ownSession(visit)
        return beginPasskey(visit, 'enrol', session.hash, (challenge) => visit.app.accounts.passkeys.creationOptions(user, challenge))
      },
    }),
    row({
      method: 'POST',
      name: 'create',
      summary:
        'Adds the passkey that the browser has made. If the account had no second factor, its other sessions end, and the answer has ten recovery codes, shown once',
      needsRecentLogin: true,
      isBeforeSecondFactor: true,
      body: passkeyInput,
      status: 201,
      isCreating: false, // a challenge works once
      answer: addedPasskeySchema,
      secrets: ['recovery_codes'],
      handle: async (visit) => {
        const { user, session } = ownSession(visit)
        const begun = challengeOf(visit, 'enrol', session.hash)
        const { passkey, recoveryCodes } = await visit.app.accounts.passkeys.add(user, visit.body, begun, fromOf(visit), session.hash)
        return { ...present(passkey), recovery_codes: recoveryCodes }
      },
    }),
    row({
      method: 'POST',
      path: 'prove',
      name: 'prove',
      summary:
        'Options for `navigator.credentials.get`: its answer takes the place of a code where a change takes one, as the field `passkey`',
      isBeforeSecondFactor: true,
      answer: passkeyOptionsSchema,
      handle: async (visit) => {
        const { user, session } = ownSession(visit)
        return beginPasskey(visit, 'prove', session.hash, (challenge) => visit.app.accounts.passkeys.requestOptions(user, challenge))
      },
    }),
    row({
      method: 'PATCH',
      path: ':id',
      name: 'update',
      summary: 'Names a passkey',
      body: passkeyChange,
      answer: passkeySchema,
      handle: async (visit) => present(await visit.app.accounts.passkeys.rename(ownSession(visit).user, visit.params.id!, visit.body)),
    }),
    row({
      method: 'DELETE',
      path: ':id',
      name: 'remove',
      summary:
        'Removes a passkey, which signs in no longer. 400 `2fa_last`: it is the only second factor, which `two_factor_disable` turns off',
      needsRecentLogin: true,
      handle: async (visit) => visit.app.accounts.passkeys.remove(ownSession(visit).user, visit.params.id!, fromOf(visit)),
    }),
  ],
})
