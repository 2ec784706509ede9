import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { WaymarkError } from '../../../errors/errors.ts'
import { syncFolder } from './folder.ts'
import type { Place, PlaceUse } from './place.ts'

// One file with one copy of a directory: the objects of the other places as the members of a tar archive. It gets its name when it is whole.

const blockBytes = 512
const zeros = Buffer.alloc(2 * blockBytes)

export async function tarPlace(path: string, use: PlaceUse): Promise<Place> {
  return use === 'write' ? newTar(path) : oldTar(path)
}

async function newTar(path: string): Promise<Place> {
  const unfinished = `${path}.new`
  const taken = await open(path, 'r').catch(() => null)
  if (taken) {
    await taken.close()
    throw new WaymarkError('command-failed', { message: `${path} exists. A tar file holds one copy: give each copy a name of its own.` })
  }
  const file = await open(unfinished, 'w', 0o600)
  const written = new Map<string, Buffer>()
  return {
    name: path,
    async create(name, bytes) {
      if (written.has(name)) return false
      // The small ones are read again while the copy is made.
      written.set(name, bytes.length > 2 ** 20 ? Buffer.alloc(0) : Buffer.from(bytes))
      await file.appendFile(headerOf(name, bytes.length))
      await file.appendFile(bytes)
      const rest = bytes.length % blockBytes
      if (rest > 0) await file.appendFile(zeros.subarray(0, blockBytes - rest))
      return true
    },
    read: async (name) => written.get(name) ?? null,
    list: async (folder) => [...written.keys()].filter((name) => name.startsWith(`${folder}/`)).sort(),
    remove: async () => undefined,
    async close(isWhole) {
      if (isWhole) {
        await file.appendFile(zeros)
        await file.sync()
      }
      await file.close()
      if (isWhole) {
        await rename(unfinished, path)
        await syncFolder(dirname(path))
      } else await rm(unfinished, { force: true })
    },
  }
}

function headerOf(name: string, bytes: number): Buffer {
  const header = Buffer.alloc(blockBytes)
  header.write(name, 0, 100)
  header.write('0000600\0', 100)
  header.write('0000000\0', 108)
  header.write('0000000\0', 116)
  header.write(`${bytes.toString(8).padStart(11, '0')}\0`, 124)
  header.write(`${Math.floor(Date.now() / 1000).toString(8)}\0`, 136)
  header.write('        0', 148)
  header.write('ustar\x0000', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return header
}

interface Member {
  readonly at: number
  readonly bytes: number
}

async function oldTar(path: string): Promise<Place> {
  const file = await open(path, 'r')
  const members = await membersOf(file, path).catch(async (error: unknown) => {
    await file.close()
    throw error
  })
  return {
    name: path,
    create: async () => false,
    async read(name, range) {
      const found = members.get(name)
      if (!found) return null
      const { from, bytes } = range ?? { from: 0, bytes: found.bytes }
      const read = Buffer.alloc(Math.max(0, Math.min(bytes, found.bytes - from)))
      await file.read(read, 0, read.length, found.at + from)
      return read
    },
    list: async (folder) => [...members.keys()].filter((name) => name.startsWith(`${folder}/`)).sort(),
    remove: async () => undefined,
    close: () => file.close(),
  }
}

async function membersOf(file: FileHandle, path: string): Promise<ReadonlyMap<string, Member>> {
  const members = new Map<string, Member>()
  const { size } = await file.stat()
  const header = Buffer.alloc(blockBytes)
  for (let at = 0; at + blockBytes <= size; ) {
    await file.read(header, 0, blockBytes, at)
    if (header[0] === 0) return members
    if (header.toString('latin1', 257, 262) !== 'ustar') break
    const bytes = Number.parseInt(header.toString('latin1', 124, 135), 8)
    const name = header.toString('utf8', 0, 100).split('\0')[0]!
    members.set(name, { at: at + blockBytes, bytes })
    at += blockBytes + Math.ceil(bytes / blockBytes) * blockBytes
  }
  throw new WaymarkError('command-failed', { message: `${path} is not a whole tar file of a backup: it ends too early.` })
}
