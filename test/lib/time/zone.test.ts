import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { add, type Calendar, endOf, intervals, startOf } from '../../../src/lib/time/calendar.ts'
import { hour, zoneOf } from '../../../src/lib/time/zone.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'

const at = (text: string) => Date.parse(text) * 1000
const text = (micros: number) => new Date(micros / 1000).toISOString().replace('.000Z', 'Z')

describe('a zone', () => {
  test.each([
    ['New York in winter', 'America/New_York', '2020-01-01T00:00:00Z', -5],
    ['New York in summer', 'America/New_York', '2020-07-01T00:00:00Z', -4],
    ['the last second before the change', 'America/New_York', '2020-03-08T06:59:59Z', -5],
    ['the change itself', 'America/New_York', '2020-03-08T07:00:00Z', -4],
    ['half an hour', 'Asia/Kolkata', '2020-01-01T00:00:00Z', 5.5],
    ['east of the date line', 'Pacific/Kiritimati', '2020-01-01T00:00:00Z', 14],
    ['the zone that skipped a day', 'Pacific/Apia', '2011-12-30T09:59:59Z', -10],
    ['and is a day ahead since', 'Pacific/Apia', '2011-12-30T10:00:00Z', 14],
    ['before 1970', 'Europe/Berlin', '1965-06-01T00:00:00Z', 1],
  ])('knows its offset: %s', (_, name, instant, hours) => {
    expect(zoneOf(name).offsetAt(at(instant)) / hour).toBe(hours)
  })

  test.each([
    ['plain', 'Europe/Berlin', '2020-06-01T12:00:00Z', '2020-06-01T10:00:00Z'],
    ['skipped: moved past the gap', 'Europe/Berlin', '2020-03-29T02:30:00Z', '2020-03-29T01:30:00Z'],
    ['twice: the first', 'Europe/Berlin', '2020-10-25T02:30:00Z', '2020-10-25T00:30:00Z'],
    ['a midnight that is skipped', 'America/Sao_Paulo', '2018-11-04T00:00:00Z', '2018-11-04T03:00:00Z'],
    ['a midnight that comes twice', 'America/Havana', '2020-11-01T00:00:00Z', '2020-11-01T04:00:00Z'],
  ])('turns a wall into an instant: %s', (_, name, wall, instant) => {
    expect(text(zoneOf(name).toInstant(at(wall)))).toBe(instant)
  })

  test('finds both breaks of Ramadan time', () => {
    const changes = zoneOf('Africa/Casablanca').changes(at('2020-01-01T00:00:00Z'), at('2020-12-31T00:00:00Z'))
    expect(changes.map((c) => [text(c.at), c.before / hour, c.after / hour])).toEqual([
      ['2020-04-19T02:00:00Z', 1, 0],
      ['2020-05-31T02:00:00Z', 0, 1],
    ])
  })

  test('agrees with Intl at any time', () => {
    const names = ['America/New_York', 'Europe/London', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'America/St_Johns', 'Pacific/Auckland']
    assertGenerated(
      fc.property(fc.constantFrom(...names), fc.integer({ min: at('1975-01-01') / 1e6, max: at('2037-01-01') / 1e6 }), (name, seconds) => {
        const shown = new Date(seconds * 1000).toLocaleString('sv-SE', { timeZone: name })
        expect(text(zoneOf(name).toWall(seconds * 1e6))).toBe(`${shown.replace(' ', 'T')}Z`)
      }),
      { numRuns: 300 },
    )
  })
})

describe('an interval', () => {
  const calendar = (name: string, weekStartDay: 0 | 1 = 0): Calendar => ({ zone: zoneOf(name), weekStartDay })

  test.each([
    ['day', 'America/New_York', 0, '2020-03-09T03:59:59Z', '2020-03-08T05:00:00Z', '2020-03-09T04:00:00Z'],
    ['day', 'Asia/Tokyo', 0, '2020-03-08T16:00:00Z', '2020-03-08T15:00:00Z', '2020-03-09T15:00:00Z'],
    ['week', 'UTC', 0, '2020-01-12T00:00:00Z', '2020-01-12T00:00:00Z', '2020-01-19T00:00:00Z'],
    ['week', 'UTC', 1, '2020-01-12T00:00:00Z', '2020-01-06T00:00:00Z', '2020-01-13T00:00:00Z'],
    ['month', 'Europe/Berlin', 0, '2020-02-29T22:59:59Z', '2020-01-31T23:00:00Z', '2020-02-29T23:00:00Z'],
    ['quarter', 'UTC', 0, '2020-05-20T00:00:00Z', '2020-04-01T00:00:00Z', '2020-07-01T00:00:00Z'],
    ['year', 'UTC', 0, '2020-05-20T00:00:00Z', '2020-01-01T00:00:00Z', '2021-01-01T00:00:00Z'],
    ['hour', 'Asia/Kolkata', 0, '2020-01-01T00:10:00Z', '2019-12-31T23:30:00Z', '2020-01-01T00:30:00Z'],
    ['hour', 'Europe/Berlin', 0, '2020-10-25T01:10:00Z', '2020-10-25T01:00:00Z', '2020-10-25T02:00:00Z'],
    // Half an hour is taken out of the middle of an hour: what is left of it is a bucket of its own.
    ['hour', 'Australia/Lord_Howe', 0, '2020-04-04T15:10:00Z', '2020-04-04T15:00:00Z', '2020-04-04T15:30:00Z'],
  ] as const)('%s in %s, weeks from %i, at %s', (interval, name, weekStartDay, instant, start, end) => {
    const zone = calendar(name, weekStartDay)
    expect([text(startOf(interval, at(instant), zone)), text(endOf(interval, at(instant), zone))]).toEqual([start, end])
  })

  test('holds the instant, and the next one begins where it ends', () => {
    const names = ['UTC', 'America/New_York', 'Australia/Lord_Howe', 'America/Sao_Paulo', 'Asia/Kathmandu', 'Africa/Casablanca']
    const instants = fc.integer({ min: at('2010-01-01') / 1e6, max: at('2030-01-01') / 1e6 }).map((s) => s * 1e6)
    assertGenerated(
      fc.property(fc.constantFrom(...intervals), fc.constantFrom(...names), instants, (interval, name, instant) => {
        const zone = calendar(name, 1)
        const [start, end] = [startOf(interval, instant, zone), endOf(interval, instant, zone)]
        expect(start).toBeLessThanOrEqual(instant)
        expect(end).toBeGreaterThan(instant)
        expect(startOf(interval, end, zone)).toBe(end)
        expect(startOf(interval, end - 1, zone)).toBe(start)
      }),
      { numRuns: 500 },
    )
  })

  test.each([
    ['month', 1, '2020-01-31T10:00:00Z', '2020-02-29T10:00:00Z'],
    ['month', -1, '2020-03-31T10:00:00Z', '2020-02-29T10:00:00Z'],
    ['year', -1, '2020-02-29T10:00:00Z', '2019-02-28T10:00:00Z'],
    ['month', -14, '2020-01-15T10:00:00Z', '2018-11-15T10:00:00Z'],
  ] as const)('adds %s × %i to %s', (interval, count, from, to) => {
    expect(text(add(interval, count, at(from), calendar('UTC')))).toBe(to)
  })

  test('a day later keeps the time of day, 24 hours later does not', () => {
    const berlin = calendar('Europe/Berlin')
    expect(text(add('day', 1, at('2020-03-28T11:00:00Z'), berlin))).toBe('2020-03-29T10:00:00Z')
    expect(text(add('hour', 24, at('2020-03-28T11:00:00Z'), berlin))).toBe('2020-03-29T11:00:00Z')
  })
})
