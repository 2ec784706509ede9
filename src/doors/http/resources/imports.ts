import type { Import } from '../../../service/accounts/records.ts'
import { importChange, importInput } from '../../../service/imports/imports.ts'
import { type ImportAnswer, importSchema } from '../../answers/historical-import.ts'
import { failures } from '../errors.ts'
import { maybeTime, presentAuthor, time } from '../present.ts'
import { defineRecords } from '../records.ts'
import { pageBounds } from '../requests/pages.ts'
import type { ProjectVisit } from '../resource.ts'

const present = async ({ app, project }: ProjectVisit, record: Import): Promise<ImportAnswer> => {
  const left = record.status === 'undoing' ? await (await app.project(project.id)).importedEvents(record.id) : null
  return {
    id: record.id,
    file: record.file,
    format: record.format,
    status: record.status as ImportAnswer['status'],
    rows: record.rows,
    unreadable: record.unreadable,
    events: record.events,
    duplicates: record.duplicates,
    events_left: left,
    removed_events: record.removed_events,
    removed_persons: record.removed_persons,
    latest_error: record.latest_error,
    created_by: await presentAuthor(app.accounts, record.created_by_id),
    created_at: time(record.created_at),
    finished_at: maybeTime(record.finished_at),
    undone_by: await presentAuthor(app.accounts, record.undone_by_id),
    undone_at: maybeTime(record.undone_at),
  }
}

const placeOf = ({ by, project }: ProjectVisit) => ({ by, project })
const idOf = ({ params }: ProjectVisit): string => {
  const { id = '' } = params
  if (!/^[0-9a-f-]{36}$/.test(id)) throw failures.notFound()
  return id
}

export const imports = defineRecords({
  name: 'imports',
  summary: 'Files of past events that were imported, and how to undo that ([import.md](import.md#undoing-an-import))',
  path: '/api/projects/:project_id/imports',
  reach: 'project',
  object: 'project',
  answer: importSchema,
  present,
  rows: ({ page, create, retrieve, update, one }) => [
    page({
      summary: 'Imports of the project, the latest first',
      handle: async ({ app, project, query }) => app.imports.list(project, pageBounds(query)),
    }),
    create({
      summary: 'Begins an import: batches that name its id as `import_id` are of it, until it has ended',
      body: importInput,
      handle: async (visit) => visit.app.imports.begin(placeOf(visit), visit.body),
    }),
    retrieve({
      summary: 'One import',
      handle: async (visit) => visit.app.imports.find(visit.project, idOf(visit)),
    }),
    update({
      summary: 'Ends an import, and says what was read',
      body: importChange,
      handle: async (visit) => visit.app.imports.finish(visit.project, idOf(visit), visit.body),
    }),
    one({
      method: 'POST',
      path: ':id/undo',
      name: 'undo',
      summary:
        'Removes the events that the import has stored, and persons that only it has made. Cannot be undone, and may be repeated. Answers `undoing` while it goes on',
      handle: async (visit) => visit.app.imports.undo(placeOf(visit), idOf(visit)),
    }),
  ],
})
