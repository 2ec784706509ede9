import { describe, expect, test } from 'vitest'
import { accessLogEvent } from '../../../src/events/imports/formats/access-log.ts'
import { createAmplitude } from '../../../src/events/imports/formats/amplitude.ts'
import { chooseColumns, fieldSource, mapped } from '../../../src/events/imports/formats/mapped.ts'
import { mixpanel } from '../../../src/events/imports/formats/mixpanel.ts'
import { posthog } from '../../../src/events/imports/formats/posthog.ts'
import { type Converted, timeOf } from '../../../src/events/imports/record.ts'

const t = '2026-01-05T10:00:00Z'
const amplitude = createAmplitude()
type Case = [why: string, converted: Converted, expected: unknown]

describe('rows become events', () => {
  const plain = mapped(chooseColumns({}, ['user_id', 'event', 'time', 'price']))
  const cases: Case[] = [
    [
      'an export with properties as text',
      posthog({ uuid: 'u', event: 'paid', distinct_id: 'a', timestamp: t, properties: '{"x":1}', elements_chain: 'a:href="/"' }),
      [{ uuid: 'u', event: 'paid', distinct_id: 'a', timestamp: t, properties: { x: 1, $elements_chain: 'a:href="/"' } }],
    ],
    [
      'an export with what the event set on the person',
      posthog({ event: 'paid', distinct_id: 5, timestamp: t, properties: {}, set: { plan: 'pro' }, set_once: '{"first":1}' }),
      [{ event: 'paid', distinct_id: '5', timestamp: t, properties: {}, $set: { plan: 'pro' }, $set_once: { first: 1 } }],
    ],
    ['an export without a distinct id', posthog({ event: 'paid', timestamp: t }), { problem: 'no distinct_id' }],
    [
      'seconds, insert id and renamed properties',
      mixpanel({
        event: '$mp_web_page_view',
        properties: { time: 1767607200, distinct_id: 'a', $insert_id: 'i', mp_lib: 'web', $current_url: '/' },
      }),
      [
        {
          event: '$pageview',
          distinct_id: 'a',
          timestamp: '2026-01-05T10:00:00.000Z',
          properties: { $lib: 'web', $current_url: '/' },
          source_id: '$mp_web_page_view\na\n2026-01-05T10:00:00.000Z\ni',
        },
      ],
    ],
    ['no time', mixpanel({ event: 'x', properties: { distinct_id: 'a' } }), { problem: 'unreadable time: undefined' }],
    [
      'a device alone',
      amplitude({
        event_type: 'open',
        device_id: 'd',
        event_time: '2026-01-05 10:00:00.250000',
        uuid: 'id',
        event_properties: { a: 1 },
        os_name: 'ios',
      }),
      [
        {
          event: 'open',
          distinct_id: 'd',
          timestamp: '2026-01-05T10:00:00.250000Z',
          properties: { $os: 'ios', $device_id: 'd', a: 1 },
          source_id: 'id',
        },
      ],
    ],
    ['no kind', amplitude({ user_id: 'u' }), { problem: 'no event_type' }],
    [
      'usual column names are found',
      plain({ user_id: 7, event: 'buy', time: '2026-01-05 10:00:00', price: '3' }),
      [{ event: 'buy', distinct_id: '7', timestamp: '2026-01-05T10:00:00Z', properties: { price: '3' } }],
    ],
    [
      'a mapping with a constant',
      mapped(chooseColumns({ event: fieldSource('=edit'), distinct_id: fieldSource('user') }, ['user', 'time', 'page']))({
        user: 'x',
        time: t,
        page: 'P',
      }),
      [{ event: 'edit', distinct_id: 'x', timestamp: t, properties: { page: 'P' } }],
    ],
    [
      'a combined log line',
      accessLogEvent('1.2.3.4 - - [17/May/2015:10:05:03 +0200] "GET /a?b=1 HTTP/1.1" 200 12 "http://r.example/x" "Mozilla \\"x\\""'),
      [
        {
          event: '$pageview',
          distinct_id: '1.2.3.4',
          timestamp: '2015-05-17T10:05:03+02:00',
          properties: {
            $ip: '1.2.3.4',
            $current_url: '/a?b=1',
            $pathname: '/a',
            method: 'GET',
            protocol: 'HTTP/1.1',
            status: 200,
            bytes: 12,
            $referrer: 'http://r.example/x',
            $referring_domain: 'r.example',
            $raw_user_agent: 'Mozilla "x"',
          },
        },
      ],
    ],
    ['a line of something else', accessLogEvent('hello'), { problem: 'not a line of an access log' }],
  ]
  test.each(cases)('%s', (_, converted, expected) => {
    expect(converted).toEqual(expected)
  })

  test('a known user brings the device along', () => {
    const events = amplitude({ event_type: 'open', user_id: 'u', device_id: 'd', event_time: t }) as readonly {
      event: string
      properties: object
    }[]
    expect(events.map((e) => e.event)).toEqual(['$identify', 'open'])
    expect(events[0]?.properties).toEqual({ $anon_distinct_id: 'd' })
    const again = amplitude({ event_type: 'close', user_id: 'u', device_id: 'd', event_time: t }) as typeof events
    expect(again.map((e) => e.event)).toEqual(['close'])
  })

  test('a plain file without the needed columns says which are missing and which are there', () => {
    expect(() => mapped(chooseColumns({}, ['a', 'b']))).toThrow(/no column for event; use --map event=COLUMN .* The columns are a, b/)
    expect(() => mapped(chooseColumns({ event: fieldSource('c') }, ['a', 'b']))).toThrow(
      'there is no column c for event; the columns are a, b',
    )
  })
})

test.each<[unknown, string | null]>([
  ['2026-01-05T10:00:00+01:00', '2026-01-05T10:00:00+01:00'],
  ['2026-01-05 10:00:00.5', '2026-01-05T10:00:00.5Z'],
  [1767607200, '2026-01-05T10:00:00.000Z'],
  [1767607200500, '2026-01-05T10:00:00.500Z'],
  ['1767607200', '2026-01-05T10:00:00.000Z'],
  [new Date(t), '2026-01-05T10:00:00.000Z'],
  ['yesterday', null],
  [null, null],
  [Number.NaN, null],
])('the time %j is %j', (given, expected) => {
  expect(timeOf(given)).toBe(expected)
})
