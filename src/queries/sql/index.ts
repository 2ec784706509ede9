import type { Table } from 'apache-arrow'
import type { Query } from '../../ast/nodes.ts'
import { print } from '../../ast/print.ts'
import { parseQuery } from '../../parser/parse.ts'
import { defineQueryKind, type QueryEnv, type QueryRun, type RowsPlan } from '../kind.ts'
import { columnTypes, resultRows } from '../rows.ts'
import { limited, limitedByReader, rowLimits } from './limits.ts'
import { fillPlaceholders } from './placeholders.ts'
import { type SqlQuery, sqlSchema } from './schema.ts'

export interface SqlAnswer {
  readonly columns: readonly string[]
  /** Name and type of each column, types as ClickHouse spells them. */
  readonly types: readonly (readonly [name: string, type: string])[]
  readonly results: readonly (readonly unknown[])[]
  readonly hasMore: boolean
  readonly limit: number
  readonly offset: number
  /** The statement as it was understood. */
  readonly hogql: string
  readonly query: string
}

/** The statement that a request stands for, without limits of an answer: `queryArrow` has none. */
export const sqlStatement = (query: SqlQuery, env: QueryEnv): Query => fillPlaceholders(parseQuery(query.query), query, env)

function* run(query: SqlQuery, env: QueryEnv): QueryRun<SqlAnswer> {
  const statement = sqlStatement(query, env)
  const { query: asked, rows, offset } = limited(statement, env.limits ?? rowLimits)
  const table = (yield { kind: 'statement', query: asked, label: 'statement' }) as Table
  return {
    columns: table.schema.fields.map((column) => column.name),
    types: columnTypes(table),
    results: resultRows(table.slice(0, rows), env.project.timezone),
    hasMore: table.numRows > rows,
    limit: rows,
    offset,
    hogql: print(statement),
    query: query.query,
  }
}

// biome-ignore lint/correctness/useYield: a plan may ask statements; this one has none to ask
function* rows(query: SqlQuery, env: QueryEnv): QueryRun<RowsPlan> {
  const asked = limitedByReader(sqlStatement(query, env), env.limits ?? rowLimits)
  return { statement: { kind: 'statement', query: asked.query, label: 'statement' }, rows: asked.rows }
}

export const sqlLike = defineQueryKind({ kind: 'SqlLikeQuery', schema: sqlSchema, run, rows })
/** The name that clients of other servers know. */
export const hogQl = defineQueryKind({ kind: 'HogQLQuery', schema: sqlSchema, run, rows })
