import { readBeside } from '../../types/property-values.ts'
import { arrayOf, isNamed, isNullable, notNull, nullable, type ScalarName, type SqlType, scalar, tupleOf } from '../../types/types.ts'
import { duckdbType } from '../cells/duckdb-types.ts'
import { asPosition, defaultOf, once, orDefault, toText, unlessNull } from '../cells/duckdb-values.ts'
import { counted, fixedBytes, headBytes, type MadeCall, type Makes, part, textTimes, times } from '../makes.ts'
import { always, checkBothSame, commonType, integerShape, itemOf, oneType, sameAs } from '../results.ts'
import { type Arg, type CellContext, call, differing } from '../row.ts'
import { scalars } from '../scalars.ts'

import { arrayRow, boxed, boxedType, byPosition, castTo, distinct, isFirst, type Returns, summed, together } from './rows.ts'

// Positions start at 1. A missing item is the default of the item's type, or NULL if items are nullable.

const isEqualTo = (item: SqlType, value: Arg): string => (isNullable(item) || isNullable(value.type) ? 'IS NOT DISTINCT FROM' : '=')
const positions = (array: Arg, value: Arg, context: CellContext): string => {
  const [x, i] = [context.fresh(), context.fresh()]
  return `list_filter(${array.sql}, lambda ${x}, ${i}: ${x} ${isEqualTo(itemOf(array.type), value)} ${value.sql})`
}

const wider = (type: SqlType): SqlType => {
  const shape = integerShape(type)
  if (!shape) return type
  return scalar(`Int${Math.min(64, shape.bits * 2)}` as ScalarName)
}

/** A constant integer, known when the cell is printed. */
const constantNumber = (arg: Arg | undefined): number | null =>
  typeof arg?.constant === 'number' || typeof arg?.constant === 'bigint' ? Number(arg.constant) : null

function resized([array, size, fill]: readonly Arg[], context: CellContext): string {
  const item = itemOf(context.type)
  const value = fill?.sql ?? defaultOf(item)
  const list = `CAST(${array!.sql} AS ${duckdbType(context.type)})`
  const right = (a: string, n: string): string => `list_resize(${a}, ${n}, ${value})`
  const left = (a: string, n: string): string => `list_reverse(list_resize(list_reverse(${a}), ${n}, ${value}))`
  const known = constantNumber(size)
  if (known !== null && Number.isInteger(known)) return known >= 0 ? right(list, String(known)) : left(list, String(-known))
  const length = asPosition(size!).sql
  return `CASE WHEN ${length} >= 0 THEN ${right(list, length)} ELSE ${left(list, `-(${length})`)} END`
}

/** Negative offsets and lengths count from the end. */
function sliced([array, offset, length]: readonly Arg[], context: CellContext): string {
  return once(
    context,
    `{'a': ${array!.sql}, 'o': ${isNullable(offset!.type) ? `coalesce(CAST(${offset!.sql} AS BIGINT), 1)` : `CAST(${offset!.sql} AS BIGINT)`}, 'l': ${length ? `CAST(${length.sql} AS BIGINT)` : 'NULL::BIGINT'}}`,
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
  once(context, `{'a': ${array.sql}, 'n': ${sign}CAST(${by.sql} AS BIGINT)}`, (s) => {
    const shift = `((${s}.n % len(${s}.a) + len(${s}.a)) % len(${s}.a))`
    return `CASE WHEN len(${s}.a) = 0 THEN ${s}.a ELSE list_concat(list_slice(${s}.a, ${shift} + 1, len(${s}.a)), list_slice(${s}.a, 1, ${shift})) END`
  })

const resizedTo = ({ args, type }: MadeCall): Makes => {
  const fixed = fixedBytes(itemOf(type))
  return counted((c) =>
    c.plus(c.item(0), c.times(c.size(c.value(1)), args[2] && fixed === null ? c.item(2) : c.number(fixed ?? headBytes))),
  )
}
const numbersOf = ({ args: { length } }: MadeCall): Makes =>
  counted((c) => {
    const span = length === 1 ? c.value(0) : c.plus(c.value(1), c.times(c.number(-1), c.value(0)))
    return c.times(c.number(8), length === 3 ? c.plus(c.over(span, c.value(2)), c.number(1)) : span)
  })
/** An item takes at least the bytes of two numbers, so that a constant separator is in proportion to the items. */
const joinedBy = ({ args: [array, separator] }: MadeCall): Makes => {
  const ofText = textTimes([itemOf(array?.type)])
  if (!separator || typeof separator.constant === 'string')
    return times(ofText + 2 + Buffer.byteLength(String(separator?.constant ?? '')) / 8)
  return counted((c) => c.times(c.item(0), c.plus(c.number(ofText + 2), c.bytes(1))))
}

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
  const both = [castTo(a, arrayOf(item)), castTo(b, arrayOf(item))]
  if (item.kind === 'scalar' && !isNullable(item)) return `${isAny ? 'list_has_any' : 'list_has_all'}(${both.join(', ')})`
  const [x, y] = [context.fresh(), context.fresh()]
  const found = `list_filter(${both[1]}, lambda ${x}: len(list_filter(${both[0]}, lambda ${y}: ${y} IS NOT DISTINCT FROM ${x})) > 0)`
  return isAny ? `(len(${found}) > 0)` : `(len(${found}) = len(${b.sql}))`
}

const areaUnderCurve = (scores: Arg, labels: Arg, context: CellContext): string => {
  const [p, n, l] = [context.fresh(), context.fresh(), context.fresh()]
  const half = (test: string): string =>
    `list_filter(list_zip(${scores.sql}, ${labels.sql}), lambda ${l}: struct_extract_at(${l}, 2) ${test} 0)`
  return once(context, `{'p': ${half('>')}, 'n': ${half('<=')}}`, (s) => {
    const [x, y] = [`struct_extract_at(${p}, 1)`, `struct_extract_at(${n}, 1)`]
    const pairs = `list_sum(list_transform(${s}.p, lambda ${p}: list_sum(list_transform(${s}.n, lambda ${n}: CASE WHEN ${x} > ${y} THEN 1.0 WHEN ${x} = ${y} THEN 0.5 ELSE 0.0 END))))`
    return `coalesce(CAST(${pairs} / (len(${s}.p) * len(${s}.n)) AS DOUBLE), 'nan'::DOUBLE)`
  })
}

export const arrayFunctions = scalars({
  array: {
    args: [0, null],
    returns: (types) => arrayOf(oneType(types, 'The items of an array')),
    summary: 'An array of the arguments; the same as `[a, b]`.',
    duckdb: (args, context) => (args.length ? `[${args.map((a) => a.sql).join(', ')}]` : `CAST([] AS ${duckdbType(context.type)})`),
    cases: [
      ['array(1, 2, 3)', [1, 2, 3]],
      ["array('a', NULL)", ['a', null]],
      ['array()', []],
      ["[[], ['a']]", [[], ['a']]],
      ["[[(1, 'a')], []]", [[[1, 'a']], []]],
    ],
  },
  arrayElement: {
    takes: (args) => ['text', args[0]?.kind === 'map' ? readBeside(args[0].key) : 'integer'],
    args: 2,
    returns: ([a, index]) => {
      const found = a!.kind === 'map' ? a!.value : itemOf(a)
      return index && isNullable(index) ? nullable(found) : found
    },
    makes: part,
    summary: 'The item at a position, counted from 1, or from the end when negative; of a map the value of a key. The same as `a[n]`.',
    duckdb: ([a, index]) => {
      const [name, item] =
        a!.type.kind === 'map' ? (['map_extract_value', a!.type.value] as const) : (['list_extract', itemOf(a!.type)] as const)
      const at = a!.type.kind === 'map' ? index!.sql : asPosition(index!).sql
      return unlessNull([index!], orDefault(`${name}(${a!.sql}, ${at})`, { type: item }))
    },
    cases: [
      ['arrayElement([10, 20], 2)', 20],
      ['[10, 20][-1]', 20],
      ['[10, 20][1 = 1]', 10],
      ['[10, 20][5]', 0],
      ["['a'][5]", ''],
      ['[1, NULL][5]', null],
      ['[1, 2][NULL]', null],
      ['[1, 2][toNullable(5)]', 0],
      ['[[1]][5]', []],
      ["map('a', 1)['a']", 1],
      ["map('a', 1)['z']", 0],
      ["map('a', 1)[NULL]", null],
      ["map('a', 1)[toNullable('z')]", 0],
    ],
  },
  arrayJoin: {
    args: 1,
    returns: ([a]) => itemOf(a),
    makes: part,
    summary: 'Returns one row per item; none for an empty array.',
    duckdb: call('unnest'),
    cases: [['select sum(x) from (select arrayJoin([1, 2, 3]) as x)', 6]],
  },
  arrayProduct: arrayRow(
    'arrayProduct',
    [1, 1],
    (args) => {
      summed('arrayProduct', args)
      return scalar('Float64')
    },
    'Product of the items; 0 for none.',
    ([a]) => `coalesce(CAST(list_product(${a!.sql}) AS DOUBLE), 0)`,
    [['arrayProduct([2, 3, 4])', 24]],
    {
      differences: [
        differing(
          'arrayProduct([1000000, 1000000, 1000000, 1000000])',
          1e24,
          2003764205206896600,
          'ClickHouse multiplies whole numbers in 64 bits and wraps around, DuckDB multiplies floats',
        ),
      ],
    },
  ),
  arrayDifference: arrayRow(
    'arrayDifference',
    [1, 1],
    (args) => arrayOf(wider(summed('arrayDifference', args))),
    'Differences between each item and the one before; 0 for the first.',
    ([a], context) =>
      byPosition(
        a!.sql,
        context,
        (l, i) => `CASE WHEN ${i} = 1 THEN 0 ELSE CAST(${l}[${i}] AS ${duckdbType(itemOf(context.type))}) - ${l}[${i} - 1] END`,
      ),
    [['arrayDifference([1, 4, 2])', [0, 3, -2]]],
  ),
  arrayCompact: arrayRow(
    'arrayCompact',
    [1, 1],
    sameAs(0),
    'Removes items that repeat the one before.',
    ([a], context) =>
      once(context, a!.sql, (l) => {
        const [x, i] = [context.fresh(), context.fresh()]
        return `list_filter(${l}, lambda ${x}, ${i}: ${i} = 1 OR ${x} IS DISTINCT FROM ${l}[${i} - 1])`
      }),
    [
      ['arrayCompact([1, 1, 2, 2, 1])', [1, 2, 1]],
      ['arrayCompact(null)', null],
    ],
  ),
  arrayConcat: arrayRow(
    'arrayConcat',
    [2, null],
    (types) =>
      arrayOf(
        commonType(
          types
            .filter((type) => !isNamed(type, 'Nothing'))
            .map(itemOf)
            .filter((item) => !isNamed(item, 'Nothing')),
        ),
      ),
    'All items of the arrays, one array after the other.',
    (args, { type }) => `list_concat(${args.map((a) => castTo(a, type)).join(', ')})`,
    [
      ['arrayConcat([1], [2, 3])', [1, 2, 3]],
      ["arrayConcat(['a'], [], ['b'])", ['a', 'b']],
    ],
  ),
  arrayDistinct: arrayRow(
    'arrayDistinct',
    [1, 1],
    ([a]) => arrayOf(notNull(itemOf(a))),
    'Distinct items in order of first occurrence; without NULL.',
    ([a], context) => distinct(a!.sql, itemOf(a!.type), context),
    [
      ['arrayDistinct([2, 1, 2])', [2, 1]],
      ['arrayDistinct([NULL, 1, NULL])', [1]],
    ],
  ),
  arrayEnumerate: arrayRow(
    'arrayEnumerate',
    [1, 1],
    () => arrayOf(scalar('UInt32')),
    'The positions: 1, 2, 3 …',
    ([a]) => `range(1, len(${a!.sql}) + 1)`,
    [["arrayEnumerate(['a', 'b'])", [1, 2]]],
  ),
  arrayEnumerateDense: arrayRow(
    'arrayEnumerateDense',
    [1, 1],
    () => arrayOf(scalar('UInt32')),
    'For each item, the position of its value among the distinct values.',
    ([a], context) =>
      once(context, isNullable(itemOf(a!.type)) ? boxed(a!.sql, context) : a!.sql, (l) =>
        once(context, distinct(l, boxedType, context), (d) => {
          const x = context.fresh()
          return `list_transform(${l}, lambda ${x}: list_position(${d}, ${x}))`
        }),
      ),
    [
      ['arrayEnumerateDense([10, 20, 10])', [1, 2, 1]],
      ['arrayEnumerateDense([10, null, 20, null])', [1, 2, 3, 2]],
    ],
  ),
  arrayEnumerateUniq: arrayRow(
    'arrayEnumerateUniq',
    [2, null],
    () => arrayOf(scalar('UInt32')),
    'For each item, how many times its value has occurred so far.',
    (args, context) =>
      byPosition(together(args).list, context, (l, i) => {
        const x = context.fresh()
        return `len(list_filter(${l}[1:${i}], lambda ${x}: ${x} IS NOT DISTINCT FROM ${l}[${i}]))`
      }),
    [['arrayEnumerateUniq([1, 1, 2], [5, 5, 5])', [1, 2, 1]]],
    { sideBySide: [0] },
  ),
  arrayUniq: arrayRow(
    'arrayUniq',
    [1, null],
    always('UInt32'),
    'Number of distinct items (or combinations of items); NULL counts as one value.',
    (args, context) => {
      const { list, item } = together(args)
      if (args.length === 1 && !isNullable(item)) return `list_unique(${list})`
      // which skips NULL
      if (args.length === 1) return once(context, list, (l) => `(list_unique(${l}) + CAST(list_count(${l}) < len(${l}) AS INTEGER))`)
      const i = context.fresh()
      return once(context, list, (l) => `len(list_filter(range(1, len(${l}) + 1), lambda ${i}: ${isFirst(l, i, scalar('Nothing', true))}))`)
    },
    [
      ['arrayUniq([1, 1, 2])', 2],
      ['arrayUniq([NULL, 1, NULL, 2])', 3],
      ['arrayUniq([toNullable(1), 1])', 1],
      ['arrayUniq([1, 1], [2, 3])', 2],
    ],
    { sideBySide: [0] },
  ),
  arrayFlatten: arrayRow('arrayFlatten', [1, 1], flatType, 'Flattens nested arrays into one.', ([a]) => flattened(a!), [
    ['arrayFlatten([[[1, 2]], [[3]]])', [1, 2, 3]],
    ['arrayFlatten([1, 2])', [1, 2]],
  ]),
  arrayIntersect: arrayRow(
    'arrayIntersect',
    [1, null],
    (types) => arrayOf(commonType(types.map(itemOf))),
    'Distinct items that are in all of the arrays, in no particular order.',
    ([a, ...others], context) => {
      const x = context.fresh()
      const hasNulls = [a!, ...others].every((array) => isNullable(itemOf(array.type)))
      const values = ({ sql }: Arg) => (hasNulls ? boxed(sql, context) : sql)
      const test = others.map((o) => `list_contains(${values(o)}, ${x})`).join(' AND ') || 'true'
      const found = `list_filter(${distinct(values(a!), hasNulls ? boxedType : itemOf(a!.type), context)}, lambda ${x}: ${test})`
      if (!hasNulls) return found
      const y = context.fresh()
      return `list_transform(${found}, lambda ${y}: ${y}.v)`
    },
    [
      ['arrayIntersect([1, 2, 3], [3, 2], [2, 3, 4])', [2, 3], { unordered: true }],
      ['arraySort(arrayIntersect([1, null, 2], [null, 2]))', [2, null]],
    ],
    {
      differences: [
        differing(
          'arrayIntersect([1, 2], [3], [2, 2])',
          [],
          [2],
          'ClickHouse counts an item that occurs twice in one array as if it were in two arrays',
        ),
      ],
    },
  ),
  arrayPopBack: arrayRow('arrayPopBack', [1, 1], sameAs(0), 'Removes the last item.', ([a]) => `list_slice(${a!.sql}, 1, -2)`, [
    ['arrayPopBack([1, 2])', [1]],
    ['arrayPopBack([1])', []],
  ]),
  arrayPopFront: arrayRow('arrayPopFront', [1, 1], sameAs(0), 'Removes the first item.', ([a]) => `list_slice(${a!.sql}, 2, -1)`, [
    ['arrayPopFront([1, 2])', [2]],
    ['arrayPopFront([1])', []],
  ]),
  arrayPushBack: arrayRow(
    'arrayPushBack',
    [2, 2],
    ([a, x]) => arrayOf(commonType([itemOf(a), x!])),
    'Appends an item at the end.',
    ([a, x], { type }) => `list_append(${castTo(a!, type)}, ${x!.sql})`,
    [['arrayPushBack([1], 2)', [1, 2]]],
  ),
  arrayPushFront: arrayRow(
    'arrayPushFront',
    [2, 2],
    ([a, x]) => arrayOf(commonType([itemOf(a), x!])),
    'Adds an item at the beginning.',
    ([a, x], { type }) => `list_prepend(${x!.sql}, ${castTo(a!, type)})`,
    [
      ['arrayPushFront([2], 1)', [1, 2]],
      ['arrayPushFront([2], NULL)', [null, 2]],
    ],
  ),
  arrayResize: arrayRow(
    'arrayResize',
    [2, 3],
    ([a, , fill]) => arrayOf(fill ? commonType([itemOf(a), fill]) : itemOf(a)),
    'Truncates or pads the array to a length; at the beginning if it is negative.',
    resized,
    [
      ['arrayResize([1, 2], 4)', [1, 2, 0, 0]],
      ['arrayResize([1, 2], 4, 9)', [1, 2, 9, 9]],
      ['arrayResize([1, 2, 3], -2)', [2, 3]],
      ['arrayResize([1, 2], -4)', [0, 0, 1, 2]],
      ['arrayResize([1, 2], 2.5)', [1, 2]],
      ['arrayResize([1, 2, 3], -2.5)', [2, 3]],
    ],
    { makes: resizedTo },
  ),
  arrayReverse: arrayRow('arrayReverse', [1, 1], sameAs(0), 'Reverses the array.', ([a]) => `list_reverse(${a!.sql})`, [
    ['arrayReverse([1, 2, 3])', [3, 2, 1]],
  ]),
  arrayRotateLeft: arrayRow(
    'arrayRotateLeft',
    [2, 2],
    sameAs(0),
    'Rotates the items to the left.',
    ([a, n], context) => rotated(a!, n!, '', context),
    [
      ['arrayRotateLeft([1, 2, 3], 1)', [2, 3, 1]],
      ['arrayRotateLeft([1, 2, 3], -1)', [3, 1, 2]],
    ],
  ),
  arrayRotateRight: arrayRow(
    'arrayRotateRight',
    [2, 2],
    sameAs(0),
    'Rotates the items to the right.',
    ([a, n], context) => rotated(a!, n!, '-', context),
    [['arrayRotateRight([1, 2, 3], 1)', [3, 1, 2]]],
  ),
  arraySlice: arrayRow(
    'arraySlice',
    [2, 3],
    sameAs(0),
    'A slice from a position, with a length. Negative values count from the end.',
    sliced,
    [
      ['arraySlice([1, 2, 3, 4], 2)', [2, 3, 4]],
      ['arraySlice([1, 2, 3, 4], 2, 2)', [2, 3]],
      ['arraySlice([1, 2, 3, 4], -2)', [3, 4]],
      ['arraySlice([1, 2, 3, 4], -3, 2)', [2, 3]],
      ['arraySlice([1, 2, 3, 4], 2, -1)', [2, 3]],
      ['arraySlice([1, 2, 3, 4], -3, -1)', [2, 3]],
      ['arraySlice([1, 2, 3], -5, 3)', [1]],
      ['arraySlice([1, 2, 3], 0, 2)', []],
      ['arraySlice([1, 2, 3], null, 2)', [1, 2]],
    ],
  ),
  arrayStringConcat: arrayRow(
    'arrayStringConcat',
    [1, 2],
    always('String'),
    'The items as text, one after the other with a separator; NULL is left out.',
    ([a, separator], context) => {
      const x = context.fresh()
      const texts = isNamed(itemOf(a!.type), 'String')
        ? a!.sql
        : `list_transform(${a!.sql}, lambda ${x}: ${toText({ sql: x, type: itemOf(a!.type) }, context)})`
      return unlessNull(separator ? [separator] : [], `array_to_string(${texts}, ${separator?.sql ?? "''"})`)
    },
    [
      ["arrayStringConcat(['a', 'b'], ',')", 'a,b'],
      ["arrayStringConcat([1, 2], '-')", '1-2'],
      ["arrayStringConcat(['a', NULL, 'b'], ',')", 'a,b'],
      ["arrayStringConcat(['a', 'b'])", 'ab'],
      ["arrayStringConcat(['a'], null)", null],
    ],
    { makes: joinedBy },
  ),
  arrayWithConstant: arrayRow(
    'arrayWithConstant',
    [2, 2],
    ([, x]) => arrayOf(x!),
    'An array of the given length that repeats one value.',
    ([n, x], context) => `list_transform(range(0, CAST(${n!.sql} AS BIGINT)), lambda ${context.fresh()}: ${x!.sql})`,
    [["arrayWithConstant(3, 'x')", ['x', 'x', 'x']]],
    { makes: counted((c) => c.times(c.value(0), c.plus(c.item(1), c.number(8)))), takes: ['integer', 'text'] },
  ),
  arrayZip: arrayRow(
    'arrayZip',
    [2, null],
    (types) => arrayOf(tupleOf(types.map(itemOf))),
    'Parallel arrays as one array of tuples.',
    (args) => together(args).list,
    [
      [
        "arrayZip([1, 2], ['a', 'b'])",
        [
          [1, 'a'],
          [2, 'b'],
        ],
      ],
    ],
    { makes: ({ args }) => times(2 * args.length), sideBySide: [0] },
  ),
  arrayAUC: arrayRow(
    'arrayAUC',
    [2, 2],
    always('Float64'),
    'Area under the curve of scores and labels.',
    ([a, b], context) => areaUnderCurve(a!, b!, context),
    [['arrayAUC([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])', 0.75]],
    { sideBySide: [0] },
  ),
  countEqual: arrayRow(
    'countEqual',
    [2, 2],
    always('UInt64'),
    'Number of occurrences of the value in the array.',
    ([a, x], context) => `len(${positions(a!, x!, context)})`,
    [
      ['countEqual([1, 2, 1], 1)', 2],
      ['countEqual([1, NULL, NULL], NULL)', 2],
    ],
  ),
  has: arrayRow(
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
      ["has([], 'a')", 0],
    ],
  ),
  hasAll: arrayRow(
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
  hasAny: arrayRow(
    'hasAny',
    [2, 2],
    always('Bool'),
    'Whether an item of the second array is in the first.',
    ([a, b], context) => containsAll(a!, b!, context, true),
    [
      ['hasAny([1, 2], [2, 5])', 1],
      ['hasAny([1, 2], [5])', 0],
    ],
    {
      differences: [differing('hasAny([NULL, 2], [0])', 0, 1, 'ClickHouse takes NULL among the items for the default of their type, too')],
    },
  ),
  hasSubstr: arrayRow(
    'hasSubstr',
    [2, 2],
    (types) => {
      checkBothSame('hasSubstr', types)
      return scalar('Bool')
    },
    'Whether the second array occurs in the first as a contiguous sequence.',
    ([a, b], context) => {
      const i = context.fresh()
      return once(
        context,
        `{'a': ${a!.sql}, 'b': ${b!.sql}}`,
        (s) => `(len(list_filter(range(1, len(${s}.a) - len(${s}.b) + 2), lambda ${i}: ${s}.a[${i}:${i} + len(${s}.b) - 1] = ${s}.b)) > 0)`,
      )
    },
    [
      ['hasSubstr([1, 2, 3, 4], [2, 3])', 1],
      ['hasSubstr([1, 2, 3, 4], [3, 2])', 0],
    ],
  ),
  indexOf: arrayRow(
    'indexOf',
    [2, 2],
    always('UInt64'),
    'The first position of the value, or 0.',
    ([a, x], context) => {
      if (!isNullable(x!.type)) return `coalesce(list_position(${a!.sql}, ${x!.sql}), 0)`
      const i = context.fresh()
      return once(
        context,
        a!.sql,
        (l) => `coalesce(list_filter(range(1, len(${l}) + 1), lambda ${i}: ${l}[${i}] IS NOT DISTINCT FROM ${x!.sql})[1], 0)`,
      )
    },
    [
      ['indexOf([1, 2, 2], 2)', 2],
      ['indexOf([1], 5)', 0],
      ['indexOf([1, NULL], NULL)', 2],
    ],
  ),
  range: arrayRow(
    'range',
    [1, 3],
    (types) => arrayOf(notNull(commonType(types))),
    'Numbers from 0 (or the first argument) up to, but not including, the second, with a step.',
    (args) => {
      const [from, to, step] = (args.length === 1 ? [null, args[0]!] : args).map((arg) => (arg ? `CAST(${arg.sql} AS BIGINT)` : '0'))
      return `range(${[from, to, ...(step === undefined ? [] : [step])].join(', ')})`
    },
    [
      ['range(3)', [0, 1, 2]],
      ['range(1, 4)', [1, 2, 3]],
      ['range(1, 10, 3)', [1, 4, 7]],
      ['range(5, 1, -2)', [5, 3]],
    ],
    { makes: numbersOf, takes: 'integer' },
  ),
})
