import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { readCapture } from '../../../src/doors/http/capture/events.ts'
import { encodeFrame } from '../../../src/engine/storage/log/frame.ts'
import { type BatchFacts, type DecodedBatch, decodeInTurns, readPayloads } from '../../../src/events/ingestion/decoding/decode-batch.ts'

// A request takes at most twenty times its size in the log and in memory, whatever is copied into each event or within one.

const most = 20
const receivedAt = Date.parse('2026-01-15T12:00:00Z')
let uuids = 0
const receipt = {
  receivedAt,
  anonymizeIps: false,
  newUuid: () => `01900000-0000-7000-8000-${(uuids++).toString(16).padStart(12, '0')}`,
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const inUse = async () => {
  // Twice: some memory is freed only after the objects that refer to it.
  collect()
  await setImmediate()
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

interface Sent {
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly fields?: object
  readonly events: number
  readonly event: object
}
const long = (characters: number) => 'x'.repeat(characters)
const tiny = { event: 'e', distinct_id: 'd' }
const having = (properties: object, rest: object = {}): object => ({ ...tiny, ...rest, properties })
const cases: Readonly<Record<string, Sent>> = {
  'events with nothing': { events: 10_000, event: tiny },
  'a long sent_at of the request': { fields: { sent_at: long(100_000) }, events: 10_000, event: tiny },
  'a sent_at that can be read': { fields: { sent_at: '2026-01-15T12:00:00.000Z' }, events: 10_000, event: tiny },
  'a long address': { headers: { 'x-forwarded-for': long(30_000) }, events: 10_000, event: tiny },
  'a long list of addresses': { headers: { 'x-forwarded-for': `1.2.3.4, ${long(30_000)}` }, events: 10_000, event: tiny },
  'the longest address': { headers: { 'x-forwarded-for': 'abcd:abcd:abcd:abcd:abcd:abcd:255.255.255.255' }, events: 10_000, event: tiny },
  'long fields beside the events': { fields: { library: long(100_000), sentAt: long(100_000) }, events: 10_000, event: tiny },
  'a long time': { events: 101, event: { ...tiny, timestamp: long(10_000), offset: long(10_000), sent_at: long(10_000) } },
  'a time far ahead': { events: 10_000, event: { ...tiny, timestamp: '2999-01-01' } },
  'a time that cannot be read': { events: 10_000, event: { ...tiny, timestamp: 'x' } },
  'a long name and id': { events: 101, event: { event: long(10_000), distinct_id: long(10_000) } },
  'an id that is a list': { events: 101, event: { event: 'e', distinct_id: [long(10_000)] } },
  'an id among the properties': { events: 101, event: { event: 'e', properties: { distinct_id: long(10_000) } } },
  'long ids of others': {
    events: 101,
    event: having({ alias: long(10_000), $anon_distinct_id: long(10_000) }, { event: '$create_alias' }),
  },
  'groups with long types and keys': { events: 101, event: having({ $groups: { [long(10_000)]: long(10_000) } }) },
  'many groups': { events: 3, event: having({ $groups: Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`t${i}`, i])) }) },
  'a group of its own': {
    events: 101,
    event: having({ $group_type: long(5_000), $group_key: long(5_000), $group_set: { a: long(10_000) } }, { event: '$groupidentify' }),
  },
  'what it says of the person': {
    events: 101,
    event: having({ $set: { a: long(5_000) }, $set_once: { b: long(5_000) } }, { $set: { c: long(5_000) }, $set_once: { d: long(5_000) } }),
  },
  'what is removed': { events: 3, event: having({ $unset: Array.from({ length: 50_000 }, (_, i) => `k${i}`) }) },
  'facts of a visit': { events: 101, event: having({ $current_url: long(5_000), $referrer: long(5_000), utm_source: long(5_000) }) },
  'facts of a visit that grow as text': { events: 10, event: having({ $current_url: new Array(20_000).fill('1e20') }) },
  'facts of a visit that are not text': { events: 10, event: having({ $current_url: new Array(50_000).fill([]) }) },
  'elements with quotes': {
    events: 50,
    event: having({
      $elements: [{ tag_name: 'a', attr__href: '"'.repeat(5_000), attr__class: '"'.repeat(5_000), $el_text: '"'.repeat(5_000) }],
    }),
  },
  'many elements': { events: 3, event: having({ $elements: Array.from({ length: 5_000 }, () => ({ attr__href: 'a', attr__id: 'b' })) }) },
  'addresses of its own': { events: 101, event: having({ $ip: long(10_000) }, { ip: long(10_000) }) },
  'sessions with long names': { events: 101, event: having({ $session_id: long(10_000), $window_id: [long(10_000)] }) },
  'what says nothing of its person': { events: 101, event: having({ $process_person_profile: long(10_000) }) },
  'a long key': { events: 10, event: having({ [long(100_000)]: 1 }) },
  'many keys': { events: 3, event: having(Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, i]))) },
  'numbers that grow as text': { events: 10, event: having({ a: new Array(20_000).fill('1e20') }) },
  'many small lists': { events: 10, event: having({ a: new Array(100_000).fill([]) }) },
  'many empty objects': { events: 10, event: having({ $set: { a: new Array(50_000).fill({}) } }) },
  'a group of many empty objects': {
    events: 10,
    event: having({ $group_type: 't', $group_key: 'k', $group_set: { a: new Array(50_000).fill({}) } }, { event: '$groupidentify' }),
  },
  'many small objects': {
    events: 10,
    event: having({ $set: { a: Array.from({ length: 20_000 }, (_, i) => ({ [`k${i % 5_000}`]: 1 })) } }),
  },
  'an event that is too large': { events: 10, event: having({ a: long(1_500_000) }) },
}

const decoded = async ({ query = '', headers = {}, fields = {}, events, event }: Sent) => {
  // 1e20 is a number here, and a longer one as JSON.
  const one = JSON.stringify(event).replaceAll('"1e20"', '1e20')
  const head = JSON.stringify({ api_key: 'phc_x', ...fields }).slice(0, -1)
  const body = Buffer.from(`${head},"batch":[${new Array(events).fill(one).join(',')}]}`)
  const request = { method: 'POST', query: new URLSearchParams(query), headers: new Headers(headers), body, limit: 20 * 1024 * 1024 }
  const sent = body.length + Object.values(headers).join('').length
  const capture = await readCapture(request, new Date(receivedAt), { isEngage: false, address: null })
  const facts: BatchFacts = { sentAt: capture.sentAt, ip: capture.ip }
  return { sent, batch: await decodeInTurns(capture.events, { ...receipt, ip: capture.ip }, facts) }
}
const loggedBytes = ({ uuids, payloads, sentAt, isHistorical }: DecodedBatch) =>
  encodeFrame({ kind: 'event', receivedAt, sentAt, historical: isHistorical, ip: null, uuids, payloads }, 1, 1).length

/** Releases the buffer of the last batch. */
const settle = () => decoded({ events: 101, event: tiny })

test.each(Object.keys(cases))('%s', async (name) => {
  await settle()
  const before = await inUse()
  const { sent, batch } = await decoded(cases[name]!)
  await settle()
  const memory = (await inUse()) - before
  const times = {
    log: loggedBytes(batch) / sent,
    memory: memory / sent,
    warnings: JSON.stringify(batch.events.map((e) => e.warnings)).length / sent,
  }
  for (const [what, found] of Object.entries(times)) expect([what, Math.min(found, most)]).toEqual([what, found])
  // Reading it from the log again does not take more.
  const again = readPayloads(batch.payloads, batch.uuids, { receivedAt, sentAt: batch.sentAt })
  expect(again.payloads.byteLength).toBeLessThanOrEqual(batch.payloads.byteLength)
})
