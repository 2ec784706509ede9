import {
  isFloat,
  isNamed,
  isNullable,
  notNull,
  type ScalarName,
  type ScalarType,
  type SqlType,
  scalar,
  typeName,
} from '../../types/types.ts'
import { duckdbType } from '../cells/duckdb-types.ts'
import { once, toText } from '../cells/duckdb-values.ts'
import { type IntegerShape, integerShape, whenAll } from '../results.ts'
import type { Arg, CellContext, FunctionRow } from '../row.ts'
import { duckdbCast } from './conversion.ts'

// Casts to integer types that have no function of their own: invalid values are rejected. A cast becomes one of these calls; statements cannot write them.

/** Of 256-bit integers, DuckDB holds those that fit in 128 bits. */
const heldBits = (bits: number) => Math.min(bits, 128)
const holds = (all: IntegerShape, each: IntegerShape): boolean =>
  all.signed === each.signed ? all.bits >= each.bits : all.signed && heldBits(all.bits) > each.bits

function rangeOf({ bits, signed }: IntegerShape): string {
  const power = signed || bits > 64 ? heldBits(bits) - 1 : bits
  return `from ${signed ? `-${1n << BigInt(power)}` : '0'} to ${(1n << BigInt(power)) - 1n}`
}

/** A value as an integer of the type, the fraction truncated; rejected if it is invalid or out of range. */
export function duckdbWhole(arg: Arg, name: ScalarName, context: CellContext): string {
  const type = scalar(name)
  const shape = integerShape(type)!
  const from = integerShape(arg.type)
  if (from && holds(shape, from)) return `CAST(${arg.sql} AS ${duckdbType(type)})`
  return once(context, arg.sql, (v) => {
    const value = { ...arg, sql: v }
    const found = duckdbCast(isFloat(arg.type) ? { ...value, sql: `trunc(${v})` } : value, type, context)
    const said = `'''' || left(${toText(value, context)}, 60) || ''' is not ${name}, a whole number ${rangeOf(shape)}. Use accurateCastOrNull for null there'`
    const refused = context.refuse(said)
    return `coalesce(${found}, ${isNullable(arg.type) ? `CASE WHEN ${v} IS NOT NULL THEN ${refused} END` : refused})`
  })
}

/** Applied to each part of a compound value. */
function duckdbParts(arg: Arg, to: SqlType, context: CellContext): string {
  const { type: from, sql } = arg
  if (from.kind === 'array' && to.kind === 'array') {
    const item = context.fresh()
    return `list_transform(${sql}, lambda ${item}: ${duckdbParts({ sql: item, type: from.item }, to.item, context)})`
  }
  if (from.kind === 'map' && to.kind === 'map') {
    const entry = context.fresh()
    const key = duckdbParts({ sql: `${entry}.key`, type: from.key }, to.key, context)
    const value = duckdbParts({ sql: `${entry}.value`, type: from.value }, to.value, context)
    return `map_from_entries(list_transform(map_entries(${sql}), lambda ${entry}: (${key}, ${value})))`
  }
  if (from.kind === 'tuple' && to.kind === 'tuple' && from.items.length === to.items.length)
    return once(context, sql, (v) => {
      const items = to.items.map((type, i) =>
        duckdbParts({ sql: `struct_extract_at(${v}, ${i + 1})`, type: from.items[i]! }, type, context),
      )
      return `CAST(row(${items.join(', ')}) AS ${duckdbType(to)})`
    })
  return wholeCast(from, to) ? duckdbWhole(arg, (notNull(to) as ScalarType).name, context) : `CAST(${sql} AS ${duckdbType(to)})`
}

/** All scalar types inside a type. */
function leavesOf(type: SqlType): readonly SqlType[] {
  switch (type.kind) {
    case 'array':
      return leavesOf(type.item)
    case 'map':
      return [...leavesOf(type.key), ...leavesOf(type.value)]
    case 'tuple':
      return type.items.flatMap(leavesOf)
    default:
      return [type]
  }
}

const castOfParts = (to: SqlType): FunctionRow => ({
  kind: 'scalar',
  args: [1, 1],
  returns: () => to,
  summary: '',
  sql: {
    duckdb: ([x], context) => duckdbParts(x!, to, context),
    // It rejects fractions.
    clickhouse: ([x]) => `${leavesOf(x!.type).some(isFloat) ? 'CAST' : 'accurateCast'}(${x!.sql}, '${typeName(to)}')`,
  },
  cases: [],
})

const cast = (name: ScalarName): FunctionRow => ({
  kind: 'scalar',
  args: [1, 1],
  returns: whenAll(name),
  summary: '',
  sql: {
    duckdb: ([x], context) => duckdbWhole(x!, name, context),
    clickhouse: ([x]) => {
      const value = isFloat(x!.type) ? `trunc(${x!.sql})` : x!.sql
      return `accurateCast(${value}, '${isNullable(x!.type) ? `Nullable(${name})` : name}')`
    },
  },
  cases: [],
})

const names = ['UInt8', 'UInt16', 'UInt32', 'UInt64', 'UInt128', 'UInt256', 'Int128', 'Int256'] as const
const rows: Readonly<Record<string, FunctionRow>> = Object.fromEntries(names.map((name) => [name, cast(name)]))

/** The row that casts one type to another; undefined: the engine's cast is used. */
export function wholeCast(from: SqlType, to: SqlType): FunctionRow | undefined {
  if (from.kind === 'scalar') return isNamed(from, 'Interval', 'JSON', 'UUID') ? undefined : rows[typeName(notNull(to))]
  return from.kind === to.kind && leavesOf(to).some((leaf) => rows[typeName(notNull(leaf))]) ? castOfParts(to) : undefined
}
