// Base64 of LZString, decompressed to UTF-8 up to a limit. The library that compresses it decompresses everything before the size is known.

const codeOf = new Int8Array(128).fill(-1)
for (const [i, character] of [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].entries())
  codeOf[character.charCodeAt(0)] = i
codeOf[0x20] = codeOf[0x2b]! // form encoding turns `+` into a space

const shortUnit = 8
const longUnit = 16
const codesOfStep = 4_096
const end = 2

/** Bits as LZString writes them: six per character, most significant first; numbers start with their lowest bit. */
class Bits {
  private at = 0
  private mask = 0
  private current = 0
  private readonly packed: Uint8Array

  constructor(packed: Uint8Array) {
    this.packed = packed
  }

  /** -1 after the end. */
  read(count: number): number {
    let value = 0
    for (let i = 0; i < count; i++) {
      if (this.mask === 0) {
        const next = codeOf[this.packed[this.at++] ?? 0] ?? -1
        if (next < 0) return -1
        this.current = next
        this.mask = 32
      }
      if (this.current & this.mask) value |= 1 << i
      this.mask >>= 1
    }
    return value
  }
}

/** The decompressed bytes. Each dictionary entry is a range of them: the previous output, and the first character after it. */
class Output {
  private bytes = new Uint8Array(1 << 12)
  private starts = new Int32Array(1 << 10)
  private lengths = new Int32Array(1 << 10)
  private readonly limit: number
  length = 0
  entries = 3 // numbers of the marks
  private hasSurrogates = false

  constructor(limit: number) {
    this.limit = limit
  }

  /** Throws a RangeError at the limit. */
  private room(count: number): void {
    const needed = this.length + count
    if (needed > this.limit) throw new RangeError(`decompresses to more than ${this.limit} bytes`)
    if (needed <= this.bytes.length) return
    const larger = new Uint8Array(Math.min(this.limit, Math.max(needed, this.bytes.length * 2)))
    larger.set(this.bytes.subarray(0, this.length))
    this.bytes = larger
  }

  enter(start: number, length: number): number {
    if (this.entries === this.starts.length) {
      const [starts, lengths] = [new Int32Array(this.entries * 2), new Int32Array(this.entries * 2)]
      starts.set(this.starts)
      lengths.set(this.lengths)
      this.starts = starts
      this.lengths = lengths
    }
    this.starts[this.entries] = start
    this.lengths[this.entries] = length
    return this.entries++
  }

  writeUnit(unit: number): void {
    this.room(unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3)
    const { bytes } = this
    if (unit < 0x80) bytes[this.length++] = unit
    else if (unit < 0x800) {
      bytes[this.length++] = 0xc0 | (unit >> 6)
      bytes[this.length++] = 0x80 | (unit & 0x3f)
    } else {
      if (unit >= 0xd800 && unit < 0xe000) this.hasSurrogates = true
      bytes[this.length++] = 0xe0 | (unit >> 12)
      bytes[this.length++] = 0x80 | ((unit >> 6) & 0x3f)
      bytes[this.length++] = 0x80 | (unit & 0x3f)
    }
  }

  lengthOf(entry: number): number {
    return this.lengths[entry]!
  }

  writeEntry(entry: number): void {
    const length = this.lengths[entry]!
    this.room(length)
    this.bytes.copyWithin(this.length, this.starts[entry]!, this.starts[entry]! + length)
    this.length += length
  }

  /** The length in bytes of the character that starts at an offset. */
  characterAt(offset: number): number {
    const byte = this.bytes[offset]!
    return byte < 0x80 ? 1 : byte < 0xe0 ? 2 : 3
  }

  /** Repeats the output from `start` on, followed by its first character. */
  repeat(start: number, length: number): void {
    const first = this.characterAt(start)
    this.room(length + first)
    this.bytes.copyWithin(this.length, start, start + length)
    this.bytes.copyWithin(this.length + length, start, start + first)
    this.length += length + first
  }

  whole(): Uint8Array {
    const whole = this.bytes.subarray(0, this.length)
    return this.hasSurrogates ? withWholeCharacters(whole) : whole
  }
}

const unitAt = (bytes: Uint8Array, at: number): number =>
  (((bytes[at]! & 0xf) << 12) | ((bytes[at + 1]! & 0x3f) << 6) | (bytes[at + 2]! & 0x3f)) >>> 0
const isSurrogate = (bytes: Uint8Array, at: number): boolean => bytes[at] === 0xed && bytes[at + 1]! >= 0xa0

/** Joins surrogate pairs; an unpaired surrogate becomes U+FFFD. */
function withWholeCharacters(bytes: Uint8Array): Uint8Array {
  let length = 0
  for (let at = 0; at < bytes.length; ) {
    if (!isSurrogate(bytes, at)) {
      bytes[length++] = bytes[at++]!
      continue
    }
    const high = unitAt(bytes, at)
    const low = high < 0xdc00 && at + 3 < bytes.length && isSurrogate(bytes, at + 3) ? unitAt(bytes, at + 3) : 0
    const character = low >= 0xdc00 ? 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00) : 0xfffd
    at += low >= 0xdc00 ? 6 : 3
    length += Buffer.from(bytes.buffer, bytes.byteOffset).write(String.fromCodePoint(character), length)
  }
  return bytes.subarray(0, length)
}

/** Yields regularly. Null for invalid input; throws a RangeError as soon as the output exceeds `limit` bytes. */
export function* unpackLz64(packed: Uint8Array, limit: number): Generator<void, Uint8Array | null> {
  const bits = new Bits(packed)
  const out = new Output(limit)
  let width = 2
  let untilWider = 4
  let [lastStart, lastLength] = [0, 0]
  for (let codes = 1; ; codes++) {
    const code = bits.read(width)
    if (code === end) return out.whole()
    if (code < 0) return null
    const start = out.length
    let isNew = false
    if (code < end) {
      const unit = bits.read(code === 0 ? shortUnit : longUnit)
      if (unit < 0) return null
      out.writeUnit(unit)
      out.enter(start, out.length - start)
      isNew = true
    } else if (code < out.entries) out.writeEntry(code)
    else if (code === out.entries && lastLength > 0) out.repeat(lastStart, lastLength)
    else return null
    if (lastLength === 0) {
      // The first character stands alone: no width is counted for it, and nothing comes before it.
      if (!isNew) return null
      width = 3
    } else {
      if (isNew && --untilWider === 0) untilWider = 2 ** width++
      out.enter(lastStart, lastLength + out.characterAt(start))
      if (--untilWider === 0) untilWider = 2 ** width++
    }
    lastStart = start
    lastLength = out.length - start
    if (codes % codesOfStep === 0) yield
  }
}
