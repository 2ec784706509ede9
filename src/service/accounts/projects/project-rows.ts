import type { AccountTables } from '../records.ts'

const tablesOfProjects = [
  'project_memberships',
  'insights',
  'insight_views',
  'insight_refreshes',
  'dashboards',
  'dashboard_tiles',
  'saved_queries',
  'annotations',
  'definition_notes',
  'historical_imports',
  'event_counts',
  'activity',
  'query_runs',
  'batch_exports',
  'batch_export_runs',
  'batch_export_backfills',
  'batch_export_logs',
  'plugin_configs',
  'plugin_attachments',
  'plugin_deliveries',
  'plugin_failed_deliveries',
  'sharing_links',
  'alerts',
  'alert_checks',
  'subscriptions',
  'notices',
  'notice_deliveries',
  'plugin_tasks',
  'plugin_jobs',
  'leases',
] as const satisfies readonly (keyof AccountTables)[]

/** Removes everything that belongs to projects, but not the projects. */
export async function removeProjectRows(tables: AccountTables, projectIds: readonly number[]): Promise<void> {
  for (const table of tablesOfProjects) await tables[table].remove({ project_id: projectIds } as never)
}
