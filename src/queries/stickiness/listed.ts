import { type StickinessParams, stickinessFold } from '../../core/folds/stickiness.ts'
import { type ListedFold, listFold, type QueryContext } from '../kind.ts'
import { AskedColumns, askedBits, bitsOf, groupActors } from '../lists/listed-columns.ts'
import { type Refusal, refuse } from '../refusals.ts'
import { inSample } from '../scope.ts'
import { allOf } from '../series/series-condition.ts'
import type { Comparison, StickinessQuery } from './schema.ts'
import { criteriaOf, type StickinessUnit } from './unit.ts'

/** A series over the lists of the core. */
export function listedStickiness(
  { kind, group, range, edges, size, events }: StickinessUnit,
  query: StickinessQuery,
  env: QueryContext,
): ListedFold<Float64Array> | Refusal {
  if (kind === 'expression') return refuse('actors-by-expression')
  const columns = new AskedColumns({ hasPersons: group === null })
  const bits = askedBits([{ condition: allOf(events, inSample(query.samplingFactor)), bits: 1 }], columns, env)
  const [least, most] = limitsOf(criteriaOf(query))
  return {
    names: bits.names,
    columns: columns.asks,
    actors: group === null ? null : groupActors(group, columns),
    fold: listFold<StickinessParams, Float64Array, Float64Array>({
      fold: stickinessFold,
      params: (listed) => ({
        matching: { from: range.firstEvent, to: range.to, scope: null, bits: bitsOf(bits, listed), further: null, takesAll: false },
        edges: Float64Array.from(edges),
        size,
        least,
        most,
      }),
      *take(counts) {
        yield
        return counts
      },
    }),
  }
}

/** The fewest and the most events of an interval that counts. */
function limitsOf(criteria: { readonly operator: Comparison; readonly value: number } | null): readonly [least: number, most: number] {
  const any = Number.POSITIVE_INFINITY
  if (!criteria) return [1, any]
  const { operator, value } = criteria
  switch (operator) {
    case 'gte':
      return [value, any]
    case 'gt':
      return [value + 1, any]
    case 'lte':
      return [1, value]
    case 'lt':
      return [1, value - 1]
    case 'exact':
      return [value, value]
  }
}
