import { type ActivityParams, type ActivityRows, activityFold } from '../../core/folds/activity.ts'
import { type LifecycleCounts, type LifecycleParams, lifecycleFold } from '../../core/folds/lifecycle.ts'
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

/** How many actors have a status, from the lists of the core. */
export function listedStatuses(
  { condition, group, created, times, edges }: ActivityOverLists,
  env: QueryContext,
): ListedFold<LifecycleCounts> {
  const columns = new AskedColumns({ hasPersons: group === null })
  const actors = group === null ? null : groupActors(group, columns)
  const bits = askedBits([{ condition, bits: 1 }], columns, env)
  const index = columns.numbersOfActors(created)
  return {
    names: bits.names,
    columns: columns.asks,
    actors,
    fold: listFold<LifecycleParams, LifecycleCounts, LifecycleCounts>({
      fold: lifecycleFold,
      params: (listed) => ({
        matching: { ...times, scope: null, bits: bitsOf(bits, listed), further: null, takesAll: false },
        edges: Float64Array.from(edges),
        created: placed({ index, of: 'person' }, listed),
      }),
      *take(counts) {
        yield
        return counts
      },
    }),
  }
}

/** The activity of actors from the lists of the core. */
export function listedActivity({ condition, group, created, times, edges }: ActivityOverLists, env: QueryContext): ListedFold<ActiveRows> {
  const columns = new AskedColumns({ hasPersons: group === null })
  const actors = group === null ? null : groupActors(group, columns)
  const bits = askedBits([{ condition, bits: 1 }], columns, env)
  const creation = columns.numbersOfActors(created)
  return {
    names: bits.names,
    columns: columns.asks,
    actors,
    fold: listFold<ActivityParams, ActivityRows, ActiveRows>({
      fold: activityFold,
      params: (listed) => ({
        matching: { ...times, scope: null, bits: bitsOf(bits, listed), further: null, takesAll: false },
        edges: Float64Array.from(edges),
      }),
      *take({ person, bucket }, listed) {
        const { values, numbers } = listed.columns[creation]!
        const keys = actors && listed.columns[actors.column]!.texts
        const createdAt = (row: number) => (numbers ? numbers[values[person[row]!]!]! : values[person[row]!]!)
        return { actors: person, buckets: bucket, createdAt, name: (code) => (keys ? keys[code]! : code) }
      },
    }),
  }
}
