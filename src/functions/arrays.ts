import { arrayOf, isFloat, isNamed, isNullable, notNull, type ScalarName, type SqlType, scalar, tupleOf } from '../types/types.ts'
import { bound, duckDefault } from './aggregate.ts'
import { sumType } from './aggregates.ts'
import { duckdbType, toText } from './duckdb-values.ts'
import { condition, each, firstArray, itemOf, lambdaFirst, mapped, mappedType, numbers, truth } from './lambda.ts'
import { commonType, integerShape } from './results.ts'
import { type Arg, type Case, type CellContext, call, type FunctionRow, functions, type SqlCell } from './row.ts'

// Positions count from 1. Where nothing is found the answer is the default of the item's type, or NULL where items may be NULL.

type Returns = FunctionRow['returns']

/** ClickHouse's cell: the call as it is written, with lambdas in its spelling. */
const same =
  (name: string): SqlCell =>
  (args) =>
    `${name}(${args.map(clickHouseArg).join(', ')})`
export const clickHouseArg = (arg: Arg): string => (arg.lambda ? `(${arg.lambda.params.join(', ')}) -> ${arg.lambda.body}` : arg.sql)

const row = (
  name: string,
  args: FunctionRow['args'],
  returns: Returns,
  summary: string,
  duckdb: SqlCell,
  cases: readonly Case[],
  more: Partial<FunctionRow> = {},
): FunctionRow => ({ kind: 'scalar', args, returns, summary, sql: { duckdb, clickhouse: same(name) }, cases, ...more })

const withLambda = { lambdas: lambdaFirst } as const

const firstType: Returns = ([a]) => a!
const always =
  (name: ScalarName): Returns =>
  () =>
    scalar(name)

const orDefault = (text: string, type: SqlType): string =>
  isNullable(type) || duckDefault(type) === 'NULL' ? text : `coalesce(${text}, ${duckDefault(type)})`

/** Runs over the items that the lambda keeps, or that are true themselves. */
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
/** True and false for each item. */
function flags(args: readonly Arg[], context: CellContext): string {
  const [first, ...arrays] = args as [Arg, ...Arg[]]
  const e = each(first, arrays, context)
  return `list_transform(${e.list}, lambda ${e.name}: ${condition(first, e)})`
}

/** `body` once per position of a list, with the list and the position named. */
const byPosition = (list: string, context: CellContext, body: (list: string, position: string) => string): string =>
  bound(list, context, (l) => {
    const i = context.fresh()
    return `list_transform(range(1, len(${l}) + 1), lambda ${i}: ${body(l, i)})`
  })

const isEqualTo = (item: SqlType, value: Arg): string => (isNullable(item) || isNullable(value.type) ? 'IS NOT DISTINCT FROM' : '=')
const positions = (array: Arg, value: Arg, context: CellContext): string => {
  const [x, i] = [context.fresh(), context.fresh()]
  return `list_filter(${array.sql}, lambda ${x}, ${i}: ${x} ${isEqualTo(itemOf(array.type), value)} ${value.sql})`
}

/** Where an item is for the first time. */
const isFirst = (list: string, position: string, item: SqlType): string =>
  isNullable(item)
    ? `NOT list_contains(${list}[1:${position} - 1], ${list}[${position}])`
    : `list_position(${list}, ${list}[${position}]) = ${position}`

/** Items in the order they are first met, without NULL. */
const distinct = (list: string, item: SqlType, context: CellContext): string =>
  bound(list, context, (l) => {
    const [x, i] = [context.fresh(), context.fresh()]
    const known = isNullable(item) ? `${x} IS NOT NULL AND ` : ''
    return `list_filter(${l}, lambda ${x}, ${i}: ${known}list_position(${l}, ${x}) = ${i})`
  })

function sorted(args: readonly Arg[], context: CellContext, isReverse: boolean): string {
  const [first, ...arrays] = args as [Arg, ...Arg[]]
  if (!first.lambda) return `list_sort(${first.sql}, '${isReverse ? 'DESC' : 'ASC'}', 'NULLS LAST')`
  const e = each(first, arrays, context)
  const [i, s] = [context.fresh(), context.fresh()]
  // Equal keys stay in order, so positions decide; NULL keys come last either way.
  const position = isReverse ? `-${i}` : i
  const key = isReverse ? `{'n': ${e.body} IS NOT NULL, 'k': ${e.body}, 'i': ${position}}` : `{'k': ${e.body}, 'i': ${position}}`
  const order = `list_sort(list_transform(${e.list}, lambda ${e.name}, ${i}: ${key}), '${isReverse ? 'DESC' : 'ASC'}', 'NULLS ${isReverse ? 'FIRST' : 'LAST'}')`
  return bound(arrays[0]!.sql, context, (a) => `list_transform(${order}, lambda ${s}: ${a}[abs(${s}.i)])`)
}

/** For each position the nearest one before it (or behind it) that is kept. */
function filled(args: readonly Arg[], context: CellContext, isReverse: boolean): string {
  const source = args[1]!.sql
  return bound(`{'a': ${source}, 'f': ${flags(args, context)}}`, context, (s) => {
    const [i, j] = [context.fresh(), context.fresh()]
    const near = isReverse
      ? `coalesce(list_min(list_filter(range(${i}, len(${s}.f) + 1), lambda ${j}: ${s}.f[${j}])), len(${s}.f))`
      : `coalesce(list_max(list_filter(range(1, ${i} + 1), lambda ${j}: ${s}.f[${j}])), 1)`
    return `list_transform(range(1, len(${s}.a) + 1), lambda ${i}: ${s}.a[${near}])`
  })
}

/** Cuts before each item that is kept, or behind it. */
function split(args: readonly Arg[], context: CellContext, isReverse: boolean): string {
  return bound(`{'a': ${args[1]!.sql}, 'f': ${flags(args, context)}}`, context, (s) => {
    const [i, k] = [context.fresh(), context.fresh()]
    const start = isReverse ? `${s}.f[${i} - 1]` : `${s}.f[${i}]`
    const starts = `list_filter(range(1, len(${s}.a) + 1), lambda ${i}: ${i} = 1 OR ${start})`
    return bound(
      starts,
      context,
      (cut) => `list_transform(${cut}, lambda ${i}, ${k}: ${s}.a[${i}:coalesce(${cut}[${k} + 1] - 1, len(${s}.a))])`,
    )
  })
}

const running = (list: string, context: CellContext): string => byPosition(list, context, (l, i) => `list_sum(${l}[1:${i}])`)

const aggregateType: Returns = (args) => sumType(mappedType(args))
const total: SqlCell = (args, context) => {
  const sum = `coalesce(list_sum(${numbers(mapped(args, context), context)}), 0)`
  return isFloat(context.type) ? sum : `CAST(${sum} AS BIGINT)`
}
const extreme =
  (name: string): SqlCell =>
  (args, context) =>
    orDefault(`${name}(${mapped(args, context).list})`, context.type)

const wider = (type: SqlType): SqlType => {
  const shape = integerShape(type)
  if (!shape) return type
  return scalar(`Int${Math.min(64, shape.bits * 2)}` as ScalarName)
}

/** A whole number that a cell can read when it is printed. */
const constant = (arg: Arg | undefined): number | null =>
  typeof arg?.constant === 'number' || typeof arg?.constant === 'bigint' ? Number(arg.constant) : null

function resized([array, size, fill]: readonly Arg[], context: CellContext): string {
  const item = itemOf(context.type)
  const value = fill?.sql ?? duckDefault(item)
  const list = `CAST(${array!.sql} AS ${duckdbType(context.type)})`
  const right = (a: string, n: string): string => `list_resize(${a}, ${n}, ${value})`
  const left = (a: string, n: string): string => `list_reverse(list_resize(list_reverse(${a}), ${n}, ${value}))`
  const known = constant(size)
  if (known !== null) return known >= 0 ? right(list, String(known)) : left(list, String(-known))
  return `CASE WHEN ${size!.sql} >= 0 THEN ${right(list, size!.sql)} ELSE ${left(list, `-(${size!.sql})`)} END`
}

/** Offsets and lengths below zero count from the end. */
function sliced([array, offset, length]: readonly Arg[], context: CellContext): string {
  return bound(
    `{'a': ${array!.sql}, 'o': CAST(${offset!.sql} AS BIGINT), 'l': ${length ? `CAST(${length.sql} AS BIGINT)` : 'NULL::BIGINT'}}`,
    context,
    (s) => {
      const start = `CASE WHEN ${s}.o > 0 THEN ${s}.o ELSE len(${s}.a) + ${s}.o + 1 END`
      const end = length
        ? `CASE WHEN ${s}.l IS NULL THEN len(${s}.a) WHEN ${s}.l >= 0 THEN ${start} + ${s}.l - 1 ELSE len(${s}.a) + ${s}.l END`
        : `len(${s}.a)`
      return `CASE WHEN ${s}.o = 0 THEN list_slice(${s}.a, 1, 0) ELSE list_slice(${s}.a, greatest(${start}, 1), greatest(${end}, 0)) END`
    },
  )
}

const rotated = (array: Arg, by: Arg, sign: '' | '-', context: CellContext): string =>
  bound(`{'a': ${array.sql}, 'n': ${sign}CAST(${by.sql} AS BIGINT)}`, context, (s) => {
    const shift = `((${s}.n % len(${s}.a) + len(${s}.a)) % len(${s}.a))`
    return `CASE WHEN len(${s}.a) = 0 THEN ${s}.a ELSE list_concat(list_slice(${s}.a, ${shift} + 1, len(${s}.a)), list_slice(${s}.a, 1, ${shift})) END`
  })

/** Every array as the list of one item type, for functions of several arrays. */
const cast = (arg: Arg, type: SqlType): string => `CAST(${arg.sql} AS ${duckdbType(type)})`

/** Several arrays side by side are one array of tuples. */
const together = (args: readonly Arg[]): { list: string; item: SqlType } =>
  args.length === 1
    ? { list: args[0]!.sql, item: itemOf(args[0]!.type) }
    : { list: `list_zip(${args.map((a) => a.sql).join(', ')})`, item: tupleOf(args.map((a) => itemOf(a.type))) }

function flattened(array: Arg): string {
  let text = array.sql
  for (let type = itemOf(array.type); type.kind === 'array'; type = type.item) text = `flatten(${text})`
  return text
}
const flatType: Returns = ([array]) => {
  let type = itemOf(array)
  while (type.kind === 'array') type = type.item
  return arrayOf(type)
}

const containsAll = (a: Arg, b: Arg, context: CellContext, isAny: boolean): string => {
  const item = commonType([itemOf(a.type), itemOf(b.type)])
  const both = [cast(a, arrayOf(item)), cast(b, arrayOf(item))]
  if (item.kind === 'scalar' && !isNullable(item)) return `${isAny ? 'list_has_any' : 'list_has_all'}(${both.join(', ')})`
  const [x, y] = [context.fresh(), context.fresh()]
  const found = `list_filter(${both[1]}, lambda ${x}: len(list_filter(${both[0]}, lambda ${y}: ${y} IS NOT DISTINCT FROM ${x})) > 0)`
  return isAny ? `(len(${found}) > 0)` : `(len(${found}) = len(${b.sql}))`
}

const areaUnderCurve = (scores: Arg, labels: Arg, context: CellContext): string => {
  const [p, n, l] = [context.fresh(), context.fresh(), context.fresh()]
  const half = (test: string): string =>
    `list_filter(list_zip(${scores.sql}, ${labels.sql}), lambda ${l}: struct_extract_at(${l}, 2) ${test} 0)`
  return bound(`{'p': ${half('>')}, 'n': ${half('<=')}}`, context, (s) => {
    const [x, y] = [`struct_extract_at(${p}, 1)`, `struct_extract_at(${n}, 1)`]
    const pairs = `list_sum(list_transform(${s}.p, lambda ${p}: list_sum(list_transform(${s}.n, lambda ${n}: CASE WHEN ${x} > ${y} THEN 1.0 WHEN ${x} = ${y} THEN 0.5 ELSE 0.0 END))))`
    return `coalesce(CAST(${pairs} / (len(${s}.p) * len(${s}.n)) AS DOUBLE), 'nan'::DOUBLE)`
  })
}

export const arrayFunctions = functions({
  array: {
    kind: 'scalar',
    args: [0, null],
    returns: (types) => arrayOf(commonType(types)),
    summary: 'An array of the arguments; the same as `[a, b]`.',
    sql: {
      duckdb: (args, context) => (args.length ? `[${args.map((a) => a.sql).join(', ')}]` : `CAST([] AS ${duckdbType(context.type)})`),
      clickhouse: call('array'),
    },
    cases: [
      ['array(1, 2, 3)', [1, 2, 3]],
      ["array('a', NULL)", ['a', null]],
      ['array()', []],
    ],
  },
  arrayElement: {
    kind: 'scalar',
    args: [2, 2],
    returns: ([a]) => (a!.kind === 'map' ? a!.value : itemOf(a)),
    summary: 'The item at a position, counted from 1, or from the end when negative; of a map the value of a key. The same as `a[n]`.',
    sql: {
      duckdb: ([a, index], { type }) =>
        a!.type.kind === 'map'
          ? orDefault(`map_extract_value(${a!.sql}, ${index!.sql})`, type)
          : orDefault(`list_extract(${a!.sql}, ${index!.sql})`, type),
      clickhouse: call('arrayElement'),
    },
    cases: [
      ['arrayElement([10, 20], 2)', 20],
      ['[10, 20][-1]', 20],
      ['[10, 20][5]', 0],
      ["['a'][5]", ''],
      ['[1, NULL][5]', null],
      ['[[1]][5]', []],
      ["map('a', 1)['a']", 1],
      ["map('a', 1)['z']", 0],
    ],
  },
  arrayJoin: {
    kind: 'scalar',
    args: [1, 1],
    returns: ([a]) => itemOf(a),
    summary: 'One row for each item of the array; none for an empty one.',
    sql: { duckdb: call('unnest'), clickhouse: call('arrayJoin') },
    cases: [['select sum(x) from (select arrayJoin([1, 2, 3]) as x)', 6]],
  },
  arrayMap: row(
    'arrayMap',
    [2, null],
    (args) => arrayOf(mappedType(args)),
    'The lambda’s value for each item (or for the items of several arrays side by side).',
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
  arrayFilter: row(
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
  arrayFirst: row(
    'arrayFirst',
    [2, null],
    (args) => itemOf(firstArray(args)),
    'The first item for which the lambda holds.',
    (args, context) => orDefault(`list_extract(${kept(args, context)}, 1)`, context.type),
    [
      ['arrayFirst(x -> x > 1, [1, 2, 3])', 2],
      ['arrayFirst(x -> x > 5, [1, 2, 3])', 0],
    ],
    withLambda,
  ),
  arrayLast: row(
    'arrayLast',
    [2, null],
    (args) => itemOf(firstArray(args)),
    'The last item for which the lambda holds.',
    (args, context) => orDefault(`list_extract(${kept(args, context)}, -1)`, context.type),
    [
      ['arrayLast(x -> x < 3, [1, 2, 3])', 2],
      ["arrayLast(x -> x > 'x', ['a'])", ''],
    ],
    withLambda,
  ),
  arrayFirstIndex: row(
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
  arrayLastIndex: row(
    'arrayLastIndex',
    [2, null],
    always('UInt32'),
    'The position of the last item for which the lambda holds, or 0.',
    (args, context) => bound(flags(args, context), context, (f) => `coalesce(len(${f}) + 1 - list_position(list_reverse(${f}), true), 0)`),
    [
      ['arrayLastIndex(x -> x < 3, [1, 2, 3])', 2],
      ['arrayLastIndex(x -> x > 5, [1, 2, 3])', 0],
    ],
    withLambda,
  ),
  arrayExists: row(
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
  arrayAll: row(
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
  arrayCount: row(
    'arrayCount',
    [1, null],
    always('UInt32'),
    'For how many items the lambda holds.',
    (args, context) => `len(${kept(args, context)})`,
    [
      ['arrayCount(x -> x > 1, [1, 2, 3])', 2],
      ['arrayCount([1, 0, 1])', 2],
    ],
    withLambda,
  ),
  arrayFill: row(
    'arrayFill',
    [2, null],
    (args) => firstArray(args),
    'Items for which the lambda does not hold are replaced by the nearest one before them for which it does.',
    (args, context) => filled(args, context, false),
    [['arrayFill(x -> x > 1, [0, 2, 1, 3, 1])', [0, 2, 2, 3, 3]]],
    withLambda,
  ),
  arrayReverseFill: row(
    'arrayReverseFill',
    [2, null],
    (args) => firstArray(args),
    'Items for which the lambda does not hold are replaced by the nearest one behind them for which it does.',
    (args, context) => filled(args, context, true),
    [['arrayReverseFill(x -> x > 1, [0, 2, 1, 3, 1])', [2, 2, 3, 3, 1]]],
    withLambda,
  ),
  arraySplit: row(
    'arraySplit',
    [2, null],
    (args) => arrayOf(firstArray(args)),
    'Cuts the array before every item for which the lambda holds.',
    (args, context) => split(args, context, false),
    [['arraySplit(x -> x = 1, [0, 1, 2, 1, 3])', [[0], [1, 2], [1, 3]]]],
    withLambda,
  ),
  arrayReverseSplit: row(
    'arrayReverseSplit',
    [2, null],
    (args) => arrayOf(firstArray(args)),
    'Cuts the array behind every item for which the lambda holds.',
    (args, context) => split(args, context, true),
    [['arrayReverseSplit(x -> x = 1, [0, 1, 2, 1, 3])', [[0, 1], [2, 1], [3]]]],
    withLambda,
  ),
  arraySort: row(
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
    withLambda,
  ),
  arrayReverseSort: row(
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
    withLambda,
  ),
  arraySum: row(
    'arraySum',
    [1, 2],
    aggregateType,
    'Sum of the items, or of the lambda’s values.',
    total,
    [
      ['arraySum([1, 2, 3])', 6],
      ['arraySum(x -> x * 2.5, [1, 2])', 7.5],
      ['arraySum(arrayFilter(x -> x > 9, [1]))', 0],
    ],
    withLambda,
  ),
  arrayAvg: row(
    'arrayAvg',
    [1, 2],
    always('Float64'),
    'Mean of the items, or of the lambda’s values; 0 for none.',
    (args, context) => `coalesce(list_avg(${numbers(mapped(args, context), context)}), 0)`,
    [
      ['arrayAvg([1, 2, 6])', 3],
      ['arrayAvg(x -> x * 2, [1, 2])', 3],
    ],
    withLambda,
  ),
  arrayMin: row(
    'arrayMin',
    [1, 2],
    mappedType,
    'Smallest item, or value of the lambda.',
    extreme('list_min'),
    [
      ['arrayMin([3, 1, 2])', 1],
      ['arrayMin(x -> -x, [3, 1, 2])', -3],
    ],
    withLambda,
  ),
  arrayMax: row(
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
    withLambda,
  ),
  arrayProduct: row(
    'arrayProduct',
    [1, 1],
    always('Float64'),
    'Product of the items; 0 for none.',
    ([a]) => `coalesce(CAST(list_product(${a!.sql}) AS DOUBLE), 0)`,
    [['arrayProduct([2, 3, 4])', 24]],
  ),
  arrayCumSum: row(
    'arrayCumSum',
    [1, null],
    (args) => arrayOf(sumType(mappedType(args))),
    'Running sums of the items, or of the lambda’s values.',
    (args, context) => running(numbers(mapped(args, context), context), context),
    [
      ['arrayCumSum([1, 2, 3])', [1, 3, 6]],
      ['arrayCumSum(x -> x * 2, [1, 2, 3])', [2, 6, 12]],
    ],
    withLambda,
  ),
  arrayCumSumNonNegative: row(
    'arrayCumSumNonNegative',
    [1, null],
    (args) => arrayOf(sumType(mappedType(args))),
    'Running sums that begin again at 0 instead of falling below it.',
    (args, context) =>
      byPosition(
        running(numbers(mapped(args, context), context), context),
        context,
        (l, i) => `${l}[${i}] - least(0, list_min(${l}[1:${i}]))`,
      ),
    [['arrayCumSumNonNegative([1, -3, 2])', [1, 0, 2]]],
    withLambda,
  ),
  arrayDifference: row(
    'arrayDifference',
    [1, 1],
    ([a]) => arrayOf(wider(itemOf(a))),
    'How much each item is above the one before; 0 for the first.',
    ([a], context) =>
      byPosition(
        a!.sql,
        context,
        (l, i) => `CASE WHEN ${i} = 1 THEN 0 ELSE CAST(${l}[${i}] AS ${duckdbType(itemOf(context.type))}) - ${l}[${i} - 1] END`,
      ),
    [['arrayDifference([1, 4, 2])', [0, 3, -2]]],
  ),
  arrayCompact: row(
    'arrayCompact',
    [1, 1],
    firstType,
    'Without items that repeat the one before.',
    ([a], context) =>
      bound(a!.sql, context, (l) => {
        const [x, i] = [context.fresh(), context.fresh()]
        return `list_filter(${l}, lambda ${x}, ${i}: ${i} = 1 OR ${x} IS DISTINCT FROM ${l}[${i} - 1])`
      }),
    [['arrayCompact([1, 1, 2, 2, 1])', [1, 2, 1]]],
  ),
  arrayConcat: row(
    'arrayConcat',
    [2, null],
    (types) => arrayOf(commonType(types.map(itemOf).filter((item) => !isNamed(item, 'Nothing')))),
    'All items of the arrays, one array after the other.',
    (args, { type }) => `list_concat(${args.map((a) => cast(a, type)).join(', ')})`,
    [
      ['arrayConcat([1], [2, 3])', [1, 2, 3]],
      ["arrayConcat(['a'], [], ['b'])", ['a', 'b']],
    ],
  ),
  arrayDistinct: row(
    'arrayDistinct',
    [1, 1],
    ([a]) => arrayOf(notNull(itemOf(a))),
    'The different items, in the order they are first met; without NULL.',
    ([a], context) => distinct(a!.sql, itemOf(a!.type), context),
    [
      ['arrayDistinct([2, 1, 2])', [2, 1]],
      ['arrayDistinct([NULL, 1, NULL])', [1]],
    ],
  ),
  arrayEnumerate: row(
    'arrayEnumerate',
    [1, 1],
    () => arrayOf(scalar('UInt32')),
    'The positions: 1, 2, 3 …',
    ([a]) => `range(1, len(${a!.sql}) + 1)`,
    [["arrayEnumerate(['a', 'b'])", [1, 2]]],
  ),
  arrayEnumerateDense: row(
    'arrayEnumerateDense',
    [1, 1],
    () => arrayOf(scalar('UInt32')),
    'For each item the number of its value among the different values.',
    ([a], context) =>
      bound(a!.sql, context, (l) =>
        bound(distinct(l, itemOf(a!.type), context), context, (d) => {
          const x = context.fresh()
          return `list_transform(${l}, lambda ${x}: list_position(${d}, ${x}))`
        }),
      ),
    [['arrayEnumerateDense([10, 20, 10])', [1, 2, 1]]],
  ),
  arrayEnumerateUniq: row(
    'arrayEnumerateUniq',
    [2, null],
    () => arrayOf(scalar('UInt32')),
    'For each position how often its values have come so far.',
    (args, context) =>
      byPosition(together(args).list, context, (l, i) => {
        const x = context.fresh()
        return `len(list_filter(${l}[1:${i}], lambda ${x}: ${x} IS NOT DISTINCT FROM ${l}[${i}]))`
      }),
    [['arrayEnumerateUniq([1, 1, 2], [5, 5, 5])', [1, 2, 1]]],
  ),
  arrayUniq: row(
    'arrayUniq',
    [1, null],
    always('UInt32'),
    'Number of different items (or combinations of items); NULL counts as one value.',
    (args, context) => {
      const { list, item } = together(args)
      if (args.length === 1 && !isNullable(item)) return `list_unique(${list})`
      const i = context.fresh()
      return bound(
        list,
        context,
        (l) => `len(list_filter(range(1, len(${l}) + 1), lambda ${i}: ${isFirst(l, i, scalar('Nothing', true))}))`,
      )
    },
    [
      ['arrayUniq([1, 1, 2])', 2],
      ['arrayUniq([1, 1], [2, 3])', 2],
    ],
  ),
  arrayFlatten: row('arrayFlatten', [1, 1], flatType, 'All items of nested arrays in one.', ([a]) => flattened(a!), [
    ['arrayFlatten([[[1, 2]], [[3]]])', [1, 2, 3]],
    ['arrayFlatten([1, 2])', [1, 2]],
  ]),
  arrayFold: {
    kind: 'scalar',
    args: [3, null],
    returns: (args) => args.at(-1)!,
    lambdas: (args) => args.map((_, i) => (i === 0 ? [args.at(-1)!, ...args.slice(1, -1).map(itemOf)] : null)),
    summary:
      'Goes through the items with an accumulator: the lambda gets it and an item and gives the next one. The last argument is the first accumulator.',
    sql: {
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
        // list_reduce wants the accumulator and the items to be of one type: both travel in one.
        const items = `list_transform(${list}, lambda ${x}: {'a': CAST(NULL AS ${accumulator}), 'x': ${x}})`
        const start = `{'a': CAST(${args.at(-1)!.sql} AS ${accumulator}), 'x': ${arrays.length === 1 ? `CAST(NULL AS ${duckdbType(item)})` : 'NULL'}}`
        return `list_reduce(${items}, lambda ${s}, ${e}: {'a': CAST(${body} AS ${accumulator}), 'x': ${e}.x}, ${start}).a`
      },
      clickhouse: same('arrayFold'),
    },
    cases: [
      ['arrayFold((acc, x) -> acc + x, [1, 2, 3], toInt(0))', 6],
      ["arrayFold((acc, x) -> concat(acc, toString(x)), [1, 2], '')", '12'],
    ],
  },
  arrayIntersect: row(
    'arrayIntersect',
    [1, null],
    (types) => arrayOf(commonType(types.map(itemOf))),
    'The different items that are in all of the arrays, in no given order.',
    ([a, ...others], context) => {
      const x = context.fresh()
      const test = others.map((o) => `list_contains(${o.sql}, ${x})`).join(' AND ') || 'true'
      return `list_filter(${distinct(a!.sql, itemOf(a!.type), context)}, lambda ${x}: ${test})`
    },
    [['arrayIntersect([1, 2, 3], [3, 2], [2, 3, 4])', [2, 3], { unordered: true }]],
  ),
  arrayPopBack: row('arrayPopBack', [1, 1], firstType, 'Without the last item.', ([a]) => `list_slice(${a!.sql}, 1, -2)`, [
    ['arrayPopBack([1, 2])', [1]],
    ['arrayPopBack([1])', []],
  ]),
  arrayPopFront: row('arrayPopFront', [1, 1], firstType, 'Without the first item.', ([a]) => `list_slice(${a!.sql}, 2, -1)`, [
    ['arrayPopFront([1, 2])', [2]],
    ['arrayPopFront([1])', []],
  ]),
  arrayPushBack: row(
    'arrayPushBack',
    [2, 2],
    ([a, x]) => arrayOf(commonType([itemOf(a), x!])),
    'With one more item at the end.',
    ([a, x], { type }) => `list_append(${cast(a!, type)}, ${x!.sql})`,
    [['arrayPushBack([1], 2)', [1, 2]]],
  ),
  arrayPushFront: row(
    'arrayPushFront',
    [2, 2],
    ([a, x]) => arrayOf(commonType([itemOf(a), x!])),
    'With one more item at the beginning.',
    ([a, x], { type }) => `list_prepend(${x!.sql}, ${cast(a!, type)})`,
    [
      ['arrayPushFront([2], 1)', [1, 2]],
      ['arrayPushFront([2], NULL)', [null, 2]],
    ],
  ),
  arrayResize: row(
    'arrayResize',
    [2, 3],
    ([a, , fill]) => arrayOf(fill ? commonType([itemOf(a), fill]) : itemOf(a)),
    'Cut or filled up to a length; at the beginning when it is negative.',
    resized,
    [
      ['arrayResize([1, 2], 4)', [1, 2, 0, 0]],
      ['arrayResize([1, 2], 4, 9)', [1, 2, 9, 9]],
      ['arrayResize([1, 2, 3], -2)', [2, 3]],
      ['arrayResize([1, 2], -4)', [0, 0, 1, 2]],
    ],
  ),
  arrayReverse: row('arrayReverse', [1, 1], firstType, 'The items from the last to the first.', ([a]) => `list_reverse(${a!.sql})`, [
    ['arrayReverse([1, 2, 3])', [3, 2, 1]],
  ]),
  arrayRotateLeft: row(
    'arrayRotateLeft',
    [2, 2],
    firstType,
    'Moved to the left, what falls out comes back at the end.',
    ([a, n], context) => rotated(a!, n!, '', context),
    [
      ['arrayRotateLeft([1, 2, 3], 1)', [2, 3, 1]],
      ['arrayRotateLeft([1, 2, 3], -1)', [3, 1, 2]],
    ],
  ),
  arrayRotateRight: row(
    'arrayRotateRight',
    [2, 2],
    firstType,
    'Moved to the right, what falls out comes back at the beginning.',
    ([a, n], context) => rotated(a!, n!, '-', context),
    [['arrayRotateRight([1, 2, 3], 1)', [3, 1, 2]]],
  ),
  arraySlice: row('arraySlice', [2, 3], firstType, 'A part from a position on, of a length. Negative ones count from the end.', sliced, [
    ['arraySlice([1, 2, 3, 4], 2)', [2, 3, 4]],
    ['arraySlice([1, 2, 3, 4], 2, 2)', [2, 3]],
    ['arraySlice([1, 2, 3, 4], -2)', [3, 4]],
    ['arraySlice([1, 2, 3, 4], -3, 2)', [2, 3]],
    ['arraySlice([1, 2, 3, 4], 2, -1)', [2, 3]],
    ['arraySlice([1, 2, 3, 4], -3, -1)', [2, 3]],
    ['arraySlice([1, 2, 3], -5, 3)', [1]],
    ['arraySlice([1, 2, 3], 0, 2)', []],
  ]),
  arrayStringConcat: row(
    'arrayStringConcat',
    [1, 2],
    always('String'),
    'The items as text, one after the other with a separator; NULL is left out.',
    ([a, separator], context) => {
      const x = context.fresh()
      const texts = isNamed(itemOf(a!.type), 'String')
        ? a!.sql
        : `list_transform(${a!.sql}, lambda ${x}: ${toText({ sql: x, type: itemOf(a!.type) }, context)})`
      return `array_to_string(${texts}, ${separator?.sql ?? "''"})`
    },
    [
      ["arrayStringConcat(['a', 'b'], ',')", 'a,b'],
      ["arrayStringConcat([1, 2], '-')", '1-2'],
      ["arrayStringConcat(['a', NULL, 'b'], ',')", 'a,b'],
      ["arrayStringConcat(['a', 'b'])", 'ab'],
    ],
  ),
  arrayWithConstant: row(
    'arrayWithConstant',
    [2, 2],
    ([, x]) => arrayOf(x!),
    'So many times the same value.',
    ([n, x], context) => `list_transform(range(0, CAST(${n!.sql} AS BIGINT)), lambda ${context.fresh()}: ${x!.sql})`,
    [["arrayWithConstant(3, 'x')", ['x', 'x', 'x']]],
  ),
  arrayZip: row(
    'arrayZip',
    [2, null],
    (types) => arrayOf(tupleOf(types.map(itemOf))),
    'The items of several arrays side by side, as tuples.',
    call('list_zip'),
    [
      [
        "arrayZip([1, 2], ['a', 'b'])",
        [
          [1, 'a'],
          [2, 'b'],
        ],
      ],
    ],
  ),
  arrayAUC: row(
    'arrayAUC',
    [2, 2],
    always('Float64'),
    'Area under the curve of scores and labels.',
    ([a, b], context) => areaUnderCurve(a!, b!, context),
    [['arrayAUC([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])', 0.75]],
  ),
  countEqual: row(
    'countEqual',
    [2, 2],
    always('UInt64'),
    'How often the value is in the array.',
    ([a, x], context) => `len(${positions(a!, x!, context)})`,
    [
      ['countEqual([1, 2, 1], 1)', 2],
      ['countEqual([1, NULL, NULL], NULL)', 2],
    ],
  ),
  has: row(
    'has',
    [2, 2],
    always('Bool'),
    'Whether the value is in the array.',
    ([a, x], context) => (isNullable(x!.type) ? `(len(${positions(a!, x!, context)}) > 0)` : `list_contains(${a!.sql}, ${x!.sql})`),
    [
      ['has([1, 2], 2)', 1],
      ['has([1, 2], 3)', 0],
      ['has([1, NULL], NULL)', 1],
      ["has(['a', 'b'], 'b')", 1],
    ],
  ),
  hasAll: row(
    'hasAll',
    [2, 2],
    always('Bool'),
    'Whether all items of the second array are in the first.',
    ([a, b], context) => containsAll(a!, b!, context, false),
    [
      ['hasAll([1, 2, 3], [1, 2])', 1],
      ['hasAll([1], [1, 2])', 0],
      ['hasAll([1, NULL], [NULL])', 1],
    ],
  ),
  hasAny: row(
    'hasAny',
    [2, 2],
    always('Bool'),
    'Whether an item of the second array is in the first.',
    ([a, b], context) => containsAll(a!, b!, context, true),
    [
      ['hasAny([1, 2], [2, 5])', 1],
      ['hasAny([1, 2], [5])', 0],
    ],
  ),
  hasSubstr: row(
    'hasSubstr',
    [2, 2],
    always('Bool'),
    'Whether the second array is in the first, its items one after the other.',
    ([a, b], context) => {
      const i = context.fresh()
      return bound(
        `{'a': ${a!.sql}, 'b': ${b!.sql}}`,
        context,
        (s) => `(len(list_filter(range(1, len(${s}.a) - len(${s}.b) + 2), lambda ${i}: ${s}.a[${i}:${i} + len(${s}.b) - 1] = ${s}.b)) > 0)`,
      )
    },
    [
      ['hasSubstr([1, 2, 3, 4], [2, 3])', 1],
      ['hasSubstr([1, 2, 3, 4], [3, 2])', 0],
    ],
  ),
  indexOf: row(
    'indexOf',
    [2, 2],
    always('UInt64'),
    'The first position of the value, or 0.',
    ([a, x], context) => {
      if (!isNullable(x!.type)) return `coalesce(list_position(${a!.sql}, ${x!.sql}), 0)`
      const i = context.fresh()
      return bound(
        a!.sql,
        context,
        (l) => `coalesce(list_filter(range(1, len(${l}) + 1), lambda ${i}: ${l}[${i}] IS NOT DISTINCT FROM ${x!.sql})[1], 0)`,
      )
    },
    [
      ['indexOf([1, 2, 2], 2)', 2],
      ['indexOf([1], 5)', 0],
      ['indexOf([1, NULL], NULL)', 2],
    ],
  ),
  range: row(
    'range',
    [1, 3],
    (types) => arrayOf(notNull(commonType(types))),
    'Numbers from 0 (or the first argument) up to below the second, with a step.',
    (args) => `range(${args.map((a) => `CAST(${a.sql} AS BIGINT)`).join(', ')})`,
    [
      ['range(3)', [0, 1, 2]],
      ['range(1, 4)', [1, 2, 3]],
      ['range(1, 10, 3)', [1, 4, 7]],
      ['range(5, 1, -2)', [5, 3]],
    ],
  ),
})
