import { QueryError } from '../../errors/errors.ts'
import { isSpanned } from '../../errors/span.ts'
import { assertNever } from '../../lib/assert-never.ts'
import { own } from '../../lib/own.ts'
import { nearestSpellings } from '../../lib/text/spelling.ts'
import type { Expr, JoinSource, Query, QuerySource, Sample, Source, TableSource } from '../ast/nodes.ts'
import { assertSize } from '../ast/walk.ts'
import type { AttachedTable } from '../catalog/attached.ts'
import { tables } from '../catalog/tables.ts'
import { scalar } from '../types/types.ts'
import { unify } from '../types/unify.ts'
import { checkNumbers } from './argument-types.ts'
import { type Binding, columnsBinding, type OwnNames, scanBinding } from './bindings.ts'
import { bindDescribed, bindTables } from './catalog-rows.ts'
import { constantNumber } from './constants.ts'
import { checkNames } from './ctes.ts'
import { resolveAll, resolveExpr } from './expressions.ts'
import { type Build, resolveJoin } from './joins.ts'
import { pivoted, unpivoted } from './pivot.ts'
import { readAs } from './property-values.ts'
import { type Outer, openScope, type Scope } from './scope.ts'
import type { Session } from './session.ts'
import { type OutputColumn, outputColumns, type TypedExpr, type TypedQuery } from './typed.ts'

export function joinSources(session: Session, source: Source, scope: Scope): Build {
  if (source.kind === 'join') return resolveJoin(session, source, scope, (side) => joinSources(session, side, scope))
  const binding = bindSource(session, source, scope)
  const twice = binding.name !== null && scope.sources.some((s) => s.name === binding.name)
  if (twice)
    throw new QueryError(
      'invalid-query',
      { message: `There are two tables called '${binding.name}'. Give one of them another alias.` },
      source.span,
    )
  scope.sources.push(binding)
  return binding.source
}

function bindSource(session: Session, source: Exclude<Source, JoinSource>, scope: Scope): Binding {
  switch (source.kind) {
    case 'table':
      return bindTable(session, source, scope)
    case 'querySource': {
      if (source.sample) throw new QueryError('unsupported-syntax', { what: 'SAMPLE of a query' }, source.sample.span)
      return source.lateral ? bindLateral(session, source, scope) : bindQuery(session, source.query, source, scope)
    }
    case 'exprSource': {
      const { expr } = source
      if (expr.kind === 'placeholder') throw new QueryError('unknown-placeholder', { name: expr.chain.join('.') }, expr.span)
      if (expr.kind === 'subquery') return bindQuery(session, expr.query, { ...source, columnAliases: [] }, scope)
      throw new QueryError(
        'unsupported-syntax',
        { what: expr.kind === 'tag' ? `the tag <${expr.name} />` : 'an expression in FROM' },
        source.span,
      )
    }
    case 'values': {
      const rows = source.rows.map((row) => resolveAll(session, row, openScope(scope.ctes)).map((value) => readAs(value, 'text')))
      const width = rows[0]?.length ?? 0
      if (rows.some((row) => row.length !== width))
        throw new QueryError('invalid-query', { message: 'The rows of VALUES have different lengths' }, source.span)
      const alias = session.alias(source.alias ?? 'rows')
      const columns = Array.from({ length: width }, (_, i): OutputColumn => {
        const name = source.columnAliases[i] ?? `col${i}`
        return { name, alias: name, type: rows.map((row) => row[i]!.type).reduce(unify) }
      })
      checkNames(source.columnAliases, width, source.span)
      const names = columns.map((c) => c.alias)
      return columnsBinding(source.alias, alias, columns, () => ({ kind: 'rows', alias, names, rows }), source.span)
    }
    case 'catalog': {
      const { described } = source
      return described ? bindDescribed(session, source, bindSource(session, described, openScope(scope.ctes))) : bindTables(session, source)
    }
    case 'pivot':
      return bindQuery(session, pivoted(session, source, namesIn(session, source.source, scope)), { ...source, columnAliases: [] }, scope)
    case 'unpivot':
      return bindQuery(session, unpivoted(source, namesIn(session, source.source, scope)), { ...source, columnAliases: [] }, scope)
    default:
      return assertNever(source)
  }
}

/** The column names of `*` for this source. */
const namesIn =
  (session: Session, source: Source, scope: Scope): (() => readonly string[]) =>
  () => {
    const known = session.starNames.get(source)
    if (known) return known
    const inner = openScope(scope.ctes, scope.outer)
    joinSources(session, source, inner)
    if (inner.sources.length > 1)
      throw new QueryError('invalid-query', { message: 'Several tables are joined: name the columns to keep' }, source.span)
    const names = inner.sources[0]!.star().map((column) => column.name)
    session.starNames.set(source, names)
    return names
  }

type Named = Pick<QuerySource, 'alias' | 'columnAliases' | 'span'>

function bindQuery(session: Session, query: Query, named: Named, scope: Scope): Binding {
  const { alias, columns, typed } = namedQuery(session, session.query(query, scope, scope.outer), named)
  return columnsBinding(named.alias, alias, columns, () => ({ kind: 'derived', alias, query: typed }), named.span)
}

function bindLateral(session: Session, source: QuerySource, scope: Scope): Binding {
  // Only the sources before it: later joins add to the scope.
  const outer: Outer = { scope: { ...scope, sources: [...scope.sources] }, reads: new Set() }
  const { alias, columns, typed } = namedQuery(session, session.query(source.query, scope, outer), source)
  const lateral = outer.reads.size > 0 ? ({ lateral: true } as const) : {}
  return columnsBinding(source.alias, alias, columns, () => ({ kind: 'derived', alias, ...lateral, query: typed }), source.span)
}

function namedQuery(session: Session, typed: TypedQuery, { alias: name, columnAliases, span }: Named) {
  checkNames(columnAliases, outputColumns(typed).length, span)
  const columns = outputColumns(typed).map((column, i) =>
    columnAliases[i] === undefined ? column : { ...column, name: columnAliases[i]! },
  )
  return { alias: session.alias(name ?? 'subquery'), columns, typed }
}

function bindTable(session: Session, source: TableSource, scope: Scope): Binding {
  const name = source.chain.join('.')
  if (source.args) return bindTableFunction(session, source, source.args, scope)
  const cte = source.chain.length === 1 ? scope.ctes.get(name) : undefined
  if (cte?.kind === 'query') {
    const what = source.sample ? 'SAMPLE' : source.final ? 'FINAL' : null
    if (what) throw new QueryError('unsupported-syntax', { what: `${what} of a query` }, source.sample?.span ?? source.span)
    checkNames(source.columnAliases, cte.columns.length, source.span)
    const alias = session.alias(source.alias ?? name)
    const columns = cte.columns.map((column, i) => ({ ...column, name: source.columnAliases[i] ?? column.name }))
    return columnsBinding(source.alias ?? name, alias, columns, () => ({ kind: 'cteRef', alias, name: cte.cte.name }), source.span)
  }
  if (Object.hasOwn(tableFunctions, name))
    throw new QueryError('wrong-arity', { name, kind: 'Table function', ...tableFunctions[name]!, found: 0 }, source.span)
  // Internal tables are available to generated trees only, which have no position in a text.
  const table = Object.hasOwn(tables, name) && (!tables[name]!.internal || !isSpanned(source.span)) ? name : null
  if (!table) {
    const view = source.chain.length === 1 ? session.context.view?.(name) : undefined
    if (view) return bindView(session, view, source, name)
    const { viewNames = [], project } = session.context
    const attached = own(project.attached?.tables ?? {}, name)
    if (attached) return bindAttached(session, attached, source)
    const reason = source.chain.length === 2 ? own(project.attached?.unavailable ?? {}, source.chain[0]!) : undefined
    if (reason !== undefined) throw new QueryError('attached-unreadable', { name, reason }, source.span)
    const known = [
      ...Object.keys(tables).filter((t) => !tables[t]!.internal),
      ...scope.ctes.keys(),
      ...viewNames,
      ...Object.keys(project.attached?.tables ?? {}),
    ]
    throw new QueryError('unknown-table', { name, candidates: nearestSpellings(name, known) }, source.span)
  }
  if (source.columnAliases.length)
    throw new QueryError('unsupported-syntax', { what: 'other names for the columns of a table' }, source.span)
  const binding = scanBinding(table, source.alias ?? name, session.alias(source.alias ?? name), source.span, {
    ownNames: ownNames(session, table),
    context: session.context,
  })
  if (source.sample) {
    if (table !== 'events') throw new QueryError('unsupported-syntax', { what: `SAMPLE of ${table}` }, source.sample.span)
    const share = sampleShare(resolveExpr(session, source.sample.size, openScope()), source.sample)
    const start = source.sample.offset ? sampleShare(resolveExpr(session, source.sample.offset, openScope()), source.sample) : 0
    binding.sample = { share, start }
  }
  session.scans.set(binding.alias, binding)
  return binding
}

/** A view is a subquery that sees no names of the statement around it. */
function bindView(session: Session, view: Query, source: TableSource, name: string): Binding {
  const { span, alias, columnAliases } = source
  const what = source.sample ? 'SAMPLE' : source.final ? 'FINAL' : null
  if (what) throw new QueryError('unsupported-syntax', { what: `${what} of a view` }, source.sample?.span ?? span)
  if (session.views.includes(name)) {
    const road = [...session.views.slice(session.views.indexOf(name)), name].join(' → ')
    throw new QueryError('invalid-query', { message: `The view '${name}' reads itself: ${road}. Change one of these views.` }, span)
  }
  assertSize(view, session.budget)
  session.views.push(name)
  try {
    return bindQuery(session, view, { alias: alias ?? name, columnAliases, span }, openScope())
  } finally {
    session.views.pop()
  }
}

/** Read by the second of its names, unless it has an alias. */
function bindAttached(session: Session, table: AttachedTable, source: TableSource): Binding {
  const { span, columnAliases, sample, final } = source
  const what = sample ? 'SAMPLE' : final ? 'FINAL' : null
  if (what) throw new QueryError('unsupported-syntax', { what: `${what} of an attached table` }, sample?.span ?? span)
  if (table.problem !== undefined) throw new QueryError('attached-unreadable', { name: table.name, reason: table.problem }, span)
  checkNames(columnAliases, table.columns.length, span)
  const name = source.alias ?? source.chain.at(-1)!
  const alias = session.alias(name)
  const columns = table.columns.map((column, i) => ({ name: columnAliases[i] ?? column.name, alias: column.name, type: column.type }))
  return columnsBinding(name, alias, columns, () => ({ kind: 'attached', alias, table, span }), span)
}

/** Groups of events can be read by the names of their types. */
const ownNames = ({ context }: Session, table: string): OwnNames =>
  new Map(table === 'events' ? context.groupTypes?.map(({ index, name }) => [name, `group_${index}`]) : [])

function sampleShare(expr: TypedExpr, { percent, span }: Sample): number {
  const value = (constantNumber(expr) ?? Number.NaN) / (percent ? 100 : 1)
  if (!(value >= 0 && value <= 1))
    throw new QueryError('unsupported-syntax', { what: 'SAMPLE with anything but a fraction between 0 and 1' }, span)
  return value
}

const tableFunctions: Readonly<Record<string, { readonly min: number; readonly max: number }>> = {
  numbers: { min: 1, max: 2 },
  generateSeries: { min: 2, max: 3 },
}

function bindTableFunction(session: Session, source: TableSource, args: readonly Expr[], scope: Scope): Binding {
  const name = source.chain.join('.')
  const arity = Object.hasOwn(tableFunctions, name) ? tableFunctions[name] : undefined
  if (!arity) {
    if (Object.hasOwn(tables, name)) throw new QueryError('invalid-query', { message: `Table '${name}' takes no arguments` }, source.span)
    throw new QueryError('unknown-table', { name, candidates: nearestSpellings(name, Object.keys(tableFunctions)) }, source.span)
  }
  if (args.length < arity.min || args.length > arity.max)
    throw new QueryError('wrong-arity', { name, kind: 'Table function', ...arity, found: args.length }, source.span)
  if (source.sample || source.final)
    throw new QueryError(
      'unsupported-syntax',
      { what: `${source.sample ? 'SAMPLE' : 'FINAL'} of ${name}` },
      source.sample?.span ?? source.span,
    )
  checkNames(source.columnAliases, 1, source.span)
  const typed = resolveAll(session, args, openScope(scope.ctes))
  checkNumbers(name, typed, args, source.span)
  const alias = session.alias(source.alias ?? name)
  const column = { name: source.columnAliases[0] ?? 'number', alias: 'number', type: scalar(name === 'numbers' ? 'UInt64' : 'Int64') }
  return columnsBinding(
    source.alias ?? name,
    alias,
    [column],
    () => ({ kind: 'tableFunction', alias, name: name as 'numbers', args: typed, span: source.span }),
    source.span,
  )
}
