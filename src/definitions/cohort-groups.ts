import type { CohortFilters, Condition, ConditionGroup } from '../queries/cohort-definition.ts'

// The older format of a dynamic cohort: a list of groups of which any must match, each a list of conditions that must all match, or one behavior.

interface OldGroup {
  readonly properties?: unknown
  readonly event_id?: unknown
  readonly action_id?: unknown
  readonly days?: unknown
  readonly count?: unknown
  readonly count_operator?: unknown
}

const any = (values: readonly Condition[]): ConditionGroup => ({ type: 'OR', values })
const all = (values: readonly Condition[]): ConditionGroup => ({ type: 'AND', values })
const person = (key: string, value: unknown): Condition => ({ type: 'person', key, value, operator: 'exact' })

const conditionsOf = (properties: unknown): Condition[] => {
  if (Array.isArray(properties)) return properties.map((one) => ({ type: 'person', ...(one as object) }))
  return Object.entries((properties ?? {}) as object).map(([key, value]) => person(key, value))
}

const behaviorOf = ({ event_id, action_id, days, count, count_operator }: OldGroup): Condition => ({
  type: 'behavioral',
  value: count == null ? 'performed_event' : 'performed_event_multiple',
  key: (action_id ?? event_id) as string | number,
  event_type: action_id == null ? 'events' : 'actions',
  ...(days == null ? {} : { time_value: days, time_interval: 'day' }),
  ...(count == null ? {} : { operator_value: count, operator: count_operator ?? 'gte' }),
})

/** The same as filters; not validated yet. */
export const filtersOfGroups = (groups: readonly OldGroup[]): CohortFilters => ({
  properties: any(
    groups.map((group) => all(group.event_id == null && group.action_id == null ? conditionsOf(group.properties) : [behaviorOf(group)])),
  ),
})
