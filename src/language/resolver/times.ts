import { QueryError } from '../../errors/errors.ts'
import { type Micros, zoneOf } from '../../lib/time/zone.ts'
import { isNamed, isTime } from '../types/types.ts'
import { constant } from './constants.ts'
import type { ConstantNode, TypedExpr } from './typed.ts'

// A text next to a time is a time: `timestamp >= '2024-01-01'`. Without an offset it is local to the project.

const pattern = /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?)?\s*(Z|UTC|[+-]\d{2}:?\d{2})?$/i

/** The instant in microseconds; null if the text is not a time. */
export function parseInstant(text: string, timezone: string): Micros | null {
  const match = pattern.exec(text.trim())
  if (!match) {
    // Seconds since 1970, as the reference system reads plain numbers.
    return /^\d{9,10}$/.test(text.trim()) ? Number(text.trim()) * 1_000_000 : null
  }
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', offset] = match
  const [y, mo, d, h, mi, s] = [year, month, day, hour, minute, second].map(Number) as [number, number, number, number, number, number]
  const date = new Date(0)
  date.setUTCFullYear(y, mo - 1, d)
  if (date.getUTCMonth() !== mo - 1 || date.getUTCDate() !== d || h > 23 || mi > 59 || s > 59) return null
  date.setUTCHours(h, mi, s)
  const wall = date.getTime() * 1000 + Number(fraction.padEnd(6, '0').slice(0, 6))
  if (!offset) return zoneOf(timezone).toInstant(wall)
  if (/^(z|utc)$/i.test(offset)) return wall
  const minutes = Number(offset.slice(1, 3)) * 60 + Number(offset.slice(-2))
  return wall - (offset.startsWith('-') ? -1 : 1) * minutes * 60_000_000
}

/** Converts a constant text to the time type of the other side; other expressions are unchanged. */
export function asTime(expr: TypedExpr, beside: TypedExpr, timezone: string): TypedExpr {
  if (expr.kind !== 'constant' || typeof expr.value !== 'string' || !isNamed(expr.type, 'String') || !isTime(beside.type)) return expr
  const micros = parseInstant(expr.value, timezone)
  if (micros === null) throw new QueryError('wrong-type', { message: `'${expr.value}' is not a date or time` }, expr.span)
  // A date next to a time becomes a time: midnight.
  if (isNamed(beside.type, 'Date') && /^\s*\d{4}-\d{1,2}-\d{1,2}\s*$/.test(expr.value)) {
    const wall = zoneOf(timezone).toWall(micros)
    return constant(new Date(wall / 1000).toISOString().slice(0, 10), expr.span, { kind: 'scalar', name: 'Date', nullable: false })
  }
  return timeConstant(micros, expr)
}

const timeConstant = (micros: Micros, { span }: TypedExpr): ConstantNode =>
  constant(BigInt(micros), span, { kind: 'scalar', name: 'DateTime64', nullable: false, parameters: [6] })
