import type {
  Alias,
  ArrayJoin,
  Columns,
  Cte,
  Expr,
  GroupBy,
  JoinSource,
  Limit,
  Node,
  OrderItem,
  Query,
  Select,
  SetQuery,
  Source,
  Star,
  TableSource,
} from '../ast/nodes.ts'
import { tables } from '../catalog/tables.ts'
import { QueryError } from '../errors/errors.ts'
import { isSpanned, type Span } from '../errors/span.ts'
import { assertNever } from '../lib/assert-never.ts'
import { nearestSpellings } from '../lib/spelling.ts'
import { notNull, nullable, type SqlType, scalar, unknownType } from '../types/types.ts'
import { unify } from '../types/unify.ts'
import { type Binding, columnsBinding, scanBinding } from './bindings.ts'
import { builtCall, callNode, isComparison } from './calls.ts'
import { constant, rowCount } from './constants.ts'
import { aliasValue, attempt, isQuery, resolveAll, resolveExpr, resolveOrder } from './expressions.ts'
import { type CteBinding, openScope, type Scope } from './scope.ts'
import { missing, type Session } from './session.ts'
import {
  type OutputColumn,
  outputColumns,
  type TypedColumn,
  type TypedCte,
  type TypedExpr,
  type TypedGroupBy,
  type TypedLimit,
  type TypedOrder,
  type TypedQuery,
  type TypedSelect,
  type TypedSet,
  type TypedSource,
} from './typed.ts'

export function resolveQuery(session: Session, query: Query, parent: Scope | null): TypedQuery {
  const { ctes, typed } = resolveWith(session, query, parent?.ctes ?? new Map())
  return query.kind === 'select' ? resolveSelect(session, query, ctes, typed) : resolveSet(session, query, ctes, typed)
}

// --- WITH ----------------------------------------------------------------------------------------

function resolveWith(session: Session, query: Query, outer: Scope['ctes']) {
  const ctes = new Map(outer)
  const typed: TypedCte[] = []
  for (const cte of query.with) {
    if (!isQuery(cte.body)) {
      ctes.set(cte.name, { kind: 'expression', expr: cte.body, scope: openScope(new Map(ctes)) })
      continue
    }
    const binding = resolveCte(session, cte, cte.body, query.recursive, ctes)
    ctes.set(cte.name, binding)
    typed.push(binding.cte)
  }
  return { ctes, typed }
}

function resolveCte(session: Session, cte: Cte, body: Query, recursive: boolean, ctes: Map<string, CteBinding>) {
  const name = session.cteName(cte.name)
  if (cte.usingKey.length) throw new QueryError('unsupported-syntax', { what: 'USING KEY' }, cte.span)
  const named = (query: TypedQuery) => (cte.columns.length ? renamed(query, cte.columns) : query)
  const bind = (query: TypedQuery, columns: readonly OutputColumn[], isRecursive: boolean): CteBinding & { kind: 'query' } => ({
    kind: 'query',
    columns,
    cte: { name, recursive: isRecursive, materialized: cte.materialized, query },
  })
  if (recursive && body.kind === 'set' && mentions(body.right, cte.name)) {
    // The first branch says what the columns are; the second may then read them.
    const first = named(resolveQuery(session, body.left, openScope(ctes)))
    const columns = outputColumns(first).map((column) => ({ ...column, type: widened(column.type) }))
    const self = new Map(ctes).set(cte.name, bind(first, columns, true))
    const second = resolveQuery(session, body.right, openScope(self))
    return bind(setOf(session, body, first, second, [], new Map()), columns, true)
  }
  if (!recursive && mentions(body, cte.name) && !Object.hasOwn(tables, cte.name) && !ctes.has(cte.name))
    throw new QueryError('invalid-query', { message: `'${cte.name}' refers to itself, which needs WITH RECURSIVE` }, cte.span)
  const query = named(resolveQuery(session, body, openScope(ctes)))
  return bind(query, outputColumns(query), false)
}

/** The query with its first columns under other names. */
function renamed(query: TypedQuery, names: readonly string[]): TypedQuery {
  const rename = <C extends { readonly name: string; readonly alias: string }>(columns: readonly C[]) =>
    columns.map((column, i) => (names[i] === undefined ? column : { ...column, name: names[i]!, alias: names[i]! }))
  if (query.kind === 'select') return { ...query, columns: rename(query.columns) }
  const byOldName = new Map(query.columns.map((column, i) => [column.alias, names[i] ?? column.alias]))
  const orderBy = query.orderBy.map((item) =>
    item.expr.kind === 'column' ? { ...item, expr: { ...item.expr, name: byOldName.get(item.expr.name) ?? item.expr.name } } : item,
  )
  return { ...query, left: renamed(query.left, names), columns: rename(query.columns), orderBy }
}

/** `1` begins a recursion as a small integer, but what is added to it in each round is wider. */
const widened = (type: SqlType): SqlType =>
  type.kind === 'scalar' && /^U?Int(8|16|32)$/.test(type.name) ? { ...type, name: 'Int64' } : type

function mentions(query: Query, name: string): boolean {
  let found = false
  visit(query, (node) => {
    if (node.kind === 'table' && node.args === null && node.chain.length === 1 && node.chain[0] === name) found = true
  })
  return found
}

function visit(node: unknown, see: (node: Node) => void): void {
  if (Array.isArray(node)) for (const item of node) visit(item, see)
  else if (typeof node === 'object' && node !== null) {
    if ('kind' in node && 'span' in node) see(node as Node)
    for (const [key, value] of Object.entries(node)) if (key !== 'span') visit(value, see)
  }
}

// --- SELECT --------------------------------------------------------------------------------------

function resolveSelect(session: Session, select: Select, ctes: Scope['ctes'], typedCtes: readonly TypedCte[]): TypedSelect {
  const scope = openScope(ctes)
  for (const window of select.windows) scope.windows.set(window.name, window.window)
  // A mistake in FROM leaves nothing to look names up in.
  let build: () => TypedSource | null = select.from ? joinSources(session, select.from, scope) : () => null
  collectAliases(select, scope)
  if (select.arrayJoin) build = resolveArrayJoin(session, select.arrayJoin, scope, build)

  const columns = uniqueAliases(select.columns.flatMap((column) => resolveColumn(session, column, scope)))
  const before: Scope = { ...scope, isBeforeGrouping: true }
  const conditions = [select.prewhere, select.where].filter((c) => c !== null).map((c) => attempt(session, c, before))
  const where = conditions.length === 2 ? builtCall('and', conditions, select.span) : (conditions[0] ?? null)
  const position = (expr: Expr, inner: Scope): TypedExpr => positional(expr, columns) ?? attempt(session, expr, inner)
  const order = (item: OrderItem): TypedOrder => {
    const column = positional(item.expr, columns)
    return column ? { expr: column, descending: item.descending, nulls: item.nulls ?? 'last' } : resolveOrder(session, item, scope)
  }

  const typed: TypedSelect = {
    kind: 'select',
    ctes: typedCtes,
    columns,
    distinct: select.distinct,
    distinctOn: select.distinctOn.map((expr) => position(expr, scope)),
    where,
    groupBy: select.groupBy ? resolveGroupBy(select.groupBy, columns, (expr) => position(expr, before)) : null,
    having: select.having ? attempt(session, select.having, scope) : null,
    qualify: select.qualify ? attempt(session, select.qualify, scope) : null,
    orderBy: select.orderByAll
      ? columns.map((column) => ({ expr: column.expr, descending: false, nulls: 'last' as const }))
      : select.orderBy.map(order),
    limitBy: select.limitBy && {
      limit: rowCount(resolveExpr(session, select.limitBy.limit, openScope(ctes)), 'LIMIT BY'),
      offset: select.limitBy.offset ? rowCount(resolveExpr(session, select.limitBy.offset, openScope(ctes)), 'OFFSET') : 0,
      by: select.limitBy.by.map((expr) => position(expr, scope)),
    },
    limit: select.limit && resolveLimit(session, select.limit),
    from: null,
    span: select.span,
  }
  if (select.settings.length) throw new QueryError('unsupported-syntax', { what: 'SETTINGS' }, select.settings[0]!.span)
  // Last, when everything has been read from the sources.
  return { ...typed, from: build() }
}

/** Aliases stand anywhere in the select, and may be used anywhere in it. */
function collectAliases(select: Select, scope: Scope): void {
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

function uniqueAliases(columns: readonly NamedExpr[]): TypedColumn[] {
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
  let pattern: RegExp
  try {
    pattern = new RegExp(columns.pattern)
  } catch {
    throw new QueryError('wrong-type', { message: `'${columns.pattern}' is not a regular expression` }, columns.span)
  }
  const found = scope.sources.flatMap((source) => source.star()).filter((column) => pattern.test(column.name))
  if (found.length === 0) throw new QueryError('invalid-query', { message: `No column matches '${columns.pattern}'` }, columns.span)
  return found
}

/** `GROUP BY 1`, `ORDER BY 2` */
function positional(expr: Expr, columns: readonly TypedColumn[]): TypedExpr | null {
  if (expr.kind !== 'literal' || expr.type !== 'int') return null
  const column = columns[Number(expr.value) - 1]
  if (!column) throw new QueryError('invalid-query', { message: `There is no column ${expr.value} in the select list` }, expr.span)
  return column.expr
}

function resolveGroupBy(groupBy: GroupBy, columns: readonly TypedColumn[], resolve: (expr: Expr) => TypedExpr): TypedGroupBy {
  if (groupBy.withTotals) throw new QueryError('unsupported-syntax', { what: 'WITH TOTALS' }, groupBy.span)
  if (groupBy.mode === 'all') {
    const plain = columns.filter((column) => !containsAggregate(column.expr)).map((column) => column.expr)
    return { mode: 'plain', items: plain, sets: [] }
  }
  return { mode: groupBy.mode, items: groupBy.items.map(resolve), sets: groupBy.sets.map((set) => set.map(resolve)) }
}

function containsAggregate(expr: TypedExpr): boolean {
  if (expr.kind === 'call') return (expr.row.kind === 'aggregate' && !expr.over) || expr.args.some(containsAggregate)
  if (expr.kind === 'array' || expr.kind === 'tuple') return expr.items.some(containsAggregate)
  if (expr.kind === 'json' || expr.kind === 'cast' || expr.kind === 'arrayJoin' || expr.kind === 'in') return containsAggregate(expr.expr)
  return expr.kind === 'lambda' && containsAggregate(expr.body)
}

function resolveLimit(session: Session, limit: Limit): TypedLimit {
  const count = (expr: Expr | null, clause: string) => (expr ? rowCount(resolveExpr(session, expr, openScope()), clause) : null)
  return {
    limit: count(limit.limit, 'LIMIT'),
    offset: count(limit.offset, 'OFFSET') ?? 0,
    percent: limit.percent,
    withTies: limit.withTies,
  }
}

// --- FROM ----------------------------------------------------------------------------------------

type Build = () => TypedSource

function joinSources(session: Session, source: Source, scope: Scope): Build {
  if (source.kind === 'join') return resolveJoin(session, source, scope)
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
      if (source.sample) throw new QueryError('unsupported-syntax', { what: 'SAMPLE of a subquery' }, source.sample.span)
      return bindQuery(session, source.query, source.alias, source.columnAliases, scope, source.span)
    }
    case 'exprSource': {
      const { expr } = source
      if (expr.kind === 'placeholder') throw new QueryError('unknown-placeholder', { name: expr.chain.join('.') }, expr.span)
      if (expr.kind === 'subquery') return bindQuery(session, expr.query, source.alias, [], scope, source.span)
      throw new QueryError('unsupported-syntax', { what: 'an expression in FROM' }, source.span)
    }
    case 'values': {
      const rows = source.rows.map((row) => resolveAll(session, row, openScope(scope.ctes)))
      const width = rows[0]?.length ?? 0
      if (rows.some((row) => row.length !== width))
        throw new QueryError('invalid-query', { message: 'The rows of VALUES have different lengths' }, source.span)
      const alias = session.alias(source.alias ?? 'rows')
      const columns = Array.from({ length: width }, (_, i): OutputColumn => {
        const name = source.columnAliases[i] ?? `col${i}`
        return { name, alias: name, type: rows.map((row) => row[i]!.type).reduce(unify) }
      })
      const names = columns.map((c) => c.alias)
      return columnsBinding(source.alias, alias, columns, () => ({ kind: 'rows', alias, names, rows }), source.span)
    }
    case 'pivot':
      throw new QueryError('unsupported-syntax', { what: 'PIVOT' }, source.span)
    case 'unpivot':
      throw new QueryError('unsupported-syntax', { what: 'UNPIVOT' }, source.span)
    default:
      return assertNever(source)
  }
}

function bindQuery(
  session: Session,
  query: Query,
  name: string | null,
  columnAliases: readonly string[],
  scope: Scope,
  span: Span,
): Binding {
  const typed = resolveQuery(session, query, openScope(scope.ctes))
  const alias = session.alias(name ?? 'subquery')
  const columns = outputColumns(typed).map((column, i) =>
    columnAliases[i] === undefined ? column : { ...column, name: columnAliases[i]! },
  )
  return columnsBinding(name, alias, columns, () => ({ kind: 'derived', alias, query: typed }), span)
}

function bindTable(session: Session, source: TableSource, scope: Scope): Binding {
  const name = source.chain.join('.')
  if (source.args) return bindTableFunction(session, source, source.args, scope)
  const cte = source.chain.length === 1 ? scope.ctes.get(name) : undefined
  if (cte?.kind === 'query') {
    const alias = session.alias(source.alias ?? name)
    const columns = cte.columns.map((column, i) => ({ ...column, name: source.columnAliases[i] ?? column.name }))
    return columnsBinding(source.alias ?? name, alias, columns, () => ({ kind: 'cteRef', alias, name: cte.cte.name }), source.span)
  }
  if (Object.hasOwn(tableFunctions, name))
    throw new QueryError('wrong-arity', { name, kind: 'Table function', ...tableFunctions[name]!, found: 0 }, source.span)
  // What no statement may name, trees without a place in a text may.
  const table = Object.hasOwn(tables, name) && (!tables[name]!.internal || !isSpanned(source.span)) ? name : null
  if (!table) {
    const known = [...Object.keys(tables).filter((t) => !tables[t]!.internal), ...scope.ctes.keys()]
    throw new QueryError('unknown-table', { name, candidates: nearestSpellings(name, known) }, source.span)
  }
  const binding = scanBinding(table, source.alias ?? name, session.alias(source.alias ?? name), source.span)
  if (source.sample) {
    if (table !== 'events') throw new QueryError('unsupported-syntax', { what: `SAMPLE of ${table}` }, source.sample.span)
    const share = sampleShare(resolveExpr(session, source.sample.size, openScope()), source.sample.span)
    const start = source.sample.offset ? sampleShare(resolveExpr(session, source.sample.offset, openScope()), source.sample.span) : 0
    binding.sample = { share, start }
  }
  session.scans.set(binding.alias, binding)
  return binding
}

function sampleShare(expr: TypedExpr, span: Span): number {
  const value =
    expr.kind === 'constant'
      ? Number(expr.value)
      : expr.kind === 'call' && expr.name === 'divide'
        ? expr.args.map((a) => (a.kind === 'constant' ? Number(a.value) : Number.NaN)).reduce((a, b) => a / b)
        : Number.NaN
  if (!(value >= 0 && value <= 1))
    throw new QueryError('unsupported-syntax', { what: 'SAMPLE of anything but a share between 0 and 1' }, span)
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
  const typed = resolveAll(session, args, openScope(scope.ctes))
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

function resolveJoin(session: Session, join: JoinSource, scope: Scope): Build {
  const left = joinSources(session, join.left, scope)
  const leftSources = [...scope.sources]
  const right = joinSources(session, join.right, scope)
  const rightSources = scope.sources.slice(leftSources.length)
  const strictness = join.strictness === 'all' ? null : join.strictness
  if (join.type === 'left' || join.type === 'full') for (const s of rightSources) makeOptional(session, s)
  if (join.type === 'right' || join.type === 'full') for (const s of leftSources) makeOptional(session, s)

  const shared = join.using.length
    ? join.using.map((expr) => (expr.kind === 'field' ? expr.chain.at(-1)! : ''))
    : join.type === 'natural'
      ? [...new Set(leftSources.flatMap((s) => [...s.names()]))].filter((name) => rightSources.some((s) => s.has(name)))
      : []
  const type = join.type === 'natural' ? 'inner' : join.type
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
            () => joinCondition(resolveExpr(session, join.on!, { ...scope, isBeforeGrouping: true })),
            () => missing(join.span),
          )
        : null
  if (shared.length > 0) for (const s of rightSources) hide(s, shared, join.type === 'right' ? leftSources : null)
  if (!on && type !== 'cross' && type !== 'positional')
    throw new QueryError('invalid-query', { message: 'A join needs ON or USING' }, join.span)
  return () => ({ kind: 'join', left: left(), right: right(), type: type as 'inner', strictness, on, span: join.span })
}

/** A join matches no nulls: compared as they stand, its keys can be hashed and ordered by. */
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

/** Columns of USING are the left side's where no table is named. */
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

function resolveArrayJoin(session: Session, arrayJoin: ArrayJoin, scope: Scope, build: () => TypedSource | null): () => TypedSource | null {
  const alias = session.alias('items')
  const items = arrayJoin.items.map((item) => {
    const array = item.kind === 'alias' ? item.expr : item
    const name = item.kind === 'alias' ? item.name : item.kind === 'field' ? item.chain.at(-1)! : session.nameOf(item)
    return { name, expr: attempt(session, array, scope) }
  })
  const columns = items.map(
    ({ name, expr }): OutputColumn => ({
      name,
      alias: name,
      type: expr.type.kind === 'array' ? expr.type.item : unknownType,
    }),
  )
  // Under its own name an item takes the place of the array.
  for (const source of scope.sources) {
    const { has } = source
    source.has = (name) => !columns.some((c) => c.name === name) && has(name)
  }
  const binding = columnsBinding(null, alias, columns, () => ({ kind: 'rows', alias, names: [], rows: [] }), arrayJoin.span)
  scope.sources.push(binding)
  return () => ({ kind: 'unnest', alias, input: build(), left: arrayJoin.left, items, span: arrayJoin.span })
}

// --- sets ----------------------------------------------------------------------------------------

function resolveSet(session: Session, set: SetQuery, ctes: Scope['ctes'], typedCtes: readonly TypedCte[]): TypedSet {
  const left = resolveQuery(session, set.left, openScope(ctes))
  const right = resolveQuery(session, set.right, openScope(ctes))
  return setOf(session, set, left, set.byName ? byName(session, left, right, set.span) : right, typedCtes, ctes)
}

function setOf(
  session: Session,
  set: SetQuery,
  left: TypedQuery,
  right: TypedQuery,
  ctes: readonly TypedCte[],
  scope: Scope['ctes'],
): TypedSet {
  const a = outputColumns(left)
  const b = outputColumns(right)
  if (a.length !== b.length)
    throw new QueryError(
      'invalid-query',
      { message: `Both sides of ${set.op.toUpperCase()} need the same number of columns: ${a.length} and ${b.length}` },
      set.span,
    )
  const columns = a.map((column, i) => ({ ...column, type: unify(column.type, b[i]!.type) }))
  const outer = openScope(scope)
  outer.sources.push(columnsBinding(null, '', columns, () => ({ kind: 'rows', alias: '', names: [], rows: [] }), set.span))
  const asColumns = columns.map(
    (column): TypedColumn => ({
      name: column.name,
      alias: column.alias,
      expr: { kind: 'column', source: '', name: column.alias, type: column.type, span: set.span },
    }),
  )
  return {
    kind: 'set',
    ctes,
    op: set.op,
    all: set.all,
    left,
    right,
    columns,
    orderBy: set.orderBy.map((item) => {
      const column = positional(item.expr, asColumns)
      return column ? { expr: column, descending: item.descending, nulls: item.nulls ?? 'last' } : resolveOrder(session, item, outer)
    }),
    limit: set.limit && resolveLimit(session, set.limit),
    span: set.span,
  }
}

/** The right side with its columns in the order of the left; what it lacks is null. */
function byName(session: Session, left: TypedQuery, right: TypedQuery, span: Span): TypedQuery {
  const alias = session.alias('named')
  const found = outputColumns(right)
  const names = outputColumns(left).map((c) => c.name)
  const extra = found.find((c) => !names.includes(c.name))
  if (extra) throw new QueryError('invalid-query', { message: `The left side has no column '${extra.name}'` }, span)
  const columns = outputColumns(left).map(({ name, alias: own }): TypedColumn => {
    const column = found.find((c) => c.name === name)
    return {
      name,
      alias: own,
      expr: column ? { kind: 'column', source: alias, name: column.alias, type: column.type, span } : constant(null, span),
    }
  })
  return {
    kind: 'select',
    ctes: [],
    columns,
    distinct: false,
    distinctOn: [],
    from: { kind: 'derived', alias, query: right },
    where: null,
    groupBy: null,
    having: null,
    qualify: null,
    orderBy: [],
    limitBy: null,
    limit: null,
    span,
  }
}
