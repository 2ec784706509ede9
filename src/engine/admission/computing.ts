import type { Progress } from '../../lib/flow/progress.ts'
import type { Wanted } from './admission.ts'
import type { Answer } from './answer.ts'

export interface Computing {
  /** The claim for its statements. */
  readonly wanted: Wanted
  readonly progress?: Progress | undefined
}

export interface Computed {
  readonly answer: Answer
  /** The end of its date range, if it has one. */
  readonly endsAt: string | null
}

/** Numbers of queued and running statements. */
export interface Load {
  readonly waiting: number
  readonly running: number
}
