import type { AnnotationAnswer } from '../../doors/answers/annotations.ts'

/** Where a chart stands: notes of that insight and of that dashboard are shown on it too. */
export interface ChartPlace {
  readonly insight?: number
  readonly dashboard?: number
}

export const isShownOn = ({ scope, dashboard_id, dashboard_item }: AnnotationAnswer, { insight, dashboard }: ChartPlace): boolean => {
  if (scope === 'dashboard_item') return insight !== undefined && dashboard_item === insight
  if (scope === 'dashboard') return dashboard !== undefined && dashboard_id === dashboard
  return true
}
