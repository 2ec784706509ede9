import { arrayOf, isFloat, isNullable, scalar, unknownType } from '../../types/types.ts'
import { asInteger, asNumber, floatBits, once, unlessNull } from '../cells/duckdb-values.ts'
import { type IntegerShape, integer, integerShape, whenAll } from '../results.ts'
import { type Arg, type Case, type CellContext, type FunctionRow, type SqlCell, unsupported } from '../row.ts'
import { type ScalarSpec, scalars } from '../scalars.ts'

// Bits of integers. ClickHouse works in the width of the type and drops bits that are shifted out; here DuckDB computes in 128 bits and truncates.

const shapeOf = (type: Arg['type']): IntegerShape => integerShape(type) ?? { bits: 64, signed: true }
const wider: FunctionRow['returns'] = ([a, b]) => {
  const [x, y] = [integerShape(a!), integerShape(b!)]
  const mayBeNull = isNullable(a!) || isNullable(b!)
  return x && y ? integer({ bits: x.bits >= y.bits ? x.bits : y.bits, signed: x.signed || y.signed }, mayBeNull) : unknownType
}
const ofFirst: FunctionRow['returns'] = ([a, b]) => (isNullable(b ?? a!) ? { ...integer(shapeOf(a!)), nullable: true } : a!)

const mask = (bits: number): string => `CAST(${(1n << BigInt(bits)) - 1n} AS HUGEINT)`
/** The bits of a number as a nonnegative number, in its own width or a wider one. */
const bitsOf = (arg: Arg, { bits } = shapeOf(arg.type)): string => `(CAST(${asNumber(arg)} AS HUGEINT) & ${mask(bits)})`
/** Bits as a number of a given width and sign. */
const numberOf = (bits: string, { bits: width, signed }: IntegerShape): string => {
  const cut = `(${bits} & ${mask(width)})`
  if (!signed) return `CAST(${cut} AS UBIGINT)`
  const half = 1n << BigInt(width - 1)
  return `CAST(xor(${cut}, CAST(${half} AS HUGEINT)) - CAST(${half} AS HUGEINT) AS BIGINT)`
}

/** A float has the bits of its whole part, and beyond 64 bits those of the smallest number. */
const distanceBits = (arg: Arg, context: CellContext): string => {
  if (!isFloat(arg.type)) return bitsOf(arg, in64Bits)
  const least = '-9223372036854775808'
  return once(
    context,
    arg.sql,
    (v) => `(CASE WHEN ${v} IS NOT NULL THEN CAST(coalesce(TRY_CAST(trunc(${v}) AS BIGINT), ${least}) AS HUGEINT) & ${mask(64)} END)`,
  )
}
const in64Bits: IntegerShape = { bits: 64, signed: false }
const binary = (summary: string, body: (a: string, b: string) => string, cases: readonly Case[]): ScalarSpec => ({
  args: 2,
  returns: wider,
  summary,
  duckdb: ([a, b], { type }) => {
    const shape = shapeOf(type)
    // BIGINT can hold the result unless an unsigned operand is as wide as the result.
    const isCut = [a!, b!].some((arg) => {
      const { bits, signed } = shapeOf(arg.type)
      return !signed && bits === shape.bits && (shape.signed || bits === 64)
    })
    return isCut ? numberOf(body(bitsOf(a!, shape), bitsOf(b!, shape)), shape) : body(asInteger(a!), asInteger(b!))
  },
  cases,
})

const powerOfTwo = (exponent: string): string => `CAST(pow(2.0, ${exponent}) AS UHUGEINT)`
const shiftedLeft = (bits: string, by: string): string =>
  `CAST((CAST(${bits} AS UHUGEINT) * ${powerOfTwo(by)}) % CAST(${1n << 64n} AS UHUGEINT) AS HUGEINT)`
const shiftedRight = (bits: string, by: string): string => `CAST(CAST(${bits} AS UHUGEINT) // ${powerOfTwo(by)} AS HUGEINT)`
/** Towards the smaller number, in whole numbers: a float would lose the last bits. */
const shiftedDown = (x: Arg, by: string): string => {
  const divided = (bits: string) => `CAST(${bits} // CAST(pow(2.0, ${by}) AS HUGEINT) AS HUGEINT)`
  const { signed } = shapeOf(x.type)
  if (!signed) return `CAST(${divided(bitsOf(x))} AS UBIGINT)`
  const number = `CAST(${asInteger(x)} AS HUGEINT)`
  return `CAST(CASE WHEN ${number} < 0 THEN -1 - ${divided(`(-1 - ${number})`)} ELSE ${divided(number)} END AS BIGINT)`
}
const rotate =
  (isLeft: boolean): SqlCell =>
  ([x, by], { type }) => {
    const shape = shapeOf(type)
    const bits = bitsOf(x!, shape)
    const n = `(((${asInteger(by!)} % ${shape.bits}) + ${shape.bits}) % ${shape.bits})`
    const [left, right] = isLeft ? [n, `(${shape.bits} - ${n})`] : [`(${shape.bits} - ${n})`, n]
    return numberOf(
      `(${shiftedLeft(bits, `(${left} % ${shape.bits})`)} | CASE WHEN ${n} = 0 THEN 0 ELSE ${shiftedRight(bits, right)} END)`,
      shape,
    )
  }
function test(x: Arg, bitNumber: Arg): string {
  const { bits, signed } = shapeOf(x.type)
  const at = typeof bitNumber.constant === 'number' && Number.isInteger(bitNumber.constant) ? bitNumber.constant : -1
  // One step if BIGINT can hold the number and the bit.
  if (at >= 0 && at < Math.min(bits, 63) && bits <= 64 && (signed || bits < 64)) return `((${asInteger(x)} & ${1n << BigInt(at)}) <> 0)`
  return `((${shiftedRight(bitsOf(x), `least(${asInteger(bitNumber)}, 127)`)} & 1) = 1)`
}
const tests =
  (operator: 'AND' | 'OR'): SqlCell =>
  ([x, ...bitNumbers]) =>
    [x!, ...bitNumbers].some((arg) => isNullable(arg.type))
      ? `CASE WHEN ${[x!, ...bitNumbers].map((arg) => `${arg.sql} IS NOT NULL`).join(' AND ')} THEN ${bitNumbers.map((bitNumber) => test(x!, bitNumber)).join(` ${operator} `)} END`
      : `(${bitNumbers.map((bitNumber) => test(x!, bitNumber)).join(` ${operator} `)})`

const bitmapReason = 'DuckDB has no bitmaps; arrays answer the same questions there'
const bitmap = (args: number, returns: FunctionRow['returns'], summary: string, cases: readonly Case[]): ScalarSpec => ({
  args,
  returns,
  summary,
  duckdb: unsupported(bitmapReason),
  cases,
})
const bitmapState: FunctionRow['returns'] = (args) => ({
  kind: 'state',
  aggregate: 'groupBitmap',
  args: [scalar('UInt64'), ...args].slice(0, 1),
})
const count: FunctionRow['returns'] = () => scalar('UInt64')
const flag: FunctionRow['returns'] = () => scalar('Bool')
const [left, right] = ['bitmapBuild([1, 2, 3])', 'bitmapBuild([2, 3, 4])']
const both = (name: string, summary: string, list: readonly number[]): Record<string, ScalarSpec> => ({
  [name]: bitmap(2, bitmapState, `The bitmap of the numbers in ${summary}.`, [[`bitmapToArray(${name}(${left}, ${right}))`, list]]),
  [`${name}Cardinality`]: bitmap(2, count, `How many numbers are in ${summary}.`, [[`${name}Cardinality(${left}, ${right})`, list.length]]),
})

export const bitFunctions = scalars({
  bitAnd: binary('Bitwise AND.', (a, b) => `(${a} & ${b})`, [
    ['bitAnd(6, 3)', 2],
    ['bitAnd(-1, 3)', 3],
    ['bitAnd(-1, 4294967296)', 4294967296],
    ['bitAnd(-1, 255)', -1],
    ['bitAnd(-1, 200)', -56],
    ['bitAnd(null, 1)', null],
  ]),
  bitOr: binary('Bitwise OR.', (a, b) => `(${a} | ${b})`, [['bitOr(6, 3)', 7]]),
  bitXor: binary('Bitwise XOR.', (a, b) => `xor(${a}, ${b})`, [['bitXor(6, 3)', 5]]),
  bitNot: {
    args: 1,
    returns: ([x]) => x!,
    summary: 'Bitwise NOT.',
    duckdb: ([x]) => {
      const shape = shapeOf(x!.type)
      return shape.signed ? `(~${asInteger(x!)})` : `CAST(${mask(shape.bits)} - ${bitsOf(x!)} AS UBIGINT)`
    },
    cases: [
      ['bitNot(5)', 250],
      ['bitNot(-5)', 4],
    ],
  },
  bitShiftLeft: {
    args: 2,
    returns: ofFirst,
    summary: 'Shifts the bits left; bits beyond the width of the type are lost.',
    duckdb: ([x, by]) => {
      const shape = shapeOf(x!.type)
      const moved = `CASE WHEN ${by!.sql} >= ${shape.bits} THEN 0 ELSE ${numberOf(shiftedLeft(bitsOf(x!), asInteger(by!)), shape)} END`
      return unlessNull([x!], moved)
    },
    cases: [
      ['bitShiftLeft(1, 3)', 8],
      ['bitShiftLeft(255, 1)', 254],
      ['bitShiftLeft(1, 8)', 0],
      ['bitShiftLeft(null, 8)', null],
    ],
  },
  bitShiftRight: {
    args: 2,
    returns: ofFirst,
    summary: 'Shifts the bits right.',
    duckdb: ([x, by]) =>
      unlessNull([x!], `CASE WHEN ${asNumber(by!)} >= ${shapeOf(x!.type).bits} THEN 0 ELSE ${shiftedDown(x!, asNumber(by!))} END`),
    cases: [
      ['bitShiftRight(8, 2)', 2],
      ['bitShiftRight(-8, 1)', -4],
      ['bitShiftRight(-8, 8)', 0],
      ['bitShiftRight(-9007199254740993, 2)', -2251799813685249],
      ['bitShiftRight(9007199254740993, 1)', 4503599627370496],
      ['bitShiftRight(18446744073709551615, 1)', '9223372036854775807'],
      ['bitShiftRight(8, true)', 4],
      ['bitShiftRight(null, 8)', null],
    ],
  },
  bitRotateLeft: {
    args: 2,
    returns: wider,
    summary: 'Rotates the bits left.',
    duckdb: rotate(true),
    cases: [
      ['bitRotateLeft(3, 1)', 6],
      ['bitRotateLeft(129, 1)', 3],
      ['bitRotateLeft(129, -1)', -64],
      ['bitRotateLeft(129, 1000)', 33024],
      ['bitRotateLeft(-3, 1000)', -513],
    ],
  },
  bitRotateRight: {
    args: 2,
    returns: wider,
    summary: 'Rotates the bits right.',
    duckdb: rotate(false),
    cases: [
      ['bitRotateRight(3, 1)', 129],
      ['bitRotateRight(129, 257)', 32832],
    ],
  },
  bitTest: {
    args: 2,
    returns: whenAll('Bool'),
    summary: 'Whether the bit at a position (from 0) is set.',
    duckdb: ([x, bitNumber]) => unlessNull([x!, bitNumber!], test(x!, bitNumber!)),
    cases: [
      ['bitTest(5, null)', null],
      ['bitTest(5, 0)', 1],
      ['bitTest(5, 1)', 0],
      ['bitTest(-1, 5)', 1],
      ['select bitTest(x, 31) from (select arrayJoin([-1::Int32]) as x)', 1],
      ['select bitTest(x, 62) from (select arrayJoin([toInt64(4611686018427387904)]) as x)', 1],
      ['select bitTest(x, 63) from (select arrayJoin([-1::Int64]) as x)', 1],
      ['bitTest(18446744073709551615, 63)', 1],
      ['bitTest(4294967295, 31)', 1],
    ],
  },
  bitTestAll: {
    args: [3, null],
    returns: whenAll('Bool'),
    summary: 'Whether the bits at all positions are set.',
    duckdb: tests('AND'),
    cases: [
      ['bitTestAll(5, 0, 2)', 1],
      ['bitTestAll(5, 0, 1)', 0],
    ],
  },
  bitTestAny: {
    args: [3, null],
    returns: whenAll('Bool'),
    summary: 'Whether the bit at any position is set.',
    duckdb: tests('OR'),
    cases: [
      ['bitTestAny(5, 1, 2)', 1],
      ['bitTestAny(5, 1, 3)', 0],
    ],
  },
  bitCount: {
    args: 1,
    returns: whenAll('UInt8'),
    summary: 'Number of set bits.',
    duckdb: ([x]) => `bit_count(${isFloat(x!.type) ? floatBits(x!) : bitsOf(x!)})`,
    cases: [
      ['bitCount(255)', 8],
      ['bitCount(-1)', 8],
      ['bitCount(-2.5)', 3],
    ],
  },
  bitHammingDistance: {
    args: 2,
    returns: whenAll('UInt8'),
    summary: 'Number of differing bits.',
    duckdb: ([a, b], context) => `bit_count(xor(${distanceBits(a!, context)}, ${distanceBits(b!, context)}))`,
    cases: [
      ['bitHammingDistance(5, 3)', 2],
      ['bitHammingDistance(-1, 255)', 56],
      ['bitHammingDistance(1.5, 3)', 1],
      ['bitHammingDistance(5, inf)', 3],
    ],
  },
  bitSlice: {
    args: 3,
    returns: whenAll('String'),
    summary: 'Bits of a text from a position (1 is the first), as a text.',
    duckdb: unsupported('a text of DuckDB cannot end inside of a byte'),
    cases: [["bitSlice('abc', 1, 8)", 'a']],
  },
})

export const bitmapFunctions = scalars({
  bitmapBuild: bitmap(1, bitmapState, 'The bitmap of an array of whole numbers.', [['bitmapCardinality(bitmapBuild([1, 2, 2]))', 2]]),
  bitmapToArray: bitmap(1, () => arrayOf(scalar('UInt64')), 'The numbers of a bitmap.', [['bitmapToArray(bitmapBuild([1, 3]))', [1, 3]]]),
  bitmapCardinality: bitmap(1, count, 'Number of items in a bitmap.', [['bitmapCardinality(bitmapBuild([1, 2]))', 2]]),
  bitmapContains: bitmap(2, flag, 'Whether a number is in a bitmap.', [['bitmapContains(bitmapBuild([1, 2]), 2)', 1]]),
  bitmapHasAny: bitmap(2, flag, 'Whether two bitmaps share a number.', [[`bitmapHasAny(${left}, ${right})`, 1]]),
  bitmapHasAll: bitmap(2, flag, 'Whether the first bitmap has all numbers of the second.', [[`bitmapHasAll(${left}, ${right})`, 0]]),
  bitmapMin: bitmap(1, count, 'The smallest number of a bitmap.', [[`bitmapMin(${left})`, 1]]),
  bitmapMax: bitmap(1, count, 'The biggest number of a bitmap.', [[`bitmapMax(${left})`, 3]]),
  ...both('bitmapAnd', 'both', [2, 3]),
  ...both('bitmapOr', 'either', [1, 2, 3, 4]),
  ...both('bitmapXor', 'one of the two only', [1, 4]),
  ...both('bitmapAndnot', 'the first but not in the second', [1]),
  bitmapSubsetInRange: bitmap(3, bitmapState, 'The numbers of a bitmap from one number to before another.', [
    [`bitmapToArray(bitmapSubsetInRange(${left}, 2, 9))`, [2, 3]],
  ]),
  bitmapSubsetLimit: bitmap(3, bitmapState, 'Up to a number of items of a bitmap, starting at a value.', [
    [`bitmapToArray(bitmapSubsetLimit(${left}, 2, 1))`, [2]],
  ]),
  subBitmap: bitmap(3, bitmapState, 'Up to a number of items of a bitmap, starting at a position (0 is the first).', [
    [`bitmapToArray(subBitmap(${left}, 1, 2))`, [2, 3]],
  ]),
  bitmapTransform: bitmap(3, bitmapState, 'A bitmap with numbers of one array replaced by those of another.', [
    [`bitmapToArray(bitmapTransform(${left}, [1], [9]))`, [2, 3, 9]],
  ]),
})
