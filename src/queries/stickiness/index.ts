import { isoInstant, type ResolvedRange } from '../dates.ts'
import { defineQueryKind, type QueryContext } from '../kind.ts'
import { scaledUp } from '../sampling.ts'
import { nodeName } from '../series-condition.ts'
import { countsOf } from './counts.ts'
import { type StickinessQuery, stickinessSchema } from './schema.ts'
import { isCumulative, type Period, type StickinessUnit, unitsOf } from './unit.ts'

/** The actors of one series by the number of intervals in which they were active. */
export interface StickinessRow {
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
  readonly compare?: true
  readonly compare_label?: Period
}

interface ResolvedDates {
  readonly date_from: string
  readonly date_to: string
}

export interface StickinessAnswer {
  readonly results: readonly StickinessRow[]
  readonly resolved_date_range?: ResolvedDates
  readonly resolved_compare_date_range?: ResolvedDates
}

export const stickiness = defineQueryKind<StickinessQuery, StickinessAnswer>({
  kind: 'StickinessQuery',
  isCached: true,
  schema: stickinessSchema,
  *run(query, env) {
    const units = yield* unitsOf(query, env)
    const counts = yield* countsOf(units, query, env)
    const range = (period: Period) => units.find((unit) => unit.period === period)?.range
    const [current, previous] = [range('current'), range('previous')]
    return {
      results: units.map((unit, i) => rowOf(unit, counts[i]!, query, env)),
      ...(current && { resolved_date_range: resolved(current) }),
      ...(previous && { resolved_compare_date_range: resolved(previous) }),
    }
  },
})

const resolved = ({ from, to, calendar }: ResolvedRange): ResolvedDates => ({
  date_from: isoInstant(from, calendar.zone),
  date_to: isoInstant(to, calendar.zone),
})

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
    ...(query.compareFilter?.compare && { compare: true as const, compare_label: period }),
  }
}
