/** A holder of shared memory, which can be evicted. */
export interface MemoryHolder {
  /** Frees the memory for another holder. False: it is in use. */
  evict(): boolean
}

interface Held {
  readonly bytes: number
  readonly usedAt: number
}

/** How often holders are looked at, in parts of the time after which they are idle. */
const looks = 4

/** A memory budget in bytes, shared by several parts of the process. The least recently used holders are evicted first, and those that nobody used for a while. */
export class MemoryShare {
  /** In order of last use. */
  private readonly holders = new Map<MemoryHolder, Held>()
  readonly most: number
  private readonly idleMs: number
  private timer: NodeJS.Timeout | null = null

  constructor(most: number, idleMs = Number.POSITIVE_INFINITY) {
    this.most = most
    this.idleMs = idleMs
  }

  get taken(): number {
    let bytes = 0
    for (const one of this.holders.values()) bytes += one.bytes
    return bytes
  }

  /** Takes `bytes` in place of what the holder has. False if fewer are available: the holder has none then. */
  take(holder: MemoryHolder, bytes: number): boolean {
    this.give(holder)
    if (bytes > this.most) return false
    for (const other of this.holders.keys()) {
      if (this.taken + bytes <= this.most) break
      if (other.evict()) this.give(other)
    }
    if (this.taken + bytes > this.most) return false
    this.hold(holder, bytes)
    return true
  }

  /** Records that the holder uses its memory now. */
  touch(holder: MemoryHolder): void {
    const held = this.holders.get(holder)
    if (held === undefined) return
    this.holders.delete(holder)
    this.hold(holder, held.bytes)
  }

  give(holder: MemoryHolder): void {
    this.holders.delete(holder)
  }

  private hold(holder: MemoryHolder, bytes: number): void {
    this.holders.set(holder, { bytes, usedAt: performance.now() })
    if (this.timer === null && Number.isFinite(this.idleMs)) this.timer = setInterval(() => this.evictIdle(), this.idleMs / looks).unref()
  }

  private evictIdle(): void {
    const before = performance.now() - this.idleMs
    for (const [holder, { usedAt }] of this.holders) {
      if (usedAt > before) break
      if (holder.evict()) this.give(holder)
    }
    if (this.holders.size > 0 || this.timer === null) return
    clearInterval(this.timer)
    this.timer = null
  }
}
