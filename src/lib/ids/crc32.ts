import * as zlib from 'node:zlib'

const table = /* @__PURE__ */ Uint32Array.from({ length: 256 }, (_, i) => {
  let c = i
  for (let bit = 0; bit < 8; bit++) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1
  return c
})

export const crc32ByTable = (data: Uint8Array, start = 0): number => {
  let c = ~start
  for (let i = 0; i < data.length; i++) c = (c >>> 8) ^ table[(c ^ data[i]!) & 0xff]!
  return ~c >>> 0
}

/** CRC-32 (IEEE); `start` is the checksum of the previous bytes. zlib has it since Node 20.15. */
export const crc32: (data: Uint8Array, start?: number) => number = 'crc32' in zlib ? zlib.crc32 : crc32ByTable
