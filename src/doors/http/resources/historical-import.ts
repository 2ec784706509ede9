import { historicalImportInput, limitsOf } from '../../../service/accounts/projects/historical-imports.ts'
import type { HistoricalImport } from '../../../service/accounts/records.ts'
import { type HistoricalImportAnswer, historicalImportSchema } from '../../answers/historical-import.ts'
import { maybeTime } from '../present.ts'
import { defineRecords } from '../records.ts'

const present = (record: HistoricalImport): HistoricalImportAnswer => ({
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

export const historicalImport = defineRecords({
  name: 'historical_import',
  summary: 'What was agreed on the import of past events into a project',
  path: '/api/projects/:project_id/historical_import',
  reach: 'project',
  object: 'project',
  write: 'admin',
  answer: historicalImportSchema,
  present: (_visit, record: HistoricalImport) => present(record),
  rows: ({ retrieve, update, replace }) => [
    retrieve({
      path: '',
      summary: 'Source, method, volume and speed of the import, who approved it, and the limits that hold; `null` is no limit',
      handle: async ({ app, project }) => app.accounts.historicalImports.of(project.id),
    }),
    update({
      path: '',
      summary:
        'Changes what is named. On a hosted server only the operator approves, and asking for another volume or speed needs approval anew',
      body: historicalImportInput.partial(),
      handle: async ({ app, by, project, body }) => app.accounts.historicalImports.update(by, project, body),
    }),
    replace({
      path: '',
      summary: 'The same, and what is not named goes back to its default',
      body: historicalImportInput.partial(),
      handle: async ({ app, by, project, body }) => app.accounts.historicalImports.replace(by, project, body),
    }),
  ],
})
