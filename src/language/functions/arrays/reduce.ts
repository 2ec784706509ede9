import { QueryError, UnsupportedError } from '../../../errors/errors.ts'
import type { SqlType } from '../../types/types.ts'
import type { AggregateRow } from '../aggregates/aggregate.ts'
import { associationFunctions } from '../aggregates/association.ts'
import { collectionFunctions } from '../aggregates/collections.ts'
import { withCombinators } from '../aggregates/combinators.ts'
import { funnelFunctions } from '../aggregates/funnel.ts'
import { histogramFunctions } from '../aggregates/histogram.ts'
import { perKeyFunctions } from '../aggregates/per-key.ts'
import { quantileOnClickHouse, statisticsFunctions } from '../aggregates/statistics.ts'
import { aggregateFunctions } from '../aggregates/usual.ts'
import { itemOf } from '../results.ts'
import type { Arg } from '../row.ts'
import { scalars } from '../scalars.ts'

const plain = {
  ...aggregateFunctions,
  ...statisticsFunctions,
  ...associationFunctions,
  ...collectionFunctions,
  ...perKeyFunctions,
  ...histogramFunctions,
  ...funnelFunctions,
}

/** `sumIf`, `avgArrayOrNull` …: all suffixed forms of the plain aggregates. */
export const suffixedFunctions = withCombinators(plain)

/** The aggregates that arrayReduce accepts by name. */
const permitted: ReadonlySet<string> = new Set(
  ['count', 'sum', 'min', 'max', 'avg', 'uniq']
    .flatMap((base) => [base, `${base}Map`, `${base}MapState`])
    .concat('avgState', 'median', 'uniqState'),
)

function aggregateNamed([arg, ...arrays]: readonly Arg[]): { name: string; row: AggregateRow } {
  const name = typeof arg?.constant === 'string' ? arg.constant : ''
  const row = plain[name] ?? suffixedFunctions[name]
  if (!row || !permitted.has(name))
    throw new QueryError('invalid-query', { message: `The aggregate of arrayReduce must be one of ${[...permitted].join(', ')}.` })
  const [min, max] = row.args
  if (arrays.length < min || (max !== null && arrays.length > max))
    throw new QueryError('wrong-arity', { name, kind: 'Aggregation', min: Math.max(min, 1), max, found: arrays.length })
  return { name, row }
}

export const arrayReduceFunctions = scalars({
  arrayReduce: {
    args: [2, null],
    returns: (types, { args }): SqlType => {
      const items = types.slice(1).map(itemOf)
      return aggregateNamed(args).row.returns(items, { args: [], params: [] })
    },
    ordersItems: ['min', 'max', 'minMap', 'maxMap', 'minMapState', 'maxMapState'],
    summary: 'Applies an aggregate function, named by a text, to the items of an array.',
    duckdb: (args, context) => {
      const { name, row } = aggregateNamed(args)
      const array = args[1]!
      if (!row.ofList)
        throw new UnsupportedError('unsupported-function', {
          name: `arrayReduce('${name}')`,
          engine: 'DuckDB',
          reason: 'it cannot be applied to a list',
        })
      return row.ofList(array.sql, itemOf(array.type), context)
    },
    clickhouse: (args) => {
      const { name } = aggregateNamed(args)
      const engine = name === 'median' ? `${quantileOnClickHouse(itemOf(args[1]!.type))}(0.5)` : name.replace(/^uniq/, 'uniqExact')
      return `arrayReduce('${engine}', ${args
        .slice(1)
        .map((a) => a.sql)
        .join(', ')})`
    },
    cases: [
      ["arrayReduce('sum', [1, 2])", 3],
      ["arrayReduce('uniq', [1, 1, 2])", 2],
      ["arrayReduce('avg', [1, 2])", 1.5],
      ["arrayReduce('median', [1, 2, 7])", 2],
      ["arrayReduce('max', ['a', 'b'])", 'b'],
      ["arrayReduce('sumMap', [map('a', 1), map('a', 2)])", { a: 3 }],
    ],
  },
})
