import type { Expr, Query } from '../ast/nodes.ts'
import type { Attached } from '../catalog/attached.ts'
import type { SessionSettings } from '../catalog/sessions.ts'
import type { PropertyScope } from '../catalog/tables.ts'
import type { CurrencyRates } from '../types/currency-rates.ts'
import type { NumberKind } from '../types/property-info.ts'

/** The facts that resolving needs besides the statement. */
export interface ResolveContext {
  readonly project: {
    readonly id: number
    readonly timezone: string
    readonly weekStartDay: 0 | 1
    /** Absent: USD. */
    readonly baseCurrency?: string
    /** Absent: the server has none. */
    readonly currencyRates?: CurrencyRates | undefined
    /** Absent: the operator has attached nothing. */
    readonly attached?: Attached | undefined
  }
  readonly now: Date
  /** The declared type. */
  propertyType(scope: PropertyScope, name: string): 'String' | 'Numeric' | 'Boolean' | 'DateTime' | null
  /** How numbers are distinguished from texts among its values. Absent: unknown. */
  propertyNumbers?(scope: PropertyScope, name: string): NumberKind
  /** Names of the properties that were sent or declared, for suggestions. */
  knownProperties?(scope: PropertyScope): readonly string[]
  /** The group types of the project: `company` may be `group_0`. */
  readonly groupTypes?: readonly { readonly index: number; readonly name: string }[]
  cohort(idOrName: number | string): { readonly id: number } | undefined
  /** The condition of an action. */
  actionCondition?(idOrName: number | string): Expr | undefined
  /** The statement of a view of the project: a saved statement that can be read as a table. */
  view?(name: string): Query | undefined
  /** For suggestions, and for SHOW TABLES. */
  readonly viewNames?: readonly string[]
  readonly sessions?: SessionSettings | undefined
}
