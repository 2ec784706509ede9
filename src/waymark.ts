import type { RecordBatch, Table } from 'apache-arrow'
import type { ActionService, StoredAction } from './engine/definitions/actions.ts'
import type { CohortInput, CohortService } from './engine/definitions/cohorts.ts'
import type { StoredCohort } from './engine/definitions/stored-cohort.ts'
import type { AnswerOptions } from './engine/execution/checkpoint.ts'
import type { RecoveryReport } from './engine/storage/recovery/recovery-report.ts'
import type { GroupImportOptions, GroupInput, IngestInput, PersonInput, PropertyTypeInput } from './events/ingestion/decoding/inputs.ts'
import type { IngestAnswer } from './events/ingestion/intake.ts'
import type { WarningSummary } from './events/ingestion/warnings.ts'
import type { KnownEvent, KnownProperty } from './language/catalog/known-names.ts'
import type { ActionInput } from './queries/filters/action-definition.ts'
import type { QueryContext } from './queries/kind.ts'
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
import type { NewProjectSettings } from './service/accounts/projects/project-fields.ts'
import type { PersonalKeyOptions } from './service/accounts/users/personal-keys.ts'
import type { QueryStatus } from './service/asking/query-runs.ts'
import type { RefreshMode } from './service/asking/refresh.ts'
import type { BackupOptions, BackupSummary, ProjectRestoreOptions, ProjectRestoreSummary } from './service/backups/directory-backups.ts'
import type { CompactOptions, CompactSummary } from './service/directory/compact-projects.ts'
import type { ViewerTokenInput } from './service/viewers/grant.ts'

// What applications call, whether the directory is open in their own process (`engine.ts`, `project.ts`) or in another one (`doors/connected/`).

export interface ProjectSummary {
  readonly id: number
  readonly name: string
  readonly timezone: string
  /** The project key, with which clients send events. */
  readonly token: string
  readonly created_at: Date
}

export interface OrganizationSummary {
  readonly id: string
  readonly name: string
}

/** Whether a cached answer is accepted, and whether to wait for a new one. */
export type Refresh = boolean | RefreshMode | null | undefined
/** Values that always wait for an answer. */
export type Waiting = boolean | 'blocking' | 'force_blocking' | 'force_cache' | null | undefined

export interface QueryOptions<R extends Refresh = Refresh> extends Pick<AnswerOptions, 'signal'> {
  /** As in an HTTP request: whether a cached answer is accepted, and whether to wait for a new one. */
  readonly refresh?: R
  /** As in an HTTP request: a name under which the query can be polled and cancelled. */
  readonly client_query_id?: string | null
  /** Rows of an answer: default and maximum. */
  readonly rows?: QueryContext['limits']
}

/** An open data directory. */
export interface Waymark {
  readonly dataDir: string
  readonly clock: () => Date
  /** @example const project = await waymark.createProject({ name: 'Shop', timezone: 'Europe/Berlin' }) */
  createProject(settings?: NewProjectSettings): Promise<Project>
  /**
   * The project with that name; created with these settings if it does not exist.
   *
   * @example const project = await waymark.findOrCreateProject({ name: 'Shop', timezone: 'Europe/Berlin' })
   */
  findOrCreateProject(settings: NewProjectSettings & { readonly name: string }): Promise<Project>
  /** @example const project = await waymark.project('Shop') // or by its id */
  project(idOrName: number | string): Promise<Project>
  /**
   * All projects, ordered by id. Does not open them.
   *
   * @example for (const { id, name, token } of await waymark.projects()) console.log(id, name, token)
   */
  projects(): Promise<readonly ProjectSummary[]>
  /**
   * Creates a personal API key of the owner. The key is returned only once.
   *
   * @example const { key } = await waymark.createPersonalKey({ label: 'Dashboard', scopes: ['query:read'] })
   */
  createPersonalKey(options: PersonalKeyOptions): Promise<{ readonly id: string; readonly key: string }>
  /**
   * The organization of the projects that `createProject` makes; created with its first owner if it does not exist.
   *
   * @example const { id: organization } = await waymark.defaultOrganization()
   */
  defaultOrganization(): Promise<OrganizationSummary>
  /**
   * An organization of its own, with a first project: for one customer of the application. Its users come in by `authenticate`.
   *
   * @example const { id } = await waymark.createOrganization({ name: 'Acme' })
   */
  createOrganization(settings: { readonly name: string }): Promise<OrganizationSummary>
  /**
   * A link with which the first owner chooses address and password, once, while this process runs; an earlier link ends. Null: the owner has a password already.
   * `publicUrl`: where users find the interface.
   *
   * @example console.log(await waymark.createSetupLink('https://app.example.com/analytics'))
   */
  createSetupLink(publicUrl: string): Promise<string | null>
  /**
   * Ends the memberships and the personal API keys of a user whom `authenticate` has let in: for users who have left the application. False: there is no such user.
   *
   * @example await waymark.removeHostUser({ issuer: 'app', subject: 'user-7' })
   */
  removeHostUser(user: { readonly issuer: string; readonly subject: string }): Promise<boolean>
  /**
   * Takes a copy of the directory while it is open: `to` is a folder, a file that ends with .tar, or `s3://bucket/prefix`. A folder or bucket keeps any number of
   * copies, of which each writes only what is new.
   *
   * @example const { copy, added } = await waymark.backup('/mnt/backups/shop')
   */
  backup(to: string, options?: BackupOptions): Promise<BackupSummary>
  /**
   * Gives the disk space of deleted rows back to the file system, while the directory is open: each store is copied without it, and replaced by its copy.
   *
   * @example const { given_back, projects } = await waymark.compact()
   */
  compact(options?: CompactOptions): Promise<CompactSummary>
  /**
   * Restores one project of a backup as a new one, with its events, persons, groups, actions, cohorts and property types, and its settings.
   *
   * @example const { project_id } = await waymark.restoreProject('/mnt/backups/shop', { project: 3, at: new Date('2026-05-14T09:30:00Z') })
   */
  restoreProject(from: string, options: ProjectRestoreOptions): Promise<ProjectRestoreSummary>
  /** Applies acknowledged events, checkpoints all files and releases the directory. A second call waits for the first one. */
  close(): Promise<void>
  /** @example await using waymark = await open({ dataDir: './data' }) */
  [Symbol.asyncDispose](): Promise<void>
}

/** One project: ingests events and answers queries. */
export interface Project {
  readonly id: number
  /** The project key, with which clients send events. */
  readonly token: string
  /** List, create, retrieve, update and remove. */
  readonly actions: ActionService
  readonly cohorts: Omit<CohortService, 'refreshes'>
  /**
   * Accepts the body of `POST /batch/` without the key. Resolves when the batch is durable. `ip` and `userAgent`: of the sender, for events that do not
   * name them.
   *
   * @example await project.ingest({ batch: [{ event: 'signup', distinct_id: 'u1', properties: { plan: 'pro' } }] })
   */
  ingest(body: IngestInput, about?: { readonly ip?: string | null; readonly userAgent?: string | null }): Promise<IngestAnswer>
  /**
   * Creates persons with their distinct ids in one step, and returns their uuids in order.
   *
   * @example const { ids } = await project.importPersons([{ distinct_ids: ['u1', 'anon-7'], properties: { plan: 'pro' } }])
   */
  importPersons(rows: readonly PersonInput[]): Promise<{ ids: readonly string[] }>
  /** @example await project.importGroups([{ group_type: 'company', group_key: 'acme', properties: { size: 40 } }]) */
  importGroups(rows: readonly GroupInput[], options?: GroupImportOptions): Promise<void>
  /** @example await project.definePropertyTypes([{ type: 'event', name: 'price', property_type: 'Numeric' }]) */
  definePropertyTypes(rows: readonly PropertyTypeInput[]): Promise<void>
  /** @example const { id } = await project.createAction({ name: 'Paid', steps: [{ event: 'purchase' }] }) */
  createAction(fields: ActionInput): Promise<StoredAction>
  /** @example const { id } = await project.createCohort({ name: 'Pros', is_static: true, person_ids: ids }) */
  createCohort(fields: CohortInput): Promise<StoredCohort>
  /**
   * A signed token for `<waymark-chart>` and `<waymark-dashboard>` in a page of the application: its viewer sees the events of its filter, and of these only
   * what it names.
   *
   * @example const token = await project.viewerToken({ filter: [{ type: 'event', key: 'customer', operator: 'exact', value: 'acme' }], insights: [12] })
   */
  viewerToken(options: ViewerTokenInput): Promise<string>
  /** A statement with known row types: `project.query<[string, number]>(…)`. */
  query<Row extends readonly unknown[] = readonly unknown[]>(
    query: Query<'SqlLikeQuery' | 'HogQLQuery'>,
    options?: QueryOptions<Waiting>,
  ): Promise<SqlAnswerOf<Row>>
  /** A funnel: its steps, or what `funnelVizType` asks for. */
  query<View extends FunnelView = 'steps', R extends Refresh = undefined>(
    query: PlainFunnel<View>,
    options?: QueryOptions<R>,
  ): Promise<R extends Waiting ? PlainFunnelAnswer<View> : PlainFunnelAnswer<View> | QueryStatus>
  /** With a breakdown: a list of steps for each value. */
  query<View extends FunnelView = 'steps', R extends Refresh = undefined>(
    query: SplitFunnel<View>,
    options?: QueryOptions<R>,
  ): Promise<R extends Waiting ? SplitFunnelAnswer<View> : SplitFunnelAnswer<View> | QueryStatus>
  /**
   * Returns the same JSON as the HTTP endpoint, computed from everything acknowledged before the call. With a `refresh` that does not wait, it may be a status.
   *
   * @example await project.query({ kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'signup' }] })
   */
  query<K extends QueryKindName, R extends Refresh = undefined>(
    query: { readonly kind: K } & FieldsByKind[K],
    options?: QueryOptions<R>,
  ): Promise<R extends Waiting ? QueryAnswer<K> : QueryAnswer<K> | QueryStatus>
  /**
   * A statement whose values are sent as parameters, so that they never become part of its text.
   *
   * @example const { results } = await project.sql<[string, number]>`select event, count() from events where event = ${name} group by event`
   */
  sql<Row extends readonly unknown[] = readonly unknown[]>(
    texts: TemplateStringsArray,
    ...values: readonly unknown[]
  ): Promise<SqlAnswerOf<Row>>
  /**
   * The status of an async query, with its answer at the end; kept for ten minutes. Unknown ids reject.
   *
   * @example const { complete, error, results } = await project.queryStatus('nightly')
   */
  queryStatus(id: string): Promise<QueryStatus>
  /**
   * Stops a query by its `client_query_id` and removes its status, even if a caller waits for it.
   *
   * @example await project.cancelQuery('nightly')
   */
  cancelQuery(id: string): Promise<void>
  /**
   * The rows of a query as one Arrow table: all rows of a statement, or the rows of a list's answer.
   *
   * @example const table = await project.queryArrow({ kind: 'SqlLikeQuery', query: 'select event, count() from events group by event' })
   */
  queryArrow(query: Query, options?: Pick<QueryOptions, 'signal'>): Promise<Table>
  /** The same batch by batch, for results larger than memory. */
  queryArrowBatches(query: Query, options?: Pick<QueryOptions, 'signal'>): AsyncGenerator<RecordBatch, void, undefined>
  /**
   * The event names received so far, most frequent first.
   *
   * @example for (const { name, count } of await project.events()) console.log(name, count)
   */
  events(): Promise<readonly KnownEvent[]>
  /**
   * The properties of events, persons and groups that were received or declared, with the kinds of their values.
   *
   * @example const declared = (await project.properties()).filter(({ property_type }) => property_type !== null)
   */
  properties(): Promise<readonly KnownProperty[]>
  /**
   * What was changed or dropped of the events acknowledged so far: exact counts, with a few samples of each kind.
   *
   * @example for (const { type, count } of await project.warnings()) console.log(type, count)
   */
  warnings(): Promise<readonly WarningSummary[]>
  /** What was repaired when the project was opened; empty after an ordinary start. */
  recoveryReports(): readonly RecoveryReport[]
}
