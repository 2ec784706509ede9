import { isNamed, isNullable, isText, isTime, type SqlType, typeName } from '../../types/types.ts'
import type { Arg, CellContext } from '../row.ts'
import { zoneArgument } from './zone-text.ts'

// Values as text on ClickHouse.

const isMoment = (type: SqlType): boolean => isTime(type) && !isNamed(type, 'Date')
const isFlag = (type: SqlType): boolean => isNamed(type, 'Bool')

const holds = (type: SqlType, is: (type: SqlType) => boolean): boolean =>
  is(type) ||
  (type.kind === 'array' && holds(type.item, is)) ||
  (type.kind === 'map' && (holds(type.key, is) || holds(type.value, is))) ||
  (type.kind === 'tuple' && type.items.some((item) => holds(item, is)))

/** Rewrites some of the values inside arrays, tuples and maps. */
function inside(
  sql: string,
  type: SqlType,
  is: (type: SqlType) => boolean,
  rewrite: (sql: string, type: SqlType) => string,
  depth = 0,
): string {
  if (!holds(type, is)) return sql
  const x = `x${depth}`
  const next = (value: string, of: SqlType) => inside(value, of, is, rewrite, depth + 1)
  if (type.kind === 'array') return `arrayMap(${x} -> ${next(x, type.item)}, ${sql})`
  if (type.kind === 'map') return `mapApply((k${depth}, ${x}) -> (${next(`k${depth}`, type.key)}, ${next(x, type.value)}), ${sql})`
  if (type.kind === 'tuple') return `tuple(${type.items.map((item, i) => next(`tupleElement(${sql}, ${i + 1})`, item)).join(', ')})`
  return rewrite(sql, type)
}

/** In the local time of the zone, whatever the server's setting for printing times. */
const momentText = (sql: string, type: SqlType, context: CellContext): string =>
  `toString(${sql}, ${context.literal(zoneArgument(undefined, type, context))})`

/** A Boolean reads true or false, also inside arrays, tuples and maps. */
export function asText({ sql, type }: Arg, context: CellContext): string {
  if (isText(type)) return sql
  if (isNamed(type, 'Nothing')) return 'CAST(NULL AS Nullable(String))'
  if (isMoment(type)) return momentText(sql, type, context)
  const readable = inside(
    sql,
    type,
    (t) => isFlag(t) || isMoment(t),
    (value, t) => (isFlag(t) ? `toBool(${value})` : momentText(value, t, context)),
  )
  return `toString(${readable})`
}

export function asJson({ sql, type }: Arg, context: CellContext): string {
  if (isNamed(type, 'Nothing')) return 'CAST(NULL AS Nullable(String))'
  const readable = inside(
    sql,
    type,
    (t) => isFlag(t) || isMoment(t),
    (value, t) => (isFlag(t) ? `toUInt8(${value})` : momentText(value, t, context)),
  )
  return `toJSONString(${readable})`
}

/** A call whose result cannot be NULL: if one of these arguments is NULL, the result is the default of its type. */
export function orDefaultWhereNull(
  type: SqlType,
  keys: readonly Arg[],
  context: CellContext,
  call: (keys: readonly string[]) => string,
): string {
  const nullable = keys.filter((key) => isNullable(key.type))
  if (nullable.length === 0) return call(keys.map(({ sql }) => sql))
  const none = `defaultValueOfTypeName(${context.literal(typeName(type))})`
  if (nullable.some((key) => isNamed(key.type, 'Nothing'))) return none
  const found = call(keys.map((key) => (isNullable(key.type) ? `assumeNotNull(${key.sql})` : key.sql)))
  return `if(${nullable.map(({ sql }) => `isNull(${sql})`).join(' OR ')}, ${none}, ${found})`
}
