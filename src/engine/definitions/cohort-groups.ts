import { type CohortFilters, type Condition, type ConditionGroup, isGroup } from '../../queries/filters/cohort-definition.ts'

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

/** Older clients stored conditions on persons as those on events. */
const ofPerson = (one: object): Condition => {
  const values = (one as { values?: unknown }).values
  if (Array.isArray(values)) return { ...one, values: values.map((value: object) => ofPerson(value)) } as unknown as Condition
  const { type = 'event' } = one as { type?: unknown }
  return { ...one, type: type === 'event' ? 'person' : type } as Condition
}

const conditionsOf = (properties: unknown): Condition[] => {
  if (Array.isArray(properties)) return properties.map((one: object) => ofPerson(one))
  if (isGroup((properties ?? {}) as object)) return [ofPerson(properties as object)]
  return Object.entries((properties ?? {}) as object).map(([key, value]) => person(key, value))
}

/** Days back, if none are given. */
const usualDays = 365

const behaviorOf = ({ event_id, action_id, days, count, count_operator }: OldGroup): Condition => {
  const times = Math.max(0, Math.trunc(Number(count)) || 0)
  return {
    type: 'behavioral',
    value: times === 0 ? 'performed_event' : 'performed_event_multiple',
    key: (action_id || event_id) as string | number,
    event_type: action_id ? 'actions' : 'events',
    time_value: days || usualDays,
    time_interval: 'day',
    ...(times === 0 ? {} : { operator_value: times, operator: count_operator ?? 'gte' }),
  }
}

const hasProperties = ({ properties }: OldGroup): boolean => Object.keys((properties ?? {}) as object).length > 0

/** The same as filters; not validated yet. */
export const filtersOfGroups = (groups: readonly OldGroup[]): CohortFilters => ({
  properties: any(
    groups.map((group) =>
      all(hasProperties(group) || !(group.event_id || group.action_id) ? conditionsOf(group.properties) : [behaviorOf(group)]),
    ),
  ),
})
