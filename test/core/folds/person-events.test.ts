import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type EventBits, type ListView, listView, type Matching, type PlacedColumn } from '../../../src/core/folds/fold.ts'
import { funnelFold } from '../../../src/core/folds/funnel.ts'
import type { ListedFunnel } from '../../../src/core/folds/listed-funnel.ts'
import { PersonEvents } from '../../../src/core/folds/person-events.ts'
import { PlainFunnel } from '../../../src/core/folds/plain-funnel.ts'
import { type RetentionParams, retentionFold } from '../../../src/core/folds/retention.ts'
import { selectable, selectionFold } from '../../../src/core/folds/selection.ts'
import type { SeriesValue } from '../../../src/core/folds/series/accumulators.ts'
import { type Series, type SeriesPart, seriesData, seriesFold } from '../../../src/core/folds/series/fold.ts'
import { EventLists } from '../../../src/core/lists/event-lists.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'

// Folds that read the events of a person where they are find what those find that read copies of the matching ones.

const completed = <R>(steps: Generator<void, R, void>): R => {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

const persons = 6
type Drawn = readonly (readonly [person: number, time: number, event: number])[]

function viewOf(events: Drawn, nameBytes: 1 | 2): ListView {
  const lists = new EventLists()
  const shift = nameBytes === 1 ? 0 : 300
  lists.add({
    person: Int32Array.from(events, ([person]) => person),
    time: Float64Array.from(events, ([, time]) => time),
    event: Int32Array.from(events, ([, , event]) => event + shift),
    seq: Float64Array.from(events, (_, i) => i + 1),
  })
  return listView({ lists, order: null })
}

const vips = { values: Uint8Array.from({ length: persons }, (_, person) => (person % 3 === 0 ? 0 : 1)), size: 0, numbers: null }
/** Takes every event, which only the other walk knows. */
const everything: EventBits = { byEvent: new Int32Array(0), others: 1, flags: [] }

const drawn = fc.record({
  // Few times: many events have the same one.
  mostTime: fc.constantFrom(40, 200, 5000),
  events: fc.array(fc.tuple(fc.nat(persons - 1), fc.nat(9999), fc.nat(5)), { minLength: 1, maxLength: 300, size: 'max' }),
  masks: fc.array(fc.nat(31), { minLength: 2, maxLength: 6 }),
  others: fc.constantFrom(0, 1, 4),
  steps: fc.integer({ min: 2, max: 5 }),
  window: fc.constantFrom(0, 3, 30, 500),
  from: fc.constantFrom(Number.NEGATIVE_INFINITY, 7),
  to: fc.constantFrom(150, 6000),
  vip: fc.constantFrom(0, 1, 6),
  nameBytes: fc.constantFrom(1 as const, 2 as const),
  withTimes: fc.boolean(),
})

/** A text for each event, and for each person: none, or one of two. */
const splitsOf = (view: ListView, isSplit: boolean): ListedFunnel['splits'] => {
  const texts = { size: 3, numbers: null }
  const order = { empty: 0, rank: Int32Array.of(0, 2, 1) }
  const ofEvents = Uint8Array.from({ length: view.used }, (_, index) => (index * 7 + (index >> 2)) % 3)
  const ofPersons = Uint8Array.from({ length: persons }, (_, person) => person % 3)
  return isSplit
    ? [
        { of: 'event', column: { values: ofEvents, ...texts }, ...order },
        { of: 'person', column: { values: ofPersons, ...texts }, ...order },
      ]
    : []
}

const funnelOf = (
  matching: Matching,
  steps: number,
  window: number,
  withTimes: boolean,
  splits: ListedFunnel['splits'] = [],
): ListedFunnel => ({
  matching,
  firstTimes: null,
  funnel: { order: 'ordered', steps, window, optional: 0, attribution: { type: splits.length > 0 ? 'first_touch' : 'none' } },
  periods: null,
  splits,
  withTimes,
})

test('funnels in lists and in selections, whatever the times', () =>
  assertGenerated(
    fc.property(drawn, fc.boolean(), ({ mostTime, events, masks, others, steps, window, from, to, vip, nameBytes, withTimes }, isSplit) => {
      const view = viewOf(
        events.map(([person, time, event]) => [person, time % mostTime, event]),
        nameBytes,
      )
      const known = (1 << steps) - 1
      const byEvent = Int32Array.from([...new Array(nameBytes === 1 ? 0 : 300).fill(0), ...masks.map((mask) => mask & known)])
      const flags = vip > 0 ? [{ of: 'person' as const, column: vips, bits: vip }] : []
      const matching: Matching = { from, to, scope: null, bits: { byEvent, others: others & known, flags }, further: null, takesAll: false }
      const splits = splitsOf(view, isSplit)
      const plain = funnelOf(matching, steps, window, withTimes, splits)
      expect(PlainFunnel.of(view, plain, () => 0)).not.toBeNull()
      const copied = funnelOf({ ...matching, scope: everything }, steps, window, withTimes, splits)
      expect(PlainFunnel.of(view, copied, () => 0)).toBeNull()
      const expected = completed(funnelFold.run(view, copied, 0, view.persons))
      expect(completed(funnelFold.run(view, plain, 0, view.persons))).toEqual(expected)
      const middle = view.persons >> 1
      const parts = [
        [0, middle],
        [middle, view.persons],
      ].map(([first, end]) => {
        const [selection] = completed(selectionFold.run(view, selectable(matching)!, first!, end!))
        return completed(funnelFold.run({ ...view, selection: selection! }, plain, first!, end!))
      })
      expect(funnelFold.join(parts, plain)).toEqual(expected)
    }),
    { numRuns: 300 },
  ))

const values: readonly SeriesValue[] = [
  { kind: 'events' },
  { kind: 'persons' },
  { kind: 'sightings' },
  { kind: 'windows', begins: Float64Array.of(5, 20, 90), ends: Float64Array.of(40, 80, 4000) },
  { kind: 'windows', begins: Float64Array.of(0, 10, 20, 30, 40, 50), ends: Float64Array.of(30, 40, 50, 60, 70, 80) },
  { kind: 'windows', begins: Float64Array.of(0, 10, 20), ends: Float64Array.of(2, 12, 22) },
]
/** Numbers whose sums are exact, some of both infinities, and none for some. */
const numberOf = (view: ListView, of: 'event' | 'person', isCoded: boolean, hasInfinities: boolean): PlacedColumn => {
  const most = hasInfinities ? Number.POSITIVE_INFINITY : 1024
  const numbers = Float64Array.of(Number.NaN, 0.25, 3, -7.5, most, -most)
  const codes = Uint8Array.from({ length: of === 'event' ? view.used : persons }, (_, at) => (at * 5 + (at >> 3)) % numbers.length)
  const values = isCoded ? codes : Float64Array.from(codes, (code) => numbers[code]!)
  return { of, column: { values, size: 0, numbers: isCoded ? numbers : null } }
}
const drawnSum = fc.record({
  reduction: fc.constantFrom('sum' as const, 'avg' as const),
  of: fc.constantFrom('event' as const, 'person' as const),
  isCoded: fc.boolean(),
  hasInfinities: fc.boolean(),
})

const bucketEdges = [null, Float64Array.of(0, 10, 20, 100, 200), Float64Array.of(12, 13), Float64Array.of(-50, 0, 90, 6001)]

test('series in lists and in selections, whatever they count', () =>
  assertGenerated(
    fc.property(
      drawn,
      fc.oneof(fc.constantFrom(...values), drawnSum),
      fc.constantFrom(...bucketEdges),
      fc.boolean(),
      fc.boolean(),
      ({ mostTime, events, masks, others, from, to, vip, nameBytes }, asked, edges, isUniform, isSplit) => {
        const view = viewOf(
          events.map(([person, time, event]) => [person, time % mostTime, event]),
          nameBytes,
        )
        const own = isUniform ? masks.map((mask) => (mask > 15 ? 1 : 0)) : masks
        const byEvent = Int32Array.from([...new Array(nameBytes === 1 ? 0 : 300).fill(0), ...own])
        const flags = vip > 0 && !isUniform ? [{ of: 'person' as const, column: vips, bits: vip }] : []
        const matching: Matching = {
          from,
          to,
          scope: null,
          bits: { byEvent, others: isUniform ? 0 : others, flags },
          further: null,
          takesAll: false,
        }
        const value: SeriesValue =
          'kind' in asked
            ? asked
            : { kind: 'numbers', number: numberOf(view, asked.of, asked.isCoded, asked.hasInfinities), reduction: asked.reduction }
        const splits = splitsOf(view, isSplit).slice(0, 1)
        const series: Series = { matching, edges, splits, value }
        const copied: Series = { ...series, matching: { ...matching, scope: everything } }
        expect(PersonEvents.of(view, matching)).not.toBeNull()
        const dataOf = (parts: readonly SeriesPart[]) => {
          const joined = seriesFold.join(parts, series)!
          return completed(seriesData(joined, series)).toSorted((a, b) => a.combination - b.combination)
        }
        const expected = dataOf([completed(seriesFold.run(view, copied, 0, view.persons))])
        expect(dataOf([completed(seriesFold.run(view, series, 0, view.persons))])).toEqual(expected)
        const middle = view.persons >> 1
        const parts = [
          [0, middle],
          [middle, view.persons],
        ].map(([first, end]) => {
          const [selection] = completed(selectionFold.run(view, selectable(matching)!, first!, end!))
          return completed(seriesFold.run({ ...view, selection: selection! }, series, first!, end!))
        })
        expect(dataOf(parts)).toEqual(expected)
      },
    ),
    { numRuns: 300 },
  ))

test('retention in lists and in selections, whatever returns', () =>
  assertGenerated(
    fc.property(
      drawn,
      fc.record({
        type: fc.constantFrom('recurring' as const, 'first time' as const, 'first ever' as const),
        since: fc.constantFrom(0, 15),
        ticks: fc.constantFrom([0, 10, 20, 30, 40], [5, 6, 100], [0, 1000, 2000, 3000, 4000, 5000]),
        hasWindows: fc.boolean(),
        width: fc.constantFrom(1, 2),
        minimum: fc.constantFrom(1, 2),
        isCumulative: fc.boolean(),
        isSame: fc.boolean(),
      }),
      ({ mostTime, events, masks, others, from, to, vip, nameBytes }, { since, ticks, ...more }) => {
        const view = viewOf(
          events.map(([person, time, event]) => [person, time % mostTime, event]),
          nameBytes,
        )
        const ofRetention = (mask: number) => (mask & 4) | ((mask & 1) * (more.isSame ? 7 : 5)) | (more.isSame ? 0 : mask & 2)
        const byEvent = Int32Array.from([...new Array(nameBytes === 1 ? 0 : 300).fill(0), ...masks.map(ofRetention)])
        const flags = vip > 0 ? [{ of: 'person' as const, column: vips, bits: vip }] : []
        const matching: Matching = { from, to, scope: null, bits: { byEvent, others, flags }, further: null, takesAll: false }
        const rows = ticks.length - 1
        const retention: RetentionParams = {
          matching,
          from: since,
          ticks: Float64Array.from(ticks),
          rowOf: Int32Array.from({ length: rows }, (_, tick) => tick),
          rows,
          columns: rows,
          columnOf: Int32Array.from({ length: rows }, (_, offset) => offset),
          splits: [],
          number: null,
          ...more,
        }
        const copied = { ...retention, matching: { ...matching, scope: everything } }
        const expected = completed(retentionFold.run(view, copied, 0, view.persons))
        expect(completed(retentionFold.run(view, retention, 0, view.persons))).toEqual(expected)
        const [selection] = completed(selectionFold.run(view, selectable(matching)!, 0, view.persons))
        expect(completed(retentionFold.run({ ...view, selection: selection! }, retention, 0, view.persons))).toEqual(expected)
      },
    ),
    { numRuns: 200 },
  ))

test('where most persons have events of one time, the other walk takes all', () => {
  const events = Array.from({ length: 3000 }, (_, i) => [i % 1000, Math.floor(i / 2000), i % 2] as const)
  const view = viewOf(events, 1)
  const matching: Matching = {
    from: 0,
    to: 10,
    scope: null,
    bits: { byEvent: Int32Array.of(1, 2), others: 0, flags: [] },
    further: null,
    takesAll: false,
  }
  const walk = PlainFunnel.of(view, funnelOf(matching, 2, 10, true), () => 0)!
  let [next, left] = [0, 0]
  while (walk.isWorthwhile) {
    next = walk.walk(next, view.persons, { addPlain: () => undefined }) + 1
    left++
  }
  expect(left).toBeLessThan(100)
  expect(walk.walk(next, view.persons, { addPlain: () => undefined })).toBe(next)
})
