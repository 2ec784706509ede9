import { QueryError } from '../../errors/errors.ts'
import type { Span } from '../../errors/span.ts'
import { uniqueNames } from '../../lib/text/unique-names.ts'
import type { IdOf } from '../ast/identity.ts'
import type { Expr, Query, Source } from '../ast/nodes.ts'
import { endsPlanning, type PlanningBudget } from '../ast/planning-budget.ts'
import { unknownType } from '../types/types.ts'
import type { ScanBinding } from './bindings.ts'
import type { ResolveContext } from './context.ts'
import type { Outer, Scope } from './scope.ts'
import type { ConstantNode, TypedExpr, TypedQuery } from './typed.ts'

/** Shared by everything that works on one statement: the remaining budget, and the identity of expressions. */
export interface Planning {
  readonly budget: PlanningBudget
  readonly idOf: IdOf
}

/** Shared by the parts of one resolution. */
export interface Session extends Planning {
  readonly context: ResolveContext
  /** Printed name → scan, to find the table behind a column. */
  readonly scans: Map<string, ScanBinding>
  /** Resolved expressions by scope. A node that occurs several times (the subject of CASE, the value of BETWEEN) is resolved once. */
  resolvedIn(scope: Scope): Map<Expr, TypedExpr>
  /** The columns of `*` in the source of a PIVOT, which are needed before it is resolved. */
  readonly starNames: Map<Source, readonly string[]>
  /** An alias that is unique in the generated SQL. */
  alias(wanted: string): string
  /** The same for CTEs. */
  cteName(wanted: string): string
  report(error: QueryError): void
  /** Collects an error, so that one answer reports several. Throws errors that end the statement, and those that the user did not cause. */
  note(error: unknown): void
  /** Runs `work`; if it fails, the error is collected and `otherwise` supplies the value. */
  attempt<T>(work: () => T, otherwise: () => T): T
  /** Names of WITH come from `parent`; all others from the query's own sources and from `outer`. */
  query(query: Query, parent: Scope | null, outer?: Outer | null): TypedQuery
  /** The name of a column without an alias. */
  nameOf(expr: Expr): string
  /** The names of the views whose statements are being resolved, the outermost first. */
  readonly views: string[]
  readonly problems: readonly QueryError[]
  /** There were more errors than were collected. */
  readonly hasMoreProblems: boolean
}

/** Further errors of a statement are not collected. */
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
    views: [],
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

/** Replaces an expression that could not be resolved. */
export const missing = (span: Span): ConstantNode => ({ kind: 'constant', value: null, type: unknownType, span })
