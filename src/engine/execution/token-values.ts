import type { ColumnNode, Read, TypedExpr } from '../../language/resolver/typed.ts'
import type { ListColumnAsk } from '../../queries/kind.ts'

// Values of columns of events that need no engine: what a plain expression makes of one property, from the property as it is written in JSON. What is not
// plain to the letter (escapes, long numbers, null, other functions) is left to the engine, so that both always say the same.

/** Undefined: the engine has to say. */
export type TokenValue = (token: string) => string | number | undefined

type Value = string | number | boolean | null
type Make = (token: string) => Value | undefined

/** Undefined: the expression is not plain. */
export function tokenValue(expr: TypedExpr, reads: readonly Read[], type: ListColumnAsk['type']): TokenValue | undefined {
  const make = made(expr, reads)
  if (make === unknown) return undefined
  return (token) => {
    const value = make(token)
    if (type === 'codes' || type === 'ids') return typeof value === 'string' ? value : undefined
    return typeof value === 'number' ? value : undefined
  }
}

const unknown: Make = () => undefined

function made(expr: TypedExpr, reads: readonly Read[]): Make {
  if (expr.kind === 'column') return read(expr, reads)
  if (expr.kind === 'constant') {
    const { value } = expr
    return typeof value === 'bigint' ? unknown : () => value
  }
  if (expr.kind === 'in') return among(expr, reads)
  if (expr.kind !== 'call' || expr.filter || expr.over || expr.params.length > 0) return unknown
  const makes = expr.args.map((arg) => made(arg, reads))
  if (expr.name === 'ilike') return contained(makes[0]!, expr.args[1]!)
  const apply = Object.hasOwn(calls, expr.name) ? calls[expr.name] : undefined
  return apply ? (token) => apply(makes.map((make) => make(token))) : unknown
}

/** At most 15 digits: such a number is read alike by everybody, and printed as it is written by nobody. */
const plainNumber = /^-?(0|[1-9]\d{0,8})(\.\d{1,6})?$/
const longest = 1000

function read({ name }: ColumnNode, reads: readonly Read[]): Make {
  const found = reads.find((one) => one.name === name)
  if (found?.field !== 'properties' || found.json?.path.length !== 1) return unknown
  if (found.json.as === 'number') return (token) => (plainNumber.test(token) && token !== '-0' ? Number(token) : undefined)
  if (found.json.as !== 'text') return unknown
  return (token) => {
    const text = token.slice(1, -1)
    const isPlain = token.charCodeAt(0) === 34 && text !== '' && text !== 'null' && text.length <= longest && !text.includes('\\')
    return isPlain ? text : undefined
  }
}

function among({ expr, not, set }: Extract<TypedExpr, { kind: 'in' }>, reads: readonly Read[]): Make {
  const make = made(expr, reads)
  if (!('items' in set)) return unknown
  const values = new Set<unknown>()
  for (const item of set.items) {
    if (item.kind !== 'constant' || typeof item.value !== 'string') return unknown
    values.add(item.value)
  }
  return (token) => {
    const value = make(token)
    return typeof value === 'string' ? values.has(value) !== not : undefined
  }
}

const isAscii = (text: string): boolean => /^[\x20-\x7e]*$/.test(text)

/** For a pattern that asks whether a text is anywhere in another one. */
function contained(make: Make, pattern: TypedExpr): Make {
  if (pattern.kind !== 'constant' || typeof pattern.value !== 'string') return unknown
  const part = /^%([^%_\\]+)%$/.exec(pattern.value)?.[1]?.toLowerCase()
  if (part === undefined || !isAscii(part)) return unknown
  return (token) => {
    const value = make(token)
    return typeof value === 'string' && isAscii(value) ? value.toLowerCase().includes(part) : undefined
  }
}

type Args = readonly (Value | undefined)[]
type Apply = (args: Args) => Value | undefined

const known = (value: Value | undefined): value is Exclude<Value, null> => value !== undefined && value !== null

const compared =
  (compare: (a: number, b: number) => boolean): Apply =>
  ([a, b]) =>
    typeof a === 'number' && typeof b === 'number' ? compare(a, b) : undefined

const same: Apply = ([a, b]) => (known(a) && typeof a === typeof b ? a === b : undefined)

const textOnly: Apply = ([a]) => (typeof a === 'string' ? a : undefined)

const not: Apply = ([a]) => (typeof a === 'boolean' ? !a : undefined)

/** All arguments must be known: which of them the engine looks at is its own choice. */
const joined =
  (join: (values: readonly boolean[]) => boolean): Apply =>
  (args) =>
    args.every((arg) => typeof arg === 'boolean') ? join(args) : undefined

const calls: Readonly<Record<string, Apply>> = {
  toFloat: ([a]) => (typeof a === 'number' ? a : undefined),
  toString: textOnly,
  nullif: ([a, b]) => (typeof a === 'string' && typeof b === 'string' ? (a === b ? null : a) : undefined),
  coalesce: (args) => (args.includes(undefined) ? undefined : (args.find((arg) => arg !== null) ?? null)),
  isNaN: ([a]) => (typeof a === 'number' ? Number.isNaN(a) : undefined),
  if: ([condition, a, b]) => (typeof condition === 'boolean' ? (condition ? a : b) : undefined),
  isNotNull: ([a]) => (a === undefined ? undefined : a !== null),
  isNull: ([a]) => (a === undefined ? undefined : a === null),
  isnull: ([a]) => (a === undefined ? undefined : a === null),
  and: joined((values) => values.every(Boolean)),
  or: joined((values) => values.some(Boolean)),
  not,
  equals: same,
  notEquals: (args) => not([same(args)]),
  greater: compared((a, b) => a > b),
  greaterOrEquals: compared((a, b) => a >= b),
  less: compared((a, b) => a < b),
  lessOrEquals: compared((a, b) => a <= b),
}
