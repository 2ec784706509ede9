import { type Extents, type ExtentsParams, extentsFold } from '../../core/folds/extents.ts'
import { call } from '../../language/ast/build.ts'
import { type ListedFold, listFold, type QueryContext } from '../kind.ts'
import { type AskedColumn, AskedColumns, askedBits, bitsOf, placed } from '../lists/listed-columns.ts'
import { inSample } from '../scope.ts'
import { type Breakdown, partValue } from '../series/breakdown.ts'
import { nullValue } from '../series/breakdown-values.ts'
import { allOf } from '../series/series-condition.ts'
import { countedTimes } from './active-users.ts'
import { type Bins, binsOf, binText } from './histogram.ts'
import type { TrendsQuery } from './schema.ts'
import { eventsOf, type Unit } from './unit.ts'

// Histograms over the lists of the core: the bins come from a fold of their own.

type Part = Breakdown['parts'][number]

const numberIn = (part: Part, columns: AskedColumns, env: QueryContext): AskedColumn =>
  columns.numbers(call('toFloat', partValue(part, env)))

/** The bins of the parts that have some. */
export function listedBins(unit: Unit, query: TrendsQuery, { parts }: Breakdown, env: QueryContext): ListedFold<readonly (Bins | null)[]> {
  const columns = new AskedColumns()
  const binned = parts.filter((part) => part.binCount !== null)
  const bits = askedBits([{ condition: allOf(eventsOf(unit, query, env), inSample(query.samplingFactor)), bits: 1 }], columns, env)
  const numbers = binned.map((part) => numberIn(part, columns, env))
  return {
    names: bits.names,
    columns: columns.asks,
    fold: listFold<ExtentsParams, Extents, readonly (Bins | null)[]>({
      fold: extentsFold,
      params: (listed) => ({
        matching: { ...countedTimes(unit), scope: null, bits: bitsOf(bits, listed), further: null, takesAll: false },
        numbers: numbers.map((number) => placed(number, listed)),
      }),
      *take({ low, high }) {
        const found = binned.map((part, i) => binsOf(low[i]!, high[i]!, part.binCount!))
        yield
        return parts.map((part) => (part.binCount === null ? null : found[binned.indexOf(part)]!))
      },
    }),
  }
}

/** The bin of each event, as a text. */
export function binColumn(part: Part, bins: Bins | null, columns: AskedColumns, env: QueryContext): AskedColumn {
  const edges = bins?.edges ?? [0]
  const texts = edges.slice(1).map((edge, i) => binText(edges[i]!, edge))
  return columns.ranges(numberIn(part, columns, env), edges, texts, nullValue)
}
