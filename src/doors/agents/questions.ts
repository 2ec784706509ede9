import * as z from 'zod'
import { breakdowns } from '../../queries/web/schema.ts'

// What agents ask, in few words, and the query of the API that it means. Names are those of the API where it has one.

export type Query = { readonly kind: string } & Readonly<Record<string, unknown>>

const mathWords: Readonly<Record<string, string>> = {
  dau: 'people',
  weekly_active: 'people of 7 days',
  monthly_active: 'people of 30 days',
  unique_session: 'sessions',
  first_time_for_user: 'people for the first time',
}

/** What to call the series of a trend; their answers have only the name of the event. */
export function seriesNamesOf({ kind, series, trendsFilter }: Query): readonly string[] {
  const { formula } = (trendsFilter ?? {}) as { readonly formula?: string }
  if (kind !== 'TrendsQuery' || formula !== undefined || !Array.isArray(series)) return []
  return (series as readonly Readonly<Record<string, unknown>>[]).map(
    ({ custom_name: name, event, id, math = 'total', math_property: property }) => {
      const what = id === undefined ? String(event ?? 'all events') : `action ${String(id)}`
      if (name) return String(name)
      if (math === 'total') return what
      return `${mathWords[String(math)] ?? (property === undefined ? String(math) : `${String(math)} of ${String(property)}`)}, ${what}`
    },
  )
}

/** Properties that a question names, of events and of people. */
export function propertiesOf(query: Query): { readonly event: ReadonlySet<string>; readonly person: ReadonlySet<string> } {
  const found = { event: new Set<string>(), person: new Set<string>() }
  const visit = (value: unknown): void => {
    if (value === null || typeof value !== 'object') return
    const { key, property, math_property: counted, type, operator } = value as Readonly<Record<string, unknown>>
    if (typeof counted === 'string') found.event.add(counted)
    const name = operator === undefined ? property : key
    if (typeof name === 'string' && (type === 'event' || type === 'person')) found[type].add(name)
    for (const inner of Object.values(value)) visit(inner)
  }
  visit(query)
  return found
}

export const projectField = z.int().min(1).optional().describe('Id of the project; default: the current one of the user')

const operators = [
  'exact',
  'is_not',
  'icontains',
  'not_icontains',
  'regex',
  'not_regex',
  'gt',
  'gte',
  'lt',
  'lte',
  'is_set',
  'is_not_set',
  'is_date_before',
  'is_date_after',
  'in',
  'not_in',
] as const

const filterSchema = z.object({
  key: z.string().describe('Name of the property; for a cohort: id'),
  type: z.enum(['event', 'person', 'session', 'group', 'cohort']).default('event'),
  operator: z.enum(operators).optional().describe('Default: exact; for a cohort: in'),
  value: z.unknown().optional().describe('A value, or a list of which one must match; for a cohort: its id'),
  group_type_index: z.int().optional(),
})
type Filter = z.output<typeof filterSchema>

export const filters = z.array(filterSchema).optional().describe('Conditions that must all hold')

/** A series of a trend, a step of a funnel. */
const eventSchema = z.object({
  event: z.string().nullish().describe('Name of the event, as describe_data lists it; null: every event'),
  action: z.int().optional().describe('Id of an action, in place of an event'),
  name: z.string().optional().describe('What to call it'),
  filters,
})
type Event = z.output<typeof eventSchema>

const maths = [
  'total',
  'dau',
  'weekly_active',
  'monthly_active',
  'unique_session',
  'first_time_for_user',
  'sum',
  'avg',
  'median',
  'p90',
  'p95',
  'p99',
  'min',
  'max',
] as const

const seriesSchema = eventSchema.extend({
  math: z
    .enum(maths)
    .optional()
    .describe(
      'total: events (default); dau: different people, in each interval or, for one total, in the whole range; first_time_for_user: people who do this event for the first time ever; sum, avg, … of property',
    ),
  property: z.string().optional().describe('Numeric property of the event, for sum, avg, median, p90, p95, p99, min, max'),
})

const dates = {
  date_from: z.string().optional().describe('-30d, -12w, mStart, 2026-01-31, or all; default -7d'),
  date_to: z.string().optional().describe('Same forms; the whole of that day; default: now'),
}
const shared = {
  project: projectField,
  ...dates,
  filters,
  exclude_test_accounts: z.boolean().optional().describe("Leave out the project's own test accounts"),
}
const interval = z.enum(['minute', 'hour', 'day', 'week', 'month']).optional()

const breakdown = z
  .object({
    property: z.union([z.string(), z.int()]).describe('Name of a property, or id of a cohort'),
    type: z
      .enum(['event', 'person', 'session', 'group', 'cohort'])
      .default('event')
      .describe('Where the property is, as describe_data lists it'),
    group_type_index: z.int().optional(),
    limit: z.int().min(1).max(100).optional().describe('Values shown, the largest first, the others as Other; default 25'),
  })
  .optional()
const compare = z.boolean().optional().describe('Also for the period before')

export const filterOf = ({ type, operator, value, ...filter }: Filter) => ({
  ...filter,
  type,
  operator: operator ?? (type === 'cohort' ? 'in' : 'exact'),
  ...(value !== undefined && { value }),
})
const nodeOf = ({ event, action, name, filters: own }: Event) => ({
  ...(action === undefined ? { kind: 'EventsNode', event: event ?? null } : { kind: 'ActionsNode', id: action }),
  ...(name !== undefined && { custom_name: name }),
  ...(own?.length && { properties: own.map(filterOf) }),
})
const sharedOf = (asked: z.output<z.ZodObject<typeof shared>>) => ({
  ...((asked.date_from ?? asked.date_to) !== undefined && {
    dateRange: {
      ...(asked.date_from !== undefined && { date_from: asked.date_from }),
      ...(asked.date_to !== undefined && { date_to: asked.date_to }),
    },
  }),
  ...(asked.filters?.length && { properties: asked.filters.map(filterOf) }),
  ...(asked.exclude_test_accounts && { filterTestAccounts: true }),
})
const breakdownOf = (asked: z.output<typeof breakdown>) =>
  asked && {
    breakdownFilter:
      asked.type === 'cohort'
        ? { breakdown_type: 'cohort', breakdown: [asked.property] }
        : {
            breakdowns: [
              {
                property: asked.property,
                type: asked.type,
                ...(asked.group_type_index !== undefined && { group_type_index: asked.group_type_index }),
              },
            ],
            ...(asked.limit !== undefined && { breakdown_limit: asked.limit }),
          },
  }
const compared = (asked: boolean | undefined) => asked && { compareFilter: { compare: true } }

const displays = {
  line: 'ActionsLineGraph',
  bar: 'ActionsBar',
  area: 'ActionsAreaGraph',
  cumulative: 'ActionsLineGraphCumulative',
  number: 'BoldNumber',
  pie: 'ActionsPie',
  total_bar: 'ActionsBarValue',
  table: 'ActionsTable',
  map: 'WorldMap',
} as const
const displayNames = Object.keys(displays) as (keyof typeof displays)[]

interface Question<S extends z.ZodObject> {
  readonly title: string
  readonly description: string
  readonly input: S
  readonly queryOf: (asked: z.output<S>) => Query
}
const question = <S extends z.ZodObject>(one: Question<S>): Question<S> => one

export const questions = {
  query_trends: question({
    title: 'Trends',
    description:
      'Counts events or people over time, or in total, with breakdown and formulas: how many, how much, which most. For single events use list_events.',
    input: z.object({
      series: z.array(seriesSchema).min(1).max(10),
      formula: z.string().optional().describe('Of the series, in place of them: A / B * 100. 0 where it divides by 0'),
      interval,
      breakdown,
      compare,
      display: z
        .enum(displayNames)
        .optional()
        .describe(
          'line (default), bar, area, cumulative (each person once): over time; number, pie, total_bar, table, map: one total for the range',
        ),
      ...shared,
    }),
    queryOf: (asked) => ({
      kind: 'TrendsQuery',
      series: asked.series.map(({ math, property, ...event }) => ({
        ...nodeOf(event),
        ...(math !== undefined && { math }),
        ...(property !== undefined && { math_property: property }),
      })),
      ...(asked.interval && { interval: asked.interval }),
      ...((asked.display ?? asked.formula) !== undefined && {
        trendsFilter: {
          ...(asked.display && { display: displays[asked.display] }),
          ...(asked.formula !== undefined && { formula: asked.formula }),
        },
      }),
      ...breakdownOf(asked.breakdown),
      ...compared(asked.compare),
      ...sharedOf(asked),
    }),
  }),
  query_funnel: question({
    title: 'Funnel',
    description: 'How many people do one step after the other, within a time limit: conversion, drop-off, time to convert.',
    input: z.object({
      steps: z.array(eventSchema).min(2).max(20),
      order: z
        .enum(['ordered', 'strict', 'unordered'])
        .optional()
        .describe('ordered: other events may come between (default); strict: none; unordered: in any order'),
      within: z.int().min(1).optional().describe('Time limit from the first step; default 14 days'),
      within_unit: z.enum(['second', 'minute', 'hour', 'day', 'week', 'month']).optional(),
      view: z
        .enum(['steps', 'trends', 'time_to_convert'])
        .optional()
        .describe(
          'steps (default): counts, average and median seconds; trends: conversion by interval; time_to_convert: people by how long it took',
        ),
      interval,
      breakdown,
      ...shared,
    }),
    queryOf: (asked) => ({
      kind: 'FunnelsQuery',
      series: asked.steps.map(nodeOf),
      ...(asked.interval && { interval: asked.interval }),
      funnelsFilter: {
        ...(asked.view && { funnelVizType: asked.view }),
        ...(asked.order && { funnelOrderType: asked.order }),
        ...(asked.within !== undefined && { funnelWindowInterval: asked.within }),
        ...(asked.within_unit && { funnelWindowIntervalUnit: asked.within_unit }),
      },
      ...breakdownOf(asked.breakdown),
      ...sharedOf(asked),
    }),
  }),
  query_retention: question({
    title: 'Retention',
    description: 'Of people who did one event in a period, how many did another one (or the same) in the periods after it.',
    input: z.object({
      start: eventSchema.omit({ name: true }).optional().describe('What begins it; default: $pageview'),
      returning: eventSchema.omit({ name: true }).optional().describe('What counts as coming back; default: $pageview'),
      period: z.enum(['Hour', 'Day', 'Week', 'Month']).optional().describe('Default: Day'),
      periods: z
        .int()
        .min(1)
        .max(100)
        .optional()
        .describe('How many periods, the first one included; default 8. The range ends with date_to'),
      first_time: z.boolean().optional().describe('Only people who did the first event for the first time in the range'),
      breakdown,
      project: projectField,
      date_to: dates.date_to,
      filters,
      exclude_test_accounts: shared.exclude_test_accounts,
    }),
    queryOf: (asked) => {
      const entity = ({ event, action, filters: own }: Event) => ({
        ...(action === undefined ? { id: event ?? null, type: 'events' } : { id: action, type: 'actions' }),
        ...(own?.length && { properties: own.map(filterOf) }),
      })
      return {
        kind: 'RetentionQuery',
        retentionFilter: {
          ...(asked.start && { targetEntity: entity(asked.start) }),
          ...(asked.returning && { returningEntity: entity(asked.returning) }),
          period: asked.period ?? 'Day',
          totalIntervals: asked.periods ?? 8,
          retentionType: asked.first_time ? 'retention_first_time' : 'retention_recurring',
        },
        ...breakdownOf(asked.breakdown),
        ...sharedOf({ ...asked, date_from: undefined }),
      }
    },
  }),
  query_paths: question({
    title: 'Paths',
    description: 'Which pages or events people go through, one after the other, as edges with the number of people.',
    input: z.object({
      include: z.array(z.string()).optional().describe('$pageview (by page), $screen, custom_event, or names of events; default: all'),
      start: z.string().optional().describe('The page or event that paths begin with'),
      end: z.string().optional().describe('The page or event that paths end with'),
      steps: z.int().min(2).max(20).optional().describe('Default 5'),
      edges: z.int().min(1).max(500).optional().describe('The most frequent ones; default 50'),
      ...shared,
    }),
    queryOf: (asked) => ({
      kind: 'PathsQuery',
      pathsFilter: {
        ...(asked.include && { includeEventTypes: asked.include }),
        ...(asked.start !== undefined && { startPoint: asked.start }),
        ...(asked.end !== undefined && { endPoint: asked.end }),
        ...(asked.steps !== undefined && { stepLimit: asked.steps }),
        ...(asked.edges !== undefined && { edgeLimit: asked.edges }),
      },
      ...sharedOf(asked),
    }),
  }),
  query_stickiness: question({
    title: 'Stickiness',
    description: 'In how many intervals of the range people did an event: on one day, on two, …',
    input: z.object({ series: z.array(eventSchema).min(1).max(10), interval, compare, ...shared }),
    queryOf: (asked) => ({
      kind: 'StickinessQuery',
      series: asked.series.map(nodeOf),
      ...(asked.interval && { interval: asked.interval }),
      ...compared(asked.compare),
      ...sharedOf(asked),
    }),
  }),
  query_lifecycle: question({
    title: 'Lifecycle',
    description: 'People of each interval as new, returning, resurrecting and dormant, by one event.',
    input: z.object({ event: eventSchema, interval, ...shared }),
    queryOf: (asked) => ({
      kind: 'LifecycleQuery',
      series: [nodeOf(asked.event)],
      ...(asked.interval && { interval: asked.interval }),
      ...sharedOf(asked),
    }),
  }),
  query_web: question({
    title: 'Web analytics',
    description: 'Visitors, views, sessions, bounce rate of a site as a whole, or by page, source, country, device …',
    input: z.object({
      by: z.enum(breakdowns).optional().describe('Default: none, the figures of the whole site beside those of the period before'),
      include_bounce_rate: z.boolean().optional(),
      limit: z.int().min(1).max(500).optional(),
      ...shared,
    }),
    queryOf: (asked) => ({
      ...(asked.by === undefined
        ? { kind: 'WebOverviewQuery', compareFilter: { compare: true } }
        : {
            kind: 'WebStatsTableQuery',
            breakdownBy: asked.by,
            ...(asked.include_bounce_rate && { includeBounceRate: true }),
            ...(asked.limit !== undefined && { limit: asked.limit }),
          }),
      ...sharedOf(asked),
    }),
  }),
} as const
