import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { countDaysFold } from '../../../src/core/folds/days/count-days.ts'
import { eventCountsFold } from '../../../src/core/folds/event-counts.ts'
import { type EventBits, type Fold, listView, type Matching, type PlacedColumn } from '../../../src/core/folds/fold.ts'
import { funnelFold } from '../../../src/core/folds/funnel.ts'
import { type RetentionParams, retentionFold } from '../../../src/core/folds/retention.ts'
import { selectionFold } from '../../../src/core/folds/selection.ts'
import { entriesFold, type Series, seriesFold } from '../../../src/core/folds/series/fold.ts'
import { stickinessFold } from '../../../src/core/folds/stickiness.ts'
import { EventLists } from '../../../src/core/lists/event-lists.ts'
import { kernelModule } from '../../../src/core/simd/kernel-module.ts'
import { type KernelMode, switchKernels, takeCalled } from '../../../src/core/simd/kernels.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'
import './from-days.test.ts'
import './pages.test.ts'
import './paths.test.ts'
import './person-events.test.ts'
import './quantiles.test.ts'
import './selection.test.ts'
import './thread-pool.test.ts'

// The tests of folds again, with kernels also for the few events that they draw, where loops in JavaScript are used otherwise. In a process of its own: files that are
// imported have their tests only where they are imported first.

const called = new Set<string>()
beforeAll(() => switchKernels('always'))
afterEach(() => {
  for (const name of takeCalled()) called.add(name)
})
afterAll(() => switchKernels('on'))

const random = (seed: number) => {
  let x = seed | 1
  return (below: number) => {
    x ^= x << 13
    x ^= x >>> 17
    x ^= x << 5
    return (x >>> 0) % below
  }
}

/** Lists of some thousand events: one is very long, some have moved and left gaps, some are merged, some are empty. */
function drawnLists(seed: number, names: number) {
  const draw = random(seed)
  const persons = 60
  const lists = new EventLists()
  const add = (events: number) => {
    const all = <V>(make: () => V) => Array.from({ length: events }, make)
    lists.add({
      person: Int32Array.from(all(() => (draw(2) === 0 ? 7 : draw(persons - 5)))),
      time: Float64Array.from(all(() => draw(9000))),
      event: Int32Array.from(all(() => (draw(3) === 0 ? draw(names) : draw(6)))),
      seq: Float64Array.from(all(() => lists.events + 1)),
    })
  }
  const first = new Int32Array(persons).fill(40)
  first[7] = 2500
  if (draw(2) === 0) lists.expect(first)
  add(5000)
  for (let i = 0; i < 4; i++) lists.merge(draw(persons), draw(persons))
  add(draw(600))
  return listView({ lists, order: null })
}

const folds = (seed: number, names: number, hasColumn: boolean): readonly (readonly [Fold<unknown, unknown>, unknown])[] => {
  const draw = random(seed + 1)
  const byEvent = (bits: number) =>
    Int32Array.from({ length: 1 + draw(names) }, (_, name) => (name < 6 || draw(4) === 0 ? draw(bits + 1) : 0))
  const flag: PlacedColumn = { of: 'event', column: { values: Uint8Array.from({ length: 40_000 }, () => draw(3)), size: 0, numbers: null } }
  const vips: PlacedColumn = { of: 'person', column: { values: Uint8Array.from({ length: 60 }, () => draw(2)), size: 0, numbers: null } }
  const isOfPersons = draw(3) === 0
  const bits = (most: number): EventBits => ({
    byEvent: byEvent(most),
    others: draw(8) === 0 ? 1 : 0,
    flags: [...(hasColumn ? [{ ...flag, bits: draw(4) === 0 ? 1 : 255 }] : []), ...(isOfPersons ? [{ ...vips, bits: 255 }] : [])],
  })
  const matching = (most: number): Matching => {
    const [from, to] = draw(2) === 0 ? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY] : [draw(3000), 4000 + draw(5000)]
    return { from, to, scope: null, bits: bits(most), further: null, takesAll: false }
  }
  const edges = Float64Array.from({ length: 12 }, (_, i) => i * 800)
  const split: PlacedColumn = {
    of: 'event',
    column: { values: Uint8Array.from({ length: 40_000 }, () => draw(4)), size: 4, numbers: null },
  }
  const series = (kind: 'events' | 'persons' | 'sightings', splits: PlacedColumn[] = []): Series => ({
    matching: matching(1),
    edges,
    splits,
    value: { kind },
  })
  const ofEvents = series('events', [split])
  const withoutPersons = {
    ...ofEvents,
    matching: { ...ofEvents.matching, bits: { ...ofEvents.matching.bits, flags: hasColumn ? [{ ...flag, bits: 1 }] : [] } },
  }
  const retention: RetentionParams = {
    matching: matching(7),
    type: 'recurring',
    from: 0,
    ticks: edges,
    rowOf: Int32Array.from({ length: 11 }, (_, i) => i),
    rows: 11,
    columns: 11,
    width: 1,
    columnOf: Int32Array.from({ length: 11 }, (_, i) => i),
    hasWindows: false,
    minimum: 1,
    isCumulative: false,
    splits: [],
    number: null,
    isSame: false,
  }
  const funnel = { order: 'ordered', steps: 3, window: 900, optional: 0, attribution: { type: 'first_touch' } }
  const one = <P, R>(fold: Fold<P, R>, params: P) => [fold as Fold<unknown, unknown>, params] as const
  return [
    one(seriesFold, series('events')),
    one(seriesFold, series('persons')),
    one(seriesFold, series('sightings')),
    one(seriesFold, series('persons', [split])),
    one(seriesFold, { ...series('persons'), value: { kind: 'windows', begins: edges.subarray(0, 9), ends: edges.subarray(3) } }),
    one(entriesFold, withoutPersons),
    one(retentionFold, retention),
    one(funnelFold, { matching: matching(7), firstTimes: null, funnel, periods: null, splits: [], withTimes: true } as never),
    one(stickinessFold, { matching: matching(1), edges, size: 11, least: 1, most: Number.POSITIVE_INFINITY }),
    one(eventCountsFold, { matching: matching(1), firstSince: null, from: 0, to: 9000, counted: 1 }),
    one(selectionFold, { ...matching(3), from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY }),
    one(countDaysFold, { bits: { ...bits(1), flags: [] }, edges, split: null, number: null }),
  ]
}

test('folds over long lists, moved ones and gaps find what they find without kernels', () =>
  assertGenerated(
    fc.property(fc.nat(), fc.constantFrom(6, 40, 256, 300, 1000), fc.boolean(), (seed, names, hasColumn) => {
      const lists = drawnLists(seed, names)
      for (const [fold, params] of folds(seed, names, hasColumn)) {
        const run = (mode: KernelMode) => {
          switchKernels(mode)
          const steps = fold.run(lists, params, 0, fold.over === 'persons' ? lists.persons : lists.used)
          for (;;) {
            const step = steps.next()
            if (step.done) return step.value
          }
        }
        const expected = run('off')
        expect([fold.name, run('on')]).toEqual([fold.name, expected])
        expect([fold.name, run('always')]).toEqual([fold.name, expected])
      }
    }),
    { numRuns: 60 },
  ))

test('every kernel is called by a fold', async () => {
  const { WebAssembly } = globalThis as unknown as {
    WebAssembly: { compile(bytes: Uint8Array): Promise<object>; Module: { exports(of: object): { name: string }[] } }
  }
  const names = WebAssembly.Module.exports(await WebAssembly.compile(Buffer.from(kernelModule, 'base64'))).map(({ name }) => name)
  expect([...called].sort()).toEqual(names.filter((name) => name !== 'memory').sort())
})
