import { expect } from 'vitest'
import type { FunnelsAnswer, FunnelTrend } from '../../../src/queries/funnels/index.ts'
import type { FunnelStepResult } from '../../../src/queries/funnels/steps.ts'
import type { TimeToConvert } from '../../../src/queries/funnels/time-to-convert.ts'
import { asQuery } from '../../reference/funnel-cases.ts'
import {
  type ReferenceFunnel,
  type ReferenceOutcome,
  type ReferenceStepRow,
  referenceSteps,
  referenceTimes,
  referenceTrend,
} from '../../reference/funnel-queries.ts'

// FunnelsQuery equals the reference model.

export type StepResults = readonly FunnelStepResult[] | readonly (readonly FunnelStepResult[])[]
export const stepRows = (results: StepResults): readonly (readonly FunnelStepResult[])[] =>
  results.length && Array.isArray(results[0]) ? (results as FunnelStepResult[][]) : results.length ? [results as FunnelStepResult[]] : []

const digits = (value: number | null) => (value === null ? null : Number(value.toFixed(5)))
const shown = (row: ReferenceStepRow) => ({ count: row.count, average: digits(row.average), median: digits(row.median) })
const answered = (step: FunnelStepResult) =>
  shown({ count: step.count, average: step.average_conversion_time, median: step.median_conversion_time })

/** The outcomes of one row of an answer: those of its value, or all that have no row of their own. */
export function rowOutcomes(row: unknown, rows: readonly unknown[], outcomes: readonly ReferenceOutcome[]): readonly ReferenceOutcome[] {
  if (row === undefined) return outcomes
  const own = new Set(rows.map((value) => JSON.stringify(value)))
  const name = JSON.stringify(row)
  return outcomes.filter(({ value }) => (name === '["Other"]' ? !own.has(value) : value === name))
}

const deepest = (outcomes: readonly ReferenceOutcome[], step: number) => outcomes.filter(({ times }) => times[step] !== undefined).length

function expectSteps(results: StepResults, outcomes: readonly ReferenceOutcome[], funnel: ReferenceFunnel): void {
  const rows = stepRows(results)
  const names = rows.map((row) => row[0]!.breakdown_value)
  const isSplit = funnel.breakdown.length > 0
  const values = new Set(outcomes.map(({ value }) => value))
  expect(rows.length).toBe(isSplit ? Math.min(values.size, funnel.limit + 1) : values.size ? 1 : 0)
  const covered = rows.map((row, i) => {
    const own = rowOutcomes(names[i], names, outcomes)
    expect(row.map(answered)).toEqual(referenceSteps(own, funnel.steps.length).map(shown))
    return own
  })
  expect(covered.reduce((sum, own) => sum + own.length, 0)).toBe(outcomes.length)
  // The most converted values have the rows, in that order, and the rest comes last.
  const last = funnel.steps.length - 1
  const kept = isSplit ? covered.slice(0, funnel.limit).map((own) => deepest(own, last)) : []
  expect(kept).toEqual([...kept].sort((a, b) => b - a))
  const rest = new Map<string, number>()
  for (const outcome of covered[funnel.limit] ?? [])
    if (isSplit) rest.set(outcome.value, (rest.get(outcome.value) ?? 0) + deepest([outcome], last))
  expect(Math.max(0, ...rest.values())).toBeLessThanOrEqual(Math.min(Number.POSITIVE_INFINITY, ...kept))
}

function expectTimes(results: TimeToConvert, outcomes: readonly ReferenceOutcome[], funnel: ReferenceFunnel): void {
  const expected = referenceTimes(outcomes, funnel)
  expect(results.bins).toEqual(expected.bins)
  expect([results.average_conversion_time, results.median_conversion_time].map(digits)).toEqual(
    [expected.average, expected.median].map(digits),
  )
}

function expectTrends(results: readonly FunnelTrend[], outcomes: readonly ReferenceOutcome[], funnel: ReferenceFunnel): void {
  const entered = outcomes.filter(({ depth }) => depth > funnel.from)
  const isSplit = funnel.breakdown.length > 0
  expect(results.length).toBe(isSplit ? Math.min(funnel.limit, new Set(entered.map(({ value }) => value)).size) : 1)
  const names = results.map((row) => row.breakdown_value)
  for (const row of results) {
    const expected = referenceTrend(isSplit ? rowOutcomes(row.breakdown_value, names, outcomes) : outcomes, funnel)
    expect(row.data).toEqual(
      expected.map(({ entered: all, converted }) => (all === 0 ? 0 : Math.round((converted / all) * 10_000 + 1e-9) / 100)),
    )
    expect(row.count).toBe(expected.length)
  }
  if (isSplit && results.length) {
    const sizes = [...new Set(entered.map(({ value }) => value))].map((value) => ({
      isShown: names.some((name) => JSON.stringify(name) === value),
      size: entered.filter((outcome) => outcome.value === value).length,
    }))
    const least = Math.min(...sizes.filter(({ isShown }) => isShown).map(({ size }) => size))
    expect(Math.max(0, ...sizes.filter(({ isShown }) => !isShown).map(({ size }) => size))).toBeLessThanOrEqual(least)
  }
}

/** From the first step to the last, of everybody who reached it. */
function expectTotal(
  { total_median_conversion_time: median }: FunnelsAnswer,
  outcomes: readonly ReferenceOutcome[],
  { steps }: ReferenceFunnel,
) {
  const whole: Pick<ReferenceFunnel, 'from' | 'to' | 'binCount'> = { from: 0, to: steps.length - 1, binCount: null }
  expect(digits(median ?? null)).toBe(digits(referenceTimes(outcomes, whole).median))
}

export function expectAnswer(answer: FunnelsAnswer, outcomes: readonly ReferenceOutcome[], funnel: ReferenceFunnel): void {
  const { results } = answer
  expect('total_median_conversion_time' in answer).toBe(funnel.viz === 'steps')
  if (funnel.viz === 'steps') expectTotal(answer, outcomes, funnel)
  if (funnel.viz === 'steps') expectSteps(results as StepResults, outcomes, funnel)
  else if (funnel.viz === 'trends') expectTrends(results as readonly FunnelTrend[], outcomes, funnel)
  else expectTimes(results as TimeToConvert, outcomes, funnel)
}

/** Sums of fractions differ in their last digits by the order of their parts. */
export const rounded = (answer: unknown): unknown =>
  JSON.parse(JSON.stringify(answer, (_, value) => (typeof value === 'number' ? Number(value.toPrecision(12)) : value)))

/** Selects persons of a funnel. */
export type Point = Readonly<Record<string, unknown>>

export const listQuery = (funnel: ReferenceFunnel, point: Point, select: readonly string[]) => ({
  kind: 'ActorsQuery',
  source: { kind: 'FunnelsActorsQuery', source: asQuery(funnel), ...point },
  select,
  orderBy: [],
  limit: 1000,
})

/** Every number of an answer, with the point that asks for its persons. */
export function pointsOf(
  funnel: ReferenceFunnel,
  results: unknown,
  outcomes: readonly ReferenceOutcome[],
): readonly (readonly [Point, number])[] {
  if (funnel.viz === 'time_to_convert') return []
  const behind = (value: unknown) => (value === undefined ? {} : { funnelStepBreakdown: value })
  if (funnel.viz === 'steps')
    return stepRows(results as StepResults).flatMap((row, _, rows) => {
      const own = rowOutcomes(
        row[0]!.breakdown_value,
        rows.map(([first]) => first!.breakdown_value),
        outcomes,
      )
      const required = (step: number): number => (funnel.optional.includes(step) ? required(step - 1) : step)
      const left = (step: number) => own.filter(({ times }) => times[required(step - 1)] !== undefined && times[step] === undefined).length
      return row.flatMap(({ count }, step): (readonly [Point, number])[] => [
        [{ ...behind(row[0]!.breakdown_value), funnelStep: step + 1 }, count],
        ...(step > 0 && funnel.optional.length === 0
          ? [[{ ...behind(row[0]!.breakdown_value), funnelStep: -step - 1 }, row[step - 1]!.count - count] as const]
          : step > 0
            ? [[{ ...behind(row[0]!.breakdown_value), funnelStep: -step - 1 }, left(step)] as const]
            : []),
      ])
    })
  return (results as { breakdown_value?: unknown; days: string[] }[]).flatMap((row) =>
    referenceTrend(rowOutcomes(row.breakdown_value, [], outcomes), funnel).flatMap(({ entered, converted }, day) => {
      const point = { ...behind(row.breakdown_value), funnelTrendsEntrancePeriodStart: `${row.days[day]} 00:00:00` }
      return [
        [point, entered],
        [{ ...point, funnelTrendsDropOff: false }, converted],
        [{ ...point, funnelTrendsDropOff: true }, entered - converted],
      ] as const
    }),
  )
}
