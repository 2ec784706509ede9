import * as z from 'zod'
import { own } from '../../../lib/own.ts'
import { check, integer, listOf, text } from '../../../service/accounts/fields.ts'
import type { Insight } from '../../../service/accounts/records.ts'
import { invalid } from '../../../service/accounts/refusals.ts'
import type { Where } from '../../../service/accounts/store.ts'
import { tagged } from '../../../service/accounts/tags.ts'
import { type InsightPage, insightChange, insightInput, type PlacedInsight } from '../../../service/saved/insights.ts'
import { type AnsweredInsightAnswer, answeredInsightSchema, insightSchema, viewedInsightSchema } from '../../answers/insights.ts'
import { pageSchema } from '../../answers/pages.ts'
import { activityOf, activityOfAll } from '../activity.ts'
import { time } from '../present.ts'
import { queryCallerOf } from '../queries/query-caller.ts'
import { askingParameters, isUsual, readAsking } from '../queries/saved-asking.ts'
import { range } from '../requests/moment.ts'
import { pageBounds, pageWith, paging } from '../requests/pages.ts'
import { defineResource, type ProjectVisit } from '../resource.ts'
import { presentAnswer, presentInsight, privileges } from './insight-format.ts'

const isTrue = (value: string) => /^(true|1|yes)$/i.test(value)

/** The names that clients give the kinds of queries. */
const kinds: Readonly<Record<string, readonly string[]>> = {
  TRENDS: ['TrendsQuery'],
  FUNNELS: ['FunnelsQuery'],
  RETENTION: ['RetentionQuery'],
  PATHS: ['PathsQuery'],
  STICKINESS: ['StickinessQuery'],
  LIFECYCLE: ['LifecycleQuery'],
  SQL: ['HogQLQuery', 'SqlLikeQuery'],
  JSON: ['EventsQuery', 'ActorsQuery'],
}

const orders = ['id', 'name', 'order', 'favorited', 'created_at', 'last_modified_at', 'updated_at', 'last_viewed_at'] as const

const orderOf = (given: string | null): InsightPage['orderBy'] => {
  if (given === null || given === '') return [{ column: 'position' }]
  const column = orders.find((name) => name === given.replace(/^-/, ''))
  if (!column) throw invalid(`Insights cannot be ordered by ${given}. Use one of ${orders.join(', ')}, or -name for descending.`, 'order')
  return [{ column: column === 'order' ? 'position' : column, isDescending: given.startsWith('-') }]
}

const unknownKind = (kind: string): never => {
  throw invalid(`insight must be one of ${Object.keys(kinds).join(', ')}, but it is ${JSON.stringify(kind)}.`, 'insight')
}

/** `5`, `[5, 6]` or `5,6`. */
const idsOf = (given: string, name: string): number[] => {
  const parts = given.replace(/^\[|\]$/g, '').split(',')
  const ids = parts.map((one) => Number(one.trim().replace(/^"|"$/g, '')))
  if (ids.length > mostIds || ids.some((id) => !Number.isSafeInteger(id) || id < 1 || id >= 2 ** 31))
    throw invalid(`${name} must be an id, or a list of at most ${mostIds} ids as in [1, 2].`, name)
  return ids
}
const mostIds = 1000

const textsOf = (given: string): string[] => {
  try {
    const list: unknown = JSON.parse(given)
    if (Array.isArray(list)) return list.map(String)
  } catch {
    // one tag, or several with commas
  }
  return given.split(',')
}

const listParameters = {
  ...paging,
  search: 'Text in the name, the description or a tag',
  saved: '`true`: those that are saved or on a dashboard; `false`: the others',
  favorited: '`true`: favorites',
  user: '`true`: those that the caller created',
  created_by: 'Ids of users',
  short_id: 'The one with this short id',
  insight: `The kind: ${Object.keys(kinds).join(', ')}`,
  dashboards: 'Those on all of these dashboards, as in `[1, 2]`',
  tags: 'Those with all of these tags',
  date_from: 'Changed since: ISO 8601, or as in `-7d`',
  date_to: 'Changed before',
  order: `${orders.join(', ')}; with \`-\` descending`,
  basic: '`true`: without answers',
  refresh: askingParameters.refresh,
}

const pageOf = async (visit: ProjectVisit): Promise<InsightPage> => {
  const { query, project, caller, app } = visit
  const where: { -readonly [C in keyof Where<Insight>]: Where<Insight>[C] } = { project_id: project.id, deleted: false }
  const given = (name: string) => query.get(name) || null
  const saved = given('saved')
  if (saved !== null) where.saved = isTrue(saved)
  const favorited = given('favorited')
  if (favorited !== null && isTrue(favorited)) where.favorited = true
  const user = given('user')
  if (user !== null && isTrue(user)) where.created_by_id = caller.user.id
  const createdBy = given('created_by')
  if (createdBy !== null) where.created_by_id = idsOf(createdBy, 'created_by')
  const shortId = given('short_id')
  if (shortId !== null) where.short_id = shortId
  const kind = given('insight')
  if (kind !== null) where.kind = own(kinds, kind.toUpperCase()) ?? unknownKind(kind)
  const dashboards = given('dashboards')
  if (dashboards !== null) where.id = await app.saved.dashboards.insightsOnAll(project, idsOf(dashboards, 'dashboards'))
  const tags = given('tags')
  const [from, to] = range(visit, 'date_from', 'date_to')
  const search = given('search')
  return {
    where,
    condition: {
      search: [
        ...(search === null ? [] : [{ text: search, in: ['name', 'derived_name', 'description', 'tags'] as const }]),
        ...(tags === null ? [] : textsOf(tags).map((tag) => tagged(tag.trim()))),
      ],
      between: { last_modified_at: { from: from ?? undefined, to: to ?? undefined } },
    },
    orderBy: orderOf(query.get('order')),
    ...pageBounds(query),
  }
}

const retrieving = { ...askingParameters, from_dashboard: 'The id of a dashboard: with the filters and variables that it has there' }

/** The dashboard around it, if the request names one. */
const around = async ({ app, project, query }: ProjectVisit, insight: Insight) => {
  const id = query.get('from_dashboard')
  if (!id) return undefined
  const [first, ...others] = idsOf(id, 'from_dashboard')
  if (others.length > 0) throw invalid('from_dashboard must be one id.', 'from_dashboard')
  return app.saved.dashboards.tileWith(project, first!, insight)
}
type Around = Awaited<ReturnType<typeof around>>

const answered = async (visit: ProjectVisit, placed: PlacedInsight, on?: Around): Promise<AnsweredInsightAnswer> => {
  const { app, project } = visit
  const asking = readAsking(visit.query)
  const answer = await app.saved.answers.ofInsight(project, placed.insight, asking, queryCallerOf(visit), on)
  if (isUsual(asking)) await app.saved.refresher.looked(project, [{ insight: placed.insight, answer }], on?.dashboard)
  return { ...(await presentInsight(app.accounts, placed)), ...presentAnswer(answer), ...privileges(visit) }
}

const insightsOf = (rows: readonly PlacedInsight[]) => rows.map(({ insight }) => insight)

const list = async (visit: ProjectVisit) => {
  const { app, project, query } = visit
  const { rows, count } = await app.saved.insights.list(await pageOf(visit))
  const isBasic = isTrue(query.get('basic') ?? '')
  const computed = isBasic ? await app.saved.answers.computedAt(project, insightsOf(rows)) : []
  const shown = isBasic ? [] : await app.saved.answers.ofAll(project, rows, readAsking(query), queryCallerOf(visit))
  const results = await Promise.all(
    rows.map(async (one, i) => ({
      ...(await presentInsight(app.accounts, one, computed[i])),
      ...(isBasic ? {} : presentAnswer(shown[i]!)),
      ...privileges(visit),
    })),
  )
  return pageWith(results, count, visit)
}

const one = async ({ app, project, params }: ProjectVisit): Promise<PlacedInsight> => {
  const insight = await app.saved.insights.find(project, params.id!)
  return (await app.saved.insights.placed([insight]))[0]!
}

const placeOf = ({ by, project }: ProjectVisit) => ({ by, project })

const viewedInput = z.object({ insight_ids: listOf(integer(1)).max(100, { error: 'At most 100 insights can be marked at once.' }) })
const cancelInput = z.object({ client_query_id: text({ max: 200 }) })

export const insights = defineResource({
  name: 'insights',
  summary: 'Saved queries with their answers ([saved.md](saved.md))',
  path: '/api/projects/:project_id/insights',
  reach: 'project',
  object: 'insight',
  rows: (row) => [
    row({
      method: 'GET',
      name: 'list',
      summary: 'Insights that match the parameters, each with its cached answer',
      answer: pageSchema(z.union([answeredInsightSchema, insightSchema])),
      queryParameters: listParameters,
      limits: ['api', 'query'],
      handle: list,
    }),
    row({
      method: 'POST',
      name: 'create',
      summary: 'Saves a query, or the older `filters`, which are converted to one; it is checked like a query that runs',
      body: insightInput,
      status: 201,
      queryParameters: askingParameters,
      answer: answeredInsightSchema,
      handle: async (visit) => answered(visit, await visit.app.saved.insights.create(placeOf(visit), visit.body)),
    }),
    row({
      method: 'GET',
      path: 'my_last_viewed',
      name: 'my_last_viewed',
      summary: 'The five insights that the caller viewed last',
      answer: z.array(viewedInsightSchema),
      handle: async (visit) => {
        const { app, project, caller } = visit
        const seen = await app.saved.insights.lastViewed(project, caller.user, 5)
        const placed = await app.saved.insights.placed(seen.map(({ insight }) => insight))
        const computed = await app.saved.answers.computedAt(project, insightsOf(placed))
        return Promise.all(
          placed.map(async (one, i) => ({
            ...(await presentInsight(app.accounts, one, computed[i])),
            last_viewed_at: time(seen[i]!.viewed_at),
            ...privileges(visit),
          })),
        )
      },
    }),
    row({
      method: 'POST',
      path: 'viewed',
      name: 'viewed_many',
      summary: 'Marks several insights as viewed by the caller',
      scope: 'insight:read',
      body: viewedInput,
      status: 204,
      handle: async ({ app, project, caller, body }) => {
        const { insight_ids } = check(viewedInput, body)
        const found = await Promise.all(insight_ids.map((id) => app.saved.insights.find(project, String(id))))
        await app.saved.insights.viewed(project, found, caller.user)
      },
    }),
    row({
      method: 'POST',
      path: 'cancel',
      name: 'cancel',
      summary: 'Stops a query by its `client_query_id`',
      scope: 'insight:read',
      body: cancelInput,
      status: 204,
      handle: async ({ app, project, body }) => app.asking.runs.cancel(project.id, check(cancelInput, body).client_query_id),
    }),
    row(activityOfAll('Insight', 'insights')),
    row({
      method: 'GET',
      path: ':id',
      name: 'retrieve',
      summary: 'One insight, by its number or its short id, with its answer',
      queryParameters: retrieving,
      limits: ['api', 'query'],
      answer: answeredInsightSchema,
      handle: async (visit) => {
        const found = await one(visit)
        return answered(visit, found, await around(visit, found.insight))
      },
    }),
    row({
      method: 'PATCH',
      path: ':id',
      name: 'update',
      summary: 'Changes the given fields; `deleted` hides it, or shows it again',
      body: insightChange,
      queryParameters: askingParameters,
      answer: answeredInsightSchema,
      handle: async (visit) => answered(visit, await visit.app.saved.insights.update(placeOf(visit), visit.params.id!, visit.body)),
    }),
    row({
      method: 'POST',
      path: ':id/viewed',
      name: 'viewed',
      summary: 'Marks it as viewed by the caller',
      scope: 'insight:read',
      status: 204,
      handle: async ({ app, project, caller, params }) =>
        app.saved.insights.viewed(project, [await app.saved.insights.find(project, params.id!)], caller.user),
    }),
    row(activityOf('Insight', async ({ app, project, params }) => (await app.saved.insights.findAny(project, params.id!)).id)),
  ],
})
