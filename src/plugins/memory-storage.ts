import type { PluginStorage } from './ports.ts'

/** Storage of plugins that ends with the process. */
export function createMemoryStorage(): PluginStorage {
  const scopes = new Map<string, Map<string, string>>()
  return {
    get: async (scope, key) => scopes.get(scope)?.get(key) ?? null,
    list: async (scope) => [...(scopes.get(scope) ?? [])],
    async set(scope, key, json) {
      if (json === null) return void scopes.get(scope)?.delete(key)
      const values = scopes.get(scope) ?? new Map<string, string>()
      scopes.set(scope, values.set(key, json))
    },
  }
}
