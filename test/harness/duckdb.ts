import { type QueryProject, runStatement } from '../../src/answer.ts'
import { alias, select } from '../../src/ast/build.ts'
import type { Query } from '../../src/ast/nodes.ts'
import { parseExpr, parseQuery } from '../../src/parser/parse.ts'
import type { ProjectSettings, QueryEnv } from '../../src/queries/kind.ts'
import { type JsonValue, tableRows } from '../../src/queries/rows.ts'
import { typeKey } from '../../src/storage/duckdb/arrow.ts'
import { propertyKey, readFacts } from '../../src/storage/duckdb/facts.ts'
import { type Instance, openInstance, projectDatabase } from '../../src/storage/duckdb/instance.ts'
import { statementRunner } from '../../src/storage/duckdb/run.ts'

export interface TestProject extends QueryProject {
  readonly instance: Instance
  /** All rows of a statement, as an answer shows them. */
  rows(statement: string | Query): Promise<JsonValue[][]>
  /** Type names of a statement's columns. */
  types(statement: string | Query): Promise<string[]>
  /** The value of one expression, or of a whole `select` of one value. */
  value(expression: string): Promise<JsonValue>
  close(): Promise<void>
}

export interface TestOptions {
  readonly timezone?: string
  readonly weekStartDay?: 0 | 1
  readonly now?: Date
}

/** A project with an empty store in memory. */
export async function openTestProject(options: TestOptions = {}): Promise<TestProject> {
  const instance = await openInstance({ dataDir: ':memory:', threads: 1 })
  const id = 1
  await instance.attachProject(id)
  const settings: ProjectSettings = {
    id,
    timezone: options.timezone ?? 'UTC',
    weekStartDay: options.weekStartDay ?? 0,
    testAccountFilters: [],
    personDisplayNameProperties: [],
    pathCleaningFilters: [],
  }
  const project: TestProject = {
    instance,
    settings,
    facts: () => instance.use((connection) => readFacts(connection, projectDatabase(id))),
    env: (facts): QueryEnv => ({
      now: options.now ?? new Date('2024-06-01T12:00:00Z'),
      project: settings,
      action: () => undefined,
      cohort: (which) =>
        typeof which === 'number' && facts.cohorts.has(which) ? { id: which, name: String(which), isStatic: true } : undefined,
      propertyType: (scope, name) => facts.propertyKeys.get(propertyKey(scope, name))?.type ?? null,
      groupTypes: facts.groupTypes,
    }),
    ...statementRunner(instance),
    async rows(statement) {
      return tableRows(await runStatement(asQuery(statement), project), settings.timezone)
    },
    async types(statement) {
      const table = await runStatement(asQuery(statement), project)
      return table.schema.fields.map((field) => field.metadata.get(typeKey)!)
    },
    async value(expression) {
      const query = /^\s*(select|with)\b/i.test(expression)
        ? parseQuery(expression)
        : select({ columns: [alias(parseExpr(expression), 'value')] })
      const [row] = await project.rows(query)
      return row?.[0] ?? null
    },
    close: () => instance.close(),
  }
  return project
}

/** An expression as a statement of one value; a `select` as it is. */
export const asStatement = (expression: string): Query =>
  /^\s*(select|with)\b/i.test(expression) ? parseQuery(expression) : select({ columns: [alias(parseExpr(expression), 'value')] })

export const asQuery = (statement: string | Query) => (typeof statement === 'string' ? parseQuery(statement) : statement)
