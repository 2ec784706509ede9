import { QueryError } from '../../../errors/errors.ts'
import {
  isFloat,
  isInteger,
  isNamed,
  isNullable,
  isNumeric,
  isText,
  isTime,
  nullable,
  type SqlType,
  scalar,
  unknownType,
} from '../../types/types.ts'
import { duckdbType } from '../cells/duckdb-types.ts'
import { asFloat, asNumber, hasFraction, onceAll, unlessNull } from '../cells/duckdb-values.ts'
import { clickHouseLocal } from '../cells/moment.ts'
import { isInterval, moved, movedType } from '../dates/intervals.ts'
import { mustBeConstant } from '../must-be-constant.ts'
import { type IntegerShape, integer, integerShape, nextWidth, whenAll } from '../results.ts'
import { type Arg, type CellContext, call, type Difference, differing, type FunctionRow, type SqlCell } from '../row.ts'
import { type ScalarSpec, scalars } from '../scalars.ts'

// Types widen as in ClickHouse (UInt8 + UInt8 is UInt16). DuckDB computes in 64 bits and reports an overflow where ClickHouse wraps around.

type Returns = FunctionRow['returns']

/** Digits behind the point. */
const scaleOf = (type: SqlType): number => (type.kind === 'scalar' && type.name === 'Decimal' ? (type.parameters?.[1] ?? 0) : 0)
const digitsOf = (type: SqlType): number => (type.kind === 'scalar' && type.name === 'Decimal' ? (type.parameters?.[0] ?? 38) : 0)
/** Decimals of one another, or of whole numbers; with a float they are floats. */
const isDecimal = (a: SqlType, b: SqlType): boolean =>
  (isNamed(a, 'Decimal') && (isNamed(b, 'Decimal') || isInteger(b))) || (isNamed(b, 'Decimal') && isInteger(a))
const decimalOf = (a: SqlType, b: SqlType, scale: number): SqlType => ({
  ...scalar('Decimal', isNullable(a) || isNullable(b)),
  parameters: [Math.max(digitsOf(a), digitsOf(b)), scale],
})
/** The scale of a quotient: that of the dividend, or of the divisor of a whole number. */
const scaleOfQuotient = (a: SqlType, b: SqlType): number => (isNamed(a, 'Decimal') ? scaleOf(a) : scaleOf(b))

/** The result type of an integer operation, from the widths and signs of both sides; with a float it is a float. */
const numeric =
  (ofIntegers: (a: IntegerShape, b: IntegerShape) => IntegerShape, decimalScale: (a: number, b: number) => number = Math.max): Returns =>
  ([a, b]) => {
    const mayBeNull = isNullable(a!) || isNullable(b!)
    const left = integerShape(a!)
    const right = integerShape(b!)
    if (left && right) return integer(ofIntegers(left, right), mayBeNull)
    if (isDecimal(a!, b!)) return decimalOf(a!, b!, decimalScale(scaleOf(a!), scaleOf(b!)))
    if (isNumeric(a!) && isNumeric(b!)) return scalar(isNamed(a!, 'Float32') && isNamed(b!, 'Float32') ? 'Float32' : 'Float64', mayBeNull)
    if (isNamed(a!, 'Nothing') || isNamed(b!, 'Nothing')) return scalar('Nothing', true)
    return unknownType
  }
const larger = (a: IntegerShape, b: IntegerShape) => (a.bits >= b.bits ? a.bits : b.bits)

const sum: Returns = ([a, b], context) => {
  const [time, other] = isTime(a!) ? [a!, b!] : [b!, a!]
  if (isTime(time)) return timePlus(time, other)
  if (isInterval(a!)) return a!
  return numeric((x, y) => ({ bits: nextWidth(larger(x, y)), signed: x.signed || y.signed }))([a!, b!], context)
}
const timePlus = (time: SqlType, other: SqlType): SqlType => {
  if (isText(other) || isTime(other)) {
    const expected = 'an interval or a number'
    throw new QueryError('wrong-type', {
      message: `A time is moved by ${expected}, not by ${isText(other) ? 'text' : 'another time'}`,
      expected,
    })
  }
  return isInterval(other) ? movedType(time, other) : isNullable(other) ? nullable(time) : time
}
/** Digits of a second; below 0 for times without. */
const fractionOf = (type: SqlType): number => (type.kind === 'scalar' && type.name === 'DateTime64' ? (type.parameters?.[0] ?? 6) : -1)
const difference: Returns = ([a, b], context) => {
  if (isTime(a!) && isTime(b!)) {
    const mayBeNull = isNullable(a!) || isNullable(b!)
    const digits = Math.max(fractionOf(a!), fractionOf(b!))
    return digits < 0 ? scalar('Int32', mayBeNull) : { ...scalar('Decimal', mayBeNull), parameters: [18, digits] }
  }
  if (isTime(a!)) return timePlus(a!, b!)
  if (isInterval(a!)) return a!
  return numeric((x, y) => ({ bits: nextWidth(larger(x, y)), signed: true }))([a!, b!], context)
}

/** A 64-bit operand makes DuckDB compute in 64 bits, a 128-bit operand in 128. */
const wide = (arg: Arg): string => {
  const shape = integerShape(arg.type)
  if (!shape) return asNumber(arg)
  if (shape.bits > 64) return `CAST(${arg.sql} AS HUGEINT)`
  return shape.bits === 64 ? arg.sql : `CAST(${arg.sql} AS BIGINT)`
}
const operator =
  (symbol: string): SqlCell =>
  ([a, b]) => {
    const isWhole = isInteger(a!.type) && isInteger(b!.type)
    // For two unsigned operands, DuckDB's difference must also be unsigned.
    if (symbol === '-' && isNamed(a!.type, 'UInt64') && isNamed(b!.type, 'UInt64')) return `(CAST(${a!.sql} AS HUGEINT) - ${b!.sql})`
    return isWhole ? `(${wide(a!)} ${symbol} ${wide(b!)})` : `(${asNumber(a!)} ${symbol} ${asNumber(b!)})`
  }

const additive =
  (symbol: '+' | '-'): SqlCell =>
  (args, context) => {
    const [a, b] = args as readonly [Arg, Arg]
    if (symbol === '-' && isTime(a.type) && isTime(b.type)) {
      if (isNamed(a.type, 'Date') && isNamed(b.type, 'Date')) return `(${a.sql} - ${b.sql})`
      const micros = `(epoch_us(CAST(${a.sql} AS TIMESTAMP)) - epoch_us(CAST(${b.sql} AS TIMESTAMP)))`
      return isNamed(context.type, 'Decimal') ? `CAST(${micros} / 1000000 AS ${duckdbType(context.type)})` : `(${micros} // 1000000)`
    }
    const [time, amount] = isTime(a.type) ? [a, b] : [b, a]
    if (!isTime(time.type)) return isInterval(a.type) ? `(${a.sql} ${symbol} ${b.sql})` : operator(symbol)(args, context)
    if (isInterval(amount.type)) return moved(time, symbol, amount.sql, amount.type, context)
    if (isNamed(time.type, 'Date')) return `(${time.sql} ${symbol} CAST(${amount.sql} AS INTEGER))`
    return `(${time.sql} ${symbol} to_seconds(CAST(${amount.sql} AS BIGINT)))`
  }

/** On ClickHouse a time is shifted on the calendar of its type's zone. */
const additiveOnClickHouse =
  (symbol: '+' | '-', name: string): SqlCell =>
  (args, context) => {
    const [a, b] = args as readonly [Arg, Arg]
    const [time, amount] = isTime(a.type) ? [a, b] : [b, a]
    return isTime(time.type) && isInterval(amount.type)
      ? `(${clickHouseLocal(time, context)} ${symbol} ${amount.sql})`
      : call(name)(args, context)
  }

/** A Boolean is a number there. */
const sqlOfNumbers =
  (name: string): SqlCell =>
  (args) =>
    `${name}(${args.map(asNumber).join(', ')})`

type OnZero = (context: CellContext) => string

/** In whole steps of the scale, as a float would lose digits. */
const decimalQuotient: SqlCell = ([a, b], context) => {
  const scale = scaleOf(context.type)
  const ofB = scaleOf(b!.type)
  const inSteps = (arg: Arg, by: number) => (by ? `CAST(${asNumber(arg)} * ${10 ** by} AS HUGEINT)` : `CAST(${asNumber(arg)} AS HUGEINT)`)
  const value = onceAll(context, [inSteps(a!, scale), inSteps(b!, ofB)], (x, y) => {
    const steps = `CAST((${ofB ? `${x} * ${10 ** ofB}` : x}) // ${y} AS DECIMAL(${38 - scale}, 0))`
    return `CASE WHEN ${y} = 0 THEN ${refuseZero(context)} ELSE ${scale ? `${steps} * ${(1 / 10 ** scale).toFixed(scale)}` : steps} END`
  })
  return `CAST(${unlessNull([a!], value)} AS ${duckdbType(context.type)})`
}

/** Division that rejects 0 as ClickHouse does. */
const checked =
  (body: (a: string, b: string) => string, onZero: OnZero): SqlCell =>
  ([a, b], context) => {
    if (typeof b!.constant === 'number' && b!.constant !== 0) return body(asNumber(a!), asNumber(b!))
    const result = onceAll(
      context,
      [asNumber(a!), asNumber(b!)],
      (x, y) => `CASE WHEN ${y} = 0 THEN ${onZero(context)} ELSE ${body(x, y)} END`,
    )
    return unlessNull([a!], result)
  }
const refuseZero: OnZero = (context) => context.refuse("'Division by zero'")
const becomeZero: OnZero = () => '0'
const quotient = (a: Arg, b: Arg) => (x: string, y: string) =>
  hasFraction(a.type) || hasFraction(b.type) ? `CAST(trunc(${x} / ${y}) AS BIGINT)` : `(${x} // ${y})`
const whole =
  (onZero: OnZero): SqlCell =>
  (args, context) =>
    checked(quotient(args[0]!, args[1]!), onZero)(args, context)
const remainder =
  (onZero: OnZero): SqlCell =>
  (args, context) => {
    const isReal = isFloat(args[0]!.type) || isFloat(args[1]!.type)
    return isReal
      ? onceAll(context, [asFloat(args[0]!), asFloat(args[1]!)], (x, y) => `(${x} - ${y} * trunc(${x} / ${y}))`)
      : checked((x, y) => `(${x} % ${y})`, onZero)(args, context)
  }

const quotientType = numeric((a, b) => ({ bits: a.bits, signed: a.signed || b.signed }))
const wholeQuotient: Returns = (types, context) => {
  const type = quotientType(types, context)
  return hasFraction(type) ? scalar('Int64', isNullable(type)) : type
}
const remainderType = numeric((a, b) => ({ bits: a.signed ? nextWidth(b.bits) : b.bits, signed: a.signed }))
const wider = (a: IntegerShape, b: IntegerShape): IntegerShape => ({ bits: nextWidth(larger(a, b)), signed: a.signed || b.signed })
const common = numeric(wider)

const decimalScale = (args: readonly Arg[]): number => {
  const given = args[2]?.constant
  return typeof given === 'number' ? given : Math.max(...args.slice(0, 2).map(({ type }) => scaleOf(type)))
}
const decimal: Returns = (types, { args }) => ({
  kind: 'scalar',
  name: 'Decimal',
  nullable: types.some(isNullable),
  parameters: [76, decimalScale(args)],
})
/** Truncated, not rounded, at the scale. */
const decimalCell =
  (symbol: '*' | '/'): SqlCell =>
  (args) => {
    mustBeConstant(args[2], 'The scale of a decimal')
    const scale = decimalScale(args)
    const exact = symbol === '*' ? `(${args[0]!.sql} * ${args[1]!.sql})` : `(CAST(${args[0]!.sql} AS DOUBLE) / ${args[1]!.sql})`
    return `CAST(trunc(${exact} * ${10 ** scale}) / ${10 ** scale} AS DECIMAL(38, ${scale}))`
  }

const binary = (
  summary: string,
  returns: Returns,
  duckdb: SqlCell,
  clickhouse: string | SqlCell,
  cases: FunctionRow['cases'],
  more: Partial<ScalarSpec> = {},
): ScalarSpec => ({
  args: 2,
  returns,
  summary,
  duckdb,
  clickhouse: typeof clickhouse === 'string' ? call(clickhouse) : clickhouse,
  cases,
  ...more,
})
/** With a wide unsigned operand, ClickHouse reads a narrow negative operand as a large number. */
const signedRemainder =
  (name: string): SqlCell =>
  ([a, b]) => {
    const [left, right] = [integerShape(a!.type), integerShape(b!.type)]
    const isMistaken = left?.signed && left.bits < 64 && right && !right.signed
    return `${name}(${isMistaken ? `toInt64(${a!.sql})` : a!.sql}, ${b!.sql})`
  }

/** ClickHouse wraps around at 64 bits. The same result here would need every sum in 128 bits, then truncation. */
export const beyond64Bits = (expression: string, clickhouse: unknown): Difference => ({
  expression,
  duckdb: { refused: 'out of range' },
  clickhouse: { value: clickhouse },
  reason: 'ClickHouse wraps around at 64 bits, DuckDB refuses the overflow',
})
export const beyond63Bits = (expression: string, clickhouse: unknown): Difference => ({
  ...beyond64Bits(expression, clickhouse),
  reason: 'DuckDB computes with signed 64-bit numbers, and refuses results that only unsigned ones can hold',
})

/** Next to an interval a property is a time, next to a time it is a number. */
const takesOfSum: FunctionRow['takes'] = (args) => args.map((_, i) => (isInterval(args[1 - i]!) ? 'time' : 'number'))
/** A property minus a time is a difference of times. */
const takesOfDifference: FunctionRow['takes'] = ([, b]) => [isInterval(b!) || isTime(b!) ? 'time' : 'number', 'number']

const addition = (
  summary: string,
  returns: Returns,
  symbol: '+' | '-',
  name: string,
  cases: FunctionRow['cases'],
  differences: readonly Difference[],
): ScalarSpec => ({
  ...binary(summary, returns, additive(symbol), name, cases, {
    differences,
    takes: symbol === '+' ? takesOfSum : takesOfDifference,
    alsoTakes: 'times and intervals',
  }),
  duckdb: additive(symbol),
  clickhouse: additiveOnClickHouse(symbol, name),
})

export const arithmeticFunctions = scalars({
  plus: addition(
    'The sum; a time plus an interval, or plus days (dates) or seconds.',
    sum,
    '+',
    'plus',
    [
      ['plus(1, 2)', 3],
      ['plus(255, 255)', 510],
      ['plus(100000, 2147483647)', 2147583647],
      ['plus(1, 1.5)', 2.5],
      ['plus(1, null)', null],
      ['plus(1 = 1, 1)', 2],
      ["plus(toDate('2024-01-31'), 1)", '2024-02-01'],
    ],
    [
      beyond64Bits('toInt(9223372036854775807) + 1', '-9223372036854775808'),
      beyond63Bits('9223372036854775807 + 1', '9223372036854775808'),
      differing(
        '18446744073709551615 + 1',
        '18446744073709551616',
        0,
        'DuckDB has wider numbers than 64 bits, ClickHouse wraps around to 0',
      ),
    ],
  ),
  minus: addition(
    'The difference; between two times in days (dates) or seconds.',
    difference,
    '-',
    'minus',
    [
      ['minus(1, 2)', -1],
      ['minus(1.5, 1)', 0.5],
      ["minus(toDate('2024-03-01'), toDate('2024-02-01'))", 29],
      ["minus(toDateTime('2024-01-02 00:00:00'), toDateTime('2024-01-01 00:00:00'))", 86400],
    ],
    [beyond64Bits('toInt(-9223372036854775807) - 2', '9223372036854775807')],
  ),
  multiply: binary(
    'The product.',
    numeric(wider, (a, b) => a + b),
    operator('*'),
    'multiply',
    [
      ['multiply(200, 200)', 40000],
      ['multiply(100000, 100000)', 10000000000],
      ['multiply(1.5, 2)', 3],
      ["toString(toDecimal('1.25', 2) * toDecimal('0.5', 1))", '0.625'],
    ],
    { differences: [beyond64Bits('toInt(9223372036854775807) * 2', -2)], alsoTakes: 'intervals' },
  ),
  divide: binary(
    'The quotient, a float; division by 0 gives inf or nan. Of decimals and whole numbers a decimal, cut at the scale of the dividend; it fails on 0.',
    (types, context) =>
      isDecimal(types[0]!, types[1]!)
        ? decimalOf(types[0]!, types[1]!, scaleOfQuotient(types[0]!, types[1]!))
        : whenAll('Float64')(types, context),
    (args, context) =>
      isDecimal(args[0]!.type, args[1]!.type) ? decimalQuotient(args, context) : `(${asFloat(args[0]!)} / ${asNumber(args[1]!)})`,
    'divide',
    [
      ['divide(1, 2)', 0.5],
      ['divide(6, 3)', 2],
      ['isInfinite(divide(1, 0))', 1],
      ['divide(null, 2)', null],
      ["toDecimal('10', 2) / 3", 3.33],
      ["toDecimal('-10', 2) / 3", -3.33],
      ["10 / toDecimal('3', 3)", 3.333],
      ["toDecimal('10', 4) / toDecimal('3', 2)", 3.3333],
      ["toDecimal('10', 2) / 4.0", 2.5],
      ["(toDateTime('2024-01-01 10:00:00') - toDateTime('2024-01-01 09:00:00')) / 7", 514.285714],
      ["select sum(x) / count() from (select arrayJoin([toDecimal('7.5', 2), toDecimal('1.25', 2)]) as x)", 4.37],
    ],
  ),
  intDiv: binary('Integer division; fails on division by 0.', wholeQuotient, whole(refuseZero), 'intDiv', [
    ['intDiv(7, 2)', 3],
    ['intDiv(-7, 2)', -3],
    ['intDiv(7.9, 2)', 3],
    ["intDiv(toDecimal('7.5', 2), 2)", 3],
  ]),
  intDivOrZero: binary('Like `intDiv`, but 0 if the divisor is 0.', wholeQuotient, whole(becomeZero), 'intDivOrZero', [
    ['intDivOrZero(7, 0)', 0],
    ['intDivOrZero(7, 2)', 3],
  ]),
  modulo: binary(
    'The remainder, with the sign of the dividend; fails on 0.',
    remainderType,
    remainder(refuseZero),
    signedRemainder('modulo'),
    [
      ['modulo(7, 2)', 1],
      ['modulo(-7, 2)', -1],
      ['modulo(7, -2)', 1],
      ['modulo(7.5, 2)', 1.5],
      ['modulo(-7.5, 2)', -1.5],
      ['modulo(-5, 65536)', -5],
    ],
  ),
  moduloOrZero: binary('Like `modulo`, but 0 if the divisor is 0.', remainderType, remainder(becomeZero), signedRemainder('moduloOrZero'), [
    ['moduloOrZero(7, 0)', 0],
    ['moduloOrZero(7, 4)', 3],
    ['moduloOrZero(null, 0)', null],
  ]),
  positiveModulo: binary(
    'The remainder, never negative.',
    numeric((_, b) => ({ bits: b.bits, signed: false })),
    (args, context) => onceAll(context, [asNumber(args[0]!), asNumber(args[1]!)], (x, y) => `((${x} % ${y} + abs(${y})) % abs(${y}))`),
    'positiveModulo',
    [
      ['positiveModulo(-7, 3)', 2],
      ['positiveModulo(7, 3)', 1],
    ],
  ),
  negate: {
    args: 1,
    alsoTakes: 'intervals',
    returns: ([x]) => {
      const shape = integerShape(x!)
      return shape ? integer({ bits: shape.signed ? shape.bits : nextWidth(shape.bits), signed: true }, isNullable(x!)) : x!
    },
    summary: 'Negates the number.',
    duckdb: ([x]) => `(-${isInteger(x!.type) ? wide(x!) : x!.sql})`,
    cases: [
      ['negate(5)', -5],
      ['negate(-1.5)', 1.5],
      ['negate(null)', null],
    ],
  },
  abs: {
    args: 1,
    caseInsensitive: true,
    returns: ([x]) => {
      const shape = integerShape(x!)
      return shape ? integer({ bits: shape.bits, signed: false }, isNullable(x!)) : x!
    },
    summary: 'The absolute value.',
    duckdb: ([x]) => `abs(${asNumber(x!)})`,
    cases: [
      ['abs(-5)', 5],
      ['abs(-1.5)', 1.5],
      ['ABS(null)', null],
    ],
  },
  gcd: binary('The greatest common divisor.', common, sqlOfNumbers('gcd'), 'gcd', [
    ['gcd(12, 18)', 6],
    ['gcd(12, true)', 1],
  ]),
  lcm: binary('The least common multiple.', common, sqlOfNumbers('lcm'), 'lcm', [['lcm(4, 6)', 12]]),
  max2: binary(
    'The greater of two numbers, as a float.',
    whenAll('Float64'),
    extreme('>'),
    'max2',
    [
      ['max2(1, 2)', 2],
      ['max2(-1.5, -2)', -1.5],
    ],
    { caseInsensitive: true },
  ),
  min2: binary(
    'The lesser of two numbers, as a float.',
    whenAll('Float64'),
    extreme('<'),
    'min2',
    [
      ['min2(1, 2)', 1],
      ['min2(1, null)', null],
    ],
    { caseInsensitive: true },
  ),
  divideDecimal: {
    args: [2, 3],
    returns: decimal,
    summary: 'The quotient of two decimals, truncated to a scale: the greater of both, or the third argument.',
    duckdb: decimalCell('/'),
    cases: [
      ['divideDecimal(toDecimal(10, 2), toDecimal(3, 2))', 3.33],
      ['divideDecimal(toDecimal(-12, 0), toDecimal(2.1, 1), 4)', -5.7142],
    ],
  },
  multiplyDecimal: {
    args: [2, 3],
    returns: decimal,
    summary: 'The product of two decimals, truncated to a scale: the greater of both, or the third argument.',
    duckdb: decimalCell('*'),
    cases: [['multiplyDecimal(toDecimal(1.5, 2), toDecimal(3, 2))', 4.5]],
  },
})

/** NULL if either side is: DuckDB's greatest() would skip it. */
function extreme(symbol: '<' | '>'): SqlCell {
  return ([a, b], context: CellContext) =>
    onceAll(context, [asFloat(a!), asFloat(b!)], (x, y) => `CASE WHEN ${x} ${symbol} ${y} THEN ${x} WHEN ${x} IS NOT NULL THEN ${y} END`)
}
