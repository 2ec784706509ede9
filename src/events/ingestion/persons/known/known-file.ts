import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { IdPlaces, partsOfPlaces, placeWords } from '../../../../lib/ids/id-places.ts'
import { hashWords } from '../../../../lib/ids/keyed-hash.ts'
import { KnownIds } from './known-ids.ts'
import { PersonFile } from './person-file.ts'
import { numbersOfChunk, PersonStates } from './person-states.ts'

// The index of ids in a file, so that opening a project does not read them from the store. It is a copy: what is damaged, or not of this store, is left out.
//
//   header | parts of the places … | states … | survivors … | places of persons … | free places     each: checksum, number of words, words

const magic = 0x57644964
const version = 1
/** magic, version, store, two of the position, the key, chunks of persons, whether they are in a file, checksum */
const headerWords = 8 + hashWords
const two32 = 2 ** 32

const checksum = (words: Uint32Array): number => {
  let sum = words.length | 0
  for (const word of words) sum = Math.imul(sum ^ word, 0x9e3779b1) + ((sum >>> 15) | 0)
  return sum >>> 0
}

async function append(file: FileHandle, words: Uint32Array): Promise<void> {
  const bytes = Buffer.from(words.buffer, words.byteOffset, words.byteLength)
  for (let done = 0; done < bytes.length; ) done += (await file.write(bytes, done)).bytesWritten
}

/** At the end of a process: nothing changes meanwhile or later. */
export async function writeKnown(path: string, known: KnownIds, store: number): Promise<void> {
  const growing = `${path}.new`
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const file = await open(growing, 'w', 0o600)
  let isWhole = false
  try {
    const { places, persons, file: records, seq } = known
    const chunks = persons.states.length
    const header = Uint32Array.of(magic, version, store, seq % two32, Math.floor(seq / two32), ...places.key, chunks, records ? 1 : 0, 0)
    header[headerWords - 1] = checksum(header.subarray(0, headerWords - 1))
    await append(file, header)
    const section = async (words: Uint32Array | undefined) => {
      const all = words ?? new Uint32Array()
      await append(file, Uint32Array.of(checksum(all), all.length))
      await append(file, all)
    }
    for (let i = 0; i < partsOfPlaces; i++) await section(places.part(i))
    for (let i = 0; i < chunks; i++) await section(persons.states[i])
    for (let i = 0; i < chunks; i++) {
      const survivors = persons.survivors[i]
      await section(survivors ? new Uint32Array(survivors.buffer) : undefined)
    }
    if (records) {
      for (let i = 0; i < chunks; i++) await section(records.offsets[i])
      await section(Uint32Array.from(records.free.flatMap((places) => [places.length, ...places])))
      await records.settle()
    }
    isWhole = true
  } finally {
    await file.close()
    if (!isWhole) await rm(growing, { force: true })
  }
  await rename(growing, path)
}

/** Null: there is none, or it is not complete, or of another store. `records`: where the file of persons is. */
export async function readKnown(path: string, store: number, records: string): Promise<KnownIds | null> {
  const file = await open(path, 'r').catch(() => null)
  if (!file) return null
  try {
    return await read(file, store, records)
  } catch (error) {
    if (error instanceof NotComplete) return null
    throw error
  } finally {
    await file.close()
  }
}

class NotComplete extends Error {}

async function read(file: FileHandle, store: number, records: string): Promise<KnownIds> {
  const { size } = await file.stat()
  let left = size
  const next = async (words: number): Promise<Uint32Array<ArrayBuffer>> => {
    left -= words * 4
    if (left < 0) throw new NotComplete()
    const found = new Uint32Array(words)
    const bytes = Buffer.from(found.buffer)
    for (let done = 0; done < bytes.length; ) {
      const { bytesRead } = await file.read(bytes, done)
      if (bytesRead === 0) throw new NotComplete()
      done += bytesRead
    }
    return found
  }
  const header = await next(headerWords)
  const isOurs = header[0] === magic && header[1] === version && header[2] === store
  if (!isOurs || checksum(header.subarray(0, headerWords - 1)) !== header[headerWords - 1]) throw new NotComplete()
  const section: Section = async (isRight) => {
    const [sum, length] = (await next(2)) as unknown as [number, number]
    if (!isRight(length)) throw new NotComplete()
    const words = await next(length)
    if (checksum(words) !== sum) throw new NotComplete()
    return words
  }
  const isPart = (words: number) => words > 0 && words % placeWords === 0
  const isChunk = (words: number) => words === numbersOfChunk
  const parts: Uint32Array[] = []
  while (parts.length < partsOfPlaces) parts.push(await section(isPart))
  const chunks = header[headerWords - 3]!
  const states: Uint32Array[] = []
  while (states.length < chunks) states.push(await section(isChunk))
  const survivors: (Int32Array | null)[] = []
  while (survivors.length < chunks) {
    const words = await section((length) => length === 0 || isChunk(length))
    survivors.push(words.length === 0 ? null : new Int32Array(words.buffer))
  }
  const key = header.slice(5, 5 + hashWords)
  const found = header[headerWords - 2] === 0 ? null : await readRecords(section, chunks, records)
  return new KnownIds(new IdPlaces(key, parts), new PersonStates(states, survivors), found, header[3]! + header[4]! * two32)
}

type Section = (isRight: (words: number) => boolean) => Promise<Uint32Array<ArrayBuffer>>

async function readRecords(section: Section, chunks: number, path: string): Promise<PersonFile> {
  const offsets: Uint32Array[] = []
  while (offsets.length < chunks) {
    const words = await section((length) => length === 0 || length === numbersOfChunk)
    offsets.push(words.length === 0 ? new Uint32Array(numbersOfChunk) : words)
  }
  const places = await section(() => true)
  const free: number[][] = []
  for (let at = 0; at < places.length; at += 1 + places[at]!) free.push([...places.subarray(at + 1, at + 1 + places[at]!)])
  try {
    return new PersonFile(path, offsets, free)
  } catch {
    throw new NotComplete() // it is gone
  }
}

/** Also if the power fails a moment later. */
export async function removeKnown(path: string): Promise<void> {
  const file = await open(path, 'r+').catch(() => null)
  if (file) {
    try {
      await file.truncate(0)
      await file.sync()
    } finally {
      await file.close()
    }
  }
  await rm(path, { force: true })
}
