import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeBatch } from '../../../src/events/ingestion/decoding/decode-batch.ts'
import { emptyShape, propertyName } from '../../../src/events/ingestion/decoding/shape.ts'
import { valueTypeOf } from '../../../src/events/ingestion/properties/property-types.ts'
import { readDecoded, writeBatch } from '../../../src/events/ingestion/wire-batch.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'

const names = fc.constantFrom(
  '$browser',
  '$current_url',
  'gclid',
  '$gclid',
  'plan',
  '7',
  '',
  '__proto__',
  'constructor',
  'lone \ud800',
  'nul \0',
  '$initial_browser',
)
const value = fc.oneof(
  fc.constantFrom<unknown>(1, -0, 2.5e300, '', 'x', '12', 'lone \ud800', '2026-01-01T00:00:00Z', true, null, 'null'),
  fc.constantFrom<unknown>([], {}, ['a', null], { deep: { er: [1] } }, 'y'.repeat(5_000), ['z'.repeat(3_000)]),
)
const values = fc.dictionary(names, value, { maxKeys: 5 })
const event = fc.record(
  {
    event: fc.constantFrom('$pageview', 'paid', '$identify', '$groupidentify', '$performance_event'),
    distinct_id: fc.constantFrom<unknown>('a', 'ü', 7, { x: 1 }),
    timestamp: fc.constantFrom('2026-01-01T00:00:00Z', 'never'),
    properties: values,
    $set: values,
    $set_once: values,
    $unset: fc.subarray(['plan', '$browser']),
    elements_chain: fc.constantFrom('', 'a:b'),
  },
  { requiredKeys: ['event', 'distinct_id'] },
)

const uuid = '0190a000-0000-7000-8000-000000000001'
const receipt = { receivedAt: Date.UTC(2026, 0, 2), ip: null, anonymizeIps: false, newUuid: () => uuid }

/** Whether a reader sees the same, and in the same order. */
const text = (of: unknown) => JSON.stringify(of)
const shapeText = (of: { parts(): unknown } | null) => text(of?.parts() ?? null)
const shapeOf = (of: Readonly<Record<string, unknown>> | null) => {
  let shape = emptyShape()
  for (const name in of) shape = shape.with(propertyName(name), valueTypeOf(of[name]))
  return shape
}

test('a batch that crossed to another thread is the batch that was prepared', () => {
  assertGenerated(
    fc.property(fc.array(event, { minLength: 1, maxLength: 8 }), (batch) => {
      const sent = decodeBatch({ batch, historical_migration: true }, receipt)
      const { events, payloads } = sent
      const content = { kind: 'event', events, bytes: payloads.bytes, duplicates: new Set<number>() } as const
      const wire = writeBatch({
        firstSeq: 0,
        count: events.length,
        receivedAt: receipt.receivedAt * 1000,
        sentAt: null,
        isHistorical: true,
        bytes: payloads.byteLength,
        content,
      })!
      const read = readDecoded(structuredClone(wire))
      expect([...read.payloads]).toEqual([...payloads])
      expect(read.uuids).toEqual(sent.uuids)
      for (const [i, one] of events.entries()) {
        const { shape, derivedBytes: _, setShape, setOnceShape, ...rest } = read.events[i]!
        const { shape: shapeBefore, derivedBytes: __, setShape: ___, setOnceShape: ____, ...before } = one
        expect(text({ ...rest, set: rest.set, setOnce: rest.setOnce })).toBe(text({ ...before, set: one.set, setOnce: one.setOnce }))
        expect(shapeText(shape)).toBe(shapeText(shapeBefore))
        if (setShape) expect(shapeText(setShape)).toBe(shapeText(shapeOf(one.set)))
        if (setOnceShape) expect(shapeText(setOnceShape)).toBe(shapeText(shapeOf(one.setOnce)))
      }
    }),
    { numRuns: 300 },
  )
})
