import * as z from 'zod'
import { fields } from '../fields.ts'
import { everyQuery } from '../schemas.ts'
import { filtersSchema } from '../series/series.ts'

export const actorsSchema = fields(
  {
    ...everyQuery,
    kind: z.literal('ActorsQuery'),
    source: z.looseObject({ kind: z.string() }).nullish(),
    select: z.array(z.string()).min(1).nullish(),
    search: z.string().nullish(),
    properties: filtersSchema.nullish(),
    fixedProperties: filtersSchema.nullish(),
    orderBy: z.array(z.string()).nullish(),
    limit: z.number().int().min(1).nullish(),
    offset: z.number().int().min(0).nullish(),
  },
  'query',
)
export type ActorsQuery = z.infer<typeof actorsSchema>

export const optionsSchema = fields(
  { ...everyQuery, kind: z.literal('InsightActorsQueryOptions'), source: z.looseObject({ kind: z.string() }) },
  'query',
)
export type OptionsQuery = z.infer<typeof optionsSchema>
