import { QueryError } from '../../../errors/errors.ts'
import { isInteger, type ScalarName, scalar, typeName } from '../../types/types.ts'
import { asInteger, toText } from '../cells/duckdb-values.ts'
import { before1970, clickHouseMoment, clickHouseZone, inZone, isDate, moment, wall, whenTime } from '../cells/moment.ts'
import { type Arg, type Case, type Difference, differing, type FunctionRow, type SqlCell } from '../row.ts'
import { type ScalarSpec, scalars } from '../scalars.ts'

/** A number read from the local date and time. `{}` is replaced by it. */
const part = (name: string, type: ScalarName, duckdb: string, summary: string, cases: readonly Case[]): ScalarSpec => ({
  args: 1,
  returns: ([x]) => whenTime(scalar(type), x),
  summary,
  duckdb: (args, context) => duckdb.replaceAll('{}', () => wall(args[0]!, context)),
  clickhouse: inZone(name),
  cases,
})

const t = "toDateTime('2024-01-07 15:05:09')"
const d = "toDate('2024-12-30')"

/** The weekday of a DuckDB date by ClickHouse's mode: starts on Monday or Sunday, counts from 1 or 0. */
const weekdays: readonly string[] = ['isodow({})', 'isodow({}) - 1', 'isodow({}) % 7', 'isodow({}) % 7 + 1']

/** MySQL's week modes: the first weekday, the day of January that week 1 contains, and whether earlier days are week 0. */
interface WeekMode {
  readonly sunday: boolean
  readonly anchor: 1 | 4 | 7
  readonly hasZero: boolean
}
export const weekModes: readonly WeekMode[] = [
  { sunday: true, anchor: 7, hasZero: true },
  { sunday: false, anchor: 4, hasZero: true },
  { sunday: true, anchor: 7, hasZero: false },
  { sunday: false, anchor: 4, hasZero: false },
  { sunday: true, anchor: 4, hasZero: true },
  { sunday: false, anchor: 7, hasZero: true },
  { sunday: true, anchor: 4, hasZero: false },
  { sunday: false, anchor: 7, hasZero: false },
  { sunday: true, anchor: 1, hasZero: false },
  { sunday: false, anchor: 1, hasZero: false },
]
/** For functions whose second argument is a week mode: ClickHouse rejects anything else there, such as a zone. */
export const withWeekMode =
  (name: string, returns: FunctionRow['returns'], most = weekModes.length - 1): FunctionRow['returns'] =>
  (types, context) => {
    const mode = types[1]
    if (!mode || mode.kind === 'unknown' || isInteger(mode)) return returns(types, context)
    const expected = `a whole number from 0 to ${most}`
    throw new QueryError('wrong-type', {
      message: `The second argument of '${name}' is a week mode, ${expected}, but got ${typeName(mode)}. The time zone is the third: ${name}(t, 0, 'UTC')`,
      expected,
    })
  }
/** The mode is a constant, missing (0), or a column. */
export function byMode<M>(modes: readonly M[], arg: Arg | undefined, body: (mode: M) => string): string {
  const { length } = modes
  if (!arg || arg.constant !== undefined) return body(modes[Number(arg?.constant ?? 0) % length] ?? modes[0]!)
  return `CASE ${arg.sql} % ${length} ${modes.map((mode, i) => `WHEN ${i} THEN ${body(mode)}`).join(' ')} END`
}

/** The first day of the week of a DuckDB date, as a DATE. */
export const weekStart = (date: string, sunday: boolean): string =>
  sunday ? `(CAST(date_trunc('week', ${date} + INTERVAL 1 DAY) AS DATE) - 1)` : `CAST(date_trunc('week', ${date}) AS DATE)`

/** The day of the week that decides to which year the week belongs. */
const deciding = (date: string, mode: WeekMode): string => `(${weekStart(date, mode.sunday)} + ${7 - mode.anchor})`
const weekOf = (date: string): string => `((dayofyear(${date}) - 1) // 7 + 1)`

function week(date: string, mode: WeekMode): string {
  const day = deciding(date, mode)
  if (!mode.hasZero) return weekOf(day)
  return `CASE WHEN year(${day}) < year(${date}) THEN 0 WHEN year(${day}) > year(${date}) THEN ${weekOf(`(${day} - 7)`)} + 1 ELSE ${weekOf(day)} END`
}
function yearWeek(date: string, mode: WeekMode): string {
  const day = deciding(date, mode)
  return `(year(${day}) * 100 + ${weekOf(day)})`
}

const clickHouseWeek =
  (name: string, count = weekModes.length): SqlCell =>
  (args, context) => {
    // A mode must be a constant there.
    const modes = Array.from({ length: count }, (_, i) => String(i))
    return byMode(modes, args[1], (mode) => {
      const parts = [clickHouseMoment(args[0]!, context), mode]
      return `${name}(${(isDate(args[0]!) ? parts : [...parts, clickHouseZone(args[0]!, context, args[2])]).join(', ')})`
    })
  }

export const datePartFunctions = scalars({
  toYear: {
    ...part('toYear', 'UInt16', 'year({})', 'Year.', [
      [`toYear(${t})`, 2024],
      ['toYear(NULL)', null],
    ]),
    differences: [differing("toYear(toDate('1969-12-31'))", 1969, 1970, before1970)],
  },
  toQuarter: part('toQuarter', 'UInt8', 'quarter({})', 'Quarter of the year, 1 to 4.', [[`toQuarter(${d})`, 4]]),
  toMonth: part('toMonth', 'UInt8', 'month({})', 'Month, 1 to 12.', [[`toMonth(${d})`, 12]]),
  toDayOfYear: part('toDayOfYear', 'UInt16', 'dayofyear({})', 'Day of the year, 1 to 366.', [[`toDayOfYear(${d})`, 365]]),
  toDayOfMonth: part('toDayOfMonth', 'UInt8', 'day({})', 'Day of the month, 1 to 31.', [[`toDayOfMonth(${t})`, 7]]),
  toHour: part('toHour', 'UInt8', 'hour({})', 'Hour of the day, 0 to 23.', [[`toHour(${t})`, 15]]),
  toMinute: part('toMinute', 'UInt8', 'minute({})', 'Minute of the hour.', [[`toMinute(${t})`, 5]]),
  toSecond: part('toSecond', 'UInt8', 'second({})', 'Second of the minute.', [[`toSecond(${t})`, 9]]),
  toISOWeek: part('toISOWeek', 'UInt8', 'week({})', 'Week of the ISO year, 1 to 53.', [
    [`toISOWeek(${t})`, 1],
    [`toISOWeek(${d})`, 1],
  ]),
  toISOYear: part('toISOYear', 'UInt16', 'isoyear({})', 'Year that the ISO week belongs to.', [[`toISOYear(${d})`, 2025]]),
  toYYYYMM: {
    ...part('toYYYYMM', 'UInt32', '(year({}) * 100 + month({}))', 'Year and month as one number.', [[`toYYYYMM(${t})`, 202401]]),
    differences: [differing("toYYYYMM(toDate('1969-12-31'))", 196912, 197001, before1970)],
  },
  toYYYYMMDD: part('toYYYYMMDD', 'UInt32', '(year({}) * 10000 + month({}) * 100 + day({}))', 'Year, month and day as one number.', [
    [`toYYYYMMDD(${t})`, 20240107],
  ]),
  toYYYYMMDDhhmmss: part(
    'toYYYYMMDDhhmmss',
    'UInt64',
    "CAST(strftime({}, '%Y%m%d%H%M%S') AS BIGINT)",
    'Date and time of day as one number.',
    [[`toYYYYMMDDhhmmss(${t})`, 20240107150509]],
  ),
  toDayOfWeek: {
    args: [1, 3],
    returns: withWeekMode('toDayOfWeek', ([x]) => whenTime(scalar('UInt8'), x), weekdays.length - 1),
    summary: 'Weekday number, Monday = 1 to Sunday = 7. Modes: 1 Monday = 0, 2 Sunday = 0, 3 Sunday = 1.',
    // dayofweek() would count from Sunday = 0
    duckdb: (args, context) => `(${byMode(weekdays, args[1], (day) => day.replaceAll('{}', () => wall(args[0]!, context, args[2])))})`,
    clickhouse: clickHouseWeek('toDayOfWeek', weekdays.length),
    cases: [
      [`toDayOfWeek(${t})`, 7],
      [`toDayOfWeek(${t}, 1)`, 6],
      [`toDayOfWeek(${t}, 2)`, 0],
      [`toDayOfWeek(${t}, 3)`, 1],
      [`toDayOfWeek(${t}, 6)`, 0],
      ["toDayOfWeek(toDateTime('2024-01-07 23:00:00'), 0, 'Asia/Tokyo')", 1],
    ],
    differences: [differing("toDayOfWeek(toDate('1969-12-31'))", 3, 4, before1970)],
  },
  toWeek: {
    args: [1, 3],
    returns: withWeekMode('toWeek', ([x]) => whenTime(scalar('UInt8'), x)),
    summary: 'Week of the year by one of ten modes: 0 (weeks from Sunday, week 1 has the first Sunday) unless given.',
    duckdb: (args, context) => byMode(weekModes, args[1], (mode) => week(`CAST(${wall(args[0]!, context, args[2])} AS DATE)`, mode)),
    clickhouse: clickHouseWeek('toWeek'),
    cases: [
      [`toWeek(${t})`, 1],
      ["toWeek(toDate('2024-01-01'))", 0],
      [`toWeek(${d}, 1)`, 53],
      ["toWeek(toDate('2023-01-01'), 1)", 0],
      [`toWeek(${d}, 3)`, 1],
      ["toWeek(toDate('2024-12-31'), 8)", 1],
      ["toWeek(toDate('2024-12-31'), 5)", 53],
      ["toWeek(toDate('2022-01-01'), 6)", 52],
    ],
    differences: [
      differing("toWeek(toDate('1969-12-31'))", 52, 0, before1970),
      differing("toWeek(toDate('1969-12-31'), 1)", 53, 1, before1970),
    ],
  },
  toYearWeek: {
    args: [1, 3],
    returns: withWeekMode('toYearWeek', ([x]) => whenTime(scalar('UInt32'), x)),
    summary: 'Year and week as one number, by the modes of `toWeek`; the year is the one the week belongs to.',
    duckdb: (args, context) => byMode(weekModes, args[1], (mode) => yearWeek(`CAST(${wall(args[0]!, context, args[2])} AS DATE)`, mode)),
    clickhouse: clickHouseWeek('toYearWeek'),
    cases: [
      [`toYearWeek(${t})`, 202401],
      [`toYearWeek(${d}, 1)`, 202501],
      [`toYearWeek(${d}, 0)`, 202452],
      ["toYearWeek(toDate('2023-01-01'), 9)", 202301],
    ],
  },
  toUnixTimestamp: {
    args: [1, 2],
    returns: ([x]) => whenTime(scalar('UInt32'), x),
    summary: 'Seconds since 1970. A text is a local time of the zone given, or of the project.',
    duckdb: (args, context) => `CAST(floor(epoch(${isDate(args[0]!) ? args[0]!.sql : moment(args[0]!, context, args[1])})) AS BIGINT)`,
    clickhouse: (args, context) =>
      args[0]!.type.kind === 'scalar' && args[0]!.type.name === 'String'
        ? `toUnixTimestamp(parseDateTime64BestEffortOrNull(${args[0]!.sql}, 6, ${clickHouseZone(args[0]!, context, args[1])}))`
        : `toUnixTimestamp(${clickHouseMoment(args[0]!, context)})`,
    cases: [
      ["toUnixTimestamp(toDateTime('2024-01-07 10:00:00'))", 1704621600],
      ["toUnixTimestamp('2024-01-07 10:00:00', 'America/New_York')", 1704639600],
      ["toUnixTimestamp(toDate('2024-01-07'))", 1704585600],
    ],
    differences: [
      differing("toUnixTimestamp(toDate('1969-12-31'))", -86400, 0, before1970),
      ...(
        [
          ['1969-12-31 23:59:59', -1],
          ['2107-01-01 00:00:00', 4323283200],
        ] as const
      ).map(
        ([time, value]): Difference => ({
          expression: `toUnixTimestamp(toDateTime('${time}'))`,
          duckdb: { value },
          clickhouse: { refused: 'Convert overflow' },
          reason: 'it is a number of 32 bits on ClickHouse, which refuses moments before 1970 and after February 2106',
        }),
      ),
    ],
  },
  toUnixTimestamp64Milli: {
    args: 1,
    returns: ([x]) => whenTime(scalar('Int64'), x),
    summary: 'Milliseconds since 1970.',
    duckdb: (args, context) => `epoch_ms(${moment(args[0]!, context)})`,
    clickhouse: (args, context) =>
      `toUnixTimestamp64Milli(toDateTime64(${clickHouseMoment(args[0]!, context)}, 3, ${clickHouseZone(args[0]!, context)}))`,
    cases: [["toUnixTimestamp64Milli(toDateTime64('2024-01-01 00:00:00.123', 3))", 1704067200123]],
  },
  toModifiedJulianDay: {
    args: 1,
    takes: 'text',
    returns: () => scalar('Int32', true),
    summary: 'Days since 17 November 1858 of a date written as text; NULL for anything else.',
    duckdb: (args, context) =>
      `(TRY_CAST(nullif(regexp_extract(${toText(args[0]!, context)}, '^\\d{4}-\\d\\d-\\d\\d$'), '') AS DATE) - DATE '1858-11-17')`,
    clickhouse: (args) => `toModifiedJulianDayOrNull(toString(${args[0]!.sql}))`,
    cases: [
      ["toModifiedJulianDay('2020-01-01')", 58849],
      ["toModifiedJulianDay('soon')", null],
      ["toModifiedJulianDay('2020-01-01 10:00:00')", null],
      ["toModifiedJulianDay(toDate('2020-01-01'))", 58849],
      ["toModifiedJulianDay(toDateTime('2020-01-01 10:00:00'))", null],
    ],
  },
  fromModifiedJulianDay: {
    args: 1,
    takes: 'integer',
    returns: () => scalar('String', true),
    summary: 'The date, as text, that many days after 17 November 1858.',
    duckdb: (args) => `CAST(DATE '1858-11-17' + CAST(${asInteger(args[0]!)} AS INTEGER) AS VARCHAR)`,
    clickhouse: (args) => `fromModifiedJulianDayOrNull(toInt32(${args[0]!.sql}))`,
    cases: [
      ['fromModifiedJulianDay(58849)', '2020-01-01'],
      ['fromModifiedJulianDay(58849.9)', '2020-01-01'],
    ],
  },
})
