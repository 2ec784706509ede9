import { mostRecords } from '../../src/core/lists/event-lists.ts'
import { ProjectLists } from '../../src/core/lists/project-lists.ts'
import { openLocalBackend } from '../../src/engine/backend/local-backend.ts'
import { OnDemandBackend } from '../../src/engine/backend/on-demand.ts'
import { OpenLimit } from '../../src/engine/backend/open-limit.ts'
import type { Compiled } from '../../src/engine/execution/compile.ts'
import { type QueryProject, queryContext } from '../../src/engine/execution/query-context.ts'
import { compileFor, runStatement } from '../../src/engine/execution/statements.ts'
import { readFacts } from '../../src/engine/storage/duckdb/facts.ts'
import { type Instance, openInstance, projectDatabase } from '../../src/engine/storage/duckdb/instance.ts'
import { listSource } from '../../src/engine/storage/duckdb/list-source.ts'
import { statementRunner } from '../../src/engine/storage/duckdb/run.ts'
import { duckdbStores } from '../../src/engine/storage/stores.ts'
import { alias, select } from '../../src/language/ast/build.ts'
import type { Query } from '../../src/language/ast/nodes.ts'
import type { StoreFacts } from '../../src/language/catalog/store-facts.ts'
import { parseExpr, parseQuery } from '../../src/language/parser/parse.ts'
import { unscheduled } from '../../src/lib/flow/statement-scheduler.ts'
import { MemoryShare } from '../../src/lib/memory/memory-share.ts'
import { closeProject, LocalProject, type ProjectHome } from '../../src/project.ts'
import { columnTypes, type JsonValue, tableRows } from '../../src/queries/answers/rows.ts'
import type { QueryContext } from '../../src/queries/kind.ts'
import type { ProjectRecord } from '../../src/service/accounts/records.ts'
import { backendSettings } from '../../src/service/asking/backend-settings.ts'
import { createObservedQueries } from '../../src/service/asking/observed-queries.ts'

export interface TestProject extends QueryProject {
  /** Takes events and imports as for any caller. */
  readonly project: LocalProject
  readonly instance: Instance
  /** What queries know of it. */
  context(): Promise<QueryContext>
  compile(statement: string | Query): Promise<Compiled>
  /** All rows of a statement, as an answer shows them. */
  rows(statement: string | Query): Promise<JsonValue[][]>
  /** Type names of a statement's columns. */
  types(statement: string | Query): Promise<string[]>
  /** The value of one expression, or of a whole `select` of one value. */
  value(expression: string): Promise<JsonValue>
  close(): Promise<void>
}

export interface TestOptions {
  readonly id?: number
  readonly timezone?: string
  readonly weekStartDay?: 0 | 1
  readonly now?: Date
  readonly settings?: Readonly<Record<string, unknown>>
}

/** A project with an empty store in memory. */
export async function openTestProject({
  id = 1,
  timezone = 'UTC',
  weekStartDay = 0,
  now,
  settings = {},
}: TestOptions = {}): Promise<TestProject> {
  const clock = () => now ?? new Date('2024-06-01T12:00:00Z')
  const instance = await openInstance({ dataDir: ':memory:', threads: 1 })
  let known: StoreFacts | undefined
  const record = { id, name: 'Test', timezone, week_start_day: weekStartDay, settings } as unknown as ProjectRecord
  const storage = { log: {}, recovery: 'complete', isThorough: false } as const
  const onError = (error: unknown) => {
    throw error
  }
  // Without accounts there is nothing that keeps answers: tests ask past it.
  const refuse = () => onError(new Error('A test project answers statements, not requests.'))
  const admission = { claim: refuse, upkeep: () => unscheduled() }
  const stores = duckdbStores(instance, storage)
  const onRecovery = () => {}
  const backend = await openLocalBackend({ stores, admission, clock, settings: () => backendSettings(record), onError, onRecovery })
  const opens = { open: async () => backend, replace: refuse, isOutOfMemory: () => false, isLost: () => false }
  const home = {
    backends: {
      ...opens,
      ready: refuse,
      drop: refuse,
      close: refuse,
      load: refuse,
      engineBytes: refuse,
      stillOpen: [],
      mostOpen: 1,
      positionOf: () => 0,
      recentEnds: 0,
    },
    clock,
    noteFirstEvents: async () => {},
    countImported: async () => {},
    record: async () => record,
    viewerToken: async () => '',
    asking: () => ({ observed: createObservedQueries() }) as unknown as ReturnType<ProjectHome['asking']>,
    onError,
    onRecovery,
  }
  const held = new OnDemandBackend({ clock, settings: () => backendSettings(record), onError, onRecovery }, opens, new OpenLimit(1), 0)
  const project = new LocalProject(home, held, { record })
  const target = await backend.forQueries()

  const ours: TestProject = {
    ...target,
    project,
    // Tests also write past the log, which a cache by its position does not see: facts are read anew after each use of this.
    instance: whenUsed(instance, () => {
      known = undefined
    }),
    async facts() {
      await backend.forQueries()
      known = await instance.use((connection) => readFacts(connection, projectDatabase(id), known))
      return known
    },
    // Tests write past the log, so the lists are made for each query.
    fold: async (_, columns, loop) => {
      const memory = new MemoryShare(Number.POSITIVE_INFINITY)
      const source = listSource(projectDatabase(id), statementRunner(instance, unscheduled()))
      return (await new ProjectLists(memory).use(source, mostRecords, columns, loop)) !== null
    },
    context: async () => queryContext(ours, await ours.facts()),
    compile: async (statement) => compileFor(asQuery(statement), ours, await ours.context()),
    rows: async (statement) => tableRows(await runStatement(asQuery(statement), ours), timezone),
    types: async (statement) => columnTypes(await runStatement(asQuery(statement), ours)).map(([, type]) => type),
    async value(expression) {
      const [row] = await ours.rows(asStatement(expression))
      return row?.[0] ?? null
    },
    async close() {
      await project[closeProject]()
      await instance.close()
    },
  }
  return ours
}

/** Asks the store by statements only. */
export const withoutLists = (project: TestProject): TestProject => {
  const { fold: _, ...rest } = project
  return rest
}

/** The same instance, telling of every use through it. */
function whenUsed(instance: Instance, tell: () => void): Instance {
  const told =
    <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
    (...args: A) =>
      work.apply(instance, args).finally(tell)
  return Object.create(instance, {
    use: { value: told(instance.use) },
    look: { value: told(instance.look) },
    run: { value: told(instance.run) },
    transaction: { value: told(instance.transaction) },
  })
}

/** An expression as a statement of one value; a `select` as it is. */
export const asStatement = (expression: string): Query =>
  /^\s*(select|with)\b/i.test(expression) ? parseQuery(expression) : select({ columns: [alias(parseExpr(expression), 'value')] })

export const asQuery = (statement: string | Query): Query => (typeof statement === 'string' ? parseQuery(statement) : statement)
