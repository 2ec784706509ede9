import * as z from 'zod'
import { fields } from '../../fields.ts'
import { everyQuery } from '../../schemas.ts'
import { actionsNodeSchema, eventsNodeSchema, filtersSchema } from '../../series/series.ts'
import { funnelPointSchema } from '../actors.ts'

const correlationTypes = ['events', 'properties', 'event_with_properties'] as const
/** In the list of properties: every property that an actor has. */
export const allProperties = '$all'

const names = z.array(z.string()).max(1000).nullish()

export const correlationSchema = fields(
  {
    ...everyQuery,
    kind: z.literal('FunnelCorrelationQuery'),
    /** The funnel, and who of it is compared: by default all who entered. */
    source: funnelPointSchema,
    funnelCorrelationType: z.enum(correlationTypes),
    funnelCorrelationExcludeEventNames: names,
    /** Properties of persons, or of groups. */
    funnelCorrelationNames: names,
    funnelCorrelationExcludeNames: names,
    /** Events whose properties are compared. */
    funnelCorrelationEventNames: names,
    funnelCorrelationEventExcludePropertyNames: names,
  },
  'query',
).superRefine((query, context) => {
  const wrong = (message: string, ...path: string[]) => context.addIssue({ code: 'custom', message, path })
  const { funnelCorrelationType: type } = query
  if (type === 'properties' && !query.funnelCorrelationNames?.length)
    wrong(`List the properties to compare, or "${allProperties}".`, 'funnelCorrelationNames')
  if (type === 'event_with_properties' && !query.funnelCorrelationEventNames?.length)
    wrong('List the events whose properties are compared.', 'funnelCorrelationEventNames')
  if (query.source.funnelStepBreakdown != null)
    wrong('A correlation compares all values of a breakdown: leave it out.', 'source', 'funnelStepBreakdown')
})

export const correlationPointSchema = fields(
  {
    ...everyQuery,
    kind: z.literal('FunnelCorrelationActorsQuery'),
    source: correlationSchema,
    /** The event that they did, with its filters. */
    funnelCorrelationPersonEntity: z.discriminatedUnion('kind', [eventsNodeSchema, actionsNodeSchema]).nullish(),
    /** Filters of the person, or of the group. */
    funnelCorrelationPropertyValues: filtersSchema.nullish(),
    /** Null: whether they converted or not. */
    funnelCorrelationPersonConverted: z.boolean().nullish(),
    includeRecordings: z.boolean().nullish(),
  },
  'query',
)

export type CorrelationQuery = z.infer<typeof correlationSchema>
export type CorrelationPoint = z.infer<typeof correlationPointSchema>
