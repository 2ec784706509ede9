import { quantile } from '../../lib/numbers/statistics.ts'
import type { Interval } from '../../lib/time/calendar.ts'
import { allowCells } from '../answers/cells.ts'
import { along, type QueryContext, type QueryKind, type QueryRun } from '../kind.ts'
import { isMissing, nodeName } from '../series/series-condition.ts'
import { bucketDay, bucketEdges, bucketLabel } from '../time/buckets.ts'
import { type Period, type PeriodLabel, periodLabel, periodRanges, type ShownRanges, shownRanges } from '../time/comparison.ts'
import { micros, type ResolvedRange } from '../time/dates.ts'
import { type FunnelBreakdown, funnelBreakdown, noSplit } from './breakdown.ts'
import { otherSplit, type SplitBy, walkFunnel } from './collect.ts'
import { conversionTimes, medianOfAll, type PeriodRow, periodRows, restOfSteps, stepRows, type ValueRow } from './in-engine/answers.ts'
import { PeriodCollector, type PeriodCounts } from './periods.ts'
import { type FunnelScan, stepsUntil } from './scan.ts'
import { type FunnelsQuery, funnelsSchema } from './schema.ts'
import { settingsOf } from './settings.ts'
import { type FunnelStepResult, StepCollector, StepCounts, type StepLabel, type StepNumbers, stepResults } from './steps.ts'
import { binsOf, ConversionTimes, type FoundTimes, type TimeToConvert } from './time-to-convert.ts'

export interface FunnelTrend extends PeriodLabel {
  readonly count: number
  readonly data: readonly number[]
  readonly days: readonly string[]
  readonly labels: readonly string[]
  readonly breakdown_value?: unknown
  /** How many entered, and how many of them converted, by interval: a rate of nobody is 0. */
  readonly reached_from_step_count: readonly number[]
  readonly reached_to_step_count: readonly number[]
}

export type FunnelResults = readonly FunnelStepResult[] | readonly (readonly FunnelStepResult[])[] | TimeToConvert | readonly FunnelTrend[]

/** `R`: the results of one view. */
export interface FunnelsAnswer<R extends FunnelResults = FunnelResults> extends FunnelNumbers<R>, ShownRanges {
  /** Of the time to convert with a comparison: the previous period, in the same bins. The other views have its rows in `results`. */
  readonly compare_results?: TimeToConvert
}

export interface FunnelNumbers<R extends FunnelResults = FunnelResults> {
  readonly results: R
  /** Of the view by steps: the seconds from the first step to the last, whatever the value of the breakdown. Null: nobody reached it. */
  readonly total_median_conversion_time?: number | null
}

export const funnels: QueryKind<'FunnelsQuery', typeof funnelsSchema, FunnelsAnswer> = {
  kind: 'FunnelsQuery',
  isCached: true,
  schema: funnelsSchema,
  *run(query, env) {
    const { scan, previous } = yield* planFunnel(query, env)
    if (!previous) return { ...(yield* resultsOf(scan, env)), ...shownRanges([scan]) }
    const before = { ...scan, range: previous }
    const dates = shownRanges([scan, before])
    if (scan.settings.viz === 'time_to_convert') {
      const [results, compare_results] = yield* timesOf([scan, before], env)
      return { results: results!, compare_results: compare_results!, ...dates }
    }
    const current = yield* resultsOf(scan, env)
    const earlier = yield* resultsOf(before, env)
    const compared = [...labelled(rowsOf(current), 'current'), ...labelled(rowsOf(earlier), 'previous')] as unknown as FunnelResults
    return { ...current, results: compared, ...dates }
  },
}

/** The scan of a query, and the range to compare with. */
export function* planFunnel(query: FunnelsQuery, env: QueryContext): QueryRun<{ scan: FunnelScan; previous: ResolvedRange | null }> {
  const settings = settingsOf(query)
  const [current, previous] = yield* periodRanges(query, (query.interval ?? 'day') as Interval, env)
  const breakdown: FunnelBreakdown = settings.viz === 'time_to_convert' ? noSplit : funnelBreakdown(query.breakdownFilter, env)
  return { scan: { query, settings, range: current!.range, breakdown, withEvents: false }, previous: previous?.range ?? null }
}

/** Of all views but the time to convert. */
const rowsOf = ({ results }: FunnelNumbers) => results as readonly object[]

function labelled(rows: readonly object[], period: Period): readonly object[] {
  return rows.map((row) => (Array.isArray(row) ? labelled(row, period) : { ...row, ...periodLabel(period, true) }))
}

export function* resultsOf(scan: FunnelScan, env: QueryContext): QueryRun<FunnelNumbers> {
  switch (scan.settings.viz) {
    case 'steps':
      return yield* stepsOf(scan, env)
    case 'time_to_convert':
      return { results: (yield* timesOf([scan], env))[0]! }
    case 'trends':
      return { results: yield* trendsOf(scan, env) }
  }
}

function* stepsOf(scan: FunnelScan, env: QueryContext): QueryRun<FunnelNumbers> {
  const labels = stepLabels(scan.query, scan.settings.order === 'unordered', env)
  const scale = 1 / (scan.query.samplingFactor ?? 1)
  const { rows, totalMedian } = yield* along<TopRows>({
    label: 'steps of a funnel',
    engine: () => topInEngine(scan, env),
    rows: () => topHere(scan, env),
  })
  const shown = (row: ValueRow) => stepResults(row.numbers, labels, scale).map((step) => ({ ...step, ...row.split }))
  const results = isSplit(scan.breakdown) ? rows.map(shown) : rows[0] ? shown(rows[0]) : []
  return { results, total_median_conversion_time: totalMedian }
}

export const isSplit = ({ parts, cohorts }: FunnelBreakdown) => parts.length > 0 || cohorts.length > 0

/** The number of rows with a value of their own; all other values share one. */
const ownRows = ({ limit, cohorts }: FunnelBreakdown): number => (cohorts.length ? cohorts.length : limit)

interface TopRows {
  readonly rows: readonly ValueRow[]
  readonly totalMedian: number | null
}

function* countsHere(scan: FunnelScan, env: QueryContext): QueryRun<readonly (ValueRow & { readonly counts: StepCounts })[]> {
  const { steps } = scan.settings
  const collector = new StepCollector(steps)
  const { splitOf } = yield* walkFunnel(scan, env, { steps, periods: null }, (slice) => collector.sink(slice.columns))
  return ranked([...collector.byValue].map(([value, counts]) => ({ split: splitOf(value), counts, numbers: counts.numbers })))
}

function* topHere(scan: FunnelScan, env: QueryContext): QueryRun<TopRows> {
  const rows = yield* countsHere(scan, env)
  const own = ownRows(scan.breakdown)
  const totals = rows.map(({ counts }) => counts.total.view()).filter(({ length }) => length > 0)
  const totalMedian = totals.length > 0 ? quantile(totals, 0.5) : null
  if (rows.length <= own) return { rows, totalMedian }
  const rest = new StepCounts(scan.settings.steps)
  for (const { counts } of rows.slice(own)) rest.merge(counts)
  return { rows: [...rows.slice(0, own), { split: otherSplit, numbers: rest.numbers }], totalMedian }
}

function* topInEngine(scan: FunnelScan, env: QueryContext): QueryRun<TopRows> {
  const rows = ranked(yield* stepRows(scan, env))
  const own = ownRows(scan.breakdown)
  const totalMedian = rows.length > 1 ? yield* medianOfAll(scan, env) : (rows[0]?.totalMedian ?? null)
  if (rows.length <= own) return { rows, totalMedian }
  const top = rows.slice(0, own)
  return { rows: [...top, { split: otherSplit, numbers: yield* restOfSteps(scan, top, env) }], totalMedian }
}

/** Deepest first. */
const ranked = <R extends ValueRow>(rows: readonly R[]): readonly R[] =>
  [...rows].sort((a, b) => deeper(b.numbers, a.numbers) || compareSplits(a.split, b.split))

function deeper(a: readonly StepNumbers[], b: readonly StepNumbers[]): number {
  for (let step = a.length - 1; step >= 0; step--) if (a[step]!.count !== b[step]!.count) return a[step]!.count - b[step]!.count
  return 0
}

/** Compares by the texts of the parts, one after the other. */
const compareSplits = (a: SplitBy | null, b: SplitBy | null) => {
  const [x, y] = [a, b].map((split) => [split?.breakdown].flat().map(String)) as [string[], string[]]
  const index = x.findIndex((part, i) => part !== y[i])
  return index < 0 ? 0 : x[index]! < (y[index] ?? '') ? -1 : 1
}

/** Names of the values that have a row of their own; all others are combined. */
export function* topSplits(scan: FunnelScan, env: QueryContext): QueryRun<readonly unknown[]> {
  const rows = yield* along<readonly ValueRow[]>({
    label: 'values of a funnel',
    *engine() {
      return ranked(yield* stepRows(scan, env))
    },
    rows: () => countsHere(scan, env),
  })
  return rows.slice(0, ownRows(scan.breakdown)).map(({ split }) => split?.breakdown_value)
}

function stepLabels(query: FunnelsQuery, isUnordered: boolean, env: QueryContext): readonly StepLabel[] {
  return query.series.map((node, i) => {
    const type = node.kind === 'ActionsNode' ? 'actions' : 'events'
    if (isUnordered) return { actionId: null, name: `Completed ${i + 1} step${i === 0 ? '' : 's'}`, customName: null, type }
    const customName = node.custom_name ?? null
    if (node.kind === 'ActionsNode')
      return { actionId: node.id, name: isMissing(node, env) ? (node.name ?? null) : nodeName(node, env), customName, type }
    const name = nodeName(node, env)
    return { actionId: name, name: name ?? node.name ?? 'All events', customName, type }
  })
}

/** The same funnel in one period or two, which share their bins. */
function* timesOf(scans: readonly FunnelScan[], env: QueryContext): QueryRun<readonly TimeToConvert[]> {
  const found: FoundTimes[] = []
  for (const scan of scans)
    found.push(
      yield* along<FoundTimes>({
        label: 'times of a funnel',
        engine: () => conversionTimes(scan, env),
        rows: () => timesHere(scan, env),
      }),
    )
  const bins = binsOf(
    found.map(({ spread }) => spread),
    scans[0]!.settings.binCount,
  )
  const counted: TimeToConvert[] = []
  for (const times of found) counted.push(yield* times.counted(bins))
  return counted
}

function* timesHere(scan: FunnelScan, env: QueryContext): QueryRun<FoundTimes> {
  const { steps, from, to } = scan.settings
  const times = new ConversionTimes(from, to)
  yield* walkFunnel(scan, env, { steps, periods: null }, (slice) => times.sink(slice.columns))
  return {
    spread: times.spread,
    // biome-ignore lint/correctness/useYield: the times are here
    *counted(bins) {
      return times.result(bins)
    },
  }
}

function* trendsOf(scan: FunnelScan, env: QueryContext): QueryRun<readonly FunnelTrend[]> {
  const { range, breakdown } = scan
  const edges = bucketEdges(range)
  allowCells({
    buckets: edges.length - 1,
    interval: range.interval,
    series: Math.max(1, breakdown.cohorts.length),
    values: breakdown.parts.length > 0 ? breakdown.limit : 1,
  })
  const scale = 1 / (scan.query.samplingFactor ?? 1)
  const shown = edges.slice(0, -1).flatMap((_, i) => (isShown(edges[i + 1]!, scan, env) ? [i] : []))
  const trend = (counts: PeriodCounts | undefined): FunnelTrend => {
    const rates = counts?.rates()
    const people = (of: Float64Array | undefined) => shown.map((i) => Math.round((of?.[i] ?? 0) * scale))
    return {
      count: shown.length,
      data: shown.map((i) => rates?.[i] ?? 0),
      days: shown.map((i) => bucketDay(edges[i]!, range)),
      labels: shown.map((i) => bucketLabel(edges[i]!, range)),
      reached_from_step_count: people(counts?.entered),
      reached_to_step_count: people(counts?.converted),
    }
  }
  const rows = yield* along<readonly PeriodRow[]>({
    label: 'periods of a funnel',
    engine: () => periodRows(scan, edges, env),
    rows: () => periodsHere(scan, edges, env),
  })
  if (!isSplit(breakdown)) return [trend(rows[0]?.counts)]
  // Only the values that most actors entered with; trends have no row for the rest.
  const top = [...rows]
    .sort((a, b) => b.counts.total - a.counts.total || compareSplits(a.split, b.split))
    .slice(0, breakdown.cohorts.length || breakdown.limit)
  return top
    .sort((a, b) => compareSplits(a.split, b.split))
    .map(({ split, counts }) => ({ ...trend(counts), breakdown_value: split?.breakdown_value }))
}

function* periodsHere(scan: FunnelScan, edges: readonly number[], env: QueryContext): QueryRun<readonly PeriodRow[]> {
  const collector = new PeriodCollector(edges.length - 1, scan.settings.from, scan.settings.to)
  const options = { steps: stepsUntil(scan), periods: Float64Array.from(edges), hasNoTimes: true as const }
  const { splitOf } = yield* walkFunnel(scan, env, options, () => collector.sink)
  return [...collector.byValue].map(([value, counts]) => ({ split: splitOf(value), counts }))
}

const isShown = (end: number, { settings }: FunnelScan, env: QueryContext) =>
  !settings.hidesUnfinishedPeriods || end + settings.window <= micros(env.now)
