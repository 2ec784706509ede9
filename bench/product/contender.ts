import type { DataSet } from './generator.ts'
import type { Question } from './question.ts'

// One way to keep events and to ask about them. Each contender is one file of contenders/ and one line of their list.

export interface Resources {
  /** Empty before the events are loaded, and the contender's own. */
  readonly directory: string
  readonly threads: number
  /** What the engine may use, as `2GB`. */
  readonly memory: string
}

export interface EventFiles {
  readonly data: DataSet
  /** Parquet, in the order of arrival: see event-files.ts. */
  readonly files: readonly string[]
}

export type Cell = string | number | null
export type Rows = readonly (readonly Cell[])[]

export interface Prepared {
  /** What is timed: until the answer is in this process as plain values. */
  ask(): Promise<unknown>
  /** Waits for what an earlier answer has begun in the background. */
  settle?(): Promise<void>
  /** The answer in the shape in which those of all contenders are compared. */
  rows(answer: unknown): Rows | Promise<Rows>
}

export interface OpenContender {
  /** Of the software, as `DuckDB 1.5.6`. */
  readonly version: string
  /** What a question needs before its time begins. Null: not built yet. */
  prepare(question: Question): Promise<Prepared | null>
  /** Takes further events meanwhile, so many a second, until the function that it answers is called. Absent: it is not measured. */
  feed?(perSecond: number): () => Promise<void>
  close(): Promise<void>
}

export interface Contender {
  readonly name: string
  /** How it keeps the events, in one sentence. */
  readonly layout: string
  /** Why it cannot take part on this machine, and what to do about it. */
  readonly missing?: string
  /** It makes the events itself, as they arrive, and reads no file of them. */
  readonly makesEvents?: true
  load(events: EventFiles, resources: Resources, onProgress: (events: number) => void): Promise<void>
  open(data: DataSet, resources: Resources): Promise<OpenContender>
}
