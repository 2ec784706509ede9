import * as z from 'zod'
import { annotationScopes } from '../../service/saved/annotation-scopes.ts'
import { timeSchema } from './fields.ts'
import { userSchema } from './users.ts'

export const annotationSchema = z.object({
  id: z.int(),
  content: z.string().nullable(),
  date_marker: timeSchema.nullable(),
  scope: z.enum(annotationScopes),
  creation_type: z.string(),
  dashboard_id: z.int().nullable(),
  dashboard_name: z.string().nullable(),
  dashboard_item: z.int().nullable(),
  insight_short_id: z.string().nullable(),
  insight_name: z.string().nullable(),
  insight_derived_name: z.string().nullable(),
  deleted: z.boolean(),
  created_at: timeSchema,
  created_by: userSchema.nullable(),
  updated_at: timeSchema,
})
export type AnnotationAnswer = z.output<typeof annotationSchema>
