/** What plugins share for a while: values and lists by key. Each scope has room for a number of keys; those that were set first are dropped first. */
export interface PluginCache {
  get(scope: string, key: string): string | null
  set(scope: string, key: string, json: string, seconds?: number | null): void
  incr(scope: string, key: string): number
  expire(scope: string, key: string, seconds: number): boolean
  lpush(scope: string, key: string, items: readonly string[]): number
  lrange(scope: string, key: string, from: number, to: number): readonly string[]
  llen(scope: string, key: string): number
  lrem(scope: string, key: string, count: number, item: string): number
  lpop(scope: string, key: string, count: number): readonly string[]
}

interface Entry {
  value: string | string[]
  until: number
}

const mostKeys = 10_000
const mostBytes = 16 * 1024 * 1024
/** Of one list. */
const mostItems = 1_000

const sizeOf = (value: string | string[]) =>
  (typeof value === 'string' ? value.length : value.reduce((sum, item) => sum + item.length, 0)) + 64

class Scope {
  readonly entries = new Map<string, Entry>()
  bytes = 0

  put(key: string, entry: Entry): void {
    this.drop(key)
    this.entries.set(key, entry)
    this.bytes += sizeOf(entry.value)
    for (const first of this.entries.keys()) {
      if (this.entries.size <= mostKeys && this.bytes <= mostBytes) break
      if (first !== key) this.drop(first)
      else if (this.entries.size === 1) break
      else this.entries.delete(key) && this.entries.set(key, entry)
    }
  }

  drop(key: string): void {
    const entry = this.entries.get(key)
    if (!entry) return
    this.bytes -= sizeOf(entry.value)
    this.entries.delete(key)
  }
}

export function createMemoryCache(clock: () => Date): PluginCache {
  const scopes = new Map<string, Scope>()
  const scopeOf = (name: string) => {
    const scope = scopes.get(name) ?? new Scope()
    scopes.set(name, scope)
    return scope
  }
  const find = (name: string, key: string) => {
    const scope = scopes.get(name)
    const entry = scope?.entries.get(key)
    if (!entry || entry.until > clock().getTime()) return entry
    scope!.drop(key)
    return undefined
  }
  const listAt = (name: string, key: string): string[] => {
    const value = find(name, key)?.value
    if (value !== undefined && !Array.isArray(value)) throw new Error(`The cache has a value, not a list, for "${key}"`)
    return value ?? []
  }
  const putList = (name: string, key: string, list: string[]) => {
    const until = find(name, key)?.until ?? Number.POSITIVE_INFINITY
    if (list.length === 0) scopeOf(name).drop(key)
    else scopeOf(name).put(key, { value: list, until })
  }
  return {
    get(scope, key) {
      const value = find(scope, key)?.value
      return value === undefined ? null : Array.isArray(value) ? `[${value.join()}]` : value
    },
    set(scope, key, value, seconds) {
      const until = seconds === undefined || seconds === null ? Number.POSITIVE_INFINITY : clock().getTime() + seconds * 1000
      scopeOf(scope).put(key, { value, until })
    },
    incr(scope, key) {
      const entry = find(scope, key)
      const next = Number(entry === undefined ? 0 : entry.value) + 1
      if (!Number.isFinite(next)) throw new Error(`The cache has no number for "${key}"`)
      scopeOf(scope).put(key, { value: String(next), until: entry?.until ?? Number.POSITIVE_INFINITY })
      return next
    },
    expire(scope, key, seconds) {
      const entry = find(scope, key)
      if (!entry) return false
      entry.until = clock().getTime() + seconds * 1000
      return true
    },
    lpush(scope, key, items) {
      const list = [...[...items].reverse(), ...listAt(scope, key)].slice(0, mostItems)
      putList(scope, key, list)
      return list.length
    },
    lrange(scope, key, from, to) {
      const list = listAt(scope, key)
      const at = (index: number) => (index < 0 ? Math.max(0, list.length + index) : index)
      return list.slice(at(from), to < 0 && list.length + to < 0 ? 0 : at(to) + 1)
    },
    llen: (scope, key) => listAt(scope, key).length,
    lrem(scope, key, count, item) {
      const list = listAt(scope, key)
      const positions = [...list.keys()].filter((i) => list[i] === item)
      const removed = new Set(count > 0 ? positions.slice(0, count) : count < 0 ? positions.slice(count) : positions)
      putList(
        scope,
        key,
        list.filter((_, i) => !removed.has(i)),
      )
      return removed.size
    },
    lpop(scope, key, count) {
      const list = listAt(scope, key)
      putList(scope, key, list.slice(count))
      return list.slice(0, count)
    },
  }
}
