import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { linearPattern, PatternTooLarge } from '../../../src/lib/text/linear-pattern.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'

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

/** Small texts that a compiler unfolds, or parses again, to very many steps: each names how it grows. */
const hostile: Readonly<Record<string, string>> = {
  'repetitions in repetitions': '(?:(?:(?:a{40}){40}){40}){40}',
  'a repetition that is dropped': '(?:(?:(?:(?:a{4000}){0}){1500}){0}){1500}',
  'dropped, and nothing else': '(?:(?:(?:a{9999}){9999}){9999}){0}',
  'nothing, very often': '(?:(?:(?:(?:){9999}){9999}){9999}){9999}',
  'nothing, dropped very often': '(?:(?:(?:(?:){0}){9999}){0}){9999}',
  'an optional in optionals': '(?:(?:(?:a{0,99}){0,99}){0,99}){0,99}',
  'an endless one in bounded ones': '(?:(?:(?:a*){99}){99}){99}',
  'alternatives without an end': `(?:(?:${'a|'.repeat(90)}){99}){99}`,
  anchors: '(?:(?:(?:^$){999}){999}){999}',
  'a class': '(?:(?:[a-z]{999}){999}){0,999}',
}

test.each(Object.entries(hostile))('a pattern that grows is refused after a bounded number of steps: %s', (_, pattern) => {
  const made = countedExpressions(() => expect(() => linearPattern(pattern)).toThrow(PatternTooLarge))
  expect(made).toBeLessThan(20_000)
})

/** How many times a character was read while compiling: the compiler reads each again for each repetition. */
function countedExpressions(work: () => void): number {
  let reads = 0
  const exec = RegExp.prototype.exec
  RegExp.prototype.exec = function (text) {
    reads++
    return exec.call(this, text)
  }
  try {
    work()
  } finally {
    RegExp.prototype.exec = exec
  }
  return reads
}

test('all texts of a pattern share what it may follow', () => {
  const matches = linearPattern(`(?:${'a?'.repeat(200)}b)+$`)
  const names = Array.from({ length: 10_000 }, (_, i) => `${'a'.repeat(60)}${i}`)
  expect(() => names.filter(matches)).toThrow(PatternTooLarge)
  expect(Array.from({ length: 10_000 }, (_, i) => `column_${i}`).filter(linearPattern('^column_.*9$'))).toHaveLength(1000)
})
