import type { Table } from 'apache-arrow'
import { alias, call, field, groupBy, isIn, literal, order, select, table } from '../../language/ast/build.ts'
import type { Expr, OrderItem, Select } from '../../language/ast/nodes.ts'
import { print } from '../../language/ast/print.ts'
import type { AnyActorSource } from '../actor-source.ts'
import { elementsOf } from '../answers/elements.ts'
import { pageLimit, usualRows } from '../answers/page-limit.ts'
import { columnTypes, columnValues, type JsonValue, shownTable, valuesAt } from '../answers/rows.ts'
import { hasAggregate, withoutAlias } from '../columns.ts'
import type { QueryContext, QueryKind, QueryRun, RowsPlan } from '../kind.ts'
import { qualified } from '../qualified.ts'
import { allOf } from '../series/series-condition.ts'
import { aliasesOf, asWritten, columnsOf, type EventColumn, foldedNames, folds, mentions, orderItems, selected } from './columns.ts'
import { eventConditions, sourceConditions, writtenConditions } from './conditions.ts'
import { type EventsQuery, eventsSchema } from './schema.ts'

export interface EventsAnswer {
  readonly columns: readonly string[]
  /** Types of the columns, as ClickHouse spells them. */
  readonly types: readonly string[]
  readonly results: readonly (readonly JsonValue[])[]
  readonly hasMore: boolean
  readonly limit: number
  readonly offset: number
  /** The query as a statement of the language. */
  readonly hogql: string
}

/** The query, and the format of its values. */
interface Plan {
  readonly columns: readonly EventColumn[]
  readonly asked: Select
  readonly written: Select
  readonly rows: number
  readonly offset: number
}

function* planOf(query: EventsQuery, env: QueryContext, sources: readonly AnyActorSource[]): QueryRun<Plan> {
  const { defaultRows, mostRows } = env.limits ?? usualRows
  const rows = Math.min(query.limit ?? defaultRows, mostRows)
  const offset = query.offset ?? 0
  const columns = columnsOf(query.select, env)
  const aliases = aliasesOf(columns)
  const own = [...(yield* eventConditions(query, env)), ...(yield* sourceConditions(query.source, env, sources))]
  const conditions = [...own.map((condition) => qualified(condition, 'events', aliases)), ...writtenConditions(query, env)]
  const { statement, ties } = statementOf(query, columns, conditions, env)
  return {
    columns,
    asked: select({
      ...statement,
      columns: selected(columns, env.project),
      orderBy: [...statement.orderBy, ...ties],
      limit: pageLimit(rows + 1, offset),
    }),
    written: select({ ...statement, columns: columns.map(asWritten), limit: pageLimit(rows, offset) }),
    rows,
    offset,
  }
}

function* cellsOfPage(page: Table, columns: readonly EventColumn[], env: QueryContext): QueryRun<((row: number) => JsonValue)[]> {
  const persons = columns.some(({ kind }) => kind === 'person') ? yield* personsOf(page, env) : new Map()
  return columns.map(cellsOf(page, persons, env))
}

function* run(query: EventsQuery, env: QueryContext, sources: readonly AnyActorSource[]): QueryRun<EventsAnswer> {
  const { columns, asked, written, rows, offset } = yield* planOf(query, env, sources)
  const answer = (yield { kind: 'statement', query: asked, label: 'events' }) as Table
  const shown = answer.slice(0, rows)
  const cells = yield* cellsOfPage(shown, columns, env)
  return {
    columns: query.select,
    types: typesOf(columns, answer),
    results: Array.from({ length: shown.numRows }, (_, row) => cells.map((cell) => cell(row))),
    hasMore: answer.numRows > rows,
    limit: rows,
    offset,
    hogql: print(written),
  }
}

function* rowsOf(query: EventsQuery, env: QueryContext, sources: readonly AnyActorSource[]): QueryRun<RowsPlan> {
  const { columns, asked, rows } = yield* planOf(query, env, sources)
  return {
    statement: { kind: 'statement', query: asked, label: 'events' },
    rows,
    *show(page) {
      const cells = yield* cellsOfPage(page, columns, env)
      let value = 0
      return shownTable(
        page.numRows,
        columns.map(({ kind }, i) => ({
          name: query.select[i]!,
          cells: kind === 'value' ? page.getChildAt(value++)! : cells[i]!,
          field: kind === 'value' ? page.schema.fields[value - 1]! : null,
        })),
      )
    },
  }
}

/** All fields except the columns, which are read in parts and shown as written. */
function statementOf(
  query: EventsQuery,
  columns: readonly EventColumn[],
  conditions: readonly Expr[],
  env: QueryContext,
): { statement: Select; ties: readonly OrderItem[] } {
  const names = foldedNames(columns)
  const isOfGroups = (condition: Expr) => hasAggregate(condition) || mentions(condition, names)
  const having = conditions.filter(isOfGroups)
  const orderBy = orderItems(query.orderBy, columns, env)
  const isFolded = having.length > 0 || columns.some(folds) || orderBy.some(({ expr }) => hasAggregate(expr))
  const keys = isFolded
    ? selected(columns, env.project)
        .filter((column) => !hasAggregate(column))
        .map(withoutAlias)
    : []
  const statement = select({
    columns: [],
    from: table('events'),
    where: allOf(...conditions.filter((condition) => !isOfGroups(condition))),
    groupBy: groupBy(...keys),
    having: having.length > 0 ? allOf(...having) : null,
    orderBy,
  })
  // Ties in the requested order are ordered too, so that pages do not overlap.
  return { statement, ties: (isFolded ? keys : [field('@log_seq')]).map((key) => order(key)) }
}

type Person = { readonly uuid: JsonValue; readonly created_at: JsonValue; readonly properties: JsonValue }
type Persons = ReadonlyMap<JsonValue, Person>

/** The persons of a page that have a record, by number. */
function* personsOf(page: Table, env: QueryContext): QueryRun<Persons> {
  const numbers = [...new Set(valuesOf(page, '@person_no', env))]
  if (numbers.length === 0) return new Map()
  const query = select({
    columns: [
      alias(field('@person_no'), 'number'),
      alias(call('toString', field('id')), 'uuid'),
      alias(field('created_at'), 'created_at'),
      alias(call('toString', field('properties')), 'properties'),
    ],
    from: table('persons'),
    where: isIn(
      field('@person_no'),
      numbers.map((number) => literal(number as number)),
    ),
  })
  const answer = (yield { kind: 'statement', query, label: 'persons of the page' }) as Table
  const [uuid, createdAt, properties] = ['uuid', 'created_at', 'properties'].map((name) => valuesOf(answer, name, env))
  return new Map(
    valuesOf(answer, 'number', env).map((number, i): [JsonValue, Person] => [
      number,
      { uuid: uuid![i]!, created_at: createdAt![i]!, properties: parsed(properties![i]!) },
    ]),
  )
}

function valuesOf(answer: Table, name: string, env: QueryContext): JsonValue[] {
  const vector = answer.getChild(name)
  return vector ? columnValues(vector, env.project.timezone) : []
}

const parsed = (json: JsonValue): JsonValue => (typeof json === 'string' && json !== '' ? (JSON.parse(json) as JsonValue) : {})

/** The values of a column, row by row. */
function cellsOf(
  page: Table,
  persons: Persons,
  env: QueryContext,
): (column: EventColumn, i: number, all: readonly EventColumn[]) => (row: number) => JsonValue {
  const part = (name: string) => valuesOf(page, name, env)
  return (column, i, all) => {
    switch (column.kind) {
      case 'value': {
        const position = all.slice(0, i).filter(({ kind }) => kind === 'value').length
        const values = valuesAt(page, position, env.project.timezone)
        return (row) => values[row]!
      }
      case 'person': {
        const [numbers, distinctIds] = [part('@person_no'), part('@distinct_id')]
        return (row) => ({ ...persons.get(numbers[row]!), distinct_id: distinctIds[row]! })
      }
      case 'name': {
        const [names, ids, distinctIds] = [part('@display_name'), part('@person_id'), part('@distinct_id')]
        return (row) => ({ display_name: names[row]!, id: ids[row]!, distinct_id: distinctIds[row]! })
      }
      case 'event':
        return eventCells(part, env)
    }
  }
}

function eventCells(part: (name: string) => JsonValue[], env: QueryContext): (row: number) => JsonValue {
  const names = ['uuid', 'event', 'timestamp', 'distinct_id', 'elements_chain', 'created_at', 'person_mode'] as const
  const values = names.map((name) => part(`@${name}`))
  const properties = part('@properties')
  const chains = part('@elements_chain')
  return (row) => {
    const chain = String(chains[row])
    return {
      ...Object.fromEntries(names.map((name, i) => [name, values[i]![row]!])),
      properties: parsed(properties[row]!),
      team_id: env.project.id,
      ...(chain ? { elements: elementsOf(chain) } : {}),
    }
  }
}

const objectTypes = {
  event: "Tuple(UUID, String, String, DateTime64(6, 'UTC'), UInt64, String, String, DateTime64(6, 'UTC'), String)",
  person: 'Tuple(String, DateTime, String, String)',
  name: 'Tuple(String, String, String)',
} as const

function typesOf(columns: readonly EventColumn[], answer: Table): string[] {
  const types = columnTypes(answer).map(([, type]) => type)
  return columns.map((column) => (column.kind === 'value' ? types.shift()! : objectTypes[column.kind]))
}

export const eventsKind = (sources: readonly AnyActorSource[]): QueryKind<'EventsQuery', typeof eventsSchema, EventsAnswer> => ({
  kind: 'EventsQuery',
  schema: eventsSchema,
  run: (query, env) => run(query, env, sources),
  rows: (query, env) => rowsOf(query, env, sources),
})
