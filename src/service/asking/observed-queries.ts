import { WaymarkError } from '../../errors/errors.ts'
import { traced } from '../../lib/flow/tracing.ts'
import { queryKinds } from '../../queries/registry.ts'

// Every query of every project, while it runs and when it has ended: for metrics, for `waymark top` and for the log of slow queries.

/** Rows or bytes on their way count up to their first piece: after that, the reader decides how long it takes. */
export type QueryForm = 'answer' | 'rows' | 'download'
export type QueryOutcome = 'answered' | 'failed' | 'cancelled'

export interface RunningQuery {
  readonly project: number
  readonly kind: string
  readonly form: QueryForm
  /** The caller: `user 5`, `library`. */
  readonly caller: string
  /** By `performance.now()`. */
  readonly since: number
}

export interface EndedQuery extends RunningQuery {
  readonly query: unknown
  readonly ms: number
  readonly outcome: QueryOutcome
  /** The code of the error. */
  readonly error: string | null
  readonly result: unknown
}

const bounds = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

export interface QueryTiming {
  readonly bounds: readonly number[]
  /** For each bound, queries that took no longer. */
  readonly buckets: readonly number[]
  readonly seconds: number
  readonly count: number
}

/** Projects that are counted by themselves, those after them together. */
const mostProjects = 100

interface Sum {
  seconds: number
  count: number
}

const kindOf = (query: unknown): string => {
  const kind = typeof query === 'object' && query !== null ? (query as { kind?: unknown }).kind : undefined
  return typeof kind === 'string' && Object.hasOwn(queryKinds, kind) ? kind : 'other'
}

/** Seconds of queries, by their kind and their outcome. */
class Timings {
  private readonly byKind = new Map<string, { buckets: number[]; seconds: number; count: number }>()
  private readonly byProject = new Map<string, Sum>()
  private readonly byOutcome: Record<QueryOutcome, number> = { answered: 0, failed: 0, cancelled: 0 }

  add({ kind, project, ms, outcome }: EndedQuery): void {
    const seconds = ms / 1000
    const timing = this.byKind.get(kind) ?? { buckets: bounds.map(() => 0), seconds: 0, count: 0 }
    this.byKind.set(kind, timing)
    for (const [i, bound] of bounds.entries()) if (seconds <= bound) timing.buckets[i]!++
    timing.seconds += seconds
    timing.count++
    const id = String(project)
    const owner = this.byProject.has(id) || this.byProject.size < mostProjects ? id : 'other'
    const sum = this.byProject.get(owner) ?? { seconds: 0, count: 0 }
    this.byProject.set(owner, sum)
    sum.seconds += seconds
    sum.count++
    this.byOutcome[outcome]++
  }

  get kinds(): ReadonlyMap<string, QueryTiming> {
    return new Map([...this.byKind].map(([kind, timing]) => [kind, { bounds, ...timing }]))
  }
  get projects(): ReadonlyMap<string, Readonly<Sum>> {
    return this.byProject
  }
  get outcomes(): Readonly<Record<QueryOutcome, number>> {
    return this.byOutcome
  }
}

/** Of an answer that was computed in this process, or of a table. */
function rowsOf(result: unknown): number | null {
  const { answer, numRows } = (result ?? {}) as { answer?: { rows?: number | null }; numRows?: unknown }
  return typeof numRows === 'number' ? numRows : (answer?.rows ?? null)
}

export const createObservedQueries = () => {
  const running = new Set<RunningQuery>()
  const timings = new Timings()
  let onEnd: (ended: EndedQuery) => void = () => undefined
  return {
    timings,
    get running(): readonly RunningQuery[] {
      return [...running]
    },
    /** Called with each query that has ended. */
    whenEnded(handler: (ended: EndedQuery) => void): void {
      onEnd = handler
    },
    async run<T>(
      about: {
        readonly project: number
        readonly query: unknown
        readonly form: QueryForm
        readonly caller: string
        readonly signal?: AbortSignal | undefined
      },
      work: () => Promise<T>,
    ): Promise<T> {
      const { project, query, form, caller, signal } = about
      const one: RunningQuery = { project, kind: kindOf(query), form, caller, since: performance.now() }
      running.add(one)
      const end = (outcome: QueryOutcome, error: string | null, result: unknown): void => {
        running.delete(one)
        const ended: EndedQuery = { ...one, query, ms: performance.now() - one.since, outcome, error, result }
        timings.add(ended)
        onEnd(ended)
      }
      const attributes = { 'waymark.project': project, 'waymark.query.kind': one.kind, 'waymark.query.form': form }
      try {
        const result = await traced('query', attributes, async (note) => {
          const found = await work()
          const rows = rowsOf(found)
          if (rows !== null) note({ 'waymark.query.rows': rows })
          return found
        })
        end('answered', null, result)
        return result
      } catch (error) {
        const isCancelled = signal?.aborted === true || (error instanceof WaymarkError && error.code === 'query-cancelled')
        end(isCancelled ? 'cancelled' : 'failed', error instanceof WaymarkError ? error.code : 'internal', null)
        throw error
      }
    },
  }
}
export type ObservedQueries = ReturnType<typeof createObservedQueries>
