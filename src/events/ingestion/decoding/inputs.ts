import type { PropertyType } from '../properties/property-types.ts'

// Input types of the library, as callers write them. They are validated at run time: external JSON can be anything.

export type Properties = object

/** One event. Other fields of the wire format are taken too. */
export interface EventInput {
  readonly event: string
  readonly distinct_id: string | number
  /** ISO 8601; default: the time of receipt. */
  readonly timestamp?: string | Date
  readonly properties?: Properties
  /** Makes sending the same event again harmless. */
  readonly uuid?: string
  /** Sets properties of the person. */
  readonly $set?: Properties
  /** Sets those that the person does not have yet. */
  readonly $set_once?: Properties
  /** Removes properties of the person. */
  readonly $unset?: readonly string[]
  /** Milliseconds between the event and its sending, for clients without a clock that can be trusted. */
  readonly offset?: number
  /** The clicked element first, then its ancestors, as browser clients send them. */
  readonly elements?: readonly object[]
}

export interface BatchInput {
  readonly batch: readonly EventInput[]
  /** The sender's clock when it sent the batch. Event times are corrected by its difference from the server's clock. */
  readonly sent_at?: string | Date
  /** Past events. They do not overwrite later values of persons. */
  readonly historical_migration?: boolean
}

/** A batch, a list of events, or one event. */
export type IngestInput = BatchInput | readonly EventInput[] | EventInput

export interface PersonInput {
  readonly distinct_ids: readonly (string | number)[]
  readonly properties?: Properties | null
  readonly created_at?: string | Date | null
  readonly is_identified?: boolean
}

export interface GroupInput {
  readonly group_type: string
  /** 0 to 4; the next free one when it is left out. */
  readonly group_type_index?: number | null
  readonly group_key: string | number
  readonly properties?: Properties | null
  readonly created_at?: string | Date | null
}

export interface GroupImportOptions {
  /** Fixes which index a group type has. */
  readonly group_types?: readonly { readonly group_type: string; readonly group_type_index?: number | null }[] | null
}

export type PropertyTypeInput = ({ readonly type?: 'event' | 'person' } | { readonly type: 'group'; readonly group_type_index: number }) & {
  readonly name: string
  readonly property_type: PropertyType
}
