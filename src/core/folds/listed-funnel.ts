import type { FunnelFold } from '../kernels/funnels/fold.ts'
import type { FirstTimes } from './first-times.ts'
import type { Matching, PlacedColumn } from './fold.ts'

/** A column of codes that the outcomes are split by. */
export interface FunnelSplit extends PlacedColumn {
  /** The code of "no value"; -1: none has it. */
  readonly empty: number
  /** For each code the place of its text among all texts in order. */
  readonly rank: Int32Array
}

export interface ListedFunnel {
  readonly matching: Matching
  /** Null: every event that matches a step counts. */
  readonly firstTimes: FirstTimes | null
  readonly funnel: Omit<FunnelFold, 'goesBefore'>
  readonly periods: Float64Array | null
  readonly splits: readonly FunnelSplit[]
  /** The times of the steps are needed. */
  readonly withTimes: boolean
}
