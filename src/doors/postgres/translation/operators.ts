import { SqlError, unsupported } from '../statements/sql-error.ts'
import { common, isDay, isNumber, isText, isTime, isWhole, type TypeName, titleOf } from '../types/pg-types.ts'
import { alike, decided, instant, shown } from './coerce.ts'
import type { Context } from './context.ts'
import { instantText, type Span, textOf } from './texts.ts'
import type { Typed } from './typed.ts'

// Operators on values. Conditions are in conditions.ts.

const noOperator = (op: string, left: Typed, right: Typed, at: number): SqlError =>
  new SqlError('42883', `operator does not exist: ${titleOf(left.type)} ${op} ${titleOf(right.type)}`, {
    offset: at,
    hint: 'No operator matches the given name and argument types. You might need to add explicit type casts.',
  })

/** A value that is NULL if one of these is. */
export const unlessNull = (sql: string, values: readonly Typed[]): string => {
  const checks = values.filter(({ nullable }) => nullable).map((value) => `isNull(${value.sql})`)
  return checks.length === 0 ? sql : `if(${checks.join(' or ')}, NULL, ${sql})`
}

export const anyNullable = (values: readonly Typed[]): boolean => values.some(({ nullable }) => nullable)

/** An instant moved by an interval. */
function shifted(sql: string, span: Span, sign: 1 | -1): string {
  const parts = [
    span.months !== 0 && `toIntervalMonth(${sign * span.months})`,
    span.days !== 0 && `toIntervalDay(${sign * span.days})`,
    span.micros !== 0 &&
      (span.micros % 1_000_000 === 0
        ? `toIntervalSecond(${(sign * span.micros) / 1_000_000})`
        : `toIntervalMicrosecond(${sign * span.micros})`),
  ].filter((part) => part !== false)
  return parts.length === 0 ? sql : `(${[sql, ...parts].join(' + ')})`
}

const spanType = { type: 'interval', nullable: false } as const

function spans(op: string, a: Typed, b: Typed, at: number): Typed | null {
  if (a.span && b.span && (op === '+' || op === '-')) {
    const sign = op === '+' ? 1 : -1
    const [x, y] = [a.span, b.span]
    return {
      ...spanType,
      sql: '',
      at,
      span: { months: x.months + sign * y.months, days: x.days + sign * y.days, micros: x.micros + sign * y.micros },
    }
  }
  const [span, factor] = a.span ? [a.span, b] : [b.span, a]
  if (op === '*' && span && /^-?\d+(?:\.\d+)?$/.test(factor.sql)) {
    const by = Number(factor.sql)
    return {
      ...spanType,
      sql: '',
      at,
      span: { months: Math.trunc(span.months * by), days: Math.trunc(span.days * by), micros: Math.round(span.micros * by) },
    }
  }
  return null
}

/** Times and days; null: these are none. */
function ofTimes(op: '+' | '-', a: Typed, b: Typed, at: number, context: Context): Typed | null {
  const nullable = a.nullable || b.nullable
  if (b.type === 'interval' || a.type === 'interval') {
    const [time, by] = isDay(a.type) ? [a, b] : [b, a]
    if (!isDay(time.type)) return null
    if (!by.span) throw unsupported('adding an interval that is not constant', at)
    const type: TypeName = time.type === 'date' ? 'timestamp' : time.type
    const sql = shifted(instant(time, context), by.span, op === '-' ? -1 : 1)
    const isFixed = time.micros !== undefined && by.span.months === 0
    const moved = isFixed ? time.micros! + (op === '-' ? -1 : 1) * (by.span.days * 86_400_000_000 + by.span.micros) : undefined
    if (moved !== undefined && time.type !== 'date') return { sql: instantText(moved), type, nullable, at, micros: moved }
    return { sql, type, nullable, at }
  }
  if (a.type === 'date' && isWhole(b.type)) return { sql: `(${a.sql} ${op} ${b.sql})`, type: 'date', nullable, at }
  if (isWhole(a.type) && b.type === 'date' && op === '+') return { sql: `(${b.sql} + ${a.sql})`, type: 'date', nullable, at }
  if (op === '-' && a.type === 'date' && b.type === 'date') return { sql: `(${a.sql} - ${b.sql})`, type: 'int4', nullable, at }
  if (op === '-' && isDay(a.type) && isDay(b.type))
    return { sql: `toFloat(${instant(a, context)} - ${instant(b, context)})`, type: 'interval', nullable, at }
  return null
}

export function arithmetic(op: string, left: Typed, right: Typed, at: number, context: Context): Typed {
  const a = left.type === 'unknown' ? decided(left, wantedBeside(op, right.type), context) : left
  const b = right.type === 'unknown' ? decided(right, wantedBeside(op, a.type), context) : right
  const found = spans(op, a, b, at) ?? (op === '+' || op === '-' ? ofTimes(op, a, b, at, context) : null)
  if (found) return found
  if (a.type === 'interval' && b.type !== 'interval' && isNumber(b.type) && !a.span)
    return { sql: `(${a.sql} ${op} ${b.sql})`, type: 'interval', nullable: a.nullable || b.nullable, at }
  const isKnown = isNumber(a.type) && isNumber(b.type)
  if (!isKnown && a.type !== 'other' && b.type !== 'other') throw noOperator(op, a, b, at)
  const nullable = a.nullable || b.nullable
  const type = a.type === 'other' || b.type === 'other' ? 'other' : common(a.type, b.type)
  if (op === '/' && isWhole(type)) return { sql: `intDiv(${a.sql}, ${b.sql})`, type, nullable, at }
  if (op === '^') return { sql: `pow(${a.sql}, ${b.sql})`, type: isWhole(type) || type === 'float8' ? 'float8' : type, nullable, at }
  return { sql: `(${a.sql} ${op} ${b.sql})`, type: type === 'int2' ? 'int4' : type, nullable: nullable || op === '/', at }
}

/** The type that a constant beside a value of this type has. */
const wantedBeside = (op: string, type: TypeName): TypeName => {
  if (isTime(type)) return op === '-' ? type : 'interval'
  if (type === 'date') return op === '-' ? 'date' : 'interval'
  return isNumber(type) ? type : type === 'interval' ? 'float8' : 'int4'
}

export function concatenated(left: Typed, right: Typed, at: number, context: Context): Typed {
  const [a, b] = [decided(left, 'text', context), decided(right, 'text', context)]
  const texts = [a, b].map((value) => shown(value, context))
  return { sql: unlessNull(`concat(${texts.join(', ')})`, [a, b]), type: 'text', nullable: a.nullable || b.nullable, at }
}

/** A constant interval as the number that other intervals are. */
export const inSeconds = (value: Typed): Typed => {
  if (!value.span) return value
  const { months, days, micros } = value.span
  const { span: _, ...rest } = value
  return { ...rest, sql: String(months * 2_592_000 + days * 86_400 + micros / 1_000_000) }
}

/** The two sides of a comparison as the engine compares them. */
export function compared(op: string, left: Typed, right: Typed, at: number, context: Context): readonly [Typed, Typed] {
  const [a, b] = alike(left, right, context).map(inSeconds) as [Typed, Typed]
  if (a.type === 'other' || b.type === 'other') return [a, b]
  if (isDay(a.type) && isDay(b.type)) {
    if (a.type === 'date' && b.type === 'date') return [a, b]
    return [a, b].map((value) => ({ ...value, sql: instant(value, context) })) as [Typed, Typed]
  }
  const isComparable = (isNumber(a.type) && isNumber(b.type)) || (isText(a.type) && isText(b.type)) || a.type === b.type
  const isAlmost = isText(a.type) !== isText(b.type) && [a, b].some(({ type }) => type === 'json' || type === 'jsonb')
  if (!isComparable && !isAlmost) throw noOperator(op, a, b, at)
  return [a, b]
}

/** A part of JSON: `->`, `->>`, `#>`, `#>>`. */
export function jsonPart(op: string, left: Typed, right: Typed, at: number): Typed {
  const { json } = left
  if (!json) throw new SqlError('42883', `operator does not exist: ${titleOf(left.type)} ${op} ${titleOf(right.type)}`, { offset: at })
  const isPath = op.startsWith('#')
  const key = right.constant ?? (isWhole(right.type) ? Number(right.sql) : null)
  if (key === null || Number.isNaN(key)) throw unsupported('a key of JSON that is not constant', at)
  const keys = isPath
    ? String(key)
        .replace(/^\{|\}$/g, '')
        .split(',')
        .map((part) => part.trim())
    : [key]
  return jsonAt(json.root, [...json.path, ...keys], op.endsWith('>>'), at)
}

const step = (part: string | number): string => (typeof part === 'number' ? `[${part + 1}]` : `[${textOf(part)}]`)

export function jsonAt(root: string, path: readonly (string | number)[], isText: boolean, at: number): Typed {
  if (isText) return { sql: `toString(${root}${path.map(step).join('')})`, type: 'text', nullable: true, at }
  const steps = path.map((part) => (typeof part === 'number' ? String(part + 1) : textOf(part)))
  const sql = `nullIf(JSONExtractRaw(toString(${root}), ${steps.join(', ')}), '')`
  return { sql, type: 'json', nullable: true, at, json: { root, path } }
}
