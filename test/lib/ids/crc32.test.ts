import fc from 'fast-check'
import { expect, test } from 'vitest'
import { crc32, crc32ByTable } from '../../../src/lib/ids/crc32.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'

test('the sum of the standard check text', () => {
  expect(crc32ByTable(Buffer.from('123456789'))).toBe(0xcbf43926)
})

test('zlib and the table agree, in one piece and in two', () => {
  assertGenerated(
    fc.property(fc.uint8Array(), fc.uint8Array(), (a, b) => {
      const whole = crc32ByTable(Buffer.concat([a, b]))
      expect([crc32(Buffer.concat([a, b])), crc32ByTable(b, crc32ByTable(a)), crc32(b, crc32(a))]).toEqual([whole, whole, whole])
    }),
  )
})
