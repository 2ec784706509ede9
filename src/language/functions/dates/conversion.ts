import { isFloat, isNamed, isNullable, isNumeric, isText, isTime, type SqlType, scalar, unknownType } from '../../types/types.ts'
import { asText } from '../cells/clickhouse-values.ts'
import { asNumber, once, timeText, toText } from '../cells/duckdb-values.ts'
import { instantOfText } from '../cells/text-times.ts'
import { localTime, momentOf, zoneArgument, zoneOf } from '../cells/zone-text.ts'
import { textTimes, times } from '../makes.ts'
import { whenAll } from '../results.ts'
import { type Arg, type CellContext, type Difference, differing, type FunctionRow, type SqlCell } from '../row.ts'
import { type ScalarSpec, scalars } from '../scalars.ts'

// Casts to dates and times. A text without an offset is a local time in the zone of the call, otherwise of the project.

/** The zone given as an argument, for the type of the result. */
const constantZone = (arg: Arg | undefined): string | undefined => (typeof arg?.constant === 'string' ? arg.constant : undefined)
const dateTime64 = (digits: number, mayBeNull: boolean, zone?: string): SqlType => ({
  ...scalar('DateTime64', mayBeNull),
  parameters: [digits],
  ...(zone ? { zone } : {}),
})
const clickhouseZone = (zone: string | undefined, context: CellContext): string => context.literal(zone ?? context.timezone)

/** Formats that ClickHouse reads as a date; any other text is NULL. */
const dateOfText = (text: string): string => {
  const dashed = `regexp_replace(${text}, '^(\\d{4})(\\d\\d)(\\d\\d)$', '\\1-\\2-\\3')`
  return `TRY_CAST(nullif(regexp_extract(${dashed}, '^\\d{4}-\\d{1,2}-\\d{1,2}(?: \\d{1,2}:\\d{2}:\\d{2})?$'), '') AS DATE)`
}

const isNothing = (arg: Arg): boolean => isNamed(arg.type, 'Nothing')
const momentOfSeconds = (number: string): string => `make_timestamp(CAST(floor(${number}) AS BIGINT) * 1000000)`

export const toDate: SqlCell = ([x], context) => {
  const { type, sql } = x!
  if (isNothing(x!)) return 'CAST(NULL AS DATE)'
  if (isNamed(type, 'Date')) return sql
  if (isTime(type)) return `CAST(${localTime(sql, zoneOf(type, context), context)} AS DATE)`
  if (isNumeric(type))
    return once(context, asNumber(x!), (n) => {
      const ofSeconds = `CAST(${localTime(momentOfSeconds(n), context.timezone, context)} AS DATE)`
      return `CASE WHEN ${n} < 65536 THEN (DATE '1970-01-01' + CAST(floor(${n}) AS INTEGER)) ELSE ${ofSeconds} END`
    })
  return dateOfText(sql)
}
export const toDateOnClickhouse: SqlCell = ([x], context) => {
  if (isNothing(x!)) return 'CAST(NULL AS Nullable(Date))'
  if (isNamed(x!.type, 'Date')) return x!.sql
  if (isText(x!.type) || x!.type.kind === 'unknown') return `toDateOrNull(${x!.sql})`
  if (isNumeric(x!.type))
    return `if(${x!.sql} < 65536, toDate(${x!.sql}), toDate(toDateTime(${x!.sql}, ${clickhouseZone(undefined, context)})))`
  return isTime(x!.type) ? `toDate(${x!.sql}, ${clickhouseZone(zoneOf(x!.type, context), context)})` : `toDate(${x!.sql})`
}

const asDate = (cases: FunctionRow['cases'], differences: readonly Difference[] = []): ScalarSpec => ({
  differences,
  args: 1,
  takes: 'time',
  alsoTakes: 'anything',
  returns: ([x]) => scalar('Date', isNullable(x!) || isText(x!)),
  summary: 'The day of a time, or the date in a text; NULL if it is not a date. Numbers are days or, from 65536 on, seconds since 1970.',
  duckdb: toDate,
  clickhouse: toDateOnClickhouse,
  cases,
})

const wholeSeconds = (type: SqlType, sql: string): string => (isNamed(type, 'DateTime64') ? `date_trunc('second', ${sql})` : sql)

const toDateTime =
  (isMonthFirst: boolean): SqlCell =>
  ([x, zone], context) => {
    const { type, sql } = x!
    const timezone = zoneArgument(zone, unknownType, context)
    if (isNothing(x!)) return 'CAST(NULL AS TIMESTAMP)'
    if (isNamed(type, 'Date')) return momentOf(`CAST(${sql} AS TIMESTAMP)`, timezone, context)
    if (isTime(type)) return wholeSeconds(type, sql)
    if (isNumeric(type)) return momentOfSeconds(asNumber(x!))
    return instantOfText(sql, context, { timezone, isMonthFirst })
  }
const toDateTimeOnClickhouse =
  (bestEffort: string): SqlCell =>
  ([x, zone], context) => {
    if (isNothing(x!)) return 'CAST(NULL AS Nullable(DateTime))'
    const timezone = clickhouseZone(zoneArgument(zone, unknownType, context), context)
    return isText(x!.type) || x!.type.kind === 'unknown' ? `${bestEffort}(${x!.sql}, 6, ${timezone})` : `toDateTime(${x!.sql}, ${timezone})`
  }
const timeType: FunctionRow['returns'] = ([x], { args }) =>
  isText(x!) || x!.kind === 'unknown'
    ? dateTime64(6, true, constantZone(args[1]))
    : { ...scalar('DateTime', isNullable(x!)), ...(constantZone(args[1]) ? { zone: constantZone(args[1]) } : {}) }

const asTime = (
  summary: string,
  isMonthFirst: boolean,
  cases: FunctionRow['cases'],
  differences: readonly Difference[] = [],
): ScalarSpec => ({
  differences,
  args: [1, 2],
  returns: timeType,
  summary,
  duckdb: toDateTime(isMonthFirst),
  clickhouse: toDateTimeOnClickhouse(`parseDateTime64BestEffort${isMonthFirst ? 'US' : ''}OrNull`),
  cases,
})

const secondsOf32Bits = 'a DateTime of ClickHouse lies between 1970 and February 2106, and other seconds become its first or last'

/** DuckDB's format letters for those of ClickHouse (MySQL's). */
const formatLetters: Readonly<Record<string, string>> = {
  a: '%a',
  b: '%b',
  c: '%-m',
  d: '%d',
  e: '%-d',
  F: '%Y-%m-%d',
  f: '%f',
  H: '%H',
  h: '%I',
  I: '%I',
  i: '%M',
  j: '%j',
  k: '%-H',
  l: '%-I',
  M: '%B',
  m: '%m',
  p: '%p',
  R: '%H:%M',
  r: '%I:%M:%S %p',
  S: '%S',
  s: '%S',
  T: '%H:%M:%S',
  W: '%A',
  Y: '%Y',
  y: '%y',
  z: '%z',
  '%': '%%',
}
const duckdbFormat = (format: string): string => format.replace(/%(.)/g, (all, letter: string) => formatLetters[letter] ?? all)

/** The year of a text whose format has none: 2000 if the format has another part of a date, else 1970. */
const yearWithout = (format: string): string | null => {
  const letters = [...format.matchAll(/%(.)/g)].map(([, letter]) => letter!)
  if (letters.some((letter) => 'YyF'.includes(letter))) return null
  return letters.some((letter) => 'bcdejMmaW'.includes(letter)) ? '2000' : '1970'
}

const digitsOf = (arg: Arg | undefined, otherwise: number): number => (typeof arg?.constant === 'number' ? arg.constant : otherwise)
const cutTo = (digits: number, moment: string): string =>
  digits >= 6 ? moment : `make_timestamp(epoch_us(${moment}) // ${10 ** (6 - digits)} * ${10 ** (6 - digits)})`

/** Not defined inside the family: TypeScript would take `toString` for the method of every object. */
const textOf: ScalarSpec = {
  args: [1, 2],
  returns: whenAll('String'),
  summary: 'The value as text; times in a zone when one is given.',
  makes: ({ args }) => times(textTimes([args[0]!.type])),
  duckdb: ([x, zone], context) =>
    zone && isTime(x!.type) && !isNamed(x!.type, 'Date')
      ? timeText(x!, context, zoneArgument(zone, x!.type, context))
      : toText(x!, context),
  clickhouse: ([x, zone], context) => {
    if (!zone || !isTime(x!.type) || isNamed(x!.type, 'Date')) return asText(x!, context)
    return `toString(${x!.sql}, ${clickhouseZone(zoneArgument(zone, x!.type, context), context)})`
  },
  cases: [
    ["toString([toDateTime('2024-01-01 10:00:00')])", "['2024-01-01 10:00:00.000000']"],
    ["toString(map('a', (toDateTime('2024-01-01 10:00:00'), 1 = 1)))", "{'a':('2024-01-01 10:00:00.000000',true)}"],
    ['toString(5)', '5'],
    ['toString(1.0)', '1'],
    ["toString(toDecimal('1.50', 2))", '1.5'],
    ["toString(toDecimal('100', 2))", '100'],
    ["toString(toDecimal('100', 0))", '100'],
    ['toString(0.1)', '0.1'],
    ['toString(123456789012345680.0)', '123456789012345680'],
    ['toString(1e21)', '1e21'],
    ['toString(0.00001)', '0.00001'],
    ['toString(0.0000001)', '1e-7'],
    ['toString(1.5e300)', '1.5e300'],
    ['toString(-2.0)', '-2'],
    ['toString(inf)', 'inf'],
    ['toString(true)', 'true'],
    ["toString(toDate('2024-01-02'))", '2024-01-02'],
    ['toString([1, 2])', '[1,2]'],
    ["toString(['a', 'b''c', null])", "['a','b\\'c',NULL]"],
    ["toString(['a\\nb\\tc'])", "['a\\nb\\tc']"],
    ["toString((1, 'a'))", "(1,'a')"],
    ['toString([1.5, 2.0])', '[1.5,2]'],
    ['toString(null)', null],
  ],
}

export const timeConversionFunctions = scalars({
  toDate: asDate(
    [
      ["toDate('2024-01-31')", '2024-01-31'],
      ["toDate('20240131')", '2024-01-31'],
      ["toDate('2024-01-31 10:00:00')", '2024-01-31'],
      ["toDate('bla')", null],
      ['toDate(19000)', '2022-01-08'],
      ['toDate(true)', '1970-01-02'],
      ['toDate(1704103200)', '2024-01-01'],
      ["toDate(toDateTime('2024-01-31 10:00:00'))", '2024-01-31'],
      ['toDate(null)', null],
    ],
    [
      {
        expression: "toDate('1969-12-31')",
        duckdb: { value: '1969-12-31' },
        clickhouse: { value: '1970-01-01' },
        reason: 'a Date of ClickHouse begins in 1970, and earlier days become its first',
      },
      differing("toDate('2024-02-30')", null, '2024-03-01', 'ClickHouse continues into the next month; DuckDB has no such day'),
    ],
  ),
  to_date: asDate([["to_date('2024-01-31')", '2024-01-31']]),
  toDateTime: asTime(
    'Parses a text in nearly any time format; NULL if it is not a time. Dates are their midnight, numbers seconds since 1970.',
    false,
    [
      ["toString(toDateTime('2024-01-02 03:04:05'))", '2024-01-02 03:04:05.000000'],
      ["toString(toDateTime('2024-01-02T03:04:05.250Z'))", '2024-01-02 03:04:05.250000'],
      ["toString(toDateTime('2024-01-02T03:04:05+02:00'))", '2024-01-02 01:04:05.000000'],
      ["toString(toDateTime('1704103200'))", '2024-01-01 10:00:00.000000'],
      ["toString(toDateTime('1704103200123'))", '2024-01-01 10:00:00.123000'],
      ["toString(toDateTime('02/01/2024'))", '2024-01-02 00:00:00.000000'],
      ["toString(toDateTime('Jan 5 2024 10:00:00'))", '2024-01-05 10:00:00.000000'],
      ["toString(toDateTime('20240105101112'))", '2024-01-05 10:11:12.000000'],
      ["toDateTime('bla')", null],
      ["toDateTime('')", null],
      ['toString(toDateTime(1704103200))', '2024-01-01 10:00:00'],
      ['toString(toDateTime(1 = 1))', '1970-01-01 00:00:01'],
      ["toString(toDateTime(toDate('2024-01-02')))", '2024-01-02 00:00:00'],
      ["toString(toDateTime('2024-01-02 03:04:05', 'America/New_York'))", '2024-01-02 03:04:05.000000'],
      ["toString(toDateTime('2024-01-02 03:04:05', 'America/New_York'), 'UTC')", '2024-01-02 08:04:05.000000'],
    ],
    [
      differing(
        "toDateTime('1.5') is null",
        1,
        0,
        'ClickHouse reads a text of bare numbers as a day and a month of this year; DuckDB does not read it as a time',
      ),
      differing('toDateTime(-5)', '1969-12-31T23:59:55Z', '1970-01-01T00:00:00Z', secondsOf32Bits),
      differing('toDateTime(4294967296)', '2106-02-07T06:28:16Z', '2106-02-07T06:28:15Z', secondsOf32Bits),
    ],
  ),
  toDateTimeUS: asTime('Like `toDateTime`, but reads the month before the day.', true, [
    ["toString(toDateTimeUS('02/01/2024'))", '2024-02-01 00:00:00.000000'],
  ]),
  toDateTime64: {
    args: [1, 3],
    returns: ([x], { args }) => dateTime64(digitsOf(args[1], 3), isNullable(x!) || isText(x!), constantZone(args[2])),
    summary: 'Like `toDateTime`, with the given number of fractional digits (3).',
    duckdb: ([x, digits, zone], context) => {
      const { type, sql } = x!
      if (isTime(type) && !isNamed(type, 'Date')) return cutTo(digitsOf(digits, 3), sql)
      if (isFloat(type) || isNamed(type, 'Decimal'))
        return cutTo(digitsOf(digits, 3), `make_timestamp(CAST(floor(${sql} * 1000000) AS BIGINT))`)
      return cutTo(digitsOf(digits, 3), toDateTime(false)([x!, ...(zone ? [zone] : [])], context))
    },
    clickhouse: ([x, digits, zone], context) => {
      const name = isText(x!.type) ? 'parseDateTime64BestEffortOrNull' : 'toDateTime64'
      return `${name}(${x!.sql}, ${digitsOf(digits, 3)}, ${clickhouseZone(zoneArgument(zone, unknownType, context), context)})`
    },
    cases: [
      ["toString(toDateTime64('2024-01-05 10:11:12.123456', 3))", '2024-01-05 10:11:12.123'],
      ["toString(toDateTime64('2024-01-05 10:11:12.123456', 6))", '2024-01-05 10:11:12.123456'],
      ["toString(toDateTime64(toDate('2024-01-05'), 3))", '2024-01-05 00:00:00.000'],
    ],
  },
  parseDateTimeBestEffort: {
    args: [1, 2],
    returns: (_, { args }) => dateTime64(6, true, constantZone(args[1])),
    summary: 'Parses a text in nearly any time format; NULL if it is not a time.',
    duckdb: toDateTime(false),
    clickhouse: toDateTimeOnClickhouse('parseDateTime64BestEffortOrNull'),
    cases: [
      ["toString(parseDateTimeBestEffort('5 Jan 2024'))", '2024-01-05 00:00:00.000000'],
      ["parseDateTimeBestEffort('x')", null],
    ],
  },
  parseDateTime: {
    args: [2, 3],
    returns: (_, { args }) => ({ ...scalar('DateTime', true), ...(constantZone(args[2]) ? { zone: constantZone(args[2]) } : {}) }),
    summary: 'Parses a text in the given format (%Y-%m-%d %H:%i:%s); NULL if it does not match.',
    duckdb: ([x, format, zone], context) => {
      const { constant } = format!
      const year = typeof constant === 'string' ? yearWithout(constant) : null
      const text = typeof constant === 'string' ? context.literal(`${year ? '%Y ' : ''}${duckdbFormat(constant)}`) : format!.sql
      const read = `try_strptime(${year ? `'${year} ' || ` : ''}${x!.sql}, ${text})`
      // A DateTime is 32 bits of seconds since 1970.
      return once(
        context,
        momentOf(read, zoneArgument(zone, unknownType, context), context),
        (moment) => `CASE WHEN epoch(${moment}) BETWEEN 0 AND ${2 ** 32 - 1} THEN ${moment} END`,
      )
    },
    clickhouse: ([x, format, zone], context) =>
      `parseDateTimeOrNull(${x!.sql}, ${format!.sql}, ${clickhouseZone(zoneArgument(zone, unknownType, context), context)})`,
    cases: [
      ["toString(parseDateTime('2024-01-05 10:11:12', '%Y-%m-%d %H:%i:%s'))", '2024-01-05 10:11:12'],
      ["toString(parseDateTime('05/01/2024', '%d/%m/%Y'))", '2024-01-05 00:00:00'],
      ["parseDateTime('x', '%Y-%m-%d')", null],
      ["toString(parseDateTime('29.02 12', '%d.%m %H'))", '2000-02-29 12:00:00'],
      ["toString(parseDateTime('12:30', '%H:%i'))", '1970-01-01 12:30:00'],
      ["parseDateTime('1969', '%Y')", null],
      ["parseDateTime('2107', '%Y')", null],
    ],
  },
  UUIDv7ToDateTime: {
    args: 1,
    returns: ([x]) => dateTime64(3, isNullable(x!) || isText(x!)),
    summary: 'The time in a UUID of version 7; the first one of 1970 for other versions.',
    duckdb: ([x], context) =>
      once(context, `replace(CAST(${isText(x!.type) ? `TRY_CAST(${x!.sql} AS UUID)` : x!.sql} AS VARCHAR), '-', '')`, (digits) => {
        const millis = `CASE WHEN substring(${digits}, 13, 1) = '7' THEN CAST(('0x' || left(${digits}, 12)) AS BIGINT) WHEN ${digits} IS NOT NULL THEN 0 END`
        return `make_timestamp((${millis}) * 1000)`
      }),
    clickhouse: ([x], context) =>
      `UUIDv7ToDateTime(${isText(x!.type) ? `toUUIDOrNull(${x!.sql})` : x!.sql}, ${clickhouseZone(undefined, context)})`,
    cases: [
      ["toString(UUIDv7ToDateTime(toUUID('018f05c9-4ab8-7b86-b64e-c9f03fbd45d1')))", '2024-04-22 12:30:29.048'],
      ["toUnixTimestamp(UUIDv7ToDateTime(toUUID('018f05c9-4ab8-4b86-b64e-c9f03fbd45d1')))", 0],
      ["toString(UUIDv7ToDateTime('018f05c9-4ab8-7b86-b64e-c9f03fbd45d1'))", '2024-04-22 12:30:29.048'],
      ["UUIDv7ToDateTime('none')", null],
    ],
  },
  toString: textOf,
})
