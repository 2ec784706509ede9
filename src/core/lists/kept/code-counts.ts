/** Plain data: it goes from thread to thread. */
export interface CodesState {
  readonly length: number
  readonly listed: Uint16Array | null
  readonly counts: Uint32Array | null
}

const fewListed = 16

/** How often each code of a column of numbers occurs: the codes one after the other while they are few, otherwise a count of each code. */
export class CodeCounts implements CodesState {
  length = 0
  listed: Uint16Array | null = new Uint16Array(fewListed)
  counts: Uint32Array | null = null
  private greatest = 0

  get bytes(): number {
    return 64 + (this.listed?.byteLength ?? this.counts!.byteLength)
  }

  add(code: number): void {
    if (code > this.greatest) this.greatest = code
    if (this.listed !== null && this.length === this.listed.length) this.makeRoom()
    if (this.listed !== null) this.listed[this.length] = code
    else {
      if (code >= this.counts!.length) this.lengthen(code + 1)
      this.counts![code]!++
    }
    this.length++
  }

  addAll({ length, listed, counts }: CodesState): void {
    if (listed !== null) {
      for (let i = 0; i < length; i++) this.add(listed[i]!)
      return
    }
    this.greatest = Math.max(this.greatest, counts!.length - 1)
    if (this.listed !== null) this.count()
    if (counts!.length > this.counts!.length) this.lengthen(counts!.length)
    for (let code = 0; code < counts!.length; code++) this.counts![code]! += counts![code]!
    this.length += length
  }

  /** Adds them to the counts of places: `placeOf` has that of each code. */
  addTo(sums: Uint32Array, placeOf: Uint16Array): void {
    const { listed, counts, length } = this
    if (listed !== null) {
      for (let i = 0; i < length; i++) sums[placeOf[listed[i]!]!]!++
      return
    }
    const codes = Math.min(counts!.length, placeOf.length)
    for (let code = 0; code < codes; code++) sums[placeOf[code]!]! += counts![code]!
  }

  /** Twice as many in the list, unless counts take less. */
  private makeRoom(): void {
    const list = this.listed!
    if (2 * list.byteLength > Uint32Array.BYTES_PER_ELEMENT * (this.greatest + 1)) {
      this.count()
      return
    }
    this.listed = new Uint16Array(2 * list.length)
    this.listed.set(list)
  }

  private lengthen(length: number): void {
    const counts = new Uint32Array(Math.max(length, this.counts!.length + (this.counts!.length >> 3)))
    counts.set(this.counts!)
    this.counts = counts
  }

  private count(): void {
    const counts = new Uint32Array(this.greatest + 1)
    for (let i = 0; i < this.length; i++) counts[this.listed![i]!]!++
    this.counts = counts
    this.listed = null
  }
}
