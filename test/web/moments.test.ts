import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dayOf, instantOf, typedText } from '../../src/web/lib/moments.ts'
import { assertGenerated } from '../harness/assert-generated.ts'

test.each([
  ['UTC', '2026-03-01T12:00', '2026-03-01T12:00:00.000Z'],
  ['Asia/Tokyo', '2026-03-01T08:30', '2026-02-28T23:30:00.000Z'],
  ['America/New_York', '2026-07-01T00:00', '2026-07-01T04:00:00.000Z'],
  ['Asia/Kathmandu', '2026-01-01T00:00', '2025-12-31T18:15:00.000Z'],
  // The clock goes from 2 to 3: the hour that is not there is moved forward.
  ['Europe/Berlin', '2026-03-29T02:30', '2026-03-29T01:30:00.000Z'],
  // It shows 2 to 3 twice: the first.
  ['Europe/Berlin', '2026-10-25T02:30', '2026-10-25T00:30:00.000Z'],
])('%s: %s is %s', (zone, typed, instant) => {
  expect(instantOf(typed, zone)).toBe(instant)
})

test('an instant is typed as it is shown', () => {
  const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe', 'Pacific/Apia')
  assertGenerated(
    fc.property(zones, fc.integer({ min: 0, max: 4_000_000_000 }), (zone, seconds) => {
      const text = typedText(seconds * 1000, zone)
      const back = instantOf(text, zone)
      expect(typedText(back, zone)).toBe(text)
      // The same instant, but for seconds and for hours that the clock shows twice.
      const away = Math.abs(Date.parse(back) - seconds * 1000)
      expect(away < 60_000 || (away >= 1_740_000 && away <= 3_660_000)).toBe(true)
    }),
  )
})

test('what is not a time is refused', () => {
  expect(() => instantOf('tomorrow', 'UTC')).toThrow('Expected a date and a time')
})

test('days are counted on the clock of the project', () => {
  const now = Date.parse('2026-03-01T23:30:00Z')
  expect([dayOf(0, 'UTC', now), dayOf(0, 'Asia/Tokyo', now), dayOf(1, 'UTC', now), dayOf(30, 'America/New_York', now)]).toEqual([
    '2026-03-01',
    '2026-03-02',
    '2026-02-28',
    '2026-01-30',
  ])
})
