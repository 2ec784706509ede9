import { isNullable, type SqlType } from '../../types/types.ts'
import type { CellContext } from '../row.ts'

// Grouping the items of a list on DuckDB, which has no GROUP BY for lists.

/**
 * `body` over the entries of each key, ordered by key. An entry is a tuple whose first element is the key. Keys are processed in ranges, and each key
 * searches only the entries of its range: with n keys every entry is visited 2√n times instead of n times. Each step builds a list of its own, because
 * DuckDB plans nested lambdas twice.
 */
export function byKey(entries: string, key: SqlType, context: CellContext, body: (entries: string) => string): string {
  const [all, entry, at, from, one] = Array.from({ length: 5 }, () => context.fresh()) as [string, ...string[]]
  const keyOf = `struct_extract_at(${entry}, 1)`
  const having = (list: string, condition: string) => `list_filter(${list}, lambda ${entry}: ${condition})`
  const keys = `list_sort(list_distinct(list_transform(${all}, lambda ${entry}: ${keyOf})))`
  const sorted = `list_transform([${entries}], lambda ${all}: {'all': ${all}, 'keys': ${keys}})`
  const width = `greatest(1, CAST(sqrt(len(${at}.keys)) AS BIGINT))`
  const last = `${at}.keys[least(${from} + ${width} - 1, len(${at}.keys))]`
  const near = having(`${at}.all`, `${keyOf} >= ${at}.keys[${from}] AND ${keyOf} <= ${last}`)
  const stretch = `{'keys': ${at}.keys[${from}:${from} + ${width} - 1], 'near': ${near}}`
  const known = `list_transform(range(1, len(${at}.keys) + 1, ${width}), lambda ${from}: ${stretch})`
  // NULL is also a key, the first one.
  const unknown = having(`${at}.all`, `${keyOf} IS NULL`)
  const withUnknown = `list_concat(list_transform(${unknown}[1:1], lambda ${entry}: {'keys': [${keyOf}], 'near': ${unknown}}), ${known})`
  const stretches = `list_transform(${sorted}, lambda ${at}: ${isNullable(key) ? withUnknown : known})[1]`
  const same = having(`${at}.near`, `${keyOf} ${isNullable(key) ? 'IS NOT DISTINCT FROM' : '='} ${one}`)
  const groups = `flatten(list_transform(${stretches}, lambda ${at}: list_transform(${at}.keys, lambda ${one}: ${same})))`
  const group = context.fresh()
  return `list_transform(${groups}, lambda ${group}: ${body(group)})`
}
