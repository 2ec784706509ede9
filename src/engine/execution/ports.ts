import type { DataType, RecordBatch, Table } from 'apache-arrow'
import type { ListSource } from '../../core/lists/ports.ts'
import type { EventWriter } from '../../events/ingestion/ports.ts'
import type { AttachedTable } from '../../language/catalog/attached.ts'
import type { KnownEvent, KnownProperty, NamesAsked, NamesFound } from '../../language/catalog/known-names.ts'
import type { HistoryAsked, PersonVersion } from '../../language/catalog/person-history.ts'
import type { RowCounts, StoreFacts } from '../../language/catalog/store-facts.ts'
import type { Dialect } from '../../language/dialects/dialect.ts'
import type { SqlType } from '../../language/types/types.ts'
import type { Progress } from '../../lib/flow/progress.ts'
import type { StatementScheduler } from '../../lib/flow/statement-scheduler.ts'
import type { MemoryShare } from '../../lib/memory/memory-share.ts'

// What an engine must do for a project. `engine/storage/duckdb/engine.ts` and `engine/storage/clickhouse/engine.ts` implement it; `open()` chooses.

export interface Engine {
  readonly dialect: Dialect
  readonly limits: EngineLimits
  /** What planning a statement needs. The same object until something is applied. */
  facts(): Promise<StoreFacts>
  events(): Promise<readonly KnownEvent[]>
  properties(): Promise<readonly KnownProperty[]>
  eventNames(asked: NamesAsked): Promise<NamesFound<KnownEvent>>
  propertyNames(asked: NamesAsked): Promise<NamesFound<KnownProperty>>
  /** The number of events that were deleted. */
  removedEvents(): Promise<number>
  importedEvents(id: string): Promise<number>
  /** The properties that a person has had, in the order of the log. */
  personHistory(asked: HistoryAsked): Promise<readonly PersonVersion[]>
  count(): Promise<RowCounts>
  /** What the store says, to be compared with another one. */
  digest(): Promise<StoreDigest>
  statements(turns: StatementScheduler): Statements
  members(turns: StatementScheduler): CohortMembers
  openWriter(): Promise<EventWriter>
  /** For the lists of the core. Undefined: the engine folds lists of events itself. */
  readonly lists?: { source(statements: Statements): ListSource; readonly memory: MemoryShare }
}

/** The contents of a store with the records up to `seq`. */
export interface StoreDigest {
  readonly seq: number
  /** Of each table, and of the answer to each question. */
  readonly rows: readonly { readonly name: string; readonly count: number; readonly hash: string }[]
}

/** A limit that is undefined is left to the engine. */
export interface EngineLimits {
  /** Bytes for running statements, and for processing their rows. */
  readonly memoryLimit?: number
  readonly threads?: number
  /** Bytes of the rows of an answer that is sent as JSON. */
  readonly answerBytes?: number
}

/** A statement in the dialect of the engine. */
export interface Statement {
  readonly sql: string
  readonly params: readonly (string | number | boolean | bigint | null)[]
  readonly columns: readonly ResultColumn[]
  /** The tables beside the events that it reads. */
  readonly attached?: readonly AttachedTable[] | undefined
}
export interface ResultColumn {
  readonly name: string
  /** The type as written in the query language. */
  readonly typeName: string
  readonly type?: SqlType
}

export interface RunOptions {
  /** Aborts when the statement must stop. If the reason is a WaymarkError, the statement fails with it. */
  readonly signal?: AbortSignal
  /** Receives the progress of the statement. */
  readonly progress?: Progress
  /** Maximum bytes of the rows. */
  readonly mostBytes?: number
}
export interface StreamOptions extends RunOptions {
  /** Approximate number of rows per batch. */
  readonly batchRows?: number
}

/** Characters that JSON never contains: with commas and double quotes, every JSON text would be quoted, and grow by a tenth. */
export const csvMarks = { delimiter: '\t', quote: '\x01' } as const

/** A file that the engine writes. It is replaced if it exists. */
export interface RowsFile {
  /** Absolute, in the data directory. */
  readonly path: string
  /** CSV has no header, and `csvMarks`. */
  readonly format: 'JSONLines' | 'Parquet' | 'CSV'
  readonly compression: 'gzip' | 'brotli' | 'zstd' | 'lz4' | 'snappy' | null
}
export interface WrittenRows {
  readonly rows: number
  readonly bytes: number
}

/** Receives some of the rows of an answer, in order. Their memory is reused once it returns, or its promise is settled. */
export type TakePart = (part: Table) => void | Promise<void>

/** Runs statements when they are scheduled. */
export interface Statements {
  run(statement: Statement, options?: RunOptions): Promise<Table>
  runInParts(statement: Statement, take: TakePart, options?: RunOptions): Promise<void>
  /** All rows as batches of one table, without a second copy of them in the engine. Texts are plain. */
  gather(statement: Statement, options?: RunOptions): Promise<Table>
  /** A slow reader holds an execution slot only while the engine works. */
  stream(statement: Statement, options?: StreamOptions): AsyncGenerator<RecordBatch, void, undefined>
  /** The rows as the bytes of a Parquet file. Undefined: the engine writes no files. */
  parquet?(statement: Statement, options?: RunOptions): AsyncGenerator<Uint8Array, void, undefined>
  /** Writes all rows into a file, in the order of the statement, with memory that does not depend on their number. Undefined: the engine writes no files. */
  writeFile?(statement: Statement, file: RowsFile, options?: RunOptions): Promise<WrittenRows>
}

/** Rows that are JSON objects, one a line. */
export interface JsonRows {
  readonly columns: readonly { readonly name: string; readonly type: DataType }[]
  readonly lines: AsyncGenerator<Uint8Array, void, undefined>
}
/** The bytes of a Parquet file with these rows. */
export type ParquetOfRows = (rows: JsonRows, signal?: AbortSignal) => AsyncGenerator<Uint8Array, void, undefined>

/** Writes such rows into a file as an engine that writes files would. `types`: of the columns, in their order. */
export type FileOfRows = (
  rows: JsonRows & { readonly types: readonly ResultColumn[] },
  file: RowsFile,
  signal?: AbortSignal,
) => Promise<WrittenRows>

/** Members of dynamic cohorts, computed from the store itself. */
export interface CohortMembers {
  mark(cohort: number): Promise<string | null>
  /** Null: evaluate all persons. */
  refresh(refresh: Refresh): Promise<Refreshed | null>
  clear(cohort: number): Promise<void>
  madeAt(cohorts: readonly number[]): Promise<Map<number, string>>
  /** Members who were merged since then count as one. */
  count(cohorts: readonly number[]): Promise<Map<number, number>>
}

export interface Refresh {
  readonly cohort: number
  /** One row per member, with the person number in the first column. With `among`, only members among the changed persons. */
  readonly members: Statement
  readonly among: Changed | null
  mark(hasMoved: boolean): string
  readonly madeAt: string
}
/** Persons who may have entered or left the cohort. They are the members of cohort -1 while `members` runs. */
export interface Changed {
  readonly sinceSeq: string
  readonly stretches: readonly (readonly [from: number, to: number])[]
  readonly persons: readonly number[]
}
export interface Refreshed {
  readonly hasMoved: boolean
  readonly moved: readonly number[] | null
}

export interface RunKey {
  readonly project_id: number
  readonly task_id: string
}

/** The JSON of answers that can be polled. `engine/storage/files/answer-files.ts` stores them on disk. */
export interface KeptAnswers {
  keep(run: RunKey, json: string): Promise<void>
  /** Null if the answer was removed. */
  read(run: RunKey): Promise<string | null>
  forget(run: RunKey): Promise<void>
  /** Removes the answers of all other runs. */
  keepOnly(runs: readonly RunKey[]): Promise<void>
}
