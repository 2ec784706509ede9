import { mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ListImage } from '../../../../src/core/lists/ports.ts'
import { listFiles } from '../../../../src/engine/storage/files/list-files.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waymark-lists-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const image: ListImage = {
  about: { version: 1, texts: ['é', 'b'] },
  arrays: [
    Int32Array.of(1, -2, 3),
    Float64Array.of(0.1, Number.NaN),
    new Uint8Array(0),
    Uint8Array.of(7, 8, 9),
    Uint16Array.of(40_000),
    Uint32Array.of(4e9),
  ],
}
const empty = () => image.arrays.map((array) => array.slice().fill(0))
const path = () => join(folder, 'core', 'lists')

test('what was written is read, into the memory of workers too', async () => {
  const files = listFiles(path())
  expect(await files.read(() => empty())).toBe(false)
  await files.write(image)
  const arrays = image.arrays.map((array) => new (array.constructor as typeof Uint8Array)(new SharedArrayBuffer(array.byteLength)))
  let found: unknown
  expect(
    await files.read((about) => {
      found = about
      return arrays
    }),
  ).toBe(true)
  expect([found, arrays]).toEqual([image.about, image.arrays])
  expect((await stat(path())).mode & 0o077).toBe(0)
  await files.write({ about: 2, arrays: [] })
  expect(await files.read((about) => (about === 2 ? [] : null))).toBe(true)
})

test('files that are cut off or changed anywhere are not used', async () => {
  const files = listFiles(path())
  await files.write(image)
  const bytes = await readFile(path())
  for (let length = 0; length < bytes.length; length += 5) {
    await writeFile(path(), bytes)
    await truncate(path(), length)
    expect([length, await files.read(() => empty())]).toEqual([length, false])
  }
  for (let at = 0; at < bytes.length; at += 3) {
    if (at >= 24 && at < 32) continue // not used
    const changed = Buffer.from(bytes)
    changed[at]! ^= 1
    await writeFile(path(), changed)
    expect([at, await files.read(() => empty())]).toEqual([at, false])
  }
})

test('arrays of other lengths, and a reader that refuses, leave it at false', async () => {
  const files = listFiles(path())
  await files.write(image)
  expect(await files.read(() => null)).toBe(false)
  expect(await files.read(() => empty().slice(1))).toBe(false)
  expect(await files.read(() => empty().map((array) => array.slice(0, 1)))).toBe(false)
})

test('an interrupted write leaves the files of before', async () => {
  const files = listFiles(path())
  await files.write(image)
  const broken = Object.defineProperty(Uint8Array.of(1), 'buffer', {
    get() {
      throw new Error('no memory')
    },
  })
  await expect(files.write({ about: 2, arrays: [broken] })).rejects.toThrow('no memory')
  expect(await files.read(() => empty())).toBe(true)
  await expect(stat(`${path()}.new`)).rejects.toMatchObject({ code: 'ENOENT' })
})
