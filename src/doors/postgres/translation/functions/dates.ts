import { SqlError, unsupported } from '../../statements/sql-error.ts'
import { isDay, isNumber, isTime, isWhole, type TypeName, titleOf } from '../../types/pg-types.ts'
import { decided, instant, zoned } from '../coerce.ts'
import type { Context } from '../context.ts'
import { unlessNull } from '../operators.ts'
import { dayText, instantText, microsOf, textOf } from '../texts.ts'
import type { Typed } from '../typed.ts'
import { constantText, type FunctionRow, type FunctionRows, needs, plain } from './row.ts'

// Functions of dates and times.

/** The beginning of a unit: a time, or a day of the engine. */
const beginnings: Readonly<Record<string, readonly [name: string, isDay: boolean]>> = {
  microsecond: ['', false],
  millisecond: ['', false],
  second: ['toStartOfSecond', false],
  minute: ['toStartOfMinute', false],
  hour: ['toStartOfHour', false],
  day: ['toStartOfDay', false],
  week: ['toMonday', true],
  month: ['toStartOfMonth', true],
  quarter: ['toStartOfQuarter', true],
  year: ['toStartOfYear', true],
}
const unitOf = (text: string): string => text.toLowerCase().replace(/s$/, '')

const truncated: FunctionRow = ({ args, call, context, ...more }) => {
  needs({ args, call, context, ...more }, 2, 3)
  const [part, given, zone] = args as [Typed, Typed, Typed?]
  // A parameter can be the unit, too.
  const unit = unitOf(part.param === undefined ? constantText(part, 'the unit of date_trunc') : unitOfParameter(part, context))
  const beginning = beginnings[unit]
  if (!beginning) throw new SqlError('22023', `unit "${unit}" not recognized for type timestamp with time zone`, { offset: part.at })
  const value = decided(given, 'timestamptz', context)
  if (!isDay(value.type))
    throw new SqlError('42883', `function date_trunc(unknown, ${titleOf(value.type)}) does not exist`, { offset: call.at })
  const about = {
    type: value.type === 'timestamp' ? ('timestamp' as const) : ('timestamptz' as const),
    nullable: value.nullable,
    at: call.at,
  }
  const [name, isDayOfEngine] = beginning
  if (name === '') return { ...about, sql: instant(value, context) }
  if (zone) {
    const there = `toTimeZone(${instant(value, context)}, ${textOf(constantText(zone, 'a time zone'))})`
    return {
      ...about,
      sql: isDayOfEngine ? `toDateTime64(toString(${name}(${there})), 6, ${textOf(zone.constant!)})` : `${name}(${there})`,
    }
  }
  const here =
    value.type === 'date' || value.isDay ? (unit === 'day' || isDayOfEngine ? value.sql : instant(value, context)) : zoned(value, context)
  const isAlready = (value.type === 'date' || value.isDay) && unit === 'day'
  if (isAlready) return { ...about, sql: value.sql, isDay: true }
  return { ...about, sql: `${name}(${here})`, ...(isDayOfEngine && { isDay: true }) }
}

function unitOfParameter(part: Typed, context: Context): string {
  context.decide(part.param!, 'text')
  return context.valueOf(part.param!, part.at) ?? 'day'
}

const parts: Readonly<Record<string, (x: string) => string>> = {
  year: (x) => `toYear(${x})`,
  isoyear: (x) => `toISOYear(${x})`,
  quarter: (x) => `toQuarter(${x})`,
  month: (x) => `toMonth(${x})`,
  week: (x) => `toISOWeek(${x})`,
  day: (x) => `toDayOfMonth(${x})`,
  doy: (x) => `toDayOfYear(${x})`,
  dow: (x) => `(toDayOfWeek(${x}) % 7)`,
  isodow: (x) => `toDayOfWeek(${x})`,
  hour: (x) => `toHour(${x})`,
  minute: (x) => `toMinute(${x})`,
}
const epoch = (sql: string) => `toFloat(${sql} - ${instantText(0)})`
const intoMinute = (sql: string) => `toFloat(${sql} - toStartOfMinute(${sql}))`

function ofInterval(part: string, value: Typed, at: number): string {
  const { span } = value
  const seconds = span ? String(span.months * 2_592_000 + span.days * 86_400 + span.micros / 1_000_000) : value.sql
  if (part === 'epoch') return seconds
  if (part === 'day' || part === 'days') return `floor(${seconds} / 86400)`
  if (part === 'hour') return `floor((${seconds} % 86400) / 3600)`
  if (part === 'minute') return `floor((${seconds} % 3600) / 60)`
  if (part === 'second') return `(${seconds} % 60)`
  throw unsupported(`extract ${part} of an interval`, at)
}

export function extracted(part: string, given: Typed, at: number, context: Context, type: TypeName): Typed {
  const value = decided(given, 'timestamptz', context)
  const about = { type, nullable: value.nullable, at }
  const unit = unitOf(part)
  if (value.type === 'interval') return { ...about, sql: ofInterval(unit, value, at) }
  if (!isDay(value.type)) throw new SqlError('42883', `function extract(unknown, ${titleOf(value.type)}) does not exist`, { offset: at })
  if (unit === 'epoch') return { ...about, sql: epoch(instant(value, context)) }
  const here = zoned(value, context)
  if (unit === 'second') return { ...about, sql: value.type === 'date' || value.isDay ? '0' : intoMinute(here) }
  if (unit === 'millisecond' || unit === 'microsecond') {
    const factor = unit === 'millisecond' ? 1000 : 1_000_000
    return { ...about, sql: value.type === 'date' || value.isDay ? '0' : `(${intoMinute(here)} * ${factor})` }
  }
  const sql = parts[unit]
  if (!sql) throw new SqlError('22023', `unit "${part}" not recognized for type ${titleOf(value.type)}`, { offset: at })
  return { ...about, sql: sql(here) }
}

/** Pieces of `to_char` patterns, longest first, and the letters of `formatDateTime`. */
const patterns: readonly (readonly [pattern: string, letters: string, change?: 'lower' | 'upper'])[] = [
  ['FMMonth', '%M'],
  ['FMMONTH', '%M', 'upper'],
  ['FMDay', '%W'],
  ['FMDD', '%e'],
  ['FMMM', '%c'],
  ['YYYY', '%Y'],
  ['IYYY', '%G'],
  ['HH24', '%H'],
  ['HH12', '%I'],
  ['MON', '%b', 'upper'],
  ['Mon', '%b'],
  ['mon', '%b', 'lower'],
  ['DDD', '%j'],
  ['DY', '%a', 'upper'],
  ['Dy', '%a'],
  ['dy', '%a', 'lower'],
  ['AM', '%p'],
  ['PM', '%p'],
  ['am', '%p', 'lower'],
  ['pm', '%p', 'lower'],
  ['YY', '%y'],
  ['MM', '%m'],
  ['DD', '%d'],
  ['HH', '%I'],
  ['MI', '%i'],
  ['SS', '%S'],
  ['IW', '%V'],
  ['ID', '%u'],
  ['Q', '%Q'],
  ['US', '%f'],
]

function formatted(x: string, pattern: string, at: number): string {
  const pieces: string[] = []
  let letters = ''
  const flush = () => {
    if (letters !== '') pieces.push(`formatDateTime(${x}, ${textOf(letters)})`)
    letters = ''
  }
  for (let i = 0; i < pattern.length; ) {
    const quoted = /^"([^"]*)"/.exec(pattern.slice(i))
    const known = patterns.find(([one]) => pattern.startsWith(one, i))
    if (quoted) {
      letters += quoted[1]!.replaceAll('%', '%%')
      i += quoted[0].length
    } else if (known) {
      const [one, letter, change] = known
      i += one.length
      if (change) {
        flush()
        pieces.push(`${change}(formatDateTime(${x}, ${textOf(letter)}))`)
      } else letters += letter
    } else if (/[A-Za-z]/.test(pattern[i]!)) throw unsupported(`the pattern "${pattern.slice(i, i + 8)}" of to_char`, at)
    else letters += pattern[i++] === '%' ? '%%' : pattern[i - 1]
  }
  flush()
  if (pieces.length === 0) return "''"
  return pieces.length === 1 ? pieces[0]! : `concat(${pieces.join(', ')})`
}

const toChar: FunctionRow = ({ args, call, context, ...more }) => {
  needs({ args, call, context, ...more }, 2)
  const value = decided(args[0]!, 'timestamptz', context)
  const pattern = constantText(args[1]!, 'the pattern of to_char')
  if (isNumber(value.type)) {
    const places = /^FM[90,]*?[90](?:\.([90]+))?$/.exec(pattern)?.[1]
    if (!/^FM[90]+(?:\.[90]+)?$/.test(pattern)) throw unsupported(`the pattern "${pattern}" of to_char`, call.at)
    const sql = `toString(${places ? `round(${value.sql}, ${places.length})` : `toInt64(round(${value.sql}))`})`
    return { sql, type: 'text', nullable: value.nullable, at: call.at }
  }
  if (!isDay(value.type))
    throw new SqlError('42883', `function to_char(${titleOf(value.type)}, unknown) does not exist`, { offset: call.at })
  return {
    sql: unlessNull(formatted(zoned(value, context), pattern, call.at), [value]),
    type: 'text',
    nullable: value.nullable,
    at: call.at,
  }
}

const moment =
  (type: 'timestamptz' | 'timestamp'): FunctionRow =>
  ({ context, call }) => {
    const micros = context.now.getTime() * 1000
    return { sql: instantText(micros), type, nullable: false, at: call.at, micros }
  }

const today: FunctionRow = ({ context, call }) => {
  const midnight = microsOf('today', { zone: context.zone, now: context.now, type: 'date' })
  const wall = midnight + (microsOf('today', { zone: 'UTC', now: new Date(midnight / 1000 + 43_200_000), type: 'date' }) - midnight)
  return { sql: dayText(wall), type: 'date', nullable: false, at: call.at, micros: wall }
}

const age: FunctionRow = ({ args, call, context, ...more }) => {
  needs({ args, call, context, ...more }, 1, 2)
  const [a, b] = args.map((arg) => decided(arg, 'timestamptz', context))
  const from = b ? instant(b, context) : instantText(context.now.getTime() * 1000)
  const sql = b ? `toFloat(${instant(a!, context)} - ${from})` : `toFloat(${from} - ${instant(a!, context)})`
  return { sql, type: 'interval', nullable: a!.nullable || b?.nullable === true, at: call.at }
}

const toTimestamp: FunctionRow = ({ args, call, context, ...more }) => {
  needs({ args, call, context, ...more }, 1)
  const x = decided(args[0]!, 'float8', context)
  const sql = isWhole(x.type) ? `fromUnixTimestamp(${x.sql})` : `fromUnixTimestamp64Milli(toInt64(round(${x.sql} * 1000)))`
  return { sql, type: 'timestamptz', nullable: x.nullable, at: call.at }
}

const datePart: FunctionRow = ({ args, call, context, ...more }) => {
  needs({ args, call, context, ...more }, 2)
  return extracted(constantText(args[0]!, 'the unit of date_part'), args[1]!, call.at, context, 'float8')
}

const dateOf: FunctionRow = ({ args, call, context, ...more }) => {
  needs({ args, call, context, ...more }, 1)
  const value = decided(args[0]!, 'date', context)
  if (value.type === 'date') return value
  if (!isTime(value.type)) throw new SqlError('42883', `function date(${titleOf(value.type)}) does not exist`, { offset: call.at })
  return { sql: value.isDay ? value.sql : `toDate(${zoned(value, context)})`, type: 'date', nullable: value.nullable, at: call.at }
}

export const dateFunctions: FunctionRows = {
  now: moment('timestamptz'),
  current_timestamp: moment('timestamptz'),
  transaction_timestamp: moment('timestamptz'),
  statement_timestamp: moment('timestamptz'),
  clock_timestamp: moment('timestamptz'),
  localtimestamp: moment('timestamp'),
  current_date: today,
  date_trunc: truncated,
  date_part: datePart,
  date: dateOf,
  to_char: toChar,
  age,
  to_timestamp: toTimestamp,
  make_date: plain(([y, m, d]) => `make_date(${y}, ${m}, ${d})`, ['int4', 'int4', 'int4'], 'date'),
}
