import * as z from 'zod'
import { type AccountContext, type From, post } from '../context.ts'
import { check, text } from '../fields.ts'
import type { AccountTables, Passkey, User } from '../records.ts'
import { invalid, mustFind } from '../refusals.ts'
import { factorChange, logFactor, mailFactorChange } from './factor-log.ts'
import type { PasskeyChallenge } from './passkey-challenges.ts'
import { algorithms, bytesOf, credential, encoded, loadLibrary, takeOnce } from './passkeys.ts'
import { replaceRecoveryCodes } from './recovery-codes.ts'
import { endSessions } from './sessions.ts'
import { mustBeOwnAccount } from './users.ts'

// The passkeys of an account: added, named, removed.

const loadHelpers = () => import('@simplewebauthn/server/helpers')

const name = text({ max: 80 })
const registration = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: encoded(20_000),
    attestationObject: encoded(60_000),
    transports: z.array(z.string().max(40)).max(10).optional(),
  }),
})
export const passkeyInput = z.object({ name, passkey: registration })
export const passkeyChange = z.object({ name })

const notAccepted = () => invalid('This passkey was not accepted. Begin again.', 'passkey', '2fa_invalid')

/** Without what the browser says of the make of the authenticator: nothing depends on it, and its certificates are not looked at. */
async function withoutAttestation(attestationObject: string): Promise<string> {
  const { decodeAttestationObject } = await loadHelpers()
  const authData = Buffer.from(decodeAttestationObject(new Uint8Array(bytesOf(attestationObject))).get('authData'))
  const length = Buffer.alloc(3)
  length[0] = 0x59 // CBOR: bytes, whose length has 16 bits
  length.writeUInt16BE(authData.length, 1)
  const word = (given: string) => Buffer.concat([Buffer.from([0x60 + given.length]), Buffer.from(given)])
  return Buffer.concat([
    Buffer.from([0xa3]),
    word('fmt'),
    word('none'),
    word('attStmt'),
    Buffer.from([0xa0]),
    word('authData'),
    length,
    authData,
  ]).toString('base64url')
}

const mailPasskey = (context: AccountContext, user: User, passkey: string, isAdded: boolean): Promise<void> =>
  post(context, user.current_organization_id ?? '', [
    {
      to: user.email,
      subject: isAdded ? 'A new passkey of your Waymark account' : 'A passkey of your Waymark account was removed',
      text: [
        `${user.email} at ${context.settings().siteUrl}: the passkey "${passkey}" was ${isAdded ? 'added. It signs in without a password, or beside it' : 'removed'}.`,
        '',
        'If this was not you, sign out everywhere else, remove the passkeys that you do not know, change your password, and tell an administrator.',
      ].join('\n'),
    },
  ])

/** Verifies what a browser has made; null: it is not right. */
async function verifyRegistration({ passkey }: z.infer<typeof passkeyInput>, begun: PasskeyChallenge) {
  const { verifyRegistrationResponse } = await loadLibrary()
  const { clientDataJSON, attestationObject } = passkey.response
  try {
    const done = await verifyRegistrationResponse({
      response: {
        ...passkey,
        response: { clientDataJSON, attestationObject: await withoutAttestation(attestationObject) },
        clientExtensionResults: {},
      },
      expectedChallenge: begun.challenge,
      expectedOrigin: begun.origin,
      expectedRPID: begun.rpId,
      requireUserVerification: false,
      supportedAlgorithmIDs: algorithms,
    })
    return done.verified ? done.registrationInfo : null
  } catch {
    return null
  }
}

export const createPasskeyEnrolment = (context: AccountContext) => {
  const { store, clock } = context
  const own = (tables: Pick<AccountTables, 'passkeys'>, user: User, id: string) => mustFind(tables.passkeys.first({ id, user_id: user.id }))

  return {
    list: async (user: User): Promise<readonly Passkey[]> =>
      [...(await store.read.passkeys.find({ user_id: user.id }))].sort((a, b) => a.created_at.getTime() - b.created_at.getTime()),

    /**
     * Adds a passkey. The first factor of an account ends all sessions but `kept`, the hash of one, which began without it, and comes with recovery codes.
     */
    async add(
      user: User,
      body: unknown,
      begun: PasskeyChallenge | null,
      from: From,
      kept: string,
    ): Promise<{ readonly passkey: Passkey; readonly recoveryCodes: readonly string[] | null }> {
      mustBeOwnAccount(user)
      const input = check(passkeyInput, body)
      const made = begun && (await verifyRegistration(input, begun))
      if (!begun || !made) throw notAccepted()
      const { credential: key, credentialBackedUp, credentialDeviceType } = made
      const added = await store.write(async (tables) => {
        const found = (await tables.users.first({ id: user.id }))!
        const now = clock()
        if (begun.expiresAt <= now.getTime() || !(await takeOnce(tables, found, begun, now))) throw notAccepted()
        if (await tables.passkeys.first({ credential_id: key.id })) throw invalid('This passkey is known already.', 'passkey', 'unique')
        const passkey: Passkey = {
          id: context.newId(),
          user_id: found.id,
          name: input.name,
          credential_id: key.id,
          public_key: Buffer.from(key.publicKey).toString('base64url'),
          counter: key.counter,
          transports: input.passkey.response.transports ?? [],
          is_backup_eligible: credentialDeviceType === 'multiDevice',
          is_backed_up: credentialBackedUp,
          created_at: now,
          last_used_at: null,
        }
        await tables.passkeys.insert(passkey)
        await logFactor(context, tables, found, 'passkey_added', from, {
          changes: [{ type: 'User', action: 'created', field: 'passkey', before: null, after: input.name }],
        })
        if (found.has_second_factor) return { passkey, recoveryCodes: null }
        await tables.users.update({ id: found.id }, { has_second_factor: true })
        await endSessions(tables, found, kept)
        await logFactor(context, tables, found, 'second_factor_enabled', from, {
          changes: factorChange(true),
        })
        return { passkey, recoveryCodes: await replaceRecoveryCodes(context, tables, found) }
      })
      void mailPasskey(context, user, input.name, true)
      if (added.recoveryCodes) void mailFactorChange(context, user, 'second_factor_enabled')
      return added
    },

    rename: (user: User, id: string, body: unknown): Promise<Passkey> =>
      store.write(async (tables) => {
        const change = check(passkeyChange, body)
        const passkey = await own(tables, user, id)
        await tables.passkeys.update({ id }, change)
        return { ...passkey, ...change }
      }),

    /** Not the only factor of an account: turning that off takes a proof of it. */
    async remove(user: User, id: string, from: From): Promise<void> {
      const removed = await store.write(async (tables) => {
        const passkey = await own(tables, user, id)
        const hasApp = (await tables.second_factors.find({ user_id: user.id })).some(({ confirmed_at }) => confirmed_at !== null)
        if (!hasApp && (await tables.passkeys.count({ user_id: user.id })) === 1)
          throw invalid(
            'This passkey is your only second factor. Add another one first, or turn the second factor off, with this passkey or a recovery code.',
            null,
            '2fa_last',
          )
        await tables.passkeys.remove({ id })
        await logFactor(context, tables, user, 'passkey_removed', from, {
          changes: [{ type: 'User', action: 'deleted', field: 'passkey', before: passkey.name, after: null }],
        })
        return passkey
      })
      void mailPasskey(context, user, removed.name, false)
    },
  }
}
