import * as z from 'zod'
import { freeSchema, type Known, timeSchema, uuidSchema } from './fields.ts'

const quotaSchema = z.object({
  limit: z.int().nullable().meta({ description: 'The lower one of the limits of operator and owner; null: no limit' }),
  taken: z.int(),
  resets_at: timeSchema,
})
export const projectSchema = z.looseObject({
  id: z.int(),
  organization: uuidSchema,
  name: z.string(),
  uuid: uuidSchema,
  api_token: z.string(),
  created_at: timeSchema,
  updated_at: timeSchema,
  ingested_event: z.boolean(),
  is_demo: z.boolean(),
  timezone: z.string(),
  week_start_day: z.int().nullable(),
  access_control: z.boolean(),
  base_currency: z.string(),
  anonymize_ips: z.boolean(),
  person_display_name_properties: z.array(z.string()).nullable(),
  test_account_filters: z.array(freeSchema),
  test_account_filters_default_checked: z.boolean().nullable(),
  path_cleaning_filters: z.array(z.object({ regex: z.string().nullish(), alias: z.string().nullish() })).nullable(),
  app_urls: z.array(z.string().nullable()),
  autocapture_opt_out: z.boolean().nullable(),
  capture_performance_opt_in: z.boolean().nullable(),
  autocapture_web_vitals_opt_in: z.boolean().nullable(),
  autocapture_exceptions_opt_in: z.boolean().nullable(),
  heatmaps_opt_in: z.boolean().nullable(),
  capture_dead_clicks: z.boolean().nullable(),
  daily_event_limit: z.int().nullable(),
  data_retention: z
    .object({
      events_months: z.int().nullish(),
      event_names: z
        .record(z.string(), z.int().nullable())
        .nullish()
        .meta({ description: 'Events of these names, instead of `events_months`' }),
      persons_months: z.int().nullish().meta({ description: 'Persons who have no events any more, after the last one' }),
    })
    .nullable()
    .meta({ description: 'How many months the project keeps what; null: for ever' }),
  effective_membership_level: z.int().nullable(),
  has_group_types: z.boolean(),
  group_types: z.array(freeSchema),
  event_quota: quotaSchema.meta({ description: 'Events of clients on this day, in UTC' }),
})
export type ProjectAnswer = Known<z.output<typeof projectSchema>>
