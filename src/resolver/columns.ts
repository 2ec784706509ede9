import type { Alias, Columns, Expr, Node, Select, Star } from '../ast/nodes.ts'
import { QueryError } from '../errors/errors.ts'
import { linearPattern } from '../lib/linear-pattern.ts'
import { nearestSpellings } from '../lib/spelling.ts'
import { aliasValue, attempt, resolveExpr } from './expressions.ts'
import type { Scope } from './scope.ts'
import { missing, type Session } from './session.ts'
import type { TypedColumn, TypedExpr } from './typed.ts'

/** Aliases stand anywhere in the select, and may be used anywhere in it. */
export function collectAliases(select: Select, scope: Scope): void {
  const collect = (node: unknown): void => {
    if (Array.isArray(node)) for (const item of node) collect(item)
    if (typeof node !== 'object' || node === null || !('kind' in node)) return
    const { kind } = node as Node
    if (kind === 'subquery' || kind === 'select' || kind === 'set') return
    if (kind === 'alias') {
      const { name, expr } = node as Alias
      if (!scope.aliases.has(name)) scope.aliases.set(name, { expr, state: null })
    }
    for (const [key, value] of Object.entries(node)) if (key !== 'span' && typeof value === 'object') collect(value)
  }
  const { columns, where, prewhere, groupBy, having, qualify, orderBy } = select
  collect([columns.filter((c) => c.kind !== 'star'), prewhere, where, groupBy, having, qualify, orderBy])
}

type NamedExpr = Omit<TypedColumn, 'alias'>

export function resolveColumn(session: Session, column: Expr, scope: Scope): NamedExpr[] {
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
  const taken = new Set<string>()
  return columns.map((column) => {
    // DuckDB compares names without case.
    let alias = column.name || '_'
    for (let i = 2; taken.has(alias.toLowerCase()); i++) alias = `${column.name || '_'}_${i}`
    taken.add(alias.toLowerCase())
    return { ...column, alias }
  })
}

function expandStar(session: Session, star: Star, scope: Scope): NamedExpr[] {
  const [name] = star.table
  const sources = name === undefined ? scope.sources : scope.sources.filter((s) => s.name === name)
  if (sources.length === 0)
    throw name === undefined
      ? new QueryError('invalid-query', { message: 'There is no table that * could stand for' }, star.span)
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
  const columns = sources.flatMap((source) => source.star())
  for (const wanted of [...star.exclude, ...star.replace.map((r) => r.name)])
    if (!columns.some((c) => c.name === wanted))
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
  return columns
    .filter((column) => !star.exclude.includes(column.name))
    .map((column) => {
      const replacement = star.replace.find((r) => r.name === column.name)
      return replacement ? { name: column.name, expr: resolveExpr(session, replacement.expr, scope) } : column
    })
}

function expandColumns(session: Session, columns: Columns, scope: Scope): NamedExpr[] {
  if (columns.pattern === null) return columns.items.flatMap((item) => resolveColumn(session, item, scope))
  let matches: (name: string) => boolean
  try {
    matches = linearPattern(columns.pattern)
  } catch {
    throw new QueryError('wrong-type', { message: `'${columns.pattern}' is not a regular expression` }, columns.span)
  }
  const found = scope.sources.flatMap((source) => source.star()).filter((column) => matches(column.name))
  if (found.length === 0) throw new QueryError('invalid-query', { message: `No column matches '${columns.pattern}'` }, columns.span)
  return found
}

/** `GROUP BY 1`, `ORDER BY 2` */
export function positional(expr: Expr, columns: readonly TypedColumn[]): TypedExpr | null {
  if (expr.kind !== 'literal' || expr.type !== 'int') return null
  const column = columns[Number(expr.value) - 1]
  if (!column) throw new QueryError('invalid-query', { message: `There is no column ${expr.value} in the select list` }, expr.span)
  return column.expr
}
