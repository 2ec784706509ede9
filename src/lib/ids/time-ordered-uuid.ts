import { createHash, randomFillSync } from 'node:crypto'

const pool = Buffer.alloc(8192)
let used = pool.length

/** Random bytes are requested in bulk: a call for a few costs as much as one for thousands. */
function pooledRandom(bytes: number): Uint8Array {
  if (used + bytes > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += bytes
  return pool.subarray(used - bytes, used)
}

const spelled = Buffer.from('00000000-0000-0000-0000-000000000000')
const hexDigits = Buffer.from('0123456789abcdef')

/** Writes the last `count` hexadecimal digits of `value` at an index. */
function putHex(value: number, count: number, at: number): void {
  for (let i = at + count - 1; i >= at; i--) {
    spelled[i] = hexDigits[value & 15]!
    value >>>= 4
  }
}

/**
 * Creates version 7 UUIDs that sort in order of creation, also within a millisecond and when the clock steps back: the twelve bits after
 * the time are a counter.
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
    putHex(Math.floor(last / 2 ** 32), 4, 0)
    putHex((last % 2 ** 32) >>> 16, 4, 4)
    putHex(last % 2 ** 16, 4, 9)
    putHex(0x7000 | counter, 4, 14)
    const drawn = random(8)
    putHex(0x8000 | ((drawn[0]! & 0x3f) << 8) | drawn[1]!, 4, 19)
    for (let i = 2; i < 8; i++) putHex(drawn[i]!, 2, 20 + 2 * i)
    return spelled.toString('latin1')
  }
}

/** The UUIDs of a request that may come again, in order: of the same request always the same, and no others. `attempt`: one that `timeOrderedUuids` made. */
export function uuidsOfAttempt(attempt: string): () => string {
  const time = new Date(Number.parseInt(attempt.slice(0, 8) + attempt.slice(9, 13), 16))
  let made = 0
  return timeOrderedUuids(
    () => time,
    () => createHash('sha256').update(`${attempt} ${made++}`).digest(),
  )
}

export const isUuid = (text: string): boolean => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text)
