import * as z from 'zod'
import { fields } from './fields.ts'
import type { FiltersInput } from './filters/schema.ts'

// The nodes of `series`: which events count, and the math over them. Shared by the kinds with series.

const actorCounts = ['avg', 'min', 'max', 'median', 'p75', 'p90', 'p95', 'p99'] as const

export const propertyMaths = ['sum', 'avg', 'min', 'max', 'median', 'p75', 'p90', 'p95', 'p99'] as const
export const countPerActorMaths = actorCounts.map((name) => `${name}_count_per_actor` as const)
export const firstTimeMaths = ['first_time_for_user', 'first_matching_event_for_user', 'first_time_for_user_with_filters'] as const
export const rollingMaths = ['weekly_active', 'monthly_active'] as const

export const maths = [
  'total',
  'dau',
  ...rollingMaths,
  'unique_session',
  'unique_group',
  ...firstTimeMaths,
  ...propertyMaths,
  ...countPerActorMaths,
  'hogql',
] as const
export type Math = (typeof maths)[number]

export const mathSchema = z.enum(maths)

export const groupTypeIndex = z.number().int().min(0).max(4)

/** Filters are validated where they are compiled. */
export const filtersSchema = z.union([z.array(z.unknown()), z.looseObject({})], {
  error: 'Filters are a list, or a group with type and values.',
}) as unknown as z.ZodType<FiltersInput, FiltersInput>

const shared = {
  name: z.string().nullish(),
  custom_name: z.string().nullish(),
  math: mathSchema.nullish(),
  math_multiplier: z.number().nullish(),
  math_property: z.string().nullish(),
  math_property_type: z.string().nullish(),
  math_property_revenue_currency: fields({ static: z.string().nullish(), property: z.string().nullish() }, 'range').nullish(),
  math_hogql: z.string().nullish(),
  math_group_type_index: groupTypeIndex.nullish(),
  properties: filtersSchema.nullish(),
  fixedProperties: filtersSchema.nullish(),
  optionalInFunnel: z.boolean().nullish(),
}

export const eventsNodeFields = { kind: z.literal('EventsNode'), event: z.string().nullish(), ...shared }
export const actionsNodeFields = {
  kind: z.literal('ActionsNode'),
  id: z.number({ error: 'An action is given by its numeric id.' }).int(),
  ...shared,
}
export const eventsNodeSchema = fields(eventsNodeFields, 'node')
export const actionsNodeSchema = fields(actionsNodeFields, 'node')
export const groupNodeSchema = fields(
  {
    kind: z.literal('GroupNode'),
    operator: z.enum(['AND', 'OR']),
    nodes: z.array(z.discriminatedUnion('kind', [eventsNodeSchema, actionsNodeSchema])).min(1),
    ...shared,
  },
  'node',
)

export const seriesNodeSchema = z.discriminatedUnion('kind', [eventsNodeSchema, actionsNodeSchema, groupNodeSchema], {
  error: 'A series is an EventsNode, an ActionsNode or a GroupNode.',
})

export type EventsNode = z.infer<typeof eventsNodeSchema>
export type ActionsNode = z.infer<typeof actionsNodeSchema>
export type GroupNode = z.infer<typeof groupNodeSchema>
export type SeriesNode = z.infer<typeof seriesNodeSchema>
