import { expect, test } from 'vitest'
import { daysOfRange, fittingInterval, naturalInterval, nextInterval } from '../../../src/web/insights/intervals.ts'

const today = new Date().toISOString().slice(0, 10)
test.each([
  ['-1h', '', 1 / 24],
  ['-24h', '', 1],
  ['-30d', '', 30],
  ['dStart', '', 1],
  ['-1dStart', '-1dEnd', 1],
  ['mStart', '', Number(today.slice(8))],
  ['2026-01-01', '2026-01-07', 7],
  [today, '', 1],
  ['all', '', null],
  ['', '', 7],
  ['2026-99-99', '', null],
])('from %s to %j has %s days', (from, to, days) => {
  expect(daysOfRange(from, to, 'UTC')).toBe(days)
})

test.each([
  ['an hour by day is one dot', 'day', 1 / 24, 'minute'],
  ['an hour by hour too', 'hour', 1 / 24, 'minute'],
  ['a day by day', 'day', 1, 'hour'],
  ['a week by week', 'week', 7, 'day'],
  ['a month by month', 'month', 30, 'week'],
  ['two days by day are two dots', 'day', 2, 'day'],
  ['a week by day stays', 'day', 7, 'day'],
  ['a month by hour stays', 'hour', 30, 'hour'],
  ['a day by minute is too much', 'minute', 1, 'hour'],
  ['a month by minute', 'minute', 30, 'day'],
  ['ten years by hour', 'hour', 3650, 'month'],
  ['what is not known stays', 'day', null, 'day'],
  ['an interval of another kind stays', 'second', 30, 'second'],
])('%s', (_, interval, days, fitting) => {
  expect(fittingInterval(interval, days)).toBe(fitting)
})

test.each([
  [1 / 24, 'minute'],
  [1, 'hour'],
  [2, 'day'],
  [90, 'day'],
  [180, 'week'],
  [365, 'month'],
  [3650, 'quarter'],
])('%s days are shown by %s', (days, interval) => {
  expect(naturalInterval(days)).toBe(interval)
})

test.each([
  ['follows to a day', 'day', 30, 1, 'hour'],
  ['follows to a year', 'day', 30, 365, 'month'],
  ['and back', 'month', 365, 30, 'day'],
  ['a chosen week stays', 'week', 30, 365, 'week'],
  ['a chosen hour stays for a month', 'hour', 7, 30, 'hour'],
  ['and goes where it is too many', 'hour', 7, 365, 'week'],
  ['a chosen month goes where it is one dot', 'month', 90, 7, 'day'],
  ['of an unknown range it holds', 'day', null, 1, 'hour'],
  ['in an unknown range it holds', 'day', 30, null, 'day'],
])('an interval %s', (_, interval, before, after, expected) => {
  expect(nextInterval(interval, before, after)).toBe(expected)
})
