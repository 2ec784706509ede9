import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { jitterOf, nextCheck } from '../../../src/service/notifications/check-times.ts'
import { nextOccurrence, type Recurrence, summaryOf, weekdays } from '../../../src/service/notifications/recurrence.ts'

const at = (text: string) => Date.parse(text)
const iso = (time: number | null) => (time === null ? null : new Date(time).toISOString().slice(0, 16))

describe('when an alert is checked', () => {
  const id = '0190a0a0-0000-7000-8000-000000000001'
  const due = (interval: 'hourly' | 'daily' | 'weekly' | 'monthly', timezone: string, after: string, skipsWeekends = false) =>
    iso(nextCheck({ id, interval, timezone, skipsWeekends }, at(after) + jitterOf(id)) - jitterOf(id))

  test.each([
    ['hourly', 'UTC', '2026-01-07T10:30:00Z', '2026-01-07T11:00'],
    ['hourly', 'UTC', '2026-01-07T11:00:00Z', '2026-01-07T12:00'],
    ['daily', 'UTC', '2026-01-07T00:30:00Z', '2026-01-07T01:00'],
    ['daily', 'UTC', '2026-01-07T01:00:00Z', '2026-01-08T01:00'],
    ['daily', 'Europe/Berlin', '2026-01-07T10:00:00Z', '2026-01-08T00:00'],
    ['daily', 'America/New_York', '2026-01-07T10:00:00Z', '2026-01-08T06:00'],
    ['weekly', 'UTC', '2026-01-07T10:00:00Z', '2026-01-12T03:00'],
    ['monthly', 'UTC', '2026-01-31T10:00:00Z', '2026-02-01T04:00'],
    ['monthly', 'UTC', '2025-12-02T10:00:00Z', '2026-01-01T04:00'],
    // The clocks of Berlin skip 2:00 to 3:00 and, in autumn, repeat it.
    ['daily', 'Europe/Berlin', '2026-03-28T00:30:00Z', '2026-03-29T00:00'],
    ['daily', 'Europe/Berlin', '2026-03-29T00:30:00Z', '2026-03-29T23:00'],
    ['hourly', 'Europe/Berlin', '2026-10-25T00:30:00Z', '2026-10-25T01:00'],
    ['hourly', 'Europe/Berlin', '2026-10-25T01:00:00Z', '2026-10-25T02:00'],
  ] as const)('%s in %s after %s: %s', (interval, zone, after, expected) => expect(due(interval, zone, after)).toBe(expected))

  test.each([
    ['hourly', 'UTC', '2026-01-09T23:30:00Z', '2026-01-12T00:00'],
    ['hourly', 'America/New_York', '2026-01-09T23:30:00Z', '2026-01-10T00:00'],
    ['daily', 'UTC', '2026-01-09T10:00:00Z', '2026-01-12T01:00'],
    ['weekly', 'UTC', '2026-01-09T10:00:00Z', '2026-01-12T03:00'],
    ['monthly', 'UTC', '2026-07-15T10:00:00Z', '2026-08-01T04:00'],
  ] as const)('%s without weekends in %s after %s: %s', (interval, zone, after, expected) =>
    expect(due(interval, zone, after, true)).toBe(expected),
  )

  test('times rise, and none is far away', () => {
    const zones = fc.constantFrom(
      'UTC',
      'Europe/Berlin',
      'America/New_York',
      'Asia/Kathmandu',
      'Australia/Lord_Howe',
      'America/Sao_Paulo',
      'Pacific/Apia',
    )
    const longest = { hourly: 3, daily: 5, weekly: 8, monthly: 33 } as const
    fc.assert(
      fc.property(
        zones,
        fc.constantFrom('hourly', 'daily', 'weekly', 'monthly'),
        fc.boolean(),
        fc.integer({ min: at('2010-01-01'), max: at('2040-01-01') }),
        fc.uuid(),
        (timezone, interval, skipsWeekends, from, alert) => {
          const times = { id: alert, interval, timezone, skipsWeekends } as const
          const first = nextCheck(times, from)
          expect(first).toBeGreaterThan(from)
          expect(first - from).toBeLessThan(longest[interval] * 86_400_000)
          // Nothing is due in between.
          expect(nextCheck(times, first - 1)).toBe(first)
          expect(nextCheck(times, first)).toBeGreaterThan(first)
        },
      ),
      { numRuns: 300 },
    )
  })
})

describe('when a subscription is due', () => {
  const rule = (more: Partial<Recurrence> = {}): Recurrence => ({
    frequency: 'daily',
    interval: 1,
    weekdays: null,
    position: null,
    count: null,
    start: at('2026-01-05T09:00:00Z'), // a Monday
    until: null,
    timezone: 'UTC',
    ...more,
  })
  const first = (more: Partial<Recurrence>, after = '2026-01-05T09:00:00Z', many = 3) => {
    const found: (string | null)[] = []
    for (let next = nextOccurrence(rule(more), at(after)); found.length < many; next = nextOccurrence(rule(more), next)) {
      found.push(iso(next))
      if (next === null) break
    }
    return found
  }

  test.each<[string, Partial<Recurrence>, string, (string | null)[]]>([
    ['before its start', {}, '2020-01-01T00:00:00Z', ['2026-01-05T09:00', '2026-01-06T09:00', '2026-01-07T09:00']],
    ['every third day', { interval: 3 }, '2026-01-06T00:00:00Z', ['2026-01-08T09:00', '2026-01-11T09:00', '2026-01-14T09:00']],
    [
      'on days of a week',
      { frequency: 'weekly', weekdays: ['monday', 'friday'] },
      '2026-01-05T09:00:00Z',
      ['2026-01-09T09:00', '2026-01-12T09:00', '2026-01-16T09:00'],
    ],
    [
      'every other week',
      { frequency: 'weekly', interval: 2 },
      '2026-01-05T09:00:00Z',
      ['2026-01-19T09:00', '2026-02-02T09:00', '2026-02-16T09:00'],
    ],
    [
      'on the 31st or the last day',
      { frequency: 'monthly', start: at('2026-01-31T09:00:00Z') },
      '2026-01-31T09:00:00Z',
      ['2026-02-28T09:00', '2026-03-31T09:00', '2026-04-30T09:00'],
    ],
    [
      'on the second Tuesday',
      { frequency: 'monthly', weekdays: ['tuesday'], position: 2 },
      '2026-01-05T09:00:00Z',
      ['2026-01-13T09:00', '2026-02-10T09:00', '2026-03-10T09:00'],
    ],
    [
      'on the last working day',
      { frequency: 'monthly', weekdays: ['monday', 'tuesday', 'wednesday', 'thursday', 'friday'], position: -1 },
      '2026-01-05T09:00:00Z',
      ['2026-01-30T09:00', '2026-02-27T09:00', '2026-03-31T09:00'],
    ],
    [
      'on the 29th of February',
      { frequency: 'yearly', start: at('2024-02-29T09:00:00Z') },
      '2026-01-01T00:00:00Z',
      ['2026-02-28T09:00', '2027-02-28T09:00', '2028-02-29T09:00'],
    ],
    ['three times', { count: 3 }, '2026-01-05T09:00:00Z', ['2026-01-06T09:00', '2026-01-07T09:00', null]],
    ['until a day', { until: at('2026-01-06T12:00:00Z') }, '2026-01-05T09:00:00Z', ['2026-01-06T09:00', null]],
    ['never', { weekdays: ['sunday'], interval: 7 }, '2026-01-05T09:00:00Z', [null]],
    ['on a fifth that no week has', { frequency: 'weekly', weekdays: ['monday'], position: 5 }, '2026-01-05T09:00:00Z', [null]],
    [
      'at the same local time',
      { timezone: 'Europe/Berlin', start: at('2026-03-27T08:00:00Z') },
      '2026-03-27T08:00:00Z',
      ['2026-03-28T08:00', '2026-03-29T07:00', '2026-03-30T07:00'],
    ],
    [
      'at an hour that is skipped',
      { timezone: 'Europe/Berlin', start: at('2026-03-28T01:30:00Z') },
      '2026-03-28T02:00:00Z',
      ['2026-03-29T01:30', '2026-03-30T00:30', '2026-03-31T00:30'],
    ],
  ])('%s', (_, more, after, expected) => expect(first(more, after)).toEqual(expected))

  test('agrees with a walk over all days', () => {
    const day = 86_400_000
    const arb = fc.record({
      frequency: fc.constantFrom('daily', 'weekly', 'monthly', 'yearly') as fc.Arbitrary<Recurrence['frequency']>,
      interval: fc.integer({ min: 1, max: 4 }),
      weekdays: fc.option(fc.subarray([...weekdays], { minLength: 1 })),
      position: fc.constantFrom(null, 1, 2, -1),
      count: fc.option(fc.integer({ min: 1, max: 12 })),
      start: fc.integer({ min: 0, max: 1200 }).map((days) => at('2024-01-01T09:00:00Z') + days * day),
    })
    fc.assert(
      fc.property(arb, fc.integer({ min: -400, max: 1500 }), (given, offset) => {
        const one = rule({ ...given, position: given.weekdays ? given.position : null })
        const after = one.start + offset * day + 3_600_000
        expect(iso(nextOccurrence(one, after))).toBe(iso(walk(one, after)))
      }),
      { numRuns: 300 },
    )

    /** Every day since the start, in UTC: is it in a period that counts, and is it one of its days? */
    function walk(one: Recurrence, after: number): number | null {
      const start = new Date(one.start)
      const monday = (date: Date) => Math.floor((date.getTime() / day + 3) / 7)
      const month = (date: Date) => date.getUTCFullYear() * 12 + date.getUTCMonth()
      const number = {
        daily: (d: Date) => Math.floor(d.getTime() / day),
        weekly: monday,
        monthly: month,
        yearly: (d: Date) => d.getUTCFullYear(),
      }[one.frequency]
      const isDay = (date: Date) => {
        if (one.weekdays) return one.weekdays.includes(weekdays[date.getUTCDay()]!)
        if (one.frequency === 'daily') return true
        if (one.frequency === 'weekly') return date.getUTCDay() === start.getUTCDay()
        const wanted = one.frequency === 'yearly' && date.getUTCMonth() !== start.getUTCMonth() ? -1 : start.getUTCDate()
        const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
        return wanted > 0 && date.getUTCDate() === Math.min(wanted, last)
      }
      const days = Array.from({ length: 4000 }, (_, i) => new Date(one.start + (i - 400) * day))
      const inPeriods = new Map<number, Date[]>()
      for (const date of days) {
        const period = number(date) - number(start)
        if (period < 0 || period % one.interval !== 0 || !isDay(date)) continue
        inPeriods.set(period, [...(inPeriods.get(period) ?? []), date])
      }
      const chosen = [...inPeriods.values()].flatMap((dates) => {
        if (one.position === null) return dates
        const found = one.position > 0 ? dates[one.position - 1] : dates[dates.length + one.position]
        return found ? [found] : []
      })
      const counted = chosen.filter((date) => date.getTime() >= one.start).slice(0, one.count ?? undefined)
      return counted.find((date) => date.getTime() > after)?.getTime() ?? null
    }
  })

  test('is told in words', () => {
    expect(summaryOf(rule({ frequency: 'weekly', interval: 2, weekdays: ['monday', 'friday'] }))).toBe('every 2 weeks on monday, friday')
    expect(summaryOf(rule({ frequency: 'monthly', weekdays: ['monday'], position: -1 }))).toBe('every month on the last monday')
  })
})
