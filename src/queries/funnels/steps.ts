import type { ActorColumns } from '../../core/kernels/funnels/columns.ts'
import type { Outcome } from '../../core/kernels/funnels/fold.ts'
import { Floats } from '../../core/kernels/grow.ts'
import { mean, median } from '../../lib/numbers/statistics.ts'
import type { PeriodLabel } from '../time/comparison.ts'

const microsPerSecond = 1e6

/** For one step: how many reached it, and the seconds that each took from the previous step. */
export interface StepNumbers {
  readonly count: number
  readonly average: number | null
  readonly median: number | null
}

/** The totals of one breakdown value: for each step how many reached it, and the seconds that each took from the previous step. */
export class StepCounts {
  readonly count: number[]
  readonly seconds: Floats[]
  /** From the first step to the last, of those who reached it. */
  readonly total = new Floats(16)

  constructor(steps: number) {
    this.count = Array.from({ length: steps }, () => 0)
    this.seconds = Array.from({ length: steps }, () => new Floats(16))
  }

  add(outcome: Outcome, time: Float64Array): void {
    let before = -1
    for (let step = 0; step < this.count.length; step++) {
      const event = outcome.events[step]!
      if (event < 0) continue
      this.count[step]!++
      if (before >= 0) this.seconds[step]!.push((time[event]! - time[before]!) / microsPerSecond)
      before = event
    }
    const [first, last] = [outcome.events[0]!, outcome.events[this.count.length - 1]!]
    if (last >= 0) this.total.push((time[last]! - time[first]!) / microsPerSecond)
  }

  merge(other: StepCounts): void {
    for (let step = 0; step < this.count.length; step++) {
      this.count[step]! += other.count[step]!
      for (const value of other.seconds[step]!.view()) this.seconds[step]!.push(value)
    }
    for (const value of other.total.view()) this.total.push(value)
  }

  get numbers(): readonly StepNumbers[] {
    return this.count.map((count, step) => {
      const seconds = this.seconds[step]!.view()
      return { count, average: mean(seconds), median: median(seconds) }
    })
  }
}

export class StepCollector {
  readonly byValue = new Map<number, StepCounts>()

  constructor(private readonly steps: number) {}

  /** A sink for one slice of actors. */
  sink(columns: ActorColumns): (outcome: Outcome) => void {
    return (outcome) => {
      let counts = this.byValue.get(outcome.value)
      if (!counts) {
        counts = new StepCounts(this.steps)
        this.byValue.set(outcome.value, counts)
      }
      counts.add(outcome, columns.time)
    }
  }
}

/** One step of a series as answers show it. */
export interface StepLabel {
  readonly actionId: string | number | null
  readonly name: string | null
  readonly customName: string | null
  readonly type: 'events' | 'actions'
}

export interface FunnelStepResult extends PeriodLabel {
  readonly action_id: string | number | null
  readonly name: string | null
  readonly custom_name: string | null
  readonly order: number
  readonly people: readonly never[]
  readonly count: number
  readonly type: 'events' | 'actions'
  readonly average_conversion_time: number | null
  readonly median_conversion_time: number | null
  readonly breakdown?: unknown
  readonly breakdown_value?: unknown
}

/** `scale`: the factor for sampled counts. */
export function stepResults(numbers: readonly StepNumbers[], labels: readonly StepLabel[], scale: number): readonly FunnelStepResult[] {
  return labels.map((label, order) => {
    const { count, average, median: middle } = numbers[order]!
    return {
      action_id: label.actionId,
      name: label.name,
      custom_name: label.customName,
      order,
      people: [],
      count: Math.round(count * scale),
      type: label.type,
      average_conversion_time: average,
      median_conversion_time: middle,
    }
  })
}
