import { noSpan, type Span } from '../../errors/span.ts'
import { type FunctionRow, type Take, takesOf } from '../functions/row.ts'
import { propertyRows } from '../functions/values/property-values.ts'
import type { PropertyInfo } from '../types/property-info.ts'
import { isProperty, jointProperty, type PropertyType, propertyOf, type ReadAs, readBeside, readTypes } from '../types/property-values.ts'
import { isNamed, nullable, type SqlType, scalar } from '../types/types.ts'
import { unifyAll } from '../types/unify.ts'
import { type CallParts, findRow, plainCall } from './call-node.ts'
import { constant } from './constants.ts'
import type { TypedExpr, TypedOrder } from './typed.ts'

// How an undeclared property is read in each context: the table of docs/properties.md in code. A conversion is a call of `propertyRows`; a later
// pass moves it into the read of the table if it can.

type PropertyExpr = TypedExpr & { readonly type: PropertyType }
export const isPropertyExpr = (expr: TypedExpr): expr is PropertyExpr => isProperty(expr.type)

const made = new WeakMap<TypedExpr, Map<string, TypedExpr>>()

/** Memoized by object, so that equal expressions stay the same object. */
function once(expr: TypedExpr, what: string, make: () => TypedExpr): TypedExpr {
  const known = made.get(expr) ?? new Map<string, TypedExpr>()
  made.set(expr, known)
  const found = known.get(what) ?? make()
  known.set(what, found)
  return found
}

/** The same stored value with another type. */
const retyped = (expr: TypedExpr, type: SqlType): TypedExpr => once(expr, JSON.stringify(type), () => ({ ...expr, type }))
const like = (expr: PropertyExpr, type: SqlType): TypedExpr =>
  retyped(expr, { ...type, nullable: expr.type.nullable, property: expr.type.property } as SqlType)
const converted = (how: keyof typeof propertyRows, expr: TypedExpr): TypedExpr =>
  once(expr, how, () => {
    const call = plainCall(propertyRows[how].name, propertyRows[how], { args: [expr] }, expr.span)
    const property = expr.type.kind === 'scalar' ? expr.type.property : undefined
    return { ...call, type: { ...call.type, property } as SqlType }
  })
/** A call that does not treat properties specially. */
const call = (name: string, ...args: readonly TypedExpr[]): TypedExpr => {
  const found = findRow(name, noSpan)
  return plainCall(found.name, found.row, { args }, args[0]!.span)
}

const text = readTypes.text
const number = readTypes.number

// --- one property -------------------------------------------------------------------------------

function textOf(expr: PropertyExpr): TypedExpr {
  const { numbers } = expr.type.property
  if (numbers === 'all') return converted('numberText', like(expr, number))
  return numbers === 'marked' ? converted('unmarked', like(expr, text)) : like(expr, text)
}

const readers: Readonly<Record<ReadAs, (expr: PropertyExpr) => TypedExpr>> = {
  text: textOf,
  number: (expr) => (expr.type.property.numbers === 'all' ? like(expr, number) : converted('number', textOf(expr))),
  time: (expr) => converted('time', textOf(expr)),
  boolean: (expr) => converted('boolean', textOf(expr)),
}

/** A property converted to a type; any other expression unchanged. */
export const readAs = (expr: TypedExpr, as: ReadAs): TypedExpr => (isPropertyExpr(expr) ? readers[as](expr) : expr)

const wholeNumber = (expr: PropertyExpr): TypedExpr =>
  call('toInt', expr.type.property.numbers === 'all' ? like(expr, number) : textOf(expr))

/** The value if it is a JSON number; null if no value can be one. Other values become null without an error, since an order includes them too. */
function jsonNumber(expr: PropertyExpr): TypedExpr | null {
  const { numbers } = expr.type.property
  if (numbers === 'none') return null
  return retyped(numbers === 'marked' ? converted('number', like(expr, text)) : readers.number(expr), number)
}

/** The expression to compare when values are compared for equality. */
export function keyOf(expr: TypedExpr): TypedExpr {
  if (!isPropertyExpr(expr)) return expr
  return expr.type.property.numbers === 'all' ? like(expr, number) : textOf(expr)
}

/** Converted to the stored form of `info`. */
function heldAs(expr: PropertyExpr, info: PropertyInfo): TypedExpr {
  const { numbers } = expr.type.property
  const held =
    numbers === info.numbers || (numbers === 'by-text' && info.numbers === 'marked')
      ? expr
      : numbers === 'none'
        ? converted('marked', like(expr, text))
        : textOf(expr)
  return retyped(held, propertyOf(info))
}

/** The form that an answer shows. With `isJson`, the result of `min`, `max` and the like is JSON, so that its type is visible. */
export function shownProperty(expr: TypedExpr, isJson: boolean): TypedExpr {
  if (!isPropertyExpr(expr)) return expr
  return isJson && expr.type.property.isOwn ? retyped(jsonOf(expr), scalar('Dynamic')) : textOf(expr)
}

function jsonOf(expr: PropertyExpr): TypedExpr {
  if (expr.type.property.numbers === 'all') return textOf(expr)
  const json = call('toJSONString', textOf(expr))
  const own = jsonNumber(expr)
  return own ? call('if', call('isNotNull', own), textOf(expr), json) : json
}

// --- properties among the parts of a call -------------------------------------------------------

const isNothing = (type: SqlType): boolean => isNamed(type, 'Nothing')

/** How properties are read next to values of other types; null if there are none, or none with a type. */
const besideAll = (types: readonly SqlType[]): ReadAs | null => {
  const others = types.filter((type) => !isProperty(type) && !isNothing(type))
  return others.length ? readBeside(unifyAll(others)) : null
}

/** Values of one column: properties are converted to the type of the others, or keep a common stored form. */
export function alike(exprs: readonly TypedExpr[]): TypedExpr[] {
  const as = besideAll(exprs.map(({ type }) => type))
  if (as) return exprs.map((expr) => readAs(expr, as))
  const info = exprs.filter(isPropertyExpr).map(({ type }) => type.property)
  const joint = info.length ? info.reduce(jointProperty) : null
  return exprs.map((expr) => (joint && isPropertyExpr(expr) ? heldAs(expr, joint) : expr))
}

/** Both sides of an equality, converted so that they can be compared. */
export function comparable(a: TypedExpr, b: TypedExpr): readonly [TypedExpr, TypedExpr] {
  if (isPropertyExpr(a) && isPropertyExpr(b)) {
    const areNumbers = [a, b].every(({ type }) => type.property.numbers === 'all')
    return areNumbers ? [keyOf(a), keyOf(b)] : [textOf(a), textOf(b)]
  }
  if (isNothing(a.type) || isNothing(b.type)) return [keyOf(a), keyOf(b)]
  return [readAs(a, readBeside(b.type)), readAs(b, readBeside(a.type))]
}

/** The parts of a call with every property converted to what the row takes. */
export function readProperties(name: string, row: FunctionRow, parts: CallParts): CallParts {
  const isPlain = !parts.filter && !parts.orderBy?.length && !parts.args.some(isPropertyExpr)
  if (isPlain) return parts
  const filter = parts.filter && readAs(parts.filter, 'boolean')
  const isOfNumbers = row.takes === 'number'
  const orderBy = parts.orderBy?.flatMap((item) => (isOfNumbers ? [{ ...item, expr: readAs(item.expr, 'number') }] : ordered(item)))
  if (!parts.args.some(isPropertyExpr)) return { ...parts, filter, orderBy }
  const { args } = parts
  if (isComparison(name)) return { ...parts, args: comparable(args[0]!, args[1]!), filter, orderBy }
  const takes = takesOf(
    row,
    args.map(({ type }) => type),
  )
  const same = alike(args.filter((_, i) => takes[i] === 'alike'))
  let next = 0
  const read = args.map((arg, i) => (takes[i] === 'alike' ? same[next++]! : taken(arg, takes[i]!)))
  return { ...parts, args: read, filter, orderBy }
}

function taken(expr: TypedExpr, take: Take): TypedExpr {
  if (!isPropertyExpr(expr)) return expr
  switch (take) {
    case 'value':
      return expr
    case 'key':
      return keyOf(expr)
    case 'integer':
      return wholeNumber(expr)
    case 'order':
    case 'array':
    case 'alike':
      return textOf(expr)
    default:
      return readers[take](expr)
  }
}

const inequalities = ['less', 'lessOrEquals', 'greater', 'greaterOrEquals']
const comparisons = new Set(['equals', 'notEquals', ...inequalities])
export const isComparison = (name: string): boolean => comparisons.has(name)

// --- order --------------------------------------------------------------------------------------

/** Orders numbers by value, then texts. */
export function ordered(item: TypedOrder): readonly TypedOrder[] {
  const { expr } = item
  if (!isPropertyExpr(expr)) return [item]
  const { numbers } = expr.type.property
  if (numbers === 'all' || numbers === 'none') return [{ ...item, expr: keyOf(expr) }]
  return [kindOf(expr), jsonNumber(expr)!, textOf(expr)].map((key) => ({ ...item, expr: key }))
}

/** 0 for a number, 1 for a text. */
const kindOf = (expr: PropertyExpr): TypedExpr =>
  once(expr, 'kind', () => {
    const [nothing, numeral, word] = [null, 0, 1].map((kind) => constant(kind, expr.span))
    return call('multiIf', call('isNull', textOf(expr)), nothing!, call('isNotNull', jsonNumber(expr)!), numeral!, word!)
  })

const isThere = (expr: TypedExpr | null, span: Span): TypedExpr => (expr ? call('isNotNull', expr) : constant(false, span))

/** A comparison of two properties that may each be a number or a text. */
function inOrder(name: string, a: PropertyExpr, b: PropertyExpr, span: Span): TypedExpr {
  const [kindA, kindB] = [a, b].map(({ type }) => type.property.numbers)
  if (kindA === kindB && (kindA === 'all' || kindA === 'none')) return call(name, keyOf(a), keyOf(b))
  const [numberA, numberB] = [jsonNumber(a), jsonNumber(b)]
  const areNumbers = call('and', isThere(numberA, span), isThere(numberB, span))
  const nothing = constant(null, span, number)
  const isLess = name.startsWith('less')
  const outcome = call(
    'multiIf',
    areNumbers,
    call(name, numberA ?? nothing, numberB ?? nothing),
    isThere(numberA, span),
    constant(isLess, span),
    isThere(numberB, span),
    constant(!isLess, span),
    call(name, textOf(a), textOf(b)),
  )
  return call('and', isThere(textOf(a), span), isThere(textOf(b), span), outcome)
}

/** Calls that depend on the order of properties, expressed by calls that do not treat them specially; null for all other calls. */
export function byPropertyOrder(name: string, row: FunctionRow, parts: CallParts, span: Span): TypedExpr | null {
  if (!parts.args.some(isPropertyExpr)) return null
  const [first, second, ...rest] = parts.args
  if (inequalities.includes(name) && isPropertyExpr(first!) && isPropertyExpr(second!)) return inOrder(name, first, second, span)
  if (name === 'nullif' && isPropertyExpr(first!))
    return call('if', call('equals', ...comparable(first, second!)), constant(null, span), first) // stays a property
  const takes = takesOf(
    row,
    parts.args.map(({ type }) => type),
  )
  if (takes[0] === 'order' && row.kind === 'scalar') return extreme(name === 'least', parts.args.filter(isPropertyExpr), span)
  if (takes[0] === 'order' && isPropertyExpr(first!)) return edge(name, row, first, parts, span)
  if (takes[1] === 'order' && second && isPropertyExpr(second)) return byOrder(name, row, [first!, second, ...rest], parts, span)
  return null
}

/** `least(a, b)`; NULL is ignored. */
function extreme(isLeast: boolean, given: readonly PropertyExpr[], span: Span): TypedExpr {
  const [a, b] = given as [PropertyExpr, PropertyExpr]
  const first = inOrder(isLeast ? 'lessOrEquals' : 'greaterOrEquals', a, b, span)
  const [x, y] = alike([a, b]) as [TypedExpr, TypedExpr]
  const none = (expr: PropertyExpr) => call('isNull', keyOf(expr))
  return call('multiIf', none(a), y, none(b), x, first, x, y)
}

/** `min(x)`: the smallest number, or the first text if there are no numbers. */
function edge(name: string, row: FunctionRow, of: PropertyExpr, parts: CallParts, span: Span): TypedExpr {
  const { property } = of.type
  const own: PropertyInfo = { ...property, isOwn: true }
  const over = (expr: TypedExpr): TypedExpr => {
    const args = [expr, ...parts.args.slice(1)]
    return plainCall(name, row, readProperties(name, row, { ...parts, args }), span)
  }
  if (property.numbers === 'all' || property.numbers === 'none') return retyped(over(keyOf(of)), propertyOf(own))
  const found = jsonNumber(of)!
  const other = call('if', call('isNull', found), textOf(of), constant(null, span))
  const smallest = converted('numberText', over(found))
  const first = over(other)
  const marked = property.numbers === 'marked' ? converted('marked', first) : first
  return retyped(call('coalesce', ...(name.startsWith('min') ? [smallest, marked] : [marked, smallest])), propertyOf(own))
}

/** `argMin(v, x)`: by kind, number, then text. */
function byOrder(name: string, row: FunctionRow, args: readonly TypedExpr[], parts: CallParts, span: Span): TypedExpr {
  const [value, by, ...rest] = args as [TypedExpr, PropertyExpr, ...TypedExpr[]]
  const over = (expr: TypedExpr, filter = parts.filter) =>
    plainCall(name, row, readProperties(name, row, { ...parts, args: [value, expr, ...rest], filter }), span)
  const { numbers } = by.type.property
  if (numbers === 'all' || numbers === 'none') return over(keyOf(by))
  const nothing = (expr: TypedExpr, instead: TypedExpr) => call('coalesce', expr, instead)
  const items = [
    nothing(kindOf(by), constant(1, span)),
    nothing(jsonNumber(by)!, constant(0, span, scalar('Float64'))),
    nothing(textOf(by), constant('', span)),
  ]
  const key: TypedExpr = { kind: 'tuple', items, type: { kind: 'tuple', items: items.map(({ type }) => type) }, span }
  const isSet = isThere(textOf(by), span)
  const found = over(key, parts.filter ? call('and', readAs(parts.filter, 'boolean'), isSet) : isSet)
  return { ...found, type: nullable(found.type) }
}
