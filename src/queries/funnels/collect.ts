import { type Attribution, type FunnelFold, foldActors, foldPeriods, type Sink } from '../../kernels/funnels/fold.ts'
import type { QueryContext, QueryRun } from '../kind.ts'
import { otherLabel } from './breakdown.ts'
import { BreakdownValues, type FunnelScan, type Slice } from './scan.ts'
import { eachSlice } from './slices.ts'

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

/**
 * Folds every actor and passes each outcome to the sink of its slice. `value` of an outcome is -1 without a breakdown, else what `splitOf` names.
 * `periods`: starts of the periods of entry, followed by the end of the last one.
 */
export function* walkFunnel(
  scan: FunnelScan,
  env: QueryContext,
  options: { readonly steps: number; readonly periods: Float64Array | null },
  sinkOf: (slice: Slice) => Sink,
): QueryRun<Walked> {
  const { settings, breakdown } = scan
  const attribution: Attribution = breakdown.parts.length ? settings.attribution : { type: 'none' }
  const values = new BreakdownValues(breakdown.parts.length)
  const fold: FunnelFold = { ...settings, steps: options.steps, attribution, goesBefore: (a, b) => values.goesBefore(a, b) }
  const splits = breakdown.cohorts.length ? breakdown.cohorts : [null]
  for (const [index, cohort] of splits.entries()) {
    yield* eachSlice(scan, cohort, values, env, (slice) => {
      const sink = sinkOf(slice)
      const named: Sink = cohort === null ? sink : (outcome) => sink({ ...outcome, value: index })
      return options.periods ? foldPeriods(slice.columns, fold, options.periods, named) : foldActors(slice.columns, fold, named)
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
