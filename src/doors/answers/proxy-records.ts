import * as z from 'zod'
import { timeSchema, uuidSchema } from './fields.ts'

export const proxyRecordSchema = z.object({
  id: uuidSchema,
  domain: z.string(),
  target_cname: z.string(),
  status: z.enum(['waiting', 'issuing', 'valid', 'warning', 'erroring', 'timed_out', 'deleting']),
  message: z.string().nullable(),
  created_at: timeSchema,
  updated_at: timeSchema,
  created_by: z.int().nullable(),
})
export type ProxyRecordAnswer = z.output<typeof proxyRecordSchema>
