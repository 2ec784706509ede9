import type { Table } from 'apache-arrow'
import type { Expr } from '../../language/ast/nodes.ts'
import type { QueryContext } from '../kind.ts'
import type { Group } from './groups.ts'
import type { TrendsQuery } from './schema.ts'
import type { Unit } from './unit.ts'

/** What the math needs to know about a unit. */
export interface PlanContext {
  readonly unit: Unit
  readonly query: TrendsQuery
  readonly env: QueryContext
  /** The texts of the breakdown. */
  readonly parts: readonly Expr[]
  /** The stored values of these texts; null if each event's text is needed. */
  readonly stored: StoredParts | null
  /** How many texts there can be in a bucket; infinite if it depends on the data. */
  readonly mostParts: number
  /** The events of the unit, regardless of time. */
  readonly events: Expr
  /** Only the filters, without the event's name. */
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
  /** The texts of such values after they have been named. */
  readonly texts: (values: readonly Expr[]) => Expr[]
}
