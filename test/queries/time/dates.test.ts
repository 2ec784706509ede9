import { describe, expect, test } from 'vitest'
import { calendarOf, type Interval } from '../../../src/lib/time/calendar.ts'
import { zoneOf } from '../../../src/lib/time/zone.ts'
import type { QueryContext } from '../../../src/queries/kind.ts'
import { bucketDay, bucketEdges, bucketLabel, runsOf } from '../../../src/queries/time/buckets.ts'
import {
  type DateRange,
  dateInstant,
  isoInstant,
  micros,
  parseDate,
  previousRange,
  resolveDateRange,
} from '../../../src/queries/time/dates.ts'

const env = (timezone: string, now: string, weekStartDay: 0 | 1 = 0): Pick<QueryContext, 'now' | 'project'> => ({
  now: new Date(now),
  project: { id: 1, timezone, weekStartDay, testAccountFilters: [], personDisplayNameProperties: [], pathCleaningFilters: [] },
})
const local = (at: number, zone: string) => isoInstant(at, zoneOf(zone)).replace(/(Z|[+-]\d\d:\d\d)$/, '')
const ends = (range: DateRange, interval: Interval, zone = 'UTC', now = '2026-03-31T10:20:30Z', isExact = false) => {
  const { from, to } = resolveDateRange(range, interval, env(zone, now), { isExact })
  return [local(from, zone), local(to, zone)]
}
const dayEnd = (date: string) => `${date}T23:59:59.999999`

describe('one text', () => {
  const now = '2026-03-31T10:20:30Z' // a Tuesday; 06:20:30 in New York, 19:20:30 in Tokyo
  test.each([
    ['2026-01-02', '2026-01-02T00:00:00'],
    ['2026-1-2', '2026-01-02T00:00:00'],
    ['2026-02', '2026-02-01T00:00:00'],
    ['2026-01-02T03', '2026-01-02T03:00:00'],
    ['2026-01-02T03:00:00+02', '2026-01-02T01:00:00'],
    ['2026-01-02T03:00:00-0230', '2026-01-02T05:30:00'],
    ['2026-01-02 03:04', '2026-01-02T03:04:00'],
    ['2026-01-02T03:04:05', '2026-01-02T03:04:05'],
    ['2026-01-02T03:04:05.5', '2026-01-02T03:04:05.500000'],
    ['2026-01-02T03:04:05.123456', '2026-01-02T03:04:05.123456'],
    ['-30s', '2026-03-31T10:20:00'],
    ['-20M', '2026-03-31T10:00:30'],
    ['-3h', '2026-03-31T07:20:30'],
    ['-1d', '2026-03-30T10:20:30'],
    ['1d', '2026-03-30T10:20:30'],
    ['-2w', '2026-03-17T10:20:30'],
    ['-1m', '2026-02-28T10:20:30'],
    ['-1q', '2025-12-30T10:20:30'],
    ['-1y', '2025-03-31T10:20:30'],
    ['hStart', '2026-03-31T10:00:00'],
    ['hEnd', '2026-03-31T10:59:59.999999'],
    ['-1hStart', '2026-03-31T09:00:00'],
    ['dStart', '2026-03-31T00:00:00'],
    ['dEnd', dayEnd('2026-03-31')],
    ['-1dStart', '2026-03-30T00:00:00'],
    ['-1dEnd', dayEnd('2026-03-30')],
    ['mStart', '2026-03-01T10:20:30'],
    ['mEnd', '2026-03-31T10:20:30'],
    ['-1mStart', '2026-02-01T10:20:30'],
    ['-1mEnd', '2026-02-28T10:20:30'],
    ['yStart', '2026-01-01T10:20:30'],
    ['-1yStart', '2025-01-01T10:20:30'],
    ['yEnd', '2026-03-31T10:20:30'],
    ['wStart', '2026-03-29T00:00:00'], // weeks of the project, which begin on Sunday here
    ['-1wStart', '2026-03-22T00:00:00'],
    ['-1wEnd', dayEnd('2026-03-28')],
    ['qStart', '2026-01-01T00:00:00'],
    ['-1qStart', '2025-10-01T00:00:00'],
    ['-1qEnd', dayEnd('2025-12-31')],
    ['sStart', '2026-03-31T10:20:30'], // seconds have no edges
    ['-7D', '2026-03-31T10:20:30'], // capitals stand for nothing
  ])('%s in UTC', (text, expected) => {
    const at = dateInstant(text, Date.parse(now) * 1000, calendarOf(env('UTC', now).project))!
    expect(local(at, 'UTC')).toBe(expected)
  })

  test.each([
    ['naive is local', '2026-01-02T03:00:00', 'America/New_York', '2026-01-02T03:00:00'],
    ['with Z it is converted', '2026-01-02T03:00:00Z', 'America/New_York', '2026-01-01T22:00:00'],
    ['with an offset too', '2026-01-02T03:00:00+09:00', 'America/New_York', '2026-01-01T13:00:00'],
    ['an offset without colon', '2026-01-02T03:00:00-0330', 'UTC', '2026-01-02T06:30:00'],
    ['today is the local day', 'dStart', 'Asia/Tokyo', '2026-03-31T00:00:00'],
    ['tomorrow already', 'dStart', 'Pacific/Kiritimati', '2026-04-01T00:00:00'],
    ['a day back over the change of clocks keeps the time', '-2d', 'Europe/Berlin', '2026-03-29T12:20:30'],
    ['and a week over it', '-1w', 'Europe/Berlin', '2026-03-24T12:20:30'],
    ['48 hours do not', '-72h', 'Europe/Berlin', '2026-03-28T11:20:30'],
  ])('in a zone: %s', (_, text, zone, expected) => {
    const at = dateInstant(text, Date.parse(now) * 1000, calendarOf(env(zone, now).project))!
    expect(local(at, zone)).toBe(expected)
  })

  test.each(['2026-13-01', '2026-02-30', '2026-01-01T25:61', '2026-01-01 tomorrow', '123', '', '???'])('%j is no date', (text) => {
    expect(parseDate(text, zoneOf('UTC'))).toBeNull()
  })
})

describe('a range', () => {
  test.each<[string, DateRange, Interval, string, string]>([
    ['nothing given: a week and today', {}, 'day', '2026-03-24T00:00:00', dayEnd('2026-03-31')],
    ['nothing given, by minute', {}, 'minute', '2026-03-24T00:00:00', '2026-03-31T10:20:59.999999'],
    ['nothing given, explicitly', { explicitDate: true }, 'day', '2026-03-24T00:00:00', '2026-03-31T10:20:30'],
    ['eight days', { date_from: '-7d' }, 'day', '2026-03-24T00:00:00', dayEnd('2026-03-31')],
    ['exactly yesterday', { date_from: '-1d', date_to: '-1d' }, 'day', '2026-03-30T00:00:00', dayEnd('2026-03-30')],
    ['hours are cut to the hour', { date_from: '-24h' }, 'day', '2026-03-30T10:00:00', dayEnd('2026-03-31')],
    ['by hour the open end is the hour', { date_from: '-24h' }, 'hour', '2026-03-30T10:00:00', '2026-03-31T10:59:59.999999'],
    ['by hour a relative end too', { date_from: '-2d', date_to: '-1d' }, 'hour', '2026-03-29T00:00:00', '2026-03-30T10:59:59.999999'],
    ['by minute nothing is cut at the start', { date_from: '-1h' }, 'minute', '2026-03-31T09:20:30', '2026-03-31T10:20:59.999999'],
    ['by second', { date_from: '-30s' }, 'second', '2026-03-31T10:20:00', '2026-03-31T10:20:30.999999'],
    [
      'absolute ends by day',
      { date_from: '2026-01-05T08:00:00', date_to: '2026-01-09' },
      'day',
      '2026-01-05T08:00:00',
      dayEnd('2026-01-09'),
    ],
    [
      'absolute ends by hour stay',
      { date_from: '2026-01-05', date_to: '2026-01-05' },
      'hour',
      '2026-01-05T00:00:00',
      '2026-01-05T00:00:00',
    ],
    [
      'explicit ends stay',
      { date_from: '-24h', date_to: '2026-03-31T09:00:00', explicitDate: true },
      'day',
      '2026-03-30T10:20:30',
      '2026-03-31T09:00:00',
    ],
    ['this month', { date_from: 'mStart' }, 'month', '2026-03-01T00:00:00', dayEnd('2026-03-31')],
    ['last month', { date_from: '-1mStart', date_to: '-1mEnd' }, 'day', '2026-02-01T00:00:00', dayEnd('2026-02-28')],
    ['this year so far', { date_from: 'yStart' }, 'week', '2026-01-01T00:00:00', dayEnd('2026-03-31')],
    ['by week the end is the day', { date_from: '-14d' }, 'week', '2026-03-17T00:00:00', dayEnd('2026-03-31')],
  ])('%s', (_, range, interval, from, to) => {
    expect(ends(range, interval)).toEqual([from, to])
  })

  test('a number on a dashboard counts from now, to the microsecond', () => {
    expect(ends({ date_from: '-7d' }, 'day', 'UTC', '2026-03-31T10:20:30Z', true)).toEqual(['2026-03-24T10:20:30', '2026-03-31T10:20:30'])
    expect(ends({ date_from: '2026-01-01', date_to: '2026-01-02' }, 'day', 'UTC', '2026-03-31T10:20:30Z', true)[1]).toBe(
      dayEnd('2026-01-02'),
    )
  })

  test('starts with the earliest event', () => {
    const range = resolveDateRange({ date_from: 'all' }, 'month', env('UTC', '2020-04-30T10:20:00Z'), {
      earliest: micros(new Date('2020-01-01T05:20:00Z')),
    })
    expect(
      bucketEdges(range)
        .slice(0, -1)
        .map((edge) => bucketDay(edge, range)),
    ).toEqual(['2020-01-01', '2020-02-01', '2020-03-01', '2020-04-01'])
    expect(local(range.firstEvent, 'UTC')).toBe('2020-01-01T00:00:00')
  })

  test.each<[string, DateRange, Interval, string]>([
    ['day: from the start of the first day', { date_from: '2026-01-07T09:30:00' }, 'day', '2026-01-07T00:00:00'],
    ['day counted in hours: from that hour', { date_from: '-30h' }, 'day', '2026-03-30T04:00:00'],
    ['week: from the day, not from the week', { date_from: '2026-01-07T09:30:00' }, 'week', '2026-01-07T00:00:00'],
    ['month: the whole first month', { date_from: '2026-01-07T09:30:00' }, 'month', '2026-01-01T00:00:00'],
    ['quarter: the whole first quarter', { date_from: '2026-02-07' }, 'quarter', '2026-01-01T00:00:00'],
    ['hour: as written', { date_from: '2026-01-07T09:30:00' }, 'hour', '2026-01-07T09:30:00'],
    ['explicit: as written', { date_from: '2026-01-07T09:30:00', explicitDate: true }, 'month', '2026-01-07T09:30:00'],
  ])('first event, %s', (_, range, interval, expected) => {
    expect(local(resolveDateRange(range, interval, env('UTC', '2026-03-31T10:20:30Z')).firstEvent, 'UTC')).toBe(expected)
  })

  test('an end that is no date is refused by its field', () => {
    const wrong = () => resolveDateRange({ date_from: '2026-02-31' }, 'day', env('UTC', '2026-03-31T10:20:30Z'))
    expect(wrong).toThrow(expect.objectContaining({ code: 'validation-failed', attr: 'dateRange__date_from' }))
  })

  test.each<[string, DateRange]>([
    ['date_from', { date_from: '-2100y' }],
    ['date_from', { date_from: '-999999999y' }],
    ['date_from', { date_from: '-999999999d' }],
    ['date_from', { date_from: '-999999999mStart' }],
    ['date_from', { date_from: '0000-01-01T03:00:00+04:00' }],
    ['date_to', { date_to: '-999999999y' }],
    ['date_to', { date_to: '9999-12-31T23:00:00-02:00' }],
  ])('%s outside of the years that events can have is refused: %j', (name, range) => {
    const resolved = () => resolveDateRange(range, 'day', env('UTC', '2026-03-31T10:20:30Z'))
    expect(resolved).toThrow(expect.objectContaining({ code: 'validation-failed', attr: `dateRange__${name}` }))
    expect(resolved).toThrow(/years 0 to 9999/)
  })

  test('the first and the last day of these years are allowed in all time zones', () => {
    for (const zone of ['America/New_York', 'Asia/Tokyo'])
      expect(ends({ date_from: '0000-01-01', date_to: '9999-12-31T10:00:00', explicitDate: true }, 'year', zone)).toEqual([
        '0000-01-01T00:00:00',
        '9999-12-31T10:00:00',
      ])
  })
})

describe('buckets', () => {
  const days = (range: DateRange, interval: Interval, zone: string, now: string, weekStartDay: 0 | 1 = 0) => {
    const resolved = resolveDateRange(range, interval, env(zone, now, weekStartDay))
    const starts = bucketEdges(resolved).slice(0, -1)
    return { days: starts.map((s) => bucketDay(s, resolved)), labels: starts.map((s) => bucketLabel(s, resolved)) }
  }

  test('weeks carry their first day and labels are cut to the range', () => {
    expect(days({ date_from: '2020-10-29', date_to: '2020-11-24' }, 'week', 'UTC', '2021-01-01T00:00:00Z')).toEqual({
      days: ['2020-10-25', '2020-11-01', '2020-11-08', '2020-11-15', '2020-11-22'],
      labels: ['29–31 Oct', '1–7 Nov', '8–14 Nov', '15–21 Nov', '22–24 Nov'],
    })
    expect(days({ date_from: '2020-10-31', date_to: '2020-11-02' }, 'week', 'UTC', '2021-01-01T00:00:00Z').labels).toEqual([
      '31-Oct-2020',
      '1–2 Nov',
    ])
    expect(days({ date_from: '2020-12-20', date_to: '2021-01-11' }, 'week', 'UTC', '2021-02-01T00:00:00Z', 1).labels).toEqual([
      '20-Dec-2020',
      '21–27 Dec',
      '28-Dec-2020 – 3-Jan-2021',
      '4–10 Jan',
      '11-Jan-2021',
    ])
    expect(days({ date_from: '2020-09-28', date_to: '2020-10-04' }, 'week', 'UTC', '2021-01-01T00:00:00Z', 1).labels).toEqual([
      '28-Sep – 4-Oct',
    ])
  })

  test.each<[Interval, DateRange, string[], string[]]>([
    ['day', { date_from: '2020-01-09', date_to: '2020-01-10' }, ['2020-01-09', '2020-01-10'], ['9-Jan-2020', '10-Jan-2020']],
    ['month', { date_from: '2020-11-09', date_to: '2020-12-01' }, ['2020-11-01', '2020-12-01'], ['Nov 2020', 'Dec 2020']],
    ['hour', { date_from: '2020-01-09', date_to: '2020-01-09' }, ['2020-01-09 00:00:00'], ['9-Jan 00:00']],
    [
      'minute',
      { date_from: '2020-01-09T10:07:30', date_to: '2020-01-09T10:08:00' },
      ['2020-01-09 10:07:00', '2020-01-09 10:08:00'],
      ['9-Jan 10:07', '9-Jan 10:08'],
    ],
    ['second', { date_from: '2020-01-09T10:07:30', date_to: '2020-01-09T10:07:30' }, ['2020-01-09 10:07:30'], ['9-Jan 10:07:30']],
    ['quarter', { date_from: '2020-05-09', date_to: '2020-07-01' }, ['2020-04-01', '2020-07-01'], ['Q2 2020', 'Q3 2020']],
    ['year', { date_from: '2019-05-09', date_to: '2020-07-01' }, ['2019-01-01', '2020-01-01'], ['2019', '2020']],
  ])('%s', (interval, range, expectedDays, labels) => {
    expect(days(range, interval, 'UTC', '2021-01-01T00:00:00Z')).toEqual({ days: expectedDays, labels })
  })

  test.each([
    ['America/New_York', '2020-03-06', '2020-03-10', [24, 24, 23, 24, 24]],
    ['America/New_York', '2020-10-30', '2020-11-02', [24, 24, 25, 24]],
    ['Europe/Berlin', '2020-03-28', '2020-03-30', [24, 23, 24]],
    ['America/Sao_Paulo', '2018-11-03', '2018-11-05', [24, 23, 24]],
    ['Australia/Lord_Howe', '2020-04-04', '2020-04-06', [24, 24.5, 24]],
    ['Pacific/Apia', '2011-12-29', '2012-01-01', [24, 24, 24]], // there was no 30 December
  ])('a change of clocks neither shifts nor drops a day: %s from %s', (zone, date_from, date_to, hours) => {
    const resolved = resolveDateRange({ date_from, date_to }, 'day', env(zone, '2021-01-01T00:00:00Z'))
    const edges = bucketEdges(resolved)
    expect(edges.slice(1).map((edge, i) => (edge - edges[i]!) / 3600e6)).toEqual(hours)
  })

  test('an hour that comes twice is two buckets', () => {
    const { days: shown } = days(
      { date_from: '2020-10-25T01:00:00', date_to: '2020-10-25T03:00:00' },
      'hour',
      'Europe/Berlin',
      '2021-01-01T00:00:00Z',
    )
    expect(shown).toEqual(['2020-10-25 01:00:00', '2020-10-25 02:00:00', '2020-10-25 02:00:00', '2020-10-25 03:00:00'])
  })

  test('ninety days over a change are three runs', () => {
    const edges = bucketEdges(
      resolveDateRange({ date_from: '2020-01-20', date_to: '2020-04-18' }, 'day', env('America/New_York', '2021-01-01T00:00:00Z')),
    )
    expect(runsOf(edges).map(({ first, count, width }) => [first, count, width / 3600e6])).toEqual([
      [0, 48, 24],
      [48, 1, 23],
      [49, 41, 24],
    ])
  })

  test('a range that ends before it begins has none', () => {
    expect(days({ date_from: '2020-01-10', date_to: '2020-01-08' }, 'day', 'UTC', '2021-01-01T00:00:00Z').days).toEqual([])
  })

  test('too many are refused', () => {
    const seconds = resolveDateRange({ date_from: '-90d' }, 'second', env('UTC', '2021-01-01T00:00:00Z'))
    expect(() => bucketEdges(seconds)).toThrow(expect.objectContaining({ attr: 'interval' }))
  })
})

describe('the period to compare with', () => {
  const previous = (
    range: DateRange,
    interval: Interval,
    compareTo?: string,
    zone = 'UTC',
    now = '2026-03-31T10:20:30Z',
    isExact = false,
  ) => {
    const { from, to } = previousRange(resolveDateRange(range, interval, env(zone, now), { isExact }), compareTo)
    return [local(from, zone), local(to, zone)]
  }

  test.each<[string, DateRange, Interval, string | undefined, string, string]>([
    [
      'as long, right before',
      { date_from: '2026-01-15', date_to: '2026-01-19' },
      'day',
      undefined,
      '2026-01-10T00:00:00',
      dayEnd('2026-01-14'),
    ],
    ['whole weeks overlap by today', { date_from: '-7d' }, 'day', undefined, '2026-03-17T00:00:00', dayEnd('2026-03-24')],
    ['also two of them', { date_from: '-14d' }, 'day', undefined, '2026-03-03T00:00:00', dayEnd('2026-03-17')],
    ['and when nothing is given', {}, 'day', undefined, '2026-03-17T00:00:00', dayEnd('2026-03-24')],
    ['not with a relative end', { date_from: '-7d', date_to: '-1d' }, 'day', undefined, '2026-03-17T00:00:00', dayEnd('2026-03-23')],
    ['not for other lengths', { date_from: '-6d' }, 'day', undefined, '2026-03-18T00:00:00', dayEnd('2026-03-24')],
    ['not by week', { date_from: '-7d' }, 'week', undefined, '2026-03-16T00:00:00', dayEnd('2026-03-23')],
    ['by hour at the same time of day', { date_from: '-1dStart' }, 'hour', undefined, '2026-03-28T00:00:00', '2026-03-29T10:59:59.999999'],
    ['by hour, a few hours', { date_from: '-3h' }, 'hour', undefined, '2026-03-31T03:00:00', '2026-03-31T06:59:59.999999'],
    [
      'by hour, to a time',
      { date_from: '2026-03-31T05:00', date_to: '2026-03-31T09:00' },
      'hour',
      undefined,
      '2026-03-31T00:00:00',
      '2026-03-31T04:00:00',
    ],
    ['by minute right before', { date_from: '-1h' }, 'minute', undefined, '2026-03-31T08:20:00.000001', '2026-03-31T09:20:30'],
    ['a week back', { date_from: '2026-01-15', date_to: '2026-01-19' }, 'day', '-1w', '2026-01-08T00:00:00', dayEnd('2026-01-12')],
    ['three days back', { date_from: '2026-01-15', date_to: '2026-01-19' }, 'day', '-3d', '2026-01-12T00:00:00', dayEnd('2026-01-16')],
    ['a year back', { date_from: '-7d' }, 'day', '-1y', '2025-03-24T00:00:00', dayEnd('2025-03-31')],
    ['a month back is cut to its end', { date_from: '-7d' }, 'day', '-1m', '2026-02-24T00:00:00', dayEnd('2026-02-28')],
  ])('%s', (_, range, interval, compareTo, from, to) => {
    expect(previous(range, interval, compareTo)).toEqual([from, to])
  })

  test('days are moved, not hours: over a change of clocks both periods begin at midnight', () => {
    expect(previous({ date_from: '-7d' }, 'day', undefined, 'Europe/Berlin', '2026-04-02T10:00:00Z')).toEqual([
      '2026-03-19T00:00:00',
      dayEnd('2026-03-26'),
    ])
    expect(previous({ date_from: '2026-03-29', date_to: '2026-03-31' }, 'day', undefined, 'Europe/Berlin')).toEqual([
      '2026-03-26T00:00:00',
      dayEnd('2026-03-28'),
    ])
  })

  test('a number is compared with the same hours a week before', () => {
    expect(previous({ date_from: '-7d' }, 'day', undefined, 'UTC', '2026-03-31T10:20:30Z', true)).toEqual([
      '2026-03-17T10:20:30',
      '2026-03-24T10:20:30',
    ])
  })

  test('something else than a length of time is refused', () => {
    expect(() => previous({}, 'day', '2026-01-01')).toThrow(expect.objectContaining({ attr: 'compareFilter__compare_to' }))
  })

  test.each(['-2100y', '-999999999y', '-999999999d'])('a length that leads to before the year 0 is refused: %s', (compareTo) => {
    const wrong = expect.objectContaining({ code: 'validation-failed', attr: 'compareFilter__compare_to' })
    expect(() => previous({}, 'day', compareTo)).toThrow(wrong)
  })

  test('a long range is compared with one before the year 0', () => {
    expect(previous({ date_from: '0100-01-01', date_to: '2026-01-01' }, 'year', undefined)[0]).toBe('-001827-12-31T00:00:00')
  })
})
