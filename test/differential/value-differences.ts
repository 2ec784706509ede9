import type { Compared } from './argument-values.ts'

// Why a call with a value of another type may differ between the engines. The first row that fits is counted; a difference that fits none fails.

export interface ValueDifference {
  readonly reason: string
  /** Absent: all. */
  readonly functions?: RegExp
  /** Types of the value. Absent: all. */
  readonly types?: RegExp
  /** What DuckDB answers, and ClickHouse. */
  readonly duckdb?: RegExp
  readonly clickhouse?: RegExp
}

const refused = (says: string) => new RegExp(`^refused: .*(${says})`)

export const valueDifferences: readonly ValueDifference[] = [
  // What DuckDB refuses.
  {
    reason: 'ClickHouse of 2025 makes values of several types there (Variant), which DuckDB does not have',
    duckdb: refused(
      'cannot combine|must be of one type|is not a number|Cannot convert|check the types of its values|takes an array, a map',
    ),
  },
  {
    reason:
      'numbers, times and sizes beyond what the types of DuckDB hold are refused, where ClickHouse wraps around or stops at the last one',
    duckdb: refused('out of range|Invalid time value|not in timestamp range|would produce'),
  },
  {
    reason: 'formats, zones, units, patterns with groups and names of types are read when the statement is made for DuckDB',
    duckdb: refused('must be (given as )?a (text )?constant|Unknown time zone'),
  },
  {
    reason: 'DuckDB converts no value of this type there; the message names the function or its arguments',
    types: /^(Bool|Comparison|Float64|Decimal|Interval|Array|Tuple|Map|NULL|U?Int|Date|UUID)/,
    duckdb: refused('no function or operator takes|needs (a|an|two) |needs maps|Cannot convert|ORDER BY non-integer literal'),
  },
  {
    reason: 'an address, a word, a hexadecimal digit or a value of a strict cast must be one on DuckDB',
    functions: /^(_to\w+|hasToken\w*|unhex|base64Decode|IPv4\w+|isIPAddressInRange|toIPv\w+|accurateCast|UUID\w+|uuid\w*|bar|map\w*)$/,
    duckdb: /^refused: /,
  },
  // Other answers.
  { reason: 'intervals by themselves are text on DuckDB and numbers on ClickHouse', types: /^Interval$/ },
  {
    reason: 'dates and times of ClickHouse begin in 1970 and end in 2106, 2149 or 9999',
    clickhouse: /"(1970-01-0[1-9]|2106-02-0[67]|2149-0[56]|9999-|0000-)|\[\[0\]\]/,
    types: /Int|Float|Date|Decimal|Bool|Comparison/,
    functions:
      /^(to(_d|_t|D|M|S|L|Y|U|W|I)\w+|from\w+|make_\w+|add\w+|subtract\w+|date\w+|timeStamp\w+|plus|minus|parseDateTime\w*|hop\w*|tumble\w*|timeSlots?|age)$/i,
  },
  {
    reason: 'windows of time of ClickHouse take what is no time for the first one of 1970',
    functions: /^(tumble|hop|timeSlots)/,
  },
  {
    reason: 'whole numbers wrap around in the type of ClickHouse, DuckDB counts on',
    types: /Int/,
    functions:
      /^(plus|minus|multiply|negate|positiveModulo|tuple(Plus|Minus|Multiply\w*|Negate)|avg\w*|map(Add|Subtract)|intExp\w+|substring\w*)$/,
  },
  {
    reason: 'what is not a number stands above all numbers on DuckDB, and aside on ClickHouse',
    types: /^Float64$/,
    functions:
      /^(greatest|least|max2|min2|sign|roundDown|(max|min|any|arg(Max|Min)|quantiles?|median)\w*|\w+Arg(Max|Min)\w*|contingency|theilsU|topK)$/,
  },
  {
    reason: 'of decimals ClickHouse takes the digits as a whole number there',
    types: /^Decimal$/,
    functions: /^(modulo\w*|positiveModulo|reinterpret\w+|hex|tupleDivide\w*)$/,
  },
  {
    reason: 'ClickHouse counts the members of an object too, and takes the lowest 32 bits of a position in JSON',
    types: /Int/,
    functions: /^JSON/,
  },
  {
    reason:
      'an array, a map or a tuple cannot be NULL: NULL as a constant is NULL on ClickHouse, and empty or a part without value on DuckDB',
    types: /^NULL$/,
    clickhouse: /^\[\[null/,
  },
  {
    reason: 'ClickHouse cuts bytes, and half of a character is none: text of DuckDB is whole',
    types: /^String$/,
    functions: /^(reverse|substring|leftPad|rightPad|lpad|rpad)$/,
  },
  { reason: 'an empty word is refused or NULL on DuckDB, and in no text on ClickHouse', types: /^String$/, functions: /^hasToken/ },
  {
    reason: 'a Boolean among numbers makes Booleans of them on ClickHouse',
    types: /^(Bool|NULL)$/,
    functions: /^(array|map|roundDown|greatest|least)$/,
  },
  {
    reason: 'a time of DuckDB has six digits of a second, and what is read as a time has them also when it was a date or a number',
    functions: /^(toDateTime64|parseDateTimeBestEffort)$/,
  },
  {
    reason: 'ClickHouse is asked for quotes around numbers of 64 bits, for the comparison, also inside of text',
    functions: /^(toJSONString|json_agg)$/,
  },
  {
    reason: 'ClickHouse is asked for quotes around numbers of 64 bits',
    duckdb: /^\[\[.*\d/,
    clickhouse: /"-?\d{1,20}"/,
    types: /Int|Bool|Comparison/,
  },
  {
    reason: 'which value, and the order of values, is left open',
    functions: /^(any\w*|arg(Max|Min)\w*|groupUniqArray\w*|topK\w*|sequence\w*|deltaSumTimestamp\w*|maxIntersections\w*)$/,
  },
  {
    reason: 'a statistic of one value, or of no rows, is not a number on ClickHouse',
    functions: /^(contingency|theilsU|simpleLinearRegression|exponentialMovingAverage)\w*$|Arg(Max|Min)\w*$/,
    clickhouse: /null/,
  },
  {
    reason: 'over NULL alone the type is Nothing on ClickHouse, and its answer NULL or 0',
    types: /^NULL$/,
    clickhouse: /^\[\[(null|0|\[\])/,
  },
]

export const reasonOf = ({ name, type, duckdb, clickhouse }: Compared): string | undefined =>
  valueDifferences.find(
    (one) =>
      (one.functions?.test(name) ?? true) &&
      (one.types?.test(type) ?? true) &&
      (one.duckdb?.test(duckdb) ?? !duckdb.startsWith('refused')) &&
      (one.clickhouse?.test(clickhouse) ?? true),
  )?.reason
