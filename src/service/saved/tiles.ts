import { nextNumber } from '../accounts/context.ts'
import type { AccountTables, Dashboard, DashboardTile } from '../accounts/records.ts'
import { invalid } from '../accounts/refusals.ts'

/** A dashboard is sent as a whole. */
export const mostTiles = 300

/** A tile after the others of the dashboard. */
export async function insertTile(
  tables: AccountTables,
  dashboard: Pick<Dashboard, 'id' | 'project_id'>,
  given: Partial<Omit<DashboardTile, 'id' | 'project_id' | 'dashboard_id' | 'position'>>,
): Promise<DashboardTile> {
  const others = await tables.dashboard_tiles.find({ dashboard_id: dashboard.id })
  if (others.filter((one) => !one.deleted).length >= mostTiles)
    throw invalid(`A dashboard can have at most ${mostTiles} tiles. Remove some, or use another dashboard.`, 'tiles')
  const tile: DashboardTile = {
    id: await nextNumber(tables, 'dashboard_tile'),
    project_id: dashboard.project_id,
    dashboard_id: dashboard.id,
    insight_id: null,
    body: null,
    body_modified_at: null,
    body_modified_by_id: null,
    position: others.reduce((last, one) => Math.max(last, one.position), -1) + 1,
    layouts: {},
    color: null,
    show_description: null,
    filters_overrides: {},
    deleted: false,
    ...given,
  }
  await tables.dashboard_tiles.insert(tile)
  return tile
}
