import { join } from 'node:path'
import type { RecordBatch, Table } from 'apache-arrow'
import type { ThreadPool } from '../../core/folds/thread-pool.ts'
import type { ColumnSource } from '../../core/lists/ports.ts'
import { ProjectLists } from '../../core/lists/project-lists.ts'
import { InternalError, QueryError } from '../../errors/errors.ts'
import { BrokenInvariant } from '../../errors/invariants.ts'
import type { EventSource } from '../../events/ingestion/decoding/event-source.ts'
import type { BatchFacts, IngestAnswer } from '../../events/ingestion/intake.ts'
import { withKnownIds } from '../../events/ingestion/persons/known/knowing-writer.ts'
import { type Ingestion, Pipeline } from '../../events/ingestion/pipeline.ts'
import type { Transform } from '../../events/ingestion/transforming/transform.ts'
import { Transformer } from '../../events/ingestion/transforming/transformer.ts'
import type { WireBatch } from '../../events/ingestion/wire-batch.ts'
import { type StatementScheduler, unscheduled } from '../../lib/flow/statement-scheduler.ts'
import { BoundedCache } from '../../lib/memory/bounded-cache.ts'
import { jsonText } from '../../lib/text/json-text.ts'
import { allRows } from '../../queries/answers/page-limit.ts'
import { Refusal } from '../../queries/refusals.ts'
import { viewsNamedIn } from '../../queries/views.ts'
import type { ExportRows } from '../../service/exports/ports.ts'
import type { EventReader } from '../../service/plugins/delivery/ports.ts'
import { type Admission, type Claim, ended, type Wanted } from '../admission/admission.ts'
import { Answer } from '../admission/answer.ts'
import type { Computed, Computing } from '../admission/computing.ts'
import { type ActionService, actionService } from '../definitions/actions.ts'
import { type CohortService, cohortService, namesActions, namesCohorts } from '../definitions/cohorts.ts'
import { answerQuery } from '../execution/answer.ts'
import { answerRows, type RowsAnswer } from '../execution/answer-rows.ts'
import { queryArrow, queryArrowBatches } from '../execution/arrow.ts'
import type { AnswerOptions } from '../execution/checkpoint.ts'
import { definitionStore } from '../execution/definition-store.ts'
import { type Download, type DownloadFormat, queryDownload } from '../execution/download.ts'
import { exportColumns, firstArrival, firstTime, measureRows, stageRows } from '../execution/export-rows.ts'
import type { Statements } from '../execution/ports.ts'
import type { Lacking, QueryProject } from '../execution/query-context.ts'
import { eventsAt, eventsInRange } from '../execution/stored-events.ts'
import { openAttempts } from '../storage/files/attempts-file.ts'
import { listFiles } from '../storage/files/list-files.ts'
import { openTransformFile } from '../storage/files/transform-file.ts'
import { type ProjectStorage, transformedIn } from '../storage/project-storage.ts'
import type { RecoveryReport } from '../storage/recovery/recovery-report.ts'
import type { StoreSpace } from '../storage/store-space.ts'
import type { Stores } from '../storage/stores.ts'
import type { BackendHome, LogState, ProjectBackend, RowLimits } from './backend.ts'
import type { KnownFacts, Records } from './calls.ts'
import { EarlyAnswers } from './early-answers.ts'
import { Keeping } from './keeping.ts'
import { endOf, isLongRequest, type LongQueries, unlessLong } from './long-queries.ts'
import { ReadingRates } from './reading-rates.ts'

export interface LocalHome extends BackendHome {
  readonly stores: Stores
  readonly admission: Pick<Admission, 'claim' | 'upkeep'>
  /** For folds over large lists; absent: they run in this thread. */
  readonly threads?: ThreadPool
  /** For queries whose planning takes long; absent: they are answered in this thread. */
  readonly longQueries?: LongQueries
  /** Of a process that has the plugins. */
  readonly transform?: Transform
}

const mostLacked = 400
/** Columns are not reloaded within this time: if they did not fit or were evicted, they would be again. */
const loadAgainMs = 60_000

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
  const { id, hadEvents } = home.settings()
  const thoroughly = isThorough ? { isThorough } : home.wasClosed ? { isThorough: false } : {}
  const storage = await stores.open(id, { hadEvents, ...thoroughly, onFormat: home.onRecovery, report: onError })
  try {
    const { recovery, engine, log, cacheFolder } = storage
    for (const report of storage.reports) home.onRecovery(report)
    if (recovery) home.onRecovery({ ...recovery, kind: 'store-recovering' })
    const folder = cacheFolder && join(cacheFolder, 'ids')
    const writer = withKnownIds(await engine.openWriter(), { folder, memory: stores.idMemory ?? null, report: onError })
    try {
      const uuidFolder = cacheFolder && join(cacheFolder, 'uuids')
      const transform = home.transform ?? (await ownTransform(home, storage))
      const attempts = cacheFolder === null ? undefined : openAttempts(cacheFolder)
      const pipeline = await Pipeline.open({
        log,
        writer,
        uuidFolder,
        projectId: id,
        clock,
        settings: home.settings,
        salts: home.salts,
        onError,
        signal,
        transform,
        attempts,
      })
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

async function ownTransform(
  { transformations, settings }: LocalHome,
  { cacheFolder, log }: ProjectStorage,
): Promise<Transform | undefined> {
  if (!transformations) return undefined
  const file = cacheFolder === null ? null : await openTransformFile(transformedIn(cacheFolder))
  const transformer = new Transformer({ projectId: settings().id, transformations, file })
  transformer.started(log.lastSeq)
  return transformer
}

export class LocalBackend<P extends Ingestion = Pipeline> implements ProjectBackend {
  readonly actions: ActionService
  readonly cohorts: CohortService
  readonly reports: readonly RecoveryReport[]
  readonly pipeline: P
  private readonly home: LocalHome
  private readonly storage: ProjectStorage
  /** The events in memory, where the engine does not fold lists of events itself. */
  private readonly lists: ProjectLists | null
  private readonly keeping: Keeping
  private readonly early: EarlyAnswers | null
  private loading: Promise<void> | null = null
  /** When it was loaded last, by what was loaded. */
  private readonly loadedAt = new Map<string, number>()
  private readonly rates = new ReadingRates()
  /** What rare questions have lacked once. */
  private readonly lacked = new BoundedCache<string, true>(mostLacked)
  private readonly closing = new AbortController()

  constructor(home: LocalHome, storage: ProjectStorage, reports: readonly RecoveryReport[], pipeline: P) {
    this.home = home
    this.storage = storage
    const { admission, clock } = home
    const { id } = home.settings()
    const upkeep = admission.upkeep(id)
    this.lists = storage.engine.lists
      ? new ProjectLists(storage.engine.lists.memory, {
          files: storage.cacheFolder === null ? null : listFiles(join(storage.cacheFolder, 'core', 'lists')),
          pagesIn: storage.cacheFolder === null ? null : join(storage.cacheFolder, 'core', 'pages'),
          fingerprint: (seq) => storage.engine.lists!.source(storage.engine.statements(upkeep)).fingerprint(seq),
          recent: pipeline.recent,
          release: () => {
            home.threads?.release()
            home.longQueries?.release()
          },
          report: (error) => (error instanceof BrokenInvariant ? pipeline.end(error) : home.onError(error)),
        })
      : null
    this.reports = reports
    this.pipeline = pipeline
    this.keeping = new Keeping(pipeline, home)
    this.early = this.lists && new EarlyAnswers(this.lists, pipeline)
    const definitions = definitionStore({
      members: storage.engine.members(upkeep),
      write: (records) => pipeline.writeRecords(records),
      clock,
      alone: storage.alone,
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

  ingest(body: unknown, about: Pick<BatchFacts, 'ip' | 'userAgent' | 'attempt' | 'importId'>): Promise<IngestAnswer> {
    return this.pipeline.ingest(body, about)
  }

  ingestEvents(events: EventSource, facts: BatchFacts): Promise<IngestAnswer> {
    return this.pipeline.ingestEvents(events, facts)
  }

  ingestPrepared(batch: WireBatch): Promise<IngestAnswer> {
    return this.pipeline.ingestPrepared(batch)
  }

  answer(query: unknown, { wanted, progress, rows }: Computing & { readonly rows?: RowLimits }): Promise<Computed> {
    const claim = this.home.admission.claim(wanted)
    const options = { signal: claim.signal, checkpoint: claim.check, progress }
    const here = async (project: QueryProject): Promise<Computed> => {
      const answer = await answerQuery(query, project, options)
      return { answer: Answer.of(answer), endsAt: endOf(answer) }
    }
    const work = async () => {
      const early = await this.answerEarly(query, claim, options, rows)
      if (early) return { answer: Answer.of(early), endsAt: endOf(early) }
      const project = limited(await this.readyFor(query, claim), rows)
      const { longQueries } = this.home
      if (!longQueries) return here(project)
      const short = isLongRequest(query) ? null : await unlessLong(project, here)
      if (short) return short
      const long = await longQueries.answer(query, project, options)
      return long ? { answer: Answer.ofText(long.text), endsAt: long.endsAt } : here(project)
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

  async download(query: unknown, format: DownloadFormat, wanted: Wanted): Promise<Download> {
    const claim = this.home.admission.claim(wanted)
    try {
      const project = limited(await this.readyFor(query, claim), allRows)
      const { parquetOf } = this.home.stores
      const { warnings, bytes } = await queryDownload(query, format, project, { signal: claim.signal, checkpoint: claim.check, parquetOf })
      return { warnings, bytes: endingWith(claim, bytes) }
    } catch (error) {
      claim.end()
      throw error
    }
  }

  async *batches(query: unknown, wanted: Wanted): AsyncGenerator<RecordBatch, void, undefined> {
    const claim = this.home.admission.claim(wanted)
    try {
      yield* claim.paced(queryArrowBatches(query, await this.readyFor(query, claim), { signal: claim.signal, checkpoint: claim.check }))
    } finally {
      claim.end()
    }
  }

  readonly records: Records = {
    importPersons: (rows) => this.pipeline.importPersons(rows),
    importGroups: (rows, options) => this.pipeline.importGroups(rows, options),
    definePropertyTypes: (rows) => this.pipeline.definePropertyTypes(rows),
    changePersons: (changes) => this.pipeline.changePersons(changes),
    deletePersons: (persons, withEvents) => this.pipeline.deletePersons(persons, withEvents),
    changeGroup: (change) => this.pipeline.changeGroup(change),
    removeProperty: (scope, name) => this.pipeline.remove({ remove: 'property', scope, name }),
    removeImport: (id) => this.pipeline.remove({ remove: 'import', id }),
    removeOld: () => this.keeping.removeOld(),
  }

  readonly known: KnownFacts = {
    events: async () => {
      await this.forQueries()
      return this.storage.engine.events()
    },
    properties: async () => {
      await this.forQueries()
      return this.storage.engine.properties()
    },
    eventNames: async (asked) => {
      await this.pipeline.caughtUp()
      return this.storage.engine.eventNames(asked)
    },
    propertyNames: async (asked) => {
      await this.pipeline.caughtUp()
      return this.storage.engine.propertyNames(asked)
    },
    removedEvents: () => this.storage.engine.removedEvents(),
    importedEvents: (id) => this.storage.engine.importedEvents(id),
    personHistory: async (asked) => {
      await this.pipeline.caughtUp()
      return this.storage.engine.personHistory(asked)
    },
    groupTypes: async () => (await (await this.forQueries()).facts()).groupTypes,
    warnings: async () => {
      await this.pipeline.caughtUp()
      return this.pipeline.warnings()
    },
    digest: () => this.storage.engine.digest(),
  }

  /** The project as a query sees it, with everything acknowledged: while the query runs, only rows may change. */
  async forQueries(turns: StatementScheduler = unscheduled()): Promise<QueryProject> {
    await this.keeping.caughtUp()
    const { engine } = this.storage
    const statements = engine.statements(turns)
    const facts = () => engine.facts()
    return { ...this.surroundings(turns), facts: this.early?.noting(facts) ?? facts, ...this.folding(statements), ...statements }
  }

  private surroundings(
    turns: Pick<StatementScheduler, 'isAlone'>,
  ): Pick<QueryProject, 'settings' | 'now' | 'dialect' | 'limits' | 'isAlone'> {
    const { dialect, limits } = this.storage.engine
    return { settings: this.home.settings(), now: this.home.clock(), dialect, limits, isAlone: () => turns.isAlone() }
  }

  /** Null: the query needs the store. */
  private async answerEarly(query: unknown, claim: Claim, options: AnswerOptions, rows?: RowLimits): Promise<object | null> {
    const { early, keeping, pipeline } = this
    if (!early || isLongRequest(query) || early.isRefused(query)) return null
    if (namesCohorts(cohortsMayBeIn(query, this.home.settings()), early.actions)) return null
    await claim.awaits(pipeline.processed())
    if (!keeping.isUpToDate) return null
    const { threads } = this.home
    const runOfRows: Statements['run'] = (statement, its) => this.storage.engine.statements(claim).run(statement, its)
    return early.answer(query, { ...limited(this.surroundings(claim), rows), runOfRows, ...(threads && { threads }) }, options)
  }

  /** What arrived before the call is applied before the rows are read. */
  readonly exportRows: ExportRows = {
    measure: (selection) => this.exporting((project, signal) => measureRows(project, selection, { signal })),
    columns: (selection) => this.exporting((project) => exportColumns(project, selection)),
    stage: (selection, part, file, signal) =>
      this.exporting(
        (project, stopped) => stageRows(project, selection, part, file, { signal: stopped, fileOf: this.home.stores.fileOf }),
        signal,
      ),
    positionAt: async (end, after) => {
      const position = await this.acknowledged()
      const later = await this.exporting((project) => firstArrival(project, end, after))
      return later === null ? Math.max(after, position) : later - 1
    },
    firstTime: (model) => this.exporting((project) => firstTime(project, model)),
  }

  /** The last position that is durable by now. */
  protected async acknowledged(): Promise<number> {
    return this.position
  }

  readonly storedEvents: EventReader = {
    range: (range) => this.exporting((project, signal) => eventsInRange(project, range, { signal })),
    at: (positions) => this.exporting((project, signal) => eventsAt(project, positions, { signal })),
  }

  get space(): StoreSpace {
    const { space } = this.storage
    if (!space) throw new InternalError('The store has no file of its own')
    return space
  }

  private exporting<T>(work: (project: QueryProject, signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const claim = this.home.admission.claim({ project: this.home.settings().id, caller: 'export', isBackground: true, signal })
    return ended(claim, (async () => work(await claim.awaits(this.forQueries(claim)), claim.signal))())
  }

  settle(): Promise<void> {
    return this.home.stores.settle(this.home.settings().id)
  }

  get logState(): LogState {
    return { position: this.storage.log.lastSeq, log: this.storage.log.files() }
  }

  async close(): Promise<void> {
    this.closing.abort(new Error('The project is closed'))
    await this.loading
    try {
      await this.pipeline.close()
    } finally {
      await this.lists?.close().catch(this.home.onError) // once the store has what they have
      await this.storage.close()
    }
  }

  /** Reads what the lists had when the project was closed, behind everything else: the first question does not wait for it. */
  preload(): void {
    const { lists } = this
    const { home, storage } = this
    if (!lists || storage.cacheFolder === null || this.loading) return
    const source = storage.engine.lists!.source(storage.engine.statements(home.admission.upkeep(home.settings().id)))
    this.loading = lists
      .preload(source)
      .catch(home.onError)
      .finally(() => {
        this.loading = null
      })
  }

  private folding(statements: Statements): Pick<QueryProject, 'fold' | 'lacks' | 'threads'> {
    const { lists } = this
    const source = this.storage.engine.lists?.source(statements)
    if (!lists || !source) return {}
    const { threads } = this.home
    const fold: QueryProject['fold'] = async (seq, columns, loop) => {
      const values = lists.isLoaded ? lists.lacking(seq, columns) : null
      const since = performance.now()
      const folded = await lists.use(source, seq, columns, (listed) => {
        this.rates.hasRead(values, (performance.now() - since) / 1000)
        return loop(listed)
      })
      return folded !== null
    }
    const lacks: QueryProject['lacks'] = (seq, columns, { label, isRare }) => {
      if (this.rates.isFaster(lists.lacking(seq, columns), label, seq)) return null
      const isLoaded = !isRare || this.lacks(columns)
      return {
        load: ({ seconds, isWhole }, again) => {
          this.rates.hasAnswered(label, seq, seconds, isWhole)
          if (isLoaded) this.load(seq, columns, again)
        },
      }
    }
    return { fold, lacks, ...(threads && { threads }) }
  }

  /** Whether it was lacking before. */
  private lacks(columns: ColumnSource): boolean {
    const key = keyOf(columns)
    const isKnown = this.lacked.get(key) === true
    this.lacked.trim()
    this.lacked.set(key, true)
    return isKnown
  }

  /** One load at a time: what comes meanwhile is asked for again by the next query. */
  private load(seq: number, { columns }: ColumnSource, sourceOf: Parameters<Lacking['load']>[1]): void {
    const key = keyOf({ columns })
    const now = performance.now()
    for (const [one, at] of this.loadedAt) if (now - at > loadAgainMs) this.loadedAt.delete(one)
    const { engine } = this.storage
    const { signal } = this.closing
    if (this.loading || this.loadedAt.has(key) || signal.aborted) return
    const work = async () => {
      const project = await this.forQueries(this.home.admission.upkeep(this.home.settings().id))
      const values = await sourceOf(project, signal)
      if (values instanceof Refusal) return
      const source = engine.lists!.source(project)
      const events: typeof source.events = (...range) => {
        signal.throwIfAborted()
        return source.events(...range)
      }
      const lacking = this.lists!.isLoaded ? this.lists!.lacking(seq, values) : null
      const since = performance.now()
      await this.lists!.load({ ...source, events }, seq, values)
      this.rates.hasRead(lacking, (performance.now() - since) / 1000)
    }
    this.loading = work()
      .catch((error) => {
        // The query was answered without it. What the engine refuses, it has refused then.
        if (!signal.aborted && !(error instanceof QueryError)) this.home.onError(error)
      })
      .finally(() => {
        this.loading = null
        this.loadedAt.set(key, performance.now())
      })
  }

  private async readyFor(query: unknown, claim: Claim): Promise<QueryProject> {
    const project = await claim.awaits(this.forQueries(claim))
    const read = cohortsMayBeIn(query, project.settings)
    const actions = namesActions(jsonText(read) ?? '') ? (await claim.awaits(project.facts())).actions.values() : []
    if (!namesCohorts(read, actions)) return project
    const failures = await claim.awaits(this.cohorts.refresh())
    return failures.size > 0 ? { ...project, failedCohorts: failures } : project
  }
}

/** Also releases claims whose rows are never read. */
const keyOf = ({ columns }: Pick<ColumnSource, 'columns'>): string =>
  JSON.stringify(columns.map((spec) => (spec.of === 'made' ? spec.make : spec.key)))

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

const limited = <P extends object>(project: P, rowLimits: RowLimits): P => (rowLimits ? { ...project, rowLimits } : project)

/** What a query reads besides the store. */
function cohortsMayBeIn(query: unknown, { testAccountFilters, views }: QueryProject['settings']): unknown[] {
  const read = views && Object.keys(views).length > 0 ? viewsNamedIn(jsonText(query) ?? '', views) : []
  return [query, testAccountFilters, read]
}
