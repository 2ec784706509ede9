import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { likeMemory, mostOfPattern, patternMemory, textMemory, unfolded } from '../../../src/lib/text/pattern-memory.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'

describe('what people write takes little', () => {
  test.each([
    ['', 1],
    ['^/users/\\d+$', 64],
    ['/[^/]+/edit$', 64],
    ['(?i)^https?://(?:www\\.)?example\\.com', 512],
    ['/product/[a-z0-9-]+/reviews', 64],
    ['[/?#]+$', 64],
    [Array.from({ length: 100 }, (_, i) => `word${i}`).join('|'), 1_024],
    ['x'.repeat(900), 1_024],
  ])('%s', (pattern, most) => {
    expect(patternMemory(pattern)).toBeLessThanOrEqual(most)
  })
})

describe('what unfolds, or leaves many ways open, takes as much as there may be', () => {
  test.each([
    '[ab]*a[ab]{12}c',
    '(?:a|b)*a(?:a|b)(?:a|b)(?:a|b)(?:a|b)(?:a|b)(?:a|b)(?:a|b)(?:a|b)(?:a|b)(?:a|b)(?:a|b)(?:a|b)c',
    '\\pL{300}',
    '(?:(?:a{30}){30}b?){1,9}',
    '\\p{Greek}{999}',
    '[\\pL\\pN]{99,200}',
    '(a?){20}b',
    '.*a............b',
  ])('%s', (pattern) => {
    expect(patternMemory(pattern)).toBe(mostOfPattern)
  })
})

/** A pattern as it is built, and the steps that it has at least: a step for each letter. */
const built: fc.Arbitrary<readonly [pattern: string, least: number]> = fc.letrec<{ part: readonly [string, number] }>((tie) => ({
  part: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(
      ...(['a', '\\.', '.', '[a-c]', '[^x\\]]', '\\d', '\\pL', '\\p{Lu}', '[]a]', '[[:alpha:]]'] as const).map((one) => [one, 1] as const),
    ),
    fc.array(tie('part'), { minLength: 1, maxLength: 4 }).map((parts) => [parts.map(([text]) => text).join(''), sum(parts)] as const),
    fc
      .array(tie('part'), { minLength: 1, maxLength: 3 })
      .map((parts) => [`(?:${parts.map(([text]) => text).join('|')})`, sum(parts)] as const),
    fc.tuple(tie('part'), fc.constantFrom('*', '+', '?', '*?')).map(([[text, least], sign]) => [`(${text})${sign}`, least] as const),
    fc
      .tuple(tie('part'), fc.integer({ min: 1, max: 9 }), fc.constantFrom('', ',', ',9'))
      .map(([[text, least], n, to]) => [`(?P<n>${text}){${n}${to}}`, least * (to === ',9' ? 9 : n)] as const),
  ),
})).part
const sum = (parts: readonly (readonly [string, number])[]) => parts.reduce((all, [, one]) => all + one, 0)

test('the estimate is never below the steps that a pattern unfolds to', () => {
  assertGenerated(
    fc.property(built, ([pattern, least]) => {
      expect([pattern, unfolded(pattern).steps >= least]).toEqual([pattern, true])
    }),
    { numRuns: 1_000 },
  )
})

test('any text has an estimate, in time linear in it', () => {
  assertGenerated(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', '\\', '(', ')', '[', ']', '{', '}', '1', ',', '*', '?', '|', '^', 'p', ':', '😀') }),
      (text) => {
        for (const of of [patternMemory, likeMemory, textMemory]) {
          expect(of(text)).toBeGreaterThanOrEqual(0)
          expect(of(text)).toBeLessThanOrEqual(mostOfPattern)
        }
      },
    ),
    { numRuns: 1_000 },
  )
  for (const piece of ['(', '[', '\\', '{9', 'a{9}', '[[:', '(?:', '|', '(?P<', '\\p{', '[^'])
    for (const text of [piece.repeat(100_000), `${piece.repeat(50_000)})`]) expect(patternMemory(text)).toBeGreaterThan(0)
})

test('LIKE with several % is a pattern, and a text stands for itself', () => {
  expect([likeMemory('%word%'.slice(1)), likeMemory('a_c')]).toEqual([1, 1])
  expect(likeMemory('%a____________b%')).toBe(mostOfPattern)
  expect(likeMemory('%checkout%done%')).toBeLessThan(200)
  expect(textMemory('utm_source')).toBeLessThan(16)
})
