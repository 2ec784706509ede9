import { expect, test } from 'vitest'
import type { Make, SomeColumn } from '../../../src/core/lists/columns.ts'
import { KeyValues } from '../../../src/core/lists/key-values.ts'
import { madeColumn } from '../../../src/core/lists/made-columns.ts'
import type { ColumnPart, TakeColumns } from '../../../src/core/lists/ports.ts'

// Columns that are computed from others: two persons with three and two events, and a free place behind each list.

const lists = { start: Int32Array.of(0, 4), end: Int32Array.of(3, 6), persons: 2, used: 7 }
const flags = (...values: number[]): SomeColumn => ({ values: Uint8Array.from(values), texts: [], numbers: null })
const codes = (texts: readonly string[], ...values: number[]): SomeColumn => ({ values: Uint8Array.from(values), texts, numbers: null })
const numbers = (...values: number[]): SomeColumn => ({ values: Float64Array.from(values), texts: [], numbers: null })
const coded = (byCode: readonly number[], ...values: number[]): SomeColumn => ({
  values: Uint8Array.from(values),
  texts: [],
  numbers: Float64Array.from(byCode),
})

function made(make: Make, ...columns: SomeColumn[]): readonly (number | string)[] {
  const steps = madeColumn(make, columns, lists)
  for (;;) {
    const { done, value } = steps.next()
    if (done) return Array.from(value.values, (one) => value.texts[one] ?? value.numbers?.[one] ?? one)
  }
}

const ranges = { from: 'ranges', column: 0, edges: [0, 10, 20], texts: ['low', 'high'], none: 'none' } as const
const values = [-1, 0, 9.5, 10, 20, Number.NaN, Number.POSITIVE_INFINITY]

test.each<readonly [name: string, make: Make, columns: SomeColumn[], expected: readonly (number | string)[]]>([
  ['a flag of persons', { from: 'persons', column: 0 }, [flags(1, 0)], [1, 1, 1, 0, 0, 0, 0]],
  ['a text of persons', { from: 'persons', column: 0 }, [codes(['a', 'b'], 1, 0)], ['b', 'b', 'b', 'a', 'a', 'a', 'a']],
  ['a coded number of persons', { from: 'persons', column: 0 }, [coded([5, 7], 1, 0)], [7, 7, 7, 5, 5, 5, 5]],
  [
    'a text of keys',
    { from: 'keys', keys: 0, column: 1 },
    [codes(['x', 'y', 'z'], 0, 1, 2, 0, 2, 1, 0), codes(['a', 'b'], 0, 1, 0)],
    ['a', 'b', 'a', 'a', 'a', 'b', 'a'],
  ],
  ['any flag', { from: 'any', columns: [0, 1] }, [flags(1, 0, 0, 0, 1, 0, 0), flags(1, 1, 0, 0, 0, 0, 0)], [1, 1, 0, 0, 1, 0, 0]],
  ['all flags', { from: 'all', columns: [0, 1] }, [flags(1, 0, 0, 0, 1, 0, 0), flags(1, 1, 0, 0, 0, 0, 0)], [1, 0, 0, 0, 0, 0, 0]],
  ['some texts', { from: 'texts', column: 0, texts: ['a', 'c', '?'], isNot: false }, [codes(['a', 'b', 'c'], 0, 1, 2)], [1, 0, 1]],
  ['other texts', { from: 'texts', column: 0, texts: ['a', 'c', '?'], isNot: true }, [codes(['a', 'b', 'c'], 0, 1, 2)], [0, 1, 0]],
  ['ranges', ranges, [numbers(...values)], ['none', 'low', 'low', 'high', 'none', 'none', 'none']],
  ['ranges of coded numbers', ranges, [coded(values, 0, 1, 2, 3, 4, 5, 6)], ['none', 'low', 'low', 'high', 'none', 'none', 'none']],
  ['no range', { ...ranges, edges: [0], texts: [] }, [numbers(0, 1)], ['none', 'none']],
])('%s', (_, make, columns, expected) => {
  expect(made(make, ...columns)).toEqual(expected)
})

test('values of keys: those without a row, those that are read again, and those that lose their row', async () => {
  const values = new KeyValues({ key: '', type: 'codes', of: 'key', keys: 0, isOfEvents: false })
  const asked: string[] = []
  const reader = (rows: Readonly<Record<string, string>>) => async (which: string, take: TakeColumns) => {
    asked.push(which)
    const given = which === 'absent' ? { '': 'none' } : rows
    const part = (texts: readonly string[]): ColumnPart => ({ values: Int32Array.from(texts.keys()), texts })
    await take(new Float64Array(0), [part(Object.keys(given)), part(Object.values(given))])
  }
  const shown = () => Array.from(values.byCode.values, (code) => values.byCode.texts[code])
  await values.update(['a', 'b', 'c'], true, reader({ a: '1', c: '3', unknown: '9' }))
  expect(shown()).toEqual(['1', 'none', '3'])
  const before = values.byCode
  await values.update(['a', 'b', 'c', 'd'], false, reader({ b: '2' }))
  expect(shown()).toEqual(['1', '2', '3', 'none'])
  await values.update(['a', 'b', 'c', 'd'], true, reader({ d: '4' }))
  expect(shown()).toEqual(['none', 'none', 'none', '4'])
  expect(Array.from(before.values, (code) => before.texts[code])).toEqual(['1', 'none', '3'])
  expect(asked).toEqual(['absent', 'keys', 'keys', 'keys'])
})
