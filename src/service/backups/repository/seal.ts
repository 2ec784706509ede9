import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes, scryptSync, timingSafeEqual } from 'node:crypto'
import { WaymarkError } from '../../../errors/errors.ts'

// Encryption of what a place keeps: AES-256-GCM with a key made of the operator's by scrypt. Without one it is kept as it is.

export interface Encryption {
  readonly kdf: 'scrypt'
  readonly cost: number
  readonly salt: string
  /** A known text, sealed: tells a wrong key from damage. */
  readonly check: string
}

export interface Seal {
  /** Identifies contents. With a key, nobody else can tell whether a place has them. */
  hash(bytes: Uint8Array): string
  /** `name`: where it will be. It opens there only. */
  close(bytes: Uint8Array, name: string): Uint8Array
  open(bytes: Uint8Array, name: string): Buffer
}

const cost = 2 ** 15
const [nonceBytes, tagBytes] = [12, 16]
const checkName = 'check'
const checkText = Buffer.from('waymark backup')

const noSeal: Seal = {
  hash: (bytes) => createHash('sha256').update(bytes).digest('base64url'),
  close: (bytes) => bytes,
  open: (bytes) => Buffer.from(bytes),
}

function sealOf(key: string, salt: Buffer, n: number): Seal {
  const both = scryptSync(key, salt, 64, { N: n, r: 8, p: 1, maxmem: 256 * n * 8 })
  const [forContents, forHashes] = [both.subarray(0, 32), both.subarray(32)]
  return {
    hash: (bytes) => createHmac('sha256', forHashes).update(bytes).digest('base64url'),
    close(bytes, name) {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', forContents, nonce).setAAD(Buffer.from(name))
      return Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()])
    },
    open(bytes, name) {
      const end = bytes.length - tagBytes
      const decipher = createDecipheriv('aes-256-gcm', forContents, bytes.subarray(0, nonceBytes)).setAAD(Buffer.from(name))
      decipher.setAuthTag(bytes.subarray(end))
      return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, end)), decipher.final()])
    },
  }
}

/** For a new place. */
export function newSeal(key: string | null): { readonly seal: Seal; readonly encryption: Encryption | null } {
  if (key === null) return { seal: noSeal, encryption: null }
  const salt = randomBytes(16)
  const seal = sealOf(key, salt, cost)
  const check = Buffer.from(seal.close(checkText, checkName)).toString('base64')
  return { seal, encryption: { kdf: 'scrypt', cost, salt: salt.toString('base64'), check } }
}

/** For a place that exists. */
export function knownSeal(place: string, encryption: Encryption | null, key: string | null): Seal {
  const refuse = (message: string) => new WaymarkError('command-failed', { message })
  if (encryption === null) {
    if (key !== null) throw refuse(`${place} was begun without a key: leave the key out, or use another place for encrypted copies.`)
    return noSeal
  }
  if (key === null) throw refuse(`${place} is encrypted: give its key with --key-file FILE, or in WAYMARK_BACKUP_KEY.`)
  const seal = sealOf(key, Buffer.from(encryption.salt, 'base64'), encryption.cost)
  try {
    if (timingSafeEqual(seal.open(Buffer.from(encryption.check, 'base64'), checkName), checkText)) return seal
  } catch {
    // The tag does not fit.
  }
  throw refuse(`The key does not open ${place}: it is not the one with which the place was begun.`)
}
