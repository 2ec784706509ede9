import type { ValueCounts } from './property-counts.ts'

// What statements must know of a project's store before they are planned. Small, and the same until something is applied.

export interface PropertyKey {
  readonly scope: string
  readonly name: string
  /** As it was declared. */
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
  /** `scope` and name with a line break between them. */
  readonly propertyKeys: ReadonlyMap<string, PropertyKey>
  /** Scopes at the limit of counted keys: other keys may exist. */
  readonly fullScopes: ReadonlySet<string>
  readonly groupTypes: readonly { readonly index: number; readonly name: string }[]
  readonly actions: ReadonlyMap<number, string>
  readonly cohorts: ReadonlyMap<number, string>
}

export const propertyKey = (scope: string, name: string): string => `${scope}\n${name}`

/** Rows of a project, in all. */
export interface RowCounts {
  readonly events: number
  readonly persons: number
}

/** Whose property it is, in words of the caller: groups are called by the name of their type. */
export function shownScope(scope: string, groupTypes: StoreFacts['groupTypes']): string {
  const index = /^group_(\d)$/.exec(scope)?.[1]
  return groupTypes.find((type) => String(type.index) === index)?.name ?? scope
}
