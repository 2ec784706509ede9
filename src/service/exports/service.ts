import { WaymarkError } from '../../errors/errors.ts'
import { pick } from '../../lib/pick.ts'
import { type ActingMember, writeAs } from '../accounts/acting-member.ts'
import { type AccountContext, changesOf, log } from '../accounts/context.ts'
import { check } from '../accounts/fields.ts'
import { hasFeature } from '../accounts/organizations/features.ts'
import { viewsOf } from '../accounts/projects/project-fields.ts'
import type { AccountTables, BatchExport, BatchExportRun, ProjectRecord } from '../accounts/records.ts'
import { invalid, notAllowed } from '../accounts/refusals.ts'

import { readExportQuery } from './export-query.ts'
import { type BatchExportChange, batchExportChange, batchExportInput, queryField, queryOf, unpauseInput } from './fields.ts'
import { addLog } from './logs.ts'
import type { ExportServices } from './parts.ts'
import { activeStates, asJson, cutOf, intervalOf, scheduleLane } from './records.ts'
import { asItIs, backfillWrites, endRuns, note, retryRun, runWrites } from './run-rules.ts'
import { floorOf, type Interval } from './running/schedule.ts'
import { changedSettings, mustBeReachable, mustBeValid, readSettings, seal, tidied, unseal } from './settings.ts'

const mustBeAllowed = async (tables: AccountTables, organizationId: string, interval: string | undefined) => {
  if (interval !== 'every 5 minutes') return
  const organization = await tables.organizations.first({ id: organizationId })
  if (!organization || !hasFeature(organization, 'high_frequency_batch_exports'))
    throw notAllowed('Higher frequency batch exports are not enabled for this team.')
}

const schemaFrom = async (context: AccountContext, given: BatchExportChange, model: string, projectId: number) => {
  const text = queryOf(given) ?? null
  if (text === null) return null
  if (model !== 'events') throw invalid(`A query is only supported for the model events, not for ${model}.`, queryField(given))
  const project = await context.store.read.projects.first({ id: projectId })
  try {
    const query = readExportQuery(text, projectId, context.clock(), viewsOf(project?.settings ?? {}))
    return { ...query.shown, hogql_query: query.text, sql_like_query: query.text }
  } catch (error) {
    throw error instanceof WaymarkError ? invalid(error.detail, queryField(given)) : error
  }
}

const inOrder = (start: Date | null, end: Date | null) => {
  if (start && end && start >= end) throw invalid("'start_at' must be before 'end_at'.", 'start_at')
}

const startFrom = (context: AccountContext, interval: Interval, after: number) => ({
  cut_at: new Date(floorOf(interval, context.clock().getTime())),
  cut_position: asJson({ position: after, isFinal: false }),
})

const activeRuns = async (tables: AccountTables, id: string) => tables.batch_export_runs.find({ batch_export_id: id, status: activeStates })

const change = async (
  { context, box, network, wake }: ExportServices,
  by: ActingMember,
  record: BatchExport,
  given: BatchExportChange,
): Promise<BatchExport> => {
  const updated = await writeAs(context, by, async (tables) => {
    const before = await asItIs(tables, record.id)
    await mustBeAllowed(tables, before.organization_id, given.interval)
    const { destination, sql_like_query: _, hogql_query: __, interval, paused, filters, model = before.model, ...plain } = given
    const type = destination?.type ?? before.destination_type
    const isSameType = type === before.destination_type
    const merged = destination && changedSettings(type, isSameType ? unseal(before, box) : {}, destination.config)
    if (merged) mustBeValid(type, merged)
    if (merged) mustBeReachable(type, merged, network)
    const isGiven = queryOf(given) !== undefined
    const schema = isGiven ? asJson(await schemaFrom(context, given, model, before.project_id)) : before.schema
    if (schema !== null && model !== 'events') throw invalid(`A query is only supported for the model events, not for ${model}.`, 'model')
    const after: BatchExport = {
      ...before,
      ...plain,
      model,
      schema,
      ...(filters !== undefined && { filters }),
      ...(interval !== undefined && { interval }),
      ...(merged && { destination_type: type, ...seal(type, before.id, tidied(type, merged), box) }),
      ...(paused !== undefined && pausing(context, before, paused)),
      last_updated_at: context.clock(),
    }
    inOrder(after.start_at, after.end_at)
    await tables.batch_exports.update({ id: before.id }, after)
    await log(context, tables, { ...note(by, after, 'updated'), changes: shownChanges(before, after) })
    return after
  })
  wake()
  return updated
}

const pausing = (context: AccountContext, record: BatchExport, paused: boolean): Partial<BatchExport> => {
  if (record.paused === paused) return {}
  if (paused) return { paused: true, paused_reason: null, last_paused_at: context.clock() }
  return { paused: false, paused_reason: null, failed_runs: 0, ...startFrom(context, intervalOf(record), cutOf(record).position) }
}

const setPaused = async (
  { context, wake }: ExportServices,
  by: ActingMember,
  { id }: BatchExport,
  paused: boolean,
  keepsPlace: boolean,
): Promise<BatchExport> => {
  const updated = await writeAs(context, by, async (tables) => {
    const before = await asItIs(tables, id)
    if (before.paused === paused) return before
    if (keepsPlace) for (const run of await failedRuns(tables, before)) await retryRun(context, tables, before, run)
    const { cut_at, cut_position } = before
    const after: BatchExport = {
      ...before,
      ...pausing(context, before, paused),
      ...(keepsPlace && { cut_at, cut_position }),
      last_updated_at: context.clock(),
    }
    await tables.batch_exports.update({ id }, after)
    await addLog(context, tables, after, null, 'INFO', paused ? 'Paused by a user.' : 'Unpaused by a user.')
    await log(context, tables, { ...note(by, after, paused ? 'paused' : 'unpaused'), changes: shownChanges(before, after) })
    return after
  })
  wake()
  return updated
}

/** The runs that failed since the last one that was completed. */
const failedRuns = async (tables: AccountTables, { id, failed_runs: limit }: BatchExport): Promise<readonly BatchExportRun[]> => {
  if (limit === 0) return []
  const runs = await tables.batch_export_runs.find({ batch_export_id: id, lane: scheduleLane }, { newestFirst: 'created_at', limit })
  return runs.filter(({ status }) => status === 'Failed' || status === 'FailedRetryable').reverse()
}
const reads = ({ store }: AccountContext) => ({
  /** Newest first. */
  list: (projectIds: readonly number[]) =>
    store.read.batch_exports.find({ project_id: projectIds, is_deleted: false }, { newestFirst: 'created_at' }),
  byId: (projectIds: readonly number[], id: string) => store.read.batch_exports.first({ id, project_id: projectIds, is_deleted: false }),
  latestRuns: ({ id }: BatchExport) => store.read.batch_export_runs.find({ batch_export_id: id }, { newestFirst: 'created_at', limit: 10 }),
  /** Newest first. */
  runs: ({ id }: BatchExport) => store.read.batch_export_runs.find({ batch_export_id: id }, { newestFirst: 'created_at' }),
  run: (record: BatchExport, id: string) => store.read.batch_export_runs.first({ id, batch_export_id: record.id }),
  logs: ({ id }: BatchExport, run: BatchExportRun | null) =>
    store.read.batch_export_logs.find({ batch_export_id: id, ...(run && { run_id: run.id }) }, { newestFirst: 'timestamp' }),
  backfills: ({ id }: BatchExport) => store.read.batch_export_backfills.find({ batch_export_id: id }, { newestFirst: 'created_at' }),
  backfillById: (record: BatchExport, id: string) => store.read.batch_export_backfills.first({ id, batch_export_id: record.id }),
})

export const createBatchExports = (parts: ExportServices) => {
  const { context, box, network, wake } = parts

  return {
    ...reads(context),

    async create(by: ActingMember, project: ProjectRecord, body: unknown): Promise<BatchExport> {
      const input = check(batchExportInput, body)
      const made = await writeAs(context, by, async (tables) => {
        await mustBeAllowed(tables, project.organization_id, input.interval)
        const { type, config } = input.destination
        mustBeValid(type, config)
        mustBeReachable(type, config, network)
        const id = context.newId()
        const model = input.model ?? 'events'
        const at = context.clock()
        const record: BatchExport = {
          id,
          organization_id: project.organization_id,
          project_id: project.id,
          name: input.name,
          model,
          destination_type: type,
          ...seal(type, id, tidied(type, config), box),
          interval: input.interval,
          paused: input.paused ?? false,
          paused_reason: null,
          schema: asJson(await schemaFrom(context, input, model, project.id)),
          filters: input.filters ?? null,
          start_at: input.start_at ?? null,
          end_at: input.end_at ?? null,
          created_at: at,
          last_updated_at: at,
          last_paused_at: input.last_paused_at ?? null,
          ...startFrom(context, input.interval, 0),
          failed_runs: 0,
          is_deleted: false,
        }
        inOrder(record.start_at, record.end_at)
        await tables.batch_exports.insert(record)
        await log(context, tables, note(by, record, 'created'))
        return record
      })
      wake()
      return made
    },

    update: (by: ActingMember, record: BatchExport, body: unknown) => change(parts, by, record, check(batchExportChange, body)),
    /** Needs the required fields. Others that are not sent keep their values. */
    replace: (by: ActingMember, record: BatchExport, body: unknown) => {
      check(batchExportInput, body)
      return change(parts, by, record, check(batchExportChange, body))
    },

    async remove(by: ActingMember, { id }: BatchExport): Promise<void> {
      await writeAs(context, by, async (tables) => {
        const record = await asItIs(tables, id)
        const at = context.clock()
        await endRuns(parts, tables, record, await activeRuns(tables, id), 'Cancelled: the export was deleted.')
        await tables.batch_export_backfills.update(
          { batch_export_id: id, status: activeStates },
          { status: 'Cancelled', next_start: null, finished_at: at, last_updated_at: at },
        )
        await tables.batch_exports.update({ id }, { is_deleted: true, secrets: null, last_updated_at: at })
        await log(context, tables, note(by, record, 'deleted'))
      })
    },

    pause: (by: ActingMember, record: BatchExport) => setPaused(parts, by, record, true, false),
    /** With `backfill`, the paused time is exported interval by interval as if there had been no pause, and runs that failed before it are retried. */
    unpause: (by: ActingMember, record: BatchExport, body: unknown) =>
      setPaused(parts, by, record, false, check(unpauseInput, body ?? {}).backfill === true),
    ...backfillWrites(parts),
    ...runWrites(parts),

    /** The settings of a destination with which a test step is run: those of the body, over those that are stored. */
    settingsToTest(record: BatchExport | null, body: unknown): { readonly type: string; readonly settings: unknown } {
      const given = record
        ? check(batchExportChange, body).destination
        : check(batchExportInput.pick({ destination: true }), body).destination
      const type = given?.type ?? record!.destination_type
      const isSameType = record?.destination_type === type
      const merged = changedSettings(type, record && isSameType ? unseal(record, box) : {}, given?.config ?? {})
      mustBeValid(type, merged)
      return { type, settings: readSettings(type, merged) }
    },
  }
}

export type BatchExports = ReturnType<typeof createBatchExports>

/** For the activity log: secrets never appear. */
const shownChanges = (before: BatchExport, after: BatchExport) => {
  const shown = ['name', 'model', 'destination_type', 'config', 'interval', 'paused', 'start_at', 'end_at', 'schema', 'filters'] as const
  return changesOf('BatchExport', pick(before, shown), pick(after, shown))
}
