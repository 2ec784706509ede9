import type { Table } from 'apache-arrow'
import { QueryError } from '../../errors/errors.ts'
import { alias, call, equals, field, from, inQuery, isIn, literal, select, table } from '../../language/ast/build.ts'
import type { Expr } from '../../language/ast/nodes.ts'
import { isUuid } from '../../lib/ids/time-ordered-uuid.ts'
import { calendarOf } from '../../lib/time/calendar.ts'
import { zoneOf } from '../../lib/time/zone.ts'
import { type AnyActorSource, type Asking, checkSource, insideSource } from '../actor-source.ts'
import { withoutAlias } from '../columns.ts'
import { actionCondition, compileFilters } from '../filters/property-filters.ts'
import type { ActionStep, QueryContext } from '../kind.ts'
import { columnOf } from '../origin.ts'
import { queryFilters } from '../series/series-condition.ts'
import { dateInstant, isoInstant, micros } from '../time/dates.ts'
import type { EventsQuery } from './schema.ts'

/** Client clocks may be ahead: "now" includes events that were just sent. */
const slack = 5_000_000

/** The conditions in the query's own fields. */
export function* eventConditions(query: EventsQuery, env: QueryContext): Asking<Expr[]> {
  const ofPerson = query.personId == null ? [] : [yield* personCondition(String(query.personId))]
  return [...ofPerson, ...plainConditions(query, env)]
}

const plainConditions = (query: EventsQuery, env: QueryContext): Expr[] => [
  ...timeBounds(query, env),
  ...nameConditions(query),
  ...actionConditions(query, env),
  ...(query.fixedProperties ? [compileFilters(query.fixedProperties, 'event', env, 'fixedProperties')] : []),
  queryFilters(query, env),
]

/** Conditions as texts; they may hold aggregates, and aliases of the columns. */
export const writtenConditions = ({ where }: EventsQuery, env: QueryContext): Expr[] =>
  (where ?? []).flatMap((text, i) => (text.trim() === '' ? [] : [withoutAlias(columnOf(text, `where__${i}`, env))]))

function timeBounds({ after, before }: EventsQuery, env: QueryContext): Expr[] {
  const now = micros(env.now)
  const at = (text: string, attr: 'after' | 'before') => {
    const instant = dateInstant(text, now, calendarOf(env.project))
    if (instant !== null) return instant
    throw new QueryError('validation-failed', {
      message: `${JSON.stringify(text)} is not a date. Write 2026-01-31, 2026-01-31T08:00:00Z, or a relative time such as -24h or -7d.`,
      attr,
    })
  }
  const bound = (name: string, instant: number) => call(name, field('timestamp'), literal(isoInstant(instant, zoneOf('UTC'))))
  const until = bound('less', before ? at(before, 'before') : now + slack)
  return after === 'all' ? [until] : [bound('greater', at(after || '-24h', 'after')), until]
}

function nameConditions({ event, events }: EventsQuery): Expr[] {
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

function actionConditions({ actionId, actionSteps }: EventsQuery, env: QueryContext): Expr[] {
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
function* personCondition(id: string): Asking<Expr> {
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

/** Events of the persons, or of the groups, of a point of a chart. */
export function* sourceConditions(
  source: EventsQuery['source'],
  env: QueryContext,
  sources: readonly AnyActorSource[],
): Asking<readonly Expr[]> {
  if (!source) return []
  const { known, point } = checkSource(source, sources)
  const { query, group } = yield* insideSource(env, (inner) => known.actors(point, inner, () => false))
  const actors = select({ columns: [field('source', 'actor')], from: from(query, 'source') })
  return [inQuery(field(group === null ? '@person_no' : `$group_${group}`), actors)]
}
