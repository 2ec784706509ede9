import * as z from 'zod'
import type { Plugin, PluginConfig, PluginFailedDelivery } from '../../../service/accounts/records.ts'
import type { PluginLogEntry } from '../../../service/plugins/log-entries.ts'
import type { OpenedPlugins } from '../../../service/plugins/open-plugins.ts'
import type { App } from '../app.ts'
import { freeSchema, maybeTime, time, timeSchema, uuidSchema } from '../present.ts'

// The format of plugins and their configs.

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
export const presentPlugin = async ({ accounts }: App, plugin: Plugin): Promise<z.infer<typeof pluginSchema>> => ({
  id: plugin.id,
  plugin_type: plugin.plugin_type,
  name: plugin.name,
  description: plugin.description,
  url: plugin.url,
  icon: plugin.icon,
  config_schema: plugin.config_schema,
  tag: plugin.tag,
  latest_tag: plugin.latest_tag,
  is_global: plugin.is_global,
  organization_id: plugin.organization_id,
  organization_name: (await accounts.organizations.byId(plugin.organization_id))?.name ?? '',
  capabilities: plugin.capabilities,
  metrics: plugin.metrics,
  public_jobs: plugin.public_jobs,
})

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
  code_version: z.string().meta({ description: 'The hash of the code of the plugin as it is now' }),
  running_version: z.string().nullable().meta({
    description:
      'The hash of the code that runs in the project: an older version until an administrator agrees to the one of now; null: none',
  }),
})
/** Lists leave the plugin out. */
export const presentConfig = async (app: App, config: PluginConfig, isInList: boolean): Promise<z.infer<typeof configSchema>> => {
  const { configs } = app.plugins
  const plugin = await configs.pluginOf(config)
  const { current, running } = await configs.agreement(config)
  return {
    id: config.id,
    plugin: config.plugin_id,
    enabled: config.enabled,
    order: config.position,
    config: await configs.shownSettings(config),
    error: running === null ? null : configs.problem(config), // waiting for an agreement is no error: `running_version` says it
    team_id: config.project_id,
    plugin_info: isInList ? null : await presentPlugin(app, plugin),
    delivery_rate_24h: await app.plugins.failedDeliveries.rate(config),
    created_at: time(config.created_at),
    updated_at: time(config.updated_at),
    name: config.name || plugin.name,
    description: config.description || plugin.description,
    deleted: config.is_deleted,
    code_version: current,
    running_version: running,
  }
}

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
export const presentPluginLog = (entry: PluginLogEntry): z.infer<typeof pluginLogSchema> => ({ ...entry, timestamp: time(entry.timestamp) })

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
export const presentFailedDelivery = (found: PluginFailedDelivery): z.infer<typeof failedDeliverySchema> => ({
  id: found.id,
  status: found.status,
  event_uuid: found.event_uuid,
  event: found.event,
  attempts: found.attempts,
  latest_error: found.latest_error,
  created_at: time(found.created_at),
  last_attempt_at: time(found.last_attempt_at),
  next_attempt_at: maybeTime(found.due_at),
})
export const changedDeliveriesSchema = z.object({ count: z.int() })

export const catalogueSchema = z.object({
  name: z.string(),
  url: z.string(),
  description: z.string(),
  icon: z.string().nullable(),
  verified: z.boolean(),
  maintainer: z.string(),
})
export const presentCatalogue = ({ catalogue }: OpenedPlugins): readonly z.infer<typeof catalogueSchema>[] => catalogue
