import { isNamed, isTime, nullable, type SqlType, scalar } from '../../types/types.ts'
import type { Arg, CellContext, SqlCell } from '../row.ts'
import { localTime, momentOf, zoneArgument } from './zone-text.ts'

// Arguments of date functions. A Date is a day without a zone, a DateTime is a moment, and a text is a local time of the project.

/** Why dates before 1970 differ. */
export const before1970 = 'a Date of ClickHouse begins in 1970, and earlier days become its first'

export const isDate = (arg: Arg): boolean => isNamed(arg.type, 'Date')

/** The local date and time: DuckDB's DATE or TIMESTAMP. */
export function wall(arg: Arg, context: CellContext, zone?: Arg): string {
  if (isDate(arg)) return arg.sql
  if (isNamed(arg.type, 'String', 'Nothing')) return `TRY_CAST(${arg.sql} AS TIMESTAMP)`
  return localTime(asTimestamp(arg), zoneArgument(zone, arg.type, context), context)
}

/** The instant, as DuckDB's TIMESTAMP in UTC; for a Date, its midnight. */
export function moment(arg: Arg, context: CellContext, zone?: Arg): string {
  if (isTime(arg.type) && !isDate(arg)) return arg.sql
  const where = zoneArgument(zone, arg.type, context)
  return isDate(arg) || isNamed(arg.type, 'String', 'Nothing')
    ? momentOf(`TRY_CAST(${arg.sql} AS TIMESTAMP)`, where, context)
    : asTimestamp(arg)
}

const asTimestamp = (arg: Arg): string => (isTime(arg.type) ? arg.sql : `TRY_CAST(${arg.sql} AS TIMESTAMP)`)

/** ClickHouse's argument: a text is a time in the project's zone. */
export const clickHouseMoment = (arg: Arg, context: CellContext): string =>
  isNamed(arg.type, 'String')
    ? `parseDateTime64BestEffortOrNull(${arg.sql}, 6, ${context.literal(context.timezone)})`
    : isNamed(arg.type, 'Nothing')
      ? `CAST(NULL AS Nullable(DateTime))`
      : arg.sql

/** The same, with a type that carries the zone whose calendar applies. A Date that becomes a time starts in that zone. */
export const clickHouseLocal = (arg: Arg, context: CellContext): string =>
  isDate(arg) && isNamed(context.type, 'DateTime', 'DateTime64')
    ? `toDateTime(${arg.sql}, ${clickHouseZone(arg, context)})`
    : isDate(arg) || isNamed(arg.type, 'String', 'Nothing')
      ? clickHouseMoment(arg, context)
      : `toTimeZone(${arg.sql}, ${clickHouseZone(arg, context)})`

export const clickHouseZone = (arg: Arg, context: CellContext, zone?: Arg): string =>
  zone ? zone.sql : context.literal(zoneArgument(undefined, arg.type, context))

/** `name(x, others…, zone)`: ClickHouse accepts a zone for times only. */
export const inZone =
  (name: string, ...others: string[]): SqlCell =>
  (args, context) => {
    const parts = [clickHouseMoment(args[0]!, context), ...others]
    return `${name}(${(isDate(args[0]!) ? parts : [...parts, clickHouseZone(args[0]!, context, args[1])]).join(', ')})`
  }

/** NULL for NULL and for a text that is not a date. */
export const whenTime = (type: SqlType, arg: SqlType | undefined): SqlType =>
  arg && isTime(arg) && arg.kind === 'scalar' && !arg.nullable ? type : nullable(type)

/** A time without a fraction, shown in the same zone as another. */
export const dateTimeLike = (arg: SqlType | undefined, zone?: Arg): SqlType => {
  const named = typeof zone?.constant === 'string' ? zone.constant : arg?.kind === 'scalar' ? arg.zone : undefined
  return whenTime(named ? { ...scalar('DateTime'), zone: named } : scalar('DateTime'), arg)
}
