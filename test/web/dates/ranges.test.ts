import { expect, test } from 'vitest'
import { daysOf, endFor, presetOf, rangeText } from '../../../src/web/dates/ranges.ts'

test.each([
  ['dStart', '', 'Today'],
  ['-1wStart', '-1wEnd', 'Last week'],
  ['-1wStart', '', '-1wStart'],
  ['-30d', '', 'Last 30 days'],
  ['-45d', '', 'Last 45 days'],
  ['-1y', '', 'Last year'],
  ['2026-01-05', '2026-01-05', '5 Jan 2026'],
  ['2026-01-05', '2026-01-05T23:59:59.999999', '5 Jan 2026'],
  ['2026-01-05', '2026-02-01', '5 Jan – 1 Feb 2026'],
  ['2025-12-05', '2026-02-01', '5 Dec 2025 – 1 Feb 2026'],
  ['2026-01-05', '', 'Since 5 Jan 2026'],
  ['2026-01-05T10:00:00Z', '', 'Since 5 Jan 2026, 11:00'],
  ['2026-07-05T10:00:00.000Z', '', 'Since 5 Jul 2026, 12:00'],
  ['2026-01-05 10:00:00', '2026-01-05 13:59:59', '5 Jan 2026, 10:00 – 5 Jan 2026, 13:59'],
  ['some day', '', 'some day'],
  ['all', '2026-01-05', 'All time – 5 Jan 2026'],
])('from %s to %j reads %s', (from, to, text) => {
  expect(rangeText({ from, to }, 'Europe/Berlin')).toBe(text)
})

test.each([
  ['hour', '2026-01-05', '2026-01-05T23:59:59.999999'],
  ['minute', '2026-01-05T23:59:59.999999', '2026-01-05T23:59:59.999999'],
  ['day', '2026-01-05T23:59:59.999999', '2026-01-05'],
  ['hour', '-1dEnd', '-1dEnd'],
  ['hour', '2026-01-05 13:59:59', '2026-01-05 13:59:59'],
  ['day', '', ''],
])('by %s the end %j is %j', (interval, to, expected) => {
  expect(endFor(interval, to)).toBe(expected)
})

test.each([
  ['-7d', '', ['2026-03-03', '2026-03-10']],
  ['-1dStart', '-1dEnd', ['2026-03-09', '2026-03-09']],
  ['mStart', '', ['2026-03-01', '2026-03-10']],
  ['2026-01-05', '2026-01-09', ['2026-01-05', '2026-01-09']],
  ['all', '', null],
])('the calendar marks for %s %j', (from, to, days) => {
  expect(daysOf({ from, to }, '2026-03-10')).toEqual(days)
})

test('a preset with an end is not one without it', () => {
  expect(presetOf({ from: '-1mStart', to: '-1mEnd' })?.label).toBe('Last month')
  expect(presetOf({ from: '-1mStart', to: '' })).toBeUndefined()
})
