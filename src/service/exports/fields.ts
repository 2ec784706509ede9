import * as z from 'zod'
import { tokenLength } from '../../limits/bounds.ts'
import { choice, flag, jsonList, jsonObject, text, time } from '../accounts/fields.ts'
import { destinations } from './destinations/registry.ts'
import { models } from './ports.ts'
import { intervals } from './running/schedule.ts'

// What requests about batch exports may send.

const types = [...destinations.keys()] as [string, ...string[]]
const query = () => text({ size: 'statement', blank: true }).nullable().optional()

const destinationInput = z.object({ type: choice(types), config: jsonObject('config') }, { error: 'Expected an object.' })

const written = {
  name: text({ max: 400 }),
  destination: destinationInput,
  interval: choice(intervals),
  model: choice(models).optional(),
  paused: flag().optional(),
  last_paused_at: time().nullable().optional(),
  start_at: time().nullable().optional(),
  end_at: time().nullable().optional(),
  sql_like_query: query(),
  /** The name of older clients. */
  hogql_query: query(),
  filters: jsonList('config').nullable().optional(),
}

export const batchExportInput = z.object(written)
export const batchExportChange = batchExportInput.partial()
export type BatchExportInput = z.infer<typeof batchExportInput>
export type BatchExportChange = z.infer<typeof batchExportChange>

/** As they are sent. */
export type GivenExport = z.input<typeof batchExportInput>
export type GivenExportChange = z.input<typeof batchExportChange>

/** The query under either name; undefined if it was not sent, null to remove it. */
export const queryOf = ({ sql_like_query, hogql_query }: BatchExportChange): string | null | undefined => {
  const given = sql_like_query === undefined ? hogql_query : sql_like_query
  return given === '' ? null : given
}

/** The field that it was sent in. */
export const queryField = ({ sql_like_query }: BatchExportChange): string =>
  sql_like_query === undefined ? 'hogql_query' : 'sql_like_query'

export const unpauseInput = z.object({ backfill: flag().optional() })

/** Read by `readBackfill`: the messages about times are not those of other fields. */
export const backfillInput = z.object({
  start_at: z.string().max(tokenLength).nullable().optional(),
  end_at: z.string().max(tokenLength).nullable().optional(),
})
export type GivenBackfill = z.input<typeof backfillInput>
