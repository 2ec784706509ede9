import { QueryError, WaymarkError } from '../../errors/errors.ts'
import type { Checkpoint } from '../../language/ast/planning-budget.ts'
import type { Progress } from '../../lib/flow/progress.ts'

export type { Checkpoint } from '../../language/ast/planning-budget.ts'

export interface AnswerOptions {
  /** Aborts when the caller has left or the time is over. */
  readonly signal?: AbortSignal
  /** Throws in the same cases. Planning is synchronous, so no timer can abort the signal meanwhile. */
  readonly checkpoint?: Checkpoint
  readonly progress?: Progress
}

export const checkpointOf = ({ checkpoint, signal }: AnswerOptions): Checkpoint =>
  checkpoint ??
  (() => {
    if (signal?.aborted) throw signal.reason instanceof WaymarkError ? signal.reason : new QueryError('query-cancelled', {})
  })
