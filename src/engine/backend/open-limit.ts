import { setTimeout } from 'node:timers/promises'
import { deferred } from '../../lib/flow/deferred.ts'

/** How long an opening waits for another project to become idle, before it goes a little beyond the limit, and before it goes beyond that. */
const patienceMs = 1_000
const longPatienceMs = 60_000
/** What a little is. */
const shareBeyond = 1 / 4

/** An open project, as the limit sees it. */
export interface Closable {
  /** Calls in progress. */
  readonly uses: number
  /** By `performance.now()`. */
  readonly usedAt: number
  /** Closes it if nothing uses it by then. Returns whether it did. Never rejects. */
  retire(): Promise<boolean>
}

/**
 * Limits how many projects of a directory are open: each takes memory of the engine, and files. The one that was used least recently is closed. A project that
 * is in use is never closed, so a few more may be open for a while.
 */
export class OpenLimit {
  private readonly most: number
  private readonly open = new Set<Closable>()
  private readonly retiring = new Map<Closable, Promise<boolean>>()
  private change = deferred<void>()

  constructor(most: number) {
    this.most = most
  }

  get size(): number {
    return this.open.size
  }

  /** Call it before a project is opened: closes others if there are too many. */
  async enter(one: Closable): Promise<void> {
    const since = performance.now()
    while (this.open.size >= this.most) {
      const idle = this.leastRecent(one)
      if (idle && (await this.retire(idle))) continue
      const isFarBeyond = this.open.size >= this.most * (1 + shareBeyond)
      const rest = since + (isFarBeyond ? longPatienceMs : patienceMs) - performance.now()
      if (rest <= 0) break
      const timer = new AbortController()
      await Promise.race([this.change.promise, setTimeout(rest, undefined, { signal: timer.signal, ref: false }).catch(() => undefined)])
      timer.abort()
    }
    this.open.add(one)
  }

  /** Call it when a project is closed, or could not be opened. */
  leave(one: Closable): void {
    this.open.delete(one)
    this.hasChanged()
  }

  /** Call it when a project has become idle. */
  idles(one: Closable): void {
    this.hasChanged()
    if (this.open.size > this.most) void this.retire(this.leastRecent() ?? one)
  }

  /** Memory is short: closes what nothing uses, apart from `kept`. Returns whether it closed any. */
  async release(kept: Closable): Promise<boolean> {
    const idle = [...this.open].filter((one) => one !== kept && one.uses === 0)
    let hasClosed = false
    // One by one: a checkpoint takes memory too.
    for (const one of idle) if (await this.retire(one)) hasClosed = true
    return hasClosed
  }

  private hasChanged(): void {
    this.change.resolve()
    this.change = deferred()
  }

  private leastRecent(except?: Closable): Closable | null {
    let found: Closable | null = null
    for (const one of this.open) {
      if (one === except || one.uses > 0 || this.retiring.has(one)) continue
      if (!found || one.usedAt < found.usedAt) found = one
    }
    return found
  }

  private retire(one: Closable): Promise<boolean> {
    const known = this.retiring.get(one)
    if (known) return known
    const retiring = one.retire().finally(() => {
      this.retiring.delete(one)
      this.hasChanged()
    })
    this.retiring.set(one, retiring)
    return retiring
  }
}
