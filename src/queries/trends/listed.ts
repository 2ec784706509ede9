import type { EventLists } from '../../core/event-lists.ts'
import { type Counted, personsByBucket, personsByWindow, personsInAll } from '../../core/unique-persons.ts'
import { eventMasks } from '../event-masks.ts'
import type { QueryContext } from '../kind.ts'
import { isPlainUnique, rollingTimes, windowsOf } from './active-users.ts'
import { isCumulative, type TrendsQuery } from './schema.ts'
import { actorOf, eventsOf, type Unit } from './unit.ts'

// Numbers of persons over the lists of the core.

/** The numbers of a unit without a breakdown. */
export interface ListedUnit {
  readonly names: readonly string[]
  readonly fold: (lists: EventLists) => Generator<void, readonly number[], void>
}

/** Text: why the lists cannot answer the unit. */
export function listedUnit(unit: Unit, query: TrendsQuery, isSplit: boolean, env: QueryContext): ListedUnit | string {
  const math = unit.node.math ?? 'total'
  if (math !== 'dau' && math !== 'weekly_active' && math !== 'monthly_active') return 'the number is not of persons'
  if (isSplit || unit.cohort !== null) return 'the lists have no values for a breakdown'
  if (actorOf(unit).group !== null) return 'the lists are of persons'
  if (isCumulative(query)) return 'the chart is cumulative'
  if (query.samplingFactor != null && query.samplingFactor !== 1) return 'the query takes a sample'
  const masks = eventMasks([{ condition: eventsOf(unit, query, env), bits: 1 }], env)
  if (!masks) return 'the series has a condition on more than the name of its event'
  const within = (from: number, to: number): Counted => ({ events: masks.byEvent, others: masks.others, from, to })
  const { range, edges } = unit
  const { names } = masks
  if (math !== 'dau' && (!edges || !isPlainUnique(math, range.interval))) {
    if (!edges) return 'the window of one number ends with the range'
    const { begins, ends } = windowsOf(math, unit)
    const times = rollingTimes(begins, ends, range)
    return {
      names,
      *fold(lists) {
        if (!times) return []
        return [...(yield* personsByWindow(lists, within(times.from, times.to), Float64Array.from(begins), Float64Array.from(ends)))]
      },
    }
  }
  const all = within(range.firstEvent, range.to)
  return {
    names,
    *fold(lists) {
      return edges ? [...(yield* personsByBucket(lists, all, Float64Array.from(edges)))] : [yield* personsInAll(lists, all)]
    },
  }
}
