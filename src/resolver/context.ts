import type { Expr } from '../ast/nodes.ts'
import type { PropertyScope } from '../catalog/tables.ts'

/** All that a statement may ask besides itself. */
export interface ResolveContext {
  readonly project: { readonly id: number; readonly timezone: string; readonly weekStartDay: 0 | 1 }
  readonly now: Date
  propertyType(scope: PropertyScope, name: string): 'String' | 'Numeric' | 'Boolean' | 'DateTime' | null
  cohort(idOrName: number | string): { readonly id: number } | undefined
  /** The condition that an action stands for. */
  action?(idOrName: number | string): Expr | undefined
  /** A session shorter than this with one page is a bounce. */
  readonly bounceSeconds?: number
}
