import * as z from 'zod'
import { check, integer, listOf } from '../../../service/accounts/fields.ts'
import { type Dashboard, level } from '../../../service/accounts/records.ts'
import { invalid } from '../../../service/accounts/refusals.ts'
import type { Where } from '../../../service/accounts/store.ts'
import { tagged, tagsOf } from '../../../service/accounts/tags.ts'
import { type InsightAnswer, noAnswer } from '../../../service/saved/answers.ts'
import { dashboardChange, dashboardInput } from '../../../service/saved/dashboard-fields.ts'
import { type DashboardPage, isShown, type Tile, type WholeDashboard } from '../../../service/saved/dashboards.ts'
import type { PlacedInsight } from '../../../service/saved/insights.ts'
import { type DashboardAnswer, dashboardSchema, type WholeDashboardAnswer, wholeSchema } from '../../answers/dashboards.ts'
import { pageSchema } from '../../answers/pages.ts'
import { activityOf, activityOfAll } from '../activity.ts'
import { maybeTime, presentAuthor, time } from '../present.ts'
import { queryCallerOf } from '../queries/query-caller.ts'
import { askingParameters, isUsual, readAsking } from '../queries/saved-asking.ts'
import { defineRecords } from '../records.ts'
import { pageBounds, pageWith, paging } from '../requests/pages.ts'
import type { ProjectVisit } from '../resource.ts'
import { definitionId } from './actions.ts'
import { presentAnswer, presentInsight, privileges } from './insight-format.ts'

type Free = Record<string, unknown>

const present = async ({ app, project, membership }: ProjectVisit, dashboard: Dashboard): Promise<DashboardAnswer> => ({
  id: dashboard.id,
  name: dashboard.name,
  description: dashboard.description ?? '',
  pinned: dashboard.pinned === true,
  deleted: dashboard.deleted === true,
  tags: tagsOf(dashboard),
  created_at: time(dashboard.created_at ?? project.created_at),
  created_by: await presentAuthor(app.accounts, dashboard.created_by_id),
  last_modified_at: maybeTime(dashboard.last_modified_at),
  last_accessed_at: maybeTime(dashboard.last_accessed_at),
  creation_mode: dashboard.creation_mode ?? 'default',
  restriction_level: 21,
  effective_restriction_level: 21,
  effective_privilege_level: membership.level < level.member ? 21 : 37,
})

const presentTile = async (visit: ProjectVisit, { tile, insight }: Tile, placed: PlacedInsight | undefined, answer: InsightAnswer) => {
  const { app } = visit
  const shown = placed ? { ...(await presentInsight(app.accounts, placed)), ...presentAnswer(answer), ...privileges(visit) } : null
  return {
    id: tile.id,
    insight: shown,
    text:
      insight || tile.body === null
        ? null
        : {
            body: tile.body,
            last_modified_at: maybeTime(tile.body_modified_at),
            last_modified_by: await presentAuthor(app.accounts, tile.body_modified_by_id),
          },
    layouts: tile.layouts as Free,
    color: tile.color,
    order: tile.position,
    show_description: tile.show_description,
    filters_overrides: tile.filters_overrides as Free,
    deleted: tile.deleted,
    is_cached: shown?.is_cached ?? false,
    last_refresh: shown?.last_refresh ?? null,
    error: shown?.error ?? null,
  }
}

const presentWhole = async (visit: ProjectVisit, { dashboard, tiles }: WholeDashboard): Promise<WholeDashboardAnswer> => {
  const { app, project } = visit
  const insights = tiles.flatMap(({ tile, insight }) => (insight ? [{ tile, insight }] : []))
  const asking = readAsking(visit.query)
  const answers = await app.saved.answers.ofAll(project, insights, asking, queryCallerOf(visit), dashboard)
  if (isUsual(asking)) {
    const looked = insights.map(({ insight }, i) => ({ insight, answer: answers[i]! }))
    await app.saved.refresher.looked(project, looked, dashboard)
  }
  const placed = await app.saved.insights.placed(insights.map(({ insight }) => insight))
  const byTile = new Map(insights.map(({ tile }, i) => [tile.id, { placed: placed[i], answer: answers[i]! }]))
  const [filters, variables] = [(dashboard.filters ?? {}) as Free, (dashboard.variables ?? {}) as Free]
  return {
    ...(await present(visit, dashboard)),
    filters,
    variables,
    persisted_filters: filters,
    persisted_variables: variables,
    breakdown_colors: (dashboard.breakdown_colors ?? []) as unknown[],
    data_color_theme_id: dashboard.data_color_theme_id,
    tiles: await Promise.all(
      tiles.map((one) => presentTile(visit, one, byTile.get(one.tile.id)?.placed, byTile.get(one.tile.id)?.answer ?? noAnswer)),
    ),
  }
}

const orders = ['id', 'name', 'pinned', 'created_at', 'last_modified_at', 'last_accessed_at'] as const
const orderOf = (given: string | null): DashboardPage['orderBy'] => {
  if (given === null || given === '') return [{ column: 'pinned', isDescending: true }, { column: 'name' }]
  const column = orders.find((name) => name === given.replace(/^-/, ''))
  if (!column) throw invalid(`Dashboards cannot be ordered by ${given}. Use one of ${orders.join(', ')}, or -name for descending.`, 'order')
  return [{ column, isDescending: given.startsWith('-') }]
}

const pageOf = ({ query, project }: ProjectVisit): DashboardPage => {
  const [search, tag, pinned] = [query.get('search'), query.get('tags'), query.get('pinned')]
  const where: Where<Dashboard> = { project_id: project.id, ...isShown, ...(pinned ? { pinned: /^(true|1)$/i.test(pinned) } : {}) }
  return {
    where,
    condition: {
      search: [
        ...(search ? [{ text: search, in: ['name', 'description', 'tags'] as const }] : []),
        ...(tag ? tag.split(',').map((one) => tagged(one.trim())) : []),
      ],
    },
    orderBy: orderOf(query.get('order')),
    ...pageBounds(query),
  }
}

const tileId = z.union([integer(1), z.object({ id: integer(1) })], { error: 'Expected the id of a tile, or {"id": 1}.' })
const numberOf = (given: z.infer<typeof tileId>): number => (typeof given === 'number' ? given : given.id)
const moveInput = z.object({
  tile: tileId,
  to_dashboard: integer(1).optional(),
  toDashboard: integer(1).optional().meta({ description: 'Another name of `to_dashboard`' }),
})
const copyInput = z.object({ fromDashboardId: integer(1), tileId: integer(1) })
const orderInput = z.object({ tile_order: listOf(integer(1)).max(1000) })

const placeOf = ({ by, project }: ProjectVisit) => ({ by, project })
const idOf = ({ params }: ProjectVisit): number => definitionId(params.id)

export const dashboards = defineRecords({
  name: 'dashboards',
  summary: 'Insights and texts on one page, with filters for all of them ([saved.md](saved.md))',
  path: '/api/projects/:project_id/dashboards',
  reach: 'project',
  object: 'dashboard',
  answer: wholeSchema,
  present: presentWhole,
  rows: ({ row, create, retrieve, update, one }) => [
    row({
      method: 'GET',
      name: 'list',
      summary: 'Dashboards without their tiles, the pinned ones first',
      answer: pageSchema(dashboardSchema),
      queryParameters: {
        ...paging,
        search: 'Text in the name, the description or a tag',
        tags: 'Those with this tag',
        pinned: '`true`: those that are pinned',
        order: `${orders.join(', ')}; with \`-\` descending`,
      },
      handle: async (visit) => {
        const { rows, count } = await visit.app.saved.dashboards.list(pageOf(visit))
        return pageWith(await Promise.all(rows.map((one) => present(visit, one))), count, visit)
      },
    }),
    create({
      summary: 'Creates a dashboard, empty or as a copy of another one',
      body: dashboardInput,
      queryParameters: askingParameters,
      handle: async (visit) => visit.app.saved.dashboards.create(placeOf(visit), visit.body),
    }),
    row(activityOfAll('Dashboard', 'dashboards')),
    retrieve({
      summary: 'One dashboard, with its tiles and their answers',
      queryParameters: askingParameters,
      limits: ['api', 'query'],
      handle: async (visit) => {
        const { dashboards } = visit.app.saved
        const found = await dashboards.find(visit.project, idOf(visit))
        await dashboards.accessed(found)
        return dashboards.whole(found)
      },
    }),
    update({
      summary: 'Changes the given fields and tiles; `deleted` hides it, or shows it again',
      body: dashboardChange,
      queryParameters: askingParameters,
      handle: async (visit) => visit.app.saved.dashboards.update(placeOf(visit), idOf(visit), visit.body),
    }),
    one({
      method: 'PATCH',
      path: ':id/move_tile',
      name: 'move_tile',
      summary: 'Moves a tile to another dashboard, and returns that one',
      body: moveInput,
      queryParameters: askingParameters,
      handle: async (visit) => {
        const { tile, to_dashboard, toDashboard } = check(moveInput, visit.body)
        const to = to_dashboard ?? toDashboard
        if (to === undefined) throw invalid('This field is required.', 'to_dashboard', 'required')
        return visit.app.saved.dashboards.moveTile(placeOf(visit), idOf(visit), numberOf(tile), to)
      },
    }),
    one({
      method: 'POST',
      path: ':id/copy_tile',
      name: 'copy_tile',
      summary: 'Shows a tile of another dashboard on this one too',
      body: copyInput,
      queryParameters: askingParameters,
      handle: async (visit) => {
        const { fromDashboardId, tileId } = check(copyInput, visit.body)
        return visit.app.saved.dashboards.copyTile(placeOf(visit), idOf(visit), tileId, fromDashboardId)
      },
    }),
    one({
      method: 'POST',
      path: ':id/reorder_tiles',
      name: 'reorder_tiles',
      summary: 'Reorders its tiles; those that are not listed come last',
      body: orderInput,
      queryParameters: askingParameters,
      handle: async (visit) => {
        const { tile_order } = check(orderInput, visit.body)
        return visit.app.saved.dashboards.reorderTiles(placeOf(visit), idOf(visit), tile_order)
      },
    }),
    row(activityOf('Dashboard', idOf)),
  ],
})
