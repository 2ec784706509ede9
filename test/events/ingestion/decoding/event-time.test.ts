import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { eventTime, type SentTime } from '../../../../src/events/ingestion/decoding/event-time.ts'
import { isoText, parseTime } from '../../../../src/events/ingestion/decoding/parse-time.ts'
import { assertGenerated } from '../../../harness/assert-generated.ts'

const iso = (micros: number | null) => (micros === null ? null : isoText(micros))

test.each<[unknown, string | null]>([
  ['2021-10-29', '2021-10-29T00:00:00.000Z'],
  ['2021-10-29 00:00:00', '2021-10-29T00:00:00.000Z'],
  ['2021-10-29 00:00:00.000000', '2021-10-29T00:00:00.000Z'],
  ['2021-10-29T00:00:00.000Z', '2021-10-29T00:00:00.000Z'],
  ['2021-10-29T00:00:00z', '2021-10-29T00:00:00.000Z'],
  ['2021-10-29T00:00:00.000-00:00', '2021-10-29T00:00:00.000Z'],
  ['2021-10-29T02:30:00+02:30', '2021-10-29T00:00:00.000Z'],
  ['2021-10-28T19:00:00-0500', '2021-10-29T00:00:00.000Z'],
  ['2021-10-29T02+02', '2021-10-29T00:00:00.000Z'],
  ['2021-10-29T24:00', '2021-10-30T00:00:00.000Z'],
  ['20211029T000000Z', '2021-10-29T00:00:00.000Z'],
  ['20211029', '2021-10-29T00:00:00.000Z'],
  ['2021-10', '2021-10-01T00:00:00.000Z'],
  ['2021', '2021-01-01T00:00:00.000Z'],
  ['2021-W43-5', '2021-10-29T00:00:00.000Z'],
  ['2021W435', '2021-10-29T00:00:00.000Z'],
  ['2021-W43', '2021-10-25T00:00:00.000Z'],
  ['2020-W53-7', '2021-01-03T00:00:00.000Z'],
  ['2021-302', '2021-10-29T00:00:00.000Z'],
  ['2021302T1200', '2021-10-29T12:00:00.000Z'],
  ['2024-366', '2024-12-31T00:00:00.000Z'],
  ['Fri, 29 Oct 2021 00:00:00 GMT', '2021-10-29T00:00:00.000Z'],
  ['Oct 29, 2021', '2021-10-29T00:00:00.000Z'],
  ['Oct 29, 2021 10:00 PM', '2021-10-29T22:00:00.000Z'],
  ['10/29/2021', '2021-10-29T00:00:00.000Z'],
  ['2021-1-5', '2021-01-05T00:00:00.000Z'],
  ['  2021-10-29  ', '2021-10-29T00:00:00.000Z'],
  [1635465600000, '2021-10-29T00:00:00.000Z'],
  [new Date('2021-10-29T00:00:00Z'), '2021-10-29T00:00:00.000Z'],
  ['0000-01-01', '0000-01-01T00:00:00.000Z'],
  ['0099-12-31', '0099-12-31T00:00:00.000Z'],
  ['1969-12-31T23:59:59.999Z', '1969-12-31T23:59:59.999Z'],
  ['+275760-09-13', '+275760-09-13T00:00:00.000Z'],
  ['+275760-09-14', null],
  ['2021-13-01', null],
  ['2021-00-01', null],
  ['2021-10-29T25:00', null],
  ['2021-10-29T24:01', null],
  ['2021-W54', null],
  ['2021-000', null],
  ['not a time', null],
  ['', null],
  [Number.NaN, null],
  [8.65e15, null],
  [new Date(Number.NaN), null],
  [true, null],
  [{}, null],
  [null, null],
])('%s is read as %s', (value, time) => expect(iso(parseTime(value))).toBe(time))

test('microseconds are kept', () => expect(parseTime('2021-10-29T00:00:00.123456789Z')).toBe(1_635_465_600_123_456))

test('the zone of the process does not matter', () => {
  const before = process.env.TZ
  process.env.TZ = 'America/New_York'
  try {
    expect(iso(parseTime('Oct 29, 2021 10:00'))).toBe('2021-10-29T10:00:00.000Z')
    expect(iso(parseTime('2021-10-29 10:00:00'))).toBe('2021-10-29T10:00:00.000Z')
  } finally {
    if (before === undefined) delete process.env.TZ
    else process.env.TZ = before
  }
})

test('every time survives conversion to text and back', () => {
  assertGenerated(
    fc.property(fc.date({ min: new Date('0000-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true }), (date) => {
      expect(parseTime(date.toISOString())).toBe(date.getTime() * 1000)
    }),
  )
})

describe('the time of an event', () => {
  const now = '2021-10-30T01:00:00.000Z'
  const rows: [string, Partial<SentTime>, string, string[]][] = [
    ['nothing is now', {}, now, []],
    ['a timestamp alone is as sent', { timestamp: '2021-10-29T10:00:00Z' }, '2021-10-29T10:00:00.000Z', []],
    ['sent_at corrects the clock', { timestamp: '2021-10-29T23:00:00Z', sentAt: '2021-10-29T23:30:00Z' }, '2021-10-30T00:30:00.000Z', []],
    [
      'sent_at corrects a clock that is ahead',
      { timestamp: '2025-01-01T00:00:00Z', sentAt: '2025-01-01T00:00:10Z' },
      '2021-10-30T00:59:50.000Z',
      [],
    ],
    [
      'zones do not matter for that',
      { timestamp: '2021-10-30T01:00:00+02:00', sentAt: '2021-10-29T23:30:00Z' },
      '2021-10-30T00:30:00.000Z',
      [],
    ],
    [
      '$ignore_sent_at takes the timestamp',
      { timestamp: '2021-10-29T23:00:00Z', sentAt: '2021-10-29T23:30:00Z', ignoreSentAt: true },
      '2021-10-29T23:00:00.000Z',
      [],
    ],
    [
      'an unreadable sent_at is ignored with a warning',
      { timestamp: '2021-10-29T23:00:00Z', sentAt: 'soon' },
      '2021-10-29T23:00:00.000Z',
      ['ignored_invalid_timestamp sent_at'],
    ],
    ['offset counts back from now', { offset: 60_000 }, '2021-10-30T00:59:00.000Z', []],
    ['offset with sent_at counts back from now', { offset: 60_000, sentAt: '2021-10-29T00:00:00Z' }, '2021-10-30T00:59:00.000Z', []],
    [
      'offset wins over timestamp and sent_at',
      { offset: 60_000, timestamp: '2021-10-29T23:00:00Z', sentAt: '2021-10-29T23:30:00Z' },
      '2021-10-30T00:59:00.000Z',
      [],
    ],
    [
      'offset is not looked at beside a timestamp alone',
      { offset: 60_000, timestamp: '2021-10-29T23:00:00Z' },
      '2021-10-29T23:00:00.000Z',
      [],
    ],
    ['an offset that is no number is ignored', { offset: '60000' }, now, ['ignored_invalid_timestamp offset']],
    ['23 hours ahead is allowed', { timestamp: '2021-10-31T00:00:00Z' }, '2021-10-31T00:00:00.000Z', []],
    ['more than 23 hours ahead is now', { timestamp: '2021-10-31T00:00:00.001Z' }, now, ['event_timestamp_in_future']],
    ['a negative offset of more is now', { offset: -23 * 3_600_000 - 1 }, now, ['event_timestamp_in_future']],
    ['an unreadable timestamp is now', { timestamp: 'yesterday-ish' }, now, ['ignored_invalid_timestamp timestamp']],
    ['an unreadable timestamp is now whatever else is given', { timestamp: {}, offset: 5 }, now, ['ignored_invalid_timestamp timestamp']],
    ['the year 0 is taken', { timestamp: '0000-06-01T00:00:00Z' }, '0000-06-01T00:00:00.000Z', []],
    ['a year before 0 is not', { timestamp: '-000001-06-01T00:00:00Z' }, now, ['ignored_invalid_timestamp timestamp']],
    ['the year 275760 is not', { timestamp: '+275760-09-12T00:00:00Z' }, now, ['ignored_invalid_timestamp timestamp']],
    ['the past has no limit', { timestamp: '1815-12-10' }, '1815-12-10T00:00:00.000Z', []],
  ]
  test.each(rows)('%s', (_, sent, time, warnings) => {
    const result = eventTime({ ignoreSentAt: false, ...sent }, Date.parse(now) * 1000, { eventUuid: 'u', eventName: 'e' })
    expect(iso(result.time)).toBe(time)
    expect(result.warnings.map(({ type, details }) => (details.field ? `${type} ${details.field}` : type))).toEqual(warnings)
  })

  test('the warning of a future time says everything', () => {
    const sent = { timestamp: '2021-10-29T02:30:00Z', sentAt: '2021-10-28T01:00:00Z', ignoreSentAt: false }
    const { warnings } = eventTime(sent, Date.parse(now) * 1000, { eventUuid: 'u', eventName: 'e' })
    expect(warnings).toEqual([
      {
        type: 'event_timestamp_in_future',
        details: {
          timestamp: '2021-10-29T02:30:00Z',
          sentAt: '2021-10-28T01:00:00.000Z',
          offset: '',
          now,
          result: '2021-10-31T02:30:00.000Z',
          eventUuid: 'u',
          eventName: 'e',
        },
      },
    ])
  })
})
