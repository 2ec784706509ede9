import { QueryError } from '../../../errors/errors.ts'
import { scalar } from '../../types/types.ts'
import { once } from '../cells/duckdb-values.ts'
import { clickHouseMoment, clickHouseZone, isDate, moment, wall, whenTime } from '../cells/moment.ts'
import { times } from '../makes.ts'
import { mustBeConstant } from '../must-be-constant.ts'
import type { Arg, CellContext } from '../row.ts'
import { type ScalarSpec, scalars } from '../scalars.ts'

// Formatting times. The letters are those of ClickHouse's formatDateTime; some differ in DuckDB's strftime.

/** DuckDB's letters for ClickHouse's. */
const letters: Readonly<Record<string, string>> = {
  a: '%a',
  b: '%b',
  c: '%m',
  d: '%d',
  D: '%m/%d/%y',
  e: '%-d',
  f: '%f',
  F: '%Y-%m-%d',
  G: '%G',
  h: '%I',
  H: '%H',
  i: '%M',
  I: '%I',
  j: '%j',
  k: '%H',
  l: '%I',
  m: '%m',
  M: '%B',
  n: '\n',
  p: '%p',
  r: '%I:%M %p',
  R: '%H:%M',
  s: '%S',
  S: '%S',
  t: '\t',
  T: '%H:%M:%S',
  u: '%u',
  V: '%V',
  w: '%w',
  W: '%A',
  y: '%y',
  Y: '%Y',
  '%': '%%',
}

/** Letters without a strftime equivalent; `{}` is the local time, `[]` the instant. */
const expressions: Readonly<Record<string, string>> = {
  C: "lpad(CAST(year({}) // 100 AS VARCHAR), 2, '0')",
  g: "lpad(CAST(isoyear({}) % 100 AS VARCHAR), 2, '0')",
  Q: 'CAST(quarter({}) AS VARCHAR)',
}

function zoneText(arg: Arg, local: string, context: CellContext, zone?: Arg): string {
  const minutes = `date_diff('minute', ${isDate(arg) ? local : moment(arg, context, zone)}, ${local})`
  return `(CASE WHEN ${minutes} < 0 THEN '-' ELSE '+' END || lpad(CAST(abs(${minutes}) // 60 AS VARCHAR), 2, '0') || lpad(CAST(abs(${minutes}) % 60 AS VARCHAR), 2, '0'))`
}

function formatted([time, format, zone]: readonly Arg[], context: CellContext): string {
  if (typeof format!.constant !== 'string') throw new QueryError('invalid-query', { message: 'A date format must be a text constant.' })
  const pieces = piecesOf(format!.constant)
  const local = `CAST(${wall(time!, context, zone)} AS TIMESTAMP)`
  if (pieces.length === 0) return `CASE WHEN ${local} IS NOT NULL THEN '' END`
  const printed = (at: string) =>
    pieces.map((piece) => {
      if ('plain' in piece) return `strftime(${at}, ${context.bind(piece.plain)})`
      return piece.letter === 'z' ? zoneText(time!, at, context, zone) : expressions[piece.letter]!.replaceAll('{}', () => at)
    })
  // The SQL for a local time is long, and each piece uses it at least once.
  return pieces.length === 1 ? printed(local)[0]! : once(context, local, (at) => `(${printed(at).join(' || ')})`)
}

type Piece = { readonly plain: string } | { readonly letter: string }
function piecesOf(format: string): readonly Piece[] {
  const pieces: Piece[] = []
  let plain = ''
  const flush = (): void => {
    if (plain) pieces.push({ plain })
    plain = ''
  }
  for (const [text, letter] of format.matchAll(/%([\s\S]?)|[^%]+/g)) {
    if (letter === undefined) plain += text
    else if (letter in letters) plain += letters[letter]
    else if (letter in expressions || letter === 'z') {
      flush()
      pieces.push({ letter })
    } else throw new QueryError('invalid-query', { message: `'%${letter}' is not a specifier of date formats.` })
  }
  flush()
  return pieces
}

const t = "toDateTime('2024-01-07 15:05:06')"

const format = (name: string, summary: string): ScalarSpec => ({
  args: [2, 3],
  takes: ['time', 'text'],
  returns: ([x]) => whenTime(scalar('String'), x),
  summary,
  // %W is the weekday's name.
  makes: times(8),
  duckdb: formatted,
  clickhouse: ([time, text, zone], context) => {
    const x = clickHouseMoment(time!, context)
    return `formatDateTime(${x}, ${text!.sql}${isDate(time!) ? '' : `, ${clickHouseZone(time!, context, zone)}`})`
  },
  cases: [
    [`${name}(${t}, '%Y-%m-%d %H:%i:%S')`, '2024-01-07 15:05:06'],
    [`${name}(${t}, '%a %b %c %C %D %e %F %g %G %h %I %j')`, 'Sun Jan 01 20 01/07/24 7 2024-01-07 24 2024 03 03 007'],
    [
      `${name}(${t}, '%k %l %m %M %p %Q %r %R %s %T %u %V %w %W %y %%')`,
      '15 03 01 January PM 1 03:05 PM 15:05 06 15:05:06 7 01 0 Sunday 24 %',
    ],
    [`${name}(${t}, '%H:%i %z', 'America/New_York')`, '10:05 -0500'],
    [`${name}(${t}, 'it''s %n%t%f')`, "it's \n\t000000"],
    [`${name}(toDate('2024-01-07'), '%d.%m.%Y')`, '07.01.2024'],
  ],
})

/** Units of `dateName` and their formats. */
const names: Readonly<Record<string, string>> = {
  year: 'CAST(year({}) AS VARCHAR)',
  quarter: 'CAST(quarter({}) AS VARCHAR)',
  month: 'monthname({})',
  dayofyear: 'CAST(dayofyear({}) AS VARCHAR)',
  day: 'CAST(day({}) AS VARCHAR)',
  week: 'CAST(week({}) AS VARCHAR)',
  weekday: 'dayname({})',
  hour: 'CAST(hour({}) AS VARCHAR)',
  minute: 'CAST(minute({}) AS VARCHAR)',
  second: 'CAST(second({}) AS VARCHAR)',
}
function nameUnit(arg: Arg | undefined): string {
  const unit = typeof arg?.constant === 'string' ? arg.constant.toLowerCase() : ''
  if (Object.hasOwn(names, unit)) return unit
  throw new QueryError('invalid-query', { message: `A part of a date must be one of ${Object.keys(names).join(', ')}.` })
}

/** PostgreSQL's parts; others are NULL. */
const parts: Readonly<Record<string, string>> = {
  year: 'year({})',
  month: 'month({})',
  day: 'day({})',
  hour: 'hour({})',
  minute: 'minute({})',
  second: 'second({})',
  dow: '(isodow({}) % 7)',
  doy: 'dayofyear({})',
  quarter: 'quarter({})',
}
const clickHouseParts: Readonly<Record<string, string>> = {
  year: 'toYear',
  month: 'toMonth',
  day: 'toDayOfMonth',
  hour: 'toHour',
  minute: 'toMinute',
  second: 'toSecond',
  doy: 'toDayOfYear',
  quarter: 'toQuarter',
}
const partOf = (arg: Arg | undefined): string => (typeof arg?.constant === 'string' ? arg.constant.toLowerCase() : '')

export const dateTextFunctions = scalars({
  formatDateTime: format(
    'formatDateTime',
    'The time as text, by ClickHouse’s letters: %Y-%m-%d %H:%i:%S (%i minutes, %M the name of the month).',
  ),
  to_char: format('to_char', 'The same as `formatDateTime`: the letters are ClickHouse’s, not PostgreSQL’s.'),
  dateName: {
    args: 2,
    takes: ['text', 'time'],
    returns: ([, x]) => whenTime(scalar('String'), x),
    summary: 'A part of a date as text: names of months and weekdays, numbers of the rest.',
    duckdb: ([unit, x], context) => names[nameUnit(unit)]!.replaceAll('{}', () => wall(x!, context)),
    clickhouse: ([unit, x], context) => {
      const time = clickHouseMoment(x!, context)
      return `dateName('${nameUnit(unit)}', ${time}${isDate(x!) ? '' : `, ${clickHouseZone(x!, context)}`})`
    },
    cases: [
      [`dateName('weekday', ${t})`, 'Sunday'],
      [`dateName('month', ${t})`, 'January'],
      [`dateName('dayofyear', ${t})`, '7'],
      [`dateName('year', toDate('2024-01-07'))`, '2024'],
    ],
  },
  monthName: {
    args: 1,
    takes: 'time',
    returns: ([x]) => whenTime(scalar('String'), x),
    summary: 'Name of the month.',
    duckdb: ([x], context) => `monthname(${wall(x!, context)})`,
    clickhouse: ([x], context) =>
      `dateName('month', ${clickHouseMoment(x!, context)}${isDate(x!) ? '' : `, ${clickHouseZone(x!, context)}`})`,
    cases: [[`monthName(${t})`, 'January']],
  },
  date_part: {
    args: 2,
    takes: ['text', 'time'],
    returns: ([, x], { args: [unit] }) => {
      mustBeConstant(unit, 'The part of a date')
      return partOf(unit) === 'year' || partOf(unit) === 'doy' ? whenTime(scalar('UInt16', true), x) : scalar('UInt8', true)
    },
    summary: 'PostgreSQL’s parts: year, month, day, hour, minute, second, dow (Sunday = 0), doy, quarter; NULL for others.',
    duckdb: ([unit, x], context) =>
      Object.hasOwn(parts, partOf(unit)) ? parts[partOf(unit)]!.replaceAll('{}', () => wall(x!, context)) : 'NULL',
    clickhouse: ([unit, x], context) => {
      const [time, zone] = [clickHouseMoment(x!, context), isDate(x!) ? '' : `, ${clickHouseZone(x!, context)}`]
      if (partOf(unit) === 'dow') return `toNullable(toDayOfWeek(${time}, 2${zone}))`
      return Object.hasOwn(clickHouseParts, partOf(unit))
        ? `toNullable(${clickHouseParts[partOf(unit)]}(${time}${zone}))`
        : 'CAST(NULL AS Nullable(UInt8))'
    },
    cases: [
      [`date_part('year', ${t})`, 2024],
      [`date_part('dow', ${t})`, 0],
      [`date_part('doy', toDate('2024-02-01'))`, 32],
      [`date_part('century', ${t})`, null],
    ],
  },
})
