import type { Expr, WindowSpec } from '../ast/nodes.ts'
import type { SqlType } from '../types/types.ts'
import type { Binding } from './bindings.ts'
import type { ColumnNode, OutputColumn, TypedCte, TypedExpr } from './typed.ts'

/** A name defined in WITH: a query or an expression. */
export type CteBinding =
  | { readonly kind: 'query'; readonly cte: TypedCte; readonly columns: readonly OutputColumn[] }
  | { readonly kind: 'expression'; readonly expr: Expr; readonly scope: Scope }

export interface AliasBinding {
  readonly expr: Expr
  /** Its value once resolved; 'open' while it is being resolved, so that `lower(event) AS event` finds the column. */
  state: TypedExpr | 'open' | null
  /** Why it could not be resolved. */
  failure?: unknown
}

/** The outer query as a subquery sees it, after its own names; and the columns that the subquery reads from it. */
export interface Outer {
  readonly scope: Scope
  readonly reads: Set<ColumnNode>
}

/** Where names are looked up. Each subquery has its own scope. */
export interface Scope {
  readonly ctes: ReadonlyMap<string, CteBinding>
  /** Null if only names of WITH are visible from outside: in a subquery of FROM. */
  readonly outer: Outer | null
  /** The enclosing scope, visible or not: error messages use its names. */
  readonly around: Scope | null
  readonly sources: Binding[]
  readonly aliases: Map<string, AliasBinding>
  readonly windows: Map<string, WindowSpec>
  readonly parameters: ReadonlyMap<string, { readonly printed: string; readonly type: SqlType }>
  /** The aggregate whose arguments are being resolved. */
  readonly aggregate: string | null
  /** Rows are not grouped yet: a column has priority over an alias of an aggregate with the same name. */
  readonly isBeforeGrouping: boolean
  /** The number of tables when an expression of WITH was resolved: a join adds more. */
  readonly tables?: number
}

export const openScope = (ctes: Scope['ctes'] = new Map(), outer: Outer | null = null, around: Scope | null = null): Scope => ({
  ctes,
  outer,
  around,
  sources: [],
  aliases: new Map(),
  windows: new Map(),
  parameters: new Map(),
  aggregate: null,
  isBeforeGrouping: false,
})

const seen = new WeakMap<Scope, WeakMap<readonly Binding[], Scope>>()
/** The scope of an expression of WITH where it is used: its own names, and the tables there. Memoized by the list of tables. */
export function withSources(own: Scope, sources: Binding[]): Scope {
  const known = seen.get(own) ?? new WeakMap<readonly Binding[], Scope>()
  seen.set(own, known)
  const scope = known.get(sources)
  if (scope && scope.tables === sources.length) return scope
  const made = { ...own, sources, tables: sources.length }
  known.set(sources, made)
  return made
}
