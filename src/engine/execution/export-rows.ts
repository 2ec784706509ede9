import { alias, and, call, field, inQuery, isIn, literal, not, or, order, select, table } from '../../language/ast/build.ts'
import type { Expr, Query } from '../../language/ast/nodes.ts'
import { parseExpr } from '../../language/parser/parse.ts'
import { isFloat, isInteger, isNamed, type SqlType, scalar } from '../../language/types/types.ts'
import { compileFilters } from '../../queries/filters/property-filters.ts'
import type { QueryContext } from '../../queries/kind.ts'
import type { ColumnType, ExportColumn, Field, Model, RowMeasure, RowPart, RowRange, RowSelection } from '../../service/exports/ports.ts'
import { rowsOfBatch, writeRows } from './download.ts'
import type { FileOfRows, ResultColumn, RowsFile, RunOptions, Statement, WrittenRows } from './ports.ts'
import { type QueryProject, queryContext } from './query-context.ts'
import { compileFor, runStatement, statementOf } from './statements.ts'

// The rows of an export as statements of the language, so that they mean the same as in queries and run on every engine.

const logSeq = field('@log_seq')
const personNo = field('@person_no')

const between = (expr: Expr, after: number, to: number): Expr =>
  and(call('greater', expr, literal(after)), call('lessOrEquals', expr, literal(to)))

/** Columns that no statement can name. */
const generated: Readonly<Record<string, (projectId: number) => Expr>> = {
  team_id: (projectId) => literal(projectId),
  person_version: () => field('person', '@version'),
  person_distinct_id_version: () => literal(0),
}

const exprOf = ({ expression }: Field, projectId: number): Expr => generated[expression]?.(projectId) ?? withoutAlias(parseExpr(expression))
const withoutAlias = (expr: Expr): Expr => (expr.kind === 'alias' ? expr.expr : expr)

const time = (text: string): Expr => call('toDateTime64', literal(text), literal(6), literal('UTC'))

/** Rows whose own time is in a range, of those that had arrived. */
const byTime = (own: Expr, { start, end }: Extract<RowRange, { by: 'time' }>): Expr =>
  and(...(start === null ? [] : [call('greaterOrEquals', own, time(start))]), call('less', own, time(end)))

const named = (names: readonly string[]): Expr => isIn(field('event'), names.map(literal))

const eventsWithin = ({ range, include, exclude, where, filters }: RowSelection, env: QueryContext): Expr =>
  and(
    range.by === 'arrival'
      ? between(logSeq, range.after, range.to)
      : and(call('lessOrEquals', logSeq, literal(range.to)), byTime(field('timestamp'), range)),
    ...(include.length > 0 ? [named(include)] : []),
    ...(exclude.length > 0 ? [not(named(exclude))] : []),
    ...(where === null ? [] : [parseExpr(where)]),
    ...(filters === null ? [] : [compileFilters(filters, 'event', env, 'filters')]),
  )

interface Shape {
  /** Divides the rows into parts. Null: they are a single part. */
  readonly key: Expr | null
  readonly source: Parameters<typeof select>[0]['from']
  readonly where: Expr
}

const shapes: Readonly<Record<Model, (selection: RowSelection, env: QueryContext) => Shape>> = {
  events: (selection, env) => ({ key: logSeq, source: table('events', selection.tableAlias), where: eventsWithin(selection, env) }),
  persons: ({ range }) => ({
    key: personNo,
    source: table('person_distinct_ids'),
    where:
      range.by === 'arrival'
        ? or(between(field('@added_seq'), range.after, range.to), between(field('person', '@changed_seq'), range.after, range.to))
        : byTime(field('person', '@updated_at'), range),
  }),
  sessions: ({ range }, env) => {
    const changed = select({ columns: [field('$session_id')], from: table('events'), where: eventsWithin(allEvents(range), env) })
    return { key: null, source: table('sessions'), where: inQuery(field('session_id'), changed) }
  },
}

const allEvents = (range: RowRange): RowSelection => ({
  model: 'events',
  fields: [],
  where: null,
  tableAlias: null,
  filters: null,
  include: [],
  exclude: [],
  range,
})

/** Row keys of a part that is sorted. A scan reads longer ones nearly in order, and sorting all their columns would take memory for all of them. */
const sortedKeys = 50_000

function rowsQuery(selection: RowSelection, part: RowPart | null, env: QueryContext): Query {
  const { key, source, where } = shapes[selection.model](selection, env)
  return select({
    columns: selection.fields.map((one) => alias(exprOf(one, env.project.id), one.alias)),
    from: source,
    where: key && part ? and(where, between(key, part.after, part.to)) : where,
    orderBy: key && part && part.to - part.after <= sortedKeys ? [order(key)] : [],
  })
}

async function statementFor(project: QueryProject, selection: RowSelection, part: RowPart | null): Promise<Statement> {
  const context = queryContext(project, await project.facts(), { isUtc: true })
  const { printed } = await compileFor(rowsQuery(selection, part, context), project, context)
  const statement = statementOf(printed, 'UTC')
  return { ...statement, columns: statement.columns.map((column, i) => withType(column, selection.fields[i]!)) }
}

const withType = (column: ResultColumn, { type }: Field): ResultColumn =>
  type === 'json' ? { ...column, type: scalar('JSON', true) } : column

function columnType(type: SqlType): ColumnType {
  if (isNamed(type, 'JSON')) return 'json'
  if (isNamed(type, 'UUID')) return 'uuid'
  if (isNamed(type, 'Bool')) return 'boolean'
  if (isNamed(type, 'Int128', 'Int256', 'UInt128', 'UInt256')) return 'text'
  if (isInteger(type)) return 'integer'
  if (isFloat(type) || isNamed(type, 'Decimal')) return 'float'
  if (isNamed(type, 'Date')) return 'date'
  if (isNamed(type, 'DateTime', 'DateTime64')) return 'time'
  return type.kind === 'array' || type.kind === 'tuple' || type.kind === 'map' ? 'list' : 'text'
}

export async function exportColumns(project: QueryProject, selection: RowSelection): Promise<ExportColumn[]> {
  const { columns } = await statementFor(project, selection, null)
  return columns.map(({ name, type }) => ({ name, type: columnType(type!) }))
}

export async function stageRows(
  project: QueryProject,
  selection: RowSelection,
  part: RowPart | null,
  file: RowsFile,
  { fileOf, ...options }: RunOptions & { readonly fileOf: FileOfRows },
): Promise<WrittenRows> {
  const statement = await statementFor(project, selection, part)
  if (project.writeFile) return project.writeFile(statement, file, options)
  const batches = project.stream(statement, { ...options, batchRows: rowsOfBatch })
  return writeRows(batches, { types: statement.columns, file, fileOf }, options.signal)
}

/** The values of a statement that returns one row. */
async function oneRow(project: QueryProject, query: Query, options: RunOptions = {}): Promise<(number | null)[]> {
  const answer = await runStatement(query, project, { isUtc: true, ...options })
  return Array.from({ length: answer.numCols }, (_, i) => {
    const value: unknown = answer.getChildAt(i)!.get(0)
    return value === null || value === undefined ? null : Number(value)
  })
}

export async function measureRows(project: QueryProject, selection: RowSelection, options: RunOptions = {}): Promise<RowMeasure> {
  const { key, source, where } = shapes[selection.model](selection, queryContext(project, await project.facts(), { isUtc: true }))
  const columns = [call('count'), ...(key ? [call('min', key), call('max', key)] : [])].map((expr, i) => alias(expr, `c${i}`))
  const [rows, first, last] = await oneRow(project, select({ columns, from: source, where }), options)
  return { rows: rows ?? 0, keys: rows && first !== undefined ? [first!, last!] : null }
}

/** The position of the first event after `after` that arrived at `end` or later. */
export async function firstArrival(project: QueryProject, end: Date, after: number): Promise<number | null> {
  const arrivedLater = call('greaterOrEquals', field('created_at'), time(end.toISOString()))
  const where = and(call('greater', logSeq, literal(after)), arrivedLater)
  const columns = [alias(call('min', logSeq), 'first'), alias(call('count'), 'rows')]
  const [first, rows] = await oneRow(project, select({ columns, from: table('events'), where }))
  return rows ? first! : null
}

const ownTime: Readonly<Record<Model, { readonly source: string; readonly time: Expr }>> = {
  events: { source: 'events', time: field('timestamp') },
  persons: { source: 'person_distinct_ids', time: field('person', '@updated_at') },
  sessions: { source: 'events', time: field('timestamp') },
}

export async function firstTime(project: QueryProject, model: Model): Promise<Date | null> {
  const { source, time: own } = ownTime[model]
  const columns = [alias(call('toUnixTimestamp', call('min', own)), 'first'), alias(call('count'), 'rows')]
  const [first, rows] = await oneRow(project, select({ columns, from: table(source) }))
  return rows ? new Date(first! * 1000) : null
}
