import * as z from 'zod'
import type { AccountContext } from '../context.ts'
import type { AccountTables, Passkey, User } from '../records.ts'
import { invalid } from '../refusals.ts'
import { hashKey } from '../secrets/secrets.ts'
import { createPasskeyChallenges, type PasskeyChallenge } from './passkey-challenges.ts'
import { mustBeOwnAccount } from './users.ts'

// Passkeys: as the second factor, and alone. What a browser sends is verified before the tables are locked; whether it may still count is decided with the write.

export const loadLibrary = () => import('@simplewebauthn/server')

const mostPasskeys = 20
/** ES256, EdDSA and RS256: all that authenticators have. */
export const algorithms = [-7, -8, -257]

export const encoded = (max: number) => z.string({ error: 'Not a valid string.' }).min(1).max(max)
export const credential = { id: encoded(2_000), rawId: encoded(2_000), type: z.literal('public-key') }
export const assertionInput = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: encoded(20_000),
    authenticatorData: encoded(20_000),
    signature: encoded(4_000),
    userHandle: z.string().max(200).nullable().optional(),
  }),
})

export const wrongPasskey = () => invalid('This passkey was not accepted. Try again, or sign in another way.', 'passkey', '2fa_invalid')
export const bytesOf = (text: string) => Buffer.from(text, 'base64url')
const handleOf = ({ uuid }: User): Buffer => Buffer.from(uuid)

/** A signature that is right. Whether it counts is decided when it is used. */
export interface SignedChallenge {
  readonly passkey: Passkey
  readonly challenge: PasskeyChallenge
  readonly counter: number
  readonly isBackedUp: boolean
}

/** Notes that the challenge was used. False: it was before, or the passkey is not what it was. */
export async function usePasskey({ clock }: AccountContext, tables: AccountTables, user: User, signed: SignedChallenge): Promise<boolean> {
  const now = clock()
  const { passkey, challenge, counter } = signed
  const found = await tables.passkeys.first({ id: passkey.id })
  if (found?.user_id !== user.id || challenge.expiresAt <= now.getTime()) return false
  // A counter that does not go on belongs to a copy. Passkeys that are synchronized have none: it stays 0.
  if ((counter > 0 || Number(found.counter) > 0) && counter <= Number(found.counter)) return false
  if (!(await takeOnce(tables, user, challenge, now))) return false
  await tables.passkeys.update({ id: found.id }, { counter, is_backed_up: signed.isBackedUp, last_used_at: now })
  return true
}

/** Notes that something that works once was used. False: it was before. */
export async function takeOnce(
  tables: AccountTables,
  user: User,
  { challenge, expiresAt }: Pick<PasskeyChallenge, 'challenge' | 'expiresAt'>,
  now: Date,
): Promise<boolean> {
  const hash = hashKey(challenge)
  if (await tables.used_challenges.first({ hash })) return false
  for (const old of await tables.used_challenges.find({ user_id: user.id }))
    if (old.expires_at <= now) await tables.used_challenges.remove({ hash: old.hash })
  await tables.used_challenges.insert({ hash, user_id: user.id, created_at: now, expires_at: new Date(expiresAt) })
  return true
}

const forBrowser = ({ credential_id: id, transports }: Passkey) => ({ id, transports: transports as never })

export const createPasskeys = (context: AccountContext) => {
  const { store } = context
  const challenges = createPasskeyChallenges(context)

  return {
    challenges,
    /** For `navigator.credentials.create`. */
    async creationOptions(user: User, { challenge, rpId }: PasskeyChallenge) {
      mustBeOwnAccount(user)
      const present = await store.read.passkeys.find({ user_id: user.id })
      if (present.length >= mostPasskeys) throw invalid(`An account has at most ${mostPasskeys} passkeys. Remove one first.`)
      const { generateRegistrationOptions } = await loadLibrary()
      return generateRegistrationOptions({
        rpName: 'Waymark',
        rpID: rpId,
        userName: user.email,
        userDisplayName: [user.first_name, user.last_name].filter(Boolean).join(' ') || user.email,
        userID: new Uint8Array(handleOf(user)),
        challenge: new Uint8Array(bytesOf(challenge)),
        attestationType: 'none',
        excludeCredentials: present.map(forBrowser),
        authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
        supportedAlgorithmIDs: algorithms,
        timeout: 120_000,
      })
    },

    /** For `navigator.credentials.get`. Null: of whomever has a passkey for this server. */
    async requestOptions(user: User | null, { challenge, rpId }: PasskeyChallenge) {
      const present = user === null ? [] : await store.read.passkeys.find({ user_id: user.id })
      if (user !== null && present.length === 0) throw invalid('This account has no passkey.', null, '2fa_no_passkey')
      const { generateAuthenticationOptions } = await loadLibrary()
      return generateAuthenticationOptions({
        rpID: rpId,
        challenge: new Uint8Array(bytesOf(challenge)),
        allowCredentials: present.map(forBrowser),
        userVerification: user === null ? 'required' : 'preferred',
        timeout: 120_000,
      })
    },

    /**
     * Verifies what a passkey has signed, without using it up; null: it is not right. `user`: who signs in or is signed in; null: whose passkey it is, and then it must have verified the person, by a
     * fingerprint or a PIN, as it replaces the password.
     */
    async verify(
      user: User | null,
      given: unknown,
      begun: PasskeyChallenge | null,
    ): Promise<{ readonly user: User; readonly signed: SignedChallenge } | null> {
      const read = assertionInput.safeParse(given)
      const passkey = read.success && begun ? await store.read.passkeys.first({ credential_id: read.data.id }) : undefined
      const owner = passkey && (await store.read.users.first({ id: passkey.user_id }))
      if (!read.success || !begun || !passkey || !owner?.is_active || (user !== null && user.id !== owner.id)) return null
      const { userHandle, ...response } = read.data.response
      const isOwners = userHandle ? bytesOf(userHandle).equals(handleOf(owner)) : user !== null
      if (!isOwners) return null
      const { verifyAuthenticationResponse } = await loadLibrary()
      const done = await verifyAuthenticationResponse({
        response: { ...read.data, response, clientExtensionResults: {} },
        expectedChallenge: begun.challenge,
        expectedOrigin: begun.origin,
        expectedRPID: begun.rpId,
        credential: { id: passkey.credential_id, publicKey: new Uint8Array(bytesOf(passkey.public_key)), counter: Number(passkey.counter) },
        requireUserVerification: user === null,
      }).catch(() => null)
      if (!done?.verified) return null
      const { newCounter, credentialBackedUp, credentialDeviceType } = done.authenticationInfo
      if ((credentialDeviceType === 'multiDevice') !== passkey.is_backup_eligible) return null
      return { user: owner, signed: { passkey, challenge: begun, counter: newCounter, isBackedUp: credentialBackedUp } }
    },
  }
}

export const noPasskeysHere = () =>
  invalid(
    'Passkeys are bound to the name of the server. They need HTTPS and a name, not a number, or `localhost`: start the server with --public-url, and open that address.',
    null,
    'passkey_unavailable',
  )
