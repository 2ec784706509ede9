import * as z from 'zod'
import { fields } from '../fields.ts'
import { everyQuery } from '../schemas.ts'

export const mostViewerFilters = 20
export const mostPersonProperties = 50

export const viewerSchema = fields(
  {
    kind: z.literal('ViewerQuery'),
    /** Property filters, all of which an event must meet. */
    filter: z.array(z.unknown()).min(1).max(mostViewerFilters),
    /** Properties of persons that `source` may read, and those that lists of people show. */
    personProperties: z.array(z.string().min(1)).max(mostPersonProperties).nullish(),
    /** `source` was not written by the viewer, and reads the persons, groups and cohorts of its events. */
    mayJoin: z.boolean().nullish(),
    source: z.looseObject({ kind: z.string() }),
    explain: everyQuery.explain,
  },
  'query',
  ['query'],
)
export type ViewerQuery = z.output<typeof viewerSchema>
