import { QueryError } from '../../../errors/errors.ts'
import { type ScalarName, type SqlType, scalar } from '../../types/types.ts'
import { before1970, clickHouseMoment, clickHouseZone, dateTimeLike, inZone, isDate, moment, wall, whenTime } from '../cells/moment.ts'
import { isShiftedByWhole, midnightOf, momentOf, startOfLocalDay, zoneArgument } from '../cells/zone-text.ts'
import { type Arg, type Case, type CellContext, differing, type FunctionRow, type SqlCell } from '../row.ts'
import { type ScalarSpec, scalars } from '../scalars.ts'
import { byMode, weekModes, weekStart, withWeekMode } from './parts.ts'

// Truncating dates and times. Days and longer units give a Date where ClickHouse does, shorter ones a time.

const dateResult: FunctionRow['returns'] = ([x]) => whenTime(scalar('Date'), x)
const timeResult: FunctionRow['returns'] = ([x], { args }) => dateTimeLike(x, args[1])

/** First day of a calendar unit, as a Date. `{}` is replaced by the local date or time. */
const firstDay = (name: string, duckdb: string, summary: string, cases: readonly Case[]): ScalarSpec => ({
  args: 1,
  returns: dateResult,
  summary,
  duckdb: (args, context) => duckdb.replaceAll('{}', () => wall(args[0]!, context)),
  clickhouse: inZone(name),
  cases,
})

const timesBefore1970 =
  'the truncated value is a DateTime on ClickHouse, which begins in 1970: earlier moments wrap around to its other end'

const seconds = { second: 1, minute: 60, hour: 3600 } as const

/** Truncates a time to a multiple of some seconds. Hours are local hours; shorter units count from 1970, as in ClickHouse. */
function cutTo(step: number, arg: Arg, context: CellContext, zone?: Arg): string {
  const where = zoneArgument(zone, arg.type, context)
  const cut = (text: string): string => {
    if (step === 60) return `date_trunc('minute', ${text})`
    if (step === 3600) return `date_trunc('hour', ${text})`
    return step === 1 ? `date_trunc('second', ${text})` : `time_bucket(INTERVAL '${step} seconds', ${text})`
  }
  const whole = step < 3600 || isShiftedByWhole(where, step)
  return whole ? cut(moment(arg, context, zone)) : momentOf(cut(`CAST(${wall(arg, context, zone)} AS TIMESTAMP)`), where, context)
}

const cutTime = (name: string, step: number, summary: string, cases: readonly Case[]): ScalarSpec => ({
  args: 1,
  returns: timeResult,
  summary,
  duckdb: (args, context) => cutTo(step, args[0]!, context),
  clickhouse: inZone(name),
  cases,
})

export function startOfDay(arg: Arg, context: CellContext, zone?: Arg): string {
  const where = zoneArgument(zone, arg.type, context)
  if (isDate(arg)) return midnightOf(arg.sql, where, context)
  return startOfLocalDay(moment(arg, context, zone), where, context)
}

const t = "toDateTime('2024-02-07 15:47:09')"

/** Units of `dateTrunc` and their result types. */
type Unit = 'microsecond' | 'millisecond' | 'second' | 'minute' | 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year'
const units: ReadonlySet<string> = new Set([
  'microsecond',
  'millisecond',
  'second',
  'minute',
  'hour',
  'day',
  'week',
  'month',
  'quarter',
  'year',
])
export function unitOf(arg: Arg | undefined): Unit {
  const unit = typeof arg?.constant === 'string' ? arg.constant.toLowerCase().replace(/s$/, '') : ''
  if (!units.has(unit)) {
    const given = arg?.constant === undefined ? 'an expression' : `'${arg.constant}'`
    throw new QueryError('invalid-query', { message: `A unit of time must be one of ${[...units].join(', ')}, not ${given}.` })
  }
  return unit as Unit
}
const givesDate = (unit: Unit): boolean => unit === 'week' || unit === 'month' || unit === 'quarter' || unit === 'year'

function truncated(unit: Unit, arg: Arg, context: CellContext, zone?: Arg): string {
  if (givesDate(unit)) return `CAST(date_trunc('${unit}', ${wall(arg, context, zone)}) AS DATE)`
  if (unit === 'day') return startOfDay(arg, context, zone)
  if (unit === 'second' || unit === 'minute' || unit === 'hour') return cutTo(seconds[unit], arg, context, zone)
  return `date_trunc('${unit}', ${moment(arg, context, zone)})`
}
function truncatedType(unit: Unit, arg: SqlType | undefined, zone?: Arg): SqlType {
  if (givesDate(unit)) return whenTime(scalar('Date'), arg)
  const type = dateTimeLike(arg, zone)
  const digits = unit === 'millisecond' ? 3 : unit === 'microsecond' ? 6 : null
  return digits && type.kind === 'scalar' ? { ...type, name: 'DateTime64' as ScalarName, parameters: [digits] } : type
}

const dateTrunc = (summary: string, name: string): ScalarSpec => ({
  args: [2, 3],
  takes: ['text', 'time', 'text'],
  returns: ([, x], { args }) => truncatedType(unitOf(args[0]), x, args[2]),
  summary,
  duckdb: (args, context) => truncated(unitOf(args[0]), args[1]!, context, args[2]),
  clickhouse: (args, context) => {
    const unit = unitOf(args[0])
    const zone = isDate(args[1]!) && givesDate(unit) ? '' : `, ${clickHouseZone(args[1]!, context, args[2])}`
    const text = `dateTrunc('${unit}', ${clickHouseMoment(args[1]!, context)}${zone})`
    // For a DateTime64 the result is a DateTime64 or a Date32 there
    if (givesDate(unit)) return `toDate(${text})`
    return unit === 'millisecond' || unit === 'microsecond' ? text : `toDateTime(${text})`
  },
  cases: [
    [`${name}('month', ${t})`, '2024-02-01'],
    [`${name}('week', ${t})`, '2024-02-05'],
    [`${name}('hour', ${t})`, '2024-02-07 15:00:00'],
    [`${name}('day', ${t})`, '2024-02-07 00:00:00'],
    [`${name}('year', toDate('2024-02-07'))`, '2024-01-01'],
    [`toUnixTimestamp(${name}('day', ${t}, 'America/New_York'))`, 1707282000],
  ],
})

/** The first day of the week, by the given mode or the project's first weekday. */
const startOfWeek = ([x, mode, zone]: readonly Arg[], context: CellContext): string =>
  mode
    ? byMode(weekModes, mode, ({ sunday }) => weekStart(wall(x!, context, zone), sunday))
    : weekStart(wall(x!, context), context.weekStartDay === 0)
const weekOnClickHouse =
  (name: string): SqlCell =>
  ([x, mode, zone], context) => {
    if (!mode) return inZone(name, context.weekStartDay === 0 ? '0' : '3')([x!], context)
    return byMode(
      Array.from(weekModes, (_, i) => String(i)),
      mode,
      (one) => inZone(name, one)(zone ? [x!, zone] : [x!], context),
    )
  }

export const dateStartFunctions = scalars({
  toStartOfYear: firstDay('toStartOfYear', "CAST(date_trunc('year', {}) AS DATE)", 'First day of the year.', [
    [`toStartOfYear(${t})`, '2024-01-01'],
  ]),
  toStartOfISOYear: firstDay(
    'toStartOfISOYear',
    "CAST(date_trunc('week', make_date(isoyear({}), 1, 4)) AS DATE)",
    'First day of the ISO year, a Monday.',
    [["toStartOfISOYear(toDate('2024-12-30'))", '2024-12-30']],
  ),
  toStartOfQuarter: firstDay('toStartOfQuarter', "CAST(date_trunc('quarter', {}) AS DATE)", 'First day of the quarter.', [
    [`toStartOfQuarter(${t})`, '2024-01-01'],
  ]),
  toStartOfMonth: {
    ...firstDay('toStartOfMonth', "CAST(date_trunc('month', {}) AS DATE)", 'First day of the month.', [
      [`toStartOfMonth(${t})`, '2024-02-01'],
      ['toStartOfMonth(NULL)', null],
    ]),
    differences: [differing("toStartOfMonth(toDate('1969-12-31'))", '1969-12-01', '1970-01-01', before1970)],
  },
  toLastDayOfMonth: {
    ...firstDay('toLastDayOfMonth', 'last_day({})', 'Last day of the month.', [[`toLastDayOfMonth(${t})`, '2024-02-29']]),
    differences: [differing("toLastDayOfMonth(toDate('1969-12-31'))", '1969-12-31', '1970-01-31', before1970)],
  },
  toMonday: {
    ...firstDay('toMonday', "CAST(date_trunc('week', {}) AS DATE)", 'Monday of the week.', [
      [`toMonday(${t})`, '2024-02-05'],
      ["toMonday(toDate('2024-02-11'))", '2024-02-05'],
    ]),
    differences: [differing("toMonday(toDate('1969-12-31'))", '1969-12-29', '1970-01-01', before1970)],
  },
  toStartOfWeek: {
    args: [1, 3],
    returns: withWeekMode('toStartOfWeek', dateResult),
    summary:
      "First day of the week, in the zone of the third argument. Weeks begin on the project's first day, or by a mode of `toWeek` (0 Sunday, 1 Monday).",
    duckdb: startOfWeek,
    clickhouse: weekOnClickHouse('toStartOfWeek'),
    cases: [
      [`toStartOfWeek(${t}, 0)`, '2024-02-04'],
      [`toStartOfWeek(${t}, 1)`, '2024-02-05'],
      ["toStartOfWeek(toDateTime('2024-02-11 23:30:00', 'UTC'), 1, 'Europe/Berlin')", '2024-02-12'],
      ["toStartOfWeek(toDateTime('2024-02-12 02:30:00', 'UTC'), 1, 'America/New_York')", '2024-02-05'],
      ["toStartOfWeek(toDate('2024-02-11'), 0)", '2024-02-11'],
      ["toStartOfWeek(toDate('2024-02-11'), 3)", '2024-02-05'],
    ],
    differences: [differing("toStartOfWeek(toDate('1969-12-31'))", '1969-12-28', '1970-01-01', before1970)],
  },
  toLastDayOfWeek: {
    args: [1, 3],
    returns: withWeekMode('toLastDayOfWeek', dateResult),
    summary: "Last day of the week, in the zone of the third argument. Weeks begin on the project's first day, or by a mode of `toWeek`.",
    duckdb: (args, context) => `(${startOfWeek(args, context)} + 6)`,
    clickhouse: weekOnClickHouse('toLastDayOfWeek'),
    cases: [
      [`toLastDayOfWeek(${t}, 0)`, '2024-02-10'],
      [`toLastDayOfWeek(${t}, 1)`, '2024-02-11'],
    ],
  },
  toStartOfDay: {
    differences: [
      {
        expression: "toStartOfDay(toDateTime('1969-12-31 10:00:00'))",
        duckdb: { value: '1969-12-31T00:00:00Z' },
        clickhouse: { value: '2106-02-06T06:28:16Z' },
        reason: timesBefore1970,
      },
    ],
    args: [1, 2],
    returns: timeResult,
    summary: 'Midnight of the day, in the zone of the project or the one given.',
    duckdb: (args, context) => startOfDay(args[0]!, context, args[1]),
    clickhouse: (args, context) => `toStartOfDay(${clickHouseMoment(args[0]!, context)}, ${clickHouseZone(args[0]!, context, args[1])})`,
    cases: [
      [`toStartOfDay(${t})`, '2024-02-07 00:00:00'],
      ["toUnixTimestamp(toStartOfDay(toDateTime('2024-03-10 12:00:00'), 'America/New_York'))", 1710046800],
      ["toUnixTimestamp(toStartOfDay(toDateTime('2018-11-04 12:00:00'), 'America/Sao_Paulo'))", 1541300400],
      ["toUnixTimestamp(toStartOfDay(toDateTime('2024-02-07 19:00:00'), 'Asia/Kolkata'))", 1707330600],
      ["toStartOfDay(toDate('2024-02-07'))", '2024-02-07 00:00:00'],
    ],
  },
  toStartOfHour: {
    ...cutTime('toStartOfHour', 3600, 'Beginning of the hour.', [[`toStartOfHour(${t})`, '2024-02-07 15:00:00']]),
    differences: [
      differing("toStartOfHour(toDateTime('1969-12-31 23:59:59'))", '1969-12-31T23:00:00Z', '2106-02-07T05:28:16Z', timesBefore1970),
    ],
  },
  toStartOfMinute: cutTime('toStartOfMinute', 60, 'Beginning of the minute.', [[`toStartOfMinute(${t})`, '2024-02-07 15:47:00']]),
  toStartOfFiveMinutes: cutTime('toStartOfFiveMinutes', 300, 'Rounds down to five minutes.', [
    [`toStartOfFiveMinutes(${t})`, '2024-02-07 15:45:00'],
  ]),
  toStartOfTenMinutes: cutTime('toStartOfTenMinutes', 600, 'Rounds down to ten minutes.', [
    [`toStartOfTenMinutes(${t})`, '2024-02-07 15:40:00'],
  ]),
  toStartOfFifteenMinutes: {
    ...cutTime('toStartOfFifteenMinutes', 900, 'Rounds down to a quarter of an hour.', [
      [`toStartOfFifteenMinutes(${t})`, '2024-02-07 15:45:00'],
    ]),
    differences: [
      differing(
        "toStartOfFifteenMinutes(toDateTime('1969-12-31 12:07:00'))",
        '1969-12-31T12:00:00Z',
        '2106-02-06T18:28:16Z',
        timesBefore1970,
      ),
    ],
  },
  timeSlot: cutTime('timeSlot', 1800, 'Rounds down to half an hour.', [[`timeSlot(${t})`, '2024-02-07 15:30:00']]),
  toStartOfSecond: {
    args: 1,
    returns: timeResult,
    summary: 'Drops the fraction of a second.',
    duckdb: (args, context) => `date_trunc('second', ${moment(args[0]!, context)})`,
    clickhouse: (args, context) =>
      `toStartOfSecond(toDateTime64(${clickHouseMoment(args[0]!, context)}, 6), ${clickHouseZone(args[0]!, context)})`,
    cases: [["toUnixTimestamp(toStartOfSecond(toDateTime64('2024-02-07 15:47:09.75', 6)))", 1707320829]],
  },
  dateTrunc: dateTrunc('Rounds down to a unit: a Date for week, month, quarter and year, else a time.', 'dateTrunc'),
  date_trunc: dateTrunc("PostgreSQL's name of `dateTrunc`.", 'date_trunc'),
})
