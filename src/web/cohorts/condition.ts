import type { Filter } from '../insights/query.ts'

// Conditions of dynamic cohorts, as the API takes them. The editor handles groups of conditions one level deep; others are edited as JSON.

export interface PersonCondition extends Filter {
  readonly type: 'person'
  readonly negation?: boolean
}
export interface CohortCondition {
  readonly type: 'cohort'
  readonly key: 'id'
  readonly value: number | null
  readonly negation?: boolean
}
export interface DoneCondition {
  readonly type: 'behavioral'
  readonly key: string
  readonly event_type: 'events'
  readonly value: 'performed_event' | 'performed_event_multiple' | 'performed_event_first_time'
  readonly operator?: string
  readonly operator_value?: number
  readonly time_value?: number
  readonly time_interval?: string
  readonly negation?: boolean
}
export type Condition = PersonCondition | CohortCondition | DoneCondition
export interface Group {
  readonly type: 'AND' | 'OR'
  readonly values: readonly Condition[]
}
export interface Conditions {
  readonly type: 'AND' | 'OR'
  readonly values: readonly Group[]
}
export interface CohortFilters {
  readonly properties: unknown
}

export const newCondition = (type: string): Condition =>
  type === 'person'
    ? { type, key: '', operator: 'exact', value: [] }
    : type === 'cohort'
      ? { type, key: 'id', value: null }
      : { type: 'behavioral', key: '', event_type: 'events', value: 'performed_event', time_value: 30, time_interval: 'day' }

export const emptyConditions: Conditions = { type: 'AND', values: [{ type: 'AND', values: [newCondition('person')] }] }

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isJoin = (value: unknown): value is 'AND' | 'OR' => value === 'AND' || value === 'OR'
const only = (of: object, fields: readonly string[]) => Object.entries(of).every(([name, value]) => value == null || fields.includes(name))

function isCondition(value: unknown): value is Condition {
  if (!isObject(value)) return false
  if (value.type === 'person') return typeof value.key === 'string' && only(value, ['type', 'key', 'operator', 'value', 'negation'])
  if (value.type === 'cohort') return only(value, ['type', 'key', 'value', 'negation'])
  return (
    value.type === 'behavioral' &&
    typeof value.key === 'string' &&
    (value.event_type ?? 'events') === 'events' &&
    ['performed_event', 'performed_event_multiple', 'performed_event_first_time'].includes(String(value.value)) &&
    only(value, ['type', 'key', 'event_type', 'value', 'operator', 'operator_value', 'time_value', 'time_interval', 'negation'])
  )
}
const isGroup = (value: unknown): value is Group =>
  isObject(value) && isJoin(value.type) && Array.isArray(value.values) && only(value, ['type', 'values']) && value.values.every(isCondition)

/** Null: the editor does not know all of it. */
export function conditionsOf(filters: unknown): Conditions | null {
  const root = isObject(filters) ? filters.properties : null
  if (!isObject(root) || !isJoin(root.type) || !Array.isArray(root.values) || !only(root, ['type', 'values'])) return null
  if (isGroup(root)) return { type: 'AND', values: [root] }
  return root.values.every((value) => isGroup(value)) ? (root as unknown as Conditions) : null
}

function isComplete(one: Condition): boolean {
  if (one.type === 'cohort') return one.value !== null
  if (one.type === 'behavioral' || one.key === '') return one.key !== ''
  return /^is_(not_)?set$/.test(one.operator) || (Array.isArray(one.value) ? one.value.length > 0 : one.value !== '')
}

/** Without what is not filled in yet. */
export function complete(conditions: Conditions): Conditions {
  const values = conditions.values
    .map((group) => ({ ...group, values: group.values.filter(isComplete) }))
    .filter(({ values }) => values.length > 0)
  return { ...conditions, values }
}

/** What errors call a group and each of its conditions, once they are sent. Null: it is not sent. */
export interface GroupPath {
  readonly path: string | null
  readonly conditions: readonly (string | null)[]
}

/** Of all groups: the places that they have among those that are complete. */
export function pathsIn({ values }: Conditions): readonly GroupPath[] {
  let groups = 0
  return values.map((group) => {
    if (!group.values.some(isComplete)) return { path: null, conditions: group.values.map(() => null) }
    const path = `filters.properties.values.${groups++}`
    let sent = 0
    return { path, conditions: group.values.map((one) => (isComplete(one) ? `${path}.values.${sent++}` : null)) }
  })
}
