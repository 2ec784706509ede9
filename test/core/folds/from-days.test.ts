import fc from 'fast-check'
import { expect, test } from 'vitest'
import { random } from '../../../bench/random.ts'
import { resultFromDays } from '../../../src/core/folds/days/from-days.ts'
import { columnView, type EventBits, extentOf, type Fold, listView, type Matching } from '../../../src/core/folds/fold.ts'
import { type LifecycleCounts, type LifecycleParams, lifecycleFold } from '../../../src/core/folds/lifecycle.ts'
import { type RetentionParams, retentionFold } from '../../../src/core/folds/retention.ts'
import type { SeriesValue } from '../../../src/core/folds/series/accumulators.ts'
import { type Series, type SeriesPart, seriesData, seriesFold } from '../../../src/core/folds/series/fold.ts'
import { numberOrder } from '../../../src/core/folds/series/number-order.ts'
import { ofBox, oneLevel, type Spread } from '../../../src/core/folds/series/spread.ts'
import { type StickinessParams, stickinessFold } from '../../../src/core/folds/stickiness.ts'
import { EventLists } from '../../../src/core/lists/event-lists.ts'
import { CalendarDays } from '../../../src/core/lists/kept/calendar-days.ts'
import { KeptCounts } from '../../../src/core/lists/kept/kept-counts.ts'
import { ListColumn } from '../../../src/core/lists/list-column.ts'
import type { SumState } from '../../../src/lib/numbers/sums.ts'
import { day, hour, minute, zoneOf } from '../../../src/lib/time/zone.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'

// What is kept of whole days gives the results that the events give, while events and merges join.

const persons = 40
/** Numbers of persons lie in several blocks. */
const numberOf = (person: number) => (person % 4 === 3 ? 70_000 + person : person * 5)
/** Around a change of clocks. */
const begin = Date.UTC(2026, 2, 20) * 1000

const completed = async <R>(steps: Generator<void, R, void>): Promise<R> => {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

const drawnEvents = (most: number) =>
  fc.array(
    fc.record({
      person: fc.nat(persons - 1),
      time: fc.oneof(
        fc.nat(20 * 24 * 60).map((minutes) => begin + minutes * minute),
        fc.nat(40).map((halves) => begin + halves * 12 * hour),
        fc.nat(1_000_000).map((micros) => begin + 3 * day + micros),
      ),
      event: fc.nat(3),
      isLarge: fc.boolean(),
      plan: fc.nat(2),
      amount: fc.oneof(
        fc.integer({ min: -400, max: 400 }).map((n) => n / 10),
        fc.constant(Number.NaN),
      ),
    }),
    { maxLength: most },
  )
type Drawn = {
  readonly person: number
  readonly time: number
  readonly event: number
  readonly isLarge: boolean
  readonly plan: number
  readonly amount: number
}

const drawnRounds = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: drawnEvents(15).map((events) => ({ events })) },
    { weight: 1, arbitrary: fc.record({ merged: fc.nat(persons - 1), survivor: fc.nat(persons - 1) }) },
  ),
  { maxLength: 12 },
)

const drawnBits = fc.record({
  masks: fc.array(fc.constantFrom(0, 1, 2, 3), { maxLength: 4 }),
  others: fc.constantFrom(0, 1, 3),
  large: fc.constantFrom(0, 0, 1, 2),
  vip: fc.constantFrom(0, 0, 1, 2, 3),
})
const drawnTimes = fc.record({
  from: fc.constantFrom(Number.NEGATIVE_INFINITY, begin, begin + 2 * day, begin + 2.5 * day + 7),
  to: fc.constantFrom(Number.POSITIVE_INFINITY, begin + 8 * day - 1, begin + 9.3 * day, begin + 19 * day),
})
const drawnBuckets = fc.record({
  days: fc.constantFrom(1, 2, 7),
  first: fc.integer({ min: -2, max: 6 }),
  count: fc.integer({ min: 1, max: 12 }),
})
const kinds = [
  'events',
  'persons',
  'sightings',
  'windows',
  'all persons',
  'hours',
  'stickiness',
  'recurring',
  'first time',
  'lifecycle',
  'sums',
  'averages of hours',
  'least of hours',
  'greatest',
  'medians',
  'p95',
  'boxes',
  'p95 by plan',
  'boxes by plan',
  'events by plan',
  'sums by plan',
  'averages by plan',
  'greatest by plan',
  'persons by plan',
  'windows by plan',
]
const drawnKinds = fc.array(fc.constantFrom(...kinds), { minLength: 2, maxLength: 2 })

class World {
  readonly lists = new EventLists()
  readonly isLarge = new ListColumn('flags', 0)
  readonly plan = new ListColumn('codes', 0)
  readonly amount = new ListColumn('numbers', 0)
  readonly kept = new KeptCounts(this.lists)
  private readonly survivorOf = new Map<number, number>()
  private seq = 0

  constructor() {
    this.lists.attach(this.isLarge)
    this.lists.attach(this.plan)
    this.lists.attach(this.amount)
  }

  add(events: readonly Drawn[]): void {
    const first = this.seq + 1
    this.lists.add({
      person: Int32Array.from(events, ({ person }) => this.now(numberOf(person))),
      time: Float64Array.from(events, ({ time }) => time),
      event: Int32Array.from(events, ({ event }) => event),
      seq: Float64Array.from(events, () => ++this.seq),
    })
    const indexes = this.lists.indexesAfter(first - 1, this.seq).subarray(1)
    this.isLarge.write({ values: Uint8Array.from(events, ({ isLarge }) => (isLarge ? 1 : 0)) }, indexes)
    this.plan.write({ values: Int32Array.from(events, ({ plan }) => plan), texts: ['free', 'pro', 'team'] }, indexes)
    this.amount.write({ values: Float64Array.from(events, ({ amount }) => amount) }, indexes)
  }

  merge(one: number, other: number): void {
    const [merged, survivor] = [this.now(numberOf(one)), this.now(numberOf(other))]
    if (merged === survivor) return
    this.lists.merge(merged, survivor)
    this.survivorOf.set(merged, survivor)
  }

  private now(person: number): number {
    const next = this.survivorOf.get(person)
    return next === undefined ? person : this.now(next)
  }

  view() {
    return listView({ lists: this.lists, order: null })
  }

  bitsOf({ masks, others, large, vip }: { masks: readonly number[]; others: number; large: number; vip: number }): EventBits {
    const vips = {
      values: Uint8Array.from({ length: this.lists.persons }, (_, person) => (person % 3 === 0 ? 1 : 0)),
      size: 0,
      numbers: null,
    }
    return {
      byEvent: Int32Array.from(masks),
      others,
      flags: [
        ...(large > 0 ? [{ of: 'event', column: columnView(this.isLarge), bits: large } as const] : []),
        ...(vip > 0 ? [{ of: 'person', column: vips, bits: vip } as const] : []),
      ],
    }
  }
}

const runHere = async <P, R>(fold: Fold<P, R>, view: ReturnType<World['view']>, params: P): Promise<R> =>
  fold.join([await completed(fold.run(view, params, 0, extentOf(fold, view)))], params)

test.each(kinds)('where most persons of a block are active: %s', async (kind) => {
  const world = new World()
  const draw = random(7)
  const upTo = (most: number) => Math.floor(draw() * most)
  const some = (most: number): Drawn[] =>
    Array.from({ length: most }, () => ({
      person: upTo(14_000),
      time: begin + upTo(10 * 24 * 60) * minute,
      event: upTo(2),
      isLarge: draw() < 0.7,
      plan: upTo(3),
      amount: upTo(9) === 0 ? Number.NaN : upTo(1000) / 10,
    }))
  world.add(some(120_000))
  const days = new CalendarDays(zoneOf('Europe/Berlin'))
  const starts = days.edges(days.numberAt(begin), days.numberAt(begin) + 8)
  const kept = {
    find: world.kept.find.bind(world.kept),
    leave: world.kept.leave.bind(world.kept),
    keep: (key: string, counts: Parameters<KeptCounts['keep']>[1]) => void world.kept.keep(key, counts, Number.POSITIVE_INFINITY),
  }
  let answers = 0
  for (let round = 0; round < 4; round++) {
    if (round > 1) world.add(some(2_000))
    if (round > 2) for (let i = 0; i < 500; i++) world.merge(upTo(14_000), upTo(14_000))
    const view = world.view()
    const bits = world.bitsOf({
      masks: [kind === 'recurring' ? 3 : 1],
      others: 0,
      large: 1,
      vip: /^events|hours|^sums|^averages|^least|^greatest|^medians|^p95|^boxes/.test(kind) ? 0 : 1,
    })
    const matching: Matching = { from: begin, to: begin + 9.5 * day, scope: null, bits, further: null, takesAll: false }
    const [fold, params] = questionOf(kind, matching, starts, 1, world)
    const result = await resultFromDays(fold, params, view, kept, days, { fold: (one, its) => runHere(one, view, its), completed })
    if (result === null) continue
    answers++
    expect(plain(result, params)).toEqual(plain(await runHere(fold, view, params), params))
  }
  expect(answers).toBe(3)
})

test('an event of another century: the others are counted as before', async () => {
  const world = new World()
  const days = new CalendarDays(zoneOf('UTC'))
  world.add([
    { person: 1, time: begin, event: 1, isLarge: true, plan: 0, amount: 1 },
    { person: 2, time: Date.UTC(1801, 0, 1) * 1000, event: 1, isLarge: true, plan: 0, amount: 1 },
  ])
  const left: string[] = []
  const kept = {
    find: world.kept.find.bind(world.kept),
    keep: () => expect.unreachable(),
    leave: (key: string) => {
      left.push(key)
      world.kept.leave(key)
    },
  }
  const bits = world.bitsOf({ masks: [0, 1], others: 0, large: 0, vip: 0 })
  const matching: Matching = { from: begin, to: begin + day, scope: null, bits, further: null, takesAll: false }
  const [fold, params] = questionOf('persons', matching, days.edges(days.numberAt(begin), days.numberAt(begin)), 1, world)
  const loops = { fold: <P, R>(one: Fold<P, R>, its: P) => runHere(one, world.view(), its), completed }
  for (let i = 0; i < 4; i++) expect(await resultFromDays(fold, params, world.view(), kept, days, loops)).toBe(null)
  expect(left).toHaveLength(1)
})

test('in any time zone, with any conditions, while events and merges join', async () => {
  const answered = new Map<string, number>()
  const left = new Map<string, number>()
  await assertGenerated(
    fc.asyncProperty(
      drawnEvents(150),
      drawnRounds,
      drawnBits,
      drawnTimes,
      drawnBuckets,
      drawnKinds,
      fc.constantFrom('UTC', 'America/New_York', 'Asia/Kolkata', 'Africa/Cairo'),
      async (events, rounds, drawn, times, { days: width, first, count }, asked, zone) => {
        const world = new World()
        world.add(events)
        const days = new CalendarDays(zoneOf(zone))
        const at = days.numberAt(begin) + first
        const starts = Float64Array.from({ length: count + 1 }, (_, i) => days.startOf(at + i * width))
        const ask = async (kind: string) => {
          const view = world.view()
          const bits = world.bitsOf(kind === 'recurring' || kind === 'first time' ? drawn : ofOneBit(drawn))
          const matching: Matching = { ...times, scope: null, bits, further: null, takesAll: false }
          const [fold, params] = questionOf(kind, matching, starts, width, world)
          const result = await resultFromDays(fold, params, view, kept, days, { fold: (one, its) => runHere(one, view, its), completed })
          if (result === null) return false
          expect(plain(result, params)).toEqual(plain(await runHere(fold, view, params), params))
          return true
        }
        const kept = {
          find: world.kept.find.bind(world.kept),
          leave: world.kept.leave.bind(world.kept),
          keep: (key: string, counts: Parameters<KeptCounts['keep']>[1]) => void world.kept.keep(key, counts, Number.POSITIVE_INFINITY),
        }
        for (const kind of asked) await ask(kind)
        for (const round of [{ events: [] }, ...rounds]) {
          if ('events' in round) world.add(round.events)
          else world.merge(round.merged, round.survivor)
          for (const kind of asked) {
            const counted = (await ask(kind)) ? answered : left
            counted.set(kind, (counted.get(kind) ?? 0) + 1)
          }
        }
      },
    ),
    { numRuns: 160 },
  )
  for (const kind of kinds) expect(answered.get(kind), `${kind}; left: ${left.get(kind)}`).toBeGreaterThan(5)
})

/** Others than retention have one condition. */
const ofOneBit = ({ masks, others, large, vip }: Parameters<World['bitsOf']>[0]) => ({
  masks: masks.map((mask) => mask & 1),
  others: others & 1,
  large: large & 1,
  vip: vip & 1,
})

/** Groups without a number are as good as none. */
function plain(result: unknown, params: unknown): unknown {
  const { value } = params as Partial<Series>
  if (value?.kind === 'quantiles') return quantiles(result as NonNullable<SeriesPart>, params as Series)
  if (result instanceof Float64Array) return [...result]
  if (result !== null && typeof result === 'object' && 'fresh' in result)
    return Object.values(result as LifecycleCounts).map((one) => [...one])
  const { combinations, state, counts } = result as {
    combinations: readonly number[]
    state?: Float64Array | SumState
    counts?: Float64Array
  }
  const numbers = state && 'sums' in state ? added(state) : [...((state as Float64Array | undefined) ?? counts!)]
  const size = numbers.length / Math.max(1, combinations.length)
  const groups = combinations.map((code, i) => [code, numbers.slice(i * size, (i + 1) * size)] as const)
  return groups.filter(([, all]) => all.some((n) => n !== 0 && n !== '0' && !Number.isNaN(n))).sort(([a], [b]) => a - b)
}

function quantiles(part: NonNullable<SeriesPart>, series: Series): unknown {
  const steps = seriesData(part, series)
  let step = steps.next()
  while (!step.done) step = steps.next()
  const digits = step.value.map(({ combination, data }) => [combination, data.map((n) => Number(n.toPrecision(13)))] as const)
  return digits.filter(([, data]) => data.some((n) => n !== 0)).sort(([a], [b]) => a - b)
}

/** The sum of each cell and how many numbers it has: the last digit depends on their order. */
const added = ({ sums, lost, counts }: SumState): readonly string[] =>
  Array.from(sums, (sum, cell) => (counts[cell] === 0 ? '0' : `${Number((sum + lost[cell]!).toPrecision(13))} of ${counts[cell]}`))

function questionOf(
  name: string,
  matching: Matching,
  starts: Float64Array,
  width: number,
  { plan, amount }: Pick<World, 'plan' | 'amount'>,
): [Fold<unknown, unknown>, unknown] {
  const kind = name.replace(' by plan', '')
  const splits = kind === name ? [] : [{ of: 'event', column: columnView(plan) } as const]
  const numbers = (reduction: 'sum' | 'avg' | 'min' | 'max'): SeriesValue => ({
    kind: 'numbers',
    number: { of: 'event', column: columnView(amount) },
    reduction,
  })
  const spread = (asked: Spread): SeriesValue => {
    const column = columnView(amount)
    return { kind: 'quantiles', number: { of: 'event', column }, order: numberOrder(column), spread: asked }
  }
  const hours = Float64Array.from({ length: 60 }, (_, i) => starts[0]! + i * hour)
  const series = (value: SeriesValue, edges: Float64Array | null = starts): [Fold<unknown, unknown>, unknown] => [
    seriesFold as Fold<unknown, unknown>,
    { matching, edges, splits, value } satisfies Series,
  ]
  switch (kind) {
    case 'all persons':
      return series({ kind: 'persons' }, null)
    case 'hours':
      return series({ kind: 'events' }, hours)
    case 'sums':
      return series(numbers('sum'))
    case 'averages':
      return series(numbers('avg'))
    case 'averages of hours':
      return series(numbers('avg'), hours)
    case 'least':
      return series(numbers('min'))
    case 'least of hours':
      return series(numbers('min'), hours)
    case 'greatest':
      return series(numbers('max'))
    case 'medians':
      return series(spread(oneLevel(0.5)))
    case 'p95':
      return series(spread(oneLevel(0.95)))
    case 'boxes':
      return series(spread(ofBox))
    case 'windows': {
      const ends = starts.slice(1)
      return series({ kind: 'windows', begins: Float64Array.from(ends, (_, i) => starts[Math.max(0, i - 3)]!).map(distinct(starts)), ends })
    }
    case 'stickiness': {
      const most = Number.POSITIVE_INFINITY
      return [
        stickinessFold as Fold<unknown, unknown>,
        { matching, edges: starts, size: starts.length - 1, least: 1, most } satisfies StickinessParams,
      ]
    }
    case 'lifecycle': {
      const values = Float64Array.from({ length: 1 << 17 }, (_, person) =>
        person % 7 === 0 ? Number.NaN : (begin + ((person * 37) % 400) * hour) / 1e6,
      )
      const created = { of: 'person', column: { values, size: 0, numbers: null } } as const
      return [lifecycleFold as Fold<unknown, unknown>, { matching, edges: starts, created } satisfies LifecycleParams]
    }
    case 'recurring':
    case 'first time': {
      const rows = starts.length - 1
      const params: RetentionParams = {
        matching: kind === 'recurring' ? matching : { ...matching, from: Number.NEGATIVE_INFINITY },
        type: kind,
        from: starts[0]!,
        ticks: starts,
        rowOf: Int32Array.from({ length: rows }, (_, i) => i),
        rows,
        columns: 5,
        width: width === 2 ? 2 : 1,
        columnOf: width === 7 ? Int32Array.of(0, 1, 1, 2, 3, 3) : Int32Array.of(0, 1, 2, 3, 4),
        hasWindows: false,
        minimum: 1,
        isCumulative: false,
        splits: [],
        number: null,
        isSame: false,
      }
      return [retentionFold as Fold<unknown, unknown>, params]
    }
    default:
      return series({ kind: kind as 'events' })
  }
}

/** Each window begins after the one before. */
const distinct = (starts: Float64Array) => (begin: number, i: number) => (i < 3 ? starts[0]! - (3 - i) * 7 * day : begin)
