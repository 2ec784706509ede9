import { expect, test } from 'vitest'
import { intervalOf, unfinishedOf } from '../../../src/service/pictures/charts/unfinished.ts'

test.each([
  // In New York it is still the 4th.
  { interval: 'day', begins: ['2026-01-03', '2026-01-04'], computed: '2026-01-05T04:59:59Z', count: 1 },
  { interval: 'day', begins: ['2026-01-03', '2026-01-04'], computed: '2026-01-05T05:00:00Z', count: 0 },
  { interval: 'day', begins: ['2026-01-03', '2026-01-04', '2026-01-05', '2026-01-06'], computed: '2026-01-04T12:00:00Z', count: 3 },
  { interval: 'day', begins: ['2026-01-05'], computed: '2026-01-04T12:00:00Z', count: 1 },
  { interval: 'hour', begins: ['2026-01-04 22:00:00', '2026-01-04 23:00:00'], computed: '2026-01-05T04:30:00Z', count: 1 },
  { interval: 'hour', begins: ['2026-01-04 22:00:00', '2026-01-04 23:00:00'], computed: '2026-01-05T05:00:00Z', count: 0 },
  { interval: 'minute', begins: ['2026-01-04 23:30:00'], computed: '2026-01-05T04:30:59Z', count: 1 },
  { interval: 'week', begins: ['2025-12-21', '2025-12-28'], computed: '2026-01-04T12:00:00Z', count: 0 },
  { interval: 'week', begins: ['2025-12-21', '2025-12-28'], computed: '2026-01-04T04:00:00Z', count: 1 },
  { interval: 'month', begins: ['2025-12-01', '2026-01-01'], computed: '2026-01-31T12:00:00Z', count: 1 },
  { interval: 'month', begins: ['2025-12-01', '2026-01-01'], computed: '2026-02-01T05:00:00Z', count: 0 },
  { interval: 'day', begins: ['2026-01-04'], computed: '', count: 0 },
  { interval: 'day', begins: [], computed: '2026-01-04T12:00:00Z', count: 0 },
])('$interval, computed $computed: $count of $begins', ({ interval, begins, computed, count }) => {
  expect(unfinishedOf(begins, interval, computed, 'America/New_York')).toBe(count)
})

test.each([
  ['day', ['2026-01-05', '2026-01-06'], 'day'],
  ['', ['2026-01-05'], 'day'],
  ['week', ['2026-01-05'], 'week'],
  ['hour', ['2026-01-05 11:00:00'], 'hour'],
  ['day', ['2026-01-05 11:00:00', '2026-01-05 12:00:00'], 'hour'],
  ['month', ['2026-01-05 11:00:00', '2026-01-05 11:01:00'], 'minute'],
  ['day', [], 'day'],
])('stated as %s, with %j: %s', (stated, begins, interval) => {
  expect(intervalOf(stated, begins)).toBe(interval)
})
