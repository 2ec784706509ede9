import { isFloat, isInteger, isNamed, isNullable, nullable, type SqlType, scalar } from '../../types/types.ts'
import { duckdbType } from '../cells/duckdb-types.ts'
import { asFloat, asNumber, once, onceAll } from '../cells/duckdb-values.ts'
import { integerShape, whenAll } from '../results.ts'
import { type Arg, type Case, type CellContext, differing, type FunctionRow, type SqlCell } from '../row.ts'
import { type ScalarSpec, scalars } from '../scalars.ts'

// Rounding keeps the type. round() goes half to even for floats and away from zero for whole numbers and decimals.

const sameType: FunctionRow['returns'] = ([x, digits]) => {
  const type: SqlType = isNamed(x!, 'Bool') ? scalar('UInt8', isNullable(x!)) : x!
  return digits && isNullable(digits) ? nullable(type) : type
}
const digitsOf = (digits: Arg | undefined): string => (digits ? `CAST(${digits.sql} AS INTEGER)` : '0')
/** No digits after the decimal point are cut: an integer stays unchanged. */
const keepsWhole = (x: Arg, digits: Arg | undefined): boolean =>
  isInteger(x.type) && (digits === undefined || (typeof digits.constant === 'number' && digits.constant >= 0))
const typed = (sql: string, { type }: Arg): string => {
  const { signed, bits } = integerShape(type) ?? { signed: true, bits: 64 }
  return bits > 64 ? sql : `CAST(${sql} AS ${duckdbType(scalar(signed ? 'Int64' : 'UInt64'))})`
}

type Rounding = 'ceil' | 'floor' | 'trunc' | 'roundBankers'

/** To a multiple of `step`; `%` truncates towards zero. */
const wholes: Readonly<Record<Rounding, (v: string, step: string) => string>> = {
  trunc: (v, step) => `(${v} - ${v} % ${step})`,
  floor: (v, step) => `(${v} - (${v} % ${step} + ${step}) % ${step})`,
  ceil: (v, step) => `(${v} + (${step} - ${v} % ${step}) % ${step})`,
  roundBankers: (v, step) => {
    const [rest, other] = [`abs(${v} % ${step})`, `(${step} - abs(${v} % ${step}))`]
    const isUp = `${rest} > ${other} OR (${rest} = ${other} AND (${v} // ${step}) % 2 <> 0)`
    return `(${v} - ${v} % ${step} + CASE WHEN ${isUp} THEN sign(${v}) * ${step} ELSE 0 END)`
  },
}
/** The most digits that a number can have. */
const mostDigits = 38
const stepOf = ({ sql, constant }: Arg): string => {
  const zeros = typeof constant === 'number' ? String(Math.min(-constant, mostDigits)) : `least(greatest(-(${sql}), 0), ${mostDigits})`
  return `CAST(rpad('1', CAST(${zeros} AS INTEGER) + 1, '0') AS HUGEINT)`
}
/** For integers, which a float cannot represent beyond 53 bits. */
const ofWholes = (name: Rounding, x: Arg, digits: Arg, context: CellContext): string =>
  onceAll(context, [`CAST(${asNumber(x)} AS HUGEINT)`, stepOf(digits)], (v, step) => typed(wholes[name](v, step), x))

/** DuckDB's ceil() and floor() take no digits. */
const scaled =
  (name: 'ceil' | 'floor'): SqlCell =>
  ([x, digits], context) => {
    if (keepsWhole(x!, digits)) return asNumber(x!)
    if (!digits) return `${name}(${x!.sql})`
    if (isInteger(x!.type)) return ofWholes(name, x!, digits, context)
    return onceAll(context, [asFloat(x!), `pow(10.0, ${digits.sql})`], (v, scale) => `(${name}(${v} * ${scale}) / ${scale})`)
  }

/** Computed in floats by DuckDB. */
const onFloats =
  (name: Rounding, engine: string): SqlCell =>
  ([x, digits], context) => {
    if (keepsWhole(x!, digits)) return asNumber(x!)
    return isInteger(x!.type) ? ofWholes(name, x!, digits!, context) : `${engine}(${asFloat(x!)}, ${digitsOf(digits)})`
  }

const rounding = (summary: string, duckdb: SqlCell, cases: readonly Case[], more: Partial<ScalarSpec> = {}): ScalarSpec => ({
  args: [1, 2],
  returns: sameType,
  summary: `${summary}; a second argument rounds to that many digits after (if negative: before) the decimal point.`,
  duckdb,
  cases,
  ...more,
})

/** The largest step that is at most the number, in the given order. */
const steps = (x: string, pairs: readonly (readonly [least: number, answer: number])[], otherwise: string): string =>
  `CASE ${pairs.map(([least, answer]) => `WHEN ${x} >= ${least} THEN ${answer}`).join(' ')} WHEN ${x} IS NOT NULL THEN ${otherwise} END`
const durations = [36000, 18000, 7200, 3600, 1800, 1200, 600, 300, 240, 180, 120, 60, 30, 10, 1].map((n) => [n, n] as const)

export const roundingFunctions = scalars({
  round: rounding(
    'The nearest integer',
    ([x, digits], context) => {
      if (keepsWhole(x!, digits)) return asNumber(x!)
      // With digits below 0 the engine makes 0 of what is not finite.
      if (isFloat(x!.type) && digits && !(typeof digits.constant === 'number' && digits.constant >= 0))
        return once(context, x!.sql, (v) => `CASE WHEN isfinite(${v}) THEN round_even(${v}, ${digitsOf(digits)}) ELSE ${v} END`)
      return isFloat(x!.type) ? `round_even(${x!.sql}, ${digitsOf(digits)})` : `round(${asNumber(x!)}, ${digitsOf(digits)})`
    },
    [
      ['round(2.5)', 2],
      ['round(3.5)', 4],
      ['round(-2.5)', -2],
      ['round(1.25, 1)', 1.2],
      ['round(2.675, 2)', 2.68],
      ['round(1234.5678, 2)', 1234.57],
      ['round(25, -1)', 30],
      ['isNaN(round(nan, -1))', 1],
      ['isInfinite(round(inf, -1))', 1],
      ['round(-25, -1)', -30],
      ['round(5)', 5],
      ['round(null)', null],
    ],
    { caseInsensitive: true },
  ),
  roundBankers: rounding('The nearest integer, halves to even', onFloats('roundBankers', 'round_even'), [
    ['roundBankers(2.5)', 2],
    ['roundBankers(25, -1)', 20],
    ['roundBankers(35, -1)', 40],
    ['roundBankers(-25, -1)', -20],
    ['roundBankers(1234567890123456500, -3)', '1234567890123456000'],
  ]),
  floor: rounding(
    'The largest integer not above the number',
    scaled('floor'),
    [
      ['floor(2.7)', 2],
      ['floor(-2.5)', -3],
      ['floor(-2.55, 1)', -2.6],
      ['floor(123, -1)', 120],
      ['floor(-1234, -1)', -1240],
      ['floor(-1234567890123456789, -3)', '-1234567890123457000'],
      ['select floor(1234567890123456789, d) from (select -3 as d)', '1234567890123456000'],
      ["toString(floor(CAST('123456789012345678901234567890' AS UInt128), -3))", '123456789012345678901234567000'],
      ['select floor(9007199254740993, d) from (select 3 as d)', '9007199254740993'],
    ],
    { caseInsensitive: true },
  ),
  ceil: rounding(
    'The smallest integer not below the number',
    scaled('ceil'),
    [
      ['ceil(2.1)', 3],
      ['ceil(2.11, 1)', 2.2],
      ['ceil(123, -1)', 130],
      ['ceil(1234567890123456789, -3)', '1234567890123457000'],
      ['ceil(-1234567890123456789, -3)', '-1234567890123456000'],
    ],
    {
      caseInsensitive: true,
      differences: [
        differing('ceil(200, -2)', 200, 0, 'ClickHouse rounds in the type of the number, and wraps around where a step does not fit'),
      ],
    },
  ),
  trunc: rounding(
    'The number truncated towards zero',
    onFloats('trunc', 'trunc'),
    [
      ['trunc(-2.7)', -2],
      ['trunc(2.77, 1)', 2.7],
      ['trunc(127, -1)', 120],
      ['trunc(-1234567890123456789, -3)', '-1234567890123456000'],
    ],
    { caseInsensitive: true },
  ),
  roundToExp2: {
    args: 1,
    returns: sameType,
    summary: 'Rounds down to a power of two; 0 for integers below 1.',
    duckdb: ([x], context) =>
      once(context, asNumber(x!), (v) => {
        const power = `pow(2.0, floor(log2(abs(${v}))))`
        return isFloat(x!.type)
          ? `CASE WHEN ${v} = 0 THEN 0 ELSE sign(${v}) * ${power} END`
          : `CASE WHEN ${v} <= 0 THEN 0 ELSE CAST(${power} AS BIGINT) END`
      }),
    cases: [
      ['roundToExp2(5)', 4],
      ['roundToExp2(0)', 0],
      ['roundToExp2(-5)', 0],
      ['roundToExp2(0.3)', 0.25],
    ],
  },
  roundDown: {
    args: 2,
    takes: ['number', 'array'],
    returns: ([x]) => x!,
    summary: 'Rounds down to an item of an array, or up to its smallest item.',
    duckdb: ([x, list], context) =>
      onceAll(context, [asNumber(x!), list!.sql], (v, l) => {
        const n = context.fresh()
        return `CASE WHEN ${v} IS NOT NULL THEN coalesce(list_max(list_filter(${l}, lambda ${n}: ${n} <= ${v})), list_min(${l})) END`
      }),
    cases: [
      ['roundDown(5, [3, 4, 6])', 4],
      ['roundDown(2, [3, 4, 6])', 3],
    ],
  },
  roundAge: {
    args: 1,
    returns: whenAll('UInt8'),
    summary: 'Rounds an age down to the start of its group: 0, 17, 18, 25, 35, 45, 55.',
    duckdb: ([x], context) =>
      once(context, asNumber(x!), (v) =>
        steps(
          v,
          [
            [55, 55],
            [45, 45],
            [35, 35],
            [25, 25],
            [18, 18],
            [1, 17],
          ],
          '0',
        ),
      ),
    cases: [
      ['roundAge(0)', 0],
      ['roundAge(5)', 17],
      ['roundAge(36)', 35],
      ['roundAge(99)', 55],
    ],
  },
  roundDuration: {
    args: 1,
    returns: whenAll('UInt16'),
    summary: 'Rounds seconds down to the start of their group, up to 36000.',
    duckdb: ([x], context) => once(context, asNumber(x!), (v) => steps(v, durations, '0')),
    cases: [
      ['roundDuration(9)', 1],
      ['roundDuration(70)', 60],
      ['roundDuration(40000)', 36000],
    ],
  },
})
