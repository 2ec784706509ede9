import { type RecordBatch, Table } from 'apache-arrow'
import { queryAsked } from '../../queries/asked-query.ts'
import type { AnswerWarning } from '../../queries/query-types.ts'
import { warningsAbout } from './answer-warnings.ts'
import type { AnswerOptions } from './checkpoint.ts'
import { driverOf } from './driver.ts'
import type { QueryProject } from './query-context.ts'
import { checkRequest } from './request.ts'

/** An answer that is a list of rows, read as the engine produces them. */
export interface RowsAnswer {
  /** Maximum number of rows, without the totals. */
  readonly limit: number
  readonly timezone: string
  readonly warnings: readonly AnswerWarning[]
  /** Batches of one schema, at least one. The return value tells whether more rows exist. */
  readonly batches: AsyncGenerator<RecordBatch, boolean, undefined>
}

const rowsOfBatch = 2048

/** The rows of the answer, with its limits, never all in memory. Null if the answer is not a list of rows. */
export async function answerRows(given: unknown, project: QueryProject, options: AnswerOptions = {}): Promise<RowsAnswer | null> {
  const query = queryAsked(given)
  const { kind, parsed } = checkRequest(query)
  if (!kind.rows) return null
  const facts = await project.facts()
  const driver = driverOf(project, facts, options, query)
  const plan = await driver.complete(kind.rows(parsed, driver.context))
  if (!plan) return null
  const { statement: asked, rows, show: shown, last, limit, hasMore } = plan
  const { compiled, statement } = await driver.statementFor(asked)
  const show = async (page: RecordBatch): Promise<readonly RecordBatch[]> =>
    shown ? (await driver.complete(shown(new Table(page.schema, [page])))).batches : [page]
  async function* batches(): AsyncGenerator<RecordBatch, boolean, undefined> {
    let left = rows
    let isFirst = true
    try {
      for await (const batch of project.stream(statement, { ...options, batchRows: rowsOfBatch })) {
        const page = batch.numRows > left ? batch.slice(0, left) : batch
        left -= page.numRows
        if (isFirst || page.numRows > 0) yield* await show(page)
        if (batch.numRows > page.numRows) return true
        isFirst = false
      }
      const behind = last?.()
      if (behind) yield* behind.batches
    } catch (error) {
      throw await driver.explained(error, compiled, asked.query)
    }
    return hasMore?.() ?? false
  }
  const warnings = await warningsAbout(query, [...driver.asked.map((one) => one.compiled), compiled], facts, project, driver.folds)
  return { limit: limit ?? rows, timezone: driver.context.project.timezone, warnings, batches: batches() }
}
