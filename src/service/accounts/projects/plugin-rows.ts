import type { AccountTables } from '../records.ts'

/** Removes plugins with their files, and their configs in every project. Returns the projects that had them. */
export async function removePluginRows(tables: AccountTables, pluginIds: readonly number[]): Promise<readonly number[]> {
  const configs = await tables.plugin_configs.find({ plugin_id: pluginIds })
  const configIds = configs.map(({ id }) => id)
  await tables.plugin_attachments.remove({ plugin_config_id: configIds })
  await tables.plugin_webhooks.remove({ plugin_config_id: configIds })
  await tables.plugin_deliveries.remove({ plugin_config_id: configIds })
  await tables.plugin_failed_deliveries.remove({ plugin_config_id: configIds })
  await tables.plugin_configs.remove({ plugin_id: pluginIds })
  await tables.plugin_versions.remove({ plugin_id: pluginIds })
  await tables.plugin_files.remove({ plugin_id: pluginIds })
  await tables.plugins.remove({ id: pluginIds })
  return configs.map(({ project_id }) => project_id)
}
