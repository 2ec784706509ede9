import { otherLimits } from '../../limits/limits.ts'

/**
 * What plugins share for a while: values and lists by key. Each scope has room for a number of keys and bytes; those that were set first are dropped first. If all scopes together have too much, the
 * largest one loses some.
 */
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
const { cacheBytes, cachesBytes } = otherLimits
/** Of one list. */
const mostItems = 1_000

/** A string or an entry takes some bytes besides its characters. */
const overhead = 64
const sizeOf = (key: string, value: string | string[]) =>
  key.length + overhead + (typeof value === 'string' ? value.length : value.reduce((sum, item) => sum + item.length + overhead, 0))
/** The first items of a list, as many as there is room for in one scope. */
const fitting = (items: readonly string[]): string[] => {
  let [count, size] = [0, 0]
  for (; count < Math.min(items.length, mostItems); count++) {
    size += items[count]!.length + overhead
    if (size > cacheBytes.number) break
  }
  return items.slice(0, count)
}

class Scope {
  readonly entries = new Map<string, Entry>()
  bytes = 0

  put(key: string, entry: Entry): void {
    this.drop(key)
    this.entries.set(key, entry)
    this.bytes += sizeOf(key, entry.value)
    while (this.entries.size > 1 && (this.entries.size > mostKeys || this.bytes > cacheBytes.number)) this.dropFirst()
  }

  /** The key that was set first. */
  dropFirst(): void {
    const { value, done } = this.entries.keys().next()
    if (!done) this.drop(value)
  }

  drop(key: string): void {
    const entry = this.entries.get(key)
    if (!entry) return
    this.bytes -= sizeOf(key, entry.value)
    this.entries.delete(key)
  }
}

export function createMemoryCache(clock: () => Date): PluginCache {
  const scopes = new Map<string, Scope>()
  let bytes = 0
  const put = (name: string, key: string, entry: Entry): void => {
    const scope = scopes.get(name) ?? new Scope()
    scopes.set(name, scope)
    bytes -= scope.bytes
    scope.put(key, entry)
    bytes += scope.bytes
    while (bytes > cachesBytes.number) makeRoom()
  }
  const makeRoom = (): void => {
    const largest = [...scopes.values()].reduce((most, scope) => (scope.bytes > most.bytes ? scope : most))
    bytes -= largest.bytes
    largest.dropFirst()
    bytes += largest.bytes
  }
  const drop = (name: string, key: string): void => {
    const scope = scopes.get(name)
    if (!scope) return
    bytes -= scope.bytes
    scope.drop(key)
    bytes += scope.bytes
    if (scope.entries.size === 0) scopes.delete(name)
  }
  const find = (name: string, key: string) => {
    const entry = scopes.get(name)?.entries.get(key)
    if (!entry || entry.until > clock().getTime()) return entry
    drop(name, key)
    return undefined
  }
  const listAt = (name: string, key: string): string[] => {
    const value = find(name, key)?.value
    if (value !== undefined && !Array.isArray(value)) throw new Error(`The cache has a value, not a list, for "${key}"`)
    return value ?? []
  }
  const putList = (name: string, key: string, list: string[]) => {
    const until = find(name, key)?.until ?? Number.POSITIVE_INFINITY
    if (list.length === 0) drop(name, key)
    else put(name, key, { value: list, until })
  }
  return {
    get(scope, key) {
      const value = find(scope, key)?.value
      return value === undefined ? null : Array.isArray(value) ? `[${value.join()}]` : value
    },
    set(scope, key, value, seconds) {
      const until = seconds === undefined || seconds === null ? Number.POSITIVE_INFINITY : clock().getTime() + seconds * 1000
      put(scope, key, { value, until })
    },
    incr(scope, key) {
      const entry = find(scope, key)
      const next = Number(entry === undefined ? 0 : entry.value) + 1
      if (!Number.isFinite(next)) throw new Error(`The cache has no number for "${key}"`)
      put(scope, key, { value: String(next), until: entry?.until ?? Number.POSITIVE_INFINITY })
      return next
    },
    expire(scope, key, seconds) {
      const entry = find(scope, key)
      if (!entry) return false
      entry.until = clock().getTime() + seconds * 1000
      return true
    },
    lpush(scope, key, items) {
      const list = fitting([...[...items].reverse(), ...listAt(scope, key)])
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
