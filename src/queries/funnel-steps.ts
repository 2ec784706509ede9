import type { Query } from '../language/ast/nodes.ts'
import type { Micros } from '../lib/time/zone.ts'
import type { Asking } from './actor-source.ts'
import type { QueryContext } from './kind.ts'
import type { CompareFilter } from './schemas.ts'

/** Whom to list: as in FunnelsActorsQuery. */
export interface FunnelStepAsk {
  readonly source: unknown
  readonly funnelStep?: number | null
  /** The funnel of the period before its own. */
  readonly previous?: CompareFilter | null
  /** Where the two are in the request, for errors. */
  readonly attrs: { readonly source: string; readonly step: string }
}

/** Actors who got to a step, or got no further, and when. */
export interface FunnelStepTimes {
  /** Columns `actor`, `reached_at` and `before_at`: microseconds of the step, and of the step before it. One row per actor. */
  readonly query: Query
  /** These rows, if they were found here; null: the engine finds them. */
  readonly rows: readonly FunnelStepTime[] | null
  readonly group: number | null
  /** How long an actor has for the funnel. */
  readonly window: Micros
}
export interface FunnelStepTime {
  readonly actor: number | string
  readonly reached_at: Micros
  /** The same as `reached_at` at the first step. */
  readonly before_at: Micros
}

/** Funnels, as other kinds know them. */
export type FunnelSteps = (ask: FunnelStepAsk, env: QueryContext) => Asking<FunnelStepTimes>
