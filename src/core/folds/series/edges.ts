import { hasRoomFor, kernelsFor } from '../../simd/kernels.ts'
import type { Matches } from '../matches.ts'

const cellsPerEdge = 8
const mostCells = 1 << 20
/** The number of a cell is a rounded product: near its start, the cell before may be the right one. */
const roundedShare = 1e-6

/** Counts how many edges are not after a time, without a division or a search: through a table of cells that are shorter than any two edges are apart. */
export class Edges {
  private readonly edges: Float64Array
  /** The number of edges up to the start of each cell. */
  private readonly table: Int32Array
  private readonly cellsPerMicro: number
  /** No cell has several edges. */
  private readonly isFine: boolean

  /** In order, and different. */
  constructor(edges: Float64Array) {
    this.edges = edges
    let shortest = Number.POSITIVE_INFINITY
    for (let i = 1; i < edges.length; i++) shortest = Math.min(shortest, edges[i]! - edges[i - 1]!)
    const span = edges.length < 2 ? 0 : edges.at(-1)! - edges[0]!
    const width = Math.max(shortest / cellsPerEdge, span / mostCells)
    this.isFine = width < shortest / 2
    this.cellsPerMicro = span === 0 ? 0 : 1 / width
    this.table = new Int32Array(Math.ceil(span * this.cellsPerMicro) + 2)
    let count = 1
    for (let cell = 0; cell < this.table.length; cell++) {
      while (count < edges.length && edges[count]! <= edges[0]! + (cell - roundedShare) * width) count++
      this.table[cell] = count
    }
  }

  /** Of one time. */
  countAt(time: number): number {
    const { edges, table } = this
    const all = edges.length
    if (all === 0 || time < edges[0]!) return 0
    if (time >= edges[all - 1]!) return all
    let count = table[((time - edges[0]!) * this.cellsPerMicro) | 0]!
    while (time >= edges[count]!) count++
    return count
  }

  /** Writes the count of each row, minus `less`. Times before the first edge or from the last one on get `outside`, if that is not null. */
  count({ rows, time }: Pick<Matches, 'rows' | 'time'>, counts: Int32Array, { less = 0, outside = null as number | null } = {}): void {
    const { edges, table, cellsPerMicro } = this
    const all = edges.length
    const [first, last] = all === 0 ? [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY] : [edges[0]!, edges[all - 1]!]
    const [before, behind] = outside === null ? [-less, all - less] : [outside, outside]
    const simd = this.isFine ? kernelsFor(rows) : null
    if (simd && hasRoomFor(edges, table)) {
      simd.countEdges({ edges, table, cellsPerMicro }, time, rows, counts, { before, behind, less })
      return
    }
    for (let row = 0; row < rows; row++) {
      const at = time[row]!
      if (at < first) counts[row] = before
      else if (at >= last) counts[row] = behind
      else {
        let count = table[((at - first) * cellsPerMicro) | 0]!
        while (at >= edges[count]!) count++
        counts[row] = count - less
      }
    }
  }
}
