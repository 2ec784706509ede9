import { expect, test } from 'vitest'
import type { CaptureRequest } from '../../../../src/doors/http/capture/body.ts'
import { readOtlp } from '../../../../src/doors/http/capture/otlp.ts'
import { CaptureRefusal } from '../../../../src/doors/http/capture/refusal.ts'
import { readSegment } from '../../../../src/doors/http/capture/segment.ts'

// What becomes of calls of Segment's clients, and of logs of OpenTelemetry.

const basic = { authorization: `Basic ${Buffer.from('phc_x:').toString('base64')}` }
const request = (body: unknown, headers: Record<string, string> = basic): CaptureRequest => ({
  method: 'POST',
  query: new URLSearchParams(),
  headers: new Headers(headers),
  limit: 2_000_000,
  body: new TextEncoder().encode(JSON.stringify(body)),
})
const segment = async (path: string, body: unknown, headers?: Record<string, string>) => {
  const capture = await readSegment(request(body, headers), `/v1/${path}`, '10.0.0.9')
  return { ...capture, events: [...capture.events] }
}

const slowAddress = `http://a${'\u0315'.repeat(300_000)}${'\u0300'.repeat(300_000)}/`
const at = '2026-01-02T03:04:05.000Z'
const cases: readonly (readonly [string, string, object, object])[] = [
  [
    'a track call',
    'track',
    {
      userId: 'u',
      anonymousId: 'a',
      event: 'Order Completed',
      properties: { revenue: 12.5 },
      timestamp: at,
      context: { page: { url: 'https://x.test/a?b' }, ip: '1.2.3.4' },
    },
    {
      event: 'Order Completed',
      distinct_id: 'u',
      timestamp: at,
      properties: { revenue: 12.5, $current_url: 'https://x.test/a?b', $host: 'x.test', $ip: '1.2.3.4' },
    },
  ],
  [
    'an address whose host would take minutes to parse',
    'track',
    { userId: 'u', event: 'e', context: { page: { url: slowAddress } } },
    { event: 'e', distinct_id: 'u', properties: { $current_url: slowAddress } },
  ],
  ['a track call of a visitor', 'track', { anonymousId: 'a', event: 'e' }, { event: 'e', distinct_id: 'a', properties: {} }],
  ['numbers as ids', 'track', { userId: 7, event: 'e' }, { event: 'e', distinct_id: '7', properties: {} }],
  [
    'traits in the context',
    'track',
    { userId: 'u', event: 'e', context: { traits: { plan: 'pro' } } },
    { event: 'e', distinct_id: 'u', properties: { $set: { plan: 'pro' } } },
  ],
  [
    'a group in the context',
    'track',
    { userId: 'u', event: 'e', context: { groupId: 'acme' } },
    { event: 'e', distinct_id: 'u', properties: { $groups: { group: 'acme' } } },
  ],
  [
    'identify joins the visitor to the user',
    'identify',
    { userId: 'u', anonymousId: 'a', traits: { email: 'u@x.test' } },
    { event: '$identify', distinct_id: 'u', properties: { $anon_distinct_id: 'a', $set: { email: 'u@x.test' } } },
  ],
  [
    'identify without a user',
    'identify',
    { anonymousId: 'a', traits: { color: 'red' } },
    { event: '$set', distinct_id: 'a', properties: { $set: { color: 'red' } } },
  ],
  [
    'a page',
    'page',
    {
      anonymousId: 'a',
      name: 'Home',
      category: 'Site',
      properties: { url: 'https://x.test/', path: '/', referrer: 'https://y.test/', title: 'X' },
    },
    {
      event: '$pageview',
      distinct_id: 'a',
      properties: {
        $current_url: 'https://x.test/',
        $pathname: '/',
        $referrer: 'https://y.test/',
        url: 'https://x.test/',
        path: '/',
        referrer: 'https://y.test/',
        title: 'X',
        name: 'Home',
        category: 'Site',
      },
    },
  ],
  ['a screen', 'screen', { userId: 'u', name: 'Start' }, { event: '$screen', distinct_id: 'u', properties: { $screen_name: 'Start' } }],
  [
    'a group',
    'group',
    { userId: 'u', groupId: 'acme', traits: { size: 40, group_type: 'company' } },
    {
      event: '$groupidentify',
      distinct_id: 'u',
      properties: { $group_type: 'company', $group_key: 'acme', $group_set: { size: 40 }, $groups: { company: 'acme' } },
    },
  ],
  ['an alias', 'alias', { userId: 'u', previousId: 'old' }, { event: '$create_alias', distinct_id: 'u', properties: { alias: 'old' } }],
  [
    'what clients say about where they run',
    'track',
    {
      userId: 'u',
      event: 'e',
      context: {
        app: { name: 'A', version: '2' },
        os: { name: 'iOS', version: '17' },
        device: { model: 'P', type: 'phone' },
        library: { name: 'l', version: '1' },
        campaign: { name: 'c', source: 's' },
        locale: 'de',
        screen: { width: 1, height: 2 },
        timezone: 'UTC',
        userAgent: 'UA',
      },
    },
    {
      event: 'e',
      distinct_id: 'u',
      properties: {
        $app_name: 'A',
        $app_version: '2',
        $os: 'iOS',
        $os_version: '17',
        $device_model: 'P',
        $device_type: 'phone',
        $lib: 'l',
        $lib_version: '1',
        utm_campaign: 'c',
        utm_source: 's',
        $locale: 'de',
        $screen_width: 1,
        $screen_height: 2,
        $timezone: 'UTC',
        $raw_user_agent: 'UA',
      },
    },
  ],
]
test.each(cases)('%s', async (_, path, call, event) => {
  const alone = await segment(path, { ...call, sentAt: at })
  expect([alone.token, alone.sentAt, alone.events]).toEqual(['phc_x', at, [event]])
  const inBatch = await segment('batch', { batch: [{ type: path, ...call }], sentAt: at })
  expect([inBatch.sentAt, inBatch.events]).toEqual([at, [event]])
})

test('a message that is sent again is the same event; ids that are none of ours become one', async () => {
  const message = async (messageId: string) => (await segment('track', { userId: 'u', event: 'e', messageId })).events[0]!.uuid
  expect(await message('node-1-x')).toBe(await message('node-1-x'))
  expect(await message('node-1-x')).not.toBe(await message('node-1-y'))
  expect(await message('01234567-89ab-4def-8123-456789abcdef')).toBe('01234567-89ab-4def-8123-456789abcdef')
})

test('the context of a batch is that of its calls; the key may be a field', async () => {
  const { token, events } = await segment(
    'batch',
    { writeKey: 'phc_y', context: { ip: '1.2.3.4' }, batch: [{ type: 'track', userId: 'u', event: 'e' }] },
    {},
  )
  expect([token, events[0]?.properties]).toEqual(['phc_y', { $ip: '1.2.3.4' }])
})

test.each<[string, string, unknown, RegExp]>([
  ['nobody', 'track', { event: 'e' }, /needs a userId or an anonymousId/],
  ['no event', 'track', { userId: 'u' }, /needs an event/],
  ['no type', 'batch', { batch: [{ userId: 'u' }] }, /must be one of track, identify/],
  ['no list', 'batch', { userId: 'u' }, /needs a list of calls/],
  ['an empty list', 'batch', { batch: [] }, /no events/],
  ['a text in the list', 'batch', { batch: ['x'] }, /must be an object/],
  ['a group without an id', 'group', { userId: 'u' }, /needs a groupId/],
  ['an alias of nobody', 'alias', { userId: 'u' }, /needs a previousId/],
])('refused: %s', async (_, path, body, why) => {
  await expect(segment(path, body)).rejects.toThrow(CaptureRefusal)
  await expect(segment(path, body)).rejects.toThrow(why)
})

const bearer = { authorization: 'Bearer phc_x', 'content-type': 'application/json' }
const logs = async (records: readonly object[], resource: readonly object[] = []) => {
  const body = { resourceLogs: [{ resource: { attributes: resource }, scopeLogs: [{ scope: { name: 'shop' }, logRecords: records }] }] }
  const capture = await readOtlp(request(body, bearer), null)
  return { ...capture, events: [...capture.events] }
}
const text = (key: string, stringValue: string) => ({ key, value: { stringValue } })

test('a record of OpenTelemetry: attributes, time to the microsecond, values of every kind', async () => {
  const record = {
    timeUnixNano: '1767323045123456789',
    severityText: 'INFO',
    eventName: 'order.paid',
    body: { kvlistValue: { values: [text('sku', 'a'), { key: 'n', value: { intValue: '3' } }] } },
    traceId: 'abc',
    attributes: [
      text('user.id', 'u'),
      { key: 'price', value: { doubleValue: 12.5 } },
      { key: 'large', value: { intValue: '9223372036854775807' } },
      { key: 'list', value: { arrayValue: { values: [{ boolValue: true }] } } },
    ],
  }
  const { token, events } = await logs([record], [text('service.name', 'api')])
  const { uuid, ...event } = events[0]!
  expect([token, event]).toEqual([
    'phc_x',
    {
      event: 'order.paid',
      distinct_id: 'u',
      timestamp: '2026-01-02T03:04:05.123456Z',
      properties: {
        'service.name': 'api',
        'user.id': 'u',
        price: 12.5,
        large: '9223372036854775807',
        list: [true],
        body: { sku: 'a', n: 3 },
        $severity: 'INFO',
        $trace_id: 'abc',
        $scope: 'shop',
        $lib: 'otlp',
      },
    },
  ])
  expect((await logs([record], [text('service.name', 'api')])).events[0]!.uuid).toBe(uuid)
  expect((await logs([record, record])).events.map((one) => one.uuid).every((one, i, all) => all.indexOf(one) === i)).toBe(true)
})

test('a record of nobody makes no person', async () => {
  const { events } = await logs([{ body: { stringValue: 'started' } }], [text('service.name', 'api')])
  expect(events[0]).toMatchObject({ event: '$log', distinct_id: 'api', properties: { body: 'started', $process_person_profile: false } })
})

test.each<[string, unknown, Record<string, string>, RegExp]>([
  ['protobuf', {}, { ...bearer, 'content-type': 'application/x-protobuf' }, /http\/json/],
  ['no list', {}, bearer, /resourceLogs/],
  ['an empty list', { resourceLogs: [] }, bearer, /no logs/],
  ['no key', { resourceLogs: [{ scopeLogs: [{ logRecords: [{}] }] }] }, {}, /API key not provided/],
])('refused: %s', async (_, body, headers, why) => {
  await expect(readOtlp(request(body, headers), null)).rejects.toThrow(why)
})

test('what is said once for many events does not make a small body a large one', async () => {
  const attributes = Array.from({ length: 20_000 }, (_, i) => text(`k${i}`, 'x'))
  await expect(
    logs(
      Array.from({ length: 5_000 }, () => ({})),
      attributes,
    ),
  ).rejects.toThrow(/Send smaller batches/)
  const resource = { attributes: [text('k', 'x'.repeat(4_000))] }
  const resourceLogs = Array.from({ length: 30 }, () => ({
    resource,
    scopeLogs: [{ logRecords: Array.from({ length: 500 }, () => ({})) }],
  }))
  await expect(readOtlp(request({ resourceLogs }, bearer), null)).rejects.toThrow(/Send smaller batches/)
  const context = { traits: { text: 'x'.repeat(10_000) } }
  const batch = Array.from({ length: 1_000 }, () => ({ type: 'track', userId: 'u', event: 'e' }))
  await expect(segment('batch', { context, batch })).rejects.toThrow(/Send smaller batches/)
  expect((await segment('batch', { context, batch: batch.slice(0, 100) })).events).toHaveLength(100)
})
