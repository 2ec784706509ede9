import type { Call, Expr, OrderItem, Query, Window } from '../statements/nodes.ts'
import type { TypeName } from '../types/pg-types.ts'
import type { Context } from './context.ts'
import type { NamedQuery, Scope } from './scope.ts'
import type { Column, Typed } from './typed.ts'

export interface BoundQuery {
  readonly sql: string
  /** The expression of a column is its name in the rows of the query. */
  readonly columns: readonly Column[]
}

export type Queries = ReadonlyMap<string, NamedQuery>
export type BindQuery = (query: Query, outer: Scope | null, queries: Queries, translator: Translator) => BoundQuery

/** What the parts of a translation ask of the whole. */
export interface Translator {
  readonly context: Context
  bind(query: Query, outer: Scope | null, queries?: Queries): BoundQuery
  /** A condition of rows: what is not true is left out. */
  condition(expr: Expr, scope: Scope): string
  value(expr: Expr, scope: Scope): Typed
  /** The value with a type of its own. */
  settled(expr: Expr, scope: Scope, wanted?: TypeName): Typed
  items(items: readonly Expr[], scope: Scope): Typed[]
  /** The items of an array that is a constant, a parameter or is spelled out; null: it is something else. */
  arrayOf(expr: Expr, type: TypeName, scope: Scope): Typed[] | null
  orderItem(item: OrderItem, sql: string): string
  ordered(items: readonly OrderItem[], scope: Scope): string
  window(window: Window | string, scope: Scope): string
  /** What follows the arguments of an aggregate or a window function. */
  tail(call: Call, scope: Scope): string
}
