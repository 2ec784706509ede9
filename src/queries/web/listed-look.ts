import { type Series, type SeriesPart, seriesData, seriesFold } from '../../core/folds/series/fold.ts'
import type { Expr } from '../../language/ast/nodes.ts'
import { type ListedFold, listFold, type QueryContext } from '../kind.ts'
import { AskedColumns, askedBits, bitsOf } from '../lists/listed-columns.ts'
import type { ResolvedRange } from '../time/dates.ts'

/** Whether an event of these ranges meets a condition, over the lists of the core. */
export function listedLook(condition: Expr, ranges: readonly ResolvedRange[], env: QueryContext): ListedFold<boolean> {
  const columns = new AskedColumns()
  const bits = askedBits([{ condition, bits: 1 }], columns, env)
  const edges = edgesOf(ranges)
  return {
    names: bits.names,
    columns: columns.asks,
    fold: listFold<Series, SeriesPart, boolean>({
      fold: seriesFold,
      params: (listed) => ({
        matching: { from: edges[0]!, to: edges.at(-1)! - 1, scope: null, bits: bitsOf(bits, listed), further: null, takesAll: false },
        edges,
        splits: [],
        value: { kind: 'events' },
      }),
      *take(part, _, series) {
        // Every second one is between two ranges.
        const [found] = part ? yield* seriesData(part, series) : []
        return found?.data.some((events, i) => i % 2 === 0 && events > 0) ?? false
      },
    }),
  }
}

/** The starts and ends of the ranges, in order; ranges that overlap are one. */
function edgesOf(ranges: readonly ResolvedRange[]): Float64Array {
  const edges: number[] = []
  for (const { firstEvent, to } of ranges.toSorted((a, b) => a.firstEvent - b.firstEvent)) {
    if (edges.length > 0 && firstEvent <= edges.at(-1)!) edges.push(Math.max(edges.pop()!, to + 1))
    else edges.push(firstEvent, to + 1)
  }
  return Float64Array.from(edges)
}
