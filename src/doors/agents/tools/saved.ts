import * as z from 'zod'
import type { DashboardAnswer, WholeDashboardAnswer } from '../../answers/dashboards.ts'
import type { AnsweredInsightAnswer, SavedInsightAnswer } from '../../answers/insights.ts'
import { chartAnswer, fittingTable, rowsText, textAnswer } from '../answers.ts'
import { projectField, type Query } from '../questions.ts'
import { clipped, recorded } from '../recorded.ts'
import { tableOf, tableText } from '../tables.ts'
import { defineTool, type ToolCall } from '../tool.ts'
import { ask } from './ask.ts'

interface Page<T> {
  readonly count: number
  readonly results: readonly T[]
}

/** It becomes part of a path. */
const shortId = z
  .string()
  .regex(/^[\w-]{1,64}$/)
  .describe('Id as list_saved shows it')

const pageLine = (address: string | null) => (address === null ? null : `Page: ${address}`)
const nameOf = ({ name, derived_name: derived }: { readonly name: string | null; readonly derived_name?: string | null }) =>
  name || derived || 'without a name'

/** The question itself, without what says how it is shown. */
const shownQuery = (query: unknown): Query => {
  const { kind, source } = query as { readonly kind?: string; readonly source?: unknown }
  return /^(DataTable|DataVisualization|InsightViz)Node$/.test(kind ?? '') && source ? shownQuery(source) : (query as Query)
}

export const listSaved = defineTool({
  name: 'list_saved',
  title: 'List saved',
  description: 'Saved insights and dashboards, the last changed first. Look here before asking what somebody may have saved.',
  input: z.object({
    project: projectField,
    search: z.string().optional(),
    limit: z.int().min(1).max(100).optional().describe('Of each; default 30'),
    offset: z.int().min(0).optional(),
  }),
  scope: 'insight:read',
  run: async ({ project: id, search, limit = 30, offset = 0 }, call) => {
    const project = await call.project(id)
    const query = { search, limit, offset }
    const [insights, dashboards] = await Promise.all([
      call.api.call<Page<SavedInsightAnswer>>(
        { path: ['projects', project.id, 'insights'], query: { ...query, order: '-last_modified_at', basic: true, saved: true } },
        call.signal,
      ),
      call.api
        .call<Page<DashboardAnswer>>(
          { path: ['projects', project.id, 'dashboards'], query: { ...query, order: '-last_modified_at' } },
          call.signal,
        )
        .catch(() => null),
    ])
    const rows = [
      ...insights.results.map((one) => [
        'insight',
        one.short_id,
        nameOf(one),
        one.query ? shownQuery(one.query).kind : '',
        one.description,
      ]),
      ...(dashboards?.results ?? []).map((one) => ['dashboard', one.id, one.name, '', one.description]),
    ]
    const shown = fittingTable({ columns: ['what', 'id', 'name', 'kind', 'description'], rows }, rows.length)
    const all = insights.count + (dashboards?.count ?? 0)
    const cut = shown.rows.length < all ? `; ${shown.rows.length} are shown, from ${offset}, at most ${limit} of each` : ''
    return textAnswer(
      `${insights.count} insights, ${dashboards?.count ?? 'no access to'} dashboards${cut}. Project ${project.id}.`,
      recorded(tableText(shown)),
    )
  },
})

const insightAt = async ({ api, signal }: ToolCall, project: number, id: string): Promise<AnsweredInsightAnswer> =>
  api.call({ path: ['projects', project, 'insights', id], query: { refresh: 'blocking' } }, signal)

export const getSaved = defineTool({
  name: 'get_saved',
  title: 'Get saved',
  description: 'A saved insight with its current answer and picture, or the tiles of a dashboard with their answers.',
  input: z.object({
    project: projectField,
    insight: shortId.optional(),
    dashboard: z.int().optional(),
  }),
  scope: 'insight:read',
  run: async ({ project: id, insight, dashboard }, call) => {
    const project = await call.project(id)
    if (insight !== undefined) {
      const found = await insightAt(call, project.id, insight)
      const query = shownQuery(found.query)
      const answer = await ask(call, project.id, query)
      return chartAnswer(
        project,
        { query, answer, title: `Insight ${found.short_id}`, name: clipped(nameOf(found), 100), isSaved: true },
        call.api.page(project.id, `insights/${found.short_id}`),
      )
    }
    if (dashboard === undefined) return { ...textAnswer('Pass insight or dashboard: list_saved has the ids.'), isError: true }
    const found = await call.api.call<WholeDashboardAnswer>(
      { path: ['projects', project.id, 'dashboards', dashboard], query: { refresh: 'blocking' } },
      call.signal,
    )
    const tiles = found.tiles.flatMap(({ insight: one, text }) => {
      if (!one) return text ? [recorded(clipped(text.body, 1_000))] : []
      const { head, data } = rowsText(tableOf({ results: one.result, columns: (one as { columns?: unknown }).columns }), { rows: 20 })
      return [`Insight ${one.short_id}: ${head}\n${recorded(clipped(nameOf(one), 100))}\n${data}`]
    })
    return textAnswer(
      `Dashboard ${found.id}, ${found.tiles.length} tiles. Project ${project.id}.`,
      recorded(clipped(found.name ?? '', 100)),
      pageLine(call.api.page(project.id, `dashboards/${found.id}`)),
      ...tiles,
    )
  },
})

export const saveInsight = defineTool({
  name: 'save_insight',
  title: 'Save insight',
  description: 'Saves a query that a query_ tool printed, or a statement, as an insight that people find in the list.',
  input: z.object({
    project: projectField,
    name: z.string().min(1).max(400),
    description: z.string().max(2_000).optional(),
    query: z.record(z.string(), z.unknown()).optional().describe('As printed by a query_ tool'),
    sql: z.string().optional().describe('In place of query'),
    dashboard: z.int().optional().describe('Also put it on this dashboard'),
  }),
  scope: 'insight:write',
  run: async ({ project: id, name, description, query, sql, dashboard }, call) => {
    const project = await call.project(id)
    if ((query === undefined) === (sql === undefined)) return { ...textAnswer('Pass either query or sql.'), isError: true }
    const body = {
      name,
      ...(description !== undefined && { description }),
      query: query ?? { kind: 'DataTableNode', source: { kind: 'SqlLikeQuery', query: sql } },
      saved: true,
      ...(dashboard !== undefined && { dashboards: [dashboard] }),
    }
    const made = await call.api.call<AnsweredInsightAnswer>(
      { method: 'POST', path: ['projects', project.id, 'insights'], body },
      call.signal,
    )
    return textAnswer(
      `Saved as insight ${made.short_id}${dashboard === undefined ? '' : ` on dashboard ${dashboard}`}.`,
      pageLine(call.api.page(project.id, `insights/${made.short_id}`)),
    )
  },
})

export const addToDashboard = defineTool({
  name: 'add_to_dashboard',
  title: 'Add to dashboard',
  description: 'Puts a saved insight on a dashboard, or on a new one with this name.',
  input: z.object({
    project: projectField,
    insight: shortId,
    dashboard: z.int().optional(),
    new_dashboard: z.string().min(1).max(400).optional().describe('Name of a dashboard to make'),
  }),
  scope: 'dashboard:write',
  run: async ({ project: id, insight, dashboard, new_dashboard: name }, call) => {
    const project = await call.project(id)
    if ((dashboard === undefined) === (name === undefined))
      return { ...textAnswer('Pass either dashboard or new_dashboard.'), isError: true }
    const found = await call.api.call<SavedInsightAnswer>({ path: ['projects', project.id, 'insights', insight] }, call.signal)
    const tiles = [{ insight: found.id }]
    const made = await call.api.call<WholeDashboardAnswer>(
      dashboard === undefined
        ? { method: 'POST', path: ['projects', project.id, 'dashboards'], body: { name, tiles } }
        : { method: 'PATCH', path: ['projects', project.id, 'dashboards', dashboard], body: { tiles } },
      call.signal,
    )
    return textAnswer(`Insight ${found.short_id} is on dashboard ${made.id}.`, pageLine(call.api.page(project.id, `dashboards/${made.id}`)))
  },
})

export const annotate = defineTool({
  name: 'annotate',
  title: 'Annotate',
  description: 'Marks a moment in all charts of the project with a text: a release, a campaign, an outage.',
  input: z.object({
    project: projectField,
    text: z.string().min(1).max(400),
    at: z.string().optional().describe('Date or time, ISO 8601; default: now'),
  }),
  scope: 'annotation:write',
  run: async ({ project: id, text, at }, call) => {
    const project = await call.project(id)
    const body = { content: text, date_marker: at ?? new Date().toISOString(), scope: 'project' }
    const made = await call.api.call<{ readonly id: number; readonly date_marker: string | null }>(
      { method: 'POST', path: ['projects', project.id, 'annotations'], body },
      call.signal,
    )
    return textAnswer(`Annotation ${made.id} at ${made.date_marker}.`)
  },
})

const cohortFilter = z.object({
  key: z.string(),
  operator: z.string().optional().describe('Default: exact; others as of filters'),
  value: z.unknown().optional(),
})

export const createCohort = defineTool({
  name: 'create_cohort',
  title: 'Create cohort',
  description:
    'A group of people with a name: by properties (kept up to date), or those that a query lists now, as list_people does (fixed).',
  input: z.object({
    project: projectField,
    name: z.string().min(1).max(400),
    properties: z.array(cohortFilter).optional().describe('Properties of people that must all hold'),
    sql: z.string().optional().describe('select person_id from events where … : the people of now'),
  }),
  scope: 'cohort:write',
  run: async ({ project: id, name, properties, sql }, call) => {
    const project = await call.project(id)
    if ((properties === undefined) === (sql === undefined)) return { ...textAnswer('Pass either properties or sql.'), isError: true }
    const conditions = (properties ?? []).map(({ key, operator = 'exact', value }) => ({
      key,
      type: 'person',
      operator,
      ...(value !== undefined && { value }),
    }))
    const body =
      sql === undefined
        ? { name, filters: { properties: { type: 'AND', values: [{ type: 'AND', values: conditions }] } } }
        : { name, is_static: true, query: { kind: 'SqlLikeQuery', query: sql } }
    const made = await call.api.call<{ readonly id: number; readonly count: number | null }>(
      { method: 'POST', path: ['projects', project.id, 'cohorts'], body },
      call.signal,
    )
    return textAnswer(`Cohort ${made.id}, ${made.count ?? 0} people.`, pageLine(call.api.page(project.id, `cohorts/${made.id}`)))
  },
})
