import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib'
import lzString from 'lz-string'

// How a text may travel. Labels and bytes are those of well-meant clients; what is meant badly is in the shapes.

export interface Encoded {
  readonly body: string | Uint8Array
  readonly headers: Readonly<Record<string, string>>
  /** Of the address: `?compression=lz64`. */
  readonly query?: string
}
export interface Encoding {
  encode(text: string): Encoded
  /** How much longer than the text the body is. Null: packed, so a small body holds much. */
  readonly times: number | null
  /** Where making it here takes long. */
  readonly most?: number
}

const json = { 'content-type': 'application/json' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const base64 = (text: string | Uint8Array) => Buffer.from(text as string).toString('base64')
const megabyte = 1024 * 1024

/** Blocks of bytes as they are, and of one byte many times: all that a frame needs. */
export function zstdFrame(data: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, ...uint32(data.length)])]
  const largest = 128 * 1024
  for (let at = 0; at === 0 || at < data.length; at += largest) {
    const block = data.subarray(at, at + largest)
    const isLast = at + largest >= data.length ? 1 : 0
    const isSame = block.length > 3 && block.every((byte) => byte === block[0])
    const header = (block.length << 3) | ((isSame ? 1 : 0) << 1) | isLast
    parts.push(Buffer.from([header & 0xff, (header >> 8) & 0xff, header >> 16]), isSame ? block.subarray(0, 1) : block)
  }
  return Buffer.concat(parts)
}
const uint32 = (n: number) => [n & 0xff, (n >> 8) & 0xff, (n >> 16) & 0xff, n >>> 24]

const multipart = (text: string): Encoded => ({
  body: `--b\r\ncontent-disposition: form-data; name="data"\r\n\r\n${text}\r\n--b--\r\n`,
  headers: { 'content-type': 'multipart/form-data; boundary=b' },
})

const table = {
  plain: { times: 1, encode: (text) => ({ body: text, headers: json }) },
  gzip: { times: null, encode: (text) => ({ body: gzipSync(text), headers: { ...json, 'content-encoding': 'gzip' } }) },
  deflate: { times: null, encode: (text) => ({ body: deflateSync(text), headers: { ...json, 'content-encoding': 'deflate' } }) },
  br: {
    times: null,
    encode: (text) => ({
      body: brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 3 } }),
      headers: { ...json, 'content-encoding': 'br' },
    }),
  },
  zstd: { times: null, encode: (text) => ({ body: zstdFrame(Buffer.from(text)), headers: { ...json, 'content-encoding': 'zstd' } }) },
  lz64: {
    times: null,
    encode: (text) => ({ body: lzString.compressToBase64(text), headers: json, query: 'compression=lz64' }),
    most: 2 * megabyte,
  },
  base64: { times: 4 / 3, encode: (text) => ({ body: base64(text), headers: { 'content-type': 'text/plain' } }) },
  form: { times: 2.2, encode: (text) => ({ body: `data=${encodeURIComponent(text)}`, headers: form }) },
  'base64 in a form': {
    times: 1.5,
    encode: (text) => ({ body: `data=${encodeURIComponent(base64(text))}&compression=base64`, headers: form }),
  },
  'gzip in a form': {
    times: null,
    encode: (text) => ({ body: `data=${encodeURIComponent(base64(gzipSync(text)))}&compression=gzip`, headers: form }),
  },
  multipart: { times: 1, encode: multipart },
  'base64 in multipart': { times: 4 / 3, encode: (text) => multipart(base64(text)) },
} satisfies Record<string, Encoding>

export type EncodingName = keyof typeof table
export const encodings: Readonly<Record<EncodingName, Encoding>> = table
