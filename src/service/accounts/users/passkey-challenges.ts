import { randomBytes } from 'node:crypto'
import type { AccountContext } from '../context.ts'

// Challenges that a passkey signs. A challenge is sealed in a cookie of the browser that asked for it, so that anybody may ask without leaving a row; those that were signed are
// remembered until they expire, and work once.

/** What the signature is for. `alone`: signing in without a password. `second`: after one. `prove`: a change of the own account that takes the second factor. */
type PasskeyPurpose = 'enrol' | 'prove' | 'second' | 'alone'

/** Where passkeys of this server belong: the name that they are bound to, and the origin of the pages that may use them. */
export interface PasskeyPlace {
  readonly origin: string
  readonly rpId: string
}

export interface PasskeyChallenge extends PasskeyPlace {
  readonly purpose: PasskeyPurpose
  /** Hash of the session, or of the login that waits. Null: nobody is known yet. */
  readonly holder: string | null
  /** In base64url. */
  readonly challenge: string
  readonly expiresAt: number
}

export const challengeLifetime = 300_000
const longestSealed = 2_000
const about = 'passkey challenge'

export const createPasskeyChallenges = ({ box, clock }: Pick<AccountContext, 'box' | 'clock'>) => ({
  begin(purpose: PasskeyPurpose, holder: string | null, { origin, rpId }: PasskeyPlace): { made: PasskeyChallenge; sealed: string } {
    const challenge = randomBytes(32).toString('base64url')
    const made = { purpose, holder, origin, rpId, challenge, expiresAt: clock().getTime() + challengeLifetime }
    return { made, sealed: box.seal(JSON.stringify(made), about) }
  },

  /** The challenge of the browser, if it is for this purpose, this holder and this place. */
  open(sealed: string | undefined, purpose: PasskeyPurpose, holder: string | null, place: PasskeyPlace): PasskeyChallenge | null {
    if (sealed === undefined || sealed.length > longestSealed) return null
    let found: PasskeyChallenge
    try {
      found = JSON.parse(box.open(sealed, about)) as PasskeyChallenge
    } catch {
      return null // changed by somebody, or of a key that is gone
    }
    const isMeant = found.purpose === purpose && found.holder === holder && found.origin === place.origin && found.rpId === place.rpId
    return isMeant && found.expiresAt > clock().getTime() ? found : null
  },
})
