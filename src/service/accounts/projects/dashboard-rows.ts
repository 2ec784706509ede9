import type { Dashboard, User } from '../records.ts'

/** A dashboard without anything on it. */
export const newDashboard = (of: {
  readonly id: number
  readonly project_id: number
  readonly name: string
  readonly now: Date
  readonly by: User | null
}): Dashboard => ({
  id: of.id,
  project_id: of.project_id,
  name: of.name,
  description: '',
  pinned: false,
  deleted: false,
  tags: [],
  filters: {},
  variables: {},
  breakdown_colors: [],
  data_color_theme_id: null,
  creation_mode: 'default',
  created_at: of.now,
  created_by_id: of.by?.id ?? null,
  last_modified_at: of.now,
  last_accessed_at: null,
})
