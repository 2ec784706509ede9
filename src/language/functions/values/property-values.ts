import { numberText, readTypes, timeText } from '../../types/property-values.ts'
import { isNullable, type SqlType, scalar } from '../../types/types.ts'
import { rowsCall } from '../aggregates/aggregate.ts'
import { once } from '../cells/duckdb-values.ts'
import { instantOfText } from '../cells/text-times.ts'
import { call, type FunctionRow, type SqlCell } from '../row.ts'

// How the value of a property is converted. The resolver adds these calls around properties; statements cannot write them.

const regex = (pattern: string): string => `'${pattern}'`
const isWhole = { duckdb: 'regexp_full_match', clickhouse: 'match' } as const
const whole = (engine: keyof typeof isWhole, text: string, pattern: string): string =>
  `${isWhole[engine]}(${text}, ${regex(engine === 'duckdb' ? pattern : `^(${pattern})$`)})`

/** The number in a text; NULL for all other texts, and for numbers beyond the range of a float. */
export const duckdbNumber = (text: string): string => {
  const number = `TRY_CAST(${text} AS DOUBLE)`
  return `CASE WHEN ${whole('duckdb', text, numberText)} AND isfinite(${number}) THEN ${number} END`
}
export const clickhouseNumber = (text: string): string => {
  const number = `toFloat64OrNull(${text})`
  return `if(${whole('clickhouse', text, numberText)} AND isFinite(${number}), ${number}, NULL)`
}

export const duckdbFlag = (text: string): string => `CASE ${text} WHEN 'true' THEN true WHEN 'false' THEN false END`
export const clickhouseFlag = (text: string): string => `CAST(transform(${text}, ['true', 'false'], [1, 0], NULL) AS Nullable(Bool))`

/** A JSON text that reads as a number gets the mark in front. */
export const duckdbMarked = (text: string, isText = 'true'): string =>
  `CASE WHEN ${isText} AND ${whole('duckdb', text, numberText)} THEN chr(0) || ${text} ELSE ${text} END`
export const clickhouseMarked = (text: string): string => `if(${whole('clickhouse', text, numberText)}, concat(char(0), ${text}), ${text})`

/** A float as JavaScript and JSON write it: digits up to 1e21 and down to 1e-6, no trailing zeros. */
export function duckdbNumberText(number: string): string {
  const text = `CAST(${number} AS VARCHAR)`
  const digits = `regexp_replace(regexp_replace(${text}, 'e.*$', ''), '[-.]', '', 'g')`
  const exponent = `CAST(regexp_extract(${text}, 'e([+-]\\d+)$', 1) AS INTEGER)`
  const sign = `CASE WHEN ${number} < 0 THEN '-' ELSE '' END`
  return `CASE WHEN ${number} = trunc(${number}) AND abs(${number}) < 1e15 THEN CAST(CAST(${number} AS BIGINT) AS VARCHAR)
    WHEN NOT contains(${text}, 'e') THEN regexp_replace(${text}, '\\.0$', '')
    WHEN abs(${number}) >= 1e15 AND abs(${number}) < 1e21 THEN ${sign} || rpad(${digits}, ${exponent} + 1, '0')
    WHEN abs(${number}) < 1e-4 AND abs(${number}) >= 1e-6 THEN ${sign} || '0.' || repeat('0', -${exponent} - 1) || ${digits}
    ELSE regexp_replace(${text}, 'e([+-])0+', 'e\\1') END`.replace(/\n\s+/g, ' ')
}
export const clickhouseNumberText = (number: string): string => `replaceRegexpOne(toString(${number}), 'e(\\\\d)', 'e+\\\\1')`

const propertyRow = (name: string, returns: SqlType, duckdb: SqlCell, clickhouse: SqlCell): FunctionRow & { readonly name: string } => ({
  name,
  kind: 'scalar',
  args: [1, 1],
  returns: () => returns,
  summary: '',
  sql: { duckdb, clickhouse },
  cases: [],
})

/** Keyed by the result of the conversion. */
export const propertyRows = {
  number: propertyRow(
    '@number',
    readTypes.number,
    ([x]) => duckdbNumber(x!.sql),
    ([x]) => clickhouseNumber(x!.sql),
  ),
  boolean: propertyRow(
    '@boolean',
    readTypes.boolean,
    ([x]) => duckdbFlag(x!.sql),
    ([x]) => clickhouseFlag(x!.sql),
  ),
  time: propertyRow(
    '@time',
    readTypes.time,
    ([x], context) => `CASE WHEN ${whole('duckdb', x!.sql, timeText)} THEN ${instantOfText(x!.sql, context)} END`,
    ([x], context) =>
      `if(${whole('clickhouse', x!.sql, timeText)}, parseDateTime64BestEffortOrNull(${x!.sql}, 6, ${context.literal(context.timezone)}), NULL)`,
  ),
  numberText: propertyRow(
    '@numberText',
    readTypes.text,
    ([x], context) => once(context, x!.sql, duckdbNumberText),
    ([x]) => clickhouseNumberText(x!.sql),
  ),
  marked: propertyRow(
    '@marked',
    readTypes.text,
    ([x]) => duckdbMarked(x!.sql),
    ([x]) => clickhouseMarked(x!.sql),
  ),
  unmarked: propertyRow(
    '@unmarked',
    readTypes.text,
    ([x]) => `replace(${x!.sql}, chr(0), '')`,
    ([x]) => `replaceAll(${x!.sql}, char(0), '')`,
  ),
} as const

/** The value of a group whose values have the same text: a JSON number if there is one. */
export const keyRow: FunctionRow & { readonly name: string } = {
  ...propertyRow('@key', scalar('String', true), ([x], context) => rowsCall('max', [x!.sql], context), call('max')),
  kind: 'aggregate',
  returns: ([x]) => (isNullable(x!) ? x! : readTypes.text),
}
