import { isNamed, isNullable, isText, isTime, nullable, type SqlType, scalar } from '../../types/types.ts'
import { once } from '../cells/duckdb-values.ts'
import { isDate, moment, wall } from '../cells/moment.ts'
import { momentOf, zoneOf } from '../cells/zone-text.ts'
import { isUtc } from '../cells/zones.ts'
import { type Arg, type CellContext, differing } from '../row.ts'
import { type ScalarSpec, scalars } from '../scalars.ts'

export type IntervalUnit = 'Second' | 'Minute' | 'Hour' | 'Day' | 'Week' | 'Month' | 'Quarter' | 'Year'

/** DuckDB's functions for intervals, and whether the unit is a fixed duration or depends on the calendar. */
export const intervalUnits: Readonly<Record<IntervalUnit, { readonly make: string; readonly isFixed: boolean }>> = {
  Second: { make: 'to_seconds', isFixed: true },
  Minute: { make: 'to_minutes', isFixed: true },
  Hour: { make: 'to_hours', isFixed: true },
  Day: { make: 'to_days', isFixed: false },
  Week: { make: 'to_weeks', isFixed: false },
  Month: { make: 'to_months', isFixed: false },
  Quarter: { make: 'to_quarters', isFixed: false },
  Year: { make: 'to_years', isFixed: false },
}
export const unitNames = Object.keys(intervalUnits) as IntervalUnit[]

/** The whole number in a text. */
const numberInText = (text: Arg, context: CellContext): string =>
  once(context, text.sql, (t) => {
    const refusal = context.refuse("'The text of an interval must be a whole number, such as 7'")
    return `CASE WHEN ${t} IS NULL THEN NULL WHEN regexp_full_match(${t}, '[+-]?[0-9]{1,18}') THEN CAST(${t} AS BIGINT) ELSE ${refusal} END`
  })

/** An amount of a unit as DuckDB's INTERVAL; fractions are truncated as in ClickHouse. */
export const intervalOf = (unit: IntervalUnit, amount: Arg): string => {
  const { make, isFixed } = intervalUnits[unit]
  const whole = isNamed(amount.type, 'Float32', 'Float64', 'Decimal') ? `trunc(${amount.sql})` : amount.sql
  return `${make}(CAST(${whole} AS ${isFixed ? 'BIGINT' : 'INTEGER'}))`
}

export const isInterval = (type: SqlType | undefined): boolean => type !== undefined && isNamed(type, 'Interval')
export const unitOfInterval = (type: SqlType | undefined): IntervalUnit | undefined => {
  const name = type?.kind === 'scalar' ? type.unit : undefined
  return unitNames.find((unit) => unit.toLowerCase() === name?.toLowerCase())
}
/** Mixed or unknown units depend on the calendar. */
const isFixed = (type: SqlType): boolean => {
  const unit = unitOfInterval(type)
  return unit !== undefined && intervalUnits[unit].isFixed
}

/** A time plus an interval: a Date stays a Date unless hours or less are added. */
export function movedType(time: SqlType | undefined, interval: SqlType): SqlType {
  const mayBeNull = !time || isNullable(time) || isNullable(interval)
  if (!time || !isTime(time)) return scalar('DateTime64', true)
  const type = isNamed(time, 'Date') && isFixed(interval) ? scalar('DateTime') : time
  return mayBeNull ? nullable(type) : type
}

/**
 * Prints a time plus or minus an interval for DuckDB. Days and longer units change the local date and keep the local time of day; hours and
 * shorter units are added to the instant.
 */
export function moved(time: Arg, sign: '+' | '-', interval: string, intervalType: SqlType, context: CellContext): string {
  if (isFixed(intervalType)) return `(${moment(time, context)} ${sign} ${interval})`
  if (isDate(time)) return `CAST(${time.sql} ${sign} ${interval} AS DATE)`
  const zone = zoneOf(time.type, context)
  if (isUtc(zone)) return `(${moment(time, context)} ${sign} ${interval})`
  return momentOf(`(${wall(time, context)} ${sign} ${interval})`, zone, context)
}

const interval = (unit: IntervalUnit): ScalarSpec => ({
  args: 1,
  alsoTakes: 'texts',
  returns: ([amount]) => ({ ...scalar('Interval', amount !== undefined && isNullable(amount)), unit }),
  summary: `An interval of that many ${unit.toLowerCase()}s, to add to a date or time. The number may be a text.`,
  duckdb: ([amount], context) =>
    intervalOf(
      unit,
      isText(amount!.type) ? { sql: numberInText(amount!, context), type: scalar('Int64', isNullable(amount!.type)) } : amount!,
    ),
  clickhouse: `toInterval${unit}`,
  differences:
    unit === 'Day'
      ? [
          differing(
            'toIntervalDay(2)',
            '2 days',
            '2',
            'an interval that is selected by itself is a text with its unit on DuckDB, and a number on ClickHouse',
          ),
        ]
      : [],
  cases: [
    [`toDateTime('2024-01-31 10:00:00') + toInterval${unit}(1)`, afterOne[unit]],
    [`toDate('2024-01-31') - toInterval${unit}(1)`, dateBeforeOne[unit]],
    [`toDateTime('2024-01-31 10:00:00') + toInterval${unit}('1')`, afterOne[unit]],
    [`toDate('2024-01-31') + toInterval${unit}('-1')`, dateBeforeOne[unit]],
  ],
})
const afterOne: Readonly<Record<IntervalUnit, string>> = {
  Second: '2024-01-31 10:00:01',
  Minute: '2024-01-31 10:01:00',
  Hour: '2024-01-31 11:00:00',
  Day: '2024-02-01 10:00:00',
  Week: '2024-02-07 10:00:00',
  Month: '2024-02-29 10:00:00',
  Quarter: '2024-04-30 10:00:00',
  Year: '2025-01-31 10:00:00',
}
const dateBeforeOne: Readonly<Record<IntervalUnit, string>> = {
  Second: '2024-01-30 23:59:59',
  Minute: '2024-01-30 23:59:00',
  Hour: '2024-01-30 23:00:00',
  Day: '2024-01-30',
  Week: '2024-01-24',
  Month: '2023-12-31',
  Quarter: '2023-10-31',
  Year: '2023-01-31',
}

export const intervalFunctions = scalars({
  ...Object.fromEntries(unitNames.map((unit) => [`toInterval${unit}`, interval(unit)])),
  make_interval: {
    args: 6,
    returns: (args) => scalar('Interval', args.some(isNullable)),
    summary: 'An interval of years, months, days, hours, minutes and seconds.',
    duckdb: (args) => `(${parts.map((unit, i) => intervalOf(unit, args[i]!)).join(' + ')})`,
    clickhouse: (args) => `tuple(${parts.map((unit, i) => `toInterval${unit}(${args[i]!.sql})`).join(', ')})`,
    cases: [["toDateTime('2024-01-31 10:00:00') + make_interval(1, 1, 1, 1, 1, 1)", '2025-03-01 11:01:01']],
  },
})
const parts: readonly IntervalUnit[] = ['Year', 'Month', 'Day', 'Hour', 'Minute', 'Second']
