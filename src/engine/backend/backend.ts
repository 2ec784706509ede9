import type { RecordBatch, Table } from 'apache-arrow'
import type { Salts } from '../../events/ingestion/cookieless/salts.ts'
import type { EventSource } from '../../events/ingestion/decoding/event-source.ts'
import type { BatchFacts, IngestAnswer } from '../../events/ingestion/intake.ts'
import type { Transformations } from '../../events/ingestion/transforming/ports.ts'
import type { WireBatch } from '../../events/ingestion/wire-batch.ts'
import type { ProjectSettings, QueryContext } from '../../queries/kind.ts'
import type { ExportRows } from '../../service/exports/ports.ts'
import type { Wanted } from '../admission/admission.ts'
import type { Computed, Computing, Load } from '../admission/computing.ts'
import type { CohortService } from '../definitions/cohorts.ts'
import type { RowsAnswer } from '../execution/answer-rows.ts'
import type { Download, DownloadFormat } from '../execution/download.ts'
import type { LogFile } from '../storage/log/log.ts'
import type { RecoveryNotice, RecoveryReport } from '../storage/recovery/recovery-report.ts'
import type { ProjectCalls } from './calls.ts'

// Ingests the events of a project and answers its queries. `local-backend.ts` does it in this process, `../isolation/remote-backend.ts` with an engine in another.

export type RowLimits = QueryContext['limits']

export interface ProjectBackend extends ProjectCalls {
  /** What was repaired when it was opened. */
  readonly reports: readonly RecoveryReport[]
  /** The last durable record. */
  readonly position: number
  /** Number of records that are durable but not applied. */
  readonly lag: number
  /** Why acknowledged events cannot be applied; null while they can. */
  readonly failure: unknown
  ingest(body: unknown, about: Pick<BatchFacts, 'ip' | 'userAgent' | 'attempt' | 'importId'>): Promise<IngestAnswer>
  ingestEvents(events: EventSource, facts: BatchFacts): Promise<IngestAnswer>
  /** Past events that another thread has prepared. */
  ingestPrepared(batch: WireBatch): Promise<IngestAnswer>
  readonly cohorts: CohortService
  /** Answers include everything acknowledged before the call. */
  answer(query: unknown, asked: Computing & { readonly rows?: RowLimits }): Promise<Computed>
  /** The rows of an answer as the engine produces them; null if the answer is not a list of rows. */
  rows(query: unknown, wanted: Wanted, limits?: RowLimits): Promise<RowsAnswer | null>
  table(query: unknown, wanted: Wanted): Promise<Table>
  /** All rows of an answer as a file. */
  download(query: unknown, format: DownloadFormat, wanted: Wanted): Promise<Download>
  batches(query: unknown, wanted: Wanted): AsyncGenerator<RecordBatch, void, undefined>
  readonly exportRows: ExportRows
  /** Learns what other processes have acknowledged. Absent: there are none. */
  look?(): Promise<void>
  /** Writes what the store has committed into its file. */
  settle(): Promise<void>
  /** The durable part of its log. Null: it is closed. */
  readonly logState: LogState | null
  /** Applies acknowledged events, then releases the files. */
  close(): Promise<void>
}

export interface LogState {
  /** The last durable record. */
  readonly position: number
  readonly log: readonly LogFile[]
}

/** How many months a project keeps its events, and persons who have none any more. Null: for ever. */
export interface Retention {
  readonly events: number | null
  /** Events of these names. */
  readonly names: Readonly<Record<string, number | null>>
  readonly persons: number | null
}

/** The settings of a project that its backend needs. */
export interface BackendSettings extends ProjectSettings {
  readonly anonymizeIps: boolean
  readonly retention: Retention
  /** It has acknowledged events before. */
  readonly hadEvents: boolean
}

/** The context that a backend gets from its project. */
export interface BackendHome {
  readonly clock: () => Date
  /** The current settings of the project. */
  readonly settings: () => BackendSettings
  /** Of its plugins; absent: events are stored as they were sent. */
  readonly transformations?: Transformations | undefined
  /** For visitors without cookies. Absent: they end with the process. */
  readonly salts?: Salts | undefined
  onError(error: unknown): void
  onRecovery(notice: RecoveryNotice): void
  /** Aborts if the directory is closed before the project is open. */
  readonly signal?: AbortSignal
  /** This process had it open before, and closed it: its files are in order. */
  readonly wasClosed?: boolean
}

export interface Backends {
  /** Resolves when projects can be opened; rejects if they never can. */
  ready(): Promise<void>
  open(home: BackendHome): Promise<ProjectBackend>
  drop(id: number): Promise<void>
  /** Replaces the store of a closed project by the copy that was made of it. */
  replace(id: number): Promise<void>
  load(): Load
  /** Bytes of memory of the process that has the stores; null: it is this one, or the system does not say. */
  engineBytes(): Promise<number | null>
  /** The number of projects that may be open at a time. */
  readonly mostOpen: number
  /** Where the log of a project ends, if that is known without opening it. */
  positionOf(id: number): number | null
  /** True if an error means that memory was short. */
  isOutOfMemory(error: unknown): boolean
  /** True if an error means that a project must be closed and opened again. */
  isLost(error: unknown): boolean
  /** How often the engine has ended by itself within the last minute. */
  readonly recentEnds: number
  /** What a slow close is waiting for. */
  readonly stillOpen: readonly string[]
  /** Releases shared resources after all backends are closed. */
  close(): Promise<void>
}
