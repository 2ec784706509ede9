import { expect, test } from 'vitest'
import { keyedHash } from '../../../src/lib/ids/keyed-hash.ts'

/** Chaskey of bytes, as it was published, over the UTF-16 of a text. */
function plainly(key: readonly number[], bytes: Uint8Array, rounds: number): number[] {
  const double = (k: readonly number[]) => {
    let all = k.reduceRight((n, word) => (n << 32n) | BigInt(word), 0n) << 1n
    if (all >> 128n) all = (all & ((1n << 128n) - 1n)) ^ 0x87n
    return [0n, 32n, 64n, 96n].map((at) => Number((all >> at) & 0xffffffffn))
  }
  const rotl = (x: number, by: number) => ((x << by) | (x >>> (32 - by))) >>> 0
  let v = [...key]
  const permute = () => {
    for (let i = 0; i < rounds; i++) {
      v[0] = (v[0]! + v[1]!) >>> 0
      v[1] = (rotl(v[1]!, 5) ^ v[0]) >>> 0
      v[0] = rotl(v[0], 16)
      v[2] = (v[2]! + v[3]!) >>> 0
      v[3] = (rotl(v[3]!, 8) ^ v[2]) >>> 0
      v[0] = (v[0] + v[3]) >>> 0
      v[3] = (rotl(v[3], 13) ^ v[0]) >>> 0
      v[2] = (v[2] + v[1]) >>> 0
      v[1] = (rotl(v[1], 7) ^ v[2]) >>> 0
      v[2] = rotl(v[2], 16)
    }
  }
  const mix = (block: Uint8Array) => {
    const view = new DataView(block.buffer, block.byteOffset, 16)
    v = v.map((word, i) => (word ^ view.getUint32(i * 4, true)) >>> 0)
  }
  let at = 0
  for (; bytes.length - at > 16; at += 16) {
    mix(bytes.slice(at, at + 16))
    permute()
  }
  const last = new Uint8Array(16)
  last.set(bytes.subarray(at))
  const isWhole = bytes.length - at === 16
  if (!isWhole) last[bytes.length - at] = 1
  const own = isWhole ? double(key) : double(double(key))
  mix(last)
  v = v.map((word, i) => (word ^ own[i]!) >>> 0)
  permute()
  return v.map((word, i) => (word ^ own[i]!) >>> 0)
}

const key = [0x833d3433, 0x009f389f, 0x2398e64f, 0x417acf39]

test('the published vectors, of the model', () => {
  expect(plainly(key, new Uint8Array(), 8)).toEqual([0x792e8fe5, 0x75ce87aa, 0x2d1450b5, 0x1191970b])
  expect(plainly(key, Uint8Array.of(0), 8)).toEqual([0x13a9307b, 0x50e62c89, 0x4577bd88, 0xc0bbdc18])
})

test('texts of all lengths hash as the model says', () => {
  const hasher = keyedHash(Uint32Array.from(key))
  let text = ''
  for (let length = 0; length < 60; length++) {
    hasher.of(text)
    expect([...hasher.hash], text).toEqual(plainly(key, Buffer.from(text, 'utf16le'), 8))
    text += String.fromCharCode((length * 7919) % 65536)
  }
})

test('another key gives other hashes; a text and the same with NUL do, too', () => {
  const [one, other] = [keyedHash(Uint32Array.of(1, 2, 3, 4)), keyedHash(Uint32Array.of(1, 2, 3, 5))]
  const of = (hasher: typeof one, text: string) => {
    hasher.of(text)
    return hasher.hash.join()
  }
  expect(of(one, 'somebody')).not.toBe(of(other, 'somebody'))
  const texts = ['', '\0', '\0\0', 'a', 'a\0', 'a\0\0', 'abcdefgh', 'abcdefgh\0', '\u0001', '\u0001\0']
  expect(new Set(texts.map((text) => of(one, text))).size).toBe(texts.length)
  expect(() => keyedHash(Uint32Array.of(1))).toThrow(/four words/)
})
