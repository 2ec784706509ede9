import fc from 'fast-check'
import lzString from 'lz-string'
import { describe, expect, test } from 'vitest'
import { unpackLz64 } from '../../../src/lib/bytes/lz64.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'

const steps = (packed: string, limit = 1_000_000) => {
  const unpacking = unpackLz64(Buffer.from(packed), limit)
  for (let count = 0; ; count++) {
    const step = unpacking.next()
    if (step.done) return { count, bytes: step.value }
  }
}
const unpacked = (packed: string) => {
  const { bytes } = steps(packed)
  return bytes && Buffer.from(bytes).toString()
}

describe('what LZString packs comes back', () => {
  test.each(['', 'a', 'aaaaaaaaaaaaaa', 'ababababab', '{"event":"e","distinct_id":"ü+1"}', '日本語 and 😀😀😀 and ÿ', '\0\u0001'])(
    '%j',
    (text) => {
      expect(unpacked(lzString.compressToBase64(text))).toBe(text)
    },
  )

  test('any text', () => {
    const unit = fc.constantFrom('a', 'b', '"', '{', 'é', '日', '😀', '\ud800', '\udc00', '\0')
    assertGenerated(
      fc.property(fc.oneof(fc.string({ unit, maxLength: 100 }), fc.string({ unit: 'binary', maxLength: 100 })), (text) => {
        expect(unpacked(lzString.compressToBase64(text))).toBe(Buffer.from(text).toString())
      }),
      { numRuns: 100 },
    )
  })

  test('a long one, with its + as blanks', () => {
    const text = JSON.stringify(Array.from({ length: 5_000 }, (_, i) => ({ event: `e${i % 7}`, distinct_id: `${i * 7919}` })))
    expect(unpacked(lzString.compressToBase64(text).replaceAll('+', ' '))).toBe(text)
  })
})

test.each(['A', 'N4Ig', '====', 'äöü', 'N4IgpgbgdgLgl'])('%j is refused', (text) => expect(unpacked(text)).toBe(null))

test('whatever comes, it ends', () => {
  assertGenerated(
    fc.property(fc.base64String({ maxLength: 200 }), (text) => {
      try {
        steps(text, 10_000)
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError)
      }
    }),
  )
})

test('it stops at the limit while it unpacks', () => {
  const packed = lzString.compressToBase64('xy'.repeat(150_000))
  expect(steps(packed, 300_000).bytes).toHaveLength(300_000)
  const before = process.memoryUsage().arrayBuffers
  expect(() => steps(packed, 10_000)).toThrow(RangeError)
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(200_000)
})
