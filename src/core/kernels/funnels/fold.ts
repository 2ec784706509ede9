import { orderByValue, type ValueRuns } from './by-time.ts'
import type { ActorColumns } from './columns.ts'
import { OrderedFold } from './ordered.ts'
import { StepValues } from './step-values.ts'
import { UnorderedFold } from './unordered.ts'
import type { Walk } from './walk.ts'

export type Attribution =
  | { readonly type: 'none' }
  | { readonly type: 'first_touch' | 'last_touch' | 'all_events' }
  | { readonly type: 'step'; readonly step: number }

export interface FunnelFold {
  readonly order: 'ordered' | 'strict' | 'unordered'
  readonly steps: number
  readonly window: number
  readonly optional: number
  readonly attribution: Attribution
  /** Whether one breakdown code has priority over another among events of the same time. */
  goesBefore(a: number, b: number): boolean
}

/** The breakdown code of "no value". */
export const noValue = 0

export interface Outcome {
  readonly actor: number
  /** Breakdown code; -1 without a breakdown. */
  readonly value: number
  /** Steps reached, at least 1. */
  readonly depth: number
  /** For each step the index of its event in the columns; -1 if it was skipped or not reached. Unordered: by time. Valid during the call only. */
  readonly events: Int32Array
  /** Trends: index of the period the actor entered in; -1 otherwise. */
  readonly period: number
}

export type Sink = (outcome: Outcome) => void

const eventsBetweenPauses = 1 << 17

/** One outcome per actor, and per breakdown value if the attribution needs it. Yields regularly, so that the caller can stop it. */
export function* foldActors(events: ActorColumns, funnel: FunnelFold, sink: Sink): Generator<void, void, void> {
  const runner = new Runner(events, funnel, sink)
  const { offsets } = events
  let unpaused = 0
  for (let actor = 0; actor < events.actors; actor++) {
    const [first, last] = [offsets[actor]!, offsets[actor + 1]!]
    const walks = runner.isSplit ? yield* runner.openSplit(first, last) : runner.open(first, last)
    for (let w = 0; w < walks; w++) {
      const { start, end } = runner.take(w)
      if (end - start > eventsBetweenPauses) yield* runner.runInParts(actor, -1)
      else runner.run(actor, -1)
      unpaused += end - start
      if (unpaused >= eventsBetweenPauses) {
        unpaused = 0
        yield
      }
    }
  }
}

/**
 * One outcome per actor and period of entry. `periods` are the starts of the periods in order, followed by the end of the last one.
 */
export function* foldPeriods(events: ActorColumns, funnel: FunnelFold, periods: Float64Array, sink: Sink): Generator<void, void, void> {
  const runner = new Runner(events, funnel, sink)
  const { offsets } = events
  const entering = funnel.order === 'unordered' ? -1 : 1
  let unpaused = 0
  for (let actor = 0; actor < events.actors; actor++) {
    const [first, last] = [offsets[actor]!, offsets[actor + 1]!]
    const walks = runner.isSplit ? yield* runner.openSplit(first, last) : runner.open(first, last)
    for (let w = 0; w < walks; w++) {
      const walk = runner.take(w)
      const { time, steps } = runner.columns
      let period = 0
      const { start, end } = walk
      unpaused += end - start
      for (let i = start; i < end; ) {
        if ((steps[i]! & entering) === 0) {
          i++
          continue
        }
        while (period < periods.length - 1 && time[i]! >= periods[period + 1]!) period++
        if (period === periods.length - 1) break
        walk.enterFrom = periods[period]!
        walk.enterTo = periods[period + 1]!
        walk.start = i
        while (walk.start > start && time[walk.start - 1] === time[i]) walk.start-- // events of one instant have no order
        walk.end = lastWithin(time, i, end, walk.enterTo + funnel.window)
        if (walk.end - walk.start > eventsBetweenPauses) yield* runner.runInParts(actor, period)
        else runner.run(actor, period)
        unpaused += walk.end - walk.start
        while (i < end && time[i]! < walk.enterTo) i++
        if (unpaused >= eventsBetweenPauses) {
          unpaused = 0
          yield
        }
      }
      if (unpaused >= eventsBetweenPauses) {
        unpaused = 0
        yield
      }
    }
  }
}

/** Walks the events of each actor: once for each value that they may count under. One object serves all walks, for speed. */
class Runner {
  /** An actor may count under several values, each with its own walk. */
  readonly isSplit: boolean
  private readonly fold: OrderedFold | UnorderedFold
  private readonly scratch: Int32Array
  private readonly walk: { -readonly [F in keyof Walk]: Walk[F] }
  private first = 0
  private end = 0
  private value = -1
  private values: readonly number[] = []
  private runs: ValueRuns = { values: [], starts: [] }
  /** The events that the walk reads: all, or a copy of those that it needs. */
  columns: ActorColumns
  private readonly stepValues: StepValues | null
  private indexes: Int32Array | null = null
  private isDealt = false

  constructor(
    private readonly events: ActorColumns,
    private readonly funnel: FunnelFold,
    private readonly sink: Sink,
  ) {
    this.fold =
      funnel.order === 'unordered' ? new UnorderedFold(funnel) : new OrderedFold({ ...funnel, isStrict: funnel.order === 'strict' })
    const { type } = funnel.attribution
    this.isSplit = events.breakdown !== null && (type === 'all_events' || type === 'step')
    this.scratch = new Int32Array(funnel.steps)
    this.columns = events
    const { attribution } = funnel
    const known = funnel.steps >= 32 ? -1 : (1 << funnel.steps) - 1
    // Any step of an unordered funnel may come first, and any event breaks a strict one.
    const isDealt = this.isSplit && attribution.type === 'step' && funnel.order === 'ordered'
    this.stepValues = isDealt ? new StepValues(events, 1 << attribution.step, known) : null
    this.walk = {
      start: 0,
      end: 0,
      enterFrom: Number.NEGATIVE_INFINITY,
      enterTo: Number.POSITIVE_INFINITY,
      valueStep: funnel.attribution.type === 'step' ? funnel.attribution.step : -1,
      stepValue: -1,
    }
  }

  /** One walk over the events of an actor; none if there are no events. */
  open(start: number, end: number): number {
    this.first = start
    this.end = end
    if (start === end) return 0
    const { type } = this.funnel.attribution
    if (this.events.breakdown !== null && type === 'first_touch') this.value = firstTouched(this.events, this.funnel, start, end)
    if (this.events.breakdown !== null && type === 'last_touch') this.value = lastTouched(this.events, this.funnel, start, end)
    return 1
  }

  /** A walk for each value. Returns their number; yields regularly. */
  *openSplit(start: number, end: number): Generator<void, number, void> {
    this.first = start
    this.end = end
    const { attribution } = this.funnel
    if (this.stepValues) {
      this.values = yield* this.stepValues.open(start, end)
      this.isDealt = this.stepValues.isWorthwhile(start, end)
    } else if (attribution.type === 'step') {
      // Any step of an unordered funnel may come first.
      const bits = this.funnel.order === 'unordered' ? -1 : 1 << attribution.step
      this.values = yield* distinct(this.events, start, end, bits)
    } else {
      // Each value is treated as an actor of its own. Its events are grouped, so a walk reads no others.
      this.runs = yield* orderByValue(this.events, start, end)
      this.values = this.runs.values
    }
    return this.values.length
  }

  take(n: number) {
    const { walk } = this
    walk.start = this.first
    walk.end = this.end
    this.columns = this.events
    this.indexes = null
    const { type } = this.funnel.attribution
    if (this.isSplit) {
      this.value = this.values[n]!
      if (type === 'step') walk.stepValue = this.value
      else {
        walk.start = this.runs.starts[n]!
        walk.end = this.runs.starts[n + 1]!
      }
      if (this.isDealt) {
        const { columns, end } = this.stepValues!.columnsOf(this.value)
        this.columns = columns
        this.indexes = columns.indexes
        walk.start = 0
        walk.end = end
      }
    }
    return walk
  }

  run(actor: number, period: number): void {
    const { fold, walk } = this
    fold.begin()
    fold.advance(this.columns, walk, walk.start, walk.end)
    this.report(actor, period)
  }

  /** The same for very many events; yields regularly. */
  *runInParts(actor: number, period: number): Generator<void, void, void> {
    const { fold, walk } = this
    fold.begin()
    for (let i = walk.start; i < walk.end; ) {
      i = fold.advance(this.columns, walk, i, Math.min(walk.end, i + eventsBetweenPauses))
      if (i < walk.end) yield
    }
    this.report(actor, period)
  }

  private report(actor: number, period: number): void {
    this.fold.finish()
    if (this.fold.depth === 0 || this.fold.isExcluded) return
    const { scratch, indexes } = this
    this.fold.eventsOf(scratch)
    if (indexes !== null)
      for (let step = 0; step < scratch.length; step++) if (scratch[step]! >= 0) scratch[step] = indexes[scratch[step]!]!
    this.sink({ actor, value: this.value, depth: this.fold.depth, events: scratch, period })
  }
}

/** The first index after `start` whose time is later than `limit`. */
function lastWithin(time: Float64Array, start: number, end: number, limit: number): number {
  let low = start
  let high = end
  while (low < high) {
    const middle = (low + high) >>> 1
    if (time[middle]! <= limit) low = middle + 1
    else high = middle
  }
  return low
}

function firstTouched(events: ActorColumns, funnel: FunnelFold, start: number, end: number): number {
  for (let i = start; i < end; i++) if (events.breakdown![i] !== noValue) return touched(events, funnel, i, 1, end)
  return noValue
}

function lastTouched(events: ActorColumns, funnel: FunnelFold, start: number, end: number): number {
  for (let i = end - 1; i >= start; i--) if (events.breakdown![i] !== noValue) return touched(events, funnel, i, -1, start - 1)
  return noValue
}

/** The value with the highest priority among the events at the time of event `from`. */
function touched({ time, breakdown }: ActorColumns, funnel: FunnelFold, from: number, by: 1 | -1, end: number): number {
  let value = breakdown![from]!
  for (let i = from + by; i !== end && time[i] === time[from]; i += by) {
    const other = breakdown![i]!
    if (other !== noValue && other !== value && funnel.goesBefore(other, value)) value = other
  }
  return value
}

/** The values of events that match one of the steps. */
function* distinct({ breakdown, steps }: ActorColumns, start: number, end: number, bits: number): Generator<void, readonly number[], void> {
  const seen = new Set<number>()
  for (let i = start; i < end; i++) {
    if ((steps[i]! & bits) !== 0) seen.add(breakdown![i]!)
    if ((i - start) % eventsBetweenPauses === eventsBetweenPauses - 1) yield
  }
  return [...seen]
}
