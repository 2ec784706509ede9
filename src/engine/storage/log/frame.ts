import {
  Bool,
  type Data,
  Field,
  Int64,
  Message,
  makeData,
  RecordBatch,
  RecordBatchReader,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  TimestampMillisecond,
  Utf8,
} from 'apache-arrow'
import { crc32 } from '../../../lib/ids/crc32.ts'
import { Texts } from '../../../lib/text/texts.ts'
import type { LogBatch, LogKind, StoredBatch } from './log.ts'

// A segment is an Arrow IPC stream that any Arrow library can read. Each record batch message carries a seal at the end of its metadata block, in
// bytes that Arrow treats as padding: numbers and a checksum, enough to verify a file without decoding it.
//
//   ffffffff | metadata size | flatbuffer, padding, seal | body

/** Format 2: earlier segments may be compressed. A log without them has format 1, and an earlier version of Waymark reads it. */
export const logFormat = 2
const plainFormat = 1
const formatKey = 'waymark.log.format'

const columns = {
  seq: new Int64(),
  kind: new Utf8(),
  received_at: new TimestampMillisecond(),
  sent_at: new Utf8(),
  historical: new Bool(),
  ip: new Utf8(),
  uuid: new Utf8(),
  payload: new Utf8(),
}
type Columns = typeof columns
/** The import that a batch is of is in the column of the address, which no batch has any more: earlier versions of Waymark do not read it. */
const importMark = 'import:'
const isNullable = (name: string) => name === 'sent_at' || name === 'ip'
const schemaOf = (format: number) =>
  new Schema<Columns>(
    Object.entries(columns).map(([name, type]) => new Field(name, type, isNullable(name))) as Field[],
    new Map([[formatKey, String(format)]]),
  )
const schema = schemaOf(plainFormat)

const prefixBytes = 8
const sealBytes = 48
const magic = Buffer.from('WMLOGv1\0', 'latin1')
const seal = { firstSeq: 8, groupSeq: 16, bodyBytes: 24, rows: 32, metadataBytes: 36, checksum: 40 } as const
const maxMetadataBytes = 1 << 20

/** Collects the bytes of messages while they are written. */
class Collector extends RecordBatchStreamWriter<Columns> {
  private chunks: Uint8Array[] = []

  protected override _write(chunk: ArrayBufferView): this {
    if (this._started) this.chunks.push(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength))
    return this
  }

  take(): Uint8Array[] {
    this._recordBatchBlocks = [] // kept for a file's footer, which a stream does not have
    return this.chunks.splice(0)
  }
}

const startWriter = (format: number) => {
  const writer = new Collector()
  writer.reset(undefined, schemaOf(format))
  return { writer, header: Buffer.concat(writer.take()) }
}
const started = new Map<number, ReturnType<typeof startWriter>>()
const arrowWriter = (format = plainFormat) => {
  const known = started.get(format) ?? startWriter(format)
  started.set(format, known)
  return known
}

/** The schema message, with which every segment starts. Those of all formats have the same length. */
export const segmentHeader = (format = plainFormat): Buffer => arrowWriter(format).header

/** The format of a segment that starts with one of our headers; null if it does not. */
export const formatOfHeader = (start: Buffer): number | null =>
  [plainFormat, logFormat].find((format) => start.equals(segmentHeader(format))) ?? null

/** The format version of a segment; null if it does not start like a segment. */
export const headerFormat = (bytes: Uint8Array): number | null => {
  try {
    const format = RecordBatchReader.from(bytes).open().schema.metadata.get(formatKey)
    return format === undefined ? null : Number(format)
  } catch {
    return null
  }
}

const texts = ({ bytes, offsets, length }: Texts): Data<Utf8> => {
  const first = offsets[0]!
  const valueOffsets = first === 0 ? offsets : offsets.map((offset) => offset - first)
  return makeData({ type: new Utf8(), length, nullCount: 0, valueOffsets, data: bytes.subarray(first, offsets[length]) })
}

const uuidLength = 36

/** Uuids are usually ASCII and of equal length. */
const uuidTexts = (uuids: readonly string[]): Data<Utf8> => {
  if (uuids.some((uuid) => uuid.length !== uuidLength)) return texts(Texts.of(uuids))
  const valueOffsets = Int32Array.from({ length: uuids.length + 1 }, (_, i) => i * uuidLength)
  return makeData({ type: new Utf8(), length: uuids.length, nullCount: 0, valueOffsets, data: Buffer.from(uuids.join(''), 'latin1') })
}

const sameText = (value: string, length: number): Data<Utf8> => texts(Texts.of(new Array<string>(length).fill(value)))

/** Values of the whole batch are in its first row. */
const firstText = (value: string | null, length: number): Data<Utf8> => {
  const data = value === null ? new Uint8Array(0) : Buffer.from(value)
  const nullBitmap = new Uint8Array(Math.ceil(length / 8))
  if (value !== null) nullBitmap[0] = 1
  const valueOffsets = new Int32Array(length + 1).fill(data.length, 1)
  return makeData({ type: new Utf8(), length, nullCount: value === null ? length : length - 1, nullBitmap, valueOffsets, data })
}

const sequence = (first: number, length: number): BigInt64Array => {
  const values = new BigInt64Array(length)
  const halves = new Uint32Array(values.buffer)
  for (let i = 0; i < length; i++) {
    halves[2 * i] = (first + i) % 2 ** 32
    halves[2 * i + 1] = Math.floor((first + i) / 2 ** 32)
  }
  return values
}

const toRecordBatch = (batch: LogBatch, firstSeq: number): RecordBatch<Columns> => {
  const length = batch.uuids.length
  const received = new BigInt64Array(length).fill(BigInt(Math.round(batch.receivedAt)))
  const historical = new Uint8Array(Math.ceil(length / 8)).fill(batch.historical ? 0xff : 0)
  const children = [
    makeData({ type: columns.seq, length, nullCount: 0, data: sequence(firstSeq, length) }),
    sameText(batch.kind, length),
    makeData({ type: columns.received_at, length, nullCount: 0, data: received }),
    firstText(batch.sentAt, length),
    makeData({ type: columns.historical, length, nullCount: 0, data: historical }),
    firstText(batch.importId === undefined ? batch.ip : importMark + batch.importId, length),
    uuidTexts(batch.uuids),
    texts(batch.payloads),
  ]
  return new RecordBatch(schema, makeData({ type: new Struct<Columns>(schema.fields), length, nullCount: 0, children }))
}

/** The sealed message. `groupSeq` is the first sequence number of the group that is synced together. */
export function encodeFrame(batch: LogBatch, firstSeq: number, groupSeq: number): Buffer {
  const { writer } = arrowWriter()
  writer.write(toRecordBatch(batch, firstSeq))
  const chunks = writer.take()
  const size = chunks.reduce((sum, chunk) => sum + chunk.byteLength, sealBytes)
  const metadataSize = new DataView(chunks[1]!.buffer, chunks[1]!.byteOffset).getInt32(0, true)
  const frame = Buffer.allocUnsafe(size)
  const sealAt = prefixBytes + metadataSize
  let at = 0
  for (const chunk of chunks) {
    if (at === sealAt) at += sealBytes
    frame.set(chunk, at)
    at += chunk.byteLength
  }
  const metadataBytes = metadataSize + sealBytes
  frame.writeInt32LE(metadataBytes, 4)
  magic.copy(frame, sealAt)
  frame.writeBigUInt64LE(BigInt(firstSeq), sealAt + seal.firstSeq)
  frame.writeBigUInt64LE(BigInt(groupSeq), sealAt + seal.groupSeq)
  frame.writeBigUInt64LE(BigInt(size - prefixBytes - metadataBytes), sealAt + seal.bodyBytes)
  frame.writeUInt32LE(batch.uuids.length, sealAt + seal.rows)
  frame.writeUInt32LE(metadataBytes, sealAt + seal.metadataBytes)
  frame.writeBigUInt64LE(0n, sealAt + seal.checksum)
  frame.writeUInt32LE(crc32(frame), sealAt + seal.checksum)
  return frame
}

export interface FrameHead {
  readonly firstSeq: number
  readonly groupSeq: number
  readonly rows: number
  readonly headBytes: number
  readonly frameBytes: number
}

/** How many bytes `frameHead` needs; null if this is not a message. */
export const headLength = (prefix: Buffer): number | null => {
  const metadataBytes = prefix.readInt32LE(4)
  const isMessage =
    prefix.readInt32LE(0) === -1 && metadataBytes >= sealBytes && metadataBytes <= maxMetadataBytes && metadataBytes % 8 === 0
  return isMessage ? prefixBytes + metadataBytes : null
}

/** The fields of the seal, before the checksum is verified. */
export const frameHead = (head: Buffer): FrameHead | null => {
  const at = head.length - sealBytes
  if (at < prefixBytes || !head.subarray(at, at + magic.length).equals(magic)) return null
  if (head.readUInt32LE(at + seal.metadataBytes) !== head.length - prefixBytes) return null
  const number = (offset: number) => Number(head.readBigUInt64LE(at + offset))
  return {
    firstSeq: number(seal.firstSeq),
    groupSeq: number(seal.groupSeq),
    rows: head.readUInt32LE(at + seal.rows),
    headBytes: head.length,
    frameBytes: head.length + number(seal.bodyBytes),
  }
}

export const isIntact = (frame: Buffer, headBytes: number): boolean => {
  const at = headBytes - sealBytes + seal.checksum
  const before = crc32(frame.subarray(0, at))
  return crc32(frame.subarray(at + 8), crc32(new Uint8Array(8), before)) === frame.readUInt32LE(at) && frame.readUInt32LE(at + 4) === 0
}

/** Finds where the next message might start: a seal has a magic number, and the distance to the start of its message. */
export const nextCandidate = (bytes: Buffer, after: number): number | null => {
  for (let at = bytes.indexOf(magic, after); at >= 0; at = bytes.indexOf(magic, at + 1)) {
    if (at + sealBytes > bytes.length) return null
    const start = at + sealBytes - prefixBytes - bytes.readUInt32LE(at + seal.metadataBytes)
    if (start >= after) return start
  }
  return null
}

/** The index of a column's first buffer in a record batch: validity, then offsets for variable lengths, then values. */
const bufferOf = Object.fromEntries(
  Object.keys(columns).map((name, i, names) => {
    const before = names.slice(0, i).map((one) => (columns[one as keyof Columns] instanceof Utf8 ? 3 : 2))
    return [name, before.reduce((sum, count) => sum + count, 0)]
  }),
) as Record<keyof Columns, number>

/** Reads the buffers in place: the general reader takes four times as long for a batch of one event, which is the usual single request. */
export function decodeFrame(frame: Buffer): StoredBatch {
  const metadataBytes = frame.readInt32LE(4)
  const header = Message.decode(frame.subarray(prefixBytes, prefixBytes + metadataBytes)).header() as unknown as {
    readonly length: number
    readonly buffers: readonly { readonly offset: number; readonly length: number }[]
  }
  const { length, buffers } = header
  const body = new Uint8Array(frame.subarray(prefixBytes + metadataBytes)) // a copy, whose 64-bit views are aligned
  const values = (name: keyof Columns, buffer: number) => {
    const { offset, length: size } = buffers[bufferOf[name] + buffer]!
    return body.subarray(offset, offset + size)
  }
  const texts = (name: keyof Columns): Texts => {
    const offsets = values(name, 1)
    return new Texts(values(name, 2), new Int32Array(body.buffer, offsets.byteOffset, length + 1))
  }
  const first = (name: keyof Columns): string => texts(name).at(0)
  const firstOrNull = (name: keyof Columns) => (((values(name, 0)[0] ?? 1) & 1) === 1 ? first(name) : null)
  const mark = firstOrNull('ip')
  const importId = mark?.startsWith(importMark) ? mark.slice(importMark.length) : null
  const firstNumber = (name: keyof Columns) => Number(new BigInt64Array(body.buffer, values(name, 1).byteOffset, 1)[0])
  return {
    firstSeq: firstNumber('seq'),
    kind: first('kind') as LogKind,
    receivedAt: firstNumber('received_at'),
    sentAt: firstOrNull('sent_at'),
    historical: (values('historical', 1)[0]! & 1) === 1,
    ip: importId === null ? mark : null,
    ...(importId !== null && { importId }),
    uuids: [...texts('uuid')],
    payloads: texts('payload'),
  }
}
