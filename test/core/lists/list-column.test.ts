import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ListColumn } from '../../../src/core/lists/list-column.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'

const numberAt = ({ values, numbers }: ListColumn, index: number) => (numbers ? numbers[values[index]!]! : values[index]!)
const textAt = ({ values, texts }: ListColumn, index: number) => texts[values[index]!]
const restored = (column: ListColumn, length: number) => {
  const { column: copy, arrays, finish } = ListColumn.ofShape(JSON.parse(JSON.stringify(column.shape)), length)
  copy.values.set(column.values)
  for (const [i, one] of column.codeArrays.entries()) arrays[i]!.set(one)
  finish()
  return copy
}

test('numbers are what was written, whatever they are', () =>
  assertGenerated(
    fc.asyncProperty(fc.array(fc.tuple(fc.nat(49), fc.double()), { maxLength: 200 }), async (rows) => {
      const column = new ListColumn('numbers', 50)
      const model = new Array<number>(50).fill(Number.NaN)
      for (const [index, value] of rows) model[index] = value
      column.write(
        { values: Float64Array.from(rows, ([, value]) => value) },
        Int32Array.from(rows, ([index]) => index),
      )
      for (const one of [column, restored(column, 50)])
        expect(Array.from(model.keys(), (i) => numberAt(one, i) + 0)).toEqual(model.map((value) => value + 0)) // one zero
    }),
    { numRuns: 200 },
  ))

test.each([
  [200, 1],
  [300, 2],
  [65_000, 2],
  [70_000, 8],
])('%i different numbers take %i bytes each', (count, bytes) => {
  const column = new ListColumn('numbers', count)
  const values = Float64Array.from({ length: count }, (_, i) => i / 4)
  const half = count >> 1
  const indexes = Int32Array.from(values.keys())
  column.write({ values: values.subarray(0, half) }, indexes)
  column.write({ values: values.subarray(half) }, indexes.subarray(half))
  for (const one of [column, restored(column, count)]) {
    expect(one.values.BYTES_PER_ELEMENT).toBe(bytes)
    for (let i = 0; i < count; i += 97) expect(numberAt(one, i)).toBe(i / 4)
  }
})

test.each([
  [200, 1],
  [300, 2],
  [70_000, 4],
])('%i different texts take %i bytes each, and rows without an index are skipped', (count, bytes) => {
  const column = new ListColumn('codes', count)
  const texts = Array.from({ length: count }, (_, i) => `text ${i}`)
  const rows = Int32Array.from(texts.keys())
  column.write({ values: rows, texts }, rows)
  column.write({ values: Int32Array.of(0, 0), texts: ['text 5'] }, Int32Array.of(-1, 7))
  for (const one of [column, restored(column, count)]) {
    expect(one.values.BYTES_PER_ELEMENT).toBe(bytes)
    expect([textAt(one, 0), textAt(one, 7), textAt(one, count - 1)]).toEqual(['text 0', 'text 5', `text ${count - 1}`])
  }
})

test.each([
  ['codes of one byte', 200, 0],
  ['codes that get a second byte', 300, 300],
  ['codes that become numbers', 70_000, 3 * 70_000],
])('the bytes of arrays that were replaced: %s', (_, count, bytes) => {
  const column = new ListColumn('numbers', count)
  const values = Float64Array.from({ length: count }, (_, i) => i)
  column.write({ values }, Int32Array.from(values.keys()))
  expect([column.takeDiscarded(), column.takeDiscarded()]).toEqual([bytes, 0])
})

test('events with the same id have the same code, also those that come after the column was written to disk', () => {
  const ids = Array.from({ length: 70_000 }, (_, i) => `id ${i % 40_000}`)
  const rows = Int32Array.from(ids.keys())
  const column = new ListColumn('ids', ids.length + 2)
  column.write({ values: rows.subarray(0, 50_000), texts: ids }, rows)
  const copy = restored(column, ids.length + 2)
  for (const one of [column, copy]) {
    one.write({ values: rows.subarray(50_000), texts: ids }, rows.subarray(50_000))
    one.write({ values: Int32Array.of(0, 1), texts: ['id 39999', 'another'] }, Int32Array.of(ids.length, ids.length + 1))
    expect([one.codesUsed, new Set(one.values).size, one.texts]).toEqual([40_001, 40_001, []])
    expect(one.values.subarray(0, 30_000)).toEqual(one.values.subarray(40_000, 70_000))
    expect([one.values[ids.length], one.codeOf('another'), one.codeOf('absent')]).toEqual([one.values[39_999], 40_000, -1])
    expect(one.bytes / 40_000).toBeLessThan(50)
  }
  expect(copy.values).toEqual(column.values)
})
