import type { Table } from 'apache-arrow'
import { QueryError } from '../../errors/errors.ts'
import { allowCells } from '../answers/cells.ts'
import { along, alongAll, folded, type QueryContext, type QueryKind, type QueryRun } from '../kind.ts'
import { Refusal, refuse } from '../refusals.ts'
import { eventsTable } from '../scope.ts'
import { type Breakdown, isBrokenDown, noBreakdown, partValue } from '../series/breakdown.ts'
import { breakdownName, otherValue } from '../series/breakdown-values.ts'
import { allOf, isMissing } from '../series/series-condition.ts'
import { bucketEdges } from '../time/buckets.ts'
import { type Period, type PeriodRange, periodRanges, periods, type ShownRanges, shownRanges } from '../time/comparison.ts'
import type { ResolvedRange } from '../time/dates.ts'
import { countedTime } from './active-users.ts'
import { type BoxPlotDatum, boxNumbers, boxPlots, plainBoxes } from './box-plot.ts'
import { trendsBreakdown } from './breakdown.ts'
import { applyFormula } from './formula-rows.ts'
import { conversionsOf, ratesOf, unitIn, withRates } from './goal.ts'
import type { Group } from './groups.ts'
import { type CalendarHeatmap, heatmapBreakdowns, heatmapOf, heatmapOfGroups, readHeatmap } from './heatmap.ts'
import { type Bins, binRanges, binsOf } from './histogram.ts'
import { listedBins } from './listed-bins.ts'
import { mathOf } from './maths.ts'
import { contextOf } from './plan.ts'
import { limitGroups, rankGroups } from './ranking.ts'
import { displayOf, formulasOf, isCumulative, isTotal, type TrendsQuery, trendsSchema } from './schema.ts'
import { type Axis, axisOf, filterOf, type Line, rowOf, type TrendsRow } from './shape.ts'
import { endsNow, endsOf, isSlope, plainSlope, slopeGroups } from './slope.ts'
import { accumulate, scaleSample, smooth } from './transforms.ts'
import { eventsOf, type Unit } from './unit.ts'

export interface TrendsResponse extends ShownRanges {
  readonly results: readonly TrendsRow[]
  readonly hasMore: boolean
  /** Of a box plot, instead of `results`. */
  readonly boxplot_data?: readonly BoxPlotDatum[]
}

export const trends: QueryKind<'TrendsQuery', typeof trendsSchema, TrendsResponse> = {
  kind: 'TrendsQuery',
  isCached: true,
  schema: trendsSchema,
  run: (query, env) => {
    const display = displayOf(query)
    return display === 'BoxPlot'
      ? runBoxPlot(plainBoxes(query), env)
      : display === 'CalendarHeatmap'
        ? runHeatmap(query, env)
        : runTrends(plainSlope(query), env)
  },
}

/** The current range and, with a comparison, the comparison range. */
export const rangesOf = (query: TrendsQuery, env: QueryContext): QueryRun<readonly PeriodRange[]> =>
  periodRanges(query, isTotal(query) ? 'day' : (query.interval ?? 'day'), env, { isExact: displayOf(query) === 'BoldNumber' })

export function unitsOf(query: TrendsQuery, env: QueryContext, breakdown: Breakdown, ranges: readonly PeriodRange[]): Unit[] {
  const cohorts = breakdown.cohorts.length ? breakdown.cohorts : [null]
  if (!isTotal(query))
    for (const { range } of ranges)
      allowCells({
        buckets: bucketEdges(range).length - 1,
        interval: range.interval,
        series: query.series.length * ranges.length * cohorts.length * (displayOf(query) === 'BoxPlot' ? boxNumbers : 1),
        values: breakdown.parts.length > 0 ? breakdown.limit + 1 : 1,
      })
  return ranges.flatMap(({ period, range }) => {
    const edges = isTotal(query) ? null : bucketEdges(range)
    return query.series.flatMap((node, order) =>
      isMissing(node, env) ? [] : cohorts.map((cohort) => ({ node, order, period, range, edges, cohort })),
    )
  })
}

interface Answered {
  readonly unit: Unit
  readonly groups: readonly Group[]
}

export function* answerUnits(
  units: readonly Unit[],
  query: TrendsQuery,
  env: QueryContext,
  breakdown: Breakdown,
): QueryRun<readonly Answered[]> {
  const groups = yield* alongAll(
    units.map((unit) => ({
      label: labelOf(unit),
      lists: () => listedGroups(unit, query, env, breakdown),
      statement: () => statedGroups(unit, query, env, breakdown),
    })),
  )
  return units.map((unit, i) => ({ unit, groups: isSlope(query) ? slopeGroups(groups[i]!) : groups[i]! }))
}

const hasBins = ({ parts }: Breakdown) => parts.some((part) => part.binCount !== null)

function* listedGroups(unit: Unit, query: TrendsQuery, env: QueryContext, breakdown: Breakdown): QueryRun<readonly Group[] | Refusal> {
  if (query.madeSessions) return refuse('sessions-made')
  const bins = hasBins(breakdown) ? yield* folded(binsLabel(unit), listedBins(unit, query, breakdown, env)) : []
  if (bins instanceof Refusal) return bins
  const { lists, statement } = mathOf(unit)
  return yield* lists({ unit, query, env, breakdown, bins, label: labelOf(unit) }, () =>
    statement(contextOf(unit, query, env, breakdown, bins)),
  )
}

function* statedGroups(unit: Unit, query: TrendsQuery, env: QueryContext, breakdown: Breakdown): QueryRun<readonly Group[]> {
  const bins = hasBins(breakdown) ? yield* statedBins(unit, query, env, breakdown) : []
  const plan = mathOf(unit).statement(contextOf(unit, query, env, breakdown, bins))
  return plan.read((yield { kind: 'statement', query: plan.query, label: labelOf(unit) }) as Table)
}

/** The bins of the parts; only parts with bins query the smallest and largest value. */
function* statedBins(unit: Unit, query: TrendsQuery, env: QueryContext, { parts }: Breakdown): QueryRun<readonly (Bins | null)[]> {
  const binned = parts.filter((part) => part.binCount !== null)
  const ranges = binRanges(
    binned.map((part) => partValue(part, env)),
    eventsTable(query.samplingFactor),
    allOf(countedTime(unit), eventsOf(unit, query, env)),
  )
  const found = (yield { kind: 'statement', query: ranges, label: binsLabel(unit) }) as Table
  const end = (name: string) => {
    const value: unknown = found.getChild(name)?.get(0)
    return value === null || value === undefined ? null : Number(value)
  }
  return parts.map((part) => {
    const i = binned.indexOf(part)
    return i < 0 ? null : binsOf(end(`low${i}`), end(`high${i}`), part.binCount!)
  })
}

const binsLabel = ({ order }: Unit): string => `range of the histogram of series ${order}`

const labelOf = ({ order, period, node, cohort }: Unit): string =>
  `series ${order}, ${node.math ?? 'total'}, ${period} period${cohort === null ? '' : `, cohort ${cohort}`}`

function mustBeThere({ cohorts }: Breakdown, filter: TrendsQuery['breakdownFilter'], env: QueryContext): void {
  const missing = cohorts.findIndex((id) => id !== 'all' && !env.cohort(id))
  if (missing < 0) return
  const list = filter?.breakdowns?.length ? filter.breakdowns.map((item) => item.property) : [filter?.breakdown ?? []].flat()
  const given = list[missing]
  const attr = filter?.breakdowns?.length ? `breakdownFilter__breakdowns__${missing}__property` : 'breakdownFilter__breakdown'
  throw new QueryError('validation-failed', { message: `There is no cohort ${JSON.stringify(given)}.`, attr })
}

function* runTrends(query: TrendsQuery, env: QueryContext): QueryRun<TrendsResponse> {
  const breakdown = trendsBreakdown(query)
  mustBeThere(breakdown, query.breakdownFilter, env)
  const ranges = yield* rangesOf(query, env)
  const answered = yield* answerUnits(unitsOf(query, env, breakdown, ranges), query, env, breakdown)
  const lines = linesOf(answered, query, env, breakdown)
  const converted = yield* conversionsBehind(answered, query, env, breakdown)

  const current = ranges[0]!.range
  const filter = filterOf(query, current)
  const axes = new Map<Period, Axis>(ranges.map(({ period, range }) => [period, shownAxis(range, query, lines.length)]))
  const rows = lines.map((line, i) => ({
    ...rowOf(line, query, env, axes.get(line.period)!, filter),
    ...(converted && { conversions: converted[i]!.data, conversion_rates: ratesOf(converted[i]!.data, line.data) }),
    ...(isSlope(query) && { incomplete_end: endsNow(current, env) }),
  }))
  const formulas = formulasOf(query.trendsFilter)
  const results = formulas.length ? formulas.flatMap((formula, i) => applyFormula(formula, i, rows, query)) : rows
  const isOther = ({ breakdown_value: value }: TrendsRow) => (Array.isArray(value) ? value.includes(otherValue) : value === otherValue)
  const hasMore = results.some(isOther)
  return {
    results: hasMore && breakdown.isOtherHidden ? results.filter((row) => !isOther(row)) : results,
    hasMore,
    ...shownRanges(ranges),
  }
}

/** The lines of the conversions, in the order of the others; null without a goal, or with a breakdown, whose values rank differently there. */
function* conversionsBehind(
  answered: readonly Answered[],
  query: TrendsQuery,
  env: QueryContext,
  breakdown: Breakdown,
): QueryRun<readonly Line[] | null> {
  const conversions = conversionsOf(query, env)
  if (!conversions || isBrokenDown(breakdown)) return null
  const units = answered.map(({ unit }) => unitIn(conversions, unit))
  return linesOf(yield* answerUnits(units, conversions, env, breakdown), conversions, env, breakdown)
}

function shownAxis(range: ResolvedRange, query: TrendsQuery, rows: number): Axis {
  const axis = axisOf(range, isTotal(query), rows)
  if (!isSlope(query)) return axis
  return { days: endsOf(axis.days), labels: endsOf(axis.labels), instants: endsOf(axis.instants) }
}

function* runBoxPlot(query: TrendsQuery, env: QueryContext): QueryRun<TrendsResponse> {
  const ranges = yield* rangesOf(query, env)
  const boxplot_data = yield* boxPlots(unitsOf(query, env, noBreakdown, ranges), query, env)
  return { results: [], boxplot_data, hasMore: false, ...shownRanges(ranges) }
}

function* runHeatmap(query: TrendsQuery, env: QueryContext): QueryRun<TrendsResponse> {
  const ranges = yield* rangesOf(query, env)
  const filter = filterOf(query, ranges[0]!.range)
  const conversions = conversionsOf(query, env)
  const results: TrendsRow[] = []
  const units = unitsOf(query, env, noBreakdown, ranges)
  for (const unit of units) {
    const plain = yield* heatmapOfUnit(unit, query, env)
    const heatmap = conversions ? withRates(yield* heatmapOfUnit(unitIn(conversions, unit), conversions, env), plain) : plain
    const all = heatmap.allAggregations
    const line = { order: unit.order, period: unit.period, data: [all], breakdown: null }
    results.push({ ...rowOf(line, query, env, axisOf(unit.range, true, units.length), filter), count: all, calendar_heatmap_data: heatmap })
  }
  return { results, hasMore: false, ...shownRanges(ranges) }
}

const heatmapOfUnit = (unit: Unit, query: TrendsQuery, env: QueryContext): QueryRun<CalendarHeatmap> =>
  along<CalendarHeatmap>({
    label: labelOf(unit),
    lists: () => listedHeatmap(unit, query, env),
    *statement() {
      return readHeatmap((yield heatmapOf(contextOf(unit, query, env, noBreakdown, []))) as readonly Table[], unit, query)
    },
  })

function* listedHeatmap(unit: Unit, query: TrendsQuery, env: QueryContext): QueryRun<CalendarHeatmap | Refusal> {
  const found: (readonly Group[])[] = []
  for (const breakdown of heatmapBreakdowns(query, unit)) {
    const groups = yield* listedGroups(unit, query, env, breakdown)
    if (groups instanceof Refusal) return groups
    found.push(groups)
  }
  return heatmapOfGroups(found, unit, query)
}

/** Groups in the order of the answer, with their values as numbers of the chart. */
function linesOf(answered: readonly Answered[], query: TrendsQuery, env: QueryContext, breakdown: Breakdown): Line[] {
  const zeros = ({ edges }: Unit) => {
    const data = new Array<number>(edges ? edges.length - 1 : 1).fill(0)
    return isSlope(query) ? endsOf(data) : data
  }
  const values = (unit: Unit, data: readonly number[]) => {
    const scaled = scaleSample(data, query.samplingFactor, unit.node.math ?? 'total')
    if (isTotal(query)) return scaled
    const smoothed = smooth(scaled, query.trendsFilter?.smoothingIntervals ?? 1)
    return isCumulative(query) ? accumulate(smoothed) : smoothed
  }
  const line = (unit: Unit, group: Group, named: Line['breakdown']): Line => ({
    order: unit.order,
    period: unit.period,
    data: values(unit, group.data),
    breakdown: named,
  })

  if (breakdown.cohorts.length) return cohortLines(answered, breakdown, line, env)
  return answered.flatMap(({ unit, groups }) => {
    if (!isBrokenDown(breakdown)) return [line(unit, groups[0] ?? { parts: [], data: zeros(unit) }, null)]
    return limitGroups(groups, breakdown).map((group) => line(unit, group, nameOfGroup(group.parts, breakdown)))
  })
}

const nameOfGroup = (parts: readonly string[], { isList }: Breakdown): NonNullable<Line['breakdown']> => ({
  value: isList ? parts : parts[0]!,
  label: parts.join('::'),
  name: breakdownName(parts),
})

/** Several cohorts are ranked like values; together with all users they keep the requested order, and their labels name the series. */
function cohortLines(
  answered: readonly Answered[],
  { cohorts }: Breakdown,
  line: (unit: Unit, group: Group, named: Line['breakdown']) => Line,
  env: QueryContext,
): Line[] {
  const labelOfCohort = (cohort: number | 'all') => (cohort === 'all' ? 'all users' : (env.cohort(cohort)?.name ?? String(cohort)))
  const named = (cohort: number | 'all') => ({
    value: cohort,
    label: labelOfCohort(cohort),
    name: labelOfCohort(cohort),
    namesSeries: cohorts.length > 1 && cohorts.includes('all'),
  })
  const pairs = answered.flatMap(({ unit, groups }) => groups.map((group) => ({ unit, group })))
  const isAsked = cohorts.length === 1 || cohorts.includes('all')
  const index = ({ unit }: { unit: Unit }) => cohorts.indexOf(unit.cohort!)
  const ranks = new Map(
    isAsked
      ? []
      : answered.flatMap(({ unit }) => {
          const groups = pairs.filter((p) => p.unit.order === unit.order && p.unit.period === unit.period).map((p) => p.group)
          return rankGroups(groups).map((group, i) => [group, i] as const)
        }),
  )
  const sorted = [...pairs].sort(
    (a, b) =>
      periods.indexOf(a.unit.period) - periods.indexOf(b.unit.period) ||
      (isAsked
        ? index(a) - index(b) || a.unit.order - b.unit.order
        : a.unit.order - b.unit.order || (ranks.get(a.group) ?? 0) - (ranks.get(b.group) ?? 0)),
  )
  return sorted.map(({ unit, group }) => line(unit, group, named(unit.cohort!)))
}
