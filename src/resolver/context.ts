import type { Expr, Query } from '../ast/nodes.ts'
import type { PropertyScope } from '../catalog/tables.ts'

/** What a `{filters}` placeholder stands in. */
export interface FilterPlace {
  readonly scope: 'event' | 'person' | 'group' | 'session'
  /** The chain of the field a date range applies to, or null. */
  readonly timeField: readonly string[] | null
}

/** All that a statement may ask besides itself. */
export interface ResolveContext {
  readonly project: { readonly id: number; readonly timezone: string; readonly weekStartDay: 0 | 1 }
  readonly now: Date
  propertyType(scope: PropertyScope, name: string): 'String' | 'Numeric' | 'Boolean' | 'DateTime' | null
  cohort(idOrName: number | string): { readonly id: number } | undefined
  /** The condition that an action stands for. */
  action?(idOrName: number | string): Expr | undefined
  /** What `{name}` and `{name.field}` stand for: constants, or trees when a query kind asks. */
  readonly values?: Readonly<Record<string, unknown>>
  readonly variables?: Readonly<Record<string, unknown>>
  filters?(place: FilterPlace): Expr
  readonly bounceSeconds?: number
}

export const isTree = (value: unknown): value is Expr | Query =>
  typeof value === 'object' && value !== null && 'kind' in value && 'span' in value
