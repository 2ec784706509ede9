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
  /** How many texts there can be in a bucket; infinite where the data say. */
  readonly mostParts: number
  /** Which events belong to the unit, times aside. */
  readonly events: Expr
  /** Of these the filters, without the event's name. */
  readonly filters: Expr
  /** Set where all keys are constants: one key without rows is no group. */
  readonly having: Expr | null
  /** Numbers per group. */
  readonly size: number
  /** The number of the bucket at a time; null when one number is asked for. */
  readonly bucketOf: (at: Expr) => Expr | null
  readonly readGroups: (table: Table) => Group[]
}

export interface StoredParts {
  readonly values: readonly Expr[]
  /** The texts of such values when they have been given names. */
  readonly texts: (values: readonly Expr[]) => Expr[]
}
