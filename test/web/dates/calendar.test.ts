import { describe, expect, test } from 'vitest'
import { addMonths, dayAfterKey, isDay, rangeOf, weeksOfMonth } from '../../../src/web/dates/calendar.ts'
import { dayOf } from '../../../src/web/lib/moments.ts'

describe('the weeks of a month', () => {
  test.each([
    ['2026-03-10', 0, '2026-03-01', '2026-04-04', 5],
    ['2026-03-10', 1, '2026-02-23', '2026-04-05', 6],
    ['2026-02-01', 0, '2026-02-01', '2026-02-28', 4], // a month of whole weeks
    ['2026-02-01', 1, '2026-01-26', '2026-03-01', 5],
    ['2024-02-29', 1, '2024-01-29', '2024-03-03', 5],
    ['2026-12-31', 1, '2026-11-30', '2027-01-03', 5],
    ['2026-10-25', 1, '2026-09-28', '2026-11-01', 5], // the clocks of Europe change
  ] as const)('of %s from weekday %s on', (day, weekStart, first, last, count) => {
    const weeks = weeksOfMonth(day, weekStart)
    const days = weeks.flat()
    expect([days[0], days.at(-1), weeks.length]).toEqual([first, last, count])
    expect(new Set(days).size).toBe(count * 7)
    expect(weeks.every((week) => week.length === 7)).toBe(true)
  })
})

test.each([
  ['2026-03-10', 'ArrowLeft', '2026-03-09'],
  ['2026-03-01', 'ArrowLeft', '2026-02-28'],
  ['2026-03-29', 'ArrowRight', '2026-03-30'], // over a change of clocks
  ['2026-03-10', 'ArrowUp', '2026-03-03'],
  ['2026-03-28', 'ArrowDown', '2026-04-04'],
  ['2026-03-31', 'PageUp', '2026-02-28'],
  ['2026-01-31', 'PageDown', '2026-02-28'],
  ['2026-12-15', 'PageDown', '2027-01-15'],
  ['2024-02-29', 'Shift+PageUp', '2023-02-28'],
  ['2026-03-11', 'Home', '2026-03-09'],
  ['2026-03-15', 'Home', '2026-03-09'],
  ['2026-03-11', 'End', '2026-03-15'],
  ['9999-12-31', 'ArrowRight', '9999-12-31'],
  ['2026-03-11', 'a', null],
] as const)('from %s, %s leads to %s', (day, key, expected) => {
  expect(dayAfterKey(day, key.replace('Shift+', ''), key.startsWith('Shift+'), 1)).toBe(expected)
})

test('a week that begins on Sunday', () => {
  expect(dayAfterKey('2026-03-11', 'Home', false, 0)).toBe('2026-03-08')
  expect(dayAfterKey('2026-03-08', 'End', false, 0)).toBe('2026-03-14')
})

test('a range in either order, and a month that is shorter', () => {
  expect(rangeOf('2026-03-05', '2026-03-01')).toEqual(['2026-03-01', '2026-03-05'])
  expect(rangeOf('2026-03-05', '2026-03-05')).toEqual(['2026-03-05', '2026-03-05'])
  expect(addMonths('2026-05-31', -3)).toBe('2026-02-28')
})

test.each(['2026-02-30', '2026-2-3', '0001-01-01', '20260203', ''])('%j is not a day of the calendar', (text) => {
  expect(isDay(text)).toBe(false)
})

test.each([
  ['Pacific/Auckland', '2026-09-26T11:30:00Z', '2026-09-26'],
  ['Pacific/Auckland', '2026-09-26T12:30:00Z', '2026-09-27'], // its clocks change on this day
  ['America/New_York', '2026-03-08T04:59:00Z', '2026-03-07'],
  ['America/New_York', '2026-03-09T04:01:00Z', '2026-03-09'],
])('today in %s at %s', (zone, now, day) => {
  expect(dayOf(0, zone, Date.parse(now))).toBe(day)
})
