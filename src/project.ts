import { join } from 'node:path'
import type { RecordBatch, Table } from 'apache-arrow'
import { settingsWithDefaults } from './accounts/project-fields.ts'
import type { ProjectRecord } from './accounts/records.ts'
import type { KnownEvent, KnownProperty } from './catalog/known-names.ts'
import type { StoreFacts } from './catalog/store-facts.ts'
import { type ActionService, actionFieldNames, actionService, type StoredAction } from './definitions/actions.ts'
import type { CohortInput } from './definitions/cohorts.ts'
import { type CohortService, cohortFieldNames, cohortService, namesCohorts } from './definitions/cohorts.ts'
import type { StoredCohort } from './definitions/stored-cohort.ts'
import { WaymarkError } from './errors/errors.ts'
import { mustKnow } from './errors/must-know.ts'
import { answerQuery } from './execution/answer.ts'
import { answerRows, type RowsAnswer } from './execution/answer-rows.ts'
import { queryArrow, queryArrowBatches } from './execution/arrow.ts'
import { type Claim, ended } from './execution/asking/admission.ts'
import {
  type Asked,
  type Asker,
  type Asking,
  library,
  longestQueryId,
  type Outcome,
  type Source,
  statusAnswer,
  waitedForSeconds,
} from './execution/asking/asking.ts'
import { presentRun, type QueryStatus } from './execution/asking/query-runs.ts'
import { type RefreshMode, refreshMode } from './execution/asking/refresh.ts'
import type { AnswerOptions } from './execution/checkpoint.ts'
import { definitionStore } from './execution/definition-store.ts'
import type { QueryProject } from './execution/query-context.ts'
import { isHistorical } from './ingestion/decode-batch.ts'
import type { EventSource } from './ingestion/event-source.ts'
import type { GroupImportOptions, GroupInput, IngestInput, PersonInput, PropertyTypeInput } from './ingestion/inputs.ts'
import { type BatchFacts, type IngestAnswer, Pipeline } from './ingestion/pipeline.ts'
import type { WarningSummary } from './ingestion/warnings.ts'
import { atOnce, type Turns } from './lib/turns.ts'
import type { ActionInput } from './queries/action-definition.ts'
import { queryAsked } from './queries/asked-query.ts'
import type { ProjectSettings, QueryContext } from './queries/kind.ts'
import type { FieldsByKind, Query, QueryAnswer, QueryKindName, SqlAnswerOf } from './queries/query-types.ts'
import { statementFrom } from './queries/sql/template.ts'
import type { ProjectStorage } from './storage/project-storage.ts'
import type { RecoveryNotice, RecoveryReport } from './storage/recovery-report.ts'
import type { Stores } from './storage/stores.ts'

export type { KnownEvent, KnownProperty } from './catalog/known-names.ts'
export type { ActionService, StoredAction } from './definitions/actions.ts'
export type { CohortService, CohortState } from './definitions/cohorts.ts'
export type { StoredCohort } from './definitions/stored-cohort.ts'
export type { IngestAnswer } from './ingestion/pipeline.ts'
export type { Warning, WarningSummary, WarningType } from './ingestion/warnings.ts'

/** What a project needs of the directory it lives in. */
export interface ProjectHome {
  readonly stores: Stores
  readonly clock: () => Date
  /** The project's fields as they are now. */
  record(id: number): Promise<ProjectRecord | undefined>
  noteFirstEvents(id: number): Promise<void>
  /** Events of the past that came in. */
  countImported(id: number, events: number): Promise<void>
  /** What all projects of the directory are asked through. */
  asking(): Asking
  /** Turns for what a project asks its store by itself; no longer than so many seconds each. */
  upkeep(id: number, seconds?: number): Turns
  onError(error: unknown): void
  onRecovery(projectId: number, notice: RecoveryNotice): void
  /** Aborts when the directory is closed. */
  readonly signal?: AbortSignal
}

/** The key of a project's own closing: `Waymark` closes projects, callers do not. */
export const closeProject = Symbol('closeProject')

/** Whether a kept answer will do, and whether to wait for a new one. */
export type Refresh = boolean | RefreshMode | null | undefined
/** Those that always end with an answer. */
export type Waiting = boolean | 'blocking' | 'force_blocking' | 'force_cache' | null | undefined

export interface QueryOptions<R extends Refresh = Refresh> extends Pick<AnswerOptions, 'signal'> {
  /** As in a request over HTTP: whether an answer that is kept will do, and whether to wait for a new one. */
  readonly refresh?: R
  /** As in a request over HTTP: a name by which the query can be looked for and cancelled. */
  readonly client_query_id?: string | null
  /** Rows of an answer: when the query does not say, and at most. */
  readonly rows?: QueryContext['limits']
}

/** Of each statement that finds members for a cohort. */
const upkeepSeconds = 60

export async function openProject(
  home: ProjectHome,
  record: ProjectRecord,
  { isThorough }: { readonly isThorough?: boolean } = {},
): Promise<Project> {
  const { clock, onError, signal } = home
  const started = performance.now()
  const notify = (notice: RecoveryNotice) => home.onRecovery(record.id, notice)
  const storage = await home.stores.open(record.id, { hadEvents: record.ingested_event, isThorough })
  const current = { record }
  try {
    const { recovery, engine, log, cacheFolder } = storage
    for (const report of storage.reports) notify(report)
    if (recovery) notify({ ...recovery, kind: 'store-recovering' })
    const writer = await engine.openWriter()
    try {
      const settings = () => ({ anonymizeIps: settingsWithDefaults(current.record.settings).anonymize_ips === true })
      const uuidFolder = cacheFolder && join(cacheFolder, 'uuids')
      const pipeline = await Pipeline.open({ log, writer, uuidFolder, projectId: record.id, clock, settings, onError, signal })
      const reports = [...storage.reports]
      if (recovery) {
        const report = { ...recovery, ...(await engine.count()), seconds: (performance.now() - started) / 1000 }
        reports.push(report)
        notify(report)
      }
      return new Project(home, storage, reports, pipeline, current)
    } catch (error) {
      await writer.close()
      throw error
    }
  } catch (error) {
    await storage.abandon()
    throw error
  }
}

/** One project: its events go in, its queries are answered. */
export class Project {
  readonly id: number
  /** What clients send events with: the project key. */
  get token(): string {
    return this.current.record.api_token
  }
  /** List, create, retrieve, update and remove. */
  readonly actions: ActionService
  readonly cohorts: CohortService
  private readonly home: ProjectHome
  private readonly storage: ProjectStorage
  private readonly reports: readonly RecoveryReport[]
  private readonly pipeline: Pipeline
  private readonly current: { record: ProjectRecord }
  private isClosed = false

  /** @internal Use `waymark.createProject` or `waymark.project`. */
  constructor(
    home: ProjectHome,
    storage: ProjectStorage,
    reports: readonly RecoveryReport[],
    pipeline: Pipeline,
    current: { record: ProjectRecord },
  ) {
    this.home = home
    this.storage = storage
    this.reports = reports
    this.pipeline = pipeline
    this.current = current
    this.id = current.record.id
    const definitions = definitionStore({
      members: storage.engine.members(home.upkeep(this.id)),
      write: (records) => pipeline.writeRecords(records),
      clock: home.clock,
      queries: () => this.forQueries(home.upkeep(this.id, upkeepSeconds)),
    })
    this.actions = actionService(definitions)
    this.cohorts = cohortService(definitions)
  }

  /**
   * Takes what `POST /batch/` takes, less the key. Resolves when the batch is durable.
   *
   * @example await project.ingest({ batch: [{ event: 'signup', distinct_id: 'u1', properties: { plan: 'pro' } }] })
   */
  async ingest(body: IngestInput, about: { readonly ip?: string | null } = {}): Promise<IngestAnswer> {
    return this.take(body, about)
  }

  /** @internal What came over a wire. */
  async take(body: unknown, about: { readonly ip?: string | null } = {}): Promise<IngestAnswer> {
    await this.refresh()
    const answer = await this.pipeline.ingest(body, about)
    if (isHistorical(body)) await this.home.countImported(this.id, answer.accepted)
    return this.noted(answer)
  }

  /** @internal The same of events that are read while they are prepared, for the HTTP API. */
  async ingestEvents(events: EventSource, facts: BatchFacts): Promise<IngestAnswer> {
    await this.refresh()
    return this.noted(await this.pipeline.ingestEvents(events, facts))
  }

  private async noted(answer: IngestAnswer): Promise<IngestAnswer> {
    if (answer.accepted > 0 && !this.current.record.ingested_event) await this.home.noteFirstEvents(this.id)
    return answer
  }

  /**
   * Makes persons with their distinct ids in one step; answers their uuids in order.
   *
   * @example const { ids } = await project.importPersons([{ distinct_ids: ['u1', 'anon-7'], properties: { plan: 'pro' } }])
   */
  importPersons(rows: readonly PersonInput[]): Promise<{ ids: readonly string[] }> {
    return this.pipeline.importPersons(rows)
  }

  /** @example await project.importGroups([{ group_type: 'company', group_key: 'acme', properties: { size: 40 } }]) */
  async importGroups(rows: readonly GroupInput[], options: GroupImportOptions = {}): Promise<void> {
    mustKnow(options, ['group_types'], 'importGroups')
    return this.pipeline.importGroups(rows, options)
  }

  /** @example await project.definePropertyTypes([{ type: 'event', name: 'price', property_type: 'Numeric' }]) */
  definePropertyTypes(rows: readonly PropertyTypeInput[]): Promise<void> {
    return this.pipeline.definePropertyTypes(rows)
  }

  /** @example const { id } = await project.createAction({ name: 'Paid', steps: [{ event: 'purchase' }] }) */
  async createAction(fields: ActionInput): Promise<StoredAction> {
    mustKnow(fields, actionFieldNames, 'createAction')
    return this.actions.create(fields)
  }

  /** @example const { id } = await project.createCohort({ name: 'Pros', is_static: true, person_ids: ids }) */
  async createCohort(fields: CohortInput): Promise<StoredCohort> {
    mustKnow(fields, cohortFieldNames, 'createCohort')
    return this.cohorts.create(fields)
  }

  /** A statement whose rows have a known shape: `project.query<[string, number]>(…)`. */
  query<Row extends readonly unknown[] = readonly unknown[]>(
    query: Query<'SqlLikeQuery' | 'HogQLQuery'>,
    options?: QueryOptions<Waiting>,
  ): Promise<SqlAnswerOf<Row>>
  /**
   * Answers the very JSON of the HTTP endpoint, from everything acknowledged before the call. With a `refresh` that does not wait, it may be a status.
   *
   * @example await project.query({ kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'signup' }] })
   */
  query<K extends QueryKindName, R extends Refresh = undefined>(
    query: { readonly kind: K } & FieldsByKind[K],
    options?: QueryOptions<R>,
  ): Promise<R extends Waiting ? QueryAnswer<K> : QueryAnswer<K> | QueryStatus>
  query(query: Query, options: QueryOptions = {}): Promise<unknown> {
    return this.answer(query, options)
  }

  /**
   * A statement whose values travel as parameters, so that no value is ever a part of its text.
   *
   * @example const { results } = await project.sql<[string, number]>`select event, count() from events where event = ${name} group by event`
   */
  async sql<Row extends readonly unknown[] = readonly unknown[]>(
    texts: TemplateStringsArray,
    ...values: readonly unknown[]
  ): Promise<SqlAnswerOf<Row>> {
    return this.query<Row>({ kind: 'SqlLikeQuery', ...statementFrom(texts, values) })
  }

  /** @internal A query as it came over a wire. */
  async answer(query: unknown, options: QueryOptions = {}): Promise<object> {
    mustKnow(options, queryOptionNames, 'query')
    const { signal, rows, client_query_id = null } = options
    const refresh = refreshMode(options.refresh)
    if (client_query_id !== null && !isQueryId(client_query_id)) {
      const message = `client_query_id must be a text of 1 to ${longestQueryId} characters`
      throw new WaymarkError('validation-failed', { message, attr: 'client_query_id' })
    }
    const asked = { query: queryAsked(query), refresh, client_query_id, wantsStatus: false }
    const outcome = await this.ask(asked, { signal, rows })
    return 'status' in outcome ? statusAnswer(outcome.status) : outcome.answer
  }

  /** @internal What a request over HTTP asks. */
  async ask(asked: Asked, { rows, ...asker }: Asker & Pick<QueryOptions, 'rows'>): Promise<Outcome> {
    await this.refresh()
    const source: Source = {
      project: this.current.record,
      position: () => this.pipeline.position,
      compute: async (query, { claim, progress }) =>
        answerQuery(query, limited(await this.readyFor(query, claim), rows), { signal: claim.signal, checkpoint: claim.check, progress }),
    }
    return this.home.asking().ask(source, asked, asker)
  }

  /**
   * How far a query in the background is, with its answer at the end; kept for ten minutes. Unknown ids reject.
   *
   * @example const { complete, error, results } = await project.queryStatus('nightly')
   */
  async queryStatus(id: string): Promise<QueryStatus> {
    const { runs } = this.home.asking()
    const run = await runs.poll(this.id, id)
    return presentRun(run, runs.progress(run))
  }

  /**
   * Stops a query by its `client_query_id` and forgets its status, whether somebody waits for it or not.
   *
   * @example await project.cancelQuery('nightly')
   */
  async cancelQuery(id: string): Promise<void> {
    await this.home.asking().runs.cancel(this.id, id)
  }

  /**
   * The rows of a query as one Arrow table: of a statement all it asks for, of a list those of its answer.
   *
   * @example const table = await project.queryArrow({ kind: 'SqlLikeQuery', query: 'select event, count() from events group by event' })
   */
  async queryArrow(query: Query, options: Pick<QueryOptions, 'signal'> = {}): Promise<Table> {
    const claim = this.claim(options)
    return ended(
      claim,
      this.readyFor(query, claim).then((project) => queryArrow(query, project, { signal: claim.signal, checkpoint: claim.check })),
    )
  }

  /** The same batch by batch, so that a result larger than memory can pass through. */
  async *queryArrowBatches(query: Query, options: Pick<QueryOptions, 'signal'> = {}): AsyncGenerator<RecordBatch, void, undefined> {
    const claim = this.claim(options)
    try {
      yield* claim.paced(queryArrowBatches(query, await this.readyFor(query, claim), { signal: claim.signal, checkpoint: claim.check }))
    } finally {
      claim.end()
    }
  }

  /** @internal The rows of an answer as the engine makes them, with its limits; null where an answer is no list of rows. */
  async queryRows(query: unknown, claim: Claim, rows?: QueryOptions['rows']): Promise<RowsAnswer | null> {
    const answer = await answerRows(query, limited(await this.readyFor(query, claim), rows), {
      signal: claim.signal,
      checkpoint: claim.check,
    })
    return answer && { ...answer, batches: claim.paced(answer.batches) }
  }

  /**
   * The event names that have been seen, the most frequent first.
   *
   * @example for (const { name, count } of await project.events()) console.log(name, count)
   */
  async events(): Promise<readonly KnownEvent[]> {
    await this.forQueries()
    return this.storage.engine.events()
  }

  /**
   * The properties of events, persons and groups that have been seen or declared, with the kinds of their values.
   *
   * @example const declared = (await project.properties()).filter(({ property_type }) => property_type !== null)
   */
  async properties(): Promise<readonly KnownProperty[]> {
    await this.forQueries()
    return this.storage.engine.properties()
  }

  /** @internal How many records of the log queries would still wait for. */
  get lag(): number {
    return this.pipeline.lag
  }

  /** @internal Why acknowledged events do not get into the store; null as long as they do. */
  get failure(): unknown {
    return this.pipeline.failure
  }

  /** @internal */
  async groupTypes(): Promise<StoreFacts['groupTypes']> {
    return (await (await this.forQueries()).facts()).groupTypes
  }

  /**
   * What was altered or left out of the events acknowledged so far: exact counts, with a few samples of each kind.
   *
   * @example for (const { type, count } of await project.warnings()) console.log(type, count)
   */
  async warnings(): Promise<readonly WarningSummary[]> {
    await this.pipeline.caughtUp()
    return this.pipeline.warnings()
  }

  /** What had to be mended when the project was opened; empty after an ordinary start. */
  recoveryReports(): readonly RecoveryReport[] {
    return this.reports
  }

  /** @internal */
  async [closeProject](): Promise<void> {
    this.isClosed = true
    await this.pipeline.close()
    await this.storage.close()
  }

  private claim({ signal }: QueryOptions): Claim {
    return this.home.asking().admission.claim({ project: this.id, caller: library, signal, seconds: waitedForSeconds })
  }

  private async readyFor(query: unknown, claim: Claim): Promise<QueryProject> {
    const project = await claim.awaits(this.forQueries(claim))
    if (!namesCohorts([query, project.settings.testAccountFilters])) return project
    const failures = await claim.awaits(this.cohorts.refresh())
    return failures.size > 0 ? { ...project, given: (context) => withFailures(context, failures) } : project
  }

  private async refresh(): Promise<void> {
    if (this.isClosed) throw new WaymarkError('closed', {})
    const record = await this.home.record(this.id)
    if (!record) throw new WaymarkError('not-found', { what: 'project', id: String(this.id) })
    this.current.record = record
  }

  /** @internal The project as a query sees it, with everything acknowledged: nothing changes while it runs but the rows themselves. */
  async forQueries(turns: Turns = atOnce()): Promise<QueryProject> {
    await this.refresh()
    await this.pipeline.caughtUp()
    const { engine } = this.storage
    return {
      settings: settingsOf(this.current.record),
      now: this.home.clock(),
      dialect: engine.dialect,
      limits: engine.limits,
      facts: () => engine.facts(),
      ...engine.statements(turns),
    }
  }
}

const queryOptionNames = ['signal', 'refresh', 'client_query_id', 'rows']

const isQueryId = (id: unknown) => typeof id === 'string' && id !== '' && id.length <= longestQueryId

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

/** A cohort that cannot be brought up to date stops the queries that name it, and no others. */
const withFailures = (context: QueryContext, failures: ReadonlyMap<number, WaymarkError>): Pick<QueryContext, 'cohort'> => ({
  cohort(which) {
    const found = context.cohort(which)
    const failure = found && failures.get(found.id)
    if (failure) throw failure
    return found
  },
})

const limited = (project: QueryProject, limits: QueryContext['limits']): QueryProject =>
  limits ? { ...project, given: (context) => ({ ...project.given?.(context), limits }) } : project
