import { arrayOf, isNamed, scalar } from '../../types/types.ts'
import { asSum, sumType } from '../aggregates/usual.ts'
import { duckdbType } from '../cells/duckdb-types.ts'
import { folded, once, orDefault } from '../cells/duckdb-values.ts'
import { inSteps, times } from '../makes.ts'
import { beyond63Bits, beyond64Bits } from '../numbers/arithmetic.ts'
import { always, itemOf } from '../results.ts'
import type { Arg, CellContext, SqlCell } from '../row.ts'
import { scalars } from '../scalars.ts'
import { condition, each, firstArray, lambdaFirst, mapped, mappedType, numbers, truth } from './lambda.ts'
import { arrayRow, asWritten, byPosition, summed, together } from './rows.ts'

// Functions of arrays that take a lambda, always as the first argument. Positions count from 1.

const withLambda = { lambdas: lambdaFirst, sideBySide: [1] } as const

/** Over the items for which the lambda is true, or that are true themselves. */
function kept(args: readonly Arg[], context: CellContext): string {
  const [first, ...arrays] = args as [Arg, ...Arg[]]
  if (!first.lambda) {
    const name = context.fresh()
    return `list_filter(${first.sql}, lambda ${name}: ${truth(name, itemOf(first.type))})`
  }
  const e = each(first, arrays, context)
  const filtered = `list_filter(${e.list}, lambda ${e.name}: ${condition(first, e)})`
  return arrays.length === 1 ? filtered : `list_transform(${filtered}, lambda ${e.name}: struct_extract_at(${e.name}, 1))`
}
/** True or false for each item. */
function flags(args: readonly Arg[], context: CellContext): string {
  const [first, ...arrays] = args as [Arg, ...Arg[]]
  const e = each(first, arrays, context)
  return `list_transform(${e.list}, lambda ${e.name}: ${condition(first, e)})`
}

function sorted(args: readonly Arg[], context: CellContext, isReverse: boolean): string {
  const [first, ...arrays] = args as [Arg, ...Arg[]]
  if (!first.lambda) return `list_sort(${first.sql}, '${isReverse ? 'DESC' : 'ASC'}', 'NULLS LAST')`
  const e = each(first, arrays, context)
  const [i, s] = [context.fresh(), context.fresh()]
  // The sort must be stable, so ties are decided by position; NULL keys come last either way.
  const position = isReverse ? `-${i}` : i
  const key = isReverse ? `{'n': ${e.body} IS NOT NULL, 'k': ${e.body}, 'i': ${position}}` : `{'k': ${e.body}, 'i': ${position}}`
  const order = `list_sort(list_transform(${e.list}, lambda ${e.name}, ${i}: ${key}), '${isReverse ? 'DESC' : 'ASC'}', 'NULLS ${isReverse ? 'FIRST' : 'LAST'}')`
  return once(context, arrays[0]!.sql, (a) => `list_transform(${order}, lambda ${s}: ${a}[abs(${s}.i)])`)
}

/** For each position, the nearest kept one before (or after) it. */
function filled(args: readonly Arg[], context: CellContext, isReverse: boolean): string {
  const source = args[1]!.sql
  return once(context, `{'a': ${source}, 'f': ${flags(args, context)}}`, (s) => {
    const [i, j] = [context.fresh(), context.fresh()]
    const near = isReverse
      ? `coalesce(list_min(list_filter(range(${i}, len(${s}.f) + 1), lambda ${j}: ${s}.f[${j}])), len(${s}.f))`
      : `coalesce(list_max(list_filter(range(1, ${i} + 1), lambda ${j}: ${s}.f[${j}])), 1)`
    return `list_transform(range(1, len(${s}.a) + 1), lambda ${i}: ${s}.a[${near}])`
  })
}

/** Splits before each kept item, or after it. */
function split(args: readonly Arg[], context: CellContext, isReverse: boolean): string {
  return once(context, `{'a': ${args[1]!.sql}, 'f': ${flags(args, context)}}`, (s) => {
    const [i, k] = [context.fresh(), context.fresh()]
    const start = isReverse ? `${s}.f[${i} - 1]` : `${s}.f[${i}]`
    const starts = `list_filter(range(1, len(${s}.a) + 1), lambda ${i}: ${i} = 1 OR ${start})`
    return once(
      context,
      starts,
      (cut) => `list_transform(${cut}, lambda ${i}, ${k}: ${s}.a[${i}:coalesce(${cut}[${k} + 1] - 1, len(${s}.a))])`,
    )
  })
}

const running = (list: string, context: CellContext): string => byPosition(list, context, (l, i) => `list_sum(${l}[1:${i}])`)

const total: SqlCell = (args, context) => {
  const sum = `coalesce(list_sum(${numbers(mapped(args, context), context)}), 0)`
  return asSum(sum, context.type)
}
const extreme =
  (name: string): SqlCell =>
  (args, context) =>
    orDefault(`${name}(${mapped(args, context).list})`, context)

export const arrayLambdaFunctions = scalars({
  arrayMap: arrayRow(
    'arrayMap',
    [2, null],
    (args) => arrayOf(mappedType(args)),
    'The lambda’s value for each item (or for the items of several parallel arrays).',
    (args, context) => mapped(args, context).list,
    [
      ['arrayMap(x -> x * 2, [1, 2, 3])', [2, 4, 6]],
      ['arrayMap((x, y) -> x + y, [1, 2], [10, 20])', [11, 22]],
      [
        'arrayMap(x -> arrayMap(y -> x + y, [1, 2]), [10, 20])',
        [
          [11, 12],
          [21, 22],
        ],
      ],
      ["arrayMap(x -> concat(x, '!'), ['a', 'b'])", ['a!', 'b!']],
    ],
    withLambda,
  ),
  arrayFilter: arrayRow(
    'arrayFilter',
    [2, null],
    (args) => firstArray(args),
    'The items for which the lambda holds.',
    kept,
    [
      ['arrayFilter(x -> x > 1, [1, 2, 3])', [2, 3]],
      ['arrayFilter((x, y) -> y = 1, [1, 2, 3], [1, 0, 1])', [1, 3]],
    ],
    withLambda,
  ),
  arrayFirst: arrayRow(
    'arrayFirst',
    [2, null],
    (args) => itemOf(firstArray(args)),
    'The first item for which the lambda holds.',
    (args, context) => orDefault(`list_extract(${kept(args, context)}, 1)`, context),
    [
      ['arrayFirst(x -> x > 1, [1, 2, 3])', 2],
      ['arrayFirst(x -> x > 5, [1, 2, 3])', 0],
    ],
    withLambda,
  ),
  arrayLast: arrayRow(
    'arrayLast',
    [2, null],
    (args) => itemOf(firstArray(args)),
    'The last item for which the lambda holds.',
    (args, context) => orDefault(`list_extract(${kept(args, context)}, -1)`, context),
    [
      ['arrayLast(x -> x < 3, [1, 2, 3])', 2],
      ["arrayLast(x -> x > 'x', ['a'])", ''],
    ],
    withLambda,
  ),
  arrayFirstIndex: arrayRow(
    'arrayFirstIndex',
    [2, null],
    always('UInt32'),
    'The position of the first item for which the lambda holds, or 0.',
    (args, context) => `coalesce(list_position(${flags(args, context)}, true), 0)`,
    [
      ['arrayFirstIndex(x -> x > 1, [1, 2, 3])', 2],
      ['arrayFirstIndex(x -> x > 5, [1, 2, 3])', 0],
    ],
    withLambda,
  ),
  arrayLastIndex: arrayRow(
    'arrayLastIndex',
    [2, null],
    always('UInt32'),
    'The position of the last item for which the lambda holds, or 0.',
    (args, context) => once(context, flags(args, context), (f) => `coalesce(len(${f}) + 1 - list_position(list_reverse(${f}), true), 0)`),
    [
      ['arrayLastIndex(x -> x < 3, [1, 2, 3])', 2],
      ['arrayLastIndex(x -> x > 5, [1, 2, 3])', 0],
    ],
    withLambda,
  ),
  arrayExists: arrayRow(
    'arrayExists',
    [1, null],
    always('Bool'),
    'Whether the lambda holds for an item.',
    (args, context) => `(len(${kept(args, context)}) > 0)`,
    [
      ['arrayExists(x -> x > 1, [1, 2])', 1],
      ['arrayExists(x -> x > 5, [1, 2])', 0],
      ['arrayExists([0, 1])', 1],
    ],
    withLambda,
  ),
  arrayAll: arrayRow(
    'arrayAll',
    [1, null],
    always('Bool'),
    'Whether the lambda holds for every item.',
    (args, context) => `(len(${kept(args, context)}) = len(${(args[0]!.lambda ? args[1]! : args[0]!).sql}))`,
    [
      ['arrayAll(x -> x > 1, [1, 2])', 0],
      ['arrayAll(x -> x > 1, arrayFilter(x -> x > 9, [1]))', 1],
      ['arrayAll([1, 1])', 1],
    ],
    withLambda,
  ),
  arrayCount: arrayRow(
    'arrayCount',
    [1, null],
    always('UInt32'),
    'Number of items for which the lambda holds.',
    (args, context) => `len(${kept(args, context)})`,
    [
      ['arrayCount(x -> x > 1, [1, 2, 3])', 2],
      ['arrayCount([1, 0, 1])', 2],
    ],
    withLambda,
  ),
  arrayFill: arrayRow(
    'arrayFill',
    [2, null],
    (args) => firstArray(args),
    'Items for which the lambda does not hold are replaced by the nearest one before them for which it does.',
    (args, context) => filled(args, context, false),
    [['arrayFill(x -> x > 1, [0, 2, 1, 3, 1])', [0, 2, 2, 3, 3]]],
    withLambda,
  ),
  arrayReverseFill: arrayRow(
    'arrayReverseFill',
    [2, null],
    (args) => firstArray(args),
    'Items for which the lambda does not hold are replaced by the next one for which it does.',
    (args, context) => filled(args, context, true),
    [['arrayReverseFill(x -> x > 1, [0, 2, 1, 3, 1])', [2, 2, 3, 3, 1]]],
    withLambda,
  ),
  arraySplit: arrayRow(
    'arraySplit',
    [2, null],
    (args) => arrayOf(firstArray(args)),
    'Cuts the array before every item for which the lambda holds.',
    (args, context) => split(args, context, false),
    [['arraySplit(x -> x = 1, [0, 1, 2, 1, 3])', [[0], [1, 2], [1, 3]]]],
    { ...withLambda, makes: times(3) },
  ),
  arrayReverseSplit: arrayRow(
    'arrayReverseSplit',
    [2, null],
    (args) => arrayOf(firstArray(args)),
    'Splits the array after every item for which the lambda holds.',
    (args, context) => split(args, context, true),
    [['arrayReverseSplit(x -> x = 1, [0, 1, 2, 1, 3])', [[0, 1], [2, 1], [3]]]],
    { ...withLambda, makes: times(3) },
  ),
  arraySort: arrayRow(
    'arraySort',
    [1, null],
    (args) => firstArray(args),
    'Ascending order, by the lambda’s value where there is one; NULL last.',
    (args, context) => sorted(args, context, false),
    [
      ['arraySort([3, NULL, 1, 2])', [1, 2, 3, null]],
      ['arraySort(x -> -x, [1, 2, 3])', [3, 2, 1]],
      ["arraySort((x, y) -> y, ['a', 'b'], [2, 1])", ['b', 'a']],
      ['arraySort(x -> x % 2, [1, 2, 3, 4, 5])', [2, 4, 1, 3, 5]],
    ],
    { ...withLambda, ordersItems: true },
  ),
  arrayReverseSort: arrayRow(
    'arrayReverseSort',
    [1, null],
    (args) => firstArray(args),
    'Descending order, by the lambda’s value where there is one; NULL last.',
    (args, context) => sorted(args, context, true),
    [
      ['arrayReverseSort([3, NULL, 1, 2])', [3, 2, 1, null]],
      ['arrayReverseSort(x -> -x, [1, 2, 3])', [1, 2, 3]],
      ["arrayReverseSort((x, y) -> y, ['a', 'b'], [2, 1])", ['a', 'b']],
      ['arrayReverseSort(x -> x % 2, [1, 2, 3, 4, 5])', [1, 3, 5, 2, 4]],
    ],
    { ...withLambda, ordersItems: true },
  ),
  arraySum: arrayRow(
    'arraySum',
    [1, 2],
    (args) => sumType(summed('arraySum', args)),
    'Sum of the items, or of the lambda’s values.',
    total,
    [
      ['arraySum([1, 2, 3])', 6],
      ['arraySum(x -> x * 2.5, [1, 2])', 7.5],
      ['arraySum(arrayFilter(x -> x > 9, [1]))', 0],
    ],
    {
      ...withLambda,
      differences: [
        beyond64Bits('arraySum([18446744073709551615, 1])', 0),
        beyond64Bits('arraySum([-9223372036854775808, -1])', '9223372036854775807'),
        beyond63Bits('arraySum([9223372036854775807, 5])', '9223372036854775812'),
      ],
    },
  ),
  arrayAvg: arrayRow(
    'arrayAvg',
    [1, 2],
    (args) => {
      summed('arrayAvg', args)
      return scalar('Float64')
    },
    'Mean of the items, or of the lambda’s values; 0 for none.',
    (args, context) => `coalesce(list_avg(${numbers(mapped(args, context), context)}), 0)`,
    [
      ['arrayAvg([1, 2, 6])', 3],
      ['arrayAvg(x -> x * 2, [1, 2])', 3],
    ],
    withLambda,
  ),
  arrayMin: arrayRow(
    'arrayMin',
    [1, 2],
    mappedType,
    'Smallest item, or value of the lambda.',
    extreme('list_min'),
    [
      ['arrayMin([3, 1, 2])', 1],
      ['arrayMin(x -> -x, [3, 1, 2])', -3],
    ],
    { ...withLambda, ordersItems: true },
  ),
  arrayMax: arrayRow(
    'arrayMax',
    [1, 2],
    mappedType,
    'Largest item, or value of the lambda.',
    extreme('list_max'),
    [
      ['arrayMax([3, 1, 2])', 3],
      ["arrayMax(['a', 'b'])", 'b'],
      ['arrayMax([1, NULL])', 1],
    ],
    { ...withLambda, ordersItems: true },
  ),
  arrayCumSum: arrayRow(
    'arrayCumSum',
    [1, null],
    (args) => arrayOf(sumType(summed('arrayCumSum', args))),
    'Running sums of the items, or of the lambda’s values.',
    (args, context) => running(numbers(mapped(args, context), context), context),
    [
      ['arrayCumSum([1, 2, 3])', [1, 3, 6]],
      ['arrayCumSum(x -> x * 2, [1, 2, 3])', [2, 6, 12]],
    ],
    withLambda,
  ),
  arrayCumSumNonNegative: arrayRow(
    'arrayCumSumNonNegative',
    [1, null],
    (args) => arrayOf(sumType(summed('arrayCumSumNonNegative', args))),
    'Running sums that restart at 0 instead of falling below it.',
    (args, context) =>
      byPosition(
        running(numbers(mapped(args, context), context), context),
        context,
        (l, i) => `${l}[${i}] - least(0, list_min(${l}[1:${i}]))`,
      ),
    [
      ['arrayCumSumNonNegative([1, -3, 2])', [1, 0, 2]],
      ['arrayCumSumNonNegative(null)', null],
    ],
    withLambda,
  ),
  arrayFold: {
    args: [3, null],
    // An initial `[]` has no item type, so the result has the type of the lambda's.
    returns: (args) => (isNamed(itemOf(args.at(-1)!), 'Nothing') ? mappedType(args) : args.at(-1)!),
    lambdas: (args) => args.map((_, i) => (i === 0 ? [args.at(-1)!, ...args.slice(1, -1).map(itemOf)] : null)),
    makes: inSteps,
    sideBySide: [1, -1],
    summary:
      'Reduces the items with an accumulator: the lambda takes the accumulator and an item, and returns the next accumulator. The last argument is its initial value.',
    duckdb: (args, context) => {
      const lambda = args[0]!.lambda!
      const arrays = args.slice(1, -1)
      const [s, e, x] = [context.fresh(), context.fresh(), context.fresh()]
      const { list, item } = together(arrays)
      const accumulator = duckdbType(context.type)
      const values = arrays.length === 1 ? [`${e}.x`] : arrays.map((_, i) => `struct_extract_at(${e}.x, ${i + 1})`)
      const names = [`${s}.a`, ...values]
      const body = lambda.params.reduceRight(
        (inner, param, i) => `list_transform([${names[i]}], lambda ${param}: ${inner})[1]`,
        lambda.body,
      )
      // list_reduce needs the same type for the accumulator and the items, so a struct carries both.
      const items = `list_transform(${list}, lambda ${x}: {'a': CAST(NULL AS ${accumulator}), 'x': ${x}})`
      const start = `{'a': CAST(${args.at(-1)!.sql} AS ${accumulator}), 'x': ${arrays.length === 1 ? `CAST(NULL AS ${duckdbType(item)})` : 'NULL'}}`
      return `${folded(items, [s, e], `{'a': CAST(${body} AS ${accumulator}), 'x': ${e}.x}`, start)}.a`
    },
    clickhouse: asWritten('arrayFold'),
    cases: [
      ['arrayFold((acc, x) -> acc + x, [1, 2, 3], toInt(0))', 6],
      ["arrayFold((acc, x) -> concat(acc, toString(x)), [1, 2], '')", '12'],
    ],
  },
})
