import type { EventBatch } from '../ports.ts'

/** Something that happened to the lists. */
export type ListChange =
  | { readonly kind: 'events'; readonly batch: EventBatch }
  | { readonly kind: 'merge'; readonly merged: number; readonly survivor: number }

/** Events that are remembered. What has not followed by then begins anew. */
const mostEvents = 1 << 16

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

  add({ person, time, event, seq }: EventBatch): void {
    if (this.isOff) return
    this.push({ kind: 'events', batch: { person: person.slice(), time: time.slice(), event: event.slice(), seq: seq.slice() } })
    this.events += person.length
    while (this.events > mostEvents) this.forget(this.first + 1)
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
