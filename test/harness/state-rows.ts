import type { StateRows, StoredState } from '../../src/engine/storage/postgres/states.ts'

/** What PostgreSQL does, with answers that come later than they are true. */
export function stateRowsInMemory() {
  const rows = new Map<string, StoredState>()
  const later = () => new Promise<void>((resolve) => setImmediate(resolve))
  let statements = 0
  const store: StateRows = {
    async read(key) {
      statements++
      const found = rows.get(key) ?? null
      await later()
      return found
    },
    async replace(key, before, { version, state }) {
      statements++
      await later()
      if ((rows.get(key)?.version ?? null) !== before) return false
      rows.set(key, { version, state: structuredClone(state) })
      return true
    },
  }
  return { store, removeAll: async () => rows.clear(), statements: () => statements }
}
