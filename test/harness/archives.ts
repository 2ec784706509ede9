import { deflateRawSync, gzipSync } from 'node:zlib'
import { crc32 } from '../../src/lib/ids/crc32.ts'

// Archives for tests: ZIP and gzipped tar, written from the formats and not with the readers of `src`.

export type Files = Readonly<Record<string, string | Uint8Array>>

const bytesOf = (contents: string | Uint8Array): Buffer => Buffer.from(contents as string)

export interface ZipOptions {
  readonly isStored?: boolean
  /** States another size than the contents have. */
  readonly stated?: (size: number) => number
}

export function zipOf(files: Files, { isStored = false, stated = (size) => size }: ZipOptions = {}): Buffer {
  const parts: Buffer[] = []
  const listed: Buffer[] = []
  let at = 0
  for (const [path, contents] of Object.entries(files)) {
    const plain = bytesOf(contents)
    const packed = isStored ? plain : deflateRawSync(plain)
    const name = Buffer.from(path)
    const shared = Buffer.alloc(26) // from the version to the lengths, the same in both headers
    shared.writeUInt16LE(20, 0)
    shared.writeUInt16LE(isStored ? 0 : 8, 4)
    shared.writeUInt32LE(crc32(plain), 10)
    shared.writeUInt32LE(packed.length, 14)
    shared.writeUInt32LE(stated(plain.length), 18)
    shared.writeUInt16LE(name.length, 22)
    parts.push(Buffer.from('PK\x03\x04', 'latin1'), shared, name, packed)
    const entry = Buffer.alloc(46)
    entry.write('PK\x01\x02', 'latin1')
    shared.copy(entry, 6)
    entry.writeUInt32LE(at, 42)
    listed.push(entry, name)
    at += 30 + name.length + packed.length
  }
  const directory = Buffer.concat(listed)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(Object.keys(files).length, 8)
  end.writeUInt16LE(Object.keys(files).length, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...parts, directory, end])
}

const tarEntry = (path: string, contents: Buffer, kind = '0'): Buffer => {
  const header = Buffer.alloc(512)
  header.write(path.slice(-100), 0)
  header.write('0000644\0', 100)
  header.write(`${contents.length.toString(8).padStart(11, '0')}\0`, 124)
  header.write(kind, 156)
  header.write('ustar\x0000', 257)
  header.fill(0x20, 148, 156)
  header.write(
    `${header
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, '0')}\0 `,
    148,
  )
  return Buffer.concat([header, contents, Buffer.alloc((512 - (contents.length % 512)) % 512)])
}

/** Paths that are too long for a header get a pax header before theirs. */
export function tgzOf(files: Files): Buffer {
  const entries = Object.entries(files).flatMap(([path, contents]) => {
    const entry = tarEntry(path, bytesOf(contents))
    if (Buffer.byteLength(path) <= 100) return [entry]
    const rest = ` path=${path}\n`
    let length = rest.length
    while (`${length}`.length + rest.length !== length) length = `${length}`.length + rest.length
    return [tarEntry('PaxHeader', Buffer.from(`${length}${rest}`), 'x'), entry]
  })
  return gzipSync(Buffer.concat([...entries, Buffer.alloc(1024)]))
}
