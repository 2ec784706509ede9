import { type Deferred, deferred } from '../../lib/flow/deferred.ts'
import type { BatchFacts } from './decoding/decode-batch.ts'
import type { EventSource } from './decoding/event-source.ts'

/** One batch holds at most this many events or bytes of requests, so that its preparation delays nobody for long. */
const most = { events: 500, bytes: 1 << 17 }

/** A request that waits for others of the same turn of the event loop. */
export interface GatheredRequest<A> {
  readonly events: EventSource
  readonly facts: BatchFacts
  readonly answer: Deferred<A>
}

/** Collects requests of a project until the end of the turn of the event loop, in the order of their arrival. */
export class Gathered<A> {
  private readonly take: (requests: readonly GatheredRequest<A>[]) => void
  private requests: GatheredRequest<A>[] = []
  private events = 0
  private bytes = 0
  private due: NodeJS.Immediate | null = null

  constructor(take: (requests: readonly GatheredRequest<A>[]) => void) {
    this.take = take
  }

  add(events: EventSource, facts: BatchFacts): Promise<A> {
    if (this.events + events.count > most.events || this.bytes + events.bytes > most.bytes) this.flush()
    const answer = deferred<A>()
    this.requests.push({ events, facts, answer })
    this.events += events.count
    this.bytes += events.bytes
    this.due ??= setImmediate(() => this.flush())
    return answer.promise
  }

  /** Hands over what has been collected so far. */
  flush(): void {
    if (this.due) clearImmediate(this.due)
    this.due = null
    if (this.requests.length === 0) return
    this.events = this.bytes = 0
    this.take(this.requests.splice(0))
  }
}
