import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chartRows } from '../../../src/service/pictures/chart-rows.ts'
import { flowGeometry } from '../../../src/service/pictures/draw/flow.ts'
import { stepShares } from '../../../src/service/pictures/draw/funnel.ts'
import { changeText } from '../../../src/service/pictures/draw/number.ts'
import { pieGeometry } from '../../../src/service/pictures/draw/pie.ts'
import { columnWidths } from '../../../src/service/pictures/draw/table.ts'
import { axisText, durationText, numberText, plainNumbers } from '../../../src/service/pictures/format.ts'
import { readChart } from '../../../src/service/pictures/read-chart.ts'
import { bands, linear, niceTicks, points, spread, stacked } from '../../../src/service/pictures/scales.ts'
import { samples } from './samples.ts'

test.each([
  [0, 10, [0, 2, 4, 6, 8, 10]],
  [0, 7, [0, 2, 4, 6, 8]],
  [-3, 12, [-5, 0, 5, 10, 15]],
  [0, 0, [0, 0.2, 0.4, 0.6, 0.8, 1]],
  [0, 0.003, [0, 0.001, 0.002, 0.003]],
  [0, 1_234_567, [0, 250_000, 500_000, 750_000, 1_000_000, 1_250_000]],
])('ticks from %d to %d', (low, high, ticks) => expect(niceTicks(low, high)).toEqual(ticks))

test.each<[values: readonly (number | null)[], ticks: readonly number[]]>([
  [[], [0, 1]],
  [
    [0, null],
    [0, 1],
  ],
  [[1], [0, 1]],
  [
    [2, 0],
    [0, 1, 2],
  ],
  [[11], [0, 5, 10, 15]],
  [[100], [0, 20, 40, 60, 80, 100]],
  [
    [1, 0.5],
    [0, 0.2, 0.4, 0.6, 0.8, 1],
  ],
  [[12.5], [0, 2.5, 5, 7.5, 10, 12.5]],
])('of whole numbers such as %j the ticks are whole, too', (values, ticks) => expect(linear(values, [100, 0]).ticks).toEqual(ticks))

test('ticks enclose their values, rise, and are few', () => {
  const number = fc.double({ noNaN: true, min: -1e300, max: 1e300 })
  fc.assert(
    fc.property(number, number, (a, b) => {
      const [low, high] = [Math.min(a, b), Math.max(a, b)]
      const ticks = niceTicks(low, high)
      expect(ticks.length).toBeLessThanOrEqual(20)
      const slack = 1e-6 * Math.max(Math.abs(low), Math.abs(high))
      expect(ticks[0]!).toBeLessThanOrEqual(low + slack)
      expect(ticks.at(-1)!).toBeGreaterThanOrEqual(high - slack)
      for (let i = 1; i < ticks.length; i++) expect(ticks[i]!).toBeGreaterThan(ticks[i - 1]!)
    }),
    { endOnFailure: true }, // to find the simplest double takes minutes
  )
})

test('a scale begins at zero, is monotonic, and stays in its range', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { minLength: 1, maxLength: 20 }), (values) => {
      const scale = linear(values, [300, 20])
      for (const value of [0, ...values]) {
        expect(scale.at(value)).toBeGreaterThanOrEqual(20 - 1e-3)
        expect(scale.at(value)).toBeLessThanOrEqual(300 + 1e-3)
      }
      const sorted = [...values].sort((a, b) => a - b)
      for (let i = 1; i < sorted.length; i++) expect(scale.at(sorted[i]!)).toBeLessThanOrEqual(scale.at(sorted[i - 1]!) + 1e-9)
    }),
    { endOnFailure: true }, // to find the simplest double takes minutes
  )
})

test('numbers at the edge of what a double can tell apart', () => {
  expect(niceTicks(-9.999999999999998e299, -9.999999999999984e299)).toEqual([-9.999999999999998e299, -9.999999999999984e299])
  expect(linear([5e-324], [300, 20]).at(5e-324)).toBe(20)
})

test('bands and points fill their range', () => {
  const band = bands(4, [100, 500], 0.2)
  expect([band.width, band.start(0), band.centre(0), band.start(3) + band.width]).toEqual([80, 110, 150, 490])
  expect([0, 1, 2].map(points(3, [0, 10]))).toEqual([0, 5, 10])
  expect(points(1, [0, 10])(0)).toBe(5)
  expect(spread(10, 4)).toEqual([0, 3, 6, 9])
  expect(spread(3, 0)).toEqual([0])
})

test('stacks grow upwards above zero and downwards below it', () => {
  expect(stacked([[1, -1], [2, -2], [null, 4]])).toEqual([[[0, 1], [0, -1]], [[1, 3], [-1, -3]], [[3, 3], [0, 4]]]) // biome-ignore format: rows
})

test('slices of a pie add up to a turn', () => {
  const values = fc.array(fc.double({ min: 1e-9, max: 1e300, noNaN: true }), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(values, (given) => {
      const slices = pieGeometry(given)
      expect(slices.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 9)
      expect(slices.at(-1)!.to).toBeCloseTo(1, 9)
    }),
    { endOnFailure: true }, // to find the simplest double takes minutes
  )
})

test('columns of a table fit its width', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 10, max: 2000, noNaN: true }), { minLength: 1, maxLength: 8 }), (needs) => {
      const widths = columnWidths(needs, 700)
      expect(widths.reduce((sum, width) => sum + width, 0)).toBeCloseTo(700, 6)
      expect(widths.every((width) => width > 0)).toBe(true)
    }),
    { endOnFailure: true }, // to find the simplest double takes minutes
  )
})

test('the bands of a flow stay inside their nodes', () => {
  const edge = fc.record({
    from: fc.constantFrom('1_a', '1_b', '2_c'),
    to: fc.constantFrom('2_c', '2_d', '3_e'),
    value: fc.integer({ min: 1, max: 1e6 }),
    row: fc.constant(0),
    previous: fc.constant(null),
  })
  fc.assert(
    fc.property(fc.array(edge, { minLength: 1, maxLength: 12 }), (edges) => {
      const { nodes, bands: found, height } = flowGeometry(edges, 320)
      for (const node of nodes) expect(node.top + node.height).toBeLessThanOrEqual(height)
      for (const { from, to, fromTop, toTop } of found) {
        expect(fromTop).toBeGreaterThanOrEqual(from.top)
        expect(toTop).toBeGreaterThanOrEqual(to.top)
      }
    }),
    { endOnFailure: true }, // to find the simplest double takes minutes
  )
})

test('shares of a funnel', () => {
  const steps = [200, 50, 0, 0].map((count) => ({ name: '', count, time: null }))
  expect(stepShares(steps)).toEqual([
    { share: 1, kept: 1, lost: 0 },
    { share: 0.25, kept: 0.25, lost: 150 },
    { share: 0, kept: 0, lost: 50 },
    { share: 0, kept: 0, lost: 0 },
  ])
})

describe('texts of numbers', () => {
  test.each([
    [1234567.891, '1,234,567.89'],
    [0.1 + 0.2, '0.3'],
    [0.00012, '0.000120'],
    [1e21, '1.00e+21'],
    [-5, '-5'],
    [null, '–'],
    [Number.NaN, '–'],
  ])('%s', (value, text) => expect(numberText(value)).toBe(text))
  test.each([
    [0, '0s'],
    [59.96, '60s'],
    [75, '1m 15s'],
    [3599.7, '1h'],
    [86_399, '1d'],
    [90_000, '1d 1h'],
    [-75, '-1m 15s'],
    [1e20, '1.16e+15d'],
  ])('%d seconds', (seconds, text) => expect(durationText(seconds)).toBe(text))
  test('of an axis', () => {
    expect(axisText(12_500)).toBe('12.5K')
    expect(axisText(0.25, { ...plainNumbers, style: 'percentage_scaled' })).toBe('25%')
    expect(axisText(5, { ...plainNumbers, prefix: '€', postfix: ' net' })).toBe('€5 net')
    expect(axisText(90_000, { ...plainNumbers, style: 'duration_ms' })).toBe('1m 30s')
  })
  test.each([
    [10, 8, '▲ 25% from 8'],
    [6, 8, '▼ 25% from 8'],
    [8, 8, '= 0% from 8'],
    [8, 0, 'from 0'],
    [8, null, null],
  ])('the change from %s to %s', (value, previous, text) => expect(changeText(value, previous, String)).toBe(text))
})

test.each(Object.keys(samples))('%s has its numbers as a table, as wide as its columns', (name) => {
  const { query, answer } = samples[name]!
  const { columns, rows } = chartRows(readChart(query, answer, 'UTC'))
  for (const row of rows) expect(row.length).toBe(columns.length)
  if (name !== 'nothing') expect(rows.length).toBeGreaterThan(0)
})
