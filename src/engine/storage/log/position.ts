import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

// The end of the log, stored outside of it. Without it, records removed by hand or by a bad disk would look like the incomplete end after a crash. It is
// written after each group without a sync of its own, so it may be less than the truth, but never more.

const digits = 16
const closedMark = ' closed'

export interface Position {
  /** The last record that is known to have been durable; 0 if there is no file. */
  readonly seq: number
  /** The process that had the log open closed it; null if there is no file. */
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

/** The end of a log that was closed; null if that is not certain without reading it. */
export function closedPosition(path: string): number | null {
  const { seq, isClosed } = readPosition(path)
  return isClosed ? seq : null
}

export class PositionFile {
  private handle: number | null
  private seq = 0

  /** The log works without the file if it cannot be created. */
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

/** The last record that a backup has; infinite if no backups are made regularly. */
export async function readBackedUp(path: string): Promise<number> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (text === null) return Number.POSITIVE_INFINITY
  const seq = Number.parseInt(text, 10)
  return Number.isSafeInteger(seq) && seq >= 0 ? seq : 0
}
