import { type ActivityParams, type ActivityRows, activityFold } from '../../core/folds/activity.ts'
import { type LifecycleCounts, type LifecycleParams, lifecycleFold } from '../../core/folds/lifecycle.ts'
import type { Listed } from '../../core/lists/project-lists.ts'
import type { Expr } from '../../language/ast/nodes.ts'
import type { Micros } from '../../lib/time/zone.ts'
import { type ListedFold, listFold, type QueryContext } from '../kind.ts'
import { AskedColumns, askedBits, bitsOf, groupActors, placed } from '../lists/listed-columns.ts'

/** In which buckets actors are active: one row per actor and bucket. */
export interface ActiveRows {
  readonly actors: Int32Array
  readonly buckets: Int32Array
  /** When the actor of a row was created, in seconds. */
  createdAt(row: number): number
  /** The actor with a code. */
  name(code: number): number | string
}

export interface ActivityOverLists {
  readonly condition: Expr
  /** Null: the actors are persons. */
  readonly group: number | null
  /** Of the actor, in seconds. */
  readonly created: Expr
  readonly times: { readonly from: Micros; readonly to: Micros }
  readonly edges: readonly Micros[]
}

/** What both folds read: the events that count, by interval, and when each actor was created. */
function askedOf({ condition, group, created, times, edges }: ActivityOverLists, env: QueryContext) {
  const columns = new AskedColumns({ hasPersons: group === null })
  const actors = group === null ? null : groupActors(group, columns)
  const bits = askedBits([{ condition, bits: 1 }], columns, env)
  const creation = columns.numbersOfActors(created)
  const params = (listed: Listed): ActivityParams => ({
    matching: { ...times, scope: null, bits: bitsOf(bits, listed), further: null, takesAll: false },
    edges: Float64Array.from(edges),
  })
  return { ask: { names: bits.names, columns: columns.asks, actors }, creation, params }
}

/** How many actors have a status, from the lists of the core. */
export function listedStatuses(over: ActivityOverLists, env: QueryContext): ListedFold<LifecycleCounts> {
  const { ask, creation, params } = askedOf(over, env)
  return {
    ...ask,
    fold: listFold<LifecycleParams, LifecycleCounts, LifecycleCounts>({
      fold: lifecycleFold,
      params: (listed) => ({ ...params(listed), created: placed({ index: creation, of: 'person' }, listed) }),
      *take(counts) {
        yield
        return counts
      },
    }),
  }
}

/** The activity of actors from the lists of the core. */
export function listedActivity(over: ActivityOverLists, env: QueryContext): ListedFold<ActiveRows> {
  const { ask, creation, params } = askedOf(over, env)
  return {
    ...ask,
    fold: listFold<ActivityParams, ActivityRows, ActiveRows>({
      fold: activityFold,
      params,
      *take({ person, bucket }, listed) {
        const { values, numbers } = listed.columns[creation]!
        const keys = ask.actors && listed.columns[ask.actors.column]!.texts
        const createdAt = (row: number) => (numbers ? numbers[values[person[row]!]!]! : values[person[row]!]!)
        return { actors: person, buckets: bucket, createdAt, name: (code) => (keys ? keys[code]! : code) }
      },
    }),
  }
}
