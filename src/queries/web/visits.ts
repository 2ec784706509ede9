import { alias, and, call, equals, field, from, groupBy, join, literal, select, unionAll } from '../../language/ast/build.ts'
import type { Expr, Query, Select } from '../../language/ast/nodes.ts'
import { isSessionId } from '../../language/catalog/sessions.ts'
import type { QueryContext } from '../kind.ts'
import { Lifted, madeEvents, madeSession } from '../lists/made-sessions.ts'
import { eventsTable } from '../scope.ts'
import { allOf } from '../series/series-condition.ts'
import type { Breakdown } from './breakdowns.ts'
import { beganIn, countedEvents, isPage, nearEvents, personOf, sessionsOf, type WebPlan } from './plan.ts'

export const valueColumn = (i: number): string => `value_${i}`
const valuesOf = ({ parts }: Breakdown): Expr[] => parts.map((part, i) => alias(part, valueColumn(i)))
export const valueFields = ({ parts }: Breakdown): Expr[] => parts.map((_, i) => field(valueColumn(i)))

export interface Visits {
  readonly breakdown: Breakdown
  /** The names of the events that count; conversions count anyway. Default pages. */
  readonly names?: Expr
  /** Of the events of a session: aggregates with conditions, as columns of these names. */
  readonly also: Readonly<Record<string, (counted: Expr) => Expr>>
  readonly filters?: Expr
}

/** One row per session and value, with `person`, the session's `$start_timestamp` and `$is_bounce`. */
export function visitsOf(whole: WebPlan, { breakdown, names = isPage, also, filters = whole.filters }: Visits, env: QueryContext): Select {
  const plan = { ...whole, filters }
  const counted = countedEvents(plan, names)
  const aggregates = (condition: Expr) => ({
    person: personOf(condition),
    ...Object.fromEntries(Object.entries(also).map(([name, make]) => [name, make(condition)])),
  })
  const session = ['$start_timestamp', '$is_bounce']
  const began = call('or', beganIn(plan, 'current')!, beganIn(plan, 'previous') ?? literal(false))
  const shown = allOf(began, breakdown.isShown(valueFields(breakdown)))
  const columns = [...session, 'person', ...Object.keys(also)]
  if (breakdown.fields) {
    const sessions = sessionsOf(plan, [...session, ...breakdown.fields], env, {
      counted: call('countIf', counted),
      ...aggregates(counted),
    })
    const valued = select({
      columns: [...columns.map((name) => field(name)), ...valuesOf(breakdown)],
      from: from(sessions, 'web_sessions'),
      where: call('greater', field('counted'), literal(0)),
    })
    return select({
      columns: [...columns.map((name) => field(name)), ...valueFields(breakdown)],
      from: from(valued, 'web_valued'),
      where: shown,
    })
  }
  const joinedTo = (values: Query): Select =>
    select({
      columns: [...columns.map((name) => field(name)), ...valueFields(breakdown)],
      from: join(
        from(values, 'web_values'),
        from(sessionsOf(plan, ['session_id', ...session], env), 'web_sessions'),
        equals(field('web_values', 'of_session'), field('web_sessions', 'session_id')),
      ),
      where: shown,
    })
  const named = select({
    columns: [
      alias(field('$session_id'), 'of_session'),
      ...valuesOf(breakdown),
      ...Object.entries(aggregates(literal(true))).map(([name, expr]) => alias(expr, name)),
    ],
    from: eventsTable(plan.sample),
    where: and(counted, isSessionId(field('$session_id'))),
    groupBy: groupBy(field('$session_id'), ...valueFields(breakdown)),
  })
  if (!plan.hasMade) return joinedTo(named)
  const lifted = new Lifted()
  const [isCounted, ...values] = [counted, ...breakdown.parts].map((expr) => lifted.column(expr))
  const numbers = Object.entries(aggregates(literal(true))).map(([name, expr]) => alias(lifted.aggregate(expr), name))
  const made = select({
    columns: [alias(madeSession, 'of_session'), ...values.map((value, i) => alias(value, valueColumn(i))), ...numbers],
    from: from(madeEvents(lifted.columns, eventsTable(plan.sample), nearEvents(plan)), 'web_made'),
    where: isCounted!,
    groupBy: groupBy(madeSession, ...values),
  })
  return joinedTo(unionAll(named, made))
}
