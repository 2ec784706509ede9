/** An edge between two nodes: how often, and how long it took altogether. */
export interface EdgeColumns {
  readonly source: Int32Array
  readonly target: Int32Array
  readonly count: Float64Array
  readonly took: Float64Array
}

const firstSlots = 1 << 12

/** Counts edges in a table with open addressing. */
export class EdgeCounts {
  private slots = firstSlots
  private used = 0
  /** By slot; -1: free. */
  private source: Int32Array = new Int32Array(firstSlots).fill(-1)
  private target: Int32Array = new Int32Array(firstSlots)
  private count: Float64Array = new Float64Array(firstSlots)
  private took: Float64Array = new Float64Array(firstSlots)

  add(source: number, target: number, count: number, took: number): void {
    const slot = this.slotOf(source, target)
    if (this.source[slot]! < 0) {
      if (2 * this.used >= this.slots) {
        this.widen()
        this.add(source, target, count, took)
        return
      }
      this.used++
      this.source[slot] = source
      this.target[slot] = target
    }
    this.count[slot]! += count
    this.took[slot]! += took
  }

  columns(): EdgeColumns {
    const [source, target] = [new Int32Array(this.used), new Int32Array(this.used)]
    const [count, took] = [new Float64Array(this.used), new Float64Array(this.used)]
    let at = 0
    for (let slot = 0; slot < this.slots; slot++) {
      if (this.source[slot]! < 0) continue
      source[at] = this.source[slot]!
      target[at] = this.target[slot]!
      count[at] = this.count[slot]!
      took[at++] = this.took[slot]!
    }
    return { source, target, count, took }
  }

  addAll({ source, target, count, took }: EdgeColumns): void {
    for (let i = 0; i < source.length; i++) this.add(source[i]!, target[i]!, count[i]!, took[i]!)
  }

  /** The slot of an edge, or the free one that it would take. */
  private slotOf(source: number, target: number): number {
    const last = this.slots - 1
    let hash = Math.imul(source, 0x9e3779b1) ^ Math.imul(target, 0x85ebca6b)
    hash ^= hash >>> 15
    let slot = hash & last
    while (this.source[slot]! >= 0 && (this.source[slot] !== source || this.target[slot] !== target)) slot = (slot + 1) & last
    return slot
  }

  private widen(): void {
    const all = this.columns()
    this.slots *= 2
    this.used = 0
    this.source = new Int32Array(this.slots).fill(-1)
    this.target = new Int32Array(this.slots)
    this.count = new Float64Array(this.slots)
    this.took = new Float64Array(this.slots)
    this.addAll(all)
  }
}
