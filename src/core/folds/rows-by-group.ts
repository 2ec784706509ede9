interface GroupRange {
  readonly group: number
  readonly from: number
  readonly to: number
}

/** Puts the rows of an actor side by side, group by group. It takes as many steps as there are rows, however many groups they have. */
export class RowsByGroup {
  /** Numbers of rows, those of a group in their order. */
  rows: Int32Array = new Int32Array(64)
  /** By row, the next one of its group; -1: none. */
  private next: Int32Array = new Int32Array(64)
  /** By group, its first and its last row; -1: none. */
  private first: Int32Array = new Int32Array(0)
  private last: Int32Array = new Int32Array(0)

  /** The range of each group in `rows`, in order of first occurrence. `groups`: all numbers are below this. */
  order(groupOf: Int32Array, from: number, to: number, groups: number): GroupRange[] {
    if (this.rows.length < to - from) {
      this.rows = new Int32Array(2 * (to - from))
      this.next = new Int32Array(2 * (to - from))
    }
    if (this.first.length < groups) {
      this.first = new Int32Array(2 * groups).fill(-1)
      this.last = new Int32Array(2 * groups)
    }
    const { rows, next, first, last } = this
    const found: number[] = []
    for (let row = from; row < to; row++) {
      const group = groupOf[row]!
      next[row - from] = -1
      if (first[group]! < 0) {
        first[group] = row
        found.push(group)
      } else next[last[group]! - from] = row
      last[group] = row
    }
    let place = 0
    return found.map((group) => {
      const begin = place
      for (let row = first[group]!; row >= 0; row = next[row - from]!) rows[place++] = row
      first[group] = -1
      return { group, from: begin, to: place }
    })
  }
}
