import { isDeepStrictEqual, parseArgs } from 'node:util'
import { countDaysFold } from '../src/core/folds/days/count-days.ts'
import { resultFromDays } from '../src/core/folds/days/from-days.ts'
import { type EventBits, type Fold, type ListView, listView, type Matching, type PlacedColumn } from '../src/core/folds/fold.ts'
import { funnelFold } from '../src/core/folds/funnel.ts'
import { lifecycleFold } from '../src/core/folds/lifecycle.ts'
import type { ListedFunnel } from '../src/core/folds/listed-funnel.ts'
import { type RetentionParams, retentionFold } from '../src/core/folds/retention.ts'
import { selectable, selectionFold } from '../src/core/folds/selection.ts'
import { entriesFold, type Series, seriesFold } from '../src/core/folds/series/fold.ts'
import { numberOrder } from '../src/core/folds/series/number-order.ts'
import { stickinessFold } from '../src/core/folds/stickiness.ts'
import { EventLists } from '../src/core/lists/event-lists.ts'
import { calendarDaysOf } from '../src/core/lists/kept/calendar-days.ts'
import type { SplitCounts } from '../src/core/lists/kept/day-counts.ts'
import type { KeptDayCounts } from '../src/core/lists/kept/kept-counts.ts'
import { switchKernels, takeCalled } from '../src/core/simd/kernels.ts'
import { machine, median, rounded } from './measure.ts'

// Does each fold take less CPU time with the kernels of WebAssembly than with loops in JavaScript? In one thread of one process, in turns, over lists made by a generator.
// `--events`: in millions.

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '10' },
    runs: { type: 'string', default: '9' },
    fold: { type: 'string' },
  },
})
const events = Number(values.events) * 1_000_000
const day = 86_400e6
const days = 90
const names = 20
const persons = events / 50

/** Random, and the same for the same number. */
const mixed = (of: number) => {
  let x = Math.imul(of ^ (of >>> 15), 0x2c1b3c6d)
  x = Math.imul(x ^ (x >>> 12), 0x297a2d39)
  return (x ^ (x >>> 15)) >>> 0
}

function generated(): EventLists {
  const lists = new EventLists()
  const counts = new Int32Array(persons)
  for (let seq = 1; seq <= events; seq++) counts[mixed(seq) % persons]!++
  lists.expect(counts)
  const batch = 1 << 16
  for (let from = 0; from < events; from += batch) {
    const seq = Float64Array.from({ length: Math.min(batch, events - from) }, (_, i) => from + i + 1)
    lists.add({
      person: Int32Array.from(seq, (one) => mixed(one) % persons),
      time: seq.map((one) => Math.floor((one / events) * days * day)),
      event: Int32Array.from(seq, (one) => mixed(one * 7 + 3) % names),
      seq,
    })
  }
  return lists
}

const view = listView({ lists: generated(), order: null })
const column = (make: (of: number) => number): PlacedColumn => ({
  of: 'event',
  column: { values: Uint8Array.from({ length: view.time.length }, (_, i) => make(i)), size: 12, numbers: null },
})
const flag = column((i) => (mixed(i * 3 + 1) % 3 === 0 ? 1 : 0))
const split = column((i) => mixed(i * 5) % 12)
const price: PlacedColumn = {
  of: 'event',
  column: {
    values: Uint16Array.from({ length: view.time.length }, (_, i) => mixed(i * 9) % 5000),
    size: 0,
    numbers: Float64Array.from({ length: 5000 }, (_, i) => i / 10),
  },
}
const created: PlacedColumn = {
  of: 'person',
  column: { values: Float64Array.from({ length: persons }, (_, i) => (i % days) * 86_400), size: 0, numbers: null },
}

const bits = (...byEvent: number[]): EventBits => ({ byEvent: Int32Array.from(byEvent), others: 0, flags: [] })
const matching = (of: EventBits): Matching => ({ from: 0, to: days * day, scope: null, bits: of, further: null, takesAll: false })
const withColumn = ({ byEvent, others }: EventBits): EventBits => ({ byEvent, others, flags: [{ ...flag, bits: 255 }] })
const edges = Float64Array.from({ length: days + 1 }, (_, i) => i * day)
const weeks = Float64Array.from({ length: 13 }, (_, i) => 7 * i * day)
const oneName = matching(bits(1))
const fourNames = bits(1, 1, 1, 1)
const series = (value: Series['value'], of = oneName, splits: readonly PlacedColumn[] = []): Series => ({
  matching: of,
  edges,
  splits,
  value,
})
const rolling: Series['value'] = { kind: 'windows', begins: edges.subarray(0, 84), ends: edges.subarray(7) }
const sum: Series['value'] = { kind: 'numbers', number: price, reduction: 'sum' }
const p95: Series['value'] = {
  kind: 'quantiles',
  number: price,
  order: numberOrder(price.column),
  spread: { levels: [0.95], hasMean: false },
}
const funnel = (of: EventBits, steps: number): ListedFunnel => ({
  matching: matching(of),
  firstTimes: null,
  funnel: { order: 'ordered', steps, window: 7 * day, optional: 0, attribution: { type: 'first_touch' } },
  periods: null,
  splits: [],
  withTimes: false,
})
const retention: RetentionParams = {
  matching: matching(bits(1, 2)),
  type: 'recurring',
  from: 0,
  ticks: edges,
  rowOf: Int32Array.from({ length: days }, (_, i) => i),
  rows: days,
  columns: 12,
  width: 1,
  columnOf: Int32Array.from({ length: 12 }, (_, i) => i),
  hasWindows: false,
  minimum: 1,
  isCumulative: false,
  splits: [],
  number: null,
  isSame: false,
}
const stickiness = { matching: oneName, edges, size: days, least: 1, most: Number.POSITIVE_INFINITY }

function completed<R>(steps: Generator<void, R, void>): R {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}
const folded =
  <P, R>(fold: Fold<P, R>, params: P, lists: ListView = view) =>
  async () =>
    completed(fold.run(lists, params, 0, fold.over === 'persons' ? lists.persons : lists.used))
const [selection] = completed(selectionFold.run(view, selectable(oneName)!, 0, view.persons))
/** As if there were more than 256 names. */
const wide = { ...view, event: Uint16Array.from(view.event) }
const selected = { ...view, selection: selection! }

const kept = new Map<string, SplitCounts>()
const keptCounts = {
  find: (key: string) => ({ counts: kept.get(key) ?? null, isWanted: true }),
  keep: (key: string, counts: SplitCounts) => void kept.set(key, counts),
  leave: () => undefined,
} as unknown as KeptDayCounts
/** From what is kept of whole days. */
const fromDays =
  <P, R>(fold: Fold<P, R>, params: P) =>
  () =>
    resultFromDays(fold as Fold<unknown, unknown>, params, view, keptCounts, calendarDaysOf('UTC'), {
      fold: async (one, its) => one.join([completed(one.run(view, its, 0, view.persons))], its),
      completed: async (steps) => completed(steps),
    })

const asked: Readonly<Record<string, () => Promise<unknown>>> = {
  'count per day': folded(entriesFold, series({ kind: 'events' })),
  'count per day, 4 names and a condition': folded(entriesFold, series({ kind: 'events' }, matching(withColumn(fourNames)))),
  'count per day, names of two bytes': folded(entriesFold, series({ kind: 'events' }), wide),
  'unique persons per day, breakdown, names of two bytes': folded(seriesFold, series({ kind: 'persons' }, oneName, [split]), wide),
  breakdown: folded(entriesFold, series({ kind: 'events' }, oneName, [split])),
  sum: folded(entriesFold, series(sum)),
  p95: folded(entriesFold, series(p95)),
  'unique persons per day': folded(seriesFold, series({ kind: 'persons' })),
  'unique persons per day, 4 names': folded(seriesFold, series({ kind: 'persons' }, matching(fourNames))),
  'unique persons per day, 4 names and a condition': folded(seriesFold, series({ kind: 'persons' }, matching(withColumn(fourNames)))),
  'unique persons per day, breakdown': folded(seriesFold, series({ kind: 'persons' }, oneName, [split])),
  'weekly active': folded(seriesFold, series(rolling)),
  'funnel of 3 steps': folded(funnelFold, funnel(bits(1, 2, 4), 3)),
  'funnel of 3 steps and a condition': folded(funnelFold, funnel(withColumn(bits(1, 2, 4)), 3)),
  'funnel of 5 steps': folded(funnelFold, funnel(bits(1, 2, 4, 8, 16), 5)),
  retention: folded(retentionFold, retention),
  stickiness: folded(stickinessFold, stickiness),
  'make a selection': folded(selectionFold, selectable(oneName)!),
  'make counts of days': folded(countDaysFold, { bits: bits(1), edges, split: null, number: null }),
  'selection: count per day': folded(seriesFold, series({ kind: 'events' }), selected),
  'selection: breakdown': folded(seriesFold, series({ kind: 'events' }, oneName, [split]), selected),
  'selection: unique persons per day, breakdown': folded(seriesFold, series({ kind: 'persons' }, oneName, [split]), selected),
  'days: unique persons per week': fromDays(seriesFold, { ...series({ kind: 'persons' }), edges: weeks }),
  'days: persons seen first': fromDays(seriesFold, series({ kind: 'sightings' })),
  'days: weekly active': fromDays(seriesFold, series(rolling)),
  'days: retention': fromDays(retentionFold, retention),
  'days: stickiness': fromDays(stickinessFold, stickiness),
  'days: lifecycle': fromDays(lifecycleFold, { matching: oneName, edges, created }),
}

async function cpuMs(run: () => Promise<unknown>, mode: 'on' | 'off'): Promise<readonly [ms: number, answer: unknown]> {
  switchKernels(mode)
  const before = process.cpuUsage()
  const answer = await run()
  const { user, system } = process.cpuUsage(before)
  return [(user + system) / 1000, answer]
}

for (const [fold, run] of Object.entries(asked)) {
  if (values.fold && !fold.includes(values.fold)) continue
  const expected = (await cpuMs(run, 'off'))[1]
  takeCalled()
  const isSame = isDeepStrictEqual((await cpuMs(run, 'on'))[1], expected)
  const kernels = [...takeCalled()].sort()
  if (!isSame || expected === null) throw new Error(`${fold}: kernels answer something else`)
  const [without, using]: [number[], number[]] = [[], []]
  for (let i = 0; i < Number(values.runs); i++) {
    without.push((await cpuMs(run, 'off'))[0])
    using.push((await cpuMs(run, 'on'))[0])
  }
  const [a, b] = [median(without), median(using)]
  const figures = { cpuMsWithout: rounded(a), cpuMsWith: rounded(b), ratio: rounded(a / b), kernels }
  console.log(JSON.stringify({ bench: 'simd', fold, events, ...figures, ...machine() }))
}
