import { describe, expect, test } from 'vitest'
import { movingAverage, trendOf } from '../../../src/service/pictures/draw/beside.ts'
import { spansOf, timePlot } from '../../../src/service/pictures/intervals.ts'
import { pictureOf } from '../../../src/service/pictures/picture.ts'
import { readChart } from '../../../src/service/pictures/read-chart.ts'
import { logarithmic } from '../../../src/service/pictures/scales.ts'
import { hatchOf } from '../../../src/service/pictures/sheet.ts'
import { elementsOf, parseXml, textsOf } from '../../harness/xml.ts'

// What is drawn beside the values of a chart over time, and along which axis.

const days = ['2026-11-12', '2026-11-13', '2026-11-14', '2026-11-15']
const row = (name: string, data: readonly (number | null)[], order: number) => ({
  action: { id: name, name, order, type: 'events' },
  label: name,
  data,
  days,
  labels: days,
  order,
})
const rows = [row('a', [10, 20, 30, 40], 0), row('b', [30, 20, 10, 0], 1)]
const query = (trendsFilter: object) => ({ kind: 'TrendsQuery', interval: 'day', trendsFilter })
const chartOf = (trendsFilter: object, results: readonly object[] = rows) => {
  const chart = readChart(query(trendsFilter), { results }, 'UTC')
  if (chart.kind !== 'lines' && chart.kind !== 'bars') throw new Error(chart.kind)
  return chart
}
const area = { left: 0, top: 0, right: 800, bottom: 300 }
const picture = (trendsFilter: object, more: object = {}) =>
  parseXml(pictureOf(query(trendsFilter), { results: rows, ...more }, { title: 'x', timezone: 'UTC' }))

test('a stack of shares fills its axis', () => {
  const chart = chartOf({ display: 'ActionsBar', showPercentStackView: true })
  expect(spansOf(chart)!.map((spans) => spans.map(([from, to]) => [from, to]))).toEqual([
    [
      [0, 25],
      [0, 50],
      [0, 75],
      [0, 100],
    ],
    [
      [25, 100],
      [50, 100],
      [75, 100],
      [100, 100],
    ],
  ])
  expect(timePlot(chart, area).marks.at(-1)).toBe('100%')
  // Lines are no shares of each other.
  expect(spansOf(chartOf({ showPercentStackView: true }))).toBeNull()
})

describe('a logarithmic axis', () => {
  test.each<[what: string, values: readonly (number | null)[], ticks: readonly number[] | null]>([
    ['over two powers', [3, 250, null], [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]],
    ['over few numbers', [20, 40], [10, 20, 50, 100]],
    ['with zero', [0, 7], [1, 2, 5, 10]],
    ['below one', [0.02, 0.5], [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1]],
    ['of a power of ten', [100], [100, 200, 500, 1000]],
    ['with a number below zero', [-1, 5], null],
    ['without numbers', [0, null], null],
  ])('%s', (_, values, ticks) => {
    const scale = logarithmic(values, [0, 100])
    if (ticks === null) return expect(scale).toBeNull()
    const [low, high] = scale!.domain
    expect(scale!.ticks.filter((tick) => ticks.includes(tick))).toEqual(ticks.filter((tick) => scale!.ticks.includes(tick)))
    expect([scale!.at(low), scale!.at(high), scale!.at(0)]).toEqual([0, 100, 0])
    expect(scale!.at(Math.sqrt(low * high))).toBeCloseTo(50)
    for (const value of values) if (value) expect([low <= value, value <= high]).toEqual([true, true])
  })
  test('is taken for lines and bars, and not where a number is below zero or they are a stack', () => {
    const top = (filter: object, results = rows) => timePlot(chartOf({ yAxisScaleType: 'log10', ...filter }, results), area).scale.domain
    expect(top({})).toEqual([10, 100])
    expect(top({ display: 'ActionsUnstackedBar' })).toEqual([10, 100])
    expect(top({ display: 'ActionsBar' })[0]).toBe(0)
    expect(top({}, [row('a', [-5, 20, 3, 4], 0)])[0]).toBeLessThan(0)
  })
})

test('with a second axis the first series has the left one, and both have marks', () => {
  const large = [row('a', [1, 2, 3, 4], 0), row('b', [1000, 2000, 3000, 4000], 1)]
  const chart = chartOf({ showMultipleYAxes: true }, large)
  const plot = timePlot(chart, area)
  expect(plot.scaleOf(chart.series[0]!).domain[1]).toBe(4)
  expect(plot.scaleOf(chart.series[1]!).domain[1]).toBe(4000)
  expect(plot.area.right).toBeLessThan(area.right - 8)
  // What is stacked has one axis.
  expect(timePlot(chartOf({ showMultipleYAxes: true, display: 'ActionsBar' }, large), area).right).toBeNull()
})

test('a goal is in sight, with its name', () => {
  const filter = {
    goalLines: [
      { label: 'Target', value: 90 },
      { label: 'none', value: 'x' },
    ],
  }
  expect(timePlot(chartOf(filter), area).scale.domain[1]).toBeGreaterThanOrEqual(90)
  const texts = textsOf(picture(filter))
  expect(texts).toContain('Target')
  expect(texts).not.toContain('none')
})

test('numbers stand at the points, as many as do not cover each other', () => {
  const texts = textsOf(picture({ showValuesOnSeries: true, showPercentStackView: true, display: 'ActionsBar' }))
  expect(texts.filter((text) => /^\d+%$/.test(text) && !/^(0|20|40|60|80|100)%$/.test(text)).sort()).toEqual([
    '25%',
    '25%',
    '50%',
    '50%',
    '75%',
    '75%',
  ])
  expect(textsOf(picture({ showValuesOnSeries: true })).filter((text) => text === '30')).toHaveLength(3)
})

test.each<[values: readonly (number | null)[], start: number, end: number]>([
  [[1, 2, 3, 4], 1, 4],
  [[1, null, 3, 4], 1, 4],
  [[4, 4, 4, 4], 4, 4],
  [[0, 10, 0, 10], 2, 8],
])('the trend of %j', (values, start, end) => {
  const trend = trendOf(values)!
  expect(trend(0)).toBeCloseTo(start)
  expect(trend(3)).toBeCloseTo(end)
})
test('there is no trend of one value', () => expect(trendOf([null, 5, null])).toBeNull())

test('a moving average begins when it has enough values, and leaves out what is missing', () => {
  expect(movingAverage([2, 4, 6, null, 8], 2)).toEqual([null, 3, 5, 6, 8])
  expect(movingAverage([1, 2], 3)).toEqual([null, null])
})

test('trends end before what is not over', () => {
  const filter = { showTrendLines: true, showMovingAverage: true, movingAverageIntervals: 2 }
  const lines = (more: object) =>
    [...elementsOf(picture(filter, more))].filter(({ name, attributes }) => name === 'polyline' && attributes.get('stroke-width') === '1.5')
  expect(lines({})).toHaveLength(4)
  const points = (more: object) => lines(more).map(({ attributes }) => attributes.get('points')!.split(' ').length)
  // Straight ones go on to the edge; averages do not.
  expect(points({ last_refresh: '2026-11-15T10:00:00Z' })).toEqual([4, 2, 4, 2])
  expect(points({ last_refresh: '2026-11-17T10:00:00Z' })).toEqual([4, 3, 4, 3])
})

test('bars of an interval that is not over are hatched, inside of their edges', () => {
  const paths = (last_refresh: string) =>
    [...elementsOf(picture({ display: 'ActionsBar' }, { last_refresh }))].filter(({ name }) => name === 'path').length
  expect([paths('2026-11-15T10:00:00Z'), paths('2026-11-16T10:00:00Z')]).toEqual([1, 0])
  for (const [width, height] of [
    [40, 7],
    [7, 40],
    [3, 2],
    [30, 30],
  ] as const) {
    const numbers = [...hatchOf({ left: 10, right: 10 + width, top: 5, bottom: 5 + height }).matchAll(/[ML]([\d.]+) ([\d.]+)/g)]
    for (const [, x, y] of numbers) {
      expect(Number(x)).toBeGreaterThanOrEqual(10)
      expect(Number(x)).toBeLessThanOrEqual(10 + width)
      expect(Number(y)).toBeGreaterThanOrEqual(5)
      expect(Number(y)).toBeLessThanOrEqual(5 + height)
    }
  }
})

test('curves of retention: the share of all, and of each row until what nobody can have reached', () => {
  const row = (day: number, counts: readonly number[]) => ({
    label: `Day ${day}`,
    date: `2026-01-0${day + 1}T00:00:00Z`,
    values: counts.map((count, i) => ({ count, label: `Day ${i}` })),
  })
  const answer = { results: [row(0, [10, 5, 2]), row(1, [30, 3, 0]), row(2, [0, 0, 0])], last_refresh: '2026-01-03T10:00:00Z' }
  const chart = readChart({ kind: 'RetentionQuery', retentionFilter: { period: 'Day', display: 'ActionsLineGraph' } }, answer, 'UTC')
  if (chart.kind !== 'lines') throw new Error(chart.kind)
  expect(chart.labels).toEqual(['Day 0', 'Day 1', 'Day 2'])
  expect(chart.series.map(({ label, values, row }) => [label, values, row])).toEqual([
    ['All', [100, 20, 20], -1],
    ['1 Jan', [100, 50, 20], 0],
    ['2 Jan', [100, 10, null], 1],
    ['3 Jan', [null, null, null], 2],
  ])
})

const everything = {
  showValuesOnSeries: true,
  showTrendLines: true,
  showMovingAverage: true,
  movingAverageIntervals: 3,
  showMultipleYAxes: true,
  goalLines: Array.from({ length: 1000 }, (_, i) => ({ label: 'x'.repeat(500), value: i })),
}
test.each<[display: string, more: object]>([
  ['ActionsLineGraph', {}],
  ['ActionsLineGraph', { yAxisScaleType: 'log10' }],
  ['ActionsAreaGraph', { showPercentStackView: true }],
  ['ActionsBar', {}],
  ['ActionsUnstackedBar', {}],
])('%s %j: with everything beside the values, in a range that lies ahead, the picture is not large', (display, more) => {
  for (const count of [1, 5, 118, 400]) {
    const ahead = Array.from({ length: count }, (_, i) => new Date(Date.UTC(2027, 0, 1 + i)).toISOString().slice(0, 10))
    const results = Array.from({ length: 25 }, (_, s) => ({
      ...row(
        `s${s}`,
        ahead.map((_, i) => 1 + ((i * 7919 + s * 104_729) % 1_000_003)),
        s,
      ),
      days: ahead,
      labels: ahead,
    }))
    const answer = { results, last_refresh: '2026-11-29T10:00:00Z' }
    const svg = pictureOf(query({ ...everything, display, ...more }), answer, { title: 'x', timezone: 'UTC' })
    expect(svg).not.toMatch(/NaN|Infinity/)
    expect(svg.length).toBeLessThan(300_000)
  }
})

test.each([[[5e-324, 1e308]], [[1e308, 1e308]], [[5e-324]]])('a logarithmic axis of %j has places', (values) => {
  const scale = logarithmic(values, [0, 100])!
  for (const value of values) expect(Number.isFinite(scale.at(value))).toBe(true)
  expect(scale.ticks.length).toBeLessThan(40)
})
