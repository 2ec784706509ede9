import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs'

// How far the log was, said outside of it: without this number what a hand or a bad disk cut off the end of the log looks like what a crash leaves. It is
// written after each group and not made durable by itself, so it may say less than is true, and never more.

const digits = 16
const closedMark = ' closed'

export interface Position {
  /** The last record that is known to have been durable; 0 when no file says it. */
  readonly seq: number
  /** Who had the log open closed it; null when no file says it. */
  readonly isClosed: boolean | null
}

const unknown: Position = { seq: 0, isClosed: null }

export function readPosition(path: string): Position {
  try {
    const text = readFileSync(path, 'utf8')
    const seq = Number.parseInt(text, 10)
    return Number.isSafeInteger(seq) && seq >= 0 ? { seq, isClosed: text.slice(digits).startsWith(closedMark) } : unknown
  } catch {
    return unknown
  }
}

export class PositionFile {
  private handle: number | null
  private seq = 0

  /** The log goes on without a file that cannot be made. */
  constructor(path: string) {
    try {
      this.handle = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600)
    } catch {
      this.handle = null
    }
  }

  write(seq: number): void {
    this.seq = seq
    this.put('')
  }

  close(): void {
    this.put(closedMark)
    if (this.handle !== null) closeSync(this.handle)
    this.handle = null
  }

  private put(mark: string): void {
    if (this.handle === null) return
    try {
      writeSync(this.handle, `${String(this.seq).padStart(digits, '0')}${mark.padEnd(closedMark.length)}\n`, 0)
    } catch {
      // The next group writes it again.
    }
  }
}
