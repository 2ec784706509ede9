import { closeSync, fsyncSync, openSync, readSync, renameSync, statSync, unlinkSync, writeSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { crc32 } from '../../../lib/ids/crc32.ts'
import { BloomFilter, bitsPerKey } from './bloom.ts'
import { compareWords } from './words.ts'

// The uuids of a range of the log, sorted, in pages of 4 KiB. Memory holds only a filter, and the first uuid and checksum of each page.
//
//   pages … | filter | fences (first uuid and checksum of each page) | footer

const pageRecords = 256
const pageBytes = pageRecords * 16
const fenceWords = 5
const magic = 0x57755569
const version = 1
const footerWords = 14

export interface RunRange {
  /** First and last record of the log it covers. */
  readonly from: number
  readonly to: number
}

interface Medium {
  write(bytes: Uint8Array): void
  /** Completes the file and gives it its name. */
  finish(): void
  read(offset: number, length: number): Buffer
  readonly size: number
  close(): void
  remove(): void
}

/** A file that is written sequentially, and gets its name when it is complete. */
export function fileMedium(path: string): Medium {
  const growing = `${path}.new`
  let file = openSync(growing, 'w+', 0o600)
  let size = 0
  return {
    write(bytes) {
      for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done, bytes.length - done, size + done)
      size += bytes.length
    },
    finish() {
      fsyncSync(file)
      renameSync(growing, path)
    },
    read: (offset, length) => readFrom(file, offset, length),
    get size() {
      return size
    },
    close() {
      if (file >= 0) closeSync(file)
      file = -1
    },
    remove() {
      this.close()
      unlinkSync(path)
    },
  }
}

export function openFile(path: string): Medium {
  let file = openSync(path, 'r')
  return {
    write() {
      throw new Error('a finished run is not written to')
    },
    finish() {},
    read: (offset, length) => readFrom(file, offset, length),
    size: statSync(path).size,
    close() {
      if (file >= 0) closeSync(file)
      file = -1
    },
    remove() {
      this.close()
      unlinkSync(path)
    },
  }
}

function readFrom(file: number, offset: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(length)
  for (let done = 0; done < length; ) {
    const n = readSync(file, bytes, done, length - done, offset + done)
    if (n === 0) throw new Error('the uuid file is truncated')
    done += n
  }
  return bytes
}

export function memoryMedium(): Medium {
  let parts: Uint8Array[] = []
  let whole = Buffer.alloc(0)
  return {
    write(bytes) {
      parts.push(Uint8Array.from(bytes))
    },
    finish() {
      whole = Buffer.concat(parts)
      parts = []
    },
    read: (offset, length) => Buffer.from(whole.subarray(offset, offset + length)),
    get size() {
      return whole.length
    },
    close() {},
    remove() {},
  }
}

const asBytes = (words: Uint32Array): Uint8Array => new Uint8Array(words.buffer, words.byteOffset, words.byteLength)
const asWords = (bytes: Buffer): Uint32Array => new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)

export class Run {
  readonly range: RunRange
  readonly count: number
  private readonly medium: Medium
  private readonly filter: BloomFilter
  private readonly fences: Uint32Array

  private constructor(medium: Medium, range: RunRange, count: number, filter: BloomFilter, fences: Uint32Array) {
    this.medium = medium
    this.range = range
    this.count = count
    this.filter = filter
    this.fences = fences
  }

  /** Bytes kept in memory. */
  get memory(): number {
    return this.filter.words.byteLength + this.fences.byteLength
  }

  /** Writes sorted blocks of records. `count` is exact. `store` identifies the store that they belong to. */
  static async write(medium: Medium, range: RunRange, count: number, store: number, blocks: Iterable<Uint32Array>): Promise<Run> {
    const filter = BloomFilter.for(count)
    const fences = new Uint32Array(Math.ceil(count / pageRecords) * fenceWords)
    let page = new Uint32Array(pageRecords * 4)
    let [filled, pages] = [0, 0]
    let sliceStart = performance.now()
    const writePage = () => {
      if (filled === 0) return
      const bytes = asBytes(page.subarray(0, filled))
      fences.set(page.subarray(0, 4), pages * fenceWords)
      fences[pages * fenceWords + 4] = crc32(bytes)
      medium.write(bytes)
      page = new Uint32Array(pageRecords * 4)
      filled = 0
      pages++
    }
    for (const block of blocks) {
      for (let i = 0; i < block.length; i += 4) {
        filter.add(block, i)
        page[filled++] = block[i]!
        page[filled++] = block[i + 1]!
        page[filled++] = block[i + 2]!
        page[filled++] = block[i + 3]!
        if (filled === page.length) writePage()
      }
      if (performance.now() - sliceStart > 5) {
        await setImmediate()
        sliceStart = performance.now()
      }
    }
    writePage()
    medium.write(asBytes(filter.words))
    medium.write(asBytes(fences))
    const footer = new Uint32Array(footerWords)
    const numbers = new Float64Array(footer.buffer, 0, 3)
    numbers.set([range.from, range.to, count])
    footer.set([store, bitsPerKey, filter.words.length, crc32(asBytes(filter.words)), crc32(asBytes(fences)), version, 0, magic], 6)
    footer[12] = crc32(asBytes(footer.subarray(0, 12)))
    medium.write(asBytes(footer))
    medium.finish()
    return new Run(medium, range, count, filter, fences)
  }

  /** Null if it is incomplete, or belongs to another store. */
  static open(medium: Medium, store: number): Run | null {
    if (medium.size < footerWords * 4) return null
    const footer = asWords(medium.read(medium.size - footerWords * 4, footerWords * 4))
    if (footer[13] !== magic || footer[11] !== version || footer[12] !== crc32(asBytes(footer.subarray(0, 12))) || footer[6] !== store)
      return null
    const [from, to, count] = new Float64Array(footer.buffer, footer.byteOffset, 3) as unknown as [number, number, number]
    const filterBytes = footer[8]! * 4
    const fenceBytes = Math.ceil(count / pageRecords) * fenceWords * 4
    if (medium.size !== count * 16 + filterBytes + fenceBytes + footerWords * 4) return null
    const filter = asWords(medium.read(count * 16, filterBytes))
    const fences = asWords(medium.read(count * 16 + filterBytes, fenceBytes))
    if (crc32(asBytes(filter)) !== footer[9] || crc32(asBytes(fences)) !== footer[10]) return null
    return new Run(medium, { from, to }, count, new BloomFilter(filter), fences)
  }

  has(key: Uint32Array, at: number): boolean {
    if (this.count === 0 || compareWords(key, at, this.fences, 0) < 0 || !this.filter.mayHave(key, at)) return false
    let [low, high] = [0, this.fences.length / fenceWords - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (compareWords(this.fences, middle * fenceWords, key, at) <= 0) low = middle
      else high = middle - 1
    }
    const page = this.page(low)
    let [first, last] = [0, page.length / 4 - 1]
    while (first <= last) {
      const middle = (first + last) >> 1
      const order = compareWords(page, middle * 4, key, at)
      if (order === 0) return true
      if (order < 0) first = middle + 1
      else last = middle - 1
    }
    return false
  }

  private page(index: number): Uint32Array {
    const bytes = this.medium.read(index * pageBytes, Math.min(pageBytes, this.count * 16 - index * pageBytes))
    if (crc32(bytes) !== this.fences[index * fenceWords + 4]) throw new DamagedRunError()
    return asWords(bytes)
  }

  /** Its records in order, read in blocks of pages. */
  *blocks(): Generator<Uint32Array> {
    for (let index = 0; index * pageRecords < this.count; index++) yield this.page(index)
  }

  close(): void {
    this.medium.close()
  }

  remove(): void {
    this.medium.remove()
  }
}

export class DamagedRunError extends Error {
  override readonly name = 'DamagedRunError'

  constructor() {
    super('A page of a uuid file is damaged')
  }
}

/** Merges the records of several runs in order. */
export function* mergedBlocks(runs: readonly Run[]): Generator<Uint32Array> {
  const heads = runs.flatMap((run) => {
    const blocks = run.blocks()
    const first = blocks.next()
    return first.done ? [] : [{ blocks, block: first.value, at: 0 }]
  })
  let out = new Uint32Array(pageRecords * 4)
  let filled = 0
  while (heads.length > 0) {
    let least = heads[0]!
    for (let i = 1; i < heads.length; i++) if (compareWords(heads[i]!.block, heads[i]!.at, least.block, least.at) < 0) least = heads[i]!
    for (let k = 0; k < 4; k++) out[filled++] = least.block[least.at++]!
    if (filled === out.length) {
      yield out
      out = new Uint32Array(pageRecords * 4)
      filled = 0
    }
    if (least.at < least.block.length) continue
    const next = least.blocks.next()
    if (next.done) heads.splice(heads.indexOf(least), 1)
    else Object.assign(least, { block: next.value, at: 0 })
  }
  yield out.subarray(0, filled)
}
