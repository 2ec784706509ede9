import type { StoreEvent } from '../harness/store.ts'
import { type NaiveEvent, type NaiveFunnel, type NaiveOutcome, naiveFunnel } from './funnels.ts'

// Whole funnel queries by loops over an array of events: who is in, under which value, and what the views show. Written from the rules.

export interface ReferenceStep {
  /** Null: any event. */
  readonly event: string | null
  /** Only events whose property `k` is this. */
  readonly k?: string
  /** Only events of persons whose property `p` is this. */
  readonly p?: string
}
export interface ReferenceFunnel {
  readonly viz: 'steps' | 'time_to_convert' | 'trends'
  readonly order: 'ordered' | 'strict' | 'unordered'
  readonly steps: readonly ReferenceStep[]
  readonly optional: readonly number[]
  readonly exclusions: readonly (ReferenceStep & { readonly from: number; readonly to: number })[]
  readonly windowHours: number
  readonly breakdown: readonly string[]
  readonly limit: number
  readonly attribution: 'first_touch' | 'last_touch' | 'all_events' | 'step'
  readonly attributionStep: number
  readonly actor: 'person' | 'group' | 'property'
  /** Steps of trends and time to convert. */
  readonly from: number
  readonly to: number
  readonly binCount: number | null
  /** Microseconds, both inclusive. */
  readonly range: readonly [from: number, to: number]
}

export interface ReferenceOutcome {
  readonly actor: string
  /** JSON of the values it counts under; '[]' without a breakdown. */
  readonly value: string
  /** Index of the day it entered on; -1 when the question is not about days. */
  readonly period: number
  readonly depth: number
  /** Microseconds by step; undefined where a step was left out. */
  readonly times: readonly (number | undefined)[]
}

const hour = 3_600_000_000
const day = 24 * hour

/** Everyone who entered, once for each value (and day) they count under. */
export function referenceOutcomes(events: readonly StoreEvent[], query: ReferenceFunnel): readonly ReferenceOutcome[] {
  const byActor = new Map<string, NaiveEvent[]>()
  for (const event of events) {
    const actor = actorOf(event, query)
    if (actor === '' || event.at < query.range[0] || event.at > query.range[1]) continue
    const read = naiveEvent(event, query)
    if (query.order !== 'strict' && read.steps.length === 0 && read.excludes!.length === 0) continue
    byActor.set(actor, [...(byActor.get(actor) ?? []), read])
  }
  return [...byActor].flatMap(([actor, own]) =>
    runsOf(own, query).flatMap((run) =>
      outcomesOf(run, query).map(({ period, outcome }): ReferenceOutcome => {
        const times: (number | undefined)[] = query.steps.map(() => undefined)
        for (const [i, step] of outcome.steps.entries()) times[step] = outcome.times[i]
        return { actor, value: run.value, period, depth: outcome.depth, times }
      }),
    ),
  )
}

/** What is known of a person. */
export const personProperties = (person: number): { readonly p?: string } => (person === 1 ? {} : { p: person === 3 ? '1' : '0' })

const propertyText = (event: StoreEvent, name: string) => {
  const value = event.properties?.[name]
  return value === undefined || value === null ? '' : String(value)
}

function actorOf(event: StoreEvent, { actor }: ReferenceFunnel): string {
  if (actor === 'person') return String(event.person)
  return actor === 'group' ? (event.groups?.[0] ?? '') : propertyText(event, 'v')
}

export const isStep = (event: StoreEvent, { event: name, k, p }: ReferenceStep): boolean =>
  (name === null || name === event.event) &&
  (k === undefined || propertyText(event, 'k') === k) &&
  (p === undefined || personProperties(event.person).p === p)

function naiveEvent(event: StoreEvent, query: ReferenceFunnel): NaiveEvent {
  const isAt = (step: ReferenceStep) => isStep(event, step)
  const excludes = query.exclusions.filter(isAt).flatMap(({ from, to }) => range(from, to))
  return {
    time: event.at,
    steps: range(0, query.steps.length).filter((step) => isAt(query.steps[step]!)),
    excludes: [...new Set(excludes)].sort(),
    value: JSON.stringify(query.breakdown.map((name) => propertyText(event, name))),
  }
}

const range = (from: number, to: number) => Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i)

interface Run {
  readonly value: string
  readonly events: readonly NaiveEvent[]
  readonly attributed?: { readonly step: number; readonly value: string }
}

function runsOf(own: readonly NaiveEvent[], query: ReferenceFunnel): readonly Run[] {
  const none = JSON.stringify(query.breakdown.map(() => ''))
  if (query.breakdown.length === 0) return [{ value: none, events: own }]
  // Of the values at one instant the first by its parts counts, be it the first or the last instant.
  const set = own.filter((event) => event.value !== none)
  const touched = (instant: number) =>
    set
      .filter(({ time }) => time === instant)
      .map(({ value }) => value!)
      .sort(byParts)[0] ?? none
  const times = set.map(({ time }) => time)
  const seen = (list: readonly NaiveEvent[]) => [...new Set(list.map((event) => event.value!))]
  switch (query.attribution) {
    case 'first_touch':
      return [{ value: touched(Math.min(...times)), events: own }]
    case 'last_touch':
      return [{ value: touched(Math.max(...times)), events: own }]
    case 'all_events':
      return seen(own).map((value) => ({ value, events: own.filter((event) => event.value === value) }))
    case 'step': {
      const step = query.attributionStep
      const may = (event: NaiveEvent) => (query.order === 'unordered' ? event.steps.length > 0 : event.steps.includes(step))
      return seen(own.filter(may)).map((value) => ({ value, events: own, attributed: { step, value } }))
    }
  }
}

const byParts = (a: string, b: string) => {
  const [x, y] = [JSON.parse(a) as string[], JSON.parse(b) as string[]]
  const place = x.findIndex((part, i) => part !== y[i])
  return place < 0 ? 0 : x[place]! < y[place]! ? -1 : 1
}

function outcomesOf(run: Run, query: ReferenceFunnel): readonly { period: number; outcome: NaiveOutcome }[] {
  const funnel: NaiveFunnel = { order: query.order, steps: query.steps.length, window: query.windowHours * hour, optional: query.optional }
  if (query.viz !== 'trends') {
    const outcome = naiveFunnel(run.events, funnel, run.attributed)
    return outcome ? [{ period: -1, outcome }] : []
  }
  const days = Math.ceil((query.range[1] + 1 - query.range[0]) / day)
  return range(0, days).flatMap((period) => {
    const start = query.range[0] + period * day
    const enters = (time: number) => time >= start && time < start + day
    const steps = query.order === 'unordered' ? funnel.steps : query.to + 1
    const outcome = naiveFunnel(run.events, { ...funnel, steps, enters }, run.attributed)
    return outcome ? [{ period, outcome }] : []
  })
}

export interface ReferenceStepRow {
  readonly count: number
  readonly average: number | null
  readonly median: number | null
}

/** The view by steps of some of the outcomes: those of one row. */
export function referenceSteps(outcomes: readonly ReferenceOutcome[], steps: number): readonly ReferenceStepRow[] {
  return range(0, steps).map((step) => {
    const there = outcomes.filter(({ times }) => times[step] !== undefined)
    const seconds = there.flatMap(({ times }) => {
      const before = times.slice(0, step).filter((time) => time !== undefined)
      return before.length ? [(times[step]! - before.at(-1)!) / 1e6] : []
    })
    return { count: there.length, average: averageOf(seconds), median: medianOf(seconds) }
  })
}

export interface ReferenceTimes {
  readonly average: number | null
  readonly median: number | null
  readonly bins: readonly (readonly [number, number])[]
}

/** `others`: those of the period that is compared with it, which has the same bins. */
export function referenceTimes(
  outcomes: readonly ReferenceOutcome[],
  { from, to, binCount }: Pick<ReferenceFunnel, 'from' | 'to' | 'binCount'>,
  others: readonly ReferenceOutcome[] = [],
): ReferenceTimes {
  const secondsOf = (list: readonly ReferenceOutcome[]) =>
    list.filter(({ times }) => times[to] !== undefined).map(({ times }) => (times[to]! - times[from]!) / 1e6)
  const seconds = secondsOf(outcomes)
  if (seconds.length === 0) return { average: null, median: null, bins: [] }
  const all = [...seconds, ...secondsOf(others)]
  const [least, most] = [Math.min(...all), Math.max(...all)]
  const bins =
    binCount === null ? Math.min(60, Math.max(1, Math.ceil(Math.cbrt(all.length)))) : Math.min(90, Math.max(1, Math.trunc(binCount)))
  const width = Math.ceil((most - least) / bins) || 60
  const start = Math.floor(least)
  const isIn = (value: number, bin: number) => value >= start + bin * width && (bin === bins || value < start + (bin + 1) * width)
  return {
    average: averageOf(seconds),
    median: medianOf(seconds),
    bins: range(0, bins + 1).map((bin) => [start + bin * width, seconds.filter((value) => isIn(value, bin)).length] as const),
  }
}

/** Per day how many entered and how many of them converted. */
export function referenceTrend(outcomes: readonly ReferenceOutcome[], { from, to, range: [start, end] }: ReferenceFunnel) {
  return range(0, Math.ceil((end + 1 - start) / day)).map((period) => {
    const entered = outcomes.filter((outcome) => outcome.period === period && outcome.depth > from)
    return { entered: entered.length, converted: entered.filter(({ depth }) => depth > to).length }
  })
}

const averageOf = (values: readonly number[]) => (values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null)
function medianOf(values: readonly number[]): number | null {
  if (values.length === 0) return null
  const sorted = [...values].sort((a, b) => a - b)
  return (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2
}
