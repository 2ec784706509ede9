import { WaymarkError } from '../../errors/errors.ts'
import { type ActingMember, writeAs } from '../accounts/acting-member.ts'
import { type AccountContext, changesOf, log } from '../accounts/context.ts'
import { check, readTime } from '../accounts/fields.ts'
import { hasFeature } from '../accounts/organizations/features.ts'
import { viewsOf } from '../accounts/projects/project-fields.ts'
import type { AccountTables, BatchExport, BatchExportBackfill, BatchExportRun, ProjectRecord } from '../accounts/records.ts'
import { invalid, mustFind, notAllowed } from '../accounts/refusals.ts'
import type { SecretBox } from '../accounts/secrets/secret-box.ts'
import type { Outside } from './destinations/destination.ts'
import { readExportQuery } from './export-query.ts'
import { type BatchExportChange, backfillInput, batchExportChange, batchExportInput, queryField, queryOf, unpauseInput } from './fields.ts'
import { addLog } from './logs.ts'
import type { ExportRows, Model } from './ports.ts'
import { activeStates, asJson, cutOf, intervalOf, isActive, retryLane, type StoredSchema, scheduleLane } from './records.ts'
import { shownBackfillId } from './running/backfill-id.ts'
import { newRun } from './running/new-run.ts'
import { countRuns, floorOf, type Interval, intervalMs } from './running/schedule.ts'
import { changedSettings, mustBeReachable, mustBeValid, readSettings, seal, tidied, unseal } from './settings.ts'

// The rules of batch exports, for requests. The scheduler executes what is written here.

export interface ExportServices {
  readonly context: AccountContext
  readonly box: SecretBox
  readonly network: Pick<Outside, 'mustBeAllowed'>
  /** Why exports cannot be created, if so. */
  readonly refusal: string | null
  rows(projectId: number): Promise<ExportRows>
  /** Something may be due. */
  wake(): void
  /** Stops executing these runs. */
  stop(runIds: readonly string[]): void
}

/** Its position is the last one. */
const farFuture = new Date('9999-01-01T00:00:00Z')

export const createBatchExports = ({ context, box, network, refusal, rows, wake, stop }: ExportServices) => {
  const { store } = context
  const now = () => context.clock()
  const note = (by: ActingMember, record: BatchExport, activity: string) => ({
    by: by.user,
    organization_id: record.organization_id,
    project_id: record.project_id,
    scope: 'BatchExport',
    item_id: record.id,
    activity,
    name: record.name,
  })
  const asItIs = async (tables: AccountTables, id: string): Promise<BatchExport> => {
    return mustFind(tables.batch_exports.first({ id, is_deleted: false }))
  }

  const mustBeAllowed = async (tables: AccountTables, organizationId: string, interval: string | undefined) => {
    if (interval !== 'every 5 minutes') return
    const organization = await tables.organizations.first({ id: organizationId })
    if (!organization || !hasFeature(organization, 'high_frequency_batch_exports'))
      throw notAllowed('Higher frequency batch exports are not enabled for this team.')
  }

  const schemaFrom = async (given: BatchExportChange, model: string, projectId: number): Promise<StoredSchema | null> => {
    const text = queryOf(given) ?? null
    if (text === null) return null
    if (model !== 'events') throw invalid(`A query is only supported for the model events, not for ${model}.`, queryField(given))
    const project = await store.read.projects.first({ id: projectId })
    try {
      const query = readExportQuery(text, projectId, now(), viewsOf(project?.settings ?? {}))
      return { ...query.shown, hogql_query: query.text, sql_like_query: query.text }
    } catch (error) {
      throw error instanceof WaymarkError ? invalid(error.detail, queryField(given)) : error
    }
  }

  const inOrder = (start: Date | null, end: Date | null) => {
    if (start && end && start >= end) throw invalid("'start_at' must be before 'end_at'.", 'start_at')
  }

  const startFrom = (interval: Interval, after: number) => ({
    cut_at: new Date(floorOf(interval, now().getTime())),
    cut_position: asJson({ position: after, isFinal: false }),
  })

  /** Runs that end here were not executed, or not to their end. */
  const endRuns = async (tables: AccountTables, record: BatchExport, runs: readonly BatchExportRun[], reason: string) => {
    const at = now()
    const ended = { status: 'Cancelled', finished_at: at, last_updated_at: at }
    for (const { id } of runs) {
      await tables.batch_export_runs.update({ id }, ended)
      await addLog(context, tables, record, id, 'INFO', reason)
    }
    stop(runs.map(({ id }) => id))
  }

  const activeRuns = async (tables: AccountTables, id: string) =>
    tables.batch_export_runs.find({ batch_export_id: id, status: activeStates })

  const change = async (by: ActingMember, record: BatchExport, given: BatchExportChange): Promise<BatchExport> => {
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
      const schema = isGiven ? asJson(await schemaFrom(given, model, before.project_id)) : before.schema
      if (schema !== null && model !== 'events') throw invalid(`A query is only supported for the model events, not for ${model}.`, 'model')
      const after: BatchExport = {
        ...before,
        ...plain,
        model,
        schema,
        ...(filters !== undefined && { filters }),
        ...(interval !== undefined && { interval }),
        ...(merged && { destination_type: type, ...seal(type, before.id, tidied(type, merged), box) }),
        ...(paused !== undefined && pausing(before, paused)),
        last_updated_at: now(),
      }
      inOrder(after.start_at, after.end_at)
      await tables.batch_exports.update({ id: before.id }, after)
      await log(context, tables, { ...note(by, after, 'updated'), changes: shownChanges(before, after) })
      return after
    })
    wake()
    return updated
  }

  const pausing = (record: BatchExport, paused: boolean): Partial<BatchExport> => {
    if (record.paused === paused) return {}
    if (paused) return { paused: true, paused_reason: null, last_paused_at: now() }
    return { paused: false, paused_reason: null, failed_runs: 0, ...startFrom(intervalOf(record), cutOf(record).position) }
  }

  const setPaused = async (by: ActingMember, { id }: BatchExport, paused: boolean, keepsPlace: boolean): Promise<BatchExport> => {
    const updated = await writeAs(context, by, async (tables) => {
      const before = await asItIs(tables, id)
      if (before.paused === paused) return before
      if (keepsPlace) for (const run of await failedRuns(tables, before)) await retryRun(tables, before, run)
      const { cut_at, cut_position } = before
      const after: BatchExport = {
        ...before,
        ...pausing(before, paused),
        ...(keepsPlace && { cut_at, cut_position }),
        last_updated_at: now(),
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

  const retryRun = async (tables: AccountTables, record: BatchExport, run: BatchExportRun): Promise<BatchExportRun> => {
    const { backfill_id, key, data_interval_start, data_interval_end, range } = run
    const rows = { backfill_id, key, data_interval_start, data_interval_end, range }
    const again = newRun(record, now(), { id: context.newId(), lane: retryLane, ...rows })
    await tables.batch_export_runs.insert(again)
    await addLog(context, tables, record, again.id, 'INFO', `Retries the run ${run.id}.`)
    return again
  }

  const readBackfillRange = (record: BatchExport, body: unknown): { start: Date | null; end: Date | null } => {
    const { start_at, end_at } = check(backfillInput, body ?? {})
    if (start_at === undefined || end_at === undefined) throw invalid("Both 'start_at' and 'end_at' must be specified")
    const read = (given: string | null) => {
      const time = given === null ? null : readTime(given)
      if (given !== null && time === null) throw invalid(`Input ${given} is not a valid ISO formatted datetime.`)
      return time
    }
    const [start, end] = [read(start_at), read(end_at)]
    if (start && end && start >= end)
      throw invalid("The initial backfill datetime 'start_at' happens after 'end_at'. It must be before it.")
    const latest = now().getTime() + intervalMs[intervalOf(record)]
    if (end && end.getTime() > latest)
      throw invalid(`The provided 'end_at' (${end.toISOString()}) is too far into the future. Use a time up to one interval from now.`)
    return { start, end }
  }

  return {
    /** Newest first. */
    list: (projectIds: readonly number[]) =>
      store.read.batch_exports.find({ project_id: projectIds, is_deleted: false }, { newestFirst: 'created_at' }),
    byId: (projectIds: readonly number[], id: string) => store.read.batch_exports.first({ id, project_id: projectIds, is_deleted: false }),
    latestRuns: ({ id }: BatchExport) =>
      store.read.batch_export_runs.find({ batch_export_id: id }, { newestFirst: 'created_at', limit: 10 }),
    /** Newest first. */
    runs: ({ id }: BatchExport) => store.read.batch_export_runs.find({ batch_export_id: id }, { newestFirst: 'created_at' }),
    run: (record: BatchExport, id: string) => store.read.batch_export_runs.first({ id, batch_export_id: record.id }),
    logs: ({ id }: BatchExport, run: BatchExportRun | null) =>
      store.read.batch_export_logs.find({ batch_export_id: id, ...(run && { run_id: run.id }) }, { newestFirst: 'timestamp' }),
    backfills: ({ id }: BatchExport) => store.read.batch_export_backfills.find({ batch_export_id: id }, { newestFirst: 'created_at' }),
    backfillById: (record: BatchExport, id: string) => store.read.batch_export_backfills.first({ id, batch_export_id: record.id }),

    async create(by: ActingMember, project: ProjectRecord, body: unknown): Promise<BatchExport> {
      if (refusal) throw invalid(refusal)
      const input = check(batchExportInput, body)
      const made = await writeAs(context, by, async (tables) => {
        await mustBeAllowed(tables, project.organization_id, input.interval)
        const { type, config } = input.destination
        mustBeValid(type, config)
        mustBeReachable(type, config, network)
        const id = context.newId()
        const model = input.model ?? 'events'
        const at = now()
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
          schema: asJson(await schemaFrom(input, model, project.id)),
          filters: input.filters ?? null,
          start_at: input.start_at ?? null,
          end_at: input.end_at ?? null,
          created_at: at,
          last_updated_at: at,
          last_paused_at: input.last_paused_at ?? null,
          ...startFrom(input.interval, 0),
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

    update: (by: ActingMember, record: BatchExport, body: unknown) => change(by, record, check(batchExportChange, body)),
    /** Needs the required fields. Others that are not sent keep their values. */
    replace: (by: ActingMember, record: BatchExport, body: unknown) => {
      check(batchExportInput, body)
      return change(by, record, check(batchExportChange, body))
    },

    async remove(by: ActingMember, { id }: BatchExport): Promise<void> {
      await writeAs(context, by, async (tables) => {
        const record = await asItIs(tables, id)
        const at = now()
        await endRuns(tables, record, await activeRuns(tables, id), 'Cancelled: the export was deleted.')
        await tables.batch_export_backfills.update(
          { batch_export_id: id, status: activeStates },
          { status: 'Cancelled', next_start: null, finished_at: at, last_updated_at: at },
        )
        await tables.batch_exports.update({ id }, { is_deleted: true, secrets: null, last_updated_at: at })
        await log(context, tables, note(by, record, 'deleted'))
      })
    },

    pause: (by: ActingMember, record: BatchExport) => setPaused(by, record, true, false),
    /** With `backfill`, the paused time is exported interval by interval as if there had been no pause, and runs that failed before it are retried. */
    unpause: (by: ActingMember, record: BatchExport, body: unknown) =>
      setPaused(by, record, false, check(unpauseInput, body ?? {}).backfill === true),

    async backfill(by: ActingMember, record: BatchExport, body: unknown): Promise<BatchExportBackfill> {
      const { start, end } = readBackfillRange(record, body)
      const source = await rows(record.project_id)
      const position = await source.positionAt(farFuture, 0)
      const first = start ?? (await source.firstTime(record.model as Model))
      if (!first) throw invalid('There is nothing to backfill: the project has no such rows yet.', 'start_at')
      const made = await writeAs(context, by, async (tables) => {
        const current = await asItIs(tables, record.id)
        const at = now()
        const from = start ?? new Date(floorOf(intervalOf(current), first.getTime()))
        const total_runs = countRuns(intervalOf(current), from.getTime(), (end ?? at).getTime())
        if (total_runs > mostBackfillRuns) throw invalid(tooManyRuns(total_runs, intervalOf(current)), 'start_at')
        const backfill: BatchExportBackfill = {
          id: context.newId(),
          batch_export_id: current.id,
          project_id: current.project_id,
          shown_id: shownBackfillId(current.id, start, end),
          status: 'Running',
          start_at: start,
          end_at: end ?? at,
          next_start: from,
          position,
          total_runs,
          finished_runs: 0,
          created_at: at,
          last_updated_at: at,
          finished_at: null,
        }
        await tables.batch_export_backfills.insert(backfill)
        await log(context, tables, note(by, current, 'backfill_started'))
        return backfill
      })
      wake()
      return made
    },

    async cancelBackfill(by: ActingMember, record: BatchExport, { id }: BatchExportBackfill): Promise<BatchExportBackfill> {
      return writeAs(context, by, async (tables) => {
        const found = await mustFind(tables.batch_export_backfills.first({ id }))
        if (!isActive(found)) throw invalid(`Cannot cancel a backfill that is in '${found.status}' status`)
        const at = now()
        const runs = await tables.batch_export_runs.find({ backfill_id: id, status: activeStates })
        await endRuns(tables, record, runs, 'Cancelled with its backfill by a user.')
        const ended = { status: 'Cancelled', next_start: null, finished_at: at, last_updated_at: at }
        await tables.batch_export_backfills.update({ id }, ended)
        await log(context, tables, note(by, record, 'backfill_cancelled'))
        return { ...found, ...ended }
      })
    },

    /** The same rows under the same key: what the run published before is replaced. */
    async retry(by: ActingMember, record: BatchExport, { id }: BatchExportRun): Promise<BatchExportRun> {
      const made = await writeAs(context, by, async (tables) => {
        await asItIs(tables, record.id)
        const run = await mustFind(tables.batch_export_runs.first({ id }))
        if (isActive(run)) throw invalid(`Cannot retry a run that is in '${run.status}' status`)
        const again = await retryRun(tables, record, run)
        await log(context, tables, note(by, record, 'run_retried'))
        return again
      })
      wake()
      return made
    },

    cancel: (by: ActingMember, record: BatchExport, { id }: BatchExportRun): Promise<void> =>
      writeAs(context, by, async (tables) => {
        const run = await mustFind(tables.batch_export_runs.first({ id }))
        if (!isActive(run)) throw invalid(`Cannot cancel a run that is in '${run.status}' status`)
        await endRuns(tables, record, [run], 'Cancelled by a user.')
        await log(context, tables, note(by, record, 'run_cancelled'))
      }),

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
/** A year of five minutes. */
const mostBackfillRuns = 105_408
const tooManyRuns = (runs: number, interval: Interval) =>
  `A backfill has at most ${mostBackfillRuns.toLocaleString('en')} intervals, but this range has ${runs.toLocaleString('en')} of the interval ${interval}. Use a later start_at, or an export with a longer interval.`

export type BatchExports = ReturnType<typeof createBatchExports>

/** For the activity log: secrets never appear. */
const shownChanges = (before: BatchExport, after: BatchExport) => {
  const shown = ({ name, model, destination_type, config, interval, paused, start_at, end_at, schema, filters }: BatchExport) => ({
    name,
    model,
    destination_type,
    config,
    interval,
    paused,
    start_at,
    end_at,
    schema,
    filters,
  })
  return changesOf('BatchExport', shown(before), shown(after))
}
