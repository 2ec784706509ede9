import { expect, test } from 'vitest'
import { readChart } from '../../../src/service/pictures/read-chart.ts'
import { canZoom, zoomed } from '../../../src/web/insights/zoom.ts'

// From a range of intervals of a chart to the question about them.

const query = (interval: string) => ({ kind: 'TrendsQuery', interval, dateRange: { date_from: '-90d' } })
const chartOf = (interval: string, days: readonly string[]) =>
  readChart(query(interval), { results: [{ label: 'a', data: days.map(() => 1), days, labels: days, order: 0 }] }, 'UTC')

test.each<[interval: string, days: readonly string[], from: number, to: number, dateRange: object, next: string]>([
  ['day', ['2026-01-05', '2026-01-06', '2026-01-07', '2026-01-08'], 0, 2, { date_from: '2026-01-05', date_to: '2026-01-07' }, 'day'],
  // A day of days is shown by hours.
  ['day', ['2026-01-05', '2026-01-06'], 1, 1, { date_from: '2026-01-06', date_to: '2026-01-06' }, 'hour'],
  ['week', ['2026-01-05', '2026-01-12', '2026-01-19'], 1, 2, { date_from: '2026-01-12', date_to: '2026-01-25' }, 'week'],
  ['month', ['2026-01-01', '2026-02-01', '2026-03-01'], 0, 2, { date_from: '2026-01-01', date_to: '2026-03-31' }, 'month'],
  ['month', ['2026-01-01', '2026-02-01', '2026-03-01'], 1, 1, { date_from: '2026-02-01', date_to: '2026-02-28' }, 'week'],
  [
    'hour',
    ['2026-01-05 10:00:00', '2026-01-05 11:00:00', '2026-01-05 12:00:00'],
    0,
    1,
    { date_from: '2026-01-05 10:00:00', date_to: '2026-01-05 11:59:59', explicitDate: true },
    'hour',
  ],
])('%s %j from %i to %i', (interval, days, from, to, dateRange, next) => {
  expect(zoomed(query(interval), chartOf(interval, days), from, to)).toEqual({ ...query(interval), dateRange, interval: next })
})

test('where several intervals are in one point, all of them are in the range', () => {
  const days = Array.from({ length: 500 }, (_, i) => new Date(Date.UTC(2025, 0, 1 + i)).toISOString().slice(0, 10))
  const chart = chartOf('day', days)
  expect(chart.kind === 'lines' && chart.step).toBe(2)
  expect(zoomed(query('day'), chart, 1, 2).dateRange).toEqual({ date_from: '2025-01-03', date_to: '2025-01-06' })
})

test('intervals of stickiness are no dates', () => expect(canZoom({ kind: 'StickinessQuery' })).toBe(false))
