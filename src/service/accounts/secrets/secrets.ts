import { createHash, createHmac, randomBytes, randomInt, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

const base62 = (bytes: Uint8Array): string => {
  let rest = BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  let digits = ''
  do {
    digits = alphabet[Number(rest % 62n)]! + digits
    rest /= 62n
  } while (rest > 0n)
  return digits
}

export const projectKeyPrefix = 'phc_'
/** `phc_…` is a project's public token, `phx_…` a personal key, `scim_…` the token of an identity provider, `wvk_…` a viewer key. */
export const randomKey = (prefix: typeof projectKeyPrefix | 'phx_' | 'scim_' | 'wvk_'): string => prefix + base62(randomBytes(32))

/** Longer secrets are invalid, so they are not hashed. */
export const longestSecret = 512

/** Keys are 256 random bits, so a single round of hashing is enough. */
export const hashKey = (value: string): string => `sha256$${createHash('sha256').update(value).digest('hex')}`
export const maskKey = (value: string): string => `${value.slice(0, 4)}...${value.slice(-4)}`

export const randomChallenge = (): string => randomBytes(32).toString('base64url')
export const randomToken = (): string => randomBytes(32).toString('base64url')

export const randomLetters = (count: number): string => {
  const letters = alphabet.slice(0, 10) + alphabet.slice(36)
  return Array.from({ length: count }, () => letters[randomInt(letters.length)]).join('')
}

const deviceSignature = (nonce: string, userUuid: string, passwordHash: string): string =>
  createHmac('sha256', passwordHash).update(`device ${userUuid} ${nonce}`).digest('base64url')

/** Proof that a user has signed in from this browser. Nothing is stored: it is signed with the hash of the password. */
export const deviceToken = (userUuid: string, passwordHash: string): string => {
  const nonce = randomToken()
  return `${nonce}.${deviceSignature(nonce, userUuid, passwordHash)}`
}

export const isDeviceToken = (token: string, userUuid: string, passwordHash: string): boolean => {
  const [nonce = '', signature = ''] = token.split('.')
  const wanted = Buffer.from(deviceSignature(nonce, userUuid, passwordHash))
  const found = Buffer.from(signature)
  return found.length === wanted.length && timingSafeEqual(found, wanted)
}

const derive = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(scrypt)
const cost = { N: 2 ** 15, r: 8, p: 1 }

/** `scrypt$<log2 N>$<r>$<p>$<salt>$<hash>`, so that the cost can be raised later. */
export const hashPassword = async (password: string): Promise<string> => {
  const salt = randomBytes(16)
  const hash = await derive(password.normalize('NFKC'), salt, 32, { ...cost, maxmem: 256 * cost.N * cost.r })
  return ['scrypt', Math.log2(cost.N), cost.r, cost.p, salt.toString('base64'), hash.toString('base64')].join('$')
}

export const passwordMatches = async (password: string, stored: string): Promise<boolean> => {
  const [kind, n, r, p, salt, hash] = stored.split('$')
  if (kind !== 'scrypt' || !salt || !hash) return false
  const wanted = Buffer.from(hash, 'base64')
  const options = { N: 2 ** Number(n), r: Number(r), p: Number(p) }
  const found = await derive(password.normalize('NFKC'), Buffer.from(salt, 'base64'), wanted.length, {
    ...options,
    maxmem: 256 * options.N * options.r,
  })
  return timingSafeEqual(found, wanted)
}
