import * as z from 'zod'
import { freeSchema, timeSchema, uuidSchema } from './fields.ts'
import { userSchema } from './users.ts'

const columnSchema = z.object({
  key: z.string(),
  name: z.string(),
  type: z.string(),
  sql_type: z.string(),
  schema_valid: z.boolean(),
  fields: freeSchema,
  table: freeSchema,
  chain: freeSchema,
})
export const viewSchema = z.object({
  id: uuidSchema,
  name: z.string(),
  query: z.object({ kind: z.literal('HogQLQuery'), query: z.string() }),
  columns: z.array(columnSchema),
  created_by: userSchema.nullable(),
  created_at: timeSchema,
  updated_at: timeSchema,
  deleted: z.literal(false),
  status: z.null(),
  sync_frequency: z.null(),
  last_run_at: z.null(),
  latest_error: z.null(),
  is_materialized: z.literal(false),
})
export type ViewAnswer = z.output<typeof viewSchema>
