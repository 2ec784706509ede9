import { QueryError } from '../../errors/errors.ts'
import type { Span } from '../../errors/span.ts'
import type { JoinSource, Source } from '../ast/nodes.ts'
import { notNull, nullable } from '../types/types.ts'
import type { Binding } from './bindings.ts'
import { builtCall, callNode, isComparison } from './calls.ts'
import { columnsIn } from './correlation.ts'
import { resolveExpr } from './expressions.ts'
import { checkClause } from './grouping.ts'
import { readAs } from './property-values.ts'
import type { Scope } from './scope.ts'
import { missing, type Session } from './session.ts'
import type { TypedExpr, TypedSource } from './typed.ts'

export type Build = () => TypedSource

/** `bind` adds a side of the join to the scope. */
export function resolveJoin(session: Session, join: JoinSource, scope: Scope, bind: (side: Source) => Build): Build {
  checkKind(join)
  const left = bind(join.left)
  const leftSources = [...scope.sources]
  const right = bind(join.right)
  const rightSources = scope.sources.slice(leftSources.length)
  const strictness = join.strictness === 'all' ? null : join.strictness
  if (join.type === 'left' || join.type === 'full') for (const s of rightSources) makeOptional(session, s)
  if (join.type === 'right' || join.type === 'full') for (const s of leftSources) makeOptional(session, s)

  const shared = join.using.length
    ? join.using.map((expr) => {
        if (expr.kind === 'field') return expr.chain.at(-1)!
        throw new QueryError('invalid-query', { message: 'USING takes names of columns' }, expr.span)
      })
    : join.type === 'natural'
      ? [...new Set(leftSources.flatMap((s) => [...s.names()]))].filter((name) => rightSources.some((s) => s.has(name)))
      : []
  const type = join.type === 'natural' ? 'inner' : join.type
  if (holdsLateral(join.right) && (strictness || !lateralJoins.has(type)))
    throw new QueryError(
      'unsupported-syntax',
      { what: `LATERAL with ${type.toUpperCase()}${strictness ? ` ${strictness.toUpperCase()}` : ''} JOIN` },
      join.span,
    )
  const on =
    shared.length > 0
      ? conjunction(
          shared.map((name) => {
            const side = (sources: readonly Binding[]) => {
              const source = sources.find((s) => s.has(name))
              if (!source) throw new QueryError('unknown-field', { name }, join.span)
              return source.follow([name], join.span).expr
            }
            return joinCondition(builtCall('equals', [side(leftSources), side(rightSources)], join.span))
          }),
          join.span,
        )
      : join.on
        ? session.attempt(
            () => joinCondition(readAs(resolveExpr(session, join.on!, { ...scope, isBeforeGrouping: true }), 'boolean')),
            () => missing(join.span),
          )
        : null
  if (shared.length > 0) for (const s of rightSources) hide(s, shared, join.type === 'right' ? leftSources : null)
  if (!on && type !== 'cross' && type !== 'positional')
    throw new QueryError('invalid-query', { message: 'A join needs ON or USING' }, join.span)
  checkClause(session, 'ON', on)
  if (on && type !== 'inner') checkOwn(on, scope, `${type.toUpperCase()} JOIN`)
  if (strictness === 'asof' && on) checkAsOf(on, join.span)
  if (strictness === 'semi' || strictness === 'anti') for (const s of type === 'right' ? leftSources : rightSources) shut(s, strictness)
  return () => ({ kind: 'join', left: left(), right: right(), type: type as 'inner', strictness, on, span: join.span })
}

const lateralJoins: ReadonlySet<string> = new Set(['inner', 'left', 'cross'])
const holdsLateral = (source: Source): boolean =>
  source.kind === 'join' ? holdsLateral(source.left) || holdsLateral(source.right) : source.kind === 'querySource' && source.lateral

/** Rejects joins that no engine supports, or that engines compute differently. */
function checkKind({ type, strictness, on, using, span }: JoinSource): void {
  const kind = `${type.toUpperCase()} ${strictness?.toUpperCase() ?? ''} JOIN`
  const refused =
    strictness !== null &&
    strictness !== 'all' &&
    (type === 'cross' ||
      type === 'positional' ||
      type === 'full' ||
      (strictness === 'any' && (type === 'inner' || type === 'natural')) ||
      (strictness === 'asof' && type === 'right'))
  if (refused) throw new QueryError('unsupported-syntax', { what: kind }, span)
  const hasCondition = on !== null || using.length > 0
  if (hasCondition && (type === 'cross' || type === 'positional' || type === 'natural'))
    throw new QueryError('invalid-query', { message: `${type.toUpperCase()} JOIN does not take a condition` }, (on ?? using[0]!).span)
}

/** An outer join is computed as a whole, not once for each row of an outer query. */
function checkOwn(on: TypedExpr, { sources }: Scope, kind: string): void {
  const foreign = [...columnsIn(on)].find(({ source }) => sources.every(({ alias }) => alias !== source))
  if (foreign) throw new QueryError('unsupported-syntax', { what: `ON of a ${kind} that reads the outer query` }, foreign.span)
}

const inequalities = new Set(['less', 'lessOrEquals', 'greater', 'greaterOrEquals'])
function checkAsOf(on: TypedExpr, span: Span): void {
  const conditions = on.kind === 'call' && on.name === 'and' ? on.args : [on]
  const nearest = conditions.filter((c) => c.kind === 'call' && inequalities.has(c.name))
  const equal = conditions.filter((c) => c.kind === 'call' && c.name === 'equals')
  if (nearest.length !== 1 || nearest.length + equal.length !== conditions.length)
    throw new QueryError('invalid-query', { message: 'An ASOF join needs exactly one inequality, and at least one equality' }, span)
}

/** The other side of a SEMI or ANTI join cannot be read. */
function shut(binding: Binding, strictness: 'semi' | 'anti'): void {
  binding.has = () => false
  binding.star = () => []
  binding.follow = (_chain, span) => {
    throw new QueryError(
      'invalid-query',
      {
        message: `Columns of ${binding.name === null ? 'the other side' : `'${binding.name}'`} are not available after ${strictness.toUpperCase()} JOIN`,
      },
      span,
    )
  }
}

/** A join never matches nulls: keys compared without null handling can be hashed and sorted. */
function joinCondition(expr: TypedExpr): TypedExpr {
  if (expr.kind !== 'call') return expr
  const { name, row, span } = expr
  if (name === 'and') return callNode(name, row, { args: expr.args.map(joinCondition) }, span)
  if (!isComparison(name)) return expr
  return callNode(name, row, { args: expr.args.map((arg) => ({ ...arg, type: notNull(arg.type) })) }, span)
}

function makeOptional(session: Session, binding: Binding): void {
  const scan = session.scans.get(binding.alias)
  if (scan) scan.isOptional = true
  else {
    const { follow, star } = binding
    const open = <T extends { readonly expr: TypedExpr }>(found: T): T => ({
      ...found,
      expr: { ...found.expr, type: nullable(found.expr.type) },
    })
    binding.follow = (chain, span) => open(follow(chain, span))
    binding.star = () => star().map(open)
  }
}

/** A column of USING without a table name is the left side's. */
function hide(binding: Binding, names: readonly string[], left: readonly Binding[] | null): void {
  const { has } = binding
  if (left === null) binding.has = (name) => !names.includes(name) && has(name)
  else
    for (const source of left) {
      const own = source.has
      source.has = (name) => !names.includes(name) && own(name)
    }
}

const conjunction = (conditions: readonly TypedExpr[], span: Span): TypedExpr =>
  conditions.length === 1 ? conditions[0]! : builtCall('and', conditions, span)
