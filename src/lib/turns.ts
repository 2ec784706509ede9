/** A place among the statements that run. */
export interface Turn {
  /** Aborts when the statement has to stop, for good or to be begun again. */
  readonly signal: AbortSignal
  /** The engine has made all rows. Nothing is begun again from here on. */
  hasRows(): void
}

/** Says when a statement may run. */
export interface Turns {
  /** Waits for a place and works in it. Work that can restart may be interrupted for others; it is then called anew. */
  turn<T>(work: (turn: Turn) => Promise<T>, options?: { readonly canRestart?: boolean }): Promise<T>
}

/** Everything runs at once. */
export const atOnce = (): Turns => {
  const turn: Turn = { signal: new AbortController().signal, hasRows: () => {} }
  return { turn: (work) => work(turn) }
}
