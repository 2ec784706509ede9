import { z } from 'zod'
import type { Query } from '../../ast/nodes.ts'
import { QueryError } from '../../errors/errors.ts'
import type { Outcome } from '../../kernels/funnels/fold.ts'
import { type ActorList, type Asking, defineActorSource } from '../actor-source.ts'
import { bucketEdges } from '../buckets.ts'
import { dateInstant, micros } from '../dates.ts'
import type { QueryEnv } from '../kind.ts'
import { listedActors } from '../listed-actors.ts'
import { otherLabel } from './breakdown.ts'
import { type SplitBy, walkFunnel } from './collect.ts'
import { planFunnel, topSplits } from './index.ts'
import { actorKindOf, type FunnelScan, type Slice, stepsUntil } from './scan.ts'
import { funnelsSchema } from './schema.ts'

// The people behind a number of a funnel. They come from the same fold that counted them, so the list is as long as the number is large.

const value = z.union([z.string(), z.number()])

export const funnelPointSchema = z.looseObject({
  kind: z.literal('FunnelsActorsQuery'),
  source: funnelsSchema,
  funnelStep: z.number().int().nullish(),
  funnelStepBreakdown: z.union([value, z.array(value)]).nullish(),
  funnelTrendsDropOff: z.boolean().nullish(),
  funnelTrendsEntrancePeriodStart: z.string().nullish(),
  includeRecordings: z.boolean().nullish(),
})
export type FunnelPoint = z.infer<typeof funnelPointSchema>

export const funnelsActors = defineActorSource<FunnelPoint>({
  wrapper: 'FunnelsActorsQuery',
  kind: 'FunnelsQuery',
  schema: funnelPointSchema,
  actors: actorsBehind,
})

const wrong = (message: string, attr: string) => new QueryError('validation-failed', { message, attr: `source__${attr}` })

function* actorsBehind(point: FunnelPoint, env: QueryEnv): Asking<ActorList> {
  const query = point.source
  if (actorKindOf(query) === 'expression')
    throw wrong('A funnel that aggregates by an expression has no people to list.', 'source__funnelsFilter__funnelAggregateByHogQL')
  const planned = yield* planFunnel(query, env)
  const scan: FunnelScan = { ...planned.scan, withEvents: point.includeRecordings === true }
  const isWanted = yield* wantedSplits(point, scan, env)
  const found = scan.settings.viz === 'trends' ? yield* inPeriod(point, scan, env) : yield* atStep(point, scan, env)
  const rows = found.rows.filter((row) => isWanted(found.splitOf(row.value)))
  return { query: listOf(rows), group: query.aggregation_group_type_index ?? null, columns: listColumns }
}

interface FoundActor {
  readonly actor: number | string
  readonly value: number
  /** Microseconds, by step; null where a step was left out. */
  readonly times: readonly (number | null)[]
  readonly uuids: readonly string[]
}

interface Found {
  readonly rows: readonly FoundActor[]
  splitOf(value: number): SplitBy | null
}

function* atStep(point: FunnelPoint, scan: FunnelScan, env: QueryEnv): Asking<Found> {
  const isKept = stepTest(point.funnelStep, scan.settings.steps)
  const rows: FoundActor[] = []
  const { splitOf } = yield* walkFunnel(scan, env, { steps: scan.settings.steps, periods: null }, (slice) => (outcome) => {
    if (isKept(outcome.events)) rows.push(foundActor(slice, outcome, scan))
  })
  return { rows, splitOf }
}

/** `n`: reached step n. `-n`: reached the step before it and not step n. */
function stepTest(step: number | null | undefined, steps: number): (events: Int32Array) => boolean {
  if (step == null) throw wrong('Say which step: funnelStep 1 is the first, -2 those who dropped off before the second.', 'funnelStep')
  if (step === 0 || step === -1)
    throw wrong(`There is nobody behind funnelStep ${step}: 1 is the first step, -2 the first drop-off.`, 'funnelStep')
  if (Math.abs(step) > steps) throw wrong(`The funnel has ${steps} steps, so there is no funnelStep ${step}.`, 'funnelStep')
  if (step > 0) return (events) => events[step - 1]! >= 0
  return (events) => events[-step - 2]! >= 0 && events[-step - 1]! < 0
}

function* inPeriod(point: FunnelPoint, scan: FunnelScan, env: QueryEnv): Asking<Found> {
  const start = point.funnelTrendsEntrancePeriodStart
  if (start == null) throw wrong('Say which period: its start as YYYY-MM-DD HH:MM:SS.', 'funnelTrendsEntrancePeriodStart')
  const { calendar } = scan.range
  const instant = dateInstant(start, micros(env.now), calendar)
  if (instant === null) throw wrong(`${JSON.stringify(start)} is not a date.`, 'funnelTrendsEntrancePeriodStart')
  const edges = bucketEdges(scan.range)
  const period = edges.findLastIndex((edge) => edge <= instant)
  const { from, to } = scan.settings
  const rows: FoundActor[] = []
  const { splitOf } = yield* walkFunnel(scan, env, { steps: stepsUntil(scan), periods: Float64Array.from(edges) }, (slice) => (outcome) => {
    if (outcome.period !== period || outcome.depth <= from) return
    if (point.funnelTrendsDropOff == null || outcome.depth > to !== point.funnelTrendsDropOff) rows.push(foundActor(slice, outcome, scan))
  })
  return { rows, splitOf }
}

function foundActor(slice: Slice, outcome: Outcome, scan: FunnelScan): FoundActor {
  const places = Array.from(outcome.events)
  return {
    actor: slice.actor(outcome.actor),
    value: outcome.value,
    times: places.map((place) => (place < 0 ? null : slice.columns.time[place]!)),
    uuids: scan.withEvents ? places.filter((place) => place >= 0).map((place) => slice.uuid(place)) : [],
  }
}

/** Whether a row of the breakdown is the one asked for. The row of the rest is all that has no row of its own. */
function* wantedSplits(point: FunnelPoint, scan: FunnelScan, env: QueryEnv): Asking<(split: SplitBy | null) => boolean> {
  const asked = point.funnelStepBreakdown
  const { parts, cohorts } = scan.breakdown
  if (asked == null || (parts.length === 0 && cohorts.length === 0)) return () => true
  if (cohorts.length) return (split) => String(split?.breakdown_value) === String(Array.isArray(asked) ? asked[0] : asked)
  const wanted = JSON.stringify((Array.isArray(asked) ? asked : [asked]).map(String))
  if (wanted !== JSON.stringify([otherLabel])) return (split) => JSON.stringify(split?.breakdown_value) === wanted
  const top = new Set((yield* topSplits(scan, env)).map((value) => JSON.stringify(value)))
  return (split) => !top.has(JSON.stringify(split?.breakdown_value))
}

const listColumns = ['timestamp', 'first_timestamp', 'final_timestamp', 'step_timestamps', 'matching_events'] as const
function listOf(rows: readonly FoundActor[]): Query {
  const reached = rows.map(({ times }) => times.filter((time) => time !== null))
  const iso = (time: number | undefined) => (time === undefined ? '' : new Date(time / 1000).toISOString())
  const columns: Readonly<Record<(typeof listColumns)[number], readonly string[]>> = {
    timestamp: reached.map((times) => iso(times.at(-1))),
    first_timestamp: reached.map((times) => iso(times[0])),
    final_timestamp: reached.map((times) => iso(times.at(-1))),
    step_timestamps: rows.map(({ times }) => JSON.stringify(times.map((time) => (time === null ? null : iso(time))))),
    matching_events: rows.map(({ uuids }) => JSON.stringify(uuids)),
  }
  return listedActors(
    rows.map(({ actor }) => actor),
    columns,
  )
}
