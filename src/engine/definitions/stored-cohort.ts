import type { CohortFilters } from '../../queries/filters/cohort-definition.ts'

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
}
