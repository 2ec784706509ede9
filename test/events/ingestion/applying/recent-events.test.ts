import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RecentEvents } from '../../../../src/events/ingestion/applying/recent-events.ts'
import type { EventRow, StagedGroup } from '../../../../src/events/ingestion/ports.ts'
import { assertGenerated } from '../../../harness/assert-generated.ts'

// The latest events: all behind `from`, never those of a batch that is processed in part, and a limited number.

const group = { events: 0, pushEvent: () => undefined } as unknown as StagedGroup
/** Within a longer text, as in a batch. */
const jsonRow = (seq: number, json: string) => {
  const bytes = Buffer.from(`[${json}]`)
  return { personNo: seq % 7, time: 1000 - seq, eventId: seq % 3, seq, bytes, from: 1, to: bytes.length - 1 } as unknown as EventRow
}
const plans = ['"a"', '"b"', '1', 'true', 'null']
const planOf = (seq: number) => plans[seq % plans.length]!
const rowOf = (seq: number) => jsonRow(seq, `{"plan":${planOf(seq)}}`)

const drawnBatch = fc.record({
  events: fc.array(fc.boolean(), { minLength: 1, maxLength: 6 }),
  merges: fc.array(fc.tuple(fc.nat(5), fc.nat(5)), { maxLength: 1 }),
  kind: fc.constantFrom('events', 'events', 'events', 'events', 'moved', 'other'),
})

test('what is noted is what was processed', () =>
  assertGenerated(
    fc.property(fc.array(drawnBatch, { maxLength: 40 }), (batches) => {
      const recent = new RecentEvents(0, 0, async () => undefined)
      void recent.until(0)
      const noting = recent.noting(group)
      let seq = 0
      let [from, stored] = [0, 0]
      const rows: number[] = []
      const merges: (readonly [number, number])[][] = []
      for (const { events, merges: some, kind } of batches) {
        for (const [i, isStored] of events.entries()) {
          if (!isStored) continue // a duplicate
          noting.pushEvent(rowOf(seq + 1 + i))
          expect(recent.events(from).seq.length).toBe(rows.filter((one) => one > from).length)
        }
        const last = seq + events.length
        for (const [i, isStored] of events.entries()) if (isStored) rows.push(seq + 1 + i)
        if (kind === 'other') recent.changed(last, stored++)
        else recent.processed(last, kind === 'moved' ? null : some, true, stored)
        if (kind !== 'events') {
          from = last
          merges.length = 0
        } else merges.push([...some])
        seq = last
        expect([recent.from, recent.seq]).toEqual([from, seq])
        const found = recent.events(from)
        const expected = rows.filter((one) => one > from).map(rowOf)
        expect([...found.seq]).toEqual(expected.map((row) => row.seq))
        expect([...found.person]).toEqual(expected.map((row) => row.personNo))
        expect([...found.time]).toEqual(expected.map((row) => row.time))
        expect([...found.event]).toEqual(expected.map((row) => row.eventId))
        expect(recent.merges(from)).toEqual(merges.flat())
        expect(recent.values(from, ['plan'])).toEqual(expected.map((row) => planOf(row.seq)))
        const middle = Math.floor((from + seq) / 2)
        expect([...recent.events(middle).seq]).toEqual(rows.filter((one) => one > middle))
      }
    }),
  ))

test.each([
  ['{"plan":"a"}', '"a"'],
  ['{"plan" : 1.0 }', '1.0'],
  ['{"plan":1e0,"x":2}', '1e0'],
  ['{"other":{"plan":"b"}}', ''],
  ['{"other":"plan"}', ''],
  ['{"plan":"a","plan":"b"}', null],
  ['{"plan":"plan"}', '"plan"'],
  ['{"$set":{"plan":"a"},"plan":"b"}', '"b"'],
  ['{"pl\\u0061n":"b"}', null],
  ['{"plan":"\\u0061"}', '"\\u0061"'],
  ['{"plan":[1]}', null],
  ['{"plan":{"a":1}}', null],
])('the values of %s are %s', (json, text) => {
  const recent = new RecentEvents(0, 0, async () => undefined)
  void recent.until(0)
  recent.noting(group).pushEvent(jsonRow(1, json))
  recent.processed(1, [], true, 0)
  expect(recent.values(0, ['plan'])).toEqual([text])
})

test('the JSON of the oldest events is left to the store first', () => {
  const recent = new RecentEvents(0, 0, async () => undefined)
  void recent.until(0)
  const noting = recent.noting(group)
  for (let seq = 1; seq <= 30; seq++) noting.pushEvent(jsonRow(seq, `{"plan":${seq},"long":"${'x'.repeat(200_000)}"}`))
  recent.processed(30, [], true, 0)
  const values = recent.values(0, ['plan'])
  const known = values.findIndex((value) => value !== null)
  expect(known).toBeGreaterThan(5)
  expect(values.slice(known)).toEqual(Array.from({ length: 30 - known }, (_, i) => String(known + 1 + i)))
  expect(recent.events(0).seq).toHaveLength(30)
})

test('the oldest events are left to the store, and what nobody follows is not noted', async () => {
  const recent = new RecentEvents(0, 0, async () => undefined)
  expect(recent.noting(group)).toBe(group)
  recent.processed(10, [], false, 0)
  expect([recent.from, recent.seq]).toEqual([10, 10])
  const reached = recent.until(150_010)
  const noting = recent.noting(group)
  for (let seq = 11; seq <= 150_010; seq++) noting.pushEvent(rowOf(seq))
  recent.processed(150_010, [], true, 0)
  await reached
  expect(recent.from).toBeGreaterThan(10)
  const { seq } = recent.events(recent.from)
  expect(seq.length).toBe(150_010 - recent.from)
  expect(seq.length).toBeLessThanOrEqual(1 << 16)
  expect([seq[0], seq.at(-1)]).toEqual([recent.from + 1, 150_010])
})

test('its version changes with what queries know of names and types; a loss is told apart', () => {
  const recent = new RecentEvents(0, 5, async () => undefined)
  void recent.until(0)
  const versions = [recent.version]
  recent.processed(1, [], true, 5)
  versions.push(recent.version)
  recent.processed(2, [], true, 6)
  versions.push(recent.version)
  recent.changed(3, 6)
  versions.push(recent.version)
  recent.lost(1, 5)
  versions.push(recent.version)
  expect(versions).toEqual([0, 0, 1, 2, 3])
  expect([recent.losses, recent.from, recent.seq]).toEqual([1, 1, 1])
})
