/** A place among the statements that run. */
export interface ScheduledStatement {
  /** Aborts when the statement has to stop, for good or to be begun again. */
  readonly signal: AbortSignal
  /** The engine has made all rows. Nothing is begun again from here on. */
  hasRows(): void
}

/** Says when a statement may run. */
export interface StatementScheduler {
  /** Waits for an execution slot and runs the work in it. Work that can restart may be interrupted for others; it is then called again. */
  schedule<T>(work: (turn: ScheduledStatement) => Promise<T>, options?: { readonly canRestart?: boolean }): Promise<T>
  /** Nobody else has work in progress. */
  isAlone(): boolean
}

/** Everything runs at once. */
export const unscheduled = (): StatementScheduler => {
  const turn: ScheduledStatement = { signal: new AbortController().signal, hasRows: () => {} }
  return { schedule: (work) => work(turn), isAlone: () => true }
}
