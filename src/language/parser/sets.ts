import type { Span } from '../../errors/span.ts'
import { from, select, star } from '../ast/build.ts'
import type { Cte, Limit, OrderItem, Query, SetQuery } from '../ast/nodes.ts'

export interface SetTerm {
  readonly query: Query
  readonly isParenthesised: boolean
}
export interface SetOperator {
  readonly op: SetQuery['op']
  readonly all: boolean
  readonly byName: boolean
}

/** INTERSECT binds tighter than UNION and EXCEPT. ORDER BY and LIMIT after the last bare SELECT apply to the whole set. */
export function combineSets(terms: readonly SetTerm[], operators: readonly SetOperator[]): Query {
  const last = terms.at(-1)!
  if (operators.length === 0) return last.query
  const queries = terms.map((term) => term.query)
  let orderBy: readonly OrderItem[] = []
  let limit: Limit | null = null
  if (!last.isParenthesised && last.query.kind === 'select') {
    orderBy = last.query.orderBy
    limit = last.query.limit
    queries[queries.length - 1] = { ...last.query, orderBy: [], limit: null }
  }
  const groups: Query[] = [queries[0]!]
  const between: SetOperator[] = []
  for (const [i, operator] of operators.entries()) {
    const right = queries[i + 1]!
    if (operator.op === 'intersect') groups.push(setNode(operator, groups.pop()!, right))
    else {
      groups.push(right)
      between.push(operator)
    }
  }
  const whole = groups.slice(1).reduce((left, right, i) => setNode(between[i]!, left, right), groups[0]!) as SetQuery
  return { ...whole, orderBy, limit }
}

const setNode = (operator: SetOperator, left: Query, right: Query): SetQuery => ({
  kind: 'set',
  with: [],
  recursive: false,
  ...operator,
  left,
  right,
  orderBy: [],
  limit: null,
  span: { start: left.span.start, end: right.span.end },
})

export const withCtes = (query: Query, ctes: readonly Cte[], recursive: boolean, span: Span): Query =>
  ctes.length === 0 ? query : { ...query, with: [...ctes, ...query.with], recursive: recursive || query.recursive, span }

/** `(SELECT …) ORDER BY … LIMIT …` */
export function withTail(query: Query, orderBy: readonly OrderItem[], limit: Limit | null, span: Span): Query {
  const isTaken =
    query.orderBy.length > 0 || query.limit !== null || (query.kind === 'select' && (query.orderByAll || query.limitBy !== null))
  if (!isTaken) return { ...query, orderBy, limit, span }
  const source = { ...from(query), span: query.span }
  return { ...select({ columns: [{ ...star(), span: query.span }], from: source, orderBy, limit }), span }
}
