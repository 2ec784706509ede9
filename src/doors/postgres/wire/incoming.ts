import { SqlError } from '../statements/sql-error.ts'

// Messages from clients: a letter, a length that counts itself, a body. The first message has no letter.

export interface Message {
  readonly type: string
  readonly body: Buffer
}

/** The longest message of somebody who is not known yet, and of one who is. */
const longestMessage = { before: 10_000, after: 16 * 1024 * 1024 }

const broken = (message: string): SqlError => new SqlError('08P01', message)

export class Incoming {
  private chunks: Buffer[] = []
  private size = 0
  private most = longestMessage.before
  /** The first message has been read. */
  isStarted = false

  /** Bytes that wait. */
  get waiting(): number {
    return this.size
  }

  /** One message of the longest size fits; what comes behind it waits in the socket. */
  get isFull(): boolean {
    return this.size > this.most + 1024
  }

  trust(): void {
    this.most = longestMessage.after
  }

  push(chunk: Buffer): void {
    this.chunks.push(chunk)
    this.size += chunk.length
  }

  private joined(): Buffer {
    if (this.chunks.length > 1) this.chunks = [Buffer.concat(this.chunks, this.size)]
    return this.chunks[0] ?? Buffer.alloc(0)
  }

  private head(bytes: number): Buffer | null {
    if (this.size < bytes) return null
    if (this.chunks[0]!.length < bytes) this.joined()
    return this.chunks[0]!
  }

  /** The next whole message; null: more bytes are needed. A length that cannot be right throws before its bytes arrive. */
  next(): Message | null {
    const before = this.isStarted ? 1 : 0
    const head = this.head(before + 4)
    if (!head) return null
    const length = head.readInt32BE(before)
    const type = this.isStarted ? String.fromCharCode(head[0]!) : ''
    if (length < (this.isStarted ? 4 : 8) || length > this.most) throw broken(`invalid message length ${length}`)
    const whole = before + length
    if (this.size < whole) return null
    const all = this.joined()
    const body = all.subarray(before + 4, whole)
    this.size -= whole
    this.chunks = this.size > 0 ? [all.subarray(whole)] : []
    return { type, body }
  }
}

/** Reads the fields of a body. */
export class Fields {
  private at = 0
  private readonly body: Buffer

  constructor(body: Buffer) {
    this.body = body
  }

  get length(): number {
    return this.body.length
  }

  private need(bytes: number): number {
    const { at } = this
    if (bytes < 0 || at + bytes > this.body.length) throw broken('insufficient data left in message')
    this.at += bytes
    return at
  }

  byte(): string {
    return String.fromCharCode(this.body[this.need(1)]!)
  }

  int16(): number {
    return this.body.readInt16BE(this.need(2))
  }

  uint16(): number {
    return this.body.readUInt16BE(this.need(2))
  }

  int32(): number {
    return this.body.readInt32BE(this.need(4))
  }

  /** Null: NULL. */
  bytes(): Buffer | null {
    const length = this.int32()
    if (length === -1) return null
    const from = this.need(length)
    return this.body.subarray(from, from + length)
  }

  text(): string {
    const end = this.body.indexOf(0, this.at)
    if (end < 0) throw broken('invalid string in message')
    const bytes = this.body.subarray(this.at, end)
    this.at = end + 1
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    } catch {
      throw new SqlError('22021', 'invalid byte sequence for encoding "UTF8"')
    }
  }

  get isAtEnd(): boolean {
    return this.at >= this.body.length
  }

  needEnd(): void {
    if (!this.isAtEnd) throw broken('invalid message format')
  }
}
