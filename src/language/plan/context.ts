import type { AttachedProperty } from '../catalog/attached.ts'
import type { PropertyScope } from '../catalog/tables.ts'
import type { Planning } from '../resolver/session.ts'
import type { JsonRead, Slot, TypedQuery } from '../resolver/typed.ts'

/** What an engine supports, where plans depend on it. */
export interface Capabilities {
  readonly engine: string
  /** The events table stores event names as small integers. */
  readonly hasEventDictionary: boolean
  /** Frequent properties have typed columns: slots. */
  readonly hasSlots: boolean
  /** A CTE can be computed once: AS MATERIALIZED. */
  readonly materializesCtes: boolean
  /** `arrayJoin(x)` is allowed in any expression. */
  readonly hasArrayJoinCall: boolean
  /** Folds lists with an accumulator as fast as rows, inside the engine. */
  readonly foldsInEngine: boolean
}

/** Facts about a project's store, read once when a statement starts. */
export interface StoreSnapshot {
  /** At least one person has been merged into another. */
  readonly hasMerges: boolean
  /** The dictionary's number for an event name; undefined if no event has this name. */
  eventId(name: string): number | undefined
  /** The slot that is filled for every row with this reading of the property, or with one that it can be derived from. */
  slot(table: string, field: string, key: string, as: JsonRead): Slot | undefined
}

export interface PlanContext extends Planning {
  readonly capabilities: Capabilities
  /** The project that the statement reads. */
  readonly projectId: number
  readonly store: StoreSnapshot
  /** Values of the type `Property` are sent as JSON; otherwise as text. */
  readonly showsJson: boolean
  /** The column of an attached table behind a property. Absent: nothing is attached. */
  readonly attached?: ((scope: PropertyScope, name: string) => AttachedProperty | null) | undefined
  /** The query behind a table such as `sessions`. `fresh` names its sources. */
  view(table: string, fields: readonly string[], fresh: (wanted: string) => string): TypedQuery
}

/** `(plan, context) => plan` */
export type Pass = (query: TypedQuery, context: PlanContext) => TypedQuery
