import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { type CaptureRequest, compressionNamed } from '../../../../src/doors/http/capture/body.ts'
import { readCapture } from '../../../../src/doors/http/capture/events.ts'
import { CaptureRefusal } from '../../../../src/doors/http/capture/refusal.ts'
import { decodeInTurns } from '../../../../src/events/ingestion/decoding/decode-batch.ts'
import { event, form, forms, formType, json } from './forms.ts'

const now = new Date('2026-01-02T03:04:05Z')
type Made = Partial<Omit<CaptureRequest, 'body'>> & { body?: string | Uint8Array }
const request = ({ body = '', ...rest }: Made): CaptureRequest => ({
  method: 'POST',
  query: new URLSearchParams(),
  headers: new Headers(),
  limit: 2_000_000,
  ...rest,
  body: typeof body === 'string' ? new TextEncoder().encode(body) : body,
})
const read = async (made: Made, isEngage = false) => {
  const capture = await readCapture(request(made), now, { isEngage, address: '10.0.0.9' })
  return { ...capture, events: [...capture.events] }
}
const asForm = new Headers(formType)

describe('every form of body carries the same event', () => {
  test.each(Object.entries(forms))('%s', async (_, { query, headers, ...made }) => {
    const capture = await read({ ...made, query: new URLSearchParams(query), headers: new Headers(headers) })
    expect(capture.token).toBe('phc_x')
    expect(capture.events).toEqual([{ event: 'paid', distinct_id: 'ü+1', properties: { sum: 3 } }])
  })
})

describe('who and whose', () => {
  const batch = (fields: object, ...events: object[]) => ({ body: JSON.stringify({ ...fields, batch: events }) })
  test.each<[string, object, string]>([
    ['top level', { distinct_id: 'a', properties: { distinct_id: 'b' } }, 'a'],
    ['with a dollar', { $distinct_id: 'a' }, 'a'],
    ['in the properties', { properties: { distinct_id: 'b' } }, 'b'],
    ['null at the top, set in the properties', { distinct_id: null, properties: { distinct_id: 'b' } }, 'b'],
    ['an integer', { distinct_id: 23 }, '23'],
    ['a float', { distinct_id: 23.4 }, '23.4'],
    ['zero', { distinct_id: 0 }, '0'],
    ['a list', { distinct_id: ['a', 'b'] }, '["a","b"]'],
    ['an object, keys in order', { distinct_id: { string: 'a', number: 3 } }, '{"number":3,"string":"a"}'],
    ['too long: ingestion cuts it and says so', { distinct_id: 'x'.repeat(250) }, 'x'.repeat(250)],
  ])('distinct id: %s', async (_, fields, expected) => {
    const { events } = await read({ body: JSON.stringify({ event: 'e', token: 't', ...fields }) })
    expect(events[0]?.distinct_id).toBe(expected)
  })

  test.each<[string, Made, string]>([
    ['the batch wins over its events', batch({ api_key: 'a' }, { ...event, token: 'b' }), 'a'],
    ['token as the name in a batch', batch({ token: 'a' }, { event: 'e', distinct_id: 'd' }), 'a'],
    ['in the properties', { body: JSON.stringify({ event: 'e', distinct_id: 'd', properties: { token: 'p' } }) }, 'p'],
    ['in the form', { body: form({ data: '{"event":"e","distinct_id":"d"}', api_key: 'f' }), headers: asForm }, 'f'],
    ['in the query', { body: '{"event":"e","distinct_id":"d"}', query: new URLSearchParams('token=q') }, 'q'],
  ])('token: %s', async (_, made, expected) => {
    expect((await read(made)).token).toBe(expected)
  })

  test('an event without a name on the engage path is an $identify', async () => {
    const { events } = await read({ body: '{"token":"t","distinct_id":"d","$set":{"a":1}}' }, true)
    expect(events[0]).toMatchObject({ event: '$identify', $set: { a: 1 } })
  })

  test('performance events are dropped quietly', async () => {
    const { events } = await read(
      batch({ api_key: 'a' }, { event: '$performance_event', distinct_id: 'd' }, { event: '$$heatmap', distinct_id: 'd' }, event),
    )
    expect(events.map((e) => e.event)).toEqual(['paid'])
  })

  test.each<[string, Made, string | null]>([
    ['query in milliseconds', { body: json, query: new URLSearchParams('_=1767323045123') }, '2026-01-02T03:04:05.123Z'],
    ['query in seconds is not looked at', { body: json, query: new URLSearchParams('_=1767323045') }, null],
    ['body', batch({ api_key: 'a', sent_at: '2026-01-01T00:00:00Z' }, event), '2026-01-01T00:00:00Z'],
    ['body, the other spelling', batch({ api_key: 'a', sentAt: '2026-01-01T00:00:00Z' }, event), '2026-01-01T00:00:00Z'],
    ['form', { body: form({ data: json, sent_at: '2026-01-01' }), headers: asForm }, '2026-01-01'],
    [
      'query before body',
      { body: JSON.stringify({ ...event, sent_at: '2026-01-01' }), query: new URLSearchParams('_=1767323045123') },
      '2026-01-02T03:04:05.123Z',
    ],
    ['nowhere', { body: json }, null],
  ])('sent_at: %s', async (_, made, expected) => {
    expect((await read(made)).sentAt).toBe(expected)
  })

  test('when the request says when it was sent, its events do not say it again', async () => {
    const [one] = (await read(batch({ api_key: 'a', sent_at: '2026-01-01' }, { ...event, sent_at: '2020-01-01' }))).events
    expect(one).not.toHaveProperty('sent_at')
    const [two] = (await read(batch({ api_key: 'a' }, { ...event, sent_at: '2020-01-01' }))).events
    expect(two).toHaveProperty('sent_at', '2020-01-01')
  })

  test.each([
    ['1.2.3.4', '1.2.3.4'],
    ['1.2.3.4:5678', '1.2.3.4'],
    ['1.2.3.4, 10.0.0.1', '1.2.3.4'],
    ['2345:0425:2CA1:0000:0000:0567:5673:23b5', '2345:0425:2CA1:0000:0000:0567:5673:23b5'],
    ['[2345:0425::1]:80', '2345:0425::1'],
    ['', '10.0.0.9'],
  ])('address from X-Forwarded-For %j', async (header, expected) => {
    expect((await read({ body: json, headers: new Headers({ 'x-forwarded-for': header }) })).ip).toBe(expected)
  })

  test.each([
    ['JSON', json],
    ['base64', Buffer.from(json).toString('base64')],
  ])('a body that is said to be gzip and is %s is read as what it is', async (_, body) => {
    for (const hint of [{ headers: new Headers({ 'content-encoding': 'gzip' }) }, { query: new URLSearchParams('compression=gzip-js') }])
      expect((await read({ body, ...hint })).events).toHaveLength(1)
    expect((await read({ body, query: new URLSearchParams('compression=zip') })).events).toHaveLength(1)
  })

  test('NaN and Infinity are read as null, but not inside texts', async () => {
    const { events } = await read({
      body: '{"event":"e","distinct_id":"d","token":"t","properties":{"a":NaN,"b":-Infinity,"c":"NaN, \\" Infinity"}}',
    })
    expect(events[0]?.properties).toEqual({ a: null, b: null, c: 'NaN, " Infinity' })
  })
})

describe('what is refused', () => {
  const one = (fields: object) => ({ body: JSON.stringify({ event: 'e', distinct_id: 'd', token: 't', ...fields }) })
  test.each<[string, Made, number, string]>([
    ['nothing', { body: '' }, 400, 'no_data'],
    ['an empty query', { method: 'GET', query: new URLSearchParams('data=') }, 400, 'no_data'],
    ['an empty object', { body: '{}' }, 400, 'no_data'],
    ['an empty batch', { body: '{"api_key":"t","batch":[]}' }, 400, 'no_data'],
    ['no JSON', { body: '{"event":' }, 400, 'invalid_payload'],
    ['half a gzip', { body: gzipSync(json).subarray(0, 30) }, 400, 'invalid_payload'],
    ['a text', { body: '"hello"' }, 400, 'invalid_payload'],
    ['null', { body: 'null' }, 400, 'invalid_payload'],
    ['a number', { body: '5' }, 400, 'invalid_payload'],
    ['a batch that is a text', { body: '{"api_key":"t","batch":"[]"}' }, 400, 'invalid_payload'],
    ['an event that is a number', { body: '{"api_key":"t","batch":[1]}' }, 400, 'invalid_payload'],
    ['no name', one({ event: undefined }), 400, 'invalid_payload'],
    ['an empty name', one({ event: '' }), 400, 'invalid_payload'],
    ['no distinct id', one({ distinct_id: undefined }), 400, 'invalid_payload'],
    [
      'a distinct id nested too deep',
      { body: `{"api_key":"t","event":"e","distinct_id":${'['.repeat(9000)}${']'.repeat(9000)}}` },
      400,
      'invalid_payload',
    ],
    ['null as distinct id', one({ distinct_id: null }), 400, 'invalid_payload'],
    ['an empty distinct id', one({ distinct_id: '' }), 400, 'invalid_payload'],
    ['properties that are a list', one({ properties: [] }), 400, 'invalid_payload'],
    ['one bad event among good ones', { body: JSON.stringify({ api_key: 't', batch: [event, { event: 'x' }] }) }, 400, 'invalid_payload'],
    ['no token', one({ token: undefined }), 401, 'missing_api_key'],
    ['an empty token', one({ token: '' }), 401, 'empty'],
    ['a token of 65 characters', one({ token: 'x'.repeat(65) }), 401, 'too_long'],
    ['a token with an umlaut', one({ token: 'ü' }), 401, 'not_ascii'],
    ['a token that is a number', one({ token: 5 }), 401, 'not_string'],
    ['a personal key', one({ token: 'phx_hello' }), 401, 'personal_api_key'],
    ['two tokens', { body: JSON.stringify([event, { ...event, token: 'phc_y' }]) }, 401, 'multiple_tokens'],
    ['too many bytes', { body: json, limit: 10 }, 413, 'request_too_large'],
    ['too many bytes once unzipped', { body: gzipSync(`[${'0,'.repeat(5000)}`), limit: 1000 }, 413, 'request_too_large'],
  ])('%s', async (_, made, status, code) => {
    const refusal = await read(made).then(
      () => null,
      (error: unknown) => error,
    )
    expect(refusal).toBeInstanceOf(CaptureRefusal)
    expect([(refusal as CaptureRefusal).status, (refusal as CaptureRefusal).body.code]).toEqual([status, code])
  })
})

test.each([
  ['gzip', 'gzip'],
  ['GZIP-JS', 'gzip'],
  ['lz64', 'lz64'],
  ['lz-string', 'lz64'],
  ['b64', 'base64'],
  ['base64', 'base64'],
  ['zstd', null],
  [null, null],
])('compression %j is read as %j', (name, expected) => {
  expect(compressionNamed(name)).toBe(expected)
})

test('others have their turn while a large body is looked through and prepared', async () => {
  const sent = (i: number) => ({ event: 'large', distinct_id: `d${i % 100}`, properties: { text: 'x'.repeat(350), i } })
  const body = JSON.stringify({ api_key: 't', batch: Array.from({ length: 45_000 }, (_, i) => sent(i)) })
  const receipt = { receivedAt: now.getTime(), ip: null, anonymizeIps: false, newUuid: () => '0190a000-0000-7000-8000-000000000001' }
  let turns = 0
  let isGoing = true
  const count = () => {
    turns++
    if (isGoing) setImmediate(count)
  }
  setImmediate(count)
  const capture = await readCapture(request({ body, limit: 2e7 }), now, { isEngage: false, address: null })
  const { events } = await decodeInTurns(capture.events, receipt, {})
  isGoing = false
  expect([capture.events.count, events.length]).toEqual([45_000, 45_000])
  expect(turns).toBeGreaterThan(10) // one for every few milliseconds of work
})
