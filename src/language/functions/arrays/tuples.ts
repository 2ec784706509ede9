import { QueryError } from '../../../errors/errors.ts'
import { elementPosition, elementType, tupleIn } from '../../types/tuple-elements.ts'
import { arrayOf, isFloat, isNullable, type ScalarName, type SqlType, scalar, tupleOf, typeName, unknownType } from '../../types/types.ts'
import { asNumber, once } from '../cells/duckdb-values.ts'
import { checkBothSame, checkSameSize, commonType, integer, integerShape, itemOf, nextWidth } from '../results.ts'
import { type Arg, type Case, type CellContext, call, unsupported } from '../row.ts'
import { type ScalarSpec, scalars } from '../scalars.ts'

// Tuples are unnamed STRUCTs on DuckDB; their number of items is known when the statement is printed.

const itemsOf = (type: SqlType | undefined): readonly SqlType[] => (type?.kind === 'tuple' ? type.items : [])

const namesOf = (type: SqlType): readonly string[] | undefined => (type.kind === 'tuple' ? type.names : undefined)

/** The printed items of a tuple, inside an expression that evaluates the tuple once. */
function withItems(args: readonly Arg[], context: CellContext, body: (items: readonly (readonly Arg[])[]) => string): string {
  const open = (rest: readonly Arg[], done: readonly (readonly Arg[])[]): string => {
    const [first, ...others] = rest
    if (!first) return body(done)
    if (first.type.kind !== 'tuple') return open(others, [...done, [first]])
    if (first.items) return open(others, [...done, first.items])
    return once(context, first.sql, (name) =>
      open(others, [...done, itemsOf(first.type).map((type, i): Arg => ({ sql: `struct_extract_at(${name}, ${i + 1})`, type }))]),
    )
  }
  return open(args, [])
}

type Shape = (a: SqlType, b: SqlType) => SqlType
const grown: Shape = (a, b) => {
  const [left, right] = [integerShape(a), integerShape(b)]
  if (!left || !right) return scalar('Float64')
  return integer({ bits: nextWidth(left.bits > right.bits ? left.bits : right.bits), signed: left.signed || right.signed })
}
const signedGrown: Shape = (a, b) => {
  const type = grown(a, b)
  const shape = integerShape(type)
  return shape ? integer({ ...shape, signed: true }) : type
}
const float: Shape = () => scalar('Float64')

/** Element-wise: `{a}` and `{b}` are replaced by the items. The second argument may be one number for all items. */
const itemwise = (name: string, summary: string, shape: Shape, text: string, cases: readonly Case[]): ScalarSpec => ({
  args: 2,
  returns: ([a, b]) => {
    checkSameSize(name, [a!, b!])
    return tupleOf(itemsOf(a).map((item, i) => shape(item, b?.kind === 'tuple' ? (b.items[i] ?? unknownType) : (b ?? unknownType))))
  },
  summary,
  duckdb: (args, context) =>
    withItems(args, context, ([left, right]) => {
      const values = left!.map((a, i) => print(text, asNumber(a), asNumber(right![i] ?? right![0]!)))
      return `row(${values.join(', ')})`
    }),
  clickhouse: name,
  cases,
})
const print = (text: string, a: string, b: string): string => text.replace('{a}', () => a).replace('{b}', () => b)

const product = (args: readonly Arg[], context: CellContext): string => {
  if (args[0]!.type.kind === 'array') {
    const z = context.fresh()
    const pairs = `list_transform(list_zip(${args[0]!.sql}, ${args[1]!.sql}), lambda ${z}: struct_extract_at(${z}, 1) * struct_extract_at(${z}, 2))`
    return `coalesce(list_sum(${pairs}), 0)`
  }
  return withItems(args, context, ([a, b]) => `(${a!.map((x, i) => `${asNumber(x)} * ${asNumber(b![i]!)}`).join(' + ')})`)
}
const productType = (a: SqlType | undefined, b: SqlType | undefined): SqlType => {
  const [left, right] = a?.kind === 'array' ? [itemOf(a), itemOf(b)] : [commonType(itemsOf(a)), commonType(itemsOf(b))]
  const type = grown(left, right)
  const shape = integerShape(type)
  if (isFloat(type) || !shape) return type
  // A sum of several products needs the next wider type
  return a?.kind === 'array' ? type : scalar(`${shape.signed ? '' : 'U'}Int${nextWidth(shape.bits)}` as ScalarName)
}

/** The position of the element that a constant names, in a tuple or in the tuples of an array. */
const positionOf = (type: SqlType, key: Arg | undefined): number | null => {
  const tuple = tupleIn(type)
  const { constant } = key ?? {}
  if (!tuple || constant === undefined || constant === null || typeof constant === 'boolean') return null
  return elementPosition(tuple, typeof constant === 'bigint' ? Number(constant) : constant)
}

const element = (sql: string, type: SqlType, position: number, context: CellContext): string => {
  if (type.kind !== 'array') return `struct_extract_at(${sql}, ${position})`
  const tuple = context.fresh()
  return `list_transform(${sql}, lambda ${tuple}: ${element(tuple, type.item, position, context)})`
}

export const tupleFunctions = scalars({
  tuple: {
    args: [0, null],
    returns: (types) => tupleOf(types),
    summary: 'A tuple of the arguments; the same as `(a, b)`.',
    duckdb: call('row'),
    cases: [["tuple(1, 'a')", [1, 'a']]],
  },
  tupleElement: {
    args: [2, 3],
    returns: ([t, , other], { args }) => {
      const key = args[1]!
      const position = positionOf(t!, key)
      if (position !== null) return elementType(t!, position)!
      const tuple = tupleIn(t!)
      if (other ? !tuple || key.constant !== undefined : t!.kind === 'unknown') return other ?? unknownType
      if (tuple && key.constant !== undefined)
        throw new QueryError('unknown-field', { name: String(key.constant), candidates: tuple.names ?? [] })
      throw new QueryError('wrong-type', {
        message: tuple
          ? "'tupleElement' takes the position or the name of the element as a constant"
          : `'tupleElement' needs a tuple or an array of tuples, but got ${typeName(t!)}`,
        expected: tuple ? 'a constant' : 'a tuple',
      })
    },
    summary:
      'The element of a tuple at a position or by name; the third argument where there is none. Of an array of tuples, the array of the elements. The same as `t.1`.',
    duckdb: ([t, key, other], context) => {
      const position = positionOf(t!.type, key)
      if (position === null) return other?.sql ?? `struct_extract_at(${t!.sql}, ${key!.sql})`
      return t!.type.kind === 'tuple' && t!.items ? t!.items[position - 1]!.sql : element(t!.sql, t!.type, position, context)
    },
    clickhouse: ([t, key, other]) => {
      const position = positionOf(t!.type, key)
      return position === null ? (other?.sql ?? `tupleElement(${t!.sql}, ${key!.sql})`) : `tupleElement(${t!.sql}, ${position})`
    },
    cases: [
      ["tupleElement((1, 'a'), 2)", 'a'],
      ["tupleElement((1, 'a'), -1)", 'a'],
      ["(1, 'a').1", 1],
      ["tupleElement((1, 'a'), 5, 'z')", 'z'],
      ["tupleElement([(1, 'a')], 5, 'z')", 'z'],
      ["tupleElement(cast((1, 'a'), 'Tuple(a Int64, b String)'), 'b')", 'a'],
      ["cast((1, 'a'), 'Tuple(a Int64, b String)').b", 'a'],
      ["cast([(1, 'a')], 'Array(Tuple(a Int64, `the b` String))').`the b`", ['a']],
      ["cast((1, (2, 3)), 'Tuple(a Int64, b Tuple(c Int64, d Int64))').b.d", 3],
      ["[(1, 'a'), (2, 'b')].2", ['a', 'b']],
      ["[(1, 'a'), (2, 'b')][2].2", 'b'],
      ["[(1, 'a'), (2, 'b')].2[1]", 'a'],
      ["[[(1, 'a')], arraySlice([(1, 'a')], 2), [(2, 'b'), (3, 'c')]].2", [['a'], [], ['b', 'c']]],
      ['[(1, (2, 3)), (4, (5, 6))].2.1', [2, 5]],
      ['[(1, [(2, 3)]), (4, [(5, 6), (7, 8)])].2.1', [[2], [5, 7]]],
      ["map('a', [(2, 3)])['a'].2", [3]],
      ['[10, 20].1', 10],
      ['select g.2 from (select groupArray((number, toString(number))) as g from numbers(3))', ['0', '1', '2']],
      [
        'with g as (select groupArray((number, number + 1)) as list from numbers(3)) select arraySum(list.1) + arraySum(g.list.2) from g',
        9,
      ],
      ['select arraySum(x -> x * 2, (groupArray((number, 1)) as g).1) + arraySum(g.2) from numbers(3)', 9],
    ],
  },
  tuplePlus: itemwise('tuplePlus', 'The sums of the items.', grown, '{a} + {b}', [['tuplePlus((1, 2), (3, 4))', [4, 6]]]),
  tupleMinus: itemwise('tupleMinus', 'The differences of the items.', signedGrown, '{a} - {b}', [['tupleMinus((1, 2), (3, 1))', [-2, 1]]]),
  tupleMultiply: itemwise('tupleMultiply', 'The products of the items.', grown, '{a} * {b}', [['tupleMultiply((1, 2), (3, 4))', [3, 8]]]),
  tupleDivide: itemwise('tupleDivide', 'The quotients of the items.', float, 'CAST({a} AS DOUBLE) / {b}', [
    ['tupleDivide((1, 2), (2, 4))', [0.5, 0.5]],
  ]),
  tupleMultiplyByNumber: itemwise('tupleMultiplyByNumber', 'Every item times the number.', grown, '{a} * {b}', [
    ['tupleMultiplyByNumber((1, 2), 3)', [3, 6]],
  ]),
  tupleDivideByNumber: itemwise('tupleDivideByNumber', 'Every item divided by the number.', float, 'CAST({a} AS DOUBLE) / {b}', [
    ['tupleDivideByNumber((1, 2), 2)', [0.5, 1]],
  ]),
  tupleNegate: {
    args: 1,
    returns: ([t]) =>
      tupleOf(
        itemsOf(t).map((item) => {
          const shape = integerShape(item)
          return shape ? integer({ bits: shape.signed ? shape.bits : nextWidth(shape.bits), signed: true }) : item
        }),
      ),
    summary: 'Negates each item.',
    duckdb: (args, context) => withItems(args, context, ([items]) => `row(${items!.map((x) => `-${asNumber(x)}`).join(', ')})`),
    cases: [['tupleNegate((1, -2))', [-1, 2]]],
  },
  tupleHammingDistance: {
    args: 2,
    returns: (tuples) => {
      checkBothSame('tupleHammingDistance', tuples)
      return scalar(
        'UInt32',
        tuples.some((tuple) => itemsOf(tuple).some(isNullable)),
      )
    },
    summary: 'Number of positions at which two tuples differ; NULL if an item is NULL.',
    duckdb: (args, context) =>
      withItems(args, context, ([a, b]) => `(${a!.map((x, i) => `CAST(${x.sql} <> ${b![i]!.sql} AS INTEGER)`).join(' + ')})`),
    cases: [
      ['tupleHammingDistance((1, 2, 3), (1, 3, 3))', 1],
      ['tupleHammingDistance((1, null, 3), (1, 3, 3))', null],
    ],
  },
  tupleToNameValuePairs: {
    args: 1,
    returns: ([t]) => arrayOf(tupleOf([scalar('String'), commonType(itemsOf(t))])),
    summary: 'The items as pairs of their name (or position) and value.',
    duckdb: (args, context) => {
      const names = namesOf(args[0]!.type)
      return withItems(
        args,
        context,
        ([items]) => `[${items!.map((x, i) => `row(${context.literal(names?.[i] ?? String(i + 1))}, ${x.sql})`).join(', ')}]`,
      )
    },
    // The engine does not know names of elements.
    clickhouse: ([t], context) => {
      const [pairs, names] = [`tupleToNameValuePairs(${t!.sql})`, namesOf(t!.type)]
      return names ? `arrayZip([${names.map((name) => context.literal(name)).join(', ')}], tupleElement(${pairs}, 2))` : pairs
    },
    cases: [
      [
        "tupleToNameValuePairs(cast((1, 2), 'Tuple(a Int64, `the b` Int64)'))",
        [
          ['a', 1],
          ['the b', 2],
        ],
      ],
      [
        'tupleToNameValuePairs((1, 2))',
        [
          ['1', 1],
          ['2', 2],
        ],
      ],
    ],
  },
  dotProduct: {
    args: 2,
    sideBySide: [0],
    returns: ([a, b]) => {
      checkBothSame('dotProduct', [a!, b!])
      return productType(a, b)
    },
    summary: 'Dot product of two tuples or arrays.',
    duckdb: product,
    cases: [
      ['dotProduct((1, 2), (3, 4))', 11],
      ['dotProduct([1.5, 2], [3, 4])', 12.5],
    ],
    differences: [
      {
        expression: 'dotProduct([1, null], [3, 4])',
        duckdb: { value: 3 },
        clickhouse: { refused: 'cannot process values of type Nullable' },
        reason: 'ClickHouse has no product of arrays whose items may be NULL; DuckDB skips NULL',
      },
    ],
  },
  untuple: {
    args: 1,
    returns: () => unknownType,
    summary: 'The items of a tuple as columns.',
    duckdb: unsupported('a call answers one column; name the items one by one with `t.1`, `t.2`'),
    clickhouse: unsupported('a call answers one column; name the items one by one with `t.1`, `t.2`'),
    cases: [],
  },
})
