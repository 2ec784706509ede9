import type { ShownSlowQuery } from '../../../service/asking/slow-queries.ts'
import { type ExplainedQueryAnswer, explainedQuerySchema, type SlowQueryAnswer, slowQuerySchema } from '../../answers/query.ts'
import { failures } from '../errors.ts'
import { time } from '../present.ts'
import { answerTo } from '../queries/ask.ts'
import { defineRecords } from '../records.ts'
import { pageBounds } from '../requests/pages.ts'

const present = ({ project_id: _, created_at, steps, outcome, ...row }: ShownSlowQuery): SlowQueryAnswer => ({
  ...row,
  outcome: outcome as SlowQueryAnswer['outcome'],
  steps: steps as unknown as SlowQueryAnswer['steps'],
  created_at: time(created_at),
})

export const slowQueries = defineRecords({
  name: 'slow_queries',
  summary:
    'Queries that took long (`waymark serve --slow-query`, 2 seconds by default), of the last 30 days. Their values are shown to administrators and to those who asked ([operations.md](operations.md#slow-queries))',
  path: '/api/projects/:project_id/slow_queries',
  reach: 'project',
  object: 'query',
  read: 'member',
  answer: slowQuerySchema,
  present: (_, row: ShownSlowQuery) => present(row),
  rows: ({ page, row }) => [
    page({
      summary: 'The newest first',
      handle: ({ app, project, membership, query }) => app.slowQueries.list(project, membership, pageBounds(query)),
    }),
    row({
      method: 'POST',
      path: ':id/explain',
      name: 'explain',
      summary: 'Asks it again with `explain`, under the name and the limits of the caller: its plan and its SQL as they are now',
      scope: 'query:read',
      limits: ['api', 'query'],
      answer: explainedQuerySchema,
      handle: async (visit) => {
        const { app, project, membership, params } = visit
        const { query } = await app.slowQueries.find(project, membership, params.id!)
        if (query === null) throw failures.denied('Its values are not shown to you, or it was too long to be kept.')
        const answer = await answerTo(visit, { ...(query as { kind: string }), explain: true }, 'force_blocking')
        const { explain, timings } = answer as ExplainedQueryAnswer
        return { explain, timings } satisfies ExplainedQueryAnswer
      },
    }),
  ],
})
