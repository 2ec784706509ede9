import { nearestSpellings } from '../../../lib/text/spelling.ts'
import type { Expr, Join, Source } from '../statements/nodes.ts'
import { SqlError, unsupported } from '../statements/sql-error.ts'
import { isDay, isWhole, type TypeName } from '../types/pg-types.ts'
import { decided, instant } from './coerce.ts'
import type { Scope } from './scope.ts'
import type { ProjectTable } from './tables.ts'
import type { Translator } from './translator.ts'
import type { Column, Relation, Typed } from './typed.ts'

// What FROM reads. The text of a table is written when it is known which of its columns are used.

export interface BoundSource {
  sql(): string
  /** What WHERE has to ask besides. */
  readonly condition: string | null
  readonly relations: readonly Relation[]
}

const relationOf = (name: string, columns: readonly Column[], isTable = false): Relation => ({
  name,
  isTable,
  columns,
  used: new Set(),
  merged: new Set(),
})

const renamed = (columns: readonly Column[], names: readonly string[]): Column[] =>
  columns.map((column, i) => (names[i] === undefined ? column : { ...column, name: names[i]! }))

const unknownTable = (name: string, { context }: Translator, at: number): SqlError => {
  const [likely] = nearestSpellings(name, context.tables.keys(), 1)
  return new SqlError('42P01', `relation "${name}" does not exist`, {
    offset: at,
    hint: likely === undefined ? 'The tables are listed in information_schema.tables.' : `Perhaps you meant the table "${likely}".`,
  })
}

/** The alone table of a SELECT is read directly; a part of a table among others is a query. */
export function bindSource(source: Source, scope: Scope, translator: Translator, isAlone: boolean): BoundSource {
  switch (source.kind) {
    case 'table':
      return bindTable(source, scope, translator, isAlone)
    case 'query': {
      const bound = translator.bind(source.query, source.lateral ? scope : scope.outer, scope.queries)
      const id = translator.context.fresh('t')
      const columns = renamed(bound.columns, source.columns).map((column) => ({ ...column, sql: `${id}.${column.sql}` }))
      return {
        sql: () => `${source.lateral ? 'lateral ' : ''}(${bound.sql}) as ${id}`,
        condition: null,
        relations: [relationOf(source.alias ?? id, columns)],
      }
    }
    case 'function':
      return bindFunction(source, scope, translator)
    case 'join':
      return bindJoin(source, scope, translator)
  }
}

function bindTable(
  { chain, alias, columns: names, at }: Extract<Source, { kind: 'table' }>,
  scope: Scope,
  translator: Translator,
  isAlone: boolean,
): BoundSource {
  const { context } = translator
  const name = chain.at(-1)!
  const id = context.fresh('t')
  const query = chain.length === 1 ? scope.queries.get(name) : undefined
  if (query) {
    const columns = renamed(query.columns, names).map((column) => ({ ...column, sql: `${id}.${column.sql}` }))
    return { sql: () => `${query.id} as ${id}`, condition: null, relations: [relationOf(alias ?? name, columns)] }
  }
  const schema = chain.at(-2)
  if (schema !== undefined && schema !== 'public') throw new SqlError('3F000', `schema "${schema}" does not exist`, { offset: at })
  const table = context.tables.get(name)
  if (!table) throw unknownTable(name, translator, at)
  return table.condition && !isAlone ? partOfTable(table, alias ?? name, names, id) : wholeTable(table, alias ?? name, names, id)
}

const columnOf = (table: ProjectTable, i: number, id: string): Column => {
  const { name, type, nullable, sql, isJson } = table.columns[i]!
  return { name, type, nullable, sql: sql(id), ...(isJson && { json: { root: sql(id), path: [] } }) }
}

function wholeTable(table: ProjectTable, alias: string, names: readonly string[], id: string): BoundSource {
  const columns = renamed(
    table.columns.map((_, i) => columnOf(table, i, id)),
    names,
  )
  return { sql: () => `${table.source} as ${id}`, condition: table.condition?.(id) ?? null, relations: [relationOf(alias, columns, true)] }
}

/** A query over the columns that are used. */
function partOfTable(table: ProjectTable, alias: string, names: readonly string[], id: string): BoundSource {
  const inner = `${id}i`
  const columns = renamed(
    table.columns.map((column, i): Column => {
      const { json: _, ...known } = columnOf(table, i, id)
      const sql = `${id}.c${i}`
      return { ...known, sql, ...(column.isJson && { json: { root: sql, path: [] } }) }
    }),
    names,
  )
  const relation = relationOf(alias, columns, true)
  const sql = () => {
    const used = columns.flatMap((column, i) => (relation.used.has(column) ? [`${table.columns[i]!.sql(inner)} as c${i}`] : []))
    return `(select ${used.length > 0 ? used.join(', ') : '1 as c'} from ${table.source} as ${inner} where ${table.condition!(inner)}) as ${id}`
  }
  return { sql, condition: null, relations: [relation] }
}

const mostOfSeries = 1_000_000

function bindFunction(source: Extract<Source, { kind: 'function' }>, scope: Scope, translator: Translator): BoundSource {
  const { call, alias, columns: names, at } = source
  if (call.name !== 'generate_series' && call.name !== 'generateseries') throw unsupported(`the function ${call.name} in FROM`, at)
  const { context } = translator
  const args = call.args.map((arg) => translator.value(arg, scope))
  if (args.length < 2 || args.length > 3) throw new SqlError('42883', 'generate_series takes two or three arguments', { offset: at })
  const id = context.fresh('t')
  const name = alias ?? 'generate_series'
  const made =
    args[2]?.type === 'interval' || args[2]?.span || args.some(({ type }) => isDay(type))
      ? ofTimes(args, at, translator)
      : ofNumbers(args, translator)
  const column: Column = { name: names[0] ?? name, sql: `${id}.c1`, type: made.type, nullable: false }
  return { sql: () => `(${made.sql}) as ${id}`, condition: null, relations: [relationOf(name, [column])] }
}

function ofNumbers(args: readonly Typed[], { context }: Translator): { sql: string; type: TypeName } {
  const [from, to, by] = args.map((arg) => decided(arg, 'int4', context)) as [Typed, Typed, Typed?]
  const wrong = [from, to, ...(by ? [by] : [])].find(({ type }) => !isWhole(type))
  if (wrong) throw unsupported('generate_series of these values', wrong.at)
  return { sql: `select s.number as c1 from generateSeries(${from.sql}, ${to.sql}, ${by?.sql ?? '1'}) as s`, type: from.type }
}

const unitNames = { months: 'Month', days: 'Day', micros: 'Second' } as const

function ofTimes(args: readonly Typed[], at: number, { context }: Translator): { sql: string; type: TypeName } {
  const [from, to] = args.slice(0, 2).map((arg) => decided(arg, 'timestamptz', context)) as [Typed, Typed]
  const span = decided(args[2]!, 'interval', context).span
  const used = span ? (['months', 'days', 'micros'] as const).filter((unit) => span[unit] !== 0) : []
  if (!span || used.length !== 1) throw unsupported('generate_series by this interval', at)
  const [unit] = used as [keyof typeof unitNames]
  const by = unit === 'micros' ? span.micros / 1_000_000 : span[unit]
  if (!(by > 0) || !Number.isInteger(by)) throw unsupported('generate_series by this interval', at)
  const [first, last] = [instant(from, context), instant(to, context)]
  // Where both ends are known, no more steps are made than there are.
  const seconds = { months: 2_419_200, days: 82_800, micros: 1 }[unit] * by
  const steps =
    from.micros === undefined || to.micros === undefined ? 10_000 : Math.floor((to.micros - from.micros) / 1_000_000 / seconds) + 1
  if (steps > mostOfSeries) throw new SqlError('54000', `generate_series may have at most ${mostOfSeries} times`, { offset: at })
  const step = `${first} + toInterval${unitNames[unit]}(s.number * ${by})`
  const sql = `select ${step} as c1 from numbers(${Math.max(0, steps)}) as s where ${step} <= ${last}`
  return { sql, type: from.type === 'timestamp' ? 'timestamp' : 'timestamptz' }
}

const asNullable = (relation: Relation): void => {
  const columns = relation.columns as Column[]
  for (const [i, column] of columns.entries()) columns[i] = { ...column, nullable: true }
}

function bindJoin(join: Join, scope: Scope, translator: Translator): BoundSource {
  const { type, at } = join
  const left = bindSource(join.left, scope, translator, false)
  if (join.right.kind === 'query' && join.right.lateral) scope.relations.push(...left.relations)
  const right = bindSource(join.right, scope, translator, false)
  if (join.right.kind === 'query' && join.right.lateral) scope.relations.splice(0, scope.relations.length)
  if (type === 'left' || type === 'full') for (const relation of right.relations) asNullable(relation)
  if (type === 'right' || type === 'full') for (const relation of left.relations) asNullable(relation)
  const relations = [...left.relations, ...right.relations]
  const names = join.natural ? sharedNames(left, right) : join.using
  const on = joinCondition(join, { left, right, names, relations }, scope, translator)
  const word = type === 'cross' ? 'cross' : type
  if (type !== 'cross' && on === null) throw unsupported('a join without a condition', at)
  return { sql: () => `${left.sql()} ${word} join ${right.sql()}${on === null ? '' : ` on ${on}`}`, condition: null, relations }
}

const sharedNames = (left: BoundSource, right: BoundSource): string[] => {
  const names = new Set(right.relations.flatMap(({ columns }) => columns.map(({ name }) => name)))
  return [...new Set(left.relations.flatMap(({ columns }) => columns.map(({ name }) => name)))].filter((name) => names.has(name))
}

interface Sides {
  readonly left: BoundSource
  readonly right: BoundSource
  readonly names: readonly string[] | null
  readonly relations: readonly Relation[]
}

function joinCondition(join: Join, { left, right, names, relations }: Sides, scope: Scope, translator: Translator): string | null {
  if (names) {
    const conditions = names.map((name): Expr => {
      const [a, b] = [left, right].map((side) => side.relations.find(({ columns }) => columns.some((column) => column.name === name)))
      if (!a || !b) throw new SqlError('42703', `column "${name}" specified in USING clause does not exist`, { offset: join.at })
      // The column of the side that always has a value is shown.
      const chain = (relation: Relation): Expr => ({ kind: 'name', at: join.at, chain: [relation.name, name] })
      return { kind: 'binary', at: join.at, op: '=', left: chain(a), right: chain(b) }
    })
    const all = conditions.reduce<Expr | null>((a, b) => (a ? { kind: 'binary', at: join.at, op: 'and', left: a, right: b } : b), null)
    const sql = all && translator.condition(all, withRelations(scope, relations))
    for (const relation of join.type === 'right' ? left.relations : right.relations) for (const name of names) relation.merged.add(name)
    return sql
  }
  return join.on && translator.condition(join.on, withRelations(scope, relations))
}

/** The scope while a join is read: of its own tables, and those outside. */
function withRelations(scope: Scope, relations: readonly Relation[]): Scope {
  const inner = Object.create(scope) as Scope
  Object.defineProperty(inner, 'relations', { value: relations })
  return inner
}
