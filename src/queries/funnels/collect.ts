import { type Attribution, type FunnelFold, foldActors, foldPeriods, type Sink } from '../../core/kernels/funnels/fold.ts'
import { along, type QueryContext, type QueryRun } from '../kind.ts'
import { otherLabel } from './breakdown.ts'
import { listed } from './listed.ts'
import { BreakdownValues, eachScanned, type FunnelScan, readingOf, type Slice } from './scan.ts'

// One pass over the events of a funnel, and the labels of its breakdown.

/** A row of the result: all actors, those with a value, or those in a cohort. */
export interface SplitBy {
  readonly breakdown: unknown
  readonly breakdown_value: unknown
}

export interface Walked {
  /** Null without a breakdown. */
  splitOf(value: number): SplitBy | null
}

export const otherSplit: SplitBy = { breakdown: [otherLabel], breakdown_value: [otherLabel] }

export interface WalkOptions {
  readonly steps: number
  /** Starts of the periods of entry, followed by the end of the last one. */
  readonly periods: Float64Array | null
  /** The sinks do not read when the steps were done. */
  readonly hasNoTimes?: true
}

/** Folds every actor and passes each outcome to the sink of its slice. `value` of an outcome is -1 without a breakdown, else what `splitOf` names. */
export function* walkFunnel(scan: FunnelScan, env: QueryContext, options: WalkOptions, sinkOf: (slice: Slice) => Sink): QueryRun<Walked> {
  const { settings, breakdown } = scan
  const { steps, periods } = options
  const attribution: Attribution = breakdown.parts.length ? settings.attribution : { type: 'none' }
  const values = new BreakdownValues(breakdown.parts.length)
  const { order, window, optional } = settings
  const funnel: FunnelFold = { order, window, optional, steps, attribution, goesBefore: (a, b) => values.goesBefore(a, b) }
  const splits = breakdown.cohorts.length ? breakdown.cohorts : [null]
  for (const [index, cohort] of splits.entries()) {
    const namedSink = (slice: Slice): Sink => {
      const sink = sinkOf(slice)
      return cohort === null ? sink : (outcome) => sink({ ...outcome, value: index })
    }
    const reading = readingOf(scan, cohort, env)
    const withTimes = options.hasNoTimes !== true
    yield* along<void>({
      label: 'funnel events',
      lists: () => listed({ scan, cohort, reading, funnel, periods, withTimes }, values, env, namedSink),
      rows: () =>
        eachScanned(scan, reading, values, env, (slice) =>
          periods ? foldPeriods(slice.columns, funnel, periods, namedSink(slice)) : foldActors(slice.columns, funnel, namedSink(slice)),
        ),
    })
  }
  return {
    splitOf(value) {
      if (breakdown.cohorts.length) return cohortSplit(breakdown.cohorts[value]!, env)
      if (value < 0) return null
      const parts = values.parts(value)
      return { breakdown: parts, breakdown_value: parts }
    },
  }
}

export function cohortSplit(cohort: number | 'all', env: QueryContext): SplitBy {
  if (cohort === 'all') return { breakdown: 'all users', breakdown_value: 0 }
  return { breakdown: env.cohort(cohort)?.name ?? String(cohort), breakdown_value: cohort }
}
