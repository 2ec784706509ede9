import type * as z from 'zod'
import { isObject } from '../../lib/is-object.ts'
import { pick } from '../../lib/pick.ts'
import { type AccountContext, nextNumber } from '../accounts/context.ts'
import { check } from '../accounts/fields.ts'
import { definedOf, isDeleted, type Logged, type MemberInProject, note, writeIn } from '../accounts/project-writes.ts'
import { newDashboard } from '../accounts/projects/dashboard-rows.ts'
import type { AccountTables, Dashboard, DashboardTile, Insight, ProjectRecord } from '../accounts/records.ts'
import { invalid, mustFind, noSuch } from '../accounts/refusals.ts'
import type { Condition, FindOptions, Json, Where } from '../accounts/store.ts'
import { checkFilters, dashboardChange, dashboardInput, type TileChange } from './dashboard-fields.ts'
import { newShortId } from './short-id.ts'
import { insertTile } from './tiles.ts'

/** A tile with what it shows. */
export interface Tile {
  readonly tile: DashboardTile
  /** Null: a text. */
  readonly insight: Insight | null
}
export interface WholeDashboard {
  readonly dashboard: Dashboard
  readonly tiles: readonly Tile[]
}

export interface DashboardPage {
  readonly where: Where<Dashboard>
  readonly condition: Condition<Dashboard>
  readonly orderBy: NonNullable<FindOptions<Dashboard>['orderBy']>
  readonly limit: number
  readonly offset: number
}

const accessNotedEvery = 10 * 60_000

/** Dashboards of older versions have no mark. */
export const isShown = { deleted: [false, null] } as const

type Tables = Pick<AccountTables, 'dashboards' | 'dashboard_tiles' | 'insights'>
type Reading = { readonly [T in keyof Tables]: Pick<Tables[T], 'find' | 'first' | 'count'> }

const logged = ({ id, name, ...dashboard }: Dashboard): Logged => ({
  id,
  name,
  fields: {
    name,
    description: dashboard.description ?? '',
    pinned: dashboard.pinned === true,
    deleted: dashboard.deleted === true,
    tags: dashboard.tags ?? [],
    filters: dashboard.filters ?? {},
    variables: dashboard.variables ?? {},
    breakdown_colors: dashboard.breakdown_colors ?? [],
  },
})

/** The tiles as the activity log shows them. */
const loggedTiles = (tiles: readonly Tile[]) =>
  tiles.map(({ tile, insight }) => ({
    id: tile.id,
    insight: insight?.id ?? null,
    text: tile.body,
    color: tile.color,
    layouts: tile.layouts,
  }))

const insightId = (given: unknown): number | null => {
  const id = isObject(given) ? given.id : given
  return typeof id === 'number' && Number.isSafeInteger(id) && id > 0 && id < 2 ** 31 ? id : null
}

/** Also a deleted one. */
const anyOf = (tables: Reading, project: ProjectRecord, id: number): Promise<Dashboard> =>
  mustFind(tables.dashboards.first({ id, project_id: project.id }))
const find = async (tables: Reading, project: ProjectRecord, id: number): Promise<Dashboard> => {
  const found = await anyOf(tables, project, id)
  if (found.deleted) throw isDeleted('dashboard')
  return found
}
/** In their order; without those whose insights are deleted. */
const tilesOf = async (tables: Reading, { id }: Dashboard): Promise<Tile[]> => {
  const tiles = await tables.dashboard_tiles.find({ dashboard_id: id, deleted: false }, { orderBy: [{ column: 'position' }] })
  const ids = tiles.flatMap((one) => one.insight_id ?? [])
  const insights = new Map((ids.length > 0 ? await tables.insights.find({ id: ids, deleted: false }) : []).map((one) => [one.id, one]))
  return tiles.flatMap((tile): Tile[] => {
    if (tile.insight_id === null) return [{ tile, insight: null }]
    const insight = insights.get(tile.insight_id)
    return insight ? [{ tile, insight }] : []
  })
}
const whole = async (tables: Reading, dashboard: Dashboard): Promise<WholeDashboard> => ({
  dashboard,
  tiles: await tilesOf(tables, dashboard),
})

const tileOf = async (tables: Reading, dashboard: Dashboard, id: number): Promise<DashboardTile> => {
  const tile = await tables.dashboard_tiles.first({ id, dashboard_id: dashboard.id })
  if (!tile) throw invalid(`Dashboard ${dashboard.id} has no tile ${id}.`, 'tiles', 'does_not_exist')
  return tile
}

/** An insight that was made for a tile alone goes with its last tile, and comes back with it. */
const followTile = async ({ clock }: AccountContext, tables: AccountTables, id: number, isGone: boolean): Promise<void> => {
  const insight = await tables.insights.first({ id })
  if (!insight || insight.saved || insight.deleted === isGone) return
  const others = await tables.dashboard_tiles.find({ insight_id: id, deleted: false })
  if (!isGone || others.length === 0) await tables.insights.update({ id }, { deleted: isGone, updated_at: clock() })
}

const changeTile = async (
  context: AccountContext,
  tables: AccountTables,
  { by, project }: MemberInProject,
  dashboard: Dashboard,
  given: TileChange,
): Promise<void> => {
  const { id, insight, text, ...others } = given
  if (others.filters_overrides) checkFilters(others.filters_overrides, 'tiles')
  const change: Partial<DashboardTile> = {
    ...definedOf({ ...others, layouts: others.layouts ?? undefined, filters_overrides: others.filters_overrides ?? undefined }),
    ...(text ? { body: text.body, body_modified_at: context.clock(), body_modified_by_id: by.user.id } : {}),
  }
  if (id) {
    const tile = await tileOf(tables, dashboard, id)
    if (text && tile.insight_id !== null) throw invalid(`Tile ${id} shows an insight, not a text.`, 'tiles')
    if (Object.keys(change).length > 0) await tables.dashboard_tiles.update({ id: tile.id }, change)
    if (tile.insight_id !== null && change.deleted !== undefined) await followTile(context, tables, tile.insight_id, change.deleted)
    return
  }
  if (text) {
    await insertTile(tables, dashboard, change)
    return
  }
  const shown = insightId(insight)
  const found = shown === null ? undefined : await tables.insights.first({ id: shown, project_id: project.id, deleted: false })
  if (!found) throw invalid('A new tile needs a text with a body, or the id of an insight of this project.', 'tiles')
  await tables.insights.update({ id: found.id }, { saved: true })
  const known = await tables.dashboard_tiles.first({ dashboard_id: dashboard.id, insight_id: found.id })
  if (known) await tables.dashboard_tiles.update({ id: known.id }, { ...change, deleted: false })
  else await insertTile(tables, dashboard, { ...change, insight_id: found.id })
}

const copyInsight = async (
  { clock }: AccountContext,
  tables: AccountTables,
  { by }: MemberInProject,
  insight: Insight,
): Promise<Insight> => {
  const now = clock()
  const made: Insight = {
    ...insight,
    id: await nextNumber(tables, 'insight'),
    short_id: await newShortId(tables),
    name: insight.name === null ? null : `${insight.name} (copy)`.slice(0, 400),
    created_at: now,
    created_by_id: by.user.id,
    last_modified_at: now,
    last_modified_by_id: by.user.id,
    updated_at: now,
    last_viewed_at: null,
  }
  await tables.insights.insert(made)
  return made
}

const copyTiles = async (
  context: AccountContext,
  tables: AccountTables,
  place: MemberInProject,
  from: Dashboard,
  to: Dashboard,
  copiesInsights: boolean,
): Promise<void> => {
  for (const { tile, insight } of await tilesOf(tables, from)) {
    const { id: _, project_id: __, dashboard_id: ___, position: ____, ...shown } = tile
    const copy = insight && copiesInsights ? await copyInsight(context, tables, place, insight) : insight
    await insertTile(tables, to, { ...shown, insight_id: copy?.id ?? null })
  }
}

const copiedColumns = ['name', 'description', 'tags', 'filters', 'variables', 'breakdown_colors', 'data_color_theme_id'] as const

const columnsOf = ({ name, ...given }: Omit<z.infer<typeof dashboardChange>, 'delete_insights' | 'tiles'>) => {
  if (given.filters) checkFilters(given.filters, 'filters')
  return definedOf({
    ...given,
    name: name === null ? '' : name,
    breakdown_colors: given.breakdown_colors as Json | undefined,
  })
}

/** Insights that are on no other dashboard. */
const deleteOwnInsights = async ({ clock }: AccountContext, tables: AccountTables, dashboard: Dashboard): Promise<void> => {
  for (const { insight } of await tilesOf(tables, dashboard)) {
    if (!insight) continue
    const tiles = await tables.dashboard_tiles.find({ insight_id: insight.id, deleted: false })
    const others = tiles.map((one) => one.dashboard_id).filter((id) => id !== dashboard.id)
    const shown = others.length > 0 ? await tables.dashboards.find({ id: others }) : []
    if (shown.every((one) => one.deleted)) await tables.insights.update({ id: insight.id }, { deleted: true, updated_at: clock() })
  }
}

const changing = <T>(
  context: AccountContext,
  place: MemberInProject,
  id: number,
  work: (tables: AccountTables, dashboard: Dashboard) => Promise<T>,
  restores = false,
): Promise<T> =>
  writeIn(context, place, async (tables) => {
    const before = await (restores ? anyOf : find)(tables, place.project, id)
    const tilesBefore = loggedTiles(await tilesOf(tables, before))
    const result = await work(tables, before)
    await tables.dashboards.update({ id }, { last_modified_at: context.clock() })
    const after = await anyOf(tables, place.project, id)
    const [old, now] = [logged(before), logged(after)]
    const tiles = loggedTiles(await tilesOf(tables, after))
    await note(
      context,
      tables,
      place,
      'Dashboard',
      { ...old, fields: { ...old.fields, tiles: tilesBefore } },
      { ...now, fields: { ...now.fields, tiles } },
    )
    return result
  })

const reload = async ({ store }: AccountContext, project: ProjectRecord, id: number): Promise<WholeDashboard> =>
  whole(store.read, await anyOf(store.read, project, id))

async function target(tables: Reading, project: ProjectRecord, id: number): Promise<Dashboard> {
  const found = await tables.dashboards.first({ id, project_id: project.id, ...isShown })
  if (!found) throw noSuch(id, 'dashboard')
  return found
}

/** An insight is on a dashboard once. */
async function showOn(
  { clock }: AccountContext,
  tables: AccountTables,
  to: Dashboard,
  shown: Omit<DashboardTile, 'id' | 'project_id' | 'dashboard_id' | 'position'>,
): Promise<void> {
  const known =
    shown.insight_id === null ? undefined : await tables.dashboard_tiles.first({ dashboard_id: to.id, insight_id: shown.insight_id })
  if (known) await tables.dashboard_tiles.update({ id: known.id }, { ...shown, deleted: false })
  else await insertTile(tables, to, { ...shown, deleted: false })
  await tables.dashboards.update({ id: to.id }, { last_modified_at: clock() })
}

async function forgetPrimary(tables: AccountTables, projectId: number, id: number): Promise<void> {
  const project = await tables.projects.first({ id: projectId })
  const settings = project?.settings
  if (!isObject(settings) || settings.primary_dashboard !== id) return
  await tables.projects.update({ id: projectId }, { settings: { ...settings, primary_dashboard: null } as Json })
}
const tileMoves = (context: AccountContext) => ({
  async moveTile(place: MemberInProject, id: number, tileId: number, toId: number): Promise<WholeDashboard> {
    await changing(context, place, id, async (tables, from) => {
      const tile = await tileOf(tables, from, tileId)
      const to = await target(tables, place.project, toId)
      const { id: _, project_id: __, dashboard_id: ___, position: ____, ...shown } = tile
      await tables.dashboard_tiles.remove({ id: tile.id })
      await showOn(context, tables, to, shown)
    })
    return reload(context, place.project, toId)
  },

  /** `id` is where it goes. */
  async copyTile(place: MemberInProject, id: number, tileId: number, fromId: number): Promise<WholeDashboard> {
    await changing(context, place, id, async (tables, to) => {
      const tile = await tileOf(tables, await target(tables, place.project, fromId), tileId)
      const { id: _, project_id: __, dashboard_id: ___, position: ____, ...shown } = tile
      await showOn(context, tables, to, shown)
    })
    return reload(context, place.project, id)
  },

  async reorderTiles(place: MemberInProject, id: number, order: readonly number[]): Promise<WholeDashboard> {
    await changing(context, place, id, async (tables, dashboard) => {
      for (const one of order) await tileOf(tables, dashboard, one)
      const others = (await tilesOf(tables, dashboard)).map(({ tile }) => tile.id).filter((one) => !order.includes(one))
      for (const [position, one] of [...new Set(order), ...others].entries()) await tables.dashboard_tiles.update({ id: one }, { position })
    })
    return reload(context, place.project, id)
  },

  /** The ids of the insights that are on each of these dashboards. */
  async insightsOnAll({ id: project_id }: ProjectRecord, ids: readonly number[]): Promise<number[]> {
    const shown = await context.store.read.dashboards.find({ id: ids, project_id, ...isShown })
    const tiles = await context.store.read.dashboard_tiles.find({ dashboard_id: shown.map((one) => one.id), deleted: false })
    const of = (id: number) => new Set(tiles.flatMap((one) => (one.dashboard_id === id ? (one.insight_id ?? []) : [])))
    const [first = new Set<number>(), ...others] = [...new Set(ids)].map(of)
    return [...first].filter((id) => others.every((one) => one.has(id)))
  },

  /** The tile that shows an insight on a dashboard. */
  async tileWith(
    project: ProjectRecord,
    id: number,
    insight: Insight,
  ): Promise<{ readonly dashboard: Dashboard; readonly tile: DashboardTile }> {
    const dashboard = await context.store.read.dashboards.first({ id, project_id: project.id, ...isShown })
    const tile = dashboard && (await context.store.read.dashboard_tiles.first({ dashboard_id: id, insight_id: insight.id, deleted: false }))
    if (!tile) throw invalid(`Dashboard ${id} does not show insight ${insight.id}.`, 'from_dashboard', 'does_not_exist')
    return { dashboard, tile }
  },
})

export const createDashboards = (context: AccountContext) => {
  const { store, clock } = context
  const { read } = store

  return {
    find: (project: ProjectRecord, id: number) => find(read, project, id),
    whole: (dashboard: Dashboard) => whole(read, dashboard),

    async list({ where, condition, ...page }: DashboardPage): Promise<{ readonly rows: readonly Dashboard[]; readonly count: number }> {
      return { rows: await read.dashboards.find(where, { ...condition, ...page }), count: await read.dashboards.count(where, condition) }
    },

    async create(place: MemberInProject, body: unknown): Promise<WholeDashboard> {
      const { use_dashboard, duplicate_tiles, delete_insights: _, tiles = [], ...given } = check(dashboardInput, body)
      const change = columnsOf(given)
      const { project, by } = place
      const id = await writeIn(context, place, async (tables) => {
        const source = use_dashboard ? await tables.dashboards.first({ id: use_dashboard, project_id: project.id, ...isShown }) : undefined
        if (use_dashboard && !source) throw noSuch(use_dashboard, 'use_dashboard')
        const made: Dashboard = {
          ...newDashboard({ id: await nextNumber(tables, 'dashboard'), project_id: project.id, name: '', now: clock(), by: by.user }),
          ...(source && { ...pick(source, copiedColumns), creation_mode: 'duplicate' }),
          ...change,
        }
        await tables.dashboards.insert(made)
        if (source) await copyTiles(context, tables, place, source, made, duplicate_tiles === true)
        for (const tile of tiles) await changeTile(context, tables, place, made, { ...tile, id: null })
        await note(context, tables, place, 'Dashboard', null, logged(made))
        return made.id
      })
      return reload(context, project, id)
    },

    async update(place: MemberInProject, id: number, body: unknown): Promise<WholeDashboard> {
      const { delete_insights, tiles = [], ...given } = check(dashboardChange, body)
      const change = columnsOf(given)
      const work = async (tables: AccountTables, before: Dashboard) => {
        for (const tile of tiles) await changeTile(context, tables, place, before, tile)
        if (delete_insights && change.deleted) await deleteOwnInsights(context, tables, before)
        if (Object.keys(change).length > 0) await tables.dashboards.update({ id }, change)
        if (change.deleted) await forgetPrimary(tables, place.project.id, id)
      }
      await changing(context, place, id, work, change.deleted === false)
      return reload(context, place.project, id)
    },
    ...tileMoves(context),

    /** Written at most every few minutes. */
    async accessed({ id, last_accessed_at }: Dashboard): Promise<void> {
      const now = clock()
      if (last_accessed_at && now.getTime() - last_accessed_at.getTime() < accessNotedEvery) return
      await store.write((tables) => tables.dashboards.update({ id }, { last_accessed_at: now }))
    },
  }
}
export type Dashboards = ReturnType<typeof createDashboards>
