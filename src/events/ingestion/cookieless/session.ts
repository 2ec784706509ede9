import { createHash } from 'node:crypto'

/** Microseconds. */
const pause = 30 * 60_000_000

export interface Session {
  readonly id: string
  /** Times of its first and last event, in microseconds. */
  readonly from: number
  readonly last: number
}

/** A version 7 UUID that is the same for the same visitor and time. */
export function sessionId(visitor: string, time: number): string {
  const bytes = createHash('sha256').update(`${visitor} ${time}`).digest().subarray(0, 16)
  bytes.writeUIntBE(Math.max(0, Math.floor(time / 1000)), 0, 6)
  bytes[6] = 0x70 | (bytes[6]! & 0x0f)
  bytes[8] = 0x80 | (bytes[8]! & 0x3f)
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

/**
 * The session of an event: the visitor's latest one, unless 30 minutes lie between them. Of an event that is much older than the latest session only `id`
 * counts: the latest one goes on.
 */
export function sessionAt(latest: Session | null, visitor: string, time: number): { readonly id: string; readonly latest: Session } {
  if (latest && time >= latest.from - pause && time <= latest.last + pause) {
    const next = { id: latest.id, from: Math.min(latest.from, time), last: Math.max(latest.last, time) }
    return { id: latest.id, latest: next }
  }
  const begun = { id: sessionId(visitor, time), from: time, last: time }
  return { id: begun.id, latest: latest && time < latest.from ? latest : begun }
}
