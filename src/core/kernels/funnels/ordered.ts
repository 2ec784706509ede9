import type { ActorColumns } from './columns.ts'
import { orderInstant } from './instant.ts'
import type { Walk } from './walk.ts'

// The fold of ordered and strict funnels. For each actor and step it keeps the live attempt that has reached the step. Each event advances attempts,
// so the cost is linear in the events and does not multiply by the steps.

export interface OrderedFunnel {
  readonly steps: number
  /** Microseconds from the first step of an attempt, inclusive. */
  readonly window: number
  readonly isStrict: boolean
  /** Bit k: step k is optional. */
  readonly optional: number
}

// Attempts share prefixes: a node is one reached step and points to the previous one. A first step is its own node, identified by its event, because
// most events are first steps without a second one.
const nobody = -1
const firstNode = (event: number) => -2 - event
const isFirst = (node: number) => node < nobody
const eventOfFirst = (node: number) => -2 - node

export class OrderedFold {
  /** The depth of the best attempt: 0 to the number of steps. Read after `walk`. */
  depth = 0
  /** The best attempt was excluded: the actor counts in no step. */
  isExcluded = false

  private bestNode = nobody
  private bestStart = 0
  private live = 0
  private readonly start: Float64Array
  private readonly node: Int32Array
  private readonly excluded: Uint8Array
  private nodes = 0
  private nodePrevious = new Int32Array(256)
  private nodeEvent = new Int32Array(256)
  private nodeStep = new Uint8Array(256)
  private readonly instant: number[] = []
  /** Bits of the existing steps: a trend may use fewer than the columns have. */
  private readonly known: number
  private readonly isPlain: boolean

  constructor(private readonly funnel: OrderedFunnel) {
    this.isPlain = !funnel.isStrict && funnel.optional === 0
    this.known = funnel.steps >= 32 ? -1 : (1 << funnel.steps) - 1
    this.start = new Float64Array(funnel.steps)
    this.node = new Int32Array(funnel.steps)
    this.excluded = new Uint8Array(funnel.steps)
  }

  /** Called before a walk. */
  begin(): void {
    this.depth = 0
    this.isExcluded = false
    this.bestNode = nobody
    this.live = 0
    this.nodes = 0
  }

  /** Walks from `from` until after `to`, but never stops between events of the same time. Returns its position: the end of the walk if no better result is possible. */
  advance(events: ActorColumns, walk: Walk, from: number, to: number): number {
    if (this.isPlain && events.exclusions === null && walk.valueStep < 0) return this.walkPlain(events, walk, from, to)
    return this.walkAny(events, walk, from, to)
  }

  /** Called after a walk. */
  finish(): void {}

  /** The events of the best attempt by step; -1 for a step that was skipped or not reached. */
  eventsOf(into: Int32Array): void {
    into.fill(-1)
    let n = this.bestNode
    for (; n >= 0; n = this.nodePrevious[n]!) into[this.nodeStep[n]!] = this.nodeEvent[n]!
    if (isFirst(n)) into[0] = eventOfFirst(n)
  }

  private walkAny(events: ActorColumns, walk: Walk, from: number, to: number): number {
    const { time } = events
    let i = from
    while (i < to) {
      const at = time[i]!
      let next = i + 1
      while (next < walk.end && time[next] === at) next++
      if (next - i === 1) {
        this.takeEvent(events, walk, i, at)
      } else this.takeInstant(events, walk, i, next, at)
      if (this.depth === this.funnel.steps && !this.isExcluded) return walk.end
      i = next
    }
    return i
  }

  /** The same without exclusions, optional steps, strict order and breakdown: most funnels, in a third of the time. */
  private walkPlain(events: ActorColumns, walk: Walk, from: number, to: number): number {
    const { time, steps } = events
    const { start, node, known } = this
    const { window, steps: count } = this.funnel
    const { end, enterFrom, enterTo } = walk
    let { live, depth } = this
    let i = from
    for (; i < to; i++) {
      const at = time[i]!
      if (i + 1 < end && time[i + 1] === at) {
        let next = i + 2
        while (next < end && time[next] === at) next++
        this.live = live
        this.takeInstant(events, walk, i, next, at)
        live = this.live
        depth = this.depth
        if (depth === count) return end
        i = next - 1
        continue
      }
      // Only steps whose previous step is live, deepest first.
      let bits = steps[i]! & known & ((live << 1) | 1)
      while (bits !== 0) {
        const step = 31 - Math.clz32(bits)
        bits ^= 1 << step
        if (step === 0) {
          if (at < enterFrom || at >= enterTo) continue
          start[0] = at
          node[0] = firstNode(i)
          live |= 1
        } else {
          const begun = start[step - 1]!
          if (at - begun > window || ((live & (1 << step)) !== 0 && start[step] === begun)) continue
          start[step] = begun
          node[step] = this.addNode(node[step - 1]!, i, step)
          live |= 1 << step
        }
        if (step < depth) continue
        depth = step + 1
        this.depth = depth
        this.bestNode = node[step]!
        if (depth === count) return end
      }
    }
    this.live = live
    return i
  }

  private takeEvent(events: ActorColumns, walk: Walk, event: number, at: number): void {
    if (events.exclusions !== null && events.exclusions[event] !== 0) this.exclude(events.exclusions[event]!, at)
    const matched = events.steps[event]!
    // Deepest step first: an event that matches two steps serves the deeper one, and advances an attempt by one step.
    for (let bits = matched & this.known; bits !== 0; ) {
      const step = 31 - Math.clz32(bits)
      bits &= ~(1 << step)
      this.reach(events, walk, event, at, step, false)
    }
    if (this.funnel.isStrict) this.live &= matched
  }

  private takeInstant(events: ActorColumns, walk: Walk, from: number, to: number, at: number): void {
    orderInstant(events, walk, from, to, this.known, this.instant)
    const first = this.instant[0]!
    const { steps, exclusions } = events
    const differs = (k: number) => steps[k] !== steps[first] || (exclusions !== null && exclusions[k] !== exclusions[first])
    if (this.instant.some(differs)) this.takeMixed(events, walk, at)
    else for (const k of this.instant) this.takeEvent(events, walk, k, at)
  }

  /** Different events of the same time have no order: each may serve any step that it matches, but only one step of an attempt. */
  private takeMixed(events: ActorColumns, walk: Walk, at: number): void {
    for (let step = 0; step < this.funnel.steps; step++)
      for (const k of this.instant) if ((events.steps[k]! & (1 << step)) !== 0) this.reach(events, walk, k, at, step, true)
  }

  private reach(events: ActorColumns, walk: Walk, event: number, at: number, step: number, isMixed: boolean): void {
    if (step === walk.valueStep && events.breakdown![event] !== walk.stepValue) return
    const before = step === 0 ? nobody : this.stepBefore(step, at)
    let begun = at
    let isExcluded = 0
    let previous = nobody
    if (step === 0) {
      if (at < walk.enterFrom || at >= walk.enterTo) return
    } else {
      if (before === nobody) return
      begun = this.start[before]!
      isExcluded = this.excluded[before]!
      previous = this.node[before]!
      if (isMixed && this.hasServed(events, previous, event, at)) return
    }
    if ((this.live & (1 << step)) !== 0 && this.start[step] === begun) return // this attempt is past it
    // An excluded attempt counts at the step that it reaches, and ends there; an attempt without exclusion at that step stays.
    if (isExcluded === 0) {
      this.start[step] = begun
      this.excluded[step] = 0
      this.node[step] = step === 0 ? firstNode(event) : this.addNode(previous, event, step)
      this.live |= 1 << step
    }
    if (step + 1 > this.depth || (step + 1 === this.depth && this.isExcluded)) {
      this.depth = step + 1
      this.bestNode = isExcluded === 0 ? this.node[step]! : nobody
      this.bestStart = begun
      this.isExcluded = isExcluded !== 0
    }
  }

  /** The step from which an attempt reaches `step`: the previous one, or, across optional steps, the nearest with a live attempt within the window. */
  private stepBefore(step: number, at: number): number {
    let before = step - 1
    while ((this.live & (1 << before)) === 0 || at - this.start[before]! > this.funnel.window) {
      if ((this.funnel.optional & (1 << before)) === 0) return nobody
      before--
    }
    return before
  }

  private exclude(bits: number, at: number): void {
    for (let step = 0; step < this.funnel.steps; step++) {
      if ((bits & (1 << step)) === 0 || (this.live & (1 << step)) === 0) continue
      const hasMovedOn = step + 1 < this.funnel.steps && (this.live & (1 << (step + 1))) !== 0 && this.start[step + 1] === this.start[step]
      if (hasMovedOn || at - this.start[step]! > this.funnel.window) continue
      this.excluded[step] = 1
      if (this.depth === step + 1 && at - this.bestStart <= this.funnel.window) this.isExcluded = true
    }
  }

  private hasServed(events: ActorColumns, from: number, event: number, at: number): boolean {
    let n = from
    for (; n >= 0 && events.time[this.nodeEvent[n]!] === at; n = this.nodePrevious[n]!) if (this.nodeEvent[n] === event) return true
    return isFirst(n) && eventOfFirst(n) === event
  }

  private addNode(previous: number, event: number, step: number): number {
    if (this.nodes === this.nodePrevious.length) {
      const size = this.nodes * 2
      const wider = <T extends Int32Array | Uint8Array>(make: T, old: T): T => {
        make.set(old)
        return make
      }
      this.nodePrevious = wider(new Int32Array(size), this.nodePrevious)
      this.nodeEvent = wider(new Int32Array(size), this.nodeEvent)
      this.nodeStep = wider(new Uint8Array(size), this.nodeStep)
    }
    this.nodePrevious[this.nodes] = previous
    this.nodeEvent[this.nodes] = event
    this.nodeStep[this.nodes] = step
    return this.nodes++
  }
}
