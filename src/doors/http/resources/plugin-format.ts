import { level, type Plugin, type PluginConfig, type PluginFailedDelivery } from '../../../service/accounts/records.ts'
import type { PluginLogEntry } from '../../../service/plugins/log-entries.ts'
import type { OpenedPlugins } from '../../../service/plugins/open-plugins.ts'
import type { FailedDeliveryAnswer, OfferedPluginAnswer, PluginAnswer, PluginConfigAnswer, PluginLogAnswer } from '../../answers/plugins.ts'
import { holds } from '../access/access.ts'
import type { App } from '../app.ts'
import { maybeTime, time } from '../present.ts'
import type { OrganizationVisit } from '../resource.ts'

// The format of plugins and their configs.

export const presentPlugin = async ({ accounts }: App, plugin: Plugin): Promise<PluginAnswer> => ({
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

/** In place of a secret. */
const mask = '****************'

/** Where other services send webhooks. Who knows it can send events, so it is for those who may change the config. */
const webhookUrl = async (visit: OrganizationVisit, config: PluginConfig): Promise<string | null> => {
  const found = await visit.app.plugins.webhooks.of(config)
  if (!found) return null
  const { projects } = visit.app.accounts
  const project = await projects.byId(config.project_id)
  const held = project && (await projects.levelIn(project, visit.membership))
  const isShown = (held ?? level.viewer) >= level.member && holds(visit, 'plugin:write')
  return `${visit.site.base}/webhooks/${isShown && found.secret !== null ? found.secret : mask}`
}

/** Lists leave the plugin out. */
export const presentConfig = async (visit: OrganizationVisit, config: PluginConfig, isInList: boolean): Promise<PluginConfigAnswer> => {
  const { app } = visit
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
    webhook_url: await webhookUrl(visit, config),
  }
}

export const presentPluginLog = (entry: PluginLogEntry): PluginLogAnswer => ({ ...entry, timestamp: time(entry.timestamp) })

export const presentFailedDelivery = (found: PluginFailedDelivery): FailedDeliveryAnswer => ({
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

export const presentCatalogue = ({ catalogue }: OpenedPlugins): readonly OfferedPluginAnswer[] => catalogue
