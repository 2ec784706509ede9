import { SqlError } from '../statements/sql-error.ts'
import { common, isDay, isNumber, isScalar, isText, isTime, isWhole, itemOf, type TypeName, titleOf } from '../types/pg-types.ts'
import type { Context } from './context.ts'
import { dayText, instantText, microsOf, numberOf, spanOf, textOf, truthOf, uuidOf, wholeOf } from './texts.ts'
import type { Typed } from './typed.ts'

// From one type to another: constants when the statement is read, everything else by functions of the language.

const nullOf = (type: TypeName, at: number): Typed => ({ sql: 'NULL', type, nullable: true, at })

/** The items of `{a,"b c"}`. */
export function arrayItems(text: string): (string | null)[] {
  const whole = text.trim()
  if (!whole.startsWith('{') || !whole.endsWith('}')) throw new SqlError('22P02', `malformed array literal: "${text.slice(0, 200)}"`)
  const body = whole.slice(1, -1)
  const items: (string | null)[] = []
  for (let at = 0; at < body.length; at++) {
    let item = ''
    const isQuoted = body[at] === '"'
    if (isQuoted) {
      for (at++; at < body.length && body[at] !== '"'; at++) item += body[at] === '\\' ? (body[++at] ?? '') : body[at]
      while (at < body.length && body[at] !== ',') at++
    } else for (; at < body.length && body[at] !== ','; at++) item += body[at]
    items.push(isQuoted ? item : item.trim().toLowerCase() === 'null' ? null : item.trim())
  }
  return items
}

/** The value that a text means. */
function constantOf(text: string, type: TypeName, { zone, now }: Context, at: number): Typed {
  const known = { type, nullable: false, at }
  const item = itemOf(type)
  if (item) {
    const items = arrayItems(text).map((one) => (one === null ? 'NULL' : constantOf(one, item, { zone, now } as Context, at).sql))
    return { ...known, sql: `[${items.join(', ')}]` }
  }
  switch (type) {
    case 'int2':
    case 'int4':
    case 'int8':
    case 'oid':
      return { ...known, sql: wholeOf(text, titleOf(type), at) }
    case 'numeric':
    case 'float4':
    case 'float8':
      return { ...known, sql: numberOf(text, titleOf(type), at) }
    case 'bool':
      return { ...known, sql: truthOf(text, at) }
    case 'uuid':
      return { ...known, sql: textOf(uuidOf(text, at)) }
    case 'date': {
      const micros = microsOf(text, { zone: 'UTC', now, type: 'date', offset: at })
      return { ...known, sql: dayText(micros), micros }
    }
    case 'timestamp':
    case 'timestamptz': {
      // A time without a zone has none, whatever its text says.
      const read = type === 'timestamp' ? text.replace(/(:\d{2}(?:\.\d+)?)\s*(?:Z|[+-]\d{1,2}(?::?\d{2})?)\s*$/i, '$1') : text
      const micros = microsOf(read, { zone, now, type: titleOf(type), offset: at })
      return { ...known, sql: instantText(micros), micros }
    }
    case 'interval':
      return { ...known, sql: '', span: spanOf(text, at) }
    default:
      return { ...known, sql: textOf(text) }
  }
}

/** A constant or a parameter becomes a value of the type that its place wants. */
export function decided(value: Typed, wanted: TypeName, context: Context): Typed {
  if (value.type !== 'unknown') return value
  const type = wanted === 'unknown' || wanted === 'other' ? 'text' : wanted
  if (value.param === undefined)
    return value.constant == null ? nullOf(type, value.at) : constantOf(value.constant, type, context, value.at)
  const taken = context.decide(value.param, type)
  const given = context.valueOf(value.param, value.at)
  return given == null ? nullOf(taken, value.at) : constantOf(given, taken, context, value.at)
}

/** Both get the type that has room for the values of both. */
export function alike(a: Typed, b: Typed, context: Context): readonly [Typed, Typed] {
  const type = common(a.type, b.type)
  return [decided(a, type, context), decided(b, type, context)]
}

/** Of several values: their common type. */
export function allAlike(values: readonly Typed[], context: Context): { readonly type: TypeName; readonly values: readonly Typed[] } {
  const found = values.reduce<TypeName>((type, value) => common(type, value.type), 'unknown')
  const type = found === 'unknown' ? 'text' : found
  return { type, values: values.map((value) => (value.type === 'unknown' ? decided(value, type, context) : moved(value, type, context))) }
}

const moved = (value: Typed, type: TypeName, context: Context): Typed =>
  value.type === type || (isNumber(value.type) && isNumber(type)) || type === 'other' ? value : cast(value, type, context)

/** The instant of a time, also where the engine has a day. */
export function instant(value: Typed, { zone }: Context): string {
  if (value.type !== 'date' && !value.isDay) return value.sql
  return `toDateTime64(toString(${value.sql}), 6, ${textOf(zone)})`
}

/** The same time, truncated and divided in the session's zone. */
export const zoned = (value: Typed, context: Context): string => {
  if (value.type === 'date' || value.isDay) return value.sql
  return context.zone === context.projectZone ? value.sql : `toTimeZone(${value.sql}, ${textOf(context.zone)})`
}

/** The text that PostgreSQL shows. */
export function shown(value: Typed, context: Context): string {
  const { type, sql } = value
  if (isText(type) || type === 'uuid' || type === 'json' || type === 'jsonb') return type === 'uuid' ? `toString(${sql})` : sql
  if (type === 'interval') throw new SqlError('0A000', 'an interval as text is not supported', { offset: value.at })
  if (!isTime(type)) return `toString(${sql})`
  const wall = `toString(toTimeZone(${instant(value, context)}, ${textOf(context.zone)}))`
  const short = `replaceRegexpOne(${wall}, '(\\\\.[0-9]*?)0+$', '\\\\1')`
  const plain = `replaceRegexpOne(${short}, '\\\\.$', '')`
  return type === 'timestamptz' && context.zone === 'UTC' ? `concat(${plain}, '+00')` : plain
}

const truthFromNumber = (sql: string) => `(${sql} != 0)`
const numberFromTruth = (sql: string) => `multiIf(${sql}, 1, not ${sql}, 0, NULL)`
/** Away from zero, as a numeric of PostgreSQL; halves of a float go to the even number. */
const rounded = ({ sql, type }: Typed) =>
  type === 'numeric' ? `toInt64(sign(${sql}) * floor(abs(${sql}) + 0.5))` : `toInt64(round(${sql}))`

function castSql(value: Typed, type: TypeName, context: Context): string | null {
  const { sql, type: from } = value
  const isFromText = isText(from) || from === 'json' || from === 'jsonb' || from === 'other'
  if (isText(type)) return shown(value, context)
  if (type === 'json' || type === 'jsonb') return isFromText ? sql : `toString(${sql})`
  if (isWhole(type) || type === 'oid') {
    if (from === 'bool') return numberFromTruth(sql)
    if (isWhole(from)) return sql
    return isNumber(from) ? rounded(value) : isFromText ? `toInt(${sql})` : null
  }
  if (isNumber(type))
    return isNumber(from) ? (type === 'numeric' || !isWhole(from) ? sql : `toFloat(${sql})`) : isFromText ? `toFloat(${sql})` : null
  if (type === 'bool') return isNumber(from) ? truthFromNumber(sql) : isFromText ? `toBool(${sql})` : null
  if (type === 'uuid') return isFromText ? `toUUID(${sql})` : null
  if (type === 'date') return isTime(from) ? (value.isDay ? sql : `toDate(${zoned(value, context)})`) : isFromText ? `toDate(${sql})` : null
  if (isTime(type)) return isDay(from) ? instant(value, context) : isFromText ? `toDateTime64(${sql}, 6, ${textOf(context.zone)})` : null
  return null
}

export function cast(value: Typed, type: TypeName, context: Context): Typed {
  if (value.type === 'unknown') {
    const given = decided(value, type, context)
    return given.type === type ? given : cast(given, type, context)
  }
  if (value.type === type) return value
  if (itemOf(type) || itemOf(value.type)) return { ...value, type }
  const sql = isScalar(type) ? castSql(value, type, context) : null
  if (sql === null) throw new SqlError('42846', `cannot cast type ${titleOf(value.type)} to ${titleOf(type)}`, { offset: value.at })
  const mayFail = isText(value.type) && !isText(type)
  const { json: _, isDay: _day, constant: _constant, ...rest } = value
  return {
    ...rest,
    sql,
    type,
    nullable: value.nullable || mayFail,
    ...(value.isDay && type === 'timestamptz' && { isDay: undefined }),
  } as Typed
}
