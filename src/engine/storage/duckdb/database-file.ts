import type { FileHandle } from 'node:fs/promises'

// The layout of a database file of DuckDB: a head with two headers, of which the one with the larger iteration counts, then blocks of one size. A checkpoint writes
// blocks that the last one does not use, then its header: while the iteration is the same, the blocks that it uses do not change. Each block and header starts
// with a checksum of the rest.

/** Bytes before the first block. */
export const headBytes = 12_288
const headerOffsets = [4_096, 8_192]
const headerBytes = 4_096
const checksumBytes = 8
const offsets = { iteration: 8, freeList: 24, blockCount: 32, blockBytes: 40 }

export interface DatabaseHead {
  /** Of the last checkpoint. */
  readonly iteration: bigint
  /** Where the list of unused blocks begins. */
  readonly freeList: bigint
  readonly blockCount: number
  readonly blockBytes: number
  /** All of it, as it is in the file. */
  readonly bytes: Buffer
}

/** Null: the file has no header that is whole. */
export async function readHead(handle: FileHandle): Promise<DatabaseHead | null> {
  const bytes = Buffer.alloc(headBytes)
  const { bytesRead } = await handle.read(bytes, 0, headBytes, 0)
  return bytesRead < headBytes ? null : headOf(bytes)
}

export function headOf(bytes: Buffer): DatabaseHead | null {
  const whole = headerOffsets
    .map((offset) => bytes.subarray(offset, offset + headerBytes))
    .filter(isWhole)
    .map((header) => ({
      iteration: header.readBigUInt64LE(offsets.iteration),
      freeList: header.readBigUInt64LE(offsets.freeList),
      blockCount: Number(header.readBigUInt64LE(offsets.blockCount)),
      blockBytes: Number(header.readBigUInt64LE(offsets.blockBytes)),
      bytes,
    }))
  return whole.reduce<DatabaseHead | null>((newest, one) => (newest && newest.iteration >= one.iteration ? newest : one), null)
}

/** The checksum that a block or header states, as text. */
export const statedChecksum = (bytes: Buffer): string => bytes.readBigUInt64LE(0).toString(16).padStart(16, '0')

/** Whether a block or header has the contents that its checksum states: not while it is being written. */
export function isWhole(bytes: Buffer): boolean {
  const { low, high } = checksum(bytes)
  return bytes.readUInt32LE(0) === low && bytes.readUInt32LE(4) === high
}

const multiplier = { low: 0x1ce4e5b9, high: 0xbf58476d }
const [lowHalf, highHalf] = [multiplier.low & 0xffff, multiplier.low >>> 16]

/** DuckDB's: each word of 64 bits times a constant, combined by exclusive or. In halves of 32 bits, which takes a hundredth of the time of BigInt. */
function checksum(bytes: Buffer): { readonly low: number; readonly high: number } {
  let low = 5381
  let high = 0
  for (let i = checksumBytes; i < bytes.length; i += 8) {
    const a = bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24)
    const b = bytes[i + 4]! | (bytes[i + 5]! << 8) | (bytes[i + 6]! << 16) | (bytes[i + 7]! << 24)
    const a0 = a & 0xffff
    const a1 = a >>> 16
    const across = a0 * highHalf
    const over = a1 * lowHalf
    const middle = ((a0 * lowHalf) >>> 16) + (across & 0xffff) + (over & 0xffff)
    const carried = a1 * highHalf + (across >>> 16) + (over >>> 16) + (middle >>> 16)
    low ^= Math.imul(a, multiplier.low)
    high ^= (carried + Math.imul(a, multiplier.high) + Math.imul(b, multiplier.low)) | 0
  }
  return { low: low >>> 0, high: high >>> 0 }
}
