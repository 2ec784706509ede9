// Small states by name, of which each change sees the one before, also that of another process: counts of requests and of attempts.

export interface NextState {
  /** Of JSON values. */
  readonly state: unknown
  /** After so long without a change it means no more than no state at all. */
  readonly keptMs: number
}

export interface States {
  /**
   * Replaces a state by what `next` makes of it (null: there is none). If `next` returns null, nothing changes. It may be called several times, with newer states;
   * what it returned last counts.
   */
  change(name: string, next: (state: unknown) => NextState | null): Promise<void>
}

const mostInMemory = 100_000

/** Of one process. The least recently used are forgotten first. */
export function statesInMemory(most = mostInMemory): States {
  const known = new Map<string, unknown>()
  return {
    async change(name, next) {
      const made = next(known.get(name) ?? null)
      if (made === null) return
      known.delete(name)
      known.set(name, made.state)
      if (known.size > most) known.delete(known.keys().next().value!)
    },
  }
}
