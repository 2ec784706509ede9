import * as z from 'zod'
import { fields } from '../fields.ts'
import { everyQuery } from '../schemas.ts'
import { groupTypeIndex } from '../series/series.ts'

const nullish = <T extends z.ZodType>(schema: T) => schema.nullish()

const mostProperties = 200
const names = z.array(z.string()).max(mostProperties)
const maxPropertyValues = nullish(z.number().int().min(1).max(100))

export const teamTaxonomySchema = fields(
  {
    ...everyQuery,
    kind: z.literal('TeamTaxonomyQuery'),
    limit: nullish(z.number().int().min(1).max(1000)),
    offset: nullish(z.number().int().min(0)),
  },
  'query',
)
export type TeamTaxonomyQuery = z.infer<typeof teamTaxonomySchema>

export const eventTaxonomySchema = fields(
  {
    ...everyQuery,
    kind: z.literal('EventTaxonomyQuery'),
    event: nullish(z.string()),
    actionId: nullish(z.number().int()),
    /** Only these; default all that its latest events have. */
    properties: nullish(names),
    maxPropertyValues,
  },
  'query',
)
export type EventTaxonomyQuery = z.infer<typeof eventTaxonomySchema>

export const actorsTaxonomySchema = fields(
  {
    ...everyQuery,
    kind: z.literal('ActorsPropertyTaxonomyQuery'),
    properties: names.min(1, { error: 'Name at least one property.' }),
    /** Of groups of this type; default persons. */
    groupTypeIndex: nullish(groupTypeIndex),
    maxPropertyValues,
  },
  'query',
)
export type ActorsPropertyTaxonomyQuery = z.infer<typeof actorsTaxonomySchema>
