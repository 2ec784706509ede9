import * as z from 'zod'
import { field, inQuery, order, select, table } from '../../language/ast/build.ts'
import type { Expr } from '../../language/ast/nodes.ts'
import { isSessionId } from '../../language/catalog/sessions.ts'
import { withoutAlias } from '../columns.ts'
import { fields } from '../fields.ts'
import { actionConditions, nameConditions, personCondition, timeBounds } from '../filters/listed-events.ts'
import { compileFilters } from '../filters/property-filters.ts'
import type { QueryContext, QueryKind, QueryRun } from '../kind.ts'
import { columnOf, orderOf } from '../origin.ts'
import { everyQuery } from '../schemas.ts'
import { filtersSchema } from '../series/series.ts'
import { allOf, queryFilters } from '../series/series-condition.ts'
import { pageOfRows, type RowsAnswer } from './page.ts'

// Sessions that began in a time, the latest first.

const expressions = z.array(z.string())
const sessionsSchema = fields(
  {
    ...everyQuery,
    kind: z.literal('SessionsQuery'),
    select: expressions.min(1),
    where: expressions.nullish(),
    /** About the session. */
    properties: filtersSchema.nullish(),
    /** Sessions with an event that meets all of these. */
    event: z.string().nullish(),
    actionId: z.number({ error: 'An action is identified by its numeric id.' }).int().nullish(),
    eventProperties: filtersSchema.nullish(),
    filterTestAccounts: z.boolean().nullish(),
    personId: z.union([z.string(), z.number()]).nullish(),
    after: z.string().nullish(),
    before: z.string().nullish(),
    orderBy: expressions.nullish(),
    limit: z.number().int().min(0).nullish(),
    offset: z.number().int().min(0).nullish(),
  },
  'query',
)
type SessionsQuery = z.output<typeof sessionsSchema>

/** Of the events that a session must have one of; empty: it need not have any. */
function* ofEvents(query: SessionsQuery, env: QueryContext): QueryRun<readonly Expr[]> {
  const { event, actionId, eventProperties, filterTestAccounts, personId } = query
  return [
    ...nameConditions({ event }),
    ...actionConditions({ actionId }, env),
    ...(eventProperties ? [compileFilters(eventProperties, 'event', env, 'eventProperties')] : []),
    ...(filterTestAccounts ? [queryFilters({ filterTestAccounts }, env)] : []),
    ...(personId == null ? [] : [yield* personCondition(String(personId))]),
  ]
}

function* run(query: SessionsQuery, env: QueryContext): QueryRun<RowsAnswer> {
  const began = timeBounds(query, env, '$start_timestamp')
  const conditions = yield* ofEvents(query, env)
  const sessions = select({
    columns: [field('$session_id')],
    from: table('events'),
    // No event is earlier than the beginning of its session.
    where: allOf(isSessionId(field('$session_id')), ...timeBounds({ after: query.after, before: null }, env).slice(0, -1), ...conditions),
  })
  return yield* pageOfRows(
    {
      label: 'sessions',
      names: query.select,
      columns: query.select.map((label, i) => columnOf(label, `select__${i}`, env)),
      from: table('sessions'),
      where: allOf(
        ...began,
        ...(query.properties ? [compileFilters(query.properties, 'session', env)] : []),
        ...(query.where ?? []).flatMap((text, i) => (text.trim() === '' ? [] : [withoutAlias(columnOf(text, `where__${i}`, env))])),
        ...(conditions.length > 0 ? [inQuery(field('session_id'), sessions)] : []),
      ),
      orderBy: [
        ...(query.orderBy?.length
          ? query.orderBy.map((text, i) => orderOf(text, `orderBy__${i}`, env))
          : [order(field('$start_timestamp'), 'desc')]),
        order(field('session_id')),
      ],
      limit: query.limit,
      offset: query.offset,
    },
    env,
  )
}

export const sessionsKind: QueryKind<'SessionsQuery', typeof sessionsSchema, RowsAnswer> = {
  kind: 'SessionsQuery',
  schema: sessionsSchema,
  run,
}
