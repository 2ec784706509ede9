import type { Span } from '../../errors/span.ts'
import { nearestSpellings } from '../../lib/text/spelling.ts'
import { literal } from '../ast/build.ts'
import { intervalFunctions } from '../ast/interval-functions.ts'
import type { Call, Expr, In, Literal } from '../ast/nodes.ts'
import { callNode } from './expression-stack.ts'

// SQL forms that are calls of functions.

/** Both forms of CASE. A single branch is an `if`. */
export function caseCall(subject: Expr | null, branches: readonly (readonly [Expr, Expr])[], otherwise: Expr | null, span: Span): Call {
  const rest: Expr = otherwise ?? ({ ...literal(null), span } satisfies Literal)
  const args = branches.flatMap(([when, then]) => [subject ? callNode('equals', [subject, when], when.span) : when, then])
  return callNode(branches.length === 1 ? 'if' : 'multiIf', [...args, rest], span)
}

const intervals: Readonly<Record<string, string>> = intervalFunctions
const singular = (word: string) => word.toLowerCase().replace(/s$/, '')
/** Likely units. */
export const likelyUnits = (word: string): readonly string[] => nearestSpellings(singular(word), Object.keys(intervals))
export const isUnit = (word: string): boolean => Object.hasOwn(intervals, singular(word))

/** `INTERVAL 2 DAY`, `INTERVAL '2' DAY`, `INTERVAL '2 days'`; a text explains what is missing. */
export function intervalCall(amount: Expr, unit: string | null, span: Span): Call | string {
  if (amount.kind !== 'literal' || amount.type !== 'string')
    return unit ? callNode(intervals[singular(unit)]!, [amount], span) : 'expected an interval unit'
  const parts = /^([+-]?\d+)\s*([a-z]*)$/i.exec(String(amount.value).trim())
  const name = parts && (unit ?? parts[2]!)
  if (!parts || !name || !isUnit(name) || (unit && parts[2]))
    return `"${amount.value}" is not an interval: write a number and a unit, as in '2 days'`
  return callNode(intervals[singular(name)]!, [{ ...literal(Number(parts[1])), span: amount.span }], span)
}

const extracts: Readonly<Record<string, string>> = {
  second: 'toSecond',
  minute: 'toMinute',
  hour: 'toHour',
  day: 'toDayOfMonth',
  week: 'toISOWeek',
  month: 'toMonth',
  quarter: 'toQuarter',
  year: 'toYear',
  isoyear: 'toISOYear',
  isodow: 'toDayOfWeek',
  doy: 'toDayOfYear',
  epoch: 'toUnixTimestamp',
}

/** EXTRACT(unit FROM x); null for an unknown unit. */
export function extractCall(unit: string, expr: Expr, span: Span): Call | null {
  const key = unit.toLowerCase()
  if (key === 'dow') return callNode('date_part', [{ ...literal('dow'), span }, expr], span)
  const name = [key, singular(unit)].map((word) => (Object.hasOwn(extracts, word) ? extracts[word] : undefined)).find(Boolean)
  return name ? callNode(name, [expr], span) : null
}

/** `in(x, set)` and `notIn(x, set)` are the operator; null for any other call. */
export function membershipOf({ name, args, span }: Call): In | null {
  const [expr, set] = args
  if ((name !== 'notIn' && name.toLowerCase() !== 'in') || !expr || !set || args.length !== 2) return null
  const members: Expr = set.kind === 'call' && set.name === 'tuple' ? { kind: 'tuple', items: set.args, span: set.span } : set
  return { kind: 'in', expr, set: members, not: name === 'notIn', cohort: false, span }
}
