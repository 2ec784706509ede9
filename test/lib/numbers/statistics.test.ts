import fc from 'fast-check'
import { expect, test } from 'vitest'
import { median } from '../../../src/lib/numbers/statistics.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'

test('the median is that of the values in order', () => {
  assertGenerated(
    fc.property(
      fc.array(fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: -1_000_000, max: 1_000_000 })), { minLength: 1 }),
      (values) => {
        const sorted = [...values].sort((a, b) => a - b)
        const middle = sorted.length >> 1
        const expected = sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
        expect(median(Float64Array.from(values))).toBe(expected)
      },
    ),
  )
  expect(median(new Float64Array())).toBeNull()
})
