import * as z from 'zod'
import { noneOf, pathText } from '../../errors/validation.ts'
import { intervals } from '../../lib/time/calendar.ts'
import { fields } from '../fields.ts'
import { type BreakdownFilter, breakdownFilterSchema, compareFilterSchema, dateRangeSchema, everyQuery } from '../schemas.ts'
import { conversionGoalSchema } from '../series/conversion-goal.ts'
import { type Counted, mathFacts } from '../series/maths.ts'
import { filtersSchema, groupTypeIndex, type SeriesNode, seriesNodeSchema } from '../series/series.ts'
import { parseFormula } from './formula.ts'

const nullish = <T extends z.ZodType>(schema: T) => schema.nullish()

export const displays = [
  'ActionsLineGraph',
  'ActionsLineGraphCumulative',
  'ActionsBar',
  'ActionsUnstackedBar',
  'ActionsStackedBar',
  'ActionsAreaGraph',
  'BoldNumber',
  'ActionsPie',
  'ActionsBarValue',
  'ActionsTable',
  'WorldMap',
  'RegionMap',
  'Metric',
  'TwoDimensionalHeatmap',
  'CalendarHeatmap',
  'BoxPlot',
  'SlopeGraph',
] as const
export type Display = (typeof displays)[number]

/** There is no data warehouse; older clients name the property's own table. */
const mathPropertyTypes = ['event_properties', 'event', 'person_properties', 'session_properties']

export const trendsSchema = fields(
  {
    ...everyQuery,
    kind: z.literal('TrendsQuery'),
    series: z.array(seriesNodeSchema).min(1, { error: 'A trends query needs at least one series.' }),
    interval: nullish(z.enum(intervals)),
    dateRange: nullish(dateRangeSchema),
    breakdownFilter: nullish(breakdownFilterSchema),
    compareFilter: nullish(compareFilterSchema),
    conversionGoal: nullish(conversionGoalSchema),
    /** A person counts in the cell in which the session began. */
    calendarHeatmapFilter: nullish(fields({ bucketBySessionStart: nullish(z.boolean()) }, 'range')),
    trendsFilter: nullish(
      fields(
        {
          display: nullish(z.enum(displays)),
          formula: nullish(z.string()),
          formulas: nullish(z.array(z.string())),
          formulaNodes: nullish(z.array(fields({ formula: z.string(), custom_name: z.string().nullish() }, 'range'))),
          smoothingIntervals: nullish(z.number().int().min(1)),
        },
        'trendsFilter',
      ),
    ),
    properties: nullish(filtersSchema),
    filterTestAccounts: nullish(z.boolean()),
    /** Filters on sessions are also about events without a session id, by the sessions that web analytics makes of them. */
    madeSessions: nullish(z.boolean()),
    samplingFactor: nullish(z.number().gt(0).lte(1)),
    aggregation_group_type_index: nullish(groupTypeIndex),
  },
  'query',
).superRefine(checkTrends)

/** What the fields say together. */
export function checkTrends(query: Displayed, context: Pick<z.RefinementCtx, 'addIssue'>): void {
  const wrong = (message: string, ...path: (string | number)[]) => context.addIssue({ code: 'custom', message, path })
  query.series.forEach((series, i) => {
    if (mathFacts(series.math).counts === 'numbers' && !series.math_property)
      wrong(`The math ${series.math} needs a property.`, 'series', i, 'math_property')
    const type = series.math_property_type
    if (type && !mathPropertyTypes.includes(type)) {
      const path = ['series', i, 'math_property_type']
      wrong(noneOf(pathText(path), type, mathPropertyTypes).message, ...path)
    }
    if (series.math === 'hogql' && !series.math_hogql) wrong('The math hogql needs an expression.', 'series', i, 'math_hogql')
    if (series.math === 'unique_group' && series.math_group_type_index == null)
      wrong('The math unique_group needs a group type index.', 'series', i, 'math_group_type_index')
  })
  checkDisplay(query, wrong)
  for (const { formula, path } of formulasOf(query.trendsFilter)) {
    const parsed = parseFormula(formula, query.series.length)
    if ('problem' in parsed) wrong(parsed.problem, 'trendsFilter', ...path)
  }
}

interface Displayed {
  readonly conversionGoal?: unknown
  readonly series: readonly SeriesNode[]
  readonly trendsFilter?: TrendsFilter | null | undefined
  readonly breakdownFilter?: BreakdownFilter | null | undefined
}

/** Heat maps and box plots have their own numbers: what they cannot show is refused instead of ignored. */
function checkDisplay(
  { series, trendsFilter, breakdownFilter, conversionGoal }: Displayed,
  wrong: (message: string, ...path: (string | number)[]) => void,
) {
  const display = trendsFilter?.display
  if (display !== 'CalendarHeatmap' && display !== 'BoxPlot') return
  if (breakdownFilter?.breakdown != null || breakdownFilter?.breakdowns?.length)
    wrong(`The display ${display} does not support breakdowns: leave the breakdown out.`, 'breakdownFilter')
  if (display === 'BoxPlot' && conversionGoal) wrong('A box plot does not support a conversion goal: leave it out.', 'conversionGoal')
  for (const { path } of formulasOf(trendsFilter))
    wrong(`The display ${display} does not support formulas: leave them out.`, 'trendsFilter', ...path)
  for (const [i, { math, math_property: property }] of series.entries()) {
    if (display === 'BoxPlot' && !property) wrong('A box plot needs a property.', 'series', i, 'math_property')
    if (display === 'CalendarHeatmap' && math && severalBuckets.has(mathFacts(math).counts))
      wrong(`The math ${math} cannot be computed for an hour of the week.`, 'series', i, 'math')
    if (property === '$session_duration') wrong(`The display ${display} does not support session lengths.`, 'series', i, 'math_property')
  }
}
const severalBuckets: ReadonlySet<Counted> = new Set<Counted>(['recent actors', 'first events', 'events per actor'])

export type TrendsQuery = z.infer<typeof trendsSchema>
export type TrendsFilter = NonNullable<TrendsQuery['trendsFilter']>

export interface FormulaText {
  readonly formula: string
  readonly name: string | null
  /** Its path in `trendsFilter`. */
  readonly path: readonly (string | number)[]
}

/** `formulaNodes` overrides the older forms. */
export function formulasOf(filter: TrendsFilter | null | undefined): FormulaText[] {
  if (filter?.formulaNodes?.length)
    return filter.formulaNodes.map((node, i) => ({
      formula: node.formula,
      name: node.custom_name ?? null,
      path: ['formulaNodes', i, 'formula'],
    }))
  if (filter?.formulas?.length) return filter.formulas.map((formula, i) => ({ formula, name: null, path: ['formulas', i] }))
  return filter?.formula ? [{ formula: filter.formula, name: null, path: ['formula'] }] : []
}

const totals: ReadonlySet<Display> = new Set([
  'BoldNumber',
  'ActionsPie',
  'ActionsBarValue',
  'ActionsTable',
  'WorldMap',
  'RegionMap',
  'CalendarHeatmap',
])

export const displayOf = (query: TrendsQuery): Display => query.trendsFilter?.display ?? 'ActionsLineGraph'
/** One number per row instead of one per bucket. */
export const isTotal = (query: TrendsQuery): boolean => totals.has(displayOf(query))
export const isCumulative = (query: TrendsQuery): boolean => displayOf(query) === 'ActionsLineGraphCumulative'
