import type { Table } from 'apache-arrow'
import type { Expr } from '../../ast/nodes.ts'
import type { QueryContext } from '../kind.ts'
import type { Group } from './groups.ts'
import type { TrendsQuery } from './schema.ts'
import type { Unit } from './unit.ts'

/** What the maths need to know of a unit. */
export interface PlanContext {
  readonly unit: Unit
  readonly query: TrendsQuery
  readonly env: QueryContext
  /** The texts that rows are split by. */
  readonly parts: readonly Expr[]
  /** The stored values of these texts; null where each event's text is needed. */
  readonly stored: StoredParts | null
  /** How many texts there can be in a bucket; infinite if it depends on the data. */
  readonly mostParts: number
  /** Which events belong to the unit, times aside. */
  readonly events: Expr
  /** Of these the filters, without the event's name. */
  readonly filters: Expr
  /** Set if all keys are constants: one key without rows is not a group. */
  readonly having: Expr | null
  /** Numbers per group. */
  readonly size: number
  /** The number of the bucket at a time; null for a single number. */
  readonly bucketOf: (at: Expr) => Expr | null
  readonly readGroups: (table: Table) => Group[]
}

export interface StoredParts {
  readonly values: readonly Expr[]
  /** The texts of such values when they have been given names. */
  readonly texts: (values: readonly Expr[]) => Expr[]
}
