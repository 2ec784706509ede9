import type { Expr } from '../ast/nodes.ts'
import type { PropertyScope } from '../catalog/tables.ts'
import type { NumberKind } from '../types/property-info.ts'

/** All that a statement may ask besides itself. */
export interface ResolveContext {
  readonly project: { readonly id: number; readonly timezone: string; readonly weekStartDay: 0 | 1 }
  readonly now: Date
  /** As it was declared. */
  propertyType(scope: PropertyScope, name: string): 'String' | 'Numeric' | 'Boolean' | 'DateTime' | null
  /** What the numbers among its values are known to be told by. Absent: nothing is known. */
  propertyNumbers?(scope: PropertyScope, name: string): NumberKind
  /** Names of the properties that were sent or declared, for mistakes. */
  knownProperties?(scope: PropertyScope): readonly string[]
  /** Groups of the project by the names of their types: `company` may be `group_0`. */
  readonly groupTypes?: readonly { readonly index: number; readonly name: string }[]
  cohort(idOrName: number | string): { readonly id: number } | undefined
  /** The condition that an action stands for. */
  actionCondition?(idOrName: number | string): Expr | undefined
  /** A session shorter than this with one page is a bounce. */
  readonly bounceSeconds?: number
}
