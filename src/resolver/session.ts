import type { Expr, Query } from '../ast/nodes.ts'
import { QueryError } from '../errors/errors.ts'
import type { Span } from '../errors/span.ts'
import { unknownType } from '../types/types.ts'
import type { ScanBinding } from './bindings.ts'
import type { ResolveContext } from './context.ts'
import type { Scope } from './scope.ts'
import type { ConstantNode, TypedQuery } from './typed.ts'

/** What the parts of one resolution share. */
export interface Session {
  readonly context: ResolveContext
  /** Printed name → scan, to find the table behind a column. */
  readonly scans: Map<string, ScanBinding>
  /** A printed name that no other source of the statement has. */
  alias(wanted: string): string
  /** The same for names of WITH. */
  cteName(wanted: string): string
  report(error: QueryError): void
  /** Runs `work`; a mistake found there is noted and `otherwise` goes on in its place, so that one answer names several. */
  attempt<T>(work: () => T, otherwise: () => T): T
  query(query: Query, parent: Scope | null): TypedQuery
  /** What a column without an alias is called. */
  nameOf(expr: Expr): string
  readonly problems: readonly QueryError[]
}

export function openSession(
  context: ResolveContext,
  parts: {
    query(session: Session, query: Query, parent: Scope | null): TypedQuery
    nameOf(expr: Expr): string
  },
): Session {
  const problems: QueryError[] = []
  const session: Session = {
    context,
    scans: new Map(),
    alias: uniqueNames(),
    cteName: uniqueNames(),
    report(error) {
      const isNew = problems.every((p) => p.message !== error.message || p.span?.start !== error.span?.start)
      if (isNew) problems.push(error)
    },
    attempt(work, otherwise) {
      try {
        return work()
      } catch (error) {
        if (!(error instanceof QueryError)) throw error
        session.report(error)
        return otherwise()
      }
    },
    query: (query, parent) => parts.query(session, query, parent),
    nameOf: parts.nameOf,
    problems,
  }
  return session
}

/** Stands where something could not be resolved. */
export const missing = (span: Span): ConstantNode => ({ kind: 'constant', value: null, type: unknownType, span })

// DuckDB compares names without case.
function uniqueNames(): (wanted: string) => string {
  const taken = new Set<string>()
  return (wanted) => {
    let name = wanted
    for (let i = 2; taken.has(name.toLowerCase()); i++) name = `${wanted}_${i}`
    taken.add(name.toLowerCase())
    return name
  }
}
