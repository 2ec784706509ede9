import { appendFile, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openFileStorage, readStorageFile, writeStorageFile } from '../../../src/service/plugins/file-storage.ts'

test('a file longer than the longest string is read and written', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'waymark-plugins-'))
  const [file, copy] = [join(folder, 'a', 'storage.jsonl'), join(folder, 'b', 'storage.jsonl')]
  const long = `"${'x'.repeat(64 * 1024 * 1024)}"`
  await mkdir(join(folder, 'a'))
  for (let i = 0; i < 9; i++) await appendFile(file, `["1/${i}","k",${JSON.stringify(long)}]\n`)
  await appendFile(file, '["1/0","l","1"]\n["1/0","k","1"]\n')
  const entries = await readStorageFile(file)
  expect(entries.map(([scope, key, json]) => [scope, key, json.length])).toEqual([
    ['1/0', 'k', 1],
    ...Array.from({ length: 8 }, (_, i) => [`1/${i + 1}`, 'k', long.length]),
    ['1/0', 'l', 1],
  ])
  await writeStorageFile(copy, [...entries, ['1/9', 'k', long]])
  const storage = await openFileStorage(copy)
  expect([await storage.get('1/0', 'l'), (await storage.get('1/9', 'k'))?.length]).toEqual(['1', long.length])
  await storage.close()
  await rm(folder, { recursive: true })
})
