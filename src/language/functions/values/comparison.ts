import { isFloat, isNamed, isNullable, isNumeric, isText, isTime, typeName } from '../../types/types.ts'
import { asNumber, isNullLiteral, toText } from '../cells/duckdb-values.ts'
import { instantOfText } from '../cells/text-times.ts'
import { momentOf } from '../cells/zone-text.ts'
import { always } from '../results.ts'
import type { Arg, Case, CellContext, FunctionRow } from '../row.ts'
import { type ScalarSpec, scalars } from '../scalars.ts'

// Comparisons never return NULL: NULL equals NULL only, and is neither less nor greater than anything.

const isNumberText = (constant: Arg['constant']): constant is string =>
  typeof constant === 'string' && constant.trim() !== '' && Number.isFinite(Number(constant))

/** Converts both sides to types that DuckDB compares as ClickHouse would. A number is compared with a text as text, unless the text is a numeric constant. */
function aligned(a: Arg, b: Arg, context: CellContext): readonly [string, string] {
  if (isText(a.type) && !isText(b.type)) {
    const [right, left] = aligned(b, a, context)
    return [left, right]
  }
  if (isText(b.type)) {
    if (isNumeric(a.type)) {
      if (isNumberText(b.constant)) return [asNumber(a), `CAST(${b.sql} AS ${/^-?\d{1,18}$/.test(b.constant) ? 'BIGINT' : 'DOUBLE'})`]
      return [toText(a, context), b.sql]
    }
    if (isNamed(a.type, 'UUID'))
      return typeof b.constant === 'string' ? [a.sql, `TRY_CAST(${b.sql} AS UUID)`] : [`CAST(${a.sql} AS VARCHAR)`, `lower(${b.sql})`]
    if (isNamed(a.type, 'Date')) return [a.sql, `TRY_CAST(${b.sql} AS DATE)`]
    if (isTime(a.type)) return [a.sql, instantOfText(b.sql, context)]
  }
  if (isTime(a.type) && isTime(b.type) && isNamed(a.type, 'Date') !== isNamed(b.type, 'Date'))
    return [midnight(a, context), midnight(b, context)]
  return isNamed(a.type, 'Bool') === isNamed(b.type, 'Bool') ? [a.sql, b.sql] : [asNumber(a), asNumber(b)]
}

/** A date next to a time is its midnight in the project's zone. */
const midnight = (arg: Arg, context: CellContext): string =>
  isNamed(arg.type, 'Date') ? momentOf(`CAST(${arg.sql} AS TIMESTAMP)`, context.timezone, context) : arg.sql

/** In ClickHouse, where a NULL condition makes `if` take the last branch. */
const flagText = ({ sql, type }: Arg): string => {
  const text = `if(${sql}, 'true', 'false')`
  return isNullable(type) ? `if(isNull(${sql}), NULL, ${text})` : text
}

/** ClickHouse has no common type for text and numbers either, except for constant texts. */
function alignedForClickhouse(a: Arg, b: Arg, context: CellContext): readonly [string, string] {
  const matched = (arg: Arg, other: Arg): string => {
    if (isText(other.type) && typeof other.constant === 'string' && (isNamed(arg.type, 'UUID') || isTime(arg.type))) return arg.sql
    if (isText(other.type) && (isNumeric(arg.type) || isNamed(arg.type, 'UUID')) && !isNumberText(other.constant))
      return isNamed(arg.type, 'Bool') ? flagText(arg) : `toString(${arg.sql})`
    if (isText(arg.type) && typeof arg.constant !== 'string') {
      if (isNamed(other.type, 'UUID')) return `lower(${arg.sql})`
      if (isNamed(other.type, 'Date')) return `toDateOrNull(${arg.sql})`
      if (isTime(other.type)) return `parseDateTime64BestEffortOrNull(${arg.sql}, 6, ${context.literal(context.timezone)})`
    }
    if (isNamed(arg.type, 'Date') && isTime(other.type) && !isNamed(other.type, 'Date'))
      return `toDateTime(${arg.sql}, ${context.literal(context.timezone)})`
    return arg.sql
  }
  return [matched(a, b), matched(b, a)]
}

/** Whether the converted sides may be NULL: a text that is read as a time or UUID may be invalid. */
const mayBeNull = (a: Arg, b: Arg): boolean => isNullable(a.type) || isNullable(b.type) || isText(a.type) !== isText(b.type)

const isUuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i
/** A text read as a nullable time or UUID: an invalid text does not equal NULL. */
const readsText = (a: Arg, b: Arg): boolean => {
  const [text, other] = isText(a.type) ? [a, b] : [b, a]
  if (!isText(text.type) || !isNullable(other.type) || (!isNamed(other.type, 'UUID') && !isTime(other.type))) return false
  return !(typeof text.constant === 'string' && isNamed(other.type, 'UUID') && isUuid.test(text.constant))
}

/** DuckDB treats nan as equal to nan and greater than all numbers. */
const mayBeNan = (arg: Arg): boolean => isFloat(arg.type) && (arg.constant === undefined || Number.isNaN(arg.constant))

function equality(isEqual: boolean): FunctionRow['sql'] {
  const test = isEqual ? 'IS NULL' : 'IS NOT NULL'
  return {
    duckdb: ([a, b], context) => {
      if (isNullLiteral(a!) || isNullLiteral(b!)) return `(${isNullLiteral(a!) ? b!.sql : a!.sql} ${test})`
      const [left, right] = aligned(a!, b!, context)
      if (readsText(a!, b!)) {
        const equal = `coalesce(${left} = ${right}, ${a!.sql} IS NULL AND ${b!.sql} IS NULL)`
        return isEqual ? equal : `(NOT ${equal})`
      }
      const [is, isNot] = mayBeNull(a!, b!) ? ['IS NOT DISTINCT FROM', 'IS DISTINCT FROM'] : ['=', '<>']
      if (!mayBeNan(a!) || !mayBeNan(b!)) return `(${left} ${isEqual ? is : isNot} ${right})`
      const nan = isNullable(a!.type) ? `coalesce(isnan(${left}), false)` : `isnan(${left})`
      return isEqual ? `(${left} ${is} ${right} AND NOT ${nan})` : `(${left} ${isNot} ${right} OR ${nan})`
    },
    clickhouse: ([a, b], context) => {
      if (isNullLiteral(a!) || isNullLiteral(b!)) return `${isEqual ? 'isNull' : 'isNotNull'}(${isNullLiteral(a!) ? b!.sql : a!.sql})`
      const [left, right] = alignedForClickhouse(a!, b!, context)
      const plain = `${isEqual ? 'equals' : 'notEquals'}(${left}, ${right})`
      if (!mayBeNull(a!, b!)) return plain
      // isNotDistinctFrom() rejects different types.
      if (isNullable(a!.type) && isNullable(b!.type)) {
        const same =
          typeName(a!.type) === typeName(b!.type)
            ? `isNotDistinctFrom(${left}, ${right})`
            : `ifNull(equals(${left}, ${right}), isNull(${a!.sql}) AND isNull(${b!.sql}))`
        return `${isEqual ? '' : 'not'}(${same})`
      }
      return `ifNull(${plain}, ${isEqual ? 0 : 1})`
    },
  }
}

function ordering(operator: string, name: string): FunctionRow['sql'] {
  return {
    duckdb: ([a, b], context) => {
      const [left, right] = aligned(a!, b!, context)
      const [above, printed] = operator.startsWith('>') ? [a!, left] : [b!, right]
      const holds = `${left} ${operator} ${right}${mayBeNan(above) ? ` AND NOT isnan(${printed})` : ''}`
      return mayBeNull(a!, b!) ? `coalesce(${holds}, false)` : `(${holds})`
    },
    clickhouse: ([a, b], context) => {
      const [left, right] = alignedForClickhouse(a!, b!, context)
      return mayBeNull(a!, b!) ? `ifNull(${name}(${left}, ${right}), 0)` : `${name}(${left}, ${right})`
    },
  }
}

const comparison = (summary: string, sql: FunctionRow['sql'], cases: readonly Case[]): ScalarSpec => ({
  args: 2,
  returns: always('Bool'),
  summary,
  ...sql,
  cases,
})

export const comparisonFunctions = scalars({
  equals: comparison('Equality; NULL equals NULL.', equality(true), [
    ['equals(1, 1.0)', 1],
    ["equals('a', 'b')", 0],
    ['equals(null, null)', 1],
    ["toUUID('x') = 'y'", 0],
    ["toUUID('x') != 'y'", 1],
    ["toDateTime('x') = concat('y', 'z')", 0],
    ["select toUUID('x') = y from (select toNullable('y') as y)", 0],
    ["select toUUID('x') = y from (select arrayJoin([null]::Array(Nullable(String))) as y)", 1],
    ['equals(null, 2)', 0],
    ["select b = t from (select if(1 = 1, null, true) as b, concat('fal', 'se') as t)", 0],
    ["equals(toNullable('a'), 'a')", 1],
    ['equals([1, 2], [1, 2])', 1],
    ["equals(5, '5')", 1],
    ["equals(5, concat('5', ''))", 1],
    ["equals(toUUID('59f0c404-5cb3-11e7-907b-a6006ad3dba0'), '59F0C404-5cb3-11e7-907b-a6006ad3dba0')", 1],
    ["equals(toUUID('59f0c404-5cb3-11e7-907b-a6006ad3dba0'), concat('59f0c404-5cb3-11e7-907b-a6006ad3dba0', ''))", 1],
    ["equals(toDateTime('2024-01-01 00:00:00'), concat('2024-01-01', ''))", 1],
    ['equals(toFloat(2), 2)', 1],
    ['equals(1 = 1, 2)', 0],
    ['equals(nan, nan)', 0],
    ['equals(0 / 0, 0 / 0)', 0],
    ['equals(0 / 0, toNullable(0) / 0)', 0],
  ]),
  notEquals: comparison('Inequality; NULL differs from everything except NULL.', equality(false), [
    ['notEquals(1, 2)', 1],
    ['notEquals(null, 2)', 1],
    ['notEquals(0 / 0, 0 / 0)', 1],
    ['notEquals(null, null)', 0],
    ["notEquals(toNullable('a'), toNullable('a'))", 0],
  ]),
  less: comparison('Whether the first value is less than the second; false if either is NULL.', ordering('<', 'less'), [
    ['less(1, 2)', 1],
    ['less(1, 0 / 0)', 0],
    ["less('b', 'a')", 0],
    ['less(null, 2)', 0],
    ["less(toDate('2024-01-01'), toDate('2024-01-02'))", 1],
    ["less(toDate('2024-01-01'), '2024-01-02')", 1],
    ["less(toDate('2024-01-01'), toDateTime('2024-01-01 10:00:00'))", 1],
  ]),
  lessOrEquals: comparison(
    'Whether the first value is less than or equal to the second; false if either is NULL.',
    ordering('<=', 'lessOrEquals'),
    [
      ['lessOrEquals(2, 2)', 1],
      ['lessOrEquals(null, null)', 0],
      ['lessOrEquals(toNullable(3), 2)', 0],
    ],
  ),
  greater: comparison('Whether the first value is greater than the second; false if either is NULL.', ordering('>', 'greater'), [
    ['greater(2, 1)', 1],
    ['greater(0 / 0, 1)', 0],
    ['greater(1 / 0, 1)', 1],
    ['greater(2, null)', 0],
    ["greater(toDateTime('2024-01-02 00:00:00'), '2024-01-01')", 1],
    ["greater(toDateTime('2024-01-02 00:00:00'), toDateTime('2024-01-02 00:00:00'))", 0],
  ]),
  greaterOrEquals: comparison(
    'Whether the first value is greater than or equal to the second; false if either is NULL.',
    ordering('>=', 'greaterOrEquals'),
    [
      ['greaterOrEquals(2, 2)', 1],
      ['greaterOrEquals(1, 2)', 0],
      ['greaterOrEquals(null, null)', 0],
    ],
  ),
})
