import type { Found } from './functions.ts'

// Why a drawn call of a function may differ. A row explains a difference when all of its patterns fit; the first one that fits is counted.

export interface Explanation {
  readonly reason: string
  readonly function?: RegExp
  readonly expression?: RegExp
  readonly duckdb?: RegExp
  readonly clickhouse?: RegExp
}

const refusedOnClickHouse = (says: RegExp, reason: string): Explanation => ({
  reason,
  duckdb: /^(?!refused)/,
  clickhouse: new RegExp(`^refused: .*(${says.source})`, says.flags),
})
const refusedOnDuckDb = (says: RegExp, reason: string): Explanation => ({
  reason,
  duckdb: new RegExp(`^refused: .*(${says.source})`),
  clickhouse: /^(?!refused)/,
})

const dates =
  /^(to(Date|DateTime\w*|Monday|Year\w*|ISO\w*|Quarter|Month|Week|YYYY\w*|DayOf\w*|StartOf\w*|LastDayOf\w*|UnixTimestamp\w*|Time|Interval\w*|ModifiedJulianDay|to_date)|to_char|timeSlots?|date\w*|age|add\w+s|subtract\w+s|tumble\w*|hop\w*|make_\w+|formatDateTime|timeStamp\w+|from\w+|to_timestamp|minus|plus|parseDateTime\w*|timezone\w*|toTimeZone)$/

/** Numbers of the draw that hardly any function is meant for. */
const hugeNumber = /9007199254740993|4294967296|2147483649|1e\+?1[05]|-1000000000000000/

export const explanations: readonly Explanation[] = [
  // What ClickHouse checks more strictly.
  refusedOnClickHouse(
    /Expected: const|either constant|must be (a )?const|Should be constant|must be constant/i,
    'ClickHouse wants a constant there',
  ),
  refusedOnClickHouse(
    /Nullable\(|NULL value to non-Nullable|must be array of|must be numeric type|key argument should be of|no supertype|just one type|has signature|expected to be Numeric|Illegal types Float64 and|Variant\(/,
    'ClickHouse has no such arrays and tuples there: of items that may be NULL, or of several types',
  ),
  refusedOnClickHouse(/bit position argument|number of shift positions/, 'ClickHouse has no bits beyond those of the type'),
  refusedOnClickHouse(
    /one-character string|exactly one byte|must not be shorter|must be ASCII/,
    'ClickHouse takes texts of one length, or of one kind, there',
  ),
  refusedOnClickHouse(
    /no groups in regexp|out-of-range, should be in|[Ll]ength of 'needle'|capturing groups|Substitution/,
    'ClickHouse wants groups in the regular expression, and those that are named',
  ),
  refusedOnClickHouse(/parse JSONPath/, 'ClickHouse reads no value by a path that is none'),
  refusedOnClickHouse(/does not contain '\/'/, 'ClickHouse wants a prefix of addresses'),
  refusedOnClickHouse(
    /Division by zero|must be greater than zero|must be positive|cannot be (negative|0)|(?:positive|non-negative) value|origin must be|Scale argument|must be not less than|must not larger|Datetime argument and origin|Convert overflow|Time overflow|[Tt]oo large|must be at least|max_width/,
    'ClickHouse refuses such a number or time there, DuckDB has an answer',
  ),
  refusedOnClickHouse(
    /Illegal type U?Int\d+ (of|for)|Must be U?Int\d+|Expected: U?Int|got: U?Int/,
    'ClickHouse takes no number there that is too big or below 0',
  ),
  refusedOnClickHouse(
    /Cannot (convert|parse) string|Cannot parse|out of range floating point|Unexpected value of/,
    'ClickHouse reads no such text as a constant of that type',
  ),
  refusedOnClickHouse(
    /must be the same|Expected same|promotable to|safely converted/,
    'ClickHouse adds up maps of the very same types only',
  ),
  // What DuckDB refuses.
  refusedOnDuckDb(
    /out of range/,
    'DuckDB refuses numbers and times beyond what its types hold, ClickHouse goes on from the other end or stops',
  ),
  refusedOnDuckDb(
    /must be (given as )?a (text )?constant/,
    'formats, patterns with groups and zones are read when the statement is made for DuckDB',
  ),
  refusedOnDuckDb(
    /Unknown time zone|is not a letter of date formats|Group index must be|cannot take a text, a text, a number/,
    'unknown zones, letters of formats and groups are refused when the statement is made for DuckDB, also beside NULL',
  ),
  { ...refusedOnDuckDb(/hex digit/, 'DuckDB unhexes hexadecimal digits only'), function: /^unhex$/ },
  refusedOnDuckDb(/Map keys must be unique/, 'a map of DuckDB has a key once'),
  { ...refusedOnDuckDb(/-?nan/, 'not a number is no decimal on DuckDB'), function: /Decimal/ },
  { ...refusedOnDuckDb(/a value of this type/, 'NULL has no type on DuckDB'), expression: /\[NULL\]/ },
  // Other answers.
  {
    reason: 'dates and times of ClickHouse begin in 1970, and end in 2106 or 2149',
    expression: /'(19[0-6]\d-|1970-01-0|2099-|2100-)/,
  },
  {
    reason: 'moved, or made of big numbers, dates and times of ClickHouse come out at the other end',
    function: dates,
    expression: /-?129\b|\b12[78]\b|\b25[56]\b|toDate\(-|2147483649|4294967296|9007199254740993|65536|(imestamp|to_timestamp)\(-|= -\d+/,
  },
  {
    reason: 'an array or a map cannot be NULL: it is empty on DuckDB, and NULL as a constant is NULL on ClickHouse',
    duckdb: /^[[{]/,
    clickhouse: /^null$/,
  },
  {
    reason: 'a DateTime of ClickHouse lies between 1970 and February 2106, and other seconds become its first or last',
    expression: /toDateTime\(-\d/,
  },
  { reason: 'windows of time of ClickHouse know no NULL', function: /^(tumble|hop)/, duckdb: /null/ },
  { reason: 'DuckDB finds NULL among the values, and ClickHouse does not', function: /^transform$/, expression: /NULL/ },
  { reason: 'ClickHouse numbers NULL among the items', function: /^arrayEnumerate/, expression: /NULL/ },
  {
    reason: 'what ClickHouse cuts or decodes in bytes need not be text, and text of DuckDB is whole',
    clickhouse: /\uFFFD|\\u00/,
  },
  {
    reason: 'ClickHouse leaves a backslash out that stands for nothing, DuckDB replaces nothing',
    function: /^replaceRegexp/,
    expression: /\\\\/,
  },
  {
    reason: 'ClickHouse reads the lone numbers of a text as a day and a month of this year, DuckDB as no time',
    expression: /'1\.5'/,
    duckdb: /^null$|^0$/,
    clickhouse: /\d{4}-(05-01|01-05)|^[01]$/,
  },
  {
    reason: 'ClickHouse is asked for quotes around numbers of 64 bits, for the comparison',
    duckdb: /\d/,
    clickhouse: /"-?\d+\\?"/,
    function: /^(toJSONString|tuple\w+|map\w+|L\w+Norm)$/,
  },
  {
    reason: 'ClickHouse goes on from the other end of the type, DuckDB has a wider one',
    function: /^(arrayProduct|mapSubtract|ceil|floor|round\w*|cosineDistance|intExp\w+|L\w+(Distance|Norm|Normalize)|tuple\w+)$/,
    expression: /mapSubtract|9007199254740993|4294967296|2147483649|\b(12[78]|-?129|25[56]|65536)\b/,
  },
  {
    reason: 'ClickHouse rounds in the type of the number, and goes on from its other end where a step does not fit',
    function: /^(ceil|floor|round\w*|trunc)$/,
    expression: /, -\d|, c\d/,
  },
  {
    reason: 'DuckDB counts with floats of 53 bits',
    function:
      /^(if|multiIf|toString|\w*Decimal\w*|ifNotFinite|formatReadable\w+|floor|ceil|width_bucket|intDiv\w*|arraySort|arrayReverseSort|arrayAvg)$/,
    expression: hugeNumber,
  },
  {
    reason: 'places beyond 32 bits are the last one on DuckDB',
    function: /^(substring\w*|left|right|position\w*|locate)$/,
    expression: hugeNumber,
  },
  { reason: 'a place in front of the first character is cut in another way on ClickHouse', function: /^substring/, expression: /-\d/ },
  {
    reason:
      'where a zone is off by less than whole hours, DuckDB counts the hours of its clocks, and ClickHouse those its clocks had in 1970',
    function: /^(date_?[dD]iff|age)$/,
    expression: /'hour'/,
  },
  {
    reason: 'beside a wide number without a sign ClickHouse takes one below 0 for a big one',
    function: /^(modulo|intDiv|positiveModulo|gcd|lcm|min2|max2|greatest|least)/,
    expression: /-\d/,
  },
  {
    reason: 'ClickHouse takes NULL among the items for the default of their type, too',
    function: /^(hasAny|hasAll)$/,
    expression: /NULL/,
  },
  {
    reason: 'ClickHouse counts an item that is twice in one array as if it were in two of them',
    function: /^arrayIntersect$/,
    clickhouse: /^\[.+\]$/,
  },
  {
    reason: 'whether a constant NULL is NOT IN a list with columns, ClickHouse answers the wrong way round',
    expression: /^NULL NOT IN /,
  },
  { reason: 'ClickHouse cuts an index of JSON to 32 bits', function: /^JSON/, expression: hugeNumber },
  { reason: 'a scale below 0 is none on DuckDB', function: /Decimal/, expression: /= -\d|, -\d|\(-\d/ },
  { reason: 'an empty word is one on ClickHouse', function: /^hasToken/, expression: /''/ },
  {
    reason: 'an empty text stands in an empty text on DuckDB, and nowhere on ClickHouse',
    function: /^(multiSearch|position|locate)/,
    expression: /''/,
  },
]

const fits = (pattern: RegExp | undefined, text: string): boolean => pattern === undefined || pattern.test(text)

export const explanationOf = (found: Found): Explanation | undefined =>
  explanations.find(
    (one) =>
      fits(one.function, found.name) &&
      fits(one.expression, found.expression) &&
      fits(one.duckdb, found.duckdb) &&
      fits(one.clickhouse, found.clickhouse),
  )
