import { mayRefuse } from '../../../errors/refusal-mark.ts'
import { isFloat, isNamed, isNullable, isNumeric, isText, type SqlType, scalar, typeName } from '../../types/types.ts'
import type { Arg, CellContext } from '../row.ts'
import { duckdbType } from './duckdb-types.ts'
import { localTime, zoneOf } from './zone-text.ts'

// Conversions between DuckDB's representations of values (listed in language/types/types.ts), for cells of all families.

/** Checked first: testing the characters would copy a long concatenated text. */
const longestCheap = 80
/** A name, a number, a parameter. */
const isSimple = (sql: string): boolean => /^([\w."]{1,80}|\u0001\d+\u0002|'[^']{0,20}'|\(-\d+\))$/.test(sql)
const numberCasts = ['DOUBLE', 'BIGINT', 'UTINYINT'].map((type) => ` AS ${type})`)
/** The operand of a cast to a number; other values unchanged. */
function uncast(sql: string): string {
  const end = sql.startsWith('CAST(') ? numberCasts.find((cast) => sql.endsWith(cast)) : undefined
  return end ? sql.slice('CAST('.length, -end.length) : sql
}
/** Cheaper to compute twice than a lambda that would name it. */
const isCheap = (sql: string): boolean => sql.length <= longestCheap && isSimple(uncast(sql))

type Naming = Pick<CellContext, 'fresh'>

/** Uses a value several times but computes and prints it once. */
export function once(context: Naming, value: string, body: (name: string) => string): string {
  if (isCheap(value)) return body(value)
  const name = context.fresh()
  return `list_transform([${value}], lambda ${name}: ${body(name)})[1]`
}

/** The same for several values. */
export function onceAll(context: Naming, values: readonly string[], body: (...names: string[]) => string): string {
  const dear = values.filter((value) => !isCheap(value))
  if (dear.length <= 1) {
    const value = dear[0]
    return value === undefined ? body(...values) : once(context, value, (name) => body(...values.map((v) => (v === value ? name : v))))
  }
  const name = context.fresh()
  const fields = values.map((value, i) => `v${i}: ${value}`)
  return `list_transform([{${fields.join(', ')}}], lambda ${name}: ${body(...values.map((_, i) => `${name}.v${i}`))})[1]`
}

/**
 * Goes through a list with an accumulator, which has the type of the items. The accumulator begins as an item before the others: with an initial value
 * as its third argument, list_reduce reads captured columns of other rows where lists differ in length (DuckDB issue 25816).
 */
export const folded = (items: string, [accumulator, item]: readonly [string, string], next: string, start: string): string =>
  `list_reduce([${start}] || ${items}, lambda ${accumulator}, ${item}: ${next})`

/** TRY would also hide the refusal of a value that is too large, so a value that may be refused is computed outside of it. */
export function tried(context: CellContext, values: readonly string[], body: (...names: string[]) => string): string {
  const refusing = values.filter(mayRefuse)
  if (refusing.length === 0) return `TRY(${body(...values)})`
  return onceAll(context, refusing, (...names) => `TRY(${body(...values.map((value) => names[refusing.indexOf(value)] ?? value))})`)
}

/** NULL if any argument is NULL, for functions that would return something else. */
export function unlessNull(args: readonly Arg[], value: string): string {
  const known = args.filter(({ type }) => isNullable(type)).map(({ sql }) => `${sql} IS NOT NULL`)
  return known.length ? `CASE WHEN ${known.join(' AND ')} THEN ${value} END` : value
}

export const isNullLiteral = (arg: Arg): boolean => arg.constant === null || isNamed(arg.type, 'Nothing')

/** No number. */
export const nan = "'nan'::DOUBLE"

/** DuckDB has no arithmetic on BOOLEAN. */
export const asNumber = (arg: Arg): string => (isNamed(arg.type, 'Bool') ? `CAST(${arg.sql} AS UTINYINT)` : arg.sql)

/** NULL has no type in DuckDB, and most text functions require one. */
export const asTextOrNull = ({ type, sql }: Arg): string => (isNamed(type, 'Nothing') ? 'CAST(NULL AS VARCHAR)' : sql)
export const asTextsOrNulls = ({ type, sql }: Arg): string =>
  type.kind === 'array' && isNamed(type.item, 'Nothing') ? `CAST(${sql} AS VARCHAR[])` : sql

export const asFloat = (arg: Arg): string => `CAST(${asNumber(arg)} AS DOUBLE)`
export const hasFraction = (type: SqlType): boolean => isFloat(type) || isNamed(type, 'Decimal')
/** A fraction is cut off, where a cast of the engine would round. */
export const asInteger = (arg: Arg): string => `CAST(${hasFraction(arg.type) ? `trunc(${arg.sql})` : asNumber(arg)} AS BIGINT)`
/** A position or a length, for functions of the engine that take only whole numbers of 64 bits; a constant stays one. */
export const asPosition = (arg: Arg): Arg => {
  if (typeof arg.constant === 'number' && Number.isInteger(arg.constant)) return arg
  if (hasFraction(arg.type) || isNamed(arg.type, 'Bool')) return { sql: asInteger(arg), type: scalar('Int64', isNullable(arg.type)) }
  // Beyond them no text and no array has positions.
  return isNamed(arg.type, 'UInt64', 'UInt128', 'Int128', 'UInt256', 'Int256')
    ? { ...arg, sql: `CAST(least(${arg.sql}, 9223372036854775807) AS BIGINT)` }
    : arg
}
/** The bits of a float as a whole number. */
export const floatBits = (arg: Arg): string =>
  isNamed(arg.type, 'Float32')
    ? `CAST(CAST(CAST(${arg.sql} AS FLOAT) AS BIT) AS INTEGER)`
    : `CAST(CAST(CAST(${arg.sql} AS DOUBLE) AS BIT) AS BIGINT)`

/** Parallel lists, each bound to a name. The engine would pad the shorter ones or cut the longer ones. */
export function sideBySide(name: string, lists: readonly string[], context: Pick<CellContext, 'refuse'>): string {
  const [first, ...others] = lists
  const uneven = others.map((list) => `len(${list}) <> len(${first})`).join(' OR ')
  return `CASE WHEN ${uneven} THEN ${context.refuse(`'The arrays of ''${name}'' have different lengths'`)} ELSE list_zip(${lists.join(', ')}) END`
}

/** ClickHouse's default for a missing value: '' for text, 0 for numbers, the epoch, an empty array. */
export function defaultOf(type: SqlType): string {
  if (isNullable(type)) return 'NULL'
  if (isText(type)) return "''"
  if (isNumeric(type)) return '0'
  if (isNamed(type, 'Bool')) return 'false'
  if (isNamed(type, 'Date')) return "DATE '1970-01-01'"
  if (isNamed(type, 'DateTime', 'DateTime64')) return "TIMESTAMP '1970-01-01 00:00:00'"
  if (isNamed(type, 'UUID')) return "CAST('00000000-0000-0000-0000-000000000000' AS UUID)"
  if (isNamed(type, 'IPv4')) return "'0.0.0.0'"
  if (isNamed(type, 'IPv6')) return "'::'"
  if (type.kind === 'array') return '[]'
  if (type.kind === 'map') return 'MAP {}'
  // Numbers in a struct would become BIGINT, whatever their type.
  if (type.kind === 'tuple') return `CAST(row(${type.items.map(defaultOf).join(', ')}) AS ${duckdbType(type)})`
  return 'NULL'
}

/** Rewrites of DuckDB's text of a float, in order: no `.0`, small numbers written out down to 1e-6, exponents without `+` and leading zeros. */
const floatRewrites = [
  ['\\.0$', ''],
  ['^(-?)(\\d)(?:\\.(\\d+))?e-05$', '\\10.0000\\2\\3'],
  ['^(-?)(\\d)(?:\\.(\\d+))?e-06$', '\\10.00000\\2\\3'],
  ['e([+]|(-))0*', 'e\\2'],
] as const

/** A float as ClickHouse prints it; the digits of whole numbers are written out below 1e21. */
const floatText = (context: CellContext, value: string): string =>
  once(context, value, (v) => {
    const text = floatRewrites.reduce((sql, [from, to]) => `regexp_replace(${sql}, '${from}', '${to}')`, `CAST(${v} AS VARCHAR)`)
    return `CASE WHEN abs(${v}) >= 1e16 AND abs(${v}) < 1e21 THEN CAST(CAST(${v} AS HUGEINT) AS VARCHAR) ELSE ${text} END`
  })

/** A value as the text that ClickHouse's toString() returns. NULL stays NULL. */
export function toText(arg: Arg, context: CellContext): string {
  const { type } = arg
  if (isText(type) || isNamed(type, 'IPv4', 'IPv6')) return arg.sql
  if (isNamed(type, 'Nothing')) return 'CAST(NULL AS VARCHAR)'
  if (isNamed(type, 'Bool')) return `CAST(CAST(${arg.sql} AS BOOLEAN) AS VARCHAR)`
  if (isFloat(type)) return floatText(context, isNamed(type, 'Float32') ? arg.sql : `CAST(${arg.sql} AS DOUBLE)`)
  if (isNamed(type, 'DateTime', 'DateTime64')) return timeText(arg, context)
  // Without the zeros at its end.
  if (type.kind === 'scalar' && type.name === 'Decimal' && type.parameters?.[1] !== 0)
    return `rtrim(rtrim(CAST(${arg.sql} AS VARCHAR), '0'), '.')`
  if (type.kind === 'array' || type.kind === 'tuple' || type.kind === 'map') return nestedText(arg, context)
  return `CAST(${asNumber(arg)} AS VARCHAR)`
}

const fractionFormats: Readonly<Record<number, string>> = { 0: '', 3: '.%g', 6: '.%f' }

/** A time in the local time of its zone, with the digits that its type has. */
export function timeText({ sql, type }: Arg, context: CellContext, zone?: string): string {
  const digits = type.kind === 'scalar' && type.name === 'DateTime64' ? (type.parameters?.[0] ?? 6) : 0
  const text = `strftime(${localTime(sql, zone ?? zoneOf(type, context), context)}, '%Y-%m-%d %H:%M:%S${fractionFormats[digits] ?? '.%f'}')`
  return digits in fractionFormats ? text : `left(${text}, ${20 + Math.min(digits, 6)})`
}

/** Inside an array, tuple or map, texts are quoted and NULL is written out. */
function itemText(sql: string, type: SqlType, context: CellContext): string {
  const isQuoted = isText(type) || isNamed(type, 'Date', 'DateTime', 'DateTime64', 'UUID', 'IPv4', 'IPv6')
  const plain = toText({ sql, type }, context)
  const text = isQuoted ? `'''' || ${escapeText(plain)} || ''''` : plain
  return isNullable(type) ? `coalesce(${text}, 'NULL')` : text
}

const escapeText = (sql: string): string =>
  [
    ["'\\'", '\\\\'],
    ["''''", "\\''"],
    ['chr(10)', '\\n'],
    ['chr(9)', '\\t'],
    ['chr(13)', '\\r'],
    ['chr(8)', '\\b'],
    ['chr(12)', '\\f'],
  ].reduce((text, [from, to]) => `replace(${text}, ${from}, '${to}')`, sql)

function nestedText(arg: Arg, context: CellContext): string {
  const { type, sql } = arg
  const list = (items: string, open: string, close: string) => `'${open}' || array_to_string(${items}, ',') || '${close}'`
  if (type.kind === 'array') {
    const name = context.fresh()
    return list(`list_transform(${sql}, lambda ${name}: ${itemText(name, type.item, context)})`, '[', ']')
  }
  if (type.kind === 'map') {
    const name = context.fresh()
    const entry = `${itemText(`${name}.key`, type.key, context)} || ':' || ${itemText(`${name}.value`, type.value, context)}`
    return list(`list_transform(map_entries(${sql}), lambda ${name}: ${entry})`, '{', '}')
  }
  if (type.kind === 'tuple')
    return once(context, sql, (t) =>
      list(`[${type.items.map((item, i) => itemText(`struct_extract_at(${t}, ${i + 1})`, item, context)).join(', ')}]`, '(', ')'),
    )
  throw new TypeError(`no text form for ${typeName(type)}`)
}

/** An argument made of generated text. */
export const argOf = (sql: string, type: SqlType = scalar('String')): Arg => ({ sql, type })

/** The default of a type for a missing value (an aggregate over no rows, a missing item); NULL if the type is nullable. */
export const orDefault = (text: string, { type }: { readonly type: SqlType }, empty = defaultOf(type)): string =>
  isNullable(type) || empty === 'NULL' ? text : `coalesce(${text}, ${empty})`
