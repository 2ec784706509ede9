import * as z from 'zod'
import { freeSchema, timeSchema, uuidSchema } from './fields.ts'

export const pluginSchema = z.object({
  id: z.int(),
  plugin_type: z.string(),
  name: z.string().nullable(),
  description: z.string().nullable(),
  url: z.string().nullable(),
  icon: z.string().nullable(),
  config_schema: freeSchema,
  tag: z.string().nullable(),
  latest_tag: z.string().nullable(),
  is_global: z.boolean(),
  organization_id: uuidSchema,
  organization_name: z.string(),
  capabilities: freeSchema,
  metrics: freeSchema,
  public_jobs: freeSchema,
})
export type PluginAnswer = z.output<typeof pluginSchema>
export const configSchema = z.object({
  id: z.int(),
  plugin: z.int(),
  enabled: z.boolean(),
  order: z.int(),
  config: z.record(z.string(), freeSchema),
  error: freeSchema.nullable(),
  team_id: z.int(),
  plugin_info: pluginSchema.nullable(),
  delivery_rate_24h: z.number().nullable(),
  created_at: timeSchema,
  updated_at: timeSchema,
  name: z.string().nullable(),
  description: z.string().nullable(),
  deleted: z.boolean(),
  code_version: z.string().meta({ description: 'Hash of the current code of the plugin' }),
  running_version: z.string().nullable().meta({
    description: 'Hash of the code that runs in the project: an older version until an administrator agrees to the current one; null: none',
  }),
  webhook_url: z.string().nullable().meta({
    description: 'Address that takes requests for `onRequest`; its secret is masked for callers who may not change the config; null: none',
  }),
})
export type PluginConfigAnswer = z.output<typeof configSchema>
export const pluginLogSchema = z.object({
  id: z.string(),
  team_id: z.int(),
  plugin_id: z.int(),
  plugin_config_id: z.int(),
  timestamp: timeSchema,
  source: z.string(),
  type: z.string(),
  message: z.string(),
  instance_id: z.string(),
})
export type PluginLogAnswer = z.output<typeof pluginLogSchema>
export const failedDeliverySchema = z.object({
  id: z.string(),
  status: z.string(),
  event_uuid: uuidSchema,
  event: z.string(),
  attempts: z.int(),
  latest_error: z.string(),
  created_at: timeSchema,
  last_attempt_at: timeSchema,
  next_attempt_at: timeSchema.nullable(),
})
export type FailedDeliveryAnswer = z.output<typeof failedDeliverySchema>
export const changedDeliveriesSchema = z.object({ count: z.int() })
export type ChangedDeliveriesAnswer = z.output<typeof changedDeliveriesSchema>
export const catalogueSchema = z.object({
  name: z.string(),
  url: z.string(),
  description: z.string(),
  icon: z.string().nullable(),
  verified: z.boolean(),
  maintainer: z.string(),
})
export type OfferedPluginAnswer = z.output<typeof catalogueSchema>
