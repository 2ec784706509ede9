import type { Budgeted } from '../errors/codes.ts'
import { QueryError } from '../errors/errors.ts'
import type { Span } from '../errors/span.ts'

/**
 * How much of each a statement may have. Whatever grows a statement spends while it grows it, so that one that comes to more is refused before
 * time or memory is spent. `docs/sql.md` lists these for users; the figures of the engine come from measuring how long DuckDB plans.
 */
export const statementLimits: Readonly<Record<Budgeted, number>> = {
  text: 1_048_576,
  tokens: 65_000,
  tree: 500_000,
  expressions: 500_000,
  columns: 10_000,
  types: 10_000,
  sql: 4_000_000,
  sources: 1000,
  selects: 1000,
  joins: 3200,
  groupings: 10,
  correlated: 40,
  conditions: 101_000_000,
  aggregates: 200,
  windows: 100,
  nesting: 10_000_000,
}

/** Throws when the query has been cancelled or has no time left. */
export type Checkpoint = () => void

/** Work that goes on between two looks at the clock. */
const unitsBetween = 2000

/** What is left of each for one statement. */
export class PlanningBudget {
  private readonly spent: Partial<Record<Budgeted, number>> = {}
  private readonly limits: Readonly<Record<Budgeted, number>>
  private readonly checkpoint: Checkpoint | undefined
  private untilCheckpoint = unitsBetween

  constructor(checkpoint?: Checkpoint, limits = statementLimits) {
    this.checkpoint = checkpoint
    this.limits = limits
    checkpoint?.()
  }

  /** The same for another statement of the same query. */
  anew(): PlanningBudget {
    return new PlanningBudget(this.checkpoint, this.limits)
  }

  /** Counts what is about to be made. */
  spend(what: Budgeted, amount: number, span: Span | null = null): void {
    const spent = (this.spent[what] ?? 0) + amount
    this.spent[what] = spent
    this.work(amount)
    if (spent > this.limits[what]) this.refuse(what, span)
  }

  /** Work that makes nothing larger still takes time. */
  work(amount: number): void {
    this.untilCheckpoint -= amount
    if (this.untilCheckpoint > 0) return
    this.untilCheckpoint = unitsBetween
    this.checkpoint?.()
  }

  /** For what is counted in each place by itself, and not over the whole statement. */
  allow(what: Budgeted, amount: number, span: Span | null = null): void {
    if (amount > this.limits[what]) this.refuse(what, span)
  }

  spentOn(what: Budgeted): number {
    return this.spent[what] ?? 0
  }

  private refuse(what: Budgeted, span: Span | null): never {
    throw new QueryError('too-large', { budget: what, limit: this.limits[what] }, span)
  }
}

/** These end a statement at once: nothing more is looked for in it. */
export const endsPlanning = (error: unknown): boolean =>
  error instanceof QueryError &&
  (error.code === 'too-large' || error.code === 'too-deep' || error.code === 'query-timeout' || error.code === 'query-cancelled')
