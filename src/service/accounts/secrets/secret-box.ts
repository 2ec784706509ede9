import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { WaymarkError } from '../../../errors/errors.ts'

// Secrets at rest: AES-256-GCM. With several keys the first one encrypts, and all of them decrypt, so that a key can be replaced.

export interface SecretBox {
  /** `context` is authenticated: a sealed text cannot be moved to another record. */
  seal(plain: string, context: string): string
  open(sealed: string, context: string): string
  /** False for texts that an older key sealed. */
  isCurrent(sealed: string): boolean
}

const keyBytes = 32
const ivBytes = 12
const tagBytes = 16

export const newSecretKey = (): string => randomBytes(keyBytes).toString('base64')

const idOf = (key: Buffer): string => createHash('sha256').update(key).digest('hex').slice(0, 8)

const readKey = (text: string): Buffer => {
  const key = Buffer.from(text, 'base64')
  if (key.length === keyBytes) return key
  const message = `A secret key must be ${keyBytes} random bytes in base64, got ${key.length} bytes. Make one with: openssl rand -base64 ${keyBytes}`
  throw new WaymarkError('validation-failed', { message, attr: 'exports__secretKeys' })
}

/** Sealed texts: `v1.<key>.<iv, tag and ciphertext in base64>`. */
export function createSecretBox(keys: readonly string[]): SecretBox {
  const all = keys.map(readKey).map((key) => ({ key, id: idOf(key) }))
  const [current] = all
  if (!current) throw new WaymarkError('validation-failed', { message: 'exports.secretKeys must hold a key', attr: 'exports__secretKeys' })
  return {
    seal(plain, context) {
      const iv = randomBytes(ivBytes)
      const cipher = createCipheriv('aes-256-gcm', current.key, iv).setAAD(Buffer.from(context))
      const text = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return `v1.${current.id}.${Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64')}`
    },
    open(sealed, context) {
      const [version, id, text = ''] = sealed.split('.')
      const found = version === 'v1' ? all.find((one) => one.id === id) : undefined
      if (!found) throw new WaymarkError('unknown-secret-key', { id: id ?? '' })
      const bytes = Buffer.from(text, 'base64')
      try {
        const decipher = createDecipheriv('aes-256-gcm', found.key, bytes.subarray(0, ivBytes)).setAAD(Buffer.from(context))
        decipher.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes))
        return Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]).toString('utf8')
      } catch (error) {
        throw new WaymarkError('damaged-secret', {}, { cause: error })
      }
    },
    isCurrent: (sealed) => sealed.split('.')[1] === current.id,
  }
}

/** The same with keys that are read when the first secret is sealed or opened. */
export function lazySecretBox(keys: () => readonly string[]): SecretBox {
  let box: SecretBox | null = null
  const use = () => {
    box ??= createSecretBox(keys())
    return box
  }
  return {
    seal: (plain, context) => use().seal(plain, context),
    open: (sealed, context) => use().open(sealed, context),
    isCurrent: (sealed) => use().isCurrent(sealed),
  }
}
