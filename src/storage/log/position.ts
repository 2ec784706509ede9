import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs'

// How far the log was, said outside of it: without this number what a hand or a bad disk cut off the end of the log looks like what a crash leaves. It is
// written after each group and not made durable by itself, so it may say less than is true, and never more.

const digits = 16

/** The number of the last record that is known to have been durable; 0 when no file says it. */
export function readPosition(path: string): number {
  try {
    const seq = Number.parseInt(readFileSync(path, 'utf8'), 10)
    return Number.isSafeInteger(seq) && seq > 0 ? seq : 0
  } catch {
    return 0
  }
}

export class PositionFile {
  private handle: number | null

  /** The log goes on without a file that cannot be made. */
  constructor(path: string) {
    try {
      this.handle = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600)
    } catch {
      this.handle = null
    }
  }

  write(seq: number): void {
    if (this.handle === null) return
    try {
      writeSync(this.handle, `${String(seq).padStart(digits, '0')}\n`, 0)
    } catch {
      // The next group writes it again.
    }
  }

  close(): void {
    if (this.handle !== null) closeSync(this.handle)
    this.handle = null
  }
}
