/** Texts concatenated in one buffer, as UTF-8: a batch of them is a few objects instead of thousands. */
export class Texts implements Iterable<string> {
  readonly bytes: Uint8Array
  /** Text `i` lies between `offsets[i]` and `offsets[i + 1]`. */
  readonly offsets: Int32Array

  constructor(bytes: Uint8Array, offsets: Int32Array) {
    this.bytes = bytes
    this.offsets = offsets
  }

  static of(values: readonly string[]): Texts {
    const offsets = new Int32Array(values.length + 1)
    for (let i = 0; i < values.length; i++) offsets[i + 1] = offsets[i]! + Buffer.byteLength(values[i]!)
    const bytes = Buffer.allocUnsafeSlow(offsets[values.length]!)
    for (let i = 0; i < values.length; i++) bytes.write(values[i]!, offsets[i]!)
    return new Texts(bytes, offsets)
  }

  get length(): number {
    return this.offsets.length - 1
  }

  get byteLength(): number {
    return this.offsets[this.length]! - this.offsets[0]!
  }

  at(i: number): string {
    const { bytes, offsets } = this
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8', offsets[i]!, offsets[i + 1]!)
  }

  /** All texts from `start` on. */
  from(start: number): Texts {
    return new Texts(this.bytes, this.offsets.subarray(start))
  }

  map<T>(read: (text: string, i: number) => T): T[] {
    return Array.from({ length: this.length }, (_, i) => read(this.at(i), i))
  }

  *[Symbol.iterator](): Iterator<string> {
    for (let i = 0; i < this.length; i++) yield this.at(i)
  }
}
