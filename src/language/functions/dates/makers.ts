import { arrayOf, isFloat, isNamed, isNullable, notNull, nullable, type ScalarType, type SqlType, scalar } from '../../types/types.ts'
import { asInteger, asNumber, onceAll, unlessNull } from '../cells/duckdb-values.ts'
import { clickHouseMoment, clickHouseZone, dateTimeLike, isDate, moment, wall, whenTime } from '../cells/moment.ts'
import { localTime, momentOf, zoneArgument } from '../cells/zone-text.ts'
import { inside } from '../makes.ts'
import { type Arg, type CellContext, type FunctionRow, type SqlCell, unsupported } from '../row.ts'
import { type ScalarSpec, scalars } from '../scalars.ts'

// Times from the clock, from numbers, or from another zone.

const stamp = (ms: number): string => new Date(ms).toISOString().slice(0, 23).replace('T', ' ')

const now: SqlCell = (_, context) =>
  context.now === undefined ? "date_trunc('millisecond', timezone('UTC', now()))" : `TIMESTAMP '${stamp(context.now)}'`
export const today: SqlCell = (_, context) => `CAST(${localTime(now([], context), context.timezone, context)} AS DATE)`
const clickHouseNow: SqlCell = (_, context) => (context.now === undefined ? 'now64(3)' : `toDateTime64('${stamp(context.now)}', 3, 'UTC')`)
export const clickHouseToday: SqlCell = (_, context) => `toDate(${clickHouseNow([], context)}, ${context.literal(context.timezone)})`

const named = (zone: Arg | undefined): string | undefined => (typeof zone?.constant === 'string' ? zone.constant : undefined)
const inNamed = (type: ScalarType, zone: Arg | undefined): SqlType => {
  const name = named(zone)
  return name ? { ...type, zone: name } : type
}
const nowType = (zone?: Arg): SqlType => inNamed({ ...scalar('DateTime64'), parameters: [3] }, zone)

const clock = (summary: string, call: string, args: FunctionRow['args'], isCaseInsensitive = false): ScalarSpec => ({
  args,
  returns: (_, { args: given }) => nowType(given[0]),
  ...(isCaseInsensitive ? { caseInsensitive: true as const } : {}),
  summary,
  isVolatile: true,
  duckdb: now,
  clickhouse: clickHouseNow,
  cases: [
    [`dateDiff('day', toDate(${call}), today())`, 0],
    [`${call} > toDateTime('2024-01-01 00:00:00')`, 1],
  ],
})
const day = (name: string, summary: string, before: 0 | 1, duckdb: SqlCell, clickhouse: SqlCell): ScalarSpec => ({
  args: 0,
  returns: () => scalar('Date'),
  summary,
  isVolatile: true,
  duckdb,
  clickhouse,
  cases: [[`dateDiff('day', ${name}(), toDate(now()))`, before]],
})

/** A number wrapped to 32 bits without a sign. */
const in32Bits = (sql: string): string => `((${sql}) & ${2 ** 32 - 1})`
/** Without the fraction. */
const whole = asInteger
/** An engine may evaluate expressions early, whatever branch they are in, so these must not fail. */
const between = (n: string, least: number, most: number): string => `least(greatest(${n}, ${least}), ${most})`

/** Days after the end of the month continue in the next month, as in ClickHouse. */
const calendarDay = (y: string, m: string, d: string): string =>
  `(make_date(${between(y, 1900, 2299)}, ${between(m, 1, 12)}, 1) + CAST(${between(d, 1, 31)} - 1 AS INTEGER))`
const isDayOfMonth = (m: string, d: string): string => `${m} BETWEEN 1 AND 12 AND ${d} BETWEEN 1 AND 31`

/** A date outside ClickHouse's Date becomes the first Date. */
const dateOf: SqlCell = (args, context) =>
  unlessNull(
    args,
    onceAll(context, args.map(whole), (y, m, d) => {
      const day = calendarDay(y!, m!, d!)
      return `CASE WHEN ${isDayOfMonth(m!, d!)} AND ${day} BETWEEN DATE '1970-01-01' AND DATE '2149-06-06' THEN ${day} ELSE DATE '1970-01-01' END`
    }),
  )

/** The largest hours, minutes and seconds that ClickHouse accepts. */
const mostOfClock = 99
/** A time outside ClickHouse's DateTime becomes the first DateTime, or the last if it is later. */
const timeOf = (args: readonly Arg[], zone: string, context: CellContext): string =>
  unlessNull(
    args,
    onceAll(context, args.map(whole), (y, m, d, ...clock) => {
      const [h, min, s] = clock.map((n) => between(n, 0, mostOfClock))
      const local = `(${calendarDay(y!, m!, d!)} + to_seconds(${h} * 3600 + ${min} * 60 + ${s}))`
      const moment = `least(greatest(${momentOf(local, zone, context)}, TIMESTAMP '1970-01-01'), TIMESTAMP '2106-02-07 06:28:15')`
      const isOnClock = clock.map((n) => `${n} BETWEEN 0 AND ${mostOfClock}`).join(' AND ')
      return `CASE WHEN ${isDayOfMonth(m!, d!)} AND ${isOnClock} THEN ${moment} ELSE TIMESTAMP '1970-01-01' END`
    }),
  )

const makeTimestamp = (least: 6 | 7, cases: FunctionRow['cases']): ScalarSpec => ({
  args: [least, 7],
  takes: (args) => args.map((_, i) => (i < 6 ? 'integer' : 'text')),
  returns: (types, { args }) => {
    const type = inNamed(scalar('DateTime'), args[6])
    return types.slice(0, 6).some(isNullable) ? nullable(type) : type
  },
  summary: 'The moment with this year, month, day, hour, minute and second in a zone (of the project unless given).',
  duckdb: (args, context) => timeOf(args.slice(0, 6), zoneArgument(args[6], scalar('DateTime'), context), context),
  clickhouse: (args, context) =>
    `makeDateTime(${args
      .slice(0, 6)
      .map((a) => a.sql)
      .join(', ')}, ${args[6]?.sql ?? context.literal(context.timezone)})`,
  cases,
})

const toTimestamp = (summary: string, most: 1 | 2, cases: FunctionRow['cases']): ScalarSpec => ({
  args: [1, most],
  takes: ['number', 'text'],
  returns: ([x], { args }) => {
    const type = inNamed(scalar('DateTime'), args[1])
    return x && isNullable(x) ? nullable(type) : type
  },
  summary,
  duckdb: ([x]) => `make_timestamp(CAST(trunc(${asNumber(x!)}) AS BIGINT) * 1000000)`,
  clickhouse: ([x]) => `fromUnixTimestamp(${isFloat(x!.type) ? `toInt64(${x!.sql})` : x!.sql})`,
  cases,
})

const rezoned = (time: 0 | 1, zone: 0 | 1, least: 1 | 2, summary: string, cases: FunctionRow['cases']): ScalarSpec => ({
  args: [least, 2],
  takes: time === 0 ? ['time', 'text'] : ['text', 'time'],
  returns: (types, { args }) => {
    const type = types[time]!
    const name = named(args[zone])
    return type.kind === 'scalar' && !isNamed(type, 'Date', 'String') && name ? { ...type, zone: name } : dateTimeLike(type, args[zone])
  },
  summary,
  duckdb: (args, context) => {
    zoneArgument(args[zone], args[time]!.type, context)
    return moment(args[time]!, context)
  },
  clickhouse: (args, context) => {
    const x = args[time]!
    const value = isDate(x) ? `toDateTime(${x.sql}, ${context.literal(context.timezone)})` : clickHouseMoment(x, context)
    return `toTimeZone(${value}, ${args[zone]?.sql ?? context.literal(context.timezone)})`
  },
  cases,
})

const t = "toDateTime('2024-01-07 15:05:06')"
const rowNumbers = 'DuckDB does not number rows; use row_number() OVER ()'

export const dateMakerFunctions = scalars({
  now: clock('The current moment, with milliseconds.', 'now()', [0, 1], true),
  current_timestamp: clock('The current moment, with milliseconds.', 'current_timestamp()', [0, 0]),
  nowInBlock: clock('The current moment.', "nowInBlock('UTC')", [1, 1]),
  today: day('today', 'The current date in the project’s zone.', 0, today, clickHouseToday),
  current_date: day('current_date', 'The current date in the project’s zone.', 0, today, clickHouseToday),
  yesterday: day(
    'yesterday',
    'The date before today in the project’s zone.',
    1,
    (args, context) => `(${today(args, context)} - 1)`,
    (args, context) => `(${clickHouseToday(args, context)} - 1)`,
  ),
  make_date: {
    args: 3,
    takes: 'integer',
    returns: (types) => scalar('Date', types.some(isNullable)),
    summary: 'The date of a year, month and day. Days past the end of the month continue into the next one.',
    duckdb: dateOf,
    clickhouse: (args) => `makeDate(${args.map((a) => a.sql).join(', ')})`,
    cases: [
      ['make_date(2024, 2, 29)', '2024-02-29'],
      ['make_date(2024, 2, 30)', '2024-03-01'],
      ['make_date(2024, 13, 1)', '1970-01-01'],
      ['make_date(2024, 13, null)', null],
      ['make_date(2024, 2.9, 1.9)', '2024-02-01'],
      ['make_date(2149, 6, 6)', '2149-06-06'],
      ['make_date(2149, 6, 7)', '1970-01-01'],
      ['make_date(2024, 2, 4294967296)', '1970-01-01'],
    ],
  },
  make_timestamp: makeTimestamp(6, [
    ['make_timestamp(2024, 1, 2, 3, 4, 5)', '2024-01-02 03:04:05'],
    ["toUnixTimestamp(make_timestamp(2024, 7, 2, 3, 4, 5, 'America/New_York'))", 1719903845],
    ['make_timestamp(2024, 13, 2, 3, 4, 5)', '1970-01-01 00:00:00'],
    ['make_timestamp(2024, 1.5, 2, 3, 4, 5.9)', '2024-01-02 03:04:05'],
    ['make_timestamp(2024, 1, 2, -1, 4, 5)', '1970-01-01 00:00:00'],
    ['make_timestamp(2024, 1, 2, 99, 99, 99)', '2024-01-06 04:40:39'],
    ['make_timestamp(2024, 1, 2, 100, 4, 5)', '1970-01-01 00:00:00'],
    ['make_timestamp(1960, 1, 2, 3, 4, 5)', '1970-01-01 00:00:00'],
    ['make_timestamp(3000, 1, 2, 3, 4, 5)', '2106-02-07 06:28:15'],
    ['make_timestamp(9999999999, 1, 2, 3, 4, 5)', '2106-02-07 06:28:15'],
    ['make_timestamp(2024, 1, 2, 3, 4, null)', null],
  ]),
  make_timestamptz: makeTimestamp(7, [["toUnixTimestamp(make_timestamptz(2024, 7, 2, 3, 4, 5, 'Asia/Tokyo'))", 1719857045]]),
  fromUnixTimestamp: toTimestamp('The time that many seconds after the start of 1970.', 1, [
    ['fromUnixTimestamp(1704067200)', '2024-01-01 00:00:00'],
  ]),
  to_timestamp: toTimestamp('The time that many seconds after the start of 1970, shown in a zone.', 2, [
    ['to_timestamp(1704067200)', '2024-01-01 00:00:00'],
  ]),
  fromUnixTimestamp64Milli: {
    args: 1,
    takes: 'integer',
    returns: ([x]) => ({ ...scalar('DateTime64', x ? isNullable(x) : false), parameters: [3] }),
    summary: 'The time that many milliseconds after the start of 1970.',
    duckdb: ([x]) => `make_timestamp(${asInteger(x!)} * 1000)`,
    clickhouse: ([x], context) => `fromUnixTimestamp64Milli(toInt64(${x!.sql}), ${context.literal(context.timezone)})`,
    cases: [
      ['fromUnixTimestamp64Milli(1704067200123)', '2024-01-01 00:00:00.123'],
      ['fromUnixTimestamp64Milli(1.5)', '1970-01-01 00:00:00.001'],
    ],
  },
  toTimeZone: rezoned(0, 1, 1, 'The same moment, shown and truncated in another time zone.', [
    [`toHour(toTimeZone(${t}, 'Asia/Tokyo'))`, 0],
    [`toDate(toTimeZone(${t}, 'Asia/Tokyo')) = toDate('2024-01-08')`, 1],
    [`toUnixTimestamp(toTimeZone(${t}, 'Asia/Tokyo'))`, 1704639906],
  ]),
  timezone: rezoned(1, 0, 2, 'The same moment, shown and truncated in another time zone. The zone comes first.', [
    [`toHour(timezone('America/New_York', ${t}))`, 10],
  ]),
  timeZoneOf: {
    args: 1,
    returns: () => scalar('String'),
    summary: 'Name of the zone a moment is shown in.',
    duckdb: ([x], context) => context.literal(zoneArgument(undefined, x!.type, context)),
    clickhouse: ([x], context) => context.literal(zoneArgument(undefined, x!.type, context)),
    cases: [
      [`timeZoneOf(${t})`, 'UTC'],
      [`timeZoneOf(toTimeZone(${t}, 'Asia/Tokyo'))`, 'Asia/Tokyo'],
    ],
  },
  timeZoneOffset: {
    args: 1,
    takes: 'time',
    returns: ([x]) => whenTime(scalar('Int32'), x),
    summary: 'Seconds that the zone of a moment is ahead of UTC then.',
    duckdb: ([x], context) => `date_diff('second', ${moment(x!, context)}, ${wall(x!, context)})`,
    clickhouse: ([x], context) => `timeZoneOffset(toTimeZone(${clickHouseMoment(x!, context)}, ${clickHouseZone(x!, context)}))`,
    cases: [[`timeZoneOffset(toTimeZone(${t}, 'America/New_York'))`, -18000]],
  },
  toTime: {
    args: 1,
    takes: 'time',
    returns: ([x]) => dateTimeLike(x),
    summary: 'The time of day, on 2 January 1970.',
    duckdb: ([x], context) => {
      const local = wall(x!, context)
      const clockTime = `(TIMESTAMP '1970-01-02 00:00:00' + (date_trunc('second', ${local}) - date_trunc('day', ${local})))`
      return momentOf(clockTime, zoneArgument(undefined, x!.type, context), context)
    },
    clickhouse: ([x], context) => `toTimeWithFixedDate(${clickHouseMoment(x!, context)}, ${clickHouseZone(x!, context)})`,
    cases: [[`toTime(${t})`, '1970-01-02 15:05:06']],
  },
  timeSlots: {
    args: [2, 3],
    returns: ([x]) => arrayOf(notNull(dateTimeLike(x))),
    makes: inside,
    summary: 'The starts of the slots (half hours, or of a number of seconds) that a period of that many seconds overlaps.',
    duckdb: ([x, duration, size], context) => {
      const [slot, seconds] = [context.fresh(), size ? in32Bits(asInteger(size)) : '1800']
      const from = `CAST(epoch(${moment(x!, context)}) AS BIGINT)`
      const to = in32Bits(`${from} + ${in32Bits(asInteger(duration!))}`)
      const [first, last] = [`(${from} // ${seconds})`, `(${to} // ${seconds} + 1)`]
      const slots = context.within(`(CAST(${last} AS DOUBLE) - CAST(${first} AS DOUBLE)) * 16`, `range(${first}, ${last})`)
      const list = `list_transform(${slots}, lambda ${slot}: make_timestamp(${slot} * ${seconds} * 1000000))`
      return isNullable(x!.type) ? `CASE WHEN ${x!.sql} IS NULL THEN [] ELSE ${list} END` : list
    },
    clickhouse: ([x, duration, size], context) => {
      const slots = `timeSlots(assumeNotNull(toDateTime(${clickHouseMoment(x!, context)}, ${clickHouseZone(x!, context)})), toUInt32(${duration!.sql})${size ? `, toUInt32(${size.sql})` : ''})`
      return isNullable(x!.type) ? `if(isNull(${x!.sql}), [], ${slots})` : slots
    },
    cases: [
      ["timeSlots(toDateTime('2024-01-01 00:10:00'), 3600)", ['2024-01-01 00:00:00', '2024-01-01 00:30:00', '2024-01-01 01:00:00']],
      ["length(timeSlots(toDateTime('2024-01-01 00:10:00'), 3600, 600))", 7],
      ['timeSlots(toDateTime(null), 3600)', []],
      ["timeSlots(toDateTime('2024-01-01 00:10:00'), 7, -600)", ['1970-01-01 00:00:00']],
      ["timeSlots(toDateTime('2024-01-01 00:10:00'), 4294967296, 600)", ['2024-01-01 00:10:00']],
    ],
  },
  rowNumberInBlock: {
    args: 0,
    returns: () => scalar('UInt64'),
    summary: 'Number of the row in its block of the engine.',
    isVolatile: true,
    duckdb: unsupported(rowNumbers),
    clickhouse: () => 'rowNumberInBlock()',
    cases: [['select groupArray(n) from (select rowNumberInBlock() as n from numbers(3))', [0, 1, 2]]],
  },
  rowNumberInAllBlocks: {
    args: 0,
    returns: () => scalar('UInt64'),
    summary: 'Number of the row in the order the engine reads.',
    isVolatile: true,
    duckdb: unsupported(rowNumbers),
    clickhouse: () => 'rowNumberInAllBlocks()',
    cases: [['select groupArray(n) from (select rowNumberInAllBlocks() as n from numbers(3))', [0, 1, 2]]],
  },
})
