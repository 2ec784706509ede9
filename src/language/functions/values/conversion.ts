import {
  isFloat,
  isInteger,
  isNamed,
  isNullable,
  isNumeric,
  isText,
  isTime,
  type ScalarName,
  type SqlType,
  scalar,
  typeName,
} from '../../types/types.ts'
import { asText } from '../cells/clickhouse-values.ts'
import { duckdbType } from '../cells/duckdb-types.ts'
import { asInteger, asNumber, once, toText } from '../cells/duckdb-values.ts'
import { mustBeConstant } from '../must-be-constant.ts'
import { always, integerShape, orNull } from '../results.ts'
import { type Arg, type CellContext, type FunctionRow, type SqlCell, sql } from '../row.ts'
import { type ScalarSpec, scalars } from '../scalars.ts'

// Casts that return NULL for invalid values: numbers, Booleans, text, UUIDs. Times are in dates/conversion.ts.

const isWholeNumber = (type: SqlType): boolean => isInteger(type) && !isNamed(type, 'Bool')
const asPlainText = (arg: Arg): string => (isText(arg.type) ? arg.sql : `CAST(${arg.sql} AS VARCHAR)`)

/** ClickHouse accepts no spaces, no fraction and no `1e3` for an integer; DuckDB's cast would round `1.5`. */
function duckdbInteger(arg: Arg, context: CellContext, type = 'BIGINT'): string {
  if (isNamed(arg.type, 'Nothing')) return `CAST(NULL AS ${type})`
  if (isWholeNumber(arg.type) || isNamed(arg.type, 'Bool')) return `TRY_CAST(${arg.sql} AS ${type})`
  if (isNamed(arg.type, 'Date')) return `TRY_CAST(date_diff('day', DATE '1970-01-01', ${arg.sql}) AS ${type})`
  if (isTime(arg.type)) return `TRY_CAST((epoch_us(${arg.sql}) // 1000000) AS ${type})`
  // Of a decimal ClickHouse cuts the fraction off, of a float it is an answer of its own: NULL.
  if (isNamed(arg.type, 'Decimal')) return `TRY_CAST(trunc(${arg.sql}) AS ${type})`
  if (isNumeric(arg.type)) return once(context, arg.sql, (v) => `CASE WHEN ${v} = trunc(${v}) THEN TRY_CAST(${v} AS ${type}) END`)
  return `TRY_CAST(nullif(regexp_extract(${asPlainText(arg)}, '^[+-]?[0-9]+$'), '') AS ${type})`
}

/** A whole number that a float cannot hold is NULL. */
const exactFloat = (arg: Arg, context: CellContext): string => {
  if (typeof arg.constant === 'number' && Number.isSafeInteger(arg.constant)) return `CAST(${arg.sql} AS DOUBLE)`
  return once(context, arg.sql, (v) => `CASE WHEN CAST(CAST(${v} AS DOUBLE) AS HUGEINT) = ${v} THEN CAST(${v} AS DOUBLE) END`)
}

/** DuckDB's cast would also accept surrounding spaces and underscores. */
function duckdbFloat(arg: Arg, context: CellContext): string {
  if (isNamed(arg.type, 'Nothing')) return 'CAST(NULL AS DOUBLE)'
  if ((integerShape(arg.type)?.bits ?? 0) >= 64) return exactFloat(arg, context)
  if (isNumeric(arg.type)) return `CAST(${asNumber(arg)} AS DOUBLE)`
  if (isNamed(arg.type, 'Date')) return `CAST(${duckdbInteger(arg, context)} AS DOUBLE)`
  if (isTime(arg.type)) return `(epoch_us(${arg.sql}) / 1000000)`
  return `TRY_CAST(nullif(regexp_extract(${asPlainText(arg)}, '^[^\\s_]+$'), '') AS DOUBLE)`
}

const trueTexts = ['true', 't', 'yes', 'y', 'on', 'enable', 'enabled', '1']
const falseTexts = ['false', 'f', 'no', 'n', 'off', 'disable', 'disabled', '0']

function duckdbFlag(arg: Arg): string {
  if (isNamed(arg.type, 'Bool')) return arg.sql
  if (isNumeric(arg.type)) return `(${arg.sql} <> 0)`
  if (isTime(arg.type)) return `(epoch(${arg.sql}) <> 0)`
  return `CASE lower(${asPlainText(arg)}) ${trueTexts.map((text) => `WHEN '${text}' THEN true`).join(' ')} ${falseTexts.map((text) => `WHEN '${text}' THEN false`).join(' ')} END`
}

/** Truncated at the scale, as in ClickHouse, not rounded. */
function duckdbDecimal(arg: Arg, scale: number, context: CellContext): string {
  const type = `DECIMAL(18, ${scale})`
  if (isInteger(arg.type)) return `TRY_CAST(${asNumber(arg)} AS ${type})`
  const cut = (exact: string) => `TRY_CAST((trunc(${exact} * ${10 ** scale}) / ${10 ** scale}) AS ${type})`
  if (!isText(arg.type)) {
    // In this order, since a cast of a big float to a decimal with many digits behind the point is a little off.
    const steps = `TRY_CAST(trunc(${duckdbFloat(arg, context)} * ${10 ** scale}) AS DECIMAL(18, 0))`
    return `TRY_CAST((${steps} * CAST(${scale ? (1 / 10 ** scale).toFixed(scale) : 1} AS DECIMAL(${Math.max(scale, 1)}, ${scale}))) AS ${type})`
  }
  // Digits are cut as text: the engine takes thirty times as long to read a text as a decimal of 38 digits.
  return once(
    context,
    arg.sql,
    (t) =>
      `CASE WHEN regexp_full_match(${t}, '[+-]?[0-9]+\\.?[0-9]*') THEN TRY_CAST(regexp_extract(${t}, '^[+-]?[0-9]+\\.?[0-9]{0,${scale}}') AS ${type}) ELSE ${cut(`TRY_CAST(${t} AS DECIMAL(38, 18))`)} END`,
  )
}

/** A DuckDB cast that returns NULL for values outside `type`. */
export function duckdbCast(arg: Arg, type: SqlType, context: CellContext): string {
  if (isText(type)) return toText(arg, context)
  if (isNamed(type, 'Bool')) return duckdbFlag(arg)
  if (isNamed(type, 'UInt128', 'UInt256'))
    return once(context, duckdbInteger(arg, context, duckdbType(type)), (v) => `CASE WHEN ${v} >= 0 THEN ${v} END`)
  if (isInteger(type)) return duckdbInteger(arg, context, duckdbType(type))
  if (isFloat(type)) return duckdbFloat(arg, context)
  if (isNamed(type, 'Decimal') && type.kind === 'scalar') return duckdbDecimal(arg, type.parameters?.[1] ?? 0, context)
  return `TRY_CAST(${arg.sql} AS ${duckdbType(type)})`
}

const castOrNull =
  (name: string): SqlCell =>
  ([x]) =>
    isNamed(x!.type, 'Nothing') ? `CAST(NULL AS Nullable(${name}))` : `accurateCastOrNull(${x!.sql}, '${name}')`

/** `toInt`, `toIntOrNull`, `toInt64`, `toInt64OrNull`: one cast with several names. */
const cast = (name: ScalarName, summary: string, duckdb: SqlCell, cases: FunctionRow['cases']): ScalarSpec => ({
  args: 1,
  takes: name === 'Float64' ? 'number' : 'integer',
  alsoTakes: 'anything',
  returns: orNull(name),
  summary,
  duckdb,
  clickhouse: castOrNull(name),
  cases,
})
const toInteger: SqlCell = ([x], context) => duckdbInteger(x!, context)
const toFloat: SqlCell = ([x], context) => duckdbFloat(x!, context)

/** The value of a cast, or the default if it fails; NULL stays NULL if no default was given. */
function castOrDefault(name: 'Int64' | 'Float64', duckdb: SqlCell): Pick<ScalarSpec, 'returns' | 'duckdb' | 'clickhouse'> {
  const type = name === 'Int64' ? 'BIGINT' : 'DOUBLE'
  return {
    returns: ([x, fallback]) => scalar(name, fallback ? isNullable(fallback) : isNullable(x!)),
    duckdb: (args, context) => {
      const [x, fallback] = args
      if (fallback)
        return `coalesce(${duckdb(args, context)}, ${name === 'Int64' && isNumeric(fallback.type) ? asInteger(fallback) : `CAST(${fallback.sql} AS ${type})`})`
      if (isNamed(x!.type, 'Nothing')) return `CAST(NULL AS ${type})`
      if (!isNullable(x!.type)) return `coalesce(${duckdb(args, context)}, 0)`
      return once(context, x!.sql, (v) => `CASE WHEN ${v} IS NOT NULL THEN coalesce(${duckdb([{ ...x!, sql: v }], context)}, 0) END`)
    },
    clickhouse: (args, context) => {
      const [x, fallback] = args
      const value = castOrNull(name)(args, context)
      if (fallback) return `ifNull(${value}, to${name}(${fallback.sql}))`
      return isNullable(x!.type) ? `if(isNull(${x!.sql}), NULL, ifNull(${value}, 0))` : `ifNull(${value}, 0)`
    },
  }
}
const orDefault = (name: 'Int64' | 'Float64', most: 1 | 2, summary: string, cases: FunctionRow['cases']): ScalarSpec => ({
  args: [1, most],
  ...castOrDefault(name, name === 'Int64' ? toInteger : toFloat),
  summary,
  cases,
})

/** The type's name in answers: Bool is shown as a byte. */
const shownName = (type: SqlType): string => typeName(type).replaceAll('Bool', 'UInt8')

const intCases: FunctionRow['cases'] = [
  ["toInt('123')", 123],
  ["toInt('-7')", -7],
  ["toInt('12abc')", null],
  ["toInt('1.5')", null],
  ["toInt('')", null],
  ['toInt(2.0)', 2],
  ['toInt(1.5)', null],
  ["toInt(toDecimal('-1.5', 2))", -1],
  ['toInt(1 = 1)', 1],
  ['toInt(null)', null],
]
const floatCases: FunctionRow['cases'] = [
  ["toFloat('1.5')", 1.5],
  ["toFloat('1e3')", 1000],
  ["toFloat('abc')", null],
  ["toFloat(' 1')", null],
  ["toFloat('')", null],
  ['toFloat(7)', 7],
  ['toFloat(null)', null],
  ['toFloat(9007199254740992)', 9007199254740992],
  ['toFloat(9007199254740993)', null],
  ['toFloat(-9007199254740993)', null],
  ["toFloat('9007199254740993')", 9007199254740992],
]
const renamed = (cases: FunctionRow['cases'], from: string, to: string): FunctionRow['cases'] =>
  cases.slice(0, 3).map(([expression, ...rest]) => [expression.replace(from, to), ...rest] as FunctionRow['cases'][number])

const integerSummary = 'The value as an integer; NULL if it is not one.'
const floatSummary = 'The value as a float; NULL if it is not a number.'
const integerCast = (name: string): ScalarSpec => cast('Int64', integerSummary, toInteger, renamed(intCases, 'toInt', name))
const floatCast = (name: string): ScalarSpec => cast('Float64', floatSummary, toFloat, renamed(floatCases, 'toFloat', name))

export const conversionFunctions = scalars({
  toInt: cast('Int64', integerSummary, toInteger, intCases),
  toIntOrNull: integerCast('toIntOrNull'),
  toInt64: integerCast('toInt64'),
  toInt64OrNull: integerCast('toInt64OrNull'),
  toIntOrZero: orDefault('Int64', 1, 'The value as an integer; 0 if it is not one, NULL for NULL.', [
    ["toIntOrZero('5')", 5],
    ["toIntOrZero('x')", 0],
    ['toIntOrZero(null)', null],
  ]),
  toInt64OrZero: orDefault('Int64', 1, 'The value as an integer; 0 if it is not one, NULL for NULL.', [["toInt64OrZero('12abc')", 0]]),
  toIntOrDefault: orDefault('Int64', 2, 'The value as an integer, or the default (0) if it is not one.', [
    ["toIntOrDefault('x', 5)", 5],
    ["toIntOrDefault('7', 5)", 7],
    ["toIntOrDefault('x')", 0],
    ["toIntOrDefault('x', -2.7)", -2],
    ['toIntOrDefault(null, 5)', 5],
  ]),
  toInt64OrDefault: orDefault('Int64', 2, 'The value as an integer, or the default (0) if it is not one.', [
    ["toInt64OrDefault('x', -1)", -1],
  ]),
  toFloat: cast('Float64', floatSummary, toFloat, floatCases),
  toFloatOrNull: floatCast('toFloatOrNull'),
  toFloat64: floatCast('toFloat64'),
  toFloat64OrNull: floatCast('toFloat64OrNull'),
  toFloatOrZero: orDefault('Float64', 1, 'The value as a float; 0 if it is not a number, NULL for NULL.', [
    ["toFloatOrZero('')", 0],
    ["toFloatOrZero('2.5')", 2.5],
    ['toFloatOrZero(null)', null],
  ]),
  toFloat64OrZero: orDefault('Float64', 1, 'The value as a float; 0 if it is not a number, NULL for NULL.', [
    ["toFloat64OrZero('abc')", 0],
  ]),
  toFloatOrDefault: orDefault('Float64', 2, 'The value as a float, or the default (0) if it is not a number.', [
    ["toFloatOrDefault('2.5')", 2.5],
    ["toFloatOrDefault('bla')", 0],
    ['toFloatOrDefault(null)', null],
    ["toFloatOrDefault('bla', 1.5)", 1.5],
    ['toFloatOrDefault(null, 2)', 2],
  ]),
  toFloat64OrDefault: orDefault('Float64', 2, 'The value as a float, or the default (0) if it is not a number.', [
    ["toFloat64OrDefault('bla', 1.5)", 1.5],
  ]),
  toDecimal: {
    args: 2,
    returns: (_, { args: [, scale] }) => {
      mustBeConstant(scale, 'The scale of a decimal')
      return { kind: 'scalar', name: 'Decimal', nullable: true, parameters: [18, Number(scale?.constant ?? 0)] }
    },
    summary: 'Converts to a decimal with the given scale, truncated; NULL if it is not a number.',
    duckdb: ([x, scale], context) => duckdbDecimal(x!, Number(scale!.constant ?? 0), context),
    clickhouse: ([x, scale]) => `accurateCastOrNull(${x!.sql}, 'Decimal64(${Number(scale!.constant ?? 0)})')`,
    cases: [
      ["toDecimal('1.239', 2)", 1.23],
      ["toDecimal('-1.239', 2)", -1.23],
      ["toDecimal('+7', 2)", 7],
      ["toDecimal('1.9', 0)", 1],
      ["toDecimal('1e2', 2)", 100],
      ["toDecimal('99999999999999999999', 2)", null],
      ["toDecimal('x', 2)", null],
      ['toDecimal(3, 1)', 3],
      ['toDecimal(-1.259, 2)', -1.25],
      ["toDecimal(toFloat('1717243200'), 0)", 1717243200],
    ],
  },
  toBool: {
    args: 1,
    returns: orNull('Bool'),
    summary: "Numbers other than 0, and texts such as 'true', 'yes', 'on', '1'; NULL for other texts.",
    duckdb: ([x]) => duckdbFlag(x!),
    clickhouse: castOrNull('Bool'),
    cases: [
      ["toBool('true')", 1],
      ["toBool('No')", 0],
      ["toBool('x')", null],
      ['toBool(2)', 1],
      ['toBool(0.0)', 0],
      ["toBool(toDate('1970-01-01'))", 0],
      ["toBool(toDateTime('2024-01-01 10:00:00'))", 1],
    ],
  },
  toUUID: {
    args: 1,
    returns: orNull('UUID'),
    summary: 'The text as a UUID; NULL if it is not one.',
    duckdb: sql`TRY_CAST(${0} AS UUID)`,
    clickhouse: castOrNull('UUID'),
    cases: [
      ["toUUID('59f0c404-5cb3-11e7-907b-a6006ad3dba0')", '59f0c404-5cb3-11e7-907b-a6006ad3dba0'],
      ["toUUID('x')", null],
    ],
  },
  toUUIDOrDefault: {
    args: 2,
    returns: ([, fallback]) => fallback!,
    summary: 'The text as a UUID, or the second argument if it is not one.',
    duckdb: sql`coalesce(TRY_CAST(${0} AS UUID), ${1})`,
    clickhouse: ([x, fallback]) => `ifNull(accurateCastOrNull(${x!.sql}, 'UUID'), ${fallback!.sql})`,
    cases: [["toString(toUUIDOrDefault('x', toUUID('59f0c404-5cb3-11e7-907b-a6006ad3dba0')))", '59f0c404-5cb3-11e7-907b-a6006ad3dba0']],
  },
  toNullableString: {
    args: 1,
    returns: orNull('String'),
    summary: 'The value as text.',
    duckdb: ([x], context) => toText(x!, context),
    clickhouse: ([x], context) => `toNullable(${asText(x!, context)})`,
    cases: [
      ['toNullableString(5)', '5'],
      ["toNullableString(toDecimal('1.50', 2))", '1.5'],
      ['toNullableString(1 = 1)', 'true'],
      ['toNullableString(null)', null],
    ],
  },
  toTypeName: {
    args: 1,
    returns: always('String'),
    summary: 'The type of the value, by name.',
    duckdb: ([x], context) => context.literal(shownName(x!.type)),
    clickhouse: ([x], context) => context.literal(shownName(x!.type)),
    cases: [
      ['toTypeName(1)', 'UInt8'],
      ['toTypeName(-129)', 'Int16'],
      ['toTypeName(1 = 1)', 'UInt8'],
      ["toTypeName(['a'])", 'Array(String)'],
      ['toTypeName(1 + 1)', 'UInt16'],
    ],
  },
})
