import type { WireBatch } from '../../events/ingestion/wire-batch.ts'
import type { AnswerWarning } from '../../queries/query-types.ts'
import type { RowPart, RowSelection } from '../../service/exports/ports.ts'
import type { Wanted } from '../admission/admission.ts'
import type { BackendSettings, RowLimits } from '../backend/backend.ts'
import type { ProjectCall } from '../backend/calls.ts'
import type { AnswerText } from '../backend/long-queries.ts'
import type { Download, DownloadFormat } from '../execution/download.ts'
import type { RowsFile, WrittenRows } from '../execution/ports.ts'
import type { LogFindings } from '../storage/log/findings.ts'
import type { LogBatch } from '../storage/log/log.ts'
import type { EngineChoice } from '../storage/open-stores.ts'
import type { StorageOptions } from '../storage/project-storage.ts'
import type { RecoveryNotice, RecoveryReport } from '../storage/recovery/recovery-report.ts'
import type { Channel } from './channel.ts'
import type { WireError } from './wire-error.ts'

// The calls of the door and of the engine, and the notifications that each sends.

/** The first call. */
export interface StartArgs {
  readonly dataDir: string
  readonly memoryLimit?: number | string | undefined
  readonly listMemory?: number | string | undefined
  readonly threads?: number | undefined
  readonly besideDirs?: readonly string[] | undefined
  readonly engine?: EngineChoice | undefined
  readonly storage: StorageOptions
}

/** Sent with each call of a project. */
export interface OfProject {
  /** The current settings. */
  readonly settings: BackendSettings
  /** The last record of its log. */
  readonly seq: number
  /** The door's clock minus the system's, in milliseconds. */
  readonly offset: number
  /** Events pass through plugins, which the door has. */
  readonly transforms: boolean
}

export interface OpenArgs extends OfProject {
  /** The log is open, and durable up to `seq`. */
  readonly isLive: boolean
  /** The door had it open before, and closed it. */
  readonly wasClosed: boolean
}
export interface Opened {
  /** If the log was not open. */
  readonly log: { readonly found: LogFindings; readonly appliedSeq: number } | null
  readonly reports: readonly RecoveryReport[]
}

export type SentWanted = Omit<Wanted, 'signal' | 'begin' | 'project'>
export interface QueryArgs extends OfProject {
  readonly query: unknown
  readonly wanted: SentWanted
  readonly rows?: RowLimits
}
/** A file of rows. */
export interface StageArgs extends OfProject {
  readonly selection: RowSelection
  readonly part: RowPart | null
  readonly file: RowsFile
  readonly wanted: SentWanted
}
/** Sent before an answer. */
export type QueryNote = { readonly begun: true } | { readonly read: number; readonly total: number }

/** Bytes are requested in chunks. */
export interface StreamHead {
  readonly stream: number
}
export interface RowsHead extends StreamHead {
  readonly limit: number
  readonly timezone: string
  readonly warnings: readonly AnswerWarning[]
}
export interface DownloadArgs extends QueryArgs {
  readonly format: DownloadFormat
}
export type DownloadHead = StreamHead & Pick<Download, 'warnings'>
export type Piece = { readonly bytes: Uint8Array } | { readonly end: unknown }

/** A call of the table in `../backend/calls.ts`; the answer as `wire-value.ts` writes it. */
export type ServiceArgs = OfProject & ProjectCall

export interface DuplicatesArgs extends OfProject {
  readonly firstSeq: number
  readonly count: number
  readonly dropped: number
}
interface ProjectId {
  readonly project: number
}

/** Calls of the engine. */
export interface EngineCalls {
  start(args: StartArgs): void
  /** The number of running statements. */
  ping(args: object): number
  open(args: OpenArgs): Opened
  close(args: ProjectId): void
  drop(args: ProjectId): void
  replace(args: ProjectId): void
  makeDurable(args: ProjectId): void
  settle(args: ProjectId): void
  duplicates(args: DuplicatesArgs): number
  answer(args: QueryArgs): AnswerText
  stage(args: StageArgs): WrittenRows
  /** Null: the answer is not a list of rows. */
  rows(args: QueryArgs): RowsHead | null
  batches(args: QueryArgs): StreamHead | null
  table(args: QueryArgs): StreamHead | null
  download(args: DownloadArgs): DownloadHead | null
  next(args: StreamHead): Piece
  leave(args: StreamHead): void
  service(args: ServiceArgs): unknown
  end(args: object): void
}

export interface AppendArgs {
  readonly project: number
  readonly batch: Omit<LogBatch, 'payloads'> & { readonly payloads: readonly string[] }
}

/** Batches that are to pass the plugins. Without `batch`: the door has it. */
export interface TransformArgs {
  readonly project: number
  readonly batches: readonly {
    readonly firstSeq: number
    readonly count: number
    readonly duplicates: readonly number[]
    readonly batch: WireBatch | null
  }[]
}

/** Null: a batch is needed that was sent without its events. */
export type TransformAnswer = readonly WireBatch[] | null

/** Calls of the door. */
export interface DoorCalls {
  append(args: AppendArgs): { readonly firstSeq: number }
  transform(args: TransformArgs): TransformAnswer
}

/** Notifications from the engine. */
export interface EngineNotifications {
  /** Processed, but not committed yet: after a crash it would be read from the log again. */
  taken: { readonly project: number; readonly seq: number }
  applied: { readonly project: number; readonly seq: number }
  problem: { readonly project: number | null; readonly error: WireError; readonly isStuck: boolean }
  recovery: { readonly project: number; readonly notice: RecoveryNotice }
}
/** Notifications from the door. */
export interface DoorNotifications {
  /** With the prepared batches; records without a batch are read from the log. */
  grown: { readonly project: number; readonly seq: number; readonly transforms: boolean; readonly batches: readonly WireBatch[] }
}

export interface EngineSide {
  readonly calls: EngineCalls
  readonly takes: DoorNotifications
}
export interface DoorSide {
  readonly calls: DoorCalls
  readonly takes: EngineNotifications
}
/** As the door sees it. */
export type EngineChannel = Channel<DoorSide, EngineSide>
