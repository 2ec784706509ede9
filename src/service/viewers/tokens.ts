import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto'
import { WaymarkError } from '../../errors/errors.ts'
import { isObject } from '../../lib/is-object.ts'
import { longestSeconds, type ViewerGrant, viewerGrant } from './grant.ts'

// Tokens of viewers: JSON Web Tokens, signed by HMAC with SHA-256, so that an application in any language can make them with a library that it has. `kid` names a
// key of the project, `jti` the token.

const algorithm = 'HS256'
/** Characters: what a header of a request has room for. */
const longestToken = 8_000
const longestId = 200

export interface SigningKey {
  readonly id: string
  readonly secret: string
}
export interface Claims {
  readonly id: string
  readonly grant: ViewerGrant
  readonly expiresAt: Date
}
/** A token whose signature has not been checked. */
export interface ReadToken {
  readonly key: string
  /** What it says, if the secret is the one that it was signed with. */
  open(secret: string, now: Date): Claims
}

export const refusedToken = (reason: string) => new WaymarkError('wrong-viewer-token', { reason })

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const signatureOf = (signed: string, secret: string): Buffer => createHmac('sha256', secret).update(signed).digest()

export function signToken(grant: ViewerGrant, seconds: number, key: SigningKey, now: Date): { readonly token: string } & Claims {
  const id = randomUUID()
  const issued = Math.floor(now.getTime() / 1000)
  const expires = issued + seconds
  const signed = `${encoded({ alg: algorithm, typ: 'JWT', kid: key.id })}.${encoded({ jti: id, iat: issued, exp: expires, ...grant })}`
  const token = `${signed}.${signatureOf(signed, key.secret).toString('base64url')}`
  if (token.length > longestToken)
    throw new WaymarkError('invalid-value', {
      message: `The token would have ${token.length} characters; at most ${longestToken} fit into a header. Give it fewer filters, insights or variables.`,
      rule: 'invalid_input',
      attr: null,
    })
  return { token, id, grant, expiresAt: new Date(expires * 1000) }
}

function decoded(part: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
    if (isObject(value)) return value
  } catch {
    // Said below.
  }
  throw refusedToken('it is not a JSON Web Token')
}

export function readToken(text: string): ReadToken {
  const parts = text.length > longestToken ? [] : text.split('.')
  const [head = '', payload = '', signature = ''] = parts
  if (parts.length !== 3) throw refusedToken('it is not a JSON Web Token')
  const { alg, kid } = decoded(head)
  // Another algorithm, or none, is how a token would pass without the secret.
  if (alg !== algorithm) throw refusedToken(`it must be signed by ${algorithm}`)
  if (typeof kid !== 'string' || kid.length > longestId) throw refusedToken('its header names no key: kid')
  return {
    key: kid,
    open(secret, now) {
      const wanted = signatureOf(`${head}.${payload}`, secret)
      const found = Buffer.from(signature, 'base64url')
      if (found.length !== wanted.length || !timingSafeEqual(found, wanted)) throw refusedToken('it is not signed with this key')
      return claimsOf(decoded(payload), now)
    },
  }
}

function claimsOf({ jti, exp, nbf, ...rest }: Readonly<Record<string, unknown>>, now: Date): Claims {
  const seconds = now.getTime() / 1000
  if (typeof jti !== 'string' || jti === '' || jti.length > longestId) throw refusedToken('it has no id: jti')
  if (typeof exp !== 'number') throw refusedToken('it never expires: exp')
  if (exp <= seconds) throw refusedToken('it has expired')
  if (exp > seconds + longestSeconds) throw refusedToken(`it expires in more than ${longestSeconds / 86_400} days`)
  if (typeof nbf === 'number' && nbf > seconds) throw refusedToken('it is not valid yet')
  const grant = viewerGrant.safeParse(rest)
  if (!grant.success) {
    const [issue] = grant.error.issues
    throw refusedToken(`${issue!.path.join('.') || 'its payload'} is wrong: ${issue!.message.replace(/\.$/, '')}`)
  }
  return { id: jti, grant: grant.data, expiresAt: new Date(exp * 1000) }
}
