import { expect, test } from 'vitest'
import { atInterval } from '../../../src/service/pictures/at-interval.ts'
import { readChart } from '../../../src/service/pictures/read-chart.ts'

const days = ['2026-11-13', '2026-11-14', '2026-11-15']
const labels = ['13-Nov-2026', '14-Nov-2026', '15-Nov-2026']
const row = (name: string, data: readonly (number | null)[], order: number, more: object = {}) => ({
  action: { id: name, name, order, type: 'events' },
  label: name,
  data,
  days,
  labels,
  order,
  ...more,
})

function chartOf(display: string | undefined, results: readonly object[], interval = 'day') {
  const chart = readChart({ kind: 'TrendsQuery', interval, trendsFilter: { display } }, { results }, 'UTC')
  if (chart.kind !== 'lines' && chart.kind !== 'bars') throw new Error(chart.kind)
  return chart
}

test('an interval says its weekday, and its values from the largest on', () => {
  const chart = chartOf(undefined, [row('a', [1, 2, 3], 0), row('b', [1, 30, 3], 1), row('c', [1, 7, 3], 2)])
  const { title, values, more, total } = atInterval(chart, 1)
  expect(title).toBe('Saturday, 14-Nov-2026')
  expect(values.map(({ label, text }) => `${label} ${text}`)).toEqual(['b 30', 'c 7', 'a 2'])
  // Lines are not parts of a whole.
  expect([more, total]).toEqual([0, null])
  expect(atInterval(chartOf(undefined, [row('a', [1, 2, 3], 0)], 'week'), 1).title).toBe('14-Nov-2026')
})

test('a stack has a total', () => {
  const chart = chartOf('ActionsBar', [row('a', [1, 2, 3], 0), row('b', [1, 30, 3], 1)])
  expect(atInterval(chart, 1).total).toBe('32')
})

test('the period before stands behind its own, with the change', () => {
  const both = (name: string, order: number, now: number, before: number) => [
    row(name, [0, now, 0], order, { compare_label: 'current' }),
    row(name, [0, before, 0], order, { compare_label: 'previous' }),
  ]
  const chart = chartOf(undefined, [...both('a', 0, 12, 10), ...both('b', 1, 30, 40), ...both('c', 2, 5, 0), ...both('d', 3, 4, 4)])
  expect(atInterval(chart, 1).values.map(({ label, text, change, direction }) => [label, text, change, direction])).toEqual([
    ['b', '30', '25%', -1],
    ['b (previous)', '40', '', 0],
    ['a', '12', '20%', 1],
    ['a (previous)', '10', '', 0],
    ['c', '5', '', 0],
    ['c (previous)', '0', '', 0],
    ['d', '4', '', 0],
    ['d (previous)', '4', '', 0],
  ])
})

test('however many there are, it says how many are left out', () => {
  const rows = Array.from({ length: 26 }, (_, i) => row(`s${i}`, [i, i, i], i))
  const chart = chartOf('ActionsBar', rows)
  const { values, more } = atInterval(chart, 0)
  expect(values.length + more).toBe(chart.series.length)
})
