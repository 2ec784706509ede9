import { closeSync, openSync, readSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { checksumOf } from '../../../lib/bytes/checksum.ts'
import { DamagedPages, type Stretch } from './page.ts'

type Bytes = Pick<Uint8Array, 'buffer' | 'byteOffset' | 'byteLength'>
const bytesIn = ({ buffer, byteOffset, byteLength }: Bytes) => new Uint8Array(buffer, byteOffset, byteLength)

/** Writes arrays one after the other. */
export class StretchWriter {
  private readonly file: FileHandle
  private at = 0

  private constructor(file: FileHandle) {
    this.file = file
  }

  static async create(folder: string, name: string): Promise<StretchWriter> {
    return new StretchWriter(await open(join(folder, name), 'w', 0o600))
  }

  async add(...arrays: readonly Bytes[]): Promise<Stretch> {
    const { at } = this
    const [first] = arrays
    const all = arrays.length === 1 && first!.byteOffset % 4 === 0 ? bytesIn(first!) : joined(arrays)
    for (let done = 0; done < all.length; ) done += (await this.file.write(all, done, all.length - done, at + done)).bytesWritten
    this.at += all.length
    return { at, bytes: all.length, checksum: checksumOf(all) }
  }

  async close(isWhole: boolean): Promise<void> {
    try {
      if (isWhole) await this.file.datasync()
    } finally {
      await this.file.close()
    }
  }
}

function joined(arrays: readonly Bytes[]): Uint8Array {
  const all = new Uint8Array(arrays.reduce((sum, { byteLength }) => sum + byteLength, 0))
  let at = 0
  for (const one of arrays) {
    all.set(bytesIn(one), at)
    at += one.byteLength
  }
  return all
}

/** Stretches whose bytes were looked at once. */
const checked = new Set<string>()
const mostChecked = 100_000

const keyOf = (folder: string, name: string, { at }: Pick<Stretch, 'at'>): string => `${folder} ${name} ${at}`

/** Whether its bytes were looked at, so that parts of them may be read. */
export const isChecked = (folder: string, name: string, stretch: Pick<Stretch, 'at'>): boolean => checked.has(keyOf(folder, name, stretch))

/** Reads a whole stretch. Its bytes are checked the first time. */
export function readStretch(folder: string, name: string, stretch: Stretch, into: Uint8Array): void {
  const { at, bytes, checksum } = stretch
  readPart(folder, name, at, into.subarray(0, bytes))
  const key = keyOf(folder, name, stretch)
  if (checked.has(key)) return
  if (checksumOf(into.subarray(0, bytes)) !== checksum) throw new DamagedPages(`${name} has other bytes than were written at ${at}`)
  if (checked.size >= mostChecked) checked.clear()
  checked.add(key)
}

/** Reads some bytes of a stretch that is checked. */
export function readPart(folder: string, name: string, at: number, into: Uint8Array): void {
  let file: number
  try {
    file = openSync(join(folder, name), 'r')
  } catch (error) {
    throw new DamagedPages(`${name} cannot be opened`, { cause: error })
  }
  try {
    for (let done = 0; done < into.length; ) {
      const read = readSync(file, into, done, into.length - done, at + done)
      if (read === 0) throw new DamagedPages(`${name} ends too early`)
      done += read
    }
  } catch (error) {
    throw error instanceof DamagedPages ? error : new DamagedPages(`${name} cannot be read`, { cause: error })
  } finally {
    closeSync(file)
  }
}
