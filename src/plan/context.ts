import type { Planning } from '../resolver/session.ts'
import type { JsonRead, Slot, TypedQuery } from '../resolver/typed.ts'

/** What an engine can do, where plans differ by it. */
export interface Capabilities {
  readonly engine: string
  /** Event names are small integers in the events table. */
  readonly hasEventDictionary: boolean
  /** Frequent properties have typed columns of their own. */
  readonly hasSlots: boolean
  /** A name of WITH can be computed once: AS MATERIALIZED. */
  readonly materializesCtes: boolean
  /** `arrayJoin(x)` may stand in any expression. */
  readonly hasArrayJoinCall: boolean
  /** Goes over lists with an accumulator as fast as over rows, and where the rows are. */
  readonly foldsInEngine: boolean
}

/** What is known of a project's store when a statement starts. Read once. */
export interface StoreSnapshot {
  /** Some person has been merged into another. */
  readonly hasMerges: boolean
  /** The dictionary's number for an event name; undefined for a name that no event has. */
  eventId(name: string): number | undefined
  /** The column that is filled for every row with what reading the property so gives, or with what that can be made of. */
  slot(table: string, field: string, key: string, as: JsonRead): Slot | undefined
}

export interface PlanContext extends Planning {
  readonly capabilities: Capabilities
  /** The project that is asked. */
  readonly projectId: number
  readonly store: StoreSnapshot
  /** A value that is shown as what it is goes out as JSON, otherwise as its text. */
  readonly showsJson: boolean
  /** The query that a table is: `sessions`. `fresh` names its sources. */
  view(table: string, fields: readonly string[], fresh: (wanted: string) => string): TypedQuery
}

/** `(plan, context) => plan` */
export type Pass = (query: TypedQuery, context: PlanContext) => TypedQuery
