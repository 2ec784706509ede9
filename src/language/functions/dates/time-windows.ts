import { isNullable, nullable, type SqlType, scalar, tupleOf } from '../../types/types.ts'
import { once } from '../cells/duckdb-values.ts'
import { clickHouseMoment, clickHouseZone, dateTimeLike, isDate, moment, wall, whenTime } from '../cells/moment.ts'
import { isShiftedByWhole, midnightOf, momentOf, zoneArgument } from '../cells/zone-text.ts'
import type { Arg, CellContext, FunctionRow, SqlCell } from '../row.ts'
import { type ScalarSpec, scalars } from '../scalars.ts'
import { intervalUnits, moved, unitOfInterval } from './intervals.ts'
import { startOfDay } from './starts.ts'

// Truncating times to intervals of any length: toStartOfInterval, and the windows tumble and hop that build on it.

const isOne = (interval: Arg): boolean => interval.call?.args[0]?.constant === 1
const givesDate = (interval: SqlType | undefined): boolean => ['Week', 'Month', 'Quarter', 'Year'].includes(unitOfInterval(interval) ?? '')

/** The start of the interval that contains a time. Intervals have the same origin as in ClickHouse. */
function startOf(time: Arg, interval: Arg, context: CellContext, zone?: Arg): string {
  const unit = unitOfInterval(interval.type)
  const where = zoneArgument(zone, time.type, context)
  const local = wall(time, context, zone)
  const day = `CAST(${local} AS DATE)`
  const bucket = (value: string, origin: string): string => `time_bucket(${interval.sql}, ${value}, ${origin})`
  switch (unit) {
    case 'Year': // from the year 0
      return once(context, interval.sql, (i) => `make_date(year(${local}) // year(${i}) * year(${i}), 1, 1)`)
    case 'Quarter':
    case 'Month':
      return `CAST(${bucket(day, "DATE '1900-01-01'")} AS DATE)`
    case 'Week':
      return `CAST(${bucket(day, "DATE '1970-01-05'")} AS DATE)`
    case 'Day':
      if (isDate(time)) return `CAST(${bucket(day, "DATE '1970-01-01'")} AS DATE)`
      if (isOne(interval)) return startOfDay(time, context, zone)
      return midnightOf(bucket(day, "DATE '1970-01-01'"), where, context)
    case 'Hour': {
      // Hours count from local midnight. A single hour is truncated as an instant, since a local hour may occur twice.
      const whole = `time_bucket(${interval.sql}, CAST(${local} AS TIMESTAMP), date_trunc('day', ${local}))`
      if (!isShiftedByWhole(where, 3600)) return momentOf(whole, where, context)
      const hour = `date_trunc('hour', ${moment(time, context, zone)})`
      if (isOne(interval)) return hour
      return `CASE WHEN ${interval.sql} = INTERVAL 1 HOUR THEN ${hour} ELSE ${momentOf(whole, where, context)} END`
    }
    default: // minutes and seconds from 1970 on, whatever the zone
      return bucket(moment(time, context, zone), "TIMESTAMP '1970-01-01'")
  }
}

/** Intervals with a given origin. Months keep its day. */
function startFromOrigin(time: Arg, interval: Arg, origin: Arg, context: CellContext): string {
  const unit = unitOfInterval(interval.type)
  const isFixed = unit ? intervalUnits[unit].isFixed : false
  const [x, o] = isFixed
    ? [moment(time, context), moment(origin, context)]
    : [`CAST(${wall(time, context)} AS TIMESTAMP)`, `CAST(${wall(origin, context)} AS TIMESTAMP)`]
  const start = `time_bucket(${interval.sql}, ${x}, ${o})`
  const text = isFixed ? start : momentOf(start, zoneArgument(undefined, time.type, context), context)
  return isDate(time) && !isFixed ? `CAST(${start} AS DATE)` : text
}

function startType(time: SqlType | undefined, interval: SqlType | undefined, zone?: Arg): SqlType {
  if (givesDate(interval)) return whenTime(scalar('Date'), time)
  if (time?.kind === 'scalar' && time.name === 'Date' && unitOfInterval(interval) === 'Day') return time
  return dateTimeLike(time, zone)
}
const isZoneText = (arg: Arg | undefined): boolean => arg?.type.kind === 'scalar' && arg.type.name === 'String'

const clickHouseStart = (time: Arg, interval: Arg, context: CellContext, zone?: Arg): string =>
  isDate(time)
    ? `toStartOfInterval(${time.sql}, ${interval.sql})`
    : `toStartOfInterval(${clickHouseMoment(time, context)}, ${interval.sql}, ${clickHouseZone(time, context, zone)})`

const t = "toDateTime('2024-03-12 12:07:09')"

// --- windows -------------------------------------------------------------------------------------

interface Window {
  readonly start: string
  readonly end: string
}
const windowType = (time: SqlType | undefined, interval: SqlType | undefined, zone?: Arg): SqlType => {
  const edge = startType(time, interval, zone)
  return isNullable(edge) && edge.kind === 'scalar' ? { ...edge, nullable: false } : edge
}
const moveEdge = (edge: string, sign: '+' | '-', by: Arg, type: SqlType, context: CellContext): string =>
  moved({ sql: edge, type }, sign, by.sql, by.type, context)

function tumbling(time: Arg, size: Arg, context: CellContext, zone?: Arg): Window {
  const start = startOf(time, size, context, zone)
  return { start, end: moveEdge(start, '+', size, windowType(time.type, size.type, zone), context) }
}
function hopping(time: Arg, hop: Arg, size: Arg, context: CellContext, zone?: Arg): Window {
  const type = windowType(time.type, hop.type, zone)
  const end = moveEdge(startOf(time, hop, context, zone), '+', hop, type, context)
  return { start: moveEdge(end, '-', size, type, context), end }
}

/** ClickHouse's windows accept a DateTime only. */
const wholeSeconds = (time: Arg, context: CellContext): string =>
  `assumeNotNull(toDateTime(${clickHouseMoment(time, context)}, ${clickHouseZone(time, context)}))`

const isTuple = (arg: Arg): boolean => arg.type.kind === 'tuple'
/** `tumbleStart(window)`, `tumbleStart(time, size)`, `hopEnd(time, hop, size)`. */
const edge =
  (which: 1 | 2, isHop: boolean): SqlCell =>
  (args, context) => {
    if (isTuple(args[0]!)) return `struct_extract_at(${args[0]!.sql}, ${which})`
    const window = isHop ? hopping(args[0]!, args[1]!, args[2] ?? args[1]!, context) : tumbling(args[0]!, args[1]!, context, args[2])
    return which === 1 ? window.start : window.end
  }
const edgeRow = (name: string, which: 1 | 2, isHop: boolean, cases: FunctionRow['cases']): ScalarSpec => ({
  args: [1, 3],
  alsoTakes: 'anything',
  returns: ([x, interval], { args }) =>
    x?.kind === 'tuple' ? (x.items[which - 1] ?? scalar('DateTime')) : windowType(x, interval, isHop ? undefined : args[2]),
  summary: `${which === 1 ? 'Beginning' : 'End'} of the ${isHop ? 'first of the overlapping windows' : 'window'} that contains a moment.`,
  duckdb: edge(which, isHop),
  clickhouse: (args, context) => {
    if (isTuple(args[0]!)) return `tupleElement(${args[0]!.sql}, ${which})`
    const zone = isHop ? undefined : args[2]
    const inner = [wholeSeconds(args[0]!, context), ...args.slice(1, isHop ? 3 : 2).map((a) => a.sql)]
    return `${name}(${[...inner, clickHouseZone(args[0]!, context, zone)].join(', ')})`
  },
  cases,
})
const windowRow = (name: 'tumble' | 'hop', cases: FunctionRow['cases']): ScalarSpec => ({
  args: name === 'hop' ? [3, 3] : [2, 2],
  returns: ([x, interval]) => tupleOf([windowType(x, interval), windowType(x, interval)]),
  summary:
    name === 'hop'
      ? 'Beginning and end of the first of the overlapping windows that contain a moment: hop is the step, then the length.'
      : 'Beginning and end of the window of this length that contains a moment.',
  duckdb: (args, context) => {
    const { start, end } = name === 'hop' ? hopping(args[0]!, args[1]!, args[2]!, context) : tumbling(args[0]!, args[1]!, context)
    return `row(${start}, ${end})`
  },
  clickhouse: (args, context) =>
    `${name}(${wholeSeconds(args[0]!, context)}, ${args
      .slice(1)
      .map((a) => a.sql)
      .join(', ')}, ${clickHouseZone(args[0]!, context)})`,
  cases,
})

export const timeWindowFunctions = scalars({
  toStartOfInterval: {
    args: [2, 3],
    returns: ([x, interval], { args }) =>
      args[2] && !isZoneText(args[2]) ? (isNullable(args[2].type) ? nullable(x!) : x!) : startType(x, interval, args[2]),
    summary: 'Rounds down to a multiple of an interval; the third argument is the time it counts from (or a zone).',
    duckdb: ([x, interval, third], context) =>
      third && !isZoneText(third) ? startFromOrigin(x!, interval!, third, context) : startOf(x!, interval!, context, third),
    clickhouse: ([x, interval, third], context) =>
      third && !isZoneText(third)
        ? `toStartOfInterval(${clickHouseMoment(x!, context)}, ${interval!.sql}, ${clickHouseMoment(third, context)})`
        : clickHouseStart(x!, interval!, context, third),
    cases: [
      [`toStartOfInterval(${t}, toIntervalMinute(15))`, '2024-03-12 12:00:00'],
      [`toStartOfInterval(${t}, toIntervalMinute(7))`, '2024-03-12 12:04:00'],
      [`toStartOfInterval(${t}, toIntervalSecond(5))`, '2024-03-12 12:07:05'],
      [`toStartOfInterval(${t}, toIntervalHour(1))`, '2024-03-12 12:00:00'],
      [`toStartOfInterval(${t}, toIntervalHour(5))`, '2024-03-12 10:00:00'],
      [`toStartOfInterval(${t}, toIntervalDay(1))`, '2024-03-12 00:00:00'],
      [`toStartOfInterval(${t}, toIntervalDay(2))`, '2024-03-12 00:00:00'],
      [`toStartOfInterval(${t}, toIntervalWeek(2))`, '2024-03-04'],
      [`toStartOfInterval(${t}, toIntervalMonth(7))`, '2023-09-01'],
      [`toStartOfInterval(${t}, toIntervalQuarter(3))`, '2023-10-01'],
      [`toStartOfInterval(${t}, toIntervalYear(3))`, '2022-01-01'],
      [`toStartOfInterval(toDate('2024-03-12'), toIntervalMonth(1))`, '2024-03-01'],
      [`toStartOfInterval(${t}, toIntervalMinute(15), toDateTime('2024-03-12 12:05:00'))`, '2024-03-12 12:05:00'],
      [`toUnixTimestamp(toStartOfInterval(toDateTime('2024-03-10 12:00:00'), toIntervalDay(1), 'America/New_York'))`, 1710046800],
      [`toUnixTimestamp(toStartOfInterval(toDateTime('2024-03-10 12:00:00'), toIntervalHour(3), 'America/New_York'))`, 1710064800],
    ],
  },
  date_bin: {
    args: 3,
    takes: ['text', 'time'],
    returns: ([, x, origin]) => (origin && isNullable(origin) ? nullable(x!) : x!),
    summary: 'Rounds down to a multiple of an interval that counts from a given time (interval, time, origin).',
    duckdb: ([interval, x, origin], context) => startFromOrigin(x!, interval!, origin!, context),
    clickhouse: ([interval, x, origin], context) =>
      `toStartOfInterval(${clickHouseMoment(x!, context)}, ${interval!.sql}, ${clickHouseMoment(origin!, context)})`,
    cases: [
      [`date_bin(toIntervalMinute(15), toDateTime('2024-03-12 12:19:00'), toDateTime('2024-03-12 12:05:00'))`, '2024-03-12 12:05:00'],
    ],
  },
  tumble: windowRow('tumble', [[`tumble(${t}, toIntervalHour(1))`, ['2024-03-12 12:00:00', '2024-03-12 13:00:00']]]),
  tumbleStart: edgeRow('tumbleStart', 1, false, [
    [`tumbleStart(${t}, toIntervalHour(1))`, '2024-03-12 12:00:00'],
    [`tumbleStart(tumble(${t}, toIntervalHour(1)))`, '2024-03-12 12:00:00'],
  ]),
  tumbleEnd: edgeRow('tumbleEnd', 2, false, [
    [`tumbleEnd(${t}, toIntervalHour(1))`, '2024-03-12 13:00:00'],
    [`tumbleEnd(${t}, toIntervalMonth(1), 'UTC')`, '2024-04-01'],
  ]),
  hop: windowRow('hop', [[`hop(${t}, toIntervalHour(1), toIntervalHour(3))`, ['2024-03-12 10:00:00', '2024-03-12 13:00:00']]]),
  hopStart: edgeRow('hopStart', 1, true, [[`hopStart(${t}, toIntervalHour(1), toIntervalHour(3))`, '2024-03-12 10:00:00']]),
  hopEnd: edgeRow('hopEnd', 2, true, [[`hopEnd(${t}, toIntervalHour(1), toIntervalHour(3))`, '2024-03-12 13:00:00']]),
})
