import type { Table } from 'apache-arrow'
import { alias, field, groupBy, select } from '../../language/ast/build.ts'
import type { Expr, Select } from '../../language/ast/nodes.ts'
import { nearestSpellings } from '../../lib/text/spelling.ts'
import { type ActorOptions, type AnyActorSource, type Asking, checkSource, insideSource } from '../actor-source.ts'
import { pageLimit, usualRows } from '../answers/page-limit.ts'
import { type JsonValue, shownTable, valuesAt } from '../answers/rows.ts'
import { hasAggregate } from '../columns.ts'
import { compileFilters } from '../filters/property-filters.ts'
import type { QueryContext, QueryKind, RowsPlan } from '../kind.ts'
import { allOf } from '../series/series-condition.ts'
import { type ActorColumn, actorId, columnsOf, isFolded, nameOf, orderItems, searchCondition } from './columns.ts'
import { type ActorKey, type ActorObject, groupObjects, personObjects } from './objects.ts'
import { type ActorsQuery, actorsSchema, type OptionsQuery, optionsSchema } from './schema.ts'
import { type ActorTable, tableOf } from './source.ts'

export interface ActorsResponse {
  readonly results: readonly (readonly JsonValue[])[]
  readonly columns: readonly string[]
  readonly types: readonly string[]
  readonly hasMore: boolean
  readonly limit: number
  readonly offset: number
  /** Actors of the source that have no record. */
  readonly missing_actors_count: number
}

const personColumns = ['person', 'id', 'created_at', 'person.$delete']
/** What somebody sees who sees some properties of persons only. */
const viewerColumns = ['person', 'id']

export const actorsKind = (sources: readonly AnyActorSource[]): QueryKind<'ActorsQuery', typeof actorsSchema, ActorsResponse> => ({
  kind: 'ActorsQuery',
  schema: actorsSchema,
  run: (query, env) => runActors(query, env, sources),
  rows: (query, env) => rowsOf(query, env, sources),
})

export const actorOptionsKind = (
  sources: readonly AnyActorSource[],
): QueryKind<'InsightActorsQueryOptions', typeof optionsSchema, ActorOptions> => ({
  kind: 'InsightActorsQueryOptions',
  schema: optionsSchema,
  run: (query, env) => runOptions(query, env, sources),
})

function* runOptions(query: OptionsQuery, env: QueryContext, sources: readonly AnyActorSource[]): Asking<ActorOptions> {
  const { known, point } = checkSource(query.source, sources)
  return known.options ? yield* insideSource(env, (inner) => known.options!(point, inner)) : {}
}

interface Plan {
  readonly source: ActorTable
  readonly texts: readonly string[]
  readonly columns: readonly ActorColumn[]
  readonly asked: Select
  readonly rows: number
  readonly offset: number
}

function* planOf(query: ActorsQuery, env: QueryContext, sources: readonly AnyActorSource[]): Asking<Plan> {
  const source = yield* tableOf(query.source, sources, readsOf(query), env)
  const labels = query.select ?? (env.viewer ? viewerColumns : source.group === null ? personColumns : ['group'])
  const columns = columnsOf(labels, source, env)
  const { defaultRows, mostRows } = env.limits ?? usualRows
  const rows = Math.min(query.limit ?? defaultRows, mostRows)
  const offset = query.offset ?? 0
  return {
    source,
    texts: labels,
    columns,
    asked: pageOf(query, source, columns, rows, offset, env),
    rows,
    offset,
  }
}

/** Texts that are searched for the names of columns. */
const mostSearched = 10_000

/** Whether the texts of a query may read a column of its source. One that they almost name is there too, to be suggested. */
function readsOf({ select: columns, orderBy, properties, fixedProperties }: ActorsQuery): (column: string) => boolean {
  const texts = JSON.stringify([columns, orderBy, properties, fixedProperties])
  if (texts.length > mostSearched) return () => true
  const words = [...new Set(texts.match(/\w+/g))]
  return (column) => texts.includes(column) || words.some((word) => nearestSpellings(word, [column]).length > 0)
}

/** The cells of each column, row by row, and how many actors of the page have no record. */
function* cellsOfPage(
  page: Table,
  { columns, source }: Plan,
  env: QueryContext,
): Asking<{ cells: ((row: number) => JsonValue)[]; missing: number }> {
  const valuesOf = (name: string): JsonValue[] => {
    const position = page.schema.fields.findIndex((field) => field.name === name)
    return position < 0 ? [] : valuesAt(page, position, env.project.timezone)
  }
  const keys = valuesOf('actor_key') as ActorKey[]
  const ids = valuesOf('actor_id')
  const needsObjects = columns.some((column) => column.kind === 'actor')
  const objects = needsObjects && !env.viewer ? yield* objectsOf(keys, source, env) : new Map<ActorKey, ActorObject>()
  const seen = [...(env.viewer?.personProperties ?? [])].map((name, i) => [name, needsObjects ? valuesOf(seenName(i)) : []] as const)
  const names = valuesOf('display_name')
  const cells = columns.map((column, i): ((row: number) => JsonValue) => {
    if (column.kind === 'value') {
      const values = valuesOf(valueName(i))
      return (row) => values[row]!
    }
    if (column.kind === 'constant') return () => column.value
    if (column.kind === 'display') return (row) => ({ display_name: names[row]!, id: ids[row]! })
    if (env.viewer) return (row) => ({ id: ids[row]!, properties: Object.fromEntries(seen.map(([name, values]) => [name, values[row]!])) })
    return (row) => objects.get(keys[row]!) ?? withoutRecord(ids[row]!, source)
  })
  return { cells, missing: needsObjects && !env.viewer ? keys.filter((key) => !objects.has(key)).length : 0 }
}

function* runActors(query: ActorsQuery, env: QueryContext, sources: readonly AnyActorSource[]): Asking<ActorsResponse> {
  const plan = yield* planOf(query, env, sources)
  const { columns, texts, asked, rows, offset } = plan
  const [answer] = (yield [{ kind: 'statement', query: asked, label: 'page of actors' }]) as readonly [Table]
  const page = answer.slice(0, rows)
  const { cells, missing } = yield* cellsOfPage(page, plan, env)
  return {
    results: Array.from({ length: page.numRows }, (_, row) => cells.map((cell) => cell(row))),
    columns: texts,
    types: columns.map((column, i) => typeOf(column, answer, i)),
    hasMore: answer.numRows > rows,
    limit: rows,
    offset,
    missing_actors_count: missing,
  }
}

function* rowsOf(query: ActorsQuery, env: QueryContext, sources: readonly AnyActorSource[]): Asking<RowsPlan> {
  const plan = yield* planOf(query, env, sources)
  return {
    statement: { kind: 'statement', query: plan.asked, label: 'page of actors' },
    rows: plan.rows,
    *show(page) {
      const { cells } = yield* cellsOfPage(page, plan, env)
      return shownTable(
        page.numRows,
        plan.texts.map((name, i) => {
          const isValue = plan.columns[i]!.kind === 'value'
          return {
            name,
            cells: isValue ? page.getChild(valueName(i))! : cells[i]!,
            field: isValue ? page.schema.fields.find((one) => one.name === valueName(i))! : null,
          }
        }),
      )
    },
  }
}

const valueName = (i: number): string => `column_${i}`
/** Of a property of the person that the viewer may read. */
const seenName = (i: number): string => `seen_${i}`
const withoutRecord = (id: JsonValue, { group }: ActorTable): ActorObject => (group === null ? { id } : { id, group_type_index: group })

const objectsOf = (keys: readonly ActorKey[], { group }: ActorTable, env: QueryContext) =>
  group === null ? personObjects(keys.map(Number), env) : groupObjects(keys.map(String), group, env)

function typeOf(column: ActorColumn, answer: Table, i: number): string {
  if (column.kind === 'value') return answer.schema.fields.find((f) => f.name === valueName(i))?.metadata.get('waymark.type') ?? 'String'
  return column.kind === 'constant' ? 'UInt8' : 'Tuple(String, String)'
}

function pageOf(query: ActorsQuery, source: ActorTable, columns: readonly ActorColumn[], rows: number, offset: number, env: QueryContext) {
  const scope = source.group === null ? 'person' : 'group'
  const conditions = (['properties', 'fixedProperties'] as const).flatMap((name) =>
    query[name] ? [compileFilters(query[name], scope, env, name)] : [],
  )
  if (query.search) conditions.push(searchCondition(query.search.trim(), source, env))
  const where = allOf(...conditions.filter((condition) => !hasAggregate(condition)))
  const having = conditions.filter(hasAggregate)
  const orderBy = orderItems(query.orderBy, columns, source, env)
  const isAggregated = having.length > 0 || isFolded(columns) || orderBy.some(({ expr }) => hasAggregate(expr))
  const needsActor = !isAggregated || columns.some((column) => column.kind === 'actor' || column.kind === 'display')
  // Expressions can read what is hidden, and numbers of persons tell a viewer how many others there are.
  const keys: Expr[] = env.viewer ? [] : [alias(source.actor, 'actor_key')]
  const hidden: Expr[] = needsActor ? [...keys, alias(actorId(source), 'actor_id')] : []
  if (columns.some((column) => column.kind === 'display')) hidden.push(alias(nameOf(source, env), 'display_name'))
  if (env.viewer && source.group === null && columns.some((column) => column.kind === 'actor'))
    hidden.push(...[...env.viewer.personProperties].map((name, i) => alias(field('persons', 'properties', name), seenName(i))))
  const values = columns.flatMap((column, i) => (column.kind === 'value' ? [alias(bare(column.expr), valueName(i))] : []))

  const groupedBy = isAggregated
    ? [...hidden, ...values].filter((column) => !hasAggregate(column)).map((column) => (column.kind === 'alias' ? column.expr : column))
    : []
  return select({
    columns: [...hidden, ...values],
    from: source.from,
    where: isTrue(where) ? null : where,
    groupBy: groupBy(...groupedBy),
    having: having.length > 0 ? allOf(...having) : null,
    orderBy,
    limit: pageLimit(rows + 1, offset),
  })
}

const bare = (expr: Expr): Expr => (expr.kind === 'alias' ? expr.expr : expr)
const isTrue = (expr: Expr): boolean => expr.kind === 'literal' && expr.value === true
