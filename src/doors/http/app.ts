import type { Wanted } from '../../engine/admission/admission.ts'
import type { RowsAnswer } from '../../engine/execution/answer-rows.ts'
import type { Download, DownloadFormat } from '../../engine/execution/download.ts'
import type { PersonInput, PropertyTypeInput } from '../../events/ingestion/decoding/inputs.ts'
import type { WarningSummary } from '../../events/ingestion/warnings.ts'
import type { GroupChange, PersonChange } from '../../events/ingestion/work.ts'
import type { PropertyScope, RemovalCounts } from '../../language/catalog/removals.ts'
import type { States } from '../../lib/flow/states.ts'
import type {
  ActionService,
  CohortService,
  HistoryAsked,
  KnownEvent,
  KnownProperty,
  NamesAsked,
  NamesFound,
  PersonVersion,
} from '../../project.ts'
import type { Accounts } from '../../service/accounts/accounts.ts'
import type { ActingMember } from '../../service/accounts/acting-member.ts'
import type { ProjectRecord } from '../../service/accounts/records.ts'
import type { AskedRequest, Asking, Outcome, QueryCaller } from '../../service/asking/asking.ts'
import type { SlowQueries } from '../../service/asking/slow-queries.ts'
import type { BackupStatus } from '../../service/backups/schedule.ts'
import type { OpenedExports } from '../../service/exports/open-exports.ts'
import type { OpenedFlags } from '../../service/flags/open-flags.ts'
import type { Imports } from '../../service/imports/imports.ts'
import type { OpenedNotifications } from '../../service/notifications/open-notifications.ts'
import type { OpenedPlugins } from '../../service/plugins/open-plugins.ts'
import type { Saved } from '../../service/saved/open-saved.ts'
import type { OpenedSharing } from '../../service/sharing/open-sharing.ts'
import type { SingleSignOn } from '../../service/single-sign-on/open-single-sign-on.ts'
import type { OpenedViewers } from '../../service/viewers/open-viewers.ts'
import type { OpenedWatching } from '../../service/watching/open-watching.ts'
import type { QueryOptions } from '../../waymark.ts'
import type { LoginAttempts } from './access/login-attempts.ts'
import type { RateLimits } from './access/rate-limits.ts'
import type { RequestCounts } from './access/request-counts.ts'
import type { CaptureTarget } from './capture/handler.ts'
import type { Places } from './queries/places-of-servers.ts'
import type { RequestBodies } from './requests/request-bodies.ts'
import type { Figures } from './server/figures.ts'

/** The data of one project that requests use. */
export interface ProjectData extends CaptureTarget {
  ask(asked: AskedRequest, asker: QueryCaller & Pick<QueryOptions, 'rows'>): Promise<Outcome>
  queryRows(query: unknown, wanted: Wanted, rows?: QueryOptions['rows']): Promise<RowsAnswer | null>
  download(query: unknown, format: DownloadFormat, wanted: Wanted): Promise<Download>
  eventNames(asked: NamesAsked): Promise<NamesFound<KnownEvent>>
  propertyNames(asked: NamesAsked): Promise<NamesFound<KnownProperty>>
  removedEvents(): Promise<number>
  removeProperty(scope: PropertyScope, name: string): Promise<RemovalCounts>
  /** How many events of an import are stored. */
  importedEvents(id: string): Promise<number>
  personHistory(asked: HistoryAsked): Promise<readonly PersonVersion[]>
  /** Where its log ends, also what other servers have added. */
  end(): Promise<number>
  groupTypes(): Promise<readonly { readonly index: number; readonly name: string }[]>
  warnings(): Promise<readonly WarningSummary[]>
  definePropertyTypes(rows: readonly PropertyTypeInput[]): Promise<void>
  changePersons(changes: readonly PersonChange[]): Promise<readonly boolean[]>
  importPersons(rows: readonly PersonInput[]): Promise<{ readonly ids: readonly string[] }>
  deletePersons(persons: readonly string[], withEvents: boolean): Promise<readonly (number | null)[]>
  changeGroup(change: GroupChange): Promise<void>
  readonly actions: ActionService
  readonly cohorts: CohortService
}

export interface Readiness {
  readonly isReady: boolean
  readonly checks: Readonly<
    Record<string, { readonly isOk: boolean; readonly detail?: string | number; readonly reasons?: readonly string[] }>
  >
}

/** The services that routes use. */
export interface App {
  readonly accounts: Accounts
  readonly exports: Pick<OpenedExports, 'service' | 'outside'>
  readonly plugins: OpenedPlugins
  readonly clock: () => Date
  readonly limits: () => RateLimits
  readonly requestCounts: RequestCounts
  readonly attempts: LoginAttempts
  /** Of codes of a second factor. */
  readonly codeAttempts: LoginAttempts
  /** Of logins through identity providers. */
  readonly signOnAttempts: LoginAttempts
  /** Of tokens of SCIM. */
  readonly scimAttempts: LoginAttempts
  readonly singleSignOn: SingleSignOn
  /** Of links by mail for a new password. */
  readonly mailedLinks: LoginAttempts
  readonly asking: Asking
  readonly saved: Saved
  readonly sharing: OpenedSharing
  readonly viewers: OpenedViewers
  readonly flags: OpenedFlags
  readonly imports: Imports
  readonly notifications: Pick<OpenedNotifications, 'alerts' | 'subscriptions' | 'deliveries'>
  readonly watching: Pick<OpenedWatching, 'watches'>
  readonly slowQueries: SlowQueries
  /** What the backups that this server makes by itself have; null: it makes none. */
  backups(): Promise<BackupStatus | null>
  /** Counts that all servers share. */
  readonly states: States
  readonly concurrency: Places
  readonly requestBodies: RequestBodies
  readonly rows: () => QueryOptions['rows']
  /** Of all rows of a query. */
  readonly allowsDownloads: () => boolean
  /** Sample events and a dashboard, in a project that is for demonstration. */
  fillWithDemo(project: ProjectRecord, by: ActingMember): Promise<void>
  groupTypes(project: ProjectRecord): Promise<readonly { readonly group_type: string; readonly group_type_index: number }[]>
  project(id: number): Promise<ProjectData>
  readiness(): Promise<Readiness>
  /** What the server is doing, as numbers. */
  figures(): Promise<Figures>
}

export interface LogLine {
  readonly level: 'info' | 'warn' | 'error'
  readonly message: string
  readonly [field: string]: unknown
}
export type Log = (line: LogLine) => void
