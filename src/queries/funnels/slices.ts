import type { EventLists } from '../../core/event-lists.ts'
import type { QueryContext, QueryRun } from '../kind.ts'
import { listed, listedSlices } from './listed.ts'
import { type BreakdownValues, eachScanned, type FunnelScan, readingOf, type Slice } from './scan.ts'

/** Runs `each` over the events of all actors, from the lists of the core where they have all that the funnel needs. */
export function* eachSlice(
  scan: FunnelScan,
  cohort: number | 'all' | null,
  values: BreakdownValues,
  env: QueryContext,
  each: (slice: Slice) => Generator<void, void, void>,
): QueryRun<void> {
  const reading = readingOf(scan, cohort, env)
  const funnel = listed(scan, cohort, reading, env)
  let isDone = false
  yield {
    kind: 'lists',
    label: 'funnel events',
    names: typeof funnel === 'string' ? [] : funnel.names,
    fold:
      typeof funnel === 'string'
        ? funnel
        : function* (lists: EventLists) {
            yield* listedSlices(lists, funnel, each)
            isDone = true
          },
  }
  if (!isDone) yield* eachScanned(scan, reading, values, env, each)
}
