import { isFloat, isInteger, isNamed, isNullable, isText, notNull, type SqlType } from '../../types/types.ts'
import type { Arg, CellContext } from '../row.ts'
import { duckdbType } from './duckdb-types.ts'
import { defaultOf, once, tried } from './duckdb-values.ts'

// Values inside JSON texts, on DuckDB. Invalid JSON holds none.

const isDigits = /^\d+$/
const pointerPart = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')
const keyPointer = (key: string): string => `'/' || replace(replace(${key}, '~', '~0'), '/', '~1')`

/** Keys and 1-based indexes (negative ones count from the end) as a DuckDB path; null if the list is empty. */
function jsonPath(steps: readonly Arg[], context: CellContext): string | null {
  if (steps.length === 0) return null
  const constants = steps.map((step) => step.constant)
  // A pointer treats a key of digits as an array index.
  if (
    constants.some((step) => (typeof step === 'number' && step < 0) || (typeof step === 'string' && isDigits.test(step))) &&
    constants.every((step) => (typeof step === 'number' && step !== 0) || (typeof step === 'string' && !/["\\*]/.test(step)))
  ) {
    const parts = constants.map((step) => (typeof step !== 'number' ? `."${step}"` : step < 0 ? `[#${step}]` : `[${step - 1}]`))
    return context.bind(`$${parts.join('')}`)
  }
  if (constants.every((step) => typeof step === 'string' || typeof step === 'number'))
    return context.bind(constants.map((step) => `/${typeof step === 'number' ? step - 1 : pointerPart(String(step))}`).join(''))
  // A path with `[#-1]` counts from the end, but supports no keys with quotes; a pointer supports any key.
  const needsPath = steps.flatMap(({ type, constant, sql }) => {
    if (!isText(type)) return typeof constant === 'number' && constant > 0 ? [] : [`${sql} < 0`]
    return typeof constant === 'string' && !isDigits.test(constant) ? [] : [`regexp_full_match(${sql}, '[0-9]+')`]
  })
  const pointer = steps.map((step) => (isText(step.type) ? keyPointer(step.sql) : `'/' || (${step.sql} - 1)`)).join(' || ')
  if (needsPath.length === 0) return pointer
  const path = steps.map((step) =>
    isText(step.type)
      ? `'."' || ${step.sql} || '"'`
      : `CASE WHEN ${step.sql} < 0 THEN '[#' || ${step.sql} || ']' ELSE '[' || (${step.sql} - 1) || ']' END`,
  )
  return `CASE WHEN ${needsPath.join(' OR ')} THEN '$' || ${path.join(' || ')} ELSE ${pointer} END`
}

/** The JSON at a path; NULL if there is none. */
export function jsonAt(json: string, steps: readonly Arg[], context: CellContext): string {
  const path = jsonPath(steps, context)
  if (path === null) return tried(context, [json], (text) => `json(${text})`)
  return tried(context, [json, path], (text, at) => `json_extract(${text}, ${at})`)
}

/** The same as text: strings without quotes; NULL for null. */
export function jsonTextAt(json: string, steps: readonly Arg[], context: CellContext): string {
  return tried(context, [json, jsonPath(steps, context) ?? "'$'"], (text, at) => `json_extract_string(${text}, ${at})`)
}

/** JSON as ClickHouse writes it: integers without a fraction (DuckDB writes `1.0` and `1e3` as `1.0` and `1000.0`). */
export const rawOf = (value: string, context: CellContext): string =>
  once(
    context,
    `CAST(${value} AS VARCHAR)`,
    (t) =>
      `CASE WHEN contains(${t}, '.0') THEN regexp_replace(${t}, '("(?:[^"\\\\]|\\\\.)*")|(-?[0-9]+)\\.0([,}\\]]|$)', '\\1\\2\\3', 'g') ELSE ${t} END`,
  )

export const jsonItems = (value: string): string => `CAST(json_extract(${value}, '$[*]') AS JSON[])`
export const jsonMember = (value: string, key: string): string => `json_extract(${value}, ${keyPointer(key)})`

const textOf = (value: string): string => `json_extract_string(${value}, '$')`

/** A number, truncated to an integer; ClickHouse also reads numbers in strings. */
export const wholeOf = (text: string, type: string): string =>
  `CASE WHEN regexp_full_match(${text}, '-?[0-9]{1,38}') THEN TRY_CAST(${text} AS ${type}) ELSE TRY_CAST(trunc(TRY_CAST(${text} AS DOUBLE)) AS ${type}) END`

/** An element of a tuple: by position in an array, by name in an object, or by position if it has no name. */
const elementAt = (value: string, i: number, name: string | undefined, context: CellContext): string => {
  const member =
    name === undefined
      ? jsonMember(value, `json_keys(${value})[${i + 1}]`)
      : `json_extract(${value}, ${context.bind(`/${pointerPart(name)}`)})`
  return `coalesce(json_extract(${value}, '$[${i}]'), ${member})`
}

/** JSON converted to a type: the type's default if it does not match, NULL if the type allows it. */
export function jsonAs(value: string, type: SqlType, context: CellContext): string {
  const orDefault = (sql: string) => (isNullable(type) ? sql : `coalesce(${sql}, ${defaultOf(type)})`)
  switch (type.kind) {
    case 'array': {
      const item = context.fresh()
      return `coalesce(list_transform(${jsonItems(value)}, lambda ${item}: ${jsonAs(item, type.item, context)}), [])`
    }
    case 'map': {
      const key = context.fresh()
      return once(
        context,
        value,
        (v) =>
          `map_from_entries(list_transform(coalesce(json_keys(${v}), []), lambda ${key}: row(${key}, ${jsonAs(jsonMember(v, key), type.value, context)})))`,
      )
    }
    case 'tuple':
      return once(
        context,
        value,
        (v) => `row(${type.items.map((item, i) => jsonAs(elementAt(v, i, type.names?.[i], context), item, context)).join(', ')})`,
      )
    default:
      if (isText(type)) return orDefault(textOf(value))
      if (isNamed(type, 'Bool'))
        return orDefault(
          once(
            context,
            `CAST(${value} AS VARCHAR)`,
            (v) => `CASE ${v} WHEN 'true' THEN true WHEN 'false' THEN false ELSE TRY_CAST(${v} AS DOUBLE) <> 0 END`,
          ),
        )
      if (isInteger(type)) return orDefault(once(context, textOf(value), (v) => wholeOf(v, duckdbType(notNull(type)))))
      if (isFloat(type)) return orDefault(`TRY_CAST(${textOf(value)} AS DOUBLE)`)
      return orDefault(`TRY_CAST(${textOf(value)} AS ${duckdbType(notNull(type))})`)
  }
}
