import * as z from 'zod'
import { QueryError } from '../../errors/errors.ts'
import { alias, field, from, literal, select } from '../../language/ast/build.ts'
import type { ActorList, ActorOptions, ActorSource, Asking } from '../actor-source.ts'
import { fields } from '../fields.ts'
import { along, given, type QueryContext } from '../kind.ts'
import { refuse } from '../refusals.ts'
import { everyQuery } from '../schemas.ts'
import { nodeName } from '../series/series-condition.ts'
import { noComparison, periodChoices, periods } from '../time/comparison.ts'
import { intervalLabel } from './index.ts'
import { comparisons, stickinessSchema } from './schema.ts'
import { activeIntervals, compared, isCumulative, unitsOf } from './unit.ts'

const point = {
  ...everyQuery,
  source: stickinessSchema,
  /** The number of intervals. */
  day: z.union([z.number().int(), z.string().regex(/^\d+$/)], { error: 'The day must be a number of intervals, from 1.' }).nullish(),
  series: z.number().int().min(0).nullish(),
  compare: z.enum(periods).nullish(),
  includeRecordings: z.boolean().nullish(),
}
export const stickinessPointSchema = fields({ ...point, kind: z.literal('InsightActorsQuery') }, 'query', ['point'])
export const stickinessActorsSchema = fields(
  {
    ...point,
    kind: z.literal('StickinessActorsQuery'),
    /** How the number of intervals compares with `day`. */
    operator: z.enum(comparisons).nullish(),
  },
  'query',
)
type StickinessPoint = z.infer<typeof stickinessPointSchema> | z.infer<typeof stickinessActorsSchema>

const wrong = (message: string, attr: string) => new QueryError('validation-failed', { message, attr: `source__${attr}` })

/** The actors with a number of intervals; without a number, all. */
function* actorsBehind(asked: StickinessPoint, env: QueryContext): Asking<ActorList> {
  const query = asked.source
  const order = asked.series ?? 0
  if (order >= query.series.length)
    throw wrong(`There is no series ${order}: the query has ${query.series.length} series, counted from 0.`, 'series')
  const period = asked.compare ?? 'current'
  if (period === 'previous' && !query.compareFilter?.compare) throw wrong(noComparison, 'compare')
  const units = yield* unitsOf(query, env)
  const unit = units.find((one) => one.order === order && one.period === period)
  if (unit?.kind === 'expression')
    throw wrong('A series that counts the values of an expression has no persons to list.', `source__series__${order}__math`)
  const columns = ['event_count']
  if (!unit) return { query: nobody, group: null, columns }
  const day = asked.day == null ? null : Number(asked.day)
  if (day !== null && (day < 1 || day > unit.size)) throw wrong(`The range has ${unit.size} intervals: there is no day ${day}.`, 'day')
  const operator = ('operator' in asked ? asked.operator : null) ?? (isCumulative(query) ? 'gte' : 'exact')
  const active = yield* along({
    label: 'actors of a stickiness',
    lists: () => refuse('no-fold', 'the actors of a stickiness'),
    statement: () =>
      given(
        select({
          columns: [field('actor'), field('event_count')],
          from: from(activeIntervals(unit, query), 'active'),
          where: day === null ? literal(true) : compared(field('intervals'), operator, day),
        }),
      ),
  })
  return { query: active, group: unit.group, columns }
}

/** A series whose action was removed counts nobody. */
const nobody = select({ columns: [alias(literal(0), 'actor'), alias(literal(0), 'event_count')], where: literal(false) })

function* optionsOf({ source: query }: StickinessPoint, env: QueryContext): Asking<ActorOptions> {
  const units = yield* unitsOf(query, env)
  const size = units[0]?.size ?? 0
  return {
    day: Array.from({ length: size }, (_, i) => ({ label: intervalLabel(i + 1, query), value: String(i + 1) })),
    series: query.series.map((node, i) => ({ label: nodeName(node, env) ?? 'All events', value: i })),
    ...(query.compareFilter?.compare && { compare: periodChoices }),
  }
}

const source = { kind: 'StickinessQuery', actors: actorsBehind, options: optionsOf }
export const stickinessInsightActors: ActorSource<typeof stickinessPointSchema> = {
  ...source,
  wrapper: 'InsightActorsQuery',
  schema: stickinessPointSchema,
}
export const stickinessActors: ActorSource<typeof stickinessActorsSchema> = {
  ...source,
  wrapper: 'StickinessActorsQuery',
  schema: stickinessActorsSchema,
}
