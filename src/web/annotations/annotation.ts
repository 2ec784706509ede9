/** A note about a time, as the API answers it. */
export interface Annotation {
  readonly id: number
  readonly content: string | null
  readonly date_marker: string | null
  readonly scope: string
  readonly dashboard_id: number | null
  readonly dashboard_name: string | null
  /** The id of an insight. */
  readonly dashboard_item: number | null
  readonly insight_short_id: string | null
  readonly insight_name: string | null
  readonly insight_derived_name: string | null
  readonly created_by: { readonly first_name: string; readonly email: string } | null
}

/** Where a chart stands: notes of that insight and of that dashboard are shown on it too. */
export interface ChartPlace {
  readonly insight?: number
  readonly dashboard?: number
}

export const isShownOn = ({ scope, dashboard_id, dashboard_item }: Annotation, { insight, dashboard }: ChartPlace): boolean => {
  if (scope === 'dashboard_item') return insight !== undefined && dashboard_item === insight
  if (scope === 'dashboard') return dashboard !== undefined && dashboard_id === dashboard
  return true
}
