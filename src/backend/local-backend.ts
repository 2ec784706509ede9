import { join } from 'node:path'
import type { RecordBatch, Table } from 'apache-arrow'
import { settingsWithDefaults } from '../accounts/project-fields.ts'
import type { ProjectRecord } from '../accounts/records.ts'
import { ProjectLists } from '../core/project-lists.ts'
import { type ActionService, actionService } from '../definitions/actions.ts'
import { type CohortService, cohortService, namesCohorts } from '../definitions/cohorts.ts'
import type { WaymarkError } from '../errors/errors.ts'
import { answerQuery } from '../execution/answer.ts'
import { answerRows, type RowsAnswer } from '../execution/answer-rows.ts'
import { queryArrow, queryArrowBatches } from '../execution/arrow.ts'
import { type Admission, type Claim, ended, type Wanted } from '../execution/asking/admission.ts'
import { Answer } from '../execution/asking/answer.ts'
import type { Computed, Computing } from '../execution/asking/asking.ts'
import { definitionStore } from '../execution/definition-store.ts'
import type { Statements } from '../execution/ports.ts'
import type { QueryProject } from '../execution/query-context.ts'
import type { EventSource } from '../ingestion/event-source.ts'
import type { GroupImportOptions } from '../ingestion/inputs.ts'
import type { BatchFacts, IngestAnswer } from '../ingestion/intake.ts'
import { Pipeline } from '../ingestion/pipeline.ts'
import { type StatementScheduler, unscheduled } from '../lib/statement-scheduler.ts'
import type { ProjectSettings, QueryContext } from '../queries/kind.ts'
import type { ProjectStorage } from '../storage/project-storage.ts'
import type { RecoveryReport } from '../storage/recovery-report.ts'
import type { Stores } from '../storage/stores.ts'
import type { BackendHome, ProjectBackend, RowLimits } from './backend.ts'

export interface LocalHome extends BackendHome {
  readonly stores: Stores
  readonly admission: Pick<Admission, 'claim' | 'upkeep'>
}

/** For each statement that computes members of a cohort. */
const upkeepSeconds = 60

/** Opens a project in this process. If the first read of rows meets a damaged block, it reads the whole store and recovers it. */
export async function openLocalBackend(home: LocalHome): Promise<LocalBackend> {
  try {
    return await openOnce(home, false)
  } catch (error) {
    if (!home.stores.isDamage(error)) throw error
    return openOnce(home, true)
  }
}

async function openOnce(home: LocalHome, isThorough: boolean): Promise<LocalBackend> {
  const { clock, onError, signal, stores } = home
  const started = performance.now()
  const { id, ingested_event } = home.record()
  const storage = await stores.open(id, { hadEvents: ingested_event, ...(isThorough ? { isThorough } : {}) })
  try {
    const { recovery, engine, log, cacheFolder } = storage
    for (const report of storage.reports) home.onRecovery(report)
    if (recovery) home.onRecovery({ ...recovery, kind: 'store-recovering' })
    const writer = await engine.openWriter()
    try {
      const settings = () => ({ anonymizeIps: settingsWithDefaults(home.record().settings).anonymize_ips === true })
      const uuidFolder = cacheFolder && join(cacheFolder, 'uuids')
      const pipeline = await Pipeline.open({ log, writer, uuidFolder, projectId: id, clock, settings, onError, signal })
      const reports = [...storage.reports]
      if (recovery) {
        const report = { ...recovery, ...(await engine.count()), seconds: (performance.now() - started) / 1000 }
        reports.push(report)
        home.onRecovery(report)
      }
      return new LocalBackend(home, storage, reports, pipeline)
    } catch (error) {
      await writer.close()
      throw error
    }
  } catch (error) {
    await storage.abandon()
    throw error
  }
}

export class LocalBackend implements ProjectBackend {
  readonly actions: ActionService
  readonly cohorts: CohortService
  readonly reports: readonly RecoveryReport[]
  readonly pipeline: Pipeline
  private readonly home: LocalHome
  private readonly storage: ProjectStorage
  /** The events in memory, where the engine does not fold lists of events itself. */
  private readonly lists: ProjectLists | null

  constructor(home: LocalHome, storage: ProjectStorage, reports: readonly RecoveryReport[], pipeline: Pipeline) {
    this.home = home
    this.storage = storage
    this.lists = storage.engine.lists ? new ProjectLists(storage.engine.lists.memory) : null
    this.reports = reports
    this.pipeline = pipeline
    const { admission, clock } = home
    const { id } = home.record()
    const definitions = definitionStore({
      members: storage.engine.members(admission.upkeep(id)),
      write: (records) => pipeline.writeRecords(records),
      clock,
      queries: () => this.forQueries(admission.upkeep(id, upkeepSeconds)),
    })
    this.actions = actionService(definitions)
    this.cohorts = cohortService(definitions)
  }

  get position(): number {
    return this.pipeline.position
  }

  get lag(): number {
    return this.pipeline.lag
  }

  get failure(): unknown {
    return this.pipeline.failure
  }

  ingest(body: unknown, about: Pick<BatchFacts, 'ip'>): Promise<IngestAnswer> {
    return this.pipeline.ingest(body, about)
  }

  ingestEvents(events: EventSource, facts: BatchFacts): Promise<IngestAnswer> {
    return this.pipeline.ingestEvents(events, facts)
  }

  importPersons(rows: unknown): Promise<{ readonly ids: readonly string[] }> {
    return this.pipeline.importPersons(rows)
  }

  importGroups(rows: unknown, options: GroupImportOptions): Promise<void> {
    return this.pipeline.importGroups(rows, options)
  }

  definePropertyTypes(rows: unknown): Promise<void> {
    return this.pipeline.definePropertyTypes(rows)
  }

  answer(query: unknown, { wanted, progress, rows }: Computing & { readonly rows?: RowLimits }): Promise<Computed> {
    const claim = this.home.admission.claim(wanted)
    const work = async () => {
      const project = limited(await this.readyFor(query, claim), rows)
      const answer = await answerQuery(query, project, { signal: claim.signal, checkpoint: claim.check, progress })
      return { answer: Answer.of(answer), endsAt: endOf(answer) }
    }
    return ended(claim, work())
  }

  async rows(query: unknown, wanted: Wanted, limits?: RowLimits): Promise<RowsAnswer | null> {
    const claim = this.home.admission.claim(wanted)
    try {
      const project = limited(await this.readyFor(query, claim), limits)
      const answer = await answerRows(query, project, { signal: claim.signal, checkpoint: claim.check })
      if (!answer) claim.end()
      return answer && { ...answer, batches: endingWith(claim, answer.batches) }
    } catch (error) {
      claim.end()
      throw error
    }
  }

  table(query: unknown, wanted: Wanted): Promise<Table> {
    const claim = this.home.admission.claim(wanted)
    const work = async () => queryArrow(query, await this.readyFor(query, claim), { signal: claim.signal, checkpoint: claim.check })
    return ended(claim, work())
  }

  async *batches(query: unknown, wanted: Wanted): AsyncGenerator<RecordBatch, void, undefined> {
    const claim = this.home.admission.claim(wanted)
    try {
      yield* claim.paced(queryArrowBatches(query, await this.readyFor(query, claim), { signal: claim.signal, checkpoint: claim.check }))
    } finally {
      claim.end()
    }
  }

  async events() {
    await this.forQueries()
    return this.storage.engine.events()
  }

  async properties() {
    await this.forQueries()
    return this.storage.engine.properties()
  }

  async groupTypes() {
    return (await (await this.forQueries()).facts()).groupTypes
  }

  async warnings() {
    await this.pipeline.caughtUp()
    return this.pipeline.warnings()
  }

  /** The project as a query sees it, with everything acknowledged: while the query runs, only rows may change. */
  async forQueries(turns: StatementScheduler = unscheduled()): Promise<QueryProject> {
    await this.pipeline.caughtUp()
    const { engine } = this.storage
    const statements = engine.statements(turns)
    return {
      settings: settingsOf(this.home.record()),
      now: this.home.clock(),
      dialect: engine.dialect,
      limits: engine.limits,
      facts: () => engine.facts(),
      isAlone: () => turns.isAlone(),
      ...this.folding(statements),
      ...statements,
    }
  }

  async close(): Promise<void> {
    this.lists?.close()
    await this.pipeline.close()
    await this.storage.close()
  }

  private folding(statements: Statements): Pick<QueryProject, 'fold'> {
    const { lists } = this
    const source = this.storage.engine.lists?.source(statements)
    if (!lists || !source) return {}
    return { fold: async (seq, loop) => (await lists.use(source, seq, loop)) !== null }
  }

  private async readyFor(query: unknown, claim: Claim): Promise<QueryProject> {
    const project = await claim.awaits(this.forQueries(claim))
    if (!namesCohorts([query, project.settings.testAccountFilters])) return project
    const failures = await claim.awaits(this.cohorts.refresh())
    return failures.size > 0 ? { ...project, given: (context) => withFailures(context, failures) } : project
  }
}

const endOf = (answer: object): string | null => {
  const range = (answer as { resolved_date_range?: { date_to?: unknown } }).resolved_date_range
  return typeof range?.date_to === 'string' ? range.date_to : null
}

/** Also releases claims whose rows are never read. */
function endingWith<T, R>(claim: Claim, rows: AsyncGenerator<T, R, undefined>): AsyncGenerator<T, R, undefined> {
  const paced = claim.paced(rows)
  const ending = async (step: Promise<IteratorResult<T, R>>) => {
    try {
      const result = await step
      if (result.done) claim.end()
      return result
    } catch (error) {
      claim.end()
      throw error
    }
  }
  return {
    next: () => ending(paced.next()),
    return: (value) => ending(paced.return(value)),
    throw: (error) => ending(paced.throw(error)),
    [Symbol.asyncIterator]() {
      return this
    },
    [Symbol.asyncDispose]: async () => claim.end(),
  } as AsyncGenerator<T, R, undefined>
}

const settingsOf = (record: ProjectRecord): ProjectSettings => {
  const settings = settingsWithDefaults(record.settings)
  const list = <T>(name: string) => (settings[name] ?? []) as unknown as readonly T[]
  return {
    id: record.id,
    timezone: record.timezone,
    weekStartDay: record.week_start_day === 1 ? 1 : 0,
    testAccountFilters: list<unknown>('test_account_filters'),
    personDisplayNameProperties: list<string>('person_display_name_properties'),
    pathCleaningFilters: list<{ regex: string; alias: string }>('path_cleaning_filters'),
  }
}

/** A cohort that cannot be refreshed fails only the queries that use it. */
const withFailures = (context: QueryContext, failures: ReadonlyMap<number, WaymarkError>): Pick<QueryContext, 'cohort'> => ({
  cohort(which) {
    const found = context.cohort(which)
    const failure = found && failures.get(found.id)
    if (failure) throw failure
    return found
  },
})

const limited = (project: QueryProject, limits: RowLimits): QueryProject =>
  limits ? { ...project, given: (context) => ({ ...project.given?.(context), limits }) } : project
