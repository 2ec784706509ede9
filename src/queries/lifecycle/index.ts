import type { QueryKind } from '../kind.ts'
import { nodeName } from '../series/series-condition.ts'
import { bucketDay, bucketEdges, bucketLabel } from '../time/buckets.ts'
import { statusCounts, wantedStatuses } from './activity.ts'
import { lifecycleSchema, type Status } from './schema.ts'

export interface LifecycleRow {
  readonly status: Status
  readonly label: string
  /** Persons per bucket; dormant persons count negatively. */
  readonly data: readonly number[]
  readonly count: number
  readonly days: readonly string[]
  readonly labels: readonly string[]
  readonly action: { readonly id: string | number | null; readonly name: string; readonly type: 'events' | 'actions'; readonly order: 0 }
}

export interface LifecycleAnswer {
  readonly results: readonly LifecycleRow[]
}

export const lifecycle: QueryKind<'LifecycleQuery', typeof lifecycleSchema, LifecycleAnswer> = {
  kind: 'LifecycleQuery',
  isCached: true,
  schema: lifecycleSchema,
  *run(query, env) {
    const { range, counts } = yield* statusCounts(query, env)
    const node = query.series[0]!
    const name = nodeName(node, env) ?? 'All events'
    const starts = bucketEdges(range).slice(0, -1)
    const action: LifecycleRow['action'] = {
      id: node.kind === 'ActionsNode' ? node.id : nodeName(node, env),
      name,
      type: node.kind === 'ActionsNode' ? 'actions' : 'events',
      order: 0,
    }
    const results = wantedStatuses(query).map((status): LifecycleRow => {
      const data = Array.from(counts[status], (count) => (status === 'dormant' && count > 0 ? -count : count))
      return {
        action,
        data,
        count: data.reduce((sum, value) => sum + value, 0),
        days: starts.map((start) => bucketDay(start, range)),
        labels: starts.map((start) => bucketLabel(start, range)),
        label: `${name} - ${status}`,
        status,
      }
    })
    return { results }
  },
}
