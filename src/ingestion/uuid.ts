import { createHash, randomFillSync } from 'node:crypto'

const hex = /^[0-9a-f]{32}$/

/** The usual spelling of a UUID in any of its spellings, or null when it is none. */
export function readUuid(value: unknown): string | null {
  if (typeof value !== 'string') return null
  if (/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(value)) return value
  const digits = value
    .trim()
    .toLowerCase()
    .replace(/^urn:uuid:/, '')
    .replace(/^\{(.*)\}$/, '$1')
  const bare = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(digits) ? digits.replaceAll('-', '') : digits
  return hex.test(bare) ? hyphenated(bare) : null
}

const hyphenated = (digits: string): string =>
  `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20)}`

const pool = Buffer.alloc(4096)
let used = pool.length
let lastMs = 0
let counter = 0

/** A UUID of version 7: ordered by time, and within a millisecond by a counter of twelve bits. */
export function timeOrderedUuid(ms: number): string {
  if (used + 8 > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  if (ms > lastMs) {
    lastMs = ms
    counter = pool.readUInt16LE(used) & 0x3ff
  } else if (++counter > 0xfff) {
    lastMs++
    counter = 0
  }
  const time = lastMs.toString(16).padStart(12, '0')
  const tail = Buffer.from(pool.subarray(used, used + 8))
  used += 8
  tail[0] = (tail[0]! & 0x3f) | 0x80
  return hyphenated(`${time}7${counter.toString(16).padStart(3, '0')}${tail.toString('hex')}`)
}

const personNamespace = Buffer.from('932979b465c3442484670b66ec27bc22', 'hex')

/** The id a person made for `distinctId` gets, whenever it is made: UUIDv5, so that events without a person find it later. */
export function personUuid(projectId: number | string, distinctId: string): string {
  const hash = createHash('sha1').update(personNamespace).update(`${projectId}:${distinctId}`, 'utf8').digest().subarray(0, 16)
  hash[6] = (hash[6]! & 0x0f) | 0x50
  hash[8] = (hash[8]! & 0x3f) | 0x80
  return hyphenated(hash.toString('hex'))
}
