import type { EventBatch } from '../ports.ts'

/** Something that happened to the lists. */
export type ListChange =
  | { readonly kind: 'events'; readonly batch: EventBatch }
  | { readonly kind: 'merge'; readonly merged: number; readonly survivor: number }

/** Events that are remembered at least. What has not followed by then is counted once more. */
const leastEvents = 1 << 16
/** Of all events: to follow so many takes about as long as to count all. */
const share = 1 / 64
const bytesOfEvent = 24

/** The latest changes of the lists, for those that follow them. */
export class ListNews {
  /** Nobody follows. */
  isOff = true
  /** The number of changes so far. */
  length = 0
  /** Changes before this one are forgotten. */
  first = 0
  private changes: ListChange[] = []
  private events = 0
  private readonly eventsOfAll: () => number

  constructor(eventsOfAll: () => number) {
    this.eventsOfAll = eventsOfAll
  }

  get bytes(): number {
    return this.events * bytesOfEvent
  }

  add({ person, time, event, seq }: EventBatch): void {
    if (this.isOff) return
    this.push({ kind: 'events', batch: { person: person.slice(), time: time.slice(), event: event.slice(), seq: seq.slice() } })
    this.events += person.length
    const most = Math.max(leastEvents, this.eventsOfAll() * share)
    while (this.events > most) this.forget(this.first + 1)
  }

  merge(merged: number, survivor: number): void {
    if (!this.isOff) this.push({ kind: 'merge', merged, survivor })
  }

  /** Those after so many. */
  after(count: number): readonly ListChange[] {
    return this.changes.slice(count - this.first)
  }

  /** Forgets the changes before this one. */
  forget(first: number): void {
    const gone = this.changes.splice(0, first - this.first)
    for (const one of gone) if (one.kind === 'events') this.events -= one.batch.person.length
    this.first += gone.length
  }

  private push(change: ListChange): void {
    this.changes.push(change)
    this.length++
  }
}
