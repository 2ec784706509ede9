import type { Expr, WindowSpec } from '../ast/nodes.ts'
import type { SqlType } from '../types/types.ts'
import type { Binding } from './bindings.ts'
import type { ColumnNode, OutputColumn, TypedCte, TypedExpr } from './typed.ts'

/** A name that WITH gave: to a query, or to an expression. */
export type CteBinding =
  | { readonly kind: 'query'; readonly cte: TypedCte; readonly columns: readonly OutputColumn[] }
  | { readonly kind: 'expression'; readonly expr: Expr; readonly scope: Scope }

export interface AliasBinding {
  readonly expr: Expr
  /** Its value once resolved; 'open' while that is going on, so that `lower(event) AS event` finds the column. */
  state: TypedExpr | 'open' | null
  /** Why it cannot be read. */
  failure?: unknown
}

/** What a subquery sees of the statement around it, after its own names, and what it has read there. */
export interface Outer {
  readonly scope: Scope
  readonly reads: Set<ColumnNode>
}

/** Where names are looked up. A subquery starts a new one. */
export interface Scope {
  readonly ctes: ReadonlyMap<string, CteBinding>
  /** Null where only the names of WITH are seen of the statement around: in a subquery of FROM. */
  readonly outer: Outer | null
  /** The scope around it, whether it sees that or not: what is named there is known in mistakes. */
  readonly around: Scope | null
  readonly sources: Binding[]
  readonly aliases: Map<string, AliasBinding>
  readonly windows: Map<string, WindowSpec>
  readonly parameters: ReadonlyMap<string, { readonly printed: string; readonly type: SqlType }>
  /** The aggregate whose arguments are being resolved. */
  readonly aggregate: string | null
  /** Rows are not grouped yet: an alias of an aggregate gives way to a column of the same name. */
  readonly isBeforeGrouping: boolean
  /** How many tables there were when an expression of WITH was looked at: a join adds to them. */
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
/** What an expression of WITH sees where it is used: its own names, and the tables there. The same scope as long as the tables are the same. */
export function withSources(own: Scope, sources: Binding[]): Scope {
  const known = seen.get(own) ?? new WeakMap<readonly Binding[], Scope>()
  seen.set(own, known)
  const scope = known.get(sources)
  if (scope && scope.tables === sources.length) return scope
  const made = { ...own, sources, tables: sources.length }
  known.set(sources, made)
  return made
}
