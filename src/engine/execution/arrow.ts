import { type RecordBatch, Table } from 'apache-arrow'
import { answerTable } from '../../queries/answers/rows.ts'
import { queryAsked } from '../../queries/asked-query.ts'
import type { AnswerWarning } from '../../queries/query-types.ts'
import { sqlStatement } from '../../queries/sql/index.ts'
import type { SqlQuery } from '../../queries/sql/schema.ts'
import { answerRows, type RowsAnswer } from './answer-rows.ts'
import { warningsAbout } from './answer-warnings.ts'
import { blamed } from './blame.ts'
import { type AnswerOptions, checkpointOf } from './checkpoint.ts'
import { driverOf } from './driver.ts'
import type { Statement, StreamOptions } from './ports.ts'
import { type QueryProject, queryContext } from './query-context.ts'
import { explainedRefusal } from './refused-call.ts'
import { checkRequest, settingsOf } from './request.ts'
import { compileFor, statementOf } from './statements.ts'

/** The rows of a query as Arrow: for a statement all its rows, for any other kind the rows of its answer. */
export async function queryArrow(query: unknown, project: QueryProject, options: AnswerOptions = {}): Promise<Table> {
  const work = await arrowOf(query, project, options)
  if ('batches' in work) {
    const batches: RecordBatch[] = []
    for await (const batch of work.batches) batches.push(noted(batch, work.warnings))
    return new Table(batches)
  }
  if ('table' in work) return noted(work.table, work.warnings)
  const table = await project.gather(work.statement, options).catch(async (error: unknown) => {
    throw await work.explained(error)
  })
  return noted(table, work.warnings)
}

/** The same batch by batch, as the engine produces them. */
export async function* queryArrowBatches(
  query: unknown,
  project: QueryProject,
  options: AnswerOptions = {},
): AsyncGenerator<RecordBatch, void, undefined> {
  yield* batchesOf(await arrowOf(query, project, options), project, options)
}

export async function* batchesOf(
  work: ArrowWork,
  project: QueryProject,
  options: AnswerOptions & StreamOptions = {},
): AsyncGenerator<RecordBatch, void, undefined> {
  const { warnings } = work
  if ('table' in work) {
    for (const batch of work.table.batches) yield noted(batch, warnings)
    return
  }
  if ('batches' in work) {
    for await (const batch of work.batches) yield noted(batch, warnings)
    return
  }
  try {
    for await (const batch of project.stream(work.statement, options)) yield noted(batch, warnings)
  } catch (error) {
    throw await work.explained(error)
  }
}

/** The metadata of a schema that holds the warnings of the answer, as JSON. */
const warningsKey = 'waymark.warnings'

function noted<T extends Table | RecordBatch>(rows: T, warnings: readonly AnswerWarning[]): T {
  if (warnings.length > 0) rows.schema.metadata.set(warningsKey, JSON.stringify(warnings))
  return rows
}

export type ArrowWork = Pick<RowsAnswer, 'warnings' | 'timezone'> &
  (
    | { readonly statement: Statement; explained(error: unknown): Promise<unknown> }
    | Pick<RowsAnswer, 'batches'>
    /** A chart. */
    | { readonly table: Table }
  )

export async function arrowOf(given: unknown, project: QueryProject, options: AnswerOptions): Promise<ArrowWork> {
  const query = queryAsked(given)
  const { kind, parsed } = checkRequest(query)
  if (!kind.isStatement) {
    const rows = await answerRows(query, project, options)
    if (rows) return rows
    const facts = await project.facts()
    const { context, complete, asked, folds } = driverOf(project, facts, options, query)
    const table = answerTable(await complete(kind.run(parsed, context)))
    const compiled = asked.map((one) => one.compiled)
    return { table, timezone: context.project.timezone, warnings: await warningsAbout(query, compiled, facts, project, folds) }
  }
  const settings = settingsOf(query)
  const facts = await project.facts()
  const context = queryContext(project, facts, settings, checkpointOf(options))
  try {
    const asked = sqlStatement(parsed as SqlQuery, context)
    const compiled = await compileFor(asked, project, context, settings)
    return {
      statement: statementOf(compiled.printed, context.project.timezone),
      timezone: context.project.timezone,
      explained: (error) => explainedRefusal(error, { compiled, request: query, statement: asked }, context, project, options),
      warnings: await warningsAbout(query, [compiled], facts, project),
    }
  } catch (error) {
    throw blamed(error, query)
  }
}
