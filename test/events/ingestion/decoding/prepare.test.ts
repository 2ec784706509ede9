import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { WaymarkError } from '../../../../src/errors/errors.ts'
import { decodeBatch, readPayloads } from '../../../../src/events/ingestion/decoding/decode-batch.ts'
import type { PreparedEvent, Receipt } from '../../../../src/events/ingestion/decoding/prepare.ts'
import type { WarningType } from '../../../../src/events/ingestion/warnings.ts'
import type { Texts } from '../../../../src/lib/text/texts.ts'
import { assertGenerated } from '../../../harness/assert-generated.ts'

const receipt: Omit<Receipt, 'sentAt'> = {
  receivedAt: Date.parse('2026-01-15T12:00:00Z'),
  ip: null,
  anonymizeIps: false,
  newUuid: () => '01900000-0000-7000-8000-000000000000',
}
type WithText = Omit<PreparedEvent, 'shape' | 'propertiesFrom' | 'propertiesTo'> & { readonly properties: string; readonly shape: object }

const withText = ({ events, payloads }: { events: readonly PreparedEvent[]; payloads: Texts }): WithText => {
  const { shape, propertiesFrom, propertiesTo, ...event } = events[0]!
  return { ...event, shape: shape.parts(), properties: Buffer.from(payloads.bytes.subarray(propertiesFrom, propertiesTo)).toString() }
}
const one = (event: object, more: Partial<Receipt> = {}): WithText =>
  withText(decodeBatch({ batch: [{ event: 'e', distinct_id: 'd', ...event }] }, { ...receipt, ...more }, { sentAt: more.sentAt }))
const propertiesOf = (event: WithText) => JSON.parse(event.properties) as Record<string, unknown>
const warned = (...types: readonly WarningType[]): Pick<WithText, 'warnings'> => ({
  warnings: types.map((type) => expect.objectContaining({ type })),
})
const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) })

describe('accepted', () => {
  test.each<[string, object, Partial<WithText>]>([
    ['a name that is an object', { event: { 'event name': 'as object' } }, { name: '{"event name":"as object"}' }],
    ['a name that is a number', { event: 5 }, { name: '5' }],
    ['a long name, cut', { event: 'é'.repeat(300) }, { name: 'é'.repeat(200), ...warned('text_too_long') }],
    ['a long name of pairs, cut between them', { event: '😀'.repeat(300) }, { name: '😀'.repeat(200), ...warned('text_too_long') }],
    ['a distinct id that is a number', { distinct_id: 42 }, { distinctId: '42' }],
    ['a distinct id that is 0', { distinct_id: 0 }, { distinctId: '0' }],
    ['a distinct id that is an array', { distinct_id: [1, 'a'] }, { distinctId: '[1,"a"]' }],
    ['a distinct id that is true', { distinct_id: true }, { distinctId: 'true' }],
    ['a distinct id of 300 characters, cut', { distinct_id: 'x'.repeat(300) }, { distinctId: 'x'.repeat(200), ...warned('text_too_long') }],
    ['a distinct id with NUL', { distinct_id: 'a\0b' }, { distinctId: 'a\uFFFDb' }],
    ['a distinct id with half a pair', { distinct_id: 'a\uD800b' }, { distinctId: 'a\uFFFDb' }],
    ['a distinct id in $distinct_id', { distinct_id: undefined, $distinct_id: 'x' }, { distinctId: 'x' }],
    ['a distinct id in the properties', { distinct_id: undefined, properties: { distinct_id: 'x' } }, { distinctId: 'x' }],
    ['the outer distinct id of two', { distinct_id: 'x', properties: { distinct_id: 'y' } }, { distinctId: 'x' }],
    ['a uuid in capitals', { uuid: '018A0000-0000-7000-8000-00000000000F' }, { uuid: '018a0000-0000-7000-8000-00000000000f' }],
    ['an empty uuid, as none', { uuid: '' }, { uuid: '01900000-0000-7000-8000-000000000000' }],
    ['properties that are null', { properties: null }, { properties: '{}' }],
    ['properties that are an empty array, as some languages write {}', { properties: [] }, { properties: '{}' }],
    ['NUL inside of properties', { properties: { a: ['x\0'], 'k\0': 1 } }, { properties: '{"a":["x\uFFFD"],"k\uFFFD":1}' }],
    ['the letters \\u0000, which are no NUL', { properties: { a: '\\u0000' } }, { properties: '{"a":"\\\\u0000"}' }],
    ['halves of pairs', { properties: { a: '\uDC00x\uD83D' } }, { properties: '{"a":"\uFFFDx\uFFFD"}' }],
    ['numbers that JSON has no word for', { properties: { a: Number.NaN, b: 1 / 0 } }, { properties: '{"a":null,"b":null}' }],
    ['200 levels', { properties: deep(200) as object }, {}],
    ['the session and window', { properties: { $session_id: 's', $window_id: 7 } }, { sessionId: 's', windowId: '7' }],
    [
      'groups',
      { properties: { $groups: { company: 'acme', team: 5, none: null } } },
      {
        groups: [
          ['company', 'acme'],
          ['team', '5'],
        ],
      },
    ],
    ['an alias', { event: '$create_alias', properties: { alias: 12 } }, { mergeWith: '12' }],
    ['an anonymous id of $identify alone', { event: 'x', properties: { $anon_distinct_id: 'a' } }, { mergeWith: null }],
    [
      '$groupidentify',
      { event: '$groupidentify', properties: { $group_type: 't', $group_key: 'k', $group_set: { a: 1 } } },
      { group: { type: 't', key: 'k', set: { a: 1 } } },
    ],
    [
      '$group_identify',
      { event: '$group_identify', properties: { $group_type: 't', $group_key: 1 } },
      { group: { type: 't', key: '1', set: {} } },
    ],
    [
      '$groupidentify without a key, as an event',
      { event: '$groupidentify', properties: { $group_type: 't' } },
      { group: null, ...warned('invalid_groups') },
    ],
    ['$unset as a list', { properties: { $unset: ['a', 5, 'b'] } }, { unset: ['a', 'b'], ...warned('invalid_person_properties') }],
    ['$unset as an object', { properties: { $unset: { a: 1, b: null } } }, { unset: ['a', 'b'] }],
    ['$unset that is neither', { properties: { $unset: 'a' } }, { unset: null, ...warned('invalid_person_properties') }],
    [
      '$set that is no object',
      { properties: { $set: 'x', $set_once: [1] } },
      { set: null, setOnce: null, ...warned('invalid_person_properties', 'invalid_person_properties') },
    ],
    [
      'an own property __proto__',
      { properties: { $set: JSON.parse('{"__proto__":{"a":1},"b":2}') as object } },
      { properties: '{"$set":{"__proto__":{"a":1},"b":2}}' },
    ],
  ])('%s', (_, event, expected) => expect(one(event)).toMatchObject({ isDropped: false, warnings: [], ...expected }))

  test.each<[string, object, Partial<Receipt>, object]>([
    ['outer $set goes over the inner one', { $set: { a: 1 }, properties: { $set: { a: 0, b: 2 } } }, {}, { $set: { a: 1, b: 2 } }],
    ['outer $set_once goes over the inner one', { $set_once: { a: 1 }, properties: { $set_once: { a: 0 } } }, {}, { $set_once: { a: 1 } }],
    ['the address is kept', {}, { ip: '1.2.3.4' }, { $ip: '1.2.3.4' }],
    ['the sent address is kept before it', { properties: { $ip: '5.6.7.8' } }, { ip: '1.2.3.4' }, { $ip: '5.6.7.8' }],
    [
      'no address is kept when the project says so',
      { properties: { $ip: '5.6.7.8', a: 1 } },
      { ip: '1.2.3.4', anonymizeIps: true },
      { a: 1 },
    ],
    ['the time of sending is kept', {}, { sentAt: '2026-01-15T11:00:00Z' }, { $sent_at: '2026-01-15T11:00:00Z' }],
    [
      'what a visit says is copied to the person',
      { properties: { $browser: 'Firefox', utm_source: 'x', other: 1, $set: { $browser: 'mine' } } },
      {},
      {
        $browser: 'Firefox',
        utm_source: 'x',
        other: 1,
        $set: { $browser: 'mine', utm_source: 'x' },
        $set_once: { $initial_browser: 'Firefox', $initial_utm_source: 'x' },
      },
    ],
    ['but not from $snapshot', { event: '$snapshot', properties: { $browser: 'Firefox' } }, {}, { $browser: 'Firefox' }],
    [
      'a person-less event sets nothing',
      { $set: { a: 1 }, properties: { $process_person_profile: false, $browser: 'x', $set_once: { b: 1 }, $unset: ['c'] } },
      {},
      { $process_person_profile: false, $browser: 'x' },
    ],
    ['elements become a column', { properties: { $elements: [{ tag_name: 'a' }], a: 1 } }, {}, { a: 1 }],
  ])('%s', (_, event, more, properties) => expect(propertiesOf(one(event, more))).toEqual(properties))
})

test.each<[string, unknown[], string]>([
  [
    'text, classes and places',
    [{ tag_name: 'a', $el_text: 'Hi', attr__class: 'b a', attr__href: '/x', nth_child: 1, nth_of_type: 2 }],
    'a.a.b:attr__class="b a"attr__href="/x"href="/x"nth-child="1"nth-of-type="2"text="Hi"',
  ],
  ['quotes', [{ tag_name: 'b', $el_text: 'say "x"' }], 'b:text="say \\"x\\""'],
  ['ancestors', [{ tag_name: 'span' }, { tag_name: 'button', attr_id: 'go' }, 'no element'], 'span;button:attr_id="go"'],
  ['long text, cut', [{ tag_name: 'p', text: 'x'.repeat(500) }], `p:text="${'x'.repeat(400)}"`],
])('elements as a chain: %s', (_, $elements, chain) => expect(one({ properties: { $elements } }).elementsChain).toBe(chain))

test('a chain sent as text is kept', () => {
  const event = one({ properties: { $elements_chain: 'a:text="x"', b: 1 } })
  expect([event.elementsChain, event.properties]).toEqual(['a:text="x"', '{"b":1}'])
})

describe('dropped, or stored with a warning', () => {
  test.each<[string, object, boolean, string[]]>([
    ['$performance_event, quietly', { event: '$performance_event' }, true, []],
    ['a heat map, quietly', { event: '$$heatmap', properties: { $heatmap_data: { 'https://example.com/': [] } } }, true, []],
    ['an event over 1 MB', { properties: { a: 'x'.repeat(1_000_001) } }, true, ['message_size_too_large']],
    ['an event over 1 MB in bytes', { properties: { a: 'é'.repeat(600_000) } }, true, ['message_size_too_large']],
    ['a text of 10 MB', { properties: { a: 'x'.repeat(10_000_000) } }, true, ['message_size_too_large']],
    ['an event just under 1 MB', { properties: { a: 'x'.repeat(999_000) } }, false, []],
    [
      'an $identify without a person',
      { event: '$identify', properties: { $process_person_profile: false } },
      true,
      ['invalid_event_when_process_person_profile_is_false'],
    ],
    [
      'a $group_identify without a person',
      { event: '$group_identify', properties: { $process_person_profile: false } },
      true,
      ['invalid_event_when_process_person_profile_is_false'],
    ],
    [
      'a mark of person-less events that is text',
      { properties: { $process_person_profile: 'false' } },
      false,
      ['invalid_process_person_profile'],
    ],
    ['a time that cannot be read', { timestamp: 'x' }, false, ['ignored_invalid_timestamp']],
  ])('%s', (_, event, isDropped, warnings) => {
    const prepared = one(event)
    expect([prepared.isDropped, prepared.warnings.map(({ type }) => type)]).toEqual([isDropped, warnings])
  })
})

describe('errors that refuse the whole batch', () => {
  const circular: Record<string, unknown> = {}
  circular.self = circular
  test.each<[string, unknown, number | null, string | null]>([
    ['nothing', undefined, null, 'batch'],
    ['text', 'x', null, 'batch'],
    ['an object without events', {}, null, 'batch'],
    ['a batch that is no array', { batch: {} }, null, 'batch'],
    ['an event that is null', { batch: [null] }, 0, 'event'],
    ['an event that is an array', { batch: [{ event: 'e', distinct_id: 'd' }, []] }, 1, 'event'],
    ['no name', [{ distinct_id: 'd' }], 0, 'event'],
    ['an empty name', [{ event: '', distinct_id: 'd' }], 0, 'event'],
    ['a name that is null', [{ event: null, distinct_id: 'd' }], 0, 'event'],
    ['no distinct id', [{ event: 'e' }], 0, 'distinct_id'],
    ['an empty distinct id', [{ event: 'e', distinct_id: '' }], 0, 'distinct_id'],
    ['a distinct id that is null', [{ event: 'e', distinct_id: null }], 0, 'distinct_id'],
    ['a uuid that is none', [{ event: 'e', distinct_id: 'd', uuid: 'x' }], 0, 'uuid'],
    ['a uuid that is a number', [{ event: 'e', distinct_id: 'd', uuid: 5 }], 0, 'uuid'],
    ['properties that are text', [{ event: 'e', distinct_id: 'd', properties: 'x' }], 0, 'properties'],
    ['properties that are a list', [{ event: 'e', distinct_id: 'd', properties: [1] }], 0, 'properties'],
    ['$set that is text', [{ event: 'e', distinct_id: 'd', $set: 'x' }], 0, '$set'],
    ['a circle', [{ event: 'e', distinct_id: 'd', properties: circular }], 0, 'properties'],
    ['a circle as an id', [{ event: 'e', distinct_id: circular }], 0, 'event'],
    ['a big integer', [{ event: 'e', distinct_id: 'd', properties: { a: 1n } }], 0, 'properties'],
    ['201 levels', [{ event: 'e', distinct_id: 'd', properties: deep(201) }], 0, 'properties'],
    ['100,000 levels', [{ event: 'e', distinct_id: 'd', properties: deep(5000) }], 0, 'properties'],
  ])('%s', (_, body, index, attr) => {
    let error: unknown
    try {
      decodeBatch(body, receipt)
    } catch (caught) {
      error = caught
    }
    expect(error).toBeInstanceOf(WaymarkError)
    expect(error).toMatchObject({ code: 'bad-event', data: { index, attr } })
  })
})

test('later changes of objects of the caller have no effect', () => {
  const set = { a: 1, list: [1] }
  const event = one({ properties: { $set: set } })
  set.a = 2
  set.list.push(2)
  expect(event.set).toEqual({ a: 1, list: [1] })
})

test('preparing the stored event again gives the same event', () => {
  const key = fc.constantFrom(
    'a',
    '$set',
    '$set_once',
    '$unset',
    '$ip',
    '$browser',
    '$groups',
    '$elements',
    '$process_person_profile',
    '$group_type',
    '$group_key',
    'alias',
    '$anon_distinct_id',
    '$ignore_sent_at',
    '$session_id',
  )
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom('x', false, true, ['a'], { a: 'x\0' }, '\uD800', [{ tag_name: 'a', text: 'q"' }]),
  )
  const event = fc.record(
    {
      event: fc.constantFrom('e', '$identify', '$create_alias', '$groupidentify', '$performance_event', { a: 1 }),
      distinct_id: fc.constantFrom('d', 5, 'x\0', 'y'.repeat(250)),
      timestamp: fc.oneof(fc.constantFrom('2026-01-01', 'junk', '2030-01-01', 5, Number.NaN, null, {}), fc.date()),
      offset: fc.constantFrom(5, '5', Number.NaN, -1e12),
      sent_at: fc.constantFrom('2026-01-15T11:00:00Z', 'junk', null),
      $set: fc.constantFrom({ a: 1 }, {}, null),
      properties: fc.dictionary(key, value),
    },
    { requiredKeys: ['event', 'distinct_id'] },
  )
  assertGenerated(
    fc.property(event, fc.option(fc.constantFrom('2026-01-15T11:30:00Z', 'junk')), (raw, sentAt) => {
      const batch = decodeBatch({ batch: [raw], sent_at: sentAt }, { ...receipt, ip: '1.1.1.1' })
      const first = withText(batch)
      const again = withText(readPayloads(batch.payloads, batch.uuids, { receivedAt: receipt.receivedAt, sentAt: batch.sentAt }))
      if (first.isDropped)
        expect({ ...again, properties: '' }).toMatchObject({ isDropped: true, name: first.name, warnings: first.warnings })
      // What was derived is known on arrival only.
      else expect(JSON.parse(JSON.stringify(again))).toEqual({ ...JSON.parse(JSON.stringify(first)), derivedBytes: 0 })
    }),
    { numRuns: 500 },
  )
})
