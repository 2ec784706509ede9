import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { removeOldParts } from '../../build/parts.mjs'

// A server that runs loads its parts when it needs them: a rebuild must leave those of the build before it.

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waymark-parts-'))
})
afterEach(() => rm(folder, { recursive: true }))

const part = (name: string) => `part-${name}.js`
const build = async (names: readonly string[], isAlone?: boolean) => {
  const now = names.map(part)
  for (const name of [...now, 'cli.js']) await writeFile(join(folder, name), '')
  await removeOldParts(folder, now, isAlone)
  const left = (await readdir(folder)).filter((name) => name.startsWith('part-'))
  return left.map((name) => name.slice('part-'.length, -'.js'.length)).sort()
}

test('the parts of the build before stay, older ones go', async () => {
  expect(await build(['a1', 'b1'])).toEqual(['a1', 'b1'])
  expect(await build(['a2', 'b1'])).toEqual(['a1', 'a2', 'b1'])
  expect(await build(['a3', 'b2'])).toEqual(['a2', 'a3', 'b1', 'b2'])
})

test('builds of the same sources do not count', async () => {
  await build(['a1'])
  for (let i = 0; i < 3; i++) expect(await build(['a2'])).toEqual(['a1', 'a2'])
})

test('what a build that was broken off has left goes; so do all others where a package is made', async () => {
  await build(['a1'])
  await writeFile(join(folder, part('half')), '')
  expect(await build(['a2'])).toEqual(['a1', 'a2'])
  expect(await build(['a2'], true)).toEqual(['a2'])
})

test('parts of builds before there was a list stay once', async () => {
  await writeFile(join(folder, part('old')), '')
  expect(await build(['a1'])).toEqual(['a1', 'old'])
  expect(await build(['a2'])).toEqual(['a1', 'a2'])
})
