import type { Budgeted } from '../../errors/codes.ts'
import { QueryError } from '../../errors/errors.ts'
import type { Span } from '../../errors/span.ts'

/**
 * The limits of one statement. Each step that enlarges the statement spends from this budget first, so a statement beyond a limit is refused before
 * it takes time or memory. `docs/sql.md` lists these limits for users. Those of the engine come from measurements of DuckDB's planning time.
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
  levels: 16,
  correlated: 40,
  conditions: 101_000_000,
  aggregates: 200,
  windows: 100,
  nesting: 10_000_000,
  patterns: 524_288,
}

/** Throws when the query has been cancelled or has no time left. */
export type Checkpoint = () => void

/** Units of work between two checkpoints. */
const unitsBetween = 2000

/** The remaining budget of one statement. */
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

  /** A new budget for another statement of the same query. */
  anew(): PlanningBudget {
    return new PlanningBudget(this.checkpoint, this.limits)
  }

  /** Spends for what is about to be created. */
  spend(what: Budgeted, amount: number, span: Span | null = null): void {
    const spent = (this.spent[what] ?? 0) + amount
    this.spent[what] = spent
    this.work(amount)
    if (spent > this.limits[what]) this.refuse(what, span)
  }

  /** Counts work that enlarges nothing, but takes time. */
  work(amount: number): void {
    this.untilCheckpoint -= amount
    if (this.untilCheckpoint > 0) return
    this.untilCheckpoint = unitsBetween
    this.checkpoint?.()
  }

  /** Checks a limit that applies to one part of the statement, and is not summed over the whole. */
  allow(what: Budgeted, amount: number, span: Span | null = null): void {
    if (amount > this.limits[what]) this.refuse(what, span)
  }

  spentOn(what: Budgeted): number {
    return this.spent[what] ?? 0
  }

  /** The size of the statement so far, in tokens and nodes: planning takes time in proportion to it. */
  get size(): number {
    return this.spentOn('tokens') + this.spentOn('tree') + this.spentOn('expressions')
  }

  private refuse(what: Budgeted, span: Span | null): never {
    throw new QueryError('too-large', { budget: what, limit: this.limits[what] }, span)
  }
}

/** Errors that end a statement immediately: no further errors are collected. */
export const endsPlanning = (error: unknown): boolean =>
  error instanceof QueryError &&
  (error.code === 'too-large' || error.code === 'too-deep' || error.code === 'query-timeout' || error.code === 'query-cancelled')
