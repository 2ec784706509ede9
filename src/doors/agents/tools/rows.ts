import * as z from 'zod'
import { mostRows, rowsText, textAnswer, warningsText } from '../answers.ts'
import { filterOf, filters, projectField, type Query } from '../questions.ts'
import { tableOf } from '../tables.ts'
import { defineTool } from '../tool.ts'
import { ask } from './ask.ts'

export const runSql = defineTool({
  name: 'run_sql',
  title: 'Run SQL',
  description: `One SELECT over events, persons, groups, sessions, cohort_people. Properties: properties.plan, person.properties.email. Functions as in ClickHouse (toDate, countIf, uniq, dateDiff …). At most ${mostRows} rows are shown: aggregate, or use LIMIT and OFFSET. Errors have a position and the likely name.`,
  input: z.object({
    project: projectField,
    query: z
      .string()
      .min(1)
      .describe('select event, count() from events where timestamp > now() - interval 7 day group by event order by 2 desc limit 20'),
    limit: z.int().min(1).max(mostRows).optional().describe(`Rows shown; default ${mostRows}`),
  }),
  scope: 'query:read',
  run: async ({ project: id, query, limit }, call) => {
    const project = await call.project(id)
    const answer = await ask(call, project.id, { kind: 'SqlLikeQuery', query })
    const { head, data } = rowsText(tableOf(answer), { hasMore: answer.hasMore === true, ...(limit !== undefined && { rows: limit }) })
    return textAnswer(`${head} Project ${project.id}.`, data, warningsText(answer), page(call.api.page(project.id, 'sql', { q: query })))
  },
})

const page = (address: string | null) => (address === null ? null : `Page: ${address}`)

const cellFields = {
  query: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('The query that a query_ tool printed; without it, people of the whole project'),
  day: z.union([z.string(), z.int()]).optional().describe('Trends, lifecycle: the date of the row. Stickiness: the number of intervals'),
  series: z.int().min(0).optional().describe('Trends, stickiness: index of the series; default 0'),
  breakdown: z.union([z.string(), z.int()]).optional().describe('Value of the breakdown'),
  status: z.enum(['new', 'returning', 'resurrecting', 'dormant']).optional().describe('Lifecycle'),
  step: z.int().optional().describe('Funnel: 2 reached the second step, -2 dropped off before it'),
  interval: z.int().min(0).optional().describe('Retention: the row, counted from 0'),
  from_item: z.string().optional().describe('Paths: source of an edge, as 1_/home'),
  to_item: z.string().optional().describe('Paths: target of an edge'),
}

type Cell = z.output<z.ZodObject<typeof cellFields>>

const given = (fields: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

/** The query that lists the people behind a number. */
function sourceOf({ query, day, series, breakdown, status, step, interval, from_item: from, to_item: to }: Cell): Query | null {
  if (query === undefined) return null
  const source = query as Query
  if (source.kind === 'FunnelsQuery')
    return {
      kind: 'FunnelsActorsQuery',
      source,
      ...given({
        funnelStep: day === undefined ? (step ?? 1) : undefined,
        funnelStepBreakdown: breakdown,
        funnelTrendsEntrancePeriodStart: day,
        funnelTrendsDropOff: day === undefined ? undefined : false,
      }),
    }
  if (source.kind === 'PathsQuery') {
    const pathsFilter = { ...(source.pathsFilter as object), ...given({ pathStartKey: from, pathEndKey: to }) }
    return { kind: 'InsightActorsQuery', source: { ...source, pathsFilter } }
  }
  return {
    kind: 'InsightActorsQuery',
    source,
    ...given({ day, series: source.kind === 'TrendsQuery' ? (series ?? 0) : series, breakdown, status, interval }),
  }
}

export const listEvents = defineTool({
  name: 'list_events',
  title: 'List events',
  description:
    'Single events with their properties, the latest first, or by a property: which were the last purchases, which was the largest.',
  input: z.object({
    project: projectField,
    event: z.string().optional(),
    filters,
    properties: z.array(z.string()).max(20).optional().describe('Properties of the event to show; default: all, as JSON'),
    order_by: z.string().optional().describe('Property to order by, the largest first; default: time'),
    date_from: z.string().optional().describe('As of query_trends; default: -30d'),
    date_to: z.string().optional(),
    limit: z.int().min(1).max(mostRows).optional().describe('Default 20'),
    offset: z.int().min(0).optional(),
  }),
  scope: 'query:read',
  run: async (
    {
      project: id,
      event,
      filters: conditions,
      properties,
      order_by: by,
      date_from: after = '-30d',
      date_to: before,
      limit = 20,
      offset = 0,
    },
    call,
  ) => {
    const project = await call.project(id)
    const shown = properties?.map((name) => `properties.${quotedName(name)}`) ?? ['toString(properties)']
    const answer = await ask(call, project.id, {
      kind: 'EventsQuery',
      select: ['event', 'timestamp', 'distinct_id', ...shown],
      ...(event !== undefined && { event }),
      ...(conditions?.length && { properties: conditions.map(filterOf) }),
      orderBy: [by === undefined ? 'timestamp DESC' : `toFloat(properties.${quotedName(by)}) DESC`],
      after,
      ...(before !== undefined && { before }),
      limit,
      offset,
    })
    const columns = ['event', 'timestamp', 'distinct_id', ...(properties ?? ['properties'])]
    const { head, data } = rowsText({ columns, rows: tableOf(answer).rows }, { hasMore: answer.hasMore === true })
    return textAnswer(`Events: ${head} Project ${project.id}. Offset ${offset}.`, data, warningsText(answer))
  },
})

export const listPeople = defineTool({
  name: 'list_people',
  title: 'List people',
  description:
    'The people behind a number of a query_ tool: pass the query that it printed, and the cell (day, series, breakdown, step …). Without query: people by search and property.',
  input: z.object({
    project: projectField,
    ...cellFields,
    search: z.string().optional().describe('Part of the name, e-mail or an id'),
    properties: z.array(z.string()).max(10).optional().describe('Properties to show; default: name and email'),
    limit: z.int().min(1).max(mostRows).optional().describe('Default 50'),
    offset: z.int().min(0).optional(),
  }),
  scope: 'query:read',
  run: async ({ project: id, search, properties, limit = 50, offset, ...cell }, call) => {
    const project = await call.project(id)
    const source = sourceOf(cell)
    const names = properties ?? ['name', 'email']
    const answer = await ask(call, project.id, {
      kind: 'ActorsQuery',
      select: ['actor', 'created_at', ...names.map((name) => `properties.${quotedName(name)}`)],
      ...(source && { source }),
      ...(search !== undefined && { search }),
      limit,
      ...(offset !== undefined && { offset }),
    })
    const { head, data } = rowsText(
      {
        columns: ['person_id', 'distinct_id', 'created_at', ...names],
        rows: tableOf(answer).rows.map(([actor, ...rest]) => [...idsOf(actor), ...rest]),
      },
      { hasMore: answer.hasMore === true },
    )
    return textAnswer(
      `People: ${head} Project ${project.id}. Offset ${offset ?? 0}.`,
      data,
      warningsText(answer),
      source === null ? page(call.api.page(project.id, 'people')) : null,
    )
  },
})

/** Of a person or a group. */
const idsOf = (actor: unknown): readonly unknown[] => {
  const { id, distinct_ids: ids } = actor as { readonly id?: unknown; readonly distinct_ids?: readonly unknown[] }
  return [id, ids?.[0] ?? null]
}

/** A name is one: backticks in it are doubled. */
const quotedName = (name: string) => `\`${name.replaceAll('`', '``')}\``
