import type { Table } from 'apache-arrow'
import type { Query } from '../../language/ast/nodes.ts'
import { PlanningBudget } from '../../language/ast/planning-budget.ts'
import type { Budget } from '../../language/plan/footprint.ts'
import { asTypeMismatch } from '../../language/plan/type-mismatch.ts'
import { walk } from '../../language/resolver/typed-walk.ts'
import { shownTypeName } from '../../language/types/types.ts'
import type { QueryContext } from '../../queries/kind.ts'
import { blamed } from './blame.ts'
import { type AnswerOptions, checkpointOf } from './checkpoint.ts'
import { type Compiled, compiling } from './compile.ts'
import { planInSlices } from './plan-in-slices.ts'
import type { Statement } from './ports.ts'
import { type QueryProject, queryContext, type StatementSettings } from './query-context.ts'

// One statement of the language on its way to the engine of a project.

/** Runs one statement and returns an Arrow table. */
export async function runStatement(query: Query, project: QueryProject, options: AnswerOptions & StatementSettings = {}): Promise<Table> {
  const context = queryContext(project, await project.facts(), options, checkpointOf(options))
  const { printed } = await compileFor(query, project, context, options)
  return project.run(statementOf(printed, context.project.timezone), { ...options, mostBytes: bytesBetween(project) })
}

/** Maximum bytes of intermediate rows of a query. */
export const bytesBetween = ({ limits: { memoryLimit } }: QueryProject) => memoryLimit && Math.floor(memoryLimit / 4)

export const compileFor = (
  query: Query,
  project: QueryProject,
  context: QueryContext,
  { showsJson }: StatementSettings = {},
): Promise<Compiled> => {
  const { dialect } = project
  const planningBudget = new PlanningBudget(context.checkpoint)
  const steps = compiling(query, { context, dialect, budget: budgetOf(project), planningBudget, showsJson })
  return planInSlices(steps, project, () => project.planned?.(planningBudget))
}

/** Half of the engine's memory limit. What a statement produces at a time is added to that. */
const budgetOf = ({ limits: { memoryLimit, threads } }: QueryProject): Budget | undefined =>
  memoryLimit === undefined || threads === undefined ? undefined : { bytes: memoryLimit / 2, threads }

export const statementOf = ({ sql, params, columns, attached }: Compiled['printed'], timezone: string): Statement => ({
  sql,
  params,
  ...(attached && { attached }),
  columns: columns.map(({ name, type }) => ({ name, type, typeName: shownTypeName(type, timezone) })),
})

export function readsTables({ planned }: Compiled): boolean {
  let found = false
  walk(planned, {
    source({ kind }) {
      found ||= kind === 'scan' || kind === 'attached'
    },
  })
  return found
}

/** The same with the current facts of the store. */
export async function statementFor(query: Query, project: QueryProject): Promise<Statement> {
  const context = queryContext(project, await project.facts())
  return statementOf((await compileFor(query, project, context)).printed, context.project.timezone)
}

/** Explains why the engine refused the statement. */
export const inWords = (error: unknown, { resolved }: Compiled, request: unknown, statement: Query): unknown => {
  const text = (request as { query?: unknown }).query
  return blamed(asTypeMismatch(error, resolved, typeof text === 'string' ? text : null), request, statement)
}
