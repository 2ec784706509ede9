import type { Attribution } from '../../core/kernels/funnels/fold.ts'
import type { FunnelsFilter, FunnelsQuery, windowUnits } from './schema.ts'

// A funnel query with its defaults filled in.

export interface FunnelSettings {
  /** A flow is drawn from the numbers of the steps. */
  readonly viz: 'steps' | 'time_to_convert' | 'trends'
  readonly order: 'ordered' | 'strict' | 'unordered'
  readonly steps: number
  /** Microseconds. */
  readonly window: number
  /** Bit k: step k is optional. */
  readonly optional: number
  readonly from: number
  readonly to: number
  readonly attribution: Exclude<Attribution, { type: 'none' }>
  readonly binCount: number | null
  readonly hidesUnfinishedPeriods: boolean
}

const seconds: Readonly<Record<(typeof windowUnits)[number], number>> = {
  second: 1,
  minute: 60,
  hour: 3600,
  day: 86_400,
  week: 7 * 86_400,
  month: 31 * 86_400,
}
const defaultWindow = { length: 14, unit: 'day' } as const

export function settingsOf(query: FunnelsQuery): FunnelSettings {
  const filter: FunnelsFilter = query.funnelsFilter ?? {}
  const steps = query.series.length
  const window = (filter.funnelWindowInterval ?? defaultWindow.length) * seconds[filter.funnelWindowIntervalUnit ?? defaultWindow.unit]
  const attribution = filter.breakdownAttributionType ?? 'first_touch'
  return {
    viz: !filter.funnelVizType || filter.funnelVizType === 'flow' ? 'steps' : filter.funnelVizType,
    order: filter.funnelOrderType ?? 'ordered',
    steps,
    window: window * 1e6,
    optional: query.series.reduce((bits, node, i) => (node.optionalInFunnel ? bits | (1 << i) : bits), 0),
    from: filter.funnelFromStep ?? 0,
    to: filter.funnelToStep ?? steps - 1,
    attribution: attribution === 'step' ? { type: 'step', step: filter.breakdownAttributionValue ?? 0 } : { type: attribution },
    binCount: typeof filter.binCount === 'number' ? filter.binCount : null,
    hidesUnfinishedPeriods: filter.hideIncompleteConversionWindowPeriods === true,
  }
}
