import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fisherExact } from '../../../src/lib/numbers/fisher-exact.ts'
import { exactTest } from '../../reference/correlation.ts'

describe("Fisher's exact test", () => {
  // Published values: the tea-tasting lady, and R's documentation of fisher.test (convictions of twins).
  test.each<[table: readonly [number, number, number, number], p: number]>([
    [[3, 1, 1, 3], 0.4857143],
    [[4, 0, 0, 4], 0.02857143],
    [[2, 15, 10, 3], 0.0005367241],
    [[0, 0, 0, 0], 1],
    [[5, 0, 3, 0], 1],
    [[10, 10, 10, 10], 1],
  ])('%j', (table, p) => {
    expect(fisherExact(...table)).toBeCloseTo(p, 7)
  })

  test('the ways counted with whole numbers', () => {
    const cell = fc.integer({ min: 0, max: 60 })
    fc.assert(
      fc.property(cell, cell, cell, cell, (a, b, c, d) => {
        const exact = exactTest(a, b, c, d)
        expect(Math.abs(fisherExact(a, b, c, d) - exact)).toBeLessThan(1e-9 * Math.max(exact, 1e-12))
      }),
      { numRuns: 500 },
    )
  })

  test('millions of actors, and less than any number', () => {
    expect(fisherExact(2_500_000, 2_500_000, 2_500_000, 2_500_000)).toBe(1)
    expect(fisherExact(2_501_000, 2_499_000, 2_500_000, 2_500_000)).toBeCloseTo(0.5275, 2)
    expect(fisherExact(5_000_000, 0, 0, 5_000_000)).toBe(0)
    expect(fisherExact(1, 4_999_999, 30, 4_999_970)).toBeLessThan(1e-7)
  })
})
