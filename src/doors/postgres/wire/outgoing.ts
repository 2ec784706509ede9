import type { Duplex } from 'node:stream'
import { setTimeout as after } from 'node:timers/promises'

// Messages to clients, collected and written in pieces, no faster than they are read.

/** Bytes that are collected before they are written. */
const pieceSize = 64 * 1024
/** A client that takes nothing for this long is disconnected. */
const clientPatience = { ms: 60_000 }

export interface ColumnOnWire {
  readonly name: string
  readonly table: number
  readonly attribute: number
  readonly oid: number
  readonly size: number
  readonly isBinary: boolean
}

export class Outgoing {
  private buffer = Buffer.allocUnsafe(pieceSize)
  private length = 0
  private start = 0
  private socket: Duplex

  constructor(socket: Duplex) {
    this.socket = socket
  }

  /** After TLS has begun. */
  over(socket: Duplex): void {
    this.socket = socket
  }

  private room(bytes: number): void {
    if (this.length + bytes <= this.buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.buffer.length * 2, this.length + bytes))
    this.buffer.copy(larger, 0, 0, this.length)
    this.buffer = larger
  }

  begin(type: string): this {
    this.room(5)
    this.start = this.length + 1
    this.buffer[this.length] = type.charCodeAt(0)
    this.length += 5
    return this
  }

  end(): void {
    this.buffer.writeInt32BE(this.length - this.start, this.start)
  }

  byte(value: number): this {
    this.room(1)
    this.buffer[this.length++] = value
    return this
  }

  int16(value: number): this {
    this.room(2)
    this.buffer.writeUInt16BE(value & 0xffff, this.length)
    this.length += 2
    return this
  }

  int32(value: number): this {
    this.room(4)
    this.buffer.writeInt32BE(value | 0, this.length)
    this.length += 4
    return this
  }

  /** A text that ends with a zero byte, which it cannot contain. */
  text(value: string): this {
    const plain = value.includes('\0') ? value.replaceAll('\0', '') : value
    const bytes = Buffer.byteLength(plain)
    this.room(bytes + 1)
    this.buffer.write(plain, this.length)
    this.length += bytes
    return this.byte(0)
  }

  /** A value of a row with its length before it. */
  value(value: string | Buffer | null): this {
    if (value === null) return this.int32(-1)
    const bytes = typeof value === 'string' ? Buffer.byteLength(value) : value.length
    this.room(bytes + 4)
    this.int32(bytes)
    if (typeof value === 'string') this.buffer.write(value, this.length)
    else value.copy(this.buffer, this.length)
    this.length += bytes
    return this
  }

  /** A message that is no more than its letter. */
  sign(type: string): void {
    this.begin(type).end()
  }

  authentication(code: number): void {
    this.begin('R').int32(code).end()
  }

  parameter(name: string, value: string): void {
    this.begin('S').text(name).text(value).end()
  }

  keyData(process: number, secret: number): void {
    this.begin('K').int32(process).int32(secret).end()
  }

  ready(status: 'I' | 'T' | 'E'): void {
    this.begin('Z').byte(status.charCodeAt(0)).end()
  }

  complete(tag: string): void {
    this.begin('C').text(tag).end()
  }

  rowDescription(columns: readonly ColumnOnWire[]): void {
    this.begin('T').int16(columns.length)
    for (const { name, table, attribute, oid, size, isBinary } of columns)
      this.text(name)
        .int32(table)
        .int16(attribute)
        .int32(oid)
        .int16(size)
        .int32(-1)
        .int16(isBinary ? 1 : 0)
    this.end()
  }

  parameterDescription(oids: readonly number[]): void {
    this.begin('t').int16(oids.length)
    for (const oid of oids) this.int32(oid)
    this.end()
  }

  /** `E` is an error, `N` a notice. */
  report(type: 'E' | 'N', fields: Readonly<Record<string, string | undefined>>): void {
    this.begin(type)
    for (const [letter, value] of Object.entries(fields)) if (value !== undefined) this.byte(letter.charCodeAt(0)).text(value)
    this.byte(0).end()
  }

  get isFull(): boolean {
    return this.length >= pieceSize
  }

  /** Hands over what is collected, and waits while the client has not read what was sent before. */
  async flush(): Promise<void> {
    if (this.length === 0) return
    const piece = this.buffer.subarray(0, this.length)
    this.buffer = Buffer.allocUnsafe(pieceSize)
    this.length = 0
    const { socket } = this
    if (socket.destroyed || socket.write(piece)) return
    await drained(socket)
  }
}

async function drained(socket: Duplex): Promise<void> {
  const over = new AbortController()
  const taken = new Promise<'taken'>((resolve) => {
    const done = () => {
      socket.off('drain', done)
      socket.off('close', done)
      resolve('taken')
    }
    socket.once('drain', done)
    socket.once('close', done)
  })
  try {
    const first = await Promise.race([
      taken,
      after(clientPatience.ms, 'late' as const, { signal: over.signal, ref: false }).catch(() => 'taken' as const),
    ])
    if (first === 'late') socket.destroy(new Error('The client stopped reading.'))
  } finally {
    over.abort()
  }
}
