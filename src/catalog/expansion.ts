import type { Expr } from '../ast/nodes.ts'

/** A function that stands for an expression of others: the resolver replaces the call by it. */
export interface Expansion {
  readonly args: readonly [least: number, most: number]
  readonly expand: (args: readonly Expr[]) => Expr
}

export const ofOne = (expand: (arg: Expr) => Expr): Expansion => ({ args: [1, 1], expand: ([arg]) => expand(arg!) })
