import * as z from 'zod'
import { freeSchema, notEnforcedSchema, timeSchema, uuidSchema } from './fields.ts'

export const shortProjectSchema = z.object({
  id: z.int(),
  uuid: uuidSchema,
  organization: uuidSchema,
  project_id: z.int(),
  api_token: z.string(),
  name: z.string(),
  completed_snippet_onboarding: z.boolean(),
  has_completed_onboarding_for: freeSchema,
  ingested_event: z.boolean(),
  is_demo: z.boolean(),
  timezone: z.string(),
  week_start_day: z.int().nullable(),
  access_control: z.boolean(),
})
export type ShortProjectAnswer = z.output<typeof shortProjectSchema>
export const organizationSchema = z.object({
  id: uuidSchema,
  name: z.string(),
  slug: z.string(),
  created_at: timeSchema,
  updated_at: timeSchema,
  membership_level: z.int().nullable(),
  plugins_access_level: z.int(),
  teams: z.array(shortProjectSchema),
  projects: z.array(z.object({ id: z.int(), organization_id: uuidSchema, name: z.string() })),
  available_product_features: z.array(freeSchema).nullable(),
  available_features: z.array(z.string()),
  is_member_join_email_enabled: z.boolean(),
  metadata: z.object({ instance_tag: z.string() }),
  customer_id: z.null().meta({ description: 'Always null: nothing is sold here, so there are no customers' }),
  enforce_2fa: z.boolean().nullable(),
  member_count: z.int(),
  not_enforced: notEnforcedSchema,
})
export type OrganizationAnswer = z.output<typeof organizationSchema>
