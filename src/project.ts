import type { RecordBatch, Table } from 'apache-arrow'
import type { Wanted } from './engine/admission/admission.ts'
import type { Answer } from './engine/admission/answer.ts'
import type { Backends, LogState, RowLimits } from './engine/backend/backend.ts'
import type { Compacted, Compacting } from './engine/backend/compaction.ts'
import { OnDemandBackend } from './engine/backend/on-demand.ts'
import { OpenLimit } from './engine/backend/open-limit.ts'
import { type ActionService, actionFieldNames, type StoredAction } from './engine/definitions/actions.ts'
import type { CohortInput } from './engine/definitions/cohorts.ts'
import { type CohortService, cohortFieldNames } from './engine/definitions/cohorts.ts'
import type { StoredCohort } from './engine/definitions/stored-cohort.ts'
import type { RowsAnswer } from './engine/execution/answer-rows.ts'
import type { Download, DownloadFormat } from './engine/execution/download.ts'
import type { StoreDigest } from './engine/execution/ports.ts'
import type { RecoveryNotice, RecoveryReport } from './engine/storage/recovery/recovery-report.ts'
import { checkOptionNames } from './errors/check-option-names.ts'
import { WaymarkError } from './errors/errors.ts'
import type { Preparing } from './events/bulk/prepare-part.ts'
import type { Salts } from './events/ingestion/cookieless/salts.ts'
import { isHistorical } from './events/ingestion/decoding/decode-batch.ts'
import type { EventSource } from './events/ingestion/decoding/event-source.ts'
import type { GroupImportOptions, GroupInput, IngestInput, PersonInput, PropertyTypeInput } from './events/ingestion/decoding/inputs.ts'
import type { BatchFacts, IngestAnswer } from './events/ingestion/intake.ts'
import type { Transformations } from './events/ingestion/transforming/ports.ts'
import type { WarningSummary } from './events/ingestion/warnings.ts'
import type { WireBatch } from './events/ingestion/wire-batch.ts'
import type { GroupChange, PersonChange } from './events/ingestion/work.ts'
import type { KnownEvent, KnownProperty, NamesAsked, NamesFound } from './language/catalog/known-names.ts'
import type { HistoryAsked, PersonVersion } from './language/catalog/person-history.ts'
import type { PropertyScope, RemovalCounts } from './language/catalog/removals.ts'
import type { StoreFacts } from './language/catalog/store-facts.ts'
import type { CurrencyRates } from './language/types/currency-rates.ts'
import { traced } from './lib/flow/tracing.ts'
import { queryAsked } from './queries/asked-query.ts'
import type { ActionInput } from './queries/filters/action-definition.ts'
import type {
  FieldsByKind,
  FunnelView,
  PlainFunnel,
  PlainFunnelAnswer,
  Query,
  QueryAnswer,
  QueryKindName,
  SplitFunnel,
  SplitFunnelAnswer,
  SqlAnswerOf,
} from './queries/query-types.ts'
import { statementFrom } from './queries/sql/template.ts'
import type { ProjectRecord } from './service/accounts/records.ts'
import {
  type AskedRequest,
  type Asking,
  library,
  longestQueryId,
  type Outcome,
  type QueryCaller,
  type Source,
  statusAnswer,
  waitedForSeconds,
} from './service/asking/asking.ts'
import { backendSettings } from './service/asking/backend-settings.ts'
import type { QueryForm } from './service/asking/observed-queries.ts'
import { presentRun, type QueryStatus } from './service/asking/query-runs.ts'
import { refreshMode } from './service/asking/refresh.ts'
import type { AttachedTables } from './service/attached/attached.ts'
import type { ExportRows } from './service/exports/ports.ts'
import type { EventReader } from './service/plugins/delivery/ports.ts'
import { type ViewerTokenInput, viewerTokenFields } from './service/viewers/grant.ts'
import type { Project, QueryOptions, Refresh, Waiting } from './waymark.ts'

export type { ActionService, StoredAction } from './engine/definitions/actions.ts'
export type { CohortService, CohortState } from './engine/definitions/cohorts.ts'
export type { StoredCohort } from './engine/definitions/stored-cohort.ts'
export { type DownloadFormat, downloadFormats } from './engine/execution/download.ts'
export type { IngestAnswer } from './events/ingestion/intake.ts'
export type { Warning, WarningSummary, WarningType } from './events/ingestion/warnings.ts'
export type { KnownEvent, KnownProperty, NamesAsked, NamesFound } from './language/catalog/known-names.ts'
export type { HistoryAsked, PersonVersion } from './language/catalog/person-history.ts'

/** The context that a project gets from its directory. */
export interface ProjectHome {
  readonly backends: Backends
  readonly clock: () => Date
  /** The current fields of the project. */
  record(id: number): Promise<ProjectRecord | undefined>
  noteFirstEvents(id: number): Promise<void>
  /** Counts imported past events. */
  countImported(id: number, events: number): Promise<void>
  /** Counts what was acknowledged. `isPast`: an import of the past. */
  countArrived?(id: number, answer: IngestAnswer, isPast: boolean): void
  viewerToken(project: ProjectRecord, options: ViewerTokenInput): Promise<string>
  /** Of the plugins of a project. Absent: events are stored as they were sent. */
  transformations?(id: number): Transformations
  /** Absent: the server has none. */
  readonly currencyRates?: CurrencyRates | undefined
  /** Absent: the operator has attached nothing. */
  readonly attached?: Pick<AttachedTables, 'of' | 'refreshed'> | undefined
  /** For visitors without cookies. */
  readonly salts?: Salts | undefined
  /** Executes the queries of all projects of the directory. */
  asking(): Asking
  onError(error: unknown): void
  onRecovery(projectId: number, notice: RecoveryNotice): void
  /** Aborts when the directory is closed. */
  readonly signal?: AbortSignal
}

export { OpenLimit }

/** Only `Waymark` may open and close projects; it passes these keys. */
export const closeProject = Symbol('closeProject')
export const firstOpened = Symbol('firstOpened')
export const openFailure = Symbol('openFailure')

/** Its first use opens it. */
export function newProject(home: ProjectHome, record: ProjectRecord, limit: OpenLimit): LocalProject {
  const { clock, onError, signal, backends, salts, currencyRates, attached } = home
  const current = { record }
  const onRecovery = (notice: RecoveryNotice) => home.onRecovery(record.id, notice)
  const transformations = home.transformations?.(record.id)
  const settings = () => ({ ...backendSettings(current.record), currencyRates, attached: attached?.of(record.id) })
  const ofProject = { clock, onError, signal, onRecovery, transformations, salts, settings }
  return new LocalProject(home, new OnDemandBackend(ofProject, backends, limit, backends.positionOf(record.id)), current)
}

function mustBeRowLimits(rows: NonNullable<RowLimits>): void {
  checkOptionNames(rows, ['defaultRows', 'mostRows'], 'rows', ['rows'])
  for (const name of ['defaultRows', 'mostRows'] as const) {
    const count: number | undefined = (rows as Partial<NonNullable<RowLimits>>)[name]
    const message = `rows.${name} must be a whole number from 0, got ${count}`
    if (!Number.isSafeInteger(count) || count! < 0) throw new WaymarkError('validation-failed', { message, attr: `rows__${name}` })
  }
}

/** One project: ingests events and answers queries. */
export class LocalProject implements Project {
  readonly id: number
  get token(): string {
    return this.current.record.api_token
  }
  readonly actions: ActionService
  readonly cohorts: CohortService
  private readonly home: ProjectHome
  private readonly backend: OnDemandBackend
  private readonly current: { record: ProjectRecord }
  private isClosed = false

  /** @internal Use `waymark.createProject` or `waymark.project`. */
  constructor(home: ProjectHome, backend: OnDemandBackend, current: { record: ProjectRecord }) {
    this.home = home
    this.backend = backend
    this.current = current
    this.id = current.record.id
    this.actions = backend.actions
    this.cohorts = backend.cohorts
  }

  async ingest(body: IngestInput, about: { readonly ip?: string | null; readonly userAgent?: string | null } = {}): Promise<IngestAnswer> {
    return this.take(body, about)
  }

  /** @internal A batch as received over HTTP. */
  async take(body: unknown, about: Pick<BatchFacts, 'ip' | 'userAgent' | 'attempt' | 'importId'> = {}): Promise<IngestAnswer> {
    await this.refresh()
    const answer = await this.captured(() => this.backend.ingest(body, about))
    const isPast = isHistorical(body)
    if (isPast) await this.home.countImported(this.id, answer.accepted)
    return this.noted(answer, isPast)
  }

  /** @internal The same with events that are parsed while they are prepared, for the HTTP API. */
  async ingestEvents(events: EventSource, facts: BatchFacts): Promise<IngestAnswer> {
    await this.refresh()
    return this.noted(await this.captured(() => this.backend.ingestEvents(events, facts)), facts.isHistorical === true)
  }

  /** @internal What other threads need to know to prepare past events. */
  async preparing(): Promise<Preparing> {
    await this.refresh()
    const { anonymizeIps } = backendSettings(this.current.record)
    return { receivedAt: this.home.clock().getTime(), anonymizeIps }
  }

  /** @internal Past events that another thread has prepared. */
  async takePrepared(batch: WireBatch): Promise<IngestAnswer> {
    await this.refresh()
    const answer = await this.captured(() => this.backend.ingestPrepared(batch))
    await this.home.countImported(this.id, answer.accepted)
    return this.noted(answer, true)
  }

  private captured(work: () => Promise<IngestAnswer>): Promise<IngestAnswer> {
    return traced('capture', { 'waymark.project': this.id }, async (note) => {
      const answer = await work()
      note({ 'waymark.events': answer.accepted })
      return answer
    })
  }

  private async noted(answer: IngestAnswer, isPast: boolean): Promise<IngestAnswer> {
    this.home.countArrived?.(this.id, answer, isPast)
    if (answer.accepted > 0 && !this.current.record.ingested_event) await this.home.noteFirstEvents(this.id)
    return answer
  }

  importPersons(rows: readonly PersonInput[]): Promise<{ ids: readonly string[] }> {
    return this.backend.records.importPersons(rows)
  }

  async importGroups(rows: readonly GroupInput[], options: GroupImportOptions = {}): Promise<void> {
    checkOptionNames(options, ['group_types'], 'importGroups')
    return this.backend.records.importGroups(rows, options)
  }

  definePropertyTypes(rows: readonly PropertyTypeInput[]): Promise<void> {
    return this.backend.records.definePropertyTypes(rows)
  }

  /** @internal Changes of persons by users, for the HTTP API. */
  changePersons(changes: readonly PersonChange[]): Promise<readonly boolean[]> {
    return this.backend.records.changePersons(changes)
  }

  /** @internal For each person, how many distinct ids it had; null if there is no such person. */
  deletePersons(persons: readonly string[], withEvents: boolean): Promise<readonly (number | null)[]> {
    return this.backend.records.deletePersons(persons, withEvents)
  }

  /** @internal Removes a property from everything that is stored. */
  removeProperty(scope: PropertyScope, name: string): Promise<RemovalCounts> {
    return this.backend.records.removeProperty(scope, name)
  }

  /** @internal Removes what an import has stored. */
  removeImport(id: string): Promise<RemovalCounts> {
    return this.backend.records.removeImport(id)
  }

  /** @internal Removes what the project keeps for a limited time. */
  async removeOld(): Promise<RemovalCounts> {
    await this.refresh()
    return this.backend.records.removeOld()
  }

  /** @internal How many events of an import are stored. */
  importedEvents(id: string): Promise<number> {
    return this.backend.known.importedEvents(id)
  }

  /** @internal */
  removedEvents(): Promise<number> {
    return this.backend.known.removedEvents()
  }

  /** @internal A page of the properties that a person has had. */
  personHistory(asked: HistoryAsked): Promise<readonly PersonVersion[]> {
    return this.backend.known.personHistory(asked)
  }

  /** @internal */
  changeGroup(change: GroupChange): Promise<void> {
    return this.backend.records.changeGroup(change)
  }

  async createAction(fields: ActionInput): Promise<StoredAction> {
    checkOptionNames(fields, actionFieldNames, 'createAction')
    return this.actions.create(fields)
  }

  async createCohort(fields: CohortInput): Promise<StoredCohort> {
    checkOptionNames(fields, cohortFieldNames, 'createCohort')
    return this.cohorts.create(fields)
  }

  async viewerToken(options: ViewerTokenInput): Promise<string> {
    checkOptionNames(options, viewerTokenFields, 'viewerToken')
    return this.home.viewerToken(this.current.record, options)
  }

  query<Row extends readonly unknown[] = readonly unknown[]>(
    query: Query<'SqlLikeQuery' | 'HogQLQuery'>,
    options?: QueryOptions<Waiting>,
  ): Promise<SqlAnswerOf<Row>>
  query<View extends FunnelView = 'steps', R extends Refresh = undefined>(
    query: PlainFunnel<View>,
    options?: QueryOptions<R>,
  ): Promise<R extends Waiting ? PlainFunnelAnswer<View> : PlainFunnelAnswer<View> | QueryStatus>
  query<View extends FunnelView = 'steps', R extends Refresh = undefined>(
    query: SplitFunnel<View>,
    options?: QueryOptions<R>,
  ): Promise<R extends Waiting ? SplitFunnelAnswer<View> : SplitFunnelAnswer<View> | QueryStatus>
  query<K extends QueryKindName, R extends Refresh = undefined>(
    query: { readonly kind: K } & FieldsByKind[K],
    options?: QueryOptions<R>,
  ): Promise<R extends Waiting ? QueryAnswer<K> : QueryAnswer<K> | QueryStatus>
  query(query: Query, options: QueryOptions = {}): Promise<unknown> {
    return this.answer(query, options)
  }

  async sql<Row extends readonly unknown[] = readonly unknown[]>(
    texts: TemplateStringsArray,
    ...values: readonly unknown[]
  ): Promise<SqlAnswerOf<Row>> {
    return this.query<Row>({ kind: 'SqlLikeQuery', ...statementFrom(texts, values) })
  }

  /** @internal A query as received over HTTP. */
  async answer(query: unknown, options: QueryOptions = {}): Promise<object> {
    checkOptionNames(options, queryOptionNames, 'query')
    const { signal, rows, client_query_id = null } = options
    if (rows !== undefined) mustBeRowLimits(rows)
    const refresh = refreshMode(options.refresh)
    if (client_query_id !== null && !isQueryId(client_query_id)) {
      const message = `client_query_id must be a string of 1 to ${longestQueryId} characters`
      throw new WaymarkError('validation-failed', { message, attr: 'client_query_id' })
    }
    const asked = { query: queryAsked(query), refresh, client_query_id, wantsStatus: false }
    const outcome = await this.ask(asked, { signal, rows })
    return 'status' in outcome ? statusAnswer(outcome.status) : outcome.answer.object
  }

  /** @internal The query of an HTTP request. */
  async ask(asked: AskedRequest, { rows, ...asker }: QueryCaller & Pick<QueryOptions, 'rows'>): Promise<Outcome> {
    await this.refreshForQuery()
    await this.backend.positioned()
    const source: Source = {
      project: this.current.record,
      position: () => this.backend.position,
      attached: () => this.home.attached?.of(this.id)?.version ?? '',
      compute: (query, computing) =>
        this.observed(query, 'answer', computing.wanted, () => this.backend.answer(query, { ...computing, rows })),
    }
    return this.home.asking().ask(source, asked, asker)
  }

  /** @internal The cached answer of a query, however old it is. */
  async cachedAnswer(query: AskedRequest['query']): Promise<Answer | null> {
    await this.refresh()
    return this.home.asking().cached(this.current.record, query)
  }

  /** @internal When the cached answer of a query was computed. */
  async cachedAt(query: AskedRequest['query']): Promise<Date | null> {
    await this.refresh()
    return this.home.asking().cachedAt(this.current.record, query)
  }

  async queryStatus(id: string): Promise<QueryStatus> {
    const { runs } = this.home.asking()
    const run = await runs.poll(this.id, id)
    return presentRun(run, await runs.progress(run))
  }

  async cancelQuery(id: string): Promise<void> {
    await this.home.asking().runs.cancel(this.id, id)
  }

  async queryArrow(query: Query, options: Pick<QueryOptions, 'signal'> = {}): Promise<Table> {
    checkOptionNames(options, ['signal'], 'queryArrow')
    await this.refreshForQuery()
    const wanted = this.wanted(options)
    return this.observed(query, 'rows', wanted, () => this.backend.table(query, wanted))
  }

  async *queryArrowBatches(query: Query, options: Pick<QueryOptions, 'signal'> = {}): AsyncGenerator<RecordBatch, void, undefined> {
    checkOptionNames(options, ['signal'], 'queryArrowBatches')
    await this.refreshForQuery()
    yield* this.backend.batches(query, this.wanted(options))
  }

  /** @internal The rows of an answer as the engine produces them, with its limits; null if the answer is not a list of rows. */
  async queryRows(query: unknown, wanted: Wanted, rows?: QueryOptions['rows']): Promise<RowsAnswer | null> {
    await this.refreshForQuery()
    return this.observed(query, 'rows', wanted, () => this.backend.rows(query, wanted, rows))
  }

  /** @internal All rows of a query as a file. */
  async download(query: unknown, format: DownloadFormat, wanted: Wanted): Promise<Download> {
    await this.refreshForQuery()
    return this.observed(query, 'download', wanted, () => this.backend.download(query, format, wanted))
  }

  async events(): Promise<readonly KnownEvent[]> {
    await this.refresh()
    return this.backend.known.events()
  }

  async properties(): Promise<readonly KnownProperty[]> {
    await this.refresh()
    return this.backend.known.properties()
  }

  /** @internal One page of the names of events. */
  async eventNames(asked: NamesAsked): Promise<NamesFound<KnownEvent>> {
    await this.refresh()
    return this.backend.known.eventNames(asked)
  }

  /** @internal One page of the names of properties. */
  async propertyNames(asked: NamesAsked): Promise<NamesFound<KnownProperty>> {
    await this.refresh()
    return this.backend.known.propertyNames(asked)
  }

  /** @internal The rows of this project for batch exports. */
  get exportRows(): ExportRows {
    return this.refreshing(this.backend.exportRows)
  }

  /** @internal Stored events by their position, for plugins. */
  get storedEvents(): EventReader {
    return this.refreshing(this.backend.storedEvents)
  }

  /** @internal The last durable record. */
  get position(): number {
    return this.backend.position
  }

  /** @internal The same, whether or not the project has been opened. */
  async end(): Promise<number> {
    await this.refresh()
    return this.backend.end()
  }

  /** @internal Writes what its store has committed into its file, for a copy of its files. */
  async settle(): Promise<void> {
    await this.refresh()
    return this.backend.settle()
  }

  /** @internal Gives the space of deleted rows back to the file system. */
  async compact(wanted: Compacting): Promise<Compacted> {
    await this.refresh()
    return this.backend.compact(wanted)
  }

  /** @internal What its store says, with the records that are applied. */
  async digest(): Promise<StoreDigest> {
    await this.refresh()
    return this.backend.known.digest()
  }

  /** @internal Null: it is closed. */
  get logState(): LogState | null {
    return this.backend.logState
  }

  /** @internal The number of durable records that queries would wait for. */
  get lag(): number {
    return this.backend.lag
  }

  /** @internal Why acknowledged events cannot be applied; null while they can. */
  get failure(): unknown {
    return this.backend.failure
  }

  /** @internal Whether its store is open at the moment. */
  get isOpen(): boolean {
    return this.backend.isOpen
  }

  /** @internal */
  async groupTypes(): Promise<StoreFacts['groupTypes']> {
    await this.refresh()
    return this.backend.known.groupTypes()
  }

  async warnings(): Promise<readonly WarningSummary[]> {
    return this.backend.known.warnings()
  }

  recoveryReports(): readonly RecoveryReport[] {
    return this.backend.reports
  }

  /** @internal */
  async [firstOpened](): Promise<void> {
    await this.refresh()
    await this.backend.firstOpened()
  }

  /** @internal */
  get [openFailure](): unknown {
    return this.backend.openFailure
  }

  /** @internal */
  async [closeProject](): Promise<void> {
    this.isClosed = true
    await this.backend.close()
  }

  private observed<T>(query: unknown, form: QueryForm, { caller, signal }: Wanted, work: () => Promise<T>): Promise<T> {
    return this.home.asking().observed.run({ project: this.id, query, form, caller, signal }, work)
  }

  private wanted({ signal }: Pick<QueryOptions, 'signal'>): Wanted {
    return { project: this.id, caller: library, signal, seconds: waitedForSeconds }
  }

  /** The same calls, each with the settings of now: what is not kept any more is not read either. */
  private refreshing<T extends object>(calls: T): T {
    const each = Object.entries(calls).map(([name, call]: [string, (...args: unknown[]) => unknown]) => {
      const refreshed = async (...args: unknown[]) => {
        await this.refresh()
        return call.apply(calls, args)
      }
      return [name, refreshed]
    })
    return Object.fromEntries(each) as T
  }

  /** Also what lies beside the events. */
  private async refreshForQuery(): Promise<void> {
    await this.refresh()
    await this.home.attached?.refreshed()
  }

  private async refresh(): Promise<void> {
    if (this.isClosed) throw new WaymarkError('closed', {})
    const record = await this.home.record(this.id)
    if (!record) throw new WaymarkError('not-found', { what: 'project', id: String(this.id) })
    this.current.record = record
  }
}

const queryOptionNames = ['signal', 'refresh', 'client_query_id', 'rows']

const isQueryId = (id: unknown) => typeof id === 'string' && id !== '' && id.length <= longestQueryId
