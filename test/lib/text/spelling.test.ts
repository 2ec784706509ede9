import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nearestSpellings, spellingDistance } from '../../../src/lib/text/spelling.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'

describe('spelling distance', () => {
  test.each([
    ['', '', 0],
    ['count', 'count', 0],
    ['cuont', 'count', 1],
    ['timestmp', 'timestamp', 1],
    ['abc', '', 3],
    ['kitten', 'sitting', 3],
  ])('%s to %s is %i', (a, b, distance) => {
    expect(spellingDistance(a, b)).toBe(distance)
  })

  test('is symmetric, zero only for equal words, and at most the longer length', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 })
    assertGenerated(
      fc.property(word, word, (a, b) => {
        const d = spellingDistance(a, b)
        expect(d).toBe(spellingDistance(b, a))
        expect(d === 0).toBe(a === b)
        expect(d).toBeLessThanOrEqual(Math.max(a.length, b.length))
      }),
    )
  })
})

test('nearest spellings: nearest first, nothing far away, case does not count', () => {
  const names = ['timestamp', 'timezone', 'event', 'distinct_id']
  expect(nearestSpellings('timestmp', names)).toEqual(['timestamp'])
  expect(nearestSpellings('TimeStamp', names)).toEqual(['timestamp'])
  expect(nearestSpellings('zebra', names)).toEqual([])
})
