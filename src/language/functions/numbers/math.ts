import { isFloat, isInteger, isNullable, scalar } from '../../types/types.ts'
import { asFloat, asInteger, asNumber, nan, once, onceAll, unlessNull } from '../cells/duckdb-values.ts'
import { always, whenAll } from '../results.ts'
import { type Arg, type Case, type Cell, type CellContext, type SqlCell, unsupported } from '../row.ts'
import { type ScalarSpec, scalars } from '../scalars.ts'

// Mathematics in floats. For undefined results ClickHouse returns nan or inf, and DuckDB fails.

const infinity = "CAST('inf' AS DOUBLE)"

type Options = Pick<ScalarSpec, 'caseInsensitive' | 'clickhouse'>
const real = (summary: string, duckdb: Cell, cases: readonly Case[], options: Options = {}): ScalarSpec => ({
  args: 1,
  returns: whenAll('Float64'),
  summary,
  duckdb,
  cases,
  ...options,
})
const called =
  (name: string): SqlCell =>
  (args) =>
    `${name}(${args.map(asFloat).join(', ')})`
/** `otherwise` if `isOutside` is true. */
const within =
  (isOutside: (x: string) => string, otherwise: string, body: (x: string) => string): SqlCell =>
  ([x], context) =>
    once(context, asFloat(x!), (v) => `CASE WHEN ${isOutside(v)} THEN ${otherwise} ELSE ${body(v)} END`)
const outsideOne = (x: string): string => `abs(${x}) > 1`
/** Of what is infinite there is none. */
const periodic = (name: string): SqlCell =>
  within(
    (x) => `isinf(${x})`,
    nan,
    (x) => `${name}(${x})`,
  )
const logarithm = (name: string): SqlCell =>
  within(
    (x) => `${x} < 0`,
    nan,
    (x) => `CASE WHEN ${x} = 0 THEN -${infinity} ELSE ${name}(${x}) END`,
  )
const any: Options = { caseInsensitive: true }
const close = { tolerance: 1e-12 }

const powerSpec = (name: string): ScalarSpec => ({
  args: 2,
  caseInsensitive: true,
  returns: whenAll('Float64'),
  summary: 'The first number to the power of the second.',
  duckdb: called('pow'),
  clickhouse: 'pow',
  cases: [
    [`${name}(2, 3)`, 8],
    [`${name}(2, -1)`, 0.5],
  ],
})

/** DuckDB's own function multiplies in 128 bits, which takes ten times as long. */
const factorials = `[${Array.from({ length: 20 }, (_, i) => `${product(i + 1)}::UBIGINT`).join(', ')}]`
function product(n: number): bigint {
  return n <= 1 ? 1n : BigInt(n) * product(n - 1)
}

const whole = (args: readonly Arg[], context: CellContext, body: (n: string) => string): string => once(context, asInteger(args[0]!), body)

export const mathFunctions = scalars({
  e: {
    args: 0,
    returns: always('Float64'),
    summary: "Euler's number.",
    duckdb: () => 'CAST(2.718281828459045 AS DOUBLE)',
    cases: [['e()', Math.E]],
  },
  pi: {
    args: 0,
    returns: always('Float64'),
    summary: 'The number pi.',
    duckdb: () => 'pi()',
    cases: [['pi()', Math.PI]],
  },
  exp: real('e to the power of the number.', called('exp'), [['exp(1)', Math.E, close]], any),
  exp2: real('2 to the power of the number.', ([x]) => `pow(2.0, ${asFloat(x!)})`, [['exp2(3)', 8]]),
  exp10: real('10 to the power of the number.', ([x]) => `pow(10.0, ${asFloat(x!)})`, [['exp10(2)', 100]]),
  ln: real(
    'The natural logarithm.',
    logarithm('ln'),
    [
      ['ln(1)', 0],
      ['isNaN(ln(-1))', 1],
      ['isInfinite(ln(0))', 1],
    ],
    { ...any, clickhouse: 'log' },
  ),
  log: real('The natural logarithm.', logarithm('ln'), [['log(2)', Math.LN2, close]], any),
  log2: real('The logarithm to base 2.', logarithm('log2'), [['log2(8)', 3]], any),
  log10: real('The logarithm to base 10.', logarithm('log10'), [['log10(1000)', 3, close]], any),
  log1p: real(
    'The natural logarithm of 1 plus the number.',
    within(
      (x) => `${x} < -1`,
      nan,
      (x) => `CASE WHEN ${x} = -1 THEN -${infinity} ELSE ln(1 + ${x}) END`,
    ),
    [['log1p(1)', Math.LN2, close]],
  ),
  sqrt: real(
    'The square root.',
    within(
      (x) => `${x} < 0`,
      nan,
      (x) => `sqrt(${x})`,
    ),
    [
      ['sqrt(9)', 3],
      ['isNaN(sqrt(-1))', 1],
    ],
    any,
  ),
  cbrt: real('The cube root.', called('cbrt'), [['cbrt(27)', 3, close]]),
  sin: real(
    'The sine.',
    periodic('sin'),
    [
      ['sin(0)', 0],
      ['isNaN(sin(inf))', 1],
    ],
    any,
  ),
  cos: real(
    'The cosine.',
    periodic('cos'),
    [
      ['cos(0)', 1],
      ['isNaN(cos(-inf))', 1],
    ],
    any,
  ),
  tan: real(
    'The tangent.',
    periodic('tan'),
    [
      ['tan(0)', 0],
      ['isNaN(tan(inf))', 1],
    ],
    any,
  ),
  asin: real(
    'The arc sine.',
    within(outsideOne, nan, (x) => `asin(${x})`),
    [
      ['asin(1)', Math.PI / 2, close],
      ['isNaN(asin(2))', 1],
    ],
    any,
  ),
  acos: real(
    'The arc cosine.',
    within(outsideOne, nan, (x) => `acos(${x})`),
    [
      ['acos(1)', 0],
      ['isNaN(acos(2))', 1],
    ],
    any,
  ),
  atan: real('The arc tangent.', called('atan'), [['atan(1)', Math.PI / 4, close]], any),
  sinh: real('The hyperbolic sine.', called('sinh'), [['sinh(1)', Math.sinh(1), close]]),
  cosh: real('The hyperbolic cosine.', called('cosh'), [['cosh(0)', 1]]),
  asinh: real('The inverse hyperbolic sine.', called('asinh'), [['asinh(1)', Math.asinh(1), close]]),
  acosh: real('The inverse hyperbolic cosine.', called('acosh'), [['acosh(1)', 0]]),
  atanh: real(
    'The inverse hyperbolic tangent.',
    within(outsideOne, nan, (x) => `atanh(${x})`),
    [['atanh(0)', 0]],
  ),
  degrees: real('Radians in degrees.', called('degrees'), [['degrees(pi())', 180, close]], any),
  radians: real('Degrees in radians.', called('radians'), [['radians(180)', Math.PI, close]], any),
  lgamma: real(
    'The logarithm of the gamma function.',
    within(
      (x) => `${x} <= 0 AND ${x} = trunc(${x})`,
      infinity,
      (x) => `lgamma(${x})`,
    ),
    [
      ['lgamma(5)', Math.log(24), close],
      ['isInfinite(lgamma(0))', 1],
    ],
  ),
  tgamma: real(
    'The gamma function.',
    within(
      (x) => `${x} = 0`,
      infinity,
      (x) => `gamma(${x})`,
    ),
    [['tgamma(5)', 24, close]],
  ),
  erf: real('The error function.', unsupported('DuckDB has no error function'), [['erf(0)', 0]]),
  erfc: real('1 minus the error function.', unsupported('DuckDB has no error function'), [['erfc(0)', 1]]),
  atan2: {
    args: 2,
    returns: whenAll('Float64'),
    summary: 'The angle of the point (x, y), given as y, x.',
    duckdb: called('atan2'),
    cases: [['atan2(1, 1)', Math.PI / 4, close]],
  },
  hypot: {
    args: 2,
    returns: whenAll('Float64'),
    summary: 'The hypotenuse of a right triangle.',
    duckdb: ([a, b], context) => onceAll(context, [asFloat(a!), asFloat(b!)], (x, y) => `sqrt(${x} * ${x} + ${y} * ${y})`),
    cases: [['hypot(3, 4)', 5]],
  },
  pow: powerSpec('pow'),
  power: powerSpec('power'),
  sign: {
    args: 1,
    caseInsensitive: true,
    returns: whenAll('Int8'),
    summary: '1, 0 or -1.',
    duckdb: ([x]) => `sign(${asNumber(x!)})`,
    cases: [
      ['sign(-2.5)', -1],
      ['sign(0)', 0],
      ['sign(3)', 1],
    ],
  },
  factorial: {
    args: 1,
    caseInsensitive: true,
    returns: whenAll('UInt64'),
    summary: 'Factorial; 1 for negative numbers, an error above 20.',
    duckdb: (args, context) =>
      whole(
        args,
        context,
        (n) =>
          `CASE WHEN ${n} <= 1 THEN 1 WHEN ${n} > 20 THEN ${context.refuse("'The biggest argument of factorial is 20'")} ELSE ${factorials}[${n}] END`,
      ),
    cases: [
      ['factorial(5)', 120],
      ['factorial(0)', 1],
      ['factorial(-1)', 1],
    ],
  },
  intExp2: {
    args: 1,
    returns: whenAll('UInt64'),
    summary: '2 to the power of a whole number.',
    duckdb: (args, context) =>
      whole(
        args,
        context,
        (n) => `CASE WHEN ${n} < 0 THEN 0 WHEN ${n} > 63 THEN 18446744073709551615 ELSE CAST(pow(2.0, ${n}) AS UBIGINT) END`,
      ),
    cases: [['intExp2(10)', 1024]],
  },
  intExp10: {
    args: 1,
    returns: whenAll('UInt64'),
    summary: '10 to the power of a whole number.',
    duckdb: (args, context) =>
      whole(
        args,
        context,
        (n) =>
          `CASE WHEN ${n} < 0 THEN 0 WHEN ${n} > 19 THEN 18446744073709551615 ELSE CAST('1' || repeat('0', CAST(${n} AS INTEGER)) AS UBIGINT) END`,
      ),
    cases: [['intExp10(3)', 1000]],
  },
  width_bucket: {
    args: 4,
    returns: whenAll('UInt16'),
    summary:
      'Index of the equal-width bucket that contains a number: 0 below the range, or if the range is empty; one more than the number of buckets above it.',
    duckdb: (args, context) =>
      unlessNull(
        args,
        onceAll(
          context,
          args.map(asFloat),
          (x, low, high, count) =>
            `CAST(CASE WHEN ${x} < ${low} OR ${low} >= ${high} THEN 0 WHEN ${x} >= ${high} THEN ${count} + 1 ELSE floor((${x} - ${low}) * ${count} / (${high} - ${low})) + 1 END AS INTEGER)`,
        ),
      ),
    cases: [
      ['width_bucket(5, 0, 10, 5)', 3],
      ['width_bucket(-5, 0, 10, 5)', 0],
      ['width_bucket(15, 0, 10, 5)', 6],
      ['width_bucket(5, 0, -5, 5)', 0],
      ['width_bucket(5, 5, 5, 5)', 0],
      ['width_bucket(5, 5, 5, null)', null],
    ],
  },
  rand: {
    args: 0,
    caseInsensitive: true,
    isVolatile: true,
    returns: always('UInt32'),
    summary: 'A random whole number below 2^32.',
    duckdb: () => 'CAST(floor(random() * 4294967296) AS UINTEGER)',
    cases: [['rand() >= 0', 1]],
  },
  isFinite: finiteness('isFinite', 'Whether the number is neither infinite nor NaN.', (x) => `isfinite(${x})`, 1, 0),
  isInfinite: finiteness('isInfinite', 'Whether the number is infinite.', (x) => `isinf(${x})`, 0, 1),
  isNaN: finiteness('isNaN', 'Whether the number is NaN.', (x) => `isnan(${x})`, 0, 0),
  ifNotFinite: {
    args: [1, 2],
    returns: ([x, otherwise = scalar('UInt8')]) =>
      scalar(
        isInteger(x!) && isFloat(otherwise!) ? 'Float64' : isFloat(x!) ? 'Float64' : 'Int64',
        isNullable(x!) || isNullable(otherwise!),
      ),
    summary: 'The first number if it is finite, else the second (0); NULL is not finite.',
    clickhouse: ([x, otherwise]) => `ifNotFinite(${x!.sql}, ${otherwise?.sql ?? '0'})`,
    duckdb: ([x, otherwise], context) =>
      // A whole number is finite, and a float would change its last digits.
      isInteger(x!.type)
        ? `coalesce(${asNumber(x!)}, ${otherwise?.sql ?? '0'})`
        : once(context, asFloat(x!), (v) => `CASE WHEN isfinite(${v}) THEN ${v} ELSE ${otherwise?.sql ?? '0'} END`),
    cases: [
      ['ifNotFinite(1 / 0, 5)', 5],
      ['ifNotFinite(1.5, 5)', 1.5],
      ['ifNotFinite(9007199254740993, 5)', '9007199254740993'],
      ['ifNotFinite(null, 5)', 5],
      ['ifNotFinite(1 / 0)', 0],
    ],
  },
})

function finiteness(name: string, summary: string, test: (x: string) => string, ofOne: number, ofInfinity: number): ScalarSpec {
  return {
    args: 1,
    returns: whenAll('Bool'),
    summary,
    duckdb: ([x]) => test(asFloat(x!)),
    cases: [
      [`${name}(1)`, ofOne],
      [`${name}(1 / 0)`, ofInfinity],
      [`${name}(null)`, null],
    ],
  }
}
