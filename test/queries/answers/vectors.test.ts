import { Field, Float64, Int64, makeData, RecordBatch, Schema, Struct, Table } from 'apache-arrow'
import { expect, test } from 'vitest'
import { doubles } from '../../../src/queries/answers/vectors.ts'

/** The second row has no value; the memory beneath it has one. */
const nullBitmap = Uint8Array.of(0b101)
const table = (type: Float64 | Int64, data: Float64Array | BigInt64Array) => {
  const child = makeData({ type, length: 3, nullCount: 1, nullBitmap, data } as never)
  const schema = new Schema([new Field('n', type, true)])
  return new Table(
    schema,
    new RecordBatch(schema, makeData({ type: new Struct(schema.fields), length: 3, nullCount: 0, children: [child] }) as never),
  )
}

test.each([
  ['doubles', table(new Float64(), Float64Array.of(1.5, 99, 3))],
  ['64-bit integers', table(new Int64(), BigInt64Array.of(1n, 99n, 3n))],
])('NULL is NaN, whatever is beneath it: %s', (_, given) => {
  expect(doubles(given, 'n')[1]).toBeNaN()
  expect(doubles(given, 'n')[2]).toBe(3)
})
