import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import type { Matching } from '../../../src/core/folds/fold.ts'
import { columnView, extentOf, type Fold, listView } from '../../../src/core/folds/fold.ts'
import { funnelFold } from '../../../src/core/folds/funnel.ts'
import type { ListedFunnel } from '../../../src/core/folds/listed-funnel.ts'
import { type RetentionParams, type RetentionPart, retentionFold } from '../../../src/core/folds/retention.ts'
import { selectable, selectionFold } from '../../../src/core/folds/selection.ts'
import type { SeriesValue } from '../../../src/core/folds/series/accumulators.ts'
import { entriesFold, type Series, type SeriesPart, seriesData, seriesFold } from '../../../src/core/folds/series/fold.ts'
import { type StickinessParams, stickinessFold } from '../../../src/core/folds/stickiness.ts'
import { ThreadLost, ThreadPool } from '../../../src/core/folds/thread-pool.ts'
import { EventLists } from '../../../src/core/lists/event-lists.ts'
import { ListColumn } from '../../../src/core/lists/list-column.ts'
import { type KernelMode, type KernelName, kernelMode, switchKernels } from '../../../src/core/simd/kernels.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'

// Folds in worker threads, each over some of the persons, equal the fold over all of them in one thread.

// Also on a machine with one processor.
const processors = 2
const pool = new ThreadPool(2, { processors })
afterAll(() => pool.close())

const persons = 40
const plans = ['free', 'pro', 'team', '']
const drawnEvents = fc.array(fc.tuple(fc.nat(persons - 1), fc.nat(999), fc.nat(3), fc.nat(3), fc.nat(400)), {
  minLength: 1,
  maxLength: 300,
})

function listsOf(events: readonly (readonly [person: number, time: number, event: number, plan: number, amount: number])[]) {
  const lists = new EventLists()
  const [plan, amount, isLarge] = [new ListColumn('codes', 0), new ListColumn('numbers', 0), new ListColumn('flags', 0)]
  for (const column of [plan, amount, isLarge]) lists.attach(column)
  lists.add({
    person: Int32Array.from(events, ([person]) => person),
    time: Float64Array.from(events, ([, time]) => time),
    event: Int32Array.from(events, ([, , event]) => event),
    seq: Float64Array.from(events, (_, i) => i + 1),
  })
  const indexes = lists.indexesAfter(0, events.length).subarray(1)
  plan.write({ values: Int32Array.from(events, ([, , , one]) => one), texts: plans }, indexes)
  amount.write({ values: Float64Array.from(events, ([, , , , one]) => (one % 7 === 0 ? Number.NaN : one / 4)) }, indexes)
  isLarge.write({ values: Uint8Array.from(events, ([, , , , one]) => (one > 200 ? 1 : 0)) }, indexes)
  return {
    lists: listView({ lists, order: null }),
    plan: { of: 'event', column: columnView(plan) } as const,
    amount: { of: 'event', column: columnView(amount) } as const,
    isLarge: { of: 'event', column: columnView(isLarge) } as const,
  }
}

const matching = (...masks: number[]): Matching => ({
  from: 100,
  to: 900,
  scope: null,
  bits: { byEvent: Int32Array.from(masks), others: 0, flags: [] },
  further: null,
  takesAll: false,
})

const dataOf = (part: SeriesPart, series: Series) => completed(seriesData(part!, series))
function completed<R>(steps: Generator<void, R, void>): R {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}
function here<P, R>(fold: Fold<P, R>, lists: ReturnType<typeof listView>, params: P): R {
  return fold.join([completed(fold.run(lists, params, 0, extentOf(fold, lists)))], params)
}
const never = new AbortController().signal
const there = <P, R>(fold: Fold<P, R>, lists: ReturnType<typeof listView>, params: P) => pool.run(fold, lists, params, never)
/** In threads, without and with a selection of the events. */
async function thereTwice<P, R>(fold: Fold<P, R>, lists: ReturnType<typeof listView>, params: P): Promise<readonly R[]> {
  const conditions = selectable(fold.conditions!(params))
  const plain = (await there(fold, lists, params))!
  if (!conditions) return [plain]
  const selection = (await there(selectionFold, lists, conditions))!
  return [plain, (await pool.run(fold, lists, params, never, selection))!]
}

/** By combination, since threads number them in different orders. */
const retained = (part: RetentionPart, size: number) =>
  new Map(
    part!.combinations.map((combination, group) => {
      const [from, to] = [group * size, (group + 1) * size]
      return [combination, [[...part!.counts.subarray(from, to)], [...(part!.amounts?.subarray(from, to) ?? [])]]]
    }),
  )

test('retentions in threads equal retentions in one thread', () =>
  assertGenerated(
    fc.asyncProperty(
      drawnEvents,
      fc.constantFrom<RetentionParams['type']>('recurring', 'first time', 'first ever'),
      fc.boolean(),
      fc.boolean(),
      fc.boolean(),
      async (events, type, isSplit, hasWindows, isSummed) => {
        const { lists, plan, amount } = listsOf(events)
        const params: RetentionParams = {
          matching: matching(1 | 4, 2, 1 | 2 | 4, 4),
          type,
          from: 100,
          ticks: Float64Array.of(100, 200, 300, 400, 500, 600, 700, 800, 901),
          rowOf: Int32Array.of(0, 0, 1, 1, 2, 2, 3, 3),
          rows: 4,
          columns: 3,
          width: 2,
          columnOf: Int32Array.of(0, 1, 2),
          hasWindows,
          minimum: hasWindows ? 2 : 1,
          isCumulative: false,
          splits: isSplit ? [plan] : [],
          number: isSummed ? amount : null,
          isSame: false,
        }
        const one = here(retentionFold, lists, params)
        for (const many of await thereTwice(retentionFold, lists, params)) expect(retained(many, 12)).toEqual(retained(one, 12))
      },
    ),
    { numRuns: 40 },
  ))

test('stickiness in threads equals stickiness in one thread', () =>
  assertGenerated(
    fc.asyncProperty(drawnEvents, fc.integer({ min: 1, max: 3 }), async (events, least) => {
      const { lists } = listsOf(events)
      const edges = Float64Array.of(100, 200, 400, 700, 901)
      const params: StickinessParams = { matching: matching(1, 0, 1), edges, size: 4, least, most: Number.POSITIVE_INFINITY }
      for (const many of await thereTwice(stickinessFold, lists, params))
        expect([...many]).toEqual([...here(stickinessFold, lists, params)])
    }),
    { numRuns: 20 },
  ))

test('series in threads equal series in one thread', () =>
  assertGenerated(
    fc.asyncProperty(drawnEvents, fc.boolean(), async (events, isSplit) => {
      const { lists, plan, amount } = listsOf(events)
      const values: readonly SeriesValue[] = [
        { kind: 'events' },
        { kind: 'persons' },
        { kind: 'sightings' },
        { kind: 'windows', begins: Float64Array.of(100, 200, 300), ends: Float64Array.of(400, 500, 901) },
        { kind: 'numbers', number: amount, reduction: 'sum' },
        { kind: 'numbers', number: amount, reduction: 'avg' },
        { kind: 'numbers', number: amount, reduction: 'min' },
        { kind: 'numbers', number: amount, reduction: 'max' },
        { kind: 'numbers', number: amount, reduction: 0.9 },
        { kind: 'events per person', reduction: 'max' },
        { kind: 'events per person', reduction: 0.5 },
        { kind: 'first times', from: 100 },
      ]
      for (const value of values) {
        const series: Series = {
          matching: matching(3, 1),
          edges: Float64Array.of(100, 300, 600, 901),
          splits: isSplit ? [plan] : [],
          value,
        }
        const data = (part: SeriesPart) => new Map(dataOf(part, series).map((one) => [one.combination, one.data]))
        const one = data(here(seriesFold, lists, series))
        for (const many of await thereTwice(seriesFold, lists, series)) expect([value, data(many)]).toEqual([value, one])
      }
    }),
    { numRuns: 20 },
  ))

test('one pass over all entries counts what the lists of all persons count', () =>
  assertGenerated(
    fc.asyncProperty(drawnEvents, fc.boolean(), fc.boolean(), async (events, isSplit, isFlagged) => {
      const { lists, plan, amount, isLarge } = listsOf(events)
      const bits = { byEvent: Int32Array.of(1, 0, 1), others: 1, flags: isFlagged ? [{ ...isLarge, bits: 1 }] : [] }
      for (const value of [
        { kind: 'events' },
        { kind: 'numbers', number: amount, reduction: 'sum' },
        { kind: 'numbers', number: amount, reduction: 0.9 },
      ] as const) {
        const series: Series = {
          matching: { ...matching(), bits },
          edges: Float64Array.of(100, 300, 600, 901),
          splits: isSplit ? [plan] : [],
          value,
        }
        const faster = seriesFold.fasterFor!(series)!
        expect(faster.over).toBe('entries')
        const data = (part: SeriesPart) => new Map(dataOf(part, series).map((one) => [one.combination, one.data]))
        const expected = [value, data(here(seriesFold, lists, series))]
        expect([value, data(here(faster, lists, series))]).toEqual(expected)
        expect([value, data((await there(faster, lists, series))!)]).toEqual(expected)
      }
    }),
    { numRuns: 20 },
  ))

test('what counts persons, or asks something of them, is not a pass over entries', () => {
  const { plan, amount } = listsOf([[1, 200, 0, 0, 0]])
  const ofPerson = { ...plan, of: 'person' } as const
  const series: Series = { matching: matching(1), edges: null, splits: [], value: { kind: 'events' } }
  const flagged = { ...matching(1), bits: { ...matching(1).bits, flags: [{ ...ofPerson, bits: 1 }] } }
  const others: readonly Series[] = [
    { ...series, value: { kind: 'persons' } },
    { ...series, splits: [ofPerson] },
    { ...series, value: { kind: 'numbers', number: { ...amount, of: 'person' }, reduction: 'sum' } },
    { ...series, matching: flagged },
  ]
  expect(others.map((one) => seriesFold.fasterFor!(one))).toEqual(others.map(() => null))
})

test('funnels in threads have the outcomes of funnels in one thread', () =>
  assertGenerated(
    fc.asyncProperty(drawnEvents, fc.constantFrom('ordered', 'strict', 'unordered'), async (events, order) => {
      const { lists, plan } = listsOf(events)
      const split = { ...plan, rank: Int32Array.from(plans, (text) => [...plans].sort().indexOf(text)), empty: plans.indexOf('') }
      for (const type of ['first_touch', 'all_events'] as const) {
        const funnel: ListedFunnel = {
          matching: { ...matching(1, 2, 4), takesAll: order === 'strict' },
          funnel: { order, steps: 3, window: 300, optional: 0, attribution: { type } },
          firstTimes: null,
          periods: null,
          splits: [split],
          withTimes: true,
        }
        for (const many of await thereTwice(funnelFold, lists, funnel)) expect(many).toEqual(here(funnelFold, lists, funnel))
      }
    }),
    { numRuns: 20 },
  ))

test('threads have kernels, unless they are switched off, and say which they called', async () => {
  const { lists } = listsOf(Array.from({ length: 4000 }, (_, i) => [i % persons, 100 + (i >> 3), i % 4, 0, i % 400] as const))
  const series: Series = { matching: matching(0, 1, 0, 1), edges: Float64Array.of(100, 300, 901), splits: [], value: { kind: 'events' } }
  const inMode = async (mode: KernelMode) => {
    switchKernels(mode)
    const called = new Set<KernelName>()
    const part = await pool.run(entriesFold, lists, series, never, null, called)
    return [[...called].sort(), dataOf(part!, series)] as const
  }
  const before = kernelMode()
  try {
    const [names, data] = await inMode('on')
    expect(names).toEqual(['buckets', 'names', 'positions'])
    expect(await inMode('off')).toEqual([[], data])
    expect(await inMode('always')).toEqual([names, data])
  } finally {
    switchKernels(before)
  }
})

test('a fold that is not wanted any more is stopped, and the next one runs', async () => {
  const { lists } = listsOf(Array.from({ length: 200 }, (_, i) => [i % persons, i + 100, 0, 0, 0] as const))
  const series: Series = { matching: matching(1), edges: null, splits: [], value: { kind: 'events' } }
  const stopping = new AbortController()
  const stopped = pool.run(seriesFold, lists, series, stopping.signal)
  stopping.abort()
  expect(await stopped).toBeNull()
  expect(await pool.run(seriesFold, lists, series, stopping.signal)).toBeNull()
  expect(dataOf(await there(seriesFold, lists, series), series)).toEqual([{ combination: 0, data: [200] }])
})

test('an error in a thread is thrown here, and the thread goes on', async () => {
  const { lists } = listsOf([[1, 200, 0, 0, 0]])
  const unknown: Fold<null, null> = { ...(seriesFold as unknown as Fold<null, null>), name: 'nothing' }
  await expect(there(unknown, lists, null)).rejects.toThrow(TypeError)
  const series: Series = { matching: matching(1), edges: null, splits: [], value: { kind: 'persons' } }
  expect(dataOf(await there(seriesFold, lists, series), series)).toEqual([{ combination: 0, data: [1] }])
})

test('a pool that was closed while it worked says so, and starts again when it is asked', async () => {
  const closed = new ThreadPool(1)
  const { lists } = listsOf([[1, 200, 0, 0, 0]])
  const series: Series = { matching: matching(1), edges: null, splits: [], value: { kind: 'persons' } }
  const running = closed.run(seriesFold, lists, series, never)
  const refused = expect(running).rejects.toThrow(ThreadLost)
  await closed.close()
  await refused
  expect(await closed.run(seriesFold, lists, series, never)).toMatchObject({ combinations: [0] })
  await closed.close()
})

test('closing a pool ends the parts that wait for a thread, too, and starts none for them', async () => {
  let started = 0
  const silent = new ThreadPool(2, {
    processors,
    start: () => {
      started++
      return new Worker("require('node:worker_threads').parentPort.on('message', () => {})", { eval: true })
    },
  })
  const { lists } = listsOf(Array.from({ length: 200 }, (_, i) => [i % persons, i + 100, 0, 0, 0] as const))
  const series: Series = { matching: matching(1), edges: null, splits: [], value: { kind: 'events' } }
  const refused = [1, 2].map(() => expect(silent.run(seriesFold, lists, series, never)).rejects.toThrow(ThreadLost))
  const before = started
  await silent.close()
  const after = started
  await silent.close() // the threads that the first one left behind
  await Promise.all(refused)
  expect(after).toBe(before)
})

test('threads that cannot start fail the fold, are not started again and again, and are reported once', async () => {
  let started = 0
  const reports: unknown[] = []
  const broken = new ThreadPool(2, {
    processors,
    start: () => {
      started++
      return new Worker("throw new Error('no program')", { eval: true })
    },
    report: (error) => reports.push(error),
  })
  const { lists } = listsOf(Array.from({ length: 200 }, (_, i) => [i % persons, i + 100, 0, 0, 0] as const))
  const series: Series = { matching: matching(1), edges: null, splits: [], value: { kind: 'events' } }
  while (broken.isUsable) await expect(broken.run(seriesFold, lists, series, never)).rejects.toThrow(ThreadLost)
  expect(started).toBeLessThan(8)
  expect(reports).toMatchObject([{ message: expect.stringContaining('worker threads for lists of events') }])
  await broken.close()
})

test('a fold ends when all its parts are folded, though a thread that it waited for is busy with another one', async () => {
  const gate = new Int32Array(new SharedArrayBuffer(4))
  let started = 0
  const start = () => {
    const program = `const { parentPort, workerData } = require('node:worker_threads')
      parentPort.on('message', ({ parts, shared }) => {
        if (${started++ === 0}) Atomics.wait(workerData, 0, 0)
        const results = []
        for (let part = Atomics.add(shared, 0, 1); part < parts.length; part = Atomics.add(shared, 0, 1)) results.push([part, part])
        parentPort.postMessage({ results: results.reverse(), kernels: [] })
      })`
    return new Worker(program, { eval: true, workerData: gate })
  }
  const half = new ThreadPool(2, { processors, start })
  const { lists } = listsOf(Array.from({ length: 200 }, (_, i) => [i % persons, i + 100, 0, 0, 0] as const))
  const parts: Fold<null, readonly number[]> = {
    ...({} as Fold<null, readonly number[]>),
    name: 'parts',
    over: 'persons',
    join: (all) => all.flat(),
  }
  const first = half.run(parts, lists, null, never)
  const second = await half.run(parts, lists, null, never)
  expect(second!.length).toBeGreaterThan(2)
  expect(second).toEqual(Array.from(second!, (_, part) => part))
  Atomics.store(gate, 0, 1)
  Atomics.notify(gate, 0)
  expect(await first).toEqual(second)
  await half.close()
})
