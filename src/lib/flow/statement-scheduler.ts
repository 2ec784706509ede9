/** The execution slot of a statement. */
export interface ScheduledStatement {
  /** Aborts if the statement must stop, for good or to be restarted. */
  readonly signal: AbortSignal
  /** The engine has produced all rows: from here on the statement is not restarted. */
  hasRows(): void
}

/** Decides when a statement may run. */
export interface StatementScheduler {
  /** Waits for an execution slot and runs the work in it. Work that can restart may be interrupted for others, and is then called again. */
  schedule<T>(work: (turn: ScheduledStatement) => Promise<T>, options?: { readonly canRestart?: boolean }): Promise<T>
  /** No other work is in progress. */
  isAlone(): boolean
}

/** Runs everything immediately. */
export const unscheduled = (): StatementScheduler => {
  const turn: ScheduledStatement = { signal: new AbortController().signal, hasRows: () => {} }
  return { schedule: (work) => work(turn), isAlone: () => true }
}
