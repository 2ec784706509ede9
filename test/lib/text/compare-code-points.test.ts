import { expect, test } from 'vitest'
import { compareCodePoints } from '../../../src/lib/text/compare-code-points.ts'

test('the order is that of the bytes', () => {
  const texts = ['', 'a', 'ab', 'b', 'é', '\u{ffff}', '\ue000', '\ud7ff', '\u{10000}', '\u{10428}', 'a\u{10000}', 'a\ue000']
  const byBytes = [...texts].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  expect([...texts].sort(compareCodePoints)).toEqual(byBytes)
  expect(compareCodePoints('same', 'same')).toBe(0)
})
