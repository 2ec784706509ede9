type Values = Uint16Array | Float64Array

/** Values that were kept elsewhere, cell by cell: those of a cell end at its entry of `ends`. */
export interface KeptValues<V extends Values> {
  readonly ends: Int32Array
  readonly values: V
  /** The number of each of its cells here. Null: the same. */
  readonly cellOf: Int32Array | null
}

interface Block<V extends Values> {
  readonly cells: Int32Array
  readonly values: V
  readonly length: number
}
const blockLength = 1 << 16

/** All values of each cell. They are written one after the other with their cells, and grouped by cell at the end. */
export class CellValues<V extends Values> {
  cells: Int32Array = new Int32Array(0)
  values: V
  /** The number of entries of `cells` and `values` that are written. */
  length = 0
  private readonly full: Block<V>[] = []
  private parts: readonly KeptValues<V>[] = []
  private keptBefore = 0

  constructor(private readonly make: (length: number) => V) {
    this.values = make(0)
  }

  /** All values, wherever they were written. */
  get kept(): number {
    return this.length + this.keptBefore
  }

  /** Room for further values, which are written to `cells` and `values` from `length` on. */
  reserve(further: number): void {
    if (this.length + further <= this.values.length) return
    if (this.length > 0) this.full.push({ cells: this.cells, values: this.values, length: this.length })
    this.keptBefore += this.length
    const length = Math.max(blockLength, further)
    this.cells = new Int32Array(length)
    this.values = this.make(length)
    this.length = 0
  }

  state(cells: number): readonly KeptValues<V>[] {
    return this.length === 0 ? this.parts : [...this.parts, this.grouped(cells)]
  }

  restore(parts: readonly KeptValues<V>[]): void {
    this.parts = parts
    this.keptBefore = parts.reduce((sum, { values }) => sum + values.length, 0)
  }

  absorb(parts: readonly KeptValues<V>[], cellOf: (cell: number) => number): void {
    const moved = parts.map(({ ends, values, cellOf: before }) => ({
      ends,
      values,
      cellOf: Int32Array.from(ends, (_, cell) => cellOf(before ? before[cell]! : cell)),
    }))
    this.restore([...this.parts, ...moved])
  }

  /** The values of each cell, in several arrays. */
  pieces(cells: number): readonly (readonly V[])[] {
    const pieces: V[][] = Array.from({ length: cells }, () => [])
    for (const { ends, values, cellOf } of this.state(cells))
      for (let cell = 0, begin = 0; cell < ends.length; begin = ends[cell++]!)
        if (ends[cell]! > begin) pieces[cellOf ? cellOf[cell]! : cell]!.push(values.subarray(begin, ends[cell]) as V)
    return pieces
  }

  private grouped(count: number): KeptValues<V> {
    const blocks: readonly Block<V>[] = [...this.full, this]
    const ends = new Int32Array(count)
    for (const { cells, length } of blocks) for (let i = 0; i < length; i++) ends[cells[i]!]!++
    let all = 0
    for (let cell = 0; cell < count; cell++) {
      const own = ends[cell]!
      ends[cell] = all
      all += own
    }
    const grouped = this.make(all)
    for (const { cells, values, length } of blocks) for (let i = 0; i < length; i++) grouped[ends[cells[i]!]!++] = values[i]!
    return { ends, values: grouped, cellOf: null }
  }
}
