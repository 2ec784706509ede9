import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { nameUuid } from '../../../src/lib/ids/name-uuid.ts'

const ofDomains = '6ba7b810-9dad-11d1-80b4-00c04fd430c8'

/** As RFC 9562 describes it. */
function naive(namespace: string, name: string): string {
  const bytes = createHash('sha1')
    .update(Buffer.from(namespace.replaceAll('-', ''), 'hex'))
    .update(name, 'utf8')
    .digest()
    .subarray(0, 16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x50
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return bytes.toString('hex').replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5')
}

it('equals the example of the RFC', () => {
  expect(nameUuid(ofDomains, 'www.example.com')).toBe('2ed6657d-e927-568b-95e1-2665a8aea6a2')
})

it.each(['', 'a', 'Zoë 🦆', '\ud800 alone', 'x'.repeat(5_000), ...Array.from({ length: 300 }, (_, i) => `name ${i * 7}`)])(
  'equals the definition: %j',
  (name) => {
    expect(nameUuid(ofDomains, name)).toBe(naive(ofDomains, name))
  },
)
