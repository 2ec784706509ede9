import { z } from 'zod'
import { filtersSchema } from '../series.ts'

export const actorsSchema = z.looseObject({
  kind: z.literal('ActorsQuery'),
  source: z.looseObject({ kind: z.string() }).nullish(),
  select: z.array(z.string()).min(1).nullish(),
  search: z.string().nullish(),
  properties: filtersSchema.nullish(),
  fixedProperties: filtersSchema.nullish(),
  orderBy: z.array(z.string()).nullish(),
  limit: z.number().int().min(1).nullish(),
  offset: z.number().int().min(0).nullish(),
})
export type ActorsQuery = z.infer<typeof actorsSchema>

export const optionsSchema = z.looseObject({
  kind: z.literal('InsightActorsQueryOptions'),
  source: z.looseObject({ kind: z.string() }),
})
export type OptionsQuery = z.infer<typeof optionsSchema>
