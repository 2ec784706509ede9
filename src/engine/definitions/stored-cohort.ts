import type { CohortFilters } from '../../queries/filters/cohort-definition.ts'

/** How values became members. */
export interface Matching {
  readonly values: number
  /** Those that nobody has. */
  readonly unmatched: number
  /** The first of them. */
  readonly unmatched_values: readonly string[]
  /** Those that several persons have: all of these are members. */
  readonly several: number
}

export interface StoredCohort {
  readonly id: number
  readonly name: string
  readonly description?: string | null
  readonly is_static: boolean
  readonly filters?: CohortFilters | null
  /** When the members of a static cohort were last set. */
  readonly members_at?: string | null
  readonly created_by_id?: number | null
  readonly created_at: string
  readonly updated_at: string
  /** In answers to a change of the members; it is not stored. */
  readonly matching?: Matching
}
