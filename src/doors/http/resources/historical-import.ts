import * as z from 'zod'
import { historicalImportInput, limitsOf } from '../../../service/accounts/projects/historical-imports.ts'
import type { HistoricalImport } from '../../../service/accounts/records.ts'
import { maybeTime, timeSchema } from '../present.ts'
import { defineResource } from '../resource.ts'

const amountSchema = z.int().nullable()
const historicalImportSchema = z.object({
  source: z.string(),
  method: z.string(),
  total_events: amountSchema,
  events_per_minute: amountSchema,
  is_approved: z.boolean(),
  approved_by: z.string().nullable(),
  approved_at: timeSchema.nullable(),
  imported_events: z.int(),
  limits: z.object({ total_events: amountSchema, events_per_minute: amountSchema }),
})
const present = (record: HistoricalImport): z.infer<typeof historicalImportSchema> => ({
  source: record.source,
  method: record.method,
  total_events: record.total_events,
  events_per_minute: record.events_per_minute,
  is_approved: record.is_approved,
  approved_by: record.approved_by,
  approved_at: maybeTime(record.approved_at),
  imported_events: record.imported_events,
  limits: limitsOf(record),
})

export const historicalImport = defineResource({
  name: 'historical_import',
  summary: 'What was agreed on the import of past events into a project',
  path: '/api/projects/:project_id/historical_import',
  reach: 'project',
  object: 'project',
  write: 'admin',
  rows: (row) => [
    row({
      method: 'GET',
      name: 'retrieve',
      summary: 'Source, method, volume and speed of the import, who approved it, and the limits that hold; `null` is no limit',
      answer: historicalImportSchema,
      handle: async ({ app, project }) => present(await app.accounts.historicalImports.of(project.id)),
    }),
    row({
      method: 'PATCH',
      name: 'update',
      summary:
        'Changes what is named. On a hosted server only the operator approves, and asking for another volume or speed needs approval anew',
      body: historicalImportInput.partial(),
      answer: historicalImportSchema,
      handle: async ({ app, by, project, body }) => present(await app.accounts.historicalImports.update(by, project, body)),
    }),
    row({
      method: 'PUT',
      name: 'replace',
      summary: 'The same, and what is not named goes back to its default',
      body: historicalImportInput.partial(),
      answer: historicalImportSchema,
      handle: async ({ app, by, project, body }) => present(await app.accounts.historicalImports.replace(by, project, body)),
    }),
  ],
})
