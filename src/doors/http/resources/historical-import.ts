import { historicalImportInput, limitsOf } from '../../../service/accounts/projects/historical-imports.ts'
import type { HistoricalImport } from '../../../service/accounts/records.ts'
import { type HistoricalImportAnswer, historicalImportSchema } from '../../answers/historical-import.ts'
import { maybeTime } from '../present.ts'
import { defineRecords } from '../records.ts'
import type { ProjectVisit } from '../resource.ts'

const present = async ({ app, project }: ProjectVisit, record: HistoricalImport): Promise<HistoricalImportAnswer> => ({
  source: record.source,
  method: record.method,
  total_events: record.total_events,
  events_per_minute: record.events_per_minute,
  is_approved: record.is_approved,
  approved_by: record.approved_by,
  approved_at: maybeTime(record.approved_at),
  imported_events: record.imported_events,
  removed_events: await app.imports.removed(project),
  limits: limitsOf(record),
})

export const historicalImport = defineRecords({
  name: 'historical_import',
  summary: 'The approval of an import of past events into a project',
  path: '/api/projects/:project_id/historical_import',
  reach: 'project',
  object: 'project',
  write: 'admin',
  answer: historicalImportSchema,
  present,
  rows: ({ retrieve, update, replace }) => [
    retrieve({
      path: '',
      summary: 'Source, method, volume and speed of the import, who approved it, and the limits in force; `null` is no limit',
      handle: async ({ app, project }) => app.accounts.historicalImports.of(project.id),
    }),
    update({
      path: '',
      summary:
        'Changes the given fields. On a hosted server only the operator can approve, and another volume or speed needs a new approval',
      body: historicalImportInput.partial(),
      handle: async ({ app, by, project, body }) => app.accounts.historicalImports.update(by, project, body),
    }),
    replace({
      path: '',
      summary: 'Like PATCH, but fields that are not sent get their defaults',
      body: historicalImportInput.partial(),
      handle: async ({ app, by, project, body }) => app.accounts.historicalImports.replace(by, project, body),
    }),
  ],
})
