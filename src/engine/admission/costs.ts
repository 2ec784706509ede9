// The last durations of queries. A new query is assumed to take as long as others of its kind, if the kind predicts
// the cost: a statement can be anything.

const remembered = 5_000

/** A query by its key, or by its kind while the key is unknown. */
export interface Costed {
  readonly key: string
  readonly kind: string | null
}

const forget = (known: Map<string, number>) => {
  if (known.size > remembered) known.delete(known.keys().next().value!)
}

export const createCosts = () => {
  const last = new Map<string, number>()
  const usual = new Map<string, number>()
  return {
    of: ({ key, kind }: Costed): number => last.get(key) ?? (kind === null ? 0 : (usual.get(kind) ?? 0)),

    /** `isWhole`: the query was completed. A stopped query would have taken longer. */
    note({ key, kind }: Costed, ms: number, isWhole: boolean): void {
      if (!isWhole && ms < (last.get(key) ?? 0)) return
      last.delete(key)
      last.set(key, ms)
      forget(last)
      if (kind === null) return
      const before = usual.get(kind)
      usual.delete(kind)
      usual.set(kind, 0.9 * (before ?? ms) + 0.1 * ms)
      forget(usual)
    },
  }
}
export type Costs = ReturnType<typeof createCosts>
