import type { Removal } from '../../language/catalog/removals.ts'
import type { PreparedEvent } from './decoding/prepare.ts'
import type { PropertyType } from './properties/property-types.ts'

/** A batch of the log that is being applied. */
export interface Work {
  readonly firstSeq: number
  readonly count: number
  /** Microseconds. */
  readonly receivedAt: number
  /** The sender's clock, as it was sent. */
  readonly sentAt: string | null
  readonly isHistorical: boolean
  /** The import that the events are of. */
  readonly importId?: string
  readonly bytes: number
  readonly content: Content
  /** Rows that are set aside, and not applied. */
  readonly aside?: ReadonlySet<number>
}

export type Content =
  /** Contains the properties of `events`. */
  | { readonly kind: 'event'; readonly events: readonly PreparedEvent[]; readonly bytes: Uint8Array; duplicates: ReadonlySet<number> }
  | { readonly kind: 'persons'; readonly persons: readonly PersonImport[] }
  | { readonly kind: 'groups'; readonly groups: readonly GroupImport[] }
  | { readonly kind: 'property_types'; readonly types: readonly PropertyTypeRow[] }
  | { readonly kind: 'records'; readonly records: readonly RecordWrite[] }
  | { readonly kind: 'person_changes'; readonly changes: readonly PersonChange[] }
  | { readonly kind: 'removals'; readonly removals: readonly Removal[] }

/** A change of a person by a user. Persons are named by their uuids; a change of one that does not exist has no effect. */
export type PersonChange =
  | {
      readonly change: 'write'
      readonly person: string
      readonly set: Readonly<Record<string, unknown>>
      readonly unset: readonly string[]
    }
  /** `sources` become part of the person, also when they are identified. */
  | { readonly change: 'merge'; readonly person: string; readonly sources: readonly string[] }
  /** Each of `ids` becomes a person of its own, with its events; null: all but one, and the person loses its properties. */
  | { readonly change: 'split'; readonly person: string; readonly ids: readonly string[] | null }
  | { readonly change: 'delete'; readonly person: string; readonly withEvents: boolean }

/** Times are microseconds. */
export interface PersonImport {
  readonly distinct_ids: readonly string[]
  readonly properties: Readonly<Record<string, unknown>>
  readonly created_at: number
  readonly is_identified: boolean
}

/** With `group_key` null it only assigns a number to a group type. */
export interface GroupImport {
  readonly group_type: string
  readonly group_type_index: number | null
  readonly group_key: string | null
  readonly properties: Readonly<Record<string, unknown>>
  /** Properties that are removed. */
  readonly unset?: readonly string[]
  readonly created_at: number
}

/** A change of a group by a user. */
export interface GroupChange {
  readonly group_type_index: number
  readonly group_key: string
  readonly set: Readonly<Record<string, unknown>>
  readonly unset: readonly string[]
}

export interface PropertyTypeRow {
  /** event, person, group_0 … group_4 */
  readonly scope: string
  readonly name: string
  readonly property_type: PropertyType
}

export type RecordWrite =
  /** A definition as JSON text; null removes it. */
  | { readonly table: 'actions' | 'cohorts'; readonly id: number; readonly definition: string | null }
  /** All members of a static cohort, by person uuid. */
  | { readonly table: 'cohort_members'; readonly id: number; readonly persons: readonly string[] }
