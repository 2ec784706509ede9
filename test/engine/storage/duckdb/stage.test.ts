import { DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createStage } from '../../../../src/engine/storage/duckdb/stage.ts'
import { assertGenerated } from '../../../harness/assert-generated.ts'

let instance: DuckDBInstance
beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:', { threads: '1' })
})
afterAll(() => instance.closeSync())

const columns = { name: 'text', id: 'uuid', moment: 'time', no: 'integer', count: 'bigint', is_new: 'boolean' } as const
const read = 'name, id::VARCHAR, epoch_us(moment)::VARCHAR, no, count::VARCHAR, is_new'
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 3 })
const text = fc.oneof(
  fc.constantFrom('', 'twelve bytes', 'thirteen byte', 'é'.repeat(40), 'x'.repeat(5_000), `${'x'.repeat(40)}😀`),
  fc.string({ unit: 'grapheme', maxLength: 40 }).map((value) => value.replaceAll('\0', '')),
)
const row = fc.tuple(
  orNull(text),
  orNull(fc.uuid()),
  orNull(fc.integer({ min: -(2 ** 52), max: 2 ** 52 })),
  orNull(fc.integer()),
  orNull(fc.maxSafeInteger()),
  orNull(fc.boolean()),
)
type Row = typeof row extends fc.Arbitrary<infer T> ? T : never
const expected = ([name, id, at, no, count, isNew]: Row) => [
  name,
  id,
  at === null ? null : `${at}`,
  no,
  count === null ? null : `${count}`,
  isNew,
]

test('what is staged is what the engine reads, nulls among it, also after it was emptied', async () => {
  const connection = await instance.connect()
  const stage = createStage(connection, 'stage_of_test', columns)
  await assertGenerated(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 40 }), fc.array(row, { maxLength: 5 }), async (rows, dropped) => {
      for (const each of dropped) stage.push(each)
      stage.clear()
      for (const each of rows) stage.push(each)
      expect(stage.rows).toBe(rows.length)
      await stage.finish()
      const found = await connection.runAndReadAll(`SELECT ${read} FROM ${stage.table} ORDER BY rowid`)
      expect(found.getRowsJS()).toEqual(rows.map(expected))
      stage.clear()
    }),
    { numRuns: 60 },
  )
  connection.closeSync()
})

test('chunks follow one another, whether they are written while rows arrive or at the end', async () => {
  const connection = await instance.connect()
  const stage = createStage(connection, 'stage_of_chunks', { no: 'integer', name: 'text' })
  const rows = Array.from({ length: 20_000 }, (_, i) => [i, i % 3 === 0 ? null : `name ${i} ${'x'.repeat(i % 50)}`] as const)
  for (const isDrained of [true, false]) {
    stage.clear()
    for (const each of rows) {
      stage.push(each)
      if (isDrained && each[0] % 5_000 === 0) await stage.drain()
    }
    await stage.finish()
    const found = await connection.runAndReadAll(`SELECT no, name FROM ${stage.table} ORDER BY rowid`)
    expect(found.getRowsJS()).toEqual(rows)
  }
  connection.closeSync()
})
