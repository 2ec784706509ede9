/** A holder of shared memory, which can be evicted. */
export interface MemoryHolder {
  /** Frees the memory for another holder. False: it is in use. */
  evict(): boolean
}

/** A memory budget in bytes, shared by several parts of the process. The least recently used holders are evicted first. */
export class MemoryShare {
  /** Bytes of each holder, in order of last use. */
  private readonly holders = new Map<MemoryHolder, number>()
  readonly most: number

  constructor(most: number) {
    this.most = most
  }

  get taken(): number {
    let bytes = 0
    for (const one of this.holders.values()) bytes += one
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
    this.holders.set(holder, bytes)
    return true
  }

  /** Records that the holder uses its memory now. */
  touch(holder: MemoryHolder): void {
    const bytes = this.holders.get(holder)
    if (bytes === undefined) return
    this.holders.delete(holder)
    this.holders.set(holder, bytes)
  }

  give(holder: MemoryHolder): void {
    this.holders.delete(holder)
  }
}
