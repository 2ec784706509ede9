import { QueryError } from '../../errors/errors.ts'
import type { Span } from '../../errors/span.ts'
import { linearPattern, PatternTooLarge } from '../../lib/text/linear-pattern.ts'
import { nearestSpellings } from '../../lib/text/spelling.ts'
import { uniqueNames } from '../../lib/text/unique-names.ts'
import type { Columns, Expr, Select, Star } from '../ast/nodes.ts'
import { walk } from '../ast/walk.ts'
import { aliasValue, attempt, resolveExpr } from './expressions.ts'
import type { Scope } from './scope.ts'
import { missing, type Session } from './session.ts'
import type { TypedColumn, TypedExpr } from './typed.ts'

/** Aliases may be defined anywhere in a select, and used anywhere in it. */
export function collectAliases(select: Select, scope: Scope): void {
  const { columns, where, prewhere, groupBy, having, qualify, orderBy } = select
  for (const part of [...columns, prewhere, where, groupBy, having, qualify, ...orderBy])
    if (part && part.kind !== 'star')
      walk(part, (node) => {
        if (node.kind === 'alias' && !scope.aliases.has(node.name)) scope.aliases.set(node.name, { expr: node.expr, state: null })
        return node.kind !== 'subquery'
      })
}

type NamedExpr = Omit<TypedColumn, 'alias'>

/** The most columns of a select: `*` makes a short statement wide. */
export function resolveColumns(session: Session, { columns, span }: Select, scope: Scope): NamedExpr[] {
  const resolved: NamedExpr[] = []
  for (const column of columns) {
    resolved.push(...resolveColumn(session, column, scope))
    session.budget.allow('columns', resolved.length, span)
  }
  return resolved
}

function resolveColumn(session: Session, column: Expr, scope: Scope): NamedExpr[] {
  switch (column.kind) {
    case 'star':
      return session.attempt(
        () => expandStar(session, column, scope),
        () => [],
      )
    case 'columns':
      return session.attempt(
        () => expandColumns(session, column, scope),
        () => [],
      )
    case 'alias': {
      const value = session.attempt(
        () =>
          (scope.aliases.get(column.name)?.expr === column.expr ? aliasValue(session, column.name, scope) : undefined) ??
          resolveExpr(session, column.expr, scope),
        () => missing(column.span),
      )
      return [{ name: column.name, expr: value }]
    }
  }
  return [{ name: session.nameOf(column), expr: attempt(session, column, scope) }]
}

export function uniqueAliases(columns: readonly NamedExpr[]): TypedColumn[] {
  const unique = uniqueNames()
  return columns.map((column) => ({ ...column, alias: unique(column.name || '_') }))
}

function expandStar(session: Session, star: Star, scope: Scope): NamedExpr[] {
  const [name] = star.table
  const sources = name === undefined ? scope.sources : scope.sources.filter((s) => s.name === name)
  if (sources.length === 0)
    throw name === undefined
      ? new QueryError('invalid-query', { message: '* needs a FROM clause' }, star.span)
      : new QueryError(
          'unknown-table',
          {
            name,
            candidates: nearestSpellings(
              name,
              scope.sources.flatMap((s) => s.name ?? []),
            ),
          },
          star.span,
        )
  if (name === undefined && sources.length > 1 && sources.some((s) => s.name !== null))
    throw new QueryError('invalid-query', { message: 'Several tables are joined: write `table.*` instead of `*`' }, star.span)
  const columns = starOf(session, sources, star)
  const names = new Set(columns.map((c) => c.name))
  for (const wanted of [...star.exclude, ...star.replace.map((r) => r.name)])
    if (!names.has(wanted))
      throw new QueryError(
        'unknown-field',
        {
          name: wanted,
          candidates: nearestSpellings(
            wanted,
            columns.map((c) => c.name),
          ),
        },
        star.span,
      )
  const left = new Set(star.exclude)
  const replaced = new Map([...star.replace].reverse().map((replacement) => [replacement.name, replacement.expr]))
  return columns
    .filter((column) => !left.has(column.name))
    .map((column) => {
      const replacement = replaced.get(column.name)
      return replacement ? { name: column.name, expr: resolveExpr(session, replacement, scope) } : column
    })
}

/** All columns of the sources. They are counted before they are expanded: each level of `SELECT *, *` doubles them. */
function starOf(session: Session, sources: Scope['sources'], node: Star | Columns): NamedExpr[] {
  return sources.flatMap((source) => {
    const columns = source.star()
    session.budget.spend('expressions', columns.length, node.span)
    return columns
  })
}

function expandColumns(session: Session, columns: Columns, scope: Scope): NamedExpr[] {
  if (columns.pattern === null) return columns.items.flatMap((item) => resolveColumn(session, item, scope))
  const found = matching(columns.pattern, starOf(session, scope.sources, columns), columns.span)
  if (found.length === 0) throw new QueryError('invalid-query', { message: `No column matches '${columns.pattern}'` }, columns.span)
  return found
}

function matching(pattern: string, columns: readonly NamedExpr[], span: Span): NamedExpr[] {
  try {
    const matches = linearPattern(pattern)
    return columns.filter(({ name }) => matches(name))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    const isTooLarge = error instanceof PatternTooLarge
    const message = isTooLarge ? `The pattern of columns() is too complex. ${error.message}.` : `'${pattern}' is not a regular expression`
    throw new QueryError('wrong-type', { message }, span)
  }
}

/** `GROUP BY 1`, `ORDER BY 2` */
export function positional(expr: Expr, columns: readonly TypedColumn[]): TypedExpr | null {
  if (expr.kind !== 'literal' || expr.type !== 'int') return null
  const column = columns[Number(expr.value) - 1]
  if (!column) throw new QueryError('invalid-query', { message: `There is no column ${expr.value} in the select list` }, expr.span)
  return column.expr
}
