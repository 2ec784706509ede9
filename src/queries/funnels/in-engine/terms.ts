import { call, field, lambda, literal } from '../../../language/ast/build.ts'
import type { Expr } from '../../../language/ast/nodes.ts'

// Helpers for building trees over lists.

/** A time so early that every window since has ended; windows are limited to less. Microseconds. */
export const never = -9e15
export const longestWindow = 8e15

/** A 64-bit number, so that every branch of a fold has one type. */
export const whole = (value: number): Expr => call('_toInt64', literal(value))
export const part = (tuple: Expr, index: number): Expr => call('tupleElement', tuple, literal(index))

/** Names the elements of a tuple, from the first on. */
export const partsOf = <Name extends string>(tuple: Expr, ...names: readonly Name[]): Readonly<Record<Name, Expr>> =>
  Object.fromEntries(names.map((name, i) => [name, part(tuple, i + 1)])) as Record<Name, Expr>
export const element = (list: Expr, index: number | Expr): Expr =>
  call('arrayElement', list, typeof index === 'number' ? literal(index) : index)
export const length = (list: Expr): Expr => call('length', list)
export const when = (condition: Expr, then: Expr, otherwise: Expr): Expr => call('if', condition, then, otherwise)
/** The value of the first true condition. */
export const choose = (cases: readonly (readonly [condition: Expr, value: Expr])[], otherwise: Expr): Expr =>
  cases.length === 0 ? otherwise : call('multiIf', ...cases.flat(), otherwise)
export const bit = (bits: Expr, index: number): Expr => call('bitTest', bits, literal(index))
export const most = (a: Expr, b: Expr): Expr => call('lessOrEquals', a, b)
export const more = (a: Expr, b: Expr): Expr => call('greater', a, b)
export const less = (a: Expr, b: Expr): Expr => call('less', a, b)
export const minus = (a: Expr, b: Expr): Expr => call('minus', a, b)
export const list = (...items: readonly Expr[]): Expr => call('array', ...items)
export const pair = (...items: readonly Expr[]): Expr => call('tuple', ...items)

/** `arrayMap`, `arrayFilter` … with the lambda written as a function of its parameters. */
export function over(name: string, params: readonly string[], body: (...items: Expr[]) => Expr, ...lists: readonly Expr[]): Expr {
  return call(name, lambda(params, body(...params.map((param) => field(param)))), ...lists)
}

/** An empty list with the item type of `example`. */
export const noneOf = (example: Expr): Expr => call('arraySlice', list(example), literal(1), literal(0))
