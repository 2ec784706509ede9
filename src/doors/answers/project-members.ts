import * as z from 'zod'
import { timeSchema, uuidSchema } from './fields.ts'
import { userSchema } from './users.ts'

export const projectMemberSchema = z.object({
  id: uuidSchema,
  user: userSchema,
  level: z.int(),
  parent_level: z.int().meta({ description: 'The level in the organization' }),
  parent_membership_id: uuidSchema,
  effective_level: z.int(),
  joined_at: timeSchema,
  updated_at: timeSchema,
})
export type ProjectMemberAnswer = z.output<typeof projectMemberSchema>

export const projectRoleSchema = z.object({
  id: uuidSchema,
  role_id: uuidSchema,
  name: z.string(),
  level: z.int(),
  created_at: timeSchema,
  updated_at: timeSchema,
})
export type ProjectRoleAnswer = z.output<typeof projectRoleSchema>
