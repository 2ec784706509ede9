import { type RecordBatch, Table } from 'apache-arrow'
import { answerTable } from '../queries/rows.ts'
import { sqlStatement } from '../queries/sql/index.ts'
import type { SqlQuery } from '../queries/sql/schema.ts'
import { answerRows, type RowsAnswer } from './answer-rows.ts'
import { blamed } from './blame.ts'
import { type AnswerOptions, checkpointOf } from './checkpoint.ts'
import { driverOf } from './driver.ts'
import type { Statement } from './ports.ts'
import { type QueryProject, queryContext } from './query-context.ts'
import { checkRequest, settingsOf } from './request.ts'
import { compileFor, inWords, statementOf } from './statements.ts'

/** The rows of a query as Arrow: of a statement all it asks for, of any other kind those of its answer. */
export async function queryArrow(query: unknown, project: QueryProject, options: AnswerOptions = {}): Promise<Table> {
  const work = await arrowOf(query, project, options)
  if ('table' in work) return work.table
  if ('statement' in work)
    return project.gather(work.statement, options).catch((error: unknown) => {
      throw work.explained(error)
    })
  const batches: RecordBatch[] = []
  for await (const batch of work.batches) batches.push(batch)
  return new Table(batches)
}

/** The same batch by batch, as the engine makes them. */
export async function* queryArrowBatches(
  query: unknown,
  project: QueryProject,
  options: AnswerOptions = {},
): AsyncGenerator<RecordBatch, void, undefined> {
  const work = await arrowOf(query, project, options)
  if ('table' in work) return yield* work.table.batches
  if ('batches' in work) return void (yield* work.batches)
  try {
    yield* project.stream(work.statement, options)
  } catch (error) {
    throw work.explained(error)
  }
}

type ArrowWork =
  | { readonly statement: Statement; explained(error: unknown): unknown }
  | Pick<RowsAnswer, 'batches'>
  /** A chart. */
  | { readonly table: Table }

async function arrowOf(query: unknown, project: QueryProject, options: AnswerOptions): Promise<ArrowWork> {
  const { kind, parsed } = checkRequest(query)
  if (!kind.isStatement) {
    const rows = await answerRows(query, project, options)
    if (rows) return rows
    const { context, complete } = driverOf(project, await project.facts(), options, query)
    return { table: answerTable(await complete(kind.run(parsed, context))) }
  }
  const settings = settingsOf(query)
  const context = queryContext(project, await project.facts(), settings, checkpointOf(options))
  try {
    const asked = sqlStatement(parsed as SqlQuery, context)
    const compiled = compileFor(asked, project, context, settings)
    return {
      statement: statementOf(compiled.printed, context.project.timezone),
      explained: (error) => inWords(error, compiled, query, asked),
    }
  } catch (error) {
    throw blamed(error, query)
  }
}
