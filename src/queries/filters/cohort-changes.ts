import type { Expr, Query } from '../../language/ast/nodes.ts'
import { calendarOf } from '../../lib/time/calendar.ts'
import type { Micros } from '../../lib/time/zone.ts'
import type { QueryContext } from '../kind.ts'
import { dateInstant, micros } from '../time/dates.ts'
import { type CohortFilters, type Condition, cohortMembers, isGroup } from './cohort-definition.ts'

// Which persons' membership can have changed since the members were last computed. This can be derived if the condition depends only on
// the person, the person's own events, other cohorts, and the clock through times that events are compared with.

const ofThePerson = new Set(['person', 'cohort', 'static-cohort', 'precalculated-cohort'])
const ofTheEvent = new Set(['event', 'event_metadata', 'feature', 'element', 'person'])

interface Filter {
  readonly type?: unknown
  readonly key?: unknown
}

/** `importPersons` may add a distinct id to a person without changing the person. */
const isFollowedFilter = (types: ReadonlySet<string>, { type = 'event', key }: Filter): boolean =>
  types.has(String(type)) && key !== 'distinct_id'

const areFollowed = (filters: unknown): boolean =>
  filters == null || (Array.isArray(filters) && filters.every((filter) => isFollowedFilter(ofTheEvent, filter as Filter)))

/** Actions can contain any filter. */
const isFollowedAction = (id: unknown, env: QueryContext): boolean =>
  env.action(Number(id))?.steps.every((step) => areFollowed(step.properties)) ?? true

export function isFollowed(condition: Condition, env: QueryContext): boolean {
  if (isGroup(condition)) return condition.values.every((value) => isFollowed(value, env))
  if (condition.type !== 'behavioral') return isFollowedFilter(ofThePerson, condition as Filter)
  const { key, event_type, event_filters, seq_event, seq_event_type } = condition as Readonly<Record<string, unknown>>
  return (
    areFollowed(event_filters) &&
    (event_type !== 'actions' || isFollowedAction(key, env)) &&
    (seq_event_type !== 'actions' || isFollowedAction(seq_event, env))
  )
}

export type Stretch = readonly [from: Micros, to: Micros]

/**
 * The ranges of event times for which the condition differs between now and the given time: each time that events are compared with has
 * moved across a range. null: the time affects something else too.
 */
export function movedOver(filters: CohortFilters, before: Date, env: QueryContext): readonly Stretch[] | null {
  const stretches: Stretch[] = []
  const instant = (text: string) => dateInstant(text, micros(env.now), calendarOf(env.project))
  const compare = (a: unknown, b: unknown, isMoment: boolean): boolean => {
    if (a === b) return true
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) {
      const [from, to] = isMoment && typeof a === 'string' && typeof b === 'string' ? [instant(a), instant(b)] : [null, null]
      if (from === null || to === null) return false
      stretches.push([Math.min(from, to), Math.max(from, to)])
      return true
    }
    const [mine, other] = [a as Readonly<Record<string, unknown>>, b as Readonly<Record<string, unknown>>]
    const keys = Object.keys(mine)
    if (keys.length !== Object.keys(other).length) return false
    const isOfMoment = isMoment ? mine.kind === 'literal' : isComparedTime(mine)
    return keys.every((key) => compare(mine[key], other[key], isOfMoment || (isMoment && Array.isArray(a))))
  }
  const at = (now: Date): Query => cohortMembers(filters, { ...env, now })
  return compare(at(before), at(env.now), false) ? stretches : null
}

const comparisons = new Set(['greater', 'greaterOrEquals', 'less', 'lessOrEquals'])

/** `timestamp >= x`, and `min(timestamp) >= x` */
function isComparedTime(node: Readonly<Record<string, unknown>>): boolean {
  if (node.kind !== 'call' || !comparisons.has(String(node.name))) return false
  const [left] = node.args as readonly Expr[]
  const time = left?.kind === 'call' && left.name === 'min' ? left.args[0] : left
  return time?.kind === 'field' && time.chain.length === 1 && time.chain[0] === 'timestamp'
}
