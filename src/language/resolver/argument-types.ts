import { QueryError } from '../../errors/errors.ts'
import { isSpanned, type Span } from '../../errors/span.ts'
import type { Expr } from '../ast/nodes.ts'
import { print } from '../ast/print.ts'
import { lookup } from '../functions/registry.ts'
import { type FunctionRow, isEmbedded, type Take, takesOf } from '../functions/row.ts'
import { isProperty } from '../types/property-values.ts'
import { isNamed, isNumeric, isText, isTime, nullable, type SqlType, scalar, typeName } from '../types/types.ts'
import type { TypedExpr } from './typed.ts'

// Arguments are checked against the registry row: an engine's own error names neither the function nor the position, and some engines answer NULL
// or a wrong number.

type Needs = 'a number' | 'a time' | 'a condition'

interface Misfit {
  readonly name: string
  readonly needs: string
  readonly type: SqlType
  readonly written: Expr
  /** The position if the argument has none. */
  readonly span: Span
  readonly suggestion: (shown: string) => string | null
}

function mismatch({ name, needs, type, written, span, suggestion }: Misfit): QueryError {
  const text = print(written)
  const shown = text.length <= longestShown ? text : null
  const position = isSpanned(written.span) ? written.span : span
  const isArgument = position === written.span ? ({ isArgument: true } as const) : {}
  return new QueryError(
    'type-mismatch',
    { name, needs, found: typeName(type), shown, use: shown && suggestion(shown), ...isArgument },
    position,
  )
}
const longestShown = 60

/** Types that these rules cannot check. */
const isOpen = (type: SqlType): boolean =>
  isProperty(type) || isNamed(type, 'Nothing', 'Dynamic') || type.kind === 'unknown' || type.kind === 'lambda' || type.kind === 'state'
const isNumber = (type: SqlType): boolean => isNumeric(type) || isNamed(type, 'Bool')

/** The type that is needed instead; null if the type is right. */
function missingIn(type: SqlType, take: Take, { kind, alsoTakes }: FunctionRow): Needs | null {
  switch (take) {
    case 'number':
    case 'integer':
      if (isNumber(type) || (isText(type) && alsoTakes === 'texts')) return null
      if (isTime(type)) return alsoTakes?.startsWith('times') ? null : 'a number'
      return isNamed(type, 'Interval') && alsoTakes?.endsWith('intervals') ? null : 'a number'
    case 'time':
      if (isNamed(type, 'Interval') && alsoTakes === 'times and intervals') return null
      // Sequence functions accept numbers as times.
      return isTime(type) || isText(type) || (kind === 'aggregate' && isNumeric(type)) ? null : 'a time'
    case 'boolean':
      return isNumber(type) ? null : 'a condition'
    default:
      return null
  }
}

function suggestion(name: string, type: SqlType, needs: Needs, shown: string): string | null {
  if (needs === 'a condition') return isText(type) ? `notEmpty(${shown})` : null
  if (needs === 'a time') return isNumeric(type) ? `toDateTime(${shown})` : null
  if (isText(type)) return `toFloat(${shown})`
  if (isTime(type)) return `toUnixTimestamp(${shown})`
  return type.kind === 'array' && lookup(`${name}Array`) ? `${name}Array(${shown})` : null
}

function checkShape(name: string, { shape }: FunctionRow, [first]: readonly TypedExpr[], [written]: readonly Expr[], span: Span): void {
  if (!shape || !first || !written) return
  // An undeclared property is read as text here.
  const type = isProperty(first.type) ? nullable(scalar('String')) : first.type
  if (type.kind === shape || isOpen(type)) return
  const suggestion = (shown: string) => (shape === 'array' && isText(type) ? `JSONExtract(${shown}, 'Array(Float64)')` : null)
  throw mismatch({ name, needs: shape === 'array' ? 'an array' : 'a map', type, written, span, suggestion })
}

/** Checks a call as written, before properties are converted to what it takes. */
export function checkArguments(name: string, row: FunctionRow, args: readonly TypedExpr[], written: readonly Expr[], span: Span): void {
  checkShape(name, row, args, written, span)
  if (row.takes === undefined || row.alsoTakes === 'anything' || !isEmbedded(row)) return
  const types = args.map(({ type }) => type)
  const takes = takesOf(row, types)
  for (const [i, type] of types.entries()) {
    const needs = isOpen(type) ? null : missingIn(type, takes[i]!, row)
    if (needs === null) continue
    throw mismatch({ name, needs, type, written: written[i]!, span, suggestion: (shown) => suggestion(name, type, needs, shown) })
  }
}

/** Checks a table function: how many rows, and where they start. */
export function checkNumbers(name: string, args: readonly TypedExpr[], written: readonly Expr[], span: Span): void {
  for (const [i, { type }] of args.entries())
    if (!isOpen(type) && !isNumber(type))
      throw mismatch({
        name,
        needs: 'a number',
        type,
        written: written[i]!,
        span,
        suggestion: (shown) => (isText(type) ? `toInt(${shown})` : null),
      })
}

// --- comparisons --------------------------------------------------------------------------------

const symbols: Readonly<Record<string, string>> = {
  equals: '=',
  notEquals: '!=',
  less: '<',
  lessOrEquals: '<=',
  greater: '>',
  greaterOrEquals: '>=',
}
const isEquality = (name: string): boolean => name === 'equals' || name === 'notEquals'

/** Types of the same group can be compared; null: the type is not checked. */
function groupOf(type: SqlType): string | null {
  if (isOpen(type)) return null
  if (type.kind !== 'scalar') return `${/^[aeiou]/.test(type.kind) ? 'an' : 'a'} ${type.kind}`
  if (isNumber(type)) return 'a number'
  if (isTime(type)) return 'a time'
  if (type.name === 'Interval') return 'an interval'
  return type.name === 'UUID' ? 'a UUID' : 'text'
}

/** `2026-01-01`, parsed as a subtraction, as the date that was likely meant. */
function dateOf(written: Expr): string | null {
  const parts = (expr: Expr): Expr[] => (expr.kind === 'call' && expr.name === 'minus' ? expr.args.flatMap(parts) : [expr])
  const [year, month, day, ...more] = parts(written).map((part) =>
    part.kind === 'literal' && part.type === 'int' ? Number(part.value) : Number.NaN,
  )
  const isDate = more.length === 0 && year! >= 1000 && year! <= 9999 && month! >= 1 && month! <= 12 && day! >= 1 && day! <= 31
  return isDate ? `'${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}'` : null
}

/** A text that reads as a number as a whole counts as a number next to a number. */
const isNumberText = (expr: TypedExpr): boolean =>
  expr.kind === 'constant' && typeof expr.value === 'string' && expr.value.trim() !== '' && Number.isFinite(Number(expr.value))

/** Checks both sides of a comparison. A text may equal a number by its text, but they have no order. */
export function checkComparison(name: string, args: readonly TypedExpr[], written: readonly Expr[], span: Span): void {
  const [a, b] = [groupOf(args[0]!.type), groupOf(args[1]!.type)]
  if (!a || !b || a === b || written.length !== 2) return
  const groups = [a, b]
  const of = (needs: string, i: number, suggestion: Misfit['suggestion']) =>
    mismatch({ name: symbols[name]!, needs, type: args[i]!.type, written: written[i]!, span, suggestion })
  const [text, number, time] = ['text', 'a number', 'a time'].map((group) => groups.indexOf(group)) as [number, number, number]
  if (text >= 0 && number >= 0) {
    // Generated statements compare filter values with property types.
    if (isEquality(name) || isNumberText(args[text]!) || !isSpanned(span)) return
    throw of('a number', text, (shown) => `toFloat(${shown})`)
  }
  if (time >= 0 && number >= 0) {
    const date = dateOf(written[number]!)
    throw of('a time', number, (shown) => (date ? `${date}, a date in quotes` : `toDateTime(${shown})`))
  }
  const isRead = text >= 0 && [a, b].every((group) => group === 'text' || group === 'a time' || group === 'a UUID')
  if (!isRead) throw of(a, 1, () => null)
}
