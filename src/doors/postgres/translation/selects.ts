import type { Ending, Expr, Item, OrderItem, Query, Select, SetQuery, Values } from '../statements/nodes.ts'
import { SqlError, unsupported } from '../statements/sql-error.ts'
import { common, type TypeName } from '../types/pg-types.ts'
import { allAlike, cast, decided } from './coerce.ts'
import type { Context } from './context.ts'
import { Expressions, nameOf } from './expressions.ts'
import { inSeconds } from './operators.ts'
import { Scope } from './scope.ts'
import { bindSource } from './sources.ts'
import type { BoundQuery, Queries, Translator } from './translator.ts'
import type { Column, Typed } from './typed.ts'

// Queries. Every column of a result gets a name that no other has, so that names of the statement and names of the language never meet.

function bindQuery(query: Query, outer: Scope | null, queries: Queries, translator: Translator): BoundQuery {
  const scope = new Scope(outer, queries)
  const withs = withClause(query, scope, translator)
  const bound =
    query.kind === 'select'
      ? bindSelect(query, scope, translator)
      : query.kind === 'values'
        ? bindValues(query, scope, translator)
        : bindSet(query, scope, translator)
  return { ...bound, sql: withs + bound.sql }
}

function withClause({ with: withs, recursive }: Ending, scope: Scope, translator: Translator): string {
  if (withs.length === 0) return ''
  const parts = withs.map(({ name, columns: names, query }) => {
    const id = translator.context.fresh('x')
    const bound =
      recursive && query.kind === 'set' && query.op === 'union'
        ? bindRecursive(name, id, query, names, scope, translator)
        : bindQuery(query, scope.outer, scope.queries, translator)
    const columns = bound.columns.map((column, i) => (names[i] === undefined ? column : { ...column, name: names[i]! }))
    scope.nameQuery(name, { id, columns })
    return `${id} as (${bound.sql})`
  })
  return `with ${recursive ? 'recursive ' : ''}${parts.join(', ')} `
}

/** Its second part reads what the first, and itself, have made. */
function bindRecursive(
  name: string,
  id: string,
  query: SetQuery,
  names: readonly string[],
  scope: Scope,
  translator: Translator,
): BoundQuery {
  const first = bindQuery(query.left, scope.outer, scope.queries, translator)
  const columns = first.columns.map((column, i) => ({ ...column, name: names[i] ?? column.name, nullable: true }))
  scope.nameQuery(name, { id, columns })
  const second = bindQuery(query.right, scope.outer, scope.queries, translator)
  return { sql: `${first.sql} union ${query.all ? 'all ' : ''}${second.sql}`, columns: first.columns }
}

interface Out {
  readonly value: Typed
  readonly column: Column
}

function bindSelect(select: Select, scope: Scope, translator: Translator): BoundQuery {
  const { context } = translator
  const { from } = select
  const source = from && bindSource(from, scope, translator, from.kind === 'table')
  if (source) scope.relations.push(...source.relations)
  for (const [name] of select.windows) scope.windows.add(name)
  const out = select.items.flatMap((item) => itemsOf(item, scope, translator))
  const conditions = [source?.condition, select.where && translator.condition(select.where, scope)].filter((one) => one != null)
  const groups = groupsOf(select, out, scope, translator)
  const having = select.having && translator.condition(select.having, scope)
  const windows = select.windows.map(([name, window]) => `${name} as ${translator.window(window, scope)}`)
  const distinctOn = select.distinctOn.map((expr) => orderedBy(expr, out, scope, translator))
  const order = select.orderBy.map((item) => translator.orderItem(item, orderedBy(item.expr, out, scope, translator)))
  const list = out.map(({ value, column }) => `${value.sql} as ${column.sql}`)
  const parts = [
    `select ${select.distinct ? 'distinct ' : ''}${distinctOn.length > 0 ? `distinct on (${distinctOn.join(', ')}) ` : ''}${list.length > 0 ? list.join(', ') : `1 as ${context.fresh('c')}`}`,
    source && `from ${source.sql()}`,
    conditions.length > 0 && `where ${conditions.join(' and ')}`,
    groups && `group by ${groups}`,
    having && `having ${having}`,
    windows.length > 0 && `window ${windows.join(', ')}`,
    ...endingOf(select, order, scope, translator),
  ]
  const columns = out.map(({ column }) => column)
  return { sql: parts.filter(Boolean).join(' '), columns: isInSets(select) ? columns.map((one) => ({ ...one, nullable: true })) : columns }
}

/** Columns are NULL in the rows of lists that do not have them. */
const isInSets = ({ groupBy }: Select): boolean => groupBy.some((sets) => sets.length > 1)

const mostSets = 4096
/** Keys of all sets together, each of which is written. */
const mostKeys = 65_536

/** The keys of GROUP BY, or its grouping sets; null without it. */
function groupsOf({ groupBy, at }: Select, out: readonly Out[], scope: Scope, translator: Translator): string | null {
  if (groupBy.length === 0) return null
  if (groupBy.reduce((product, sets) => product * sets.length, 1) > mostSets)
    throw new SqlError('54001', `too many grouping sets present (maximum ${mostSets})`, { offset: at })
  const keyOf = new Map<Expr, string | null>()
  for (const expr of groupBy.flat(2)) if (!keyOf.has(expr)) keyOf.set(expr, groupOf(expr, out, scope, translator))
  const sets = groupBy.reduce<readonly (readonly Expr[])[]>(
    (all, some) => all.flatMap((set) => some.map((more) => [...set, ...more])),
    [[]],
  )
  const keys = sets.map((set) => [...new Set(set.map((expr) => keyOf.get(expr)!))].filter((key) => key !== null))
  if (keys.reduce((sum, set) => sum + set.length, 0) > mostKeys)
    throw new SqlError('54001', `grouping sets have too many keys together (maximum ${mostKeys})`, { offset: at })
  if (keys.length > 1) return `grouping sets (${keys.map((set) => `(${set.join(', ')})`).join(', ')})`
  return keys[0]!.length > 0 ? keys[0]!.join(', ') : '1 = 1'
}

function itemsOf({ expr, alias }: Item, scope: Scope, translator: Translator): Out[] {
  if (expr.kind === 'star') {
    const table = expr.table.length === 0 ? null : expr.table.at(-1)!
    return scope
      .all(table, expr.at)
      .map(({ name, sql, type, nullable, isDay, json }) =>
        outOf({ sql, type, nullable, at: expr.at, ...(isDay && { isDay }), ...(json && { json }) }, name, translator.context),
      )
  }
  return [outOf(inSeconds(translator.settled(expr, scope)), alias ?? nameOf(expr), translator.context)]
}

const outOf = (value: Typed, name: string, context: Context): Out => {
  const id = context.fresh('c')
  const { type, nullable, isDay, json } = value
  return {
    value,
    column: {
      name,
      sql: id,
      type,
      nullable,
      ...(isDay && { isDay }),
      ...(json && json.path.length === 0 && { json: { root: id, path: [] } }),
    },
  }
}

const ordinalOf = (expr: Expr, out: readonly Out[], clause: string): Out | null => {
  if (expr.kind !== 'constant' || expr.type !== 'int') return null
  const found = out[Number(expr.value) - 1]
  if (!found) throw new SqlError('42P10', `${clause} position ${expr.value} is not in select list`, { offset: expr.at })
  return found
}

/** A column of the input goes before one of the result. */
function groupOf(expr: Expr, out: readonly Out[], scope: Scope, translator: Translator): string | null {
  const ordinal = ordinalOf(expr, out, 'GROUP BY')
  const named = expr.kind === 'name' && expr.chain.length === 1 ? out.find(({ column }) => column.name === expr.chain[0]) : undefined
  const isInput = expr.kind === 'name' && scope.bareIfAny(expr.chain[0]!) !== undefined
  const value = ordinal?.value ?? (named && !isInput ? named.value : translator.settled(expr, scope))
  return isConstant(value) ? null : value.sql
}

const isConstant = ({ sql, constant }: Typed): boolean =>
  constant !== undefined || /^(?:-?\d[\d.eE]*|'(?:[^'\\]|\\.)*'|NULL|true|false)$/.test(sql)

/** A column of the result goes before one of the input. */
function orderedBy(expr: Expr, out: readonly Out[], scope: Scope, translator: Translator): string {
  const ordinal = ordinalOf(expr, out, 'ORDER BY')
  if (ordinal) return ordinal.column.sql
  if (expr.kind === 'name' && expr.chain.length === 1) {
    const named = out.find(({ column }) => column.name === expr.chain[0])
    if (named) return named.column.sql
  }
  const { sql } = translator.settled(expr, scope)
  return out.find(({ value }) => value.sql === sql)?.column.sql ?? sql
}

function endingOf({ limit, withTies, offset }: Ending, order: readonly string[], scope: Scope, translator: Translator): string[] {
  const rows = limit && rowsOf(limit, 'LIMIT', scope, translator)
  const skipped = offset && rowsOf(offset, 'OFFSET', scope, translator)
  return [
    ...(order.length > 0 ? [`order by ${order.join(', ')}`] : []),
    ...(rows !== null
      ? [`limit ${rows}${withTies ? ' with ties' : ''}`]
      : skipped !== null && skipped !== '0'
        ? [`limit ${mostRows}`]
        : []),
    ...(skipped !== null && skipped !== '0' ? [`offset ${skipped}`] : []),
  ]
}
/** OFFSET needs a LIMIT in the language. */
const mostRows = 1_000_000_000

function rowsOf(expr: Expr, clause: string, scope: Scope, translator: Translator): string | null {
  const value = decided(translator.value(expr, scope), 'int8', translator.context)
  if (value.sql === 'NULL') return translator.context.parameters.values === null && expr.kind === 'param' ? '0' : null
  if (!/^\d+$/.test(value.sql)) {
    if (value.sql.startsWith('-')) throw new SqlError('2201W', `${clause} must not be negative`, { offset: expr.at })
    throw unsupported(`${clause} that is not a number`, expr.at)
  }
  return value.sql
}

function bindValues(values: Values, scope: Scope, translator: Translator): BoundQuery {
  const rows = values.rows.map((row) => row.map((expr) => translator.value(expr, scope)))
  const width = rows[0]!.length
  const wrong = rows.findIndex((row) => row.length !== width)
  if (wrong > 0) throw new SqlError('42601', 'VALUES lists must all be the same length', { offset: values.rows[wrong]![0]!.at })
  const settled = Array.from({ length: width }, (_, i) =>
    allAlike(
      rows.map((row) => row[i]!),
      translator.context,
    ),
  )
  const columns = settled.map(
    ({ type, values: all }, i): Column => ({
      name: `column${i + 1}`,
      sql: translator.context.fresh('c'),
      type,
      nullable: all.some(({ nullable }) => nullable),
    }),
  )
  const one = (i: number) => `select ${columns.map((column, k) => `${settled[k]!.values[i]!.sql} as ${column.sql}`).join(', ')}`
  const inner = rows.map((_, i) => one(i)).join(' union all ')
  const order = orderOfResult(values.orderBy, columns, translator)
  const ending = endingOf(values, order, scope, translator)
  const sql = ending.length === 0 ? inner : `select ${columns.map(({ sql: id }) => id).join(', ')} from (${inner}) ${ending.join(' ')}`
  return { sql, columns }
}

/** ORDER BY of a set operation knows the columns of the result only. */
const orderOfResult = (items: readonly OrderItem[], columns: readonly Column[], translator: Translator): string[] =>
  items.map((item) => {
    const { expr } = item
    const named = expr.kind === 'name' && expr.chain.length === 1 ? columns.find(({ name }) => name === expr.chain[0]) : undefined
    const at = expr.kind === 'constant' && expr.type === 'int' ? columns[Number(expr.value) - 1] : named
    if (!at) throw new SqlError('0A000', 'ORDER BY of a set operation takes names and positions of its columns', { offset: expr.at })
    return translator.orderItem(item, at.sql)
  })

/** With the types of all parts; the parts get them where theirs are others. */
function bindSet(query: SetQuery, scope: Scope, translator: Translator): BoundQuery {
  const { op, all } = query
  const sides = [query.left, query.right].map((side) => bindQuery(side, scope.outer, scope.queries, translator)) as [BoundQuery, BoundQuery]
  const [left, right] = sides
  if (left.columns.length !== right.columns.length)
    throw new SqlError('42601', `each ${op.toUpperCase()} query must have the same number of columns`, { offset: query.at })
  const types = left.columns.map((column, i): TypeName => {
    const type = common(column.type, right.columns[i]!.type)
    return type === 'unknown' ? 'text' : type
  })
  const parts = sides.map((side, i) => part(side, types, translator, needsQuery([query.left, query.right][i]!, query, i === 0)))
  const columns = left.columns.map(
    ({ name, nullable }, i): Column => ({
      name,
      sql: parts[0]!.ids[i]!,
      type: types[i]!,
      nullable: nullable || right.columns[i]!.nullable,
    }),
  )
  const order = orderOfResult(query.orderBy, columns, translator)
  const body = `${parts[0]!.sql} ${op}${all ? ' all' : ''} ${parts[1]!.sql}`
  const ending = endingOf(query, order, scope, translator)
  if (ending.length === 0) return { sql: body, columns }
  const id = translator.context.fresh('t')
  const list = columns.map(({ sql }) => `${id}.${sql} as ${sql}`).join(', ')
  return { sql: `select ${list} from (${body}) as ${id} ${ending.join(' ')}`, columns }
}

const needsQuery = (side: Query, { op, all }: SetQuery, isLeft: boolean): boolean =>
  side.kind === 'set'
    ? !(isLeft && side.op === op && side.all === all && side.orderBy.length === 0 && side.limit === null && side.offset === null)
    : side.orderBy.length > 0 || side.limit !== null || side.offset !== null || side.with.length > 0

function part(
  side: BoundQuery,
  types: readonly TypeName[],
  translator: Translator,
  needs: boolean,
): { sql: string; ids: readonly string[] } {
  const isSame = side.columns.every(({ type, isDay }, i) => type === types[i] && !isDay)
  if (isSame && !needs) return { sql: side.sql, ids: side.columns.map(({ sql }) => sql) }
  const { context } = translator
  const id = context.fresh('t')
  const ids = side.columns.map(() => context.fresh('c'))
  const list = side.columns.map(({ sql, type, nullable, isDay }, i) => {
    const value: Typed = { sql: `${id}.${sql}`, type, nullable, at: 0, ...(isDay && { isDay }) }
    return `${cast(isDay ? { ...value, type: 'date' } : value, types[i]!, context).sql} as ${ids[i]}`
  })
  return { sql: `select ${list.join(', ')} from (${side.sql}) as ${id}`, ids }
}

/** A statement in the language, and the columns of its result. */
export function translate(query: Query, context: Context): BoundQuery {
  try {
    return bindQuery(query, null, new Map(), new Expressions(context, bindQuery))
  } catch (error) {
    // A chain of thousands of operators.
    throw error instanceof RangeError ? new SqlError('54001', 'the statement is too complex') : error
  }
}
