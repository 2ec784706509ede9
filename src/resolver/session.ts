import type { IdOf } from '../ast/identity.ts'
import type { Expr, Query, Source } from '../ast/nodes.ts'
import { endsPlanning, type PlanningBudget } from '../ast/planning-budget.ts'
import { QueryError } from '../errors/errors.ts'
import type { Span } from '../errors/span.ts'
import { uniqueNames } from '../lib/unique-names.ts'
import { unknownType } from '../types/types.ts'
import type { ScanBinding } from './bindings.ts'
import type { ResolveContext } from './context.ts'
import type { Outer, Scope } from './scope.ts'
import type { ConstantNode, TypedExpr, TypedQuery } from './typed.ts'

/** What everything that works on one statement shares: what it may still spend, and which expressions are the same. */
export interface Planning {
  readonly budget: PlanningBudget
  readonly idOf: IdOf
}

/** What the parts of one resolution share. */
export interface Session extends Planning {
  readonly context: ResolveContext
  /** Printed name → scan, to find the table behind a column. */
  readonly scans: Map<string, ScanBinding>
  /** What a part of the tree came to in a scope. What stands in several places (the subject of CASE, the value of BETWEEN) is resolved once. */
  resolvedIn(scope: Scope): Map<Expr, TypedExpr>
  /** What `*` stands for in the source of a PIVOT, which is looked at before it is resolved. */
  readonly starNames: Map<Source, readonly string[]>
  /** A printed name that no other source of the statement has. */
  alias(wanted: string): string
  /** The same for names of WITH. */
  cteName(wanted: string): string
  report(error: QueryError): void
  /** Notes a mistake, so that one answer names several. Throws what ends the statement, and what is no mistake of it. */
  note(error: unknown): void
  /** Runs `work`; a mistake found there is noted and `otherwise` goes on in its place, so that one answer names several. */
  attempt<T>(work: () => T, otherwise: () => T): T
  /** Names of WITH come from the parent, all others from its own sources and those that `outer` has. */
  query(query: Query, parent: Scope | null, outer?: Outer | null): TypedQuery
  /** What a column without an alias is called. */
  nameOf(expr: Expr): string
  readonly problems: readonly QueryError[]
  /** There were more than are noted. */
  readonly hasMoreProblems: boolean
}

/** Further mistakes of a statement are not looked for. */
export const mostProblems = 50

export function openSession(
  context: ResolveContext,
  parts: {
    query(session: Session, query: Query, parent: Scope | null, outer: Outer | null): TypedQuery
    nameOf(expr: Expr): string
    alias(wanted: string): string
  },
  { budget, idOf }: Planning,
): Session {
  const problems: QueryError[] = []
  let hasMore = false
  const resolved = new WeakMap<Scope, Map<Expr, TypedExpr>>()
  const session: Session = {
    context,
    budget,
    idOf,
    scans: new Map(),
    starNames: new Map(),
    resolvedIn(scope) {
      const known = resolved.get(scope) ?? new Map<Expr, TypedExpr>()
      resolved.set(scope, known)
      return known
    },
    alias: parts.alias,
    cteName: uniqueNames(),
    report(error) {
      const isNew = problems.every(
        (p) => p.message !== error.message || p.span?.start !== error.span?.start || p.span?.origin !== error.span?.origin,
      )
      if (isNew && problems.length < mostProblems) problems.push(error)
      else if (isNew) hasMore = true
    },
    attempt(work, otherwise) {
      try {
        return work()
      } catch (error) {
        session.note(error)
        return otherwise()
      }
    },
    note(error) {
      if (!(error instanceof QueryError) || endsPlanning(error) || problems.length >= mostProblems) throw error
      session.report(error)
    },
    query: (query, parent, outer = null) => parts.query(session, query, parent, outer),
    nameOf: parts.nameOf,
    problems,
    get hasMoreProblems() {
      return hasMore
    },
  }
  return session
}

/** Stands where something could not be resolved. */
export const missing = (span: Span): ConstantNode => ({ kind: 'constant', value: null, type: unknownType, span })
