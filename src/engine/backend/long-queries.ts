import type { AnswerOptions } from '../execution/checkpoint.ts'
import { PlannedElsewhere } from '../execution/plan-in-slices.ts'
import type { QueryProject } from '../execution/query-context.ts'

// Queries whose planning takes long are answered in another thread, so that those of others do not wait for it.

export interface AnswerText {
  readonly text: string
  readonly endsAt: string | null
}

export interface LongQueries {
  /** Null: no other thread could answer it. */
  answer(query: unknown, project: QueryProject, options: AnswerOptions): Promise<AnswerText | null>
  /** Much shared memory is unused now. */
  release(): void
}

/** The end of its date range. */
export const endOf = (answer: object): string | null => {
  const range = (answer as { resolved_date_range?: { date_to?: unknown } }).resolved_date_range
  return typeof range?.date_to === 'string' ? range.date_to : null
}

/** A request of this size is planned elsewhere from the start: in characters of its JSON, approximately. */
const longRequest = 16 * 1024
/** A statement that becomes so large is planned elsewhere, from the start: about 20 ms of planning. */
export const longPlan = 10_000

/** Stops adding when it is long. */
export function isLongRequest(request: unknown): boolean {
  let size = 0
  const add = (value: unknown): boolean => {
    if (typeof value === 'string') size += value.length
    size += 4
    if (size >= longRequest) return true
    if (typeof value !== 'object' || value === null) return false
    if (Array.isArray(value)) return value.some(add)
    return Object.entries(value).some(([key, item]) => {
      size += key.length
      return add(item)
    })
  }
  return add(request)
}

/** Answers in this thread; null if a statement is too large to be planned here. Once a statement has been run, the query stays. */
export async function unlessLong<T>(project: QueryProject, answer: (project: QueryProject) => Promise<T>): Promise<T | null> {
  let hasRun = false
  const begun =
    <A extends readonly unknown[], R>(run: (...args: A) => R) =>
    (...args: A): R => {
      hasRun = true
      return run(...args)
    }
  const watched: QueryProject = {
    ...project,
    run: begun(project.run),
    runInParts: begun(project.runInParts),
    ...(project.fold ? { fold: begun(project.fold) } : {}),
    planned({ size }) {
      if (size >= longPlan && !hasRun) throw new PlannedElsewhere()
    },
  }
  try {
    return await answer(watched)
  } catch (error) {
    if (error instanceof PlannedElsewhere) return null
    throw error
  }
}
