import { scryptSync } from 'node:crypto'

/** A password as it is stored, made in a millisecond: how much a hash costs stands in it. */
export const quickHash = (text: string): string => {
  const salt = Buffer.alloc(16, 1)
  return `scrypt$8$8$1$${salt.toString('base64')}$${scryptSync(text, salt, 32, { N: 256, r: 8, p: 1 }).toString('base64')}`
}
