import { compileFor, type QueryProject, runStatement } from '../../src/answer.ts'
import { alias, select } from '../../src/ast/build.ts'
import type { Query } from '../../src/ast/nodes.ts'
import type { Compiled } from '../../src/compile.ts'
import { open, type Waymark } from '../../src/engine.ts'
import { parseExpr, parseQuery } from '../../src/parser/parse.ts'
import type { Project } from '../../src/project.ts'
import { columnTypes, type JsonValue, tableRows } from '../../src/queries/rows.ts'

export interface TestProject {
  readonly project: Project
  readonly waymark: Waymark
  forQueries(): Promise<QueryProject>
  compile(statement: string | Query): Promise<Compiled>
  /** All rows of a statement, as an answer shows them. */
  rows(statement: string | Query): Promise<JsonValue[][]>
  /** Type names of a statement's columns. */
  types(statement: string | Query): Promise<string[]>
  /** The value of one expression, or of a whole `select` of one value. */
  value(expression: string): Promise<JsonValue>
  /** Rows of plain SQL on the store, whose tables are in the database that `settings.id` names. */
  sql(text: string): Promise<Record<string, unknown>[]>
  close(): Promise<void>
}

export interface TestOptions {
  readonly timezone?: string
  readonly weekStartDay?: 0 | 1
  readonly now?: Date
  readonly settings?: Readonly<Record<string, unknown>>
}

/** A project with an empty store in memory. */
export async function openTestProject({ timezone = 'UTC', weekStartDay = 0, now, settings }: TestOptions = {}): Promise<TestProject> {
  const clock = () => now ?? new Date('2024-06-01T12:00:00Z')
  const waymark = await open({ dataDir: ':memory:', clock, threads: 1 })
  const project = await waymark.createProject({ name: 'Test', timezone, week_start_day: weekStartDay, ...settings })
  const ours: TestProject = {
    project,
    waymark,
    forQueries: () => project.forQueries(),
    async compile(statement) {
      const target = await project.forQueries()
      const facts = await target.facts()
      return compileFor(asQuery(statement), target, facts, target.env(facts))
    },
    rows: async (statement) => tableRows(await runStatement(asQuery(statement), await project.forQueries()), timezone),
    types: async (statement) => columnTypes(await runStatement(asQuery(statement), await project.forQueries())).map(([, type]) => type),
    async value(expression) {
      const [row] = await ours.rows(asStatement(expression))
      return row?.[0] ?? null
    },
    async sql(text) {
      const target = await project.forQueries()
      const table = await target.run({ sql: text, params: [], columns: [] }, {})
      return table.toArray().map((row) => ({ ...row }))
    },
    close: () => waymark.close(),
  }
  return ours
}

/** An expression as a statement of one value; a `select` as it is. */
export const asStatement = (expression: string): Query =>
  /^\s*(select|with)\b/i.test(expression) ? parseQuery(expression) : select({ columns: [alias(parseExpr(expression), 'value')] })

export const asQuery = (statement: string | Query): Query => (typeof statement === 'string' ? parseQuery(statement) : statement)
