import * as z from 'zod'
import { QueryError } from '../../errors/errors.ts'
import type { ActorSource } from '../actor-source.ts'
import { fields } from '../fields.ts'
import { listedActors } from '../lists/listed-actors.ts'
import { everyQuery } from '../schemas.ts'
import { bucketDay, bucketEdges, bucketLabel } from '../time/buckets.ts'
import { dateInstant, micros } from '../time/dates.ts'
import { lifecycleOf } from './activity.ts'
import { lifecycleSchema, statuses } from './schema.ts'

export const lifecyclePointSchema = fields(
  {
    ...everyQuery,
    kind: z.literal('InsightActorsQuery'),
    source: lifecycleSchema,
    day: z.string().nullish(),
    status: z.enum(statuses).nullish(),
    includeRecordings: z.boolean().nullish(),
  },
  'query',
  ['point'],
)

/** The actors with a status on a day; without a day or a status, any. */
export const lifecycleActors: ActorSource<typeof lifecyclePointSchema> = {
  wrapper: 'InsightActorsQuery',
  kind: 'LifecycleQuery',
  schema: lifecyclePointSchema,
  *actors(point, env) {
    const { range, found } = yield* lifecycleOf(point.source, env)
    let bucket: number | null = null
    if (point.day != null) {
      const day = dateInstant(point.day, micros(env.now), range.calendar)
      if (day === null)
        throw new QueryError('validation-failed', {
          message: `${JSON.stringify(point.day)} is not a day of the chart.`,
          attr: 'source__day',
        })
      bucket = bucketEdges(range).findLastIndex((edge) => edge <= day)
    }
    const isWanted = (row: (typeof found)[number]) =>
      (bucket === null || row.bucket === bucket) && (point.status == null || row.status === point.status)
    const actors = new Set(found.filter(isWanted).map(({ actor }) => actor))
    return { query: listedActors([...actors]), group: point.source.aggregation_group_type_index ?? null, columns: [] }
  },
  *options(point, env) {
    const { range } = yield* lifecycleOf(point.source, env)
    const days = bucketEdges(range).slice(0, -1)
    return {
      day: days.map((start) => ({ label: bucketLabel(start, range), value: bucketDay(start, range) })),
      status: [...statuses].sort().map((status) => ({ label: status[0]!.toUpperCase() + status.slice(1), value: status })),
    }
  },
}
