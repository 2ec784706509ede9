import { isNullable, isText, type SqlType, tupleOf } from '../../types/types.ts'
import { type Counting, fixedBytes, headBytes } from '../makes.ts'
import type { Arg } from '../row.ts'
import { asFloat } from './duckdb-values.ts'

// Sizes in DuckDB, as floats: sizes that exceed a limit exceed it by orders of magnitude.

/** Bytes of a value; NULL for NULL. */
export function bytesOf(sql: string, type: SqlType, depth = 0): string {
  const fixed = fixedBytes(type)
  if (fixed !== null) return `CAST(${fixed} AS DOUBLE)`
  switch (type.kind) {
    case 'array':
      return bytesOfList(sql, type.item, depth)
    case 'map':
      return bytesOfList(`map_entries(${sql})`, tupleOf([type.key, type.value]), depth)
    case 'tuple':
      return `(${type.items.map((item, i) => `coalesce(${bytesOf(`struct_extract_at(${sql}, ${i + 1})`, item, depth)}, 0)`).join(' + ')})`
    case 'state':
      return bytesOfList(sql, type.args.length === 1 ? type.args[0]! : tupleOf(type.args), depth)
    default:
      return `(CAST(strlen(${type.kind === 'unknown' ? `CAST(${sql} AS VARCHAR)` : sql}) AS DOUBLE) + ${headBytes})`
  }
}

function bytesOfList(list: string, item: SqlType, depth: number): string {
  const fixed = fixedBytes(item)
  if (fixed !== null) return `(CAST(len(${list}) AS DOUBLE) * ${fixed} + ${headBytes})`
  const name = `_bytes${depth}`
  return `(coalesce(list_sum(list_transform(${list}, lambda ${name}: ${bytesOf(name, item, depth + 1)})), 0) + ${headBytes})`
}

const contentsOf = ({ sql, type }: Arg): string =>
  isText(type)
    ? `CAST(strlen(${sql}) AS DOUBLE)`
    : fixedBytes(type) === null
      ? `(${bytesOf(sql, type)} - ${headBytes})`
      : bytesOf(sql, type)

/** Computes sizes as SQL expressions over the printed arguments of a call. */
export const countingIn = (args: readonly Arg[]): Counting<string> => ({
  number: (value) => `CAST(${value} AS DOUBLE)`,
  value: (position) => orNone(asFloat(args[position]!), args[position]!.type),
  bytes: (position) => orNone(contentsOf(args[position]!), args[position]!.type),
  item: (position) => orNone(bytesOf(args[position]!.sql, args[position]!.type), args[position]!.type),
  letters(position, letters) {
    const { sql, type } = args[position]!
    const text = `'${letters.replaceAll("'", "''")}'`
    return orNone(`CAST(length(${sql}) - length(translate(${sql}, ${text}, '')) AS DOUBLE)`, type)
  },
  plus: (a, b) => `(${a} + ${b})`,
  times: (a, b) => `(${a} * ${b})`,
  over: (a, b) => `(${a} / nullif(${b}, 0))`,
  least: (a, b) => `least(${a}, ${b})`,
  most: (a, b) => `greatest(${a}, ${b})`,
  size: (a) => `abs(${a})`,
})
const orNone = (size: string, type: SqlType): string => (isNullable(type) ? `coalesce(${size}, 0)` : size)
