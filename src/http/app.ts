import type { Accounts } from '../accounts/accounts.ts'
import type { ActingMember } from '../accounts/acting-member.ts'
import type { ProjectRecord } from '../accounts/records.ts'
import type { RowsAnswer } from '../execution/answer-rows.ts'
import type { Wanted } from '../execution/asking/admission.ts'
import type { AskedRequest, Asking, Outcome, QueryCaller } from '../execution/asking/asking.ts'
import type { Download, DownloadFormat } from '../execution/download.ts'
import type { OpenedExports } from '../exports/open-exports.ts'
import type { PropertyTypeInput } from '../ingestion/inputs.ts'
import type { WarningSummary } from '../ingestion/warnings.ts'
import type { GroupChange, PersonChange } from '../ingestion/work.ts'
import type { OpenedNotifications } from '../notifications/open-notifications.ts'
import type { OpenedPlugins } from '../plugins/open-plugins.ts'
import type { ActionService, CohortService, KnownEvent, KnownProperty, NamesAsked, NamesFound, QueryOptions } from '../project.ts'
import type { Saved } from '../saved/open-saved.ts'
import type { OpenedSharing } from '../sharing/open-sharing.ts'
import type { CaptureTarget } from './capture/handler.ts'
import type { LoginAttempts } from './login-attempts.ts'
import type { Concurrency } from './queries/concurrency.ts'
import type { RateLimits } from './rate-limits.ts'
import type { RequestBodies } from './request-bodies.ts'

/** The data of one project that requests use. */
export interface ProjectData extends CaptureTarget {
  ask(asked: AskedRequest, asker: QueryCaller & Pick<QueryOptions, 'rows'>): Promise<Outcome>
  queryRows(query: unknown, wanted: Wanted, rows?: QueryOptions['rows']): Promise<RowsAnswer | null>
  download(query: unknown, format: DownloadFormat, wanted: Wanted): Promise<Download>
  eventNames(asked: NamesAsked): Promise<NamesFound<KnownEvent>>
  propertyNames(asked: NamesAsked): Promise<NamesFound<KnownProperty>>
  groupTypes(): Promise<readonly { readonly index: number; readonly name: string }[]>
  warnings(): Promise<readonly WarningSummary[]>
  definePropertyTypes(rows: readonly PropertyTypeInput[]): Promise<void>
  changePersons(changes: readonly PersonChange[]): Promise<readonly boolean[]>
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
  readonly attempts: LoginAttempts
  /** Of links by mail for a new password. */
  readonly mailedLinks: LoginAttempts
  readonly asking: Asking
  readonly saved: Saved
  readonly sharing: OpenedSharing
  readonly notifications: Pick<OpenedNotifications, 'alerts' | 'subscriptions' | 'deliveries'>
  readonly concurrency: Concurrency
  readonly requestBodies: RequestBodies
  readonly rows: () => QueryOptions['rows']
  /** Of all rows of a query. */
  readonly allowsDownloads: () => boolean
  /** Sample events and a dashboard, in a project that is for demonstration. */
  fillWithDemo(project: ProjectRecord, by: ActingMember): Promise<void>
  groupTypes(project: ProjectRecord): Promise<readonly { readonly group_type: string; readonly group_type_index: number }[]>
  project(id: number): Promise<ProjectData>
  readiness(): Promise<Readiness>
}

export interface LogLine {
  readonly level: 'info' | 'warn' | 'error'
  readonly message: string
  readonly [field: string]: unknown
}
export type Log = (line: LogLine) => void
