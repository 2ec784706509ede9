import * as z from 'zod'
import { fields } from '../fields.ts'
import { actionStepSchema } from '../filters/action-definition.ts'
import { everyQuery } from '../schemas.ts'
import { filtersSchema } from '../series/series.ts'

const expressions = z.array(z.string())
const count = z.number().int().min(0)

export const eventsSchema = fields(
  {
    ...everyQuery,
    kind: z.literal('EventsQuery'),
    select: expressions.min(1),
    where: expressions.nullish(),
    properties: filtersSchema.nullish(),
    fixedProperties: filtersSchema.nullish(),
    filterTestAccounts: z.boolean().nullish(),
    event: z.string().nullish(),
    events: z.array(z.string()).nullish(),
    actionId: z.number({ error: 'An action is identified by its numeric id.' }).int().nullish(),
    actionSteps: z.array(actionStepSchema).nullish(),
    personId: z.union([z.string(), z.number()]).nullish(),
    /** A point of a chart: only events of its persons. */
    source: z.looseObject({ kind: z.string() }).nullish(),
    after: z.string().nullish(),
    before: z.string().nullish(),
    orderBy: expressions.nullish(),
    limit: count.nullish(),
    offset: count.nullish(),
  },
  'query',
)

export type EventsQuery = z.infer<typeof eventsSchema>
