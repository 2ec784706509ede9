/**
 * A map that evicts entries that were not used recently. Entries are in two generations: a lookup moves an entry to the young one, and `trim`
 * drops the old one. Nothing is dropped between two calls of `trim`.
 */
export class BoundedCache<K, V> {
  private young = new Map<K, V>()
  private old = new Map<K, V>()
  private readonly limit: number

  constructor(limit: number) {
    this.limit = limit
  }

  get(key: K): V | undefined {
    const value = this.young.get(key)
    if (value !== undefined) return value
    const older = this.old.get(key)
    if (older !== undefined) {
      this.old.delete(key)
      this.young.set(key, older)
    }
    return older
  }

  set(key: K, value: V): void {
    this.old.delete(key)
    this.young.set(key, value)
  }

  delete(key: K): void {
    this.young.delete(key)
    this.old.delete(key)
  }

  get isOver(): boolean {
    return this.young.size > this.limit / 2
  }

  /** The entries used since `trim` last dropped some. */
  recent(): Iterable<V> {
    return this.young.values()
  }

  /** `isHeavy`: trims by size, however few entries there are. */
  trim(isHeavy = false): void {
    if (!this.isOver && !isHeavy) return
    this.old = this.young
    this.young = new Map()
  }

  clear(): void {
    this.young.clear()
    this.old.clear()
  }
}
