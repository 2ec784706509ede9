import * as z from 'zod'

export const valuesSchema = z.array(
  z.object({ name: z.string().meta({ description: 'The value as text; lists and objects as JSON' }), count: z.int() }),
)
export type PropertyValuesAnswer = z.output<typeof valuesSchema>
export type PropertyValueAnswer = PropertyValuesAnswer[number]
