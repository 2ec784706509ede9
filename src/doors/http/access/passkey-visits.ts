import { isIP } from 'node:net'
import { check } from '../../../service/accounts/fields.ts'
import type { User } from '../../../service/accounts/records.ts'
import { challengeLifetime, type PasskeyChallenge, type PasskeyPlace } from '../../../service/accounts/users/passkey-challenges.ts'
import { noPasskeysHere } from '../../../service/accounts/users/passkeys.ts'
import { codeInput, type ShownFactor } from '../../../service/accounts/users/second-factor.ts'
import { Reply, type Visit } from '../resource.ts'
import { cookieOf } from './authenticate.ts'
import { cookie } from './session-cookies.ts'

// What a browser asks a passkey to sign, and brings back.

/** Holds the sealed challenge of the browser. */
const challengeCookie = 'waymark_passkey'

/**
 * The name that passkeys are bound to, and the origin that may use them: those of the address that the server knows to be its own, never those that a request claims. A path that the server is
 * mounted at is no part of either.
 */
function placeOf({ site }: Visit): PasskeyPlace {
  const url = URL.canParse(site.base) ? new URL(site.base) : null
  if (!url || isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0) throw noPasskeysHere()
  const isOfThisMachine = url.hostname === 'localhost' || url.hostname.endsWith('.localhost')
  if (url.protocol !== 'https:' && !isOfThisMachine) throw noPasskeysHere()
  return { origin: url.origin, rpId: url.hostname }
}

/** Answers what the browser gives to its authenticator, with the challenge in a cookie. */
export async function beginPasskey(
  visit: Visit,
  purpose: PasskeyChallenge['purpose'],
  holder: string | null,
  options: (challenge: PasskeyChallenge) => Promise<object>,
): Promise<Reply> {
  const { made, sealed } = visit.app.accounts.passkeys.challenges.begin(purpose, holder, placeOf(visit))
  return new Reply(200, await options(made), { 'set-cookie': cookie(visit, challengeCookie, sealed, challengeLifetime / 1000) })
}

/** The challenge that this browser was given for it; null: another one, or none. */
export const challengeOf = (visit: Visit, purpose: PasskeyChallenge['purpose'], holder: string | null): PasskeyChallenge | null =>
  visit.app.accounts.passkeys.challenges.open(cookieOf(visit.request, challengeCookie), purpose, holder, placeOf(visit))

/** What the body shows of the second factor of a user: a code, or the answer of a passkey. */
export async function shownFactor(visit: Visit, user: User, purpose: 'second' | 'prove', holder: string): Promise<ShownFactor> {
  const given = (visit.body as { readonly passkey?: unknown } | null)?.passkey
  if (given === undefined || given === null) return { code: check(codeInput, visit.body).token }
  const verified = await visit.app.accounts.passkeys.verify(user, given, challengeOf(visit, purpose, holder))
  return { signed: verified?.signed ?? null }
}
