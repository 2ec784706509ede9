const smallest = 1 << 16

/** Concatenates texts as UTF-8. */
export class TextWriter {
  private buffer = Buffer.allocUnsafeSlow(smallest)
  private readonly most: number
  length = 0

  /** Memory above `most` bytes is freed by `clear`. */
  constructor(most = 1 << 22) {
    this.most = most
  }

  clear(): void {
    this.length = 0
    if (this.buffer.length > this.most) this.buffer = Buffer.allocUnsafeSlow(smallest)
  }

  write(text: string): void {
    const most = this.length + text.length * 3
    if (most > this.buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(this.buffer.length * 2, most))
      larger.set(this.buffer.subarray(0, this.length))
      this.buffer = larger
    }
    this.length += this.buffer.write(text, this.length)
  }

  /** A copy of the written bytes. */
  bytes(): Uint8Array {
    const bytes = Buffer.allocUnsafeSlow(this.length)
    this.buffer.copy(bytes, 0, 0, this.length)
    return bytes
  }
}
