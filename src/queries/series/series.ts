import * as z from 'zod'
import { fields } from '../fields.ts'
import type { FiltersInput } from '../filters/schema.ts'
import { maths } from './maths.ts'

// The nodes of `series`: which events count, and the math over them. Shared by the kinds with series.

const mathSchema = z.enum(maths)

export const groupTypeIndex = z.number().int().min(0).max(4)

/** Filters are validated where they are compiled. */
export const filtersSchema = z.union([z.array(z.unknown()), z.looseObject({})], {
  error: 'Filters must be a list, or a group with type and values.',
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
  id: z.number({ error: 'An action is identified by its numeric id.' }).int(),
  ...shared,
}
export const eventsNodeSchema = fields(eventsNodeFields, 'node')
export const actionsNodeSchema = fields(actionsNodeFields, 'node')
const groupNodeSchema = fields(
  {
    kind: z.literal('GroupNode'),
    operator: z.enum(['AND', 'OR']),
    nodes: z.array(z.discriminatedUnion('kind', [eventsNodeSchema, actionsNodeSchema])).min(1),
    ...shared,
  },
  'node',
)

export const seriesNodeSchema = z.discriminatedUnion('kind', [eventsNodeSchema, actionsNodeSchema, groupNodeSchema], {
  error: 'A series must be an EventsNode, an ActionsNode or a GroupNode.',
})

export type EventsNode = z.infer<typeof eventsNodeSchema>
export type ActionsNode = z.infer<typeof actionsNodeSchema>
export type GroupNode = z.infer<typeof groupNodeSchema>
export type SeriesNode = z.infer<typeof seriesNodeSchema>
