import * as z from 'zod'
import { intervals } from '../../lib/time/calendar.ts'
import { fields } from '../fields.ts'
import { compareFilterSchema, dateRangeSchema, everyQuery } from '../schemas.ts'
import { conversionGoalSchema } from '../series/conversion-goal.ts'
import { filtersSchema } from '../series/series.ts'

const nullish = <T extends z.ZodType>(schema: T) => schema.nullish()

const rateSchema = fields({ numerator: z.number().positive(), denominator: nullish(z.number().positive()) }, 'range').refine(
  ({ numerator, denominator }) => numerator <= (denominator ?? 1),
  { error: 'A sampling rate must be at most 1.' },
)

const noColumn = (name: string) => nullish(z.literal(false, { error: `${name} is not supported: leave it out.` }))

const events = {
  ...everyQuery,
  dateRange: nullish(dateRangeSchema),
  /** How the ends of the range are rounded, as for trends: these kinds have no buckets. */
  interval: nullish(z.enum(intervals)),
  properties: nullish(filtersSchema),
  filterTestAccounts: nullish(z.boolean()),
  /** Applies the path cleaning rules of the project. */
  doPathCleaning: nullish(z.boolean()),
  samplingFactor: nullish(z.number().gt(0).lte(1)),
  /** Without a rate, nothing is left out. */
  sampling: nullish(fields({ enabled: nullish(z.boolean()), forceSamplingRate: nullish(rateSchema) }, 'range')),
  includeRevenue: nullish(z.literal(false, { error: 'Revenue is not supported: leave includeRevenue out.' })),
  includeHost: noColumn('includeHost'),
  includeAvgTimeOnPage: noColumn('includeAvgTimeOnPage'),
  useSessionsTable: z.unknown().optional(),
  /** Clients send it for all insights; web analytics always counts visitors. */
  aggregation_group_type_index: z.null({ error: 'Web analytics counts visitors: leave aggregation_group_type_index out.' }).optional(),
}
const sessions = { ...events, compareFilter: nullish(compareFilterSchema), conversionGoal: nullish(conversionGoalSchema) }

const directions = ['ASC', 'DESC'] as const
const orderedBy = <T extends readonly [string, ...string[]]>(columns: T) =>
  nullish(z.tuple([z.enum(columns), z.enum(directions)], { error: 'An order must be a column and a direction, as in ["Views", "DESC"].' }))

const page = { limit: nullish(z.number().int().min(1)), offset: nullish(z.number().int().min(0)) }

export const overviewSchema = fields({ ...sessions, kind: z.literal('WebOverviewQuery'), orderBy: z.null().optional() }, 'query')
export type WebOverviewQuery = z.infer<typeof overviewSchema>

export const breakdowns = [
  'Page',
  'InitialPage',
  'ExitPage',
  'ExitClick',
  'PreviousPage',
  'ScreenName',
  'InitialChannelType',
  'InitialReferringDomain',
  'InitialUTMSource',
  'InitialUTMCampaign',
  'InitialUTMMedium',
  'InitialUTMTerm',
  'InitialUTMContent',
  'InitialUTMSourceMediumCampaign',
  'Browser',
  'OS',
  'Viewport',
  'DeviceType',
  'Country',
  'Region',
  'City',
  'Timezone',
  'Language',
  'FrustrationMetrics',
] as const
export type WebBreakdown = (typeof breakdowns)[number]

export const tableOrders = [
  'Visitors',
  'Views',
  'Clicks',
  'BounceRate',
  'AverageScrollPercentage',
  'ScrollGt80Percentage',
  'TotalConversions',
  'UniqueConversions',
  'ConversionRate',
  'RageClicks',
  'DeadClicks',
  'Errors',
] as const

export const statsTableSchema = fields(
  {
    ...sessions,
    ...page,
    kind: z.literal('WebStatsTableQuery'),
    breakdownBy: z.enum(breakdowns),
    includeBounceRate: nullish(z.boolean()),
    /** Of pages; the bounce rate comes with it. */
    includeScrollDepth: nullish(z.boolean()),
    orderBy: orderedBy(tableOrders),
  },
  'query',
)
export type WebStatsTableQuery = z.infer<typeof statsTableSchema>

export const mostGoals = 50
export const goalOrders = ['ConvertingUsers', 'TotalConversions', 'ConversionRate'] as const
export const goalsSchema = fields(
  {
    ...events,
    ...page,
    kind: z.literal('WebGoalsQuery'),
    compareFilter: nullish(compareFilterSchema),
    conversionGoal: z.null().optional(),
    orderBy: orderedBy(goalOrders),
  },
  'query',
)
export type WebGoalsQuery = z.infer<typeof goalsSchema>

const noConversions = { compareFilter: z.null().optional(), conversionGoal: z.null().optional(), orderBy: z.null().optional() }

export const externalClicksSchema = fields(
  {
    ...events,
    ...page,
    kind: z.literal('WebExternalClicksTableQuery'),
    compareFilter: nullish(compareFilterSchema),
    conversionGoal: z.null().optional(),
    /** Pages that differ only in their query string are one. */
    stripQueryParams: nullish(z.boolean()),
    orderBy: orderedBy(['Visitors', 'Clicks']),
  },
  'query',
)
export type WebExternalClicksTableQuery = z.infer<typeof externalClicksSchema>

export const vitalsSchema = fields(
  {
    ...events,
    ...noConversions,
    kind: z.literal('WebVitalsPathBreakdownQuery'),
    metric: z.enum(['INP', 'LCP', 'CLS', 'FCP']),
    percentile: z.enum(['p75', 'p90', 'p99']),
    /** Good up to the first, poor above the second one. */
    thresholds: z.array(z.number()).length(2, { error: 'Thresholds must be two numbers, as in [200, 500].' }),
  },
  'query',
)
export type WebVitalsPathBreakdownQuery = z.infer<typeof vitalsSchema>

export const urlSearchSchema = fields(
  {
    ...events,
    ...noConversions,
    kind: z.literal('WebPageURLSearchQuery'),
    searchTerm: nullish(z.string()),
    stripQueryParams: nullish(z.boolean()),
    limit: page.limit,
  },
  'query',
)
export type WebPageURLSearchQuery = z.infer<typeof urlSearchSchema>
