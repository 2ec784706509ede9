import * as z from 'zod'
import { withinJson } from '../../../limits/bounds.ts'
import { statusBody } from '../../../service/asking/asking.ts'
import { runStatusSchema } from '../../answers/query.ts'
import { failures } from '../errors.ts'
import { ask, askRows, download } from '../queries/ask.ts'
import { downloadForms, wantedDownload } from '../queries/download-forms.ts'
import { draftSql } from '../queries/draft-sql.ts'
import { inForm, wantedForm, warningHeaders } from '../queries/forms.ts'
import { queryCallerOf } from '../queries/query-caller.ts'
import { downloadRequestSchema, queryRequestSchema, readDownloadRequest, readQueryRequest } from '../queries/request.ts'
import { patienceWith } from '../queries/streamed.ts'
import { defineResource, Reply } from '../resource.ts'

const downloadsAreOff =
  'Downloads without a row limit are turned off on this server. Read the rows in parts with LIMIT and OFFSET, or create a batch export.'

const isTrue = (text: string | null) => text?.toLowerCase() === 'true'

export const query = defineResource({
  name: 'query',
  summary: 'Queries on a project',
  path: '/api/projects/:project_id/query',
  reach: 'project',
  object: 'query',
  limits: ['api', 'query'],
  rows: (row) => [
    row({
      method: 'POST',
      name: 'create',
      summary:
        'Answers a query, also as `text/csv` or `application/vnd.apache.arrow.stream`; in the background when `async` or `refresh` says so',
      scope: 'query:read',
      body: queryRequestSchema,
      answer: z.union([runStatusSchema, z.looseObject({})]),
      handle: async (visit) => {
        const { app, project, body, request, breakOff } = visit
        const asker = queryCallerOf(visit)
        const form = wantedForm(request.headers.get('accept'))
        const asked = readQueryRequest(body)
        if (form !== 'json' && !asked.refresh.includes('async')) {
          const rows = await askRows(app, project, asked, asker, { form, breakOff })
          if (rows) return new Reply(200, rows.body, rows.headers)
        }
        const outcome = await ask(app, project, asked, asker)
        if ('status' in outcome) return statusBody(outcome.status)
        if (form === 'json') return outcome.answer.body()
        const other = inForm(outcome.answer.object, form)
        return new Reply(200, other.body, other.headers)
      },
    }),
    row({
      method: 'POST',
      path: 'export',
      name: 'export',
      summary:
        'All rows of a query as a file, without the row limit of an answer: `csv`, `jsonl`, `parquet`, `arrow` or `spreadsheet` (CSV in which no text is a formula), by `format` or `Accept`',
      scope: 'query:read',
      body: downloadRequestSchema,
      handle: async (visit) => {
        const { app, project, body, request, breakOff } = visit
        if (!app.allowsDownloads()) throw failures.denied(downloadsAreOff)
        const asked = readDownloadRequest(body)
        const format = asked.format ?? wantedDownload(request.headers.get('accept'))
        const { warnings, body: bytes } = await download(app, project, asked, queryCallerOf(visit), {
          format,
          breakOff,
          patience: patienceWith(request),
        })
        const { media, extension } = downloadForms[format]
        return new Reply(200, bytes, {
          'content-type': media,
          'content-disposition': `attachment; filename="rows.${extension}"`,
          ...warningHeaders(warnings),
        })
      },
    }),
    row({
      method: 'GET',
      path: 'draft_sql',
      name: 'draft_sql',
      summary: 'A statement for a few understood phrasings of `prompt`',
      limits: ['api', 'draft'],
      queryParameters: { prompt: 'The question, up to 400 characters', current_query: 'The existing statement' },
      answer: z.object({ sql: z.string() }),
      handle: async ({ query: parameters }) => ({ sql: draftSql(parameters.get('prompt')) }),
    }),
    row({
      method: 'GET',
      path: ':id',
      name: 'retrieve',
      summary: 'Status of a background query, with its result when complete; kept for ten minutes',
      limits: ['api'],
      queryParameters: { show_progress: '`true`: with `query_progress` while it runs' },
      answer: runStatusSchema,
      handle: async ({ app, project, params, query: parameters }) => {
        const run = await app.asking.runs.poll(project.id, params.id!)
        const isAsked = isTrue(parameters.get('show_progress'))
        return statusBody(run, isAsked ? await app.asking.runs.progress(run) : null)
      },
    }),
    row({
      method: 'POST',
      path: 'upgrade',
      name: 'upgrade',
      summary: 'Converts a query to the newest version of its kind. Each kind has had one version, so it is returned unchanged',
      scope: 'query:read',
      limits: ['api'],
      body: z.object({ query: withinJson(z.record(z.string(), z.unknown()), 'body') }),
      answer: z.object({ query: z.looseObject({ kind: z.string() }) }),
      handle: async ({ body }) => {
        readQueryRequest(body)
        return { query: (body as { query: { kind: string } }).query }
      },
    }),
    row({
      method: 'POST',
      path: 'check_auth_for_async',
      name: 'check_auth_for_async',
      summary: 'Whether the caller may run queries on the project',
      scope: 'query:read',
      limits: ['api'],
      answer: z.object({ user: z.literal('ok') }),
      handle: async () => ({ user: 'ok' }),
    }),
    row({
      method: 'DELETE',
      path: ':id',
      name: 'cancel',
      summary: 'Stops a query and removes its result',
      scope: 'query:read',
      limits: ['api'],
      queryParameters: { dequeue_only: '`true`: only if it is still queued; a running query continues' },
      handle: ({ app, project, params, query: parameters }) =>
        app.asking.runs.cancel(project.id, params.id!, isTrue(parameters.get('dequeue_only'))),
    }),
  ],
})
