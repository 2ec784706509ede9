import { type AccountContext, nextNumber } from '../accounts/context.ts'
import type {
  AccountStore,
  AccountTables,
  Annotation,
  Dashboard,
  DashboardTile,
  FeatureFlag,
  Insight,
  ProjectRecord,
  SavedFilter,
  SavedQuery,
  User,
} from '../accounts/records.ts'
import type { Json } from '../accounts/store.ts'

// What people keep in a project, taken out of the accounts of a copy and given to a new project: its settings, insights, dashboards, annotations, views, saved filters and flags. What
// sends or runs stays behind: alerts, subscriptions, batch exports, plugins, public links, keys of viewers.

/** The accounts of a copy. */
export interface CopiedAccounts {
  readonly read: AccountStore['read']
  close(): Promise<void>
}

export interface Definitions {
  readonly project: ProjectRecord
  readonly insights: readonly Insight[]
  readonly dashboards: readonly Dashboard[]
  readonly tiles: readonly DashboardTile[]
  readonly annotations: readonly Annotation[]
  readonly views: readonly SavedQuery[]
  readonly filters: readonly SavedFilter[]
  readonly flags: readonly FeatureFlag[]
  /** Those who made them. */
  readonly users: readonly Pick<User, 'id' | 'email'>[]
}

/** Null: the accounts do not have the project. */
export async function readDefinitions(read: CopiedAccounts['read'], projectId: number): Promise<Definitions | null> {
  const project = await read.projects.first({ id: projectId })
  if (!project) return null
  const own = { project_id: projectId }
  return {
    project,
    insights: await read.insights.find(own),
    dashboards: await read.dashboards.find(own),
    tiles: await read.dashboard_tiles.find(own),
    annotations: await read.annotations.find(own),
    views: await read.saved_queries.find(own),
    filters: await read.saved_filters.find(own),
    flags: await read.feature_flags.find(own),
    users: await read.users.find({}),
  }
}

type ById = ReadonlyMap<number | null, number>

const numbered = async (
  tables: AccountTables,
  name: Parameters<typeof nextNumber>[1],
  rows: readonly { readonly id: number }[],
): Promise<ById> => {
  const ids = new Map<number | null, number>()
  for (const { id } of rows) ids.set(id, await nextNumber(tables, name))
  return ids
}

/** Gives them to a project that was just made, in place of its own dashboard. Their authors are users with the same address. */
export async function writeDefinitions(
  { newId }: Pick<AccountContext, 'newId'>,
  tables: AccountTables,
  made: ProjectRecord,
  { project, insights, dashboards, tiles, annotations, views, filters, flags, users }: Definitions,
  newShortId: (tables: AccountTables) => Promise<string>,
): Promise<void> {
  const authors = new Map<number | null, number>()
  for (const { id, email } of users) {
    const known = await tables.users.first({ email })
    if (known) authors.set(id, known.id)
  }
  const by = (id: number | null) => authors.get(id) ?? null
  const project_id = made.id
  await tables.dashboards.remove({ project_id })
  const newDashboards = await numbered(tables, 'dashboard', dashboards)
  const newInsights = await numbered(tables, 'insight', insights)
  const newTiles = await numbered(tables, 'dashboard_tile', tiles)
  const newAnnotations = await numbered(tables, 'annotation', annotations)
  for (const one of dashboards)
    await tables.dashboards.insert({ ...one, id: newDashboards.get(one.id)!, project_id, created_by_id: by(one.created_by_id) })
  for (const one of insights)
    await tables.insights.insert({
      ...one,
      id: newInsights.get(one.id)!,
      project_id,
      short_id: await newShortId(tables),
      created_by_id: by(one.created_by_id),
      last_modified_by_id: by(one.last_modified_by_id),
    })
  for (const one of tiles) {
    const dashboard_id = newDashboards.get(one.dashboard_id)
    const insight_id = newInsights.get(one.insight_id) ?? null
    if (dashboard_id === undefined || (one.insight_id !== null && insight_id === null)) continue
    const ids = { id: newTiles.get(one.id)!, project_id, dashboard_id, insight_id }
    await tables.dashboard_tiles.insert({ ...one, ...ids, body_modified_by_id: by(one.body_modified_by_id) })
  }
  for (const one of annotations)
    await tables.annotations.insert({
      ...one,
      id: newAnnotations.get(one.id)!,
      project_id,
      place: `project ${project_id}`,
      scope: one.scope === 'organization' ? 'project' : one.scope,
      dashboard_id: newDashboards.get(one.dashboard_id) ?? null,
      insight_id: newInsights.get(one.insight_id) ?? null,
      created_by_id: by(one.created_by_id),
    })
  for (const one of views) await tables.saved_queries.insert({ ...one, id: newId(), project_id, created_by_id: by(one.created_by_id) })
  for (const one of filters) await tables.saved_filters.insert({ ...one, id: newId(), project_id, created_by_id: by(one.created_by_id) })
  const newFlags = await numbered(tables, 'feature_flag', flags)
  for (const one of flags)
    await tables.feature_flags.insert({ ...one, id: newFlags.get(one.id)!, project_id, created_by_id: by(one.created_by_id) })
  const { primary_dashboard: primary, ...settings } = project.settings as Readonly<Record<string, Json>>
  const { timezone, week_start_day, access_control, is_demo } = project
  const primary_dashboard = newDashboards.get(typeof primary === 'number' ? primary : null) ?? null
  await tables.projects.update(
    { id: project_id },
    { timezone, week_start_day, access_control, is_demo, settings: { ...settings, primary_dashboard } },
  )
}
