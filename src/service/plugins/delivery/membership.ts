import type { Plugin, PluginConfig } from '../../accounts/records.ts'
import { isIn } from '../families.ts'
import { runningVersion } from '../versions.ts'
import type { DeliveryParts } from './parts.ts'

// Which configs receive stored events: those that are enabled and whose plugin has `onEvent` or `composeWebhook`. Each has a row with its position. One that
// begins starts at the end of the log, one that ends loses its position.

type Reading = DeliveryParts['context']['store']['read']

/** The code that runs may be older than that of the plugin. */
async function delivers(tables: Reading, config: PluginConfig, plugin: Plugin | undefined): Promise<boolean> {
  if (!plugin) return false
  if (config.agreed_hash === null || config.agreed_hash === plugin.code_hash) return isIn('pipeline_destinations', plugin)
  const version = await runningVersion(tables, config, plugin)
  return version !== null && isIn('pipeline_destinations', version)
}

async function receiving(tables: Reading, projectIds: readonly number[] | null): Promise<readonly PluginConfig[]> {
  const enabled = await tables.plugin_configs.find({ enabled: true, is_deleted: false, ...(projectIds && { project_id: projectIds }) })
  const plugins = await tables.plugins.find({ id: [...new Set(enabled.map(({ plugin_id }) => plugin_id))] })
  const byId = new Map(plugins.map((one) => [one.id, one]))
  const isReceiving = await Promise.all(enabled.map((config) => delivers(tables, config, byId.get(config.plugin_id))))
  return enabled.filter((_, i) => isReceiving[i])
}

/** After plugins or configs of these projects have changed; null: of all projects. Returns the configs that receive events. */
export async function updateReceivers(
  { context: { store, clock }, project, report }: DeliveryParts,
  projectIds: readonly number[] | null,
): Promise<readonly number[]> {
  const where = projectIds ? { project_id: projectIds } : {}
  const known = async (tables: Reading) =>
    new Set((await tables.plugin_deliveries.find(where)).map(({ plugin_config_id }) => plugin_config_id))
  const before = await known(store.read)
  const found = await receiving(store.read, projectIds)
  const ends = new Map<number, number>()
  for (const { id, project_id } of found) {
    if (before.has(id) || ends.has(project_id)) continue
    try {
      const opened = await project(project_id)
      if (opened) ends.set(project_id, await opened.end())
    } catch (error) {
      report(error) // tried again after the next change, and at the next start
    }
  }
  if (before.size === 0 && ends.size === 0) return []
  return store.write(async (tables) => {
    const [now, current] = [await receiving(tables, projectIds), await known(tables)]
    const ids = now.map(({ id }) => id)
    const ended = [...current].filter((id) => !ids.includes(id))
    if (ended.length > 0) await tables.plugin_deliveries.remove({ plugin_config_id: ended })
    for (const { id, project_id } of now) {
      const position = ends.get(project_id)
      if (current.has(id) || position === undefined) continue
      await tables.plugin_deliveries.insert({ plugin_config_id: id, project_id, position, counts: {}, updated_at: clock() })
    }
    return ids
  })
}
