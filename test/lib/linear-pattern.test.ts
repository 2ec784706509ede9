import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { linearPattern } from '../../src/lib/linear-pattern.ts'
import { assertGenerated } from '../harness/assert-generated.ts'

describe('a pattern matches what RegExp matches', () => {
  const patterns = ['', '^k', 'a|b', '^(?:a|ab)c$', 'a*b', '(a+)+$', 'x{2}', 'x{2,}', '^x{1,3}$', '[a-c]+\\d', '[^a]b', '\\w+_id$', 'a.c', 'a\\.c', '(|a)b?', '^$', 'a??b', '((a|b)*c)+'] // biome-ignore format: a table
  test.each(patterns)('%s', (pattern) => {
    const [ours, theirs] = [linearPattern(pattern), new RegExp(pattern, 'su')]
    assertGenerated(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'k', 'x', '.', '1', '_', 'i', 'd', '\n', 'é'), maxLength: 12 }),
        (text) => {
          expect([text, ours(text)]).toEqual([text, theirs.test(text)])
        },
      ),
    )
  })
})

test('(?i) in front ignores case', () => expect(linearPattern('(?i)^AB')('abc')).toBe(true))

test.each(['(', ')', 'a)', '(a', '[a', '*', 'a{', '(?=a)', '\\1', '(?<n>a)', 'a\\', 'x'.repeat(1001), '(a{1000}){1000}'])(
  'refused: %s',
  (pattern) => expect(() => linearPattern(pattern)).toThrow(SyntaxError),
)

test('what would take a backtracking matcher for ever is told at once', () => {
  expect(linearPattern('^(a|a)*(a+)+$')(`${'a'.repeat(5_000)}!`)).toBe(false)
})
