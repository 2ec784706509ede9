import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type BucketColumns, EventBuckets } from '../../../../src/core/kernels/funnels/buckets.ts'
import type { FunnelColumns } from '../../../../src/core/kernels/funnels/columns.ts'
import { type FunnelFold, foldActors, foldPeriods, type Outcome } from '../../../../src/core/kernels/funnels/fold.ts'
import { assertGenerated } from '../../../harness/assert-generated.ts'
import { type NaiveEvent, type NaiveFunnel, naiveFunnel } from '../../../reference/funnels.ts'

type Event = NaiveEvent & { readonly actor: number }
const bits = (steps: readonly number[] = []) => steps.reduce((mask, step) => mask | (1 << step), 0)
const values = ['', 'a', 'b']

function columnsOf(events: readonly Event[], withBreakdown: boolean, hasExclusions: boolean): FunnelColumns {
  return {
    actor: Int32Array.from(events, (e) => e.actor),
    time: Float64Array.from(events, (e) => e.time),
    steps: Int32Array.from(events, (e) => bits(e.steps)),
    exclusions: hasExclusions ? Int32Array.from(events, (e) => bits(e.excludes)) : null,
    breakdown: withBreakdown ? Int32Array.from(events, (e) => values.indexOf(e.value ?? '')) : null,
  }
}

function finished<T>(run: Generator<void, T, void>): T {
  for (;;) {
    const step = run.next()
    if (step.done) return step.value
  }
}

function fold(events: readonly Event[], funnel: FunnelFold, periods?: readonly number[], rowsPerBucket = 18) {
  const breakdown = funnel.attribution.type !== 'none'
  const exclusions = events.some((e) => e.excludes?.length)
  const buckets = new EventBuckets({ rows: events.length, exclusions, breakdown, origin: false }, rowsPerBucket)
  for (const part of [events.slice(0, 5), events.slice(5)]) buckets.append(columnsOf(part, breakdown, exclusions))
  const outcomes: { actor: number; value: string | null; depth: number; times: number[]; steps: number[]; period: number }[] = []
  for (let bucket = 0; bucket < buckets.buckets; bucket++) {
    const columns = finished(buckets.group(bucket))
    const sink = (o: Outcome) =>
      outcomes.push({
        actor: columns.code(o.actor),
        value: o.value < 0 ? null : values[o.value]!,
        depth: o.depth,
        times: [...o.events].filter((e) => e >= 0).map((e) => columns.time[e]!),
        steps: [...o.events.keys()].filter((step) => o.events[step]! >= 0),
        period: o.period,
      })
    const run = periods ? foldPeriods(columns, funnel, Float64Array.from(periods), sink) : foldActors(columns, funnel, sink)
    for (const _ of run);
  }
  buckets.release()
  return outcomes
}

const settings = (naive: NaiveFunnel, attribution: FunnelFold['attribution'] = { type: 'none' }): FunnelFold => ({
  order: naive.order,
  steps: naive.steps,
  window: naive.window,
  optional: bits(naive.optional),
  attribution,
  goesBefore: (a, b) => a < b,
})

const arbEvent = (steps: number): fc.Arbitrary<Event> =>
  fc.record({
    actor: fc.integer({ min: 0, max: 2 }),
    time: fc.integer({ min: 0, max: 12 }),
    steps: fc.subarray([...Array(steps).keys()], { maxLength: 2 }),
    excludes: fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: fc.subarray([...Array(steps - 1).keys()]) }),
    value: fc.constantFrom(...values),
  })
const arbCase = fc.integer({ min: 2, max: 4 }).chain((steps) =>
  fc.record({
    funnel: fc.record({
      order: fc.constantFrom('ordered' as const, 'strict' as const, 'unordered' as const),
      steps: fc.constant(steps),
      window: fc.integer({ min: 1, max: 8 }),
      optional: fc.subarray([...Array(steps).keys()].slice(1), { maxLength: 1 }),
    }),
    events: fc.array(arbEvent(steps), { maxLength: 18 }),
  }),
)
/** An event is either a step's or an exclusion, never both: the query refuses such funnels. */
const split = (events: readonly Event[]) => events.map((e) => (e.excludes?.length ? { ...e, steps: [] } : e))
const naiveOf = (funnel: NaiveFunnel): NaiveFunnel => (funnel.order === 'unordered' ? { ...funnel, optional: [] } : funnel)

const attributed = (
  type: 'first_touch' | 'last_touch' | 'all_events' | 'step',
  step: number,
  events: readonly Event[],
  funnel: NaiveFunnel,
) =>
  [0, 1, 2].flatMap((actor) => {
    const own = events.filter((e) => e.actor === actor).sort((a, b) => a.time - b.time)
    const set = own.filter((e) => e.value !== '').sort((a, b) => a.time - b.time || values.indexOf(a.value!) - values.indexOf(b.value!))
    const last = set.find((e) => e.time === set.at(-1)!.time)
    // Of an unordered funnel any step may be the first.
    const isAt = (e: Event) => (funnel.order === 'unordered' ? e.steps.length > 0 : e.steps.includes(step))
    const all = (list: readonly Event[]) => [...new Set(list.map((e) => e.value ?? ''))]
    const runs: { value: string; events: readonly Event[]; attributed?: { step: number; value: string } }[] =
      type === 'first_touch'
        ? [{ value: set[0]?.value ?? '', events: own }]
        : type === 'last_touch'
          ? [{ value: last?.value ?? '', events: own }]
          : type === 'all_events'
            ? all(own).map((value) => ({ value, events: own.filter((e) => e.value === value) }))
            : all(own.filter(isAt)).map((value) => ({ value, events: own, attributed: { step, value } }))
    return runs.flatMap((run) => {
      const outcome = naiveFunnel(run.events, funnel, run.attributed)
      return outcome ? [{ actor, value: run.value, period: -1, ...outcome }] : []
    })
  })

describe('the fold agrees with the naive funnel', () => {
  test('without breakdown', () => {
    assertGenerated(
      fc.property(arbCase, ({ funnel: drawn, events: drawnEvents }) => {
        const funnel = naiveOf(drawn)
        const events = split(drawnEvents)
        const expected = [0, 1, 2].flatMap((actor) => {
          const outcome = naiveFunnel(
            events.filter((e) => e.actor === actor),
            funnel,
          )
          return outcome ? [{ actor, value: null, period: -1, ...outcome }] : []
        })
        expect(fold(events, settings(funnel))).toEqual(expected)
        // With a bucket for each actor.
        expect(fold(events, settings(funnel), undefined, events.length / 4)).toEqual(expected)
      }),
      { numRuns: 4000 },
    )
  })

  test.each(['first_touch', 'last_touch', 'all_events', 'step'] as const)('with attribution %s', (type) => {
    assertGenerated(
      fc.property(arbCase, fc.nat(3), ({ funnel: drawn, events: drawnEvents }, anyStep) => {
        const funnel = naiveOf(drawn)
        const events = split(drawnEvents)
        const step = anyStep % funnel.steps
        const expected = attributed(type, step, events, funnel)
        const attribution = type === 'step' ? { type, step } : { type }
        expect(fold(events, settings(funnel, attribution))).toEqual(expected)
      }),
      { numRuns: 700 },
    )
  })

  // Most events serve the step and nothing else, so that they are dealt out by their values.
  const arbSteps = fc.integer({ min: 2, max: 3 }).chain((steps) =>
    fc.record({
      step: fc.nat(steps - 1),
      funnel: fc.record({
        order: fc.constant('ordered' as const),
        steps: fc.constant(steps),
        window: fc.integer({ min: 1, max: 40 }),
        optional: fc.subarray(steps > 2 ? [1] : []),
      }),
      others: fc.array(arbEvent(steps), { maxLength: 4 }),
      own: fc.array(fc.record({ actor: fc.nat(2), time: fc.integer({ min: 0, max: 90 }), value: fc.constantFrom(...values) }), {
        minLength: 10,
        maxLength: 60,
        size: 'max',
      }),
    }),
  )
  test.each([false, true])('with the attribution to a step that most events serve; by period: %s', (isByPeriod) => {
    assertGenerated(
      fc.property(arbSteps, ({ step, funnel: drawn, others, own }) => {
        const funnel = naiveOf(drawn)
        const events = split([
          ...others.map((e) => ({ ...e, time: 7 * e.time })),
          ...own.map((e) => ({ ...e, steps: [step], excludes: [] })),
        ])
        const attribution = { type: 'step', step } as const
        const periods = [0, 30, 60, 91]
        const expected = isByPeriod
          ? periods.slice(0, -1).flatMap((from, period) => {
              const enters = (time: number) => time >= from && time < periods[period + 1]!
              return attributed('step', step, events, { ...funnel, enters }).map((o) => ({ ...o, period }))
            })
          : attributed('step', step, events, funnel)
        const found = fold(events, settings(funnel, attribution), isByPeriod ? periods : undefined)
        expect(inOrder(found)).toEqual(inOrder(expected))
      }),
      { numRuns: 700 },
    )
  })
  const inOrder = (outcomes: readonly object[]) => outcomes.map((o) => JSON.stringify(o, Object.keys(o).sort())).sort()

  test('by period of entry', () => {
    assertGenerated(
      fc.property(arbCase, ({ funnel: drawn, events: drawnEvents }) => {
        const funnel = { ...naiveOf(drawn), optional: [] }
        // One step an event: which of several an unordered run gives it depends on where the run began.
        const events = split(drawnEvents).map((e) => ({
          ...e,
          excludes: [],
          steps: funnel.order === 'unordered' ? e.steps.slice(0, 1) : e.steps,
        }))
        const periods = [0, 4, 8, 13]
        const expected = [0, 1, 2].flatMap((actor) => {
          const own = events.filter((e) => e.actor === actor).sort((a, b) => a.time - b.time)
          return [0, 1, 2].flatMap((period) => {
            const from = periods[period]!
            const to = periods[period + 1]!
            const enters = (e: Event) => e.time >= from && e.time < to
            if (funnel.order === 'unordered') {
              // A run that begins at any event of the period.
              const depths = own
                .filter((e) => enters(e) && e.steps.length)
                .map((e) => {
                  const rest = own.filter((x) => x.time >= e.time && x.time <= e.time + funnel.window)
                  return naiveFunnel(rest, funnel)?.depth ?? 0
                })
              return depths.length ? [{ actor, period, converted: Math.max(...depths) === funnel.steps }] : []
            }
            const seen = own.filter((e) => e.time >= from).map((e) => (enters(e) ? e : { ...e, steps: e.steps.filter((s) => s !== 0) }))
            const entered = own.some((e) => enters(e) && e.steps.includes(0))
            const outcome = entered ? naiveFunnel(seen, { ...funnel, order: 'ordered' }) : null
            return outcome ? [{ actor, period, converted: outcome.depth === funnel.steps }] : []
          })
        })
        const got = fold(events, settings({ ...funnel, order: funnel.order === 'strict' ? 'ordered' : funnel.order }), periods)
        if (funnel.order !== 'strict')
          expect(got.map((o) => ({ actor: o.actor, period: o.period, converted: o.depth === funnel.steps }))).toEqual(expected)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('rules one by one', () => {
  const at = (time: number, ...steps: number[]): Event => ({ actor: 0, time, steps })
  const excludes = (time: number, ...from: number[]): Event => ({ actor: 0, time, steps: [], excludes: from })
  const two: NaiveFunnel = { order: 'ordered', steps: 2, window: 10 }
  const three: NaiveFunnel = { order: 'ordered', steps: 3, window: 10 }
  test.each<[string, NaiveFunnel, Event[], number]>([
    ['the window counts from the first step and is inclusive', three, [at(0, 0), at(5, 1), at(10, 2)], 3],
    ['one past the window is too late, however near to the step before', three, [at(0, 0), at(9, 1), at(11, 2)], 2],
    ['a later entry refreshes the attempt', two, [at(0, 0), at(5, 0), at(14, 1)], 2],
    ['one event moves an attempt by one step', two, [at(0, 0, 1)], 1],
    ['a repeated event serves the next equal step', two, [at(0, 0, 1), at(1, 0, 1)], 2],
    ['two different steps at one instant convert', two, [at(0, 1), at(0, 0)], 2],
    ['one event never serves two steps at a mixed instant', two, [at(0, 0, 1), { actor: 0, time: 0, steps: [] }], 1],
    ['strict: an event between breaks the run', { ...two, order: 'strict' }, [at(0, 0), at(1), at(2, 1)], 1],
    ['strict: events before the first step do not matter', { ...two, order: 'strict' }, [at(0), at(1, 0), at(2, 1)], 2],
    ['an exclusion in between removes the actor from all steps', two, [at(0, 0), excludes(1, 0), at(2, 1)], 0],
    ['an exclusion behind the window removes nobody', two, [at(0, 0), excludes(11, 0)], 1],
    ['an exclusion at a mixed instant is not looked at', two, [at(0, 0), excludes(1, 0), at(1, 1)], 2],
    ['a clean later attempt of the same depth replaces the excluded one', two, [at(0, 0), excludes(1, 0), at(31, 0)], 1],
    ['an optional step may be left out', { ...three, optional: [1] }, [at(0, 0), at(1, 2)], 3],
    ['unordered: any order within the window', { ...three, order: 'unordered' }, [at(0, 2), at(1, 0), at(2, 1)], 3],
    ['unordered: the window slides', { ...three, order: 'unordered' }, [at(0, 2), at(9, 0), at(11, 1)], 2],
    ['unordered: an exclusion empties the run', { ...three, order: 'unordered' }, [at(0, 2), at(1, 0), excludes(2, 0), at(3, 1)], 1],
  ])('%s', (_, funnel, events, depth) => {
    expect(fold(events, settings(funnel))[0]?.depth ?? 0).toBe(depth)
    expect(naiveFunnel(events, funnel)?.depth ?? 0).toBe(depth)
  })
})

/** The columns, counting how often an event's time is looked at. */
function counting(columns: BucketColumns): { columns: BucketColumns; looks(): number } {
  let count = 0
  const time = new Proxy(columns.time, {
    get(target, key) {
      if (typeof key === 'string' && /^\d+$/.test(key)) count++
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return { columns: { ...columns, time }, looks: () => count }
}

test.each(['ordered', 'strict', 'unordered'] as const)('many values of one actor cost what their events cost: %s', (order) => {
  const looksAt = (count: number) => {
    const events = Array.from({ length: count }, (_, i): Event => ({ actor: 0, time: i, steps: [i % 2] }))
    const buckets = new EventBuckets({ rows: count, exclusions: false, breakdown: true, origin: false })
    buckets.append({ ...columnsOf(events, false, false), breakdown: Int32Array.from(events, (_, i) => i >> 1) })
    const { columns, looks } = counting(finished(buckets.group(0)))
    const outcomes: number[] = []
    const funnel = settings({ order, steps: 2, window: 10 }, { type: 'all_events' })
    finished(foldActors(columns, funnel, (o) => outcomes.push(o.depth)))
    expect(outcomes).toEqual(Array.from({ length: count / 2 }, () => 2))
    return looks()
  }
  expect(looksAt(4000) / looksAt(1000)).toBeLessThan(4.2)
})
