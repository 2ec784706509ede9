import * as z from 'zod'
import { withinJson } from '../../limits/bounds.ts'
import { type AccountContext, nextNumber } from '../accounts/context.ts'
import { check, flag, integer, listOf, text } from '../accounts/fields.ts'
import { definedOf, isDeleted, type Logged, type MemberInProject, note, writeIn } from '../accounts/project-writes.ts'
import type { AccountStore, AccountTables, Dashboard, DashboardTile, Insight, ProjectRecord, User } from '../accounts/records.ts'
import { invalid, noSuch, notFound } from '../accounts/refusals.ts'
import type { Condition, FindOptions, Json, Where } from '../accounts/store.ts'
import { tagList } from '../accounts/tags.ts'
import { queryOfFilters } from './older-filters.ts'
import { checkedQuery, savedQuerySchema } from './saved-query.ts'
import { newShortId } from './short-id.ts'
import { insertTile } from './tiles.ts'

const nullable = (max: number) => text({ max, blank: true }).nullable()
const fields = {
  name: nullable(400).optional(),
  derived_name: nullable(400).optional().meta({ description: 'Name that clients show as long as `name` is empty' }),
  description: text({ max: 10_000, blank: true }).nullable().optional(),
  order: integer().nullable().optional(),
  favorited: flag().optional(),
  saved: flag().optional().meta({
    description:
      'Listed with the saved insights. Default: whether it is on a dashboard; `false` with `dashboards`: a question that is a tile only, until it is saved',
  }),
  deleted: flag().optional(),
  tags: tagList().optional(),
  dashboards: listOf(integer(1)).max(1000).optional().meta({ description: 'The ids of the dashboards that it is on' }),
}
const filtersSchema = withinJson(z.record(z.string(), z.unknown(), { error: 'Expected an object.' }), 'query').meta({
  description:
    'The older form of a query (`events`, `date_from`, …), which is converted; parts without an equivalent are refused. Ignored if `query` is sent',
})
export const insightInput = z.object({ ...fields, query: savedQuerySchema.nullish(), filters: filtersSchema.nullish() })
export const insightChange = insightInput
/** As it is sent. */
export type InsightInput = z.input<typeof insightInput>

export interface InsightPage {
  readonly where: Where<Insight>
  readonly condition: Condition<Insight>
  readonly orderBy: NonNullable<FindOptions<Insight>['orderBy']>
  readonly limit: number
  readonly offset: number
}

/** An insight and where it is shown. */
export interface PlacedInsight {
  readonly insight: Insight
  readonly tiles: readonly DashboardTile[]
}

const logged = ({ id, short_id, name, derived_name, ...insight }: Insight, dashboards: readonly number[]): Logged => ({
  id,
  short_id,
  name: name || derived_name,
  fields: {
    name,
    description: insight.description,
    query: insight.query,
    favorited: insight.favorited,
    saved: insight.saved,
    deleted: insight.deleted,
    tags: insight.tags,
    dashboards,
  },
})

const maxInt = 2_147_483_647
/** What an insight says. Where it is listed and who likes it does not modify it. */
const material = ['name', 'description', 'query'] as const

interface Asked {
  readonly query?: unknown
  readonly filters?: Readonly<Record<string, unknown>> | null | undefined
}

const find = async (tables: Pick<AccountStore['read'], 'insights'>, project: ProjectRecord, id: string): Promise<Insight> => {
  const found = await anyOf(tables, project, id)
  if (found.deleted) throw isDeleted('insight')
  return found
}
/** By its number or its short id; also a deleted one. */
const anyOf = async (tables: Pick<AccountStore['read'], 'insights'>, project: ProjectRecord, id: string): Promise<Insight> => {
  const isNumber = /^\d{1,10}$/.test(id) && Number(id) <= maxInt
  const byNumber = isNumber ? await tables.insights.first({ id: Number(id), project_id: project.id }) : undefined
  const found = byNumber ?? (await tables.insights.first({ short_id: id, project_id: project.id }))
  if (!found) throw notFound()
  return found
}

const tilesOf = async (tables: Pick<AccountStore['read'], 'dashboards' | 'dashboard_tiles'>, ids: readonly number[]) => {
  if (ids.length === 0) return []
  const tiles = await tables.dashboard_tiles.find({ insight_id: ids, deleted: false })
  const shown = await tables.dashboards.find({ id: [...new Set(tiles.map((one) => one.dashboard_id))] })
  const deleted = new Set(shown.filter((one: Dashboard) => one.deleted).map(({ id }) => id))
  return tiles.filter((one) => !deleted.has(one.dashboard_id))
}

const placed = async ({ store }: AccountContext, insights: readonly Insight[]): Promise<PlacedInsight[]> => {
  const tiles = await tilesOf(
    store.read,
    insights.map(({ id }) => id),
  )
  return insights.map((insight) => ({ insight, tiles: tiles.filter((one) => one.insight_id === insight.id) }))
}

/** Shows it on these dashboards and no others. */
const placeOn = async (tables: AccountTables, { project }: MemberInProject, insight: Insight, wanted: readonly number[]): Promise<void> => {
  const now = await tables.dashboard_tiles.find({ insight_id: insight.id })
  const asked = new Set(wanted)
  for (const tile of now)
    if (tile.deleted === asked.has(tile.dashboard_id))
      await tables.dashboard_tiles.update({ id: tile.id }, { deleted: !asked.has(tile.dashboard_id) })
  for (const id of asked) {
    if (now.some((tile) => tile.dashboard_id === id)) continue
    const dashboard = await tables.dashboards.first({ id })
    if (!dashboard || dashboard.project_id !== project.id || dashboard.deleted) throw noSuch(id, 'dashboards')
    await insertTile(tables, dashboard, { insight_id: insight.id })
  }
}
const isGiven = (value: object | null | undefined): value is object => value != null && Object.keys(value).length > 0
/** Null: the body says nothing about it. A record may be sent back as it was read, with the one of both changed. */
const askedBy = ({ query, filters }: Asked, before?: Insight): Pick<Insight, 'query' | 'kind' | 'filters'> | null => {
  const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)
  const hasNewFilters = isGiven(filters) && !isSame(filters, before?.filters)
  const hasNewQuery = query != null && !(before && isSame(query, before.query))
  if (hasNewQuery) return { query: query as Json, kind: checkedQuery(query).kind, filters: null }
  if (!hasNewFilters) return null
  const made = queryOfFilters(filters as Readonly<Record<string, unknown>>)
  return { query: made as Json, kind: checkedQuery(made, 'filters').kind, filters: filters as Json }
}
const looks = (context: AccountContext) => ({
  /** Who looked at it last, and when. */
  async viewed({ id: project_id }: ProjectRecord, insights: readonly Insight[], user: User): Promise<void> {
    const viewed_at = context.clock()
    await context.store.write(async (tables) => {
      for (const { id } of insights) {
        const key = { insight_id: id, user_id: user.id }
        const known = await tables.insight_views.update(key, { viewed_at })
        if (known === 0) await tables.insight_views.insert({ id: context.newId(), project_id, ...key, viewed_at })
        await tables.insights.update({ id }, { last_viewed_at: viewed_at })
      }
    })
  },

  /** Those that the user looked at, the last one first, with the time. */
  async lastViewed({ id: project_id }: ProjectRecord, user: User, most: number) {
    const views = await context.store.read.insight_views.find(
      { project_id, user_id: user.id },
      { newestFirst: 'viewed_at', limit: 10 * most },
    )
    const found = await context.store.read.insights.find({ id: views.map((one) => one.insight_id), deleted: false })
    const byId = new Map(found.map((one) => [one.id, one]))
    const known = views.flatMap(({ insight_id, viewed_at }) => {
      const insight = byId.get(insight_id)
      return insight ? [{ insight, viewed_at }] : []
    })
    return known.slice(0, most)
  },
})

export const createInsights = (context: AccountContext) => {
  const { store, clock } = context
  const { read } = store

  return {
    find: (project: ProjectRecord, id: string) => find(read, project, id),
    /** Also a deleted one. */
    findAny: (project: ProjectRecord, id: string) => anyOf(read, project, id),
    placed: (insights: readonly Insight[]) => placed(context, insights),

    async list({ where, condition, ...page }: InsightPage): Promise<{ readonly rows: readonly PlacedInsight[]; readonly count: number }> {
      const [rows, count] = [await read.insights.find(where, { ...condition, ...page }), await read.insights.count(where, condition)]
      return { rows: await placed(context, rows), count }
    },

    async create(place: MemberInProject, body: unknown): Promise<PlacedInsight> {
      const { dashboards = [], query, filters, order, ...given } = check(insightInput, body)
      const now = clock()
      const whole = askedBy({ query, filters })
      if (!whole) throw invalid('This field is required.', 'query', 'required')
      const insight = await writeIn(context, place, async (tables) => {
        const made: Insight = {
          id: await nextNumber(tables, 'insight'),
          project_id: place.project.id,
          short_id: await newShortId(tables),
          name: given.name ?? null,
          derived_name: given.derived_name ?? null,
          description: given.description ?? '',
          position: order ?? null,
          favorited: given.favorited ?? false,
          saved: given.saved ?? dashboards.length > 0,
          deleted: given.deleted ?? false,
          tags: given.tags ?? [],
          ...whole,
          created_at: now,
          created_by_id: place.by.user.id,
          last_modified_at: now,
          last_modified_by_id: place.by.user.id,
          updated_at: now,
          last_viewed_at: null,
        }
        await tables.insights.insert(made)
        await placeOn(tables, place, made, dashboards)
        await note(context, tables, place, 'Insight', null, logged(made, dashboards))
        return made
      })
      return (await placed(context, [insight]))[0]!
    },

    async update(place: MemberInProject, id: string, body: unknown): Promise<PlacedInsight> {
      const { dashboards, query, filters, order, ...given } = check(insightChange, body)
      const insight = await writeIn(context, place, async (tables) => {
        const before = await (given.deleted === false ? anyOf : find)(tables, place.project, id)
        const shownOn = (await tilesOf(tables, [before.id])).map((one) => one.dashboard_id).sort((a, b) => a - b)
        const whole = askedBy({ query, filters }, before)
        const isPlaced = dashboards !== undefined && dashboards.length > 0
        const change: Partial<Insight> = definedOf({
          ...given,
          ...(isPlaced && given.saved === undefined ? { saved: true } : {}),
          ...whole,
          position: order,
          description: given.description === null ? '' : given.description,
        })
        const now = clock()
        const isModified = material.some(
          (field) => change[field] !== undefined && JSON.stringify(change[field]) !== JSON.stringify(before[field]),
        )
        const after: Insight = {
          ...before,
          ...change,
          updated_at: now,
          ...(isModified ? { last_modified_at: now, last_modified_by_id: place.by.user.id } : {}),
        }
        const { id: _, ...columns } = after
        await tables.insights.update({ id: before.id }, columns)
        if (dashboards !== undefined) await placeOn(tables, place, after, dashboards)
        // The answer of the old query is not shown any more, so the new one is computed soon.
        if (whole) await tables.insight_refreshes.update({ insight_id: before.id }, { due_at: now, failures: 0 })
        const shown = [...new Set(dashboards ?? shownOn)].sort((a, b) => a - b)
        await note(context, tables, place, 'Insight', logged(before, shownOn), logged(after, shown))
        return after
      })
      return (await placed(context, [insight]))[0]!
    },
    ...looks(context),
  }
}
export type Insights = ReturnType<typeof createInsights>
