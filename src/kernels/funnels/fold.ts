import type { ActorColumns } from './columns.ts'
import { OrderedFold, type Walk } from './ordered.ts'
import { UnorderedFold } from './unordered.ts'

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
  /** Whether one breakdown code goes before another: says which of the values at one instant is touched. */
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
  /** Per step the place of its event in the columns, -1 where it was left out or not reached. Unordered: by time. Valid during the call. */
  readonly events: Int32Array
  /** Trends: index of the period the actor entered in; -1 otherwise. */
  readonly period: number
}

export type Sink = (outcome: Outcome) => void

const everywhere = { enterFrom: Number.NEGATIVE_INFINITY, enterTo: Number.POSITIVE_INFINITY }
const eventsBetweenPauses = 1 << 17

/** One outcome per actor, and per breakdown value where the attribution says so. Pauses now and then, for whoever drives it to stop it. */
export function* foldActors(events: ActorColumns, funnel: FunnelFold, sink: Sink): Generator<void, void, void> {
  const runner = new Runner(events, funnel, sink)
  let unpaused = 0
  for (let actor = 0; actor < events.actors; actor++) {
    const start = events.offsets[actor]!
    const end = events.offsets[actor + 1]!
    for (const walk of walksOf(events, funnel, start, end)) runner.run(actor, walk, -1)
    unpaused += end - start
    if (unpaused >= eventsBetweenPauses) {
      unpaused = 0
      yield
    }
  }
}

/**
 * One outcome per actor and period it entered in. `periods` are the starts of the periods in order, with the end of the last one behind them.
 */
export function* foldPeriods(events: ActorColumns, funnel: FunnelFold, periods: Float64Array, sink: Sink): Generator<void, void, void> {
  const runner = new Runner(events, funnel, sink)
  const entering = funnel.order === 'unordered' ? -1 : 1
  let unpaused = 0
  for (let actor = 0; actor < events.actors; actor++) {
    const first = events.offsets[actor]!
    const end = events.offsets[actor + 1]!
    for (const walk of walksOf(events, funnel, first, end)) {
      let period = 0
      for (let i = walk.start; i < end; ) {
        if ((events.steps[i]! & entering) === 0) {
          i++
          continue
        }
        while (period < periods.length - 1 && events.time[i]! >= periods[period + 1]!) period++
        if (period === periods.length - 1) break
        const enterTo = periods[period + 1]!
        let start = i
        while (start > walk.start && events.time[start - 1] === events.time[i]) start-- // events of one instant have no order
        runner.run(
          actor,
          { ...walk, start, end: lastWithin(events.time, i, end, enterTo + funnel.window), enterFrom: periods[period]!, enterTo },
          period,
        )
        while (i < end && events.time[i]! < enterTo) i++
      }
    }
    unpaused += end - first
    if (unpaused >= eventsBetweenPauses) {
      unpaused = 0
      yield
    }
  }
}

class Runner {
  private readonly fold: OrderedFold | UnorderedFold
  private readonly scratch: Int32Array

  constructor(
    private readonly events: ActorColumns,
    funnel: FunnelFold,
    private readonly sink: Sink,
  ) {
    this.fold =
      funnel.order === 'unordered' ? new UnorderedFold(funnel) : new OrderedFold({ ...funnel, isStrict: funnel.order === 'strict' })
    this.scratch = new Int32Array(funnel.steps)
  }

  run(actor: number, walk: Walk & { readonly value: number }, period: number): void {
    this.fold.walk(this.events, walk)
    if (this.fold.depth === 0 || this.fold.isExcluded) return
    this.fold.eventsOf(this.scratch)
    this.sink({ actor, value: walk.value, depth: this.fold.depth, events: this.scratch, period })
  }
}

/** The first place behind `start` whose time is later than `limit`. */
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

function walksOf(events: ActorColumns, funnel: FunnelFold, start: number, end: number): readonly (Walk & { readonly value: number })[] {
  const whole = { ...everywhere, start, end, only: -1, valueStep: -1, stepValue: -1, value: -1 }
  const breakdown = events.breakdown
  if (breakdown === null || start === end) return [whole]
  const { attribution } = funnel
  switch (attribution.type) {
    case 'none':
      return [whole]
    case 'first_touch': {
      let i = start
      while (i < end && breakdown[i] === noValue) i++
      return [{ ...whole, value: i < end ? touched(events, funnel, i, 1, end) : noValue }]
    }
    case 'last_touch': {
      let i = end - 1
      while (i >= start && breakdown[i] === noValue) i--
      return [{ ...whole, value: i >= start ? touched(events, funnel, i, -1, start - 1) : noValue }]
    }
    case 'all_events':
      return distinct(breakdown, start, end).map((value) => ({ ...whole, value, only: value }))
    case 'step': {
      const bit = 1 << attribution.step
      const seen = distinct(breakdown, start, end, (i) => (events.steps[i]! & bit) !== 0)
      return seen.map((value) => ({ ...whole, value, valueStep: attribution.step, stepValue: value }))
    }
  }
}

/** Of the values set at the instant of event `from`, the one that goes before the others. */
function touched({ time, breakdown }: ActorColumns, funnel: FunnelFold, from: number, by: 1 | -1, end: number): number {
  let value = breakdown![from]!
  for (let i = from + by; i !== end && time[i] === time[from]; i += by) {
    const other = breakdown![i]!
    if (other !== noValue && other !== value && funnel.goesBefore(other, value)) value = other
  }
  return value
}

function distinct(codes: Int32Array, start: number, end: number, counts: (i: number) => boolean = () => true): readonly number[] {
  const seen = new Set<number>()
  for (let i = start; i < end; i++) if (counts(i)) seen.add(codes[i]!)
  return [...seen]
}
