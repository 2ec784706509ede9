import type { Found } from './functions.ts'

// Why a drawn call of a function may differ. A row names its functions and what each engine answers: another function, or another answer, is a difference
// without an explanation. The first row that fits is counted.

export interface Explanation {
  readonly reason: string
  readonly functions: string
  readonly duckdb: RegExp
  readonly clickhouse: RegExp
  /** Part of the call, where that matters. */
  readonly expression?: RegExp
}

const anAnswer = /^(?!refused)/
const refusedOnClickHouse = (functions: string, says: RegExp, reason: string): Explanation => ({
  reason,
  functions,
  duckdb: anAnswer,
  clickhouse: new RegExp(`^refused: .*(${says.source})`, says.flags),
})
const refusedOnDuckDb = (functions: string, says: RegExp, reason: string): Explanation => ({
  reason,
  functions,
  duckdb: new RegExp(`^refused: .*(${says.source})`),
  clickhouse: anAnswer,
})

/** Before 1970, or behind February 2106. */
const farTime = /^"(-|[+]\d{6}|0|1[0-8]|19[0-6]|210[6-9]|21[1-9]|2[2-9]|[3-9])/
const anyTime = /^"[+-]?\d{4,6}-\d\d/

export const explanations: readonly Explanation[] = [
  // What ClickHouse checks more strictly.
  refusedOnClickHouse(
    `
      LpNormalize alphaTokens countMatches countMatchesCaseInsensitive extractAll hasAllTokens hasAnyTokens ngrams regexpExtract splitByChar
      splitByRegexp splitByString splitByWhitespace split_part trim trimLeft trimRight`,
    /Expected: const|either constant|must be (a )?const|Should be constant|must be constant/i,
    'ClickHouse wants a constant there',
  ),
  refusedOnClickHouse(
    `
      greatest
      IPv4CIDRToRange IPv4StringToNum IPv4StringToNumOrDefault IPv4StringToNumOrNull L1Distance L2Distance L2Norm LinfDistance LinfNorm
      LpDistance LpNorm LpNormalize arrayAUC arrayAll arrayAvg arrayCount arrayCumSum arrayCumSumNonNegative arrayDifference arrayElement
      arrayExists arrayProduct arrayResize arraySum arrayWithConstant assumeNotNull dotProduct hasAll hasAny hasSubstr hop hopStart
      isIPAddressInRange mapAdd mapContains mapContainsKeyLike mapPopulateSeries mapSubtract multiMatchAllIndices multiMatchAny
      multiMatchAnyIndex multiSearchAllPositions multiSearchAllPositionsCaseInsensitive multiSearchAllPositionsCaseInsensitiveUTF8
      multiSearchAllPositionsUTF8 multiSearchAny multiSearchAnyCaseInsensitive multiSearchAnyCaseInsensitiveUTF8 multiSearchAnyUTF8
      multiSearchFirstIndex multiSearchFirstIndexCaseInsensitive multiSearchFirstIndexCaseInsensitiveUTF8 multiSearchFirstIndexUTF8
      multiSearchFirstPosition multiSearchFirstPositionCaseInsensitive multiSearchFirstPositionCaseInsensitiveUTF8
      multiSearchFirstPositionUTF8 roundDown sortablesemver splitByChar toStartOfInterval transform tumbleStart tupleElement
      tupleToNameValuePairs`,
    /Nullable\(|NULL value to non-Nullable|must be array of|must be numeric type|key argument should be of|no supertype|just one type|has signature|expected to be Numeric|Illegal types Float64 and|Variant\(/,
    'ClickHouse has no such arrays and tuples there: of items that may be NULL, or of several types',
  ),
  refusedOnClickHouse(
    'bitShiftLeft bitShiftRight bitTest bitTestAll bitTestAny',
    /bit position argument|number of shift positions/,
    'ClickHouse has no bits beyond those of the type',
  ),
  refusedOnClickHouse(
    'appendTrailingCharIfAbsent splitByChar translate translateUTF8',
    /one-character string|exactly one byte|must not be shorter|must be ASCII/,
    'ClickHouse takes texts of one length, or of one kind, there',
  ),
  refusedOnClickHouse(
    `
      extractAllGroups extractAllGroupsHorizontal extractAllGroupsVertical extractGroups regexpExtract replaceRegexpOne`,
    /no groups in regexp|out-of-range, should be in|[Ll]ength of 'needle'|capturing groups|Substitution/,
    'ClickHouse wants groups in the regular expression, and those that are named',
  ),
  refusedOnClickHouse('JSON_VALUE', /parse JSONPath/, 'ClickHouse reads no value by a path that is none'),
  refusedOnClickHouse('isIPAddressInRange', /does not contain '\/'/, 'ClickHouse wants a prefix of addresses'),
  refusedOnClickHouse(
    `
      divideDecimal
      LpDistance LpNorm LpNormalize arrayWithConstant bar ceil date_bin divideDecimal floor gcd hop hopEnd hopStart lcm positiveModulo round
      roundBankers timeSlots toStartOfInterval trunc tumbleEnd width_bucket`,
    /Division by zero|must be greater than zero|must be positive|cannot be (negative|0)|(?:positive|non-negative) value|origin must be|Scale argument|must be not less than|must not larger|Datetime argument and origin|Convert overflow|Time overflow|[Tt]oo large|must be at least|max_width/,
    'ClickHouse refuses such a number or time there, DuckDB has an answer',
  ),
  refusedOnClickHouse(
    `
      IPv4CIDRToRange IPv4NumToString bitTestAll bitTestAny countSubstrings countSubstringsCaseInsensitive countSubstringsCaseInsensitiveUTF8
      if locate multiIf position positionCaseInsensitive positionCaseInsensitiveUTF8 positionUTF8 width_bucket`,
    /Illegal type U?Int\d+ (of|for)|Must be U?Int\d+|Expected: U?Int|got: U?Int/,
    'ClickHouse takes no number there that is too big or below 0',
  ),
  refusedOnClickHouse(
    '_toInt32 _toInt64 _toInt8 _toUInt128 _toUInt64 _toUInt8 equals formatReadableTimeDelta less',
    /Cannot (convert|parse) string|Cannot parse|out of range floating point|Unexpected value of/,
    'ClickHouse reads no such text as a constant of that type',
  ),
  refusedOnClickHouse(
    'mapAdd mapPopulateSeries mapSubtract mapUpdate',
    /must be the same|Expected same|promotable to|safely converted/,
    'ClickHouse adds up maps of the very same types only',
  ),
  // What DuckDB refuses.
  refusedOnDuckDb(
    `
      addYears date_subtract tupleMultiply
      addDays addHours addMinutes addMonths addWeeks arrayMap ceil countSubstringsCaseInsensitive countSubstringsCaseInsensitiveUTF8 dateAdd
      dateSub date_add date_bin dotProduct fromModifiedJulianDay fromUnixTimestamp hop hopStart lgamma make_interval multiply multiplyDecimal
      plus subtractDays subtractHours subtractMonths subtractQuarters subtractWeeks subtractYears timeStampAdd timeStampSub toDate
      toIntervalDay toIntervalHour toIntervalMinute toIntervalMonth toIntervalQuarter toIntervalWeek toIntervalYear toStartOfInterval
      to_timestamp tumble tumbleStart tupleMultiplyByNumber width_bucket`,
    /out of range/,
    'DuckDB refuses numbers and times beyond what its types hold, ClickHouse wraps around or stops',
  ),
  refusedOnDuckDb(
    `
      timeZoneOffset
      arrayStringConcat dateTrunc date_trunc divideDecimal extractAllGroups extractAllGroupsHorizontal extractAllGroupsVertical extractGroups
      format formatDateTime formatReadableTimeDelta make_timestamp make_timestamptz parseDateTime regexpExtract timezone toDayOfWeek
      toStartOfDay toStartOfWeek toTimeZone toUnixTimestamp to_char tumbleEnd`,
    /must be (given as )?a (text )?constant/,
    'formats, patterns with groups and zones are read when the statement is made for DuckDB',
  ),
  refusedOnDuckDb(
    'to_char make_timestamp make_timestamptz regexpExtract toStartOfWeek toTimeZone',
    /Unknown time zone|is not a specifier of date formats|Group index must be|cannot take a text, a text, a number/,
    'unknown zones, letters of formats and groups are refused when the statement is made for DuckDB, also beside NULL',
  ),
  refusedOnDuckDb('unhex', /hex digit/, 'DuckDB unhexes hexadecimal digits only'),
  refusedOnDuckDb('mapFilter mapKeys mapUpdate', /Map keys must be unique/, 'a map of DuckDB has a key once'),
  { ...refusedOnDuckDb('tupleElement', /a value of this type/, 'NULL has no type on DuckDB'), expression: /\[NULL\]|\]\[/ },
  // Other answers.
  {
    reason:
      'dates and times of ClickHouse begin in 1970 and end in 2106, 2149 or 9999: others become the first, the last, or go on from the other end',
    functions: `
      addHours addMinutes addQuarters addYears dateSub fromUnixTimestamp make_interval plus subtractHours subtractMinutes subtractQuarters
      toDate toDateTime toIntervalDay toIntervalHour toIntervalMinute toIntervalMonth toIntervalQuarter toIntervalSecond toIntervalYear
      toMonday toStartOfISOYear toStartOfInterval toStartOfWeek to_timestamp`,
    duckdb: farTime,
    clickhouse: anyTime,
  },
  {
    reason: 'a number that counts seconds or days beyond those is its first or last one on ClickHouse',
    functions: 'toDateTime fromUnixTimestamp to_timestamp',
    duckdb: /^"(1970-01-01|2106)/,
    clickhouse: /^"(1970-01-01|2106-02-07)/,
    expression: /\(-|= -\d|4294967296/,
  },
  {
    reason: 'of 16 bits of a step of months ClickHouse takes 8',
    functions: 'tumbleEnd',
    expression: /toIntervalMonth\(255\)/,
    duckdb: /^"1985-01-01"$/,
    clickhouse: /^"1991-04-01"$/,
  },
  {
    reason: 'zones had other offsets in 1970, which ClickHouse takes for days',
    functions: 'date_diff dateDiff',
    expression: /toDate\(.*1970-01-03/,
    duckdb: /^-?\d{10}$/,
    clickhouse: /^-?\d{10}$/,
  },
  {
    reason: 'DuckDB has a limit for what one row makes',
    functions: 'timeSlots bar',
    duckdb: /^refused: '(timeSlots|bar)' would produce/,
    clickhouse: /^(\d+|null|\["20)/,
  },
  {
    reason: 'an array or a map cannot be NULL: it is empty on DuckDB, and NULL as a constant is NULL on ClickHouse',
    functions: `
      LpNormalize alphaTokens arrayRotateLeft arrayRotateRight extractAllGroupsHorizontal extractGroups hop mapExtractKeyLike multiMatchAllIndices
      multiSearchAllPositions multiSearchAllPositionsCaseInsensitive multiSearchAllPositionsCaseInsensitiveUTF8 multiSearchAllPositionsUTF8
      splitByChar splitByRegexp splitByString splitByWhitespace tumble tupleMultiplyByNumber`,
    duckdb: /^[[{]/,
    clickhouse: /^null$/,
  },
  {
    reason: 'windows of time of ClickHouse know no NULL',
    functions: 'tumble tumbleEnd tumbleStart',
    duckdb: /^(null|\[null,null\])$/,
    clickhouse: /^\[?"(19|20)\d\d-/,
  },
  { reason: 'a window of ClickHouse that ends before it begins is NULL', functions: 'hopEnd', duckdb: /^"20\d\d-/, clickhouse: /^null$/ },
  {
    reason: 'DuckDB finds NULL among the values, and ClickHouse does not',
    functions: 'transform',
    expression: /^transform\(NULL|c0 = NULL/,
    duckdb: /^(-?\d+|"\w+")$/,
    clickhouse: /^(-?\d+|"\w+"|null)$/,
  },
  {
    reason: 'ClickHouse numbers NULL among the items',
    functions: 'arrayEnumerateDense arrayEnumerateUniq',
    expression: /NULL/,
    duckdb: /^\[.*null.*\]$/,
    clickhouse: /^\[[\d,]+\]$/,
  },
  {
    reason: 'ClickHouse cuts and decodes bytes, and half of a character is none: text of DuckDB is whole',
    functions: 'reverse splitByString substring',
    duckdb: /^\[?"[^\uFFFD]*"\]?$/,
    clickhouse: /^\[?"[^"]*\uFFFD/,
  },
  {
    reason: 'ClickHouse decodes bytes, and text of DuckDB is UTF-8',
    functions: 'base64Decode unhex',
    duckdb: /^refused: The argument is not the (hexadecimal digits|base64) of text in UTF-8$/,
    clickhouse: /^".*\uFFFD/,
  },
  {
    reason: 'ClickHouse leaves a backslash out that stands for nothing, DuckDB replaces nothing',
    functions: 'replaceRegexpAll replaceRegexpOne',
    expression: /\\\\/,
    duckdb: /^"[^"\\]*"$/,
    clickhouse: /^"[^"\\]*b[^"\\]*"$/,
  },
  {
    reason: 'ClickHouse reads a text of bare numbers as a day and a month of this year; DuckDB does not read it as a time',
    functions: 'parseDateTimeBestEffort toDateTime toDateTimeUS',
    expression: /'1\.5'/,
    duckdb: /^(null|0)$/,
    clickhouse: /\d{4}-(05-01|01-05)|^[01]$/,
  },
  {
    reason: 'ClickHouse is asked for quotes around numbers of 64 bits, for the comparison, also inside of text',
    functions: 'toJSONString',
    duckdb: /^"([[{].*)?-?\d{6,}/,
    clickhouse: /\\"-?\d+\\"/,
  },
  {
    reason: 'ClickHouse is asked for quotes around numbers of 64 bits, which are whole here',
    functions: 'L1Norm tuple tuplePlus tupleMultiplyByNumber',
    duckdb: /^[[\d]/,
    clickhouse: /"-?\d+"/,
  },
  {
    reason: 'ClickHouse wraps around below 0, where the values of the map are unsigned',
    functions: 'mapSubtract',
    duckdb: /:-\d/,
    clickhouse: /:("1844674407370955\d{4}"|\d+|"\d+")/,
  },
  {
    reason: 'ClickHouse multiplies in the type of the items, DuckDB in floats',
    functions: 'L2Norm L2Normalize',
    expression: /4294967296|9007199254740993|2147483649/,
    duckdb: /^-?\d[\d.e+-]*$/,
    clickhouse: /^(null|-?\d[\d.e+-]*)$/,
  },
  {
    reason: 'ClickHouse multiplies in the type of the items, and divides by 0 then',
    functions: 'cosineDistance',
    expression: /4294967296|9007199254740993|2147483649/,
    duckdb: /^[\d.e+-]+$/,
    clickhouse: /^(null|[\d.e+-]+)$/,
  },
  {
    reason: 'ClickHouse takes 8 bits of an exponent of ten',
    functions: 'intExp10',
    duckdb: /^("18446744073709551615"|0)$/,
    clickhouse: /^[01]$|^\d+$/,
  },
  {
    reason: 'DuckDB counts with floats of 53 bits',
    functions: 'ceil floor round roundBankers trunc',
    expression: /9007199254740993/,
    duckdb: /^"9007199254740992"$/,
    clickhouse: /^"9007199254740993"$/,
  },
  {
    reason: 'DuckDB counts with floats of 53 bits',
    functions: 'arrayAvg',
    expression: /9007199254740993/,
    duckdb: /^\d{16}$/,
    clickhouse: /^\d{16}$/,
  },
  {
    reason: 'DuckDB counts with floats of 53 bits',
    functions: 'ifNotFinite',
    duckdb: /^9007199255000000$/,
    clickhouse: /^"9007199254740993"$/,
  },
  {
    reason: 'DuckDB counts with floats of 53 bits',
    functions: 'arraySort arrayReverseSort',
    expression: /modulo\(x, .*(9007199254740993|4294967296)/,
    duckdb: /9007199254740993|4294967296/,
    clickhouse: /9007199254740993|4294967296/,
  },
  {
    reason: 'ClickHouse writes no more than the largest unit of so many seconds',
    functions: 'formatReadableTimeDelta',
    expression: /9007199254740993/,
    duckdb: /^"285616414 years, /,
    clickhouse: /^"285616414 years"$/,
  },
  {
    reason: 'ClickHouse is asked for quotes around numbers of 64 bits, which are whole here',
    functions: 'multiIf if',
    duckdb: /^-?\d+$/,
    clickhouse: /^"-?\d+"$/,
  },
  {
    reason: 'ClickHouse rounds in the type of the number, and wraps around where a step does not fit',
    functions: 'ceil floor round roundBankers trunc',
    expression: /, -\d|= -\d/,
    duckdb: /^-?\d+$/,
    clickhouse: /^-?\d+$/,
  },
  {
    reason: 'a position far in front of the text is the first on ClickHouse, and leaves nothing on DuckDB',
    functions: 'substringUTF8',
    expression: /-2147483649/,
    duckdb: /^""$/,
    clickhouse: /^"héllo"$/,
  },
  {
    reason: 'a position in front of the first character is cut in another way on ClickHouse',
    functions: 'substringUTF8',
    expression: /-\d/,
    duckdb: /^"(héll)?"$/,
    clickhouse: /^"h(éllo)?"$/,
  },
  {
    reason:
      'in a zone whose offset is not in whole hours, DuckDB counts hours of its local time, and ClickHouse those of its offset in 1970',
    functions: 'age dateDiff date_diff',
    expression: /'hour'/,
    duckdb: /^-?\d+$/,
    clickhouse: /^-?\d+$/,
  },
  {
    reason: 'beside a number without a sign ClickHouse takes one below 0 for a large one',
    functions: 'intDiv intDivOrZero modulo positiveModulo',
    expression: /-\d/,
    duckdb: /^-?\d+$/,
    clickhouse: /^\d+$/,
  },
  {
    reason: 'ClickHouse takes NULL among the items for the default of their type, too',
    functions: 'hasAny hasAll',
    expression: /NULL/,
    duckdb: /^0$/,
    clickhouse: /^1$/,
  },
  {
    reason: 'ClickHouse counts an item that occurs twice in one array as if it were in two arrays',
    functions: 'arrayIntersect',
    duckdb: /^\[\]$/,
    clickhouse: /^\[.+\]$/,
  },
  {
    reason: 'a scale that is NULL is 0 on DuckDB',
    functions: 'divideDecimal',
    expression: /, NULL\)/,
    duckdb: /^-?\d+$/,
    clickhouse: /^null$/,
  },
  {
    reason: 'an empty word is refused or NULL on DuckDB, and in no text on ClickHouse',
    functions: 'hasToken hasTokenCaseInsensitive',
    expression: /''/,
    duckdb: /^refused: The second argument must be one word$/,
    clickhouse: /^0$/,
  },
  {
    reason: 'an empty word is refused or NULL on DuckDB, and in no text on ClickHouse',
    functions: 'hasTokenOrNull hasTokenCaseInsensitiveOrNull',
    expression: /''/,
    duckdb: /^null$/,
    clickhouse: /^0$/,
  },
  {
    reason: 'an empty text stands in an empty text on DuckDB, and nowhere on ClickHouse',
    functions: 'locate multiSearchAnyCaseInsensitiveUTF8 positionCaseInsensitiveUTF8',
    expression: /''/,
    duckdb: /^[13]$/,
    clickhouse: /^0$/,
  },
  {
    reason: 'a group is chosen when the statement is made for DuckDB, also beside NULL',
    functions: 'regexpExtract',
    expression: /^regexpExtract\((NULL|c\d)/,
    duckdb: /^refused: (Type mismatch: no function or operator takes|Group index must be)/,
    clickhouse: /^(null|"")$/,
  },
  {
    reason: 'a cast to a tuple makes elements that are not NULL on ClickHouse',
    functions: 'tupleElement tupleToNameValuePairs',
    expression: /CAST\(.* AS (Array\()?Tuple\(/,
    duckdb: /^("a"|null|\d+|\[)/,
    clickhouse: /^refused: Cannot convert NULL to a non-nullable type/,
  },
  {
    reason: 'a position of NULL has no type on DuckDB',
    functions: 'tupleElement',
    expression: /\[NULL\]/,
    duckdb: /^refused: Type mismatch: no function or operator takes a tuple, a (number|value of this type)$/,
    clickhouse: /^null$/,
  },
  {
    reason: 'capitals of letters that have two: Unicode has both',
    functions: 'upperUTF8',
    expression: /ß/,
    duckdb: /^"ẞS"$/,
    clickhouse: /^"SSS"$/,
  },
  {
    reason: 'ClickHouse flattens no array of items of several types',
    functions: 'arrayFlatten',
    duckdb: /^\["9007199254740993",/,
    clickhouse: /^\[\[\["9007199254740993",/,
  },
  {
    reason: 'ClickHouse compares no arrays of numbers that have no common type',
    functions: 'equals',
    duckdb: /^[01]$/,
    clickhouse: /^refused: Illegal types of arguments \(`Array\(UInt64\)`/,
  },
  {
    reason: 'an hour that clocks leave out is read with the offset behind it on DuckDB',
    functions: 'parseDateTime',
    expression: /2024-03-10 02:30:00/,
    duckdb: /^"2024-03-10 01:30:00"$/,
    clickhouse: /^"2024-03-10 03:30:00"$/,
  },
  {
    reason: 'ClickHouse takes the lowest 32 bits of a position in JSON',
    functions:
      'JSONExtractString JSONExtractInt JSONExtractUInt JSONExtractFloat JSONExtractBool JSONExtractRaw JSONExtractArrayRaw JSONExtractKeys',
    expression: /4294967296|9007199254740993|-2147483649/,
    duckdb: /^(""|0|\[\]|null)$/,
    clickhouse: anAnswer,
  },
  {
    reason: 'DuckDB adds months and then days, ClickHouse the parts one after the other',
    functions: 'make_interval',
    expression: /02-29/,
    duckdb: /^"20\d\d-\d\d-\d\dT/,
    clickhouse: /^"20\d\d-\d\d-\d\dT/,
  },
]

export const explanationOf = ({ name, expression, duckdb, clickhouse }: Found): Explanation | undefined =>
  explanations.find(
    (one) =>
      one.functions.split(/\s+/).includes(name) &&
      one.duckdb.test(duckdb) &&
      one.clickhouse.test(clickhouse) &&
      (one.expression?.test(expression) ?? true),
  )
