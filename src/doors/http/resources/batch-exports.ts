import * as z from 'zod'
import { check, integer } from '../../../service/accounts/fields.ts'
import type { BatchExport, BatchExportBackfill, BatchExportLog, BatchExportRun, ProjectRecord } from '../../../service/accounts/records.ts'
import { invalid } from '../../../service/accounts/refusals.ts'
import { destinations } from '../../../service/exports/destinations/registry.ts'
import { backfillInput, batchExportChange, batchExportInput, unpauseInput } from '../../../service/exports/fields.ts'
import { logLevels } from '../../../service/exports/logs.ts'
import { shownBackfillId } from '../../../service/exports/running/backfill-id.ts'
import { describedDestinations } from '../../../service/exports/settings.ts'
import { runTestStep, testSteps } from '../../../service/exports/test-steps.ts'
import {
  backfillSchema,
  destinationSchema,
  exportSchema,
  logSchema,
  runSchema,
  stepSchema,
  stepsSchema,
} from '../../answers/batch-exports.ts'
import { cursorPageSchema, pageSchema } from '../../answers/pages.ts'
import { failures } from '../errors.ts'
import { defineRecords, type RecordRows } from '../records.ts'
import { cursorPage, cursorParameters } from '../requests/cursor-pages.ts'
import { range } from '../requests/moment.ts'
import { repeatable } from '../requests/query-parameter.ts'
import type { OrganizationVisit, ProjectVisit, Resource, Row } from '../resource.ts'
import { presentBackfill, presentExport, presentExportRun, presentLog } from './batch-export-format.ts'

type ExportVisit = OrganizationVisit | ProjectVisit

/** The projects whose exports the path shows. */
const projectsOf = async (visit: ExportVisit): Promise<readonly ProjectRecord[]> => {
  if ('project' in visit) return [visit.project]
  const { app, organization, membership, caller } = visit
  const visible = await app.accounts.projects.visible(organization.id, membership)
  return visible.filter((project) => caller.limits.reachesProject(project))
}

/** A path without a project: the caller's current one. */
const projectToCreateIn = async (visit: ExportVisit): Promise<ProjectRecord> => {
  if ('project' in visit) return visit.project
  const projects = await projectsOf(visit)
  const { project } = await visit.app.accounts.users.current(visit.caller.user, visit.caller.limits)
  const found = projects.find(({ id }) => id === project?.id) ?? projects[0]
  if (!found) throw invalid('The organization has no project. Create one first.')
  return found
}

const idsOf = async (visit: ExportVisit): Promise<readonly number[]> => (await projectsOf(visit)).map(({ id }) => id)

const find = async (visit: ExportVisit): Promise<BatchExport> => {
  const found = await visit.app.exports.service.byId(await idsOf(visit), visit.params.id ?? '')
  if (!found) throw failures.notFound()
  return found
}
const findRun = async (visit: ExportVisit): Promise<[BatchExport, BatchExportRun]> => {
  const record = await find(visit)
  const found = await visit.app.exports.service.run(record, visit.params.run_id ?? '')
  if (!found) throw failures.notFound()
  return [record, found]
}
const findBackfill = async (visit: ExportVisit): Promise<[BatchExport, BatchExportBackfill]> => {
  const record = await find(visit)
  const found = await visit.app.exports.service.backfillById(record, visit.params.backfill_id ?? '')
  if (!found) throw failures.notFound()
  return [record, found]
}

const present = async ({ app }: ExportVisit, record: BatchExport) => presentExport(record, await app.exports.service.latestRuns(record))

const day = 86_400_000

const runsWanted = (visit: ExportVisit, runs: readonly BatchExportRun[]): readonly BatchExportRun[] => {
  const now = visit.app.clock().getTime()
  const ordering = visit.query.get('ordering') ?? ''
  if (ordering !== '' && !/^-?data_interval_start$/.test(ordering))
    throw failures.invalid('ordering must be data_interval_start or -data_interval_start.', 'ordering')
  const isByInterval = ordering !== ''
  const [after, before] = isByInterval ? (['start', 'end'] as const) : (['after', 'before'] as const)
  const [start, end] = range(visit, after, before)
  const [from, to] = [start?.getTime() ?? now - 7 * day, end?.getTime() ?? Number.POSITIVE_INFINITY]
  const timeOf = (run: BatchExportRun) => (isByInterval ? (run.data_interval_start ?? run.data_interval_end) : run.created_at).getTime()
  const wanted = runs.filter((run) => timeOf(run) >= from && timeOf(run) <= to)
  if (!isByInterval) return wanted
  const sign = ordering.startsWith('-') ? -1 : 1
  return [...wanted].sort((a, b) => sign * (timeOf(a) - timeOf(b)))
}

const logsWanted = (visit: ExportVisit, lines: readonly BatchExportLog[]) => {
  const [start, end] = range(visit, 'after', 'before')
  const [from, to] = [start?.getTime() ?? Number.NEGATIVE_INFINITY, end?.getTime() ?? Number.POSITIVE_INFINITY]
  const search = (visit.query.get('search') ?? '').toLowerCase()
  const levels = visit.query.getAll('level_filter').map((one) => one.toUpperCase())
  return lines
    .filter(({ timestamp }) => timestamp.getTime() >= from && timestamp.getTime() <= to)
    .filter(({ message }) => message.toLowerCase().includes(search))
    .filter(({ level }) => levels.length === 0 || levels.includes(level))
    .map(presentLog)
}
const logParameters = {
  after: 'Only lines since this time: ISO 8601, or relative (`-7d`)',
  before: 'Only lines until this time',
  search: 'Only lines that contain this text, ignoring case',
  level_filter: repeatable(`Only lines of this level: ${logLevels.join(', ')}`),
}
const stepInput = z.object({ step: integer(0) })

type ExportRows = RecordRows<'organization', BatchExport>

const destinationRows = ({ row }: ExportRows): readonly Row[] => [
  row({
    method: 'GET',
    path: 'destinations',
    name: 'destinations',
    summary: 'The kinds of destinations, each with the JSON Schema of its settings and the names of its secrets',
    answer: z.array(destinationSchema),
    handle: async () => describedDestinations(),
  }),
  row({
    method: 'GET',
    path: 'test',
    name: 'test',
    scope: 'none',
    summary: 'The checks of a kind of destination',
    queryParameters: { destination: `One of ${[...destinations.keys()].join(', ')}` },
    answer: stepsSchema,
    handle: async ({ app, query }) => {
      const type = query.get('destination') ?? ''
      if (!destinations.has(type)) throw failures.notFound()
      return { steps: testSteps(type, app.exports.outside) }
    },
  }),
  row({
    method: 'POST',
    path: 'run_test_step_new',
    name: 'run_test_step_new',
    scope: 'none', // it reaches hosts of the caller's choice
    summary: 'Runs one check with the settings of the body, before an export is created',
    body: batchExportInput.pick({ destination: true }).extend(stepInput.shape),
    answer: stepSchema,
    handle: async (visit) => runStep(visit, null),
  }),
]

/** A batch export by itself. */
const recordRows = ({ retrieve, update, replace, remove, one }: ExportRows): readonly Row[] => [
  retrieve({
    summary: 'One batch export with its ten newest runs',
    handle: find,
  }),
  update({
    summary: 'Changes a batch export. Settings of the destination that are not sent keep their values, secrets too',
    body: batchExportChange,
    handle: async (visit) => visit.app.exports.service.update(visit.by, await find(visit), visit.body),
  }),
  replace({
    summary: 'Like PATCH, with name, destination and interval required',
    body: batchExportInput,
    handle: async (visit) => visit.app.exports.service.replace(visit.by, await find(visit), visit.body),
  }),
  remove({
    summary: 'Removes a batch export, and cancels its runs and backfills',
    handle: async (visit) => visit.app.exports.service.remove(visit.by, await find(visit)),
  }),
  one({
    method: 'POST',
    path: ':id/pause',
    name: 'pause',
    summary: 'Pauses a batch export: no new runs',
    handle: async (visit) => visit.app.exports.service.pause(visit.by, await find(visit)),
  }),
  one({
    method: 'POST',
    path: ':id/unpause',
    name: 'unpause',
    summary: 'Resumes a batch export; with `backfill`, the paused time is exported too and runs that failed before it are retried',
    body: unpauseInput,
    handle: async (visit) => visit.app.exports.service.unpause(visit.by, await find(visit), visit.body),
  }),
]

const backfillRows = ({ row }: ExportRows): readonly Row[] => [
  row({
    method: 'POST',
    path: ':id/backfill',
    name: 'backfill',
    summary: 'Exports a range of time by the time of the rows themselves; null is an open end',
    body: backfillInput,
    answer: exportSchema.extend({ backfill_id: z.string() }),
    handle: async (visit) => {
      const record = await find(visit)
      const { shown_id } = await visit.app.exports.service.backfill(visit.by, record, visit.body)
      return { ...(await present(visit, record)), backfill_id: shown_id }
    },
  }),
  row({
    method: 'GET',
    path: ':id/backfills',
    name: 'backfills',
    summary: 'The backfills of a batch export, newest first',
    queryParameters: cursorParameters,
    answer: cursorPageSchema(backfillSchema),
    handle: async (visit) => {
      const all = await visit.app.exports.service.backfills(await find(visit))
      return cursorPage(all.map(presentBackfill), 50, visit)
    },
  }),
  row({
    method: 'POST',
    path: ':id/backfills',
    name: 'create_backfill',
    summary: 'Like `backfill`, but returns the backfill',
    body: backfillInput,
    status: 201,
    answer: backfillSchema,
    handle: async (visit) => presentBackfill(await visit.app.exports.service.backfill(visit.by, await find(visit), visit.body)),
  }),
  row({
    method: 'GET',
    path: ':id/backfills/:backfill_id',
    name: 'retrieve_backfill',
    summary: 'One backfill with its progress',
    answer: backfillSchema,
    handle: async (visit) => presentBackfill((await findBackfill(visit))[1]),
  }),
  row({
    method: 'POST',
    path: ':id/backfills/:backfill_id/cancel',
    name: 'cancel_backfill',
    summary: 'Cancels a backfill with its runs',
    answer: backfillSchema,
    handle: async (visit) => presentBackfill(await visit.app.exports.service.cancelBackfill(visit.by, ...(await findBackfill(visit)))),
  }),
]

const runRows = ({ row }: ExportRows): readonly Row[] => [
  row({
    method: 'GET',
    path: ':id/runs',
    name: 'runs',
    summary: 'Runs of the last seven days, newest first',
    queryParameters: {
      ...cursorParameters,
      after: 'Created since this time: ISO 8601, or relative (`-7d`)',
      before: 'Created until this time',
      ordering: '`data_interval_start` or `-data_interval_start`: then `start` and `end` choose by the interval',
      start: 'Intervals that start at this time or later',
      end: 'Intervals that start until this time',
    },
    answer: cursorPageSchema(runSchema),
    handle: async (visit) => {
      const runs = runsWanted(visit, await visit.app.exports.service.runs(await find(visit)))
      return cursorPage(runs.map(presentExportRun), 100, visit)
    },
  }),
  row({
    method: 'GET',
    path: ':id/runs/:run_id',
    name: 'retrieve_run',
    summary: 'One run',
    answer: runSchema,
    handle: async (visit) => presentExportRun((await findRun(visit))[1]),
  }),
  row({
    method: 'POST',
    path: ':id/runs/:run_id/retry',
    name: 'retry_run',
    summary: 'Repeats a run that has ended; its rows replace those that it exported',
    answer: z.object({ backfill_id: z.string(), run: runSchema }),
    handle: async (visit) => {
      const [record, run] = await findRun(visit)
      return retried(record, await visit.app.exports.service.retry(visit.by, record, run))
    },
  }),
  row({
    method: 'POST',
    path: ':id/runs/:run_id/cancel',
    name: 'cancel_run',
    summary: 'Cancels a run that has not ended',
    answer: z.object({ cancelled: z.boolean() }),
    handle: async (visit) => {
      await visit.app.exports.service.cancel(visit.by, ...(await findRun(visit)))
      return { cancelled: true }
    },
  }),
]

const logRows = ({ row }: ExportRows): readonly Row[] => [
  row({
    method: 'GET',
    path: ':id/logs',
    name: 'logs',
    summary: 'The log of a batch export, newest first',
    queryParameters: logParameters,
    answer: pageSchema(logSchema),
    isPaged: true,
    handle: async (visit) => logsWanted(visit, await visit.app.exports.service.logs(await find(visit), null)),
  }),
  row({
    method: 'GET',
    path: ':id/runs/:run_id/logs',
    name: 'run_logs',
    summary: 'The log of a run, newest first',
    queryParameters: logParameters,
    answer: pageSchema(logSchema),
    isPaged: true,
    handle: async (visit) => logsWanted(visit, await visit.app.exports.service.logs(...(await findRun(visit)))),
  }),
]

const exportResource = (name: string, path: string, reach: 'organization' | 'project', words: string): Resource =>
  defineRecords({
    name,
    summary: `Batch exports ${words}`,
    path,
    reach: reach as 'organization',
    object: 'batch_export',
    answer: exportSchema,
    present,
    rows: (make) => [
      make.list({
        summary: 'Batch exports, newest first',
        handle: async (visit) => visit.app.exports.service.list(await idsOf(visit)),
      }),
      make.create({
        summary:
          'Creates a batch export.  Its first run covers the interval that has just begun. Secrets of the destination are never returned',
        body: batchExportInput,
        handle: async (visit) => visit.app.exports.service.create(visit.by, await projectToCreateIn(visit), visit.body),
      }),
      ...destinationRows(make),
      ...recordRows(make),
      ...backfillRows(make),
      ...runRows(make),
      ...logRows(make),
      make.row({
        method: 'POST',
        path: ':id/run_test_step',
        name: 'run_test_step',
        scope: 'none', // it reaches hosts of the caller's choice
        summary: 'Runs one check with the stored settings and those of the body',
        body: batchExportChange.pick({ destination: true }).extend(stepInput.shape),
        answer: stepSchema,
        handle: async (visit) => runStep(visit, await find(visit)),
      }),
    ],
  })

const retried = (record: BatchExport, run: BatchExportRun) => ({
  backfill_id: shownBackfillId(record.id, run.data_interval_start, run.data_interval_end),
  run: presentExportRun(run),
})

const runStep = async ({ app, body }: ExportVisit, record: BatchExport | null) => {
  const { step } = check(stepInput, body)
  const { service, outside } = app.exports
  const { type, settings } = service.settingsToTest(record, body)
  const result = await runTestStep(type, settings, step, outside)
  if (!result) throw invalid(`The destination ${type} has no step ${step}.`, 'step')
  return result
}

export const organizationBatchExports = exportResource(
  'organization_batch_exports',
  '/api/organizations/:organization_id/batch_exports',
  'organization',
  'of the projects of an organization',
)
export const batchExports = exportResource('batch_exports', '/api/projects/:project_id/batch_exports', 'project', 'of a project')
