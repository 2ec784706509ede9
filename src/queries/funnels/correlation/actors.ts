import { QueryError } from '../../../errors/errors.ts'
import { alias, call, equals, field, from, groupBy, literal, select } from '../../../language/ast/build.ts'
import type { Expr } from '../../../language/ast/nodes.ts'
import { type ActorList, type ActorSource, type Asking, readInField } from '../../actor-source.ts'
import type { QueryContext } from '../../kind.ts'
import { nodeCondition } from '../../series/series-condition.ts'
import { membersOf } from './members.ts'
import { type CorrelationPoint, correlationPointSchema } from './schema.ts'
import { eventsOf } from './statement.ts'

export const correlationActors: ActorSource<typeof correlationPointSchema> = {
  wrapper: 'FunnelCorrelationActorsQuery',
  kind: 'FunnelCorrelationQuery',
  schema: correlationPointSchema,
  *actors(point: CorrelationPoint, env: QueryContext): Asking<ActorList> {
    const { source, funnelCorrelationPropertyValues: values, funnelCorrelationPersonEntity: entity } = point
    const isOfProperties = source.funnelCorrelationType === 'properties'
    if (isOfProperties && !values) throw missing('Set the filters of the property.', 'funnelCorrelationPropertyValues')
    if (!isOfProperties && !entity) throw missing('Set the event that the persons had.', 'funnelCorrelationPersonEntity')
    const asked = isOfProperties ? { ...source.source, source: narrowed(source.source.source, values) } : source.source
    const members = yield* membersOf(asked, env)
    const rows = isOfProperties ? members.query : eventsOf(members, [], conditionOf(entity!, env), env)
    const converted = point.funnelCorrelationPersonConverted
    const query = select({
      columns: [field('actor'), alias(call('max', field('converted')), 'has_converted')],
      from: from(rows, 'rows_found'),
      where: converted == null ? null : equals(field('converted'), literal(converted ? 1 : 0)),
      groupBy: groupBy(field('actor')),
    })
    return { query, group: members.group, columns: ['has_converted'] }
  },
}

const missing = (message: string, attr: string) => new QueryError('validation-failed', { message, attr: `source__${attr}` })

/** The entity is in the same object as the correlation. */
const conditionOf = (entity: NonNullable<CorrelationPoint['funnelCorrelationPersonEntity']>, env: QueryContext): Expr =>
  readInField('source', { ...env, fieldPrefix: '' }, (inner) => nodeCondition(entity, inner, 'funnelCorrelationPersonEntity'))

type Funnel = CorrelationPoint['source']['source']['source']

/** Only events of actors with these properties. */
const narrowed = (funnel: Funnel, values: CorrelationPoint['funnelCorrelationPropertyValues']): Funnel => ({
  ...funnel,
  properties: { type: 'AND', values: [...listOf(funnel.properties), ...listOf(values)] } as unknown as Funnel['properties'],
})
const listOf = (filters: unknown): readonly unknown[] =>
  filters == null ? [] : [Array.isArray(filters) ? { type: 'AND', values: filters as unknown[] } : filters]
