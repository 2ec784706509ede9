import type { Table } from 'apache-arrow'
import type { Query } from '../../language/ast/nodes.ts'
import { PlanningBudget } from '../../language/ast/planning-budget.ts'
import { print } from '../../language/ast/print.ts'
import { parseQuery } from '../../language/parser/parse.ts'
import { usualRows } from '../answers/page-limit.ts'
import { columnTypes, resultRows } from '../answers/rows.ts'
import { along, type QueryContext, type QueryKind, type QueryRun, type RowsPlan } from '../kind.ts'
import { Refusal } from '../refusals.ts'
import { groupedEvents } from './groups/grouped.ts'
import { groupsFromLists } from './groups/listed.ts'
import { limited, limitedByReader } from './limits.ts'
import { fillPlaceholders } from './placeholders.ts'
import { type SqlQuery, sqlSchema } from './schema.ts'
import { hasTotals, totalsCut } from './totals.ts'
import { limitedUnion } from './unions.ts'

export interface SqlAnswer {
  readonly columns: readonly string[]
  /** Name and type of each column, types as ClickHouse spells them. */
  readonly types: readonly (readonly [name: string, type: string])[]
  readonly results: readonly (readonly unknown[])[]
  readonly hasMore: boolean
  readonly limit: number
  readonly offset: number
  /** The statement as it was parsed. */
  readonly hogql: string
  readonly query: string
}

/** The statement of a request, without the row limits of an answer: `queryArrow` has none. */
export function sqlStatement(query: SqlQuery, env: QueryContext): Query {
  const budget = new PlanningBudget(env.checkpoint)
  return fillPlaceholders(parseQuery(query.query, budget), query, env, budget)
}

/** A statement over fewer events takes no longer. */
const fewEvents = 200_000

/** Groups of events are counted by the lists of the core; everything else is the engine's. */
function* answerOf(query: Query, env: QueryContext): QueryRun<Table> {
  function* statement(): QueryRun<Table> {
    return (yield { kind: 'statement', query, label: 'statement' }) as Table
  }
  const grouped = groupedEvents(query)
  const isGrouping = query.kind === 'select' && query.groupBy !== null
  if (grouped instanceof Refusal && !isGrouping) return yield* statement()
  const lists = () => (grouped instanceof Refusal ? grouped : groupsFromLists(query, grouped, env))
  return yield* along<Table>({ label: 'statement', leastEvents: fewEvents, lists, statement })
}

function* run(query: SqlQuery, env: QueryContext): QueryRun<SqlAnswer> {
  const statement = sqlStatement(query, env)
  const limits = env.limits ?? usualRows
  const union = limitedUnion(statement, limits)
  const { query: asked, rows, offset } = union ? { ...union, offset: 0 } : limited(statement, limits)
  const table = yield* answerOf(asked, env)
  const totals = hasTotals(statement) ? totalsCut(rows) : null
  const cut = union?.cut ?? totals?.cut ?? ((page: Table) => page.slice(0, rows))
  const groups = cut(table)
  const last = totals?.last()
  const shown = last ? groups.concat(last) : groups
  const hasMore = (union ?? totals)?.hasMore() ?? table.numRows > rows
  return {
    columns: shown.schema.fields.map((column) => column.name),
    types: columnTypes(shown),
    results: resultRows(shown, env.project.timezone),
    hasMore,
    limit: rows,
    offset,
    hogql: print(statement),
    query: query.query,
  }
}

// biome-ignore lint/correctness/useYield: a plan may yield statements; this one has none
function* rows(query: SqlQuery, env: QueryContext): QueryRun<RowsPlan> {
  const statement = sqlStatement(query, env)
  const limits = env.limits ?? usualRows
  const union = limitedUnion(statement, limits)
  if (union)
    return {
      statement: { kind: 'statement', query: union.query, label: 'statement' },
      // Rows are cut page by page.
      rows: Number.POSITIVE_INFINITY,
      limit: union.rows,
      // biome-ignore lint/correctness/useYield: no statements needed
      *show(page) {
        return union.cut(page)
      },
      hasMore: union.hasMore,
    }
  if (hasTotals(statement)) {
    const asked = limited(statement, limits)
    const totals = totalsCut(asked.rows)
    return {
      statement: { kind: 'statement', query: asked.query, label: 'statement' },
      rows: Number.POSITIVE_INFINITY,
      limit: asked.rows,
      // biome-ignore lint/correctness/useYield: no statements needed
      *show(page) {
        return totals.cut(page)
      },
      last: totals.last,
      hasMore: totals.hasMore,
    }
  }
  const asked = limitedByReader(statement, limits)
  return { statement: { kind: 'statement', query: asked.query, label: 'statement' }, rows: asked.rows }
}

const statement = { isStatement: true, schema: sqlSchema, run, rows }
export const sqlLike: QueryKind<'SqlLikeQuery', typeof sqlSchema, SqlAnswer> = { kind: 'SqlLikeQuery', ...statement }
/** The name that clients of other servers know. */
export const hogQl: QueryKind<'HogQLQuery', typeof sqlSchema, SqlAnswer> = { kind: 'HogQLQuery', ...statement }
