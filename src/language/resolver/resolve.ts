import { QueryError } from '../../errors/errors.ts'
import { uniqueNames } from '../../lib/text/unique-names.ts'
import { identities } from '../ast/identity.ts'
import type { Expr, Query } from '../ast/nodes.ts'
import { endsPlanning, PlanningBudget } from '../ast/planning-budget.ts'
import type { ResolveContext } from './context.ts'
import { resolveQuery } from './query.ts'
import { mostProblems, openSession, type Planning } from './session.ts'
import type { TypedQuery } from './typed.ts'

/** Binds every name of a statement and gives every expression its type. All errors are thrown together, ordered by position. */
export function resolve(
  query: Query,
  context: ResolveContext,
  nameOf: (expr: Expr) => string,
  planning: Planning = { budget: new PlanningBudget(), idOf: identities() },
  /** Names the sources, for a query that becomes part of another. */
  alias = uniqueNames(),
): TypedQuery {
  const session = openSession(context, { query: resolveQuery, nameOf, alias }, planning)
  let typed: TypedQuery | null = null
  try {
    typed = session.query(query, null)
  } catch (error) {
    if (!(error instanceof QueryError) || endsPlanning(error)) throw error
    session.report(error)
  }
  const problems = inOrder(session.problems)
  if (session.hasMoreProblems) {
    const message = `The statement has more than ${mostProblems} errors; these are the first`
    problems.push(new QueryError('invalid-query', { message }, query.span))
  }
  const [first, ...others] = problems
  if (first) throw others.length ? new QueryError(first.code, first.data, first.span, { cause: first.cause, others }) : first
  return typed!
}

/** By position in their text; several texts in the order in which they were read. */
function inOrder(problems: readonly QueryError[]): QueryError[] {
  const texts = [...new Set(problems.map(({ span }) => span?.origin))]
  return texts.flatMap((text) =>
    problems.filter(({ span }) => span?.origin === text).sort((a, b) => (a.span?.start ?? 0) - (b.span?.start ?? 0)),
  )
}
