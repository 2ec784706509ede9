import { createHash } from 'node:crypto'
import type { ProjectLists } from '../../core/lists/project-lists.ts'
import type { Pipeline } from '../../events/ingestion/pipeline.ts'
import type { StoreFacts } from '../../language/catalog/store-facts.ts'
import { jsonText } from '../../lib/text/json-text.ts'
import { answerQuery } from '../execution/answer.ts'
import type { AnswerOptions } from '../execution/checkpoint.ts'
import { PlannedElsewhere } from '../execution/plan-in-slices.ts'
import type { Statements } from '../execution/ports.ts'
import type { QueryProject } from '../execution/query-context.ts'
import { longPlan } from './long-queries.ts'

/** Those of other statements than of groups never read the lists. */
function readsRows(query: unknown): boolean {
  const { kind, query: text } = (query ?? {}) as { kind?: unknown; query?: unknown }
  if (kind === 'SqlLikeQuery' || kind === 'HogQLQuery') return typeof text !== 'string' || !/\bgroup\s+by\b/i.test(text)
  return kind === 'EventsQuery'
}

/** Queries that are remembered as those that read the store. */
const mostRefused = 1000

const keyOf = (query: unknown): string => createHash('sha256').update(jsonText(query)).digest('base64')

/**
 * Answers queries that the lists in memory answer alone, without waiting until the store has what was acknowledged: the lists follow what is processed.
 * A query that needs anything of the store is restarted once the store has it all.
 */
export class EarlyAnswers {
  /** Facts of the store, and the version of `recent` that they are at least of. */
  private known: { readonly facts: StoreFacts; readonly version: number } | null = null
  private readonly refused = new Set<string>()

  constructor(
    private readonly lists: ProjectLists,
    private readonly pipeline: Pick<Pipeline, 'recent' | 'processed' | 'position'>,
  ) {}

  /** The facts of a project, which are kept for later queries. */
  noting(read: () => Promise<StoreFacts>): () => Promise<StoreFacts> {
    return async () => {
      const version = this.pipeline.recent.storedVersion
      const facts = await read()
      this.known = { facts, version }
      return facts
    }
  }

  /** The definitions of actions, as JSON, as a query that is answered here sees them. */
  get actions(): Iterable<string> {
    return this.known?.facts.actions.values() ?? []
  }

  isRefused(query: unknown): boolean {
    return readsRows(query) || (this.refused.size > 0 && this.refused.has(keyOf(query)))
  }

  /** Null: it needs the store. `project`: as it is once the store has everything; `runOfRows` is all that it is asked for here. */
  async answer(
    query: unknown,
    project: Omit<QueryProject, 'facts' | keyof Statements> & Required<Pick<QueryProject, 'runOfRows'>>,
    options: AnswerOptions,
  ): Promise<object | null> {
    const { known, lists } = this
    const { recent } = this.pipeline
    if (!known || known.version !== recent.version) return null
    const { seq } = recent
    const elsewhere = (): never => {
      throw new PlannedElsewhere()
    }
    const needsStore = (): never => {
      this.refuse(query)
      return elsewhere()
    }
    const early: QueryProject = {
      ...project,
      facts: async () => ({ ...known.facts, appliedSeq: String(seq) }),
      async fold(upTo, columns, loop) {
        return (await lists.useRecent(upTo, columns, loop)) !== null || elsewhere()
      },
      planned({ size }) {
        if (size >= longPlan) needsStore()
      },
      run: needsStore,
      runInParts: needsStore,
      gather: needsStore,
      stream: needsStore,
      writeFile: needsStore,
    }
    try {
      const answer = await answerQuery(query, early, options)
      // Some warnings have numbers of the store.
      return (answer as { warnings?: unknown }).warnings === undefined ? answer : null
    } catch (error) {
      if (error instanceof PlannedElsewhere) return null
      throw error
    }
  }

  private refuse(query: unknown): void {
    if (this.refused.size >= mostRefused) this.refused.clear()
    this.refused.add(keyOf(query))
  }
}
