import { randomFillSync } from 'node:crypto'

const pool = Buffer.alloc(8192)
let used = pool.length

/** A call for a few random bytes costs as much as one for thousands. */
function pooledRandom(bytes: number): Uint8Array {
  if (used + bytes > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += bytes
  return pool.subarray(used - bytes, used)
}

/**
 * Makes version 7 UUIDs that sort in the order in which they were made, also within a millisecond and when the clock steps back: the twelve bits
 * after the time count, and a clock that has not moved on is not looked at.
 */
export const timeOrderedUuids = (clock: () => Date, random: (bytes: number) => Uint8Array = pooledRandom): (() => string) => {
  let last = -1
  let counter = 0
  return () => {
    const now = clock().getTime()
    // A clock set back by more than a minute was set on purpose; a smaller step is a correction.
    if (now > last || now < last - 60_000) {
      last = now
      counter = 0
    } else if (++counter > 0xfff) {
      last++
      counter = 0
    }
    const bytes = Buffer.alloc(16)
    bytes.writeUIntBE(last, 0, 6)
    bytes.writeUInt16BE(0x7000 | counter, 6)
    bytes.set(random(8), 8)
    bytes[8] = 0x80 | (bytes[8]! & 0x3f)
    const hex = bytes.toString('hex')
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
  }
}

export const isUuid = (text: string): boolean => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text)
