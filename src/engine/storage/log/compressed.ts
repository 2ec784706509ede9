import type { FileHandle } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { crc32 } from '../../../lib/ids/crc32.ts'

// A closed segment in its compressed form. It is a gzip file, of which `gunzip` makes the plain one. Each member is a block of the plain form that needs no other one: an extra field of its header
// says which block it is, with a checksum of its own, and gzip has one of the contents. A block that cannot be read reads as zeros, in which there is no frame.
//
//   1f 8b 08 04 | time 0, flags 0, system 255 | 32 | W M | 28 | bytes of the member, offset, plain bytes of the segment, bytes of a block, checksum | deflated | checksum, size

/** Of the plain form: what is read at once, and what is lost with one damaged byte. */
export const blockBytes = 256 * 1024
/** Measured in docs/decisions/log-diet.md. */
const level = 3

const gzipHeadBytes = 10
const start = Buffer.from([0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255])
const place = { extraBytes: 10, id: 12, fieldBytes: 14, bytes: 16, offset: 20, total: 28, blockBytes: 36, checksum: 40 } as const
const headBytes = 44
const fieldBytes = headBytes - place.bytes
const fieldId = Buffer.from('WM', 'latin1')
/** Node takes no smaller ones. */
const leastChunk = 64
const largestBlock = 16 * 1024 ** 2

/** `chunkSize`: of the output that one task of a thread makes. */
const zipped = promisify<Buffer, { level: number; chunkSize: number }, Buffer>(gzip)
const unzipped = promisify<Buffer, { maxOutputLength: number; chunkSize: number }, Buffer>(gunzip)

interface BlockHead {
  /** Of the member. */
  readonly bytes: number
  /** In the plain form. */
  readonly offset: number
  /** Bytes of the plain form. */
  readonly total: number
  readonly blockBytes: number
}

/** The member for the block at an offset of the plain form, in a thread of libuv. */
export async function compressBlock(plain: Buffer, { offset, total }: Pick<BlockHead, 'offset' | 'total'>): Promise<readonly Buffer[]> {
  const packed = (await zipped(plain, { level, chunkSize: blockBytes / 2 })).subarray(gzipHeadBytes)
  const head = Buffer.alloc(headBytes)
  start.copy(head)
  head.writeUInt16LE(headBytes - place.id, place.extraBytes)
  fieldId.copy(head, place.id)
  head.writeUInt16LE(fieldBytes, place.fieldBytes)
  head.writeUInt32LE(headBytes + packed.length, place.bytes)
  head.writeBigUInt64LE(BigInt(offset), place.offset)
  head.writeBigUInt64LE(BigInt(total), place.total)
  head.writeUInt32LE(blockBytes, place.blockBytes)
  head.writeUInt32LE(crc32(head.subarray(0, place.checksum)), place.checksum)
  return [head, packed]
}

const headOf = (bytes: Buffer): BlockHead | null => {
  if (bytes.length < headBytes || !bytes.subarray(0, start.length).equals(start)) return null
  if (crc32(bytes.subarray(0, place.checksum)) !== bytes.readUInt32LE(place.checksum)) return null
  const head = {
    bytes: bytes.readUInt32LE(place.bytes),
    offset: Number(bytes.readBigUInt64LE(place.offset)),
    total: Number(bytes.readBigUInt64LE(place.total)),
    blockBytes: bytes.readUInt32LE(place.blockBytes),
  }
  const isKnown = head.bytes > headBytes && head.blockBytes > 0 && head.blockBytes <= largestBlock && head.offset % head.blockBytes === 0
  return isKnown && head.offset < head.total ? head : null
}

const searchBytes = 256 * 1024

async function readAt(handle: FileHandle, at: number, bytes: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(bytes)
  let filled = 0
  while (filled < bytes) {
    const { bytesRead } = await handle.read(buffer, filled, bytes - filled, at + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return buffer.subarray(0, filled)
}

/** Where the next member starts after a damaged one; the size of the file if none does. */
async function nextHead(handle: FileHandle, from: number, size: number): Promise<number> {
  for (let at = from; at + headBytes <= size; at += searchBytes - headBytes) {
    const bytes = await readAt(handle, at, Math.min(searchBytes, size - at))
    for (let found = bytes.indexOf(start); found >= 0; found = bytes.indexOf(start, found + 1))
      if (headOf(bytes.subarray(found, found + headBytes))) return at + found
  }
  return size
}

interface Block {
  readonly at: number
  readonly bytes: number
}

const isDamage = (error: unknown): boolean => {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return (code.startsWith('Z_') && code !== 'Z_MEM_ERROR') || code === 'ERR_BUFFER_TOO_LARGE'
}

/** The plain form of a compressed segment. */
export class CompressedBytes {
  readonly isCompressed = true
  readonly size: number
  private readonly blockBytes: number
  /** By their offset in the plain form. */
  private readonly blocks = new Map<number, Block>()
  /** Where members were not looked for yet. */
  private unseen: number
  private last: { readonly offset: number; readonly bytes: Buffer } | null = null

  private constructor(
    private readonly handle: FileHandle,
    private readonly fileBytes: number,
    at: number,
    { total, blockBytes }: BlockHead,
  ) {
    this.size = total
    this.blockBytes = blockBytes
    this.unseen = at
  }

  /** Null: the file has no block. */
  static async open(handle: FileHandle, fileBytes: number): Promise<CompressedBytes | null> {
    let at = 0
    let head = headOf(await readAt(handle, 0, headBytes))
    if (!head) {
      at = await nextHead(handle, 1, fileBytes)
      head = headOf(await readAt(handle, at, headBytes))
    }
    return head && new CompressedBytes(handle, fileBytes, at, head)
  }

  /** False: the segment ends before. */
  async read(into: Buffer, at: number): Promise<boolean> {
    if (at + into.length > this.size) return false
    for (let done = 0; done < into.length; ) {
      const offset = at + done - ((at + done) % this.blockBytes)
      const block = await this.block(offset)
      done += block.copy(into, done, at + done - offset)
    }
    return true
  }

  private async block(offset: number): Promise<Buffer> {
    if (this.last?.offset === offset) return this.last.bytes
    const bytes = Math.min(this.blockBytes, this.size - offset)
    const plain = await this.inflated(offset, bytes)
    this.last = { offset, bytes: plain ?? Buffer.alloc(bytes) }
    return this.last.bytes
  }

  /** Null: it is damaged, or missing. */
  private async inflated(offset: number, bytes: number): Promise<Buffer | null> {
    const block = await this.find(offset)
    if (!block) return null
    try {
      const plain = await unzipped(await readAt(this.handle, block.at, block.bytes), {
        maxOutputLength: bytes,
        chunkSize: Math.max(bytes, leastChunk),
      })
      return plain.length === bytes ? plain : null
    } catch (error) {
      if (isDamage(error)) return null
      throw error
    }
  }

  async locate(at: number): Promise<void> {
    await this.find(at - (at % this.blockBytes))
  }

  private async find(offset: number): Promise<Block | undefined> {
    while (!this.blocks.has(offset) && this.unseen + headBytes <= this.fileBytes) {
      const from = this.unseen
      const bytes = await readAt(this.handle, from, Math.min(searchBytes, this.fileBytes - from))
      let at = from
      for (let head = headOf(bytes); head; head = headOf(bytes.subarray(at - from, at - from + headBytes))) {
        this.blocks.set(head.offset, { at, bytes: head.bytes })
        at += head.bytes
      }
      // What is no head within the bytes that were read is damage, or the next head is behind them.
      const isSeen = at + headBytes <= from + bytes.length
      this.unseen = isSeen ? await nextHead(this.handle, at + 1, this.fileBytes) : at
    }
    return this.blocks.get(offset)
  }
}
