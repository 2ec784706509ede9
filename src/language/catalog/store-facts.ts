import type { ValueCounts } from './property-counts.ts'

// Facts about a project's store that planning needs. Small, and constant until new events are applied.

export interface PropertyKey {
  readonly scope: string
  readonly name: string
  /** The declared type. */
  readonly type: 'String' | 'Numeric' | 'Boolean' | 'DateTime' | null
  /** Columns that are filled for every row. */
  readonly slots: readonly string[]
  readonly counts: ValueCounts
}

export interface StoreFacts {
  readonly appliedSeq: string
  readonly eventIds: ReadonlyMap<string, number>
  readonly hasMerges: boolean
  /** The largest person number; 0 without persons. */
  readonly lastPersonNo: number
  /** `scope` and name, separated by a line break. */
  readonly propertyKeys: ReadonlyMap<string, PropertyKey>
  /** Scopes at the limit of counted keys: other keys may exist. */
  readonly fullScopes: ReadonlySet<string>
  readonly groupTypes: readonly { readonly index: number; readonly name: string }[]
  readonly actions: ReadonlyMap<number, string>
  readonly cohorts: ReadonlyMap<number, string>
}

export const propertyKey = (scope: string, name: string): string => `${scope}\n${name}`

/** The total number of rows of a project. */
export interface RowCounts {
  readonly events: number
  readonly persons: number
}

/** The owner of the property as users call it: groups have the name of their type. */
export function shownScope(scope: string, groupTypes: StoreFacts['groupTypes']): string {
  const index = /^group_(\d)$/.exec(scope)?.[1]
  return groupTypes.find((type) => String(type.index) === index)?.name ?? scope
}
