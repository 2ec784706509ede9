import type { Table } from 'apache-arrow'
import { QueryError } from '../../errors/errors.ts'
import { alias, call, equals, field, isIn, literal, select, table } from '../../language/ast/build.ts'
import type { Expr } from '../../language/ast/nodes.ts'
import { isUuid } from '../../lib/ids/time-ordered-uuid.ts'
import { calendarOf } from '../../lib/time/calendar.ts'
import { zoneOf } from '../../lib/time/zone.ts'
import type { ActionStep, QueryContext, QueryRun } from '../kind.ts'
import { dateInstant, isoInstant, micros } from '../time/dates.ts'
import { actionCondition } from './property-filters.ts'

// The fields of lists of events and of sessions that select their rows.

/** Client clocks may be ahead: "now" includes events that were just sent. */
const slack = 5_000_000

interface Times {
  readonly after?: string | null | undefined
  readonly before?: string | null | undefined
}

/** `of`: the field with the time. */
export function timeBounds({ after, before }: Times, env: QueryContext, of = 'timestamp'): Expr[] {
  const now = micros(env.now)
  const at = (text: string, attr: 'after' | 'before') => {
    const instant = dateInstant(text, now, calendarOf(env.project))
    if (instant !== null) return instant
    throw new QueryError('validation-failed', {
      message: `${JSON.stringify(text)} is not a date. Write 2026-01-31, 2026-01-31T08:00:00Z, or a relative time such as -24h or -7d.`,
      attr,
    })
  }
  const bound = (name: string, instant: number) => call(name, field(of), literal(isoInstant(instant, zoneOf('UTC'))))
  const until = bound('less', before ? at(before, 'before') : now + slack)
  return after === 'all' ? [until] : [bound('greater', at(after || '-24h', 'after')), until]
}

interface Names {
  readonly event?: string | null | undefined
  readonly events?: readonly string[] | null | undefined
}

export function nameConditions({ event, events }: Names): Expr[] {
  const names = event ? [event] : (events ?? [])
  if (names.length === 0) return []
  return [
    names.length === 1
      ? equals(field('event'), literal(names[0]!))
      : isIn(
          field('event'),
          names.map((name) => literal(name)),
        ),
  ]
}

interface Actions {
  readonly actionId?: number | null | undefined
  readonly actionSteps?: readonly unknown[] | null | undefined
}

export function actionConditions({ actionId, actionSteps }: Actions, env: QueryContext): Expr[] {
  const conditions: Expr[] = []
  if (actionId != null) {
    const action = env.action(actionId)
    if (!action) throw new QueryError('validation-failed', { message: `There is no action ${actionId}.`, attr: 'actionId' })
    if (action.steps.length === 0)
      throw new QueryError('validation-failed', { message: `The action ${action.name} has no steps.`, attr: 'actionId' })
    conditions.push(actionCondition(action, env))
  }
  if (actionSteps?.length) conditions.push(actionCondition({ id: 0, name: '', steps: actionSteps as readonly ActionStep[] }, env))
  return conditions
}

/**
 * All events of the person, under any distinct id. An unknown person has none. The number is looked up first: with a constant the engine reads only what the
 * condition and the order need, and the other columns of the rows of the answer.
 */
export function* personCondition(id: string): QueryRun<Expr> {
  if (!isUuid(id)) return literal(false)
  const query = select({
    columns: [alias(field('@person_no'), 'number')],
    from: table('persons'),
    where: equals(field('id'), call('toUUID', literal(id))),
  })
  const answer = (yield { kind: 'statement', query, label: 'person' }) as Table
  const numbers = answer.getChild('number')!
  return answer.numRows === 0 ? literal(false) : equals(field('@person_no'), literal(Number(numbers.get(0))))
}
