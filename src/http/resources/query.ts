import { z } from 'zod'
import { freeSchema, timeSchema } from '../present.ts'
import { draftSql } from '../queries/draft-sql.ts'
import { queryFailure, queryRequestSchema, readQueryRequest } from '../queries/request.ts'
import { present } from '../queries/runs.ts'
import { defineResource, Reply } from '../resource.ts'

const statusSchema = z.looseObject({
  id: z.string(),
  team_id: z.int(),
  query_async: z.boolean(),
  complete: z.boolean(),
  error: z.boolean(),
  error_message: z.string().nullable(),
  results: freeSchema,
  start_time: timeSchema.nullable(),
  end_time: timeSchema.nullable(),
  expiration_time: timeSchema.nullable(),
  task_id: z.string().nullable(),
  labels: freeSchema,
  query_progress: freeSchema,
})

export const query = defineResource({
  name: 'query',
  summary: 'Asking a project',
  path: '/api/projects/:project_id/query',
  reach: 'project',
  object: 'query',
  limits: ['api', 'query'],
  rows: (row) => [
    row({
      method: 'POST',
      name: 'create',
      summary: 'Answers a query, or starts one in the background when `async` or `refresh` says so',
      scope: 'query:read',
      body: queryRequestSchema,
      answer: z.looseObject({}),
      handle: async ({ app, project, body, request }) => {
        const { query, refresh, client_query_id } = readQueryRequest(body)
        const work = async (signal: AbortSignal): Promise<object> => {
          try {
            return await (await app.project(project.id)).query(query, { signal, rows: app.rows() })
          } catch (error) {
            throw queryFailure(error, query.kind)
          }
        }
        if (refresh.includes('async')) {
          const status = present(await app.queries.start(project.id, client_query_id, refresh === 'force_async', work))
          return new Reply(200, { ...status, query_status: status })
        }
        return app.queries.watch(project.id, client_query_id, work, request.signal)
      },
    }),
    row({
      method: 'GET',
      path: 'draft_sql',
      name: 'draft_sql',
      summary: 'A statement for a few understood phrasings of `prompt`',
      limits: ['api', 'draft'],
      queryParameters: { prompt: 'What is asked, up to 400 characters', current_query: 'The statement that is there already' },
      answer: z.object({ sql: z.string() }),
      handle: async ({ query: parameters }) => ({ sql: draftSql(parameters.get('prompt')) }),
    }),
    row({
      method: 'GET',
      path: ':id',
      name: 'retrieve',
      summary: 'How far a query in the background is, with its answer at the end; kept for ten minutes',
      limits: ['api'],
      answer: z.object({ query_status: statusSchema }),
      handle: async ({ app, project, params }) => ({ query_status: present(await app.queries.poll(project.id, params.id!)) }),
    }),
    row({
      method: 'DELETE',
      path: ':id',
      name: 'cancel',
      summary: 'Stops a query and forgets it',
      scope: 'query:read',
      limits: ['api'],
      handle: ({ app, project, params }) => app.queries.cancel(project.id, params.id!),
    }),
  ],
})
