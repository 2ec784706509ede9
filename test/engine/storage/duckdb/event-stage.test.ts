import { DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EventStage, stagedEvents } from '../../../../src/engine/storage/duckdb/event-stage.ts'
import type { EventRow } from '../../../../src/events/ingestion/ports.ts'
import { assertGenerated } from '../../../harness/assert-generated.ts'

let instance: DuckDBInstance
beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:', { threads: '1' })
})
afterAll(() => instance.closeSync())

const hexDigits = (words: readonly number[]) => words.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
const spelled = (hex: string) => `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
const uuid = fc.array(fc.integer(), { minLength: 4, maxLength: 4 }).map((words) => spelled(hexDigits(words)))
// Around the length up to which the engine keeps a text in place, and of characters of one to four bytes.
const text = fc.oneof(
  fc.constantFrom('', 'a', 'twelve bytes', 'thirteen byte', 'é', 'ééééééé', '😀😀😀', '😀😀😀x', 'x'.repeat(5_000)),
  fc.string({ unit: 'grapheme', maxLength: 30 }).map((value) => value.replaceAll('\0', '')),
)
const whole = fc.oneof(fc.constantFrom(0, 1, -1, 2 ** 31, -(2 ** 31), 2 ** 32, 2 ** 53 - 1, -(2 ** 53) + 1), fc.maxSafeInteger())
const row = fc.record({
  uuid,
  eventId: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
  time: fc
    .integer({ min: -62_167_219_200_000_000 + 1, max: 253_402_300_799_000_000 - 1 })
    .map((n) => Math.max(-(2 ** 53) + 1, Math.min(2 ** 53 - 1, n))),
  personNo: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
  distinctId: text,
  sessionId: text,
  windowId: text,
  groups: fc.array(text, { minLength: 5, maxLength: 5 }),
  createdAt: fc.integer({ min: 0, max: 2 ** 51 }),
  seq: whole,
  personMode: fc.integer({ min: 0, max: 2 }),
  elementsChain: text,
  properties: text,
})
type Row = typeof row extends fc.Arbitrary<infer T> ? T : never

const rowOf = ({ properties, ...rest }: Row): EventRow => {
  const bytes = Buffer.from(`before${properties}behind`)
  return { ...rest, bytes, from: 6, to: bytes.length - 6 }
}
const columns = `uuid::VARCHAR, event_id, epoch_us("timestamp")::VARCHAR, person_no, distinct_id, session_id, window_id, group_0, group_1, group_2, group_3,
  group_4, epoch_us(created_at)::VARCHAR, log_seq::VARCHAR, person_mode, elements_chain, properties`
const expected = (of: Row) => [
  of.uuid,
  of.eventId,
  String(of.time),
  of.personNo,
  of.distinctId,
  of.sessionId,
  of.windowId,
  ...of.groups,
  String(of.createdAt),
  String(of.seq),
  of.personMode,
  of.elementsChain,
  of.properties,
]

test('what is staged is what the engine reads, whatever texts and numbers it is', async () => {
  const connection = await instance.connect()
  const stage = new EventStage(connection)
  await assertGenerated(
    fc.asyncProperty(fc.array(row, { maxLength: 40 }), async (rows) => {
      await stage.begin()
      for (const each of rows) stage.push(rowOf(each))
      expect(stage.rows).toBe(rows.length)
      stage.finish()
      const found = await connection.runAndReadAll(`SELECT ${columns} FROM ${stagedEvents} ORDER BY rowid`)
      expect(found.getRowsJS()).toEqual(rows.map(expected))
    }),
    { numRuns: 60 },
  )
  stage.close()
  connection.closeSync()
})

test('chunks follow one another when rows or bytes fill them', async () => {
  const connection = await instance.connect()
  const stage = new EventStage(connection)
  await stage.begin()
  const [sample] = fc.sample(row, { numRuns: 1, seed: 7 }) as [Row]
  const long = 'y'.repeat(900_000)
  const count = 5_000
  for (let i = 0; i < count; i++) stage.push(rowOf({ ...sample, seq: i, properties: i % 500 === 0 ? `${long}${i}` : `{"i":${i}}` }))
  stage.finish()
  const found = await connection.runAndReadAll(
    `SELECT count(*)::INTEGER, count(DISTINCT log_seq)::INTEGER, sum(length(properties))::DOUBLE,
       bool_and(properties = CASE WHEN log_seq % 500 = 0 THEN repeat('y', 900000) || log_seq ELSE '{"i":' || log_seq || '}' END) FROM ${stagedEvents}`,
  )
  const bytes = Array.from({ length: count }, (_, i) => (i % 500 === 0 ? long.length + String(i).length : `{"i":${i}}`.length))
  expect(found.getRowsJS()).toEqual([[count, count, bytes.reduce((a, b) => a + b), true]])
  connection.closeSync()
})
