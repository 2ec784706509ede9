import * as z from 'zod'
import type { Outcome } from '../../core/kernels/funnels/fold.ts'
import { QueryError } from '../../errors/errors.ts'
import type { Query } from '../../language/ast/nodes.ts'
import type { ActorList, ActorOptions, ActorSource, Asking, Choice } from '../actor-source.ts'
import { fields } from '../fields.ts'
import { along, given, type QueryContext } from '../kind.ts'
import { listedActors } from '../lists/listed-actors.ts'
import { everyQuery } from '../schemas.ts'
import { bucketEdges, bucketIndex } from '../time/buckets.ts'
import { noComparison, periodChoices, periods } from '../time/comparison.ts'
import { dateInstant, micros, type ResolvedRange } from '../time/dates.ts'
import { noValueLabel, otherLabel } from './breakdown.ts'
import { walkFunnel } from './collect.ts'
import { type ActorPoint, type ActorSplit, actorsInEngine, listColumns } from './in-engine/actors.ts'
import { isSplit, planFunnel, resultsOf, topSplits } from './index.ts'
import { pointOfStep } from './point-of-step.ts'
import { actorKindOf, type FunnelScan, type Slice, stepsUntil } from './scan.ts'
import { funnelsSchema } from './schema.ts'

// The persons behind a number of a funnel. They come from the fold that computed the number, so the list is as long as the number is large. If the
// engine folds, the list is part of the statement that reads it; otherwise it is computed first.

const value = z.union([z.string(), z.number()])

export const funnelPointSchema = fields(
  {
    ...everyQuery,
    kind: z.literal('FunnelsActorsQuery'),
    source: funnelsSchema,
    funnelStep: z.number().int().nullish(),
    /** The depth that they reached; overrides `funnelStep`. */
    funnelCustomSteps: z.array(z.number().int().min(1)).nullish(),
    funnelStepBreakdown: z.union([value, z.array(value)]).nullish(),
    funnelTrendsDropOff: z.boolean().nullish(),
    funnelTrendsEntrancePeriodStart: z.string().nullish(),
    compare: z.enum(periods).nullish(),
    includeRecordings: z.boolean().nullish(),
  },
  'query',
)
export type FunnelPoint = z.infer<typeof funnelPointSchema>

export const funnelsActors: ActorSource<typeof funnelPointSchema> = {
  wrapper: 'FunnelsActorsQuery',
  kind: 'FunnelsQuery',
  schema: funnelPointSchema,
  actors: actorsBehind,
  options: choicesOf,
}

const wrong = (message: string, attr: string) => new QueryError('validation-failed', { message, attr: `source__${attr}` })

function* actorsBehind(point: FunnelPoint, env: QueryContext, mayRead: (column: string) => boolean): Asking<ActorList> {
  const query = point.source
  if (actorKindOf(query) === 'expression')
    throw wrong('A funnel that aggregates by an expression has no persons to list.', 'source__funnelsFilter__funnelAggregateByHogQL')
  const planned = yield* planFunnel(query, env)
  const range = point.compare === 'previous' ? planned.previous : planned.scan.range
  if (!range) throw wrong(noComparison, 'compare')
  const scan = inAskedCohort(point, { ...planned.scan, range, withEvents: point.includeRecordings === true })
  const at = scan.settings.viz === 'trends' ? periodOf(point, scan, planned.scan.range, env) : stepOf(point, scan)
  const list = { group: query.aggregation_group_type_index ?? null, columns: listColumns }
  if (hasCohorts(planned.scan) && !hasCohorts(scan)) return { ...list, query: yield* listOf([], []) }
  const split = yield* splitOf(point, scan, env)
  const found = yield* along<Query>({
    label: 'actors of a funnel',
    engine: () => given(actorsInEngine(scan, at, split, env)),
    *rows() {
      const read = listColumns.filter(mayRead)
      return yield* listOf(yield* foundHere(scan, at, split, read.length > 0, env), read)
    },
  })
  return { ...list, query: found }
}

const hasCohorts = ({ breakdown }: FunnelScan) => breakdown.cohorts.length > 0

/** Cohorts are read separately; those that are not selected are not read. */
function inAskedCohort({ funnelStepBreakdown: asked }: FunnelPoint, scan: FunnelScan): FunnelScan {
  if (asked == null || !hasCohorts(scan)) return scan
  const wanted = String(Array.isArray(asked) ? asked[0] : asked)
  const cohorts = scan.breakdown.cohorts.filter((cohort) => String(cohort) === wanted || (cohort === 'all' && wanted === '0'))
  return { ...scan, breakdown: { ...scan.breakdown, cohorts } }
}

function stepOf({ funnelStep, funnelCustomSteps: depths }: FunnelPoint, { settings }: FunnelScan): ActorPoint {
  if (depths?.length) return { kind: 'depths', depths }
  const step = pointOfStep(funnelStep, settings)
  if (typeof step === 'string') throw wrong(step, 'funnelStep')
  return step
}

/** In the comparison period, a start in the current one means the period at the same index. */
function periodOf(point: FunnelPoint, { range }: FunnelScan, current: ResolvedRange, env: QueryContext): ActorPoint {
  const start = point.funnelTrendsEntrancePeriodStart
  if (start == null) throw wrong('Set the period by its start, as YYYY-MM-DD HH:MM:SS.', 'funnelTrendsEntrancePeriodStart')
  const instant = dateInstant(start, micros(env.now), range.calendar)
  if (instant === null) throw wrong(`${JSON.stringify(start)} is not a date.`, 'funnelTrendsEntrancePeriodStart')
  const own = bucketIndex(instant, range)
  const period = own < 0 ? bucketIndex(instant, current) : own
  return { kind: 'period', edges: bucketEdges(range), period, hasDropped: point.funnelTrendsDropOff ?? null }
}

/** The selected row of the breakdown. The row `Other` has all values without a row of their own. */
function* splitOf({ funnelStepBreakdown: asked }: FunnelPoint, scan: FunnelScan, env: QueryContext): Asking<ActorSplit> {
  if (asked == null || scan.breakdown.parts.length === 0) return { kind: 'all' }
  const values = (Array.isArray(asked) ? asked : listIn(asked, scan.breakdown.parts.length)).map(String)
  if (values.length !== 1 || values[0] !== otherLabel) return { kind: 'value', values }
  return { kind: 'rest', top: (yield* topSplits(scan, env)) as readonly (readonly string[])[] }
}

/** Several values may be sent as the JSON of their list, as choices name them. */
function listIn(asked: string | number, parts: number): readonly unknown[] {
  if (parts < 2 || typeof asked !== 'string') return [asked]
  try {
    const list: unknown = JSON.parse(asked)
    return Array.isArray(list) ? list : [asked]
  } catch {
    return [asked]
  }
}

/** The rows of the breakdown, merged over both periods; and the periods. */
function* choicesOf({ source }: FunnelPoint, env: QueryContext): Asking<ActorOptions> {
  const { scan, previous } = yield* planFunnel(source, env)
  const compare = previous && { compare: periodChoices }
  if (!isSplit(scan.breakdown)) return { ...compare }
  const choices = new Map<string, Choice>()
  for (const range of previous ? [scan.range, previous] : [scan.range])
    for (const row of (yield* resultsOf({ ...scan, range }, env)).results as readonly RowOfSplit[]) {
      const { breakdown, breakdown_value: value } = Array.isArray(row) ? row[0]! : row
      const choice = choiceOf(value, typeof breakdown === 'string' ? breakdown : null)
      choices.set(String(choice.value), choice)
    }
  return { ...compare, breakdown: [...choices.values()] }
}

type RowOfSplit = SplitRow | readonly SplitRow[]
interface SplitRow {
  readonly breakdown?: unknown
  readonly breakdown_value?: unknown
}

function choiceOf(value: unknown, name: string | null): Choice {
  if (typeof value === 'number') return { label: name ?? String(value), value }
  const parts = [value].flat().map(String)
  return { label: parts.map((part) => part || noValueLabel).join(', '), value: parts.length === 1 ? parts[0]! : JSON.stringify(parts) }
}

interface FoundActor {
  readonly actor: number | string
  readonly value: number
  /** Microseconds, by step; null if a step was skipped. */
  readonly times: readonly (number | null)[]
  readonly uuids: readonly string[]
}

function* foundHere(
  scan: FunnelScan,
  at: ActorPoint,
  split: ActorSplit,
  withTimes: boolean,
  env: QueryContext,
): Asking<readonly FoundActor[]> {
  const options =
    at.kind === 'period' ? { steps: stepsUntil(scan), periods: Float64Array.from(at.edges) } : { steps: scan.settings.steps, periods: null }
  const isThere = testOf(at, scan)
  const rows: FoundActor[] = []
  const walked = yield* walkFunnel(scan, env, options, (slice) => (outcome) => {
    if (isThere(outcome)) rows.push(foundActor(slice, outcome, withTimes, scan))
  })
  if (split.kind === 'all') return rows
  const listed = new Set((split.kind === 'value' ? [split.values] : split.top).map((values) => JSON.stringify(values)))
  return rows.filter(({ value }) => listed.has(JSON.stringify(walked.splitOf(value)?.breakdown_value)) === (split.kind === 'value'))
}

export function testOf(at: ActorPoint, { settings }: FunnelScan): (outcome: Outcome) => boolean {
  switch (at.kind) {
    case 'step':
      return ({ events }) => events[at.reached]! >= 0 && (at.missed === null || events[at.missed]! < 0)
    case 'depths':
      return ({ depth }) => at.depths.includes(depth)
    case 'period': {
      const { from, to } = settings
      return ({ period, depth }) => period === at.period && depth > from && (at.hasDropped === null || depth > to !== at.hasDropped)
    }
  }
}

function foundActor(slice: Slice, outcome: Outcome, withTimes: boolean, scan: FunnelScan): FoundActor {
  if (!withTimes) return { actor: slice.actor(outcome.actor), value: outcome.value, times: [], uuids: [] }
  const indexes = Array.from(outcome.events)
  return {
    actor: slice.actor(outcome.actor),
    value: outcome.value,
    times: indexes.map((index) => (index < 0 ? null : slice.columns.time[index]!)),
    uuids: scan.withEvents ? indexes.filter((index) => index >= 0).map((index) => slice.uuid(index)) : [],
  }
}

const rowsBetweenPauses = 1 << 14

type ListColumn = (typeof listColumns)[number]
type Texts = readonly (string | null)[]

/** What a column has for an actor. */
const cells: Readonly<Record<ListColumn, (texts: Texts, uuids: readonly string[]) => string>> = {
  timestamp: (texts) => texts.findLast(isText) ?? '',
  first_timestamp: (texts) => texts.find(isText) ?? '',
  final_timestamp: (texts) => texts.findLast(isText) ?? '',
  step_timestamps: (texts) => JSON.stringify(texts),
  matching_events: (_, uuids) => JSON.stringify(uuids),
}
const isText = (text: string | null) => text !== null

function* listOf(rows: readonly FoundActor[], read: readonly ListColumn[]): Asking<Query> {
  const columns = Object.fromEntries(read.map((name) => [name, [] as string[]]))
  if (read.length > 0)
    for (const [i, { times, uuids }] of rows.entries()) {
      const texts = times.map((time) => (time === null ? null : new Date(time / 1000).toISOString()))
      for (const name of read) columns[name]!.push(cells[name](texts, uuids))
      if (i % rowsBetweenPauses === rowsBetweenPauses - 1) yield { kind: 'pause' }
    }
  return listedActors(
    rows.map(({ actor }) => actor),
    columns,
  )
}
