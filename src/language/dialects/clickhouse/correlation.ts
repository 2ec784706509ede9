import type { Span } from '../../../errors/span.ts'
import { childrenOf, holdsQuery, shownParts } from '../../resolver/shape.ts'
import type { ExistsNode, TypedExpr, TypedQuery } from '../../resolver/typed.ts'
import { walk } from '../../resolver/typed-walk.ts'
import { isNullable } from '../../types/types.ts'

type Correlated = ExistsNode & { readonly outer: readonly TypedExpr[] }
interface Refused {
  readonly what: string
  readonly span: Span
}

/** ClickHouse (26.7) turns correlated subqueries into joins, but not all of them. Those that it would answer wrongly are rejected as well. */
export function refusedCorrelation(query: TypedQuery): Refused | null {
  let refused: Refused | null = null
  const refuse = (what: string, { span }: { readonly span: Span }) => {
    refused ??= { what, span }
  }
  walk(query, {
    expr: (expr) => {
      const what = isCorrelated(expr) && refusedSubquery(expr)
      if (what) refuse(what, expr)
    },
    query: (select) => {
      if (select.kind === 'set') return
      const found = [...shownParts(select), ...(select.groupBy?.items ?? [])].map(correlatedBelow).find((node) => node !== undefined)
      if (found) refuse('a correlated subquery outside of WHERE', found)
    },
    source: (source) => {
      if (source.kind === 'derived' && source.lateral) refuse('LATERAL that reads the tables before it', source.query)
    },
  })
  return refused
}

const isCorrelated = (expr: TypedExpr): expr is Correlated => expr.kind === 'exists' && expr.outer !== undefined
const sourcesOf = ({ outer }: Correlated): readonly string[] => outer.flatMap((expr) => (expr.kind === 'column' ? [expr.source] : []))

const correlatedBelow = (expr: TypedExpr): Correlated | undefined => {
  if (isCorrelated(expr)) return expr
  if (!holdsQuery(expr)) return undefined
  for (const child of childrenOf(expr)) {
    const found = correlatedBelow(child)
    if (found) return found
  }
  return undefined
}

function refusedSubquery(node: Correlated): string | null {
  const { query, outer } = node
  // It joins by equality, which never matches nulls there.
  if (outer.some(({ type }) => isNullable(type))) return 'a correlated subquery that reads what may be null'
  const read = new Set(sourcesOf(node))
  let what: string | null = null
  walk(query, {
    expr: (expr) => {
      if (isCorrelated(expr) && sourcesOf(expr).some((source) => read.has(source)))
        what = 'a correlated subquery inside of another that reads the same table'
    },
    query: (select) => {
      if (select.kind === 'select' && (select.limit || select.limitBy || select.distinct))
        what = `${select.distinct ? 'DISTINCT' : 'LIMIT'} in a correlated subquery`
    },
  })
  return what
}
