import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Instance, openInstance, storeFile } from '../../../src/engine/storage/instance.ts'
import { accountsFile } from '../../../src/service/directory/control.ts'
import { program } from '../../harness/programs.ts'

// The empty files beside the programs hold what the statements would create.

let folder: string
let instance: Instance
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waymark-empty-'))
  instance = await openInstance({ dataDir: folder })
})
afterAll(async () => {
  await instance.close()
  await rm(folder, { recursive: true })
})

const columnsOf = (database: string) =>
  instance.rows(
    `SELECT table_name, column_name, data_type, is_nullable FROM duckdb_columns() WHERE database_name = $1 ORDER BY table_name, column_index`,
    [database],
  )

test('there is a file for accounts and one for projects, with the tables of the code', async () => {
  const beside = dirname(program('cli'))
  const packed = (await readdir(beside)).filter((name) => /^empty-.*\.duckdb\.gz$/.test(name))
  expect(packed).toHaveLength(2)
  await instance.attach('control', 'control.made', accountsFile)
  await instance.attach('store', 'store.made', storeFile)
  const made = [await columnsOf('control'), await columnsOf('store')]
  const copied = []
  for (const [i, name] of packed.entries()) {
    await writeFile(join(folder, `copy-${i}`), gunzipSync(await readFile(join(beside, name))))
    await instance.run(`ATTACH '${join(folder, `copy-${i}`)}' AS copy_${i}`)
    copied.push(await columnsOf(`copy_${i}`))
    await instance.run(`DETACH copy_${i}`)
  }
  expect(copied).toEqual(expect.arrayContaining(made))
  expect(made[0]!.length).toBeGreaterThan(100)
})
