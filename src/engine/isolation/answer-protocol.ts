import type { ListView } from '../../core/folds/fold.ts'
import type { ColumnPart, ColumnSpec } from '../../core/lists/ports.ts'
import type { Listed } from '../../core/lists/project-lists.ts'
import type { KernelName } from '../../core/simd/kernels.ts'
import type { StoreFacts } from '../../language/catalog/store-facts.ts'
import type { DialectName } from '../../language/dialects/registry.ts'
import type { FoldAsk, ProjectSettings } from '../../queries/kind.ts'
import type { RowLimits } from '../backend/backend.ts'
import type { AnswerText } from '../backend/long-queries.ts'
import type { EngineLimits, Statement } from '../execution/ports.ts'
import type { WireError } from './wire-error.ts'

// The calls between the engine's main thread and the thread that answers long queries. The thread has no store: it asks the main thread for facts, rows
// and lists.

/** To the thread. */
export interface AnswerArgs {
  /** Number of the query: sent with all calls for it. */
  readonly id: number
  readonly query: unknown
  readonly settings: ProjectSettings
  readonly now: Date
  readonly dialect: DialectName
  readonly limits: EngineLimits
  readonly rowLimits: RowLimits
  readonly failedCohorts: readonly (readonly [id: number, failure: WireError])[]
  readonly hasLists: boolean
  readonly hasThreads: boolean
  /** 1: the answer is not wanted any more. */
  readonly stop: Int32Array
}

interface OfQuery {
  readonly id: number
}
export interface FactsArgs extends OfQuery {
  /** The version that the thread has. */
  readonly known: number | null
}
/** Null: the known version still holds. */
export type SentFacts = { readonly version: number; readonly facts: StoreFacts } | null
export interface RunArgs extends OfQuery {
  readonly statement: Statement
  readonly mostBytes: number | undefined
}
/** The rows come in further calls with the same number. */
export interface RunInPartsArgs extends RunArgs {
  readonly reading: number
}
/** Rows of columns that the main thread reads. */
export interface ColumnRowsArgs {
  readonly reading: number
  readonly keys: Float64Array
  readonly parts: readonly ColumnPart[]
}
/** `fold` is the number of the fold in the thread. */
export interface FoldArgs extends OfQuery {
  readonly fold: number
  readonly seq: number
  readonly columns: readonly ColumnSpec[]
  readonly actors: FoldAsk['actors']
}
export interface ThreadsArgs extends OfQuery {
  readonly fold: string
  readonly lists: ListView
  readonly params: unknown
}
/** Null: a thread that folds was lost. */
export type ThreadsResult = { readonly result: unknown; readonly kernels: readonly KernelName[] } | null

/** To the thread, while it waits for the lists. */
export interface ColumnsArgs {
  /** Sent back with the rows. */
  readonly reading: number
  readonly fold: number
  /** Indexes in `FoldArgs.columns`. */
  readonly columns: readonly number[]
  readonly after: number
  readonly last: number
  /** Of a column of keys. */
  readonly keys: readonly string[] | 'absent' | null
}
export interface LoopArgs {
  readonly fold: number
  readonly listed: Listed
}
/** Rows of a statement that the thread reads in parts, as Arrow. */
export interface PartArgs {
  readonly reading: number
  readonly part: Uint8Array
}

/** The thread that answers long queries. */
export interface AnswerSide {
  readonly calls: {
    answer(args: AnswerArgs): AnswerText
    part(args: PartArgs): void
    columns(args: ColumnsArgs): void
    loop(args: LoopArgs): void
  }
  readonly takes: { readonly release: null }
}
/** The engine's main thread. */
export interface MainSide {
  readonly calls: {
    facts(args: FactsArgs): SentFacts
    /** Rows as Arrow. */
    run(args: RunArgs): Uint8Array
    runInParts(args: RunInPartsArgs): void
    columnRows(args: ColumnRowsArgs): void
    fold(args: FoldArgs): boolean
    threads(args: ThreadsArgs): ThreadsResult
  }
  readonly takes: object
}
