import * as z from 'zod'
import type { PersonalKey } from '../../../service/accounts/records.ts'
import { keyInput, scopes } from '../../../service/accounts/users/personal-keys.ts'
import { type KeyAnswer, keySchema } from '../../answers/personal-keys.ts'
import type { Caller } from '../access/authenticate.ts'
import { failures } from '../errors.ts'
import { maybeTime, time } from '../present.ts'
import { defineResource, type Visits } from '../resource.ts'

const present = (key: PersonalKey, value: string | null = null): KeyAnswer => ({
  id: key.id,
  label: key.label,
  value,
  mask_value: key.mask_value,
  created_at: time(key.created_at),
  last_used_at: maybeTime(key.last_used_at),
  last_rolled_at: maybeTime(key.last_rolled_at),
  user_id: key.user_id,
  scopes: (key.scopes as string[] | null) ?? ['*'],
  scoped_teams: (key.scoped_teams as number[] | null) ?? [],
  scoped_organizations: (key.scoped_organizations as string[] | null) ?? [],
})

const find = async ({ app, caller, params }: Visits['user']): Promise<PersonalKey> => {
  const key = await app.accounts.personalKeys.byId(caller.user, params.id!)
  if (!key) throw failures.notFound()
  return key
}
const ownKey = (caller: Caller): PersonalKey => {
  if (caller.via !== 'key') throw failures.notFound()
  return caller.key
}

export const personalKeys = defineResource({
  name: 'personal_api_keys',
  summary: "The caller's personal API keys. A key cannot manage keys; that requires a login",
  path: '/api/personal_api_keys',
  reach: 'user',
  object: null,
  rows: (row) => [
    row({
      method: 'GET',
      name: 'list',
      summary: 'The keys, the newest first',
      needsRecentLogin: true,
      answer: z.array(keySchema),
      handle: async ({ app, caller }) => (await app.accounts.personalKeys.list(caller.user)).map((key) => present(key)),
    }),
    row({
      method: 'POST',
      name: 'create',
      summary: 'Creates a key; its value is shown only once',
      needsRecentLogin: true,
      body: keyInput,
      status: 201,
      answer: keySchema,
      secrets: ['value'],
      handle: async ({ app, caller, body }) => {
        const { key, value } = await app.accounts.personalKeys.create(caller.user, body)
        return present(key, value)
      },
    }),
    row({
      method: 'GET',
      path: '@current',
      name: 'current',
      summary: 'The key that makes the request',
      scope: 'any',
      limitedKeys: 'any',
      answer: keySchema,
      handle: async ({ caller }) => present(ownKey(caller)),
    }),
    row({
      method: 'GET',
      path: 'scopes',
      name: 'scopes',
      summary: 'The scopes that a key can have, besides `*`, which is everything',
      answer: z.array(z.string()),
      handle: async () => [...scopes],
    }),
    row({
      method: 'GET',
      path: ':id',
      name: 'retrieve',
      summary: 'One key',
      needsRecentLogin: true,
      answer: keySchema,
      handle: async (visit) => present(await find(visit)),
    }),
    row({
      method: 'PATCH',
      path: ':id',
      name: 'update',
      summary: 'Changes label, scopes or limits',
      needsRecentLogin: true,
      body: keyInput.partial(),
      answer: keySchema,
      handle: async (visit) => present(await visit.app.accounts.personalKeys.update(visit.caller.user, await find(visit), visit.body)),
    }),
    row({
      method: 'DELETE',
      path: ':id',
      name: 'remove',
      summary: 'Deletes a key',
      needsRecentLogin: true,
      handle: async (visit) => visit.app.accounts.personalKeys.remove(visit.caller.user, await find(visit)),
    }),
    row({
      method: 'POST',
      path: ':id/roll',
      name: 'roll',
      summary: 'Gives a key a new value; the old one stops working at once',
      needsRecentLogin: true,
      answer: keySchema,
      handle: async (visit) => {
        const { key, value } = await visit.app.accounts.personalKeys.roll(visit.caller.user, await find(visit))
        return present(key, value)
      },
    }),
  ],
})
