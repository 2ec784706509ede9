import { QueryError } from '../../../errors/errors.ts'
import { isNullable, isTime, type SqlType, scalar } from '../../types/types.ts'
import { before1970, clickHouseLocal, clickHouseMoment, clickHouseZone, moment, wall, whenTime } from '../cells/moment.ts'
import { isShiftedByWhole, zoneArgument } from '../cells/zone-text.ts'
import { type Arg, type Case, type CellContext, type Difference, differing } from '../row.ts'
import { type ScalarSpec, scalars } from '../scalars.ts'
import { type IntervalUnit, intervalOf, isInterval, moved, movedType, unitNames } from './intervals.ts'
import { unitOf } from './starts.ts'

// Adding to times, and differences between them.

const intervalType = (unit: IntervalUnit, amount: SqlType | undefined): SqlType => ({
  ...scalar('Interval', amount !== undefined && isNullable(amount)),
  unit,
})

const shift = (verb: 'add' | 'subtract', unit: IntervalUnit, cases: readonly Case[]): ScalarSpec => ({
  args: 2,
  takes: ['time', 'integer'],
  returns: ([time, amount]) => movedType(time, intervalType(unit, amount)),
  summary: `${verb === 'add' ? 'Adds' : 'Subtracts'} ${unit.toLowerCase()}s${lastDay[unit] ? '; a missing day becomes the last day of the month' : ''}.`,
  duckdb: ([time, amount], context) =>
    moved(time!, verb === 'add' ? '+' : '-', intervalOf(unit, amount!), intervalType(unit, amount!.type), context),
  clickhouse: ([time, amount], context) => `${verb}${unit}s(${clickHouseLocal(time!, context)}, ${amount!.sql})`,
  cases,
})
const lastDay: Readonly<Partial<Record<IntervalUnit, true>>> = { Month: true, Quarter: true, Year: true }

const t = "toDateTime('2024-03-31 10:30:00')"
const added: Readonly<Record<IntervalUnit, readonly [string, string]>> = {
  Second: ['2024-03-31 10:30:01', '2024-03-31 10:29:59'],
  Minute: ['2024-03-31 10:31:00', '2024-03-31 10:29:00'],
  Hour: ['2024-03-31 11:30:00', '2024-03-31 09:30:00'],
  Day: ['2024-04-01 10:30:00', '2024-03-30 10:30:00'],
  Week: ['2024-04-07 10:30:00', '2024-03-24 10:30:00'],
  Month: ['2024-04-30 10:30:00', '2024-02-29 10:30:00'],
  Quarter: ['2024-06-30 10:30:00', '2023-12-31 10:30:00'],
  Year: ['2025-03-31 10:30:00', '2023-03-31 10:30:00'],
}
const shifts: Readonly<Record<string, ScalarSpec>> = Object.fromEntries(
  unitNames.flatMap((unit): [string, ScalarSpec][] => [
    [
      `add${unit}s`,
      shift('add', unit, [
        [`add${unit}s(${t}, 1)`, added[unit][0]],
        [`add${unit}s(${t}, -1)`, added[unit][1]],
        [`add${unit}s(${t}, NULL)`, null],
      ]),
    ],
    [`subtract${unit}s`, shift('subtract', unit, [[`subtract${unit}s(${t}, 1)`, added[unit][1]]])],
  ]),
)

/** `dateAdd(time, interval)`, `dateAdd(interval, time)` and `dateAdd('unit', amount, time)`. */
function addition(sign: '+' | '-', name: string, most: 2 | 3, cases: readonly Case[], summary: string): ScalarSpec {
  const read = (args: readonly Arg[]): { time: Arg; interval: string; type: SqlType; clickhouse: string } => {
    if (args.length === 3) {
      const unit = unitNames.find((u) => u.toLowerCase() === unitOf(args[0])) ?? 'Day'
      return {
        time: args[2]!,
        interval: intervalOf(unit, args[1]!),
        type: intervalType(unit, args[1]!.type),
        clickhouse: `toInterval${unit}(${args[1]!.sql})`,
      }
    }
    const [time, by] = isInterval(args[0]!.type) ? [args[1]!, args[0]!] : [args[0]!, args[1]!]
    return { time, interval: by.sql, type: by.type, clickhouse: by.sql }
  }
  return {
    args: [2, most],
    alsoTakes: 'times and intervals',
    takes: (args) => (args.length === 3 ? ['text', 'integer', 'time'] : ['time']),
    returns: (_, { args }) => {
      const { time, type } = read(args)
      if (isTime(type)) {
        const expected = 'a time and an interval'
        throw new QueryError('wrong-type', {
          message: `'${name}' needs ${expected}, but got two times. Use dateDiff('second', a, b) for the time between them`,
          expected,
        })
      }
      return movedType(time.type, type)
    },
    summary,
    duckdb: (args, context) => {
      const { time, interval, type } = read(args)
      return moved(time, sign, interval, type, context)
    },
    clickhouse: (args, context) => {
      const { time, clickhouse } = read(args)
      return `(${clickHouseLocal(time, context)} ${sign} ${clickhouse})`
    },
    cases: [[`${name}(${t}, toIntervalDay(1))`, added.Day[sign === '+' ? 0 : 1]], ...cases],
  }
}

type DiffUnit = ReturnType<typeof unitOf>
const isClock = (unit: DiffUnit): boolean => ['hour', 'minute', 'second', 'millisecond', 'microsecond'].includes(unit)

/** The unit boundaries between two times, in local time. Hours and shorter units are counted between instants. */
function boundaries(unit: DiffUnit, a: Arg, b: Arg, context: CellContext, zone?: Arg): string {
  const where = zoneArgument(zone, a.type, context)
  const between = (from: string, to: string): string => `date_diff('${unit}', ${from}, ${to})`
  const walls = [wall(a, context, zone), wall(b, context, zone)].map((text) => `CAST(${text} AS TIMESTAMP)`) as [string, string]
  if (isClock(unit)) return isShiftedByWhole(where, 3600) ? between(moment(a, context, zone), moment(b, context, zone)) : between(...walls)
  // date_diff counts weeks from the first time, not Mondays
  if (unit === 'week') return `(date_diff('day', date_trunc('week', ${walls[0]}), date_trunc('week', ${walls[1]})) // 7)`
  return between(...walls)
}

/**
 * Mondays between two times, less an incomplete week. ClickHouse compares the weekday of the first with that of the second even if the second is
 * earlier, which makes its results off by one. Waymark returns the same.
 */
function weeksPassed(from: string, to: string): string {
  const mondays = `(date_diff('day', date_trunc('week', ${from}), date_trunc('week', ${to})) // 7)`
  const isLater = (earlierClock: string, laterClock: string): string =>
    `CAST((isodow(${from}), CAST(${laterClock} AS TIME)) > (isodow(${to}), CAST(${earlierClock} AS TIME)) AS INTEGER)`
  return `(${mondays} + CASE WHEN ${from} <= ${to} THEN -${isLater(to, from)} ELSE ${isLater(from, to)} END)`
}

/** Completed units; negative if the second time is earlier. */
function elapsed(unit: DiffUnit, a: Arg, b: Arg, context: CellContext, zone?: Arg): string {
  const seconds = { second: 1, minute: 60, hour: 3600, day: 86_400 }[unit as string]
  const [from, to] = [context.fresh(), context.fresh()]
  const pair = (x: string, y: string, body: string): string =>
    `list_transform([${x}], lambda ${from}: list_transform([${y}], lambda ${to}: ${body})[1])[1]`
  const walls = [wall(a, context, zone), wall(b, context, zone)].map((text) => `CAST(${text} AS TIMESTAMP)`) as [string, string]
  if (seconds) {
    const [x, y] = seconds >= 86_400 ? walls : [moment(a, context, zone), moment(b, context, zone)]
    return `((epoch_us(${y}) - epoch_us(${x})) // ${seconds * 1_000_000})`
  }
  if (unit === 'millisecond' || unit === 'microsecond') return boundaries(unit, a, b, context, zone)
  if (unit === 'week') return pair(...walls, weeksPassed(from, to))
  // A month is complete once the day and time of day of the first are reached.
  const months = { month: 1, quarter: 3, year: 12 }[unit as string]!
  const inMonth = (name: string): string => `(${name} - date_trunc('month', ${name}))`
  const whole = (x: string, y: string): string => `(date_diff('month', ${x}, ${y}) - CAST(${inMonth(y)} < ${inMonth(x)} AS INTEGER))`
  return pair(...walls, `CASE WHEN ${from} <= ${to} THEN ${whole(from, to)} // ${months} ELSE -(${whole(to, from)} // ${months}) END`)
}

function difference(
  name: string,
  engine: string,
  duckdb: typeof boundaries,
  summary: string,
  cases: readonly Case[],
  differences: readonly Difference[] = [],
): ScalarSpec {
  return {
    differences,
    args: 3,
    takes: ['text', 'time'],
    returns: ([, a, b]) => whenTime(whenTime(scalar('Int64'), a), b),
    summary,
    duckdb: (args, context) => duckdb(unitOf(args[0]), args[1]!, args[2]!, context),
    clickhouse: (args, context) =>
      `${engine}('${unitOf(args[0])}', ${clickHouseMoment(args[1]!, context)}, ${clickHouseMoment(args[2]!, context)}, ${clickHouseZone(args[1]!, context)})`,
    cases: cases.map(([text, value]) => [text.replace('{}', name), value] as const),
  }
}

const diffCases: readonly Case[] = [
  ["{}('day', toDateTime('2024-03-09 23:00:00'), toDateTime('2024-03-10 01:00:00'))", 1],
  ["{}('week', toDate('2024-01-07'), toDate('2024-01-08'))", 1],
  ["{}('week', toDate('2024-01-06'), toDate('2024-01-07'))", 0],
  ["{}('month', toDate('2024-01-31'), toDate('2024-02-01'))", 1],
  ["{}('hour', toDateTime('2024-01-01 01:59:59'), toDateTime('2024-01-01 02:00:00'))", 1],
  ["{}('day', toDate('2024-01-02'), toDate('2024-01-01'))", -1],
  ["{}('second', toDate('2024-01-01'), toDateTime('2024-01-01 00:00:10'))", 10],
]
const firstWeek = (name: string): Difference =>
  differing(
    `${name}('week', toDateTime('1969-12-26 00:00:00'), toDateTime('1970-01-02 00:00:00'))`,
    1,
    0,
    'the week of 1 January 1970 and the one before it are one week on ClickHouse',
  )
const dateDiff = (name: string): ScalarSpec =>
  difference(
    name,
    'dateDiff',
    boundaries,
    'Number of unit boundaries (midnights, Mondays, first days of the month …) between two times.',
    diffCases,
    [
      differing(
        `${name}('hour', toDateTime('2024-01-01 01:59:59', 'Asia/Kathmandu'), toDateTime('2024-01-01 02:00:00', 'Asia/Kathmandu'))`,
        1,
        0,
        'in a zone whose offset is not in whole hours, DuckDB counts hours of its local time, and ClickHouse those of its offset in 1970',
      ),
      differing(`${name}('day', toDate('1969-12-31'), toDate('1970-01-01'))`, 1, 0, before1970),
      firstWeek(name),
    ],
  )

export const dateShiftFunctions = scalars({
  ...shifts,
  addDays: {
    ...shifts.addDays!,
    differences: [
      differing(
        "addDays(toDate('1970-01-02'), -5)",
        '1969-12-28',
        '2149-06-03',
        'a Date of ClickHouse begins in 1970 and ends in 2149, and a date moved beyond one end wraps around to the other',
      ),
    ],
  },
  dateAdd: addition('+', 'dateAdd', 3, [[`dateAdd('month', 1, ${t})`, '2024-04-30 10:30:00']], 'The time plus an interval.'),
  dateSub: addition('-', 'dateSub', 3, [[`dateSub('month', 1, ${t})`, '2024-02-29 10:30:00']], 'The time minus an interval.'),
  date_add: addition('+', 'date_add', 2, [], 'The time plus an interval.'),
  date_subtract: addition('-', 'date_subtract', 2, [], 'The time minus an interval.'),
  timeStampAdd: addition('+', 'timeStampAdd', 2, [], 'The time plus an interval.'),
  timeStampSub: addition('-', 'timeStampSub', 2, [], 'The time minus an interval.'),
  dateDiff: dateDiff('dateDiff'),
  date_diff: dateDiff('date_diff'),
  age: difference(
    'age',
    'age',
    elapsed,
    'Number of whole units between two times.',
    [
      ["{}('month', toDate('2024-01-31'), toDate('2024-02-29'))", 0],
      ["{}('month', toDate('2024-03-31'), toDate('2024-02-29'))", -1],
      ["{}('month', toDateTime('2024-01-15 10:00:00'), toDateTime('2024-04-15 10:00:00'))", 3],
      ["{}('year', toDate('2020-02-29'), toDate('2021-02-28'))", 0],
      ["{}('quarter', toDate('2024-01-31'), toDate('2024-04-30'))", 0],
      ["{}('day', toDateTime('2024-01-01 10:00:00'), toDateTime('2024-01-02 09:59:59'))", 0],
      ["{}('week', toDate('2024-01-01'), toDate('2024-01-15'))", 2],
      ["{}('week', toDateTime('2024-01-17 10:00:00'), toDateTime('2024-01-24 09:59:59'))", 0],
      ["{}('week', toDate('2024-01-15'), toDate('2000-01-01'))", -1255],
      ["{}('week', toDate('2024-01-17'), toDate('2024-01-09'))", 0],
      ["{}('week', toDateTime('2024-01-17 10:00:00'), toDateTime('2024-01-10 10:00:01'))", 0],
      ["{}('hour', toDateTime('2024-01-01 10:30:00'), toDateTime('2024-01-01 12:29:59'))", 1],
    ],
    [firstWeek('age')],
  ),
})
