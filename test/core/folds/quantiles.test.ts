import fc from 'fast-check'
import { expect, test } from 'vitest'
import { columnView, listView } from '../../../src/core/folds/fold.ts'
import { type Series, seriesData, seriesFold } from '../../../src/core/folds/series/fold.ts'
import { numberOrder } from '../../../src/core/folds/series/number-order.ts'
import { ofBox, oneLevel, type Spread } from '../../../src/core/folds/series/spread.ts'
import { EventLists } from '../../../src/core/lists/event-lists.ts'
import { ListColumn } from '../../../src/core/lists/list-column.ts'
import { quantile } from '../../../src/lib/numbers/statistics.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'

// Quantiles are exact: they equal those of the numbers in order.

function naive(values: readonly number[], level: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const at = level * (sorted.length - 1)
  const [low, high] = [sorted[Math.floor(at)]!, sorted[Math.ceil(at)]!]
  return low === high ? low : low * (1 - (at - Math.floor(at))) + high * (at - Math.floor(at))
}

const completed = <R>(steps: Generator<void, R, void>): R => {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

const level = fc.constantFrom(0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1)

/** Many numbers of one kind, from a seed: drawing each of them takes too long. */
const kinds: Readonly<Record<string, (random: number, i: number) => number>> = {
  'small integers': (random) => Math.floor(random * 5),
  'one value': () => 42.5,
  'two far values': (_, i) => (i % 2 === 0 ? -1 : 1e300),
  prices: (random) => Math.floor(random * 50_000) / 100,
  'any sign and size': (random, i) => (random - 0.5) * 10 ** ((i % 40) - 20),
  'neighbours of one': (random) => 1 + Math.floor(random * 1000) * Number.EPSILON,
  'an infinity now and then': (random, i) => (i % 100 === 0 ? (i % 200 === 0 ? -1 : 1) * Number.POSITIVE_INFINITY : random),
  'both zeros': (random) => (random < 0.5 ? -0 : 0),
  'one that is far away': (random, i) => (i === 0 ? Number.MAX_VALUE : random),
}
const drawnNumbers = fc
  .record({
    kind: fc.constantFrom(...Object.keys(kinds)),
    count: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 900, max: 6000 })),
    seed: fc.nat(),
  })
  .map(({ kind, count, seed }) => {
    let state = seed | 1
    const random = () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return state / 2 ** 32
    }
    return Array.from({ length: count }, (_, i) => kinds[kind]!(random(), i))
  })

test('of numbers in several arrays', () =>
  assertGenerated(
    fc.property(drawnNumbers, level, fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 3 }), (values, of, cuts) => {
      const edges = [0, ...cuts.map((cut) => Math.floor(cut * values.length)).sort((a, b) => a - b), values.length]
      const pieces = edges.slice(1).map((end, i) => Float64Array.from(values.slice(edges[i], end)))
      expect(quantile(pieces, of) + 0).toBe(naive(values, of) + 0)
    }),
    { numRuns: 150 },
  ))

const persons = 30
const days = [0, 100, 200, 300]
const groups = ['a', 'b', '']

/** The series over lists that have a number for each event, in two parts. */
function folded(values: readonly number[], spread: Spread, isSplit: boolean, makesCoded: boolean) {
  const lists = new EventLists()
  const [number, group] = [new ListColumn('numbers', 0), new ListColumn('codes', 0)]
  for (const column of [number, group]) lists.attach(column)
  const rows = values.map((value, i) => ({ value, person: (i * 7) % persons, time: (i * 31) % 330, group: i % 5 === 0 ? 1 : 0 }))
  lists.add({
    person: Int32Array.from(rows, ({ person }) => person),
    time: Float64Array.from(rows, ({ time }) => time),
    event: new Int32Array(rows.length),
    seq: Float64Array.from(rows, (_, i) => i + 1),
  })
  const indexes = lists.indexesAfter(0, rows.length).subarray(1)
  number.write({ values: Float64Array.from(values) }, indexes)
  group.write({ values: Int32Array.from(rows, (row) => row.group), texts: groups }, indexes)
  const coded = columnView(number)
  const column = makesCoded ? coded : { values: Float64Array.from(number.values, (code) => coded.numbers![code]!), size: 0, numbers: null }
  const view = listView({ lists, order: null })
  const series: Series = {
    matching: {
      from: 0,
      to: 299,
      scope: null,
      bits: { byEvent: Int32Array.of(1), others: 0, flags: [] },
      further: null,
      takesAll: false,
    },
    edges: Float64Array.from(days),
    splits: isSplit ? [{ of: 'event', column: columnView(group) }] : [],
    value: { kind: 'quantiles', number: { of: 'event', column }, order: makesCoded ? numberOrder(number) : null, spread },
  }
  const middle = view.persons >> 1
  const parts = [seriesFold.run(view, series, 0, middle), seriesFold.run(view, series, middle, view.persons)].map(completed)
  const answer = completed(seriesData(seriesFold.join(parts, series)!, series))
  const found = Object.fromEntries(answer.map(({ combination, data }) => [isSplit ? groups[combination] : '', data.map((one) => one + 0)]))
  const expected: Record<string, number[]> = {}
  for (const [name, ofGroup] of isSplit ? [['a', 0] as const, ['b', 1] as const] : [['', null] as const]) {
    const own = rows.filter((row) => row.time < 300 && (ofGroup === null || row.group === ofGroup))
    if (own.length === 0) continue
    expected[name] = days.slice(0, -1).flatMap((from) => {
      const numbers = own.filter(({ value, time }) => time >= from && time < from + 100 && !Number.isNaN(value)).map(({ value }) => value)
      const told = spread.levels.map((level) => (numbers.length === 0 ? 0 : naive(numbers, level)))
      if (spread.hasMean) told.push(numbers.length, numbers.length === 0 ? 0 : meanOf(numbers))
      return told.map((one) => (Number.isFinite(one) ? one + 0 : 0))
    })
  }
  return { found, expected }
}

test('of the events of each day and group, in several parts, with numbers that are coded or not', () =>
  assertGenerated(
    fc.property(drawnNumbers, fc.boolean(), fc.boolean(), fc.boolean(), level, (drawn, hasGaps, isSplit, makesCoded, of) => {
      const values = hasGaps ? drawn.map((value, i) => (i % 3 === 0 ? Number.NaN : value)) : drawn
      const { found, expected } = folded(values, oneLevel(of), isSplit, makesCoded)
      expect(found).toEqual(expected)
    }),
    { numRuns: 150 },
  ))

const meanOf = (numbers: readonly number[]): number => {
  const sorted = [...numbers].sort((a, b) => Math.abs(a) - Math.abs(b))
  return sorted.reduce((sum, one) => sum + one, 0) / numbers.length
}

test('a box has the quartiles, the ends, the count and the mean of each day', () =>
  assertGenerated(
    fc.property(drawnNumbers, fc.boolean(), fc.boolean(), fc.boolean(), (drawn, hasGaps, isSplit, makesCoded) => {
      const values = hasGaps ? drawn.map((value, i) => (i % 3 === 0 ? Number.NaN : value)) : drawn
      const { found, expected } = folded(values, ofBox, isSplit, makesCoded)
      const width = ofBox.levels.length + 2
      const scale = Math.max(...values.filter(Number.isFinite).map(Math.abs), 0)
      // Only the mean may differ, in its last digits.
      const exact = (numbers: readonly number[]) => numbers.filter((_, i) => i % width !== width - 1)
      const means = (numbers: readonly number[]) => numbers.filter((_, i) => i % width === width - 1)
      expect(Object.keys(found).sort()).toEqual(Object.keys(expected).sort())
      for (const [name, right] of Object.entries(expected)) {
        const numbers = found[name] as readonly number[]
        expect(exact(numbers)).toEqual(exact(right))
        for (const [i, mean] of means(numbers).entries()) expect(Math.abs(mean - means(right)[i]!)).toBeLessThanOrEqual(1e-12 * scale)
      }
    }),
    { numRuns: 150 },
  ))

test('a day without numbers has 0', () => {
  const { found } = folded([Number.NaN, Number.NaN, Number.NaN], oneLevel(0.5), false, true)
  expect(found).toEqual({ '': [0, 0, 0] })
})

test('places of more numbers than a byte holds are kept, and not counted one by one', () => {
  // Beyond what a table of counts may have: 60,000 numbers in three days and two groups.
  const values = Array.from({ length: 60_000 }, (_, i) => ((i * 7919) % 60_000) / 4)
  const { found, expected } = folded(values, oneLevel(0.95), true, true)
  expect(found).toEqual(expected)
})

test('the order of the numbers follows the column when it gets further ones', () => {
  const column = new ListColumn('numbers', 4)
  column.write({ values: Float64Array.of(5, -0) }, Int32Array.of(0, 1))
  expect([...numberOrder(column)!.numbers]).toEqual([0, 5])
  column.write({ values: Float64Array.of(3, Number.NEGATIVE_INFINITY) }, Int32Array.of(2, 3))
  const { rank, numbers } = numberOrder(column)!
  expect([...numbers]).toEqual([Number.NEGATIVE_INFINITY, 0, 3, 5])
  expect(Array.from(column.values, (code) => numbers[rank[code]!])).toEqual([5, 0, 3, Number.NEGATIVE_INFINITY])
})
