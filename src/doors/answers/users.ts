import * as z from 'zod'
import { freeSchema, type Known, timeSchema, uuidSchema } from './fields.ts'
import { organizationSchema, shortProjectSchema } from './organizations.ts'
import { organizationsSchema } from './two-factor.ts'

export const userSchema = z.object({
  id: z.int(),
  uuid: uuidSchema,
  distinct_id: z.string(),
  first_name: z.string(),
  last_name: z.string(),
  email: z.string().meta({ format: 'email' }),
  is_email_verified: z.boolean().nullable(),
  mascot_config: z.null().meta({ description: 'Always null: there are no mascots here' }),
})
export type UserAnswer = z.output<typeof userSchema>
export const meSchema = z.looseObject({
  id: z.int(),
  uuid: uuidSchema,
  distinct_id: z.string(),
  first_name: z.string(),
  last_name: z.string(),
  email: z.string(),
  pending_email: z.string().nullable(),
  is_email_verified: z.boolean().nullable(),
  has_password: z.boolean(),
  issuer: z.string().nullable().meta({ description: 'The application that signs the user in; null: an account with a password' }),
  is_staff: z.boolean(),
  is_impersonated: z.boolean().nullable(),
  team: shortProjectSchema.nullable(),
  organization: organizationSchema.nullable(),
  organizations: z.array(z.object({ id: uuidSchema, name: z.string(), slug: z.string(), membership_level: z.int().nullable() })),
  scene_personalisation: z.array(freeSchema),
  is_2fa_enabled: z.boolean(),
  has_social_auth: z.boolean(),
  date_joined: timeSchema,
})
export type MeAnswer = Known<z.output<typeof meSchema>>
export const sessionSchema = z.object({
  id: z.string(),
  is_current: z.boolean(),
  user_agent: z.string().nullable().meta({ description: 'Name of the browser, from its user agent' }),
  address: z.string().nullable().meta({ description: 'Network address from which it began' }),
  created_at: timeSchema,
  expires_at: timeSchema,
})
export type SignInAnswer = z.output<typeof sessionSchema>

export const currentSchema = z.object({
  user: meSchema.nullable(),
  projects: z.array(shortProjectSchema),
  has_more_projects: z.boolean(),
  must_set_up_2fa: z
    .boolean()
    .meta({ description: 'Every organization of the user requires a second factor, and there is none: only setting one up is open' }),
  requires_2fa: organizationsSchema.meta({
    description: 'Organizations that show nothing to the user until there is a second factor',
  }),
})
export type SessionAnswer = z.output<typeof currentSchema>
