import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import { open } from 'node:fs/promises'
import type { FoundPerson } from '../../ports.ts'
import { numbersOfChunk } from './person-states.ts'

// The persons of a project in a file of places that are written again, so that reading one of millions takes one read, and changing it one write. It is a copy
// of what the store has. A changed person gets another place, and the old one is free when the change is committed: so a process may die at any point, and a
// record that the index names is whole.

const unit = 64
const headBytes = 72
const noTime = -1
const numberMask = numbersOfChunk - 1
const chunkBits = Math.log2(numbersOfChunk)

/** Sizes of places, in units: each a third to a half larger than the one before. */
const classes: readonly number[] = (() => {
  const sizes: number[] = []
  for (let size = 4; size < 2 ** 26; size *= 2) sizes.push(size, size * 1.5)
  return sizes
})()

const classOf = (bytes: number): number => {
  const units = Math.ceil((headBytes + bytes) / unit)
  let low = 0
  for (let high = classes.length - 1; low < high; ) {
    const middle = (low + high) >> 1
    if (classes[middle]! < units) low = middle + 1
    else high = middle
  }
  return low
}

/** Where a record is, and what place it has. */
export interface Placed {
  /** In units, from 1 on. */
  readonly at: number
  /** Bytes of its texts. */
  readonly size: number
}

export class PersonFile {
  private readonly path: string
  private file: number
  /** Something could not be written: a full disk, mostly. */
  isBroken = false
  /** By the upper bits of the number: where the record is; 0: nowhere. */
  readonly offsets: Uint32Array[]
  /** By size. */
  readonly free: number[][]
  /** In units. */
  private end: number
  private bytes = Buffer.allocUnsafeSlow(4_096)
  private zeros = Buffer.alloc(4_096)

  /** `offsets`: of a file that was there. */
  constructor(path: string, offsets: Uint32Array[] | null, free: readonly (readonly number[])[] = []) {
    this.path = path
    this.file = openSync(path, offsets ? 'r+' : 'w+', 0o600)
    this.offsets = offsets ?? []
    this.free = classes.map((_, i) => [...(free[i] ?? [])])
    this.end = Math.max(1, Math.ceil(fstatSync(this.file).size / unit))
  }

  get memory(): number {
    return this.offsets.length * numbersOfChunk * 4 + this.free.reduce((sum, { length }) => sum + length, 0) * 8
  }

  private room(bytes: number): Buffer {
    if (this.bytes.length < bytes) this.bytes = Buffer.allocUnsafeSlow(Math.ceil(bytes * 1.5))
    return this.bytes
  }

  private blank(length: number): Buffer {
    if (this.zeros.length < length) this.zeros = Buffer.alloc(Math.ceil(length * 1.5))
    return this.zeros
  }

  /** Writes a record to a place of its own. */
  write(person: FoundPerson): Placed {
    const { properties, propertyTimes } = person
    const lengths = [Buffer.byteLength(properties), Buffer.byteLength(propertyTimes)] as const
    const size = lengths[0] + lengths[1]
    const kind = classOf(size)
    const length = headBytes + size
    const bytes = this.room(length)
    bytes.writeUInt32LE(person.personNo, 0)
    bytes.writeUInt32LE(lengths[0], 4)
    bytes.writeUInt32LE(lengths[1], 8)
    bytes.writeUInt32LE((person.hasRecord ? 1 : 0) | (person.isIdentified ? 2 : 0), 12)
    bytes.writeDoubleLE(person.createdAt, 16)
    bytes.writeDoubleLE(person.updatedAt, 24)
    bytes.writeDoubleLE(person.importedAt ?? noTime, 32)
    bytes.writeDoubleLE(person.version, 40)
    bytes.write(person.uuid.replaceAll('-', ''), 48, 16, 'hex')
    bytes.writeUInt32LE(person.importedAt === null ? 0 : 1, 64)
    bytes.writeUInt32LE(0, 68)
    bytes.write(properties, headBytes, 'utf8')
    bytes.write(propertyTimes, headBytes + lengths[0], 'utf8')
    bytes.writeUInt32LE(checksum(bytes, length), 68)
    let at = this.free[kind]!.pop()
    if (at === undefined) {
      at = this.end
      this.end += classes[kind]!
    }
    try {
      for (let done = 0; done < length; ) done += writeSync(this.file, bytes, done, length - done, at * unit + done)
    } catch (error) {
      this.isBroken = true
      throw error
    }
    return { at, size }
  }

  /** The record of a person from now on; null: there is none. `sizeBefore`: of the one before it, whose place is free then; null: it is not known. */
  place(no: number, placed: Placed | null, sizeBefore: number | null): void {
    while (this.offsets.length <= no >>> chunkBits) this.offsets.push(new Uint32Array(numbersOfChunk))
    const chunk = this.offsets[no >>> chunkBits]!
    const before = chunk[no & numberMask]!
    if (before !== 0 && sizeBefore !== null) this.discard({ at: before, size: sizeBefore })
    chunk[no & numberMask] = placed?.at ?? 0
  }

  has(no: number): boolean {
    return (this.offsets[no >>> chunkBits]?.[no & numberMask] ?? 0) !== 0
  }

  /** The place is free. Its record is blanked: what is deleted must not stay in a file. */
  discard({ at, size }: Placed): void {
    try {
      writeSync(this.file, this.blank(headBytes + size), 0, headBytes + size, at * unit)
    } catch {
      this.isBroken = true
    }
    this.free[classOf(size)]!.push(at)
  }

  /** Null: it is not here, or not whole. `size`: bytes of its texts. */
  read(no: number, size: number): FoundPerson | null {
    const at = this.offsets[no >>> chunkBits]?.[no & numberMask] ?? 0
    if (at === 0) return null
    const length = headBytes + size
    const bytes = this.room(length)
    for (let done = 0; done < length; ) {
      const got = readSync(this.file, bytes, done, length - done, at * unit + done)
      if (got === 0) return null
      done += got
    }
    const ofProperties = bytes.readUInt32LE(4)
    const sum = bytes.readUInt32LE(68)
    bytes.writeUInt32LE(0, 68)
    if (bytes.readUInt32LE(0) !== no || ofProperties + bytes.readUInt32LE(8) !== size || checksum(bytes, length) !== sum) return null
    const flags = bytes.readUInt32LE(12)
    const hex = bytes.toString('hex', 48, 64)
    return {
      personNo: no,
      uuid: `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`,
      hasRecord: (flags & 1) !== 0,
      isIdentified: (flags & 2) !== 0,
      createdAt: bytes.readDoubleLE(16),
      updatedAt: bytes.readDoubleLE(24),
      importedAt: bytes.readUInt32LE(64) === 0 ? null : bytes.readDoubleLE(32),
      version: bytes.readDoubleLE(40),
      properties: bytes.toString('utf8', headBytes, headBytes + ofProperties),
      propertyTimes: bytes.toString('utf8', headBytes + ofProperties, length),
    }
  }

  /** What is written is durable when it resolves. */
  async settle(): Promise<void> {
    const file = await open(this.path, 'r+')
    try {
      await file.datasync()
    } finally {
      await file.close()
    }
  }

  close(): void {
    if (this.file >= 0) closeSync(this.file)
    this.file = -1
  }
}

function checksum(bytes: Buffer, length: number): number {
  let sum = length | 0
  let at = 0
  for (; at + 4 <= length; at += 4) sum = Math.imul(sum ^ bytes.readInt32LE(at), 0x9e3779b1) + (sum >>> 15)
  for (; at < length; at++) sum = Math.imul(sum ^ bytes[at]!, 0x9e3779b1) + (sum >>> 15)
  return sum >>> 0
}
