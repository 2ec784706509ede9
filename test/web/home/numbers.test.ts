import { expect, test } from 'vitest'
import { checkRequest } from '../../../src/engine/execution/request.ts'
import { sparkPoints } from '../../../src/web/charts/spark-points.ts'
import { changeText, dayNumbers, hoursOf, readDay, weeklyActive } from '../../../src/web/home/numbers.ts'

test.each<[now: number, before: number, text: string]>([
  [0, 0, 'as the day before: none'],
  [5, 0, 'none the day before'],
  [10, 10, 'as the day before'],
  [10_001, 10_000, 'as the day before'],
  [106.1, 100, '▲ 6.1% vs. the day before'],
  [122, 100, '▲ 22% vs. the day before'],
  [0, 100, '▼ 100% vs. the day before'],
  [97, 100, '▼ 3% vs. the day before'],
  [1_500_000, 1000, '▲ 149,900% vs. the day before'],
  [-5, -10, '▲ 50% vs. the day before'],
])('%d after %d', (now, before, text) => {
  expect(changeText(now, before)).toBe(text)
})

test.each<[values: readonly number[], points: string]>([
  [[], ''],
  [[3], ''],
  [[0, 0, 0], '0.0,20.0 50.0,20.0 100.0,20.0'],
  [[5, 5], '0.0,0.0 100.0,0.0'],
  [[0, 10, 5], '0.0,20.0 50.0,0.0 100.0,10.0'],
  [[-10, 10], '0.0,20.0 100.0,0.0'],
])('the line of %j', (values, points) => {
  expect(sparkPoints(values, 100, 20)).toBe(points)
})

test('numbers are those of the events that there are, four at most, and can be asked', () => {
  const pay = { event: 'purchase', number: 'price' }
  const titles = (cast: Parameters<typeof dayNumbers>[0]) => dayNumbers(cast).map(({ title }) => title)
  expect(titles({})).toEqual(['People'])
  expect(titles({ visit: { event: '$pageview' }, pay })).toEqual(['People', 'purchase', 'Revenue'])
  const whole = { visit: { event: '$pageview' }, signUp: { event: 'signed up' }, use: { event: 'shared' }, pay }
  expect(titles(whole)).toEqual(['People', 'signed up', 'shared', 'purchase'])
  for (const { query, hours } of dayNumbers(whole)) for (const one of [query, hours]) expect(() => checkRequest(one)).not.toThrow()
  expect(() => checkRequest(weeklyActive(whole))).not.toThrow()
  expect(() => checkRequest(weeklyActive({}))).not.toThrow()
})

test('the day and the one before are read from a compared number, in any order', () => {
  const rows = [
    { aggregated_value: 3, compare_label: 'previous' },
    { aggregated_value: 7, compare_label: 'current' },
  ]
  expect(readDay({ results: rows })).toEqual({ now: 7, before: 3 })
  expect(readDay({ results: rows.toReversed() })).toEqual({ now: 7, before: 3 })
  expect(readDay({ results: [] })).toEqual({ now: 0, before: 0 })
  expect(hoursOf({ results: [{ data: [1, null, 2] }] })).toEqual([1, 0, 2])
})
