import { zoneOf } from '../../../src/lib/time/zone.ts'
import { asNumber, asText, cannot, compare, isOwn, isTime, keyOf, type Time, type Value } from './values.ts'

// Functions of values, by their descriptions.

export interface Calendar {
  readonly timezone: string
  readonly weekStartDay: 0 | 1
}

const day = 86_400_000_000

const isTrue = (value: Value): boolean => value === true || (typeof value === 'number' && value !== 0)

/** Comparisons never answer null. */
const comparisons: Readonly<Record<string, (a: Value, b: Value) => boolean>> = {
  equals: (a, b) => (a === null || b === null ? a === b : same(a, b)),
  notEquals: (a, b) => !comparisons.equals!(a, b),
  less: (a, b) => ordered(a, b, (n) => n < 0),
  lessOrEquals: (a, b) => ordered(a, b, (n) => n <= 0),
  greater: (a, b) => ordered(a, b, (n) => n > 0),
  greaterOrEquals: (a, b) => ordered(a, b, (n) => n >= 0),
}
const ordered = (a: Value, b: Value, holds: (n: number) => boolean) => a !== null && b !== null && holds(compare(a, b))
export const same = (a: Value, b: Value): boolean => keyOf(a) === keyOf(b)

export const isComparison = (name: string): boolean => Object.hasOwn(comparisons, name)

/** A text beside a time is a time, local when it has no offset. */
export function besideTime(value: Value, beside: Value, { timezone }: Calendar): Value {
  if (typeof value !== 'string' || !isTime(beside)) return value
  const [, date, clock = '00:00:00', offset] = /^(\S{10})(?:[ T](\d\d:\d\d:\d\d))?(Z|[+-]\d\d:\d\d)?$/.exec(value) ?? cannot('this time')
  const wall = Date.parse(`${date}T${clock}Z`) * 1000
  if (!offset) return { micros: zoneOf(timezone).toInstant(wall), isDay: false }
  return { micros: Date.parse(`${date}T${clock}${offset}`) * 1000, isDay: false }
}

/** Both null holds, one null does not. */
const matches =
  (test: (text: string, pattern: string) => boolean) =>
  (a: Value, b: Value): boolean =>
    a === null || b === null ? a === b : test(textOf(a), textOf(b))

export const textOf = (given: Value): string => {
  const value = asText(given)
  return typeof value === 'string' ? value : cannot('a text of this value')
}
const likePattern = (pattern: string, flags: string) =>
  new RegExp(
    `^${pattern
      .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replaceAll('%', '.*')
      .replaceAll('_', '.')}$`,
    `s${flags}`,
  )

/** Nothing of nothing. */
const strict =
  (apply: (...values: Filled[]) => Value) =>
  (...values: Value[]): Value =>
    values.includes(null) ? null : apply(...(values as Filled[]))

type Filled = Exclude<Value, null>
const moment = (value: Value): Time => (isTime(value) ? value : cannot('a moment of this value'))
const number = (value: Value): number => (typeof value === 'number' ? value : cannot('a number of this value'))
const arithmetic = (apply: (a: number, b: number) => number) => (a: Value, b: Value) =>
  strict((x, y) => apply(number(x), number(y)))(asNumber(a), asNumber(b))

/** The beginning of what a moment lies in, by its local clock. */
const cut = (calendar: Calendar, isDay: boolean, start: (wall: number) => number) =>
  strict((time) => {
    const zone = zoneOf(calendar.timezone)
    return { micros: zone.toInstant(start(zone.toWall(moment(time).micros))), isDay }
  })
const dayOf = (wall: number) => Math.floor(wall / day) * day
/** 1 for Monday to 7 for Sunday. */
const weekday = (wall: number) => ((new Date(wall / 1000).getUTCDay() + 6) % 7) + 1

export type Apply = (...values: Value[]) => Value

export function functionsIn(calendar: Calendar): Readonly<Record<string, Apply>> {
  const zone = zoneOf(calendar.timezone)
  const compared = Object.fromEntries(
    Object.entries(comparisons).map(([name, apply]): [string, Apply] => [
      name,
      (a, b) => apply(besideTime(a!, b!, calendar), besideTime(b!, a!, calendar)),
    ]),
  )
  return {
    ...compared,
    and: (...values) => values.every(isTrue),
    or: (...values) => values.some(isTrue),
    not: (a) => !isTrue(a!),
    isNull: (a) => a === null,
    isNotNull: (a) => a !== null,
    like: matches((text, pattern) => likePattern(pattern, '').test(text)),
    notLike: (a, b) => !matches((text, pattern) => likePattern(pattern, '').test(text))(a!, b!),
    ilike: matches((text, pattern) => likePattern(pattern, 'i').test(text)),
    notILike: (a, b) => !matches((text, pattern) => likePattern(pattern, 'i').test(text))(a!, b!),
    match: matches((text, pattern) => new RegExp(pattern).test(text)),
    if: (condition, a, b) => (isTrue(condition!) ? a! : b!),
    ifNull: (a, b) => (a === null ? b! : a!),
    coalesce: (...values) => values.find((value) => value !== null) ?? null,
    plus: (a, b) => (isInterval(b!) ? later(a!, b) : arithmetic((x, y) => x + y)(a!, b!)),
    minus: arithmetic((a, b) => a - b),
    multiply: arithmetic((a, b) => a * b),
    divide: arithmetic((a, b) => a / b),
    negate: (a) => strict((x) => -number(x))(asNumber(a!)),
    toIntervalDay: (n) => ['day', n!],
    // Letters beyond ASCII stay, and texts are counted in bytes.
    upper: strict((text) => textOf(text).replace(/[a-z]/g, (letter) => letter.toUpperCase())),
    length: strict((text) => Buffer.byteLength(textOf(text))),
    substring: strict((text, from, count) => {
      const bytes = Buffer.from(textOf(text))
      return bytes.subarray(number(from!) - 1, number(from!) - 1 + number(count!)).toString()
    }),
    concat: (...values) => values.map((value) => (value === null ? '' : textOf(value))).join(''),
    toString: strict((value) => (typeof value === 'number' && Number.isInteger(value) ? String(value) : textOf(value))),
    // A fraction is no integer, and a text with a point is none either.
    toInt: strict((value) => {
      if (isOwn(value) && typeof value.own === 'string') return /^[+-]?\d+$/.test(value.own) ? Number(value.own) : null
      const given = asNumber(value)
      return given !== null && Number.isInteger(number(given)) ? given : null
    }),
    toFloat: strict((value) => {
      if (typeof value === 'number' || isOwn(value)) return asNumber(value)
      const text = textOf(value)
      return /^[+-]?\d+(\.\d*)?$/.test(text) ? Number(text) : null
    }),
    toHour: strict((time) => Math.floor((zone.toWall(moment(time).micros) % day) / 3_600_000_000)),
    toDayOfWeek: strict((time) => weekday(zone.toWall(moment(time).micros))),
    toDate: cut(calendar, true, dayOf),
    toStartOfDay: cut(calendar, false, dayOf),
    toStartOfHour: cut(calendar, false, (wall) => Math.floor(wall / 3_600_000_000) * 3_600_000_000),
    toStartOfMonth: cut(calendar, true, (wall) => dayOf(wall) - (new Date(wall / 1000).getUTCDate() - 1) * day),
    toStartOfWeek: cut(calendar, true, (wall) => dayOf(wall) - ((weekday(wall) - calendar.weekStartDay + 7) % 7) * day),
  }

  function later(time: Value, [, days]: readonly Value[]): Value {
    if (time === null) return null
    if (!isTime(time)) return cannot('an interval after this value')
    return { micros: zone.toInstant(zone.toWall(time.micros) + number(days!) * day), isDay: time.isDay }
  }
}

const isInterval = (value: Value): value is readonly Value[] => Array.isArray(value) && value[0] === 'day'
