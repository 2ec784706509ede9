import * as z from 'zod'
import { timeSchema, uuidSchema } from './fields.ts'
import { userSchema } from './users.ts'

export const membershipSchema = z.object({
  id: uuidSchema,
  role_id: uuidSchema,
  user: userSchema.nullable(),
  joined_at: timeSchema,
  updated_at: timeSchema,
})
export type RoleMembershipAnswer = z.output<typeof membershipSchema>
export const roleSchema = z.object({
  id: uuidSchema,
  name: z.string(),
  feature_flags_access_level: z.int(),
  created_at: timeSchema,
  created_by: userSchema.nullable(),
  members: z.array(membershipSchema),
  from_domain: z
    .string()
    .nullable()
    .meta({ description: 'The domain whose identity provider has made the role by SCIM, and changes it; null: none' }),
  associated_flags: z.array(z.object({ id: z.int(), key: z.string() })),
})
export type RoleAnswer = z.output<typeof roleSchema>
