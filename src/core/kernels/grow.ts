/** A growing column of doubles. */
export class Floats {
  private values: Float64Array
  length = 0

  constructor(capacity = 1024) {
    this.values = new Float64Array(capacity)
  }

  push(value: number): void {
    if (this.length === this.values.length) {
      const wider = new Float64Array(this.values.length * 2)
      wider.set(this.values)
      this.values = wider
    }
    this.values[this.length++] = value
  }

  view(): Float64Array {
    return this.values.subarray(0, this.length)
  }
}

/** A growing column of 32-bit integers. */
export class Ints {
  private values: Int32Array
  length = 0

  constructor(capacity = 1024) {
    this.values = new Int32Array(capacity)
  }

  push(value: number): void {
    if (this.length === this.values.length) {
      const wider = new Int32Array(this.values.length * 2)
      wider.set(this.values)
      this.values = wider
    }
    this.values[this.length++] = value
  }

  view(): Int32Array {
    return this.values.subarray(0, this.length)
  }
}
