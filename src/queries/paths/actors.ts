import * as z from 'zod'
import { QueryError } from '../../errors/errors.ts'
import { alias, and, call, equals, field, from, groupBy, literal, select } from '../../language/ast/build.ts'
import type { Expr, Query, Select } from '../../language/ast/nodes.ts'
import type { ActorList, ActorSource, Asking } from '../actor-source.ts'
import { fields } from '../fields.ts'
import type { FunnelSteps } from '../funnel-steps.ts'
import { along, given, type QueryRun } from '../kind.ts'
import { refuse } from '../refusals.ts'
import { everyQuery } from '../schemas.ts'
import { noComparison, periodChoices, periods } from '../time/comparison.ts'
import { foldedSteps } from './in-engine.ts'
import { filterOf, pathsPeriods, planPaths } from './plan.ts'
import { type PathsFilter, pathsSchema } from './schema.ts'
import { keyOf, windowedSteps } from './statement.ts'

/** The keys in its filter select the actors. */
export const pathsPointSchema = fields(
  {
    ...everyQuery,
    kind: z.literal('InsightActorsQuery'),
    source: pathsSchema,
    compare: z.enum(periods).nullish(),
    includeRecordings: z.boolean().nullish(),
  },
  'query',
  ['point'],
)

/** The actors of an edge, of an item, or of all paths. `event_count` is the number of their paths. */
export const pathsActors = (funnelSteps: FunnelSteps): ActorSource<typeof pathsPointSchema> => ({
  wrapper: 'InsightActorsQuery',
  kind: 'PathsQuery',
  schema: pathsPointSchema,
  *actors({ source, compare }, env): Asking<ActorList> {
    const periods = yield* pathsPeriods(source, env)
    const asked = periods.find(({ period }) => period === (compare ?? 'current'))
    if (!asked)
      throw new QueryError('validation-failed', {
        message: noComparison,
        attr: 'source__compare',
      })
    const plan = yield* planPaths(source, asked, env, funnelSteps)
    const actorsIn = (steps: Select): QueryRun<Query> =>
      given(
        select({
          columns: [field('actor'), alias(call('count'), 'event_count')],
          from: from(steps, 'path_steps'),
          where: isAsked(filterOf(source)),
          groupBy: groupBy(field('actor')),
        }),
      )
    const query = yield* along<Query>({
      label: 'actors of paths',
      lists: () => refuse('no-fold', 'the actors of paths'),
      engine: () => actorsIn(foldedSteps(plan)),
      statement: () => actorsIn(windowedSteps(plan, { withLength: true })),
    })
    return { query, group: plan.group, columns: ['event_count'] }
  },
  *options({ source }, env) {
    const periods = yield* pathsPeriods(source, env)
    return periods.length > 1 ? { compare: periodChoices } : {}
  },
})

function isAsked({ pathDropoffKey, pathStartKey, pathEndKey }: PathsFilter): Expr {
  const [step, item] = [field('step'), field('item')]
  const hasKey = (key: string) => equals(keyOf(step, item), literal(key))
  if (pathDropoffKey) return and(hasKey(pathDropoffKey), equals(step, field('steps')))
  const isFrom = (key: string) =>
    and(call('greater', step, literal(1)), equals(keyOf(call('minus', step, literal(1)), field('source')), literal(key)))
  const conditions = [...(pathStartKey ? [isFrom(pathStartKey)] : []), ...(pathEndKey ? [hasKey(pathEndKey)] : [])]
  return conditions.length > 0 ? and(...conditions) : equals(step, literal(1))
}
