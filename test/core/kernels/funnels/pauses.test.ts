import { expect, test } from 'vitest'
import type { ActorColumns } from '../../../../src/core/kernels/funnels/columns.ts'
import { type Attribution, type FunnelFold, foldActors, foldPeriods, type Outcome } from '../../../../src/core/kernels/funnels/fold.ts'

// One actor with very many events is walked with pauses too: whoever drives the fold can stop it inside the walk.

const count = 400_000
const between = 1 << 17
const perHour = 1000

/** Events a thousandth of an hour apart: first steps mostly, the second one now and then, the third at the very end. */
function events(isAtOnce = false): ActorColumns {
  return {
    actors: 1,
    offsets: Int32Array.of(0, count),
    time: Float64Array.from({ length: count }, (_, i) => (isAtOnce ? 0 : i)),
    steps: Int32Array.from({ length: count }, (_, i) => (i === count - 1 ? 4 : i % 1000 === 999 ? 2 : 1)),
    exclusions: null,
    breakdown: Int32Array.from({ length: count }, (_, i) => 1 + (i % 3)),
    origin: null,
  }
}
const funnel = (order: FunnelFold['order'], attribution: Attribution = { type: 'none' }): FunnelFold => ({
  order,
  steps: 3,
  window: 2 * perHour,
  optional: 0,
  attribution,
  goesBefore: (a, b) => a < b,
})
const day = 24 * perHour
const days = Float64Array.from({ length: Math.ceil(count / day) + 1 }, (_, i) => i * day)

type Fold = (sink: (outcome: Outcome) => void) => Generator<void, void, void>
const cases: readonly (readonly [what: string, walks: number, fold: Fold])[] = [
  ['ordered', 1, (sink) => foldActors(events(), funnel('ordered'), sink)],
  ['strict', 1, (sink) => foldActors(events(), funnel('strict'), sink)],
  ['unordered', 1, (sink) => foldActors(events(), { ...funnel('unordered'), steps: 4 }, sink)],
  ['by each value', 1, (sink) => foldActors(events(), funnel('ordered', { type: 'all_events' }), sink)],
  ['by the values of a step', 3, (sink) => foldActors(events(), funnel('ordered', { type: 'step', step: 0 }), sink)],
  ['by day', 1, (sink) => foldPeriods(events(), funnel('ordered'), days, sink)],
]

test.each(cases)('a walk over many events pauses inside: %s', (_, walks, fold) => {
  let pauses = 0
  for (const _pause of fold(() => undefined)) pauses++
  expect(pauses).toBeGreaterThanOrEqual(walks * Math.floor(count / between) - 1)
})

test.each(cases.slice(0, 3))('stopped at a pause, nothing of the walk is seen: %s', (_, __, fold) => {
  const seen: Outcome[] = []
  const run = fold((outcome) => seen.push(outcome))
  for (let i = 0; i < 2; i++) expect(run.next().done).toBe(false)
  run.return()
  expect(run.next().done).toBe(true)
  expect(seen).toEqual([])
})

test('what comes behind a pause counts', () => {
  const depths: number[] = []
  for (const _pause of foldActors(events(), funnel('ordered'), ({ depth }) => depths.push(depth)));
  expect(depths).toEqual([3])
})

test('very many events of one instant are put in order once', () => {
  const depths: number[] = []
  for (const _pause of foldActors(events(true), funnel('ordered'), ({ depth }) => depths.push(depth)));
  expect(depths).toEqual([3])
})

test('many values at a step cost little more than one', () => {
  const all = { ...events(), breakdown: Int32Array.from({ length: count }, (_, i) => i % 4000) }
  let values = 0
  let pauses = 0
  for (const _pause of foldActors(all, funnel('ordered', { type: 'step', step: 0 }), () => values++)) pauses++
  expect(values).toBe(3996) // the others are those of second and third steps
  // Walking all events for each would pause 12,000 times.
  expect(pauses).toBeLessThan(40)
})
