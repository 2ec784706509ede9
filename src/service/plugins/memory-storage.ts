import type { PluginStorage } from './ports.ts'
import { ScopeValues } from './scope-values.ts'

/** Storage of plugins that ends with the process. */
export function createMemoryStorage(): PluginStorage {
  const scopes = new Map<string, ScopeValues>()
  const textOf = (scope: string, key: string) => scopes.get(scope)?.values.get(key) ?? null
  return {
    get: async (scope, key) => textOf(scope, key),
    async replace(scope, key, before, json) {
      if (textOf(scope, key) !== before) return false
      await this.set(scope, key, json)
      return true
    },
    list: async (scope) => [...(scopes.get(scope)?.values ?? [])],
    size: async (scope) => scopes.get(scope)?.size ?? { keys: 0, characters: 0 },
    async set(scope, key, json) {
      const values = scopes.get(scope) ?? new ScopeValues()
      scopes.set(scope, values)
      values.set(key, json)
    },
  }
}
