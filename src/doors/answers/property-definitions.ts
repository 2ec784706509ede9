import * as z from 'zod'
import { notesSchema } from './definition-fields.ts'
import { timeSchema, uuidSchema } from './fields.ts'

export const propertyTypes = ['Numeric', 'String', 'Boolean', 'DateTime'] as const
export const kinds = ['event', 'person', 'group'] as const
export const definitionSchema = z.object({
  id: uuidSchema,
  name: z.string(),
  type: z.enum(kinds),
  group_type_index: z.int().nullable(),
  property_type: z.enum(propertyTypes).nullable().meta({ description: 'The declared type; null: each value keeps its own type' }),
  is_numerical: z.boolean().meta({ description: 'Declared as a number, or all values that were sent are numbers' }),
  ...notesSchema,
  count: z.int().meta({ description: 'Number of values received' }),
  counts: z.object({
    numeric: z.int(),
    numeric_text: z.int().meta({ description: 'Texts that are numeric' }),
    text: z.int(),
    boolean: z.int(),
    time: z.int(),
    other: z.int(),
  }),
  created_at: timeSchema.nullable(),
  last_seen_at: timeSchema.nullable(),
  is_seen_on_filtered_events: z
    .boolean()
    .nullable()
    .meta({ description: 'With `event_names`: whether one of the latest events of these names has it; otherwise null' }),
})
export type PropertyDefinitionAnswer = z.output<typeof definitionSchema>
export const detailSchema = definitionSchema.extend({
  top_values: z
    .array(z.object({ value: z.unknown(), count: z.int() }))
    .nullable()
    .meta({ description: 'The ten most frequent values; null for keys without `query:read`' }),
})
export type PropertyDetailAnswer = z.output<typeof detailSchema>

export const valuesSchema = z.array(
  z.object({ name: z.string().meta({ description: 'The value as text; lists and objects as JSON' }), count: z.int() }),
)
export type PropertyValuesAnswer = z.output<typeof valuesSchema>
export type PropertyValueAnswer = PropertyValuesAnswer[number]
