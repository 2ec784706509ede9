import type { QueryContext, QueryKind } from '../kind.ts'
import { scaledUp } from '../series/sampling.ts'
import { nodeName } from '../series/series-condition.ts'
import { type PeriodLabel, periodLabel, periods, type ShownRanges, shownRanges } from '../time/comparison.ts'
import { countsOf } from './counts.ts'
import { type StickinessQuery, stickinessSchema } from './schema.ts'
import { isCumulative, type StickinessUnit, unitsOf } from './unit.ts'

/** The actors of one series by the number of intervals in which they were active. */
export interface StickinessRow extends PeriodLabel {
  /** The number at n − 1 counts the actors with n intervals, or with at least n. */
  readonly data: readonly number[]
  /** From 1 to the number of intervals in the range. */
  readonly days: readonly number[]
  readonly labels: readonly string[]
  /** All actors. */
  readonly count: number
  readonly label: string
  readonly action: {
    readonly id: string | number | null
    readonly name: string
    readonly type: 'events' | 'actions'
    readonly order: number
  }
}

export interface StickinessAnswer extends Partial<ShownRanges> {
  readonly results: readonly StickinessRow[]
}

export const stickiness: QueryKind<'StickinessQuery', typeof stickinessSchema, StickinessAnswer> = {
  kind: 'StickinessQuery',
  isCached: true,
  schema: stickinessSchema,
  *run(query, env) {
    const units = yield* unitsOf(query, env)
    const counts = yield* countsOf(units, query, env)
    const ranges = periods.map((period) => units.find((unit) => unit.period === period)).filter((unit) => unit !== undefined)
    return {
      results: units.map((unit, i) => rowOf(unit, counts[i]!, query, env)),
      ...(ranges.length > 0 && shownRanges(ranges)),
    }
  },
}

export const intervalLabel = (count: number, query: StickinessQuery): string =>
  `${count} ${query.interval ?? 'day'}${count === 1 ? '' : 's'}${isCumulative(query) ? ' or more' : ''}`

function rowOf(
  { node, order, period, size }: StickinessUnit,
  counts: Float64Array,
  query: StickinessQuery,
  env: QueryContext,
): StickinessRow {
  const days = Array.from({ length: size }, (_, i) => i + 1)
  const data = Array.from(counts, (count) => scaledUp(count, query.samplingFactor))
  const count = data.reduce((sum, value) => sum + value, 0)
  if (isCumulative(query)) for (let i = size - 2; i >= 0; i--) data[i]! += data[i + 1]!
  const name = nodeName(node, env)
  return {
    data,
    days,
    labels: days.map((day) => intervalLabel(day, query)),
    count,
    label: name ?? 'All events',
    action: {
      id: node.kind === 'ActionsNode' ? node.id : name,
      name: name ?? 'All events',
      type: node.kind === 'ActionsNode' ? 'actions' : 'events',
      order,
    },
    ...periodLabel(period, query.compareFilter?.compare === true),
  }
}
