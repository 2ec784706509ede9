import { call, field, lambda, literal } from '../ast/build.ts'
import type { Expr } from '../ast/nodes.ts'

/** A function that stands for an expression of others: the resolver replaces the call by it. */
export interface Expansion {
  readonly args: readonly [least: number, most: number]
  readonly expand: (args: readonly Expr[]) => Expr
}

export const ofOne = (expand: (arg: Expr) => Expr): Expansion => ({ args: [1, 1], expand: ([arg]) => expand(arg!) })

/**
 * Computes and prints a value once, however often the body uses its name: calls in calls would double with each. Names that begin with `@` are names
 * that no statement can read.
 */
export const once = (value: Expr, name: `@${string}`, body: (name: Expr) => Expr): Expr =>
  call('arrayElement', call('arrayMap', lambda([name], body({ ...field(name), span: value.span })), call('array', value)), literal(1))
