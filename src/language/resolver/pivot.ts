import { QueryError } from '../../errors/errors.ts'
import type { Span } from '../../errors/span.ts'
import { alias as aliased, call, callWith, equals, select } from '../ast/build.ts'
import type { Alias, Call, Expr, Field, Literal, PivotSource, Select, UnpivotSource } from '../ast/nodes.ts'
import { walk } from '../ast/walk.ts'
import { lookup } from '../functions/registry.ts'
import type { Session } from './session.ts'

// PIVOT and UNPIVOT are shorthand for other queries.

type Names = () => readonly string[]

const fieldAt = (name: string, span: Span): Field => ({ kind: 'field', chain: [name], span })
const withoutAlias = (expr: Expr): Expr => (expr.kind === 'alias' ? expr.expr : expr)

/**
 * Before: `t PIVOT (sum(x) FOR k IN ('a', 'b'))`.
 * After: `SELECT rest…, sum(x) FILTER (WHERE k = 'a') AS a, sum(x) FILTER (WHERE k = 'b') AS b FROM t GROUP BY rest…`, where the rest is what
 * GROUP BY names, or every column that nothing else in the parentheses does.
 */
export function pivoted(session: Session, pivot: PivotSource, names: Names): Select {
  const aggregates = pivot.aggregates.map((written) => ({ name: nameOfAggregate(session, pivot, written), call: aggregateOf(written) }))
  const keys = pivot.groupBy.length ? pivot.groupBy : rest(pivot, names())
  const cells = combinations(pivot).flatMap(({ label, where }) =>
    aggregates.map(({ name, call: own }) => {
      const filter = own.filter ? call('and', own.filter, where) : where
      return aliased({ ...own, filter }, name === null ? label : `${label}_${name}`)
    }),
  )
  return {
    ...select({ columns: [...keys, ...cells], from: pivot.source }),
    groupBy: keys.length
      ? { kind: 'groupBy', mode: 'plain', items: keys.map(withoutAlias), sets: [], withTotals: false, span: pivot.span }
      : null,
    span: pivot.span,
  }
}

/** Named after the aggregate if there are several, or if it has an alias. */
function nameOfAggregate(session: Session, { aggregates }: PivotSource, written: Expr): string | null {
  if (written.kind === 'alias') return written.name
  return aggregates.length > 1 ? session.nameOf(written) : null
}

function aggregateOf(written: Expr): Call {
  const expr = withoutAlias(written)
  if (expr.kind === 'call' && expr.over === null && lookup(expr.name)?.row.kind === 'aggregate') return expr
  throw new QueryError('wrong-type', { message: 'PIVOT takes aggregates' }, expr.span)
}

/** Columns of the source that the pivot does not mention. */
function rest({ aggregates, columns, span }: PivotSource, names: readonly string[]): Field[] {
  const used = new Set<string>()
  for (const expr of [...aggregates, ...columns.map((column) => column.expr)])
    walk(expr, (node) => {
      if (node.kind === 'field') used.add(node.chain[0]!)
      return true
    })
  return names.filter((name) => !used.has(name)).map((name) => fieldAt(name, span))
}

/** The cartesian product: each value of the first column with each of the second, and so on. */
function combinations({ columns, span }: PivotSource): { label: string; where: Expr }[] {
  return columns.reduce<{ label: string; where: Expr }[]>((found, { expr, values }) => {
    const next = values.map((written) => {
      const value = constantOf(written)
      return { label: written.kind === 'alias' ? written.name : String(value.value), where: { ...equals(expr, value), span: written.span } }
    })
    if (found.length === 0) return next
    if (found.length * next.length > 1000)
      throw new QueryError('invalid-query', { message: 'PIVOT can produce at most 1000 columns' }, span)
    return found.flatMap((a) => next.map((b) => ({ label: `${a.label}_${b.label}`, where: call('and', a.where, b.where) })))
  }, [])
}

function constantOf(written: Expr): Literal {
  const value = withoutAlias(written)
  if (value.kind === 'literal') return value
  throw new QueryError('wrong-type', { message: 'PIVOT needs the values of the new columns as constants' }, value.span)
}

/**
 * Before: `t UNPIVOT (value FOR name IN (a, b))`.
 * After: `SELECT rest…, name, value FROM t ARRAY JOIN ['a', 'b'] AS name, [a, b] AS value WHERE value IS NOT NULL`.
 */
export function unpivoted(unpivot: UnpivotSource, names: Names): Select {
  const { span } = unpivot
  const turned = unpivot.columns.map((column) => ({ column: plainField(withoutAlias(column)), label: (column as Alias).name }))
  const [name, value] = [plainField(unpivot.name).chain[0]!, plainField(unpivot.value).chain[0]!]
  const taken = new Set(turned.map(({ column }) => column.chain[0]!))
  const stay = names().filter((other) => !taken.has(other))
  const both = [name, value].find((own, i) => stay.includes(own) || (i === 1 && own === name))
  if (both !== undefined) throw new QueryError('invalid-query', { message: `There are two columns called '${both}'` }, span)
  const labels = turned.map(({ column, label }): Expr => ({ kind: 'literal', type: 'string', value: label ?? column.chain[0]!, span }))
  const isThere: Call = { ...callWith('isNotNull', { args: [fieldAt(value, span)] }), span }
  return {
    ...select({ columns: [...stay, name, value].map((own) => fieldAt(own, span)), from: unpivot.source }),
    arrayJoin: {
      kind: 'arrayJoin',
      left: false,
      items: [
        { kind: 'alias', name, expr: { kind: 'array', items: labels, span }, span },
        { kind: 'alias', name: value, expr: { kind: 'array', items: turned.map(({ column }) => column), span }, span },
      ],
      span,
    },
    where: unpivot.includeNulls ? null : isThere,
    span,
  }
}

function plainField(expr: Expr): Field {
  if (expr.kind === 'field' && expr.chain.length === 1) return expr
  throw new QueryError('wrong-type', { message: 'UNPIVOT takes names of columns' }, expr.span)
}
