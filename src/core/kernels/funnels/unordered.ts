import type { ActorColumns } from './columns.ts'
import { orderInstant } from './instant.ts'
import type { Walk } from './walk.ts'

// The fold of unordered funnels: a window slides over the actor's events and holds, for each step, the event that counts.

export interface UnorderedFunnel {
  readonly steps: number
  readonly window: number
}

export class UnorderedFold {
  /** The largest number of different steps within one window. Read after `walk`. */
  depth = 0
  readonly isExcluded = false

  private best: Int32Array
  private head = 0
  private event: number[] = []
  private step: number[] = []
  private readonly instant: number[] = []
  private readonly held: Int32Array
  private readonly latest: Float64Array
  private done = 0
  private isOver = false

  constructor(private readonly funnel: UnorderedFunnel) {
    this.best = new Int32Array(funnel.steps)
    this.held = new Int32Array(funnel.steps)
    this.latest = new Float64Array(funnel.steps)
  }

  /** Called before a walk. */
  begin(): void {
    this.depth = 0
    this.isOver = false
    this.clear()
  }

  /** Walks from `from` until after `to`, but never stops between events of the same time. Returns its position: the end of the walk if no better result is possible. */
  advance(events: ActorColumns, walk: Walk, from: number, to: number): number {
    const { time } = events
    let i = from
    while (i < to) {
      let next = i + 1
      while (next < walk.end && time[next] === time[i]) next++
      if (next - i === 1) {
        if (!this.take(events, walk, i)) return this.end(walk)
      } else {
        orderInstant(events, walk, i, next, null, this.instant)
        for (const k of this.instant) if (!this.take(events, walk, k)) return this.end(walk)
      }
      i = next
    }
    return i
  }

  /** Called after a walk: includes the last run. */
  finish(): void {
    if (!this.isOver && this.done > this.depth) this.record(this.done)
  }

  private end({ end }: Walk): number {
    this.isOver = true
    return end
  }

  /** False: no better result is possible. */
  private take(events: ActorColumns, walk: Walk, i: number): boolean {
    const { time, exclusions } = events
    const at = time[i]!
    while (this.head < this.event.length && at - time[this.event[this.head]!]! > this.funnel.window) this.dropOldest()
    // A run may begin only inside the bounds; later events may still complete it.
    const begun = this.head < this.event.length ? time[this.event[this.head]!]! : at
    if (begun >= walk.enterTo) return false
    if (begun < walk.enterFrom) return true
    if (exclusions !== null && exclusions[i] !== 0) {
      // The run is lost, the actor is not: what it had begun still counts as a first step.
      if (this.depth === 0 && this.done > 0) this.record(1)
      this.clear()
      return true
    }
    // Any event may be the first of a run; with an attribution to the first step it is one with the value.
    if (this.done === 0 && walk.valueStep >= 0 && events.breakdown![i] !== walk.stepValue) return true
    const step = this.stepFor(events.steps[i]!)
    if (step < 0) return true
    if (this.held[step]!++ === 0) this.done++
    this.latest[step] = at
    this.event.push(i)
    this.step.push(step)
    if (this.done < this.funnel.steps) return true
    this.record(this.done)
    return false
  }

  /** The events of the best run, ordered by time; -1 beyond its depth. */
  eventsOf(into: Int32Array): void {
    into.set(this.best)
    into.fill(-1, this.depth)
  }

  /** Among the steps that an event matches, the one whose latest event is the oldest. */
  private stepFor(matched: number): number {
    let chosen = -1
    for (let bits = matched; bits !== 0; ) {
      const step = 31 - Math.clz32(bits & -bits)
      bits &= bits - 1
      if (chosen < 0 || this.latest[step]! < this.latest[chosen]!) chosen = step
    }
    return chosen
  }

  private dropOldest(): void {
    if (this.done > this.depth) this.record(this.done)
    const step = this.step[this.head++]!
    if (--this.held[step]! === 0) {
      this.done--
      this.latest[step] = Number.NEGATIVE_INFINITY
    }
  }

  private record(depth: number): void {
    this.depth = depth
    const seen = new Set<number>()
    let found = 0
    for (let k = this.head; k < this.event.length && found < depth; k++) {
      if (seen.has(this.step[k]!)) continue
      seen.add(this.step[k]!)
      this.best[found++] = this.event[k]!
    }
  }

  private clear(): void {
    this.head = 0
    this.event.length = 0
    this.step.length = 0
    this.held.fill(0)
    this.latest.fill(Number.NEGATIVE_INFINITY)
    this.done = 0
  }
}
