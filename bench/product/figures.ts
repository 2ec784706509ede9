import type { machine } from '../measure.ts'
import type { Rows } from './contender.ts'
import type { ContenderKey } from './contenders.ts'

// What a run has measured: the file of --out, and all that the table and the chart are made of.

export interface Times {
  readonly median: number
  readonly min: number
  readonly max: number
  readonly runs: number
}
/** Text: why there is no time. */
export type Outcome = Times | string

export interface ContenderFigures {
  readonly key: ContenderKey
  readonly name: string
  readonly layout: string
  /** Of the software, as `DuckDB 1.5.6`. */
  readonly version: string
  readonly loadSeconds: number
  readonly eventsPerSecond: number
  readonly loadPeakMb: number
  readonly diskMb: number
  /** From opening to the answer of the first question, in a new process; null where that failed. */
  readonly firstAnswerMs: number | null
  readonly queryPeakMb: number
  /** In the order of the questions: asked again and again while nothing else happens. */
  readonly outcomes: readonly Outcome[]
  /** The same under other conditions; what an earlier run has not measured is absent. */
  readonly conditions?: Conditions
  /** In the order of the questions, for a later run that takes part with other contenders; null where there is none. */
  readonly answers?: readonly (Rows | null)[]
}

/** In the order of the questions. */
export interface Conditions {
  /** Asked for the first time, by a process that has answered the questions before it. */
  readonly first: readonly Outcome[]
  /** As the first question of a new process, from opening to its rows. */
  readonly opened: readonly Outcome[]
  /** Asked again and again while events arrive. */
  readonly live?: readonly Outcome[]
}
/** Events a second that arrive meanwhile. */
export const arrivingPerSecond = 1000

export interface Figures {
  readonly events: number
  readonly seed: number
  readonly persons: number
  readonly threads: number
  readonly memory: string
  readonly command: string
  readonly date: string
  readonly machine: ReturnType<typeof machine>
  readonly questions: readonly string[]
  readonly contenders: readonly ContenderFigures[]
  /** Contenders that did not take part, with the reason. */
  readonly missing: readonly Missing[]
}

export interface Missing {
  readonly name: string
  readonly reason: string
  /** It could not load the events. */
  readonly isFailure?: true
}

/** How the outcome of a question begins that a contender could not answer. */
export const failedWith = 'failed: '

/** Whether something did not work, other than what is not installed or not built yet. */
export const hasFailures = ({ contenders, missing }: Figures): boolean =>
  missing.some(({ isFailure }) => isFailure) ||
  contenders.some(({ outcomes }) => outcomes.some((outcome) => typeof outcome === 'string' && outcome.startsWith(failedWith)))
